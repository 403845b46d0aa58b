/* claim.h - claims rows for a worker's batch, and sets how many the next claim takes.
 *
 *     { messages -> timeouts -> (the batch runs) -> adapt | less }*
 *
 * Threads: as the worker.
 * Tests: tests/unit/engine/test_engine_sql.c, test_engine_memory.c,
 *     tests/unit/runtime/test_runtime_size.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_CLAIM_H
#define PAWL_RUNTIME_CLAIM_H

#include "runtime/runtime.h"

/* Claims due messages of the endpoint's queue; into the batch's arena. */
pawl_code pawl__claim_messages(pawl__worker *worker, pawl_time due_max, pawl_queue_rows *rows,
                               pawl_error *error);
/* Leases due timeouts of the destination; into the batch's arena. */
pawl_code pawl__claim_timeouts(pawl__worker *worker, pawl_text destination, pawl_time due_max,
                               size_t count_max, pawl_timeout_rows *rows, pawl_error *error);
/* After a batch: how many messages are claimed next. */
void pawl__claim_adapt(pawl__worker *worker);
/* Halves batches for a minute when there was no memory for one, whose claims go back with the
 * handle. False: there is no smaller batch. */
bool pawl__claim_less(pawl__worker *worker, const pawl_error *error);

#endif
