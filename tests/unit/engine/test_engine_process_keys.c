/* test_engine_process_keys.c - how a stream is found by the text of a key.
 *
 * A stream's name is NAME/key, compared byte by byte, at most 200 bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/process.h"

#define THING(F) F(INT32, count)
PAWL_RECORD(thing, THING);
PAWL_RECORD(inner, A_NAME);
PAWL_RECORD(by_name, A_NAME);
RECORD(by_number, (INT64, number));
RECORD(by_account, (INT64, account, .required = true));
RECORD(by_seat, (OPT_INT64, seat));
RECORD(by_uuid, (UUID, id));
RECORD(by_inner, (RECORD, inner, inner));
RECORD(counted, (INT32, nothing));
PAWL_RECORD(watch, A_NAME);

static world_log seen;

#define COUNT_IT(name)                                                                     \
    static pawl_code on_##name(pawl_context *ctx, const thing *state, const name *command) \
    {                                                                                      \
        (void)command;                                                                     \
        world_note(&seen, "%d", (int)state->count);                                        \
        return pawl_emit(ctx, PAWL_MESSAGE(counted, .nothing = 0));                        \
    }                                                                                      \
    PAWL_ENTITY_HANDLER(on_##name, thing, name)
COUNT_IT(by_name);
COUNT_IT(by_number);
COUNT_IT(by_account);
COUNT_IT(by_seat);
COUNT_IT(by_uuid);
COUNT_IT(by_inner);

static void apply_counted(thing *state, const counted *event)
{
    state->count++;
}
PAWL_APPLY(apply_counted, thing, counted);

static const pawl_entity thing_entity = {
    .name  = "Thing",
    .state = PAWL_RECORD_OF(thing),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_by_name), .key = "name"},
                     {.handle = PAWL_HANDLE(on_by_number), .key = "number"},
                     {.handle = PAWL_HANDLE(on_by_account), .key = "account"},
                     {.handle = PAWL_HANDLE(on_by_seat), .key = "seat"},
                     {.handle = PAWL_HANDLE(on_by_uuid), .key = "id"},
                     {.handle = PAWL_HANDLE(on_by_inner), .key = "inner.name"}),
    .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_counted))};

static pawl_code on_watch(pawl_context *ctx, const thing *state, const watch *message)
{
    if (pawl_text_equal(message->name, PAWL_TEXT("short")))
        return pawl_complete(ctx);
    return pawl_timeout(ctx, "over", PAWL_MINUTES(1));
}
PAWL_PROCESS_HANDLER(on_watch, thing, watch);

static pawl_code on_over(pawl_context *ctx, const thing *state)
{
    world_note(&seen, "over(%.*s)", PAWL_TEXT_ARGS(pawl_stream_in_flight(ctx)));
    return pawl_complete(ctx);
}
PAWL_PROCESS_TIMEOUT_HANDLER(on_over, thing);

static const pawl_process watch_process = {
    .name  = "Watch",
    .state = PAWL_RECORD_OF(thing),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_watch), .key = "name", .starts = true},
                     {.handle = PAWL_HANDLE(on_over), .timeout = "over"})};

static const pawl_application application =
    ONE_ENDPOINT("things", .name = "things", .entities = PAWL_ENTITIES(&thing_entity),
                 .processes = PAWL_PROCESSES(&watch_process));

static world *open_ordered(const char *url, const char *ordered)
{
    const pawl_endpoint_options options = {.delayed_retries = -1, .ordered = ordered};
    world_forget(&seen);
    return world_begin(url, &application, NULL, &options);
}

static world *open_world(const char *url)
{
    return open_ordered(url, NULL);
}

/* ---- What is found ------------------------------------------------------------------ */

ON_ALL_STORES(keys_of_all_kinds_become_text, const char *url)
{
    pawl_uuid id = {{0xab, 0xcd, 0xef}};
    world    *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(by_number, .number = -5));
    world_post(it, NULL, PAWL_MESSAGE(by_number, .number = INT64_MAX));
    world_post(it, NULL, PAWL_MESSAGE(by_uuid, .id = id));
    world_post(it, NULL, PAWL_MESSAGE(by_inner, .inner = {.name = PAWL_TEXT("deep")}));
    world_post(it, NULL, PAWL_MESSAGE(by_number, .number = 7));
    world_post(it, NULL, PAWL_MESSAGE(by_name, .name = PAWL_TEXT("7"))); /* the same one */
    LOG_AFTER(world_drain(it), seen, "0 0 0 0 0 1 ");
    assert_int_equal(world_events(it, "Thing/-5").count, 1);
    assert_int_equal(world_events(it, "Thing/9223372036854775807").count, 1);
    assert_int_equal(world_events(it, "Thing/abcdef00-0000-0000-0000-000000000000").count, 1);
    assert_int_equal(world_events(it, "Thing/deep").count, 1);
    assert_int_equal(world_events(it, "Thing/7").count, 2);
}

ON_ALL_STORES(a_key_is_compared_byte_by_byte, const char *url)
{
    static const char *const names[] = {"a",         "A",         "a ",
                                        "a/b/c",     "a/b",       "/",
                                        "%s",        "a'b\"c\\d", "Ünï 漢字 \xf0\x9f\x90\xbe",
                                        "u\xcc\x88", "\xc3\xbc"};
    const size_t             count   = COUNT(names);
    char                     stream[100];
    world                   *it = open_world(url);
    for (int i = 0; i < 2; i++) /* a batch, then each loaded again */
        for (size_t j = 0; j < count; j++)
            world_post(it, NULL, PAWL_MESSAGE(by_name, .name = pawl_text_of(names[j])));
    world_drain(it);
    for (size_t j = 0; j < count; j++)
        world_post(it, NULL, PAWL_MESSAGE(by_name, .name = pawl_text_of(names[j])));
    world_drain(it);
    for (size_t j = 0; j < count; j++) {
        snprintf(stream, sizeof stream, "Thing/%s", names[j]);
        if (world_events(it, stream).count != 3)
            fail_msg("%s has %zu events", stream, world_events(it, stream).count);
    }
    assert_int_equal(world_dead(it).count, 0);
}

