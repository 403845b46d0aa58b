/* test_runtime_deaths_care.c - batches with markers after a death (E26): how many run with care, who is a suspect and runs alone,
 * and how the processes share the work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"
#include "support/thread.h"
#include "test_deaths_sample.h"

/* ---- Worlds ----------------------------------------------------------------- */

static test_lines deaths;

static world *open_of(const char *url, int32_t batch, const char *ordered)
{
    world *it =
        world_begin(url, &application, NULL,
                    &(pawl_endpoint_options){
                        .immediate_retries = -1, .batch_messages = batch, .ordered = ordered});
    around = it;
    return it;
}

static void post(world *it, int first, int last)
{
    for (int i = first; i <= last; i++)
        world_post(it, test_text("m-%d", i), PAWL_MESSAGE(load, .number = i));
}

static int count_marked(char mark)
{
    int count = 0;
    for (const char *at = seen.text; *at != '\0'; at++)
        count += *at == mark;
    return count;
}

/* ---- How many ----------------------------------------------------------------- */

/* In memory all workers are of one process, and one of several is its service. */
TEST(e26_as_many_run_with_care_as_the_dead_can_have_claimed)
{
    static const struct owing {
        int         workers;
        int32_t     batch;
        const char *ordered, *said;
    } owed[] = {
        {1, 10, NULL, "up to 10 messages"},     {2, 10, NULL, "up to 10 messages"},
        {4, 10, NULL, "up to 30 messages"},     {4, 10, "property:number", "up to 10 messages"},
        {40, 256, NULL, "up to 2048 messages"}, {40, 256, "property:number", "up to 256 messages"}};
    for (size_t i = 0; i < COUNT(owed); i++) {
        const char *url = "memory:owed";
        prepare(url);
        for (int j = 0; j < owed[i].workers; j++)
            pawl_store_close(open_worker(url));
        world *it = open_of(url, owed[i].batch, owed[i].ordered);
        test_listen(&deaths, PAWL_LOG_INFO, "of its workers crashed");
        world_drain(it);
        world_quiet();
        if (strstr(deaths.last, owed[i].said) == NULL)
            fail_msg("%zu: '%s' does not say '%s'", i, deaths.last, owed[i].said);
        assert_null(strstr(deaths.last, "other"));
        assert_string_equal(seen.text, "1~ 2~ 3~ ");
        assert_int_equal(count_died(it), 0);
        world_end_all();
    }
}

static void hold_all(pawl_store *store, pawl_arena *arena)
{
    assert_int_equal(claim(store, arena, 9).count, 3);
}

/* Of many that died together, as all of a machine do, one is named. */
ON_STORE(e26_processes_that_died_are_counted, const char *url, "sqlite")
{
    int ended = 0;
    prepare(url);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        for (int j = 0; child == 0 && j < 2; j++)
            (void)open_worker(url);
        if (child == 0)
            _exit(0);
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_int_equal(ended, 0);
    }
    world *it = open_world(url, 1);
    test_listen(&deaths, PAWL_LOG_INFO, "of its workers crashed");
    world_drain(it);
    world_quiet();
    assert_non_null(strstr(deaths.last, ": 6 of its workers crashed (process "));
    assert_non_null(strstr(deaths.last, " and 2 others): up to "));
}

/* Dead workers whose ids begin with this byte and that were seen last at this time. */
static void leave_rows(const char *url, int count, uint8_t first, pawl_time seen_at)
{
    for (int i = 0; i < count; i++) {
        pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
        pawl_store        *store   = NULL;
        pawl_worker_id     id      = {{{first, (uint8_t)(i >> 8), (uint8_t)i}}};
        options.mode               = PAWL_OPEN_CHECK;
        must(pawl_store_open(url, &options, &store, world_error()));
        pawl_store_worker_set(store, id);
        must(pawl_store_worker_open(store, DOCK, PAWL_TEXT("[]"), seen_at, world_error()));
        pawl_store_close(store);
    }
}

static void look(world *it)
{
    pawl__crashes_check_soon(it->endpoint);
    must(pawl__crashes_check(it->endpoint->worker, world_error()));
}

