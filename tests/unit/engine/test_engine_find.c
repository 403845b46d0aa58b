/* test_engine_find.c - how a message finds its saga: the types of values, base
 * types of messages, sagas without a property. E8, E9, E11, S17, S19.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

RECORD(account_state, (INT64, number), (INT64, count));
PAWL_RECORD(open_account, A_NUMBER);
RECORD(credit, (TEXT, number));

RECORD(device_state, (UUID, device), (INT32, count));
RECORD(plug, (TEXT, device));

RECORD(visit_state, (TEXT, visit), (INT32, count));
RECORD(visit_event, (TEXT, visit));
RECORD_WITH(visit_begun, ((TEXT, visit), (TEXT, page)), .base = PAWL_RECORD_OF(visit_event));

RECORD(lonely_state, (INT32, count));
RECORD(be_lonely, (INT32, count));

static pawl_code on_open_account(pawl_context *ctx, account_state *account,
                                 const open_account *message)
{
    account->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_open_account, account_state, open_account);

static pawl_code on_credit(pawl_context *ctx, account_state *account, const credit *message)
{
    account->count += 10;
    return PAWL_OK;
}
PAWL_HANDLER(on_credit, account_state, credit);

static const pawl_saga account_saga =
    SAGA_OF("Account", account_state, "number",
            {.handle = PAWL_HANDLE(on_open_account), .key = "number", .starts = true},
            {.handle = PAWL_HANDLE(on_credit), .key = "number"});

static pawl_code on_plug(pawl_context *ctx, device_state *device, const plug *message)
{
    device->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_plug, device_state, plug);

static const pawl_saga device_saga =
    SAGA_OF("Device", device_state, "device",
            {.handle = PAWL_HANDLE(on_plug), .key = "device", .starts = true});

static pawl_code on_visit_event(pawl_context *ctx, visit_state *visit, const visit_event *message)
{
    world_note(pawl_user(ctx), "event(%.*s)", PAWL_TEXT_ARGS(message->visit));
    visit->count += 10;
    return PAWL_OK;
}
PAWL_HANDLER(on_visit_event, visit_state, visit_event);

static pawl_code on_visit_begun(pawl_context *ctx, visit_state *visit, const visit_begun *message)
{
    world_note(pawl_user(ctx), "begun(%.*s)", PAWL_TEXT_ARGS(message->page));
    visit->count += 1;
    if (pawl_text_equal(message->page, PAWL_TEXT("the exit")))
        return pawl_complete(ctx);
    return PAWL_OK;
}
PAWL_HANDLER(on_visit_begun, visit_state, visit_begun);

static const pawl_saga visit_saga =
    SAGA_OF("Visit", visit_state, "visit", {.handle = PAWL_HANDLE(on_visit_event), .key = "visit"},
            {.handle = PAWL_HANDLE(on_visit_begun), .key = "visit", .starts = true});

static pawl_code on_be_lonely(pawl_context *ctx, lonely_state *lonely, const be_lonely *message)
{
    world_note(pawl_user(ctx), "lonely");
    lonely->count = message->count;
    return PAWL_OK;
}
PAWL_HANDLER(on_be_lonely, lonely_state, be_lonely);

/* A message of its own type has a handler without a saga. */
RECORD_WITH(be_left, ((INT32, count)), .base = PAWL_RECORD_OF(be_lonely));

static pawl_code on_be_left(pawl_context *ctx, const be_left *message)
{
    world_note(pawl_user(ctx), "left");
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_be_left, be_left);

static const pawl_saga lonely_saga = {
    .name  = "Lonely",
    .state = PAWL_RECORD_OF(lonely_state),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_be_lonely), .starts = true})};

/* A saga that a base type begins, and types that go on with it. */
RECORD(stay_state, (TEXT, room));
#define STAY(F) F(TEXT, room)
PAWL_RECORD(stay, STAY);
PAWL_RECORD_WITH(stay_on, STAY, .base = PAWL_RECORD_OF(stay));
PAWL_RECORD_WITH(stay_over, STAY, .base = PAWL_RECORD_OF(stay_on));
PAWL_RECORD_WITH(stay_anew, STAY, .base = PAWL_RECORD_OF(stay_on));
RECORD_WITH(move_in, ((TEXT, room), (TEXT, from)), .base = PAWL_RECORD_OF(stay));

