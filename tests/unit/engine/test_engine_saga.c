/* test_engine_saga.c - sagas: begun, continued, ended, refused, stored.
 *
 * E1 to E6, E10, S27, and the net effect of a batch. A message's `how` says what its handler does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

RECORD(order_state, (TEXT, order_id), (INT64, total), (INT32, steps), (TEXT, note));

RECORD(place, (TEXT, order_id), (INT64, total), (TEXT, how));

RECORD(pay, (TEXT, order_ref), (INT64, cents), (TEXT, how));

RECORD(refund, (TEXT, order_ref));
RECORD(ask, (TEXT, order_ref));
RECORD(paid, (INT64, cents));

static pawl_code do_as_told(pawl_context *ctx, order_state *order, pawl_text how)
{
    if (text_is(how, "complete"))
        return pawl_complete(ctx);
    if (text_is(how, "fail")) {
        pawl_send(ctx, "elsewhere", PAWL_MESSAGE(paid, .cents = 1));
        return pawl_fail(ctx, PAWL_REJECT, "told to fail");
    }
    if (text_is(how, "change"))
        order->order_id = PAWL_TEXT("another");
    if (text_is(how, "same") || text_is(how, "send, same") || text_is(how, "late, same"))
        order->steps--;
    if (text_is(how, "send") || text_is(how, "send, same"))
        return pawl_send(ctx, "elsewhere", PAWL_MESSAGE(paid, .cents = 2));
    return text_is(how, "late, same") ? pawl_timeout(ctx, "late", PAWL_SECONDS(1)) : PAWL_OK;
}

static pawl_code on_place(pawl_context *ctx, order_state *order, const place *message)
{
    world_note(pawl_user(ctx), "place(%.*s,v%d,%d)", PAWL_TEXT_ARGS(order->order_id),
               (int)pawl_saga_version(ctx), order->steps);
    order->total = message->total;
    order->steps++;
    if (text_is(message->how, "note"))
        order->note = pawl_arena_text(pawl_scratch(ctx), PAWL_TEXT("in scratch memory"));
    return do_as_told(ctx, order, message->how);
}
PAWL_HANDLER(on_place, order_state, place);

static pawl_code on_pay(pawl_context *ctx, order_state *order, const pay *message)
{
    world_note(pawl_user(ctx), "pay(%.*s,v%d)", PAWL_TEXT_ARGS(order->order_id),
               (int)pawl_saga_version(ctx));
    order->steps++;
    return do_as_told(ctx, order, message->how);
}
PAWL_HANDLER(on_pay, order_state, pay);

static pawl_code on_refund(pawl_context *ctx, order_state *order, const refund *message)
{
    order->steps++;
    return PAWL_OK;
}
PAWL_HANDLER(on_refund, order_state, refund);

static pawl_code on_ask(pawl_context *ctx, order_state *order, const ask *message)
{
    world_note(pawl_user(ctx), "ask");
    return PAWL_OK;
}
PAWL_HANDLER(on_ask, order_state, ask);

static pawl_code on_ask_missing(pawl_context *ctx, const ask *message)
{
    world_note(pawl_user(ctx), "missing(%.*s)", PAWL_TEXT_ARGS(message->order_ref));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_ask_missing, ask);

static pawl_code on_late(pawl_context *ctx, order_state *order)
{
    return pawl_send(ctx, "elsewhere", PAWL_MESSAGE(paid, .cents = 3));
}
PAWL_TIMEOUT_HANDLER(on_late, order_state);

static const pawl_saga order_saga = SAGA_OF(
    "Order", order_state, "order_id",
    {.handle = PAWL_HANDLE(on_place), .key = "order_id", .starts = true},
    {.handle = PAWL_HANDLE(on_pay), .key = "order_ref"},
    {.handle = PAWL_HANDLE(on_refund), .key = "order_ref", .not_found = PAWL_NOT_FOUND_DEAD},
    {.handle    = PAWL_HANDLE(on_ask),
     .key       = "order_ref",
     .not_found = PAWL_NOT_FOUND_CALL,
     .missing   = PAWL_HANDLE(on_ask_missing)},
    {.handle = PAWL_HANDLE(on_late), .timeout = "late"});

static const pawl_application application =
    ONE_ENDPOINT("sagas", .name = "shop", .sagas = PAWL_SAGAS(&order_saga));

static world_log seen;

static world *open_world(const char *url)
{
    pawl_endpoint_options options = {.user = &seen};
    world_forget(&seen);
    return world_begin(url, &application, NULL, &options);
}

static void post_place(world *it, const char *id, const char *how)
{
    world_post(
        it, NULL,
        PAWL_MESSAGE(place, .order_id = pawl_text_of(id), .total = 5, .how = pawl_text_of(how)));
}

static void post_pay(world *it, const char *id, const char *how)
{
    world_post(it, NULL,
               PAWL_MESSAGE(pay, .order_ref = pawl_text_of(id), .how = pawl_text_of(how)));
}

/* ---- Begun, continued, ended ---------------------------------------------------- */

