/* test_runtime_hot.c - a hot saga and threads: several workers on one saga, and
 * the pause of one that gave way. S9, E29.
 *
 * Nothing here is timed but for "not sooner than": a test waits for a state, with a
 * bound far beyond what it takes, and fails when the state does not come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/locks.h"
#include "support/thread.h"

#define SENDERS 4
#define MESSAGES 200 /* of each sender */

RECORD(counter_state, (TEXT, name), (INT32, count));
PAWL_RECORD(bump, A_NAME);

static atomic_int  handled, meddlings;
static const char *store_url;

static void meddle(void);

static pawl_code on_bump(pawl_context *ctx, counter_state *counter, const bump *message)
{
    counter->count++;
    if (atomic_load(&meddlings) > 0) {
        atomic_fetch_sub(&meddlings, 1);
        meddle();
    }
    atomic_fetch_add(&handled, 1);
    return PAWL_OK;
}
PAWL_HANDLER(on_bump, counter_state, bump);

static const pawl_saga counter_saga =
    SAGA_OF("Counter", counter_state, "name",
            {.handle = PAWL_HANDLE(on_bump), .key = "name", .starts = true});
static const pawl_application application =
    ONE_ENDPOINT("hot_threads", .name = "counting", .sagas = PAWL_SAGAS(&counter_saga));

/* Another worker saves the counter "a" as it is. */
static void meddle(void)
{
    pawl_arena *arena = pawl_arena_create(0);
    pawl_store *store = NULL;
    must(pawl_store_open(store_url, NULL, &store, world_error()));
    world_overwrite(store, arena, &application, "a", NULL);
    pawl_store_worker_close(store, WORLD_START, NULL);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
}

/* ---- Running ---------------------------------------------------------------------- */

typedef struct fixture {
    runner       run;
    pawl_sender *sender;
    pawl_arena  *arena;
} fixture;

static void create(fixture *it, const char *url, pawl_endpoint_options options)
{
    store_url = locks_url(url);
    it->arena = pawl_arena_create(0);
    atomic_store(&handled, 0);
    atomic_store(&meddlings, 0);
    runner_create(&it->run, &application, NULL, store_url, options);
    must(pawl_sender_open(store_url, NULL, &it->sender, world_error()));
}

static void destroy(fixture *it)
{
    pawl_sender_close(it->sender);
    runner_destroy(&it->run);
    pawl_arena_destroy(it->arena);
}

static void post(fixture *it, int count)
{
    for (int i = 0; i < count; i++)
        must(pawl_sender_send(it->sender, "counting", NULL,
                              PAWL_MESSAGE(bump, .name = PAWL_TEXT("a")), world_error()));
    assert_int_equal(pawl_sender_commit(it->sender, NULL), PAWL_OK);
}

static pawl_step step(fixture *it)
{
    pawl_step done = PAWL_STEP_INIT;
    must(pawl_endpoint_step(it->run.endpoint, &done, world_error()));
    return done;
}

static pawl_counters counters(fixture *it)
{
    pawl_stats stats = PAWL_STATS_INIT;
    pawl_arena_reset(it->arena);
    must(pawl_endpoint_stats(it->run.endpoint, it->arena, &stats, world_error()));
    return stats.counters;
}

static int count_of_a(fixture *it)
{
    pawl_value value   = pawl_value_text(PAWL_TEXT("a"));
    pawl_text  data    = {0};
    int64_t    version = 0;
    must(pawl_endpoint_saga(it->run.endpoint, "Counter", &value, it->arena, &data, &version,
                            world_error()));
    return (int)world_json_number(data.data, "count");
}

static void wait_until(bool (*is_reached)(fixture *it, long wanted), fixture *it, long wanted)
{
    patience left = patience_of(THREAD_SECONDS);
    while (!is_reached(it, wanted))
        patience_wait(&left, "%ld did not come", wanted);
}

static bool is_busy(fixture *it, long wanted)
{
    return locks_counted().elsewhere >= wanted;
}

static bool is_counted(fixture *it, long wanted)
{
    pawl_stats  stats = PAWL_STATS_INIT;
    pawl_store *store = NULL;
    pawl_arena_reset(it->arena);
    must(pawl_store_open(store_url, NULL, &store, world_error()));
    must(pawl_store_stats(store, PAWL_TIME_MAX, it->arena, &stats, world_error()));
    pawl_store_close(store);
    return stats.counters.messages == wanted && stats.queue_count == 0;
}

static int64_t monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Two conflicts on "a", then a stranger has it and a message waits for it. */
static void make_hot_and_held(fixture *it)
{
    post(it, 1);
    step(it);
    atomic_store(&meddlings, 2);
    post(it, 1);
    assert_int_equal(step(it).handled, 1);
    locks_hold("a");
    post(it, 1);
}

