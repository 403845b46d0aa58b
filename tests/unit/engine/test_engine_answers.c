/* test_engine_answers.c - numbers that are no answers, from every function of the application
 * that answers a pawl_code: the retry classes of pawl_code_retry, and numbers that no list has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

PAWL_RECORD(ask, A_NAME);
PAWL_RECORD(seek, A_NAME);
PAWL_RECORD(gather, A_NAME);
PAWL_RECORD(other, A_NAME);
RECORD(desk_state, (TEXT, name), (INT32, count));

typedef enum place { HANDLER, FINDER, BEFORE, AFTER, CALLBACK, TIMEOUT, PLACE_COUNT } place;

static place       asked;   /* which function answers `answer` */
static int         answer;  /* as the number that the program returns */
static const char *because; /* the text given to pawl_fail, or NULL */
static int         others;  /* runs of the message beside it */

static pawl_code answer_at(pawl_context *ctx, place here)
{
    if (here != asked)
        return PAWL_OK;
    return because != NULL ? pawl_fail(ctx, (pawl_code)answer, "%s", because) : (pawl_code)answer;
}

static pawl_code before_commit(pawl_context *ctx, void *data)
{
    return answer_at(ctx, CALLBACK);
}

static pawl_code on_ask(pawl_context *ctx, desk_state *state, const ask *message)
{
    state->count++;
    if (asked == TIMEOUT)
        return pawl_timeout(ctx, "late", PAWL_SECONDS(1));
    pawl_code code = pawl_before_commit(ctx, before_commit, NULL);
    return code == PAWL_OK ? answer_at(ctx, HANDLER) : code;
}
PAWL_HANDLER(on_ask, desk_state, ask);

static pawl_code on_late(pawl_context *ctx, desk_state *state)
{
    state->count++;
    return answer_at(ctx, TIMEOUT);
}
PAWL_TIMEOUT_HANDLER(on_late, desk_state);

static pawl_code find_desk(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    return answer_at(ctx, FINDER);
}

static pawl_code on_seek(pawl_context *ctx, desk_state *state, const seek *message)
{
    state->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_seek, desk_state, seek);

static pawl_code on_other(pawl_context *ctx, const other *message)
{
    others++;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_other, other);

static pawl_code on_gather(pawl_context *ctx, const gather *messages, size_t count)
{
    return answer_at(ctx, HANDLER);
}
PAWL_BATCH_HANDLER(on_gather, gather);

static bool is_asked(const pawl_message *message)
{
    return pawl_text_equal(message->type, PAWL_TEXT("ask"));
}

static pawl_code before(pawl_context *ctx, const pawl_message *message, void *context)
{
    return is_asked(message) ? answer_at(ctx, BEFORE) : PAWL_OK;
}

static pawl_code after(pawl_context *ctx, const pawl_message *message, void *context)
{
    return is_asked(message) ? answer_at(ctx, AFTER) : PAWL_OK;
}

static const pawl_saga desk_saga = {
    .name        = "Desk",
    .state       = PAWL_RECORD_OF(desk_state),
    .correlation = "name",
    .on =
        PAWL_ON({.handle = PAWL_HANDLE(on_ask), .key = "name", .starts = true},
                {.handle = PAWL_HANDLE(on_seek), .key = "name", .find = find_desk, .starts = true},
                {.handle = PAWL_HANDLE(on_late), .timeout = "late"})};
static const pawl_aggregator gathered = {
    .name = "Gathered", .handle = PAWL_HANDLE(on_gather), .size = 2, .attempts_max = 1};
static const pawl_endpoint_spec hall        = {.name        = "hall",
                                               .sagas       = PAWL_SAGAS(&desk_saga),
                                               .aggregators = PAWL_AGGREGATORS(&gathered),
                                               .handlers    = PAWL_ON({.handle = PAWL_HANDLE(on_other)})};
static const pawl_application   application = {
      PAWL_APPLICATION_HEAD, .name = "answers", .endpoints = PAWL_ENDPOINTS(&hall),
      .filters = PAWL_FILTERS({.before = before, .after = after})};

/* ---- Answers that are none --------------------------------------------------------- */

/* One message that comes to `here`, in a batch between two others. */
static void play_at(world *it, place here, const char *name)
{
    asked  = here;
    others = 0;
    world_post(it, NULL, PAWL_MESSAGE(other, .name = PAWL_TEXT("1")));
    if (here == FINDER)
        world_post(it, NULL, PAWL_MESSAGE(seek, .name = pawl_text_of(name)));
    else
        world_post(it, NULL, PAWL_MESSAGE(ask, .name = pawl_text_of(name)));
    world_post(it, NULL, PAWL_MESSAGE(other, .name = PAWL_TEXT("2")));
    world_drain(it);
    if (here == TIMEOUT)
        world_go_both(it, PAWL_SECONDS(2));
    assert_int_equal(others, 2);
}