#define STAYS(message_record)                                                              \
    static pawl_code on_##message_record(pawl_context *ctx, stay_state *state,             \
                                         const message_record *message)                    \
    {                                                                                      \
        (void)message;                                                                     \
        world_note(pawl_user(ctx), #message_record "(%.*s)", PAWL_TEXT_ARGS(state->room)); \
        return PAWL_OK;                                                                    \
    }                                                                                      \
    PAWL_HANDLER(on_##message_record, stay_state, message_record)
STAYS(stay);
STAYS(stay_on);
STAYS(stay_over);
STAYS(stay_anew);
STAYS(move_in);

static const pawl_saga stay_saga = SAGA_OF(
    "Stay", stay_state, "room", {.handle = PAWL_HANDLE(on_stay), .key = "room", .starts = true},
    {.handle = PAWL_HANDLE(on_stay_on), .key = "room", .not_found = PAWL_NOT_FOUND_DEAD},
    {.handle = PAWL_HANDLE(on_stay_over), .key = "room"},
    {.handle = PAWL_HANDLE(on_stay_anew), .key = "room", .starts = true},
    {.handle = PAWL_HANDLE(on_move_in), .key = "from"});

static const pawl_application application = ONE_ENDPOINT(
    "finding", .name = "desk",
    .sagas    = PAWL_SAGAS(&account_saga, &device_saga, &visit_saga, &lonely_saga, &stay_saga),
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_be_left)}));

static world_log seen;

static world *open_world(const char *url)
{
    pawl_endpoint_options options = {.user = &seen};
    world_forget(&seen);
    return world_begin(url, &application, NULL, &options);
}

/* ---- Finding ---------------------------------------------------------------------- */

ON_ALL_STORES(s17_values_are_coerced, const char *url)
{
    pawl_value number = pawl_value_integer(41);
    world     *it     = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(open_account, .number = 41));
    world_post(it, NULL, PAWL_MESSAGE(credit, .number = PAWL_TEXT("41")));
    world_drain(it);
    world_json_equal(it, world_saga(it, "Account", &number, NULL), "{\"number\":41,\"count\":11}");

    static const char id[] = "0b8e1f6a-7f0d-4c5e-9f1e-2a3b4c5d6e7f";
    world_post(it, NULL, PAWL_MESSAGE(plug, .device = pawl_text_of(id)));
    world_post(it, NULL,
               PAWL_MESSAGE(plug, .device = PAWL_TEXT("0B8E1F6A-7F0D-4C5E-9F1E-2A3B4C5D6E7F")));
    world_drain(it);
    pawl_uuid uuid;
    assert_int_equal(pawl_uuid_parse(pawl_text_of(id), &uuid, NULL), PAWL_OK);
    pawl_value device = pawl_value_uuid(uuid);
    world_json_equal(it, world_saga(it, "Device", &device, NULL),
                     "{\"device\":\"0b8e1f6a-7f0d-4c5e-9f1e-2a3b4c5d6e7f\",\"count\":2}");
}

ON_ALL_STORES(s17_a_value_that_cannot_be_converted_is_an_error, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(plug, .device = PAWL_TEXT("no uuid")));
    world_post(it, NULL, PAWL_MESSAGE(credit, .number = PAWL_TEXT("many")));
    world_drain(it);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 2);
    assert_true(world_says(dead.items[0].error, "property 'device'"));
    assert_true(world_says(dead.items[1].error, "property 'number'"));
    assert_int_equal(world_saga_count(it, "Device"), 0);
}

ON_ALL_STORES(e9_handlers_of_base_types_run_as_well, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL,
               PAWL_MESSAGE(visit_begun, .visit = PAWL_TEXT("v1"), .page = PAWL_TEXT("home")));
    LOG_AFTER(world_drain(it), seen, "begun(home) event(v1) ");
    world_json_equal(it, world_saga_text(it, "Visit", "v1", NULL),
                     "{\"visit\":\"v1\",\"count\":11}");
    world_post(it, NULL, PAWL_MESSAGE(visit_event, .visit = PAWL_TEXT("v1")));
    world_drain(it);
    world_json_equal(it, world_saga_text(it, "Visit", "v1", NULL),
                     "{\"visit\":\"v1\",\"count\":21}");
}

