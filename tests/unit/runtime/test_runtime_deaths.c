/* test_runtime_deaths.c - messages that were in hand when a process died (E26): who died alone with a
 * message counts, who died with a batch does not, and both run alone afterwards.
 *
 * Where processes share the store a child dies; in memory a handle is closed without a word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "engine/stamp.h"
#include "pawl/operations.h"
#include "runtime/deaths.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES_MAX 20000

/* ---- The application -------------------------------------------------------- */

#define LOAD(F) F(INT32, number)
PAWL_RECORD(load, LOAD)

static world_log seen;
static world    *around;        /* the handler looks at its own row; NULL: it does not */
static pawl_code answer;        /* of the handler */
static bool      is_supervised; /* the worker that dies */

/* "2!" of a message whose row is stamped. */
static pawl_code on_load(pawl_context *ctx, const load *message)
{
    const char *mark = "";
    (void)ctx;
    if (around != NULL) {
        pawl_queue_rows rows = world_queue(around, "dock");
        for (size_t i = 0; i < rows.count; i++)
            if (rows.items[i].deaths > 0 && world_says(rows.items[i].history, "in hand, alone"))
                mark = world_says(rows.items[i].history, "\"supervised\":true") ? "!s" : "!";
    }
    world_note(&seen, "%d%s", message->number, mark);
    return answer;
}
PAWL_MESSAGE_HANDLER(on_load, load);

/* Loads are late ten seconds after the ship. */
#define SHIP_STATE(F) F(TEXT, name)
PAWL_RECORD(ship_state, SHIP_STATE)
#define DOCKED(F) F(TEXT, name)
PAWL_RECORD(docked, DOCKED)

static pawl_code on_docked(pawl_context *ctx, ship_state *ship, const docked *message)
{
    (void)ship;
    (void)message;
    pawl_timeout(ctx, "late", PAWL_SECONDS(10));
    return answer;
}
PAWL_HANDLER(on_docked, ship_state, docked);

static pawl_code on_late(pawl_context *ctx, ship_state *ship)
{
    (void)ctx;
    (void)ship;
    world_note(&seen, "late");
    return answer;
}
PAWL_TIMEOUT_HANDLER(on_late, ship_state);

static const pawl_saga ship = {
    .name        = "Ship",
    .state       = PAWL_RECORD_OF(ship_state),
    .correlation = "name",
    .on = (const pawl_on[]){{.handle = PAWL_HANDLE(on_docked), .key = "name", .starts = true},
                            {.handle = PAWL_HANDLE(on_late), .timeout = "late"},
                            {.handle = NULL}}};

static const pawl_endpoint_spec dock = {
    .name     = "dock",
    .sagas    = (const pawl_saga *const[]){&ship, NULL},
    .handlers = (const pawl_on[]){{.handle = PAWL_HANDLE(on_load)}, {.handle = NULL}}};
static const pawl_application application = {PAWL_APPLICATION_INIT, .name = "dock",
                                             .endpoints =
                                                 (const pawl_endpoint_spec *const[]){&dock, NULL}};

static const pawl_text DOCK = PAWL_TEXT_INIT("dock");

static void open_world(world *it, const char *url, int32_t deaths_max)
{
    world_open(it, url, &application, NULL,
               &(pawl_endpoint_options){.immediate_retries = -1, .deaths_max = deaths_max});
    around = it;
}

/* Three messages in a store that no handle has open, but one that keeps a store in memory. */
static pawl_store *prepare(const char *url)
{
    world it;
    answer = PAWL_OK;
    world_forget(&seen);
    pawl_store *kept = world_hold(url);
    open_world(&it, url, 0);
    for (int i = 1; i <= 3; i++) {
        char id[] = {'m', '-', (char)('0' + i), '\0'};
        world_post(&it, id, PAWL_MESSAGE(load, .number = i));
    }
    world_close(&it);
    around = NULL;
    return kept;
}

/* ---- Dying ------------------------------------------------------------------ */

