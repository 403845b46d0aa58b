/* batch.h - the unit of work: a batch of messages and due timeouts, run one
 * after another in memory, saved by one commit.
 *
 *     create -> { reset -> add* -> begin -> load -> run -> changes ->
 *                 (commit by the runtime) -> take_refused }* -> destroy
 *
 * A unit is one message, timeout or flush with all its handlers. Its saga states and effects are
 * copied into the batch when its handlers return PAWL_OK; on any other answer they vanish. A saga is
 * in the batch once (identity.c), so that two units of one saga see each other's effect.
 *
 * The runtime lends clocks and reads (engine.h), and commits.
 *
 * Threads: a batch belongs to one worker.
 * Tests: tests/unit/engine
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_BATCH_H
#define PAWL_ENGINE_BATCH_H

#include "base/arena.h"
#include "base/delay.h"
#include "engine/engine.h"
#include "engine/entry.h"
#include "engine/headers.h"
#include "engine/starter.h"
#include "pawl/context.h"

/* ---- Attempts and history lines of a unit ---- */

/* A run of a message's handlers that failed. */
typedef struct pawl__attempt {
    pawl_code code;
    pawl_text error;
    pawl_time at; /* machine time */
} pawl__attempt;

/* A line of table history, not written yet: the effect of a successful unit on one saga. */
typedef struct pawl__line {
    pawl_text source; /* empty: no saga */
    int64_t   version;
    pawl_text out;
} pawl__line;

/* ---- Units ---- */

typedef enum pawl__unit_kind {
    PAWL__UNIT_MESSAGE,
    PAWL__UNIT_TIMEOUT,
    PAWL__UNIT_FLUSH,
    PAWL__UNIT_EVENT,    /* of a projection: event.c */
    PAWL__UNIT_FORWARD,  /* a due timeout whose destination is foreign: forward.c */
    PAWL__UNIT_SCHEDULE, /* a due timeout that is a schedule's row: schedule.c */
} pawl__unit_kind;

/* How a unit ended; decides its changes. Set once, from NEW. */
typedef enum pawl__unit_end {
    PAWL__END_NEW,
    PAWL__END_HANDLED,    /* deduplication record, effects, acknowledgement */
    PAWL__END_DUPLICATE,  /* acknowledgement */
    PAWL__END_DISCARDED,  /* deduplication record, acknowledgement */
    PAWL__END_SUPERSEDED, /* a timeout re-armed or cancelled earlier in the batch: nothing */
    PAWL__END_RETRY,      /* due later; counts as an attempt */
    PAWL__END_WAIT,   /* due later, no attempt: no saga yet, or only other workers know the type */
    PAWL__END_DEAD,   /* dead letter */
    PAWL__END_UNREAD, /* due later, no attempt: this program cannot read the version */
    PAWL__END_SAGA_BUSY, /* not run: another worker has its saga; due in 20 ms, no attempt */
    PAWL__END_HELD,      /* not run: an earlier message of its key waits; due later, no attempt */
    PAWL__END_RELEASED,  /* not run: its claim is released */
    PAWL__END_RERUN,     /* own SQL is rolled back, then the unit runs again at once */
} pawl__unit_end;

/* A message's handler and the saga it looks for. */
typedef struct pawl__lookup {
    const pawl__binding *binding;
    void                *message;      /* decoded */
    pawl_value           value;        /* of the correlation property */
    pawl_value           transitional; /* of the transitional property, or NONE */
    pawl__entry         *entry;
    pawl__entry         *transitional_entry;
    bool                 is_final; /* "no saga" was read after the queue showed no older message */
} pawl__lookup;

