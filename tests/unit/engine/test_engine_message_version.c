/* test_engine_message_version.c - messages in queues, aggregators, the outbox and dead letters,
 * written by another version of their record: brought up by its function, or waiting for a
 * program that reads them, never dying of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/headers.h"
#include "support/world.h"

#include "runtime/runtime.h"

#include <time.h>

static world_log seen;

/* ---- Two programs ------------------------------------------------------------- */

/* Version 1 counts dozens, version 2 pieces. A box is a parcel, in both. */
RECORD_WITH(old_parcel, ((TEXT, name), (INT64, dozens)), .type = "parcel");
RECORD_WITH(old_box, ((TEXT, name), (INT64, dozens), (INT32, lid)), .type = "box",
            .base = PAWL_RECORD_OF(old_parcel));

static int upcasts;

static pawl_code upcast_parcel(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                               pawl_error *error)
{
    old_parcel was;
    upcasts++;
    if (version != 1)
        return pawl_error_set(error, PAWL_EBUG, "version %d", version);
    pawl_code code = pawl_record_decode(PAWL_RECORD_OF(old_parcel)(), json, 0, arena, &was, error);
    if (code == PAWL_OK)
        *upcast = pawl_arena_printf(arena, "{\"name\":\"%s\",\"pieces\":%d}", was.name.data,
                                    (int)was.dozens * 12);
    return code;
}
RECORD_WITH(parcel, ((TEXT, name), (INT64, pieces)), .version = 2, .upcast = upcast_parcel);
RECORD_WITH(box, ((TEXT, name), (INT64, pieces), (INT32, lid)), .version = 3,
            .base = PAWL_RECORD_OF(parcel));
/* A program that lost its way back. */
RECORD_WITH(lost_parcel, ((TEXT, name), (INT64, pieces)), .type = "parcel", .version = 2);

static bool is_refused;

