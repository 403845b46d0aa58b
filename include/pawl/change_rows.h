/* change_rows.h - one struct for each kind of change. A change set (change.h) consists of
 * them.
 *
 * Threads: plain data.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CHANGE_ROWS_H
#define PAWL_CHANGE_ROWS_H

#include "pawl/base.h"
#include "pawl/message.h"
#include "pawl/saga_rows.h"
#include "pawl/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The changes -------------------------------------------------------- */

#define PAWL__CHANGE_BASE \
    uint32_t unit;        \
    uint32_t group;

/* Ends this worker's claim on a queue row.
 * Refused with PAWL_EGONE when the worker has lost the claim. */
typedef enum pawl_queue_action {
    PAWL_QUEUE_DONE,    /* deletes the row */
    PAWL_QUEUE_RELEASE, /* the row is free at once, nothing else changes */
    PAWL_QUEUE_RETRY, /* due, attempts, waiting_since and error are written; its queue order stays */
} pawl_queue_action;

typedef struct pawl_queue_settle {
    PAWL__CHANGE_BASE
    pawl_queue_action action;
    pawl_text         queue;
    int64_t           seq;           /* the row, as claimed */
    pawl_time         due;           /* RETRY: not before this time */
    int32_t           attempts;      /* RETRY: delayed retries so far */
    int32_t           crashes;       /* RETRY: crash count */
    pawl_time         waiting_since; /* RETRY: first time deferred for "no saga yet", else 0 */
    pawl_text         error;         /* RETRY: reason, or empty */
    pawl_text         history;       /* RETRY: as in pawl_dead_set, or empty */
} pawl_queue_settle;

/* Writes a deduplication record: the endpoint has handled the message id.
 * Refused with PAWL_EDUPLICATE when there is a record already. */
typedef struct pawl_inbox_entry {
    PAWL__CHANGE_BASE
    pawl_text          endpoint;
    pawl_text          message_id;
    pawl_inbox_outcome outcome;
    pawl_time          at;
} pawl_inbox_entry;

/* Deletes a saga's row. Refused with PAWL_ECONFLICT unless the row exists with `version`. */
typedef struct pawl_saga_delete {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_saga_id           id;
    int64_t                version;
} pawl_saga_delete;

/* Inserts a saga's row with version 1. Refused with PAWL_EDUPLICATE when the id or a
 * correlation value exists. */
typedef struct pawl_saga_insert {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_saga_id           id;
    pawl_value             main;
    pawl_value             transitional; /* PAWL_VALUE_NONE is stored as null */
    pawl_text              metadata;     /* JSON object; empty: {} */
    pawl_text              data;         /* JSON object; empty: {} */
    pawl_text              type_version; /* version of the state's record, "1.0" */
} pawl_saga_insert;

/* Updates a saga's row from `version` to `version + 1`. Refused with PAWL_ECONFLICT
 * unless the row exists with `version`; with PAWL_EDUPLICATE when another saga has
 * the transitional value. The main correlation value is never rewritten. */
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

/* Ends a lease on a timeout. Refused with PAWL_EGONE if the row does not have this owner (with
 * `has_owner`) or this generation (unless 0). Without both a missing row is accepted. */
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
    pawl_text            source; /* the row's ordering key; empty: no order */
    pawl_outbox_state    state;  /* PENDING (try again), DISPATCHED or DEAD */
    int32_t              attempts;
    pawl_time            next_attempt;
    pawl_attempt_outcome outcome;
    pawl_text            error;
    pawl_time            at;
    int64_t              duration; /* microseconds */
} pawl_outbox_settle;

/* An operator's change of a dead row; a line of history keeps the name and the reason.
 * Refused with PAWL_EGONE unless the row is dead. */
typedef enum pawl_outbox_action {
    PAWL_OUTBOX_RETRY,   /* pending and due; earlier attempts no longer count (O19) */
    PAWL_OUTBOX_DISCARD, /* discarded; the retention sweep deletes it as a dispatched row */
} pawl_outbox_action;

typedef struct pawl_outbox_reset {
    PAWL__CHANGE_BASE
    int64_t            id;
    pawl_outbox_action action;
    pawl_text          note; /* the person and the reason, or empty */
    pawl_time          at;   /* of the line of history */
} pawl_outbox_reset;

/* Removes exactly the rows of a leased batch. Refused with PAWL_ECONFLICT unless
 * all `ids` exist and the session has leased them (A11, A12, A27). With a zero
 * session no lease is checked, and missing ids are ignored. */
typedef struct pawl_leased_batch_remove {
    PAWL__CHANGE_BASE
    pawl_text       partition;
    pawl_session_id session;
    const int64_t  *ids;
    size_t          id_count;
} pawl_leased_batch_remove;

