/* test_runtime_takeover.c - a runner takes the lead over a backlog: what it looks at, and
 * that it leads when it is through. O14, O20.
 *
 * Each page that it looks at may take long: the store is behind one that moves the clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/outbox/test_outbox_sample.h"

#include "support/fault_store.h"

#define ROWS_MAX 1501 /* three pages and a row */

static const pawl_endpoint_spec source = {.name     = "source",
                                          .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)})};

static const pawl_application application = APPLICATION("takeover", &source);

static const pawl_route routes[] = {{.name = "far", .queue = "notes", .is_outbox = true},
                                    {.name = NULL}};

static world *open_world(const char *url)
{
    const pawl_endpoint_options options = {.routes = routes};
    fault_bind("takeover", url);
    return world_begin("fault:takeover", &application, NULL, &options);
}

static void commit(world *it, pawl_changes *changes)
{
    changes->unit_count  = 1;
    changes->group_count = 1;
    changes->now         = pawl_clock_now(it->machine);
    must(pawl_store_commit(it->store, changes, NULL, world_error()));
}

/* Rows of a source each, due now. */
static void add_rows(world *it, unsigned first, size_t count)
{
    pawl_outbox_add *adds = pawl_arena_take(it->arena, count * sizeof *adds);
    assert_non_null(adds);
    for (unsigned i = 0; i < count; i++) {
        unsigned number = first + i;
        adds[i]         = (pawl_outbox_add){
                    .dispatch_id = {{{1, (unsigned char)(number >> 8), (unsigned char)number}}},
                    .source      = pawl_arena_printf(it->arena, "Flow/%u", number),
                    .version     = 1,
                    .endpoint    = PAWL_TEXT("source"),
                    .destination = PAWL_TEXT("far"),
                    .message     = {.id   = pawl_arena_printf(it->arena, "m%u", number),
                                    .type = PAWL_TEXT("note"),
                                    .body = PAWL_TEXT("{\"number\":1}")},
                    .at          = pawl_clock_now(it->machine)};
    }
    commit(it, &(pawl_changes){.outbox_add = {adds, count}});
}

/* Makes pending rows ones that were tried once and wait for a day. */
static void fail_rows(world *it)
{
    pawl_outbox_rows    rows    = world_outbox(it, PAWL_OUTBOX_PENDING);
    pawl_outbox_settle *settles = pawl_arena_take(it->arena, rows.count * sizeof *settles);
    assert_non_null(settles);
    for (size_t i = 0; i < rows.count; i++)
        settles[i] =
            (pawl_outbox_settle){.id           = rows.items[i].id,
                                 .source       = rows.items[i].source,
                                 .state        = PAWL_OUTBOX_PENDING,
                                 .attempts     = 1,
                                 .next_attempt = pawl_clock_now(it->machine) + PAWL_DAYS(1),
                                 .outcome      = PAWL_ATTEMPT_TRANSIENT,
                                 .at           = pawl_clock_now(it->machine)};
    commit(it, &(pawl_changes){.outbox_settle = {settles, rows.count}});
}

static long looks(void)
{
    return fault_counts_now().by_op[fault_op_outbox_find];
}

static size_t delivered(world *it)
{
    return world_queue(it, "notes").count;
}

/* Rows that never failed make no source wait, however many they are. */
ON_ALL_STORES(o14_only_what_was_tried_is_looked_at, const char *url)
{
    world *it = open_world(url);
    add_rows(it, 0, 1);
    fail_rows(it);
    add_rows(it, 1, ROWS_MAX - 1);
    fault_plan_set(NULL);
    world_step(it);
    assert_int_equal(looks(), 2); /* one for what waits, one for what is held */
    assert_true(delivered(it) > 0);
    world_drain(it);
    assert_int_equal(delivered(it), ROWS_MAX - 1);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 1);
}

/* All heads failed, and a look at them takes longer than the lease lasts: it is renewed on
 * the way, or the runner would begin anew for ever. */
ON_ALL_STORES(o20_a_long_look_keeps_the_lease, const char *url)
{
    world *it = open_world(url);
    add_rows(it, 0, ROWS_MAX - 1);
    fail_rows(it);
    add_rows(it, ROWS_MAX - 1, 1);
    fault_plan_set(&(fault_plan){.kind   = FAULT_DELAY,
                                 .op     = fault_op_outbox_find,
                                 .chance = 1000,
                                 .clock  = it->machine,
                                 .delay  = PAWL_SECONDS(3)});
    world_step(it);
    fault_plan_set(NULL);
    assert_int_equal(delivered(it), 1);
}

/* One page took as long as the lease: who led meanwhile is not known, and nothing is sent
 * on the strength of what was seen. */
ON_ALL_STORES(o20_a_lease_that_ended_in_the_look_is_taken_anew, const char *url)
{
    world *it = open_world(url);
    add_rows(it, 0, 1);
    fail_rows(it);
    add_rows(it, 1, 1);
    fault_plan_set(&(fault_plan){.kind  = FAULT_DELAY,
                                 .op    = fault_op_outbox_find,
                                 .n     = 1,
                                 .clock = it->machine,
                                 .delay = PAWL_SECONDS(12)});
    world_step(it);
    assert_true(fault_was_reached());
    assert_int_equal(looks(), 1);
    assert_int_equal(delivered(it), 0);
    world_step(it);
    fault_plan_set(NULL);
    assert_int_equal(delivered(it), 1);
}

/* Orphans are looked for again when the last search is long past, measured by the time that it
 * took: no row is sent meanwhile. */
ON_ALL_STORES(o14_a_long_look_for_orphans_is_rare, const char *url)
{
    const pawl_outbox_block hold = {.source = PAWL_TEXT("Flow/1")};
    world                  *it   = open_world(url);
    add_rows(it, 0, 1);
    fault_plan_set(&(fault_plan){.kind  = FAULT_DELAY,
                                 .op    = fault_op_outbox_find,
                                 .n     = 2, /* after that for what waits */
                                 .clock = it->machine,
                                 .delay = PAWL_SECONDS(9)});
    world_drain(it);
    assert_true(fault_was_reached());
    fault_plan_set(NULL);
    add_rows(it, 1, 1);
    commit(it, &(pawl_changes){.outbox_block = {(pawl_outbox_block *)&hold, 1}});
    for (int i = 0; i < 40; i++) /* the runner leads all the while */
        world_go_machine(it, PAWL_SECONDS(4));
    assert_int_equal(looks(), 0);
    for (int i = 0; i < 10; i++)
        world_go_machine(it, PAWL_SECONDS(4));
    assert_true(looks() > 0);
    assert_int_equal(delivered(it), 2);
}