#define PROGRAM(program, of_message, member)                                            \
    static pawl_code program##_on(pawl_context *ctx, const of_message *message)         \
    {                                                                                   \
        (void)ctx;                                                                      \
        world_note(&seen, #program "(%.*s %d)", PAWL_TEXT_ARGS(message->name),          \
                   (int)message->member);                                               \
        return is_refused ? PAWL_REJECT : PAWL_OK;                                      \
    }                                                                                   \
    PAWL_MESSAGE_HANDLER(program##_on, of_message);                                     \
    static const pawl_endpoint_spec program##_endpoint = {                              \
        .name = "parcels", .handlers = PAWL_ON({.handle = PAWL_HANDLE(program##_on)})}; \
    static const pawl_application program = {PAWL_APPLICATION_HEAD, .name = "parcels",  \
                                             .endpoints = PAWL_ENDPOINTS(&program##_endpoint)}
PROGRAM(old, old_parcel, dozens);
PROGRAM(new, parcel, pieces);
PROGRAM(lost, lost_parcel, pieces);

/* The last line about a message that waits. */
static char said[1000];
static int  lines;

static void keep_line(pawl_log_level level, const char *text, void *context)
{
    if (strstr(text, "queue parcels: parcel waits") == NULL &&
        strstr(text, "queue parcels: box waits") == NULL)
        return;
    snprintf(said, sizeof said, "%s", text);
    lines++;
}

static void begin(const char *url)
{
    world_hold(url);
    upcasts    = 0;
    is_refused = false;
    said[0]    = '\0';
    lines      = 0;
    world_forget(&seen);
}

static world *open_with(const char *url, const pawl_application *program)
{
    world *it = world_begin(url, program, NULL, NULL);
    /* The ids are made of the seed and the time. */
    static int64_t opened;
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(++opened));
    return it;
}

static void post_old(world *it, const char *id)
{
    world_post(it, id, PAWL_MESSAGE(old_parcel, .name = PAWL_TEXT("a"), .dozens = 2));
}

static void post_new(world *it, const char *id)
{
    world_post(it, id, PAWL_MESSAGE(parcel, .name = PAWL_TEXT("b"), .pieces = 5));
}

/* A program takes what lies in the queue, after the longest version_delay. */
static void handle_with(const char *url, const pawl_application *program, const char *expected)
{
    world_forget(&seen);
    world *it = open_with(url, program);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(12)), seen, expected);
    assert_int_equal(world_queue(it, "parcels").count, 0);
    assert_int_equal(world_dead(it).count, 0);
    world_close(it);
}

/* The one message of the queue waits: uncounted, not for a saga. */
static void waits(world *it, const char *why)
{
    pawl_queue_row rows = world_queue_row(it, "parcels");
    assert_int_equal(rows.attempts, 0);
    assert_int_equal(rows.waiting_since, 0);
    assert_in_range(rows.due - world_now(it), 1, PAWL_SECONDS(11));
    assert_non_null(strstr(said, why));
    assert_int_equal(world_dead(it).count, 0);
}

static int64_t unread(const world *it)
{
    return atomic_load(&it->endpoint->metrics.slots[PAWL__SLOT_UNREAD]);
}

/* ---- Queues --------------------------------------------------------------------- */

ON_ALL_STORES(a_message_of_version_1_has_no_header, const char *url)
{
    begin(url);
    world *it = open_with(url, &new);
    post_old(it, "1");
    post_new(it, "2");
    pawl_queue_rows rows = world_queue(it, "parcels");
    assert_int_equal(rows.items[0].message.headers.size, 0);
    assert_string_equal(rows.items[1].message.headers.data, "{\"pawl.version\":\"2\"}");
}

ON_ALL_STORES(an_older_message_is_brought_up, const char *url)
{
    begin(url);
    world *it = open_with(url, &old);
    post_old(it, NULL);
    world_post_json(it, NULL, "parcel", "{\"name\":\"c\",\"dozens\":3}"); /* of any producer */
    post_new(it, NULL);
    world_close(it);
    handle_with(url, &new, "new(a 24) new(c 36) new(b 5) ");
    assert_int_equal(upcasts, 2);
}

ON_ALL_STORES(a_newer_message_waits_for_its_program, const char *url)
{
    begin(url);
    world *it = open_with(url, &old);
    post_new(it, NULL);
    post_old(it, NULL); /* is not held up */
    LOG_AFTER(world_drain(it), seen, "old(a 2) ");
    waits(it, "parcel of version 2: this program has version 1 and no way back");
    assert_in_range(world_queue(it, "parcels").items[0].due - world_now(it), PAWL_SECONDS(9),
                    PAWL_SECONDS(11));
    assert_int_equal(unread(it), 1);
    for (int i = 0; i < 12; i++) /* more often than it would be retried */
        world_go_both(it, PAWL_SECONDS(11));
    waits(it, "parcel of version 2");
    assert_in_range(unread(it), 12, 16);
    assert_int_equal(world_stats(it).counters.failures, 0);
    pawl_time later = world_now(it);
    world_close(it);
    world_forget(&seen);
    it = open_with(url, &new);
    pawl_clock_set(it->business, later);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(12)), seen, "new(b 5) ");
}

ON_ALL_STORES(an_older_message_without_an_upcaster_waits_too, const char *url)
{
    begin(url);
    world *it = open_with(url, &lost);
    post_old(it, NULL);
    world_drain(it);
    waits(it, "parcel of version 1: this program has version 2 and no upcast from older ones");
    world_close(it);
    handle_with(url, &new, "new(a 24) ");
}

static void send_with_version(world *it, const char *version)
{
    const pawl_header headers[] = {{"pawl.version", version}, {NULL, NULL}};
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .headers = headers, .due = world_now(it)};
    must(pawl_sender_send_json(it->sender, "parcels", &options, "parcel",
                               PAWL_TEXT("{\"name\":\"d\",\"pieces\":7,\"more\":1}"),
                               world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    world_drain(it);
}

ON_ALL_STORES(any_minor_version_is_read, const char *url)
{
    begin(url);
    world *it = open_with(url, &new);
    send_with_version(it, "2");
    send_with_version(it, "2.17");
    send_with_version(it, "2.0.1,9");
    assert_string_equal(seen.text, "new(d 7) new(d 7) new(d 7) ");
}

ON_ALL_STORES(what_is_no_version_is_a_dead_letter, const char *url)
{
    static const char *const odd[] = {"v2", "0", "-2", "2x", "2.x", "1234567890", " 2", "."};
    begin(url);
    world *it = open_with(url, &new);
    for (size_t i = 0; i < COUNT(odd); i++) {
        send_with_version(it, odd[i]);
        assert_int_equal(world_dead(it).count, i + 1);
    }
    pawl_dead_rows dead = world_dead(it);
    for (size_t i = 0; i < dead.count; i++) {
        assert_string_equal(dead.items[i].code.data, "EDECODE");
        assert_true(world_says(dead.items[i].error, "is not a version"));
    }
    assert_string_equal(seen.text, "");
}

/* ---- Base types ------------------------------------------------------------------- */

ON_ALL_STORES(a_base_type_has_its_own_version, const char *url)
{
    begin(url);
    world *it = open_with(url, &new);
    world_post(it, NULL, PAWL_MESSAGE(old_box, .name = PAWL_TEXT("a"), .dozens = 1, .lid = 4));
    world_post(it, NULL, PAWL_MESSAGE(box, .name = PAWL_TEXT("b"), .pieces = 5));
    pawl_text headers = world_queue(it, "parcels").items[1].message.headers;
    assert_string_equal(headers.data, "{\"pawl.base\":\"parcel\",\"pawl.version\":\"3,2\"}");
    LOG_AFTER(world_drain(it), seen, "new(a 12) new(b 5) ");
    assert_int_equal(upcasts, 1);
}

#define BASES 30000 /* as many as fit into headers */

/* Each base type is looked at once, so that a message with very many takes no longer than its batch has time. */
TEST(many_base_types_are_read_once)
{
    static char        text[2 * BASES + 100];
    size_t             size  = (size_t)sprintf(text, "{\"pawl.version\":\"2,3\",\"pawl.base\":\"");
    pawl_arena        *arena = test_arena();
    const pawl_message sent  = {.type = PAWL_TEXT("parcel"), .headers = {.data = text}};
    pawl_message       message = sent;
    int                version = 0;
    for (size_t i = 0; i < BASES; i++)
        size += (size_t)sprintf(&text[size], "a,");
    size += (size_t)sprintf(&text[size], "box\"}");
    message.headers.size = size;
    clock_t start        = clock(); /* of this process alone */
    must(pawl__version_of(&message, PAWL_TEXT("parcel"), arena, &version, world_error()));
    assert_int_equal(version, 2);
    must(pawl__version_of(&message, PAWL_TEXT("a"), arena, &version, world_error()));
    assert_int_equal(version, 3);
    must(pawl__version_of(&message, PAWL_TEXT("box"), arena, &version, world_error()));
    assert_int_equal(version, 1);
    assert_true(clock() - start < CLOCKS_PER_SEC / 2);
}

ON_ALL_STORES(a_newer_base_type_waits, const char *url)
{
    begin(url);
    world *it = open_with(url, &old);
    world_post(it, NULL, PAWL_MESSAGE(box, .name = PAWL_TEXT("b"), .pieces = 5));
    world_drain(it);
    waits(it, "parcel of version 2");
    world_close(it);
    handle_with(url, &new, "new(b 5) ");
}

/* ---- Dead letters and the outbox ---------------------------------------------------- */

static void retry_letter(world *it)
{
    pawl_dead_row   dead    = world_dead(it).items[0];
    pawl_changes    again   = {ONE_UNIT, .now = world_now(it)};
    pawl_refusals   refused = {.arena = it->arena};
    pawl_dead_set   remove  = {.is_remove = true,
                               .endpoint  = dead.endpoint,
                               .queue     = dead.queue,
                               .message   = dead.message,
                               .at        = world_now(it)};
    pawl_queue_send send    = {.queue = dead.queue, .message = dead.message, .due = world_now(it)};
    again.dead_set.items    = &remove;
    again.dead_set.count    = 1;
    again.queue_send.items  = &send;
    again.queue_send.count  = 1;
    must(pawl_store_commit(it->store, &again, &refused, world_error()));
}

ON_ALL_STORES(a_letter_keeps_its_version, const char *url)
{
    begin(url);
    is_refused = true;
    world *it  = open_with(url, &old);
    post_old(it, NULL);
    world_drain(it);
    retry_letter(it);
    world_close(it);
    is_refused = false;
    handle_with(url, &new, "new(a 24) ");
    is_refused = true;
    it         = open_with(url, &new);
    post_new(it, NULL);
    world_drain(it);
    retry_letter(it);
    world_forget(&seen);
    world_close(it);
    is_refused = false;
    it         = open_with(url, &old);
    LOG_AFTER(world_drain(it), seen, "");
    waits(it, "parcel of version 2");
}

PAWL_RECORD(go, A_NUMBER);

static pawl_code on_go(pawl_context *ctx, const go *message)
{
    return pawl_send(ctx, "far", PAWL_MESSAGE(parcel, .name = PAWL_TEXT("b"), .pieces = 5));
}
PAWL_MESSAGE_HANDLER(on_go, go);

static const pawl_application sender = ONE_ENDPOINT(
    "sender", .name = "sender", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_go)}),
    .options = PAWL_OPTIONS(.routes = PAWL_ROUTES(
                                {.name = "far", .queue = "parcels", .is_outbox = true})));

