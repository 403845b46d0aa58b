/* test_engine_starter.c - a message that begins no saga waits as long as its starter is being
 * retried. E3.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

RECORD(room_state, (TEXT, name), (INT64, number), (INT32, guests));
#define NAMED(F)  \
    F(TEXT, name) \
    F(INT64, number)
PAWL_RECORD(open_room, NAMED);
PAWL_RECORD_WITH(open_suite, NAMED, .base = PAWL_RECORD_OF(open_room));
PAWL_RECORD(enter_room, NAMED);
PAWL_RECORD(leave_room, NAMED);
PAWL_RECORD(tour_state, A_NAME);
PAWL_RECORD(begin_tour, A_NAME);
PAWL_RECORD(join_tour, A_NAME);
PAWL_RECORD(tour_begun, A_NAME);

static world_log seen;
static int       failures; /* of the next starters */
static bool      is_hopeless;

static pawl_code begin(pawl_context *ctx, const char *what)
{
    world_note(&seen, "%s", what);
    if (is_hopeless)
        return pawl_fail(ctx, PAWL_REJECT, "never");
    return failures > 0 && failures-- > 0 ? pawl_fail(ctx, PAWL_EUNREACHABLE, "away") : PAWL_OK;
}

static pawl_code on_open_room(pawl_context *ctx, room_state *state, const open_room *message)
{
    state->number = message->number;
    return begin(ctx, "open");
}
PAWL_HANDLER(on_open_room, room_state, open_room);

static pawl_code on_enter_room(pawl_context *ctx, room_state *state, const enter_room *message)
{
    state->guests++;
    world_note(&seen, "enter");
    return PAWL_OK;
}
PAWL_HANDLER(on_enter_room, room_state, enter_room);

static pawl_code on_leave_room(pawl_context *ctx, room_state *state, const leave_room *message)
{
    state->guests--;
    world_note(&seen, "leave");
    return PAWL_OK;
}
PAWL_HANDLER(on_leave_room, room_state, leave_room);

static const pawl_saga room_saga = {
    .name         = "Room",
    .state        = PAWL_RECORD_OF(room_state),
    .correlation  = "name",
    .transitional = "number",
    .on =
        PAWL_ON({.handle           = PAWL_HANDLE(on_open_room),
                 .key              = "name",
                 .transitional_key = "number",
                 .starts           = true},
                {.handle = PAWL_HANDLE(on_enter_room), .key = "name", .transitional_key = "number"},
                {.handle           = PAWL_HANDLE(on_leave_room),
                 .key              = "name",
                 .transitional_key = "number",
                 .not_found        = PAWL_NOT_FOUND_DEAD})};

static void apply_tour_begun(tour_state *state, const tour_begun *event)
{
    state->name = event->name;
}
PAWL_APPLY(apply_tour_begun, tour_state, tour_begun);

static pawl_code on_begin_tour(pawl_context *ctx, const tour_state *state,
                               const begin_tour *message)
{
    pawl_code code = begin(ctx, "begin");
    return code == PAWL_OK ? pawl_emit(ctx, PAWL_MESSAGE(tour_begun, .name = message->name)) : code;
}
PAWL_PROCESS_HANDLER(on_begin_tour, tour_state, begin_tour);

static pawl_code on_join_tour(pawl_context *ctx, const tour_state *state, const join_tour *message)
{
    world_note(&seen, "join");
    return PAWL_OK;
}
PAWL_PROCESS_HANDLER(on_join_tour, tour_state, join_tour);

static const pawl_process tour = {
    .name  = "Tour",
    .state = PAWL_RECORD_OF(tour_state),
    .on    = PAWL_ON(
           {.handle = PAWL_HANDLE(on_begin_tour), .key = "name", .starts = true},
           {.handle = PAWL_HANDLE(on_join_tour), .key = "name", .not_found = PAWL_NOT_FOUND_DEAD}),
    .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_tour_begun))};

IDLE_MESSAGE_HANDLER(on_open_suite, open_suite);

static const pawl_application application = ONE_ENDPOINT(
    "starters", .name = "house", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_open_suite)}),
    .sagas = PAWL_SAGAS(&room_saga), .processes = PAWL_PROCESSES(&tour));

