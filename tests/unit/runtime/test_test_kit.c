/* test_test_kit.c - the users' test kit itself: what it answers when something
 * is not there, and that it runs all endpoints in the order of their times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "pawl/pawl.h"
#include "pawl/record.h"
#include "pawl/store.h"
#include "pawl/test.h"
#include "support/tests.h"

/* ---- Two endpoints that play ------------------------------------------------ */

RECORD(ball, (INT64, game, .required = true), (INT32, hits));

RECORD(game_over, (INT64, game));

RECORD(game_state, (INT64, game), (INT32, hits));

RECORD(other_state, (INT64, game));

typedef struct notes {
    char   text[400];
    size_t size;
} notes;

static void note(pawl_context *ctx, const char *who, int hits)
{
    notes *all = pawl_user(ctx);
    if (all == NULL)
        return;
    long long minute = (long long)((pawl_now(ctx) - PAWL_TEST_START) / PAWL_MINUTES(1));
    all->size += (size_t)snprintf(all->text + all->size, sizeof all->text - all->size, "%s%d@%lld ",
                                  who, hits, minute);
}

static pawl_code on_ball(pawl_context *ctx, game_state *game, const ball *message)
{
    if (message->hits < 0)
        return pawl_fail(ctx, PAWL_REJECT, "%d hits", message->hits);
    game->hits = message->hits;
    note(ctx, "ping", message->hits);
    pawl_timeout(ctx, "back", PAWL_MINUTES(5));
    return PAWL_OK;
}
PAWL_HANDLER(on_ball, game_state, ball);

static pawl_code on_back(pawl_context *ctx, game_state *game)
{
    if (game->hits >= 2) {
        pawl_publish(ctx, PAWL_MESSAGE(game_over, .game = game->game));
        return pawl_complete(ctx);
    }
    return pawl_send(ctx, "pong", PAWL_MESSAGE(ball, .game = game->game, .hits = game->hits + 1));
}
PAWL_TIMEOUT_HANDLER(on_back, game_state);

static const pawl_saga game_saga = SAGA_OF(
    "GameSaga", game_state, "game", {.handle = PAWL_HANDLE(on_ball), .key = "game", .starts = true},
    {.handle = PAWL_HANDLE(on_back), .timeout = "back"});

static pawl_code on_return(pawl_context *ctx, const ball *message)
{
    pawl_send_options later = {PAWL_SEND_OPTIONS_HEAD, .delay = PAWL_MINUTES(1)};
    note(ctx, "pong", message->hits);
    return pawl_send_with(ctx, "ping", &later,
                          PAWL_MESSAGE(ball, .game = message->game, .hits = message->hits));
}
PAWL_MESSAGE_HANDLER(on_return, ball);

static pawl_code on_over(pawl_context *ctx, const game_over *message)
{
    note(ctx, "over", (int)message->game);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_over, game_over);

static const pawl_endpoint_spec ping = {.name = "ping", .sagas = PAWL_SAGAS(&game_saga)};
static const pawl_endpoint_spec pong = {
    .name     = "pong",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_return)}, {.handle = PAWL_HANDLE(on_over)})};

static const pawl_application games = APPLICATION("games", &ping, &pong);

/* Sends to itself without end. */
static pawl_code on_echo(pawl_context *ctx, const ball *message)
{
    return pawl_send(ctx, "echo", PAWL_MESSAGE(ball, .game = message->game));
}
PAWL_MESSAGE_HANDLER(on_echo, ball);

static const pawl_application echoes =
    ONE_ENDPOINT("echoes", .name = "echo", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_echo)}));

/* ---- A record that has changed --------------------------------------------------- */

RECORD(old_price, (INT64, euros));
static pawl_upcast_fn upcast_price;
RECORD_WITH(price, ((INT64, cents)), .version = 2, .upcast = upcast_price);

static pawl_code upcast_price(int version, pawl_text json, pawl_arena *arena, pawl_text *made,
                              pawl_error *error)
{
    old_price was;
    must(pawl_record_decode(PAWL_RECORD_OF(old_price)(), json, 0, arena, &was, error));
    const price now = {.cents = 100 * was.euros};
    return pawl_record_encode(PAWL_RECORD_OF(price)(), &now, 0, arena, made, error);
}

/* ---- What is told by events ---------------------------------------------------- */

RECORD(basket, (INT64, items), (TEXT, last));
RECORD(put, (INT64, game), (TEXT, what));
RECORD(was_put, (INT64, game), (TEXT, what));

