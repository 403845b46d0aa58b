/* test_engine_saga_answers.c - answers of entities to a saga's commands: messages of its table, for the
 * saga whose id the command carried; an ended saga hears nothing.
 *
 * E14, E20, O11.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/process.h"

static world_log  seen;
static test_lines warnings;

/* ---- A desk that does what it is asked, or says no ---------------------------------- */

RECORD(desk, (INT32, jobs));
RECORD(work, (TEXT, desk), (TEXT, how));
RECORD(worked, (TEXT, how));

static pawl_code on_work(pawl_context *ctx, const desk *state, const work *command)
{
    return text_is(command->how, "no") ? pawl_fail(ctx, PAWL_REJECT, "the desk is closed")
                                       : pawl_emit(ctx, PAWL_MESSAGE(worked, .how = command->how));
}
PAWL_ENTITY_HANDLER(on_work, desk, work);

static void apply_worked(desk *state, const worked *event)
{
    state->jobs++;
}
PAWL_APPLY(apply_worked, desk, worked);

static const pawl_entity desk_entity = {
    .name  = "Desk",
    .state = PAWL_RECORD_OF(desk),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_work), .key = "desk"}),
    .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_worked))};

/* ---- Sagas whose names begin alike, and one that wants no answer -------------------------- */

RECORD(trip, (INT64, number), (INT32, answers));
RECORD(trips_state, (INT64, number), (INT32, answers));
RECORD(quiet_state, (INT64, number), (INT32, answers));
RECORD(begin, (INT64, number), (TEXT, how));
RECORD(go, (INT64, number), (TEXT, how));
RECORD(end, (INT64, number), (TEXT, how));
RECORD(hush, (INT64, number), (TEXT, how));

static pawl_code order(pawl_context *ctx, const char *how)
{
    return pawl_send(ctx, "desks",
                     PAWL_MESSAGE(work, .desk = PAWL_TEXT("d"), .how = pawl_text_of(how)));
}

/* "yes", "no" or "both"; "gone": both, and over before it is told; "now": before the commit. */
static pawl_code ask(pawl_context *ctx, pawl_text how)
{
    if (text_is(how, "now"))
        return pawl_send_now(ctx, "desks",
                             PAWL_MESSAGE(work, .desk = PAWL_TEXT("d"), .how = PAWL_TEXT("no")));
    if (text_is(how, "wait"))
        return PAWL_OK;
    if (!text_is(how, "no"))
        order(ctx, "yes");
    if (!text_is(how, "yes"))
        order(ctx, "no");
    return text_is(how, "gone") ? pawl_complete(ctx) : PAWL_OK;
}

static pawl_code on_begin(pawl_context *ctx, trip *state, const begin *message)
{
    world_note(&seen, "Trip/%d", (int)state->number);
    return ask(ctx, message->how);
}
PAWL_HANDLER(on_begin, trip, begin);

static pawl_code on_go(pawl_context *ctx, trip *state, const go *message)
{
    world_note(&seen, "Trip/%d:go", (int)state->number);
    return ask(ctx, message->how);
}
PAWL_HANDLER(on_go, trip, go);

static pawl_code on_end(pawl_context *ctx, trip *state, const end *message)
{
    world_note(&seen, "Trip/%d:end", (int)state->number);
    return pawl_complete(ctx);
}
PAWL_HANDLER(on_end, trip, end);

static pawl_code on_accepted(pawl_context *ctx, trip *state, const pawl_accepted *answer)
{
    assert_true(text_is(answer->type, "work"));
    world_note(&seen, "Trip/%d:accepted", (int)state->number);
    state->answers++;
    return PAWL_OK;
}
PAWL_HANDLER(on_accepted, trip, pawl_accepted);

static pawl_code on_rejected(pawl_context *ctx, trip *state, const pawl_rejected *answer)
{
    assert_true(text_is(answer->type, "work"));
    assert_true(text_is(answer->reason, "the desk is closed"));
    world_note(&seen, "Trip/%d:rejected", (int)state->number);
    state->answers += 10;
    return PAWL_OK;
}
PAWL_HANDLER(on_rejected, trip, pawl_rejected);

static pawl_code on_begin_too(pawl_context *ctx, trips_state *state, const begin *message)
{
    world_note(&seen, "Trips/%d", (int)state->number);
    order(ctx, "yes");
    order(ctx, "no");
    return text_is(message->how, "gone") ? pawl_complete(ctx) : PAWL_OK;
}
PAWL_HANDLER(on_begin_too, trips_state, begin);

static pawl_code on_rejected_too(pawl_context *ctx, trips_state *state, const pawl_rejected *answer)
{
    world_note(&seen, "Trips/%d:rejected", (int)state->number);
    state->answers += 10;
    return PAWL_OK;
}
PAWL_HANDLER(on_rejected_too, trips_state, pawl_rejected);

static pawl_code on_hush(pawl_context *ctx, quiet_state *state, const hush *message)
{
    return ask(ctx, message->how);
}
PAWL_HANDLER(on_hush, quiet_state, hush);