typedef struct pawl__unit {
    pawl__unit_kind  kind;
    pawl__unit_end   end;
    uint32_t         index;
    uint32_t         parent; /* union-find: units of one group */
    pawl_message     message;
    pawl_text        unfit; /* why its row cannot be a message: a dead letter; or empty */
    pawl_time        now;   /* business time of the unit */
    pawl_queue_row   row;
    pawl_timeout_row timeout;
    pawl__entry     *entry;                   /* TIMEOUT: its saga as loaded, or NULL */
    const pawl__aggregator_model *aggregator; /* FLUSH */
    pawl_leased_batch             leased;
    size_t          readable; /* messages that can be decoded, sorted first; others stay (A10) */
    bool            is_below_size; /* size flush, too few can be decoded: all are released */
    pawl_text       left;          /* decoding error of the messages that stay, or empty */
    pawl_session_id session;
    pawl_flush_row  flush;
    bool            is_size_flush;
    int64_t pause; /* FLUSH: until the next one; 0: more pieces follow, the partition stays due */
    const pawl__projection_model *projection; /* EVENT */
    const pawl_event_row         *event;
    pawl__lookup                 *lookups;
    size_t                        lookup_count;
    bool                          is_alone, has_sql, resets; /* EVENT: the reset comes first */
    bool                          only_resets; /* EVENT: reset only, skip the handler */
    bool                          only_waits;  /* needs its own batch to run, but ends HELD */
    bool                          is_rowless;  /* no queue row; inserted if it has to run again */
    bool                          is_expired;  /* DISCARDED without a run: it has expired */
    int32_t                       conflicts;   /* number of commits that refused it */
    int32_t                       runs;        /* immediate retries with own SQL so far */
    bool           has_run_sql; /* the application got the store's connection in this run */
    bool           is_sql_lost; /* the connection was lost during the failed run */
    int32_t        not_found;   /* missing sagas in its last run that it did not wait for */
    pawl_time      due;         /* RETRY, WAIT, ELSEWHERE and HELD: the next due time */
    pawl__attempt *attempts;    /* failed runs in this batch */
    size_t         attempt_count, attempt_capacity;
    pawl_code      code; /* of the last failure */
    pawl_text      error;
    pawl__line    *lines; /* of history, set when its effects are kept */
    size_t         line_count;
    pawl_time      started;          /* machine time, with audit */
    int64_t        duration;         /* microseconds, while is_timed */
    pawl_text      key;              /* of an ordered endpoint; or empty */
    uint32_t       bucket;           /* of the key */
    const struct pawl__unit *before; /* previous unit of its bucket, or NULL */
} pawl__unit;

/* Sends, outbox rows and aggregator rows of a batch or a unit. */
typedef struct pawl__effects {
    pawl_queue_send     *sends;
    size_t               send_count, send_capacity;
    pawl_outbox_add     *dispatches;
    size_t               dispatch_count, dispatch_capacity;
    pawl_aggregator_add *adds;
    size_t               add_count, add_capacity;
} pawl__effects;

typedef struct pawl__batch {
    pawl__engine     *engine;
    pawl_arena       *arena; /* emptied by reset */
    pawl__unit       *units;
    size_t            unit_count, unit_capacity;
    pawl__entry     **entries;
    size_t            entry_count, entry_capacity;
    pawl__entry_index indexes[3];
    pawl__effects     effects;
    pawl_counters     counters;
    pawl_time         cut_timeout;       /* earliest timeout or period set in this batch */
    pawl_time         cut_send;          /* earliest local send of this batch */
    pawl_time         cut_message;       /* due time of the last timeout, if the claim was full */
    bool              has_sql;           /* the first unit needs a handler transaction */
    bool              has_busy;          /* another worker has a saga of the batch */
    bool              has_unit_of_other; /* a unit waits for a worker that knows its type */
    bool is_unwritable; /* the change set was not built: a saga's state cannot be encoded */
    bool is_all_busy;   /* other workers have all sagas: the change set only releases claims */
    bool is_given_up;   /* the thread's watchdog gave the worker up: see call_begin */
    pawl__starters starters;
    pawl_changes   changes;
} pawl__batch;

pawl__batch *pawl__batch_create(pawl__engine *engine); /* NULL: out of memory */
void         pawl__batch_destroy(pawl__batch *batch);
void         pawl__batch_reset(pawl__batch *batch);

/* Adds units in the order in which they run, timeouts first; under a virtual clock begin sorts them by business time.
 * Rows are copied. */
pawl_code pawl__batch_add_message(pawl__batch *batch, const pawl_queue_row *row, int32_t conflicts);
pawl_code pawl__batch_add_timeout(pawl__batch *batch, const pawl_timeout_row *row);
pawl_code pawl__batch_add_flush(pawl__batch *batch, const pawl__aggregator_model *aggregator,
                                const pawl_flush_row *flush, const pawl_leased_batch *leased,
                                pawl_session_id session, bool is_size_flush, int64_t pause);
/* Borrows the row. Events are never mixed with other units; a batch of them is one group, in the order of their
 * positions, and has no load. If an event fails, those after it do not run. */
