/* change.h - the change set: everything that one or more handled messages want
 * to write, the argument of commit, the only way to write to a store.
 *
 *     unit    the part of a change set that belongs to one handled message
 *     group   units that depend on one another; applied whole or refused whole
 *
 * Every change names its unit and its group (both count from 0 within the
 * set). Changes of a kind stand in one array; kinds are applied in the order
 * of PAWL_CHANGE_KINDS, the refusable ones first. Callers sort nothing: a
 * driver sorts where its database needs it against deadlocks.
 *
 * Memory: everything a change set points to is borrowed for the call.
 * Times: `due` is business time; everything else is machine time.
 * Tests: tests/contract. Reasons and rules: docs/ARCHITECTURE.md, "Commit".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CHANGE_H
#define PAWL_CHANGE_H

#include "pawl/base.h"
#include "pawl/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What rows carry ---------------------------------------------------- */

/* A message as it travels and is stored. `headers` is a JSON object of strings
 * or empty. The body is stored byte for byte. */
typedef struct pawl_message {
    pawl_text id;             /* 1 to PAWL_MESSAGE_ID_SIZE_MAX bytes */
    pawl_text type;           /* the record's type name */
    pawl_text body;           /* JSON */
    pawl_text headers;        /* JSON object of strings, or empty */
    pawl_text correlation_id; /* id of the conversation */
    pawl_text causation_id;   /* id of the message that caused this one, or empty */
} pawl_message;

/* A correlation column: a property of the state and the type it is compared as.
 * PAWL_VALUE_NONE: the saga has no such column. */
typedef struct pawl_correlation {
    pawl_text       property;
    pawl_value_type type;
} pawl_correlation;

/* One table per saga type. Lives as long as any store handle that was given it. */
typedef struct pawl_saga_table {
    pawl_text        type; /* the saga's name, for error texts */
    pawl_text        name; /* the table's name, saga prefix included */
    pawl_correlation main;
    pawl_correlation transitional;
} pawl_saga_table;

typedef enum pawl_inbox_outcome {
    PAWL_INBOX_HANDLED,
    PAWL_INBOX_DISCARDED,
    PAWL_INBOX_DEAD,
} pawl_inbox_outcome;

typedef enum pawl_outbox_state {
    PAWL_OUTBOX_PENDING,
    PAWL_OUTBOX_HELD, /* waits behind a retry of the same source */
    PAWL_OUTBOX_DISPATCHED,
    PAWL_OUTBOX_DEAD,
} pawl_outbox_state;

typedef enum pawl_attempt_outcome {
    PAWL_ATTEMPT_SUCCESS,
    PAWL_ATTEMPT_REJECTED,
    PAWL_ATTEMPT_TRANSIENT,
    PAWL_ATTEMPT_POISON,
} pawl_attempt_outcome;

/* ---- The changes -------------------------------------------------------- */

#define PAWL__CHANGE_BASE \
    uint32_t unit;        \
    uint32_t group;

/* Ends this worker's claim on a queue row.
 * Refused with PAWL_EGONE when the claim is no longer ours. */
typedef enum pawl_queue_action {
    PAWL_QUEUE_DONE,    /* the row goes */
    PAWL_QUEUE_RELEASE, /* the row is free at once, nothing else changes */
    PAWL_QUEUE_RETRY,   /* due, attempts, waiting_since and error are written; its place stays */
} pawl_queue_action;

typedef struct pawl_queue_settle {
    PAWL__CHANGE_BASE
    pawl_queue_action action;
    pawl_text         queue;
    int64_t           seq;           /* the row, as claimed */
    pawl_time         due;           /* RETRY: not before this time */
    int32_t           attempts;      /* RETRY: delayed retries so far */
    int32_t           deaths;        /* RETRY: processes that died holding it */
    pawl_time         waiting_since; /* RETRY: first time put back for "no saga yet", else 0 */
    pawl_text         error;         /* RETRY: why, or empty */
} pawl_queue_settle;

