/* test_engine_aggregator_sql.c - aggregators whose callback has its own SQL: what it wrote is
 * there when its messages are gone from the aggregator, and only then. Items A12, E21, E24.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/native.h"
#include "support/world.h"

RECORD(sale, (INT32, number), (TEXT, shop));
PAWL_RECORD(visitor, A_NUMBER);
RECORD(booked, (INT32, count));

static world_log seen;

/* Orders to the callbacks, and their counts. */
static struct {
    const char *url;   /* the store that the rows are in */
    int         fails; /* calls that fail after they have written */
    pawl_code   code;  /* with this */
    const char
        *committed; /* rows that others see while visitors are handed over; NULL: not asked */
    bool sends_now;
    const char *partition; /* only those of this one; NULL: all */
} plan;

static pawl_code write_numbers(pawl_context *ctx, const sale *sales, size_t count)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        code = native_in(ctx, plan.url,
                         test_text("insert into {own_rows} values (%d)", sales[i].number));
    return code;
}

static pawl_code on_sales(pawl_context *ctx, const sale *sales, size_t count)
{
    pawl_text partition = pawl_partition_in_flight(ctx);
    pawl_code code      = write_numbers(ctx, sales, count);
    world_note(&seen, "%.*s:%zu", PAWL_TEXT_ARGS(partition), count);
    if (code == PAWL_OK && plan.sends_now)
        code = pawl_send_now(ctx, "now", PAWL_MESSAGE(booked, .count = (int32_t)count));
    bool is_meant =
        plan.partition == NULL || pawl_text_equal(partition, pawl_text_of(plan.partition));
    if (code == PAWL_OK && is_meant && plan.fails != 0) {
        plan.fails -= plan.fails > 0;
        return pawl_fail(ctx, plan.code, "the ledger is closed");
    }
    return code == PAWL_OK ? pawl_send(ctx, "books", PAWL_MESSAGE(booked, .count = (int32_t)count))
                           : code;
}
PAWL_BATCH_HANDLER(on_sales, sale);

/* Flushed in the same round, without SQL. */
static pawl_code on_visitors(pawl_context *ctx, const visitor *visitors, size_t count)
{
    assert_null(pawl_sqlite(ctx));
    assert_null(pawl_postgres(ctx));
    world_note(&seen, "visitors:%zu", count);
    if (plan.committed != NULL)
        native_expect(plan.url, "select number from {own_rows} order by number", plan.committed);
    return pawl_send(ctx, "books", PAWL_MESSAGE(booked, .count = (int32_t)count));
}
PAWL_BATCH_HANDLER(on_visitors, visitor);

static const pawl_aggregator sales    = {.name    = "Sales",
                                         .handle  = PAWL_HANDLE(on_sales),
                                         .key     = "shop",
                                         .size    = 2,
                                         .max     = 2,
                                         .lease   = PAWL_MINUTES(1),
                                         .own_sql = true};
static const pawl_aggregator visitors = {
    .name = "Visitors", .handle = PAWL_HANDLE(on_visitors), .size = 2};

static const pawl_application application =
    ONE_ENDPOINT("sales", .name = "ledger", .aggregators = PAWL_AGGREGATORS(&visitors, &sales));

/* `url`: what the endpoint is given; `inner`: where the tables are. */
static world *begin(const char *url, const char *inner)
{
    pawl_endpoint_options options = {.retry_delay = PAWL_SECONDS(10)};
    memset(&plan, 0, sizeof plan);
    plan.url  = inner;
    plan.code = PAWL_RETRY;
    world_forget(&seen);
    return world_begin(url, &application, NULL, &options);
}

static void make_rows(const char *url)
{
    native_exec(url, "create table {own_rows} (number integer)");
}

static void expect_rows(const char *url, const char *expected)
{
    native_expect(url, "select number from {own_rows} order by number", expected);
}

static void post_sale(world *it, int32_t number, const char *shop)
{
    world_post(it, NULL, PAWL_MESSAGE(sale, .number = number, .shop = pawl_text_of(shop)));
}

