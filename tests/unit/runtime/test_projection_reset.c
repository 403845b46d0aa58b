/* test_projection_reset.c - reset of a projection: its own rows are emptied with the first event of
 * all, in one transaction, at the beginning and after a rebuild.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "pawl/operations.h"
#include "support/fault_store.h"
#include "unit/runtime/test_projection_sample.h"

static pawl_code reset_names(pawl_context *ctx)
{
    assert_int_equal(native_in(ctx, plan.url, "delete from {own_rows}"), PAWL_OK);
    world_note(&seen, "reset");
    if (plan.ends != NULL && plan.number == 0)
        assert_int_equal(native_in(ctx, plan.url, plan.ends), PAWL_OK);
    return fail_if_planned(ctx, 0);
}

static const pawl_projection reset_own         = {.name    = "names",
                                                  .on      = PAWL_ON({.handle = PAWL_HANDLE(on_noted)}),
                                                  .own_sql = true,
                                                  .reset   = reset_names};
static const pawl_projection reset_without_sql = {
    .name = "names", .on = PAWL_ON({.handle = PAWL_HANDLE(on_noted)}), .reset = reset_names};
ENDPOINT(resets, "plain", &reset_own);
PROJECTING(reset_application, &resets);
ENDPOINT(refused, "plain", &reset_without_sql);
PROJECTING(refused_application, &refused);

/* ---- What the tests do -------------------------------------------------------- */

/* A row that no event wrote is there. */
static world *begin_with_a_row(const char *url)
{
    world *it   = begin(url, &reset_application);
    plan.url    = url;
    plan.writes = true;
    native_exec(url, "create table {own_rows} (number integer)");
    native_exec(url, "insert into {own_rows} values (99)");
    return it;
}

static void expect_rows(const char *url, const char *expected)
{
    native_expect(url, "select number from {own_rows} order by number", expected);
}

static void rebuild(world *it, int64_t from)
{
    const pawl_projection_rebuild what = {
        .name = PAWL_TEXT("names"), .from = from, .while_read = true, .by = PAWL_TEXT("ada")};
    must(pawl_store_projection_rebuild(it->store, &what, world_now(it), NULL, world_error()));
}

static void expect_failure(world *it, const char *text)
{
    pawl_projection_row row;
    must(pawl_store_projection_find(it->store, PAWL_TEXT("names"), world_now(it), it->arena, &row,
                                    world_error()));
    assert_true(pawl_text_equal(row.failure.error, pawl_text_of(text)));
}

ON_SQL_STORES(rows_are_emptied_at_the_first_event_alone, const char *url)
{
    world *it = begin_with_a_row(url);
    (void)world_drain(it);
    expect_seen("");
    expect_rows(url, "99");
    append_many(it, "A/1", 1, 2);
    (void)world_drain(it);
    expect_seen("reset A/1.1=1 A/1.2=2");
    expect_rows(url, "1 2");
    append_many(it, "A/1", 3, 1);
    (void)world_go_machine(it, PAWL_MINUTES(1));
    expect_seen("A/1.3=3");
    expect_rows(url, "1 2 3");
}

ON_SQL_STORES(a_rebuild_empties_them_and_one_from_later_does_not, const char *url)
{
    world *it = begin_with_a_row(url);
    append_many(it, "A/1", 1, 3);
    int64_t first = numbered_events(it).items[0].position;
    (void)world_drain(it);
    world_forget(&seen);
    rebuild(it, 0);
    (void)world_go_machine(it, PAWL_MINUTES(1));
    expect_seen("reset A/1.1=1 A/1.2=2 A/1.3=3");
    expect_rows(url, "1 2 3");
    rebuild(it, first + 1);
    (void)world_go_machine(it, PAWL_MINUTES(1));
    expect_seen("A/1.2=2 A/1.3=3");
    expect_rows(url, "1 2 2 3 3");
}

ON_SQL_STORES(events_that_no_handler_takes_do_not_keep_it_away, const char *url)
{
    world *it = begin_with_a_row(url);
    append_as(it, "A/1", 1, "renamed", 2, "{\"title\":\"x\"}");
    assert_int_equal(world_drain(it).projected, 1);
    expect_seen("reset");
    expect_rows(url, "");
    append(it, "A/1", 2, 2);
    (void)world_go_machine(it, PAWL_MINUTES(1));
    expect_seen("A/1.2=2");
    expect_rows(url, "2");
}

/* Own rows of a transaction that fails come back: until the first event succeeds they stay as they were. */
ON_SQL_STORES(a_reset_that_fails_holds_up_the_first_event, const char *url)
{
    world *it  = begin_with_a_row(url);
    plan.fails = -1;
    plan.code  = PAWL_REJECT;
    append_many(it, "A/1", 1, 2);
    assert_int_equal(world_drain(it).projected, 0);
    expect_rows(url, "99");
    expect_failure(it, "reset of projection names: number 0 is not wanted");
    plan.code   = PAWL_EINVAL; /* its handler fails, not the reset */
    plan.number = 1;
    (void)world_go_machine(it, PAWL_MINUTES(1));
    expect_failure(it, "number 1 is not wanted");
    world_forget(&seen);
    plan.fails = 0;
    (void)world_go_machine(it, PAWL_MINUTES(1));
    expect_seen("reset A/1.1=1 A/1.2=2");
    expect_rows(url, "1 2");
}

