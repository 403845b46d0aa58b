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
 * The engine reads no clock and does no I/O: pawl__engine lends both, and the runtime commits.
 *
 * Threads: a batch belongs to one worker.
 * Tests: tests/unit/engine
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_BATCH_H
#define PAWL_ENGINE_BATCH_H

#include "base/delay.h"
#include "engine/entry.h"
#include "engine/headers.h"
#include "engine/noted.h"
#include "engine/plan.h"
#include "engine/recovery.h"
#include "engine/starter.h"
#include "engine/unread.h"
#include "pawl/context.h"
#include "pawl/store_calls.h"
#include "workflow/model.h"

/* Where a logical destination leads. */
typedef struct pawl__destination {
    bool      is_remote; /* through the outbox */
    pawl_text queue;     /* local: the queue */
} pawl__destination;

/* A call of the application's code, as the thread that watches the worker names it in its log. */
typedef struct pawl__call {
    const char *what; /* "message" */
    pawl_text   id, type;
    const char *kind; /* "handler" */
    const char *name; /* or NULL */
} pawl__call;

/* Functions, limits and clocks that the runtime lends to a batch. */
typedef struct pawl__engine {
    const pawl__model *model;
    pawl_store        *store; /* reads only, through its ops */
    pawl_random       *random;
    pawl_arena        *scratch; /* emptied before each unit */
    void              *user;
    void              *runtime; /* for the calls below */
    pawl__destination (*resolve)(void *runtime, pawl_text destination);
    pawl_code (*subscriptions)(void *runtime, const pawl_subscriptions **list, pawl_error *error);
    pawl_code (*send_now)(void *runtime, pawl_changes *changes, pawl_error *error);
    pawl_code (*find_handler)(void *runtime, pawl_text type, bool *is_known, pawl_error *error);
    /* Reads the row of a schedule that is due at `now`. */
    pawl_code (*schedule)(void *runtime, const pawl_timeout_row *row, pawl_time now,
                          pawl_arena *arena, pawl__schedule_plan *plan, pawl_error *error);
    bool (*is_stopping)(void *runtime);
    /* When the oldest message without a row was placed, those of the batch left out; PAWL_TIME_MIN: one may be unseen. Or NULL. */
    pawl_time (*oldest_without_row)(void *runtime);
    void (*begin_time)(void *runtime);   /* of the handlers: behind all loads */
    bool (*is_time_over)(void *runtime); /* the batch has used its handler time */
    int64_t (*clock)(void *runtime);     /* microseconds, for durations; asked while is_timed */
    /* Did the saga of this value conflict often of late? Asked only while has_hot. */
    bool (*is_hot)(void *runtime, const pawl_saga_table *table, pawl_saga_key key,
                   const pawl_value *value);
    /* False: another worker works on the saga of this hash (pawl__entry.hashes). NULL: it is the only one. */
    bool (*take)(void *runtime, uint64_t hash);
    /* Around each call of the application's code. False: the worker was given up, and may call and write nothing more. */
    bool (*call_begin)(void *runtime, const pawl__call *call);
    bool (*call_end)(void *runtime);
    /* Did an earlier run of the unit outlive its claim? Then it fails with that, and does not run. */
    bool (*has_outlived)(void *runtime, const struct pawl__unit *unit, pawl_error *why);
    struct pawl__order       *order;       /* of an ordered endpoint: order.h; else NULL */
    bool                      has_hot;     /* is_hot may answer true */
    const struct pawl__audit *audit;       /* handled messages are copied: audit.h; or NULL */
    bool                      has_history; /* each unit leaves lines of history (line.h) */
    bool                      is_timed; /* history or audit: how long each unit takes is measured */
    bool                      is_virtual; /* each unit has its own business time */
    int32_t                   immediate_retries, delayed_retries;
    int64_t                   retry_delay, retry_delay_max, not_found_wait, version_delay;
    int32_t                   conflict_retries;
    const pawl__recovery     *recovery; /* borrowed; NULL: no rows */
    int64_t      dispatch_retention; /* copies may come for so long; 0: inbox marks outlive them */
    bool         has_warned_recent;  /* so that the warning comes once */
    pawl__unread unread[PAWL__UNREAD_COUNT];
    pawl_time    unread_until; /* machine time; "no saga" is not final before */
    pawl_time    machine_now, business_now;
} pawl__engine;

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
    PAWL__END_HANDLED,    /* mark, effects, acknowledge */
    PAWL__END_DUPLICATE,  /* acknowledge */
    PAWL__END_DISCARDED,  /* mark, acknowledge */
    PAWL__END_SUPERSEDED, /* a timeout re-armed or cancelled earlier in the batch: nothing */
    PAWL__END_RETRY,      /* later, counted */
    PAWL__END_WAIT,       /* later, uncounted: no saga yet, or a type of other workers */
    PAWL__END_DEAD,       /* dead letter */
    PAWL__END_UNREAD,     /* later, uncounted: of a version that this program does not read */
    PAWL__END_ELSEWHERE,  /* not run: its saga is elsewhere; due in a moment, uncounted */
    PAWL__END_HELD,       /* not run: behind an earlier message of its key; later, uncounted */
    PAWL__END_RELEASED,   /* not run: its claim is freed */
    PAWL__END_AGAIN,      /* own SQL is rolled back, then the unit runs again at once */
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
    pawl__unit_kind               kind;
    pawl__unit_end                end;
    uint32_t                      index;
    uint32_t                      parent; /* union-find: units of one group */
    pawl_message                  message;
    pawl_time                     now; /* business time of the unit */
    pawl_queue_row                row;
    pawl_timeout_row              timeout;
    pawl__entry                  *entry;      /* TIMEOUT: its saga as loaded, or NULL */
    const pawl__aggregator_model *aggregator; /* FLUSH */
    pawl_leased_batch             leased;
    pawl_session_id               session;
    pawl_flush_row                flush;
    bool                          is_size_flush;
    const pawl__projection_model *projection; /* EVENT */
    const pawl_event_row         *event;
    pawl__lookup                 *lookups;
    size_t                        lookup_count;
    bool                          is_alone, has_sql, resets; /* EVENT: the reset comes first */
    bool                          is_rowless; /* has no row; one is made unless it is done */
    bool                          is_expired; /* DISCARDED: not run, its time was over */
    int32_t                       conflicts;  /* commits that refused it */
    int32_t                       runs;       /* immediate retries with own SQL so far */
    int32_t                       not_found;  /* sagas that its last run missed for good */
    pawl_time                     due;      /* RETRY, WAIT, ELSEWHERE and HELD: the next due time */
    pawl__attempt                *attempts; /* failed runs in this batch */
    size_t                        attempt_count, attempt_capacity;
    pawl_code                     code; /* of the last failure */
    pawl_text                     error;
    pawl__line                   *lines; /* of history, once it is kept */
    size_t                        line_count;
    pawl_time                     started;  /* machine time, with audit */
    int64_t                       duration; /* microseconds, while is_timed */
    pawl_text                     key;      /* of an ordered endpoint; or empty */
    uint32_t                      lane;     /* of the key */
    const struct pawl__unit      *before;   /* the one before it in its lane; or NULL */
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
    pawl_time         cut_message;       /* of the last timeout claimed, if more may be due then */
    bool              has_sql;           /* the first unit runs in a hold */
    bool              has_elsewhere;     /* another worker has some saga */
    bool              has_unit_of_other; /* a unit waits for another worker's program */
    bool is_unwritable; /* the changes failed at the state of a saga, whatever their code */
    bool gives_way;     /* all sagas are elsewhere: the changes free the claims */
    bool is_given_up;   /* by the watch over the threads: see call_begin */
    pawl__starters starters;
    pawl_changes   changes;
} pawl__batch;