ON_ALL_STORES(timeouts_find_keys_of_all_kinds, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(watch, .name = PAWL_TEXT("a/b\"ü")));
    world_drain(it);
    LOG_AFTER(world_go(it, PAWL_MINUTES(1)), seen, "over(Watch/a/b\"ü) ");
    assert_int_equal(world_events(it, "Watch/a/b\"ü").count, 2);
}

/* Where JSON says whether it has the property, 0 is a number like others. */
ON_ALL_STORES(zero_is_a_key_where_it_cannot_be_a_missing_value, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(by_account, .account = 0));
    world_post(it, NULL, PAWL_MESSAGE(by_seat, .seat = {.is_set = true, .value = 0}));
    LOG_AFTER(world_drain(it), seen, "0 1 ");
    assert_int_equal(world_events(it, "Thing/0").count, 2);
    assert_int_equal(world_dead(it).count, 0);
    world_post_json(it, NULL, "by_account", "{}");
    world_post(it, NULL, PAWL_MESSAGE(by_seat, .seat = {.is_set = false}));
    world_post(it, NULL, PAWL_MESSAGE(by_number, .number = 0));
    world_drain(it);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 3);
    assert_true(world_says(dead.items[0].error, "account: required, but it is missing"));
    assert_true(world_says(dead.items[1].error, "property 'seat' is "));
    assert_true(world_says(dead.items[2].error, "property 'number' is 0"));
    assert_string_equal(seen.text, "0 1 ");
}

/* Neither in the batch that ended it nor in another. */
ON_ALL_STORES(what_is_over_does_not_begin_again, const char *url)
{
    world *it = open_world(url);
    for (int i = 0; i < 2; i++) {
        world_post(it, NULL, PAWL_MESSAGE(watch, .name = PAWL_TEXT("short")));
        world_post(it, NULL, PAWL_MESSAGE(watch, .name = PAWL_TEXT("short")));
        world_drain(it);
    }
    assert_int_equal(world_events(it, "Watch/short").count, 1);
    assert_int_equal(world_queue(it, "things").count, 0);
    assert_int_equal(world_dead(it).count, 0);
}

/* ---- What is refused ------------------------------------------------------------------- */

static void expect_dead(world *it, const char *says)
{
    world_drain(it);
    pawl_dead_row dead = world_dead_letter(it);
    if (!world_says(dead.error, says))
        fail_msg("'%s' does not say '%s'", dead.error.data, says);
    assert_string_equal(seen.text, "");
}

ON_ALL_STORES(a_stream_has_at_most_200_bytes, const char *url)
{
    char   longest[195 + 1];
    world *it = open_world(url);
    /* In characters it is shorter: bytes count. */
    for (size_t i = 0; i < 194; i += 2)
        memcpy(longest + i, "\xc3\xbc", 3);
    const char *stream = test_text("Thing/%s", longest);
    assert_int_equal(strlen(stream), PAWL_STREAM_SIZE_MAX);
    world_post(it, NULL, PAWL_MESSAGE(by_name, .name = pawl_text_of(longest)));
    world_drain(it);
    assert_int_equal(world_events(it, stream).count, 1);
    world_forget(&seen);
    strcat(longest, "x");
    world_post(it, NULL, PAWL_MESSAGE(by_name, .name = pawl_text_of(longest)));
    expect_dead(it, "makes a stream's name of 201 bytes, the limit is 200");
}

ON_ALL_STORES(an_empty_key_is_refused, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(by_name, .name = PAWL_TEXT("")));
    expect_dead(it, "entity Thing: property 'name' is");
}

ON_ALL_STORES(no_key_is_refused, const char *url)
{
    world *it = open_world(url);
    world_post_json(it, NULL, "by_inner", "{}");
    expect_dead(it, "entity Thing: property 'inner.name' is");
}

/* Such messages have no key by which they are in order, and keep no others from being handled. */
ON_ALL_STORES(e26_no_key_is_refused_in_an_ordered_endpoint, const char *url)
{
    static const char *const bodies[] = {"{}", "{\"name\":null}", "{\"name\":\"\"}"};
    static const char *const types[]  = {"by_name", "by_inner", "by_number", "by_uuid", "watch"};
    static const char *const orders[] = {PAWL_ORDERED_BY_SAGA, "property:name"};
    world_hold(url);
    for (size_t order = 0; order < COUNT(orders); order++) {
        world *it = open_ordered(url, orders[order]);
        for (size_t i = 0; i < COUNT(bodies) * COUNT(types); i++)
            world_post_json(it, NULL, types[i / COUNT(bodies)], bodies[i % COUNT(bodies)]);
        world_post(it, NULL, PAWL_MESSAGE(by_name, .name = PAWL_TEXT("a")));
        world_drain(it);
        assert_int_equal(world_events(it, "Thing/a").count, order + 1);
        assert_int_equal(world_queue(it, "things").count, 0);
        world_close(it);
    }
}

/* Else it would be cut there, and be another's. */
ON_ALL_STORES(a_key_with_a_nul_is_refused, const char *url)
{
    world *it = open_world(url);
    world_post_json(it, NULL, "by_name", "{\"name\":\"a\\u0000b\"}");
    expect_dead(it, "name");
    assert_int_equal(world_events(it, "Thing/a").count, 0);
}