ON_ALL_STORES(an_outbox_row_carries_its_version, const char *url)
{
    begin(url);
    world *it = open_with(url, &sender);
    world_post(it, NULL, PAWL_MESSAGE(go, .number = 1));
    world_drain(it);
    world_go_both(it, PAWL_SECONDS(2));
    assert_int_equal(world_queue(it, "parcels").count, 1);
    world_close(it);
    it = open_with(url, &old);
    world_go_both(it, PAWL_SECONDS(3));
    waits(it, "parcel of version 2");
}

/* ---- Timeouts for elsewhere --------------------------------------------------------- */

/* Headers that tell of the body of the message that set it tell nothing of the timeout's. */
ON_ALL_STORES(e13_a_timeout_has_no_version_of_another_body, const char *url)
{
    pawl_timeout_row row = {.id             = {{{1}}},
                            .saga_id        = {{{2}}},
                            .saga_type      = PAWL_TEXT("Van"),
                            .name           = PAWL_TEXT("remind"),
                            .destination    = PAWL_TEXT("vans"),
                            .due            = WORLD_START + PAWL_SECONDS(1),
                            .correlation_id = PAWL_TEXT("talk-1")};
    row.headers = PAWL_TEXT("{\"pawl.base\":\"box\",\"pawl.version\":\"3\",\"tenant\":\"t1\"}");
    begin(url);
    world *it = open_with(url, &new);
    must(pawl_store_timeout_insert(it->store, &row, pawl_clock_now(it->machine), world_error()));
    world_go(it, PAWL_SECONDS(2));
    pawl_text headers = world_queue(it, "vans").items[0].message.headers;
    assert_true(world_says(headers, "\"tenant\":\"t1\""));
    assert_false(world_says(headers, "pawl.base"));
    assert_false(world_says(headers, "pawl.version"));
}

