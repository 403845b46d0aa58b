/* test_runtime_short.c - a commit without memory: of a message, of several, of a message beside a
 * timeout where batches are at their smallest, and of a flush. E24, E26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/world.h"

#include "runtime/runtime.h"

PAWL_RECORD(ping, A_NUMBER);
PAWL_RECORD(coin, A_NUMBER);
PAWL_RECORD(bell_state, A_NAME);
PAWL_RECORD(set_bell, A_NAME);

static world_log seen;

static pawl_code on_ping(pawl_context *ctx, const ping *message)
{
    world_note(&seen, "ping%d", message->number);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_ping, ping);

static pawl_code on_set_bell(pawl_context *ctx, bell_state *state, const set_bell *message)
{
    return pawl_timeout(ctx, "ring", PAWL_SECONDS(1));
}
PAWL_HANDLER(on_set_bell, bell_state, set_bell);

static pawl_code on_ring(pawl_context *ctx, bell_state *state)
{
    world_note(&seen, "ring");
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_ring, bell_state);

static pawl_code on_coins(pawl_context *ctx, const coin *messages, size_t count)
{
    world_note(&seen, "coins%zu", count);
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_coins, coin);

static const pawl_saga bell = SAGA_OF(
    "Bell", bell_state, "name", {.handle = PAWL_HANDLE(on_set_bell), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_ring), .timeout = "ring"});
static const pawl_aggregator  coins = {.name = "Coins", .handle = PAWL_HANDLE(on_coins), .size = 2};
static const pawl_application application = ONE_ENDPOINT(
    "short", .name = "hall", .sagas = PAWL_SAGAS(&bell), .aggregators = PAWL_AGGREGATORS(&coins),
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_ping)}));

/* ---- A commit without memory ---------------------------------------------------- */

static world *open_world(const char *url, int32_t batch)
{
    fault_bind("short", url);
    world_forget(&seen);
    return world_begin("fault:short", &application, NULL,
                       &(pawl_endpoint_options){.batch_messages = batch});
}

static void post_ping(world *it, int number)
{
    world_post(it, NULL, PAWL_MESSAGE(ping, .number = number));
}

/* Drains, and the n-th commit has no memory. */
static void drain_short(world *it, long n)
{
    const fault_plan fault = {
        .kind = FAULT_BEFORE, .op = fault_op_commit, .n = n, .code = PAWL_ENOMEM};
    fault_plan_set(&fault);
    world_drain(it);
    assert_true(fault_was_reached());
    fault_plan_set(NULL);
}

/* The store is asked for the commit alone, and answers as it is told. */
ON_STORES(e26_a_message_alone_runs_again_at_once, const char *url)
{
    world *it = open_world(url, 8);
    post_ping(it, 1);
    LOG_AFTER(drain_short(it, 1), seen, "ping1 ping1 ");
    assert_int_equal(it->endpoint->worker->batch_max, 8);
    assert_int_equal(world_queue(it, "hall").count, 0);
}

ON_STORES(e26_of_several_there_are_fewer_in_the_next_batch, const char *url)
{
    world *it = open_world(url, 8);
    for (int number = 1; number <= 4; number++)
        post_ping(it, number);
    LOG_AFTER(drain_short(it, 1), seen, "ping1 ping2 ping3 ping4 ping1 ping2 ping3 ping4 ");
    assert_int_equal(it->endpoint->worker->batch_max, 2);
}

/* Two units in the smallest batch that there is: each runs alone. The message comes behind all timeouts that
 * are due by then. */
ON_STORES(e26_a_message_and_a_timeout_part_in_the_smallest_batch, const char *url)
{
    world *it = open_world(url, 1);
    world_post(it, NULL, PAWL_MESSAGE(set_bell, .name = PAWL_TEXT("b")));
    world_drain(it);
    world_post_at(it, NULL, world_now(it) + PAWL_SECONDS(1), PAWL_MESSAGE(ping, .number = 1));
    pawl_clock_set(it->business, world_now(it) + PAWL_SECONDS(1));
    LOG_AFTER(drain_short(it, 1), seen, "ring ring ping1 ");
    assert_int_equal(it->endpoint->worker->batch_max, 1);
    assert_int_equal(world_queue(it, "hall").count, 0);
    assert_int_equal(world_timeouts(it).count, 0);
}

/* Its messages stay for the next try, which is later. */
ON_STORES(e24_a_flush_has_failed, const char *url)
{
    world *it = open_world(url, 8);
    for (int number = 1; number <= 2; number++)
        world_post(it, NULL, PAWL_MESSAGE(coin, .number = number));
    drain_short(it, 2); /* behind that of the messages */
    assert_string_equal(seen.text, "coins2 ");
    assert_int_equal(world_aggregated(it, "Coins", "coin").flush_attempts, 1);
    LOG_AFTER(world_go_both(it, PAWL_MINUTES(1)), seen, "coins2 coins2 ");
    assert_int_equal(world_aggregated(it, "Coins", "coin").all, 0);
}