pawl__batch *pawl__batch_create(pawl__engine *engine); /* NULL: out of memory */
void         pawl__batch_destroy(pawl__batch *batch);
void         pawl__batch_reset(pawl__batch *batch);

/* Units in the order they are to run; begin sorts them by business time under a virtual clock,
 * timeouts first. Rows are copied. */
pawl_code pawl__batch_add_message(pawl__batch *batch, const pawl_queue_row *row, int32_t conflicts);
pawl_code pawl__batch_add_timeout(pawl__batch *batch, const pawl_timeout_row *row);
pawl_code pawl__batch_add_flush(pawl__batch *batch, const pawl__aggregator_model *aggregator,
                                const pawl_flush_row *flush, const pawl_leased_batch *leased,
                                pawl_session_id session, bool is_size_flush);
/* Borrows the row. Events make a batch of their own, one group, in the order of their positions:
 * begin, run, changes. Behind a failed one none runs. */
pawl_code pawl__batch_add_event(pawl__batch *batch, const pawl__projection_model *projection,
                                const pawl_event_row *row, int32_t attempts);
/* Decodes, finds the handlers, cuts the batch at a message that runs alone.
 * Afterwards batch->has_sql says whether a hold is needed before load. */
pawl_code pawl__batch_begin(pawl__batch *batch, pawl_error *error);
/* Reads inbox marks and sagas, and whether a missing saga is missing for good. */
pawl_code pawl__batch_load(pawl__batch *batch, pawl_error *error);
/* Runs the handlers. Fails only when the batch is spoilt: the engine was out of memory, or a unit cannot be kept. */
pawl_code pawl__batch_run(pawl__batch *batch, pawl_error *error);
void      pawl__batch_release(pawl__batch *batch); /* in place of begin: gives all back */
/* Builds batch->changes. */
pawl_code pawl__batch_changes(pawl__batch *batch, pawl_error *error);
/* Forgets what the handlers did and fails every unit: a batch of one that cannot be loaded, run or committed. Then build the changes. */
void pawl__batch_fail(pawl__batch *batch, pawl_code code, const char *text);
/* Likewise: messages and timeouts are to run again, flushes fail with `code`. */
void pawl__batch_set_apart(pawl__batch *batch, pawl_code code, const char *text);

