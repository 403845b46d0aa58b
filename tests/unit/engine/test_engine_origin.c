/* test_engine_origin.c - the metadata of a saga in its handlers, the answer to the endpoint whose
 * message began it, and a state that is stored with its default values. S23, S25.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/process.h"
#include "runtime/runtime.h"

static world_log seen;

RECORD(order, (TEXT, name), (INT64, steps));
RECORD(full_order, (TEXT, name), (INT64, steps));
PAWL_RECORD(place, A_NAME);
PAWL_RECORD(go_on, A_NAME);
PAWL_RECORD(done, A_NAME);
PAWL_RECORD(fill, A_NAME);

static void note(pawl_context *ctx)
{
    pawl_text type  = pawl_saga_metadata(ctx, "SagaType");
    pawl_text by    = pawl_saga_metadata(ctx, "Originator");
    pawl_text first = pawl_saga_metadata(ctx, "OriginalMessageId");
    pawl_text none  = pawl_saga_metadata(ctx, "Colour");
    world_note(&seen, "%.*s,%.*s,%.*s%s", PAWL_TEXT_ARGS(type), PAWL_TEXT_ARGS(by),
               PAWL_TEXT_ARGS(first), none.data != NULL ? "?" : "");
}

static pawl_code on_place(pawl_context *ctx, order *state, const place *message)
{
    note(ctx);
    state->steps = 1;
    return pawl_timeout(ctx, "late", PAWL_MINUTES(1));
}
PAWL_HANDLER(on_place, order, place);

static pawl_code on_go_on(pawl_context *ctx, order *state, const go_on *message)
{
    note(ctx);
    state->steps++;
    return pawl_reply_to_originator(ctx, PAWL_MESSAGE(done, .name = message->name));
}
PAWL_HANDLER(on_go_on, order, go_on);

static pawl_code on_late(pawl_context *ctx, order *state)
{
    note(ctx);
    return pawl_reply_to_originator(ctx, PAWL_MESSAGE(done, .name = state->name));
}
PAWL_TIMEOUT_HANDLER(on_late, order);

static pawl_code on_fill(pawl_context *ctx, full_order *state, const fill *message)
{
    world_note(&seen, "steps=%d", (int)state->steps);
    return pawl_send(ctx, "front", PAWL_MESSAGE(done, .name = message->name));
}
PAWL_HANDLER(on_fill, full_order, fill);

/* A handler without a saga has no metadata. */
static pawl_code on_done(pawl_context *ctx, const done *message)
{
    note(ctx);
    return pawl_reply_to_originator(ctx, PAWL_MESSAGE(done, .name = PAWL_TEXT("a")));
}
PAWL_MESSAGE_HANDLER(on_done, done);

RECORD(tally, (TEXT, name), (INT64, steps));
PAWL_RECORD(count_up, A_NAME);
PAWL_RECORD(counted, A_NAME);

/* An entity has no metadata either. */
static pawl_code on_count_up(pawl_context *ctx, const tally *state, const count_up *message)
{
    note(ctx);
    return pawl_emit(ctx, PAWL_MESSAGE(counted, .name = message->name));
}
PAWL_ENTITY_HANDLER(on_count_up, tally, count_up);

static void apply_counted(tally *state, const counted *event)
{
    state->steps++;
}
PAWL_APPLY(apply_counted, tally, counted);

static const pawl_entity tally_entity = {
    .name  = "Tally",
    .state = PAWL_RECORD_OF(tally),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_count_up), .key = "name"}),
    .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_counted))};

static const pawl_saga order_saga = SAGA_OF(
    "Order", order, "name", {.handle = PAWL_HANDLE(on_place), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_go_on), .key = "name"},
    {.handle = PAWL_HANDLE(on_late), .timeout = "late"});
static const pawl_saga full_saga = {
    .name            = "Full",
    .state           = PAWL_RECORD_OF(full_order),
    .correlation     = "name",
    .on              = PAWL_ON({.handle = PAWL_HANDLE(on_fill), .key = "name", .starts = true}),
    .stores_defaults = true};
