/* test_engine_aggregator_base.c - an aggregator over a base type collects messages of
 * the types derived from it. E9, A10.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#define READING(F)  \
    F(TEXT, sensor) \
    F(INT32, value)
PAWL_RECORD(reading, READING);
RECORD_WITH(warm_reading, ((TEXT, sensor), (INT32, value), (TEXT, unit)),
            .base = PAWL_RECORD_OF(reading));
RECORD_WITH(hot_reading, ((TEXT, sensor), (INT32, value), (INT32, alarm)),
            .base = PAWL_RECORD_OF(warm_reading));

static world_log seen;

static void note(pawl_context *ctx, const reading *messages, size_t count)
{
    char      text[200] = "";
    size_t    size      = 0;
    pawl_text partition = pawl_partition_in_flight(ctx);
    for (size_t i = 0; i < count; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, i > 0 ? ",%d" : "%d",
                                 messages[i].value);
    world_note(&seen, "%.*s(%s)", PAWL_TEXT_ARGS(partition), text);
}

static pawl_code on_readings(pawl_context *ctx, const reading *messages, size_t count)
{
    note(ctx, messages, count);
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_readings, reading);

static pawl_code on_hot(pawl_context *ctx, const hot_reading *message)
{
    world_note(&seen, "hot(%d)", message->value);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_hot, hot_reading);

static const pawl_aggregator by_sensor = {
    .name = "BySensor", .handle = PAWL_HANDLE(on_readings), .key = "sensor", .size = 3};
static const pawl_aggregator by_minute = {
    .name = "ByMinute", .handle = PAWL_HANDLE(on_readings), .period = PAWL_SECONDS(60)};

/* Of the derived types it knows the hot one; of the warm one it hears by its header. */

static const pawl_application application =
    ONE_ENDPOINT("readings", .name = "meter", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_hot)}),
                 .aggregators = PAWL_AGGREGATORS(&by_sensor, &by_minute));

static world *open_world(const char *url)
{
    world_forget(&seen);
    return world_begin(url, &application, NULL, NULL);
}

/* ---- Derived messages ----------------------------------------------------------- */

static void post_three(world *it)
{
    world_post(it, "m-1", PAWL_MESSAGE(reading, .sensor = PAWL_TEXT("s"), .value = 1));
    world_post(
        it, "m-2",
        PAWL_MESSAGE(warm_reading, .sensor = PAWL_TEXT("s"), .value = 2, .unit = PAWL_TEXT("C")));
    world_post(it, "m-3",
               PAWL_MESSAGE(hot_reading, .sensor = PAWL_TEXT("s"), .value = 3, .alarm = 1));
}

ON_ALL_STORES(e9_an_aggregator_takes_derived_messages_by_size, const char *url)
{
    world *it = open_world(url);
    post_three(it);
    LOG_AFTER(world_drain(it), seen, "hot(3) BySensor/s(1,2,3) ");
    assert_int_equal(world_aggregated(it, "BySensor/s", "reading").all, 0);
}

ON_ALL_STORES(e9_an_aggregator_takes_derived_messages_by_period, const char *url)
{
    world *it = open_world(url);
    post_three(it);
    world_drain(it);
    world_forget(&seen);
    LOG_AFTER(world_go(it, PAWL_SECONDS(60)), seen, "ByMinute(1,2,3) ");
    assert_int_equal(world_aggregated(it, "ByMinute", "reading").all, 0);
}

/* The message's type, and all of its body, is there for a reader of the rows. */
ON_ALL_STORES(a_row_keeps_the_type_that_its_message_came_as, const char *url)
{
    pawl_leased_batch rows = {.count = 0};
    world            *it   = open_world(url);
    post_three(it);
    world_drain(it);
    must(pawl_store_aggregator_get(it->store, PAWL_TEXT("ByMinute"), it->arena, &rows,
                                   world_error()));
    assert_int_equal(rows.count, 3);
    for (size_t i = 0; i < rows.count; i++)
        assert_true(pawl_text_equal(rows.items[i].message.type, PAWL_TEXT("reading")));
    assert_false(world_says(rows.items[0].message.headers, "pawl.type"));
    assert_true(world_says(rows.items[1].message.headers, "\"pawl.type\":\"warm_reading\""));
    assert_true(world_says(rows.items[1].message.headers, "\"pawl.base\":\"reading\""));
    assert_true(world_says(rows.items[1].message.body, "\"unit\":\"C\""));
    assert_true(world_says(rows.items[2].message.headers, "\"pawl.type\":\"hot_reading\""));
}

