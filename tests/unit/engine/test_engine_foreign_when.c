/* test_engine_foreign_when.c - when a worker looks for due timeouts of elsewhere, how many it takes,
 * what follows when a look or the sending fails, and how often an idle worker looks. E13.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/foreign.h"
#include "support/hook.h"
#include "support/ping.h"
#include "support/world.h"

#include "runtime/runtime.h"

static const pawl_application application = APPLICATION("foreign", &plain);

/* A worker that takes one message at a time, of many, and has made its first look. */
static world *open_busy_world(const char *url)
{
    pawl_endpoint_options options = {.batch_messages = 1};
    world_make_tables(url, &application);
    world *it = world_begin(url, &application, NULL, &options);
    for (int i = 0; i < 20; i++)
        world_post(it, NULL, PAWL_MESSAGE(ping, .number = i));
    world_step(it);
    return it;
}

/* ---- Looks ------------------------------------------------------------------------ */

/* Messages that never end keep no timeout from going; a look costs a busy worker nothing,
 * as it is made every half minute. */
ON_ALL_STORES(e13_a_busy_worker_sends_them_too, const char *url)
{
    world *it = open_busy_world(url);
    foreign_insert_for(it, "vans", 1, 0);
    world_step(it);
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(30) - 1);
    world_step(it);
    assert_int_equal(world_queue(it, "vans").count, 0);
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(30));
    world_step(it);
    assert_int_equal(world_queue(it, "vans").count, 1);
    assert_true(world_queue(it, "plain").count > 10);
}

ON_ALL_STORES(e13_a_machine_clock_set_back_keeps_none, const char *url)
{
    pawl_clock *earlier = pawl_clock_create(WORLD_START - PAWL_HOURS(1));
    world      *it      = open_busy_world(url);
    world_step(it);
    foreign_insert_for(it, "vans", 1, 0);
    it->endpoint->settings.machine = earlier;
    world_step(it);
    assert_int_equal(world_queue(it, "vans").count, 1);
    world_close(it);
    pawl_clock_destroy(earlier);
}

/* ---- How many --------------------------------------------------------------------- */

static size_t sent_count(world *it)
{
    return world_queue(it, "vans").count + world_queue(it, "ships").count;
}

/* Not more at once than messages of its own, of which a worker that was short of memory claims
 * fewer. */
ON_ALL_STORES(e13_as_many_are_claimed_as_of_messages, const char *url)
{
    world_make_tables(url, &application);
    world *it = world_begin(url, &application, NULL, NULL);
    world_drain(it);
    for (uint8_t i = 1; i <= 6; i++)
        foreign_insert_for(it, i % 2 == 0 ? "vans" : "ships", i, 1);
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(1));
    it->endpoint->worker->short_until = PAWL_TIME_MAX;
    it->endpoint->worker->batch_max = it->endpoint->worker->claim_count = 2;
    assert_int_equal(world_step(it).handled, 2);
    world_drain(it);
    assert_int_equal(sent_count(it), 6);
}

/* A timeout that found no room in the batch goes with the next, not half a minute later. */
ON_ALL_STORES(e13_what_found_no_room_goes_next, const char *url)
{
    world *it = open_busy_world(url);
    foreign_insert_for(it, "vans", 1, 0);
    foreign_insert_for(it, "ships", 2, 0);
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(30));
    world_step(it);
    assert_int_equal(sent_count(it), 1);
    world_step(it);
    assert_int_equal(sent_count(it), 2);
    assert_true(world_queue(it, "plain").count > 10);
}

/* ---- Failures --------------------------------------------------------------------- */

static pawl_code lose_commit(hook_point point, void *context)
{
    int *left = context;
    if (point != HOOK_BEFORE_COMMIT || *left == 0)
        return PAWL_OK;
    --*left;
    return PAWL_ELOST;
}

/* The connection is lost when it is sent: it is free, and sent next. */
ON_ALL_STORES(e13_released_when_sending_fails, const char *url)
{
    int        left  = 0;
    pawl_error error = PAWL_ERROR_INIT;
    world_make_tables(url, &application);
    world *it = open_busy_world(hook_url(url));
    foreign_insert_for(it, "vans", 1, 0);
    hook_set(lose_commit, &left);
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(30));
    left = 1;
    assert_int_equal(pawl_endpoint_step(it->endpoint, NULL, &error), PAWL_ELOST);
    assert_int_equal(left, 0);
    assert_int_equal(world_queue(it, "vans").count, 0);
    pawl_timeout_row rows = world_timeout(it);
    assert_true(pawl_uuid_is_zero(rows.owner.uuid));
    assert_int_equal(rows.attempts, 0);
    world_step(it);
    assert_int_equal(world_queue(it, "vans").count, 1);
    assert_int_equal(world_timeouts(it).count, 0);
    hook_set(NULL, NULL);
}

/* Under a name of the driver that fails calls. */
static const char *faulty(const char *url)
{
    world_make_tables(url, &application);
    fault_bind("foreign", url);
    return "fault:foreign";
}

/* The next look is at once after one that failed, though a busy worker's looks are rare. */
ON_ALL_STORES(e13_a_look_that_failed_is_made_again, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    world     *it    = open_busy_world(faulty(url));
    foreign_insert_for(it, "vans", 1, 0);
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(30));
    fault_plan_set(&(fault_plan){
        .kind = FAULT_BEFORE, .op = fault_op_timeout_foreign, .n = 1, .code = PAWL_EBUSY});
    assert_int_equal(pawl_endpoint_step(it->endpoint, NULL, &error), PAWL_EBUSY);
    assert_true(fault_was_reached());
    fault_plan_set(NULL);
    world_step(it);
    assert_int_equal(world_queue(it, "vans").count, 1);
    assert_true(world_queue(it, "plain").count > 10);
}

/* A driver of somebody else's need not know them. */
ON_ALL_STORES(e13_a_store_that_cannot_say_sends_none, const char *url)
{
    world *it = world_begin(faulty(url), &application, NULL, NULL);
    foreign_insert_for(it, "vans", 1, 0);
    fault_plan_set(&(fault_plan){.kind   = FAULT_BEFORE,
                                 .op     = fault_op_timeout_foreign,
                                 .chance = 1000,
                                 .code   = PAWL_EUNSUPPORTED});
    world_post(it, NULL, PAWL_MESSAGE(ping, .number = 1));
    assert_int_equal(world_drain(it).handled, 1);
    fault_plan_set(NULL);
    assert_int_equal(world_timeouts(it).count, 1);
}

/* ---- What idling costs ------------------------------------------------------------ */

static long looks(void)
{
    return fault_counts_now().by_op[fault_op_timeout_foreign];
}

/* A step each second, as of a worker whose waits poll: a store in the process is asked at each of them, a server twice a
 * minute. Under a virtual clock a worker would ask at each step. */
ON_ALL_STORES(e13_an_idle_worker_asks_a_server_twice_a_minute, const char *url)
{
    bool   is_server = strncmp(url, "memory:", 7) != 0 && strncmp(url, "sqlite:", 7) != 0;
    world *it        = world_begin(faulty(url), &application, NULL, NULL);
    world_drain(it);
    it->endpoint->worker->engine.is_virtual = false;
    world_step(it);
    long before = looks();
    for (int i = 1; i < 120; i++) {
        pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(i));
        world_step(it);
    }
    assert_int_equal(looks() - before, is_server ? 3 : 119);
}
