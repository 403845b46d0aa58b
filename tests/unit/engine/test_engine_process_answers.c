/* test_engine_process_answers.c - messages between processes and entities: commands, answers,
 * replies, publications, traces; in one store and between two.
 *
 * O4, O5, O17, E24.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/native.h"
#include "support/world.h"

#include "pawl/process.h"

static world_log   seen;
static const char *here; /* the store of the handlers with SQL */

/* ---- Desks that do what they are asked -------------------------------------------- */

RECORD(desk, (INT32, jobs));
RECORD(work, (TEXT, desk), (TEXT, how));
RECORD(work_sql, (TEXT, desk), (TEXT, how));
RECORD(worked, (TEXT, nothing));
RECORD(done, (TEXT, nothing));

static pawl_code on_work(pawl_context *ctx, const desk *state, const work *command)
{
    world_note(&seen, "work(%.*s)", PAWL_TEXT_ARGS(command->how));
    if (text_is(command->how, "no"))
        return pawl_fail(ctx, PAWL_REJECT, "the desk is closed");
    if (text_is(command->how, "nothing"))
        return PAWL_OK;
    if (text_is(command->how, "reply"))
        return pawl_reply(ctx, PAWL_MESSAGE(done, .nothing = PAWL_TEXT("to see")));
    return pawl_emit(ctx, PAWL_MESSAGE(worked, .nothing = command->how));
}
PAWL_ENTITY_HANDLER(on_work, desk, work);

static pawl_code on_work_sql(pawl_context *ctx, const desk *state, const work_sql *command)
{
    world_note(&seen, "sql(%d)", (int)state->jobs);
    pawl_code code =
        native_in(ctx, here, test_text("insert into {own_rows} values (%d)", (int)state->jobs));
    if (code == PAWL_OK)
        code = pawl_emit(ctx, PAWL_MESSAGE(worked, .nothing = command->how));
    return code == PAWL_OK && text_is(command->how, "no") ? pawl_fail(ctx, PAWL_REJECT, "no")
                                                          : code;
}
PAWL_ENTITY_HANDLER(on_work_sql, desk, work_sql);

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
static const pawl_entity board_entity = {
    .name  = "Board",
    .state = PAWL_RECORD_OF(desk),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_work), .key = "desk"}),
    .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_worked))};

/* ---- Two processes whose names begin alike ------------------------------------------ */

RECORD(case_state, (INT32, answers), (INT32, replies));
RECORD(begin, (INT64, number), (TEXT, how));
RECORD(announced, (INT64, number));
RECORD(begun, (TEXT, nothing));
RECORD(answered, (TEXT, nothing));

static pawl_code start_case(pawl_context *ctx, const begin *message, const char *how)
{
    world_note(&seen, "%.*s", PAWL_TEXT_ARGS(pawl_stream_in_flight(ctx)));
    if (text_is(message->how, "announce"))
        return pawl_publish(ctx, PAWL_MESSAGE(announced, .number = message->number));
    if (text_is(message->how, "at once"))
        return pawl_send_now(ctx, "one", PAWL_MESSAGE(announced, .number = message->number));
    pawl_emit(ctx, PAWL_MESSAGE(begun, .nothing = message->how));
    return pawl_send(ctx, "desks",
                     PAWL_MESSAGE(work, .desk = PAWL_TEXT("d"), .how = pawl_text_of(how)));
}

static pawl_code on_begin(pawl_context *ctx, const case_state *state, const begin *message)
{
    const char *how = test_text("%.*s", PAWL_TEXT_ARGS(message->how));
    return start_case(ctx, message, how);
}
PAWL_PROCESS_HANDLER(on_begin, case_state, begin);

static pawl_code on_begin_too(pawl_context *ctx, const case_state *state, const begin *message)
{
    return start_case(ctx, message, "no");
}
PAWL_PROCESS_HANDLER(on_begin_too, case_state, begin);

static pawl_code hear(pawl_context *ctx, const char *what, const pawl_uuid *id)
{
    assert_int_equal(id->bytes[6] >> 4, 5);
    world_note(&seen, "%.*s:%s", PAWL_TEXT_ARGS(pawl_stream_in_flight(ctx)), what);
    return pawl_emit(ctx, PAWL_MESSAGE(answered, .nothing = pawl_text_of(what)));
}