/* Headers that leave no room for one more are kept as they are. */
ON_ALL_STORES(a_derived_message_with_full_headers_is_taken, const char *url)
{
    static char       long_value[PAWL_HEADERS_SIZE_MAX];
    pawl_leased_batch rows      = {.count = 0};
    const pawl_header headers[] = {{"note", long_value}, {"pawl.base", "reading"}, {NULL, NULL}};
    world            *it        = open_world(url);
    memset(long_value, 'x', sizeof long_value - strlen("{'note':'','pawl.base':'reading'}"));
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it), .headers = headers};
    must(pawl_sender_send_json(it->sender, "meter", &options, "warm_reading",
                               PAWL_TEXT("{\"sensor\":\"s\",\"value\":7}"), world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    world_drain(it);
    assert_int_equal(world_dead(it).count, 0);
    must(pawl_store_aggregator_get(it->store, PAWL_TEXT("ByMinute"), it->arena, &rows,
                                   world_error()));
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].message.headers.size, PAWL_HEADERS_SIZE_MAX);
    LOG_AFTER(world_go(it, PAWL_SECONDS(60)), seen, "ByMinute(7) ");
}

/* ---- Rows of older programs -------------------------------------------------------- */

static void add_row(world *it, const char *id, const char *type, int value)
{
    pawl_aggregator_add add = {.name      = PAWL_TEXT("BySensor"),
                               .partition = PAWL_TEXT("BySensor/s"),
                               .key       = pawl_text_of(id),
                               .message   = {.id = pawl_text_of(id), .type = pawl_text_of(type)},
                               .at        = WORLD_START,
                               .due       = PAWL_TIME_MAX};
    add.message.body        = pawl_text_of(test_text("{\"sensor\":\"s\",\"value\":%d}", value));
    pawl_changes changes    = {ONE_UNIT, .now = WORLD_START,
                               .aggregator_add = {.items = &add, .count = 1}};
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
}

/* Rows are stored as the type that they came as; a row of a type that nobody here knows stays
 * (A10). */
ON_ALL_STORES(a10_rows_stored_as_a_derived_type_are_handed_over, const char *url)
{
    world *it = open_world(url);
    add_row(it, "x-1", "hot_reading", 1);
    add_row(it, "x-2", "hot_reading", 2);
    add_row(it, "x-3", "cold_reading", 3);
    LOG_AFTER(world_drain(it), seen, "");
    world_post(it, NULL, PAWL_MESSAGE(reading, .sensor = PAWL_TEXT("s"), .value = 4));
    LOG_AFTER(world_drain(it), seen, "BySensor/s(1,2,4) ");
    assert_int_equal(world_aggregated(it, "BySensor/s", "cold_reading").all, 1);
}

/* Not a word for each look, but one an hour. */
ON_ALL_STORES(a10_rows_that_stay_are_spoken_of, const char *url)
{
    world            *it = open_world(url);
    static test_lines lines;
    test_listen(&lines, PAWL_LOG_WARNING, "BySensor/s: 1 of its 2 rows are of types");
    add_row(it, "x-1", "hot_reading", 1);
    world_go_machine(it, PAWL_SECONDS(10));
    assert_int_equal(lines.count, 0);
    add_row(it, "x-2", "cold_reading", 2);
    world_go_machine(it, PAWL_MINUTES(1));
    assert_int_equal(lines.count, 1);
    for (int i = 0; i < 6; i++)
        world_go_machine(it, PAWL_MINUTES(10) - 1);
    assert_int_equal(lines.count, 1);
    world_go_machine(it, PAWL_MINUTES(1));
    assert_int_equal(lines.count, 2);
    world_quiet();
}
