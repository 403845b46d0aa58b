/* test_engine_memory.c - PAWL_ENOMEM: as an answer of the application it is the failure
 * of one message; when the engine has no memory its batches get smaller, down to one
 * message, and only then that one fails. E21, E24, E26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "support/hook.h"
#include "support/shortage.h"

#include <limits.h>

RECORD(work, (TEXT, name), (TEXT, where));
RECORD(numbers, (TEXT, name), (LIST_INT32, all));
RECORD(seek, (TEXT, name), (TEXT, where));
PAWL_RECORD(piece, A_NAME);
PAWL_RECORD(both, A_NAME);
RECORD(note, (TEXT, text));
RECORD(box, (TEXT, name), (INT32, count), (TEXT, ballast));
RECORD(crate, (TEXT, name), (INT32, count), (TEXT, ballast));

static world_log seen;
static int32_t   attempts_max; /* of the messages handled */

static bool is_at(pawl_text where, const char *spot)
{
    return pawl_text_equal(where, pawl_text_of(spot));
}

static pawl_code refuse(pawl_context *ctx, void *data)
{
    return PAWL_ENOMEM;
}

static pawl_code send_ballast(pawl_context *ctx, size_t size)
{
    return pawl_send(ctx, "out", PAWL_MESSAGE(note, .text = shortage_ballast(size)));
}

static pawl_code on_work(pawl_context *ctx, const work *message)
{
    shortage.burden++;
    attempts_max = pawl_attempts(ctx) > attempts_max ? pawl_attempts(ctx) : attempts_max;
    if (is_at(message->where, "handler"))
        return PAWL_ENOMEM;
    if (is_at(message->where, "callback"))
        return pawl_before_commit(ctx, refuse, NULL);
    if (is_at(message->where, "large"))
        return send_ballast(ctx, SHORTAGE_LARGE);
    /* The handler's answer to the shortage is of no account. */
    if (is_at(message->where, "huge"))
        return send_ballast(ctx, SHORTAGE_HUGE) == PAWL_OK ? PAWL_OK : PAWL_REJECT;
    if (is_at(message->where, "scratch") &&
        pawl_arena_take(pawl_scratch(ctx), SHORTAGE_HUGE) == NULL)
        return PAWL_ENOMEM;
    world_note(&seen, "%.*s", PAWL_TEXT_ARGS(message->name));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_work, work);

static pawl_code on_numbers(pawl_context *ctx, const numbers *message)
{
    world_note(&seen, "%.*s", PAWL_TEXT_ARGS(message->name));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_numbers, numbers);

static pawl_code filter_at(const pawl_message *message, const char *spot)
{
    return world_says(message->body, spot) ? PAWL_ENOMEM : PAWL_OK;
}

static pawl_code filter_before(pawl_context *ctx, const pawl_message *message, void *context)
{
    return filter_at(message, "\"before\"");
}

static pawl_code filter_after(pawl_context *ctx, const pawl_message *message, void *context)
{
    return filter_at(message, "\"after\"");
}

static pawl_code find_box(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    *id = (pawl_saga_id){{{0}}};
    return is_at(((const seek *)message)->where, "finder") ? PAWL_ENOMEM : PAWL_OK;
}

static pawl_code on_seek(pawl_context *ctx, box *state, const seek *message)
{
    return is_at(message->where, "clock") ? pawl_timeout(ctx, "ring", PAWL_SECONDS(1)) : PAWL_OK;
}
PAWL_HANDLER(on_seek, box, seek);

static pawl_code on_ring(pawl_context *ctx, box *state)
{
    return PAWL_ENOMEM;
}
PAWL_TIMEOUT_HANDLER(on_ring, box);

static pawl_code on_both_box(pawl_context *ctx, box *state, const both *message)
{
    state->count++;
    state->ballast = shortage_ballast(SHORTAGE_LARGE * (size_t)(2 * state->count - 1));
    return PAWL_OK;
}
PAWL_HANDLER(on_both_box, box, both);

static pawl_code on_both_crate(pawl_context *ctx, crate *state, const both *message)
{
    state->count++;
    state->ballast = shortage_ballast(SHORTAGE_LARGE * (size_t)(2 * state->count - 1));
    return pawl_timeout(ctx, "fall", PAWL_SECONDS(1));
}
PAWL_HANDLER(on_both_crate, crate, both);