static pawl_store *open_worker_as(const char *url, const pawl_worker_id *id)
{
    pawl_error         error   = PAWL_ERROR_INIT;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = PAWL_OPEN_CHECK;
    world_ok(pawl_store_open(url, &options, &store, &error), &error);
    if (id != NULL)
        pawl_store_worker_set(store, *id);
    world_ok(pawl_store_worker_open(store, DOCK, PAWL_TEXT("[]"), WORLD_START, &error), &error);
    return store;
}

static pawl_store *open_worker(const char *url)
{
    return open_worker_as(url, NULL);
}

static pawl_queue_rows claim(pawl_store *store, pawl_arena *arena, size_t count_max)
{
    pawl_error             error = PAWL_ERROR_INIT;
    pawl_queue_rows        rows  = {.count = 0};
    const pawl_queue_claim asked = {
        .queue = DOCK, .due_max = WORLD_START, .count_max = count_max, .now = WORLD_START};
    world_ok(pawl_store_queue_claim(store, &asked, arena, &rows, &error), &error);
    return rows;
}

static void hold_all(pawl_store *store, pawl_arena *arena)
{
    assert_int_equal(claim(store, arena, 9).count, 3);
}

/* Stamps the first message, and lets go of it. */
static void stamp_first(pawl_store *store, pawl_arena *arena)
{
    pawl_error        error    = PAWL_ERROR_INIT;
    pawl_queue_row    row      = claim(store, arena, 1).items[0];
    const pawl__stamp stamp    = {pawl_store_worker(store).uuid, pawl_store_epoch(store), getpid(),
                                  WORLD_START, is_supervised};
    pawl_queue_settle settle   = {.action  = PAWL_QUEUE_RETRY,
                                  .queue   = DOCK,
                                  .seq     = row.seq,
                                  .due     = row.due,
                                  .deaths  = row.deaths + 1,
                                  .history = pawl__stamp_add(arena, row.history, &stamp)};
    pawl_changes      changes  = {.group_count = 1, .unit_count = 1, .now = WORLD_START};
    changes.queue_settle.items = &settle;
    changes.queue_settle.count = 1;
    world_ok(pawl_store_commit(store, &changes, NULL, &error), &error);
}

/* Returns once the death is known; a server takes a moment to notice. */
static void await_death(const char *url)
{
    pawl_error         error   = PAWL_ERROR_INIT;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_arena        *arena   = pawl_arena_create(0);
    pawl_store        *store   = NULL;
    pawl_worker_info  *items;
    size_t             count = 0;
    options.mode             = PAWL_OPEN_CHECK;
    world_ok(pawl_store_open(url, &options, &store, &error), &error);
    for (int tries = 0; count == 0 && tries < TRIES_MAX; tries++) {
        pawl_arena_reset(arena);
        world_ok(pawl_store_worker_died(store, arena, &items, &count, &error), &error);
        if (count == 0)
            world_ok(pawl_store_wait(store, 1000, -1, &error), &error);
    }
    assert_int_equal(count, 1);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
}

typedef void last_words(pawl_store *store, pawl_arena *arena);

/* A worker of the endpoint says its last words, and dies. */
static void die(const char *url, last_words *say)
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

static size_t count_died(world *it)
{
    pawl_error        error = PAWL_ERROR_INIT;
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    world_ok(pawl_store_worker_died(it->store, it->arena, &items, &count, &error), &error);
    return count;
}

static void finish(world *it, pawl_store *kept)
{
    around = NULL;
    world_close(it);
    pawl_store_close(kept);
}

/* ---- The cases --------------------------------------------------------------- */

static void e26_a_death_with_a_batch_counts_for_none(const char *url)
{
    world       it;
    pawl_store *kept = prepare(url);
    die(url, hold_all);
    open_world(&it, url, 1);
    assert_int_equal(world_drain(&it).handled, 3);
    assert_string_equal(seen.text, "1! 2! 3! ");
    assert_int_equal(world_dead(&it).count, 0);
    assert_int_equal(count_died(&it), 0);
    world_forget(&seen);
    world_post(&it, "m-4", PAWL_MESSAGE(load, .number = 4));
    assert_int_equal(world_go_both(&it, PAWL_SECONDS(5)).handled, 1);
    assert_string_equal(seen.text, "4 ");
    finish(&it, kept);
}

