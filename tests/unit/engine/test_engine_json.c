/* test_engine_json.c - a handler sends JSON that it made: it is checked, and sent byte for byte. E26.
 *
 * The body of a task says what the handler sends: a type and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

RECORD(task, (TEXT, type), (TEXT, json), (TEXT, destination), (BOOL, has_options));
RECORD_WITH(parcel, ((INT64, grams)), .type = "Depot.Parcel");

static world_log seen;

static pawl_code on_task(pawl_context *ctx, const task *message)
{
    static const pawl_header headers[] = {{"colour", "blue"}, {NULL, NULL}};
    pawl_send_options        options   = {PAWL_SEND_OPTIONS_HEAD, .delay = PAWL_SECONDS(90),
                                          .headers = headers};
    char                     type[300], json[300]; /* gone when the handler returns */
    snprintf(type, sizeof type, "%.*s", PAWL_TEXT_ARGS(message->type));
    snprintf(json, sizeof json, "%.*s", PAWL_TEXT_ARGS(message->json));
    pawl_text text = {.data = json, .size = message->json.size};
    pawl_send_json(ctx, message->destination.size > 0 ? message->destination.data : "out",
                   message->has_options ? &options : NULL, type, text);
    memset(type, 'x', sizeof type - 1);
    memset(json, 'x', sizeof json - 1);
    return PAWL_OK; /* the handler ignores a refusal */
}
PAWL_MESSAGE_HANDLER(on_task, task);

static pawl_code on_parcel(pawl_context *ctx, const parcel *message)
{
    world_note(&seen, "%d g", (int)message->grams);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_parcel, parcel);

static const pawl_endpoint_spec desk = {
    .name     = "desk",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_task)}, {.handle = PAWL_HANDLE(on_parcel)})};
static const pawl_endpoint_spec strict = {
    .name = "strict",
    .handlers =
        PAWL_ON({.handle = PAWL_HANDLE(on_task), .does = PAWL_DOES(PAWL_SENDS(parcel, "out"))})};
static const pawl_application application = APPLICATION("json", &desk, &strict);

static const pawl_route by_outbox[] = {{.name = "far", .is_outbox = true, .queue = "away"},
                                       {.name = NULL}};

static world *open_world(const char *url, const char *name)
{
    const pawl_endpoint_options options = {.delayed_retries = PAWL_NONE, .routes = by_outbox};
    seen                                = (world_log){.size = 0};
    return world_begin(url, &application, name, &options);
}

static void post(world *it, const char *type, const char *json)
{
    world_post(it, "cause",
               PAWL_MESSAGE(task, .type = pawl_text_of(type), .json = pawl_text_of(json)));
    world_drain(it);
}

/* ---- What is sent -------------------------------------------------------------- */

ON_ALL_STORES(json_is_sent_byte_for_byte, const char *url)
{
    static const char json[] = "{ \"b\": [1.50, 20e1, 123456789012345678901234567890],\n"
                               "  \"a\": \"\\u00e9 é\", \"a\": null }";
    world            *it     = open_world(url, "desk");
    post(it, "com.example.Invoice", json);
    pawl_queue_rows rows = world_queue(it, "out");
    assert_int_equal(rows.count, 1);
    const pawl_message *message = &rows.items[0].message;
    assert_string_equal(message->body.data, json);
    assert_string_equal(message->type.data, "com.example.Invoice");
    assert_string_equal(message->causation_id.data, "cause");
    assert_string_equal(message->correlation_id.data, "cause");
    assert_true(world_says(message->headers, "\"pawl.reply_to\":\"desk\""));
    assert_int_equal(message->id.size, PAWL_UUID_TEXT_SIZE);
    assert_int_equal(rows.items[0].due, WORLD_START);
}

/* A body is text in every store; the checks are the engine's. */
ON_STORES(any_json_value_is_a_body, const char *url)
{
    static const char *const bodies[] = {"[]", "null", "17", "\"text\"", " {} "};
    for (size_t i = 0; i < COUNT(bodies); i++) {
        char own[PAWL_URL_SIZE_MAX];
        scenario_url_like(url, own, sizeof own);
        world *it = open_world(own, "desk");
        post(it, "any", bodies[i]);
        assert_string_equal(world_queue(it, "out").items[0].message.body.data, bodies[i]);
        world_close(it);
        scenario_forget(own);
    }
}