ON_SQL_STORES(a_reset_that_ends_the_transaction_fails_too, const char *url)
{
    world *it = begin_with_a_row(url);
    plan.ends = "rollback";
    append_many(it, "A/1", 1, 2);
    assert_int_equal(world_drain(it).projected, 0);
    expect_seen("reset");
    expect_rows(url, "99");
}

/* Events before it run again, in a transaction without it. */
ON_SQL_STORES(an_event_that_fails_behind_the_first_has_it_run_again, const char *url)
{
    world *it   = begin_with_a_row(url);
    plan.fails  = -1;
    plan.number = 2;
    plan.code   = PAWL_REJECT;
    append_many(it, "A/1", 1, 2);
    assert_int_equal(world_drain(it).projected, 1);
    expect_seen("reset A/1.1=1 fail(2,0) reset A/1.1=1 fail(2,0)");
    expect_rows(url, "1");
}

/* The handler of each event writes its row, and then discards it. */
ON_SQL_STORES(what_is_discarded_behind_a_reset_leaves_no_rows, const char *url)
{
    for (int number = 1; number < 4; number++) {
        char fixture[1000], rows[10];
        scenario_url_like(url, fixture, sizeof fixture);
        world *it   = begin_with_a_row(fixture);
        plan.fails  = -1;
        plan.number = number;
        plan.code   = PAWL_DISCARD;
        append_many(it, "A/1", 1, 3);
        assert_int_equal(world_drain(it).projected, 3);
        snprintf(rows, sizeof rows, "%d %d", number == 1 ? 2 : 1, number == 3 ? 2 : 3);
        expect_rows(fixture, rows);
        append_many(it, "A/1", 4, 1);
        world_forget(&seen);
        assert_int_equal(world_go_machine(it, PAWL_MINUTES(1)).projected, 1);
        expect_seen("A/1.4=4");
        rebuild(it, 0);
        (void)world_go_machine(it, PAWL_MINUTES(1));
        strcat(rows, " 4");
        expect_rows(fixture, rows);
        world_close(it);
        scenario_forget(fixture);
    }
}

/* The first one, which is read alone or with the others, and some behind it. */
ON_SQL_STORES(all_that_is_discarded_behind_a_reset_leaves_no_rows, const char *url)
{
    for (int alone = 0; alone < 2; alone++) {
        char fixture[1000];
        scenario_url_like(url, fixture, sizeof fixture);
        world *it         = begin_with_a_row(fixture);
        plan.discards_odd = true;
        append_many(it, "A/1", 1, alone == 0 ? 5 : 1);
        (void)world_drain(it);
        expect_rows(fixture, alone == 0 ? "2 4" : "");
        world_close(it);
        scenario_forget(fixture);
    }
}

/* A later event waits meanwhile, so that the reader looks for what operators do. */
ON_SQL_STORES(a_rebuild_runs_the_handler_of_the_first_event_again, const char *url)
{
    world *it  = begin_with_a_row(url);
    plan.fails = -1;
    append_many(it, "A/1", 1, 2);
    plan.number = 1;
    plan.code   = PAWL_DISCARD;
    (void)world_drain(it);
    plan.number = 3;
    plan.code   = PAWL_REJECT;
    append_many(it, "A/1", 3, 1);
    (void)world_go_machine(it, PAWL_MINUTES(1));
    for (int i = 0; i < 8; i++)
        (void)world_go_machine(it, PAWL_MINUTES(3));
    expect_rows(url, "2");
    rebuild(it, 0);
    plan.fails = 0;
    world_forget(&seen);
    (void)world_go_machine(it, PAWL_SECONDS(1));
    expect_seen("reset A/1.1=1 A/1.2=2 A/1.3=3");
    expect_rows(url, "1 2 3");
}

/* The first event is discarded by the reset itself. */
ON_SQL_STORES(a_reset_that_discards_is_made, const char *url)
{
    world *it  = begin_with_a_row(url);
    plan.fails = -1;
    plan.code  = PAWL_DISCARD;
    append_many(it, "A/1", 1, 3);
    assert_int_equal(world_drain(it).projected, 3);
    expect_rows(url, "2 3");
}

ON_SQL_STORES(rows_are_there_once_whatever_commit_fails, const char *url)
{
    bool   was_reached = true;
    world *it          = begin_with_a_row(url);
    append_many(it, "A/1", 1, 3);
    (void)numbered_events(it);
    world_close(it);
    fault_bind("projection", url);
    for (long n = 1; was_reached; n++) {
        fault_plan fault = {.kind = n % 2 == 0 ? FAULT_AFTER : FAULT_UNKNOWN,
                            .op   = fault_op_commit,
                            .n    = (n + 1) / 2};
        it               = begin("fault:projection", &reset_application);
        plan.url         = url;
        plan.writes      = true;
        if (n > 1)
            rebuild(it, 0);
        fault_plan_set(&fault);
        steps_until_idle(it);
        (void)world_go_machine(it, PAWL_MINUTES(1));
        was_reached = fault_was_reached();
        fault_plan_set(NULL);
        expect_rows(url, "1 2 3");
        world_close(it);
    }
}

TEST(a_reset_needs_own_sql)
{
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = "memory:";
    must_fail(pawl_endpoint_create(&refused_application, NULL, &options, &endpoint, world_error()),
              PAWL_ECONFIG, "projection names has .reset, which needs .own_sql");
}