/* ---- Aggregators ----------------------------------------------------------------------- */

#define COLLECTOR(program, of_message, member)                                                   \
    static pawl_code program##_collect(pawl_context *ctx, const of_message *messages,            \
                                       size_t count)                                             \
    {                                                                                            \
        (void)ctx;                                                                               \
        for (size_t i = 0; i < count; i++)                                                       \
            world_note(&seen, #program "(%d)", (int)messages[i].member);                         \
        return PAWL_OK;                                                                          \
    }                                                                                            \
    PAWL_BATCH_HANDLER(program##_collect, of_message);                                           \
    static const pawl_aggregator program##_pile = {                                              \
        .name = "Pile", .handle = PAWL_HANDLE(program##_collect), .size = 3, .attempts_max = 1}; \
    static const pawl_endpoint_spec program##_collectors = {                                     \
        .name = "parcels", .aggregators = PAWL_AGGREGATORS(&program##_pile)};                    \
    static const pawl_application program##_collecting = {                                       \
        PAWL_APPLICATION_HEAD, .name = "parcels",                                                \
        .endpoints = PAWL_ENDPOINTS(&program##_collectors)}
COLLECTOR(old, old_parcel, dozens);
COLLECTOR(new, parcel, pieces);

static void post_boxes(world *it)
{
    world_post(it, NULL, PAWL_MESSAGE(old_box, .name = PAWL_TEXT("a"), .dozens = 1));
    world_post(it, NULL, PAWL_MESSAGE(box, .name = PAWL_TEXT("b"), .pieces = 5));
    world_drain(it);
}

/* A program that knows what a box is needs no pawl.base to collect it. */
IDLE_MESSAGE_HANDLER(on_box, box);

static const pawl_endpoint_spec box_collectors = {.name = "parcels",
                                                  .handlers =
                                                      PAWL_ON({.handle = PAWL_HANDLE(on_box)}),
                                                  .aggregators = PAWL_AGGREGATORS(&new_pile)};
static const pawl_application   box_collecting = APPLICATION("parcels", &box_collectors);

/* The version of the box is not that of the parcel, which the message says nothing of. */
ON_ALL_STORES(a_row_has_the_version_of_its_own_type, const char *url)
{
    const pawl_header headers[] = {{"pawl.version", "3"}, {NULL, NULL}};
    pawl_send_options options   = {PAWL_SEND_OPTIONS_HEAD, .headers = headers};
    begin(url);
    world *it   = open_with(url, &box_collecting);
    options.due = world_now(it);
    for (int i = 0; i < 3; i++)
        must(pawl_sender_send_json(it->sender, "parcels", &options, "box",
                                   PAWL_TEXT("{\"name\":\"a\",\"dozens\":1}"), world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    LOG_AFTER(world_drain(it), seen, "new(12) new(12) new(12) ");
}

ON_ALL_STORES(an_aggregator_brings_up_each_of_its_rows, const char *url)
{
    begin(url);
    world *it = open_with(url, &new_collecting);
    post_boxes(it);
    upcasts = 0;
    post_old(it, NULL);
    LOG_AFTER(world_drain(it), seen, "new(12) new(5) new(24) ");
}

ON_ALL_STORES(a_flush_with_a_newer_row_waits, const char *url)
{
    begin(url);
    world *it = open_with(url, &new_collecting);
    post_boxes(it);
    world_close(it);
    it = open_with(url, &old_collecting);
    post_old(it, NULL);
    for (int i = 0; i < 15; i++) /* one failure is the most that a partition may have */
        world_go_both(it, PAWL_SECONDS(11));
    assert_string_equal(seen.text, "");
    assert_int_equal(world_aggregated(it, "Pile", "parcel").all, 3);
    assert_int_equal(world_aggregated(it, "Pile", "parcel").flush_attempts, 1);
    assert_int_equal(world_stats(it).flushes_dead, 0);
    int64_t count = unread(it);
    assert_in_range(count, 10, 20);
    world_go_both(it, PAWL_HOURS(1)); /* a clock that jumps brings it back once */
    assert_int_equal(unread(it), count + 1);
    pawl_time later = world_now(it);
    world_close(it);
    it = open_with(url, &new_collecting);
    pawl_clock_set(it->business, later);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(12)), seen, "new(12) new(5) new(24) ");
}

/* ---- The log --------------------------------------------------------------------- */

/* The log is the same whatever the store. */
ON_STORES(the_log_names_a_type_once_a_minute, const char *url)
{
    begin(url);
    world *it = open_with(url, &old);
    for (int i = 0; i < 3; i++)
        post_new(it, NULL);
    world_drain(it);
    world_go_both(it, PAWL_SECONDS(11));
    assert_int_equal(unread(it), 6);
    assert_int_equal(lines, 1);
    world_go_both(it, PAWL_SECONDS(60));
    assert_int_equal(lines, 2);
}

int main(void)
{
    pawl_log_set(keep_line, PAWL_LOG_WARNING, NULL);
    return tests_run(NULL, NULL);
}
