/* test_engine_send.c - sends of a handler: send, publish, reply, "now"; callbacks and filters. E6,
 * E23, E29 and S33.
 *
 * A message's `how` says what the handler does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

RECORD(task, (TEXT, name), (TEXT, how));
#define NEWS(F) F(TEXT, text)
PAWL_RECORD(news, NEWS);
RECORD_WITH(sport_news, ((TEXT, text), (TEXT, team)), .base = PAWL_RECORD_OF(news));
RECORD(answer, (TEXT, text));

static world_log seen;
static int       fails; /* how often a task with "fails" fails */

static pawl_code call_back(pawl_context *ctx, void *data)
{
    const char *which = data;
    world_note(&seen, "%s", which);
    if (strcmp(which, "bad") == 0)
        return pawl_fail(ctx, PAWL_REJECT, "the callback says no");
    if (strcmp(which, "sends") == 0)
        return pawl_send(ctx, "out", PAWL_MESSAGE(answer, .text = PAWL_TEXT("from callback")));
    return PAWL_OK;
}

static pawl_code send_with(pawl_context *ctx, pawl_text how)
{
    static const pawl_header headers[] = {{"colour", "blue"}, {NULL, NULL}};
    pawl_send_options        options   = {PAWL_SEND_OPTIONS_HEAD, .headers = headers};
    if (text_is(how, "delay"))
        options.delay = PAWL_SECONDS(90);
    if (text_is(how, "due"))
        options.due = WORLD_START + PAWL_HOURS(2);
    if (text_is(how, "id")) {
        options.id             = "my-id";
        options.correlation_id = "my-conversation";
    }
    return pawl_send_with(ctx, "out", &options, PAWL_MESSAGE(answer, .text = PAWL_TEXT("hello")));
}

/* Publishing and replying with all options. */
static pawl_code answer_with(pawl_context *ctx, pawl_text how)
{
    static const pawl_header headers[] = {{"colour", "blue"}, {NULL, NULL}};
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .delay = PAWL_SECONDS(90), .id = "my-id",
                                 .correlation_id = "my-conversation", .headers = headers};
    if (text_is(how, "publish with"))
        return pawl_publish_with(ctx, &options, PAWL_MESSAGE(news, .text = PAWL_TEXT("hello")));
    return pawl_reply_with(ctx, &options, PAWL_MESSAGE(answer, .text = PAWL_TEXT("hello")));
}

/* An id of as many bytes as one may have, and of one more. */
static pawl_code send_long(pawl_context *ctx, size_t size)
{
    char id[PAWL_MESSAGE_ID_SIZE_MAX + 2];
    memset(id, 'i', sizeof id);
    id[size] = '\0';
    return pawl_send_with(ctx, "out", &(pawl_send_options){PAWL_SEND_OPTIONS_HEAD, .id = id},
                          PAWL_MESSAGE(answer, .text = PAWL_TEXT("long")));
}

static pawl_code refused_effect(pawl_context *ctx, pawl_text how)
{
    static char long_name[300];
    memset(long_name, 'n', sizeof long_name - 1);
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .correlation_id = long_name};
    pawl_record_fn   *record  = PAWL_RECORD_OF(answer);
    answer            body    = {.text = PAWL_TEXT("x")};
    if (text_is(how, "bad destination"))
        pawl_send(ctx, long_name, record(), &body);
    if (text_is(how, "bad correlation"))
        pawl_send_with(ctx, "out", &options, record(), &body);
    if (text_is(how, "bad header")) {
        options.correlation_id = NULL;
        options.headers        = (const pawl_header[]){{"colour", "\xff"}, {NULL, NULL}};
        pawl_send_with(ctx, "out", &options, record(), &body);
    }
    if (text_is(how, "bad body")) {
        body.text = PAWL_TEXT("\xff");
        pawl_send(ctx, "out", record(), &body);
    }
    if (text_is(how, "no saga"))
        pawl_timeout(ctx, "t", 1);
    pawl_send(ctx, "out", PAWL_MESSAGE(answer, .text = PAWL_TEXT("never leaves")));
    return PAWL_OK; /* the handler ignores the refusal */
}