static pawl_code on_accepted(pawl_context *ctx, const case_state *state,
                             const pawl_accepted *answer)
{
    return hear(ctx, "accepted", &answer->dispatch_id);
}
PAWL_PROCESS_HANDLER(on_accepted, case_state, pawl_accepted);

static pawl_code on_rejected(pawl_context *ctx, const case_state *state,
                             const pawl_rejected *answer)
{
    assert_true(text_is(answer->reason, "the desk is closed"));
    return hear(ctx, "rejected", &answer->dispatch_id);
}
PAWL_PROCESS_HANDLER(on_rejected, case_state, pawl_rejected);

static void apply_begun(case_state *state, const begun *event)
{
}
PAWL_APPLY(apply_begun, case_state, begun);

static void apply_answered(case_state *state, const answered *event)
{
    state->answers++;
}
PAWL_APPLY(apply_answered, case_state, answered);

static const pawl_apply *const case_applies[] = {PAWL_APPLIES(apply_begun),
                                                 PAWL_APPLIES(apply_answered), NULL};
static const pawl_process      case_process   = {
           .name  = "Case",
           .state = PAWL_RECORD_OF(case_state),
           .on    = PAWL_ON({.handle = PAWL_HANDLE(on_begin), .key = "number", .starts = true},
                            {.handle = PAWL_HANDLE(on_accepted)}, {.handle = PAWL_HANDLE(on_rejected)}),
           .apply = case_applies};
static const pawl_process cases_process = {
    .name  = "Cases",
    .state = PAWL_RECORD_OF(case_state),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_begin_too), .key = "number", .starts = true},
                     {.handle = PAWL_HANDLE(on_accepted)}, {.handle = PAWL_HANDLE(on_rejected)}),
    .apply = case_applies};

/* ---- Endpoints ---------------------------------------------------------------------- */

static const pawl_endpoint_spec desks = {.name = "desks", .entities = PAWL_ENTITIES(&desk_entity)};
static const pawl_endpoint_spec cases = {.name      = "cases",
                                         .processes = PAWL_PROCESSES(&case_process)};
static const pawl_application   apart = APPLICATION("apart", &cases, &desks);
static const pawl_application   together =
    ONE_ENDPOINT("together", .name = "desks", .entities = PAWL_ENTITIES(&desk_entity),
                 .processes = PAWL_PROCESSES(&case_process));
static const pawl_application alike =
    ONE_ENDPOINT("alike", .name = "desks", .entities = PAWL_ENTITIES(&desk_entity),
                 .processes = PAWL_PROCESSES(&case_process, &cases_process));

static const pawl_endpoint_spec two_desks = {.name     = "desks",
                                             .entities = PAWL_ENTITIES(&desk_entity, &board_entity),
                                             .processes = PAWL_PROCESSES(&case_process)};
static const pawl_application   doubled   = APPLICATION("doubled", &two_desks);

static world *open_world(const char *url, const pawl_application *application)
{
    world_forget(&seen);
    return world_begin(url, application, NULL, NULL);
}

static void post_begin(world *it, int number, const char *how)
{
    world_post(it, NULL, PAWL_MESSAGE(begin, .number = number, .how = pawl_text_of(how)));
}

/* ---- Answers -------------------------------------------------------------------------- */

/* And no other looks for it in vain. */
ON_ALL_STORES(each_answer_reaches_its_own_process, const char *url)
{
    static test_lines warnings;
    test_listen(&warnings, PAWL_LOG_WARNING, NULL);
    world *it = open_world(url, &alike);
    post_begin(it, 7, "yes");
    world_drain(it);
    assert_string_equal(seen.text,
                        "Case/7 Cases/7 work(yes) work(no) Case/7:accepted Cases/7:rejected ");
    world_quiet();
    assert_int_equal(warnings.count, 0);
    assert_int_equal(world_events(it, "Case/7").count, 2);
    assert_int_equal(world_events(it, "Cases/7").count, 2);
    assert_int_equal(world_events(it, "Desk/d").count, 1);
    assert_int_equal(world_dead(it).count, 0);
}