ON_ALL_STORES(e1_starter_without_match_inserts, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url);
    post_place(it, "o1", "");
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 1);
    assert_string_equal(seen.text, "place(o1,v0,0) ");
    world_json_equal(it, world_saga_text(it, "Order", "o1", &version),
                     "{\"order_id\":\"o1\",\"total\":5,\"steps\":1}");
    assert_int_equal(version, 1);
    assert_int_equal(world_queue(it, "shop").count, 0);
}

ON_ALL_STORES(e2_starter_with_match_updates, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url);
    post_place(it, "o1", "");
    world_drain(it);
    post_place(it, "o1", "");
    LOG_AFTER(world_drain(it), seen, "place(o1,v0,0) place(o1,v1,1) ");
    world_saga_text(it, "Order", "o1", &version);
    assert_int_equal(version, 2);
    assert_int_equal(world_saga_count(it, "Order"), 1);
}

ON_ALL_STORES(e3_non_starter_without_match, const char *url)
{
    world *it = open_world(url);
    post_pay(it, "nobody", "");
    world_post(it, "r1", PAWL_MESSAGE(refund, .order_ref = PAWL_TEXT("nobody")));
    world_post(it, "a1", PAWL_MESSAGE(ask, .order_ref = PAWL_TEXT("nobody")));
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 3);
    assert_string_equal(seen.text, "missing(nobody) ");
    assert_int_equal(world_saga_count(it, "Order"), 0);
    assert_int_equal(world_queue(it, "shop").count, 0);
    pawl_dead_row dead = world_dead_letter(it);
    assert_true(pawl_text_equal(dead.message.id, PAWL_TEXT("r1")));
    assert_true(world_says(dead.error, "no saga Order for 'nobody'"));
}

ON_ALL_STORES(e4_starts_and_continues_runs_once, const char *url)
{
    world *it = open_world(url);
    post_place(it, "o1", "");
    post_place(it, "o1", "");
    world_drain(it);
    /* In one batch the second sees what the first left, and neither runs twice. */
    assert_string_equal(seen.text, "place(o1,v0,0) place(o1,v1,1) ");
}

ON_ALL_STORES(e5_complete_deletes, const char *url)
{
    world *it = open_world(url);
    post_place(it, "o1", "");
    world_drain(it);
    assert_int_equal(world_saga_count(it, "Order"), 1);
    post_pay(it, "o1", "complete");
    world_drain(it);
    assert_int_equal(world_saga_count(it, "Order"), 0);
}

ON_ALL_STORES(e5_completed_by_the_starter_leaves_no_row, const char *url)
{
    world *it = open_world(url);
    post_place(it, "o1", "complete");
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 1);
    assert_int_equal(world_saga_count(it, "Order"), 0);
}

