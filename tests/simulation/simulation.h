/* simulation.h - plays a plan: processes that run the endpoints of an application, and what happens to them.
 *
 *     simulation_init -> { simulation_run }*
 *
 * Behind the last event all trouble ends. Then something must be done in each REST_MAX of virtual time, until
 * everything is at rest.
 *
 * Threads: the program has one.
 * Tests: tests/simulation/found, and the canary
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_SIMULATION_H
#define PAWL_SIMULATION_SIMULATION_H

#include "simulation/application.h"
#include "simulation/plan.h"
#include "simulation/sim_store.h"

typedef struct simulation_counts {
    int64_t commits, refused, cuts; /* of the power */
    /* A commit had such a change, or refused one. */
    bool kinds[pawl_change_kind_count], refused_kinds[pawl_change_kind_count];
} simulation_counts;

typedef struct simulation_result {
    bool              is_failed;
    char              failure[600];
    uint64_t          steps, trace;
    int64_t           lasted; /* microseconds of virtual time */
    int64_t           done;   /* as the application counts it */
    simulation_counts counts;
} simulation_result;

/* Once. `is_traced`: what happens goes to stderr, with the lines of the log. `has_canary`: the store forgets some
 * timeouts, or does not sync its commits, which must be found. */
void simulation_init(const simulation_application *application, bool is_traced, bool has_canary);
/* "sqlite:": on a disk whose power is cut until the last event (disk.h). */
void simulation_run(const sim_plan *plan, const char *store_url, simulation_result *result);

/* For client.c. */
const simulation_application *simulation_app(void);
const char                   *simulation_queue_of(const plan_event *event);

#endif