/* The saga is over: no other handler of the same message sees it. */
ON_ALL_STORES(e9_a_saga_that_the_first_handler_ends_is_over, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL,
               PAWL_MESSAGE(visit_begun, .visit = PAWL_TEXT("v1"), .page = PAWL_TEXT("the exit")));
    LOG_AFTER(world_drain(it), seen, "begun(the exit) ");
    assert_int_equal(world_saga_count(it, "Visit"), 0);
}

/* The message's own row does not begin the saga that is its base type's. */
ON_ALL_STORES(e9_a_base_type_begins_what_the_own_type_goes_on_with, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(stay_on, .room = PAWL_TEXT("7")));
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(stay_on, .room = PAWL_TEXT("7")));
    LOG_AFTER(world_drain(it), seen, "stay(7) stay_on(7) stay(7) stay_on(7) ");
    assert_int_equal(world_dead(it).count, 0);
}

/* Otherwise the type nearest to the message's own is first. */
ON_ALL_STORES(e9_only_what_begins_the_saga_goes_before_nearer_types, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(stay_over, .room = PAWL_TEXT("7")));
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(stay_anew, .room = PAWL_TEXT("8")));
    world_drain(it);
    assert_string_equal(seen.text,
                        "stay(7) stay_over(7) stay_on(7) stay_anew(8) stay(8) stay_on(8) ");
    world_forget(&seen);
    world_post(it, NULL, PAWL_MESSAGE(be_left, .count = 1));
    LOG_AFTER(world_drain(it), seen, "left lonely ");
}

/* Each row finds a saga of its own: that of the own type is the first. */
ON_ALL_STORES(e9_a_base_type_that_begins_another_saga_comes_later, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(stay, .room = PAWL_TEXT("7")));
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(move_in, .room = PAWL_TEXT("8"), .from = PAWL_TEXT("7")));
    LOG_AFTER(world_drain(it), seen, "stay(7) move_in(7) stay(8) ");
}

/* A type this program does not know, whose header names a base it does. */
ON_ALL_STORES(e9_an_unknown_type_runs_the_handlers_of_its_named_base, const char *url)
{
    const pawl_header headers[] = {{"pawl.base", "far_away,visit_event"}, {NULL, NULL}};
    world            *it        = open_world(url);
    world_post(it, NULL,
               PAWL_MESSAGE(visit_begun, .visit = PAWL_TEXT("v1"), .page = PAWL_TEXT("home")));
    world_drain(it);
    world_forget(&seen);
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it), .headers = headers};
    must(pawl_sender_send_json(it->sender, "desk", &options, "visit_of_tomorrow",
                               PAWL_TEXT("{\"visit\":\"v1\",\"new\":1}"), world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    LOG_AFTER(world_drain(it), seen, "event(v1) ");
    assert_int_equal(world_dead(it).count, 0);
}

ON_ALL_STORES(s19_a_saga_without_correlation, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(be_lonely, .count = 1));
    world_post(it, NULL, PAWL_MESSAGE(be_lonely, .count = 2));
    world_drain(it);
    assert_int_equal(world_saga_count(it, "Lonely"), 2);
}

ON_ALL_STORES(e11_a_starter_without_a_value_is_refused, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(visit_begun, .page = PAWL_TEXT("home")));
    world_post_json(it, NULL, "visit_begun", "{\"visit\":null}");
    world_post(it, NULL, PAWL_MESSAGE(open_account, .number = 0));
    world_post(it, NULL,
               PAWL_MESSAGE(plug, .device = PAWL_TEXT("00000000-0000-0000-0000-000000000000")));
    world_drain(it);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 4);
    for (size_t i = 0; i < dead.count; i++)
        assert_true(world_says(dead.items[i].error, "a saga cannot be started by it"));
    assert_int_equal(world_saga_count(it, "Visit"), 0);
    assert_int_equal(world_saga_count(it, "Account"), 0);
    assert_int_equal(world_saga_count(it, "Device"), 0);
    assert_string_equal(seen.text, "");
}