static void e26_a_death_alone_counts_and_the_last_is_a_letter(const char *url)
{
    world       it;
    pawl_store *kept = prepare(url);
    die(url, stamp_first);
    open_world(&it, url, 1);
    world_drain(&it); /* a lost connection comes back within a second */
    assert_string_equal(seen.text, "");
    world_go_both(&it, PAWL_SECONDS(2));
    assert_string_equal(seen.text, "2! 3! ");
    pawl_dead_rows dead = world_dead(&it);
    assert_int_equal(dead.count, 1);
    assert_string_equal(dead.items[0].message.id.data, "m-1");
    assert_string_equal(dead.items[0].code.data, "EDIED");
    assert_int_equal(dead.items[0].deaths, 1);
    assert_true(world_says(dead.items[0].error, "its process died 1 time while"));
    assert_true(world_says(dead.items[0].history, "died while it ran this message alone (worker "));
    assert_false(world_says(dead.items[0].history, "in hand"));
    assert_int_equal(count_died(&it), 0);
    assert_int_equal(world_queue(&it, "dock").count, 0);
    finish(&it, kept);
}

static pawl_worker_info died_of(world *it)
{
    pawl_error        error = PAWL_ERROR_INIT;
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    world_ok(pawl_store_worker_died(it->store, it->arena, &items, &count, &error), &error);
    assert_int_equal(count, 1);
    return items[0];
}

static void e26_a_noted_signal_is_in_the_history(const char *url)
{
    world             it;
    pawl_error        error = PAWL_ERROR_INIT;
    int64_t           count = 0;
    pawl_worker_death death = {.signal = SIGSEGV, .by = PAWL_TEXT_INIT("ann")};
    pawl_store       *kept  = prepare(url);
    die(url, stamp_first);
    open_world(&it, url, 1);
    death.pid = died_of(&it).pid;
    world_ok(pawl_store_worker_note_death(it.store, &death, WORLD_START, &count, &error), &error);
    assert_int_equal(count, 1);
    world_drain(&it);
    world_go_both(&it, PAWL_SECONDS(2));
    pawl_dead_rows dead = world_dead(&it);
    assert_int_equal(dead.count, 1);
    assert_true(
        world_says(dead.items[0].history,
                   " was killed by signal 11 (SIGSEGV) while it ran this message alone (worker "));
    assert_false(world_says(dead.items[0].history, "without saying why"));
    finish(&it, kept);
}

static void stamp_first_supervised(pawl_store *store, pawl_arena *arena)
{
    is_supervised = true;
    stamp_first(store, arena);
    is_supervised = false;
}

/* The worker of a supervised process says so in its stamp; its note may come after a second. */
static void e26_a_note_is_waited_for(const char *url)
{
    world       it;
    pawl_store *kept = prepare(url);
    die(url, stamp_first_supervised);
    open_world(&it, url, 1);
    world_drain(&it);
    world_go_both(&it, PAWL_SECONDS(4));
    assert_string_equal(seen.text, "");
    assert_int_equal(world_dead(&it).count, 0);
    world_go_both(&it, PAWL_SECONDS(2));
    pawl_dead_rows dead = world_dead(&it);
    assert_int_equal(dead.count, 1);
    assert_true(world_says(dead.items[0].history, ", without saying why"));
    assert_false(world_says(dead.items[0].history, "supervised"));
    finish(&it, kept);
}

/* In memory, where a thousand die fast. A death that is forgotten and met anew is never sure. */
static void e26_more_deaths_than_are_remembered(void **state)
{
    world          it;
    const char    *url   = "memory:many";
    pawl_store    *kept  = prepare(url);
    pawl_arena    *arena = pawl_arena_create(0);
    pawl_worker_id last; /* in the order of the list */
    (void)state;
    memset(&last, 0xff, sizeof last);
    pawl_store *store = open_worker_as(url, &last);
    stamp_first_supervised(store, arena);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    for (int i = 0; i < PAWL__DEATHS_MAX + 200; i++)
        pawl_store_close(open_worker(url));
    open_world(&it, url, 1);
    world_drain(&it);
    for (int i = 0; i < 8; i++)
        world_go_both(&it, PAWL_SECONDS(1));
    assert_int_equal(world_dead(&it).count, 1);
    assert_string_equal(seen.text, "2! 3! ");
    finish(&it, kept);
}

