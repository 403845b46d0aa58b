/* test_runtime_deaths_flush.c - partitions whose flush a process died of (E26): they run alone with a
 * marker, deaths alone count, and the last one leaves the partition dead; others go on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_deaths_dying.h"

#include "runtime/worker/isolation/marker.h"

RECORD(crate, (INT32, number), (TEXT, colour));
PAWL_RECORD(note, A_NUMBER);

static world_log  seen;
static world     *around; /* the handler looks at its own marker; NULL: it does not */
static pawl_code  answer; /* of the handler */
static test_lines lines;

/* Writes a marker over that of red while its handler runs; NULL: nobody does. */
static pawl_store *meddler;
static void        meddle(int64_t version);

/* "red3!" of a partition that is marked. */
static pawl_code on_crates(pawl_context *ctx, const crate *messages, size_t count)
{
    pawl_event_rows rows = {.count = 0};
    pawl_text       name = messages[0].colour;
    if (around != NULL)
        rows = world_events(around,
                            test_text(PAWL_ISOLATED_STREAMS "/crates/%.*s", PAWL_TEXT_ARGS(name)));
    bool is_marked =
        rows.count > 0 && world_says(rows.items[rows.count - 1].event.body, "in flight, isolated");
    world_note(&seen, "%.*s%zu%s", PAWL_TEXT_ARGS(name), count, is_marked ? "!" : "");
    if (meddler != NULL && pawl_text_equal(name, PAWL_TEXT("red")))
        meddle((int64_t)rows.count + 1);
    return answer;
}
PAWL_BATCH_HANDLER(on_crates, crate);

static pawl_code on_note(pawl_context *ctx, const note *message)
{
    world_note(&seen, "%d", message->number);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_note, note);

static const pawl_aggregator crates = {.name         = "crates",
                                       .handle       = PAWL_HANDLE(on_crates),
                                       .key          = "colour",
                                       .size         = 3,
                                       .attempts_max = 5};

static const pawl_application application =
    ONE_ENDPOINT("dock", .name = "dock", .aggregators = PAWL_AGGREGATORS(&crates),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)}));

static const pawl_text CRATE_TYPE = PAWL_TEXT_INIT("crate");

static world *open_of(const char *url, int32_t crashes_max, int32_t batch)
{
    world *it = world_begin(url, &application, NULL,
                            &(pawl_endpoint_options){.immediate_retries = -1,
                                                     .crashes_max       = crashes_max,
                                                     .batch_messages    = batch});
    around    = it;
    return it;
}

static world *open_world(const char *url, int32_t crashes_max)
{
    return open_of(url, crashes_max, 0);
}

/* ---- Dying ------------------------------------------------------------------ */

/* Three crates of the colour, as a commit behind which nobody flushed leaves them. */
static void fill(pawl_store *store, const char *colour)
{
    pawl_aggregator_add adds[3];
    char                ids[3][40];
    const char         *name = test_text("crates/%s", colour);
    const char         *body = test_text("{\"number\":1,\"colour\":\"%s\"}", colour);
    for (int i = 0; i < 3; i++) {
        snprintf(ids[i], sizeof ids[i], "%s-%d", colour, i);
        adds[i] = (pawl_aggregator_add){.name      = PAWL_TEXT("crates"),
                                        .partition = pawl_text_of(name),
                                        .key       = pawl_text_of(ids[i]),
                                        .message   = {.id      = pawl_text_of(ids[i]),
                                                      .type    = CRATE_TYPE,
                                                      .body    = pawl_text_of(body),
                                                      .headers = PAWL_TEXT("{}")},
                                        .at        = WORLD_START,
                                        .due       = PAWL_TIME_MAX};
    }
    pawl_changes changes = {ONE_UNIT, .now = WORLD_START,
                            .aggregator_add = {.items = adds, .count = 3}};
    must(pawl_store_commit(store, &changes, NULL, world_error()));
}

static void fill_both(pawl_store *store)
{
    fill(store, "blue");
    fill(store, "red");
}

