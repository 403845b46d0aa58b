/* test_runtime_options.c - an endpoint's options: what its own table says, what the program
 * that runs it says instead, and what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/test.h"
#include "pawl/transport.h"
#include "runtime/runtime.h"

RECORD(job, (INT64, n));
RECORD(done, (INT64, n));

static int         runs;
static const char *user_seen;

static pawl_code on_job(pawl_context *ctx, const job *message)
{
    runs++;
    user_seen = pawl_user(ctx);
    if (message->n < 0)
        return PAWL_RETRY;
    pawl_send(ctx, "audit", PAWL_MESSAGE(done, .n = message->n));
    return pawl_send(ctx, "copy", PAWL_MESSAGE(done, .n = message->n));
}
PAWL_MESSAGE_HANDLER(on_job, job);

static char               user[] = "the table's";
static pawl_endpoint_spec works  = {.name     = "works",
                                    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_job)})};
static pawl_application   factory;

/* The application with this in its endpoint's table. */
static const pawl_application *with(const pawl_endpoint_options *options)
{
    static const pawl_endpoint_spec *endpoints[] = {&works, NULL};
    factory = (pawl_application){PAWL_APPLICATION_HEAD, .name = "factory", .endpoints = endpoints};
    works.options = options;
    runs          = 0;
    user_seen     = NULL;
    return &factory;
}

static pawl_test *open_test(const pawl_application *application, const pawl_endpoint_options *over)
{
    pawl_test_options options = PAWL_TEST_OPTIONS_INIT;
    options.endpoint          = over;
    return test_kit(application, &options);
}

static void refuse(const pawl_application *application, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_test *test  = NULL;
    assert_int_equal(pawl_test_create(application, NULL, &test, &error), PAWL_ECONFIG);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, error.text);
}

/* How often a handler runs that always fails, until its message is dead. */
static int runs_until_dead(const pawl_application *application, const pawl_endpoint_options *over)
{
    pawl_test     *test = open_test(application, over);
    pawl_dead_rows dead;
    pawl_test_deliver(test, NULL, PAWL_MESSAGE(job, .n = -1), NULL);
    pawl_test_advance(test, PAWL_DAYS(6), NULL);
    assert_int_equal(pawl_test_dead(test, NULL, &dead, NULL), PAWL_OK);
    assert_int_equal(dead.count, 1);
    test_now(test);
    return runs;
}

TEST(the_table_says_what_holds)
{
    assert_int_equal(runs_until_dead(with(NULL), NULL), 4 * 6);
    assert_int_equal(
        runs_until_dead(with(PAWL_OPTIONS(.immediate_retries = -1, .delayed_retries = 1)), NULL),
        2);
}

TEST(who_runs_it_knows_better)
{
    const pawl_endpoint_options *table = PAWL_OPTIONS(.immediate_retries = 1, .delayed_retries = 9);
    assert_int_equal(runs_until_dead(with(table), PAWL_OPTIONS(.delayed_retries = -1)), 2);
    assert_int_equal(
        runs_until_dead(with(table), PAWL_OPTIONS(.immediate_retries = -1, .delayed_retries = 2)),
        3);
}

static size_t in_outbox(pawl_test *test)
{
    pawl_outbox_rows rows = {.count = 0};
    assert_int_equal(pawl_test_outbox(test, PAWL_OUTBOX_DISPATCHED, &rows, NULL), PAWL_OK);
    return rows.count;
}

TEST(routes_are_those_of_both)
{
    const pawl_endpoint_options *table =
        PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "audit", .is_outbox = true},
                                           {.name = "copy", .is_outbox = true}));
    const pawl_endpoint_options *overs[] = {
        NULL, PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "copy", .queue = "elsewhere"}))};
    for (size_t i = 0; i < 2; i++) {
        size_t     copies = 9, others = 9;
        pawl_test *test = open_test(with(table), overs[i]);
        pawl_test_deliver(test, NULL, PAWL_MESSAGE(job, .n = 1), NULL);
        pawl_test_advance(test, PAWL_MINUTES(1), NULL);
        pawl_test_count(test, "copy", NULL, &copies, NULL);
        pawl_test_count(test, "elsewhere", NULL, &others, NULL);
        assert_int_equal(in_outbox(test), 2 - i);
        assert_int_equal(copies, 1 - i);
        assert_int_equal(others, i);
        test_now(test);
    }
    refuse(with(PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "audit"}, {.name = "audit"}))),
           "route 'audit' is given twice");
}