static pawl_code on_task(pawl_context *ctx, const task *message)
{
    pawl_text how = message->how;
    world_note(&seen, "%.*s", PAWL_TEXT_ARGS(message->name));
    if (text_is(how, "send"))
        return pawl_send(ctx, "out", PAWL_MESSAGE(answer, .text = message->name));
    if (text_is(how, "delay") || text_is(how, "due") || text_is(how, "id"))
        return send_with(ctx, how);
    if (text_is(how, "publish with") || text_is(how, "reply with"))
        return answer_with(ctx, how);
    if (text_is(how, "longest id"))
        return send_long(ctx, PAWL_MESSAGE_ID_SIZE_MAX);
    if (text_is(how, "too long id"))
        return send_long(ctx, PAWL_MESSAGE_ID_SIZE_MAX + 1);
    if (text_is(how, "publish"))
        return pawl_publish(ctx, PAWL_MESSAGE(news, .text = message->name));
    if (text_is(how, "publish sport"))
        return pawl_publish(ctx, PAWL_MESSAGE(sport_news, .text = message->name));
    if (text_is(how, "reply"))
        return pawl_reply(ctx, PAWL_MESSAGE(answer, .text = PAWL_TEXT("pong")));
    if (text_is(how, "now and fail")) {
        pawl_send_now(ctx, "out", PAWL_MESSAGE(answer, .text = PAWL_TEXT("at once")));
        pawl_send(ctx, "out", PAWL_MESSAGE(answer, .text = PAWL_TEXT("never leaves")));
        return PAWL_REJECT;
    }
    if (text_is(how, "fails") && fails-- > 0) {
        pawl_send(ctx, "out", PAWL_MESSAGE(answer, .text = PAWL_TEXT("of the failed run")));
        return PAWL_RETRY;
    }
    if (text_is(how, "fails"))
        return pawl_send(ctx, "out", PAWL_MESSAGE(answer, .text = PAWL_TEXT("of the good run")));
    if (text_is(how, "callbacks")) {
        pawl_before_commit(ctx, call_back, "first");
        pawl_before_commit(ctx, call_back, "sends");
        return pawl_before_commit(ctx, call_back, "last");
    }
    if (text_is(how, "bad callback")) {
        pawl_before_commit(ctx, call_back, "bad");
        pawl_before_commit(ctx, call_back, "never");
        return pawl_send(ctx, "out", PAWL_MESSAGE(answer, .text = PAWL_TEXT("never leaves")));
    }
    return refused_effect(ctx, how);
}
PAWL_MESSAGE_HANDLER(on_task, task);

static pawl_code on_ask(pawl_context *ctx, const answer *message)
{
    world_note(&seen, "answer(%.*s)", PAWL_TEXT_ARGS(message->text));
    if (text_is(message->text, "ask") || text_is(message->text, "ask with"))
        return pawl_send(ctx, "desk",
                         PAWL_MESSAGE(task, .name = PAWL_TEXT("ping"),
                                      .how = text_is(message->text, "ask")
                                                 ? PAWL_TEXT("reply")
                                                 : PAWL_TEXT("reply with")));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_ask, answer);

static pawl_code on_news(pawl_context *ctx, const news *message)
{
    world_note(&seen, "news(%.*s)", PAWL_TEXT_ARGS(message->text));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_news, news);

static pawl_code on_sport(pawl_context *ctx, const sport_news *message)
{
    world_note(&seen, "sport(%.*s)", PAWL_TEXT_ARGS(message->text));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_sport, sport_news);

/* ---- Filters ---------------------------------------------------------------- */

static pawl_code before(pawl_context *ctx, const pawl_message *message, void *context)
{
    if (pawl_text_equal(message->id, PAWL_TEXT("discard me"))) {
        pawl_send(ctx, "out", PAWL_MESSAGE(answer, .text = PAWL_TEXT("never leaves")));
        return PAWL_DISCARD;
    }
    if (pawl_text_equal(message->id, PAWL_TEXT("refuse me")))
        return pawl_fail(ctx, PAWL_REJECT, "refused by the filter");
    return PAWL_OK;
}

static pawl_code after(pawl_context *ctx, const pawl_message *message, void *context)
{
    if (pawl_text_equal(message->id, PAWL_TEXT("too late")))
        return pawl_fail(ctx, PAWL_REJECT, "refused afterwards");
    return PAWL_OK;
}

static const pawl_filter filters[] = {{.before = before}, {.after = after}, {.before = NULL}};

static const pawl_endpoint_spec desk   = {.name     = "desk",
                                          .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_task)})};
static const pawl_endpoint_spec client = {.name     = "client",
                                          .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_ask)})};
static const pawl_endpoint_spec reader = {.name     = "reader",
                                          .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_news)})};
