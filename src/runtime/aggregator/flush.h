/* flush.h - flushes aggregators: passes collected messages to their handler, by size, by period or on request.
 *
 *     a commit adds to a partition --> worker->grown --after_commit--> if full: lease, handler, commit
 *     a period ends, a request, a check after a crash  --is_due, due--> the same for each such partition
 *
 * Threads: as the worker. Tests: tests/unit/engine/test_engine_aggregator.c, tests/unit/runtime
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_FLUSH_H
#define PAWL_RUNTIME_FLUSH_H

#include "runtime/runtime.h"

/* Flushes by size the full partitions among worker->grown. */
pawl_code pawl__flush_after_commit(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* Flushes on request, by period, retries of failed flushes, and partitions that a crash left full. `*did`: there was
 * something to flush. */
pawl_code pawl__flush_due(pawl__worker *worker, pawl_time due_max, bool *did, pawl_step *step,
                          pawl_error *error);
/* Makes the endpoint's next check read all partitions, as a full one may have been left. */
void pawl__flush_check_soon(pawl_endpoint *endpoint);
/* Has a step left partitions to the next one? */
bool pawl__flush_is_left(const pawl__worker *worker);
/* Is there something to flush or to check? Without a virtual clock never directly after a step that flushed. */
bool pawl__flush_is_due(pawl__worker *worker, pawl_time business_now);
/* Business time at which the next period ends, as far as the worker knows. */
pawl_time pawl__flush_next(const pawl__worker *worker, pawl_time business_now);

#endif
