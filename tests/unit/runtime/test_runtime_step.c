/* test_runtime_step.c - a program that steps: when it comes again, and its stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/ping.h"
#include "support/thread.h"

#include <sys/wait.h>
#include <unistd.h>

PAWL_RECORD(turn, A_NUMBER);

static world *around;
static int    turns;

/* Keeps its endpoint at work, and stops it once. */
static pawl_code on_turn(pawl_context *ctx, const turn *message)
{
    if (++turns == 3)
        pawl_endpoint_stop(around->endpoint);
    return turns < 20 ? pawl_send(ctx, "mill", PAWL_MESSAGE(turn, .number = message->number))
                      : PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_turn, turn);

static const pawl_endpoint_spec mill = {.name     = "mill",
                                        .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_turn)})};

static const pawl_application application = APPLICATION("steps", &plain, &mill);

/* ---- When to come again ------------------------------------------------------------------- */

/* Microseconds to the next step of an idle endpoint. */
static int64_t rest_of(pawl_endpoint_options options, const char *url)
{
    pawl_step step = PAWL_STEP_INIT;
    runner    it;
    runner_create(&it, &application, "plain", url, options);
    must(pawl_endpoint_drain(it.endpoint, &step, world_error()));
    assert_true(step.is_idle);
    runner_destroy(&it);
    return step.next_due == PAWL_TIME_MAX ? INT64_MAX : step.next_due - pawl_clock_now(NULL);
}

/* Nothing announces other processes' messages, nor the end of a lease, to a program that steps. */
ON_ALL_STORES(e36_an_idle_program_comes_again_for_what_nothing_announces, const char *url)
{
    world_hold(url);
    assert_in_range(rest_of((pawl_endpoint_options){0}, url), PAWL_MILLISECONDS(1),
                    PAWL_SECONDS(1));
    pawl_clock *business = pawl_clock_create(WORLD_START);
    assert_true(rest_of((pawl_endpoint_options){.business = business}, url) == INT64_MAX);
    pawl_clock_destroy(business);
}

/* ---- A stop ------------------------------------------------------------------------------- */

ON_ALL_STORES(e29_a_stop_ends_a_drain, const char *url)
{
    world *it = world_begin(url, &application, "mill", NULL);
    around    = it;
    turns     = 0;
    world_post(it, NULL, PAWL_MESSAGE(turn, .number = 1));
    for (int wanted = 3; wanted <= 4; wanted++) {
        pawl_step sum = PAWL_STEP_INIT;
        must(pawl_endpoint_drain(it->endpoint, &sum, world_error()));
        assert_false(sum.is_idle);
        assert_int_equal(turns, wanted);
    }
}

/* ---- A child process of fork() ------------------------------------------------------------- */

static bool is_refused(pawl_code code, pawl_error *error)
{
    bool says = strstr(error->text, "endpoint plain: it was created in process ") != NULL &&
                strstr(error->text, "fork first, then create one") != NULL;
    error->text[0] = '\0';
    return code == PAWL_EINVAL && says;
}

/* In the child: a bit for each call that is not refused. */
static int use_all(pawl_endpoint *endpoint)
{
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_arena *arena = pawl_arena_create(0);
    pawl_stats  stats;
    size_t      count;
    int         used = 0;
    for (int i = 0; i < 2;
         i++) { /* twice: a failure closes the store, and the next call opens it */
        used |= is_refused(pawl_endpoint_step(endpoint, NULL, &error), &error) ? 0 : 1;
        used |= is_refused(pawl_endpoint_drain(endpoint, NULL, &error), &error) ? 0 : 2;
        used |= is_refused(pawl_endpoint_receive(endpoint, 0, &count, &error), &error) ? 0 : 4;
        used |= is_refused(pawl_endpoint_run(endpoint, &error), &error) ? 0 : 8;
        used |= is_refused(pawl_endpoint_stats(endpoint, arena, &stats, &error), &error) ? 0 : 16;
    }
    pawl_endpoint_destroy(endpoint);
    return used;
}

/* The parent's worker goes on: a message is handled once, by the next step. */
ON_ALL_STORES(e27_an_endpoint_is_not_used_in_a_child_of_fork, const char *url)
{
    int    status = -1;
    world *it     = world_begin(url, &application, "plain", NULL);
    atomic_store(&ping_count, 0);
    world_drain(it);
    pid_t child = fork();
    if (child == 0) {
        alarm(THREAD_SECONDS);
        _exit(use_all(it->endpoint));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    world_post(it, NULL, PAWL_MESSAGE(ping, .number = 1));
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(atomic_load(&ping_count), 1);
}