static void ask_for(world *it, const char *aggregator)
{
    must(pawl_endpoint_flush(it->endpoint, aggregator, NULL, world_error()));
}

/* ---- Together ----------------------------------------------------------------------- */

ON_SQL_STORES(e24_own_sql_is_there_when_the_messages_are_gone, const char *url)
{
    world *it = begin(url, url);
    make_rows(url);
    for (int32_t i = 1; i <= 3; i++) {
        post_sale(it, i, "a");
        post_sale(it, 10 + i, "b");
        world_post(it, NULL, PAWL_MESSAGE(visitor, .number = i));
    }
    LOG_AFTER(world_drain(it), seen, "Sales/a:2 Sales/b:2 visitors:3 ");
    expect_rows(url, "1 2 11 12");
    assert_int_equal(world_aggregated(it, "Sales/a", "sale").all, 1);
    assert_int_equal(world_aggregated(it, "Sales/b", "sale").all, 1);
    assert_int_equal(world_queue(it, "books").count, 3);
}

/* One partition's callback fails: its rows are not there, those of the other are. */
/* In one round, whichever comes first: what the one wrote is committed when the other one runs, or not yet there. */
ON_SQL_STORES(e24_own_sql_shares_its_transaction_with_no_other_flush, const char *url)
{
    static const char *const orders[][3] = {
        {"Sales", "Visitors", "0"}, {"Visitors", "Sales", "0"}, {"Sales", "Visitors", "0 1 2"}};
    fault_bind("sales", url);
    world *it = begin("fault:sales", url);
    make_rows(url);
    for (int32_t i = 0; i < 3; i++) {
        world_forget(&seen);
        post_sale(it, i, "a");
        world_post(it, NULL, PAWL_MESSAGE(visitor, .number = i));
        world_drain(it);
        plan.committed = orders[i][2];
        fault_plan_set(NULL);
        ask_for(it, orders[i][0]);
        ask_for(it, orders[i][1]);
        LOG_AFTER(world_drain(it), seen,
                  i == 1 ? "visitors:1 Sales/a:1 " : "Sales/a:1 visitors:1 ");
        /* None is claimed for a batch that it cannot be in, and given back. */
        assert_int_equal(fault_counts_now().by_op[fault_op_leased_batch_claim], 2);
    }
    expect_rows(url, "0 1 2");
}

ON_SQL_STORES(e21_a_failing_callback_leaves_neither, const char *url)
{
    world *it = begin(url, url);
    make_rows(url);
    plan.fails     = -1;
    plan.code      = PAWL_REJECT;
    plan.partition = "Sales/a";
    for (int32_t i = 1; i <= 2; i++) {
        post_sale(it, i, "a");
        post_sale(it, 10 + i, "b");
    }
    LOG_AFTER(world_drain(it), seen, "Sales/a:2 Sales/b:2 ");
    expect_rows(url, "11 12");
    pawl_aggregator_counts counts = world_aggregated(it, "Sales/a", "sale");
    assert_int_equal(counts.ready, 2);
    assert_int_equal(counts.flush_attempts, 1);
    assert_int_equal(world_queue(it, "books").count, 1);
    plan.fails = 0;
    world_go(it, PAWL_SECONDS(20));
    expect_rows(url, "1 2 11 12");
    assert_int_equal(world_aggregated(it, "Sales/a", "sale").all, 0);
    assert_int_equal(world_queue(it, "books").count, 2);
}

/* Like a handler's: three times more at once, each in a transaction of its own. */
ON_SQL_STORES(e24_immediate_retries_leave_exactly_one_row, const char *url)
{
    world *it = begin(url, url);
    make_rows(url);
    plan.fails = 3;
    post_sale(it, 1, "a");
    post_sale(it, 2, "a");
    pawl_step step = world_drain(it);
    assert_string_equal(seen.text, "Sales/a:2 Sales/a:2 Sales/a:2 Sales/a:2 ");
    expect_rows(url, "1 2");
    assert_int_equal(step.handled, 3); /* two messages, a flush */
    assert_int_equal(world_aggregated(it, "Sales/a", "sale").all, 0);
    assert_int_equal(world_queue(it, "books").count, 1);
}

