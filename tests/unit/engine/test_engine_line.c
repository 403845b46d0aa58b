/* test_engine_line.c - the lines of history that an endpoint leaves in its commits, when it keeps
 * them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

RECORD(trip_state, (TEXT, trip), (INT32, count));
RECORD(guide_state, (TEXT, trip));
RECORD(book, (TEXT, trip), (TEXT, what));
RECORD(ask, (TEXT, trip));
RECORD(told, (TEXT, of));

static world *around;
static int    failures; /* of the next runs */
static void (*meddle)(void);

static bool is(const book *message, const char *what)
{
    return pawl_text_equal(message->what, pawl_text_of(what));
}

static pawl_code on_book(pawl_context *ctx, trip_state *state, const book *message)
{
    state->count++;
    if (meddle != NULL)
        meddle();
    if (is(message, "reject"))
        return pawl_fail(ctx, PAWL_REJECT, "no such \"seat\"");
    if (failures > 0)
        return pawl_fail(ctx, PAWL_RETRY, "failure %d", failures--);
    if (is(message, "end")) {
        pawl_complete(ctx);
        return PAWL_OK;
    }
    if (is(message, "cancel"))
        return pawl_cancel_timeout(ctx, "pay");
    if (is(message, "discard"))
        return PAWL_DISCARD;
    pawl_timeout(ctx, "pay", PAWL_MINUTES(5));
    pawl_send(ctx, "far", PAWL_MESSAGE(told, .of = message->trip));
    return pawl_send(ctx, "out", PAWL_MESSAGE(told, .of = message->trip));
}
PAWL_HANDLER(on_book, trip_state, book);

static pawl_code on_pay(pawl_context *ctx, trip_state *state)
{
    state->count = 0;
    return pawl_send(ctx, "out", PAWL_MESSAGE(told, .of = state->trip));
}
PAWL_TIMEOUT_HANDLER(on_pay, trip_state);

static pawl_code on_ask(pawl_context *ctx, trip_state *state, const ask *message)
{
    state->count++;
    return pawl_send(ctx, "out", PAWL_MESSAGE(told, .of = message->trip));
}
PAWL_HANDLER(on_ask, trip_state, ask);

IDLE_HANDLER(on_guide, guide_state, ask);

static pawl_code on_told(pawl_context *ctx, const told *message)
{
    return pawl_send(ctx, "o\"ut", PAWL_MESSAGE(told, .of = PAWL_TEXT("")));
}
PAWL_MESSAGE_HANDLER(on_told, told);

RECORD(toll, (INT32, cents));

static pawl_code on_tolls(pawl_context *ctx, const toll *messages, size_t count)
{
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_tolls, toll);

/* Writes about it before it waits for the others. */
static pawl_code on_toll(pawl_context *ctx, const toll *message)
{
    pawl_send(ctx, "out", PAWL_MESSAGE(told, .of = PAWL_TEXT("a toll")));
    return pawl_send(ctx, "far", PAWL_MESSAGE(told, .of = PAWL_TEXT("a toll")));
}
PAWL_MESSAGE_HANDLER(on_toll, toll);

static const pawl_aggregator tolls = {.name = "Tolls", .handle = PAWL_HANDLE(on_tolls), .size = 9};
static const pawl_saga       trip_saga = SAGA_OF(
          "Trip", trip_state, "trip", {.handle = PAWL_HANDLE(on_book), .key = "trip", .starts = true},
          {.handle = PAWL_HANDLE(on_ask), .key = "trip"},
          {.handle = PAWL_HANDLE(on_pay), .timeout = "pay"});
static const pawl_saga guide_saga = SAGA_OF(
    "Guide", guide_state, "trip", {.handle = PAWL_HANDLE(on_guide), .key = "trip", .starts = true});
static const pawl_endpoint_spec both_office = {.name  = "office",
                                               .sagas = PAWL_SAGAS(&trip_saga, &guide_saga)};
static const pawl_application   application =
    ONE_ENDPOINT("lines", .name = "office", .sagas = PAWL_SAGAS(&trip_saga),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_told)}));
