/* test_projection_failure.c - projections when handlers, calls and commits fail: nothing is
 * passed over, and nothing happens twice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "pawl/operations.h"
#include "support/fault_store.h"
#include "unit/runtime/test_projection_sample.h"

/* ---- Failures --------------------------------------------------------------------- */

ON_ALL_STORES(an_event_that_fails_holds_up_what_follows, const char *url)
{
    world *it   = begin(url, &application);
    plan.sends  = true;
    plan.fails  = -1;
    plan.number = 3;
    plan.code   = PAWL_REJECT;
    append_many(it, "A/1", 1, 5);
    int64_t   first = numbered_events(it).items[0].position;
    pawl_step sum   = world_drain(it);
    assert_int_equal(sum.projected, 2);
    assert_int_equal(sum.dead, 0);
    /* Once behind the others, once as the first. */
    expect_seen("A/1.1=1 A/1.2=2 fail(3,0) fail(3,0)");
    assert_int_equal(position_of(it, "projection/names"), first + 1);
    assert_int_equal(world_queue(it, "out").count, 2);
    assert_int_equal(sum.next_due, world_now(it) + PAWL_SECONDS(1));
    /* Doubling: 1, 2, 4 ... 32, then each minute. */
    int64_t delay = PAWL_SECONDS(1);
    for (int attempts = 1; attempts < 12; attempts++) {
        (void)world_go_machine(it, delay - 1);
        expect_seen("");
        (void)world_go_machine(it, 1);
        expect_seen(test_text("fail(3,%d)", attempts));
        delay = delay * 2 < PAWL_MINUTES(1) ? delay * 2 : PAWL_MINUTES(1);
    }
    assert_int_equal(world_dead(it).count, 0);
    append_many(it, "A/1", 6, 1);
    (void)world_drain(it);
    expect_seen("");
    plan.fails = 0;
    (void)world_go_machine(it, PAWL_MINUTES(1));
    expect_seen("A/1.3=3 A/1.4=4 A/1.5=5 A/1.6=6");
    assert_true(world_drain(it).next_due == PAWL_TIME_MAX);
    expect_sent_once(it, "plain");
}

static pawl_projection_row told_of(world *it)
{
    pawl_projection_row row;
    must(pawl_store_projection_find(it->store, PAWL_TEXT("names"), world_now(it), it->arena, &row,
                                    world_error()));
    return row;
}

ON_ALL_STORES(others_see_since_when_and_why_it_waits, const char *url)
{
    world *it   = begin(url, &application);
    plan.fails  = -1;
    plan.number = 2;
    plan.code   = PAWL_REJECT;
    append_many(it, "A/1", 1, 3);
    int64_t   second = numbered_events(it).items[1].position;
    pawl_time since  = world_now(it);
    (void)world_drain(it);
    pawl_projection_row row = told_of(it);
    assert_int_equal(row.position, second - 1);
    assert_int_equal(row.lag, 2);
    assert_int_equal(row.failure.position, second);
    assert_true(pawl_text_equal(row.failure.stream, PAWL_TEXT("A/1")));
    assert_int_equal(row.failure.version, 2);
    assert_true(pawl_text_equal(row.failure.type, PAWL_TEXT("noted")));
    assert_int_equal(row.failure.since, since);
    assert_int_equal(row.failure.next, since + PAWL_SECONDS(1));
    assert_int_equal(row.failure.attempts, 1);
    assert_true(pawl_text_equal(row.failure.code, PAWL_TEXT("REJECT")));
    assert_true(pawl_text_equal(row.failure.error, PAWL_TEXT("number 2 is not wanted")));
    assert_true(pawl_text_equal(row.failure.endpoint, PAWL_TEXT("plain")));
    assert_false(pawl_uuid_is_zero(row.worker.uuid));
    (void)world_go_machine(it, PAWL_SECONDS(1));
    row = told_of(it);
    assert_int_equal(row.failure.since, since);
    assert_int_equal(row.failure.at, since + PAWL_SECONDS(1));
    assert_int_equal(row.failure.attempts, 2);
    plan.fails = 0;
    (void)world_go_machine(it, PAWL_SECONDS(2));
    row = told_of(it);
    assert_int_equal(row.lag, 0);
    assert_int_equal(row.failure.position, 0);
}