static pawl_code on_put(pawl_context *ctx, const basket *state, const put *message)
{
    if (pawl_text_equal(message->what, PAWL_TEXT("end")))
        return pawl_complete(ctx);
    pawl_timeout(ctx, "old", PAWL_HOURS(1));
    return pawl_emit(ctx, PAWL_MESSAGE(was_put, .game = message->game, .what = message->what));
}
PAWL_PROCESS_HANDLER(on_put, basket, put);

static pawl_code on_old(pawl_context *ctx, const basket *state)
{
    return pawl_complete(ctx);
}
PAWL_PROCESS_TIMEOUT_HANDLER(on_old, basket);

static void apply_was_put(basket *state, const was_put *event)
{
    state->items++;
    state->last = event->what;
}
PAWL_APPLY(apply_was_put, basket, was_put);

static const pawl_process basket_process = {
    .name           = "Basket",
    .state          = PAWL_RECORD_OF(basket),
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_put), .key = "game", .starts = true},
                              {.handle = PAWL_HANDLE(on_old), .timeout = "old"}),
    .apply          = PAWL_APPLY_LIST(PAWL_APPLIES(apply_was_put)),
    .snapshot_every = 2};
static const pawl_endpoint_spec shop = {
    .name = "shop", .sagas = PAWL_SAGAS(&game_saga), .processes = PAWL_PROCESSES(&basket_process)};
static const pawl_application shopping = APPLICATION("shopping", &shop);

static notes seen;

static pawl_test *open_games(void)
{
    pawl_endpoint_options endpoint = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_test_options     options  = PAWL_TEST_OPTIONS_INIT;
    memset(&seen, 0, sizeof seen);
    endpoint.user    = &seen;
    options.endpoint = &endpoint;
    pawl_test *test  = test_kit(&games, &options);
    assert_int_equal(pawl_test_watch(test, PAWL_RECORD_OF(game_over), NULL), PAWL_OK);
    return test;
}

static void serve(pawl_test *test, int64_t game)
{
    must(pawl_test_deliver(test, "ping", PAWL_MESSAGE(ball, .game = game), world_error()));
}

/* One long advance stops at every time at which something is due, in whichever
 * endpoint: 5 minutes, then 1 more, and so on. */
TEST(one_advance_keeps_the_order_across_endpoints)
{
    pawl_test *test = open_games();
    size_t     count;
    game_over  over;
    serve(test, 7);
    assert_int_equal(pawl_test_advance(test, PAWL_HOURS(2), NULL), PAWL_OK);
    assert_string_equal(seen.text, "ping0@0 pong1@5 ping1@6 pong2@11 ping2@12 over7@17 ");
    assert_int_equal(pawl_test_now(test), PAWL_TEST_START + PAWL_HOURS(2));
    assert_int_equal(pawl_test_count(test, PAWL_TEST_EVENTS, NULL, &count, NULL), PAWL_OK);
    assert_int_equal(count, 1);
    must(pawl_test_message(test, PAWL_TEST_EVENTS, PAWL_RECORD_OF(game_over), 0, &over,
                           world_error()));
    assert_int_equal(over.game, 7);
}

TEST(a_state_is_read_into_its_struct)
{
    pawl_test *test    = open_games();
    int64_t    version = 0, count = 0;
    game_state game;
    serve(test, 7);
    assert_int_equal(pawl_test_advance(test, PAWL_MINUTES(6), NULL), PAWL_OK);
    must(pawl_test_saga(test, "GameSaga", "7", PAWL_RECORD_OF(game_state), &game, &version,
                        world_error()));
    assert_int_equal(game.game, 7);
    assert_int_equal(game.hits, 1);
    assert_int_equal(version, 3); /* begun, returned, hit again */
    assert_int_equal(pawl_test_saga_count(test, "GameSaga", &count, NULL), PAWL_OK);
    assert_int_equal(count, 1);
}

