/* foreign_timeouts.h - due timeouts for a destination that no endpoint of the store handles.
 *
 * Threads: a worker's own.
 * Tests: tests/unit/engine/test_engine_foreign.c, tests/unit/runtime/test_runtime_foreign.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_FOREIGN_TIMEOUTS_H
#define PAWL_RUNTIME_FOREIGN_TIMEOUTS_H

#include "runtime/runtime.h"

/* Is it time to check for foreign timeouts? `is_idle`: nothing else was due. */
bool pawl__foreign_is_due(pawl__worker *worker, pawl_time business_now, bool is_idle);
/* The next timeout of the endpoint's own queue, as next_due() says. */
void pawl__foreign_note(pawl__worker *worker, pawl_time next_timeout);
/* Claims foreign timeouts that are due, at most so many, and adds them to the batch. */
pawl_code pawl__foreign_claim(pawl__worker *worker, pawl_time due_max, size_t count_max,
                              pawl_error *error);
/* Subscribes to the endpoint's routes, and withdraws routes that it has no more: adds at most one
 * set for each route and each item of the list. PAWL_ENOMEM is the only failure. */
pawl_code pawl__foreign_announce(const pawl_endpoint *endpoint, const pawl_subscriptions *list,
                                 pawl_arena *arena, pawl_subscription_set *sets, size_t *count);

#endif