/* The rows of earlier crashes stay; a process that starts does not say that all of them crashed just now. */
TEST(e26_earlier_crashes_are_told_from_the_last_one)
{
    const char *url = "memory:earlier";
    prepare(url);
    leave_rows(url, 3, 3, WORLD_START - PAWL_MINUTES(2));
    leave_rows(url, 2, 2, WORLD_START - PAWL_MINUTES(1));
    leave_rows(url, 2, 1, WORLD_START - PAWL_MINUTES(1) + PAWL_SECONDS(1));
    world *it = open_world(url, 1);
    test_listen(&deaths, PAWL_LOG_INFO, "of its workers crashed");
    world_drain(it);
    assert_non_null(strstr(deaths.last, ": 4 of its workers crashed"));
    assert_non_null(strstr(deaths.last, ", beside 3 earlier: up to "));
    leave_rows(url, 1, 4, WORLD_START);
    look(it);
    world_quiet();
    assert_non_null(strstr(deaths.last, ": 1 of its workers crashed"));
    assert_null(strstr(deaths.last, "earlier"));
}

/* As after a night of restarts, more than there is room for. Those that died last are met by other processes, too. */
TEST(e26_rows_of_many_dead_workers_do_not_stay)
{
    const char       *url   = "memory:rows";
    pawl_worker_info *items = NULL;
    size_t            count = 0, late = 0;
    prepare(url);
    world *it = open_world(url, 1);
    world_drain(it);
    pawl__worker *worker                  = it->endpoint->worker;
    it->endpoint->settings.batch_messages = 2;
    leave_rows(url, PAWL__CRASHES_MAX / 2, 3, WORLD_START);
    look(it);
    leave_rows(url, PAWL__CRASHES_MAX / 2, 2, WORLD_START);
    look(it);
    leave_rows(url, 100, 1, WORLD_START + PAWL_SECONDS(1));
    look(it);
    pawl__isolation_marked_passed(worker, 2);
    assert_int_equal(count_died(it), PAWL__DEAD_ROWS_MAX);
    assert_true(atomic_load(&it->endpoint->isolation.check) == PAWL_TIME_MIN);
    pawl__isolation_marked_passed(worker, 6);
    assert_int_equal(count_died(it), PAWL__DEAD_ROWS_MAX - 3); /* a row for each share */
    it->endpoint->settings.batch_messages = 512;
    look(it);
    pawl__isolation_mark_next(it->endpoint, PAWL__MARKED_MAX);
    pawl__isolation_marked_passed(worker, 512);
    must(pawl_store_worker_crashed(it->store, it->arena, &items, &count, world_error()));
    assert_int_equal(count, PAWL__DEAD_ROWS_MIN);
    for (size_t i = 0; i < count; i++)
        late += items[i].seen > WORLD_START;
    assert_int_equal(late, PAWL__DEAD_ROWS_MIN);
}

/* ---- Who is a suspect ----------------------------------------------------------- */

/* Markers messages as some of so many, and lets go of them. */
static void stamp_among(pawl_store *store, pawl_arena *arena, const pawl_queue_row *rows,
                        uint32_t count)
{
    const pawl__history_marker marker = {
        pawl_store_worker(store).uuid, pawl_store_epoch(store), getpid(), WORLD_START, {{0}}, 2};
    pawl_queue_settle settles[2];
    for (uint32_t i = 0; i < count; i++)
        settles[i] = (pawl_queue_settle){
            .action  = PAWL_QUEUE_RETRY,
            .unit    = i,
            .queue   = DOCK,
            .seq     = rows[i].seq,
            .due     = rows[i].due,
            .history = pawl__history_marker_add(arena, rows[i].history, &marker)};
    pawl_changes changes = {.group_count  = 1,
                            .unit_count   = count,
                            .now          = WORLD_START,
                            .queue_settle = {settles, count}};
    must(pawl_store_commit(store, &changes, NULL, world_error()));
}

static void stamp_two(pawl_store *store, pawl_arena *arena)
{
    pawl_queue_rows rows = claim(store, arena, 2);
    stamp_among(store, arena, rows.items, (uint32_t)rows.count);
}

ON_STORES_THAT_SEE_DEATHS(e26_who_was_stamped_among_others_runs_alone_and_counts_nothing,
                          const char *url)
{
    prepare(url);
    die(url, stamp_two);
    world *it = open_world(url, 1);
    assert_int_equal(world_drain(it).handled, 3); /* at once: nothing has to be sure */
    assert_string_equal(seen.text, "1! 2! 3~ ");
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(count_died(it), 0);
}