static void restart(world *it)
{
    must(pawl_store_projection_restart(it->store, PAWL_TEXT("names"), PAWL_TEXT("ada"),
                                       PAWL_TEXT(""), world_now(it), world_error()));
}

/* Its tries are counted anew, and so are the pauses between them. */
ON_ALL_STORES(one_that_is_restarted_tries_now, const char *url)
{
    world *it   = begin(url, &application);
    plan.fails  = -1;
    plan.number = 2;
    plan.code   = PAWL_REJECT;
    append_many(it, "A/1", 1, 3);
    (void)world_drain(it);
    for (int i = 0; i < 8; i++)
        (void)world_go_machine(it, PAWL_MINUTES(1));
    assert_true(told_of(it).failure.attempts > 6);
    expect_seen("A/1.1=1 fail(2,0) fail(2,0) fail(2,1) fail(2,2) fail(2,3) fail(2,4) fail(2,5) "
                "fail(2,6) fail(2,7) fail(2,8)");
    restart(it);
    (void)world_go_machine(it, PAWL_SECONDS(2));
    expect_seen("fail(2,0)");
    plan.fails = 0;
    restart(it);
    (void)world_go_machine(it, PAWL_SECONDS(2));
    expect_seen("A/1.2=2 A/1.3=3");
    assert_int_equal(told_of(it).failure.position, 0);
}

static void rebuild(world *it, int64_t from)
{
    const pawl_projection_rebuild request = {
        .name = PAWL_TEXT("names"), .from = from, .while_read = true, .by = PAWL_TEXT("ada")};
    must(pawl_store_projection_rebuild(it->store, &request, world_now(it), NULL, world_error()));
}

/* At rest it looks; while it has events its commit is refused. */
ON_ALL_STORES(one_that_is_rebuilt_reads_again, const char *url)
{
    world *it  = begin(url, &application);
    plan.sends = true;
    append_many(it, "A/1", 1, 3);
    int64_t third = numbered_events(it).items[2].position;
    (void)world_drain(it);
    expect_seen("A/1.1=1 A/1.2=2 A/1.3=3");
    (void)world_go_machine(it, PAWL_MINUTES(1));
    rebuild(it, 0);
    (void)world_go_machine(it, PAWL_SECONDS(31));
    expect_seen("A/1.1=1 A/1.2=2 A/1.3=3");
    (void)world_go_machine(it, PAWL_MINUTES(1));
    expect_seen("");
    rebuild(it, third);
    append_many(it, "A/1", 4, 1);
    (void)world_go_machine(it, PAWL_SECONDS(31));
    expect_seen("A/1.4=4 A/1.3=3 A/1.4=4");
    assert_int_equal(position_of(it, "projection/names"), last_position(it));
}

ON_ALL_STORES(a_handler_may_say_when_or_pass_over, const char *url)
{
    world *it   = begin(url, &application);
    plan.fails  = 2;
    plan.number = 1;
    plan.code   = PAWL_RETRY_AFTER;
    plan.delay  = PAWL_SECONDS(7);
    append_many(it, "A/1", 1, 3);
    (void)world_drain(it);
    expect_seen("fail(1,0)");
    (void)world_go_machine(it, PAWL_SECONDS(7) - 1);
    expect_seen("");
    plan.delay = -1;
    (void)world_go_machine(it, 1);
    expect_seen("fail(1,1)");
    (void)world_go_machine(it, PAWL_SECONDS(1) - 1);
    expect_seen("");
    plan.sends  = true;
    plan.fails  = 1;
    plan.number = 2;
    plan.code   = PAWL_DISCARD;
    (void)world_go_machine(it, 1);
    expect_seen("A/1.1=1 fail(2,0) A/1.3=3");
    assert_int_equal(world_queue(it, "out").count, 2);
    assert_int_equal(position_of(it, "projection/names"), last_position(it));
}

