/* rowless_batch.h - runs a batch of broker messages that have no queue row.
 *
 * For a handled message the commit writes its deduplication record and its effects. A message that ends in any other
 * way is returned to the inbound reader, which inserts it as a queue row; from then on it is an ordinary message
 * (docs/decisions/broker.md).
 *
 * Threads: as the worker. Tests: tests/unit/runtime/test_runtime_direct.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_ROWLESS_BATCH_H
#define PAWL_RUNTIME_ROWLESS_BATCH_H

#include "runtime/inbound/offers.h"

struct pawl__worker;
struct pawl_step;

/* Per worker. */
typedef struct pawl__rowless {
    pawl__deliveries deliveries;
    bool           **done_flags; /* where to report that a message of the batch is done */
    bool             was_last;   /* the last batch had no rows */
    int64_t          queue_due;  /* monotonic time from which the queue is served first */
} pawl__rowless;

/* Does the next batch take messages of the broker before those of the queue? They alternate. */
bool pawl__rowless_is_first(const struct pawl__worker *worker);
/* Called after a claim from the queue. */
void pawl__rowless_note_queue(struct pawl__worker *worker);
/* Takes offered messages, runs and commits them, and returns them with their results. `*did`: there were some. */
pawl_code pawl__rowless_run(struct pawl__worker *worker, bool *did, pawl_step *step,
                            pawl_error *error);

#endif
