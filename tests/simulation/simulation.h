/* simulation.h - plays a plan: processes that run the endpoints of traffic.h, and what happens to them.
 *
 *     simulation_init -> { simulation_run }*
 *
 * Behind the last event all trouble ends. Then everything must come to rest within REST_MAX of virtual time: each
 * task has had its effect once or is a dead letter with a reason, and the store has nothing else left.
 *
 * Threads: the program has one.
 * Tests: tests/simulation/found, and the canary
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_SIMULATION_H
#define PAWL_SIMULATION_SIMULATION_H

#include "simulation/model.h"
#include "simulation/plan.h"

typedef struct simulation_result {
    bool         is_failed;
    char         failure[600];
    uint64_t     steps, trace;
    int64_t      lasted; /* microseconds of virtual time */
    model_counts counts;
} simulation_result;

/* Once. `is_traced`: what happens goes to stderr, with the lines of the log. `has_canary`: the store forgets some
 * timeouts, which must be found. */
void simulation_init(bool is_traced, bool has_canary);
void simulation_run(const sim_plan *plan, const char *store_url, simulation_result *result);

#endif