ON_STORES(json_has_options_and_routes, const char *url)
{
    world *it = open_world(url, "desk");
    world_post(
        it, NULL,
        PAWL_MESSAGE(task, .type = PAWL_TEXT("any"), .json = PAWL_TEXT("{}"), .has_options = true));
    world_post(it, NULL,
               PAWL_MESSAGE(task, .type = PAWL_TEXT("any"), .json = PAWL_TEXT("[1]"),
                            .destination = PAWL_TEXT("far")));
    world_drain(it);
    pawl_queue_rows rows = world_queue(it, "out");
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].due, WORLD_START + PAWL_SECONDS(90));
    assert_true(world_says(rows.items[0].message.headers, "\"colour\":\"blue\""));
    rows = world_queue(it, "away");
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.items[0].message.body.data, "[1]");
}

/* A receiver cannot tell it from a message that was made of a record. */
ON_STORES(json_of_a_records_type_is_handled, const char *url)
{
    world *it = open_world(url, "desk");
    world_post(it, NULL,
               PAWL_MESSAGE(task, .type = PAWL_TEXT("Depot.Parcel"),
                            .json        = PAWL_TEXT("{\"grams\":750}"),
                            .destination = PAWL_TEXT("desk")));
    LOG_AFTER(world_drain(it), seen, "750 g ");
}

/* ---- What is refused -------------------------------------------------------------- */

static char long_type[PAWL_NAME_SIZE_MAX + 2];

ON_STORE(what_is_no_json_sends_nothing, const char *url, "memory")
{
    static const struct {
        const char *type, *json, *says;
    } rows[] = {
        {"any", "", "message any: expected JSON, got no text"},
        {"any", "{\"a\":1", "message any: invalid JSON at byte 6 of 6"},
        {"any", "{\"a\":1} x", "message any: invalid JSON at byte 8 of 9"},
        {"any", "{a:1}", "message any: invalid JSON at byte 1 of 5"},
        {"", "{}", "type of a message has 0 bytes, the limit is 1 to 200"},
        {long_type, "{}", "type of a message has 201 bytes, the limit is 1 to 200"},
    };
    memset(long_type, 't', sizeof long_type - 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char own[PAWL_URL_SIZE_MAX];
        scenario_url_like(url, own, sizeof own);
        world *it = open_world(own, "desk");
        post(it, rows[i].type, rows[i].json);
        pawl_dead_rows dead = world_dead(it);
        assert_int_equal(dead.count, 1);
        if (!world_says(dead.items[0].error, rows[i].says))
            fail_msg("'%s' is not said, but '%s'", rows[i].says, dead.items[0].error.data);
        assert_string_equal(dead.items[0].code.data, "EINVAL");
        assert_int_equal(dead.items[0].attempts, 1); /* no retry */
        assert_int_equal(world_queue(it, "out").count, 0);
        world_close(it);
        scenario_forget(own);
    }
    memset(long_type, '\0', sizeof long_type);
}

ON_STORE(the_longest_type_is_taken, const char *url, "memory")
{
    memset(long_type, 't', PAWL_NAME_SIZE_MAX);
    world *it = open_world(url, "desk");
    post(it, long_type, "{}");
    assert_string_equal(world_queue(it, "out").items[0].message.type.data, long_type);
    world_close(it);
    memset(long_type, '\0', sizeof long_type);
}

/* ---- A row that declares its effects ------------------------------------------------ */

ON_STORE(the_type_of_json_is_declared_as_any, const char *url, "memory")
{
    world *it = open_world(url, "strict");
    post(it, "Depot.Parcel", "{\"grams\":1}");
    assert_int_equal(world_queue(it, "out").count, 1);
    world_post(it, "other", PAWL_MESSAGE(task, .type = PAWL_TEXT("any"), .json = PAWL_TEXT("{}")));
    world_drain(it);
    assert_true(world_says(world_dead_letter(it).error, "sends any to out, which the .does"));
    assert_int_equal(world_queue(it, "out").count, 1);
}