ON_ALL_STORES(e6_handler_error_leaves_nothing, const char *url)
{
    world *it = open_world(url);
    post_place(it, "o1", "");
    world_drain(it);
    int64_t version = 0;
    post_pay(it, "o1", "fail");
    post_place(it, "o2", "fail");
    pawl_step step = world_drain(it);
    assert_int_equal(step.dead, 2);
    world_json_equal(it, world_saga_text(it, "Order", "o1", &version),
                     "{\"order_id\":\"o1\",\"total\":5,\"steps\":1}");
    assert_int_equal(version, 1);
    assert_int_equal(world_saga_count(it, "Order"), 1);
    assert_int_equal(world_queue(it, "elsewhere").count, 0);
    assert_true(world_says(world_dead(it).items[0].error, "told to fail"));
}

/* ---- Refused ------------------------------------------------------------------------ */

ON_ALL_STORES(e10_a_changed_correlation_is_refused, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url);
    post_place(it, "o1", "");
    world_drain(it);
    post_pay(it, "o1", "change");
    post_place(it, "o2", "change");
    world_drain(it);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 2);
    assert_true(world_says(dead.items[0].error, "changed the correlation property 'order_id' from "
                                                "'o1' to 'another'"));
    world_saga_text(it, "Order", "o1", &version);
    assert_int_equal(version, 1);
    assert_int_equal(world_saga_count(it, "Order"), 1);
}

ON_ALL_STORES(a_correlation_of_201_characters_is_refused, const char *url)
{
    char   id[202];
    world *it = open_world(url);
    memset(id, 'x', 201);
    id[201] = '\0';
    post_place(it, id, "");
    post_place(it, id + 1, "");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
    assert_int_equal(world_saga_count(it, "Order"), 1);
}

/* ---- What is stored -------------------------------------------------------------------- */

/* Replaces the stored data as another program would. */
static pawl_saga_id overwrite(world *it, const char *order_id, const char *data)
{
    return world_overwrite(it->store, it->arena, &application, order_id, data);
}

ON_ALL_STORES(unknown_members_survive, const char *url)
{
    world *it = open_world(url);
    post_place(it, "o1", "");
    world_drain(it);
    overwrite(it, "o1", "{\"order_id\":\"o1\",\"steps\":3,\"added\":{\"later\":[1,2]}}");
    post_pay(it, "o1", "");
    world_drain(it);
    world_json_equal(it, world_saga_text(it, "Order", "o1", NULL),
                     "{\"order_id\":\"o1\",\"steps\":4,\"added\":{\"later\":[1,2]}}");
}

ON_ALL_STORES(s27_undecodable_state_fails_only_its_own_messages, const char *url)
{
    world *it = open_world(url);
    post_place(it, "o1", "");
    post_place(it, "o2", "");
    world_drain(it);
    overwrite(it, "o1", "{\"order_id\":\"o1\",\"steps\":\"many\"}");
    post_pay(it, "o1", "");
    post_pay(it, "o2", "");
    world_drain(it);
    pawl_dead_row dead = world_dead_letter(it);
    assert_true(world_says(dead.error, "saga Order "));
    assert_true(world_says(dead.error, "steps: expected integer"));
    world_json_equal(it, world_saga_text(it, "Order", "o1", NULL),
                     "{\"order_id\":\"o1\",\"steps\":\"many\"}");
    world_json_equal(it, world_saga_text(it, "Order", "o2", NULL),
                     "{\"order_id\":\"o2\",\"total\":5,\"steps\":2}");
}

/* "None" would begin a second saga, drop a message as without saga, and a timeout in silence. */
ON_ALL_STORES(s27_undecodable_state_is_never_none, const char *url)
{
    world *it = open_world(url);
    post_place(it, "o1", "");
    world_drain(it);
    pawl_saga_id saga = overwrite(it, "o1", "{\"order_id\":\"o1\",\"steps\":\"many\"}");
    MUST_COMMIT(it->store, timeout_set, WORLD_START, .id = {{{7}}}, .saga_id = saga,
                .saga_type = PAWL_TEXT("Order"), .name = PAWL_TEXT("late"),
                .destination = pawl_text_of(it->queue), .due = world_now(it));
    post_place(it, "o1", "");
    post_pay(it, "o1", "");
    world_drain(it);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 3);
    for (size_t i = 0; i < dead.count; i++)
        assert_true(world_says(dead.items[i].error, "steps: expected integer"));
    assert_int_equal(world_saga_count(it, "Order"), 1);
    assert_int_equal(world_timeouts(it).count, 0);
}

