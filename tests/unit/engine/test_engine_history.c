/* test_engine_history.c - the attempts that a dead letter lists. E26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"
#include "support/fault_memory.h"
#include "support/hook.h"
#include "support/world.h"

#define JOB(F) F(TEXT, how)
PAWL_RECORD(job, JOB);
RECORD(sql_job, (TEXT, how));

static int         runs, good_from;
static pawl_clock *slowed; /* by a second with each run; or NULL */

static pawl_code fail_again(pawl_context *ctx)
{
    if (slowed != NULL)
        pawl_clock_set(slowed, pawl_clock_now(slowed) + PAWL_SECONDS(1));
    if (++runs >= good_from)
        return PAWL_OK;
    return pawl_fail(ctx, runs % 2 == 0 ? PAWL_EBUSY : PAWL_RETRY, "run %d of \"it\"", runs);
}

static pawl_code on_job(pawl_context *ctx, const job *message)
{
    return message->how.size > 0 ? pawl_fail(ctx, PAWL_REJECT, "never") : fail_again(ctx);
}
PAWL_MESSAGE_HANDLER(on_job, job);

static pawl_code on_sql_job(pawl_context *ctx, const sql_job *message)
{
    return fail_again(ctx);
}
PAWL_MESSAGE_HANDLER(on_sql_job, sql_job);

static const pawl_application application =
    ONE_ENDPOINT("history", .name = "office", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_job)}));

static const pawl_endpoint_spec sql_office = {
    .name = "office", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_sql_job), .own_sql = true})};
static const pawl_application sql_application = APPLICATION("history", &sql_office);

static world *open_world(const char *url, const pawl_application *used,
                         pawl_endpoint_options options)
{
    runs      = 0;
    good_from = INT32_MAX;
    slowed    = NULL;
    return world_begin(url, used, NULL, &options);
}

/* Until the message is dead; hours between the attempts. */
static const char *dead_history(world *it)
{
    static char text[40000];
    for (int i = 0; i < 60 && world_dead(it).count == 0; i++)
        world_go_both(it, PAWL_HOURS(1));
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    snprintf(text, sizeof text, "%.*s", PAWL_TEXT_ARGS(dead.items[0].history));
    return text;
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

static void expect_attempts(const char *history, int count)
{
    assert_int_equal(count_of(history, "{\"attempt\":"), count);
    for (int i = 1; i <= count; i++)
        assert_int_equal(count_of(history, test_text("{\"attempt\":%d,", i)), 1);
}

/* Two runs at each of three deliveries, each with its time, code and text. */
ON_ALL_STORES(e26_a_dead_letter_tells_of_each_attempt, const char *url)
{
    world *it = open_world(url, &application,
                           (pawl_endpoint_options){.immediate_retries = 1, .delayed_retries = 2});
    world_post(it, "m-1", PAWL_MESSAGE(job, .how = PAWL_TEXT("")));
    world_drain(it);
    assert_int_equal(world_queue(it, "office").count, 1);
    const char *history = dead_history(it);
    expect_attempts(history, 6);
    assert_non_null(strstr(history, "[{\"attempt\":1,\"at\":\"2026-01-01T09:00:00.000000Z\","
                                    "\"code\":\"RETRY\",\"error\":\"run 1 of \\\"it\\\"\"},"
                                    "{\"attempt\":2,\"at\":\"2026-01-01T09:00:00.000000Z\","
                                    "\"code\":\"EBUSY\",\"error\":\"run 2 of \\\"it\\\"\"},"
                                    "{\"attempt\":3,\"at\":\"2026-01-01T10:00:00.000000Z\","));
    assert_non_null(strstr(history, "\"code\":\"EBUSY\",\"error\":\"run 6 of \\\"it\\\"\"}]"));
    assert_int_equal(count_of(history, "\"at\":\"2026-01-01T09:00:00.000000Z\""), 2);
}

/* Runs at once one behind the other: the first one's time is not that of all. */
ON_STORES(e26_each_attempt_has_the_time_at_which_it_failed, const char *url)
{
    world *it = open_world(url, &application,
                           (pawl_endpoint_options){.immediate_retries = 2, .delayed_retries = -1});
    slowed    = it->machine;
    world_post(it, "m-1", PAWL_MESSAGE(job, .how = PAWL_TEXT("")));
    world_drain(it);
    const char *history = dead_history(it);
    expect_attempts(history, 3);
    assert_non_null(strstr(history, "{\"attempt\":1,\"at\":\"2026-01-01T09:00:01.000000Z\""));
    assert_non_null(strstr(history, "{\"attempt\":2,\"at\":\"2026-01-01T09:00:02.000000Z\""));
    assert_non_null(strstr(history, "{\"attempt\":3,\"at\":\"2026-01-01T09:00:03.000000Z\""));
}

/* A message refused at once has one attempt, at the time of the machine whatever the business
 * clock says. */
ON_ALL_STORES(e26_a_letter_of_one_attempt_tells_of_it, const char *url)
{
    world *it = open_world(url, &application, (pawl_endpoint_options){.immediate_retries = 3});
    world_go(it, PAWL_HOURS(5));
    world_post(it, "m-1", PAWL_MESSAGE(job, .how = PAWL_TEXT("wrong")));
    world_post_json(it, "m-2", "nobody knows this", "{}");
    world_post_json(it, "m-3", "job", "[]");
    world_drain(it);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const char *text = test_text("%.*s", PAWL_TEXT_ARGS(dead.items[i].history));
        expect_attempts(text, 1);
        assert_int_equal(
            count_of(text, test_text("\"code\":\"%.*s\"", PAWL_TEXT_ARGS(dead.items[i].code))), 1);
        assert_int_equal(count_of(text, "\"at\":\"2026-01-01T09:00:00.000000Z\""), 1);
    }
}

