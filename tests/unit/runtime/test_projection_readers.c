/* test_projection_readers.c - two readers of a projection, each the thread of a process: one that
 * lost its lease, its handle or its clock goes on from where the other one left. O20.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "unit/runtime/test_projection_sample.h"

#include "runtime/projection/projection.h"

static world         *it;
static pawl__service *first, *second;

static pawl__service *new_reader(void)
{
    pawl__service *service = NULL;
    must(pawl__service_create(it->endpoint, NULL, &service, world_error()));
    return service;
}

static void close_two(void *context)
{
    (void)context;
    pawl__service_destroy(second);
    pawl__service_destroy(first);
}

static void open_two(const char *url)
{
    memset(&plan, 0, sizeof plan);
    world_forget(&seen);
    it     = world_begin(url, &application, NULL, &(pawl_endpoint_options){.no_service = true});
    first  = new_reader();
    second = new_reader();
    test_later(close_two, &first);
}

static pawl_code step(pawl__service *service, int64_t *projected)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_step  done  = {.next_due = PAWL_TIME_MAX};
    pawl_code  code  = pawl__service_step(service, &done, &error);
    if (projected != NULL)
        *projected = done.projected;
    return code;
}

/* Steps until nothing is due, which is soon. */
static void run(pawl__service *service)
{
    for (int i = 0; i == 0 || pawl__service_due(service) <= pawl_clock_now(it->machine); i++) {
        assert_int_equal(step(service, NULL), PAWL_OK);
        assert_in_range(i, 0, 20);
    }
}

static void pass(int64_t time)
{
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + time);
}

/* ---- Leases ---------------------------------------------------------------------- */

/* The one that stood still has its position from before, and asks for the lease now and then. */
ON_ALL_STORES(o20_a_reader_that_lost_its_lease_begins_anew, const char *url)
{
    open_two(url);
    append_many(it, "A/1", 1, 2);
    run(first);
    expect_seen("A/1.1=1 A/1.2=2");
    append_many(it, "A/1", 3, 1);
    pass(PAWL_SECONDS(60));
    run(second);
    expect_seen("A/1.3=3");
    run(first);
    pawl__service_destroy(second);
    append_many(it, "A/1", 4, 1);
    for (int i = 0; i < 13; i++) {
        run(first);
        expect_seen("");
        pass(PAWL_SECONDS(1));
    }
    pass(PAWL_SECONDS(1));
    run(first);
    expect_seen("A/1.4=4");
    second = new_reader();
}

/* The reader had waited for an event that another one passed since. */
/* The rest lies in the process, not in the store. */
ON_STORES(o20_a_reader_that_lost_its_lease_counts_tries_anew, const char *url)
{
    for (int fails = 0; fails < 2; fails++) {
        int64_t projected = 0;
        char    ground[1000];
        scenario_url_like(url, ground, sizeof ground);
        open_two(ground);
        plan.fails  = -1;
        plan.number = 2;
        plan.code   = PAWL_REJECT;
        append_many(it, "A/1", 1, 3);
        for (int i = 0; i < 8; i++) {
            run(first);
            pass(PAWL_SECONDS(59));
        }
        plan.fails = 0;
        world_forget(&seen);
        pass(PAWL_SECONDS(1));
        run(second);
        run(first);
        expect_seen("A/1.2=2 A/1.3=3");
        pawl__service_destroy(second);
        pass(PAWL_SECONDS(14));
        append_many(it, "A/1", 4, 3);
        plan.fails  = fails;
        plan.number = 4;
        assert_int_equal(step(first, &projected), PAWL_OK);
        assert_int_equal(projected, fails == 0 ? 3 : 0);
        expect_seen(fails == 0 ? "A/1.4=4 A/1.5=5 A/1.6=6" : "fail(4,0)");
        second = new_reader();
        test_now(&first);
        scenario_forget(ground);
    }
}

/* ---- A clock that is set back ------------------------------------------------------- */

/* By the plan of before, the next try is an hour away, and so is the next look at the lease. */
ON_STORES(o20_a_clock_that_was_set_back_delays_no_event, const char *url)
{
    open_two(url);
    plan.fails  = -1;
    plan.number = 2;
    plan.code   = PAWL_REJECT;
    append_many(it, "A/1", 1, 3);
    run(first);
    expect_seen("A/1.1=1 fail(2,0) fail(2,0)");
    plan.fails = 0;
    world_set_back(it, PAWL_HOURS(1));
    run(first);
    expect_seen("A/1.2=2 A/1.3=3");
    world_set_back(it, PAWL_HOURS(1));
    append_many(it, "A/1", 4, 1);
    run(first);
    expect_seen("A/1.4=4");
}

/* ---- A handle that is lost -------------------------------------------------------- */

/* Its lease went with it, and the other reader goes on before it is back. */
ON_STORES(o20_a_reader_with_a_new_handle_asks_for_its_lease, const char *url)
{
    static const fault_op ops[] = {fault_op_event_list, fault_op_commit};
    for (int i = 0; i < 2; i++) {
        char       ground[1000];
        fault_plan fault = {.kind = FAULT_BEFORE, .op = ops[i], .n = 1, .code = PAWL_ELOST};
        scenario_url_like(url, ground, sizeof ground);
        fault_bind("readers", ground);
        open_two("fault:readers");
        append_many(it, "A/1", 1, 2);
        run(first);
        run(second);
        expect_seen("A/1.1=1 A/1.2=2");
        append_many(it, "A/1", 3, 1);
        pass(PAWL_SECONDS(30));
        fault_plan_set(&fault);
        assert_int_equal(step(first, NULL), PAWL_ELOST);
        assert_true(fault_is_met());
        fault_plan_set(NULL);
        world_forget(&seen);
        run(second);
        run(first);
        expect_seen("A/1.3=3");
        test_now(&first);
        scenario_forget(ground);
    }
}