TEST(the_user_is_that_of_who_runs_it)
{
    char  other[] = "another";
    char *seen[]  = {user, other};
    for (size_t i = 0; i < 2; i++) {
        pawl_test *test = open_test(with(PAWL_OPTIONS(.user = user)),
                                    i == 0 ? NULL : PAWL_OPTIONS(.user = other));
        pawl_test_deliver(test, NULL, PAWL_MESSAGE(job, .n = 1), NULL);
        assert_ptr_equal(user_seen, seen[i]);
        test_now(test);
    }
}

static void hear_one(void *context, const char *what, const pawl_error *error)
{
}
static void hear_other(void *context, const char *what, const pawl_error *error)
{
}

/* With its own context, never with the other's. */
TEST(so_is_who_hears_of_critical_errors)
{
    const pawl_endpoint_options *table =
        PAWL_OPTIONS(.critical = hear_one, .critical_context = user);
    pawl_test *test = open_test(with(table), NULL);
    assert_true(pawl_test_endpoint(test, NULL)->settings.critical == hear_one);
    assert_ptr_equal(pawl_test_endpoint(test, NULL)->settings.critical_context, user);
    test_now(test);
    test = open_test(with(table), PAWL_OPTIONS(.critical = hear_other));
    assert_true(pawl_test_endpoint(test, NULL)->settings.critical == hear_other);
    assert_null(pawl_test_endpoint(test, NULL)->settings.critical_context);
}

TEST(what_is_not_for_the_table_is_refused)
{
    pawl_clock                  *clock   = pawl_clock_create(1);
    const pawl_observe_options   observe = PAWL_OBSERVE_OPTIONS_INIT;
    const pawl_endpoint_options *bad[]   = {PAWL_OPTIONS(.store = "memory:x"),
                                            PAWL_OPTIONS(.mode = PAWL_OPEN_CHECK),
                                            PAWL_OPTIONS(.system_prefix = "mine_"),
                                            PAWL_OPTIONS(.saga_prefix = "mine_"),
                                            PAWL_OPTIONS(.business = clock),
                                            PAWL_OPTIONS(.machine = clock),
                                            PAWL_OPTIONS(.seed = 1),
                                            PAWL_OPTIONS(.no_service = true),
                                            PAWL_OPTIONS(.observe = &observe)};
    static const char *const     names[] = {"store",       "mode",       "system_prefix",
                                            "saga_prefix", "business",   "machine",
                                            "seed",        "no_service", "observe"};
    for (size_t i = 0; i < COUNT(bad); i++)
        refuse(with(bad[i]),
               test_text("endpoint works: option %s in the endpoint's table", names[i]));
    pawl_clock_destroy(clock);
}

TEST(a_number_out_of_range_is_named)
{
    refuse(with(PAWL_OPTIONS(.outbox_batch = 99999)),
           "option outbox_batch in the endpoint's table is 99999, the limits are 1 to ");
    refuse(with(PAWL_OPTIONS(.outbox_retention = -1)),
           "option outbox_retention in the endpoint's table is -1, the limits are 1000 to ");
    refuse(
        with(PAWL_OPTIONS(.retry_delay = 30)),
        "option retry_delay in the endpoint's table is 30 microseconds, the least is 1 ms; in C a "
        "duration is written with its unit, as PAWL_SECONDS(30)");
    refuse(with(PAWL_OPTIONS(.history = 7)), "option history in the endpoint's table is 7 micro");
    refuse(with(PAWL_OPTIONS(.inbox_retention = PAWL_SECONDS(1))),
           "option inbox_retention is 1 s, and delayed retries go on for up to ");
    pawl_endpoint_options unsized = *PAWL_OPTIONS(.workers = 1);
    unsized.options_size          = 0;
    refuse(with(&unsized), "endpoint works: options do not begin with PAWL_ENDPOINT_OPTIONS_INIT");
}