static const pawl_application application = ONE_ENDPOINT(
    "orders", .name = "orders", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_done)}),
    .sagas = PAWL_SAGAS(&order_saga, &full_saga), .entities = PAWL_ENTITIES(&tally_entity));

static world *open_world(const char *url)
{
    world_forget(&seen);
    return world_begin(url, &application, NULL, NULL);
}

/* As an endpoint of that queue sends it; NULL: from outside. */
static void post_place(world *it, const char *id, const char *queue)
{
    const pawl_header headers[] = {{"pawl.reply_to", queue}, {NULL, NULL}};
    pawl_send_options options   = {PAWL_SEND_OPTIONS_HEAD, .id = id, .due = world_now(it)};
    options.headers             = queue != NULL ? headers : NULL;
    test_send(it->sender, "orders", &options, PAWL_MESSAGE(place, .name = PAWL_TEXT("a")));
}

static void post_go_on(world *it)
{
    world_post(it, NULL, PAWL_MESSAGE(go_on, .name = PAWL_TEXT("a")));
}

static pawl_saga_row row_of(world *it, size_t saga)
{
    pawl_saga_row row;
    must(pawl_store_saga_find(it->store, &it->endpoint->model->sagas[saga].table, PAWL_SAGA_BY_MAIN,
                              pawl_value_text(PAWL_TEXT("a")), it->arena, &row, world_error()));
    return row;
}

ON_ALL_STORES(s23_metadata_is_there_for_every_handler, const char *url)
{
    world *it = open_world(url);
    post_place(it, "m-1", "front");
    post_go_on(it); /* in the batch that begins the saga */
    world_drain(it);
    post_go_on(it);
    world_drain(it);
    world_go_both(it, PAWL_MINUTES(2));
    assert_string_equal(seen.text,
                        "Order,front,m-1 Order,front,m-1 Order,front,m-1 Order,front,m-1 ");
    assert_int_equal(world_queue(it, "front").count, 3);
    assert_true(pawl_text_equal(world_queue(it, "front").items[0].message.type, PAWL_TEXT("done")));
    world_json_equal(it, row_of(it, 0).metadata.data,
                     "{\"SagaType\":\"Order\",\"Originator\":\"front\","
                     "\"OriginalMessageId\":\"m-1\"}");
}

ON_ALL_STORES(s23_without_a_sender_there_is_no_originator, const char *url)
{
    world *it = open_world(url);
    post_place(it, "m-1", NULL);
    world_drain(it);
    post_go_on(it);
    LOG_AFTER(world_drain(it), seen, "Order,,m-1 Order,,m-1 ");
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "pawl.reply_to"));
    world_json_equal(it, row_of(it, 0).metadata.data,
                     "{\"SagaType\":\"Order\",\"OriginalMessageId\":\"m-1\"}");
}

ON_ALL_STORES(s23_without_a_saga_there_is_no_metadata, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(done, .name = PAWL_TEXT("a")));
    LOG_AFTER(world_drain(it), seen, ",, ");
    assert_int_equal(world_dead(it).count, 1);
    for (int i = 0; i < 2; i++) {
        world_post(it, NULL, PAWL_MESSAGE(count_up, .name = PAWL_TEXT("a")));
        world_drain(it);
    }
    assert_string_equal(seen.text, ",, ,, ,, ");
}

ON_ALL_STORES(s25_defaults_are_stored_when_the_saga_says_so, const char *url)
{
    world *it = open_world(url);
    for (int i = 0; i < 2; i++) {
        world_post(it, NULL, PAWL_MESSAGE(fill, .name = PAWL_TEXT("a")));
        world_drain(it);
        world_json_equal(it, row_of(it, 1).data.data, "{\"name\":\"a\",\"steps\":0}");
    }
    assert_string_equal(seen.text, "steps=0 steps=0 ");
    assert_int_equal(row_of(it, 1).version, 2);
}
