/* test_runtime_away.c - a receiver that is not there: its messages wait in the outbox and lose no attempts, however long
 * that is; those of other routes go on, each source in its order; nothing is written meanwhile. O8, O10, O12, O14, O20.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/outbox/test_outbox_sample.h"

#include "pawl/store_alarm.h"
#include "runtime/runtime.h"

RECORD(advance, (TEXT, name), (TEXT, plan), (INT32, number));

/* A message for each letter of the plan, to the route of that name. */
static pawl_code on_advance(pawl_context *ctx, flow_state *flow, const advance *message)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < message->plan.size && code == PAWL_OK; i++) {
        char to[2] = {message->plan.data[i], '\0'};
        code       = pawl_send(ctx, to, PAWL_MESSAGE(note, .number = message->number + (int32_t)i));
    }
    return code;
}
PAWL_HANDLER(on_advance, flow_state, advance);

static const pawl_saga          flow_saga   = FLOW_SAGA(on_advance);
static const pawl_endpoint_spec source      = {.name = "source", .sagas = PAWL_SAGAS(&flow_saga)};
static const pawl_application   application = APPLICATION("away", &source);

/* ---- Receivers that are away, or not ------------------------------------------------ */

typedef struct place {
    const char *name;
    pawl_code   code;    /* of every call, until it is PAWL_OK */
    bool        is_each; /* the items say that it is not there, and not the call */
    bool        may_any; /* the first item of a call is taken */
    int         busy;    /* calls that fail from now on, the receiver being there */
    int mute_to; /* messages below it are never confirmed; a call with no other one seems to reach nobody */
    int calls;
} place;

static char  heard[4000]; /* "a1 b2 " */
static place a, b, c;

static int number_of(const pawl_delivery *item)
{
    int number = 0; /* which the body leaves out */
    sscanf(item->message.body.data, "{\"number\":%d", &number);
    return number;
}

static pawl_attempt_outcome outcome_of(const place *it, const pawl_delivery *items, size_t count,
                                       size_t i)
{
    bool is_any = false;
    for (size_t j = 0; j < count; j++)
        is_any |= number_of(&items[j]) >= it->mute_to;
    if (it->code != PAWL_OK ? i > 0 || !it->may_any : !is_any)
        return PAWL_ATTEMPT_UNREACHABLE;
    return number_of(&items[i]) < it->mute_to ? PAWL_ATTEMPT_TRANSIENT : PAWL_ATTEMPT_SUCCESS;
}

static pawl_code hear(pawl_transport *transport, pawl_delivery *items, size_t count,
                      pawl_arena *arena, pawl_error *error)
{
    place *it = transport->context;
    it->calls++;
    if (it->busy > 0) {
        it->busy--;
        return pawl_error_set(error, PAWL_EBUSY, "%s is busy", it->name);
    }
    if (it->code != PAWL_OK && !it->is_each)
        return pawl_error_set(error, it->code, "%s is not there", it->name);
    for (size_t i = 0; i < count; i++) {
        size_t used      = strlen(heard);
        items[i].outcome = outcome_of(it, items, count, i);
        if (items[i].outcome != PAWL_ATTEMPT_SUCCESS)
            items[i].error = PAWL_TEXT("not there");
        else
            snprintf(heard + used, sizeof heard - used, "%s%d ", it->name, number_of(&items[i]));
    }
    return PAWL_OK;
}

static const pawl_transport_ops plain   = PAWL_OUTBOUND(hear);
static const pawl_transport_ops ordered = {
    .ops_size = sizeof(pawl_transport_ops), .deliver = hear, .promises = PAWL_TRANSPORT_PREFIX};

static const pawl_route routes[] = {{.name = "a", .outbound = &plain, .context = &a},
                                    {.name = "b", .outbound = &plain, .context = &b},
                                    {.name = "c", .outbound = &plain, .context = &c},
                                    {.name = "o", .outbound = &ordered, .context = &a},
                                    {.name = NULL}};

