/* observed.h - an observed endpoint that forwards each message to another store; and a passive observe module, in whose
 * place the test makes the calls.
 *
 *     observed_open -> { world_post, world_drain, observed_ask, ... }* -> observed_close
 *
 * With ON_MODULE the scenario uses that module, otherwise the real one.
 *
 * Threads: one.
 * Tests: tests/unit/observe/test_runtime_observe.c, test_runtime_observe_export.c, test_runtime_observe_http.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_OBSERVED_H
#define PAWL_TESTS_OBSERVED_H

#include "support/exposition.h"
#include "support/world.h"

PAWL_RECORD(call, A_NUMBER);

/* Endpoints "left", which observed_open opens, and "right". Calls to them are forwarded to the destination "far". */
#define OBSERVED_AWAY 66 /* number of a call that fails */
extern const pawl_application observed_application;
/* Number of deliveries to "far" that fail from now on. */
extern int observed_failures;

typedef struct observed {
    world                it;
    char                 target[1000]; /* the store behind "far" */
    pawl_route           routes[2];
    pawl_observe_options observe;
} observed;

/* Open until the test ends. Sizes, routes and `options.observe` are set here. */
observed *observed_open(const char *url, pawl_observe_options observe,
                        pawl_endpoint_options options);
/* Sends so many calls and handles them; returns the sum of the steps. */
pawl_step observed_send(observed *it, int count);

/* ---- The module that does nothing -------------------------------------------- */

extern const pawl_observe_plan *observed_plan; /* of the current carrier, or NULL */
extern int                      observed_starts, observed_stops, observed_wakes;

/* For cmocka: uses this module from now on, with counts at zero. */
int                 observed_use_module(void **state);
pawl_observe_answer observed_ask(observed *it, const char *path);
/* Returns the page /metrics; static until the next call. */
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
