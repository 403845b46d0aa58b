/* test_engine_process_more.c - streams under trouble: written by another version of
 * the program, with stored folds that are of no use, found by all kinds of keys,
 * appended to by others in the middle of a batch.
 *
 * O1, O4, O17, O18, E35.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/process.h"

#include <math.h>

static world_log seen;
static world    *meddled; /* whose store a handler appends to, behind the batch's back */

/* ---- A program of yesterday ------------------------------------------------------ */

RECORD(tally, (INT64, total), (TEXT, last));
RECORD(add, (TEXT, name), (INT64, amount), (TEXT, how));
RECORD(added, (INT64, amount), (TEXT, how));
RECORD(struck, (INT64, amount));

/* As another handle does it. */
static void append(pawl_store *store, int64_t version, const char *body)
{
    pawl_changes      changes  = {ONE_UNIT, .now = WORLD_START};
    pawl_event_append event    = {.stream   = PAWL_TEXT("Tally/a"),
                                  .version  = version,
                                  .is_first = true,
                                  .event    = {.type           = PAWL_TEXT("added"),
                                               .type_version   = 1,
                                               .body           = pawl_text_of(body),
                                               .message_id     = PAWL_TEXT("other"),
                                               .correlation_id = PAWL_TEXT("other"),
                                               .at             = WORLD_START}};
    changes.event_append.items = &event;
    changes.event_append.count = 1;
    must(pawl_store_commit(store, &changes, NULL, world_error()));
}

static pawl_code on_add(pawl_context *ctx, const tally *state, const add *command)
{
    world_note(&seen, "%.*s+%d=%d", PAWL_TEXT_ARGS(command->name), (int)command->amount,
               (int)(state->total + command->amount));
    if (text_is(command->how, "meddle") && meddled != NULL) {
        append(meddled->store, 1, "{\"amount\":100}");
        meddled = NULL;
    }
    if (text_is(command->how, "fail"))
        return PAWL_REJECT;
    if (text_is(command->how, "strike"))
        return pawl_emit(ctx, PAWL_MESSAGE(struck, .amount = command->amount));
    pawl_code code =
        pawl_emit(ctx, PAWL_MESSAGE(added, .amount = command->amount, .how = command->how));
    if (text_is(command->how, "late")) /* after it emitted */
        return pawl_fail(ctx, PAWL_REJECT, "too late");
    return code;
}
PAWL_ENTITY_HANDLER(on_add, tally, add);

static void apply_added(tally *state, const added *event)
{
    state->total += event->amount;
    state->last = event->how;
}
PAWL_APPLY(apply_added, tally, added);

static void apply_struck(tally *state, const struck *event)
{
    state->total -= event->amount;
}
PAWL_APPLY(apply_struck, tally, struck);

/* Counts double from now on: another version of the state, with no way there. */
RECORD_WITH(double_tally, ((INT64, total), (TEXT, last)), .type = "tally", .version = 2);

static pawl_code on_add_double(pawl_context *ctx, const double_tally *state, const add *command)
{
    world_note(&seen, "%d", (int)state->total);
    return pawl_emit(ctx, PAWL_MESSAGE(added, .amount = command->amount));
}
PAWL_ENTITY_HANDLER(on_add_double, double_tally, add);

static void apply_double(double_tally *state, const added *event)
{
    state->total += 2 * event->amount;
}
PAWL_APPLY(apply_double, double_tally, added);

static const pawl_entity double_entity = {
    .name           = "Tally",
    .state          = PAWL_RECORD_OF(double_tally),
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_add_double), .key = "name"}),
    .apply          = PAWL_APPLY_LIST(PAWL_APPLIES(apply_double)),
    .snapshot_every = 4};

/* A state that is in order, but cannot be written. */
RECORD(ratio_state, (INT64, total), (DOUBLE, ratio));