/* Three delays of 10 s, each with a tenth of jitter at most: between the first try and the last. */
TEST(marks_outlast_every_delay_between_two_tries)
{
    pawl_endpoint_options options =
        *PAWL_OPTIONS(.delayed_retries = 3, .retry_delay = PAWL_SECONDS(10),
                      .retry_delay_max = PAWL_SECONDS(10), .outbox_attempts = 4,
                      .outbox_delay = PAWL_SECONDS(10), .outbox_delay_max = PAWL_SECONDS(10),
                      .inbox_retention = PAWL_SECONDS(33));
    test_now(open_test(with(&options), NULL));
    options.inbox_retention--;
    refuse(with(&options), "and delayed retries go on for up to 33 s");
    options.delayed_retries = 1;
    refuse(with(&options), "and tries of the outbox go on for up to 33 s");
}

/* How long after its first delivery a message that always fails is due again. */
static int64_t first_delay(const pawl_endpoint_options *table, const pawl_endpoint_options *over)
{
    pawl_test      *test = open_test(with(table), over);
    pawl_queue_rows rows;
    pawl_test_deliver(test, NULL, PAWL_MESSAGE(job, .n = -1), NULL);
    assert_int_equal(pawl_test_sent(test, "works", &rows, NULL), PAWL_OK);
    assert_int_equal(rows.count, 1);
    int64_t delay = rows.items[0].due - pawl_test_now(test);
    test_now(test);
    return delay;
}

TEST(e26_a_default_gives_way_to_the_delay_that_is_given)
{
    const int64_t minute = PAWL_MINUTES(1), day = PAWL_DAYS(1);
    assert_in_range(first_delay(PAWL_OPTIONS(.retry_delay = PAWL_HOURS(2)), NULL),
                    PAWL_MINUTES(108), PAWL_MINUTES(132));
    assert_in_range(first_delay(PAWL_OPTIONS(.retry_delay_max = 1000000), NULL), 900000, 1100000);
    /* The row has no delay of its own, and its limit holds for that of the options. */
    assert_in_range(first_delay(PAWL_OPTIONS(.retry_delay = minute,
                                             .recovery    = PAWL_RECOVERY({.delay_max = 1000000})),
                                NULL),
                    900000, 1100000);
    assert_in_range(first_delay(PAWL_OPTIONS(.retry_delay_max = minute,
                                             .recovery = PAWL_RECOVERY({.delay = 2 * minute})),
                                NULL),
                    PAWL_SECONDS(108), PAWL_SECONDS(132));

    pawl_test *test = open_test(with(PAWL_OPTIONS(.outbox_delay = day, .breaker_pause = day,
                                                  .inbox_retention = PAWL_DAYS(30))),
                                PAWL_OPTIONS(.retry_delay_max = minute));
    const pawl_endpoint_options *settings = &pawl_test_endpoint(test, "works")->settings;
    assert_int_equal(settings->outbox_delay_max, day);
    assert_int_equal(settings->breaker_pause_max, day);
    assert_int_equal(settings->retry_delay, PAWL_SECONDS(10));
    assert_int_equal(settings->retry_delay_max, minute);
    test_now(test);
}

TEST(a_longest_delay_below_the_delay_is_refused)
{
    pawl_error error = PAWL_ERROR_INIT;
    refuse(with(PAWL_OPTIONS(.retry_delay = PAWL_MINUTES(600), .retry_delay_max = PAWL_MINUTES(1))),
           "option retry_delay_max is 1m, shorter than option retry_delay, which is 10h");
    refuse(with(PAWL_OPTIONS(.outbox_delay = 2001000, .outbox_delay_max = 2000000)),
           "option outbox_delay_max is 2s, shorter than option outbox_delay, which is 2001ms");
    refuse(with(PAWL_OPTIONS(.breaker_pause = PAWL_HOURS(2), .breaker_pause_max = 1000)),
           "option breaker_pause_max is 1ms, shorter than option breaker_pause, which is 2h");
    assert_int_equal(pawl_endpoint_check(with(PAWL_OPTIONS(.retry_delay = PAWL_HOURS(3))), "works",
                                         PAWL_OPTIONS(.retry_delay_max = PAWL_HOURS(2)), &error),
                     PAWL_ECONFIG);
    assert_string_equal(error.text, "option retry_delay_max is 2h, shorter than option "
                                    "retry_delay, which is 3h");
    /* Of a value that is refused by itself, the error names that option. */
    refuse(with(PAWL_OPTIONS(.retry_delay_max = 5)), "option retry_delay_max in the endpoint's");
    refuse(with(PAWL_OPTIONS(.retry_delay = PAWL_DAYS(366))),
           "option retry_delay in the endpoint's");
}