ON_ALL_STORES(an_accepted_command_need_not_emit, const char *url)
{
    world *it = open_world(url, &together);
    post_begin(it, 7, "nothing");
    LOG_AFTER(world_drain(it), seen, "Case/7 work(nothing) Case/7:accepted ");
    assert_int_equal(world_events(it, "Desk/d").count, 0);
}

/* The command's message id is its dispatch id, which its event keeps. */
ON_ALL_STORES(an_event_knows_the_dispatch_that_caused_it, const char *url)
{
    char   id[PAWL_UUID_TEXT_SIZE + 1];
    world *it = open_world(url, &together);
    post_begin(it, 7, "yes");
    world_drain(it);
    pawl_event_rows  desk_rows = world_events(it, "Desk/d");
    pawl_event_rows  case_rows = world_events(it, "Case/7");
    pawl_dispatch_id expected =
        pawl_dispatch_id_make(PAWL_TEXT("desks"), PAWL_TEXT("Case/7"), 1, 0);
    pawl_uuid_format(expected.uuid, id);
    assert_memory_equal(desk_rows.items[0].event.dispatch_id.uuid.bytes, expected.uuid.bytes, 16);
    assert_true(text_is(desk_rows.items[0].event.message_id, id));
    /* The answer, which the process heard, was caused by the command. */
    assert_true(text_is(case_rows.items[1].event.causation_id, id));
    assert_true(pawl_text_equal(case_rows.items[0].event.correlation_id,
                                desk_rows.items[0].event.correlation_id));
}

/* A command that two entities handle is accepted once. */
ON_ALL_STORES(two_entities_answer_as_one, const char *url)
{
    world *it = open_world(url, &doubled);
    post_begin(it, 7, "yes");
    LOG_AFTER(world_drain(it), seen, "Case/7 work(yes) work(yes) Case/7:accepted ");
    assert_int_equal(world_events(it, "Desk/d").count, 1);
    assert_int_equal(world_events(it, "Board/d").count, 1);
    assert_int_equal(world_dead(it).count, 0);
}

/* ---- Replies and publications ------------------------------------------------------------ */

ON_ALL_STORES(an_entity_can_reply, const char *url)
{
    const pawl_header list[]  = {{"pawl.reply_to", "asker"}, {NULL, NULL}};
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = WORLD_START, .headers = list};
    world            *it      = open_world(url, &together);
    test_send(it->sender, "desks", &options,
              PAWL_MESSAGE(work, .desk = PAWL_TEXT("d"), .how = PAWL_TEXT("reply")));
    world_drain(it);
    pawl_queue_row rows = world_queue_row(it, "asker");
    assert_true(text_is(rows.message.type, "done"));
    /* A replay must send the same: its id is a dispatch id, and an event says that. */
    assert_int_equal(rows.message.id.data[14], '5');
    assert_true(text_is(world_events(it, "Desk/d").items[0].event.type, "pawl.handled"));
}

static void subscribe(world *it, const char *queue)
{
    MUST_COMMIT(it->store, subscription_set, WORLD_START, .type = PAWL_TEXT("announced"),
                .queue = pawl_text_of(queue));
}

ON_ALL_STORES(a_process_can_publish, const char *url)
{
    world *it = open_world(url, &together);
    subscribe(it, "one");
    subscribe(it, "two");
    post_begin(it, 7, "announce");
    world_drain(it);
    pawl_queue_rows one = world_queue(it, "one"), two = world_queue(it, "two");
    assert_int_equal(one.count, 1);
    assert_int_equal(two.count, 1);
    assert_true(text_is(one.items[0].message.body, "{\"number\":7}"));
    assert_int_equal(one.items[0].message.id.data[14], '5');
    assert_false(pawl_text_equal(one.items[0].message.id, two.items[0].message.id));
    assert_true(text_is(world_events(it, "Case/7").items[0].event.type, "pawl.handled"));
    /* An event is no command: nobody is asked for an answer. */
    assert_false(world_says(one.items[0].message.headers, PAWL_HEADER_ANSWER));
}

/* A process begins by what it sends, whoever gets it: at once, or published when nobody subscribes. */
ON_ALL_STORES(o5_a_process_that_sends_what_is_in_no_commit_has_begun, const char *url)
{
    world *it = open_world(url, &together);
    post_begin(it, 7, "announce");
    post_begin(it, 8, "at once");
    world_drain(it);
    assert_int_equal(world_events(it, "Case/7").count, 1);
    assert_int_equal(world_events(it, "Case/8").count, 1);
    assert_true(text_is(world_events(it, "Case/7").items[0].event.type, "pawl.handled"));
    assert_int_equal(world_queue(it, "one").count, 1);
}