/* In memory, at once, before it holds anything up. */
ON_ALL_STORES(a_passing_failure_is_tried_again_at_once, const char *url)
{
    world *it   = begin(url, &application);
    plan.sends  = true;
    plan.fails  = 2;
    plan.number = 2;
    plan.code   = PAWL_RETRY;
    append_many(it, "A/1", 1, 3);
    assert_int_equal(world_drain(it).projected, 3);
    expect_seen("A/1.1=1 fail(2,0) fail(2,0) A/1.2=2 A/1.3=3");
    expect_sent_once(it, "plain");
}

ON_ALL_STORES(an_event_that_cannot_be_read_holds_up, const char *url)
{
    world *it = begin(url, &application);
    append(it, "A/1", 1, 1);
    append_as(it, "A/1", 2, "noted", 1, "{\"number\":\"many\"}");
    append(it, "A/1", 3, 3);
    assert_int_equal(world_drain(it).projected, 1);
    (void)world_go_machine(it, PAWL_MINUTES(10));
    expect_seen("A/1.1=1");
}

static void note_critical(void *context, const char *what, const pawl_error *error)
{
    char *told = context;
    snprintf(told, 600, "%s: %s", what, error->text);
}

ON_ALL_STORES(somebody_is_told_of_an_event_that_fails_on, const char *url)
{
    char                  told[600] = "";
    pawl_endpoint_options options   = {.critical = note_critical, .critical_context = told};
    memset(&plan, 0, sizeof plan);
    world_forget(&seen);
    world *it   = world_begin(url, &application, NULL, &options);
    plan.fails  = -1;
    plan.number = 1;
    plan.code   = PAWL_REJECT;
    append(it, "A/1", 1, 1);
    (void)world_drain(it);
    for (int i = 0; i < 8; i++)
        (void)world_go_machine(it, PAWL_MINUTES(1));
    assert_string_equal(told, "");
    (void)world_go_machine(it, PAWL_MINUTES(1));
    assert_non_null(
        strstr(told, "projection: projection names waits for the event at global position"));
    assert_non_null(
        strstr(told, "version 1 of stream A/1, which failed 10 times: number 1 is not"));
    told[0] = '\0';
    (void)world_go_machine(it, PAWL_MINUTES(1));
    assert_string_equal(told, "");
}

/* Of all stores together: the program tells of one an hour. */
static int passed_over;

static void count_passed_over(pawl_log_level level, const char *text, void *context)
{
    passed_over +=
        level == PAWL_LOG_WARNING && strstr(text, "was sent before with another") != NULL;
}

/* The handler was corrected: under the ids of what it sent before it sends something else. */
ON_ALL_STORES(one_that_is_rebuilt_sends_what_is_new, const char *url)
{
    pawl_route            routes[] = {{.name = "far", .is_outbox = true}, {.name = NULL}};
    pawl_endpoint_options options  = {.routes = routes, .route_size = sizeof routes[0]};
    memset(&plan, 0, sizeof plan);
    world_forget(&seen);
    world *it        = world_begin(url, &application, NULL, &options);
    plan.sends       = true;
    plan.destination = "far";
    append_many(it, "A/1", 1, 3);
    assert_int_equal(world_drain(it).projected, 3);
    (void)world_go_machine(it, PAWL_MINUTES(1));
    assert_int_equal(world_queue(it, "far").count, 3);
    plan.adds = 10;
    rebuild(it, 0);
    append_many(it, "A/1", 4, 1);
    pawl_log_set(count_passed_over, PAWL_LOG_WARNING, NULL);
    (void)world_go_machine(it, PAWL_SECONDS(31));
    assert_int_equal(passed_over, 1);
    assert_int_equal(position_of(it, "projection/names"), last_position(it));
    pawl_queue_rows rows = world_queue(it, "far");
    assert_int_equal(rows.count, 4);
    for (int i = 0; i < 4; i++)
        assert_true(world_says(rows.items[i].message.body,
                               test_text("\"number\":%d,", i < 3 ? i + 1 : 14)));
}

/* Somebody has written another message under the id of what the event sends. */
static void take_id(world *it, const pawl_event_row *event)
{
    MUST_COMMIT(it->store, outbox_add, world_now(it),
                .dispatch_id = pawl_dispatch_id_make(
                    PAWL_TEXT("plain"), PAWL_TEXT("projection/names"), event->position, 0),
                .endpoint = PAWL_TEXT("elsewhere"), .destination = PAWL_TEXT("far"),
                .source  = PAWL_TEXT("S/1"),
                .message = {.id             = PAWL_TEXT("m"),
                            .type           = PAWL_TEXT("t"),
                            .body           = PAWL_TEXT("{}"),
                            .correlation_id = PAWL_TEXT("m")},
                .due = world_now(it), .at = world_now(it));
}

