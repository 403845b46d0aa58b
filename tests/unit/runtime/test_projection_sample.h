/* test_projection_sample.h - the projections that the tests share, and what they do.
 *
 * Events are appended by hand, so that each test says which stand where; one endpoint
 * has an entity make them. `plan` says what the handlers do, `seen` what they saw.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_UNIT_PROJECTION_SAMPLE_H
#define PAWL_TESTS_UNIT_PROJECTION_SAMPLE_H

#include "support/native.h"
#include "support/world.h"

#include "pawl/process.h"

#include <time.h>

PAWL_RECORD(noted, A_NUMBER);
RECORD(notice, (INT32, number), (INT64, position));

/* Version 1 was called "name". */
#define RENAMED(F) F(TEXT, title)
static pawl_code upcast_renamed(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                                pawl_error *error)
{
    *upcast = pawl_arena_printf(arena, "{\"title\":\"upcast %zu\"}", json.size);
    return upcast->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}
PAWL_RECORD_WITH(renamed, RENAMED, .version = 2, .upcast = upcast_renamed);

static world_log seen;
static struct {
    int         fails; /* the event of this number, so often; -1: always */
    int         number;
    int         adds; /* to the numbers that are sent */
    pawl_code   code;
    int64_t     delay; /* that PAWL_RETRY_AFTER asks for */
    bool        sends, publishes, writes, discards_odd;
    pawl_clock *slowed; /* by a minute with each failure; or NULL */
    const char *destination;
    const char *url;  /* of the rows to write */
    const char *ends; /* the event of `number`: SQL that ends the transaction */
} plan;

static inline pawl_code fail_if_planned(pawl_context *ctx, int number)
{
    if (plan.discards_odd && number % 2 == 1)
        return PAWL_DISCARD;
    if (plan.fails == 0 || number != plan.number)
        return PAWL_OK;
    plan.fails -= plan.fails > 0;
    world_note(&seen, "fail(%d,%d)", number, (int)pawl_attempts(ctx));
    if (plan.slowed != NULL)
        pawl_clock_set(plan.slowed, pawl_clock_now(plan.slowed) + PAWL_MINUTES(1));
    if (plan.code == PAWL_DISCARD)
        return PAWL_DISCARD;
    if (plan.code == PAWL_RETRY_AFTER)
        return pawl_retry_after(ctx, plan.delay);
    return pawl_fail(ctx, plan.code, "number %d is not wanted", number);
}

/* A row of the test's own, on the store of the plan. */
static inline void write_row(pawl_context *ctx, int number)
{
    assert_int_equal(
        native_in(ctx, plan.url, test_text("insert into {own_rows} values (%d)", number)), PAWL_OK);
}

static pawl_code on_noted(pawl_context *ctx, const noted *event)
{
    const pawl_event_row *row = pawl_event_in_flight(ctx);
    assert_non_null(row);
    assert_true(row->position > 0);
    if (plan.writes)
        write_row(ctx, event->number);
    if (plan.ends != NULL && event->number == plan.number)
        assert_int_equal(native_in(ctx, plan.url, plan.ends), PAWL_OK);
    if (plan.sends)
        (void)pawl_send(
            ctx, plan.destination != NULL ? plan.destination : "out",
            PAWL_MESSAGE(notice, .number = event->number + plan.adds, .position = row->position));
    if (plan.publishes)
        (void)pawl_publish(ctx, PAWL_MESSAGE(notice, .number = -event->number));
    pawl_code code = fail_if_planned(ctx, event->number);
    if (code != PAWL_OK)
        return code;
    world_note(&seen, "%.*s.%d=%d", PAWL_TEXT_ARGS(row->stream), (int)row->version,
               (int)event->number);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_noted, noted);

static pawl_code on_renamed(pawl_context *ctx, const renamed *event)
{
    world_note(&seen, "%.*s", PAWL_TEXT_ARGS(event->title));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_renamed, renamed);

static pawl_code on_notice(pawl_context *ctx, const notice *message)
{
    assert_null(pawl_event_in_flight(ctx));
    world_note(&seen, "heard(%d)", (int)message->number);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_notice, notice);

static const pawl_projection names = {
    .name = "names",
    .on   = PAWL_ON({.handle = PAWL_HANDLE(on_noted)}, {.handle = PAWL_HANDLE(on_renamed)})};
static const pawl_projection small_names = {
    .name  = "names",
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_noted)}, {.handle = PAWL_HANDLE(on_renamed)}),
    .batch = 3};
static const pawl_projection own_names = {
    .name = "names", .on = PAWL_ON({.handle = PAWL_HANDLE(on_noted)}), .own_sql = true};
static const pawl_projection titles = {.name = "titles",
                                       .on   = PAWL_ON({.handle = PAWL_HANDLE(on_renamed)})};

/* An entity whose events are projected. */
RECORD(box, (INT32, count));
RECORD(put, (TEXT, box), (INT32, number));

static pawl_code on_put(pawl_context *ctx, const box *state, const put *command)
{
    (void)pawl_emit(ctx, PAWL_MESSAGE(noted, .number = command->number));
    return pawl_emit(ctx, PAWL_MESSAGE(noted, .number = command->number + 1));
}
PAWL_ENTITY_HANDLER(on_put, box, put);
static void apply_noted(box *state, const noted *event)
{
    state->count += event->number;
}
PAWL_APPLY(apply_noted, box, noted);
static const pawl_entity box_entity = {.name  = "Box",
                                       .state = PAWL_RECORD_OF(box),
                                       .on = PAWL_ON({.handle = PAWL_HANDLE(on_put), .key = "box"}),
                                       .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_noted))};

