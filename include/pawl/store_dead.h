/* store_dead.h - an operator's calls on dead letters: find, retry, edit (retry with another body) or
 * discard them. operations.h has the rules of all calls.
 *
 *     dead_find -> dead_settle (or retry, edit, discard by id) -> dead_actions: who, when and why
 *
 * Threads: as the handle's.
 * Tests: src/conformance/store/dead.c, src/conformance/operation/dead.c, dead_changed.c,
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

/* Dead letters that the query matches, by time, then by endpoint and id in byte order (E34). A query by
 * endpoint and id uses an index; any other one reads every dead letter. PAWL_EUNSUPPORTED: the driver
 * has no find. */
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

/* Numbers of dead letters that were given and not settled. */
typedef struct pawl_dead_settled {
    size_t gone_count; /* settled by another operator since they were read; a message that failed
                          anew since has another dead letter, which stays */
    size_t left_count; /* left unchanged: a copy of the message is in its queue, or the saga
                          has set the timeout again */
} pawl_dead_settled;

/* Settles dead letters as dead_find returned them, in one commit. Each dead letter is deleted, and an event records
 * who did it, when and why. RETRY and EDIT also delete the deduplication record, so that the message is handled again;
 * it is due now, with zero attempts. If two operators settle a dead letter at once, one of them succeeds (E34). A dead
 * letter is the one that was read if its endpoint, message id and time (`at`) are the same; one that another action
 * has changed since counts as gone.
 *
 * RETRY and EDIT are refused while a copy of the message is in its queue: a worker may have read the deduplication
 * record, and would drop the copy. The worker soon deletes the copy, since it has a record; then retry again.
 *
 * `settled` NULL: all dead letters are settled, or none. Else each by itself: those that were not settled
 * are counted there.
 *
 * PAWL_EGONE       without `settled`: a dead letter no longer exists, or is another one than was read
 * PAWL_ECONFLICT   others settled some of these dead letters at each try: nothing was done
 * PAWL_EDUPLICATE  without `settled`: a copy of the message is in its queue, or a saga has set the
 *                  timeout again
 * PAWL_EINVAL      `by` is empty; more dead letters than PAWL_BATCH_MESSAGES_MAX; RETRY or EDIT of a
 *                  dead letter without type or queue, which can only be discarded; EDIT of a timeout
 * PAWL_ELIMIT      `by` and `reason` have more than PAWL_ERROR_TEXT_SIZE_MAX bytes together */
PAWL_API pawl_code pawl_store_dead_settle(pawl_store *store, const pawl_dead_row *dead_letters,
                                          size_t count, const pawl_dead_settle *settle,
                                          pawl_time now, pawl_dead_settled *settled,
                                          pawl_error *error);

/* The same for one dead letter, by its endpoint and message id. PAWL_EGONE: there is no such dead letter;
 * PAWL_EDUPLICATE: as above. */
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

/* Types of the events that actions append, one stream for each endpoint and message id. Headers: "by",
 * "reason", "endpoint", "queue", "type", "code", "error", "attempts", "at" (when it was dead-lettered) and
 * "history", unless that is too long. After an edit or a discard the body is that of the dead letter, byte for byte;
 * after a retry it is empty. These events are never deleted, but a sweep removes old bodies
 * (pawl_sweep.bodies_before): such an event has the version PAWL_DEAD_WITHOUT_BODY. */
#define PAWL_DEAD_STREAMS "pawl.dead" /* the name of a stream begins so, then a slash */
#define PAWL_DEAD_RETRIED "pawl.dead_retried"
#define PAWL_DEAD_EDITED "pawl.dead_edited"
#define PAWL_DEAD_DISCARDED "pawl.dead_discarded"
#define PAWL_DEAD_WITH_BODY 1 /* type_version of these events, as they are written */
#define PAWL_DEAD_WITHOUT_BODY 2

/* The name of the stream, in the arena: "pawl.dead/ENDPOINT/ID", or if that has more than
 * PAWL_STREAM_SIZE_MAX bytes "pawl.dead/" and a uuid computed from it. data NULL: out of memory. */
PAWL_API pawl_text pawl_dead_stream(pawl_text endpoint, pawl_text message_id, pawl_arena *arena);

/* Events of actions on dead letters of the message, oldest first, whether it is a dead letter now or not. */
PAWL_API pawl_code pawl_store_dead_actions(pawl_store *store, pawl_text endpoint,
                                           pawl_text message_id, pawl_arena *arena,
                                           pawl_event_rows *rows, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
