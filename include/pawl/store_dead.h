/* store_dead.h - dead letters, and what an operator does with them: find them, try them again, with
 * another body too, or discard them. operations.h says what is the same for all of these
 * calls.
 *
 *     dead_find -> dead_settle (or retry, edit, discard by id) -> dead_actions: who, when and why
 *
 * Threads: as the handle's.
 * Tests: src/conformance/store/dead.c, src/conformance/operation/dead.c,
 *     tests/unit/engine/test_engine_dead.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_DEAD_H
#define PAWL_STORE_DEAD_H

#include "pawl/dead_rows.h"
#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Finding ------------------------------------------------------------ */

/* Dead letters that the query matches, by time, those of one time by endpoint and id, in the order of
 * their bytes (E34). One that is named by endpoint and id is found by an index; anything else reads
 * every dead letter. PAWL_EUNSUPPORTED: the driver has no find. */
PAWL_API pawl_code pawl_store_dead_find(pawl_store *store, const pawl_dead_query *query,
                                        pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error);

/* ---- Settling ----------------------------------------------------------- */

typedef enum pawl_dead_action {
    PAWL_DEAD_RETRY, /* the message is in its queue again, under its own id; a timeout is set again */
    PAWL_DEAD_EDIT, /* the same with another body; its headers stay */
    PAWL_DEAD_DISCARD, /* the dead letter goes, and its deduplication record stays: a copy of the message that comes
                          later is dropped */
} pawl_dead_action;
#define PAWL_DEAD_ACTIONS 3

typedef struct pawl_dead_settle {
    pawl_dead_action action;
    pawl_text        by;     /* the person; not empty */
    pawl_text        reason; /* or empty */
    pawl_text        body;   /* EDIT: stored byte for byte */
} pawl_dead_settle;

/* Dead letters that were not settled, of those that were given. */
typedef struct pawl_dead_settled {
    size_t gone_count; /* somebody else settled them meanwhile */
    size_t left_count; /* dead letters that stay: a copy of the message is in its queue, or the saga
                          has set the timeout again */
} pawl_dead_settled;

/* Settles dead letters as dead_find returned them, in one commit: for each the dead letter goes, with RETRY and
 * EDIT its deduplication record too, so that the message is let through once, and is due now; and an event says
 * who did it, when and why. Attempts begin at zero. Of two who settle the same dead letter at a time one
 * wins (E34).
 *
 * A copy of the message that is in its queue refuses RETRY and EDIT: a worker that runs it may
 * have read the deduplication record, and drops it. The dead letter stays; the copy goes soon, for its record is there.
 *
 * `settled` NULL: all of them or none. Else each dead letter by itself: those that were not settled are
 * counted there, and the others are settled.
 *
 * PAWL_EGONE       without `settled`: a dead letter is not there any more
 * PAWL_ECONFLICT   others settle the same dead letters time and again: nothing was done
 * PAWL_EDUPLICATE  without `settled`: a copy of the message is in its queue, or a saga has set the
 *                  timeout again
 * PAWL_EINVAL      `by` is empty; more dead letters than PAWL_BATCH_MESSAGES_MAX; RETRY or EDIT of a
 *                  dead letter without type or queue, which can only be discarded; EDIT of a timeout
 * PAWL_ELIMIT      `by` and `reason` have more than PAWL_ERROR_TEXT_SIZE_MAX bytes together */
PAWL_API pawl_code pawl_store_dead_settle(pawl_store *store, const pawl_dead_row *dead_letters,
                                          size_t count, const pawl_dead_settle *settle,
                                          pawl_time now, pawl_dead_settled *settled,
                                          pawl_error *error);

/* The same for one dead letter, by its endpoint and message id. PAWL_EGONE: there is none;
 * PAWL_EDUPLICATE: it stays, see above. */
PAWL_API pawl_code pawl_store_dead_retry(pawl_store *store, pawl_text endpoint,
                                         pawl_text message_id, pawl_text by, pawl_text reason,
                                         pawl_time now, pawl_error *error);
PAWL_API pawl_code pawl_store_dead_edit(pawl_store *store, pawl_text endpoint, pawl_text message_id,
                                        pawl_text body, pawl_text by, pawl_text reason,
                                        pawl_time now, pawl_error *error);
PAWL_API pawl_code pawl_store_dead_discard(pawl_store *store, pawl_text endpoint,
                                           pawl_text message_id, pawl_text by, pawl_text reason,
                                           pawl_time now, pawl_error *error);

/* ---- What was done ------------------------------------------------------ */

/* Types of the events that actions leave, one stream for each endpoint and message id. Headers: "by",
 * "reason", "endpoint", "queue", "type", "code", "error", "attempts", "at" (when it was dead-lettered) and
 * "history", unless that is too long. The body is that of the message, byte for byte, where it would be
 * lost: of an edit and a discard; of a retry it is empty. Such events are never deleted, but a sweep removes the
 * body once it is old (pawl_sweep.bodies_before): the event is then of version PAWL_DEAD_WITHOUT_BODY. */
#define PAWL_DEAD_STREAMS "pawl.dead" /* the name of a stream begins so, then a slash */
#define PAWL_DEAD_RETRIED "pawl.dead_retried"
#define PAWL_DEAD_EDITED "pawl.dead_edited"
#define PAWL_DEAD_DISCARDED "pawl.dead_discarded"
#define PAWL_DEAD_WITH_BODY 1 /* type_version of these events, as they are written */
#define PAWL_DEAD_WITHOUT_BODY 2

/* The name of the stream, in the arena: "pawl.dead/ENDPOINT/ID", or where that has more than
 * PAWL_STREAM_SIZE_MAX bytes "pawl.dead/" and a uuid made of it. data NULL: out of memory. */
PAWL_API pawl_text pawl_dead_stream(pawl_text endpoint, pawl_text message_id, pawl_arena *arena);

/* Actions on dead letters of the message, oldest first, whether there is one now or not. */
PAWL_API pawl_code pawl_store_dead_actions(pawl_store *store, pawl_text endpoint,
                                           pawl_text message_id, pawl_arena *arena,
                                           pawl_event_rows *rows, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
