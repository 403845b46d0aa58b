/* test_runtime_breaker_workers.c - two workers of an endpoint whose breaker opens, and a probe that runs
 * twice: the other worker's results of before count for nothing, one probes at a time, and a probe counts
 * once.
 *
 * The second worker's step is made by the first one's handler, so that nothing is left to chance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/world.h"

#include "runtime/runtime.h"
#include "runtime/worker/breaker.h"

#define PAUSE PAWL_SECONDS(10)

RECORD(work, (INT32, number), (BOOL, fails));

static world_log     seen;
static world         it;
static pawl__worker *second;
static int           steps_at; /* the message of this number has the second worker step; 0: none */

static void step_second(void)
{
    pawl_step step = {.next_due = PAWL_TIME_MAX};
    must(pawl__worker_step(second, &step, world_error()));
}

static pawl_code on_work(pawl_context *ctx, const work *message)
{
    world_note(&seen, "%d", message->number);
    if (message->number == steps_at) {
        steps_at = 0;
        step_second();
        world_note(&seen, "back");
    }
    return message->fails ? pawl_fail(ctx, PAWL_EUNREACHABLE, "the bank is closed") : PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_work, work);

static const pawl_application application = ONE_ENDPOINT(
    "breakers", .name = "working", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_work)}));

static void close_two(void *context)
{
    pawl__worker_destroy(second);
    world_close(&it);
}

/* A failure opens it, and what failed comes back long after. */
static void open_two(const char *url, int32_t probes)
{
    fault_bind("breakers", url);
    world_forget(&seen);
    steps_at = 0;
    world_open(&it, "fault:breakers", &application, NULL,
               &(pawl_endpoint_options){.immediate_retries = -1,
                                        .retry_delay       = PAWL_HOURS(1),
                                        .batch_messages    = 1,
                                        .breaker_rate      = 100,
                                        .breaker_window    = 1,
                                        .breaker_pause     = PAUSE,
                                        .breaker_pause_max = PAUSE * 8,
                                        .breaker_probes    = probes});
    must(pawl__worker_create(it.endpoint, &second, world_error()));
    second->app_call = it.endpoint->worker->app_call;
    test_later(close_two, &it);
}

static void post(int number, bool fails)
{
    world_post(&it, NULL, PAWL_MESSAGE(work, .number = number, .fails = fails));
}

static int state(void)
{
    return atomic_load(&it.endpoint->breaker.state);
}

static int64_t openings(void)
{
    return atomic_load(&it.endpoint->metrics.slots[PAWL__SLOT_BREAKER_OPENED]);
}

/* Both fail, and the first worker's message began before the breaker opened. */
/* Nothing here depends on the kind of store. */
ON_STORES(what_began_before_it_opened_does_not_open_it_twice, const char *url)
{
    open_two(url, 1);
    steps_at = 1;
    post(1, true);
    post(2, true);
    LOG_AFTER(world_drain(&it), seen, "1 2 back ");
    assert_int_equal(openings(), 1);
    assert_int_equal(state(), PAWL__BREAKER_OPEN);
    /* The pause is the first one, not the double. */
    post(3, false);
    LOG_AFTER(world_go_both(&it, PAUSE), seen, "1 2 back 3 ");
    assert_int_equal(state(), PAWL__BREAKER_CLOSED);
}

ON_STORES(who_meets_a_probe_waits, const char *url)
{
    open_two(url, 2);
    post(1, true);
    world_drain(&it);
    assert_int_equal(state(), PAWL__BREAKER_OPEN);
    steps_at = 2;
    post(2, false);
    post(3, false);
    LOG_AFTER(world_go_both(&it, PAUSE), seen, "1 2 back 3 ");
    assert_int_equal(state(), PAWL__BREAKER_CLOSED);
}

/* Its commit has no memory, so the message runs again at once: that is the same probe. */
ON_STORES(a_probe_that_runs_twice_counts_once, const char *url)
{
    const fault_plan fault = {
        .kind = FAULT_BEFORE, .op = fault_op_commit, .n = 1, .code = PAWL_ENOMEM};
    open_two(url, 2);
    post(1, true);
    world_drain(&it);
    post(2, false);
    pawl_clock_set(it.business, world_now(&it) + PAUSE);
    pawl_clock_set(it.machine, pawl_clock_now(it.machine) + PAUSE);
    fault_plan_set(&fault);
    world_step(&it);
    assert_true(fault_was_reached());
    fault_plan_set(NULL);
    assert_string_equal(seen.text, "1 2 2 ");
    assert_int_equal(state(), PAWL__BREAKER_HALF_OPEN);
    post(3, false);
    world_drain(&it);
    assert_int_equal(state(), PAWL__BREAKER_CLOSED);
}