ON_SQL_STORES(e24_then_the_flush_has_failed_once, const char *url)
{
    world *it = begin(url, url);
    make_rows(url);
    plan.fails = 6;
    post_sale(it, 1, "a");
    post_sale(it, 2, "a");
    world_drain(it);
    expect_rows(url, "");
    assert_int_equal(plan.fails, 2);
    assert_int_equal(world_aggregated(it, "Sales/a", "sale").flush_attempts, 1);
    assert_int_equal(world_aggregated(it, "Sales/a", "sale").ready, 2);
    world_go(it, PAWL_SECONDS(20));
    expect_rows(url, "1 2");
    assert_int_equal(world_queue(it, "books").count, 1);
    assert_int_equal(world_stats(it).counters.failures, 6);
}

ON_SQL_STORES(e23_now_leaves_with_each_run, const char *url)
{
    world *it = begin(url, url);
    make_rows(url);
    plan.fails     = 2;
    plan.sends_now = true;
    post_sale(it, 1, "a");
    post_sale(it, 2, "a");
    world_drain(it);
    expect_rows(url, "1 2");
    assert_int_equal(world_queue(it, "now").count, 3);
}

/* ---- Failures ----------------------------------------------------------------------- */

static void run_on(world *it)
{
    for (int i = 0; i < 6; i++) {
        pawl_error error = PAWL_ERROR_INIT;
        pawl_step  step  = PAWL_STEP_INIT;
        for (int j = 0; j < 50 && !step.is_idle; j++)
            (void)pawl_endpoint_step(it->endpoint, &step, &error);
        pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(30));
        pawl_clock_set(it->business, pawl_clock_now(it->business) + PAWL_SECONDS(30));
    }
}

/* Each call of the kind fails in turn: each number is written once. */
static void run_with_faults(const char *url, fault_kind kind, fault_op op, pawl_code code)
{
    char expected[3000] = "";
    bool was_reached    = true;
    int  number         = 0;
    long n              = 1;
    fault_bind("sales", url);
    world *it = begin("fault:sales", url);
    make_rows(url);
    for (; was_reached && n < 100; n++) {
        fault_plan fault = {.kind = kind, .op = op, .n = n, .code = code};
        for (int i = 0; i < 4; i++, number++) {
            post_sale(it, number, i % 2 == 0 ? "a" : "b");
            snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%d",
                     number > 0 ? " " : "", number);
        }
        fault_plan_set(&fault);
        run_on(it);
        was_reached = fault_was_reached();
        fault_plan_set(NULL);
        expect_rows(url, expected);
        assert_int_equal(world_aggregated(it, "Sales/a", "sale").all, 0);
        assert_int_equal(world_aggregated(it, "Sales/b", "sale").all, 0);
        assert_int_equal(world_queue(it, "books").count, 2 * n);
    }
    world_close(it);
    assert_false(was_reached);
    assert_true(n > 2);
}

ON_SQL_STORES(a12_once_whatever_answer_of_a_commit_is_lost, const char *url)
{
    run_with_faults(url, FAULT_AFTER, fault_op_commit, PAWL_OK);
}

ON_SQL_STORES(a12_once_whatever_commit_did_not_take_place, const char *url)
{
    run_with_faults(url, FAULT_UNKNOWN, fault_op_commit, PAWL_OK);
}

ON_SQL_STORES(a12_once_whatever_commit_meets_a_deadlock, const char *url)
{
    run_with_faults(url, FAULT_BEFORE, fault_op_commit, PAWL_EBUSY);
}

ON_SQL_STORES(a12_once_whatever_commit_waits_in_vain, const char *url)
{
    run_with_faults(url, FAULT_BEFORE, fault_op_commit, PAWL_ETIMEOUT);
}