static pawl_code on_fall(pawl_context *ctx, crate *state)
{
    state->count += 10;
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_fall, crate);

static pawl_code on_pieces(pawl_context *ctx, const piece *messages, size_t count)
{
    return PAWL_ENOMEM;
}
PAWL_BATCH_HANDLER(on_pieces, piece);

static const pawl_saga box_saga =
    SAGA_OF("Box", box, "name",
            {.handle = PAWL_HANDLE(on_seek), .key = "name", .find = find_box, .starts = true},
            {.handle = PAWL_HANDLE(on_both_box), .key = "name", .starts = true},
            {.handle = PAWL_HANDLE(on_ring), .timeout = "ring"});
static const pawl_saga crate_saga = SAGA_OF(
    "Crate", crate, "name", {.handle = PAWL_HANDLE(on_both_crate), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_fall), .timeout = "fall"});
static const pawl_aggregator pieces = {
    .name = "Pieces", .handle = PAWL_HANDLE(on_pieces), .size = 1, .attempts_max = 2};

static const pawl_endpoint_spec mill = {
    .name        = "mill",
    .sagas       = PAWL_SAGAS(&box_saga, &crate_saga),
    .aggregators = PAWL_AGGREGATORS(&pieces),
    .handlers    = PAWL_ON({.handle = PAWL_HANDLE(on_work)}, {.handle = PAWL_HANDLE(on_numbers)})};
static const pawl_application application = {
    PAWL_APPLICATION_HEAD, .name = "memory", .endpoints = PAWL_ENDPOINTS(&mill),
    .filters = PAWL_FILTERS({.before = filter_before, .after = filter_after})};

static world *open_world(const char *url, pawl_endpoint_options options)
{
    world_forget(&seen);
    shortage     = (shortage_plan){0};
    attempts_max = 0;
    return world_begin(url, &application, NULL, &options);
}

static void post_work(world *it, const char *name, const char *where)
{
    world_post(it, name,
               PAWL_MESSAGE(work, .name = pawl_text_of(name), .where = pawl_text_of(where)));
}

/* The only message left: failed so often, with no memory. */
static void assert_retried(world *it, int32_t attempts)
{
    assert_int_equal(world_queue_row(it, "mill").attempts, attempts);
    assert_int_equal(world_dead(it).count, 0);
}

static void assert_dead(world *it, int32_t attempts)
{
    pawl_dead_rows rows = world_dead(it);
    assert_int_equal(world_queue(it, "mill").count, 0);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.items[0].code.data, "ENOMEM");
    assert_int_equal(rows.items[0].attempts, attempts);
    assert_true(rows.items[0].error.size > 0);
}

/* ---- The application says so ------------------------------------------------------ */

static void post_numbered(world *it, const char *name, size_t number, const char *where)
{
    post_work(it, test_text("%s-%zu", name, number), where);
}

ON_ALL_STORES(e26_an_answer_of_no_memory_is_one_messages_failure, const char *url)
{
    static const char *const spots[] = {"handler", "before", "after", "callback"};
    world                   *it =
        open_world(url, (pawl_endpoint_options){.immediate_retries = -1, .delayed_retries = 1});
    for (size_t i = 0; i < COUNT(spots); i++) {
        post_numbered(it, "first", i, "");
        post_numbered(it, "second", i, spots[i]);
        post_numbered(it, "third", i, "");
        assert_int_equal(world_step(it).handled, 2);
        pawl_queue_rows rows = world_queue(it, "mill");
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.items[0].attempts, 1);
        assert_int_equal(world_go(it, PAWL_HOURS(1)).dead, 1);
        assert_int_equal(world_stats(it).counters.failures, (i + 1) * 2);
    }
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, COUNT(spots));
    assert_string_equal(dead.items[0].code.data, "ENOMEM");
    assert_int_equal(dead.items[0].attempts, 2);
}