/* ---- Between the files of the engine -------------------------------------- */

/* identity.c */
pawl__entry *pawl__identity_find(pawl__batch *batch, const pawl__saga_model *model,
                                 const pawl_value *main);
pawl__entry *pawl__identity_find_transitional(pawl__batch *batch, const pawl__saga_model *model,
                                              const pawl_value *value);
pawl__entry *pawl__identity_find_id(pawl__batch *batch, const pawl__saga_model *model,
                                    pawl_saga_id id);
/* NULL when out of memory. The value is borrowed. */
pawl__entry *pawl__identity_add(pawl__batch *batch, const pawl__saga_model *model,
                                const pawl_value *main);
/* False when out of memory. */
bool pawl__identity_set_id(pawl__batch *batch, pawl__entry *entry, pawl_saga_id id);
bool pawl__identity_set_transitional(pawl__batch *batch, pawl__entry *entry,
                                     const pawl_value *value);
/* The entry of a stored row: the one that is there, or a new one. */
pawl_code pawl__identity_adopt(pawl__batch *batch, const pawl__saga_model *model,
                               const pawl_saga_row *row, pawl__entry **entry, pawl_error *error);
/* Fills the entry from a stored row: decodes its state. */
pawl_code      pawl__identity_fill(pawl__batch *batch, pawl__entry *entry, const pawl_saga_row *row,
                                   pawl_error *error);
pawl_saga_lock pawl__identity_lock(const pawl__batch *batch); /* hot sagas: SKIP_LOCKED */
/* Unless the batch has it; *entry NULL when there is no row. */
pawl_code pawl__identity_load_id(pawl__batch *batch, const pawl__saga_model *model, pawl_saga_id id,
                                 pawl__entry **entry, pawl_error *error);
/* Notes that another worker has the row of this id or transitional value. */
pawl_code pawl__identity_leave(pawl__batch *batch, const pawl__saga_model *model, pawl_saga_key key,
                               const pawl_value *value, pawl_error *error);
/* Notes that the unit read or wrote the entry: puts it in the entry's group. */
void     pawl__identity_touch(pawl__batch *batch, pawl__entry *entry, pawl__unit *unit);
uint32_t pawl__group_of(pawl__batch *batch, uint32_t unit);

/* lookup.c: the handlers of a message and the sagas they look for. A message
 * that cannot be decoded or mapped ends its unit; the code is PAWL_OK then. A timeout has no
 * lookup, and waits when no handler here but one of another worker is for it. */
pawl_code pawl__lookup_build(pawl__batch *batch, pawl__unit *unit, pawl_error *error);
pawl_code pawl__lookup_timeout(pawl__batch *batch, pawl__unit *unit, pawl_error *error);
/* load.c: fills the identity map with what the lookups and timeouts need. */
pawl_code pawl__load_sagas(pawl__batch *batch, pawl_error *error);
/* Is an older message of the batch still to be handled? "No saga" is not final then (E3). */
bool pawl__load_has_older(const pawl__batch *batch, const pawl__unit *unit);
/* Is there no older message, of this batch or another? */
pawl_code pawl__load_is_oldest(pawl__batch *batch, const pawl__unit *unit, bool *is_oldest,
                               pawl_error *error);
/* subscribe.c: does subscription `index` make its queue get the record? When a queue subscribes to
 * several of the record's types, only the first of these subscriptions does. */
bool pawl__is_subscriber(const pawl_subscriptions *list, size_t index, const pawl_record *record);
pawl_code pawl__unit_run(pawl__batch *batch, pawl__unit *unit, pawl_error *error); /* unit.c */
/* schedule.c: the row of a schedule stays, set to its next time, unless it is gone. */
void pawl__schedule_settle(const pawl__unit *unit, pawl_timeout_settle *settle);
/* recover.c: decides what becomes of a unit that failed with `code`. */
void    pawl__unit_fail(pawl__batch *batch, pawl__unit *unit, pawl_code code, pawl_text error,
                        int64_t asked_delay);
int32_t pawl__unit_attempts(const pawl__unit *unit);
bool    pawl__code_is_hopeless(pawl_code code); /* every run of the message meets it again */
/* How often the unit may run again at once, in memory, when it failed with `code`. */
int32_t pawl__unit_runs_again(const pawl__engine *engine, const pawl__unit *unit, pawl_code code);
void    pawl__unit_dead(pawl__batch *batch, pawl__unit *unit, pawl_code code, pawl_text error);
/* history.c: notes a run that failed. */
void pawl__unit_note(pawl__batch *batch, pawl__unit *unit, pawl_code code, pawl_text error);
/* All attempts, those of its row and those noted since: pawl_dead_set.history. */
pawl_text pawl__unit_history(pawl__batch *batch, const pawl__unit *unit);
/* "No saga": wait, or the handler's policy. True when the answer is final. */
bool pawl__unit_wait(pawl__batch *batch, pawl__unit *unit);
bool pawl__unit_is_done(const pawl__unit *unit); /* is, or was, its mark written? */
#endif