static pawl_code deliver_nothing(pawl_transport *transport, pawl_delivery *items, size_t count,
                                 pawl_arena *arena, pawl_error *error)
{
    return PAWL_OK;
}

TEST(an_outbound_transport_of_a_shorter_table_is_refused)
{
    static pawl_transport_ops outbound = {.ops_size = sizeof outbound, .deliver = deliver_nothing};
    const pawl_endpoint_options *options =
        PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "audit", .outbound = &outbound}));
    test_now(open_test(with(options), NULL));
    outbound.ops_size = offsetof(pawl_transport_ops, deliver);
    refuse(with(options), "route 'audit': its outbound transport's table has ");
    outbound = (pawl_transport_ops){.ops_size = sizeof outbound};
    refuse(with(options), "no function deliver");
}

/* No message would wait for another. */
TEST(an_order_by_a_property_that_nothing_has_is_said)
{
    static const char *const orders[] = {"property:n", "property:m", "property:n.m"};
    for (size_t i = 0; i < COUNT(orders); i++) {
        static test_lines lines;
        test_listen(&lines, PAWL_LOG_WARNING, NULL);
        test_now(open_test(with(PAWL_OPTIONS(.ordered = orders[i])), NULL));
        assert_true((strstr(lines.text, test_text("endpoint works: option ordered is '%s', and no",
                                                  orders[i])) != NULL) == (i > 0));
        world_quiet();
    }
}

/* Without a store, and the error begins with what it is about. */
TEST(options_are_checked_without_a_store)
{
    const struct {
        const pawl_endpoint_options *options;
        const char                  *text;
    } wrong[] = {
        {PAWL_OPTIONS(.ordered = "key"), "option ordered is 'key'"},
        {PAWL_OPTIONS(.inbox_retention = PAWL_SECONDS(1)), "option inbox_retention is 1 s"},
        {PAWL_OPTIONS(.audit = "#works"), "option audit is '#works'"},
        {PAWL_OPTIONS(.transport = "goose://x/"), "option transport: "},
        {PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "far", .url = "goose:x"})), "route 'far': "},
        {PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "far", .url = "amqp://x/?foo=1"})),
         "route 'far': "},
        {PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "far", .url = "sqlite:x?foo=1"})),
         "route 'far': "},
        {PAWL_OPTIONS(.routes =
                          PAWL_ROUTES({.name = "far", .url = "memory:x", .system_prefix = "a b"})),
         "route 'far': "},
        {PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "far", .url = "postgres://x?foo=1"})),
         "route 'far': "},
        {PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "far", .url = "mongodb://x/y?tsl=true"})),
         "route 'far': "},
        {PAWL_OPTIONS(.audit = "sqlite:x?foo=1#y"),
         "option audit is 'sqlite:x?foo=1#y': route 'pawl.audit': "},
        {&(pawl_endpoint_options){.options_size = 0}, "options do not begin with"},
    };
    pawl_endpoint_options   right    = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_endpoint          *endpoint = NULL;
    pawl_error              error    = PAWL_ERROR_INIT;
    const pawl_application *tables   = with(NULL);
    right.audit = "memory:audits#works"; /* of another store, as far as one knows */
    assert_int_equal(pawl_endpoint_check(tables, "works", &right, NULL), PAWL_OK);
    must_fail(pawl_endpoint_create(tables, "works", &right, &endpoint, world_error()), PAWL_ECONFIG,
              "option store is missing: give a URL");
    assert_null(endpoint);
    right.store = "goose:x"; /* nothing opens it */
    assert_int_equal(pawl_endpoint_check(tables, "works", &right, NULL), PAWL_OK);
    assert_int_equal(pawl_endpoint_check(tables, "rests", &right, NULL), PAWL_ENOTFOUND);
    assert_int_equal(pawl_endpoint_check(NULL, NULL, &right, NULL), PAWL_EINVAL);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(pawl_endpoint_check(tables, "works", wrong[i].options, &error),
                         PAWL_ECONFIG);
        assert_ptr_equal(strstr(error.text, wrong[i].text), error.text);
    }
}

/* A program that was built before tables had options has none, whatever stands behind them. */
TEST(an_older_table_has_none)
{
    with(PAWL_OPTIONS(.outbox_batch = 99999));
    factory.endpoint_size = offsetof(pawl_endpoint_spec, options);
    test_now(open_test(&factory, NULL));
}