ON_ALL_STORES(e26_a_finder_and_a_timeout_fail_alone, const char *url)
{
    world *it =
        open_world(url, (pawl_endpoint_options){.immediate_retries = -1, .delayed_retries = 1});
    world_post(it, "m", PAWL_MESSAGE(seek, .name = PAWL_TEXT("a"), .where = PAWL_TEXT("finder")));
    post_work(it, "first", "");
    assert_int_equal(world_drain(it).handled, 1);
    assert_retried(it, 1);
    world_go(it, PAWL_HOURS(1));
    assert_dead(it, 2);
    world_post(it, "t", PAWL_MESSAGE(seek, .name = PAWL_TEXT("b"), .where = PAWL_TEXT("clock")));
    world_drain(it);
    world_post_at(it, "second", world_now(it) + PAWL_SECONDS(1),
                  PAWL_MESSAGE(work, .name = PAWL_TEXT("second")));
    assert_int_equal(world_go(it, PAWL_SECONDS(1)).handled, 1);
    assert_string_equal(seen.text, "first second ");
    assert_int_equal(world_timeout(it).attempts, 1);
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(world_dead(it).count, 2);
    assert_int_equal(world_timeouts(it).count, 0);
}

ON_ALL_STORES(e21_a_flush_fails_alone, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){.immediate_retries = -1});
    for (int i = 0; i < 2; i++)
        world_post(it, NULL, PAWL_MESSAGE(piece, .name = PAWL_TEXT("p")));
    post_work(it, "first", "");
    assert_int_equal(world_drain(it).handled, 3);
    pawl_aggregator_counts counts = world_aggregated(it, "Pieces", "piece");
    assert_int_equal(counts.ready, 2);
    assert_int_equal(counts.flush_attempts, 1);
    world_go(it, PAWL_HOURS(1));
    assert_true(world_aggregated(it, "Pieces", "piece").flush_is_dead);
}

/* ---- The engine has none ------------------------------------------------------------ */

/* How many were handled by each step: "0 0 2 2 ". */
static void step_on(world *it, size_t count, world_log *steps)
{
    world_forget(steps);
    for (size_t i = 0; i < count; i++) {
        shortage.burden = 0;
        world_note(steps, "%d", (int)world_step(it).handled);
    }
}

ON_ALL_STORES(a_shortage_makes_batches_smaller, const char *url)
{
    static world_log steps;
    world           *it = open_world(url, (pawl_endpoint_options){.no_service = true});
    shortage.burden_max = 3;
    for (size_t i = 0; i < 8; i++)
        post_numbered(it, "m", i, "large");
    LOG_AFTER(step_on(it, 6, &steps), steps, "0 0 2 2 2 2 ");
    assert_true(shortage.met > 0);
    assert_int_equal(world_queue(it, "mill").count, 0);
    assert_int_equal(world_queue(it, "out").count, 8);
    /* Nothing of it is blamed on a message. */
    assert_int_equal(world_stats(it).counters.failures, 0);
    assert_int_equal(attempts_max, 0);
    /* Batches stay small for a minute of the machine's time, then they grow again. */
    shortage.burden_max = 0;
    for (size_t i = 8; i < 30; i++)
        post_numbered(it, "m", i, "");
    pawl_clock_set(it->machine, WORLD_START + PAWL_MINUTES(1) - 1);
    LOG_AFTER(step_on(it, 2, &steps), steps, "2 2 ");
    pawl_clock_set(it->machine, WORLD_START + PAWL_MINUTES(1));
    LOG_AFTER(step_on(it, 4, &steps), steps, "2 4 8 4 ");
    /* And what a handler says now has nothing to do with it. */
    post_work(it, "bad", "handler");
    post_work(it, "good", "");
    LOG_AFTER(step_on(it, 1, &steps), steps, "1 ");
}

static int claims_left; /* so many fail */

static pawl_code fail_claim(hook_point point, void *context)
{
    return point == HOOK_BEFORE_CLAIM && claims_left-- > 0 ? PAWL_ENOMEM : PAWL_OK;
}

