/* test_deaths_dying.h - workers of the endpoint "dock" that die, for the tests of deaths.
 *
 * Where processes share the store a child dies; in memory a handle is closed without a word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_UNIT_DEATHS_DYING_H
#define PAWL_TESTS_UNIT_DEATHS_DYING_H

#include "support/world.h"

#include "engine/history_marker.h"
#include "pawl/operations.h"
#include "runtime/worker/isolation/isolation.h"

#include <sys/wait.h>
#include <unistd.h>

#define TRIES_MAX 20000

/* Workers of MongoDB live by heartbeats, and a missed one tells of no death. */
#define ON_STORES_THAT_SEE_DEATHS(function, parameter) \
    TESTS(function, parameter, STORES_ROWS(function) SQL_SERVERS(SERVER_ROW, function))

static const pawl_text DOCK = PAWL_TEXT_INIT("dock");

static pawl_store *open_worker_as(const char *url, const pawl_worker_id *id)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = PAWL_OPEN_CHECK;
    must(pawl_store_open(url, &options, &store, world_error()));
    if (id != NULL)
        pawl_store_worker_set(store, *id);
    must(pawl_store_worker_open(store, DOCK, PAWL_TEXT("[]"), WORLD_START, world_error()));
    return store;
}

static pawl_store *open_worker(const char *url)
{
    return open_worker_as(url, NULL);
}

/* In order, and not by dying. */
static inline void close_worker(pawl_store *store)
{
    must(pawl_store_worker_close(store, WORLD_START, world_error()));
    pawl_store_close(store);
}

/* Returns once the death is known; a server takes a moment to notice. */
static void await_death(const char *url)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_arena        *arena   = pawl_arena_create(0);
    pawl_store        *store   = NULL;
    pawl_worker_info  *items;
    size_t             count = 0;
    options.mode             = PAWL_OPEN_CHECK;
    must(pawl_store_open(url, &options, &store, world_error()));
    for (int tries = 0; count == 0 && tries < TRIES_MAX; tries++) {
        pawl_arena_reset(arena);
        must(pawl_store_worker_crashed(store, arena, &items, &count, world_error()));
        if (count == 0)
            must(pawl_store_wait(store, 1000, -1, world_error()));
    }
    assert_int_equal(count, 1);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
}

typedef void last_words(pawl_store *store, pawl_arena *arena);

/* A worker of the endpoint says its last words, and dies. */
static inline void die(const char *url, last_words *say)
{
    bool        is_shared = strncmp(url, "memory:", 7) != 0;
    int         status    = 0;
    pid_t       child     = is_shared ? fork() : 0;
    pawl_arena *arena     = pawl_arena_create(0);
    if (child == 0) {
        pawl_store *store = open_worker(url);
        say(store, arena);
        if (is_shared)
            _exit(0);
        pawl_store_close(store);
    } else {
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    pawl_arena_destroy(arena);
    await_death(url);
}

static inline size_t count_died(world *it)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    must(pawl_store_worker_crashed(it->store, it->arena, &items, &count, world_error()));
    return count;
}

#endif
