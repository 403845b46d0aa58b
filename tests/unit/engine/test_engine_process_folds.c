/* test_engine_process_folds.c - a stored fold does not change the dispatches that are known and
 * since when, for programs that remember more or fewer of them; folds that do not fit their stream;
 * and states that grow.
 *
 * O17, O18.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/process.h"
#include "pawl/store_event_store.h"

static world_log seen, said;

/* ---- A meter that counts what it is told ---------------------------------------- */

RECORD(meter, (INT64, total));
RECORD(reading, (TEXT, name), (INT64, by));
RECORD(advanced, (INT64, by));

static pawl_code on_reading(pawl_context *ctx, const meter *state, const reading *command)
{
    world_note(&seen, "%d", (int)state->total);
    return pawl_emit(ctx, PAWL_MESSAGE(advanced, .by = command->by));
}
PAWL_ENTITY_HANDLER(on_reading, meter, reading);

static void apply_advanced(meter *state, const advanced *event)
{
    state->total += event->by;
}
PAWL_APPLY(apply_advanced, meter, advanced);

/* Programs that differ in how many dispatches they remember. */
#define PROGRAM(program, folds, remembered)                                                     \
    static const pawl_entity program##_meter = {                                                \
        .name           = "Meter",                                                              \
        .state          = PAWL_RECORD_OF(meter),                                                \
        .on             = (const pawl_on[]){{.handle = PAWL_HANDLE(on_reading), .key = "name"}, \
                                            {.handle = NULL}},                                  \
        .apply          = PAWL_APPLY_LIST(PAWL_APPLIES(apply_advanced)),                        \
        .snapshot_every = folds,                                                                \
        .dispatches_remembered = remembered};                                                   \
    static const pawl_endpoint_spec program##_endpoint = {                                      \
        .name = "meters", .entities = PAWL_ENTITIES(&program##_meter)};                         \
    static const pawl_application program = {PAWL_APPLICATION_HEAD, .name = "meters",           \
                                             .endpoints = PAWL_ENDPOINTS(&program##_endpoint)}
PROGRAM(three, 2, 3);
PROGRAM(ten, 2, 10);
PROGRAM(one, 1, 1);

static world *open_program(const char *url, const pawl_application *program)
{
    world_forget(&seen);
    return world_begin(url, program, NULL, NULL);
}

static void post_reading(world *it, const char *id)
{
    world_post(it, id, PAWL_MESSAGE(reading, .name = PAWL_TEXT("a"), .by = 1));
}

/* Each in a batch of its own, one a second, so that each is loaded from a fold. */
static void post_dispatches(world *it, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        post_reading(it, test_text("%08d-7d7e-5c4e-9d5b-0c2f4e6a8b1c", i));
        world_drain(it);
        world_go_both(it, PAWL_SECONDS(1));
    }
}

/* The marks of what was handled are swept after a week: only the stream knows it. */
static void forget_marks(world *it)
{
    world_go_both(it, PAWL_HOURS(24) * 8);
    assert_false(world_is_marked(it, "00000001-7d7e-5c4e-9d5b-0c2f4e6a8b1c"));
}

/* ---- What is known ---------------------------------------------------------------- */

static void run_again(const char *url, const pawl_application *program, int first, int count,
                      const char *expected)
{
    world *it = open_program(url, program);
    post_dispatches(it, first, count);
    assert_string_equal(seen.text, expected);
    assert_int_equal(world_dead(it).count, 0);
    forget_marks(it);
    world_close(it);
}

/* A dispatch that one program has forgotten is known to none after it. */
ON_ALL_STORES(o18_a_fold_is_for_programs_that_remember_more_or_fewer, const char *url)
{
    world_hold(url);
    run_again(url, &ten, 1, 12, "0 1 2 3 4 5 6 7 8 9 10 11 ");
    run_again(url, &ten, 3, 10, "");
    run_again(url, &three, 10, 3, "");
    run_again(url, &three, 13, 1, "12 ");
    run_again(url, &ten, 11, 3, "");
    run_again(url, &ten, 14, 7, "13 14 15 16 17 18 19 ");
    run_again(url, &ten, 11, 10, "");
    run_again(url, &one, 20, 1, "");
    run_again(url, &one, 21, 1, "20 ");
    run_again(url, &one, 20, 1, "21 ");
}

/* ---- Since when -------------------------------------------------------------------- */

static void keep_line(pawl_log_level level, const char *text, void *context)
{
    if (strstr(text, "dispatch ids") != NULL)
        world_note(&said, "%s", text);
}

static void say(const char *url, int64_t retention, int64_t inbox, const char *expected)
{
    const pawl_endpoint_options options = {.outbox_retention = retention,
                                           .inbox_retention  = inbox,
                                           .delayed_retries  = -1,
                                           .outbox_attempts  = 1};
    world_forget(&seen);
    world_forget(&said);
    pawl_log_set(keep_line, PAWL_LOG_WARNING, NULL);
    world *it = world_begin(url, &three, NULL, &options);
    post_dispatches(it, 1, 9);
    world_close(it);
    world_quiet();
    assert_string_equal(said.text, expected);
}

ON_ALL_STORES(o17_what_is_remembered_too_shortly_is_said_of_folds_too, const char *url)
{
    say(url, PAWL_SECONDS(4), PAWL_SECONDS(1),
        "Meter/a: the 3 dispatch ids that it remembers reach back 3 s; the outbox may send a copy "
        "for 4 s, and one that comes when the inbox has forgotten it is handled again: raise "
        "inbox_retention to outbox_retention, or .dispatches_remembered to 5 ");
}

ON_ALL_STORES(o17_what_is_remembered_long_enough_is_not, const char *url)
{
    say(url, PAWL_SECONDS(3), PAWL_SECONDS(1), "");
}

/* ---- Folds that do not fit -------------------------------------------------------- */

/* As after a restore that brought back the events of yesterday and the folds of today. */
ON_ALL_STORES(a_fold_ahead_of_its_stream_is_passed_over, const char *url)
{
    const pawl_stream_snapshot_row snapshot = {.version      = 7,
                                               .type_version = 1,
                                               .state        = PAWL_TEXT("{\"total\":700}"),
                                               .dispatches   = PAWL_TEXT("[]")};
    world                         *it       = open_program(url, &three);
    post_dispatches(it, 1, 3);
    must(pawl_store_stream_snapshot_save(it->store, PAWL_TEXT("Meter/a"), &snapshot, world_now(it),
                                         world_error()));
    post_dispatches(it, 4, 3);
    assert_string_equal(seen.text, "0 1 2 3 4 5 ");
    forget_marks(it);
    post_dispatches(it, 4, 3); /* known, though the fold knows nobody */
    assert_string_equal(seen.text, "0 1 2 3 4 5 ");
    assert_int_equal(world_events(it, "Meter/a").count, 6);
    assert_int_equal(world_dead(it).count, 0);
}

/* The ids in front of the place where its list cannot be read are nobody's: the command of
 * one of them was never handled. */
ON_ALL_STORES(o18_the_ids_of_a_fold_that_cannot_be_read_are_not_known, const char *url)
{
    const pawl_stream_snapshot_row snapshot = {
        .version      = 3,
        .type_version = 1,
        .state        = PAWL_TEXT("{\"total\":3}"),
        .dispatches   = PAWL_TEXT("[\"00000004-7d7e-5c4e-9d5b-0c2f4e6a8b1c\",\"no id\"]")};
    world *it = open_program(url, &ten);
    post_dispatches(it, 1, 3);
    must(pawl_store_stream_snapshot_save(it->store, PAWL_TEXT("Meter/a"), &snapshot, world_now(it),
                                         world_error()));
    post_dispatches(it, 4, 1);
    assert_string_equal(seen.text, "0 1 2 3 ");
    assert_int_equal(world_events(it, "Meter/a").count, 4);
    assert_int_equal(world_dead(it).count, 0);
}

/* ---- States that grow -------------------------------------------------------------- */

RECORD(line, (TEXT, article), (INT64, count));
RECORD(put_in, (TEXT, article), (INT64, count));
RECORD(cart, (LIST_RECORD, lines, line));

static pawl_code on_put_in(pawl_context *ctx, const cart *state, const put_in *command)
{
    for (size_t i = 0; i < state->lines.count; i++)
        world_note(&seen, "%d%.*s", (int)state->lines.items[i].count,
                   PAWL_TEXT_ARGS(state->lines.items[i].article));
    world_note(&seen, "/");
    return pawl_emit(ctx, PAWL_MESSAGE(line, .article = command->article, .count = command->count));
}
PAWL_ENTITY_HANDLER(on_put_in, cart, put_in);

static pawl_code apply_line(cart *state, const line *event, pawl_arena *arena)
{
    size_t count = state->lines.count;
    if (event->count < 0)
        return PAWL_EINVAL;
    line *lines = pawl_arena_grow(arena, state->lines.items, count, &count, sizeof *lines);
    if (lines == NULL)
        return PAWL_ENOMEM;
    lines[state->lines.count++] = *event;
    state->lines.items          = lines;
    return PAWL_OK;
}
PAWL_APPLY_WITH_ARENA(apply_line, cart, line);

static const pawl_entity cart_entity = {
    .name           = "Cart",
    .state          = PAWL_RECORD_OF(cart),
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_put_in), .key = "article"}),
    .apply          = PAWL_APPLY_LIST(PAWL_APPLIES(apply_line)),
    .snapshot_every = 4};