static world *open_world(const char *url)
{
    const pawl_endpoint_options options = {
        .routes = routes, .outbox_batch = 4, .outbox_attempts = 3};
    heard[0] = '\0';
    a        = (place){.name = "a"};
    b        = (place){.name = "b"};
    c        = (place){.name = "c"};
    return world_begin(url, &application, "source", &options);
}

static void post(world *it, const char *name, int32_t number, const char *plan)
{
    world_post(it, NULL,
               PAWL_MESSAGE(advance, .name = pawl_text_of(name), .plan = pawl_text_of(plan),
                            .number = number));
}

static void advance_flow(world *it, const char *name, int32_t number, const char *plan)
{
    post(it, name, number, plan);
    world_drain(it);
}

static void advance_flows(world *it, int first, int count)
{
    for (int i = first; i < first + count; i++)
        advance_flow(it, test_text("f%d", i), i, "a");
}

/* Steps that a lease outlasts, so that what is known of rows is kept. */
static void go_on(world *it, int minutes)
{
    for (int i = 0; i < 12 * minutes; i++)
        world_go_machine(it, PAWL_SECONDS(5));
}

/* An operator's word: the only pending row is dead. */
static void bury(world *it)
{
    pawl_outbox_rows   rows = world_outbox(it, PAWL_OUTBOX_PENDING);
    pawl_outbox_result gone = {.outcome = PAWL_ATTEMPT_REJECTED, .error = PAWL_TEXT("ada")};
    assert_int_equal(rows.count, 1);
    must(pawl_store_outbox_settle(it->store, &rows.items[0], &gone, pawl_clock_now(it->machine),
                                  world_error()));
}

static void assert_heard(const char *expected)
{
    assert_string_equal(heard, expected);
    heard[0] = '\0';
}

/* None of them was tried, as far as the store tells. */
static void assert_untried(world *it, size_t pending)
{
    pawl_outbox_rows rows = world_outbox(it, PAWL_OUTBOX_PENDING);
    assert_int_equal(rows.count, pending);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_BLOCKED).count, 0);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DEAD).count, 0);
    for (size_t i = 0; i < rows.count; i++) {
        assert_int_equal(rows.items[i].attempts, 0);
        assert_int_equal(world_attempts(it, rows.items[i].id).count, 0);
    }
}

static size_t alarms(world *it, const char *part)
{
    pawl_alarm_rows rows = {.count = 0};
    must(pawl_store_alarms(it->store, it->arena, &rows, world_error()));
    for (size_t i = 0; i < rows.count; i++) {
        assert_true(pawl_text_equal(rows.items[i].what, PAWL_TEXT("route")));
        assert_true(world_says(rows.items[i].text, part));
    }
    return rows.count;
}

/* ---- A long outage ---------------------------------------------------------------- */

ON_ALL_STORES(o12_an_outage_of_a_day_costs_no_attempt, const char *url)
{
    world *it = open_world(url);
    a.code    = PAWL_EUNREACHABLE;
    for (int i = 0; i < 6; i++)
        advance_flow(it, "f", 10 * i, "aa");
    for (int hour = 0; hour < 24; hour++)
        world_go_machine(it, PAWL_HOURS(1));
    assert_untried(it, 12);
    assert_int_equal(alarms(it, "route 'a': a is not there"), 1);
    a.code = PAWL_OK;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("a0 a1 a10 a11 a20 a21 a30 a31 a40 a41 a50 a51 ");
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DISPATCHED).count, 12);
    assert_int_equal(alarms(it, ""), 0);
}