static void lease_red(pawl_store *store, pawl_arena *arena)
{
    pawl_leased_batch             found = {.count = 0};
    const pawl_leased_batch_claim claim = {.partition  = PAWL_TEXT("crates/red"),
                                           .session    = {{{9}}},
                                           .types      = &CRATE_TYPE,
                                           .type_count = 1,
                                           .count_max  = 9,
                                           .now        = WORLD_START,
                                           .lease      = PAWL_MINUTES(5)};
    must(pawl_store_leased_batch_claim(store, &claim, arena, &found, world_error()));
    assert_int_equal(found.count, 3);
}

static void stamp_as(pawl_store *store, pawl_arena *arena, pawl_uuid process, int64_t version)
{
    const pawl__history_marker made = {
        pawl_store_worker(store).uuid, pawl_store_epoch(store), getpid(), WORLD_START, process, 0};
    MUST_COMMIT(store, event_append, WORLD_START,
                .stream = PAWL_TEXT(PAWL_ISOLATED_STREAMS "/crates/red"), .version = version,
                .is_first = true,
                .event    = {.type         = PAWL_TEXT(PAWL_ISOLATED_FLUSH),
                             .type_version = 1,
                             .headers      = PAWL_TEXT("{}"),
                             .body         = pawl__history_marker_add(arena, PAWL_TEXT(""), &made),
                             .at           = WORLD_START});
}

static void marker(pawl_store *store, pawl_arena *arena, pawl_uuid process)
{
    stamp_as(store, arena, process, 1);
}

static void meddle(int64_t version)
{
    stamp_as(meddler, around->arena, (pawl_uuid){{0}}, version);
}

/* Two full partitions; a worker has red in hand, in a batch, and dies. */
static void hold_red(pawl_store *store, pawl_arena *arena)
{
    fill_both(store);
    lease_red(store, arena);
}

/* The same with red alone, and marked. */
static void hold_red_alone(pawl_store *store, pawl_arena *arena)
{
    hold_red(store, arena);
    marker(store, arena, (pawl_uuid){{0}});
}

static void hold_red_supervised(pawl_store *store, pawl_arena *arena)
{
    hold_red(store, arena);
    marker(store, arena, (pawl_uuid){{7}});
}

static void prepare(const char *url)
{
    answer = PAWL_OK;
    world_forget(&seen);
    world_hold(url);
    world *it = open_world(url, 0);
    world_drain(it);
    around = NULL;
    world_close(it);
    test_listen(&lines, PAWL_LOG_INFO, NULL);
}

static pawl_partition_row red_of(world *it)
{
    pawl_partition_row row;
    must(pawl_store_partition_find(it->store, PAWL_TEXT("crates/red"), it->arena, &row,
                                   world_error()));
    return row;
}

static void post_note(world *it, int32_t number)
{
    world_post(it, NULL, PAWL_MESSAGE(note, .number = number));
}

ON_STORES_THAT_SEE_DEATHS(e26_a_death_with_flushes_counts_for_none, const char *url)
{
    prepare(url);
    die(url, hold_red);
    world *it = open_world(url, 1);
    post_note(it, 1);
    LOG_AFTER(world_drain(it), seen, "blue3! red3! 1 ");
    assert_int_equal(count_died(it), 0);
    assert_null(strstr(lines.text, "crash 1 of it"));
    world_forget(&seen);
    fill(it->store, "red"); /* care is over */
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(61)), seen, "red3 ");
}

static void hold_nothing(pawl_store *store, pawl_arena *arena)
{
}

/* The dead worker can have claimed as many messages as a batch has. */
static void fill_after_death(const char *url, int32_t batch)
{
    prepare(url);
    die(url, hold_nothing);
    world *it = open_of(url, 1, batch);
    for (int32_t i = 1; i <= 3; i++)
        world_post(it, NULL, PAWL_MESSAGE(crate, .number = i, .colour = PAWL_TEXT("red")));
    LOG_AFTER(world_drain(it), seen, "red3! ");
    assert_int_equal(count_died(it), 0);
    pawl_event_rows rows = world_events(it, PAWL_ISOLATED_STREAMS "/crates/red");
    assert_string_equal(rows.items[rows.count - 1].event.body.data, "[]");
}

/* A process that such a flush kills has to count it. */
ON_STORES_THAT_SEE_DEATHS(e26_a_partition_that_a_stamped_batch_fills_is_flushed_alone,
                          const char *url)
{
    fill_after_death(url, 256);
}

ON_STORES_THAT_SEE_DEATHS(e26_a_partition_that_the_last_stamped_batch_fills_is_flushed_alone,
                          const char *url)
{
    fill_after_death(url, 3);
}