ON_ALL_STORES(a_shortage_makes_claims_smaller, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    world     *it    = open_world(hook_url(url), (pawl_endpoint_options){.batch_messages = 8});
    for (size_t i = 0; i < 8; i++)
        post_numbered(it, "m", i, "");
    /* Of eight, four and two; then there is nothing smaller to be had. */
    claims_left = 4;
    hook_set(fail_claim, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(world_step(it).handled, 0);
    assert_int_equal(pawl_endpoint_step(it->endpoint, NULL, &error), PAWL_ENOMEM);
    hook_set(NULL, NULL);
    for (int i = 0; i < 8; i++)
        assert_int_equal(world_step(it).handled, 1);
    assert_int_equal(attempts_max, 0);
}

/* The service's borrowed handle is closed with the rest. */
ON_ALL_STORES(a_shortage_leaves_nothing_borrowed, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    post_work(it, "first", "");
    assert_int_equal(world_drain(it).handled, 1);
    post_numbered(it, "m", 1, "large");
    post_numbered(it, "m", 2, "large");
    shortage.burden     = 0;
    shortage.burden_max = 1;
    assert_int_equal(world_step(it).handled, 0);
}

/* The one that is too large for the memory that there is. */
static void fail_huge(const char *url, const char *where)
{
    world *it          = open_world(url, (pawl_endpoint_options){.delayed_retries = 1});
    shortage.huge_left = LONG_MAX;
    post_work(it, "first", "");
    post_work(it, "bad", where);
    post_work(it, "second", "");
    assert_int_equal(world_drain(it).handled, 2);
    assert_string_equal(seen.text, "first first second "); /* the first in a batch of three */
    assert_retried(it, 1);
    /* The first run and its immediate retries count, of those alone. */
    assert_int_equal(world_stats(it).counters.failures, 4);
    world_go_both(it, PAWL_HOURS(1));
    assert_dead(it, 2);
}

ON_ALL_STORES(e26_what_does_not_fit_alone_fails, const char *url)
{
    fail_huge(url, "huge");
}

ON_ALL_STORES(scratch_memory_is_the_engines, const char *url)
{
    fail_huge(url, "scratch");
}

/* A body of 600 kB that is a tree of almost 5 MB. */
static void post_numbers(world *it)
{
    const size_t count = 300 * 1000;
    char        *json  = malloc(count * 2 + 100);
    size_t       size  = (size_t)sprintf(json, "{\"name\":\"bad\",\"all\":[1");
    for (size_t i = 1; i < count; i++, size += 2)
        memcpy(json + size, ",1", 2);
    memcpy(json + size, "]}", 3);
    world_post_json(it, "bad", "numbers", json);
    free(json);
}

/* Before any handler runs. */
ON_ALL_STORES(e26_what_cannot_be_decoded_alone_fails, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){.delayed_retries = 1});
    post_work(it, "first", "");
    post_numbers(it);
    post_work(it, "second", "");
    shortage.huge_left = LONG_MAX;
    assert_int_equal(world_drain(it).handled, 2);
    assert_string_equal(seen.text, "first second ");
    assert_retried(it, 1);
    shortage.huge_left = 0;
    LOG_AFTER(world_go_both(it, PAWL_HOURS(1)), seen, "first second bad ");
}

/* The batch of two, the message alone, and its first retry. */
ON_ALL_STORES(e26_what_fits_a_moment_later_does_not_fail, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    post_numbers(it);
    post_work(it, "second", "");
    shortage.huge_left = 3;
    assert_int_equal(world_drain(it).handled, 2);
    assert_string_equal(seen.text, "bad second ");
    assert_int_equal(shortage.met, 3);
    assert_int_equal(world_stats(it).counters.failures, 0);
}

/* ---- Half of a unit ----------------------------------------------------------------- */

static int count_of(world *it, const char *saga, const char *name)
{
    const char *json = strstr(world_saga_text(it, saga, name, NULL), "\"count\":");
    return json != NULL ? atoi(json + strlen("\"count\":")) : 0;
}

/* One message for two sagas with large states, which grow, so that no block that the engine
 * has is large enough: whichever copy fails, neither counts it twice. */
ON_ALL_STORES(e24_nothing_of_a_unit_is_kept_twice, const char *url)
{
    for (long n = 1;; n++) {
        world      *it = open_world(url, (pawl_endpoint_options){0});
        const char *id = test_text("%ld", n);
        world_post(it, NULL, PAWL_MESSAGE(both, .name = pawl_text_of(id)));
        world_drain(it);
        world_post(it, NULL, PAWL_MESSAGE(both, .name = pawl_text_of(id)));
        shortage.countdown = n;
        assert_int_equal(world_drain(it).handled, 1);
        bool is_over       = shortage.countdown > 0;
        shortage.countdown = 0;
        assert_int_equal(count_of(it, "Box", id), 2);
        assert_int_equal(count_of(it, "Crate", id), 2);
        assert_int_equal(world_timeouts(it).count, 1);
        assert_int_equal(world_go_both(it, PAWL_SECONDS(1)).handled, 1);
        world_close(it);
        if (is_over) {
            assert_true(n > 4);
            return;
        }
    }
}

int main(void)
{
    shortage_install();
    world_quiet();
    int result = tests_run(NULL, NULL);
    pawl_allocator_set(NULL);
    return result;
}