/* A second at first, half a minute at last, each +/- 10 % jitter. */
ON_ALL_STORES(a_route_that_is_away_is_tried_now_and_then, const char *url)
{
    int64_t pause = PAWL_SECONDS(1);
    world  *it    = open_world(url);
    a.code        = PAWL_EDENIED;
    advance_flow(it, "f", 1, "a");
    for (int i = 1; i < 9; i++) {
        assert_int_equal(a.calls, i);
        world_go_machine(it, pause - pause / 10 - 1);
        assert_int_equal(a.calls, i);
        world_go_machine(it, pause / 5 + 1);
        pause = 2 * pause < PAWL_SECONDS(30) ? 2 * pause : PAWL_SECONDS(30);
    }
    assert_untried(it, 1);
}

/* ---- Rows whose numbers are not in the order of their versions ----------------------- */

static void insert(world *it, const char *to, int64_t version)
{
    pawl_outbox_row row  = {.dispatch_id = {{{(uint8_t)version}}},
                            .source      = PAWL_TEXT("Flow/s"),
                            .version     = version,
                            .endpoint    = PAWL_TEXT("source"),
                            .destination = pawl_text_of(to)};
    const char     *body = test_text("{\"number\":%d}", (int)version);
    row.message =
        (pawl_message){.id = PAWL_TEXT("m"), .type = PAWL_TEXT("note"), .body = pawl_text_of(body)};
    must(pawl_store_outbox_insert(it->store, &row, pawl_clock_now(it->machine), world_error()));
}

/* The row that failed has the higher number: the other one is blocked, and not that one. */
ON_ALL_STORES(o14_the_row_that_failed_is_not_blocked_by_itself, const char *url)
{
    world *it = open_world(url);
    insert(it, "a", 2);
    insert(it, "a", 1);
    a.busy = 1;
    world_drain(it);
    assert_heard("");
    go_on(it, 10);
    assert_heard("a1 a2 ");
}

/* ---- Others go on ------------------------------------------------------------------ */

ON_ALL_STORES(o14_other_routes_go_on_behind_many_rows, const char *url)
{
    world *it = open_world(url);
    a.code    = PAWL_EUNREACHABLE;
    advance_flows(it, 0, 21);
    advance_flow(it, "g", 100, "bb");
    assert_heard("b100 b101 ");
    advance_flow(it, "h", 200, "b");
    assert_heard("b200 ");
    world_go_machine(it, PAWL_MINUTES(5));
    advance_flow(it, "h", 201, "b");
    assert_heard("b201 ");
    assert_untried(it, 21);
    a.code = PAWL_OK;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 ");
}

ON_ALL_STORES(o8_a_source_waits_behind_its_row_of_a_route_that_is_away, const char *url)
{
    world *it = open_world(url);
    a.code    = PAWL_EUNREACHABLE;
    advance_flow(it, "f", 1, "bab");
    assert_heard("b1 ");
    for (int i = 0; i < 5; i++)
        advance_flow(it, "f", 10 + i, "b");
    advance_flow(it, "g", 20, "b");
    assert_heard("b20 ");
    world_go_machine(it, PAWL_MINUTES(5));
    assert_heard("");
    assert_untried(it, 7);
    a.code = PAWL_OK;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("a2 b3 b10 b11 b12 b13 b14 ");
}

/* The first of them to come back is not the first that went. */
ON_ALL_STORES(o8_two_routes_are_away, const char *url)
{
    world *it = open_world(url);
    a.code = b.code = PAWL_EUNREACHABLE;
    advance_flow(it, "f", 1, "abc");
    advance_flow(it, "g", 10, "bac");
    advance_flow(it, "h", 20, "ccc");
    for (int i = 0; i < 8; i++)
        advance_flow(it, "f", 30 + i, "b");
    assert_heard("c20 c21 c22 ");
    world_go_machine(it, PAWL_MINUTES(5));
    assert_heard("");
    assert_int_equal(alarms(it, "route 'a': a is not there"), 1);
    assert_int_equal(alarms(it, "route 'b': b is not there"), 1);
    b.code = PAWL_OK;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("b10 ");
    assert_int_equal(alarms(it, "route 'a': a is not there"), 1);
    a.code = PAWL_OK;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("a1 a11 b2 c3 c12 b30 b31 b32 b33 b34 b35 b36 b37 ");
    assert_int_equal(alarms(it, ""), 0);
}