ON_ALL_STORES(an_unchanged_saga_is_not_written, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url);
    post_place(it, "o1", "");
    world_drain(it);
    post_pay(it, "o1", "same");
    world_drain(it);
    world_saga_text(it, "Order", "o1", &version);
    assert_int_equal(version, 1);
}

ON_ALL_STORES(a_saga_with_effects_only_is_written, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url);
    post_place(it, "o1", "");
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(ask, .order_ref = PAWL_TEXT("o1")));
    world_drain(it);
    world_saga_text(it, "Order", "o1", &version);
    assert_int_equal(version, 1);
    post_pay(it, "o1", "send, same");
    world_drain(it);
    world_saga_text(it, "Order", "o1", &version);
    assert_int_equal(version, 2);
    assert_int_equal(world_queue(it, "elsewhere").count, 1);
    post_pay(it, "o1", "late, same");
    world_drain(it);
    world_saga_text(it, "Order", "o1", &version);
    assert_int_equal(version, 3);
    world_go(it, PAWL_SECONDS(1)); /* a timeout's handler that sends and changes nothing */
    world_json_equal(it, world_saga_text(it, "Order", "o1", &version),
                     "{\"order_id\":\"o1\",\"total\":5,\"steps\":1}");
    assert_int_equal(version, 4);
    assert_int_equal(world_queue(it, "elsewhere").count, 2);
}

/* Memory that a handler leaves in the state need live only until it returns. */
ON_ALL_STORES(state_in_scratch_memory_is_copied, const char *url)
{
    world *it = open_world(url);
    post_place(it, "o1", "note");
    world_drain(it);
    world_json_equal(
        it, world_saga_text(it, "Order", "o1", NULL),
        "{\"order_id\":\"o1\",\"total\":5,\"steps\":1,\"note\":\"in scratch memory\"}");
}

/* ---- Net effect in a batch ----------------------------------------------------------------- */

ON_ALL_STORES(several_messages_are_one_save, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url);
    post_place(it, "o1", "");
    post_pay(it, "o1", "");
    post_pay(it, "o1", "");
    world_drain(it);
    world_json_equal(it, world_saga_text(it, "Order", "o1", &version),
                     "{\"order_id\":\"o1\",\"total\":5,\"steps\":3}");
    assert_int_equal(version, 1);
    for (int i = 0; i < 4; i++)
        post_pay(it, "o1", "");
    world_drain(it);
    world_saga_text(it, "Order", "o1", &version);
    assert_int_equal(version, 2);
}

ON_ALL_STORES(begun_and_ended_in_a_batch_is_no_row, const char *url)
{
    world *it = open_world(url);
    post_place(it, "o1", "");
    post_pay(it, "o1", "complete");
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 2);
    assert_int_equal(world_saga_count(it, "Order"), 0);
}

ON_ALL_STORES(ended_and_begun_again_in_a_batch_is_a_new_row, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url);
    post_place(it, "o1", "");
    post_pay(it, "o1", "");
    world_drain(it);
    post_pay(it, "o1", "");
    world_drain(it);
    world_saga_text(it, "Order", "o1", &version);
    assert_int_equal(version, 2);
    post_pay(it, "o1", "complete");
    post_place(it, "o1", "");
    post_pay(it, "o1", "");
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 3);
    world_json_equal(it, world_saga_text(it, "Order", "o1", &version),
                     "{\"order_id\":\"o1\",\"total\":5,\"steps\":2}");
    assert_int_equal(version, 1);
    assert_int_equal(world_saga_count(it, "Order"), 1);
}