static pawl_code on_add_ratio(pawl_context *ctx, const ratio_state *state, const add *command)
{
    world_note(&seen, "%d", (int)state->total);
    return pawl_emit(ctx, PAWL_MESSAGE(added, .amount = command->amount));
}
PAWL_ENTITY_HANDLER(on_add_ratio, ratio_state, add);

static void apply_to_ratio(ratio_state *state, const added *event)
{
    state->total += event->amount;
    state->ratio = event->amount == 2 ? INFINITY : 1.0;
}
PAWL_APPLY(apply_to_ratio, ratio_state, added);

static const pawl_entity ratio_tally = {
    .name           = "Tally",
    .state          = PAWL_RECORD_OF(ratio_state),
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_add_ratio), .key = "name"}),
    .apply          = PAWL_APPLY_LIST(PAWL_APPLIES(apply_to_ratio)),
    .snapshot_every = 1};

static const pawl_on     old_rows[] = {{.handle = PAWL_HANDLE(on_add), .key = "name"},
                                       {.handle = NULL}};
static const pawl_entity old_tally  = {
     .name                  = "Tally",
     .state                 = PAWL_RECORD_OF(tally),
     .on                    = old_rows,
     .apply                 = PAWL_APPLY_LIST(PAWL_APPLIES(apply_added), PAWL_APPLIES(apply_struck)),
     .dispatches_remembered = 3};
static const pawl_entity old_tally_with_folds = {
    .name           = "Tally",
    .state          = PAWL_RECORD_OF(tally),
    .on             = old_rows,
    .apply          = PAWL_APPLY_LIST(PAWL_APPLIES(apply_added), PAWL_APPLIES(apply_struck)),
    .snapshot_every = 2};

/* ---- The one of today: counts in hundredths, and strikes no more ------------------ */

/* The two forms of the number that a body of version 1 begins with. */
static pawl_code upcast_number(const char *format, pawl_text json, pawl_arena *arena,
                               pawl_text *upcast)
{
    long long   number = 0;
    const char *digits = json.data != NULL ? strpbrk(json.data, "-0123456789") : NULL;
    if (digits == NULL || sscanf(digits, "%lld", &number) != 1)
        return PAWL_EDECODE;
    *upcast = pawl_arena_printf(arena, format, number * 100);
    return upcast->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code upcast_tally(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                              pawl_error *error)
{
    return upcast_number("{\"cents\":%lld}", json, arena, upcast);
}

static pawl_code upcast_added(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                              pawl_error *error)
{
    return upcast_number("{\"cents\":%lld}", json, arena, upcast);
}

RECORD_WITH(new_tally, ((INT64, cents)), .type = "tally", .version = 2, .upcast = upcast_tally);
RECORD_WITH(new_added, ((INT64, cents)), .type = "added", .version = 2, .upcast = upcast_added);

static pawl_code on_add_cents(pawl_context *ctx, const new_tally *state, const add *command)
{
    world_note(&seen, "%.*s:%d", PAWL_TEXT_ARGS(command->name), (int)state->cents);
    return pawl_emit(ctx, PAWL_MESSAGE(new_added, .cents = command->amount));
}
PAWL_ENTITY_HANDLER(on_add_cents, new_tally, add);

static void apply_new_added(new_tally *state, const new_added *event)
{
    state->cents += event->cents;
}
PAWL_APPLY(apply_new_added, new_tally, new_added);

static const pawl_entity today_tally = {
    .name           = "Tally",
    .state          = PAWL_RECORD_OF(new_tally),
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_add_cents), .key = "name"}),
    .apply          = PAWL_APPLY_LIST(PAWL_APPLIES(apply_new_added)),
    .snapshot_every = 3};