static const pawl_endpoint_spec fan    = {
       .name     = "fan",
       .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_sport)}, {.handle = PAWL_HANDLE(on_news)})};

static const pawl_application application = {
    PAWL_APPLICATION_HEAD, .name = "sending",
    .endpoints = PAWL_ENDPOINTS(&desk, &client, &reader, &fan), .filters = filters};

static world *open_world(const char *url, const char *name)
{
    world_forget(&seen);
    fails = 0;
    return world_begin(url, &application, name, NULL);
}

static void post(world *it, const char *id, const char *name, const char *how)
{
    world_post(it, id, PAWL_MESSAGE(task, .name = pawl_text_of(name), .how = pawl_text_of(how)));
}

/* ---- Sending ------------------------------------------------------------------- */

ON_ALL_STORES(a_send_stays_in_the_store, const char *url)
{
    world *it = open_world(url, "desk");
    post(it, "cause", "hello", "send");
    world_drain(it);
    pawl_queue_rows rows = world_queue(it, "out");
    assert_int_equal(rows.count, 1);
    const pawl_message *message = &rows.items[0].message;
    assert_string_equal(message->body.data, "{\"text\":\"hello\"}");
    assert_string_equal(message->type.data, "answer");
    assert_string_equal(message->causation_id.data, "cause");
    assert_string_equal(message->correlation_id.data, "cause");
    assert_true(world_says(message->headers, "\"pawl.reply_to\":\"desk\""));
    assert_int_equal(message->id.size, PAWL_UUID_TEXT_SIZE);
    assert_int_equal(rows.items[0].due, WORLD_START);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 0);
}

ON_ALL_STORES(delay_due_id_and_headers, const char *url)
{
    world *it = open_world(url, "desk");
    post(it, NULL, "1", "delay");
    post(it, NULL, "2", "due");
    post(it, NULL, "3", "id");
    world_drain(it);
    pawl_queue_rows rows = world_queue(it, "out");
    assert_int_equal(rows.count, 3);
    /* Listed by place: by due time. */
    assert_string_equal(rows.items[0].message.id.data, "my-id");
    assert_string_equal(rows.items[0].message.correlation_id.data, "my-conversation");
    assert_int_equal(rows.items[1].due, WORLD_START + PAWL_SECONDS(90));
    assert_int_equal(rows.items[2].due, WORLD_START + PAWL_HOURS(2));
    for (size_t i = 0; i < 3; i++)
        assert_true(world_says(rows.items[i].message.headers, "\"colour\":\"blue\""));
}

ON_ALL_STORES(the_longest_id_is_taken_and_a_longer_one_refused, const char *url)
{
    world *it = open_world(url, "desk");
    post(it, NULL, "1", "longest id");
    post(it, NULL, "2", "too long id");
    world_drain(it);
    assert_int_equal(world_queue_row(it, "out").message.id.size, PAWL_MESSAGE_ID_SIZE_MAX);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_true(world_says(dead.items[0].error, "id has 201 bytes, the limit is 1 to 200"));
}

/* ---- Publishing, replying --------------------------------------------------------- */

ON_ALL_STORES(a_publication_reaches_every_subscriber_once, const char *url)
{
    world *other = open_world(url, "reader");
    world *both  = open_world(url, "fan");
    world *it    = open_world(url, "desk");
    post(it, NULL, "plain", "publish");
    post(it, NULL, "match", "publish sport");
    world_drain(it);
    assert_int_equal(world_queue(it, "reader").count, 2);
    assert_int_equal(world_queue(it, "fan").count, 2);
    world_forget(&seen);
    LOG_AFTER(world_drain(other), seen, "news(plain) news(match) ");
    world_forget(&seen);
    LOG_AFTER(world_drain(both), seen, "news(plain) sport(match) news(match) ");
}

ON_ALL_STORES(a_reply_goes_where_the_message_came_from, const char *url)
{
    world *asker = open_world(url, "client");
    world *it    = open_world(url, "desk");
    world_post(asker, NULL, PAWL_MESSAGE(answer, .text = PAWL_TEXT("ask")));
    world_drain(asker);
    world_drain(it);
    LOG_AFTER(world_drain(asker), seen, "answer(ask) ping answer(pong) ");
    /* From outside there is nowhere to reply to. */
    post(it, NULL, "lost", "reply");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "no header pawl.reply_to"));
}