static const pawl_application both = APPLICATION("lines", &both_office);

static const pawl_application with_tolls =
    ONE_ENDPOINT("lines", .name = "office", .aggregators = PAWL_AGGREGATORS(&tolls),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_toll)}));

/* ---- What is seen ------------------------------------------------------------ */

static world *open_kept(const char *url, const pawl_application *used,
                        pawl_endpoint_options options)
{
    static const pawl_route routes[] = {{.name = "far", .is_outbox = true}, {.name = NULL}};
    failures                         = 0;
    meddle                           = NULL;
    options.routes                   = routes;
    options.history                  = PAWL_DAYS(30);
    around                           = world_begin(url, used, NULL, &options);
    return around;
}

static void post(world *it, const char *id, const char *what)
{
    world_post(it, id, PAWL_MESSAGE(book, .trip = PAWL_TEXT("t-1"), .what = pawl_text_of(what)));
}

static pawl_history_rows lines(world *it)
{
    pawl_history_rows rows;
    must(pawl_store_history_find(it->store, &(pawl_history_query){0}, it->arena, &rows,
                                 world_error()));
    return rows;
}

/* "m-1 handled 1 {...}" for each, a line each. */
static const char *told_lines(world *it)
{
    static char       text[8000];
    pawl_history_rows rows = lines(it);
    size_t            size = 0;
    text[0]                = '\0';
    for (size_t i = 0; i < rows.count; i++) {
        const pawl_history_entry *line = &rows.items[i].entry;
        size += (size_t)snprintf(text + size, sizeof text - size, "%.*s %.*s %lld %d%s%.*s\n",
                                 PAWL_TEXT_ARGS(line->message_id), PAWL_TEXT_ARGS(line->outcome),
                                 (long long)line->version, (int)line->attempts,
                                 line->error.size != 0 ? " " : "", PAWL_TEXT_ARGS(line->error));
        assert_true(size < sizeof text);
    }
    return text;
}

static void expect_text(pawl_text actual, const char *expected)
{
    assert_string_equal(test_text("%.*s", PAWL_TEXT_ARGS(actual)), expected);
}

static void expect_part(pawl_text actual, const char *part)
{
    const char *text = test_text("%.*s", PAWL_TEXT_ARGS(actual));
    if (strstr(text, part) == NULL)
        fail_msg("'%s' has no '%s'", text, part);
}

ON_ALL_STORES(nothing_is_written_without_the_option, const char *url)
{
    meddle    = NULL;
    world *it = world_begin(url, &application, NULL, &(pawl_endpoint_options){0});
    around    = it;
    post(it, "m-1", "end");
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(lines(it).count, 0);
}

ON_ALL_STORES(a_line_says_what_came_and_what_left, const char *url)
{
    char   id[PAWL_UUID_TEXT_SIZE + 1];
    world *it = open_kept(url, &application, (pawl_endpoint_options){.immediate_retries = -1});
    post(it, "m-1", "");
    world_drain(it);
    pawl_history_rows rows = lines(it);
    assert_int_equal(rows.count, 1);
    const pawl_history_entry *line = &rows.items[0].entry;
    pawl_timeout_rows         due  = world_timeouts(it);
    assert_int_equal(due.count, 1);
    pawl_uuid_format(due.items[0].saga_id.uuid, id);
    const char *source = test_text("Trip/%s", id);
    expect_text(line->endpoint, "office");
    expect_text(line->source, source);
    expect_text(line->message_id, "m-1");
    expect_text(line->type, "book");
    expect_text(line->kind, "message");
    expect_text(line->outcome, "handled");
    assert_int_equal(line->version, 1);
    assert_int_equal(line->at, WORLD_START);
    expect_part(line->out, "{\"sends\":[{\"id\":\"");
    expect_part(line->out, "\"type\":\"told\",\"to\":\"out\"},{\"id\":\"");
    expect_part(line->out, "\"type\":\"told\",\"to\":\"far\"}],\"timeouts\":[{\"name\":\"pay\","
                           "\"due\":\"2026-01-01T09:05:00.000000Z\"}]}");
    expect_part(line->out, pawl_arena_printf(it->arena, "%.*s",
                                             PAWL_TEXT_ARGS(world_queue_row(it, "out").message.id))
                               .data);
}