ON_STORES_THAT_SEE_DEATHS(e26_a_flush_that_kills_alone_leaves_its_partition_dead, const char *url)
{
    prepare(url);
    die(url, hold_red_alone);
    world *it = open_world(url, 1);
    post_note(it, 1);
    world_drain(it); /* a lost connection comes back within a second */
    assert_string_equal(seen.text, "blue3! ");
    assert_false(red_of(it).is_dead);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(2)), seen, "blue3! 1 ");
    pawl_partition_row red = red_of(it);
    assert_true(red.is_dead);
    assert_int_equal(red.count, 3);
    assert_true(world_says(
        red.error, "its process crashed 1 time while it ran in isolation, limit 1; process "));
    assert_true(world_says(red.error, " crashed while it ran this flush in isolation (worker "));
    assert_non_null(strstr(lines.text, "endpoint dock: flush crates/red: process "));
    assert_non_null(strstr(lines.text, "; crash 1 of it"));
    assert_non_null(
        strstr(lines.text, "after a crash the flush of crates/blue is in flight, isolated"));
    assert_int_equal(count_died(it), 0);
    /* Released, it begins anew: a worker that dies now does so the first time. */
    must(pawl_store_partition_run_now(it->store, PAWL_TEXT("crates/red"), PAWL_TEXT("ann"),
                                      PAWL_TEXT("mended"), world_now(it), world_error()));
    world_close(it);
    die(url, lease_red);
    world_forget(&seen);
    it = open_world(url, 1);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(2)), seen, "red3! ");
}

ON_STORES_THAT_SEE_DEATHS(e26_a_flush_of_fewer_deaths_runs_again, const char *url)
{
    prepare(url);
    die(url, hold_red_alone);
    world *it = open_world(url, 2);
    answer    = PAWL_RETRY;
    world_drain(it);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(2)), seen, "blue3! red3! ");
    assert_false(red_of(it).is_dead);
    assert_int_equal(red_of(it).attempts, 1);
    pawl_event_rows rows = world_events(it, PAWL_ISOLATED_STREAMS "/crates/red");
    pawl_text       last = rows.items[rows.count - 1].event.body;
    assert_true(world_says(last, "crashed while it ran this flush in isolation (worker "));
    assert_false(world_says(last, "in flight"));
}

ON_STORES_THAT_SEE_DEATHS(e26_a_flush_that_was_handled_has_no_deaths, const char *url)
{
    prepare(url);
    die(url, hold_red_alone);
    world *it = open_world(url, 2);
    world_drain(it);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(2)), seen, "blue3! red3! ");
    pawl_event_rows rows = world_events(it, PAWL_ISOLATED_STREAMS "/crates/red");
    assert_int_equal(rows.count, 3);
    assert_string_equal(rows.items[2].event.body.data, "[]");
    assert_string_equal(rows.items[2].event.type.data, PAWL_ISOLATED_FLUSH);
}

ON_STORES_THAT_SEE_DEATHS(e26_a_flush_in_hand_is_left_alone, const char *url)
{
    prepare(url);
    die(url, hold_red);
    pawl_store *other = open_worker(url); /* frees the lease of the dead one */
    world      *it    = open_world(url, 1);
    marker(other, it->arena, (pawl_uuid){{0}});
    post_note(it, 1);
    LOG_AFTER(world_drain(it), seen, "blue3! 1 ");
    assert_false(red_of(it).is_dead);
    close_worker(other);
    world_go_both(it, PAWL_SECONDS(11));
    assert_string_equal(seen.text, "blue3! 1 red3! "); /* the marker that the other left */
}

/* However long it runs there: a marker in a stream is met while its flush runs. */
ON_STORES_THAT_SEE_DEATHS(e26_a_flush_that_runs_long_is_in_hand, const char *url)
{
    prepare(url);
    pawl_store                *other = open_worker(url);
    const pawl__history_marker made  = {
         pawl_store_worker(other).uuid, pawl_store_epoch(other), getpid(), WORLD_START, {{0}}, 0};
    world *it = open_world(url, 1);
    for (int i = 0; i < 3; i++) {
        pawl__marker_owner found;
        pawl_queue_row     row = {.crashes = 1,
                                  .history = pawl__history_marker_add(it->arena, PAWL_TEXT(""), &made)};
        must(pawl__marker_take(it->endpoint->worker, "flush", &row, &found, world_error()));
        assert_int_equal(found, PAWL__MARKER_IN_FLIGHT);
        world_go_both(it, PAWL_MINUTES(2));
    }
    close_worker(other);
}