/* `queue` has the one message that answer_with sent, not due before its time. */
static void has_answer(world *it, const char *queue)
{
    pawl_queue_rows rows = world_queue(it, queue);
    assert_int_equal(rows.count, 1);
    const pawl_message *message = &rows.items[0].message;
    assert_string_equal(message->id.data, "my-id");
    assert_string_equal(message->correlation_id.data, "my-conversation");
    assert_true(world_says(message->headers, "\"colour\":\"blue\""));
    assert_int_equal(rows.items[0].due, WORLD_START + PAWL_SECONDS(90));
}

ON_ALL_STORES(publications_and_replies_have_options_too, const char *url)
{
    world *asker = open_world(url, "client");
    world *it    = open_world(url, "desk");
    open_world(url, "reader");
    open_world(url, "fan");
    post(it, NULL, "news", "publish with");
    world_post(asker, NULL, PAWL_MESSAGE(answer, .text = PAWL_TEXT("ask with")));
    world_drain(asker);
    world_drain(it);
    has_answer(it, "reader");
    has_answer(it, "fan");
    has_answer(it, "client");
}

/* ---- What does not leave ------------------------------------------------------------ */

ON_ALL_STORES(e23_now_survives_a_failing_handler_and_nothing_else, const char *url)
{
    world *it = open_world(url, "desk");
    post(it, NULL, "x", "now and fail");
    world_drain(it);
    assert_string_equal(world_queue_row(it, "out").message.body.data, "{\"text\":\"at once\"}");
    assert_int_equal(world_dead(it).count, 1);
}

ON_ALL_STORES(e6_effects_of_a_failed_run_vanish, const char *url)
{
    world *it = open_world(url, "desk");
    fails     = 2;
    post(it, NULL, "x", "fails");
    world_drain(it);
    pawl_queue_rows rows = world_queue(it, "out");
    assert_string_equal(seen.text, "x x x ");
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.items[0].message.body.data, "{\"text\":\"of the good run\"}");
    assert_int_equal(world_stats(it).counters.failures, 2);
}

ON_ALL_STORES(a_refused_effect_fails_the_message, const char *url)
{
    static const struct {
        const char *how, *says;
    } rows[] = {
        {"bad destination", "destination has 299 bytes"},
        {"bad correlation", "correlation id has 299 bytes"},
        {"bad header", "header 'colour' is not UTF-8"},
        {"bad body", "message answer: text: not UTF-8"},
        {"no saga", "the handler has no saga"},
    };
    world *it = open_world(url, "desk");
    for (size_t i = 0; i < COUNT(rows); i++) {
        post(it, NULL, "x", rows[i].how);
        world_drain(it);
        pawl_dead_rows dead = world_dead(it);
        assert_int_equal(dead.count, i + 1);
        bool is_said = false;
        for (size_t j = 0; j < dead.count; j++)
            is_said |= world_says(dead.items[j].error, rows[i].says);
        if (!is_said)
            fail_msg("'%s' is not said, but '%s'", rows[i].says, dead.items[i].error.data);
    }
    assert_int_equal(world_queue(it, "out").count, 0);
}

/* ---- Callbacks and filters -------------------------------------------------------------- */

ON_ALL_STORES(s33_callbacks_run_in_order, const char *url)
{
    world *it = open_world(url, "desk");
    post(it, NULL, "x", "callbacks");
    LOG_AFTER(world_drain(it), seen, "x first sends last ");
    assert_int_equal(world_queue(it, "out").count, 1);
}

ON_ALL_STORES(s33_a_failing_callback_fails_its_unit_alone, const char *url)
{
    world *it = open_world(url, "desk");
    post(it, NULL, "x", "bad callback");
    post(it, NULL, "y", "send");
    LOG_AFTER(world_drain(it), seen, "x bad y ");
    assert_int_equal(world_queue(it, "out").count, 1);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "the callback says no"));
}

ON_ALL_STORES(e29_filters, const char *url)
{
    world *it = open_world(url, "desk");
    post(it, "discard me", "never", "send");
    post(it, "refuse me", "never", "send");
    post(it, "too late", "ran", "send");
    post(it, "fine", "fine", "send");
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 4);
    assert_string_equal(seen.text, "ran fine ");
    assert_int_equal(world_queue(it, "out").count, 1);
    assert_int_equal(world_dead(it).count, 2);
    assert_true(world_is_marked(it, "discard me"));
    assert_int_equal(world_queue(it, "desk").count, 0);
}