ON_STORES_THAT_SEE_DEATHS(e26_a_stamp_among_others_of_a_worker_that_lives_says_nothing,
                          const char *url)
{
    prepare(url);
    world      *it    = open_world(url, 1);
    pawl_store *other = open_worker(url);
    stamp_two(other, it->arena);
    must(pawl_store_worker_open(other, DOCK, PAWL_TEXT("[]"), WORLD_START, world_error()));
    answer = PAWL_RETRY;
    assert_int_equal(world_drain(it).handled, 0);
    assert_string_equal(seen.text, "1~ 2~ 3 ");
    assert_false(world_says(world_queue(it, "dock").items[0].history, "among")); /* written over */
    close_worker(other);
}

ON_STORES_THAT_SEE_DEATHS(e26_who_was_stamped_by_a_worker_that_ended_is_a_suspect, const char *url)
{
    prepare(url);
    pawl_store *other = open_worker(url);
    pawl_arena *arena = pawl_arena_create(0);
    stamp_two(other, arena);
    close_worker(other);
    pawl_arena_destroy(arena);
    world *it = open_world(url, 1);
    assert_int_equal(world_drain(it).handled, 3);
    assert_string_equal(seen.text, "1! 2! 3~ ");
}

static void stamp_thirtieth(pawl_store *store, pawl_arena *arena)
{
    pawl_queue_rows rows = claim(store, arena, 99);
    assert_int_equal(rows.count, 60);
    stamp_among(store, arena, &rows.items[29], 1);
}

/* The neighbours of a suspect: no more than one small batch runs alone. */
ON_STORES_THAT_SEE_DEATHS(e26_few_run_alone_beside_a_suspect, const char *url)
{
    prepare(url);
    world *it = open_of(url, 64, NULL);
    around    = NULL;
    post(it, 4, 60);
    world_close(it);
    die(url, stamp_thirtieth);
    it = open_of(url, 64, NULL);
    assert_int_equal(world_drain(it).handled, 60);
    assert_int_equal(count_marked('!') + count_marked('~'), 60);
    assert_true(count_marked('!') <= PAWL__MARKED_BATCH_MAX);
    assert_non_null(strstr(seen.text, " 30! "));
    assert_non_null(strstr(seen.text, " 31~ "));
    assert_int_equal(world_dead(it).count, 0);
}

/* By the system's clock for what is due. Pauses are of the monotonic clock. */
ON_STORES_THAT_SEE_DEATHS(e26_others_go_on_beside_one_that_may_have_killed, const char *url)
{
    prepare(url);
    die(url, stamp_first);
    world *it = open_world(url, 1);
    pawl_endpoint_destroy(it->endpoint);
    it->options.business = NULL;
    must(pawl_endpoint_create(&application, NULL, &it->options, &it->endpoint, world_error()));
    LOG_AFTER(world_drain(it), seen, "2~ 3~ ");
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "dock").count, 1);
    for (patience left = patience_of(30); world_dead(it).count == 0;) {
        patience_wait(&left, "the message is not a dead letter");
        world_go_machine(it, PAWL_MILLISECONDS(10));
    }
    assert_int_equal(count_died(it), 0);
}

static pawl_store_ops        before_claim;
static const pawl_store_ops *behind_claim;
static pawl_store           *faster; /* another worker */

/* The other worker has all messages before those with markers are claimed again. */
static pawl_code claim_behind(pawl_store *store, const pawl_queue_claim *asked, pawl_arena *arena,
                              pawl_queue_rows *rows, pawl_error *error)
{
    if (asked->seq_count > 0 && faster != NULL)
        assert_int_equal(claim(faster, around->arena, 9).count, 3);
    return behind_claim->queue_claim(store, asked, arena, rows, error);
}

/* A claim that gets none of them does not say that the queue is empty. */
ON_STORES(e26_messages_that_another_worker_claims_between_end_no_care, const char *url)
{
    prepare(url);
    die(url, hold_all);
    world *it = open_world(url, 1);
    faster    = open_worker(url);
    must(pawl__worker_open(it->endpoint->worker, world_error()));
    pawl_store *store        = it->endpoint->worker->store;
    behind_claim             = store->ops;
    before_claim             = *behind_claim;
    before_claim.queue_claim = claim_behind;
    store->ops               = &before_claim;
    world_step(it);
    store->ops = behind_claim;
    assert_string_equal(seen.text, "");
    assert_int_equal(count_died(it), 1);
    close_worker(faster); /* gives them back */
    faster = NULL;
    LOG_AFTER(world_drain(it), seen, "1~ 2~ 3~ ");
    assert_int_equal(count_died(it), 0);
}