pawl_code pawl__batch_add_event(pawl__batch *batch, const pawl__projection_model *projection,
                                const pawl_event_row *row, int32_t attempts);
/* Decodes, finds the handlers, cuts the batch at a message that runs alone.
 * Afterwards batch->has_sql says whether a handler transaction must be opened before load. */
pawl_code pawl__batch_begin(pawl__batch *batch, pawl_error *error);
/* Reads deduplication records and sagas, and whether "no saga" is final. */
pawl_code pawl__batch_load(pawl__batch *batch, pawl_error *error);
/* Runs the handlers. Fails only if the batch cannot be committed: the engine was out of memory, or a unit was kept by
 * half. */
pawl_code pawl__batch_run(pawl__batch *batch, pawl_error *error);
void      pawl__batch_release(pawl__batch *batch); /* in place of begin: gives all back */
/* Builds batch->changes. */
pawl_code pawl__batch_changes(pawl__batch *batch, pawl_error *error);
/* Logs the failure of a unit, if it failed, once that is committed. */
void pawl__batch_say_failed(const pawl__batch *batch, const pawl__unit *unit);
/* Drops all effects and fails every unit, for a batch of one unit that cannot be loaded, run or committed. Build the
 * changes afterwards. */
void pawl__batch_fail(pawl__batch *batch, pawl_code code, const char *text);
/* Drops all effects: messages and timeouts will run again, flushes fail with `code`. */
void pawl__batch_set_one_by_one(pawl__batch *batch, pawl_code code, const char *text);

/* ---- Between the files of the engine -------------------------------------- */

/* identity.c: finds or adds the entry of the main value, which is borrowed; NULL when out of memory. */
pawl__entry *pawl__identity_get(pawl__batch *batch, const pawl__saga_model *model,
                                const pawl_value *main);
pawl__entry *pawl__identity_find_transitional(pawl__batch *batch, const pawl__saga_model *model,
                                              const pawl_value *value);
pawl__entry *pawl__identity_find_id(pawl__batch *batch, const pawl__saga_model *model,
                                    pawl_saga_id id);
/* False when out of memory. */
bool pawl__identity_set_id(pawl__batch *batch, pawl__entry *entry, pawl_saga_id id);
bool pawl__identity_set_transitional(pawl__batch *batch, pawl__entry *entry,
                                     const pawl_value *value);
/* Finds or adds the entry of a stored row. */
pawl_code pawl__identity_adopt(pawl__batch *batch, const pawl__saga_model *model,
                               const pawl_saga_row *row, pawl__entry **entry, pawl_error *error);
/* Fills the entry from a stored row: decodes its state. */
pawl_code      pawl__identity_fill(pawl__batch *batch, pawl__entry *entry, const pawl_saga_row *row,
                                   pawl_error *error);
pawl_saga_lock pawl__identity_lock(const pawl__batch *batch); /* hot sagas: SKIP_LOCKED */
/* Loads the entry by its main value, unless it is loaded. */
pawl_code pawl__identity_load_main(pawl__batch *batch, pawl__entry *entry, pawl_error *error);
/* Loads the saga of this id, unless the batch has it; *entry is NULL when there is no row. */
pawl_code pawl__identity_load_id(pawl__batch *batch, const pawl__saga_model *model, pawl_saga_id id,
                                 pawl__entry **entry, pawl_error *error);
/* Notes that another worker has the row of this id or transitional value. */
pawl_code pawl__identity_leave(pawl__batch *batch, const pawl__saga_model *model, pawl_saga_key key,
                               const pawl_value *value, pawl_error *error);
/* "NAME/ID": the source of what a saga sends, and where answers to it go. data NULL: no memory. */
pawl_text pawl__saga_source(pawl_arena *arena, const pawl__saga_model *model, pawl_saga_id id);
/* Notes that the unit read or wrote the entry: puts it in the entry's group. */
void     pawl__identity_touch(pawl__batch *batch, pawl__entry *entry, pawl__unit *unit);
uint32_t pawl__group_of(pawl__batch *batch, uint32_t unit);

/* lookup.c: finds the handlers of a message and the sagas they look for; an expired message has none. A message that
 * cannot be decoded or mapped ends its unit; the code is PAWL_OK then. A timeout has no lookup; it waits if only
 * another worker has a handler for it. */
