/* rowless_batch.h - a batch of a worker that is made of messages of a broker which are no rows.
 *
 * A message that is handled leaves its mark and its effects, and nothing else, in the batch's commit. Any other end is
 * none: the message is given back and becomes a row, from which all goes on as with any message of the queue
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

/* Of a worker. */
typedef struct pawl__rowless {
    pawl__deliveries deliveries;
    bool           **done_flags; /* of the batch: is_done of each message in flight */
    bool             was_last;   /* the last batch was one of these */
    int64_t          queue_due;  /* monotonic time from which the queue comes before them */
} pawl__rowless;

/* Do messages of the broker come before those of the queue now? Neither keeps the other waiting. */
bool pawl__rowless_is_first(const struct pawl__worker *worker);
/* The queue has had its turn. */
void pawl__rowless_note_queue(struct pawl__worker *worker);
/* Takes messages that are offered, runs and commits them, and gives them back. `*did`: there were some. */
pawl_code pawl__rowless_run(struct pawl__worker *worker, bool *did, pawl_step *step,
                            pawl_error *error);

#endif