/* Sets a timeout. With a saga id, (saga id, name) is the key: if the row exists, it gets the
 * new due time, a higher generation and no lease, even if a worker had one.
 * Without a saga id the id is the key. With `is_new` an existing
 * id is refused with PAWL_EDUPLICATE, and the first row stays (T2). */
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

/* Removes a saga's timeout of that name, or all its timeouts when the name is
 * empty, leased or not. Applied before timeout_set. */
typedef struct pawl_timeout_cancel {
    PAWL__CHANGE_BASE
    pawl_saga_id saga_id;
    pawl_text    name;
} pawl_timeout_cancel;

/* Adds a pending outbox row, due at once. `at` is no due time: different clocks write the rows of an
 * ordering key, and a due time could change their order. If the dispatch id exists, that row stays; if its type
 * or body differs, the change is refused with PAWL_EMISMATCH (O5, O6), unless `may_differ`, for a
 * rebuilt projection, which may send other messages than before. */
typedef struct pawl_outbox_add {
    PAWL__CHANGE_BASE
    pawl_dispatch_id dispatch_id;
    pawl_text        source;      /* ordering key, "type/id" of the producer; empty: no order */
    int64_t          version;     /* sequence: version of the sender ... */
    int32_t          index;       /* ... and index within it */
    bool             may_differ;  /* see above; in former padding, so the layout is unchanged */
    pawl_text        endpoint;    /* the endpoint that produced it */
    pawl_text        destination; /* logical name of a route */
    pawl_message     message;
    pawl_time        due; /* business time before which the receiver must not handle it; 0: it
                           * is due when it arrives */
    pawl_time        at;
} pawl_outbox_add;

/* Blocks or unblocks outbox rows: the dispatcher blocks the rows after a retried row of an ordering key,
 * and unblocks them when that row is settled. Changes of one ordering key apply in order. */
typedef struct pawl_outbox_block {
    PAWL__CHANGE_BASE
    pawl_text source;
    int64_t   after; /* untried rows of the ordering key with a larger id */
    int64_t   id;    /* not 0: only the untried row of that id; `after` is ignored */
    bool      is_unblock;
} pawl_outbox_block;

/* Sends a message to a queue. If the queue has a message of this id, nothing changes, or with
 * `is_new` the change is refused with PAWL_EDUPLICATE. */
typedef struct pawl_queue_send {
    PAWL__CHANGE_BASE
    pawl_text    queue;
    pawl_message message;
    pawl_time    due;
    int32_t      attempts; /* 0 as a rule */
    bool         is_new;
} pawl_queue_send;

/* Adds a message to an aggregator's partition. If the partition has a row with the key, nothing
 * changes (A2). The partition's flush row is inserted if it is missing. */
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

/* Writes a partition's flush row. A missing row is accepted. */
typedef struct pawl_flush_set {
    PAWL__CHANGE_BASE
    pawl_text partition;
    pawl_time due;      /* end of the period, or the next try after a failure */
    int32_t   attempts; /* failures in a row */
    bool      is_dead;
    bool      is_done; /* deletes the row if the partition has no messages */
    pawl_text error;
} pawl_flush_set;

/* Frees the rows that a session leased. Never refused. */
typedef struct pawl_leased_batch_release {
    PAWL__CHANGE_BASE
    pawl_text       partition;
    pawl_session_id session;
} pawl_leased_batch_release;

/* Removes rows of a partition, leased or not: the oldest with the correlation id, or all with
 * `is_all` or an empty id. With `is_checked`, refused with PAWL_ECONFLICT when there is
 * no such row; for a change set without adds to the partition.
 * See pawl_store_aggregator_remove (A20-A24). */
typedef struct pawl_aggregator_remove {
    PAWL__CHANGE_BASE
    pawl_text partition;
    pawl_text correlation_id;
    bool      is_all;
    bool      is_checked;
} pawl_aggregator_remove;

/* Adds a dead letter, unique by endpoint and message id: a second one changes nothing. `is_remove` deletes the
 * dead letter, and its deduplication record unless `keeps_record`; with `is_checked` the removal is
 * refused with PAWL_EGONE if there is no dead letter whose time is `at`. */
typedef struct pawl_dead_set {
    PAWL__CHANGE_BASE
    bool         is_remove;
    bool         is_checked;
    bool         keeps_record;
    pawl_text    endpoint;
    pawl_text    queue; /* where a retry sends it */
    pawl_message message;
    pawl_text    code;  /* name of the pawl_code or "unknown type" ... */
    pawl_text    error; /* text for people */
    int32_t      attempts;
    int32_t      crashes;
    pawl_text    history; /* JSON array: attempt (number), at, code, error of each */
    pawl_time    at;
} pawl_dead_set;

typedef struct pawl_subscription_set {
    PAWL__CHANGE_BASE
    bool      is_remove;
    pawl_text type;
    pawl_text queue;
} pawl_subscription_set;

#ifdef __cplusplus
}
#endif
#endif
