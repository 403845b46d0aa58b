/* test_engine_group.c - units that are refused together, and units that run again: E7, E35 and E36,
 * the conflict budget, and a unit that spoils a change set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "base/dispatch.h"
#include "support/hook.h"

RECORD(left_state, (TEXT, left), (INT32, count), (TEXT, note));
RECORD(right_state, (TEXT, right), (INT32, count));

RECORD(to_left, (TEXT, left), (TEXT, note));
RECORD(to_right, (TEXT, right));
RECORD(to_both, (TEXT, left), (TEXT, right));
PAWL_RECORD(to_far, A_NUMBER);
PAWL_RECORD(bulk, A_NUMBER);
RECORD(result, (TEXT, of));

static world_log seen;
static world    *around; /* the world that handlers meddle with */
static void (*meddle)(void);

static pawl_code tell(pawl_context *ctx, const char *what)
{
    return pawl_send(ctx, "out", PAWL_MESSAGE(result, .of = pawl_text_of(what)));
}

static pawl_code on_to_left(pawl_context *ctx, left_state *left, const to_left *message)
{
    world_note(&seen, "left(%.*s)", PAWL_TEXT_ARGS(message->left));
    left->count++;
    left->note = message->note;
    if (pawl_text_equal(message->note, PAWL_TEXT("spoil")))
        left->note = PAWL_TEXT("\xff");
    if (meddle != NULL)
        meddle();
    if (pawl_text_equal(message->note, PAWL_TEXT("far")))
        return pawl_send(ctx, "far", PAWL_MESSAGE(result, .of = message->left));
    return tell(ctx, "left");
}
PAWL_HANDLER(on_to_left, left_state, to_left);

static pawl_code on_both_left(pawl_context *ctx, left_state *left, const to_both *message)
{
    world_note(&seen, "both");
    left->count++;
    return tell(ctx, "both");
}
PAWL_HANDLER(on_both_left, left_state, to_both);

static pawl_code on_both_right(pawl_context *ctx, right_state *right, const to_both *message)
{
    right->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_both_right, right_state, to_both);

static pawl_code on_to_right(pawl_context *ctx, right_state *right, const to_right *message)
{
    world_note(&seen, "right(%.*s)", PAWL_TEXT_ARGS(message->right));
    right->count++;
    return tell(ctx, "right");
}
PAWL_HANDLER(on_to_right, right_state, to_right);

static pawl_code on_to_far(pawl_context *ctx, const to_far *message)
{
    world_note(&seen, "far%d", message->number);
    return pawl_send(ctx, "far", PAWL_MESSAGE(result, .of = PAWL_TEXT("far")));
}
PAWL_MESSAGE_HANDLER(on_to_far, to_far);

static pawl_code on_bulk(pawl_context *ctx, const bulk *messages, size_t count)
{
    world_note(&seen, "bulk%zu", count);
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_bulk, bulk);

static const pawl_saga left_saga = SAGA_OF(
    "Left", left_state, "left", {.handle = PAWL_HANDLE(on_to_left), .key = "left", .starts = true},
    {.handle = PAWL_HANDLE(on_both_left), .key = "left"});
static const pawl_saga right_saga =
    SAGA_OF("Right", right_state, "right",
            {.handle = PAWL_HANDLE(on_to_right), .key = "right", .starts = true},
            {.handle = PAWL_HANDLE(on_both_right), .key = "right"});
static const pawl_aggregator bulks = {.name = "Bulks", .handle = PAWL_HANDLE(on_bulk), .size = 50};

static const pawl_application application =
    ONE_ENDPOINT("groups", .name = "hands", .sagas = PAWL_SAGAS(&left_saga, &right_saga),
                 .handlers    = PAWL_ON({.handle = PAWL_HANDLE(on_to_far)}),
                 .aggregators = PAWL_AGGREGATORS(&bulks));

static world *open_world_with(const char *url, pawl_endpoint_options options)
{
    meddle = NULL;
    world_forget(&seen);
    around = world_begin(url, &application, NULL, &options);
    return around;
}

static world *open_world(const char *url)
{
    return open_world_with(url, (pawl_endpoint_options){.immediate_retries = -1});
}

static void post_left(world *it, const char *left, const char *note)
{
    world_post(it, NULL,
               PAWL_MESSAGE(to_left, .left = pawl_text_of(left), .note = pawl_text_of(note)));
}

static void post_right(world *it, const char *right)
{
    world_post(it, NULL, PAWL_MESSAGE(to_right, .right = pawl_text_of(right)));
}

static void post_both(world *it, const char *left, const char *right)
{
    world_post(it, NULL,
               PAWL_MESSAGE(to_both, .left = pawl_text_of(left), .right = pawl_text_of(right)));
}