TEST(what_is_not_there_is_a_code)
{
    pawl_test        *test    = open_games();
    int64_t           version = 9, count = 9;
    pawl_timeout_rows timeouts;
    game_state        game;
    other_state       other;
    ball              none;
    must_fail(pawl_test_saga(test, "GameSaga", "8", PAWL_RECORD_OF(game_state), &game, &version,
                             world_error()),
              PAWL_ENOTFOUND, "there is no GameSaga with game '8'");
    assert_int_equal(version, 0);
    must_fail(
        pawl_test_saga(test, "NoSaga", "8", PAWL_RECORD_OF(game_state), &game, NULL, world_error()),
        PAWL_ENOTFOUND, "application has no saga 'NoSaga'");
    assert_int_equal(pawl_test_saga_count(test, "NoSaga", &count, NULL), PAWL_ENOTFOUND);
    assert_int_equal(count, 0);
    assert_int_equal(
        pawl_test_saga(test, "GameSaga", "seven", PAWL_RECORD_OF(game_state), &game, NULL, NULL),
        PAWL_EINVAL);
    serve(test, 8);
    must_fail(pawl_test_saga(test, "GameSaga", "8", PAWL_RECORD_OF(other_state), &other, NULL,
                             world_error()),
              PAWL_EINVAL, "state of saga GameSaga is of record game_state, not other_state");
    assert_int_equal(pawl_test_timeouts(test, "GameSaga", "9", &timeouts, NULL), PAWL_ENOTFOUND);
    assert_int_equal(timeouts.count, 0);
    assert_int_equal(pawl_test_timeouts(test, NULL, NULL, &timeouts, NULL), PAWL_OK);
    assert_int_equal(timeouts.count, 1);
    must_fail(pawl_test_message(test, "nowhere", PAWL_RECORD_OF(ball), 0, &none, world_error()),
              PAWL_ENOTFOUND, "queue 'nowhere' holds 0 messages of type ball, none at 0");
    assert_null(pawl_test_endpoint(test, "nobody"));
    assert_null(pawl_test_endpoint(test, NULL));
    assert_non_null(pawl_test_endpoint(test, "pong"));
}

TEST(a_message_of_another_type_is_refused)
{
    pawl_test        *test = open_games();
    pawl_queue_rows   rows;
    game_over         over;
    pawl_send_options as = {PAWL_SEND_OPTIONS_HEAD, .id = "b-1"};
    must(
        pawl_test_deliver_with(test, "outside", &as, PAWL_MESSAGE(ball, .game = 7), world_error()));
    assert_int_equal(pawl_test_sent(test, "outside", &rows, NULL), PAWL_OK);
    assert_int_equal(rows.count, 1);
    must_fail(pawl_test_read(test, &rows.items[0].message, PAWL_RECORD_OF(game_over), &over,
                             world_error()),
              PAWL_EINVAL, "message b-1 is of type ball, not game_over");
}

TEST(a_queue_must_be_named_when_there_are_two)
{
    pawl_test *test = open_games();
    must_fail(pawl_test_deliver(test, NULL, PAWL_MESSAGE(ball, .game = 7), world_error()),
              PAWL_EINVAL, "application has 2 endpoints; say which queue to deliver to");
}

TEST(a_body_of_any_kind_can_be_delivered)
{
    pawl_test     *test = open_games();
    pawl_dead_rows dead;
    must(pawl_test_deliver_json(test, "ping", NULL, "ball", "{\"game\":\"x\"", world_error()));
    must(pawl_test_deliver_json(test, "ping", NULL, "ball", "{\"game\":1}", world_error()));
    must(pawl_test_deliver_json(test, "ping", NULL, "ball", "{\"game\":1,\"hits\":-1}",
                                world_error()));
    assert_int_equal(pawl_test_dead(test, NULL, &dead, NULL), PAWL_OK);
    assert_int_equal(dead.count, 2);
    assert_string_equal(seen.text, "ping0@0 ");
}

TEST(an_id_delivered_twice_is_handled_once)
{
    pawl_test        *test = open_games();
    pawl_send_options as   = {PAWL_SEND_OPTIONS_HEAD, .id = "b-1"};
    for (int i = 0; i < 2; i++)
        must(pawl_test_deliver_with(test, "pong", &as, PAWL_MESSAGE(ball, .game = 7),
                                    world_error()));
    assert_string_equal(seen.text, "pong0@0 ");
}

TEST(an_event_from_outside_reaches_its_subscribers)
{
    pawl_test *test = open_games();
    assert_int_equal(pawl_test_publish(test, PAWL_MESSAGE(game_over, .game = 3), NULL), PAWL_OK);
    assert_string_equal(seen.text, "over3@0 ");
}

