/* test_runtime_deaths_crash.c - processes that die in the middle of batches, again and again (E26): a message or a timeout
 * that kills each time is a dead letter after crashes_max deaths alone, its neighbours are handled once, and kills from
 * outside make no letter.
 *
 * Each life is a child that drains the store until it dies or all is done; what it commits is all that is left of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/thread.h"
#include "support/world.h"

#include <sys/wait.h>
#include <unistd.h>

#define LIVES_MAX 24
#define DIED 9
#define LATE 1000 /* a timeout's number is its ship's and this */

PAWL_RECORD(load, A_NUMBER);
PAWL_RECORD(ship, A_NUMBER);
PAWL_RECORD(done, A_NUMBER);

/* A life ends at a number: each that meets it, or the one of this index. */
typedef struct blow {
    int life; /* -1: each */
    int number;
} blow;

static const blow *blows; /* up to one of number 0 */
static int         life;

static pawl_code finish(pawl_context *ctx, int number)
{
    for (const blow *next = blows; next->number != 0; next++)
        if (next->number == number && (next->life == -1 || next->life == life))
            _exit(DIED);
    return pawl_send(ctx, "finished", PAWL_MESSAGE(done, .number = number));
}

static pawl_code on_load(pawl_context *ctx, const load *message)
{
    return finish(ctx, message->number);
}
PAWL_MESSAGE_HANDLER(on_load, load);

static pawl_code on_ship(pawl_context *ctx, ship *state, const ship *message)
{
    *state = *message;
    return pawl_timeout(ctx, "late", 0);
}
PAWL_HANDLER(on_ship, ship, ship);

static pawl_code on_late(pawl_context *ctx, ship *state)
{
    pawl_complete(ctx);
    return finish(ctx, LATE + state->number);
}
PAWL_TIMEOUT_HANDLER(on_late, ship);

static const pawl_saga ships = SAGA_OF(
    "Ship", ship, "number", {.handle = PAWL_HANDLE(on_ship), .key = "number", .starts = true},
    {.handle = PAWL_HANDLE(on_late), .timeout = "late"});

static const pawl_application application =
    ONE_ENDPOINT("dock", .name = "dock", .sagas = PAWL_SAGAS(&ships),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_load)}));

/* ---- Lives ------------------------------------------------------------------ */

typedef struct course {
    const char *name;
    int32_t     batch; /* batch_messages */
    int         loads, ships;
    blow        blows[8];
    int         letters, crashes_max; /* lives that may end early */
    bool        is_ordered;
} course;

static world *open_course(const char *url, const course *of)
{
    const char *ordered = of->is_ordered ? "property:number" : NULL;
    world      *it =
        world_begin(url, &application, NULL,
                    &(pawl_endpoint_options){
                        .immediate_retries = -1, .batch_messages = of->batch, .ordered = ordered});
    /* With the seed of another life it would make the ids of that one again. */
    pawl_endpoint_destroy(it->endpoint);
    it->options.seed = (uint64_t)life + 1000;
    must(pawl_endpoint_create(&application, NULL, &it->options, &it->endpoint, world_error()));
    return it;
}

