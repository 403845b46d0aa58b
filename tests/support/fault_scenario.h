/* fault_scenario.h - runs a shop and its depot to the end under a fault, and checks the result.
 *
 *     fault_scenario_run(scheme, plan) -> counts
 *
 * Two orders are placed; a message of an unknown type and a payment without order arrive, too. Each order sets two
 * timeouts: after five minutes both send a reminder. Then one is paid, and its three parcels are packed together. The
 * program restarts, and a day later the other order expires. Messages to the depot, in another store, use the outbox:
 * six rows. Each message that the shop handles is copied to an audit queue. A message of a type that only a newer
 * program knows arrives while one works beside this one.
 *
 * After a failure the program continues as in production: it steps again or, if the code is not retryable, restarts.
 * Anything lost, done twice, out of order or left behind fails the test, which names the plan.
 *
 * Threads: one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_FAULT_SCENARIO_H
#define PAWL_TESTS_FAULT_SCENARIO_H

#include "support/fault_store.h"

typedef struct fault_result {
    bool         was_reached;        /* the plan's call happened */
    long         failures;           /* steps and calls of the program that failed */
    long         restarts;           /* endpoints created again after a failure */
    int64_t      conflicts, handled; /* as the store counts them */
    pawl_code    late;               /* result of the commit that LATE held back */
    long         rows;               /* returned twice, stolen or moved */
    fault_counts counts;
} fault_result;

/* Uses new stores of the scheme, both behind the fault store. */
fault_result fault_scenario_run(const char *scheme, const fault_plan *plan);
/* The n-th allocation of the program fails, from 1. The fault allocator must be installed. */
fault_result fault_scenario_run_memory(const char *scheme, long n);

#endif