/* A commit that a driver of somebody's refuses because of two events: those before the first are committed, it is tried
 * for ever. */
ON_STORE(an_effect_that_the_store_refuses_holds_up, const char *url, "memory")
{
    pawl_route            routes[] = {{.name = "far", .is_outbox = true}, {.name = NULL}};
    pawl_endpoint_options options  = {.routes = routes, .route_size = sizeof routes[0]};
    memset(&plan, 0, sizeof plan);
    world_forget(&seen);
    fault_bind("projection", url);
    fault_is_strict  = true;
    world *it        = world_begin("fault:projection", &application, NULL, &options);
    plan.sends       = true;
    plan.destination = "far";
    append_many(it, "A/1", 1, 5);
    pawl_event_rows events = numbered_events(it);
    take_id(it, &events.items[4]);
    take_id(it, &events.items[2]);
    assert_int_equal(world_drain(it).projected, 2);
    world_forget(&seen);
    assert_int_equal(position_of(it, "projection/names"), events.items[1].position);
    assert_int_equal(world_queue(it, "far").count, 2);
    (void)world_go_machine(it, PAWL_MINUTES(5));
    assert_int_equal(position_of(it, "projection/names"), events.items[1].position);
    assert_true(told_of(it).failure.attempts > 1);
    fault_is_strict = false;
}

/* ---- Effects once ------------------------------------------------------------------ */

/* Whatever call fails, before or after it took place: each event's message once. */
static void run_with_faults(const char *url, fault_kind kind, fault_op op, pawl_code code)
{
    bool was_reached = true;
    for (long n = 1; was_reached; n++) {
        fault_plan fault = {.kind = kind, .op = op, .n = n, .code = code};
        fault_bind("projection", test_text("%s-%d-%ld", url, (int)kind, n));
        world *it  = begin("fault:projection", &small_application);
        plan.sends = plan.publishes = true;
        append_many(it, "A/1", 1, 7);
        fault_plan_set(&fault);
        steps_until_idle(it);
        pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_MINUTES(2));
        steps_until_idle(it);
        was_reached = fault_was_reached();
        fault_plan_set(NULL);
        assert_int_equal(position_of(it, "projection/names"), last_position(it));
        expect_sent_once(it, "plain");
        world_close(it);
        assert_true(n < 300);
    }
}

ON_STORE(nothing_happens_twice_when_a_call_fails, const char *url, "memory")
{
    run_with_faults(url, FAULT_BEFORE, fault_op_any, PAWL_ELOST);
}

ON_STORE(nothing_happens_twice_when_an_answer_is_lost, const char *url, "memory")
{
    run_with_faults(url, FAULT_AFTER, fault_op_any, PAWL_OK);
}

ON_STORE(nothing_happens_twice_when_a_commit_is_refused_for_its_content, const char *url, "memory")
{
    run_with_faults(url, FAULT_BEFORE, fault_op_commit, PAWL_ELIMIT);
}

/* ---- Their own SQL ----------------------------------------------------------------------- */

static void make_rows(const char *url)
{
    plan.url = url;
    native_exec(url, "create table {own_rows} (number integer)");
}

static void expect_rows(const char *url, const char *expected)
{
    native_expect(url, "select number from {own_rows} order by number", expected);
}

ON_SQL_STORES(own_sql_and_the_position_are_one, const char *url)
{
    world *it = begin(url, &own_application);
    make_rows(url);
    plan.writes = plan.sends = true;
    plan.fails               = -1;
    plan.number              = 4;
    plan.code                = PAWL_RETRY;
    append_many(it, "A/1", 1, 6);
    assert_int_equal(world_drain(it).projected, 3);
    expect_rows(url, "1 2 3");
    (void)world_go_machine(it, PAWL_MINUTES(10));
    expect_rows(url, "1 2 3");
    assert_int_equal(world_queue(it, "out").count, 3);
    plan.fails = 0;
    (void)world_go_machine(it, PAWL_MINUTES(10));
    expect_rows(url, "1 2 3 4 5 6");
    expect_sent_once(it, "plain");
}