#define PROGRAM(program, entity)                                                                    \
    static const pawl_endpoint_spec program##_endpoint = {.name     = "tallies",                    \
                                                          .entities = PAWL_ENTITIES(&(entity))};    \
    static const pawl_application   program            = {PAWL_APPLICATION_HEAD, .name = "tallies", \
                                                          .endpoints = PAWL_ENDPOINTS(&program##_endpoint)}
PROGRAM(old, old_tally);
PROGRAM(folding, old_tally_with_folds);
PROGRAM(today, today_tally);
PROGRAM(ratios, ratio_tally);
PROGRAM(doubling, double_entity);

/* ---- Running ------------------------------------------------------------------------ */

static world *open_program(const char *url, const pawl_application *program, int retries)
{
    const pawl_endpoint_options options = {.delayed_retries = retries};
    world_forget(&seen);
    return world_begin(url, program, NULL, &options);
}

static void post_add(world *it, const char *id, const char *name, int amount, const char *how)
{
    world_post(
        it, id,
        PAWL_MESSAGE(add, .name = pawl_text_of(name), .amount = amount, .how = pawl_text_of(how)));
}

static void run_program(const char *url, const pawl_application *program, int amount, int count,
                        const char *expected)
{
    world *it = open_program(url, program, -1);
    for (int i = 0; i < count; i++)
        post_add(it, NULL, "a", amount, "");
    LOG_AFTER(world_drain(it), seen, expected);
    assert_int_equal(world_dead(it).count, 0);
}

/* ---- Versions ------------------------------------------------------------------------- */

static void events_and_folds_of_yesterday(const char *url, const pawl_application *yesterday)
{
    world_hold(url);
    run_program(url, yesterday, 5, 3, "a+5=5 a+5=10 a+5=15 ");
    world *it = open_program(url, &today, -1);
    post_add(it, NULL, "a", 7, "");
    post_add(it, NULL, "a", 1, "");
    LOG_AFTER(world_drain(it), seen, "a:1500 a:1507 ");
    pawl_event_rows rows = world_events(it, "Tally/a");
    assert_int_equal(rows.count, 5);
    assert_int_equal(rows.items[2].event.type_version, 1);
    assert_int_equal(rows.items[3].event.type_version, 2);
    post_add(it, NULL, "a", 1, ""); /* its own events, and a fold at 6 */
    world_drain(it);
    post_add(it, NULL, "a", 1, "");
    LOG_AFTER(world_drain(it), seen, "a:1500 a:1507 a:1508 a:1509 ");
}

ON_ALL_STORES_IN_TIME(events_of_an_older_program_are_upcast, const char *url)
{
    events_and_folds_of_yesterday(url, &old);
}

ON_ALL_STORES_IN_TIME(folds_of_an_older_program_are_upcast, const char *url)
{
    events_and_folds_of_yesterday(url, &folding);
}

ON_ALL_STORES_IN_TIME(folds_of_before_are_passed_over_without_an_upcaster, const char *url)
{
    world_hold(url);
    run_program(url, &folding, 5, 3, "a+5=5 a+5=10 a+5=15 ");
    run_program(url, &doubling, 1, 1, "30 ");
    run_program(url, &doubling, 1, 2, "32 34 "); /* from its own fold */
}

/* The stream waits for a program that can read it; the others of the batch go on. */
ON_ALL_STORES_IN_TIME(events_of_a_newer_program_are_waited_for, const char *url)
{
    world_hold(url);
    run_program(url, &today, 7, 1, "a:0 ");
    world *it = open_program(url, &old, 2);
    post_add(it, "m-a", "a", 1, "");
    post_add(it, "m-b", "b", 2, "");
    LOG_AFTER(world_drain(it), seen, "b+2=2 ");
    assert_int_equal(world_events(it, "Tally/a").count, 1);
    assert_int_equal(world_events(it, "Tally/b").count, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(world_queue(it, "tallies").count, 1);
        assert_int_equal(world_dead(it).count, 0);
        world_go_both(it, PAWL_HOURS(10));
    }
    world_close(it);
    it = open_program(url, &today, 7);
    world_go_both(it, PAWL_HOURS(21));
    assert_int_equal(world_queue(it, "tallies").count, 0);
    assert_int_equal(world_events(it, "Tally/a").count, 2);
}

ON_ALL_STORES_IN_TIME(an_unknown_event_waits_for_a_program_that_knows_it, const char *url)
{
    world_hold(url);
    world *it = open_program(url, &old, -1);
    post_add(it, NULL, "a", 9, "");
    post_add(it, NULL, "a", 4, "strike");
    world_drain(it);
    world_close(it);
    it = open_program(url, &today, 5);
    post_add(it, "m-a", "a", 1, "");
    LOG_AFTER(world_drain(it), seen, "");
    assert_int_equal(world_queue_row(it, "tallies").attempts, 1);
    world_close(it);
    it = open_program(url, &old, 5);
    world_go_both(it, PAWL_HOURS(1));
    assert_string_equal(seen.text, "a+1=6 "); /* nothing is lost */
    world_close(it);
    it = open_program(url, &today, -1);
    post_add(it, NULL, "a", 1, "");
    world_drain(it);
    assert_true(world_says(world_dead(it).items[0].error,
                           "Tally/a: version 2: event type 'struck' has no function in .apply"));
}

ON_ALL_STORES_IN_TIME(an_event_that_cannot_be_decoded_is_named, const char *url)
{
    world *it = open_program(url, &old, -1);
    post_add(it, NULL, "a", 1, "");
    world_drain(it);
    append(it->store, 2, "{\"amount\":\"x\"}");
    post_add(it, NULL, "a", 1, "");
    world_drain(it);
    assert_int_equal(world_events(it, "Tally/a").count, 2);
    assert_true(
        world_says(world_dead(it).items[0].error, "Tally/a: version 2: event type added: amount:"));
}

/* ---- Folds ------------------------------------------------------------------------------ */

static void store_fold(world *it, int64_t version, int32_t type_version, const char *state,
                       const char *dispatches)
{
    pawl_changes             changes  = {ONE_UNIT, .now = WORLD_START};
    pawl_stream_snapshot_set snapshot = {.stream       = PAWL_TEXT("Tally/a"),
                                         .version      = version,
                                         .type_version = type_version,
                                         .state        = pawl_text_of(state),
                                         .dispatches   = pawl_text_of(dispatches),
                                         .at           = WORLD_START};
    changes.stream_snapshot_set.items = &snapshot;
    changes.stream_snapshot_set.count = 1;
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
}

/* Each is worse than the one before; a fold that could be read would be believed. */
ON_ALL_STORES_IN_TIME(a_fold_that_is_of_no_use_is_passed_over, const char *url)
{
    world *it = open_program(url, &old, -1);
    for (int i = 0; i < 5; i++)
        post_add(it, NULL, "a", 1, "");
    world_drain(it);
    world_forget(&seen);
    store_fold(it, 1, 1, "{\"total\":\"x\"}", "[]");
    post_add(it, NULL, "a", 1, "");
    world_drain(it);
    store_fold(it, 2, 2, "{\"total\":5000}", "[]"); /* of a program to come */
    post_add(it, NULL, "a", 1, "");
    world_drain(it);
    store_fold(it, 3, 1, "{\"total\":5000}", "[17]");
    post_add(it, NULL, "a", 1, "");
    LOG_AFTER(world_drain(it), seen, "a+1=6 a+1=7 a+1=8 ");
    store_fold(it, 4, 1, "{\"total\":5000}", "[]");
    post_add(it, NULL, "a", 1, "");
    world_drain(it);
    assert_true(world_says(pawl_text_of(seen.text), "a+1=5005"));
}

static int64_t fold_version(world *it)
{
    const pawl_stream_read read = {.stream = PAWL_TEXT("Tally/a"), .snapshot_version_max = 1};
    pawl_stream            loaded;
    must(pawl_store_stream_load(it->store, &read, 1, it->arena, &loaded, world_error()));
    return loaded.snapshot.version;
}

/* The same commands, one batch or many: the same states. */
ON_ALL_STORES_IN_TIME(folds_change_no_state, const char *url)
{
    static const pawl_application *const programs[] = {&old, &folding};
    static const char *const expected  = "a+1=1 a+1=2 a+2=4 a+3=7 a+5=12 a+8=20 a+13=33 ";
    static const int         amounts[] = {1, 1, 2, 3, 5, 8, 13};
    char                     other[1000];
    assert_true(scenario_url(test_text("%.*s", (int)strcspn(url, ":"), url), other, sizeof other));
    for (int i = 0; i < 2; i++) {
        world *it = open_program(i == 0 ? url : other, programs[i], -1);
        for (int j = 0; j < 7; j++) {
            post_add(it, NULL, "a", amounts[j], "");
            if (j != 3)
                world_drain(it);
            if (j == 4) /* the batch of two brought it from 3 to 5: one fold, of its end */
                assert_int_equal(fold_version(it), i == 0 ? 0 : 5);
        }
        assert_string_equal(seen.text, expected);
        assert_int_equal(fold_version(it), i == 0 ? 0 : 6);
        world_close(it);
    }
    scenario_forget(other);
}

/* ---- Batches ------------------------------------------------------------------------------ */

ON_ALL_STORES_IN_TIME(o4_e35_only_the_stream_that_moved_is_run_again, const char *url)
{
    world *it = open_program(url, &old, -1);
    meddled   = it;
    post_add(it, NULL, "a", 1, "");
    post_add(it, NULL, "b", 2, "meddle");
    post_add(it, NULL, "a", 3, "");
    world_drain(it);
    assert_null(meddled);
    assert_string_equal(seen.text, "a+1=1 b+2=2 a+3=4 a+1=101 a+3=104 ");
    pawl_event_rows rows = world_events(it, "Tally/a");
    assert_int_equal(rows.count, 3);
    assert_true(text_is(rows.items[0].event.message_id, "other"));
    assert_int_equal(rows.items[2].version, 3);
    assert_int_equal(world_events(it, "Tally/b").count, 1);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "tallies").count, 0);
}

