/* test_projection_busy.c - a commit with own SQL that the store refuses as busy: for once, or
 * because of what an event wrote.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "pawl/operations.h"
#include "support/fault_store.h"
#include "unit/runtime/test_projection_sample.h"

static pawl_projection_row told_of(world *it)
{
    pawl_projection_row row;
    must(pawl_store_projection_find(it->store, PAWL_TEXT("names"), world_now(it), it->arena, &row,
                                    world_error()));
    return row;
}

static void expect_rows(const char *url, const char *expected)
{
    native_expect(url, "select number from {own_rows} order by number", expected);
}

static world *begin_with_rows(const char *url, const char *store)
{
    world *it   = begin(store, &own_application);
    plan.url    = url;
    plan.writes = true;
    native_exec(url, "create table {own_rows} (number integer)");
    return it;
}

ON_SQL_STORES(a_commit_that_is_busy_for_once_is_tried_again, const char *url)
{
    static const pawl_code codes[] = {PAWL_EBUSY, PAWL_ETIMEOUT};
    for (int i = 0; i < 4; i++) {
        char       fixture[1000];
        fault_plan fault = {.kind = FAULT_BEFORE, .op = fault_op_commit, .n = 1};
        fault.code       = codes[i / 2];
        scenario_url_like(url, fixture, sizeof fixture);
        fault_bind("busy", fixture);
        world *it    = begin_with_rows(fixture, "fault:busy");
        int    count = i % 2 == 0 ? 1 : 5;
        append_many(it, "A/1", 1, count);
        (void)numbered_events(it);
        fault_plan_set(&fault);
        assert_int_equal(world_drain(it).projected, count == 1 ? 0 : 5);
        assert_true(fault_was_reached());
        fault_plan_set(NULL);
        assert_int_equal(told_of(it).failure.attempts, count == 1);
        (void)world_go_machine(it, PAWL_SECONDS(1));
        expect_rows(fixture, count == 1 ? "1" : "1 2 3 4 5");
        assert_int_equal(told_of(it).failure.attempts, 0);
        world_close(it);
        scenario_forget(fixture);
    }
}

/* Without own SQL it says nothing of the events. */
ON_STORES(a_commit_that_is_busy_without_own_sql_is_the_stores, const char *url)
{
    fault_plan fault = {.kind = FAULT_BEFORE, .op = fault_op_commit, .n = 1, .code = PAWL_EBUSY};
    fault_bind("busy", url);
    world *it = begin("fault:busy", &application);
    append_many(it, "A/1", 1, 1);
    fault_plan_set(&fault);
    assert_int_equal(pawl_endpoint_drain(it->endpoint, NULL, world_error()), PAWL_EBUSY);
    fault_plan_set(NULL);
    assert_int_equal(told_of(it).failure.attempts, 0);
    assert_int_equal(world_drain(it).projected, 1);
}

/* Nor does a transaction that cannot begin. */
ON_SQL_STORES(a_transaction_that_does_not_begin_is_the_stores, const char *url)
{
    fault_plan fault = {
        .kind = FAULT_BEFORE, .op = fault_op_handler_transaction_begin, .n = 1, .code = PAWL_EBUSY};
    fault_bind("busy", url);
    world *it = begin_with_rows(url, "fault:busy");
    append_many(it, "A/1", 1, 1);
    (void)numbered_events(it);
    fault_plan_set(&fault);
    assert_int_equal(pawl_endpoint_drain(it->endpoint, NULL, world_error()), PAWL_EBUSY);
    fault_plan_set(NULL);
    assert_int_equal(told_of(it).failure.attempts, 0);
    assert_int_equal(world_drain(it).projected, 1);
}

/* A deferred trigger says of the rows of one event that the commit is to be tried again, each time. */
ON_STORE(an_event_whose_commit_is_always_busy_holds_up_alone, const char *url, "postgres")
{
    static const char *const codes[] = {"40001", "40P01", "55P03", "57014"};
    for (size_t i = 0; i < COUNT(codes); i++) {
        char fixture[1000], sql[500];
        scenario_url_like(url, fixture, sizeof fixture);
        world *it = begin_with_rows(fixture, fixture);
        native_exec(fixture, "create table {allowed} (number integer)");
        snprintf(
            sql, sizeof sql,
            "create or replace function {refuse}() returns trigger language plpgsql as $$ begin if not "
            "exists (select from {allowed}) then raise exception 'not now' using errcode = "
            "'%s'; end if; return null; end $$",
            codes[i]);
        native_exec(fixture, sql);
        native_exec(fixture, "create constraint trigger refuse after insert on {own_rows} "
                             "deferrable initially deferred for each row when (new.number = 2) "
                             "execute function {refuse}()");
        append_many(it, "A/1", 1, 3);
        int64_t second = numbered_events(it).items[1].position;
        assert_int_equal(world_drain(it).projected, 1);
        expect_rows(fixture, "1");
        assert_int_equal(told_of(it).failure.position, second);
        assert_int_equal(told_of(it).failure.attempts, 1);
        assert_true(world_says(told_of(it).failure.error, "not now"));
        for (int j = 0; j < 12; j++)
            (void)world_go_machine(it, PAWL_MINUTES(3));
        assert_true(told_of(it).failure.attempts > 10);
        native_exec(fixture, "insert into {allowed} values (1)");
        (void)world_go_machine(it, PAWL_MINUTES(10));
        expect_rows(fixture, "1 2 3");
        world_close(it);
        scenario_forget(fixture);
    }
}