static void expect_ended(world *it, int64_t position)
{
    pawl_projection_row row = told_of(it);
    assert_int_equal(row.position, position - 1);
    assert_int_equal(row.failure.position, position);
    assert_true(world_says(row.failure.error, "the handler's own SQL ended the transaction"));
    world_forget(&seen);
}

/* Nothing runs behind it in no transaction, and it is the one that is named. */
ON_SQL_STORES(own_sql_that_ends_its_transaction_fails_its_event_alone, const char *url)
{
    world *it = begin(url, &own_application);
    make_rows(url);
    plan.writes = plan.sends = true;
    plan.ends                = "rollback";
    plan.number              = 2;
    append_many(it, "A/1", 1, 4);
    int64_t second = numbered_events(it).items[1].position;
    assert_int_equal(world_drain(it).projected, 1);
    expect_rows(url, "1");
    expect_ended(it, second);
    plan.fails = -1; /* and has it passed over */
    plan.code  = PAWL_DISCARD;
    (void)world_go_machine(it, PAWL_MINUTES(10));
    expect_rows(url, "1");
    expect_ended(it, second);
    plan.fails = 0;
    plan.ends  = "commit"; /* its row stays */
    (void)world_go_machine(it, PAWL_MINUTES(1));
    expect_rows(url, "1 2");
    expect_ended(it, second);
    plan.ends = NULL;
    (void)world_go_machine(it, PAWL_MINUTES(10));
    expect_rows(url, "1 2 2 3 4");
    expect_sent_once(it, "plain");
}

/* The first of a read, one in the middle, and the last. */
static void make_deferred_rows(const char *url)
{
    native_exec(url, "create table {numbers} (number integer primary key)");
    native_exec(url, "create table {own_rows} (number integer references {numbers} (number) "
                     "deferrable initially deferred)");
    native_exec(url, "insert into {numbers} values (1), (3)");
}

/* MariaDB and MySQL defer no constraint. */
TESTS(an_event_whose_rows_fail_the_commit_holds_up, const char *url,
      STORE_ROW(an_event_whose_rows_fail_the_commit_holds_up, "sqlite"),
      STORE_ROW(an_event_whose_rows_fail_the_commit_holds_up, "postgres"))
{
    world *it   = begin(url, &own_application);
    plan.writes = true;
    plan.url    = url;
    make_deferred_rows(url);
    append_many(it, "A/1", 1, 3);
    int64_t second = numbered_events(it).items[1].position;
    assert_int_equal(world_drain(it).projected, 1);
    expect_rows(url, "1");
    pawl_projection_row row = told_of(it);
    assert_int_equal(row.failure.position, second);
    assert_int_equal(row.failure.attempts, 1);
    assert_true(world_says(row.failure.error, "commit: "));
    native_exec(url, "insert into {numbers} values (2)");
    assert_int_equal(world_go_machine(it, PAWL_SECONDS(1)).projected, 2);
    expect_rows(url, "1 2 3");
}

ON_SQL_STORES(own_sql_of_an_event_that_is_discarded_is_rolled_back, const char *url)
{
    world *it = begin(url, &own_application);
    make_rows(url);
    plan.writes = plan.sends = true;
    plan.fails               = -1;
    plan.code                = PAWL_DISCARD;
    for (int i = 0; i < 3; i++) {
        plan.number = (int[]){1, 7, 12}[i];
        append_many(it, "A/1", 1 + 4 * i, 4);
        (void)world_go_machine(it, PAWL_MINUTES(10));
    }
    expect_rows(url, "2 3 4 5 6 8 9 10 11");
    assert_int_equal(world_queue(it, "out").count, 9);
}