/* The third one is away all the time, and the lease lasts, so that what is known of rows is kept. */
ON_ALL_STORES(o8_a_source_that_waited_goes_on_when_its_route_is_away_again, const char *url)
{
    world *it = open_world(url);
    c.code = a.code = PAWL_EUNREACHABLE;
    advance_flow(it, "h", 1, "c");
    advance_flow(it, "f", 10, "a");
    a.code = PAWL_OK;
    world_go_machine(it, PAWL_SECONDS(2));
    assert_heard("a10 ");
    a.code = PAWL_EUNREACHABLE;
    advance_flow(it, "g", 20, "a");
    advance_flow(it, "f", 30, "b");
    assert_heard("b30 ");
    assert_untried(it, 2);
}

/* A source that was left for one route has a row for another one, which is away, too; the first one comes back. */
ON_ALL_STORES(o8_a_row_that_waits_for_another_route_is_not_overtaken, const char *url)
{
    world *it = open_world(url);
    a.code = c.code = PAWL_EUNREACHABLE;
    a.is_each       = true;
    advance_flow(it, "f", 1, "a");
    advance_flow(it, "g", 10, "a");
    a.may_any = true;
    world_go_machine(it, PAWL_SECONDS(2));
    assert_heard("a1 ");
    a.may_any = false;
    bury(it);
    post(it, "f", 20, "c");
    post(it, "h", 30, "b");
    post(it, "i", 40, "b");
    post(it, "j", 50, "b");
    post(it, "k", 60, "a");
    post(it, "f", 70, "b");
    world_go_machine(it, PAWL_SECONDS(3));
    assert_heard("b30 b40 b50 ");
    a.code = PAWL_OK;
    world_go_machine(it, PAWL_SECONDS(5));
    assert_heard("a60 ");
    c.code = PAWL_OK;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("c20 b70 ");
}

/* The row that a route was tried with is gone, and its others wait behind those of another route: nothing is read for ever. */
ON_ALL_STORES(a_try_ends_when_its_rows_wait_for_another_route, const char *url)
{
    world *it = open_world(url);
    a.code = b.code = PAWL_EUNREACHABLE;
    advance_flow(it, "f", 1, "a");
    bury(it);
    advance_flow(it, "g", 10, "ba");
    world_go_machine(it, PAWL_SECONDS(5));
    assert_int_equal(a.calls, 1);
    a.code = b.code = PAWL_OK;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("b10 a11 ");
}

/* ---- Beside failures that count -------------------------------------------------------- */

/* A program that steps is told when the next attempt is due, and does not spin when it is over. */
static void fail_and_go_on(world *it, int32_t number, const char *once, const char *twice)
{
    b.busy = 1;
    advance_flow(it, "g", number, "bb");
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_BLOCKED).count, 1);
    advance_flow(it, "h", number + 10, "b");
    advance_flow(it, "h", number + 11, "b");
    assert_heard(once);
    pawl_time due = world_step(it).next_due;
    assert_true(due > world_now(it) && due <= world_now(it) + PAWL_SECONDS(2));
    world_go_machine(it, PAWL_SECONDS(2));
    assert_heard(twice);
    assert_true(world_step(it).next_due > world_now(it));
}

/* The outage is a fresh one, then an old one. */
ON_ALL_STORES(o10_a_row_that_failed_is_tried_again_while_another_route_is_away, const char *url)
{
    world *it = open_world(url);
    a.code    = PAWL_EUNREACHABLE;
    for (int i = 0; i < 6; i++)
        advance_flow(it, "f", i, "a");
    fail_and_go_on(it, 10, "b20 b21 ", "b10 b11 ");
    for (int i = 0; i < 8; i++)
        world_go_machine(it, PAWL_SECONDS(20));
    fail_and_go_on(it, 30, "b40 b41 ", "b30 b31 ");
    fail_and_go_on(it, 50, "b60 b61 ", "b50 b51 ");
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_BLOCKED).count, 0);
    assert_untried(it, 6);
}