pawl_code pawl__lookup_build(pawl__batch *batch, pawl__unit *unit, pawl_error *error);
pawl_code pawl__lookup_timeout(pawl__batch *batch, pawl__unit *unit, pawl_error *error);
/* load.c: fills the identity map with what the lookups and timeouts need. */
pawl_code pawl__load_sagas(pawl__batch *batch, pawl_error *error);
/* Is an older message of the batch still to be handled? "No saga" is not final then (E3). */
bool pawl__load_has_older(const pawl__batch *batch, const pawl__unit *unit);
/* Is there no older message, of this batch or another? */
pawl_code pawl__load_is_oldest(pawl__batch *batch, const pawl__unit *unit, bool *is_oldest,
                               pawl_error *error);
/* busy_sagas.c: marks the sagas that other workers of this endpoint have: by main value before they are loaded, by id
 * afterwards, since a timeout or a finder knows only the id. Skipped for sagas that a unit with several sagas needs,
 * and for a batch that waits for row locks. */
void pawl__busy_sagas_mark(pawl__batch *batch, pawl__entry_key key);
/* Ends units whose saga another worker has: ELSEWHERE. */
void pawl__busy_sagas_put_back(pawl__batch *batch);
void pawl__unit_put_back(pawl__unit *unit);
/* If no unit ran because other workers have all their sagas, the commit writes no due times: it only releases the
 * claims. */
void pawl__busy_sagas_release(pawl__batch *batch);
/* origin.c: the metadata of a saga that began in this batch: a JSON object. data NULL: out of memory. */
pawl_text pawl__origin_metadata(pawl__batch *batch, const pawl__entry *entry);
/* For a saga with .idle_after sets "Changed" in the metadata to machine time; else returns the metadata as it is. data
 * NULL: out of memory. */
pawl_text pawl__origin_changed(pawl__batch *batch, const pawl__entry *entry, pawl_text metadata);
#define PAWL__SAGA_CHANGED "Changed"
/* audit.c: adds the audit copies to the change set, after all other outbox rows. PAWL_ENOMEM is the only failure. */
pawl_code pawl__audit_put(pawl__batch *batch);
/* send.c: does subscription `index` make its queue get the record? When a queue subscribes to
 * several of the record's types, only the first of these subscriptions does. */
bool pawl__is_subscriber(const pawl_subscriptions *list, size_t index, const pawl_record *record);
pawl_code pawl__unit_run(pawl__batch *batch, pawl__unit *unit, pawl_error *error); /* unit.c */
/* schedule.c: sets the schedule's row to its next time, or removes it if no program has the schedule. PAWL_ENOMEM. */
pawl_code pawl__schedule_settle(pawl__batch *batch, const pawl__unit *unit,
                                pawl_timeout_settle *settle);
/* recover.c: limits how often a type or partition is logged as unreadable. Two names that share a slot are logged more
 * often. */
bool pawl__may_log_type(pawl__engine *engine, pawl_text type);
/* recover.c: decides what becomes of a unit that failed with `code`. */
void    pawl__unit_fail(pawl__batch *batch, pawl__unit *unit, pawl_code code, pawl_text error,
                        int64_t asked_delay);
int32_t pawl__unit_attempts(const pawl__unit *unit);
bool    pawl__code_is_hopeless(pawl_code code); /* another run would fail with it, too */
/* How often the unit may run again at once, in memory, when it failed with `code`. */
int32_t pawl__unit_runs_again(const pawl__engine *engine, const pawl__unit *unit, pawl_code code);
/* Releases the claim instead of an immediate retry while the endpoint stops; no attempt is counted. False for an event:
 * it fails as usual, and is retried later. */
bool pawl__unit_release(pawl__unit *unit);
void pawl__unit_dead(pawl__batch *batch, pawl__unit *unit, pawl_code code, pawl_text error);
/* history.c: notes a run that failed. */
void pawl__unit_note(pawl__batch *batch, pawl__unit *unit, pawl_code code, pawl_text error);
/* All attempts, of the row and of this batch, as JSON: pawl_dead_set.history. */
pawl_text pawl__unit_history(pawl__batch *batch, const pawl__unit *unit);
/* Lets the unit wait for a missing saga. True: "no saga" is final, and the handler's policy applies. */
bool pawl__unit_wait(pawl__batch *batch, pawl__unit *unit);
bool pawl__unit_is_done(const pawl__unit *unit);     /* has it a deduplication record? */
bool pawl__unit_is_deferred(const pawl__unit *unit); /* will it be due again later? */
#endif
