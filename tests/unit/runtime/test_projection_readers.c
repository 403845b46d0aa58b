/* test_projection_readers.c - two readers of a projection, each the thread of a process: one that
 * lost its lease, its handle or its clock goes on from where the other one left. O20.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/hook.h"
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
        char    fixture[1000];
        scenario_url_like(url, fixture, sizeof fixture);
        open_two(fixture);
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
        scenario_forget(fixture);
    }
}

/* The worker whose lease was over commits the event that the other one waits for, and whose rows refuse it each time. */
ON_ALL_STORES(o20_an_event_that_another_committed_is_not_tried_again, const char *url)
{
    open_two(url);
    plan.fails  = -1;
    plan.number = 2;
    plan.code   = PAWL_REJECT;
    append_many(it, "A/1", 1, 3);
    run(first);
    expect_seen("A/1.1=1 fail(2,0) fail(2,0)");
    pass(PAWL_SECONDS(1));
    run(first);
    expect_seen("fail(2,1)");
    const pawl_event_rows all = numbered_events(it);
    must(pawl_store_checkpoint_set(it->store, PAWL_TEXT("projection/names"), all.items[0].position,
                                   all.items[2].position, world_now(it), world_error()));
    pass(PAWL_SECONDS(2));
    run(first);
    expect_seen("");
    append_many(it, "A/1", 4, 2);
    plan.number = 5;
    pass(PAWL_SECONDS(30));
    run(first);
    expect_seen("A/1.4=4 fail(5,0) fail(5,0)");
}

/* ---- An operator ------------------------------------------------------------------ */

static struct {
    pawl_store *reader; /* another process */
    int         moves;  /* of the checkpoint, before the operator's next commits */
    int64_t     by;
} busy;

static pawl_code read_on(hook_point point, void *context)
{
    int64_t   position = 0;
    pawl_text name     = PAWL_TEXT("projection/names");
    if (point != HOOK_BEFORE_COMMIT || busy.moves == 0)
        return PAWL_OK;
    busy.moves--;
    must(pawl_store_checkpoint_get(busy.reader, name, &position, world_error()));
    must(pawl_store_checkpoint_set(busy.reader, name, position, position + busy.by, 0,
                                   world_error()));
    return PAWL_OK;
}

static void close_busy(void *context)
{
    hook_set(NULL, NULL);
    pawl_store_close(busy.reader);
}

static pawl_code rebuild_busy(int moves, bool while_read, int64_t *count)
{
    const pawl_projection_rebuild request = {
        .name = PAWL_TEXT("names"), .from = 2, .while_read = while_read, .by = PAWL_TEXT("ada")};
    pawl_error error = PAWL_ERROR_INIT;
    busy.moves       = moves;
    return pawl_store_projection_rebuild(it->store, &request, world_now(it), count, &error);
}

/* The worker commits between the operator's read of the checkpoint and the commit, again and again. */
ON_ALL_STORES(o20_a_projection_is_rebuilt_while_it_moves, const char *url)
{
    int64_t count = 0, position = 0;
    it      = world_begin(hook_url(url), &application, NULL,
                          &(pawl_endpoint_options){.no_service = true});
    busy.by = 1;
    must(pawl_store_open(url, NULL, &busy.reader, world_error()));
    test_later(close_busy, &busy);
    must(pawl_store_checkpoint_set(busy.reader, PAWL_TEXT("projection/names"), 0, 100, 0,
                                   world_error()));
    hook_set(read_on, NULL);
    assert_int_equal(rebuild_busy(1, false, &count), PAWL_ECONFLICT);
    assert_int_equal(position_of(it, "projection/names"), 101);
    assert_int_equal(rebuild_busy(20, true, &count), PAWL_OK);
    assert_int_equal(busy.moves, 0);
    assert_int_equal(count, 120);
    assert_int_equal(position_of(it, "projection/names"), 1);
    must(pawl_store_projection_action_count(it->store, PAWL_TEXT("names"), &position,
                                            world_error()));
    assert_int_equal(position, 1);
    /* The checkpoint moves all the time. */
    must(pawl_store_checkpoint_set(busy.reader, PAWL_TEXT("projection/names"), 1, 100, 0,
                                   world_error()));
    assert_int_equal(rebuild_busy(1000, true, &count), PAWL_ECONFLICT);
    assert_true(busy.moves > 900);
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
        char       fixture[1000];
        fault_plan fault = {.kind = FAULT_BEFORE, .op = ops[i], .n = 1, .code = PAWL_ELOST};
        scenario_url_like(url, fixture, sizeof fixture);
        fault_bind("readers", fixture);
        open_two("fault:readers");
        append_many(it, "A/1", 1, 2);
        run(first);
        run(second);
        expect_seen("A/1.1=1 A/1.2=2");
        append_many(it, "A/1", 3, 1);
        pass(PAWL_SECONDS(30));
        fault_plan_set(&fault);
        assert_int_equal(step(first, NULL), PAWL_ELOST);
        assert_true(fault_was_reached());
        fault_plan_set(NULL);
        world_forget(&seen);
        run(second);
        run(first);
        expect_seen("A/1.3=3");
        test_now(&first);
        scenario_forget(fixture);
    }
}
