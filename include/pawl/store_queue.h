/* store_queue.h - an operator's calls on queues: list queues with their counts and readers, find messages
 * without claiming them, pause and resume a queue, take messages out. operations.h has the rules of all
 * calls.
 *
 *     queue_infos -> queue_find, page by page
 *     queue_find -> queue_take
 *     queue_pause -> { queue_pause_find } -> queue_resume; queue_actions: who, when and why
 *
 * Threads: as the handle's.
 * Tests: src/conformance/store/queue_find.c, src/conformance/operation/pause.c, take.c,
 *     tests/unit/engine/test_engine_pause.c, tests/system/command_queue.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_QUEUE_H
#define PAWL_STORE_QUEUE_H

#include "pawl/queue_rows.h"
#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every queue of the store, by name. Counts are of one moment each, not of the same one.
 * PAWL_EUNSUPPORTED: the driver has no stats, find or dead_count. */
PAWL_API pawl_code pawl_store_queue_infos(pawl_store *store, pawl_time now, pawl_arena *arena,
                                          pawl_queue_infos *infos, pawl_error *error);

/* Messages that the query matches, by due time, then by number. Nothing is claimed. A query by message id
 * uses an index; one by type reads every message of the queue. PAWL_EINVAL: the query names no queue.
 * PAWL_EUNSUPPORTED: the driver has no find. */
PAWL_API pawl_code pawl_store_queue_find(pawl_store *store, const pawl_queue_query *query,
                                         pawl_arena *arena, pawl_queue_messages *messages,
                                         pawl_error *error);

/* How many dead letters each queue has, by queue. PAWL_EUNSUPPORTED: the driver has no dead_count. */
PAWL_API pawl_code pawl_store_dead_count(pawl_store *store, pawl_arena *arena,
                                         pawl_dead_counts *counts, pawl_error *error);

/* ---- Pausing ------------------------------------------------------------ */

/* Pauses a queue. Until it is resumed, the workers of all processes claim neither its messages nor the timeouts whose
 * destination it is; this takes effect within two seconds, and messages in flight are finished. Messages and timeouts
 * stay in the store meanwhile. Aggregators, projections and the outbox of the endpoint go on. A queue that does not
 * exist yet can be paused, too. Pausing a paused queue changes nothing: the first name and reason stay.
 *
 * PAWL_ECONFLICT  another operator pauses or resumes the queue at this moment
 * PAWL_EINVAL, PAWL_ELIMIT  `queue` or `by` is empty; `by` and `reason` have more than
 *                 PAWL_ERROR_TEXT_SIZE_MAX bytes together */
PAWL_API pawl_code pawl_store_queue_pause(pawl_store *store, pawl_text queue, pawl_text by,
                                          pawl_text reason, pawl_time now, pawl_error *error);
/* Ends the pause: the endpoint's workers claim again within two seconds. Does nothing to a queue
 * that is not paused. Errors as of pause. */
PAWL_API pawl_code pawl_store_queue_resume(pawl_store *store, pawl_text queue, pawl_text by,
                                           pawl_text reason, pawl_time now, pawl_error *error);

/* Reads whether the queue is paused, since when, by whom and why. One read by an index. PAWL_EINVAL: `queue` is empty. */
PAWL_API pawl_code pawl_store_queue_pause_find(pawl_store *store, pawl_text queue,
                                               pawl_arena *arena, pawl_queue_pause *pause,
                                               pawl_error *error);

/* Types of the events that pause and resume append, one stream for each queue. Headers: "by" and
 * "reason". The last event tells whether the queue is paused; these events are never deleted. */
#define PAWL_QUEUE_STREAMS "pawl.queue" /* the name of a stream begins so, then a slash */
#define PAWL_QUEUE_PAUSED "pawl.queue_paused"
#define PAWL_QUEUE_RESUMED "pawl.queue_resumed"

/* ---- Taking messages out ------------------------------------------------ */

typedef enum pawl_queue_take_action {
    PAWL_TAKE_DEAD_LETTER, /* to dead letters, which can be retried */
    PAWL_TAKE_DISCARD,     /* deleted; a copy that comes later is dropped */
    PAWL_TAKE_MOVE,        /* to another queue, with their ids and due times, in their order */
} pawl_queue_take_action;

typedef struct pawl_queue_take {
    pawl_queue_take_action action;
    pawl_text              queue;
    pawl_text              to; /* MOVE */
    pawl_text              by, reason;
} pawl_queue_take;

/* Takes messages out of the queue by their numbers (pawl_queue_row.seq), each given once, due or not, in one commit.
 * Messages in flight or no longer there are skipped; `*taken` is how many were taken. Dead letters and deduplication
 * records are written for the endpoint that reads the queue: NAME of a subscription to "reader:NAME", else the endpoint
 * with the queue's name. A message whose id has a record already is a copy, and is deleted without a dead letter;
 * `*copies` (or NULL) is how many of the taken ones DEAD_LETTER deleted so. A moved message leaves no record. The endpoint of the other queue handles it, unless that queue has a message
 * of this id or the endpoint a record of it. Its attempts, crashes and history start anew there.
 *
 * PAWL_EBUSY      another process works the queue, and the store lets only one process claim (SQLite)
 * PAWL_EDUPLICATE, PAWL_ECONFLICT  deduplication records were written, or others took messages out, at each
 *                 try: nothing was taken
 * PAWL_EINVAL, PAWL_ELIMIT  `queue`, `by`, or for MOVE `to` is empty; `to` is `queue`, or no valid name;
 *                 more numbers than PAWL_BATCH_MESSAGES_MAX; `by` and `reason` have more
 *                 than PAWL_ERROR_TEXT_SIZE_MAX bytes together */
PAWL_API pawl_code pawl_store_queue_take(pawl_store *store, const pawl_queue_take *take,
                                         const int64_t *seqs, size_t count, pawl_time now,
                                         size_t *taken, size_t *copies, pawl_error *error);

#define PAWL_TAKE_CODE "PURGED" /* code of the dead letters */
/* Prefix of a subscription's type: an endpoint NAME whose queue has another name subscribes that queue to "reader:NAME". */
#define PAWL_QUEUE_READER "reader:"
/* Types of the events, one for each commit. Headers: "by", "reason", "count" and "to"; the body has
 * the messages' "ids". Such events are never swept. */
#define PAWL_QUEUE_TAKEN_STREAMS "pawl.queue_taken" /* of the queue; then a slash and its name */
#define PAWL_QUEUE_DEAD_LETTERED "pawl.queue_buried"
#define PAWL_QUEUE_DISCARDED "pawl.queue_discarded"
#define PAWL_QUEUE_MOVED "pawl.queue_moved"

/* Events of operators' actions on the queue, oldest first. */
PAWL_API pawl_code pawl_store_queue_actions(pawl_store *store, pawl_text queue, pawl_arena *arena,
                                            pawl_event_rows *rows, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