/* ---- Traces ---------------------------------------------------------------------------------- */

#define TRACE "0af7651916cd43dd8448eb211c80319c"

ON_ALL_STORES(a_trace_goes_through_events_and_answers, const char *url)
{
    static const char *const streams[] = {"Case/7", "Desk/d"};
    const pawl_header list[]  = {{"traceparent", "00-" TRACE "-b7ad6b7169203331-01"}, {NULL, NULL}};
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = WORLD_START, .headers = list};
    world            *it      = open_world(url, &together);
    test_send(it->sender, "desks", &options,
              PAWL_MESSAGE(begin, .number = 7, .how = PAWL_TEXT("yes")));
    world_drain(it);
    size_t count = 0;
    for (size_t i = 0; i < 2; i++) {
        pawl_event_rows rows = world_events(it, streams[i]);
        for (size_t j = 0; j < rows.count; j++, count++)
            assert_true(world_says(rows.items[j].event.headers, "\"traceparent\":\"00-" TRACE "-"));
    }
    assert_int_equal(count, 3);
    /* Each in the span of what caused it-> */
    pawl_event_rows rows = world_events(it, "Case/7");
    assert_false(pawl_text_equal(rows.items[0].event.headers, rows.items[1].event.headers));
}

/* ---- Two stores --------------------------------------------------------------------------------- */

typedef struct pair {
    world      cases;
    world      desks;
    char       target[1000];
    pawl_route to_desks[2], to_cases[2];
} pair;

static void close_pair(void *context)
{
    pair *both = context;
    world_close(&both->cases);
    world_close(&both->desks);
    scenario_forget(both->target);
}

/* Until the test ends. */
static pair *open_pair(const char *url)
{
    static pair opened;
    pair       *both = &opened;
    scenario_url_like(url, both->target, sizeof both->target);
    both->to_desks[0] = (pawl_route){.name = "desks", .url = both->target};
    both->to_cases[0] = (pawl_route){.name = "cases", .url = url};
    both->to_desks[1] = both->to_cases[1] = (pawl_route){.name = NULL};
    world_forget(&seen);
    /* Schemas first: each opens the other's store. */
    world_open(&both->desks, both->target, &apart, "desks",
               &(pawl_endpoint_options){.routes = both->to_cases});
    world_open(&both->cases, url, &apart, "cases",
               &(pawl_endpoint_options){.routes = both->to_desks});
    test_later(close_pair, both);
    return both;
}

static void drain_pair(pair *both)
{
    for (int i = 0; i < 4; i++) {
        world_drain(&both->cases);
        world_drain(&both->desks);
    }
}

ON_ALL_STORES(answers_come_from_another_store, const char *url)
{
    pair *both = open_pair(url);
    post_begin(&both->cases, 7, "yes");
    post_begin(&both->cases, 8, "no");
    LOG_AFTER(world_drain(&both->cases), seen, "Case/7 Case/8 ");
    assert_int_equal(world_queue(&both->desks, "desks").count, 2);
    world_drain(&both->desks);
    world_forget(&seen);
    drain_pair(both);
    assert_true(world_says(pawl_text_of(seen.text), "Case/7:accepted"));
    assert_true(world_says(pawl_text_of(seen.text), "Case/8:rejected"));
    assert_int_equal(world_events(&both->cases, "Case/7").count, 2);
    assert_int_equal(world_events(&both->cases, "Case/8").count, 2);
    assert_int_equal(world_events(&both->desks, "Desk/d").count, 1);
    assert_int_equal(world_outbox(&both->cases, PAWL_OUTBOX_DISPATCHED).count, 2);
    assert_int_equal(world_outbox(&both->desks, PAWL_OUTBOX_DISPATCHED).count, 2);
    assert_int_equal(world_dead(&both->desks).count, 0);
}

/* The command of Case/7 comes again when no inbox knows it any more: the stream's
 * memory does. */
