/* store_queue.h - queues, as an operator sees them: which there are, how much is in each, who reads
 * it, and its messages without claiming them. operations.h says what is the same for all of these
 * calls.
 *
 *     queue_infos -> queue_find, page by page
 *
 * Threads: as the handle's.
 * Tests: src/conformance/store/queue_find.c, tests/system/command_queue.sh
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
 * PAWL_EUNSUPPORTED: the driver has no stats, worker_list, subscriptions or dead_count. */
PAWL_API pawl_code pawl_store_queue_infos(pawl_store *store, pawl_time now, pawl_arena *arena,
                                          pawl_queue_infos *infos, pawl_error *error);

/* Messages that the query matches, as they are claimed: by due time, those of one time in the order
 * in which they were sent. Nothing is claimed. One that is named by its id is found by an index; by
 * type alone every message of the queue is looked at. PAWL_EINVAL: the query names no queue.
 * PAWL_EUNSUPPORTED: the driver has no queue_find. */
PAWL_API pawl_code pawl_store_queue_find(pawl_store *store, const pawl_queue_query *query,
                                         pawl_arena *arena, pawl_queue_messages *messages,
                                         pawl_error *error);

/* How many dead letters each queue has, by queue. PAWL_EUNSUPPORTED: the driver has no dead_count. */
PAWL_API pawl_code pawl_store_dead_count(pawl_store *store, pawl_arena *arena,
                                         pawl_dead_counts *counts, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
