/* fault_scenario.h - a shop and the depot it writes to, played to the end under a
 * fault, and what must then be true.
 *
 *     fault_scenario_run(scheme, plan) -> what it counted
 *
 * Two orders are placed, a message of an unknown type and a payment without an
 * order come with them. Each order sets two timeouts: five minutes later both
 * send a reminder, then one is paid, and its three parcels are packed together;
 * the program is stopped and started, and a day later the other one ends. What
 * goes to the depot, another store, goes through the outbox: six rows.
 * Each message that the shop handles is copied to a queue. A message
 * that only a newer program knows comes while one works beside this one.
 *
 * After a failure the program goes on as one in production: it steps again, or,
 * when the code says that trying again is of no use, begins anew. Whatever is
 * then lost, done twice, out of order or left behind fails the test and names
 * the plan.
 *
 * Threads: one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_FAULT_SCENARIO_H
#define PAWL_TESTS_FAULT_SCENARIO_H

#include "support/fault_store.h"

typedef struct fault_result {
    bool         is_met;             /* the plan's call was reached */
    long         failures;           /* steps and calls of the program that failed */
    long         restarts;           /* endpoints created anew after one */
    int64_t      conflicts, handled; /* as the store counts them */
    pawl_code    late;               /* of the commit that LATE held back */
    long         rows;               /* handed out again, stolen or moved */
    fault_counts counts;
} fault_result;

/* On fresh stores of the scheme. The fault store stands before both. */
fault_result fault_scenario_run(const char *scheme, const fault_plan *plan);
/* The n-th allocation of the program fails, from 1. The fault allocator must be
 * installed. */
fault_result fault_scenario_run_memory(const char *scheme, long n);

#endif