/* A receiver that failed with a message goes away: what was counted stays. */
ON_ALL_STORES(o12_attempts_before_and_after_an_outage_add_up, const char *url)
{
    world *it = open_world(url);
    a.busy    = 2;
    advance_flow(it, "f", 1, "aa");
    world_go_machine(it, PAWL_SECONDS(2));
    a.code = PAWL_EUNREACHABLE;
    world_go_machine(it, PAWL_HOURS(5));
    assert_int_equal(world_outbox_row(it, PAWL_OUTBOX_PENDING).attempts, 2);
    a.code = PAWL_OK;
    a.busy = 1;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DEAD).count, 1);
    assert_heard("a2 ");
}

ON_ALL_STORES(a_receiver_may_take_some_of_a_call, const char *url)
{
    world *it = open_world(url);
    a.code    = PAWL_EUNREACHABLE;
    a.is_each = a.may_any = true;
    advance_flow(it, "f", 1, "ooo");
    advance_flow(it, "g", 10, "o");
    go_on(it, 4);
    assert_heard("a1 a2 a3 a10 ");
    assert_untried(it, 0);
    a.may_any = false;
    advance_flow(it, "f", 4, "oo");
    world_go_machine(it, PAWL_HOURS(10));
    assert_untried(it, 2);
    a.code = PAWL_OK;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("a4 a5 ");
}

/* In the call, or each for itself. */
TEST(a_warning_names_the_route_of_messages_that_failed)
{
    static test_lines warnings;
    world            *it = open_world("memory:");
    test_listen(&warnings, PAWL_LOG_WARNING, "not delivered");
    a.busy = 1;
    advance_flow(it, "f", 1, "a");
    assert_non_null(
        strstr(warnings.last, "outbox: 1 of 1 messages for 'a' not delivered: a is busy"));
    a.mute_to = 100;
    post(it, "h", 2, "o");
    post(it, "i", 3, "o");
    post(it, "j", 101, "o");
    world_drain(it);
    assert_non_null(
        strstr(warnings.last, "outbox: 2 of 3 messages for 'o' not delivered: not there"));
    world_quiet();
}

/* ---- Some of a route's rows arrive, and others never ---------------------------------------- */

/* The rows that never arrive fill many pages; a source of them has a later row that would arrive. */
ON_ALL_STORES(o12_a_row_behind_many_that_never_arrive_is_tried, const char *url)
{
    world *it = open_world(url);
    a.mute_to = 100;
    advance_flows(it, 0, 13);
    advance_flow(it, "f0", 200, "a");
    assert_untried(it, 14);
    advance_flow(it, "g", 100, "a");
    advance_flow(it, "f1", 300, "b");
    go_on(it, 4);
    assert_heard("a100 ");
    a.mute_to = 0;
    go_on(it, 5);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 0);
    assert_true(strstr(heard, "a0 ") < strstr(heard, "a200 "));
    assert_true(strstr(heard, "a1 ") < strstr(heard, "b300 "));
}

/* Two pages of rows that have an attempt each, and never arrive from now on. */
static world *open_failed(const char *url)
{
    world *it = open_world(url);
    a.busy    = 8;
    advance_flows(it, 0, 8);
    assert_int_equal(a.busy, 0);
    return it;
}

ON_ALL_STORES(o12_a_row_that_failed_behind_many_that_never_arrive_is_tried, const char *url)
{
    world *it = open_failed(url);
    a.busy    = 1;
    advance_flow(it, "g", 100, "a");
    assert_heard("");
    a.mute_to = 100;
    go_on(it, 5);
    assert_heard("a100 ");
}