ON_ALL_STORES(a_step_that_gave_way_claims_nothing_for_a_while, const char *url)
{
    fixture it;
    create(&it, url, (pawl_endpoint_options){.no_service = true});
    make_hot_and_held(&it);
    int64_t   from  = monotonic();
    pawl_time begin = pawl_clock_now(NULL);
    pawl_step done  = step(&it);
    assert_true(done.is_idle);
    assert_true(done.next_due >= begin + PAWL_MILLISECONDS(20));
    assert_int_equal(locks_counted().elsewhere, 1);
    locks_hold(NULL);
    while (!done.handled)
        done = step(&it);
    assert_true(monotonic() - from >= PAWL_MILLISECONDS(20));
    assert_int_equal(count_of_a(&it), 3);
    destroy(&it);
}

/* The worker that finds nothing but a saga of others looks every 20 ms, then less often, and writes
 * nothing; a stop ends its pause. */
ON_ALL_STORES(s9_a_worker_that_gives_way_pauses, const char *url)
{
    fixture it;
    create(&it, url, (pawl_endpoint_options){.workers = 1, .no_service = true});
    make_hot_and_held(&it);
    locks_counts before = locks_counted();
    int64_t      from   = monotonic();
    runner_start(&it.run);
    wait_until(is_busy, &it, before.elsewhere + 5);
    locks_counts after  = locks_counted();
    int64_t      length = monotonic() - from;
    long         looks  = after.elsewhere - before.elsewhere;
    assert_true(looks >= 5);
    assert_true(length >= PAWL_MILLISECONDS(20 + 40 + 80 + 80)); /* between the first five */
    assert_int_equal(after.commits, before.commits);
    assert_true(after.releases - before.releases >= looks - 1);
    runner_stop(&it.run);
    assert_int_equal(atomic_load(&handled), 4); /* as before the run: one, and three runs of one */
    locks_hold(NULL);
    while (step(&it).handled == 0)
        ;
    assert_int_equal(count_of_a(&it), 3);
    destroy(&it);
}

/* Of many workers each looks less often, so that all together look as often as a few. */
ON_ALL_STORES(s9_among_many_workers_it_pauses_longer, const char *url)
{
    fixture     it;
    pawl_store *others[8] = {NULL};
    create(&it, url, (pawl_endpoint_options){.workers = 1, .no_service = true});
    for (int i = 0; i < 8; i++) {
        must(pawl_store_open(store_url, NULL, &others[i], world_error()));
        must(pawl_store_worker_open(others[i], PAWL_TEXT("counting"), PAWL_TEXT("[]"), WORLD_START,
                                    world_error()));
    }
    make_hot_and_held(&it);
    long    before = locks_counted().elsewhere;
    int64_t from   = monotonic();
    runner_start(&it.run);
    wait_until(is_busy, &it, before + 4);
    assert_true(monotonic() - from >= 3 * PAWL_MILLISECONDS(20 + 40 + 80));
    runner_stop(&it.run);
    locks_hold(NULL);
    for (int i = 0; i < 8; i++) {
        pawl_store_worker_close(others[i], WORLD_START, NULL);
        pawl_store_close(others[i]);
    }
    destroy(&it);
}

static void *send_all(void *argument)
{
    pawl_sender *sender = NULL;
    pawl_code   *code   = argument;
    *code               = pawl_sender_open(store_url, NULL, &sender, NULL);
    for (int i = 0; i < MESSAGES && *code == PAWL_OK; i++) {
        *code = pawl_sender_send(sender, "counting", NULL,
                                 PAWL_MESSAGE(bump, .name = PAWL_TEXT("a")), NULL);
        if (*code == PAWL_OK && i % 4 == 3)
            *code = pawl_sender_commit(sender, NULL);
    }
    pawl_sender_close(sender);
    return NULL;
}

ON_ALL_STORES(s9_many_workers_on_one_saga_lose_nothing, const char *url)
{
    fixture   it;
    pthread_t threads[SENDERS];
    pawl_code codes[SENDERS];
    create(&it, url, (pawl_endpoint_options){.workers = 4, .batch_messages = 16});
    runner_start(&it.run);
    for (int i = 0; i < SENDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, send_all, &codes[i]), 0);
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(codes[i], PAWL_OK);
    }
    wait_until(is_counted, &it, SENDERS * MESSAGES);
    runner_stop(&it.run);
    assert_int_equal(count_of_a(&it), SENDERS * MESSAGES);
    pawl_counters sum = counters(&it);
    assert_int_equal(sum.messages, SENDERS * MESSAGES);
    assert_int_equal(sum.dead, 0);
    assert_int_equal(sum.failures, 0);
    print_message("%lld conflicts, %ld times elsewhere, %ld releases, %ld commits\n",
                  (long long)sum.conflicts, locks_counted().elsewhere, locks_counted().releases,
                  locks_counted().commits);
    destroy(&it);
}
