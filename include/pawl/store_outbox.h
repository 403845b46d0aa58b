/* store_outbox.h - outbox rows, one call each: insert, and settle after an
 * attempt to deliver. operations.h says what holds for all of these calls.
 *
 *     insert -> { attempt -> settle }
 *
 *     pending -> dispatched      success
 *     pending -> pending, later  transient failure, fewer attempts than the limit
 *     pending -> dead            rejected, poison, or attempts used up
 *
 * Threads: as the handle's. Insert returns when the row is durable and waits
 *     for no delivery (O22).
 * Tests: src/conformance/case_op_outbox.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_OUTBOX_H
#define PAWL_STORE_OUTBOX_H

#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_OUTBOX_ATTEMPTS_MAX 10 /* O12 */

/* Adds a pending row: dispatch_id, source, version, index, endpoint,
 * destination, message and due; nothing else of the row is read. Rows of one
 * source are delivered in the order (version, index) (O8); an empty source
 * orders nothing.
 *
 * A dispatch id that exists, in whatever state: PAWL_OK, nothing written, state
 * and attempts of the first row untouched (O6, O7).
 *
 * PAWL_EMISMATCH  it exists with another type or body (O5).
 * PAWL_EINVAL     the dispatch id is zero, the destination empty. */
PAWL_API pawl_code pawl_store_outbox_insert(pawl_store *store, const pawl_outbox_row *row,
                                            pawl_time now, pawl_error *error);

/* What came of one attempt. */
typedef struct pawl_outbox_result {
    pawl_attempt_outcome outcome;
    pawl_text            error;        /* why it failed, or empty */
    int64_t              duration;     /* microseconds */
    pawl_time            next_attempt; /* TRANSIENT: when to try again, after `now` */
    int32_t attempts_max; /* TRANSIENT: dead at this number; 0: PAWL_OUTBOX_ATTEMPTS_MAX */
} pawl_outbox_result;

/* Records the attempt in the row's history, which only grows (O15), and settles
 * the row in the same commit:
 *
 *     SUCCESS    dispatched, with the time (O9)
 *     TRANSIENT  pending, attempts + 1, not before next_attempt (O10); the later
 *                rows of its source are held until it is settled (O14). At
 *                attempts_max: dead, its outcome poison (O12).
 *     REJECTED   dead at once (O11)
 *     POISON     dead at once, whatever attempts are left (O13)
 *
 * On PAWL_OK `row` has its new state, attempts and next_attempt; a dead row
 * holds nothing back (O14).
 *
 * PAWL_EGONE   the row is not pending any more, or is gone; nothing is recorded.
 * PAWL_EINVAL  a next_attempt that is not after `now` (O10), a negative limit. */
PAWL_API pawl_code pawl_store_outbox_settle(pawl_store *store, pawl_outbox_row *row,
                                            const pawl_outbox_result *result, pawl_time now,
                                            pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