static const pawl_saga trip_saga = SAGA_OF(
    "Trip", trip, "number", {.handle = PAWL_HANDLE(on_begin), .key = "number", .starts = true},
    {.handle = PAWL_HANDLE(on_go), .key = "number"},
    {.handle = PAWL_HANDLE(on_end), .key = "number"}, {.handle = PAWL_HANDLE(on_accepted)},
    {.handle = PAWL_HANDLE(on_rejected)});
static const pawl_saga trips_saga =
    SAGA_OF("Trips", trips_state, "number",
            {.handle = PAWL_HANDLE(on_begin_too), .key = "number", .starts = true},
            {.handle = PAWL_HANDLE(on_rejected_too), .not_found = PAWL_NOT_FOUND_DEAD});
static const pawl_saga quiet_saga =
    SAGA_OF("Quiet", quiet_state, "number",
            {.handle = PAWL_HANDLE(on_hush), .key = "number", .starts = true});

static const pawl_endpoint_spec desks = {.name = "desks", .entities = PAWL_ENTITIES(&desk_entity)};
static const pawl_endpoint_spec trips = {.name = "trips", .sagas = PAWL_SAGAS(&trip_saga)};
static const pawl_application   together = ONE_ENDPOINT(
      "together", .name = "desks", .sagas = PAWL_SAGAS(&trip_saga, &trips_saga, &quiet_saga),
      .entities = PAWL_ENTITIES(&desk_entity));
static const pawl_application alone =
    ONE_ENDPOINT("alone", .name = "desks", .sagas = PAWL_SAGAS(&trip_saga),
                 .entities = PAWL_ENTITIES(&desk_entity));
static const pawl_application apart = APPLICATION("apart", &trips, &desks);

static world *open_world(const char *url, const pawl_application *application, const char *ordered)
{
    const pawl_endpoint_options options = {.delayed_retries = -1, .ordered = ordered};
    world_forget(&seen);
    test_listen(&warnings, PAWL_LOG_WARNING, NULL);
    return world_begin(url, application, NULL, &options);
}

static void close_world(world *it)
{
    world_close(it);
    world_quiet();
}

static void post_begin(world *it, int number, const char *how)
{
    world_post(it, NULL, PAWL_MESSAGE(begin, .number = number, .how = pawl_text_of(how)));
}

/* -1: there is no such saga. Ten for each rejection, one for each acceptance that it heard of. */
static int answers_of(world *it, const char *saga, int number)
{
    const pawl_value value   = {PAWL_VALUE_INT, .as.integer = number};
    int64_t          version = 0;
    const char      *json    = world_saga(it, saga, &value, &version);
    if (version == 0)
        return -1;
    return strstr(json, "\"answers\"") != NULL ? (int)world_json_number(json, "answers") : 0;
}

/* ---- Answers ------------------------------------------------------------------------------ */

/* Several sagas of two types ask in one batch, and hear in one batch; a message that finds one of them by
 * its key stands between the answers that find it by its id. */
ON_ALL_STORES(each_answer_reaches_the_saga_that_asked, const char *url)
{
    world *it = open_world(url, &together, NULL);
    post_begin(it, 7, "yes");
    post_begin(it, 8, "no");
    post_begin(it, 9, "both");
    assert_int_equal(world_step(it).handled, 3);
    world_step(it);
    world_post(it, NULL, PAWL_MESSAGE(go, .number = 9, .how = PAWL_TEXT("no")));
    world_drain(it);
    assert_int_equal(answers_of(it, "Trip", 7), 1);
    assert_int_equal(answers_of(it, "Trip", 8), 10);
    assert_int_equal(answers_of(it, "Trip", 9), 21);
    for (int number = 7; number <= 9; number++) /* not told of what was accepted */
        assert_int_equal(answers_of(it, "Trips", number), 10);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "desks").count, 0);
    assert_int_equal(warnings.count, 0);
    close_world(it);
}

/* Without the handlers nobody asks, and a rejected command is for people to look at. So is one that a
 * saga sends before its commit: its answer could come before the saga is there. */
ON_ALL_STORES(a_saga_that_asks_nobody_leaves_a_dead_letter, const char *url)
{
    world *it = open_world(url, &together, NULL);
    world_post(it, NULL, PAWL_MESSAGE(hush, .number = 7, .how = PAWL_TEXT("no")));
    post_begin(it, 8, "yes");
    world_post(it, NULL, PAWL_MESSAGE(go, .number = 8, .how = PAWL_TEXT("now")));
    world_drain(it);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(text_is(dead.items[i].message.type, "work"));
        assert_string_equal(dead.items[i].error.data, "the desk is closed");
        assert_false(world_says(dead.items[i].message.headers, PAWL_HEADER_ANSWER));
    }
    assert_int_equal(answers_of(it, "Quiet", 7), 0);
    assert_int_equal(answers_of(it, "Trip", 8), 1);
    close_world(it);
}

/* Each of the two has sent "yes" and "no" and is over. Trip drops both answers with a warning each, Trips
 * has .not_found. Nothing waits. */
