/* find_rows.h - the argument and result of a driver's entry `find`: rows of one kind, by conditions, in one
 * order, after a given row, up to a limit.
 *
 * The core fills pawl_find from the query of each call (store_calls.h, operations.h). A time or a number
 * that the query leaves open has its least or greatest value, and the limit is never 0, so a driver
 * needs no special cases. `limit` and `after` of pawl_find replace `count_max` and `after` of the
 * queries.
 *
 * Threads: plain data. Texts are borrowed for the call; what is found lives in the arena of the call.
 * Tests: src/conformance/store, tests/unit/store/test_store_calls.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_FIND_ROWS_H
#define PAWL_FIND_ROWS_H

#include "pawl/dead_rows.h"
#include "pawl/queue_rows.h"
#include "pawl/store_history.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kind of rows: its type, its conditions, its order, and the members of `after`. Rows are found claimed or not,
 * leased or not, unless the kind says otherwise. Texts are ordered by their bytes. */
typedef enum pawl_find_kind {
    /* pawl_queue_message: `messages`, by (due, seq), after (time, number). If due_max equals that time, all have that due
     * time; use an index by (queue, due, seq), since they may be all of the queue. With `is_by_place`: all of
     * the queue, by (placed, seq). */
    PAWL_FIND_MESSAGES,
    /* pawl_queue_row: `retried`, rows of the type with attempts, by (placed, seq), among at least the first
     * `scan_max` rows of the queue that are due after due_after. Called before a message that finds no saga is
     * dropped, so it must not scan a long queue. PAWL_EUNSUPPORTED: no message waits for a retried
     * one. */
    PAWL_FIND_RETRIED,
    /* pawl_timeout_row: of the saga `saga_id`, or all if that is zero; by (due, id), after (time, id). */
    PAWL_FIND_TIMEOUTS,
    /* pawl_foreign_row: destinations with a timeout that is free at `time`, by name: those that are no subscription's
     * queue, and `name` unless that is empty. Every idle worker makes this call, so it must not scan all timeouts.
     * PAWL_EUNSUPPORTED: timeouts for destinations without an endpoint are never sent. */
    PAWL_FIND_FOREIGN,
    /* pawl_outbox_row: `outbox`, in any state, by id, after `number`. A query by `causation_id` alone may read
     * every row. */
    PAWL_FIND_OUTBOX,
    /* pawl_attempt_row: of the outbox row `id`, by number. */
    PAWL_FIND_ATTEMPTS,
    /* pawl_dead_row: `dead`, by (at, endpoint, message id), after (time, endpoint, message_id). */
    PAWL_FIND_DEAD,
    /* pawl_event_row: `events`, in the query's order, after `number`, or before it if is_backward. */
    PAWL_FIND_EVENTS,
    /* pawl_history_row: `history`, by id, after `number`. */
    PAWL_FIND_HISTORY,
    /* pawl_aggregator_row: of the partition `name`, oldest first. */
    PAWL_FIND_PARTITION,
    /* pawl_flush_row: of the aggregator `name`, due at `time` or earlier and not dead; by due time. */
    PAWL_FIND_FLUSHES,
    /* pawl_subscription: all, by (type, queue). */
    PAWL_FIND_SUBSCRIPTIONS,
    /* pawl_lead_row: valid leases at `time`, by name: not expired, and of a worker that has not ended or
     * crashed. */
    PAWL_FIND_LEADS,
    /* pawl_worker_info: live workers, of all endpoints and senders. */
    PAWL_FIND_WORKERS,
    /* For any other kind, as one of a newer core, a driver answers PAWL_EUNSUPPORTED. */
} pawl_find_kind;
#define PAWL_FIND_KINDS (PAWL_FIND_WORKERS + 1)

/* Key of the row after which a page begins; for the first page it is less than any row's. */
typedef struct pawl_find_after {
    pawl_time time;
    int64_t   number;
    pawl_text endpoint, message_id;
    pawl_uuid id;
} pawl_find_after;

/* The argument of find. A driver does not read a query's size_max: the core enforces it by the limit. */
typedef struct pawl_find {
    size_t         find_size; /* sizeof(pawl_find) of the core; new conditions go to the end */
    pawl_find_kind kind;
    int64_t        limit; /* rows at most; INT64_MAX: all */
    int64_t        scan_max;
    bool           is_by_place;
    int64_t        id;
    pawl_saga_id   saga_id;
    pawl_text      name;
    pawl_time      time;
    union {
        pawl_queue_query   messages;
        pawl_retried_query retried;
        pawl_outbox_query  outbox;
        pawl_dead_query    dead;
        pawl_event_query   events;
        pawl_history_query history;
    };
    pawl_find_after after;
} pawl_find;

/* The rows found: an array of the kind's type. */
typedef struct pawl_found {
    void  *items;
    size_t count;
} pawl_found;

/* The entry find. `found` is empty before the call; after a failure it is not read. */
typedef pawl_code pawl_find_rows_fn(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                    pawl_found *found, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