ON_ALL_STORES(timeouts_and_ends_have_lines, const char *url)
{
    world *it = open_kept(url, &application, (pawl_endpoint_options){.immediate_retries = -1});
    post(it, "m-1", "");
    world_drain(it);
    world_go_both(it, PAWL_MINUTES(6));
    post(it, "m-2", "cancel");
    world_drain(it);
    post(it, "m-3", "end");
    world_drain(it);
    pawl_history_rows rows = lines(it);
    assert_int_equal(rows.count, 4);
    expect_text(rows.items[1].entry.kind, "timeout");
    expect_text(rows.items[1].entry.type, "pay");
    expect_text(rows.items[1].entry.outcome, "handled");
    assert_int_equal(rows.items[1].entry.version, 2);
    expect_text(rows.items[2].entry.out, "{\"cancelled\":[\"pay\"]}");
    assert_int_equal(rows.items[2].entry.version, 3);
    expect_text(rows.items[3].entry.out, "{\"completed\":true}");
    assert_int_equal(rows.items[3].entry.version, 4);
    for (size_t i = 1; i < 4; i++)
        assert_true(pawl_text_equal(rows.items[i].entry.source, rows.items[0].entry.source));
}

ON_ALL_STORES(failed_runs_and_retries_have_lines, const char *url)
{
    world *it = open_kept(url, &application,
                          (pawl_endpoint_options){.immediate_retries = 1, .delayed_retries = 1});
    post(it, "m-1", "cancel");
    world_drain(it);
    failures = 3;
    post(it, "m-2", "cancel");
    world_drain(it);
    world_go_both(it, PAWL_HOURS(1));
    post(it, "m-3", "reject");
    world_drain(it);
    assert_string_equal(told_lines(it), "m-1 handled 1 0\n"
                                        "m-2 failed 0 0 failure 3\n"
                                        "m-2 retry 1 0 failure 2\n"
                                        "m-2 failed 0 1 failure 1\n"
                                        "m-2 handled 2 1\n"
                                        "m-3 dead 2 0 no such \"seat\"\n");
    pawl_history_rows rows = lines(it);
    for (size_t i = 1; i < rows.count; i++)
        assert_true(pawl_text_equal(rows.items[i].entry.source, rows.items[0].entry.source));
}

/* A first message that fails has no saga yet: it is found by its id. */
ON_ALL_STORES(a_message_that_began_nothing_has_a_line_of_no_saga, const char *url)
{
    world *it = open_kept(url, &application,
                          (pawl_endpoint_options){.immediate_retries = -1, .delayed_retries = -1});
    post(it, "m-1", "reject");
    post(it, "m-2", "discard");
    world_post(it, "m-3", PAWL_MESSAGE(told, .of = PAWL_TEXT("x")));
    world_post_json(it, "m-4", "nobody", "{}");
    world_drain(it);
    pawl_history_rows rows = lines(it);
    assert_int_equal(rows.count, 4);
    expect_text(rows.items[0].entry.outcome, "dead");
    expect_text(rows.items[1].entry.outcome, "discarded");
    expect_text(rows.items[1].entry.out, "");
    expect_text(rows.items[2].entry.outcome, "handled");
    expect_part(rows.items[2].entry.out, "\"to\":\"o\\\"ut\"}]}");
    expect_text(rows.items[3].entry.outcome, "dead");
    for (size_t i = 0; i < 4; i++)
        expect_text(rows.items[i].entry.source, "");
}