static const pawl_application carts =
    ONE_ENDPOINT("carts", .name = "carts", .entities = PAWL_ENTITIES(&cart_entity));

static void post_line(world *it, int64_t count)
{
    world_post(it, NULL, PAWL_MESSAGE(put_in, .article = PAWL_TEXT("a"), .count = count));
}

/* In a batch, from events, from a fold and events: the same list. */
ON_ALL_STORES(a_list_of_the_state_can_grow, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &carts, NULL, NULL);
    for (int i = 1; i <= 2; i++)
        post_line(it, i);
    world_drain(it);
    for (int i = 3; i <= 6; i++) {
        post_line(it, i);
        world_drain(it);
    }
    assert_string_equal(seen.text, "/ 1a / 1a 2a / 1a 2a 3a / 1a 2a 3a 4a / 1a 2a 3a 4a 5a / ");
}

ON_ALL_STORES(an_event_that_cannot_be_applied_is_not_emitted, const char *url)
{
    const pawl_endpoint_options options = {.delayed_retries = -1};
    world_forget(&seen);
    world *it = world_begin(url, &carts, NULL, &options);
    post_line(it, 1);
    post_line(it, -1);
    post_line(it, 2);
    LOG_AFTER(world_drain(it), seen, "/ 1a / 1a / ");
    assert_int_equal(world_events(it, "Cart/a").count, 2);
    assert_string_equal(world_dead_letter(it).error.data,
                        "event line: event type line: its function in "
                        ".apply says: invalid argument");
}
