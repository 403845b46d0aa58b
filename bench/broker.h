/* broker.h - the bare loop beside the workload `broker`: a module libpawl-bench-NAME.so for each kind of
 * broker, which knows the client library. Filling, counting and removing queues go through pawl's own
 * drivers and need no module.
 *
 * Tests: tests/system/bench_broker.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_BROKER_H
#define PAWL_BENCH_BROKER_H

#include "application.h"

/* The queues of a run, whose names nobody else has. */
typedef struct pawl__bench_queues {
    const char *url; /* of the broker, without a queue */
    const char *from;
    const char *to;
} pawl__bench_queues;

typedef struct pawl__bench_bare {
    size_t bare_size; /* sizeof(pawl__bench_bare) the module was built with */
    /* Takes the messages of the job from the one queue, publishes a follow-up of each into the other and
     * acknowledges it when that is confirmed. Connecting is in `*microseconds`. Both queues are there. */
    pawl_code (*loop)(const pawl__bench_queues *queues, const pawl__bench_job *job,
                      int64_t *microseconds, pawl_error *error);
} pawl__bench_bare;

#define PAWL__BENCH_BARE_SYMBOL "pawl_bench_bare"
PAWL_API extern const pawl__bench_bare pawl_bench_bare;

#endif
