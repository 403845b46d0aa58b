/* test_engine_process_review.c - processes and entities at their edges: a dispatch that
 * comes again when its process is over, what a timeout knows of the message that set it,
 * commands under ids of their own, keys without a value, answers that nobody here asked
 * for.
 *
 * O17, E11, E12, E28.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/process.h"

static world_log seen;

/* ---- Shelves ------------------------------------------------------------------ */

RECORD(shelf, (INT64, count));
#define PUT(F) F(TEXT, shelf)
PAWL_RECORD(put, PUT);
RECORD(was_put, (INT64, count));

static pawl_code on_put(pawl_context *ctx, const shelf *state, const put *command)
{
    return pawl_emit(ctx, PAWL_MESSAGE(was_put, .count = 1));
}
PAWL_ENTITY_HANDLER(on_put, shelf, put);

static void apply_was_put(shelf *state, const was_put *event)
{
    state->count += event->count;
}
PAWL_APPLY(apply_was_put, shelf, was_put);

#define SHELF_ENTITY(entity_name)                                          \
    {                                                                      \
        .name = entity_name, .state = PAWL_RECORD_OF(shelf),               \
        .on    = PAWL_ON({.handle = PAWL_HANDLE(on_put), .key = "shelf"}), \
        .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_was_put)),             \
    }

static const pawl_entity north_entity = SHELF_ENTITY("North");
static const pawl_entity south_entity = SHELF_ENTITY("South");

/* ---- Jobs ----------------------------------------------------------------------- */

RECORD(job, (INT64, steps));
#define GO(F)    \
    F(UUID, id)  \
    F(TEXT, how) \
    F(INT64, number)
PAWL_RECORD(go, GO);
PAWL_RECORD(count_up, GO);
RECORD(stepped, (INT64, by));

/* To two queues under one id of the application's own. */
static pawl_code send_twice(pawl_context *ctx)
{
    const pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .id = "order-7"};
    (void)pawl_send_with(ctx, "north", &options, PAWL_MESSAGE(put, .shelf = PAWL_TEXT("a")));
    return pawl_send_with(ctx, "south", &options, PAWL_MESSAGE(put, .shelf = PAWL_TEXT("a")));
}

static pawl_code on_go(pawl_context *ctx, const job *state, const go *message)
{
    world_note(&seen, "go(%d)", (int)state->steps);
    if (text_is(message->how, "twice"))
        return send_twice(ctx);
    if (text_is(message->how, "wait"))
        return pawl_timeout(ctx, "late", PAWL_MINUTES(5));
    (void)pawl_emit(ctx, PAWL_MESSAGE(stepped, .by = 1));
    return text_is(message->how, "end") ? pawl_complete(ctx) : PAWL_OK;
}
PAWL_PROCESS_HANDLER(on_go, job, go);

static pawl_code on_count(pawl_context *ctx, const job *state, const count_up *message)
{
    world_note(&seen, "count(%d)", (int)state->steps);
    return pawl_emit(ctx, PAWL_MESSAGE(stepped, .by = 1));
}
PAWL_PROCESS_HANDLER(on_count, job, count_up);

static pawl_code on_accepted(pawl_context *ctx, const job *state, const pawl_accepted *answer)
{
    world_note(&seen, "accepted(%d)", (int)state->steps);
    return pawl_emit(ctx, PAWL_MESSAGE(stepped, .by = 1));
}
PAWL_PROCESS_HANDLER(on_accepted, job, pawl_accepted);

static pawl_code on_late(pawl_context *ctx, const job *state)
{
    world_note(&seen, "late(%.*s,%.*s)", PAWL_TEXT_ARGS(pawl_header_value(ctx, "tenant")),
               PAWL_TEXT_ARGS(pawl_stream_in_flight(ctx)));
    return pawl_reply(ctx, PAWL_MESSAGE(stepped, .by = 1));
}
PAWL_PROCESS_TIMEOUT_HANDLER(on_late, job);