static void redeliver(world *at, const char *from)
{
    char                    id[PAWL_UUID_TEXT_SIZE + 1];
    const pawl_header       list[]  = {{"pawl.reply_to", from},
                                       {PAWL_HEADER_PROCESS, "Case/7"},
                                       {PAWL_HEADER_ANSWER, "accepted,rejected"},
                                       {NULL, NULL}};
    const pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = WORLD_START, .id = id,
                                       .headers = list};
    pawl_uuid_format(pawl_dispatch_id_make(pawl_text_of(from), PAWL_TEXT("Case/7"), 1, 0).uuid, id);
    assert_true(world_is_marked(at, id));
    pawl_changes  changes  = {ONE_UNIT, .now = WORLD_START};
    pawl_dead_set forget   = {.is_remove = true,
                              .endpoint  = PAWL_TEXT("desks"),
                              .message   = {.id = pawl_text_of(id), .type = PAWL_TEXT("work")}};
    changes.dead_set.items = &forget;
    changes.dead_set.count = 1;
    must(pawl_store_commit(at->store, &changes, NULL, world_error()));
    assert_false(world_is_marked(at, id));
    test_send(at->sender, "desks", &options,
              PAWL_MESSAGE(work, .desk = PAWL_TEXT("d"), .how = PAWL_TEXT("yes")));
    world_forget(&seen);
    world_step(at);
    assert_true(world_is_marked(at, id));
}

/* Answered with the very message of the first time, which the process's inbox drops. */
ON_ALL_STORES(o17_a_command_that_comes_again_is_answered_again, const char *url)
{
    world *it = open_world(url, &together);
    post_begin(it, 7, "yes");
    world_drain(it);
    redeliver(it, "desks");
    assert_string_equal(world_queue_row(it, "desks").message.type.data, "pawl.accepted");
    world_drain(it);
    assert_string_equal(seen.text, ""); /* no handler ran */
    assert_int_equal(world_events(it, "Desk/d").count, 1);
    assert_int_equal(world_events(it, "Case/7").count, 2);
}

ON_ALL_STORES(o17_a_command_comes_again_from_another_store, const char *url)
{
    pair *both = open_pair(url);
    post_begin(&both->cases, 7, "yes");
    drain_pair(both);
    redeliver(&both->desks, "cases");
    LOG_AFTER(drain_pair(both), seen, "");
    assert_int_equal(world_events(&both->desks, "Desk/d").count, 1);
    assert_int_equal(world_events(&both->cases, "Case/7").count, 2);
}

/* ---- Own SQL ------------------------------------------------------------------------------------- */

static const pawl_entity sql_desk = {
    .name  = "Desk",
    .state = PAWL_RECORD_OF(desk),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_work_sql), .key = "desk", .own_sql = true}),
    .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_worked))};
static const pawl_endpoint_spec sql_desks = {.name = "desks", .entities = PAWL_ENTITIES(&sql_desk)};
static const pawl_application   with_sql  = APPLICATION("sql", &sql_desks);

static void post_sql(world *it, const char *how)
{
    const pawl_header list[]  = {{"pawl.reply_to", "asker"},
                                 {PAWL_HEADER_PROCESS, "Case/7"},
                                 {PAWL_HEADER_ANSWER, "rejected"},
                                 {NULL, NULL}};
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = WORLD_START, .headers = list};
    test_send(it->sender, "desks", &options,
              PAWL_MESSAGE(work_sql, .desk = PAWL_TEXT("d"), .how = pawl_text_of(how)));
}

ON_SQL_STORES(e24_own_sql_of_an_entity_is_in_the_commit_of_its_events, const char *url)
{
    world *it = open_world(url, &with_sql);
    here      = url;
    native_exec(url, "create table {own_rows} (number integer)");
    post_sql(it, "yes");
    post_sql(it, "no"); /* told so: what it wrote is undone, the answer is not */
    post_sql(it, "yes");
    LOG_AFTER(world_drain(it), seen, "sql(0) sql(1) sql(1) ");
    assert_int_equal(native_number(url, "select count(*) from {own_rows}"), 2);
    assert_int_equal(native_number(url, "select sum(number) from {own_rows}"), 1);
    assert_int_equal(world_events(it, "Desk/d").count, 2);
    assert_true(text_is(world_queue_row(it, "asker").message.type, "pawl.rejected"));
    assert_int_equal(world_dead(it).count, 0);
}
