/* test_engine_process_rejected.c - the answers to a process whose command its entity did not
 * accept: the reason, whatever it is made of, or nothing of a discarded command.
 *
 * O11, O17.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/process.h"

static world_log seen;

/* ---- A clerk who says no in many ways, and somebody who asks ----------------------- */

RECORD(case_file, (INT64, count));
RECORD(question, (TEXT, name), (TEXT, how));
RECORD(favour, (TEXT, name), (TEXT, how));
RECORD(wish, (TEXT, name), (TEXT, how));
RECORD(noted, (INT64, count));

static pawl_code on_question(pawl_context *ctx, const case_file *state, const question *command)
{
    (void)pawl_emit(ctx, PAWL_MESSAGE(noted, .count = 1));
    (void)pawl_send(ctx, "archive", PAWL_MESSAGE(noted, .count = 1));
    if (text_is(command->how, "without a word"))
        return PAWL_REJECT;
    if (text_is(command->how, "in latin 1"))
        return pawl_fail(ctx, PAWL_REJECT, "zu gro\xdf f\xfcr uns");
    if (text_is(command->how, "on two lines"))
        return pawl_fail(ctx, PAWL_REJECT, "a\nb \"\\\x1b");
    return PAWL_DISCARD;
}
PAWL_ENTITY_HANDLER(on_question, case_file, question);

static void apply_noted(case_file *state, const noted *event)
{
    state->count += event->count;
}
PAWL_APPLY(apply_noted, case_file, noted);

static const pawl_apply *const applied[]    = {PAWL_APPLIES(apply_noted), NULL};
static const pawl_entity       clerk_entity = {
          .name  = "Clerk",
          .state = PAWL_RECORD_OF(case_file),
          .on    = PAWL_ON({.handle = PAWL_HANDLE(on_question), .key = "name"}),
          .apply = applied};

static pawl_code on_favour(pawl_context *ctx, const favour *message)
{
    return pawl_fail(ctx, PAWL_REJECT, "never");
}
PAWL_MESSAGE_HANDLER(on_favour, favour);

static pawl_code on_wish(pawl_context *ctx, const case_file *state, const wish *message)
{
    if (pawl_text_equal(message->how, PAWL_TEXT("favour")))
        return pawl_send(ctx, "office", PAWL_MESSAGE(favour, .name = message->name));
    return pawl_send(ctx, "office",
                     PAWL_MESSAGE(question, .name = message->name, .how = message->how));
}
PAWL_PROCESS_HANDLER(on_wish, case_file, wish);

static pawl_code on_accepted(pawl_context *ctx, const case_file *state, const pawl_accepted *answer)
{
    world_note(&seen, "accepted");
    return pawl_emit(ctx, PAWL_MESSAGE(noted, .count = 1));
}
PAWL_PROCESS_HANDLER(on_accepted, case_file, pawl_accepted);

static pawl_code on_rejected(pawl_context *ctx, const case_file *state, const pawl_rejected *answer)
{
    world_note(&seen, "[%.*s]", PAWL_TEXT_ARGS(answer->reason));
    return pawl_emit(ctx, PAWL_MESSAGE(noted, .count = 1));
}
PAWL_PROCESS_HANDLER(on_rejected, case_file, pawl_rejected);

static const pawl_process wish_process = {
    .name  = "Wish",
    .state = PAWL_RECORD_OF(case_file),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_wish), .key = "name", .starts = true},
                     {.handle = PAWL_HANDLE(on_accepted)}, {.handle = PAWL_HANDLE(on_rejected)}),
    .apply = applied};

static const pawl_application application = ONE_ENDPOINT(
    "office", .name = "office", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_favour)}),
    .entities = PAWL_ENTITIES(&clerk_entity), .processes = PAWL_PROCESSES(&wish_process));

static world *open_world(const char *url)
{
    const pawl_endpoint_options options = {.delayed_retries = -1};
    world_forget(&seen);
    return world_begin(url, &application, NULL, &options);
}

/* Through a process, which hears no, and with nobody who asked. */
static void expect_reason(const char *url, const char *how, const char *reason, const char *error)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(wish, .name = PAWL_TEXT("a"), .how = pawl_text_of(how)));
    LOG_AFTER(world_drain(it), seen, reason);
    assert_int_equal(world_dead(it).count, 0);
    world_post(it, NULL, PAWL_MESSAGE(question, .name = PAWL_TEXT("a"), .how = pawl_text_of(how)));
    world_drain(it);
    assert_string_equal(world_dead_letter(it).error.data, error);
    assert_int_equal(world_events(it, "Clerk/a").count, 0);
    assert_int_equal(world_queue(it, "archive").count, 0);
    world_close(it);
}

ON_ALL_STORES(a_rejection_needs_no_reason, const char *url)
{
    expect_reason(url, "without a word", "[] ", pawl_code_text(PAWL_REJECT));
}

ON_ALL_STORES(a_reason_that_is_no_utf8_is_told_all_the_same, const char *url)
{
    expect_reason(url, "in latin 1", "[zu gro? f?r uns] ", "zu gro? f?r uns");
}

ON_ALL_STORES(a_reason_may_have_any_characters, const char *url)
{
    expect_reason(url, "on two lines", "[a\nb \"\\\x1b] ", "a\nb \"\\\x1b");
}

/* The no of a handler without an entity is a failure like any other, and nobody is told. */
ON_ALL_STORES(a_rejection_without_an_entity_is_not_answered, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(wish, .name = PAWL_TEXT("a"), .how = PAWL_TEXT("favour")));
    LOG_AFTER(world_drain(it), seen, "");
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "never"));
    assert_int_equal(world_stats(it).counters.failures, 1);
}

/* Neither accepted nor rejected: who waits for an answer sets a timeout. */
ON_ALL_STORES(a_command_that_is_discarded_is_not_answered, const char *url)
{
    world *it = open_world(url);
    world_post(it, "w-1", PAWL_MESSAGE(wish, .name = PAWL_TEXT("a"), .how = PAWL_TEXT("")));
    LOG_AFTER(world_drain(it), seen, "");
    assert_int_equal(world_events(it, "Wish/a").count, 1);
    assert_int_equal(world_events(it, "Clerk/a").count, 0);
    assert_int_equal(world_queue(it, "archive").count, 0);
    assert_int_equal(world_queue(it, "office").count, 0);
    assert_int_equal(world_dead(it).count, 0);
}