static world *open_world(const char *url, int count)
{
    const pawl_endpoint_options options = {
        .immediate_retries = -1, .delayed_retries = 3, .retry_delay = PAWL_MINUTES(10)};
    world_forget(&seen);
    failures    = count;
    is_hopeless = false;
    return world_begin(url, &application, NULL, &options);
}

static void post_open(world *it, const char *name, int64_t number)
{
    world_post(it, NULL, PAWL_MESSAGE(open_room, .name = pawl_text_of(name), .number = number));
}

static void post_enter(world *it, const char *id, const char *name)
{
    world_post(it, id, PAWL_MESSAGE(enter_room, .name = pawl_text_of(name)));
}

/* Lets so many minutes pass, one by one. */
static void pass(world *it, int minutes)
{
    for (int i = 0; i < minutes; i++)
        world_go_both(it, PAWL_MINUTES(1));
}

/* ---- It waits ------------------------------------------------------------------ */

/* Ten, twenty and forty minutes, each +/- 10 % jitter; without the starter 30 s would end the
 * wait. */
ON_ALL_STORES_IN_TIME(e3_waits_as_long_as_its_starter_is_retried, const char *url)
{
    world *it = open_world(url, 3);
    post_open(it, "r", 1);
    post_enter(it, "e", "r"); /* in the batch in which the starter fails first */
    world_drain(it);
    post_enter(it, "f", "r");
    LOG_AFTER(pass(it, 2), seen, "open ");
    LOG_AFTER(pass(it, 80), seen, "open open open open enter enter ");
    assert_true(world_is_marked(it, "e") && world_is_marked(it, "f"));
    world_json_equal(it, world_saga_text(it, "Room", "r", NULL),
                     "{\"name\":\"r\",\"number\":1,\"guests\":2}");
}

/* A suite begins the saga as the room that it is made from. */
ON_ALL_STORES_IN_TIME(e3_a_starter_of_a_derived_type_is_waited_for, const char *url)
{
    world *it = open_world(url, 1);
    world_post(it, NULL, PAWL_MESSAGE(open_suite, .name = PAWL_TEXT("r"), .number = 1));
    world_drain(it);
    post_enter(it, "e", "r");
    LOG_AFTER(pass(it, 2), seen, "open ");
    LOG_AFTER(pass(it, 12), seen, "open open enter ");
}

/* Waiting costs a look for each delivery of the starter, not one for each second. */
ON_ALL_STORES_IN_TIME(e3_is_due_right_behind_its_starter, const char *url)
{
    world *it = open_world(url, 1);
    post_open(it, "r", 1);
    world_drain(it);
    post_enter(it, "e", "r");
    world_drain(it);
    pawl_queue_rows rows = world_queue(it, "house");
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.items[1].due - rows.items[0].due, PAWL_MILLISECONDS(50));
    assert_int_equal(rows.items[1].attempts, 0);
    assert_int_equal(rows.items[0].attempts, 1);
}

ON_ALL_STORES_IN_TIME(e3_a_dead_starter_ends_the_wait, const char *url)
{
    world *it = open_world(url, 1);
    post_open(it, "r", 1);
    post_enter(it, "e", "r");
    world_post(it, "l", PAWL_MESSAGE(leave_room, .name = PAWL_TEXT("r")));
    world_drain(it);
    assert_int_equal(world_queue(it, "house").count, 3);
    is_hopeless = true;
    pass(it, 12);
    assert_int_equal(world_queue(it, "house").count, 0);
    assert_int_equal(world_dead(it).count, 2); /* the starter, and the one that is never dropped */
    assert_true(world_is_marked(it, "e"));
    assert_string_equal(seen.text, "open open ");
}

/* Another worker runs the starter again right now: its row is due and claimed. */
ON_ALL_STORES_IN_TIME(e3_waits_for_a_starter_in_other_hands, const char *url)
{
    world *it = open_world(url, 1);
    post_open(it, "r", 1);
    world_drain(it);
    pawl_clock_set(it->business, world_queue(it, "house").items[0].due);
    pawl_queue_row claimed = world_claim_oldest(it, "house");
    post_enter(it, "e", "r");
    world_drain(it);
    assert_false(world_is_marked(it, "e"));
    world_give_back(it, "house", &claimed, PAWL_QUEUE_RELEASE);
    LOG_AFTER(pass(it, 1), seen, "open open enter ");
}

