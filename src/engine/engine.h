/* engine.h - the runtime as a batch sees it: functions, limits, clocks.
 *
 * The engine reads no clock and does no I/O; runtime/worker/engine_callbacks.c fills the struct.
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_ENGINE_H
#define PAWL_ENGINE_ENGINE_H

#include "pawl/limits.h"
#include "pawl/message.h"
#include "pawl/recovery.h"
#include "pawl/store_calls.h"
#include "workflow/model.h"

/* Delay of a message whose saga another worker has, and pause of a worker all of whose messages were put back
 * for that reason. */
#define PAWL__SAGA_BUSY_WAIT PAWL_MILLISECONDS(20)

/* The saga of a timeout that is a schedule's row (runtime/schedule/schedule.h); schedule.c. */
#define PAWL__SCHEDULE_SAGA "pawl/schedule"
extern const pawl_saga_id pawl__schedules_saga;
/* Header of a schedule's row that could not be sent at its planned time (schedule.c). */
#define PAWL__SCHEDULE_LATE "pawl.schedule.late"
/* The planned time of the due row; it differs from the due time if the row was put back. */
pawl_code pawl__schedule_planned(const pawl_timeout_row *row, pawl_arena *arena,
                                 pawl_time *planned);

/* The messages that a due schedule sends, and its next time. */
typedef struct pawl__schedule_plan {
    pawl_message message; /* of each: type, body and headers */
    pawl_time   *times;   /* planned; one message each */
    size_t       count;
    pawl_time    next;
    bool         is_gone; /* no program has this schedule any more: the row is to be removed */
} pawl__schedule_plan;

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

/* The rows of pawl/recovery.h that are in force for an endpoint. */
typedef struct pawl__recovery {
    pawl_recovery rows[PAWL_RECOVERY_ROWS_MAX];
    size_t        count;
} pawl__recovery;

/* The longest delay of a row: its own, or that of the options, or its first delay if that is longer. */
static inline int64_t pawl__recovery_delay_max(const pawl_recovery *row, int64_t retry_delay_max)
{
    if (row->delay_max != 0)
        return row->delay_max;
    return row->delay > retry_delay_max ? row->delay : retry_delay_max;
}

/* Option audit: for each handled message the commit that writes its deduplication record adds an outbox row with a
 * copy. So there is a copy exactly when there is a record "handled". */
#define PAWL__AUDIT_ROUTE "pawl.audit"

typedef struct pawl__audit {
    pawl_text machine;
    /* The copy has the id of its message. False if the copy goes to the queue of a store: an event that two endpoints
     * handled would be dropped there as a duplicate. */
    bool keeps_id;
} pawl__audit;

/* For hash tables in memory; not stored. */
static inline uint64_t pawl__text_hash(pawl_text text)
{
    pawl_value value = pawl_value_text(text);
    return pawl_value_hash(&value);
}

/* A type that was logged as unreadable, and is not logged again before `due`. */
#define PAWL__UNREAD_COUNT 16
typedef struct pawl__unread {
    uint64_t  name; /* hash of the type */
    pawl_time due;
} pawl__unread;

struct pawl__unit;

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
    /* Queue order of the oldest broker message without a row outside of the batch; PAWL_TIME_MIN: not known. Or NULL. */
    pawl_time (*oldest_without_row)(void *runtime);
    void (*begin_time)(void *runtime); /* starts the handler time; called after the loads */
    bool (*is_time_over)(
        void *runtime); /* the batch has used its handler time, or a stop ends it */
    int64_t (*clock)(
        void *runtime); /* microseconds, for durations; stands still under a virtual clock */
    int64_t (*watch)(void *runtime); /* the same, coarse and cheap: for durations of seconds */
    /* The clocks now; machine_now and business_now are from the start of the batch, and old after slow handlers. Under
     * a virtual clock business_now is the time of the unit, and the clock may be far ahead of it. */
    pawl_time (*machine)(void *runtime);
    pawl_time (*business)(void *runtime);
    /* Did the saga of this value conflict often of late? Asked only while has_hot. */
    bool (*is_hot)(void *runtime, const pawl_saga_table *table, pawl_saga_key key,
                   const pawl_value *value);
    /* Claims the saga of this hash (pawl__entry.hashes) among the endpoint's workers. False: another one has it. Or
     * NULL. */
    bool (*take)(void *runtime, uint64_t hash);
    /* Around each call of the application. False: the watchdog gave the worker up; it must not call or write more. */
    bool (*call_begin)(void *runtime, const pawl__call *call);
    bool (*call_end)(void *runtime);
    /* Did the unit's claim end during an earlier run? Then the unit fails with `why`, and does not run. */
    bool (*has_outlived)(void *runtime, const struct pawl__unit *unit, pawl_error *why);
    struct pawl__order   *order;       /* of an ordered endpoint: order.h; else NULL */
    bool                  has_hot;     /* is_hot may answer true */
    const pawl__audit    *audit;       /* handled messages are copied; or NULL */
    bool                  has_history; /* each unit leaves lines of history (line.c) */
    bool                  is_timed;    /* history or audit: how long each unit takes is measured */
    bool                  is_virtual;  /* each unit has its own business time */
    int32_t               immediate_retries, delayed_retries;
    int64_t               retry_delay, retry_delay_max, not_found_wait, version_delay;
    int64_t               handler_time_max;
    int32_t               conflict_retries;
    const pawl__recovery *recovery;  /* borrowed; NULL: no rows */
    int64_t      dispatch_retention; /* duplicates may come for so long; 0: the inbox covers it */
    bool         has_warned_recent;  /* so that the warning comes once */
    pawl__unread unread[PAWL__UNREAD_COUNT];
    pawl_time    unread_until; /* machine time; "no saga" is not final before */
    pawl_time    machine_now, business_now;
} pawl__engine;

#endif