/* Remembers that the endpoint handled the message id.
 * Refused with PAWL_EDUPLICATE when it is remembered already. */
typedef struct pawl_inbox_mark {
    PAWL__CHANGE_BASE
    pawl_text          endpoint;
    pawl_text          message_id;
    pawl_inbox_outcome outcome;
    pawl_time          at;
} pawl_inbox_mark;

/* Refused with PAWL_ECONFLICT unless the row is there at `version`. */
typedef struct pawl_saga_delete {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_saga_id           id;
    int64_t                version;
} pawl_saga_delete;

/* The row starts at version 1. Refused with PAWL_EDUPLICATE when the id or a
 * correlation value exists. */
typedef struct pawl_saga_insert {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_saga_id           id;
    pawl_value             main;
    pawl_value             transitional; /* PAWL_VALUE_NONE is stored as null */
    pawl_text              metadata;     /* JSON object */
    pawl_text              data;         /* JSON object */
    pawl_text              type_version; /* version of the state's record, "1.0" */
} pawl_saga_insert;

/* The row goes from `version` to `version + 1`. Refused with PAWL_ECONFLICT
 * unless it is there at `version`; with PAWL_EDUPLICATE when the transitional
 * value exists elsewhere. The main correlation value is never rewritten. */
typedef struct pawl_saga_update {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_saga_id           id;
    int64_t                version;
    int64_t                row; /* pawl_saga_row.row as loaded, a hint; 0 when unknown */
    pawl_value             transitional;
    pawl_text              metadata;
    pawl_text              data;
    pawl_text              type_version;
} pawl_saga_update;

/* Ends a lease on a timeout. With `has_owner`, refused with PAWL_EGONE unless
 * the row has that owner and, when generation is not 0, that generation;
 * without, a missing row is fine. */
typedef enum pawl_timeout_action {
    PAWL_TIMEOUT_REMOVE,
    PAWL_TIMEOUT_RELEASE,
    PAWL_TIMEOUT_RETRY, /* lease cleared; due, attempts and waiting_since written */
} pawl_timeout_action;

typedef struct pawl_timeout_settle {
    PAWL__CHANGE_BASE
    pawl_timeout_action action;
    pawl_timeout_id     id;
    bool                has_owner;
    pawl_session_id     owner;
    int64_t             generation;
    pawl_time           due;
    int32_t             attempts;
} pawl_timeout_settle;

/* Records the outcome of one attempt to deliver an outbox row, its new state
 * and a line of history. Refused with PAWL_EGONE unless the row is pending. */
typedef struct pawl_outbox_settle {
    PAWL__CHANGE_BASE
    int64_t              id;
    pawl_text            source; /* of the row; empty orders nothing */
    pawl_outbox_state    state;  /* PENDING (try again), DISPATCHED or DEAD */
    int32_t              attempts;
    pawl_time            next_attempt;
    pawl_attempt_outcome outcome;
    pawl_text            error;
    pawl_time            at;
    int64_t              duration; /* microseconds */
} pawl_outbox_settle;

/* Removes exactly the rows of a snapshot. Refused with PAWL_ECONFLICT unless
 * all `ids` are there under the session's lease (contracts A11, A12, A27). A
 * session of zero checks no lease and ignores ids that are gone. */
typedef struct pawl_snapshot_remove {
    PAWL__CHANGE_BASE
    pawl_text       partition;
    pawl_session_id session;
    const int64_t  *ids;
    size_t          id_count;
} pawl_snapshot_remove;

/* Sets or re-arms. With a saga id, (saga id, name) is unique: a second set
 * writes the due time anew, raises the generation and clears the lease,
 * whoever holds it. Without one the id is the key. With `is_new` an existing
 * id is refused with PAWL_EDUPLICATE and the first row stays (contracts T2). */