/* The first ones and the last ones. */
ON_STORES(e26_a_long_history_keeps_its_ends, const char *url)
{
    world *it = open_world(url, &application,
                           (pawl_endpoint_options){.immediate_retries = -1, .delayed_retries = 49});
    world_post(it, "m-1", PAWL_MESSAGE(job, .how = PAWL_TEXT("")));
    world_drain(it);
    const char *history = dead_history(it);
    assert_int_equal(runs, 50);
    assert_int_equal(count_of(history, "{\"attempt\":"), 32);
    for (int i = 1; i <= 50; i++)
        assert_int_equal(count_of(history, test_text("{\"attempt\":%d,", i)), i <= 8 || i > 26);
}

/* Runs that were rolled back with their own SQL are counted, too. */
TESTS(e26_attempts_with_own_sql_are_told, const char *url,
      STORE_ROW(e26_attempts_with_own_sql_are_told, "sqlite"),
      STORE_ROW(e26_attempts_with_own_sql_are_told, "postgres"))
{
    world *it = open_world(url, &sql_application,
                           (pawl_endpoint_options){.immediate_retries = 2, .delayed_retries = 1});
    world_post(it, "m-1", PAWL_MESSAGE(sql_job, .how = PAWL_TEXT("")));
    world_drain(it);
    expect_attempts(dead_history(it), 6);
}

static bool is_refused;

static pawl_code refuse_once(hook_point point, void *context)
{
    if (point != HOOK_BEFORE_COMMIT || is_refused)
        return PAWL_OK;
    is_refused = true;
    return PAWL_EINVAL; /* each runs again alone */
}

/* A unit that runs again in memory keeps what was noted of it. */
ON_STORES(e26_attempts_of_a_batch_that_is_run_again_are_told, const char *url)
{
    is_refused = false;
    world *it  = open_world(hook_url(url), &application,
                            (pawl_endpoint_options){.immediate_retries = 1, .delayed_retries = -1});
    world_post(it, "m-1", PAWL_MESSAGE(job, .how = PAWL_TEXT("")));
    world_post(it, "m-2", PAWL_MESSAGE(job, .how = PAWL_TEXT("")));
    hook_set(refuse_once, NULL);
    world_drain(it);
    hook_set(NULL, NULL);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 2);
    for (size_t i = 0; i < 2; i++)
        expect_attempts(test_text("%.*s", PAWL_TEXT_ARGS(dead.items[i].history)), 4);
}

/* The history goes with the message. */
ON_ALL_STORES(e26_a_message_that_is_handled_in_the_end_leaves_nothing, const char *url)
{
    world *it = open_world(url, &application,
                           (pawl_endpoint_options){.immediate_retries = 1, .delayed_retries = 5});
    good_from = 4;
    world_post(it, "m-1", PAWL_MESSAGE(job, .how = PAWL_TEXT("")));
    world_drain(it);
    assert_int_equal(count_of(world_queue(it, "office").items[0].history.data, "attempt\":"), 2);
    world_go_both(it, PAWL_HOURS(1));
    assert_int_equal(runs, 4);
    assert_int_equal(world_queue(it, "office").count, 0);
    assert_int_equal(world_dead(it).count, 0);
}

/* Without memory the row keeps the list that it has: nothing of it is left out. */
TEST(e26_a_history_without_memory_stays_as_it_is)
{
    static const char stored[] = "[{\"attempt\":1,\"at\":\"2026-01-01T09:00:00.000000Z\","
                                 "\"code\":\"RETRY\",\"error\":\"first\"}]";
    pawl__attempt     attempts[20]; /* more than one block of the document holds */
    pawl__unit        unit = {
               .row = {.history = pawl_text_of(stored)}, .attempts = attempts, .attempt_count = 20};
    bool is_whole = false;
    for (size_t i = 0; i < 20; i++)
        attempts[i] = (pawl__attempt){PAWL_EBUSY, PAWL_TEXT("second"), WORLD_START};
    fault_memory_install();
    for (long n = 1; !is_whole; n++) {
        pawl__batch batch = {.arena = pawl_arena_create(16)};
        fault_memory_begin(n);
        pawl_text made = pawl__unit_history(&batch, &unit);
        fault_memory_pause();
        is_whole = !fault_memory_was_reached();
        if (!is_whole)
            assert_string_equal(made.data, stored);
        else
            expect_attempts(made.data, 21);
        pawl_arena_destroy(batch.arena);
        assert_true(n < 100);
    }
    pawl_allocator_set(NULL);
}