ON_SQL_STORES(a12_once_whatever_commit_is_refused_for_its_content, const char *url)
{
    run_with_faults(url, FAULT_BEFORE, fault_op_commit, PAWL_ELIMIT);
}

ON_SQL_STORES(a12_once_whatever_connection_is_lost, const char *url)
{
    run_with_faults(url, FAULT_BEFORE, fault_op_any, PAWL_ELOST);
}

/* Another worker has taken the messages meanwhile, and gives them back: the commit is
 * refused, and takes what was written with it. */
ON_SQL_STORES(a12_own_sql_of_messages_that_went_is_rolled_back, const char *url)
{
    run_with_faults(url, FAULT_STEAL, fault_op_leased_batch_claim, PAWL_OK);
}

/* The second commit is the flush's; no clock moves. */
static world *fail_the_flush(const char *url, pawl_code code)
{
    fault_plan fault = {.kind = FAULT_BEFORE, .op = fault_op_commit, .n = 2, .code = code};
    fault_bind("sales", url);
    world *it = begin("fault:sales", url);
    make_rows(url);
    post_sale(it, 1, "a");
    post_sale(it, 2, "a");
    fault_plan_set(&fault);
    world_drain(it);
    assert_true(fault_was_reached());
    fault_plan_set(NULL);
    return it;
}

/* A deadlock ends for the one that is told of it. */
ON_SQL_STORES(e24_after_a_deadlock_it_runs_again_at_once, const char *url)
{
    world *it = fail_the_flush(url, PAWL_EBUSY);
    assert_string_equal(seen.text, "Sales/a:2 Sales/a:2 ");
    expect_rows(url, "1 2");
    assert_int_equal(world_aggregated(it, "Sales/a", "sale").all, 0);
    assert_int_equal(world_stats(it).counters.flushes, 1);
}

/* Another transaction keeps a row that the callback or its commit needs: the flush has
 * failed, and the endpoint goes on. */
ON_SQL_STORES(e24_what_waited_for_a_row_in_vain_has_failed, const char *url)
{
    world *it = fail_the_flush(url, PAWL_ETIMEOUT);
    assert_string_equal(seen.text, "Sales/a:2 ");
    expect_rows(url, "");
    assert_int_equal(world_aggregated(it, "Sales/a", "sale").flush_attempts, 1);
    assert_int_equal(world_aggregated(it, "Sales/a", "sale").ready, 2);
    post_sale(it, 11, "b");
    post_sale(it, 12, "b");
    world_drain(it);
    expect_rows(url, "11 12");
    world_go(it, PAWL_SECONDS(20));
    expect_rows(url, "1 2 11 12");
}

/* With its own SQL a flush is set apart like a message: what its commit refuses fails it once, and a shortage
 * that passes is none of its attempts. */
ON_SQL_STORES(e24_a_flush_alone_is_given_up_or_tried_at_once, const char *url)
{
    for (int i = 0; i < 2; i++) {
        char fixture[1000];
        scenario_url_like(url, fixture, sizeof fixture);
        world *it = fail_the_flush(fixture, i == 0 ? PAWL_ELIMIT : PAWL_ENOMEM);
        assert_string_equal(seen.text, i == 0 ? "Sales/a:2 " : "Sales/a:2 Sales/a:2 ");
        assert_int_equal(world_aggregated(it, "Sales/a", "sale").flush_attempts, i == 0 ? 1 : 0);
        expect_rows(fixture, i == 0 ? "" : "1 2");
        world_close(it);
        scenario_forget(fixture);
    }
}

/* Only a store in memory has no SQL. */
ON_STORE(own_sql_is_refused_where_there_is_none, const char *url, "memory")
{
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = url;
    assert_int_equal(pawl_endpoint_create(&application, NULL, &options, &endpoint, &error),
                     PAWL_EUNSUPPORTED);
    assert_null(endpoint);
    assert_true(world_says(pawl_text_of(error.text), "endpoint ledger: aggregator Sales says "
                                                     ".own_sql, and a memory store has no SQL"));
}