static void e26_a_note_ends_the_wait(const char *url)
{
    world             it;
    pawl_error        error = PAWL_ERROR_INIT;
    int64_t           count = 0;
    pawl_worker_death death = {.exit_code = 7, .by = PAWL_TEXT_INIT("ann")};
    pawl_store       *kept  = prepare(url);
    die(url, stamp_first_supervised);
    open_world(&it, url, 1);
    world_drain(&it);
    world_go_both(&it, PAWL_SECONDS(2));
    assert_string_equal(seen.text, "");
    death.pid = died_of(&it).pid;
    world_ok(pawl_store_worker_note_death(it.store, &death, WORLD_START, &count, &error), &error);
    world_drain(&it);
    pawl_dead_rows dead = world_dead(&it);
    assert_int_equal(dead.count, 1);
    assert_true(world_says(dead.items[0].history, " exited with code 7 while it ran this"));
    finish(&it, kept);
}

static void e26_a_supervised_process_says_so(const char *url)
{
    world       it;
    pawl_store *kept = prepare(url);
    die(url, hold_all);
    open_world(&it, url, 1);
    pawl_worker_set_supervised(true);
    world_drain(&it);
    pawl_worker_set_supervised(false);
    assert_string_equal(seen.text, "1!s 2!s 3!s ");
    finish(&it, kept);
}

static void e26_fewer_deaths_run_again(const char *url)
{
    world       it;
    pawl_store *kept = prepare(url);
    die(url, stamp_first);
    open_world(&it, url, 2);
    answer = PAWL_RETRY;
    world_drain(&it);
    world_go_both(&it, PAWL_SECONDS(2));
    assert_string_equal(seen.text, "1! 2! 3! ");
    pawl_queue_rows rows = world_queue(&it, "dock");
    assert_int_equal(rows.count, 3);
    assert_int_equal(rows.items[0].deaths, 1);
    assert_int_equal(rows.items[0].attempts, 1);
    assert_true(world_says(rows.items[0].history, "died while it ran this message alone (worker "));
    assert_true(world_says(rows.items[0].history, "\"attempt\":2"));
    assert_false(world_says(rows.items[0].history, "in hand"));
    assert_int_equal(rows.items[1].deaths, 0);
    assert_false(world_says(rows.items[1].history, "in hand"));
    world_forget(&seen);
    answer = PAWL_OK;
    world_go_both(&it, PAWL_MINUTES(1));
    assert_non_null(strstr(seen.text, "1!"));
    assert_int_equal(world_queue(&it, "dock").count, 0);
    assert_int_equal(world_dead(&it).count, 0);
    finish(&it, kept);
}

static void e26_no_number_of_deaths_is_too_many(const char *url)
{
    world       it;
    pawl_store *kept = prepare(url);
    die(url, stamp_first);
    open_world(&it, url, -1);
    world_drain(&it);
    world_go_both(&it, PAWL_SECONDS(2));
    assert_string_equal(seen.text, "1! 2! 3! ");
    assert_int_equal(world_dead(&it).count, 0);
    finish(&it, kept);
}

/* A worker that ends in order, or lost its connection, has left its stamp behind. */
static void e26_who_ended_in_order_did_not_die(const char *url)
{
    world       it;
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *kept  = prepare(url);
    pawl_store *other = open_worker(url);
    pawl_arena *arena = pawl_arena_create(0);
    stamp_first(other, arena);
    world_ok(pawl_store_worker_close(other, WORLD_START, &error), &error);
    pawl_store_close(other);
    pawl_arena_destroy(arena);
    open_world(&it, url, 1);
    answer = PAWL_RETRY;
    world_drain(&it);
    assert_string_equal(seen.text, "1! 2! 3! ");
    assert_int_equal(world_queue(&it, "dock").items[0].deaths, 0);
    assert_int_equal(world_dead(&it).count, 0);
    finish(&it, kept);
}

