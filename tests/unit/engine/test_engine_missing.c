/* test_engine_missing.c - a message that begins no saga and finds none: what its row says
 * becomes of it, once, with a warning and a count. E3.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

#include "runtime/runtime.h"

PAWL_RECORD(case_state, A_NAME);
PAWL_RECORD(open_case, A_NAME);
PAWL_RECORD(note, A_NAME);
PAWL_RECORD(appeal, A_NAME);
PAWL_RECORD(ask, A_NAME);
PAWL_RECORD(close_case, A_NAME);

static world_log seen;
static int       failures; /* of the next calls of on_ask_in_vain */

static pawl_code run(pawl_context *ctx, const char *what)
{
    world_note(&seen, "%s", what);
    return pawl_send(ctx, "clerk", PAWL_MESSAGE(note, .name = pawl_text_of(what)));
}

static pawl_code on_open_case(pawl_context *ctx, case_state *state, const open_case *message)
{
    return run(ctx, "open");
}
PAWL_HANDLER(on_open_case, case_state, open_case);

static pawl_code on_note(pawl_context *ctx, case_state *state, const note *message)
{
    return run(ctx, "note");
}
PAWL_HANDLER(on_note, case_state, note);

static pawl_code on_close_case(pawl_context *ctx, case_state *state, const close_case *message)
{
    pawl_complete(ctx);
    return run(ctx, "close");
}
PAWL_HANDLER(on_close_case, case_state, close_case);

static pawl_code on_appeal(pawl_context *ctx, case_state *state, const appeal *message)
{
    return run(ctx, "appeal");
}
PAWL_HANDLER(on_appeal, case_state, appeal);

static pawl_code on_ask(pawl_context *ctx, case_state *state, const ask *message)
{
    return run(ctx, "ask");
}
PAWL_HANDLER(on_ask, case_state, ask);

static pawl_code on_ask_in_vain(pawl_context *ctx, const ask *message)
{
    if (failures-- > 0)
        return PAWL_RETRY;
    return run(ctx, "in vain");
}
PAWL_MESSAGE_HANDLER(on_ask_in_vain, ask);

static const pawl_saga case_saga = {
    .name        = "Case",
    .state       = PAWL_RECORD_OF(case_state),
    .correlation = "name",
    .on =
        PAWL_ON({.handle = PAWL_HANDLE(on_open_case), .key = "name", .starts = true},
                {.handle = PAWL_HANDLE(on_note), .key = "name"},
                {.handle = PAWL_HANDLE(on_close_case), .key = "name"},
                {.handle = PAWL_HANDLE(on_appeal), .key = "name", .not_found = PAWL_NOT_FOUND_DEAD},
                {.handle    = PAWL_HANDLE(on_ask),
                 .key       = "name",
                 .not_found = PAWL_NOT_FOUND_CALL,
                 .missing   = PAWL_HANDLE(on_ask_in_vain)})};

static const pawl_application application =
    ONE_ENDPOINT("missing", .name = "court", .sagas = PAWL_SAGAS(&case_saga));

static test_lines warnings;

static world *open_world(const char *url)
{
    world_forget(&seen);
    failures  = 0;
    world *it = world_begin(url, &application, NULL, NULL);
    test_listen(&warnings, PAWL_LOG_WARNING, NULL);
    return it;
}

static int64_t counted(const world *it)
{
    return atomic_load(&it->endpoint->metrics.slots[PAWL__SLOT_NOT_FOUND]);
}

/* Consumed and without a trace: no saga, no message, no failure. */
static void expect_nothing_written(world *it)
{
    assert_int_equal(world_saga_count(it, "Case"), 0);
    assert_int_equal(world_queue(it, "court").count, 0);
    assert_int_equal(world_queue(it, "clerk").count, 0);
    assert_int_equal(world_stats(it).counters.failures, 0);
}

/* ---- Scenarios ------------------------------------------------------------------ */

ON_ALL_STORES(e3_it_is_dropped_with_a_warning_and_counted, const char *url)
{
    world *it = open_world(url);
    world_post(it, "n1", PAWL_MESSAGE(note, .name = PAWL_TEXT("a")));
    assert_int_equal(world_drain(it).handled, 1);
    assert_string_equal(seen.text, "");
    expect_nothing_written(it);
    assert_int_equal(world_dead(it).count, 0);
    assert_true(world_is_marked(it, "n1"));
    assert_int_equal(warnings.count, 1);
    assert_string_equal(warnings.last, "message n1 of type note dropped: no saga Case for 'a'");
    assert_int_equal(counted(it), 1);
}

ON_ALL_STORES(e3_it_is_a_dead_letter_where_its_row_says_so, const char *url)
{
    world *it = open_world(url);
    world_post(it, "a1", PAWL_MESSAGE(appeal, .name = PAWL_TEXT("a")));
    LOG_AFTER(world_drain(it), seen, "");
    assert_int_equal(world_saga_count(it, "Case"), 0);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_true(world_says(dead.items[0].error, "message appeal: no saga Case for 'a'"));
    assert_string_equal(warnings.last,
                        "message a1 of type appeal in queue court is a dead letter after 1 "
                        "attempt: message appeal: no saga Case for 'a'");
    assert_int_equal(counted(it), 1);
}

/* The count is of what became of it, not of the runs that this took. */
ON_ALL_STORES(e3_a_call_gets_it_where_its_row_says_so, const char *url)
{
    world *it = open_world(url);
    failures  = 2;
    world_post(it, "q1", PAWL_MESSAGE(ask, .name = PAWL_TEXT("a")));
    LOG_AFTER(world_drain(it), seen, "in vain ");
    assert_int_equal(world_saga_count(it, "Case"), 0);
    assert_int_equal(world_queue(it, "clerk").count, 1);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(warnings.count, 0);
    assert_int_equal(counted(it), 1);
}

ON_ALL_STORES(e3_what_finds_its_saga_is_not_counted, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(open_case, .name = PAWL_TEXT("a")));
    world_post(it, NULL, PAWL_MESSAGE(note, .name = PAWL_TEXT("a")));
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(ask, .name = PAWL_TEXT("a")));
    LOG_AFTER(world_drain(it), seen, "open note ask ");
    assert_int_equal(warnings.count, 0);
    assert_int_equal(counted(it), 0);
}

/* ---- Between the two reads -------------------------------------------------------- */

static int loads_left;

static pawl_code begin_before_load(hook_point point, void *context)
{
    world *it = context;
    if (point != HOOK_BEFORE_LOAD || loads_left-- != 0)
        return PAWL_OK;
    world_insert(it, &application, "a", "{\"name\":\"a\"}");
    return PAWL_OK;
}

/* The saga is there in the second read, which makes "no saga" final of nothing: it ended in this
 * batch, and may begin again by a message that is still on its way. */
ON_ALL_STORES(e3_what_the_second_read_finds_is_not_missing_for_good, const char *url)
{
    world *it = open_world(hook_url(url));
    world_post(it, "c1", PAWL_MESSAGE(close_case, .name = PAWL_TEXT("a")));
    world_post(it, "n1", PAWL_MESSAGE(note, .name = PAWL_TEXT("a")));
    loads_left = 1;
    hook_set(begin_before_load, it);
    pawl_step step = world_step(it);
    hook_set(NULL, NULL);
    assert_string_equal(seen.text, "close ");
    assert_int_equal(step.handled, 1);
    assert_int_equal(world_saga_count(it, "Case"), 0);
    assert_true(world_queue_row(it, "court").waiting_since != 0);
    assert_int_equal(warnings.count, 0);
    assert_int_equal(counted(it), 0);
}