static int live(const char *url, const course *of)
{
    int   status = 0;
    pid_t child  = fork();
    if (child == 0) {
        world *it = open_course(url, of);
        for (int i = 0; i < 4; i++)
            world_go_both(it, PAWL_SECONDS(1));
        world_close(it);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void post_all(const char *url, const course *of)
{
    world *it = open_course(url, of);
    for (int i = 1; i <= of->loads || i <= of->ships; i++) {
        if (i <= of->ships)
            world_post(it, NULL, PAWL_MESSAGE(ship, .number = i));
        if (i <= of->loads)
            world_post(it, NULL, PAWL_MESSAGE(load, .number = i));
    }
    world_close(it);
}

/* How many workers died, and nobody ended their rows. A server takes a moment to notice that a process died. */
static size_t count_died(const char *url)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_arena        *arena   = pawl_arena_create(0);
    pawl_store        *store   = NULL;
    pawl_worker_info  *items;
    size_t             dead = 0, living = 1;
    options.mode = PAWL_OPEN_CHECK;
    must(pawl_store_open(url, &options, &store, world_error()));
    for (patience left = patience_of(30); living > 0;) {
        patience_wait(&left, "a death is not noticed");
        pawl_arena_reset(arena);
        must(pawl_store_worker_list(store, arena, &items, &living, world_error()));
        must(pawl_store_worker_crashed(store, arena, &items, &dead, world_error()));
    }
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    return dead;
}

static bool is_deadly(const course *of, int number)
{
    for (const blow *next = of->blows; next->number != 0; next++)
        if (next->number == number && next->life == -1)
            return true;
    return false;
}

/* Each number is in the queue of what is finished once, but those that kill each time. */
static void check_finished(world *it, const course *of)
{
    pawl_queue_rows rows             = world_queue(it, "finished");
    int             counts[2 * LATE] = {0};
    for (size_t i = 0; i < rows.count; i++)
        counts[world_json_number(rows.items[i].message.body.data, "number")]++;
    for (int i = 1; i <= of->loads; i++)
        if (counts[i] != !is_deadly(of, i))
            fail_msg("%s: load %d is finished %d times", of->name, i, counts[i]);
    for (int i = 1; i <= of->ships; i++)
        if (counts[LATE + i] != !is_deadly(of, LATE + i))
            fail_msg("%s: timeout %d is finished %d times", of->name, i, counts[LATE + i]);
}

static void run_course(const char *url, const course *of)
{
    int crashes = 0, code = DIED;
    post_all(url, of);
    blows = of->blows;
    for (life = 0; code != 0 && life < LIVES_MAX; life++) {
        code = live(url, of);
        crashes += code == DIED;
        if (code != 0)
            assert_int_not_equal(count_died(url), 0);
    }
    if (code != 0 || crashes > of->crashes_max)
        fail_msg("%s: %d lives ended early, of at most %d; the last by %d", of->name, crashes,
                 of->crashes_max, code);
    assert_int_equal(count_died(url), 0);
    world *it = open_course(url, of);
    check_finished(it, of);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, of->letters);
    for (size_t i = 0; i < dead.count; i++) {
        assert_string_equal(dead.items[i].code.data, "ECRASHED");
        assert_int_equal(dead.items[i].crashes, 3);
    }
    assert_int_equal(world_queue(it, "dock").count, 0);
    assert_int_equal(world_timeouts(it).count, 0);
    world_close(it);
}

/* A process dies in a batch without markers, one in a marked batch, three with the message isolated: the crashes that
 * the dead letter counts. */
static const course courses[] = {
    {"the first of one", 64, 1, 0, {{-1, 1}}, 1, 5, false},
    {"one of a marked batch", 64, 40, 0, {{-1, 21}}, 1, 5, false},
    {"the last of all", 64, 40, 0, {{-1, 40}}, 1, 5, false},
    {"behind what runs with care", 4, 40, 0, {{-1, 37}}, 1, 6, false},
    {"two in one batch", 64, 40, 0, {{-1, 5}, {-1, 9}}, 2, 9, false},
    {"two far apart", 8, 60, 0, {{-1, 2}, {-1, 51}}, 2, 10, false},
    {"a timeout", 64, 0, 20, {{-1, LATE + 7}}, 1, 6, false},
    {"a timeout among messages", 64, 30, 20, {{-1, LATE + 18}}, 1, 6, false},
    {"a timeout and a message", 16, 20, 20, {{-1, LATE + 3}, {-1, 4}}, 2, 12, false},
    {"in order", 64, 40, 0, {{-1, 21}}, 1, 5, true},
    {"killed from outside",
     64,
     60,
     20,
     {{0, 5}, {1, 12}, {2, LATE + 2}, {3, 33}, {4, 59}},
     0,
     5,
     false},
    {"killed at the same one twice",
     8,
     60,
     0,
     {{0, 5}, {1, 5}, {2, 6}, {3, 20}, {4, 45}},
     0,
     5,
     false},
};

TESTS(e26_lives_that_end_early_lose_and_double_nothing, const char *url,
      STORE_ROW(e26_lives_that_end_early_lose_and_double_nothing, "sqlite")
          SQL_SERVERS(SERVER_ROW, e26_lives_that_end_early_lose_and_double_nothing))
{
    /* On a server the lives take a second each. */
    size_t stride = strncmp(url, "sqlite:", 7) == 0 ? 1 : 3;
    for (size_t i = stride / 2; i < COUNT(courses); i += stride) {
        char own[300];
        scenario_url_like(url, own, sizeof own);
        run_course(own, &courses[i]);
        scenario_forget(own);
    }
}