/* Events that the unit had emitted already are gone with it. */
ON_ALL_STORES_IN_TIME(o1_a_unit_that_fails_leaves_the_others_of_its_stream, const char *url)
{
    world *it = open_program(url, &folding, -1);
    post_add(it, NULL, "a", 1, "");
    post_add(it, NULL, "a", 10, "late");
    post_add(it, NULL, "a", 2, "");
    post_add(it, NULL, "a", 10, "fail");
    post_add(it, NULL, "a", 3, "");
    pawl_step step = world_step(it);
    assert_int_equal(step.handled, 5); /* one batch */
    assert_int_equal(step.dead, 2);
    LOG_AFTER(world_drain(it), seen, "a+1=1 a+10=11 a+2=3 a+10=13 a+3=6 ");
    pawl_event_rows rows = world_events(it, "Tally/a");
    assert_int_equal(rows.count, 3);
    for (size_t i = 0; i < rows.count; i++)
        assert_int_equal(rows.items[i].version, i + 1);
    assert_int_equal(world_dead(it).count, 2);
    post_add(it, NULL, "a", 1, "");
    world_drain(it);
    assert_true(world_says(pawl_text_of(seen.text), "a+1=7"));
}

/* ---- What is remembered, and the warning ------------------------------------------------------- */

static world_log said;