typedef struct pawl_timeout_set {
    PAWL__CHANGE_BASE
    pawl_timeout_id id;
    pawl_saga_id    saga_id;     /* zero: belongs to no saga */
    pawl_text       saga_type;   /* the saga's name */
    pawl_text       name;        /* empty for a timeout of its own id */
    pawl_text       destination; /* the queue it is handled from */
    pawl_time       due;
    pawl_text       headers; /* JSON object of strings, or empty */
    pawl_text       correlation_id;
    bool            is_new;
} pawl_timeout_set;

/* Removes a saga's timeout of that name, or all of the saga's when the name is
 * empty, whatever their lease. Applied before timeout_set. */
typedef struct pawl_timeout_cancel {
    PAWL__CHANGE_BASE
    pawl_saga_id saga_id;
    pawl_text    name;
} pawl_timeout_cancel;

/* A new pending row. A dispatch id that exists is left untouched; one whose
 * stored type or body differs is refused with PAWL_EMISMATCH (contracts O5, O6). */
typedef struct pawl_outbox_add {
    PAWL__CHANGE_BASE
    pawl_dispatch_id dispatch_id;
    pawl_text        source;      /* "type/id" of the producer; empty orders nothing */
    int64_t          version;     /* sequence: source version ... */
    int32_t          index;       /* ... and index within it */
    pawl_text        endpoint;    /* the endpoint that produced it */
    pawl_text        destination; /* logical name of a route */
    pawl_message     message;
    pawl_time        due; /* business time before which the receiver must not handle it */
    pawl_time        at;
} pawl_outbox_add;

/* Held rows: the runner keeps back what follows a waiting row of a source, and
 * lets it go when that row is settled (design section 6, "Outbox order"). */
typedef struct pawl_outbox_hold {
    PAWL__CHANGE_BASE
    pawl_text source;
    int64_t   after; /* rows of the source with a larger id */
    bool      is_release;
} pawl_outbox_hold;

/* A second send of a live (queue, id) changes nothing. */
typedef struct pawl_queue_send {
    PAWL__CHANGE_BASE
    pawl_text    queue;
    pawl_message message;
    pawl_time    due;
    int32_t      attempts; /* 0 as a rule */
} pawl_queue_send;

/* One delivery to an aggregator. The key is unique in its partition while the
 * row lives; a second add changes nothing (contracts A2). The partition's
 * flush row is made when it is missing. */
typedef struct pawl_aggregator_add {
    PAWL__CHANGE_BASE
    pawl_text    name;      /* of the aggregator */
    pawl_text    partition; /* the name, or the name, '/' and the key field's text */
    pawl_text    key;       /* idempotency key: the message id as a rule */
    pawl_message message;
    pawl_time    at; /* insertion time; ties are ordered by insertion */
    pawl_time
        due; /* business time at which the period of a fresh partition ends; PAWL_TIME_MAX: never */
} pawl_aggregator_add;

/* Writes what is known about a partition's flushes. A missing row is fine. */
typedef struct pawl_flush_set {
    PAWL__CHANGE_BASE
    pawl_text partition;
    pawl_time due;      /* end of the period, or the next try after a failure */
    int32_t   attempts; /* failures in a row */
    bool      is_dead;
    bool      is_done; /* the row goes if the partition holds no messages */
    pawl_text error;
} pawl_flush_set;

/* Frees the rows that a session leased. Never refused. */
typedef struct pawl_snapshot_release {
    PAWL__CHANGE_BASE
    pawl_text       partition;
    pawl_session_id session;
} pawl_snapshot_release;

/* Rows leave an aggregator whatever their lease: one by correlation id, or all
 * when it is empty. The public operations check and explain (contracts A20-A24). */
typedef struct pawl_aggregator_remove {
    PAWL__CHANGE_BASE
    pawl_text partition;
    pawl_text correlation_id;
    bool      is_all;
} pawl_aggregator_remove;