ON_ALL_STORES_IN_TIME(e3_waits_by_the_transitional_value, const char *url)
{
    world *it = open_world(url, 1);
    post_open(it, "r", 7);
    world_drain(it);
    world_post(it, "e", PAWL_MESSAGE(enter_room, .number = 7));
    world_drain(it);
    assert_false(world_is_marked(it, "e"));
    world_post(it, "n", PAWL_MESSAGE(enter_room, .number = 8));
    world_drain(it);
    assert_true(world_is_marked(it, "n"));
    LOG_AFTER(pass(it, 12), seen, "open open enter ");
}

ON_ALL_STORES_IN_TIME(e3_a_process_is_waited_for_too, const char *url)
{
    world *it = open_world(url, 1);
    world_post(it, "b", PAWL_MESSAGE(begin_tour, .name = PAWL_TEXT("t")));
    world_drain(it);
    world_post(it, "j", PAWL_MESSAGE(join_tour, .name = PAWL_TEXT("t")));
    world_post(it, "k", PAWL_MESSAGE(join_tour, .name = PAWL_TEXT("u")));
    world_drain(it);
    assert_false(world_is_marked(it, "j"));
    assert_int_equal(world_dead(it).count, 1);
    LOG_AFTER(pass(it, 12), seen, "begin begin join ");
}

/* ---- It does not ----------------------------------------------------------------- */

ON_ALL_STORES_IN_TIME(e3_a_starter_of_another_value_is_none, const char *url)
{
    world *it = open_world(url, 1);
    post_open(it, "r", 1);
    post_enter(it, "e", "other");
    world_drain(it);
    assert_true(world_is_marked(it, "e"));
    post_enter(it, "f", "other");
    world_drain(it);
    assert_true(world_is_marked(it, "f"));
    assert_int_equal(world_queue(it, "house").count, 1);
}

/* A message that was to be handled before its starter had no saga, and has none. */
ON_ALL_STORES_IN_TIME(e3_a_starter_of_a_later_place_is_none, const char *url)
{
    world *it = open_world(url, 1);
    post_open(it, "r", 1);
    world_drain(it);
    world_post_at(it, "e", world_now(it) - PAWL_SECONDS(1),
                  PAWL_MESSAGE(enter_room, .name = PAWL_TEXT("r")));
    world_drain(it);
    assert_true(world_is_marked(it, "e"));
}

/* Messages that begin nothing make no other message wait, retried or not. */
ON_ALL_STORES_IN_TIME(e3_a_retried_message_that_begins_nothing_is_none, const char *url)
{
    pawl_changes changes = {ONE_UNIT, .now = WORLD_START};
    world       *it      = open_world(url, 0);
    post_enter(it, "first", "r");
    pawl_queue_settle settle   = {.queue    = PAWL_TEXT("house"),
                                  .seq      = world_claim_oldest(it, "house").seq,
                                  .action   = PAWL_QUEUE_RETRY,
                                  .due      = world_now(it) + PAWL_HOURS(1),
                                  .attempts = 1};
    changes.queue_settle.items = &settle;
    changes.queue_settle.count = 1;
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
    post_enter(it, "e", "r");
    world_drain(it);
    assert_true(world_is_marked(it, "e"));
}

/* More starters wait for their retry than are read: one of the others may be the message's own. */
ON_ALL_STORES_IN_TIME(e3_of_too_many_starters_one_may_be_meant, const char *url)
{
    world *it = open_world(url, 260);
    for (int i = 0; i < 260; i++)
        post_open(it, test_text("r%d", i), i + 1);
    world_drain(it);
    post_enter(it, "e", "none");
    post_enter(it, "f", "r259");
    world_drain(it);
    assert_false(world_is_marked(it, "e") || world_is_marked(it, "f"));
    pass(it, 20);
    assert_true(world_is_marked(it, "e"));
    world_json_equal(it, world_saga_text(it, "Room", "r259", NULL),
                     "{\"name\":\"r259\",\"number\":260,\"guests\":1}");
}