TEST(the_id_of_an_event_from_outside_is_the_same_in_each_run)
{
    pawl_queue_rows rows;
    pawl_test      *test = open_games();
    must(pawl_test_publish(test, PAWL_MESSAGE(game_over, .game = 3), world_error()));
    must(pawl_test_sent(test, PAWL_TEST_EVENTS, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    assert_true(pawl_text_equal(rows.items[0].message.id, PAWL_TEXT("test-1")));
    assert_int_equal(rows.items[0].due, PAWL_TEST_START);
}

TEST(what_an_older_program_wrote_is_read_as_handlers_read_it)
{
    price             read  = {.cents = 0};
    pawl_test        *test  = open_games();
    pawl_event_append event = {.stream   = PAWL_TEXT("Price/p-1"),
                               .version  = 1,
                               .is_first = true,
                               .event    = {.type         = PAWL_TEXT("price"),
                                            .type_version = 1,
                                            .body         = PAWL_TEXT("{\"euros\":7}"),
                                            .at           = PAWL_TEST_START}};
    must(pawl_store_commit(
        pawl_test_store(test),
        &(pawl_changes){ONE_UNIT, .now = PAWL_TEST_START, .event_append = {&event, 1}}, NULL,
        world_error()));
    must(pawl_test_event(test, "Price/p-1", PAWL_RECORD_OF(price), 0, &read, world_error()));
    assert_int_equal(read.cents, 700);
    must(pawl_test_deliver_json(test, "outside", NULL, "price", "{\"euros\":5}", world_error()));
    must(pawl_test_message(test, "outside", PAWL_RECORD_OF(price), 0, &read, world_error()));
    assert_int_equal(read.cents, 500);
    must(pawl_test_deliver(test, "outside", PAWL_MESSAGE(price, .cents = 4), world_error()));
    must(pawl_test_message(test, "outside", PAWL_RECORD_OF(price), 1, &read, world_error()));
    assert_int_equal(read.cents, 4);
}

TEST(an_endless_application_is_stopped)
{
    pawl_test *test;
    must(pawl_test_create(&echoes, NULL, &test, world_error()));
    must_fail(pawl_test_deliver(test, NULL, PAWL_MESSAGE(ball, .game = 1), world_error()),
              PAWL_ELIMIT, "not idle after 100000 steps: does a handler send to itself?");
    pawl_test_destroy(test);
}

TEST(clocks_do_not_go_back)
{
    pawl_test *test = open_games();
    assert_int_equal(pawl_test_advance(test, -1, world_error()), PAWL_EINVAL);
    must_fail_with(pawl_test_advance_to(test, PAWL_TEST_START - 1, world_error()), PAWL_EINVAL,
                   "it is 2026-01-01T09:00:00.000000Z now");
    assert_int_equal(pawl_test_advance_to(test, PAWL_TEST_START, NULL), PAWL_OK);
    assert_int_equal(pawl_test_advance(test, 0, NULL), PAWL_OK);
}

/* Two at once share nothing. */
TEST(two_tests_do_not_meet)
{
    pawl_test *one   = open_games();
    pawl_test *two   = open_games();
    int64_t    count = 9;
    serve(one, 7);
    assert_int_equal(pawl_test_saga_count(two, "GameSaga", &count, NULL), PAWL_OK);
    assert_int_equal(count, 0);
    test_now(one);
    test_now(two);
    pawl_test_destroy(NULL);
}

TEST(a_refused_application_is_a_code)
{
    static const pawl_application broken = {.name = "broken"};
    pawl_test                    *test;
    pawl_error                    error = PAWL_ERROR_INIT;
    assert_int_equal(pawl_test_create(&broken, NULL, &test, &error), PAWL_ECONFIG);
    assert_null(test);
    assert_int_equal(pawl_test_create(NULL, NULL, &test, &error), PAWL_EINVAL);
    assert_null(test);
}

/* The memory store would not tell one saga's row from the other's. */
TEST(endpoints_whose_sagas_share_a_table_are_refused)
{
    const pawl_endpoint_spec other    = {.name = "ping.too", .sagas = PAWL_SAGAS(&game_saga)};
    const pawl_application   both     = APPLICATION("games", &ping, &other);
    pawl_endpoint_options    settings = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_test_options        options  = PAWL_TEST_OPTIONS_INIT;
    pawl_test               *test;
    options.endpoint = &settings;
    must(pawl_test_create(&both, &options, &test, world_error()));
    pawl_test_destroy(test);
    settings.saga_prefix = "all_";
    must_fail_with(pawl_test_create(&both, &options, &test, world_error()), PAWL_ECONFIG,
                   "saga GameSaga of endpoint ping and saga GameSaga of "
                   "endpoint ping.too share the table 'all_GameSaga'");
}

static pawl_test *open_shop(void)
{
    return test_kit(&shopping, NULL);
}

static void put_into(pawl_test *test, const char *what)
{
    must(pawl_test_deliver(test, NULL, PAWL_MESSAGE(put, .game = 7, .what = pawl_text_of(what)),
                           world_error()));
}

TEST(the_state_of_a_process_is_what_its_events_say)
{
    pawl_test        *test = open_shop();
    basket            has  = {.items = -1};
    was_put           event;
    int64_t           version = -1;
    pawl_event_rows   rows;
    pawl_timeout_rows timeouts;
    for (int i = 0; i < 3; i++)
        put_into(test, i < 2 ? "apple" : "pear");
    must(pawl_test_state(test, "Basket", "7", PAWL_RECORD_OF(basket), &has, &version,
                         world_error()));
    assert_int_equal(version, 3);
    assert_int_equal(has.items, 3);
    assert_string_equal(has.last.data, "pear");
    assert_int_equal(pawl_test_events(test, "Basket/7", &rows, NULL), PAWL_OK);
    assert_int_equal(rows.count, 3);
    assert_int_equal(pawl_test_events(test, NULL, &rows, NULL), PAWL_OK);
    assert_int_equal(rows.count, 3);
    must(pawl_test_event(test, "Basket/7", PAWL_RECORD_OF(was_put), 2, &event, world_error()));
    assert_string_equal(event.what.data, "pear");
    assert_int_equal(pawl_test_timeouts(test, "Basket", "7", &timeouts, NULL), PAWL_OK);
    assert_int_equal(timeouts.count, 1);
    assert_string_equal(timeouts.items[0].name.data, "old");
    /* The basket is over: its last state can be seen still. */
    assert_int_equal(pawl_test_advance(test, PAWL_HOURS(1), NULL), PAWL_OK);
    must(pawl_test_state(test, "Basket", "7", PAWL_RECORD_OF(basket), &has, &version,
                         world_error()));
    assert_int_equal(version, 4);
    assert_int_equal(has.items, 3);
    assert_int_equal(pawl_test_timeouts(test, "Basket", "7", &timeouts, NULL), PAWL_OK);
    assert_int_equal(timeouts.count, 0);
}

static size_t timeouts_of(pawl_test *test, pawl_timeout_rows *timeouts)
{
    assert_int_equal(pawl_test_timeouts(test, "Basket", "7", timeouts, NULL), PAWL_OK);
    return timeouts->count;
}

TEST(a_timeout_is_moved_released_and_cancelled_as_by_an_operator)
{
    pawl_test        *test = open_shop();
    pawl_timeout_rows timeouts;
    put_into(test, "tea");
    assert_int_equal(timeouts_of(test, &timeouts), 1);
    pawl_time due = timeouts.items[0].due;
    must(pawl_test_timeout_move(test, "Basket", "7", "old", PAWL_HOURS(48), world_error()));
    assert_int_equal(timeouts_of(test, &timeouts), 1);
    assert_int_equal(timeouts.items[0].due, due + PAWL_HOURS(48));
    must_fail(pawl_test_timeout_cancel(test, "Basket", "7", "new", world_error()), PAWL_EGONE,
              "Basket '7' has no timeout new");
    assert_int_equal(timeouts_of(test, &timeouts), 1);
    assert_int_equal(pawl_test_timeout_cancel(test, "Basket", "7", "old", NULL), PAWL_OK);
    assert_int_equal(timeouts_of(test, &timeouts), 0);
    put_into(test, "rum");
    assert_int_equal(timeouts_of(test, &timeouts), 1);
    assert_int_equal(pawl_test_timeout_run_now(test, "Basket", "7", "old", NULL), PAWL_OK);
    assert_int_equal(timeouts_of(test, &timeouts), 0); /* the basket is over */
    basket  has;
    int64_t version = 0;
    must(pawl_test_state(test, "Basket", "7", PAWL_RECORD_OF(basket), &has, &version,
                         world_error()));
    assert_int_equal(version, 3);
}

TEST(an_endpoint_tells_the_state_of_a_process)
{
    pawl_test     *test     = open_shop();
    pawl_endpoint *endpoint = pawl_test_endpoint(test, NULL);
    pawl_arena    *arena    = test_arena();
    pawl_value     seven    = pawl_value_text(PAWL_TEXT("7"));
    pawl_value     number   = {.type = PAWL_VALUE_INT, .as.integer = 7};
    pawl_text      data;
    int64_t        version, count;
    must(pawl_endpoint_saga(endpoint, "Basket", &seven, arena, &data, &version, world_error()));
    assert_int_equal(version, 0);
    put_into(test, "apple");
    must(pawl_endpoint_saga(endpoint, "Basket", &number, arena, &data, &version, world_error()));
    assert_int_equal(version, 1);
    assert_string_equal(data.data, "{\"items\":1,\"last\":\"apple\"}");
    must_fail_with(pawl_endpoint_saga_count(endpoint, "Basket", &count, world_error()),
                   PAWL_EUNSUPPORTED, "Basket is not a saga");
}

TEST(a_look_at_the_wrong_kind_is_a_code)
{
    pawl_test        *test = open_shop();
    basket            has;
    was_put           event;
    int64_t           count;
    pawl_saga_row     row;
    pawl_timeout_rows timeouts;
    put_into(test, "apple");
    must_fail_with(
        pawl_test_saga(test, "Basket", "7", PAWL_RECORD_OF(basket), &has, NULL, world_error()),
        PAWL_EINVAL, "read it with pawl_test_state");
    assert_int_equal(pawl_test_saga_row(test, "Basket", "7", &row, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_test_saga_count(test, "Basket", &count, NULL), PAWL_EINVAL);
    must_fail_with(pawl_test_state(test, "GameSaga", "7", PAWL_RECORD_OF(game_state), &has, NULL,
                                   world_error()),
                   PAWL_EINVAL, "read it with pawl_test_saga");
    must_fail_with(
        pawl_test_state(test, "Basket", "7", PAWL_RECORD_OF(game_state), &has, NULL, world_error()),
        PAWL_EINVAL, "of record basket, not game_state");
    must_fail_with(
        pawl_test_state(test, "Basket", "8", PAWL_RECORD_OF(basket), &has, NULL, world_error()),
        PAWL_ENOTFOUND, "no Basket with key '8'");
    assert_int_equal(pawl_test_state(test, "Basket", "", PAWL_RECORD_OF(basket), &has, NULL, NULL),
                     PAWL_EINVAL);
    assert_int_equal(
        pawl_test_state(test, "Nothing", "7", PAWL_RECORD_OF(basket), &has, NULL, NULL),
        PAWL_ENOTFOUND);
    assert_int_equal(pawl_test_timeouts(test, "Basket", "8", &timeouts, NULL), PAWL_ENOTFOUND);
    must_fail_with(
        pawl_test_event(test, "Basket/7", PAWL_RECORD_OF(was_put), 1, &event, world_error()),
        PAWL_ENOTFOUND, "holds 1 events of type was_put, none at 1");
}

/* NULL does not stand for any saga or any record. */
TEST(null_is_refused_where_something_has_to_be_named)
{
    pawl_test   *test = open_shop();
    basket       has;
    was_put      event;
    pawl_message any = {.type = PAWL_TEXT("was_put")};
    put_into(test, "apple");
    must_fail(pawl_test_timeout_cancel(test, NULL, NULL, "old", world_error()), PAWL_EINVAL,
              "a timeout needs a saga, its key and a name");
    assert_int_equal(pawl_test_timeout_move(test, "Basket", NULL, "old", 1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_test_timeout_run_now(test, "Basket", "7", NULL, NULL), PAWL_EINVAL);
    pawl_timeout_rows timeouts;
    assert_int_equal(timeouts_of(test, &timeouts), 1);
    must_fail(pawl_test_saga(test, "GameSaga", "7", NULL, &has, NULL, world_error()), PAWL_EINVAL,
              "the record is NULL");
    assert_int_equal(pawl_test_state(test, "Basket", "7", NULL, &has, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_test_state(test, "Basket", "7", PAWL_RECORD_OF(basket), NULL, NULL, NULL),
                     PAWL_EINVAL);
    assert_int_equal(pawl_test_event(test, "Basket/7", NULL, 0, &event, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_test_message(test, "none", NULL, 0, &event, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_test_read(test, &any, NULL, &event, NULL), PAWL_EINVAL);
}

TEST(a_test_starts_in_the_years_1_to_9999)
{
    static const pawl_time bad[] = {PAWL_TIME_MIN - 1, PAWL_TIME_MAX + 1};
    pawl_test             *test;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pawl_error              error   = PAWL_ERROR_INIT;
        const pawl_test_options options = {.options_size = sizeof options, .start = bad[i]};
        assert_int_equal(pawl_test_create(&shopping, &options, &test, &error), PAWL_EINVAL);
        assert_null(test);
        assert_non_null(strstr(error.text, "the start of a test is at "));
        assert_non_null(strstr(error.text, "outside the years 1 to 9999"));
    }
}