static void keep_line(pawl_log_level level, const char *text, void *context)
{
    if (strstr(text, "dispatch ids") != NULL || strstr(text, "snapshot") != NULL)
        world_note(&said, "%s", text);
}

static void name_dispatch(int number, char id[40])
{
    snprintf(id, 40, "%08d-7d7e-5c4e-9d5b-0c2f4e6a8b1c", number);
}

static void post_dispatches(world *it, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        char id[40];
        name_dispatch(i, id);
        post_add(it, id, "a", 1, "");
        world_drain(it);
        world_go_both(it, PAWL_SECONDS(1));
    }
}

#define REMEMBERED 1024 /* where nobody says another number */

/* The stream has as many events as it remembers ids: the first is known until another one comes. */
ON_ALL_STORES_IN_TIME(o17_a_thousand_and_some_ids_are_remembered, const char *url)
{
    static pawl_event_append events[REMEMBERED];
    char                     id[40];
    world                   *it = open_program(url, &folding, -1);
    for (int i = 0; i < REMEMBERED; i++) {
        events[i] = (pawl_event_append){.stream   = PAWL_TEXT("Tally/a"),
                                        .version  = i + 1,
                                        .is_first = i == 0,
                                        .event    = {.type           = PAWL_TEXT("added"),
                                                     .type_version   = 1,
                                                     .body           = PAWL_TEXT("{\"amount\":1}"),
                                                     .message_id     = PAWL_TEXT("other"),
                                                     .correlation_id = PAWL_TEXT("other"),
                                                     .at             = WORLD_START}};
        name_dispatch(i + 1, id);
        must(pawl_uuid_parse(pawl_text_of(id), &events[i].event.dispatch_id.uuid, world_error()));
    }
    pawl_changes changes = {ONE_UNIT, .now = WORLD_START,
                            .event_append = {.items = events, .count = REMEMBERED}};
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
    post_dispatches(it, 1, 1); /* known */
    post_dispatches(it, REMEMBERED + 1, 2);
    post_dispatches(it, 2, 1); /* not any more */
    assert_string_equal(seen.text, "a+1=1025 a+1=1026 a+1=1027 ");
}

