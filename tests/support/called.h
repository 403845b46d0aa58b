/* called.h - a driver with all entries, for tests of the public calls (store_calls.h). Each entry checks that its
 * output is cleared, writes garbage to it, and returns what the test sets.
 *
 *     called_open, until the test ends
 *
 * Threads: one.
 * Tests: tests/unit/store/test_store_calls.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CALLED_H
#define PAWL_TESTS_CALLED_H

#include "support/minimal.h"

/* Entries that return a code and are called by store_calls.h. */
#define CALLED_ENTRIES(F)        \
    F(worker_open)               \
    F(worker_close)              \
    F(queue_claim)               \
    F(queue_oldest)              \
    F(inbox_known)               \
    F(saga_load)                 \
    F(saga_count)                \
    F(timeout_claim)             \
    F(timeout_reap)              \
    F(leased_batch_claim)        \
    F(aggregator_count)          \
    F(outbox_claim)              \
    F(lead)                      \
    F(unlead)                    \
    F(next_due)                  \
    F(stats)                     \
    F(sweep)                     \
    F(wait)                      \
    F(handler_transaction_begin) \
    F(enlist)                    \
    F(stream_load)               \
    F(event_number)              \
    F(checkpoint_get)            \
    F(scan)                      \
    F(worker_crashed)            \
    F(diagnose)                  \
    F(dead_count)                \
    F(worker_heartbeat)

/* Calls that use the entry `find`. */
#define CALLED_FINDS(F) \
    F(worker_list)      \
    F(lead_list)        \
    F(queue_find)       \
    F(dead_find)        \
    F(aggregator_get)   \
    F(flush_list)       \
    F(subscriptions)    \
    F(queue_list)       \
    F(queue_retried)    \
    F(history_find)     \
    F(timeout_list)     \
    F(timeout_find)     \
    F(outbox_list)      \
    F(outbox_find)      \
    F(outbox_attempts)  \
    F(dead_list)        \
    F(event_list)       \
    F(timeout_foreign)

/* Reset by called_open. */
extern struct called {
    pawl_code   code, ready_code; /* results of the entries, and of `ready` */
    unsigned    calls, ready_calls;
    unsigned    void_calls;   /* of interrupt, handler_transaction_end and native */
    const char *called;       /* the last entry that was called */
    bool        has_no_array; /* claims, find and scan answer a count and no rows */
} called;

/* Scheme "called"; changes by a test apply at once. */
extern pawl_store_ops called_ops;

/* Sets every entry. */
void called_fill(pawl_store_ops *ops);
/* Fills called_ops again. */
pawl_store *called_open(const char *url);

#endif
