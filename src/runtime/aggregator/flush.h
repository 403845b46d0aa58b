/* flush.h - aggregators: messages that were collected are handed over, by size, by period or on request.
 *
 *     a commit adds to a partition --> worker->grown --after_commit--> is it full? lease, callback, commit
 *     a period ends, a request, a check after a crash  --is_due, due--> the same for each such partition
 *
 * Threads: as the worker. Tests: tests/unit/engine/test_engine_aggregator.c, tests/unit/runtime
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_FLUSH_H
#define PAWL_RUNTIME_FLUSH_H

#include "runtime/runtime.h"

/* Flushes by size the partitions that were noted. */
pawl_code pawl__flush_after_commit(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* Flushes partitions whose periods ended, retries, partitions that a crash left full, and requests.
 * `*did`: something was handed over. */
pawl_code pawl__flush_due(pawl__worker *worker, pawl_time due_max, bool *did, pawl_step *step,
                          pawl_error *error);
/* Did a step end before the last partition? The next ones go on. */
bool pawl__flush_is_left(const pawl__worker *worker);
/* Is there a partition left, or a check of the partitions due? By the machine's clock not behind a step that flushed. */
bool pawl__flush_is_due(pawl__worker *worker, pawl_time business_now);
/* Business time of the next look at partitions whose period is over, as far as the worker knows. */
pawl_time pawl__flush_next(const pawl__worker *worker, pawl_time business_now);

#endif