/* ---- Turns ------------------------------------------------------------------------ */

/* Two workers of a process: the one that would run something alone comes while the other is in a batch, and leaves the turn
 * to the next step, as often as that happens, of either of two endpoints. */
ON_STORES_THAT_SEE_DEATHS(e26_a_turn_that_came_too_early_is_not_kept, const char *url)
{
    prepare(url);
    die(url, stamp_two);
    world *beside = open_world(url, 1), *it = open_world(url, 1);
    assert_true(pawl__isolation_batch_begin(it->endpoint));
    pawl__isolation_isolate_next(it->endpoint, 1);
    assert_false(pawl__isolation_batch_begin(it->endpoint));
    for (int i = 0; i < 2; i++) {
        assert_false(pawl__isolation_begin(it->endpoint));
        assert_true(pawl__isolation_begin(beside->endpoint));
        assert_false(pawl__isolation_begin(it->endpoint));
        pawl__isolation_end(beside->endpoint);
    }
    pawl__isolation_batch_end(it->endpoint);
    assert_int_equal(world_drain(it).handled, 3);
    assert_string_equal(seen.text, "1! 2! 3~ ");
}

/* While one worker runs a message alone no other begins a batch, whatever is left to run alone: a process that dies
 * then has one message to blame. */
ON_STORES_THAT_SEE_DEATHS(e26_no_batch_begins_beside_a_turn, const char *url)
{
    prepare(url);
    world *it = open_world(url, 1);
    assert_true(pawl__isolation_begin(it->endpoint));
    assert_false(pawl__isolation_batch_begin(it->endpoint));
    assert_false(pawl__isolation_begin(it->endpoint));
    pawl__isolation_end(it->endpoint);
    assert_true(pawl__isolation_batch_begin(it->endpoint));
    assert_false(pawl__isolation_begin(it->endpoint));
    pawl__isolation_batch_end(it->endpoint);
    assert_true(pawl__isolation_begin(it->endpoint));
    pawl__isolation_end(it->endpoint);
}

/* ---- Sharing -------------------------------------------------------------------- */

static world *open_after_four(const char *url)
{
    for (int i = 0; i < 4; i++)
        pawl_store_close(open_worker(url));
    world *it = open_of(url, 2, NULL);
    around    = NULL;
    post(it, 4, 20);
    around = it;
    assert_int_equal(count_died(it), 4);
    return it;
}

/* For each share of a dead worker its row is ended: a process that starts now takes as much less care. */
TEST(e26_rows_of_the_dead_go_share_by_share)
{
    const char *url = "memory:shares";
    prepare(url);
    world *it   = open_after_four(url);
    size_t left = 4, before = left;
    for (int i = 0; left > 0 && i < 40; i++) {
        world_step(it);
        left = count_died(it);
        assert_true(before - left <= 2); /* the last share ends what is left */
        before = left;
    }
    assert_int_equal(left, 0);
    assert_non_null(strstr(seen.text, "6~ "));
    world_drain(it);
    assert_non_null(strstr(seen.text, " 20 "));
}

/* Another process has ended the rows meanwhile: the rest runs without care. */
TEST(e26_what_another_process_ended_is_owed_no_more)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    const char       *url   = "memory:other";
    prepare(url);
    world *it = open_after_four(url);
    world_step(it);
    must(pawl_store_worker_crashed(it->store, it->arena, &items, &count, world_error()));
    pawl_store *aside = NULL;
    must(pawl_store_open(url, NULL, &aside, world_error()));
    for (size_t i = 0; i < count; i++) {
        pawl_store_worker_set(aside, items[i].id);
        must(pawl_store_worker_close(aside, WORLD_START, world_error()));
    }
    pawl_store_close(aside);
    for (int i = 0; i < 4; i++)
        world_step(it);
    assert_int_equal(atomic_load(&it->endpoint->isolation.to_mark), 0);
    world_drain(it);
    assert_non_null(strstr(seen.text, " 20 "));
}