static const pawl_saga_table *left_table(void)
{
    return world_table(around, &application, 0);
}

/* Through a handle of the test's own, as the next function. */
static pawl_saga_row load_a(void)
{
    pawl_value    value = pawl_value_text(PAWL_TEXT("a"));
    pawl_store   *store = around->store;
    pawl_saga_row row;
    must(pawl_store_saga_load(store, left_table(), PAWL_SAGA_BY_MAIN, &value, 1, PAWL_SAGA_UNLOCKED,
                              around->arena, &row, world_error()));
    return row;
}

/* Another worker writes the saga Left `a`, or begins it. */
static void move_a(void)
{
    const pawl_saga_table *table   = left_table();
    pawl_saga_row          row     = load_a();
    pawl_changes           changes = {ONE_UNIT, .now = WORLD_START};
    pawl_saga_insert       insert  = {.table        = table,
                                      .id           = {{{77}}},
                                      .main         = pawl_value_text(PAWL_TEXT("a")),
                                      .metadata     = PAWL_TEXT("{}"),
                                      .data         = PAWL_TEXT("{\"left\":\"a\",\"count\":100}"),
                                      .type_version = PAWL_TEXT("1.0")};
    pawl_saga_update       update  = {.table        = table,
                                      .id           = row.id,
                                      .version      = row.version,
                                      .row          = row.row,
                                      .metadata     = row.metadata,
                                      .data         = PAWL_TEXT("{\"left\":\"a\",\"count\":100}"),
                                      .type_version = row.type_version};
    changes.saga_insert.items      = &insert;
    changes.saga_insert.count      = row.version == 0;
    changes.saga_update.items      = &update;
    changes.saga_update.count      = row.version != 0;
    must(pawl_store_commit(around->store, &changes, NULL, world_error()));
}

static void move_a_once(void)
{
    meddle = NULL;
    move_a();
}

/* ---- E35 -------------------------------------------------------------------------- */

static bool was_c_there;

/* Runs in each handler for a Left after the one that moved a. */
static void look_for_c(void)
{
    int64_t version = 0;
    world_saga_text(around, "Left", "c", &version);
    was_c_there |= version == 1;
}

static void move_a_then_look(void)
{
    move_a();
    meddle = look_for_c;
}

ON_ALL_STORES(e35_a_refused_group_runs_again_and_others_commit, const char *url)
{
    world *it = open_world(url);
    post_left(it, "a", "");
    post_right(it, "b");
    world_drain(it);
    world_forget(&seen);
    int64_t before = world_stats(it).counters.messages;

    post_left(it, "a", "");
    post_both(it, "a", "b");
    post_right(it, "b");
    post_left(it, "c", "");
    meddle         = move_a_then_look;
    was_c_there    = false;
    pawl_step step = world_drain(it);
    meddle         = NULL;
    assert_string_equal(seen.text, "left(a) both right(b) left(c) left(a) both right(b) ");
    assert_int_equal(step.handled, 4);
    assert_int_equal(step.refused, 3);
    /* When the refused units ran again, the fourth was committed. */
    assert_true(was_c_there);

    /* One by one: each is a save. Where rows are locked they run again as a batch. */
    int     saves   = it->store->ops->promises & PAWL_STORE_ROW_LOCKS ? 1 : 2;
    int64_t version = 0;
    world_json_equal(it, world_saga_text(it, "Left", "a", &version),
                     "{\"left\":\"a\",\"count\":102}");
    assert_int_equal(version, 2 + saves);
    world_json_equal(it, world_saga_text(it, "Right", "b", &version),
                     "{\"right\":\"b\",\"count\":3}");
    assert_int_equal(version, 1 + saves);
    world_json_equal(it, world_saga_text(it, "Left", "c", &version),
                     "{\"left\":\"c\",\"count\":1}");
    assert_int_equal(version, 1);
    assert_int_equal(world_queue(it, "out").count, 2 + 4);
    assert_int_equal(world_queue(it, "hands").count, 0);
    assert_int_equal(world_stats(it).counters.messages - before, 4);
    assert_int_equal(world_stats(it).counters.conflicts, 3);
}

/* ---- E7, the budget ------------------------------------------------------------------ */

ON_ALL_STORES(e7_a_conflict_runs_the_handler_again_from_a_fresh_find, const char *url)
{
    world *it = open_world(url);
    post_left(it, "a", "");
    world_drain(it);
    post_left(it, "a", "");
    meddle         = move_a_once;
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 1);
    assert_int_equal(step.refused, 1);
    world_json_equal(it, world_saga_text(it, "Left", "a", NULL), "{\"left\":\"a\",\"count\":101}");
    assert_int_equal(world_queue(it, "out").count, 2);
}

