/* find_rows.h - rows that a driver finds: of one kind, by conditions, in one order, behind a place, up
 * to a limit.
 *
 * The core fills it from the query of each call (store_calls.h, operations.h): a time or a number
 * that the query leaves open is the least or the greatest one here, and the limit is never 0. So a
 * driver compares, and asks for no special case. `count_max` and `after` of the queries are not
 * read: `limit` and `after` stand for them.
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

/* Rows as they stand, claimed and leased or not, unless it says otherwise. Texts of an order compare
 * by their bytes. */
typedef enum pawl_find_kind {
    /* pawl_queue_message: `messages`, by (due, seq), behind (time, number); where due_max is that time, too, all are due
     * then, and may be as many as the queue has: an index by (queue, due, seq) finds them at once. With `is_by_place` all of
     * the queue, by (placed, seq). */
    PAWL_FIND_MESSAGES,
    /* pawl_queue_row: `retried`, rows of the type with attempts, by (placed, seq): among the first
     * `scan_max` rows of the queue that are due after due_after, or among more. Called before a message
     * is dropped for want of a saga, so it may not scan a long queue. PAWL_EUNSUPPORTED: no message
     * waits for such a row. */
    PAWL_FIND_RETRIED,
    /* pawl_timeout_row: of the saga `saga_id`, or all where that is zero; by (due, id), behind (time, id). */
    PAWL_FIND_TIMEOUTS,
    /* pawl_foreign_row: where timeouts lead that no endpoint handles, by destination: those that no
     * subscription names as its queue, and `name` unless it is empty, with a timeout that is free at `time`.
     * Every idle worker asks for them: it may not scan all timeouts. PAWL_EUNSUPPORTED: such are
     * never sent. */
    PAWL_FIND_FOREIGN,
    /* pawl_outbox_row: `outbox`, in any state, by id, behind `number`. `causation_id` alone may cost a
     * read of every row. */
    PAWL_FIND_OUTBOX,
    /* pawl_attempt_row: of the outbox row `id`, by number. */
    PAWL_FIND_ATTEMPTS,
    /* pawl_dead_row: `dead`, by (at, endpoint, message id), behind (time, endpoint, message_id). */
    PAWL_FIND_DEAD,
    /* pawl_event_row: `events`, in the order that it says, behind `number`, or before it. */
    PAWL_FIND_EVENTS,
    /* pawl_history_row: `history`, by id, behind `number`. */
    PAWL_FIND_HISTORY,
    /* pawl_aggregator_row: of the partition `name`, oldest first. */
    PAWL_FIND_PARTITION,
    /* pawl_flush_row: of the aggregator `name`, due at `time` or earlier and not dead; by due time. */
    PAWL_FIND_FLUSHES,
    /* pawl_subscription: all, by (type, queue). */
    PAWL_FIND_SUBSCRIPTIONS,
    /* pawl_lead_row: leases that lead() would give to no other worker at `time`, by name. Those that
     * ended, and those of workers that ended or crashed, are not among them. */
    PAWL_FIND_LEADS,
    /* pawl_worker_info: that live now, other endpoints' and senders' included. */
    PAWL_FIND_WORKERS,
    /* A driver answers PAWL_EUNSUPPORTED for a kind that it lacks, one of a newer core among them. */
} pawl_find_kind;
#define PAWL_FIND_KINDS (PAWL_FIND_WORKERS + 1)

/* The place behind which a page begins; before any row when it is the first page. */
typedef struct pawl_find_after {
    pawl_time time;
    int64_t   number;
    pawl_text endpoint, message_id;
    pawl_uuid id;
} pawl_find_after;

/* The core keeps to a query's size_max by the limit; a driver does not read it. */
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

/* Of the type that the kind says. */
typedef struct pawl_found {
    void  *items;
    size_t count;
} pawl_found;

/* `found` is empty before, and what it has after a failure is not read. */
typedef pawl_code pawl_find_rows_fn(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                    pawl_found *found, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
