/* test_runtime_expired.c - messages whose time to be processed is over are dropped: header pawl.expires.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"
#include "support/world.h"

PAWL_RECORD(news, A_NUMBER);

static world_log seen;
static pawl_code answer;

static pawl_code on_news(pawl_context *ctx, const news *message)
{
    world_note(&seen, "news%d", message->number);
    return answer;
}
PAWL_MESSAGE_HANDLER(on_news, news);

static const pawl_application application =
    ONE_ENDPOINT("expired", .name = "desk", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_news)}));

/* A message that may be handled `after` a time, and until then. */
static void post(world *it, const char *id, int32_t number, const char *expires, int64_t after)
{
    const pawl_header headers[] = {{PAWL_HEADER_EXPIRES, expires}, {NULL, NULL}};
    pawl_send_options options   = {PAWL_SEND_OPTIONS_HEAD, .id = id, .headers = headers,
                                   .due = pawl_time_add(world_now(it), after)};
    test_send(it->sender, "desk", &options, PAWL_MESSAGE(news, .number = number));
}

static const char *in_10_s(const world *it, char text[PAWL_TIME_TEXT_SIZE + 1])
{
    pawl_time_format(pawl_time_add(world_now(it), PAWL_SECONDS(10)), text);
    return text;
}

ON_STORES(a_message_is_dropped_when_its_time_is_over, const char *url)
{
    char text[PAWL_TIME_TEXT_SIZE + 1];
    answer = PAWL_OK;
    world_forget(&seen);
    world *it = world_begin(url, &application, NULL, &(pawl_endpoint_options){0});
    in_10_s(it, text);
    post(it, "early", 1, text, PAWL_SECONDS(10) - 1);
    post(it, "late", 2, text, PAWL_SECONDS(10));
    post(it, "later", 3, text, PAWL_SECONDS(11));
    post(it, "empty", 4, "", PAWL_SECONDS(12)); /* no time: it never ends */
    world_go(it, PAWL_SECONDS(10) - 1);
    LOG_AFTER(world_go(it, PAWL_SECONDS(5)), seen, "news1 news4 ");
    assert_true(world_is_marked(it, "late"));
    assert_true(world_is_marked(it, "later"));
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_stats(it).inbox, 4);
    assert_int_equal(atomic_load(&it->endpoint->metrics.slots[PAWL__SLOT_EXPIRED]), 2);
}

ON_STORES(a_header_that_is_no_time_makes_a_dead_letter, const char *url)
{
    const pawl_header headers[] = {{PAWL_HEADER_EXPIRES, "soon"}, {NULL, NULL}};
    pawl_send_options options   = {PAWL_SEND_OPTIONS_HEAD, .id = "odd", .headers = headers};
    pawl_error        error     = PAWL_ERROR_INIT;
    pawl_queue_send   foreign   = {.queue   = PAWL_TEXT("desk"),
                                   .message = {.id             = PAWL_TEXT("odd"),
                                               .type           = PAWL_TEXT("news"),
                                               .correlation_id = PAWL_TEXT("odd"),
                                               .headers = PAWL_TEXT("{\"pawl.expires\":\"soon\"}"),
                                               .body    = PAWL_TEXT("{\"number\":1}")}};
    answer                      = PAWL_OK;
    world_forget(&seen);
    world *it = world_begin(url, &application, NULL, &(pawl_endpoint_options){0});
    assert_int_equal(
        pawl_sender_send(it->sender, "desk", &options, PAWL_MESSAGE(news, .number = 1), &error),
        PAWL_EINVAL);
    assert_non_null(strstr(error.text, "header 'pawl.expires' is not a time"));
    foreign.due          = world_now(it);
    pawl_changes changes = {PAWL__ONE_UNIT(world_now(it)), .queue_send = {&foreign, 1}};
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
    post(it, "well", 2, "2030-01-01T00:00:00Z", 0);
    LOG_AFTER(world_drain(it), seen, "news2 ");
    pawl_dead_row dead = world_dead_letter(it);
    assert_true(pawl_text_equal(dead.message.id, PAWL_TEXT("odd")));
    assert_true(pawl_text_equal(dead.code, PAWL_TEXT("EDECODE")));
    assert_true(world_says(dead.error, "header 'pawl.expires' is not a time: expected 2026-"));
}

static void post_json(world *it, const char *id, const char *type, const char *body)
{
    char              text[PAWL_TIME_TEXT_SIZE + 1];
    const pawl_header headers[] = {{PAWL_HEADER_EXPIRES, in_10_s(it, text)}, {NULL, NULL}};
    pawl_send_options options   = {PAWL_SEND_OPTIONS_HEAD, .id = id, .headers = headers,
                                   .due = pawl_time_add(world_now(it), PAWL_SECONDS(20))};
    must(pawl_sender_send_json(it->sender, "desk", &options, type, pawl_text_of(body),
                               world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
}

/* Neither a type that nobody handles nor a body that cannot be decoded makes a dead letter of it. A copy of a handled one is
 * a second one, and not counted. */
ON_STORES(it_is_dropped_whatever_it_is, const char *url)
{
    answer = PAWL_OK;
    world_forget(&seen);
    world *it = world_begin(url, &application, NULL, &(pawl_endpoint_options){0});
    post(it, "handled", 1, "2030-01-01T00:00:00Z", 0);
    world_drain(it);
    post_json(it, "unknown", "nobodys", "{}");
    post_json(it, "odd", "news", "{\"number\":\"no number\"}");
    post_json(it, "handled", "nobodys", "{}");
    LOG_AFTER(world_go(it, PAWL_SECONDS(20)), seen, "news1 ");
    assert_true(world_is_marked(it, "unknown"));
    assert_true(world_is_marked(it, "odd"));
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(atomic_load(&it->endpoint->metrics.slots[PAWL__SLOT_EXPIRED]), 2);
}

/* A message that failed is not tried again when its time is over. */
ON_STORES(a_retry_comes_too_late, const char *url)
{
    char text[PAWL_TIME_TEXT_SIZE + 1];
    answer = PAWL_EINPUT;
    world_forget(&seen);
    world *it = world_begin(
        url, &application, NULL,
        &(pawl_endpoint_options){.immediate_retries = -1, .retry_delay = PAWL_MINUTES(1)});
    post(it, "failed", 1, in_10_s(it, text), 0);
    LOG_AFTER(world_drain(it), seen, "news1 ");
    LOG_AFTER(world_go_both(it, PAWL_HOURS(1)), seen, "news1 ");
    assert_true(world_is_marked(it, "failed"));
    assert_int_equal(world_dead(it).count, 0);
}
