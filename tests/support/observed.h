/* observed.h - an endpoint that sends each message on to another store, and is observed;
 * and a module that does nothing by itself: the test asks in its place.
 *
 *     observed_open -> { world_post, world_drain, observed_ask, ... }* -> observed_close
 *
 * With ON_MODULE the scenario runs with that module; else with the one that was built.
 *
 * Threads: one.
 * Tests: tests/unit/observe/test_runtime_observe.c, test_runtime_observe_export.c,
 * test_runtime_observe_http.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_OBSERVED_H
#define PAWL_TESTS_OBSERVED_H

#include "support/exposition.h"
#include "support/world.h"

PAWL_RECORD(call, A_NUMBER);

/* Endpoints "left", which observed_open opens, and "right". A call to one of them goes
 * on to the destination "far". */
#define OBSERVED_AWAY 66 /* a call of this number fails */
extern const pawl_application observed_application;
/* Deliveries to "far" that fail from now on. */
extern int observed_failures;

typedef struct observed {
    world                it;
    char                 target[1000]; /* the store behind "far" */
    pawl_route           routes[2];
    pawl_observe_options observe;
} observed;

/* Until the test ends. Sizes, routes and `options.observe` are set here. */
observed *observed_open(const char *url, pawl_observe_options observe,
                        pawl_endpoint_options options);
/* So many calls, handled and sent on; the sum of the steps. */
pawl_step observed_send(observed *it, int count);

/* ---- The module that does nothing -------------------------------------------- */

extern const pawl_observe_plan *observed_plan; /* of the carrier that runs, or NULL */
extern int                      observed_starts, observed_stops, observed_wakes;

/* For cmocka: from now on this module, and nothing counted. */
int                 observed_use_module(void **state);
pawl_observe_answer observed_ask(observed *it, const char *path);
/* The page /metrics; static until the next call. */
const exposition *observed_metrics(observed *it);

#define MODULE_ROW(function, scheme)                                                  \
    {                                                                                 \
#function " on " scheme, scenario_run, observed_use_module, NULL, &(scenario) \
        {                                                                             \
            function, scheme                                                          \
        }                                                                             \
    }
#define ON_MODULE(function, parameter, scheme) \
    TESTS(function, parameter, MODULE_ROW(function, scheme))
#define ON_MODULE_AND_STORES(function, parameter) \
    TESTS(function, parameter, MODULE_ROW(function, "memory"), MODULE_ROW(function, "sqlite"))

#endif
