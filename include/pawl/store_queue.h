/* store_queue.h - queues, as an operator sees them: which there are, how much is in each, who reads
 * it, and its messages without claiming them; and what an operator does with one: pause, resume,
 * take messages out.
 * operations.h says what is the same for all of these calls.
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

/* Messages that the query matches, as they are claimed: by due time, those of one time in the order
 * in which they were sent. Nothing is claimed. One that is named by its id is found by an index; by
 * type alone every message of the queue is read. PAWL_EINVAL: the query names no queue.
 * PAWL_EUNSUPPORTED: the driver has no find. */
PAWL_API pawl_code pawl_store_queue_find(pawl_store *store, const pawl_queue_query *query,
                                         pawl_arena *arena, pawl_queue_messages *messages,
                                         pawl_error *error);

/* How many dead letters each queue has, by queue. PAWL_EUNSUPPORTED: the driver has no dead_count. */
PAWL_API pawl_code pawl_store_dead_count(pawl_store *store, pawl_arena *arena,
                                         pawl_dead_counts *counts, pawl_error *error);

/* ---- Pausing ------------------------------------------------------------ */

/* Workers whose endpoint reads the queue, in whatever process, claim neither its messages nor
 * timeouts that it is the destination of, from two seconds later at the latest, until it is
 * resumed; messages in flight then are finished. Messages and timeouts gather meanwhile, and
 * nothing of them is lost. The endpoint's aggregators, projections and outbox go on. A queue that
 * nothing names yet can be paused, too. Pausing a paused queue changes nothing: the first name and reason stay.
 *
 * PAWL_ECONFLICT  somebody else pauses or resumes it at this moment
 * PAWL_EINVAL, PAWL_ELIMIT  `queue` or `by` is empty; `by` and `reason` have more than
 *                 PAWL_ERROR_TEXT_SIZE_MAX bytes together */
PAWL_API pawl_code pawl_store_queue_pause(pawl_store *store, pawl_text queue, pawl_text by,
                                          pawl_text reason, pawl_time now, pawl_error *error);
/* Its endpoint's workers claim again, two seconds later at the latest. Nothing happens to a queue
 * that is not paused. The errors of pause. */
PAWL_API pawl_code pawl_store_queue_resume(pawl_store *store, pawl_text queue, pawl_text by,
                                           pawl_text reason, pawl_time now, pawl_error *error);

/* Is the queue paused, and since when? One read by an index. PAWL_EINVAL: `queue` is empty. */
PAWL_API pawl_code pawl_store_queue_pause_find(pawl_store *store, pawl_text queue,
                                               pawl_arena *arena, pawl_queue_pause *pause,
                                               pawl_error *error);

/* Types of the events that pausing and resuming leave, one stream for each queue. Headers: "by" and
 * "reason". The last of them says whether the queue is paused; such events are never swept. */
#define PAWL_QUEUE_STREAMS "pawl.queue" /* the name of a stream begins so, then a slash */
#define PAWL_QUEUE_PAUSED "pawl.queue_paused"
#define PAWL_QUEUE_RESUMED "pawl.queue_resumed"

/* ---- Taking messages out ------------------------------------------------ */

typedef enum pawl_queue_take_action {
    PAWL_TAKE_DEAD_LETTER, /* to dead letters, which can be retried */
    PAWL_TAKE_DISCARD,     /* for good, and a copy that comes later is dropped */
    PAWL_TAKE_MOVE,        /* to another queue, with their ids and due times, in their order */
} pawl_queue_take_action;

typedef struct pawl_queue_take {
    pawl_queue_take_action action;
    pawl_text              queue;
    pawl_text              to; /* MOVE */
    pawl_text              by, reason;
} pawl_queue_take;

/* Takes the messages of these numbers, each given once, out of the queue, due or not, in one commit:
 * all that are not in flight and that are there still; `*taken` is how many. The actions say
 * where they go. Dead letters and deduplication records are those of the endpoint that
 * reads the queue: the one that said so by a subscription to "reader:NAME", else the one of the queue's
 * name; an id that has a record already belongs to a copy, which goes without a dead letter. A moved message
 * leaves no record: the endpoint of the other queue handles it unless it knows its id, and one that is
 * in that queue already is there once. It begins anew there: its attempts, crashes and history go.
 *
 * PAWL_EBUSY      another process works the queue, and the store lets none beside it claim (SQLite)
 * PAWL_EDUPLICATE, PAWL_ECONFLICT  a message was recorded, or somebody else took messages out, at this
 *                 moment; nothing was taken
 * PAWL_EINVAL, PAWL_ELIMIT  `queue`, `by`, or for MOVE `to` is empty; `to` is `queue`, or no name of
 *                 a queue; more numbers than PAWL_BATCH_MESSAGES_MAX; `by` and `reason` have more
 *                 than PAWL_ERROR_TEXT_SIZE_MAX bytes together */
PAWL_API pawl_code pawl_store_queue_take(pawl_store *store, const pawl_queue_take *take,
                                         const int64_t *seqs, size_t count, pawl_time now,
                                         size_t *taken, pawl_error *error);

#define PAWL_TAKE_CODE "PURGED" /* code of the dead letters */
/* An endpoint whose queue has another name is subscribed with it to this type, behind which its name stands. */
#define PAWL_QUEUE_READER "reader:"
/* Types of the events, one for each commit. Headers: "by", "reason", "count" and "to"; the body has
 * the messages' "ids". Such events are never swept. */
#define PAWL_QUEUE_TAKEN_STREAMS "pawl.queue_taken" /* of the queue; then a slash and its name */
#define PAWL_QUEUE_DEAD_LETTERED "pawl.queue_buried"
#define PAWL_QUEUE_DISCARDED "pawl.queue_discarded"
#define PAWL_QUEUE_MOVED "pawl.queue_moved"

/* All that was done with the queue, oldest first. */
PAWL_API pawl_code pawl_store_queue_actions(pawl_store *store, pawl_text queue, pawl_arena *arena,
                                            pawl_event_rows *rows, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