ON_ALL_STORES(a_missed_saga_is_told_once, const char *url)
{
    world *it =
        open_kept(url, &application, (pawl_endpoint_options){.not_found_wait = PAWL_SECONDS(9)});
    world_post(it, "m-1", PAWL_MESSAGE(ask, .trip = PAWL_TEXT("none")));
    world_drain(it);
    for (int i = 0; i < 30; i++)
        world_go_both(it, PAWL_SECONDS(1));
    pawl_history_rows rows = lines(it);
    assert_int_equal(world_queue(it, "office").count, 0);
    assert_true(rows.count >= 1);
    expect_text(rows.items[rows.count - 1].entry.outcome, "ignored");
    for (size_t i = 0; i + 1 < rows.count; i++)
        expect_text(rows.items[i].entry.outcome, "wait");
    assert_true(rows.count <= 2);
}

ON_ALL_STORES(a_message_of_two_sagas_has_two_lines, const char *url)
{
    world *it = open_kept(url, &both, (pawl_endpoint_options){.immediate_retries = -1});
    post(it, "m-1", "cancel");
    world_drain(it);
    world_post(it, "m-2", PAWL_MESSAGE(ask, .trip = PAWL_TEXT("t-1")));
    world_drain(it);
    assert_string_equal(told_lines(it), "m-1 handled 1 0\nm-2 handled 2 0\nm-2 handled 1 0\n");
    pawl_history_rows rows = lines(it);
    expect_part(rows.items[1].entry.source, "Trip/");
    expect_part(rows.items[1].entry.out, "{\"sends\":[{");
    expect_part(rows.items[2].entry.source, "Guide/");
    expect_text(rows.items[2].entry.out, "");
}

/* Without a saga, all that a message sends and adds stands in its line. */
ON_ALL_STORES(what_a_message_adds_to_a_partition_is_told, const char *url)
{
    world *it = open_kept(url, &with_tolls, (pawl_endpoint_options){.immediate_retries = -1});
    world_post(it, "m-1", PAWL_MESSAGE(toll, .cents = 5));
    world_drain(it);
    pawl_history_rows rows = lines(it);
    assert_int_equal(rows.count, 1);
    expect_part(rows.items[0].entry.out, "\"type\":\"told\",\"to\":\"out\"},{\"id\":");
    expect_part(rows.items[0].entry.out, "\"type\":\"told\",\"to\":\"far\"},{\"id\":");
    expect_part(rows.items[0].entry.out, "\"type\":\"toll\",\"to\":\"Tolls\"}]}");
}

/* Another worker writes the saga, once. */
static void move_once(void)
{
    meddle = NULL;
    world_overwrite(around->store, around->arena, &application, "t-1", NULL);
}

ON_ALL_STORES(a_lost_conflict_has_a_line, const char *url)
{
    world *it = open_kept(url, &application, (pawl_endpoint_options){.immediate_retries = -1});
    post(it, "m-1", "cancel");
    world_drain(it);
    post(it, "m-2", "cancel");
    meddle = move_once;
    assert_int_equal(world_drain(it).refused, 1);
    assert_string_equal(told_lines(it), "m-1 handled 1 0\nm-2 conflict 0 1\nm-2 handled 3 0\n");
    pawl_history_rows rows = lines(it);
    assert_true(pawl_text_equal(rows.items[1].entry.source, rows.items[0].entry.source));
}

ON_ALL_STORES(a_copy_has_a_line, const char *url)
{
    world *it = open_kept(url, &application, (pawl_endpoint_options){.immediate_retries = -1});
    post(it, "m-1", "cancel");
    world_drain(it);
    post(it, "m-1", "cancel");
    world_drain(it);
    assert_string_equal(told_lines(it), "m-1 handled 1 0\nm-1 duplicate 0 0\n");
}

ON_ALL_STORES(old_lines_are_swept, const char *url)
{
    world *it = open_kept(url, &application, (pawl_endpoint_options){.immediate_retries = -1});
    post(it, "m-1", "cancel");
    world_drain(it);
    world_go_both(it, PAWL_DAYS(29));
    assert_int_equal(lines(it).count, 1);
    world_go_both(it, PAWL_DAYS(2));
    assert_int_equal(lines(it).count, 0);
}
