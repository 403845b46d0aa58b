/* store_outbox.h - single operations on outbox rows: insert, settle after an attempt to
 * deliver, find, an operator's retry or discard of a dead row, and the outbox rows of one
 * message. operations.h has the rules of all calls.
 *
 *     insert -> { attempt -> settle } -> retry (enable) | discard, when it is dead
 *
 *     pending -> dispatched      success
 *     pending -> pending, later  transient failure, fewer attempts than the limit
 *     pending -> dead            rejected, poison, or attempts used up
 *     dead    -> pending         retried by an operator
 *     dead    -> discarded
 *
 * Threads: as the handle's. Insert returns when the row is durable, and does not wait
 *     for its delivery (O22).
 * Tests: src/conformance/operation/outbox.c, src/conformance/operation/message.c
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

/* Adds a pending row: dispatch_id, ordering key (source), version, index, endpoint,
 * destination, message and due; nothing else of the row is read. Rows of one
 * ordering key are delivered in the order (version, index) (O8); an empty one
 * orders nothing.
 *
 * If a row of this dispatch id exists, in any state, it is unchanged, and the answer is PAWL_OK
 * (O6, O7).
 *
 * PAWL_EMISMATCH  it exists with another type or body (O5).
 * PAWL_EINVAL     the dispatch id is zero, the destination empty. */
PAWL_API pawl_code pawl_store_outbox_insert(pawl_store *store, const pawl_outbox_row *row,
                                            pawl_time now, pawl_error *error);

/* Outcome of one attempt. */
typedef struct pawl_outbox_result {
    pawl_attempt_outcome outcome;
    pawl_text            error;        /* why it failed, or empty */
    int64_t              duration;     /* microseconds */
    pawl_time            next_attempt; /* TRANSIENT: when to try again, after `now` */
    int32_t attempts_max; /* TRANSIENT: dead at this number; 0: PAWL_OUTBOX_ATTEMPTS_MAX. Attempts
                             before an operator's retry do not count (O19) */
} pawl_outbox_result;

/* Records the attempt in the row's history, which only grows (O15), and settles
 * the row in the same commit:
 *
 *     SUCCESS    dispatched, with the time (O9)
 *     TRANSIENT  pending, attempts + 1, not before next_attempt (O10); all rows of
 *                its ordering key that were never tried are blocked until it is
 *                settled (O14). At attempts_max: dead, its outcome poison (O12).
 *     REJECTED   dead at once (O11)
 *     POISON     dead at once, whatever attempts are left (O13)
 *
 * On PAWL_OK `row` has its new state, attempts and next_attempt; a dead row
 * blocks nothing (O14). Settle rows of one ordering key in the order of their claim: rows behind a
 * TRANSIENT one are blocked, and settling them is refused with PAWL_EGONE.
 *
 * PAWL_EGONE   the row is no longer pending, or is gone; nothing is recorded.
 * PAWL_EINVAL  a next_attempt that is not after `now` (O10), a negative limit. */
PAWL_API pawl_code pawl_store_outbox_settle(pawl_store *store, pawl_outbox_row *row,
                                            const pawl_outbox_result *result, pawl_time now,
                                            pawl_error *error);

/* Rows in any state that the query matches, by id. A query by `causation_id` alone may read every
 * row. PAWL_EUNSUPPORTED: the driver has no find. */
PAWL_API pawl_code pawl_store_outbox_find(pawl_store *store, const pawl_outbox_query *query,
                                          pawl_arena *arena, pawl_outbox_rows *rows,
                                          pawl_error *error);

/* An operator's retry or discard of a dead row. `note` (who, why; may be empty) goes into its
 * history. A retried row is pending and due now, and its attempts are counted anew (O19); later rows of
 * its ordering key may have been delivered before it (O14). A discarded row is never delivered, and the
 * retention sweep deletes it as a dispatched one.
 *
 * PAWL_EGONE  the row is not dead, or does not exist; nothing is recorded. */
PAWL_API pawl_code pawl_store_outbox_retry(pawl_store *store, int64_t id, pawl_text note,
                                           pawl_time now, pawl_error *error);
PAWL_API pawl_code pawl_store_outbox_discard(pawl_store *store, int64_t id, pawl_text note,
                                             pawl_time now, pawl_error *error);

/* ---- The outbox of one message ------------------------------------------ */

/* A handled message and the outbox rows that it caused: its deduplication record, and the rows of
 * the endpoint whose causation id is the message's id (O33). */
typedef struct pawl_outbox_record {
    pawl_outbox_row *operations; /* not dispatched and not discarded, by id (O24) */
    size_t           count;
    pawl_time dispatched; /* time of the last dispatch (O27); 0: a row is left, or none was */
} pawl_outbox_record;

/* Reads the outbox record of a message. `*is_found` is false if the endpoint has not handled the message: the commit
 * with the handler's effects writes the deduplication record, and a second record for the message is refused with
 * PAWL_EDUPLICATE (O25). After all operations are dispatched, the record is found without any (O24, O27) until
 * the deduplication record is swept; while an operation is left, it is not swept (O28). Reads all outbox rows of the
 * endpoint: for tools and tests. */
PAWL_API pawl_code pawl_store_outbox_get(pawl_store *store, pawl_text endpoint,
                                         pawl_text message_id, pawl_arena *arena,
                                         pawl_outbox_record *record, bool *is_found,
                                         pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