/* On SQLite it would keep the whole queue. */
static void e26_a_message_in_hand_is_left_alone(const char *url)
{
    world       it;
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *kept  = prepare(url);
    open_world(&it, url, 1);
    pawl_store *other = open_worker(url);
    stamp_first(other, it.arena);
    world_drain(&it);
    assert_string_equal(seen.text, "");
    assert_int_equal(world_queue(&it, "dock").items[0].deaths, 1);
    world_ok(pawl_store_worker_close(other, WORLD_START, &error), &error);
    pawl_store_close(other);
    world_drain(&it);
    assert_string_equal(seen.text, "1! 2! 3! ");
    assert_int_equal(world_dead(&it).count, 0);
    finish(&it, kept);
}

/* Under a virtual clock, message by message, too. */
static char line_of_timeout[400];

static void keep_line(pawl_log_level level, const char *text, void *context)
{
    (void)level;
    (void)context;
    if (strstr(text, " timeout ") != NULL)
        snprintf(line_of_timeout, sizeof line_of_timeout, "%s", text);
}

static void e26_a_timeout_after_a_death_is_named(const char *url)
{
    world       it;
    pawl_store *kept = prepare(url);
    open_world(&it, url, 1);
    assert_int_equal(world_drain(&it).handled, 3);
    world_post(&it, NULL, PAWL_MESSAGE(docked, .name = PAWL_TEXT("ms anna")));
    world_drain(&it);
    for (int i = 1; i <= 3; i++)
        world_post(&it, NULL, PAWL_MESSAGE(load, .number = i));
    world_close(&it);
    die(url, hold_all);
    open_world(&it, url, 1);
    line_of_timeout[0] = '\0';
    pawl_log_set(keep_line, PAWL_LOG_INFO, NULL);
    world_go_both(&it, PAWL_SECONDS(30));
    world_quiet();
    assert_non_null(strstr(line_of_timeout, "endpoint dock: after a death timeout "));
    assert_non_null(strstr(line_of_timeout, ", 'late' of Ship "));
    assert_non_null(strstr(line_of_timeout, ", is in hand alone"));
    finish(&it, kept);
}

static void e26_care_keeps_to_due_times(const char *url)
{
    world       it;
    pawl_store *kept = prepare(url);
    open_world(&it, url, 1);
    assert_int_equal(world_drain(&it).handled, 3);
    world_post(&it, NULL, PAWL_MESSAGE(docked, .name = PAWL_TEXT("ms anna")));
    world_drain(&it);
    world_post_at(&it, NULL, WORLD_START + PAWL_SECONDS(20), PAWL_MESSAGE(load, .number = 6));
    world_post_at(&it, NULL, WORLD_START + PAWL_SECONDS(10), PAWL_MESSAGE(load, .number = 5));
    for (int i = 1; i <= 3; i++)
        world_post(&it, NULL, PAWL_MESSAGE(load, .number = i));
    world_close(&it);
    die(url, hold_all);
    world_forget(&seen);
    open_world(&it, url, 1);
    world_go_both(&it, PAWL_SECONDS(30));
    assert_string_equal(seen.text, "1! 2! 3! late 5! 6! ");
    finish(&it, kept);
}

int main(void)
{
    world_quiet();
    const struct CMUnitTest tests[] = {
        ON_ALL_STORES(e26_a_death_with_a_batch_counts_for_none),
        ON_ALL_STORES(e26_a_death_alone_counts_and_the_last_is_a_letter),
        ON_ALL_STORES(e26_a_noted_signal_is_in_the_history),
        ON_ALL_STORES(e26_a_note_is_waited_for),
        cmocka_unit_test(e26_more_deaths_than_are_remembered),
        ON_ALL_STORES(e26_a_note_ends_the_wait),
        ON_ALL_STORES(e26_a_supervised_process_says_so),
        ON_ALL_STORES(e26_fewer_deaths_run_again),
        ON_ALL_STORES(e26_no_number_of_deaths_is_too_many),
        ON_ALL_STORES(e26_who_ended_in_order_did_not_die),
        ON_ALL_STORES(e26_a_message_in_hand_is_left_alone),
        ON_ALL_STORES(e26_a_timeout_after_a_death_is_named),
        ON_ALL_STORES(e26_care_keeps_to_due_times),
    };
    return cmocka_run_group_tests_name("runtime deaths", tests, NULL, NULL);
}