/* ---- Limits ------------------------------------------------------------------------ */

static pawl_text large;

static pawl_code on_large(pawl_context *ctx, const parcel *message)
{
    return pawl_send_json(ctx, "out", NULL, "any", large);
}
PAWL_MESSAGE_HANDLER(on_large, parcel);

static const pawl_application heavy_application =
    ONE_ENDPOINT("heavy", .name = "heavy", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_large)}));

/* Text of JSON with so many bytes: a string. */
ON_STORE(the_limit_is_that_of_every_body, const char *url, "memory")
{
    const pawl_endpoint_options options = {.delayed_retries = PAWL_NONE};
    char                       *bytes   = malloc(PAWL_BODY_SIZE_MAX + 1);
    assert_non_null(bytes);
    memset(bytes, 'x', PAWL_BODY_SIZE_MAX + 1);
    world *it = world_begin(url, &heavy_application, NULL, &options);
    for (size_t more = 0; more < 2; more++) {
        large    = (pawl_text){.data = bytes, .size = PAWL_BODY_SIZE_MAX + more};
        bytes[0] = '"', bytes[large.size - 1] = '"', bytes[large.size - 2] = 'x';
        world_post(it, NULL, PAWL_MESSAGE(parcel, .grams = 1));
        world_drain(it);
    }
    pawl_queue_rows rows = world_queue(it, "out");
    pawl_dead_rows  dead = world_dead(it);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].message.body.size, PAWL_BODY_SIZE_MAX);
    assert_int_equal(dead.count, 1);
    assert_true(world_says(dead.items[0].error,
                           "message any: body has 16777217 bytes, the limit is 16777216"));
    world_close(it);
    free(bytes);
}

/* ---- JSON that is deep ---------------------------------------------------------------- */

#define DEPTH 120 /* MySQL takes 100 levels in a column of JSON */

RECORD(plan, (TEXT, name), (JSON, drawing));
RECORD(draw, (TEXT, name), (JSON, drawing));

static pawl_code on_draw(pawl_context *ctx, plan *state, const draw *message)
{
    state->drawing = message->drawing;
    return PAWL_OK;
}
PAWL_HANDLER(on_draw, plan, draw);

static const pawl_saga plan_saga =
    SAGA_OF("Plan", plan, "name", {.handle = PAWL_HANDLE(on_draw), .key = "name", .starts = true});
static const pawl_endpoint_spec office = {.name = "office", .sagas = PAWL_SAGAS(&plan_saga)};
static const pawl_application   office_application = APPLICATION("office", &office);

/* A store may refuse the state: that is about the message, and ends nothing else. */
ON_ALL_STORES(a_deep_state_stops_no_other_message, const char *url)
{
    const pawl_endpoint_options options = {.delayed_retries = PAWL_NONE};
    char                        deep[2 * DEPTH + 1];
    int64_t                     version;
    memset(deep, '[', DEPTH);
    memset(deep + DEPTH, ']', DEPTH);
    deep[sizeof deep - 1] = '\0';
    world *it             = world_begin(url, &office_application, NULL, &options);
    world_post(it, "deep",
               PAWL_MESSAGE(draw, .name = PAWL_TEXT("deep"), .drawing = pawl_text_of(deep)));
    world_post(it, "flat",
               PAWL_MESSAGE(draw, .name = PAWL_TEXT("flat"), .drawing = PAWL_TEXT("[1]")));
    world_drain(it);
    pawl_dead_rows dead = world_dead(it);
    bool is_kept = world_says(pawl_text_of(world_saga_text(it, "Plan", "deep", &version)), deep);
    assert_int_equal(dead.count, is_kept ? 0 : 1);
    if (!is_kept) {
        assert_string_equal(dead.items[0].message.id.data, "deep");
        assert_string_equal(dead.items[0].code.data, "EINVAL");
    }
    (void)world_saga_text(it, "Plan", "flat", &version);
    assert_int_equal(version, 1);
    assert_int_equal(world_queue(it, "office").count, 0);
}
