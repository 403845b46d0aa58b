/* queue_pause.h - whether the endpoint's queue is paused.
 *
 * Workers look now and then: when they have claimed something, which goes back if the queue is paused;
 * while it is paused, before they would claim. So an idle endpoint makes no look.
 *
 * Threads: any worker's; what was seen is the endpoint's, and atomic.
 * Tests: tests/unit/engine/test_engine_pause.c, tests/unit/runtime/test_runtime_queue_pause.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_QUEUE_PAUSE_H
#define PAWL_RUNTIME_QUEUE_PAUSE_H

#include "pawl/base.h"

#include <stdatomic.h>

/* Between two looks, and the time that a worker of a paused queue sleeps. */
#define PAWL__QUEUE_PAUSE_PERIOD PAWL_SECONDS(1)

struct pawl__worker;

/* The last look of any worker of the endpoint. */
typedef struct pawl__queue_pause {
    _Atomic pawl_time due; /* machine time of the next look */
    atomic_bool       is_paused;
} pawl__queue_pause;

/* Looks when the last look is older than the period. A worker that finds another's look under way
 * looks as well, for an endpoint that was idle may have been paused for hours. */
pawl_code pawl__queue_pause_check(struct pawl__worker *worker, pawl_error *error);

#endif