ON_ALL_STORES(e7_the_losing_starter_continues, const char *url)
{
    world *it = open_world(url);
    post_left(it, "a", "");
    meddle = move_a_once;
    world_drain(it);
    int64_t version = 0;
    assert_string_equal(seen.text, "left(a) left(a) ");
    world_json_equal(it, world_saga_text(it, "Left", "a", &version),
                     "{\"left\":\"a\",\"count\":101}");
    assert_int_equal(version, 2);
    assert_int_equal(world_saga_count(it, "Left"), 1);
    assert_int_equal(world_queue(it, "out").count, 1);
}

/* On a server the row is locked after the second conflict, and nobody writes it. */
ON_STORES(conflicts_past_the_budget_are_a_failure, const char *url)
{
    world *it = open_world_with(
        url, (pawl_endpoint_options){.immediate_retries = -1, .conflict_retries = 2});
    post_left(it, "a", "");
    world_drain(it);
    world_forget(&seen);
    post_left(it, "a", "");
    meddle = move_a;
    LOG_AFTER(world_drain(it), seen, "left(a) left(a) left(a) left(a) ");
    assert_int_equal(world_queue_row(it, "hands").attempts, 1);
    meddle = NULL;
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(world_queue(it, "hands").count, 0);
    assert_int_equal(world_queue(it, "out").count, 2);
}

/* Another worker begins a, ends it, begins it: a row that is hot and locked nobody could
 * write, but one that is not there cannot be locked. */
static void begin_or_end_a(void)
{
    pawl_saga_row row = load_a();
    if (row.version == 0) {
        move_a();
        return;
    }
    MUST_COMMIT(around->store, saga_delete, WORLD_START, .table = left_table(), .id = row.id,
                .version = row.version);
}

ON_ALL_STORES(e7_conflicts_past_the_budget_over_a_saga_that_comes_and_goes, const char *url)
{
    world *it = open_world_with(
        url, (pawl_endpoint_options){.immediate_retries = -1, .conflict_retries = 1});
    post_left(it, "a", "");
    meddle = begin_or_end_a;
    LOG_AFTER(world_drain(it), seen, "left(a) left(a) left(a) ");
    assert_int_equal(world_queue_row(it, "hands").attempts, 1);
    assert_int_equal(world_queue(it, "out").count, 0);
    meddle = NULL;
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(world_queue(it, "hands").count, 0);
    assert_int_equal(world_queue(it, "out").count, 1);
    world_json_equal(it, world_saga_text(it, "Left", "a", NULL), "{\"left\":\"a\",\"count\":101}");
}

/* Another worker handles its own message for a at the same version, and so makes a
 * dispatch of the same id with another body. */
static int firsts_left;

static void handle_a_first(void)
{
    pawl_saga_row row = load_a();
    char          id[PAWL_UUID_TEXT_SIZE + 1];
    if (--firsts_left == 0)
        meddle = NULL;
    pawl_uuid_format(row.id.uuid, id);
    pawl_text source = pawl_arena_printf(around->arena, "Left/%s", id);
    MUST_COMMIT(
        around->store, outbox_add, WORLD_START,
        .dispatch_id = pawl__dispatch_id(PAWL_TEXT("hands"), source,
                                         (pawl_text){.data = "", .size = 0}, row.version + 1, 0),
        .source = source, .version = row.version + 1, .endpoint = PAWL_TEXT("hands"),
        .destination = PAWL_TEXT("far"),
        .message     = {.id = PAWL_TEXT("x"), .type = PAWL_TEXT("result"), .body = PAWL_TEXT("{}")},
        .at          = WORLD_START);
    move_a();
}

ON_ALL_STORES(o5_a_dispatch_id_that_the_winner_of_a_conflict_took, const char *url)
{
    const pawl_route routes[] = {{.name = "far", .url = "memory:groups-far"}, {.name = NULL}};
    world           *it =
        open_world_with(url, (pawl_endpoint_options){.immediate_retries = -1, .routes = routes});
    post_left(it, "a", "");
    world_drain(it);
    world_forget(&seen);
    post_left(it, "a", "far");
    firsts_left    = 2;
    meddle         = handle_a_first;
    pawl_step step = world_drain(it);
    /* The message only came second, in the batch and alone: it runs again, and is not dead. */
    assert_string_equal(seen.text, "left(a) left(a) left(a) ");
    assert_int_equal(step.handled, 1);
    assert_int_equal(step.refused, 2);
    assert_int_equal(world_dead(it).count, 0);
    world_json_equal(it, world_saga_text(it, "Left", "a", NULL),
                     "{\"left\":\"a\",\"count\":101,\"note\":\"far\"}");
}

/* ---- What can never be committed --------------------------------------------------------- */