ON_ALL_STORES(e14_a_saga_that_has_ended_hears_nothing, const char *url)
{
    world *it = open_world(url, &together, NULL);
    post_begin(it, 7, "gone");
    world_drain(it);
    assert_int_equal(world_queue(it, "desks").count, 0);
    assert_string_equal(seen.text, "Trip/7 Trips/7 ");
    assert_int_equal(warnings.count, 3); /* the dead letter has one, too */
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_true(text_is(dead.items[0].message.type, "pawl.rejected"));
    assert_true(world_says(dead.items[0].error, "saga Trips for "));
    assert_true(world_says(dead.items[0].error, " is over"));
    close_world(it);
}

/* The answers to the first Trip 7 are in the batch in which it ends and another one begins. */
ON_ALL_STORES(e14_a_saga_begun_again_does_not_hear_of_the_one_before, const char *url)
{
    world *it = open_world(url, &alone, NULL);
    post_begin(it, 7, "no");
    world_step(it);
    world_step(it);
    assert_true(text_is(world_queue_row(it, "desks").message.type, "pawl.rejected"));
    world_post_at(it, NULL, WORLD_START - 2, PAWL_MESSAGE(end, .number = 7));
    world_post_at(it, NULL, WORLD_START - 1,
                  PAWL_MESSAGE(begin, .number = 7, .how = PAWL_TEXT("wait")));
    assert_int_equal(world_step(it).handled, 3);
    assert_string_equal(seen.text, "Trip/7 Trip/7:end Trip/7 ");
    assert_int_equal(warnings.count, 1);
    assert_int_equal(answers_of(it, "Trip", 7), 0);
    world_post(it, NULL, PAWL_MESSAGE(go, .number = 7, .how = PAWL_TEXT("yes")));
    world_drain(it);
    assert_int_equal(answers_of(it, "Trip", 7), 1);
    assert_int_equal(world_dead(it).count, 0);
    close_world(it);
}

static void post_answer(world *it, const char *address)
{
    const pawl_header       list[]  = {{PAWL_HEADER_PROCESS, address}, {NULL, NULL}};
    const pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = WORLD_START, .headers = list};
    test_send(it->sender, "desks", &options,
              PAWL_MESSAGE(pawl_rejected, .type = PAWL_TEXT("work"),
                           .reason = PAWL_TEXT("the desk is closed")));
}

/* Another program of the endpoint may have the saga: the answer waits for it. */
ON_ALL_STORES(an_answer_that_names_no_saga_of_the_endpoint_waits_and_is_a_dead_letter,
              const char *url)
{
    static const char *const addresses[] = {"Trip", "Trip/", "Trip/7", "Tri/7",
                                            "Triq/0197c1f2-0000-7000-8000-000000000001"};
    const size_t             count       = COUNT(addresses);
    world                   *it          = open_world(url, &together, NULL);
    for (size_t i = 0; i < count; i++)
        post_answer(it, addresses[i]);
    world_drain(it);
    assert_int_equal(world_queue(it, "desks").count, count);
    world_go_both(it, PAWL_MINUTES(1));
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(world_says(dead.items[i].error, "which is neither a saga nor a process"));
    /* A saga of this type that is not there has ended. */
    post_answer(it, "Trip/0197c1f2-0000-7000-8000-000000000001");
    world_drain(it);
    assert_int_equal(world_dead(it).count, count);
    assert_int_equal(world_queue(it, "desks").count, 0);
    assert_string_equal(seen.text, "");
    close_world(it);
}

ON_ALL_STORES(answers_come_to_an_ordered_endpoint, const char *url)
{
    world *it = open_world(url, &together, PAWL_ORDERED_BY_SAGA);
    post_begin(it, 7, "both");
    post_begin(it, 8, "no");
    world_drain(it);
    assert_int_equal(answers_of(it, "Trip", 7), 11);
    assert_int_equal(answers_of(it, "Trips", 7), 10);
    assert_int_equal(answers_of(it, "Trip", 8), 10);
    assert_int_equal(world_dead(it).count, 0);
    close_world(it);
}

/* ---- Two stores ------------------------------------------------------------------------------ */

ON_ALL_STORES(answers_come_from_another_store, const char *url)
{
    char target[1000];
    assert_true(
        scenario_url(test_text("%.*s", (int)strcspn(url, ":"), url), target, sizeof target));
    const pawl_route there[2] = {{.name = "desks", .url = target}, {.name = NULL}};
    const pawl_route back[2]  = {{.name = "trips", .url = url}, {.name = NULL}};
    world_forget(&seen);
    world *desk_side =
        world_begin(target, &apart, "desks", &(pawl_endpoint_options){.routes = back});
    world *asking = world_begin(url, &apart, "trips", &(pawl_endpoint_options){.routes = there});
    post_begin(asking, 7, "both");
    post_begin(asking, 8, "no");
    for (int i = 0; i < 4; i++) {
        world_drain(asking);
        world_drain(desk_side);
    }
    assert_int_equal(answers_of(asking, "Trip", 7), 11);
    assert_int_equal(answers_of(asking, "Trip", 8), 10);
    assert_int_equal(world_dead(desk_side).count, 0);
    world_close(asking);
    world_close(desk_side);
    scenario_forget(target);
}