/* The process remembers three dispatches, one a second. */
static void say(const char *url, int64_t retention, int64_t inbox, const char *expected)
{
    const pawl_endpoint_options options = {.outbox_retention = retention,
                                           .inbox_retention  = inbox,
                                           .delayed_retries  = -1,
                                           .outbox_attempts  = 1};
    world_forget(&said);
    pawl_log_set(keep_line, PAWL_LOG_WARNING, NULL);
    world *it = world_begin(url, &old, NULL, &options);
    post_dispatches(it, 1, 6);
    world_close(it);
    world_quiet();
    assert_string_equal(said.text, expected);
}

ON_ALL_STORES_IN_TIME(o17_what_is_remembered_too_shortly_is_said_once, const char *url)
{
    say(url, 0, 0,
        "Tally/a: the 3 dispatch ids that it remembers reach back 3 s; the outbox may send a copy "
        "for 2592000 s, and one that comes when the inbox has forgotten it is handled again: raise "
        "inbox_retention to outbox_retention ");
}

/* The inbox's marks know each copy for as long as there are any. */
ON_ALL_STORES_IN_TIME(o17_what_the_inbox_remembers_is_not_told, const char *url)
{
    say(url, PAWL_SECONDS(4), PAWL_SECONDS(4), "");
}

ON_ALL_STORES_IN_TIME(what_is_remembered_long_enough_is_not_worth_a_word, const char *url)
{
    say(url, PAWL_SECONDS(3), PAWL_SECONDS(1), "");
}

ON_ALL_STORES_IN_TIME(a_state_that_cannot_be_stored_goes_without_a_fold, const char *url)
{
    world_forget(&said);
    pawl_log_set(keep_line, PAWL_LOG_WARNING, NULL);
    world *it = open_program(url, &ratios, -1);
    for (int i = 1; i <= 3; i++) {
        post_add(it, NULL, "a", i, "");
        world_drain(it);
        assert_int_equal(fold_version(it), i == 2 ? 1 : i);
    }
    world_quiet();
    assert_string_equal(seen.text, "0 1 3 ");
    assert_int_equal(world_events(it, "Tally/a").count, 3);
    assert_true(world_says(pawl_text_of(said.text), "Tally/a: its snapshot is not stored: "));
    assert_true(world_says(pawl_text_of(said.text), "ratio"));
}