/* The state of the second has no JSON form: it alone is dead. */
ON_ALL_STORES(a_unit_that_spoils_the_change_set_is_set_apart, const char *url)
{
    world *it = open_world(url);
    post_left(it, "a", "");
    post_left(it, "b", "spoil");
    post_left(it, "c", "");
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 3);
    assert_int_equal(world_saga_count(it, "Left"), 2);
    assert_int_equal(world_queue(it, "out").count, 2);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_true(world_says(dead.items[0].error, "saga Left "));
    assert_true(world_says(dead.items[0].error, " of version 1: note: not UTF-8"));
    assert_int_equal(world_queue(it, "hands").count, 0);
}

ON_ALL_STORES(a_spoiled_change_set_of_one_is_dead, const char *url)
{
    world *it = open_world(url);
    post_left(it, "b", "spoil");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
    assert_int_equal(world_saga_count(it, "Left"), 0);
    assert_string_equal(seen.text, "left(b) ");
}

ON_ALL_STORES(o5_a_dispatch_id_with_another_body_is_dead, const char *url)
{
    const pawl_route routes[] = {{.name = "far", .url = "memory:groups-far"}, {.name = NULL}};
    world           *it =
        open_world_with(url, (pawl_endpoint_options){.immediate_retries = -1, .routes = routes});
    MUST_COMMIT(
        it->store, outbox_add, WORLD_START,
        .dispatch_id = pawl__dispatch_id(PAWL_TEXT("hands"), (pawl_text){.data = "", .size = 0},
                                         PAWL_TEXT("m1"), 0, 0),
        .endpoint = PAWL_TEXT("hands"), .destination = PAWL_TEXT("far"),
        .message = {.id = PAWL_TEXT("x"), .type = PAWL_TEXT("result"), .body = PAWL_TEXT("{}")},
        .at      = WORLD_START);
    world_post(it, "m1", PAWL_MESSAGE(to_far, .number = 1));
    world_post(it, "m2", PAWL_MESSAGE(to_far, .number = 2));
    world_drain(it);
    pawl_dead_row dead = world_dead_letter(it);
    assert_true(pawl_text_equal(dead.message.id, PAWL_TEXT("m1")));
    assert_true(pawl_text_equal(dead.code, PAWL_TEXT("EMISMATCH")));
    /* Once in the batch, once alone, and no more: it can never succeed. */
    assert_string_equal(seen.text, "far1 far2 far1 ");
    assert_true(world_is_marked(it, "m2"));
}

/* ---- E36 ------------------------------------------------------------------------------------ */

static world other;
static bool  was_let_in;

static void post_bulk(world *it, int count)
{
    for (int i = 0; i < count; i++)
        world_post(it, NULL, PAWL_MESSAGE(bulk, .number = i));
}

/* Between the commit of one worker and its look at the gate, the other does
 * all of its own. */
static pawl_code let_other_in(hook_point point, void *context)
{
    if (point != HOOK_BEFORE_COUNT || was_let_in)
        return PAWL_OK;
    was_let_in = true;
    post_bulk(&other, 1);
    world_step(&other);
    return PAWL_OK;
}

/* The other does all of its own before the commit of the first. */
static pawl_code let_other_in_before(hook_point point, void *context)
{
    return let_other_in(point == HOOK_BEFORE_COMMIT ? HOOK_BEFORE_COUNT : HOOK_AFTER_COMMIT,
                        context);
}

static void two_at_48(const char *url, hook_fn *hook)
{
    world_open(&other, url, &application, NULL, NULL);
    world *it = open_world(hook_url(url));
    post_bulk(it, 48);
    world_drain(it);
    LOG_AFTER(world_drain(&other), seen, "");
    post_bulk(it, 1);
    was_let_in = false;
    hook_set(hook, NULL);
    world_step(it);
    hook_set(NULL, NULL);
    world_go_machine(it, PAWL_MINUTES(1));
    world_go_machine(&other, PAWL_MINUTES(1));
    assert_true(was_let_in);
    assert_string_equal(seen.text, "bulk50 ");
    assert_int_equal(world_stats(it).aggregator_rows, 0);
    world_close(it);
    world_close(&other);
}

ON_ALL_STORES(e36_two_at_48_the_other_before_the_gate, const char *url)
{
    two_at_48(url, let_other_in);
}

ON_ALL_STORES(e36_two_at_48_the_other_before_the_commit, const char *url)
{
    two_at_48(url, let_other_in_before);
}

/* A refused group does not hide what the rest of the batch added. */
ON_ALL_STORES(the_gate_is_read_for_all_commits_of_a_step, const char *url)
{
    world *it = open_world(url);
    post_left(it, "a", "");
    world_drain(it);
    world_forget(&seen);
    post_bulk(it, 50);
    post_left(it, "a", "");
    meddle = move_a_once;
    LOG_AFTER(world_step(it), seen, "left(a) left(a) bulk50 ");
}