/* A dead letter, unique by endpoint and message id: a second one changes
 * nothing. With `is_remove` the letter and its inbox mark go. */
typedef struct pawl_dead_set {
    PAWL__CHANGE_BASE
    bool         is_remove;
    pawl_text    endpoint;
    pawl_text    queue; /* where a retry sends it */
    pawl_message message;
    pawl_text    code;  /* name of the pawl_code or "unknown type" ... */
    pawl_text    error; /* text for people */
    int32_t      attempts;
    int32_t      deaths;
    pawl_text    history; /* JSON array of attempts: at, code, error */
    pawl_time    at;
} pawl_dead_set;

typedef struct pawl_subscription_set {
    PAWL__CHANGE_BASE
    bool      is_remove;
    pawl_text type;
    pawl_text queue;
} pawl_subscription_set;

/* kind, may be refused. Applied in this order. */
#define PAWL_CHANGE_KINDS(X)    \
    X(queue_settle, true)       \
    X(inbox_mark, true)         \
    X(saga_delete, true)        \
    X(saga_insert, true)        \
    X(saga_update, true)        \
    X(timeout_settle, true)     \
    X(outbox_settle, true)      \
    X(snapshot_remove, true)    \
    X(timeout_cancel, false)    \
    X(timeout_set, true)        \
    X(outbox_add, true)         \
    X(outbox_hold, false)       \
    X(queue_send, false)        \
    X(aggregator_add, false)    \
    X(aggregator_remove, false) \
    X(snapshot_release, false)  \
    X(flush_set, false)         \
    X(dead_set, false)          \
    X(subscription_set, false)

typedef enum pawl_change_kind {
#define PAWL__KIND(name, is_refusable) pawl_change_##name,
    PAWL_CHANGE_KINDS(PAWL__KIND)
#undef PAWL__KIND
        pawl_change_kind_count
} pawl_change_kind;

/* What a worker did since its last commit; added to its row by the fence. */
typedef struct pawl_counters {
    int64_t messages;  /* units that were handled to an end, timeouts and flushes included */
    int64_t timeouts;  /* of these, timeouts */
    int64_t flushes;   /* of these, aggregator flushes */
    int64_t failures;  /* handler runs that failed */
    int64_t conflicts; /* units refused and run again */
    int64_t dead;      /* dead letters */
} pawl_counters;

typedef struct pawl_changes {
    pawl_uuid     commit_id; /* new for each call of commit */
    pawl_time     now;       /* machine time */
    uint32_t      group_count;
    uint32_t      unit_count;
    pawl_counters counters;
#define PAWL__KIND(name, is_refusable) \
    struct {                           \
        pawl_##name *items;            \
        size_t       count;            \
    } name;
    PAWL_CHANGE_KINDS(PAWL__KIND)
#undef PAWL__KIND
} pawl_changes;

/* One refused change: which one, and why. The whole group was left out. */
typedef struct pawl_refusal {
    pawl_change_kind kind;
    uint32_t         unit;
    uint32_t         group;
    pawl_code        reason; /* ECONFLICT, EDUPLICATE, EGONE or EMISMATCH */
    pawl_text        text;   /* names the thing; in the arena of the call */
} pawl_refusal;

typedef struct pawl_refusals {
    pawl_arena   *arena; /* given by the caller: texts and items live there */
    pawl_refusal *items;
    size_t        count;
    size_t        capacity;
} pawl_refusals;

/* "saga_update" */
PAWL_API const char *pawl_change_kind_name(pawl_change_kind kind);
/* For drivers: adds a refusal. PAWL_ENOMEM when the arena is exhausted. */
PAWL_API pawl_code pawl_refusals_add(pawl_refusals *refusals, pawl_change_kind kind, uint32_t unit,
                                     uint32_t group, pawl_code reason, pawl_text text);

#ifdef __cplusplus
}
#endif
#endif
