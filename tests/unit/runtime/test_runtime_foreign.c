/* test_runtime_foreign.c - worker threads that sleep know when a foreign timeout is
 * due. E13, E15.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/operations.h"
#include "support/ping.h"
#include "support/thread.h"

static const pawl_application application = APPLICATION("sleeping", &plain);

/* A handle to look and to insert with; in memory it keeps the store alive, too. */
static pawl_store *open_store(const char *url)
{
    pawl_store *store = NULL;
    world_make_tables(url, &application);
    must(pawl_store_open(url, NULL, &store, world_error()));
    return store;
}

static void close_store(pawl_store *store)
{
    if (store->is_attached)
        pawl_store_worker_close(store, pawl_clock_now(NULL), NULL);
    pawl_store_close(store);
}

static void insert_for(pawl_store *store, const char *destination, int64_t delay)
{
    pawl_time        now = pawl_clock_now(NULL);
    pawl_timeout_row row = {.id          = {{{1}}},
                            .name        = PAWL_TEXT("remind"),
                            .destination = pawl_text_of(destination),
                            .due         = now + delay};
    must(pawl_store_timeout_insert(store, &row, now, world_error()));
}

static pawl_stats stats_of(pawl_store *store, pawl_arena *arena)
{
    pawl_stats stats = PAWL_STATS_INIT;
    must(pawl_store_stats(store, pawl_clock_now(NULL), arena, &stats, world_error()));
    return stats;
}

static void wait_until_gone(pawl_store *store)
{
    patience    left  = patience_of(THREAD_SECONDS);
    pawl_arena *arena = pawl_arena_create(0);
    pawl_stats  stats = stats_of(store, arena);
    while (stats.timeouts_due + stats.timeouts_pending > 0) {
        patience_wait(&left, "the timeout is still there");
        stats = stats_of(store, arena);
    }
    pawl_arena_destroy(arena);
}

/* The timeout is there when the worker falls asleep. */
ON_ALL_STORES(e15_a_worker_sleeps_until_the_next_one_is_due, const char *url)
{
    pawl_store *store = open_store(url);
    insert_for(store, "vans", PAWL_MILLISECONDS(1500));
    runner *it = runner_begin(&application, NULL, url, (pawl_endpoint_options){.workers = 2});
    wait_until_gone(store);
    pawl_arena     *arena = test_arena();
    pawl_queue_rows rows  = {.count = 0};
    must(pawl_store_queue_list(store, PAWL_TEXT("vans"), 0, arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    test_now(it);
    close_store(store);
}

/* The timeout comes after the worker's check; a server wakes the worker for its own queue. */
ON_ALL_STORES(e15_one_for_an_endpoint_without_timeouts_is_found, const char *url)
{
    pawl_store *store = open_store(url);
    insert_for(store, "vans", 0);
    runner *it = runner_begin(&application, NULL, url, (pawl_endpoint_options){.workers = 1});
    wait_until_gone(store);
    insert_for(store, "plain", 0);
    wait_until_gone(store);
    test_now(it);
    close_store(store);
}