#define ENDPOINT(spec, endpoint_name, ...)            \
    static const pawl_endpoint_spec spec = {          \
        .name        = endpoint_name,                 \
        .projections = PAWL_PROJECTIONS(__VA_ARGS__), \
    }
#define PROJECTING(variable, ...) \
    static const pawl_application variable = APPLICATION("projecting", __VA_ARGS__)

ENDPOINT(plain, "plain", &names);
PROJECTING(application, &plain);
ENDPOINT(other, "other", &names);
PROJECTING(other_application, &other);
ENDPOINT(small, "plain", &small_names);
PROJECTING(small_application, &small);
ENDPOINT(own, "plain", &own_names);
PROJECTING(own_application, &own);
ENDPOINT(both, "plain", &names, &titles);
PROJECTING(both_application, &both);
static const pawl_endpoint_spec boxes = {.name        = "plain",
                                         .entities    = PAWL_ENTITIES(&box_entity),
                                         .handlers    = PAWL_ON({.handle = PAWL_HANDLE(on_notice)}),
                                         .projections = PAWL_PROJECTIONS(&names)};
PROJECTING(box_application, &boxes);

/* ---- What the tests do -------------------------------------------------------- */

static inline world *begin(const char *url, const pawl_application *it_application)
{
    memset(&plan, 0, sizeof plan);
    world_forget(&seen);
    return world_begin(url, it_application, NULL, NULL);
}

static inline void append_of(world *it, const char *message_id, const char *stream, int64_t version,
                             const char *type, int32_t type_version, const char *json)
{
    MUST_COMMIT(it->store, event_append, world_now(it), .stream = pawl_text_of(stream),
                .version = version, .is_first = true,
                .event = {.type           = pawl_text_of(type),
                          .type_version   = type_version,
                          .body           = pawl_text_of(json),
                          .message_id     = pawl_text_of(message_id),
                          .correlation_id = PAWL_TEXT("talk"),
                          .at             = world_now(it)});
}

static inline void append_as(world *it, const char *stream, int64_t version, const char *type,
                             int32_t type_version, const char *json)
{
    append_of(it, "cause", stream, version, type, type_version, json);
}

static inline void append(world *it, const char *stream, int64_t version, int number)
{
    append_as(it, stream, version, "noted", 1, test_text("{\"number\":%d}", number));
}

/* Numbers 1 to `count` on one stream, from version `first` on. */
static inline void append_many(world *it, const char *stream, int first, int count)
{
    for (int i = 0; i < count; i++)
        append(it, stream, first + i, first + i);
}

static inline int64_t position_of(world *it, const char *checkpoint)
{
    int64_t position = -1;
    must(pawl_store_checkpoint_get(it->store, pawl_text_of(checkpoint), &position, world_error()));
    return position;
}

static inline pawl_event_rows all_events(world *it)
{
    pawl_event_rows  rows;
    pawl_event_query query = {.is_by_position = true};
    must(pawl_store_event_list(it->store, &query, it->arena, &rows, world_error()));
    return rows;
}

/* All have their positions: a server gives them after the commit. */
static inline pawl_event_rows numbered_events(world *it)
{
    int64_t count = 0;
    must(pawl_store_event_number(it->store, 1000, &count, world_error()));
    return all_events(it);
}

static inline int64_t last_position(world *it)
{
    pawl_event_rows rows = all_events(it);
    return rows.count > 0 ? rows.items[rows.count - 1].position : 0;
}

static inline void expect_seen(const char *text)
{
    assert_string_equal(seen.text, test_text("%s%s", text, text[0] != '\0' ? " " : ""));
    world_forget(&seen);
}

/* The messages in "out" are those of the events of this type, one each, with the ids
 * that anybody can make again. */
static inline void expect_sent_once(world *it, const char *endpoint)
{
    pawl_event_rows events = all_events(it);
    pawl_queue_rows rows   = world_queue(it, "out");
    assert_int_equal(rows.count, events.count);
    for (size_t i = 0; i < rows.count; i++) {
        char             id[PAWL_UUID_TEXT_SIZE + 1];
        pawl_dispatch_id made = pawl_dispatch_id_make(
            pawl_text_of(endpoint), PAWL_TEXT("projection/names"), events.items[i].position, 0);
        pawl_uuid_format(made.uuid, id);
        const char *body = test_text("\"position\":%lld", (long long)events.items[i].position);
        assert_true(pawl_text_equal(rows.items[i].message.id, pawl_text_of(id)));
        assert_true(world_says(rows.items[i].message.body, body));
        assert_true(pawl_text_equal(rows.items[i].message.causation_id, PAWL_TEXT("cause")));
        assert_true(pawl_text_equal(rows.items[i].message.correlation_id, PAWL_TEXT("talk")));
    }
}

static inline void steps_until_idle(world *it)
{
    for (int failures = 0;;) {
        pawl_step  sum   = PAWL_STEP_INIT;
        pawl_error error = PAWL_ERROR_INIT;
        pawl_code  code  = pawl_endpoint_drain(it->endpoint, &sum, &error);
        if (code == PAWL_OK)
            return;
        assert_true(failures++ < 20);
    }
}

#endif