ON_ALL_STORES(o12_a_row_behind_many_that_failed_and_never_arrive_is_tried, const char *url)
{
    world *it = open_failed(url);
    a.mute_to = 100;
    world_go_machine(it, PAWL_SECONDS(2));
    assert_true(a.calls > 8);
    advance_flow(it, "g", 100, "a");
    assert_heard("");
    go_on(it, 5);
    assert_heard("a100 ");
}

/* ---- Other runners, and operators ------------------------------------------------------- */

ON_ALL_STORES(o20_the_next_leader_finds_the_same_rows, const char *url)
{
    world *it = open_world(url);
    a.code    = PAWL_EUNREACHABLE;
    for (int i = 0; i < 6; i++)
        advance_flow(it, "f", i, "ab");
    world_hold(url);
    world_close(it);
    world_open_made(it, url, &application, "source",
                    &(pawl_endpoint_options){.routes = routes, .outbox_batch = 4});
    advance_flow(it, "g", 100, "b");
    assert_heard("b100 ");
    a.code = PAWL_OK;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("a0 b1 a1 b2 a2 b3 a3 b4 a4 b5 a5 b6 ");
}

ON_ALL_STORES(nobody_waits_for_a_route_any_more, const char *url)
{
    pawl_outbox_rows rows;
    world           *it = open_world(url);
    a.busy              = 3;
    advance_flow(it, "f", 1, "a");
    for (int i = 0; i < 2; i++)
        world_go_machine(it, PAWL_MINUTES(10));
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DEAD).count, 1);
    a.code = PAWL_EUNREACHABLE;
    advance_flow(it, "g", 10, "a");
    assert_int_equal(alarms(it, "not there"), 1);
    bury(it);
    world_go_machine(it, PAWL_MINUTES(10));
    assert_int_equal(alarms(it, ""), 0);
    rows = world_outbox(it, PAWL_OUTBOX_DEAD);
    assert_int_equal(rows.count, 2);
    must(pawl_store_outbox_retry(it->store, rows.items[0].id, PAWL_TEXT("ada"),
                                 pawl_clock_now(it->machine), world_error()));
    world_go_machine(it, PAWL_MINUTES(10));
    assert_int_equal(alarms(it, "not there"), 1);
    a.code = PAWL_OK;
    world_go_machine(it, PAWL_MINUTES(1));
    assert_heard("a1 ");
}

/* Route c is away all the time, a comes and goes, and the lease lasts. */
ON_STORE(o8_sources_of_a_route_that_is_back_are_forgotten, const char *url, "memory")
{
    world *it = open_world(url);
    c.code    = PAWL_EUNREACHABLE;
    advance_flow(it, "z", 1, "c");
    pawl__unavailable *away = &it->endpoint->service->unavailable;
    for (int i = 0; i < 3; i++) {
        a.code = PAWL_EUNREACHABLE;
        advance_flows(it, 100 * i, 9);
        assert_int_equal(away->left.live, 10);
        assert_int_equal(away->first.live, 10);
        a.code = PAWL_OK;
        world_go_machine(it, PAWL_SECONDS(4));
        assert_int_equal(away->left.live, 1);
        assert_int_equal(away->first.live, 1);
    }
}

/* As if half a million were left. */
ON_STORE(o14_sources_that_are_left_have_a_limit, const char *url, "memory")
{
    static test_lines lines;
    world            *it = open_world(url);
    a.code               = PAWL_EUNREACHABLE;
    advance_flows(it, 1, 1);
    pawl__source_table *first = &it->endpoint->service->unavailable.first;
    test_listen(&lines, PAWL_LOG_WARNING, "of 500000 ordering keys wait");
    first->live += PAWL__LEFT_MAX;
    advance_flows(it, 2, 5); /* more than a page */
    advance_flow(it, "g", 20, "b");
    advance_flow(it, "h", 30, "b");
    assert_heard("");
    first->live -= PAWL__LEFT_MAX;
    world_go_machine(it, PAWL_SECONDS(2));
    assert_heard("b20 b30 ");
    assert_int_equal(lines.count, 1);
    world_quiet();
}