static void apply_stepped(job *state, const stepped *event)
{
    state->steps += event->by;
}
PAWL_APPLY(apply_stepped, job, stepped);

static const pawl_process job_process = {
    .name  = "Job",
    .state = PAWL_RECORD_OF(job),
    .on    = PAWL_ON({.handle    = PAWL_HANDLE(on_go),
                      .key       = "id",
                      .starts    = true,
                      .not_found = PAWL_NOT_FOUND_DEAD},
                     {.handle = PAWL_HANDLE(on_count), .key = "number", .starts = true},
                     {.handle = PAWL_HANDLE(on_accepted)},
                     {.handle = PAWL_HANDLE(on_late), .timeout = "late"}),
    .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_stepped)),
};

static const pawl_endpoint_spec jobs = {
    .name      = "jobs",
    .processes = PAWL_PROCESSES(&job_process),
};
static const pawl_endpoint_spec north = {
    .name     = "north",
    .entities = PAWL_ENTITIES(&north_entity),
};
static const pawl_endpoint_spec south = {
    .name     = "south",
    .entities = PAWL_ENTITIES(&south_entity),
};
static const pawl_application application = APPLICATION("yard", &jobs, &north, &south);

#define JOB_ID "0b9c3d1e-2f4a-4c6e-8d7b-1a2b3c4d5e6f"
#define STREAM "Job/" JOB_ID

static world *open_world(const char *url)
{
    const pawl_endpoint_options options = {.delayed_retries = -1};
    world_forget(&seen);
    return world_begin(url, &application, "jobs", &options);
}

static void post_go(world *it, const char *id, const char *how, const pawl_header *headers)
{
    go                message = {.how = pawl_text_of(how)};
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it), .id = id,
                                 .headers = headers};
    must(pawl_uuid_parse(PAWL_TEXT(JOB_ID), &message.id, world_error()));
    test_send(it->sender, "jobs", &options, PAWL_RECORD_OF(go)(), &message);
}

/* Lets another endpoint of the application do what is there for it. */
static void drain_other(const world *it, const char *name)
{
    pawl_endpoint *other = NULL;
    pawl_step      sum   = PAWL_STEP_INIT;
    must(pawl_endpoint_create(&application, name, &it->options, &other, world_error()));
    must(pawl_endpoint_drain(other, &sum, world_error()));
    pawl_endpoint_destroy(other);
}

/* As if its mark had been swept. */
static void forget(world *it, const char *id)
{
    pawl_changes  changes  = {ONE_UNIT, .now = world_now(it)};
    pawl_dead_set unmark   = {.is_remove = true,
                              .endpoint  = PAWL_TEXT("jobs"),
                              .message   = {.id = pawl_text_of(id), .type = PAWL_TEXT("go")}};
    changes.dead_set.items = &unmark;
    changes.dead_set.count = 1;
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
    assert_false(world_is_marked(it, id));
}

ON_ALL_STORES(o17_a_known_dispatch_is_dropped_when_its_process_is_over, const char *url)
{
    static const char *const first = "00000001-7d7e-5c4e-9d5b-0c2f4e6a8b1c";
    static const char *const last  = "00000002-7d7e-5c4e-9d5b-0c2f4e6a8b1c";
    world                   *it    = open_world(url);
    post_go(it, first, "", NULL);
    world_drain(it);
    post_go(it, last, "end", NULL);
    world_drain(it);
    forget(it, first);
    forget(it, last);
    post_go(it, first, "", NULL);
    post_go(it, last, "end", NULL);
    world_drain(it);
    assert_int_equal(world_dead(it).count, 0);
    assert_string_equal(seen.text, "go(0) go(1) ");
    assert_int_equal(world_events(it, STREAM).count, 3);
    post_go(it, NULL, "", NULL); /* a message that the process never saw */
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
}

