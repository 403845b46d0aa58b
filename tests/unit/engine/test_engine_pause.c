/* test_engine_pause.c - an endpoint whose queue an operator paused: it claims nothing of it, loses
 * nothing, and goes on when it is resumed. E26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/operations.h"
#include "runtime/runtime.h"

RECORD(order_state, (TEXT, order_id));
RECORD(place, (TEXT, order_id));
PAWL_RECORD(part, A_NUMBER);

static world_log seen;

static pawl_code on_place(pawl_context *ctx, order_state *order, const place *message)
{
    world_note(&seen, "place(%.*s)", PAWL_TEXT_ARGS(message->order_id));
    return pawl_timeout(ctx, "payment", PAWL_MINUTES(15));
}
PAWL_HANDLER(on_place, order_state, place);

static pawl_code on_payment(pawl_context *ctx, order_state *order)
{
    world_note(&seen, "late(%.*s)", PAWL_TEXT_ARGS(order->order_id));
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_payment, order_state);

static pawl_code on_parts(pawl_context *ctx, const part *messages, size_t count)
{
    world_note(&seen, "parts(%zu)", count);
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_parts, part);

static const pawl_saga order_saga =
    SAGA_OF("Order", order_state, "order_id",
            {.handle = PAWL_HANDLE(on_place), .key = "order_id", .starts = true},
            {.handle = PAWL_HANDLE(on_payment), .timeout = "payment"});
static const pawl_aggregator parts = {
    .name = "Parts", .handle = PAWL_HANDLE(on_parts), .period = PAWL_MINUTES(30), .max = 50};
static const pawl_application application =
    ONE_ENDPOINT("pause", .name = "desk", .sagas = PAWL_SAGAS(&order_saga),
                 .aggregators = PAWL_AGGREGATORS(&parts));

#define LOOK PAWL__QUEUE_PAUSE_PERIOD

static world *open_world(const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &application, NULL, NULL);
    world_drain(it);
    return it;
}

static void pause(world *it)
{
    must(pawl_store_queue_pause(it->store, PAWL_TEXT("desk"), PAWL_TEXT("ann"),
                                PAWL_TEXT("the bank is away"), pawl_clock_now(it->machine),
                                world_error()));
}

static void resume(world *it)
{
    must(pawl_store_queue_resume(it->store, PAWL_TEXT("desk"), PAWL_TEXT("ann"), PAWL_TEXT(""),
                                 pawl_clock_now(it->machine), world_error()));
}

static void post(world *it, const char *id)
{
    world_post(it, id, PAWL_MESSAGE(place, .order_id = pawl_text_of(id)));
}

/* ---- Messages and timeouts ---------------------------------------------------- */

ON_ALL_STORES(e26_a_paused_queue_gathers_what_comes, const char *url)
{
    world *it = open_world(url);
    pause(it);
    world_go_machine(it, LOOK);
    post(it, "a");
    post(it, "b");
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 0);
    assert_true(step.is_idle);
    assert_int_equal(world_queue(it, "desk").count, 2);
    resume(it);
    LOG_AFTER(world_drain(it), seen, "place(a) place(b) ");
    assert_int_equal(world_queue(it, "desk").count, 0);
}

/* An hour in which nothing came, and nobody looked. */
ON_ALL_STORES(e26_an_idle_endpoint_looks_before_its_first_message, const char *url)
{
    world *it = open_world(url);
    pause(it);
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_HOURS(1));
    post(it, "a");
    assert_int_equal(world_step(it).handled, 0);
    assert_string_equal(seen.text, "");
}

ON_ALL_STORES(e26_a_look_is_made_once_in_a_period, const char *url)
{
    world *it = open_world(url);
    post(it, "a");
    world_drain(it);
    pause(it);
    post(it, "b");
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + LOOK - 1);
    LOG_AFTER(world_drain(it), seen, "place(a) place(b) ");
    post(it, "c");
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + 1);
    LOG_AFTER(world_drain(it), seen, "place(a) place(b) ");
}

ON_ALL_STORES(e26_timeouts_of_a_paused_queue_wait_too, const char *url)
{
    world *it = open_world(url);
    post(it, "a");
    world_drain(it);
    pause(it);
    LOG_AFTER(world_go_both(it, PAWL_MINUTES(20)), seen, "place(a) ");
    assert_int_equal(world_timeouts(it).count, 1);
    resume(it);
    LOG_AFTER(world_drain(it), seen, "place(a) late(a) ");
}

ON_ALL_STORES(e26_an_aggregator_of_a_paused_queue_goes_on, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(part, .number = 1));
    world_drain(it);
    pause(it);
    post(it, "a");
    LOG_AFTER(world_go_both(it, PAWL_MINUTES(31)), seen, "parts(1) ");
}

/* Another endpoint of the process, or a new one, reads the pause from the store. */
ON_ALL_STORES(e26_a_pause_outlives_the_process, const char *url)
{
    world_hold(url);
    pawl_endpoint *other = NULL;
    pawl_step      step  = PAWL_STEP_INIT;
    world         *it    = open_world(url);
    pause(it);
    post(it, "a");
    pawl_endpoint_destroy(it->endpoint);
    it->endpoint = NULL;
    must(pawl_endpoint_create(&application, NULL, &it->options, &other, world_error()));
    it->endpoint = other;
    must(pawl_endpoint_drain(other, &step, world_error()));
    assert_int_equal(step.handled, 0);
    resume(it);
    must(pawl_endpoint_drain(other, &step, world_error()));
    assert_int_equal(step.handled, 1);
}

ON_ALL_STORES(e26_a_clock_set_back_keeps_no_look_away, const char *url)
{
    pawl_clock *earlier            = pawl_clock_create(WORLD_START - PAWL_HOURS(1));
    world      *it                 = open_world(url);
    it->endpoint->settings.machine = earlier;
    pause(it);
    post(it, "a");
    LOG_AFTER(world_drain(it), seen, "");
    world_close(it);
    pawl_clock_destroy(earlier);
}

/* ---- When to come again ------------------------------------------------------- */

/* By the system's clock a caller that sleeps until the next due time looks again soon; by a virtual
 * one only a step can tell. */
ON_ALL_STORES(e26_the_next_due_time_is_that_of_a_look, const char *url)
{
    pawl_step step = PAWL_STEP_INIT;
    world    *it   = open_world(url);
    pause(it);
    post(it, "a");
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + LOOK);
    step = world_drain(it);
    assert_true(step.next_due == PAWL_TIME_MAX);
    it->endpoint->settings.business = NULL;
    step                            = world_drain(it);
    assert_true(step.next_due > pawl_clock_now(NULL));
    assert_true(step.next_due <= pawl_clock_now(NULL) + LOOK);
    it->endpoint->settings.business = it->business;
}

/* While messages of dead workers would run one by one, a paused queue rests, too. */
ON_ALL_STORES(e26_no_message_runs_alone_out_of_a_paused_queue, const char *url)
{
    world *it = open_world(url);
    pause(it);
    post(it, "a");
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + LOOK);
    atomic_store(&it->endpoint->isolation.to_isolate, 3);
    assert_true(world_drain(it).is_idle);
    assert_string_equal(seen.text, "");
    resume(it);
    LOG_AFTER(world_drain(it), seen, "place(a) ");
}
