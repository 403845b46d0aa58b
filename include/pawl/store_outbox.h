/* store_outbox.h - outbox rows, one call each: insert, settle after an attempt to
 * deliver, find, what an operator does with a dead one, and the outbox of one
 * message. operations.h says what is the same for all of these calls.
 *
 *     insert -> { attempt -> settle } -> retry (enable) | discard, when it is dead
 *
 *     pending -> dispatched      success
 *     pending -> pending, later  transient failure, fewer attempts than the limit
 *     pending -> dead            rejected, poison, or attempts used up
 *     dead    -> pending         retried by an operator
 *     dead    -> discarded
 *
 * Threads: as the handle's. Insert returns when the row is durable and waits
 *     for no delivery (O22).
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
 * A dispatch id that exists, in whatever state: PAWL_OK, nothing written, state
 * and attempts of the first row untouched (O6, O7).
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
    int32_t attempts_max; /* TRANSIENT: dead at this number; 0: PAWL_OUTBOX_ATTEMPTS_MAX. Those
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
 * blocks nothing (O14). Rows of one ordering key are settled in the order of their
 * claim: those behind a TRANSIENT one are blocked, and refused with PAWL_EGONE.
 *
 * PAWL_EGONE   the row is not pending any more, or is gone; nothing is recorded.
 * PAWL_EINVAL  a next_attempt that is not after `now` (O10), a negative limit. */
PAWL_API pawl_code pawl_store_outbox_settle(pawl_store *store, pawl_outbox_row *row,
                                            const pawl_outbox_result *result, pawl_time now,
                                            pawl_error *error);

/* Rows in any state that the query matches, by id. By `causation_id` alone it may cost a
 * read of every row. PAWL_EUNSUPPORTED: the driver has no find. */
PAWL_API pawl_code pawl_store_outbox_find(pawl_store *store, const pawl_outbox_query *query,
                                          pawl_arena *arena, pawl_outbox_rows *rows,
                                          pawl_error *error);

/* An operator's answers to a dead row. `note` (who, why; may be empty) goes into its
 * history. Retried (`enable`), the row is pending and due now, and its attempts are counted
 * anew (O19); it goes out behind later rows of its ordering key that went before (O14).
 * Discarded, it is never delivered, and swept as a dispatched one is.
 *
 * PAWL_EGONE  the row is not dead, or there is none; nothing is recorded. */
PAWL_API pawl_code pawl_store_outbox_retry(pawl_store *store, int64_t id, pawl_text note,
                                           pawl_time now, pawl_error *error);
PAWL_API pawl_code pawl_store_outbox_discard(pawl_store *store, int64_t id, pawl_text note,
                                             pawl_time now, pawl_error *error);

/* ---- The outbox of one message ------------------------------------------ */

/* A handled message as it is remembered: a view of rows that the store has anyway.
 * The endpoint's deduplication record is part of it; its operations are the outbox rows of the
 * endpoint whose causation id is the message's (O33). */
typedef struct pawl_outbox_record {
    pawl_outbox_row *operations; /* not dispatched and not discarded, by id (O24) */
    size_t           count;
    pawl_time        dispatched; /* when the last of them was (O27); 0: one is left, or none was */
} pawl_outbox_record;

/* `*is_found` is false for a message that the endpoint has not handled: the deduplication record is
 * written by the commit that has the handler's effects, a second one for the same
 * message is refused with PAWL_EDUPLICATE (O25). Once all operations are dispatched
 * the record is there without any (O24, O27), until the deduplication record is swept; while one is
 * left it stays, whatever its age (O28). Costs a read of the endpoint's outbox rows:
 * for tools and tests. */
PAWL_API pawl_code pawl_store_outbox_get(pawl_store *store, pawl_text endpoint,
                                         pawl_text message_id, pawl_arena *arena,
                                         pawl_outbox_record *record, bool *is_found,
                                         pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