ON_ALL_STORES(e12_a_timeout_of_a_process_has_the_headers_of_its_message, const char *url)
{
    static const pawl_header headers[] = {
        {"tenant", "north"}, {"pawl.reply_to", "asker"}, {NULL, NULL}};
    world *it = open_world(url);
    post_go(it, NULL, "wait", headers);
    world_drain(it);
    LOG_AFTER(world_go(it, PAWL_MINUTES(5)), seen, "go(0) late(north," STREAM ") ");
    assert_int_equal(world_queue(it, "asker").count, 1);
    assert_int_equal(world_dead(it).count, 0);
}

/* The timeout has one header more than the message, for which there is no room. */
ON_ALL_STORES(e12_a_timeout_of_a_process_without_room_for_its_name_is_named, const char *url)
{
    static char text[PAWL_HEADERS_SIZE_MAX - 20];
    memset(text, 'x', sizeof text - 1);
    const pawl_header headers[] = {{"tenant", text}, {NULL, NULL}};
    world            *it        = open_world(url);
    post_go(it, NULL, "wait", headers);
    world_drain(it);
    assert_int_equal(world_timeouts(it).count, 0);
    assert_true(world_says(world_dead_letter(it).error,
                           "timeout 'late' of " STREAM
                           ": the message's headers and pawl.process have"));
}

/* Set by one message and over by the next, in one batch: it is never set. */
ON_ALL_STORES(e13_a_process_that_ends_takes_the_timeouts_of_its_batch_along, const char *url)
{
    world *it = open_world(url);
    post_go(it, NULL, "wait", NULL);
    post_go(it, NULL, "end", NULL);
    assert_int_equal(world_step(it).handled, 2);
    assert_string_equal(seen.text, "go(0) go(0) ");
    assert_int_equal(world_timeouts(it).count, 0);
}

ON_ALL_STORES(each_queue_answers_a_command_under_an_id_of_its_own, const char *url)
{
    world *it = open_world(url);
    post_go(it, NULL, "twice", NULL);
    world_drain(it);
    drain_other(it, "north");
    world_drain(it);
    drain_other(it, "south");
    world_drain(it);
    assert_int_equal(world_events(it, "North/a").count, 1);
    assert_int_equal(world_events(it, "South/a").count, 1);
    assert_string_equal(seen.text, "go(0) accepted(0) accepted(1) ");
}

ON_ALL_STORES(e11_a_key_without_a_value_begins_no_process, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(go, .how = PAWL_TEXT("")));
    world_post(it, NULL, PAWL_MESSAGE(count_up, .number = 0));
    LOG_AFTER(world_drain(it), seen, "");
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 2);
    for (size_t i = 0; i < dead.count; i++)
        assert_true(world_says(dead.items[i].error, "cannot be started by it"));
    world_post(it, NULL, PAWL_MESSAGE(count_up, .number = -1));
    world_drain(it);
    assert_int_equal(world_events(it, "Job/-1").count, 1);
}

/* As from a process that a newer program has. */
ON_ALL_STORES(e28_an_answer_to_an_unknown_process_waits_and_is_a_dead_letter, const char *url)
{
    static const pawl_header headers[] = {{PAWL_HEADER_PROCESS, "Errand/1"}, {NULL, NULL}};
    world                   *it        = open_world(url);
    const pawl_send_options  options   = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it),
                                          .headers = headers};
    test_send(it->sender, "jobs", &options, PAWL_MESSAGE(pawl_accepted, .type = PAWL_TEXT("put")));
    world_drain(it);
    assert_int_equal(world_queue(it, "jobs").count, 1);
    assert_int_equal(world_dead(it).count, 0);
    world_go_both(it, PAWL_SECONDS(30));
    assert_int_equal(world_queue(it, "jobs").count, 0);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "answers 'Errand/1'"));
    assert_string_equal(seen.text, "");
}
