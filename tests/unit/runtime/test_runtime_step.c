/* test_runtime_step.c - a program that steps: when it comes again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/ping.h"
#include "support/thread.h"

static const pawl_application application = APPLICATION("steps", &plain);

/* ---- When to come again ------------------------------------------------------------------- */

static const pawl_route routes[] = {{.name = "far", .url = "memory:steps_target"}, {.name = NULL}};

/* Microseconds to the next step of an idle endpoint. */
static int64_t rest_of(pawl_endpoint_options options, const char *url)
{
    pawl_step step = PAWL_STEP_INIT;
    runner    it;
    runner_create(&it, &application, NULL, url, options);
    must(pawl_endpoint_drain(it.endpoint, &step, world_error()));
    assert_true(step.is_idle);
    runner_destroy(&it);
    return step.next_due == PAWL_TIME_MAX ? INT64_MAX : step.next_due - pawl_clock_now(NULL);
}

/* Nothing announces other processes' messages, nor the end of a lease, to a program that steps. */
ON_ALL_STORES(e36_an_idle_program_comes_again_for_what_nothing_announces, const char *url)
{
    world_hold(url);
    assert_in_range(rest_of((pawl_endpoint_options){0}, url), PAWL_SECONDS(10), PAWL_SECONDS(30));
    assert_in_range(rest_of((pawl_endpoint_options){.routes = routes}, url), PAWL_SECONDS(1),
                    PAWL_SECONDS(7));
    pawl_clock *business = pawl_clock_create(WORLD_START);
    assert_true(rest_of((pawl_endpoint_options){.business = business}, url) == INT64_MAX);
    pawl_clock_destroy(business);
}

ON_STORE(e36_an_idle_program_renews_the_lease_of_an_ordered_queue, const char *url, "memory")
{
    world_hold(url);
    assert_in_range(rest_of((pawl_endpoint_options){.ordered = "header:key"}, url), PAWL_SECONDS(5),
                    PAWL_SECONDS(20));
}