/* Every class, from every function: a dead letter at once that names the class, and nothing of the
 * message's own has taken place. */
ON_ALL_STORES(a_retry_class_is_no_answer, const char *url)
{
    static const struct {
        pawl_retry  is;
        const char *name;
    } classes[] = {{PAWL_RETRY_NEVER, "PAWL_RETRY_NEVER is a retry class"},
                   {PAWL_RETRY_LATER, "PAWL_RETRY_LATER is a retry class"},
                   {PAWL_RETRY_RELOAD, "PAWL_RETRY_RELOAD is a retry class"},
                   {PAWL_RETRY_RESOLVE, "PAWL_RETRY_RESOLVE is a retry class"},
                   {PAWL_RETRY_BOUNDED, "PAWL_RETRY_BOUNDED is a retry class"}};
    size_t dead = 0;
    world *it   = world_begin(url, &application, NULL, NULL);
    for (size_t i = 0; i < COUNT(classes); i++)
        for (place here = HANDLER; here < PLACE_COUNT; here++) {
            const char *name = test_text("d-%zu-%d", i, (int)here);
            answer           = (int)classes[i].is;
            because          = here == HANDLER ? "the card is blocked" : NULL;
            play_at(it, here, name);
            pawl_dead_rows rows = world_dead(it);
            assert_int_equal(rows.count, ++dead);
            const pawl_dead_row *last = &rows.items[dead - 1];
            assert_true(pawl_text_equal(last->code, PAWL_TEXT("EINVAL")));
            assert_true(world_says(last->error, classes[i].name));
            assert_true(here != HANDLER || world_says(last->error, ": the card is blocked"));
            assert_int_equal(last->attempts, 1);
            const char *state = world_saga_text(it, "Desk", name, NULL);
            assert_int_equal(here == TIMEOUT ? world_json_number(state, "count") : state[0],
                             here == TIMEOUT);
            assert_int_equal(world_queue(it, "hall").count, 0);
        }
}

/* A handler that says why it failed has failed, also with PAWL_OK: a dead letter at once, and nothing of the message's
 * own has taken place. */
ON_ALL_STORES(a_failure_with_the_code_of_success_is_none, const char *url)
{
    world *it = world_begin(url, &application, NULL, NULL);
    answer    = PAWL_OK;
    because   = "the card is blocked";
    for (place here = HANDLER; here < PLACE_COUNT; here++) {
        const char *name = test_text("d-%d", (int)here);
        play_at(it, here, name);
        pawl_dead_rows rows = world_dead(it);
        assert_int_equal(rows.count, (size_t)here + 1);
        const pawl_dead_row *last = &rows.items[here];
        assert_true(pawl_text_equal(last->code, PAWL_TEXT("EINVAL")));
        assert_true(world_says(last->error,
                               "pawl_fail needs a code that is not PAWL_OK: the card is blocked"));
        const char *state = world_saga_text(it, "Desk", name, NULL);
        assert_int_equal(here == TIMEOUT ? world_json_number(state, "count") : state[0],
                         here == TIMEOUT);
    }
}

/* A partition is dead, and keeps its messages. */
ON_ALL_STORES(a_flush_that_answers_a_retry_class_has_failed, const char *url)
{
    world *it = world_begin(url, &application, NULL, NULL);
    asked     = HANDLER;
    answer    = (int)PAWL_RETRY_NEVER;
    because   = NULL;
    for (int i = 0; i < 2; i++)
        world_post(it, NULL, PAWL_MESSAGE(gather, .name = PAWL_TEXT("g")));
    world_drain(it);
    pawl_aggregator_counts counts = world_aggregated(it, "Gathered", "gather");
    assert_int_equal(counts.all, 2);
    assert_true(counts.flush_is_dead);
}

/* Other numbers have retries, as codes that do not say whether the next run goes well. */
ON_ALL_STORES(a_number_that_no_list_has_is_named, const char *url)
{
    world *it =
        world_begin(url, &application, NULL,
                    &(pawl_endpoint_options){.delayed_retries = 1, .retry_delay = PAWL_SECONDS(1)});
    answer  = 999;
    because = NULL;
    play_at(it, HANDLER, "d");
    assert_int_equal(world_dead(it).count, 0);
    world_go_both(it, PAWL_SECONDS(2));
    pawl_dead_row rows = world_dead_letter(it);
    assert_true(world_says(rows.error, "the answer 999 is not a code of pawl"));
    assert_int_equal(rows.attempts, 2);
}

void (*const tests_first)(void) = scenario_files_in_memory;