ON_STORES_THAT_SEE_DEATHS(e26_a_stamp_that_another_worker_wrote_since_stands, const char *url)
{
    prepare(url);
    die(url, hold_red);
    meddler   = open_worker(url);
    world *it = open_world(url, 1);
    post_note(it, 1);
    LOG_AFTER(world_drain(it), seen, "blue3! red3! 1 ");
    pawl_event_rows rows = world_events(it, PAWL_ISOLATED_STREAMS "/crates/red");
    assert_int_equal(rows.count, 2);
    assert_true(world_says(rows.items[1].event.body, "in flight"));
    close_worker(meddler);
    meddler = NULL;
}

static void note_death(world *it)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    int64_t           noted = 0;
    must(pawl_store_worker_crashed(it->store, it->arena, &items, &count, world_error()));
    assert_int_equal(count, 1);
    const pawl_worker_crash death = {.pid = items[0].pid, .signal = 6, .by = PAWL_TEXT_INIT("ann")};
    must(pawl_store_worker_note_crash(it->store, &death, WORLD_START, &noted, world_error()));
    assert_int_equal(noted, 1);
}

/* Ends the row of the only dead worker, as another process does. */
static void end_died(world *it, const char *url)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    must(pawl_store_worker_crashed(it->store, it->arena, &items, &count, world_error()));
    assert_int_equal(count, 1);
    const pawl_worker_id died = items[0].id;
    pawl_store          *by   = open_worker(url);
    must(pawl_store_worker_close(by, WORLD_START, world_error()));
    pawl_store_worker_set(by, died);
    close_worker(by);
}

/* Another process has ended the row of the dead worker meanwhile: its note tells of the death. */
ON_STORES_THAT_SEE_DEATHS(e26_a_noted_death_counts_when_its_row_is_gone, const char *url)
{
    prepare(url);
    die(url, hold_red_supervised);
    world *it = open_world(url, 1);
    note_death(it);
    end_died(it, url);
    world_close(it);
    die(url, lease_red); /* so that care is taken */
    it = open_world(url, 1);
    LOG_AFTER(world_drain(it), seen, "blue3! ");
    assert_true(red_of(it).is_dead);
    assert_true(
        world_says(red_of(it).error, " was killed by signal 6 (SIGABRT) while it ran this"));
}

/* A third process has ended the row of the dead worker before its supervisor came. */
ON_STORES_THAT_SEE_DEATHS(e26_a_note_under_the_process_needs_no_row, const char *url)
{
    int64_t noted = 0;
    prepare(url);
    const pawl_worker_crash death = {
        .pid = 1, .process = {{7}}, .signal = 6, .by = PAWL_TEXT_INIT("ann")};
    die(url, hold_red_supervised);
    world *it = open_world(url, 1);
    end_died(it, url);
    must(pawl_store_worker_note_crash(it->store, &death, WORLD_START, &noted, world_error()));
    assert_int_equal(noted, 1);
    world_close(it);
    die(url, lease_red); /* so that care is taken */
    it = open_world(url, 1);
    LOG_AFTER(world_drain(it), seen, "blue3! ");
    assert_true(red_of(it).is_dead);
    assert_true(
        world_says(red_of(it).error, " was killed by signal 6 (SIGABRT) while it ran this"));
}

/* In memory, where a worker dies beside one that runs on. That one ends the row of the dead, which frees
 * what it had leased, and remembers whose marker it meets then. */
TEST(e26_who_ends_the_row_remembers_the_death)
{
    const char *url = "memory:beside";
    prepare(url);
    world *it = open_world(url, 1);
    world_drain(it);
    die(url, hold_red_alone);
    LOG_AFTER(world_go_machine(it, PAWL_SECONDS(3)), seen, "blue3! ");
    assert_int_equal(count_died(it), 0);
    LOG_AFTER(world_go_machine(it, PAWL_SECONDS(2)), seen, "blue3! ");
    assert_true(red_of(it).is_dead);
}