ON_SQL_STORES(own_sql_of_who_comes_too_late_is_rolled_back, const char *url)
{
    world *first  = begin(url, &own_application);
    world *second = world_begin(url, &own_application, NULL, NULL);
    make_rows(url);
    plan.writes = true;
    append_many(first, "A/1", 1, 1);
    assert_int_equal(world_drain(first).projected, 1);
    append_many(first, "A/1", 2, 1);
    assert_int_equal(world_go_machine(second, PAWL_MINUTES(2)).projected, 1);
    append_many(first, "A/1", 3, 1);
    assert_int_equal(world_drain(first).projected, 0);
    expect_rows(url, "1 2");
    assert_int_equal(world_drain(second).projected, 1);
    expect_rows(url, "1 2 3");
}

ON_SQL_STORES(own_sql_is_there_once_whatever_commit_fails, const char *url)
{
    bool   was_reached = true;
    world *it          = begin(url, &own_application);
    make_rows(url);
    world_close(it);
    fault_bind("projection", url);
    char expected[2000] = "";
    int  number         = 0;
    for (long n = 1; was_reached; n++) {
        fault_plan fault = {.kind = n % 2 == 0 ? FAULT_AFTER : FAULT_UNKNOWN,
                            .op   = fault_op_commit,
                            .n    = (n + 1) / 2};
        it               = begin("fault:projection", &own_application);
        plan.writes      = true;
        plan.url         = url;
        for (int i = 0; i < 3; i++, number++) {
            append(it, "A/1", number + 1, number + 1);
            snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%d",
                     number > 0 ? " " : "", number + 1);
        }
        fault_plan_set(&fault);
        steps_until_idle(it);
        was_reached = fault_was_reached();
        fault_plan_set(NULL);
        expect_rows(url, expected);
        world_close(it);
    }
    assert_true(number > 6);
}

/* Only a store in memory has no SQL. */
ON_STORE(own_sql_is_refused_where_there_is_none, const char *url, "memory")
{
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = url;
    must_fail_with(pawl_endpoint_create(&own_application, NULL, &options, &endpoint, world_error()),
                   PAWL_EUNSUPPORTED, "projection names says .own_sql");
}

/* ---- Chance -------------------------------------------------------------------------------- */

/* Streams that grow in any order, handlers that fail, endpoints that come and go. */
ON_ALL_STORES(whatever_happens_each_event_counts_once, const char *url)
{
    unsigned    seed  = (unsigned)time(NULL);
    const char *given = getenv("PAWL_TEST_SEED");
    pawl_random random;
    int64_t     versions[4] = {0};
    int         number      = 0;
    if (given != NULL)
        seed = (unsigned)strtoul(given, NULL, 10);
    print_message("seed %u\n", seed);
    pawl_random_seed(&random, seed);
    world *keeper = begin(url, &other_application);
    world *it     = world_begin(url, &small_application, NULL, NULL);
    plan.sends    = true;
    plan.code     = PAWL_REJECT;
    for (int i = 0; i < 300; i++) {
        int which = (int)pawl_random_below(&random, 4);
        append(keeper, test_text("A/%d", which), ++versions[which], ++number);
        plan.number = number - (int)pawl_random_below(&random, 5);
        plan.fails  = pawl_random_below(&random, 6) == 0;
        switch (pawl_random_below(&random, 8)) {
        case 0: (void)world_drain(it); break;
        case 1: (void)world_drain(keeper); break;
        case 2: (void)world_go_machine(it, PAWL_SECONDS(50)); break;
        case 3: (void)world_go_machine(keeper, PAWL_SECONDS(50)); break;
        case 4: (void)world_step(it); break;
        case 5:
            world_close(it);
            it = world_begin(url, &small_application, NULL, NULL);
            pawl_clock_set(it->machine, pawl_clock_now(keeper->machine));
            break;
        default: break;
        }
        world_forget(&seen);
    }
    plan.fails = 0;
    for (int i = 0; i < 4; i++) {
        (void)world_go_machine(it, PAWL_MINUTES(2));
        (void)world_go_machine(keeper, PAWL_MINUTES(2));
        world_forget(&seen);
    }
    pawl_event_rows events = all_events(keeper);
    pawl_queue_rows rows   = world_queue(keeper, "out");
    assert_int_equal(events.count, 300);
    assert_int_equal(rows.count, 300);
    for (int i = 0; i < 300; i++)
        assert_true(world_says(rows.items[i].message.body, test_text("\"number\":%d,", i + 1)));
}
