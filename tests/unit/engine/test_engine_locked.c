/* test_engine_locked.c - rows that somebody else has locked: the message that waits for
 * one fails, with retries, and the others go on. S32, E24, E26.
 *
 * A deadline is the store's own time: it is kept short, and waited for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "support/hook.h"
#include "support/native.h"

#define ON_SERVERS(function)                                          \
    TESTS(function, const char *url, STORE_ROW(function, "postgres"), \
          STORE_ROW(function, "mariadb"), STORE_ROW(function, "mysql"))

#define DEADLINE_MS 600
/* Row locks: SQLite's is of the whole file. */

RECORD(safe, (TEXT, name), (INT32, count));
RECORD(book, (TEXT, name), (INT32, count));
RECORD(card, (TEXT, name), (INT32, count));
PAWL_RECORD(put_in, A_NAME);
PAWL_RECORD(lend, A_NAME);
PAWL_RECORD(mark, A_NAME);
PAWL_RECORD(plain, A_NUMBER);

static world_log seen;
static int       lend_failures;

static pawl_code on_put_in(pawl_context *ctx, safe *state, const put_in *message)
{
    state->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_put_in, safe, put_in);

static pawl_code on_lend(pawl_context *ctx, book *state, const lend *message)
{
    assert_non_null(native_of(ctx));
    world_note(&seen, "lend");
    if (lend_failures > 0 && lend_failures--)
        return PAWL_RETRY;
    state->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_lend, book, lend);

static pawl_code on_mark(pawl_context *ctx, card *state, const mark *message)
{
    world_note(&seen, "mark(%.*s)", PAWL_TEXT_ARGS(message->name));
    state->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_mark, card, mark);

static pawl_code on_plain(pawl_context *ctx, const plain *message)
{
    world_note(&seen, "plain%d", (int)message->number);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_plain, plain);

static const pawl_saga safes = {
    .name           = "Safe",
    .state          = PAWL_RECORD_OF(safe),
    .correlation    = "name",
    .is_pessimistic = true,
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_put_in), .key = "name", .starts = true})};
static const pawl_saga books = {
    .name        = "Book",
    .state       = PAWL_RECORD_OF(book),
    .correlation = "name",
    .on =
        PAWL_ON({.handle = PAWL_HANDLE(on_lend), .key = "name", .starts = true, .own_sql = true})};
static const pawl_saga cards =
    SAGA_OF("Card", card, "name", {.handle = PAWL_HANDLE(on_mark), .key = "name", .starts = true});

static const pawl_application application =
    ONE_ENDPOINT("locked", .name = "library", .sagas = PAWL_SAGAS(&safes, &books, &cards),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_plain)}));

static world *open_world(const char *url, pawl_endpoint_options options)
{
    world_forget(&seen);
    options.deadline = PAWL_MILLISECONDS(DEADLINE_MS);
    world *it        = world_begin(url, &application, NULL, &options);
    world_post(it, NULL, PAWL_MESSAGE(put_in, .name = PAWL_TEXT("a")));
    world_post(it, NULL, PAWL_MESSAGE(lend, .name = PAWL_TEXT("a")));
    world_post(it, NULL, PAWL_MESSAGE(mark, .name = PAWL_TEXT("a")));
    world_post(it, NULL, PAWL_MESSAGE(mark, .name = PAWL_TEXT("b")));
    assert_int_equal(world_drain(it).handled, 4);
    world_forget(&seen);
    return it;
}

static void post_plain(world *it, int32_t number)
{
    world_post(it, NULL, PAWL_MESSAGE(plain, .number = number));
}

/* "a" of the saga is in a stranger's hands until handler_transaction_end. */
static void lock_a(world *it, size_t saga)
{
    pawl_saga_row row   = {.version = 0};
    pawl_value    value = pawl_value_text(PAWL_TEXT("a"));
    pawl_store   *store = it->store;
    must(pawl_store_handler_transaction_begin(store, world_error()));
    must(pawl_store_saga_load(store, world_table(it, &application, saga), PAWL_SAGA_BY_MAIN, &value,
                              1, PAWL_SAGA_LOCKED, it->arena, &row, world_error()));
    assert_int_equal(row.version, 1);
}

static void unlock(world *it)
{
    pawl_store_handler_transaction_end(it->store);
}

static int count_of(world *it, const char *saga)
{
    const char *json = strstr(world_saga_text(it, saga, "a", NULL), "\"count\":");
    return json != NULL ? atoi(json + strlen("\"count\":")) : 0;
}

/* ---- Row locks ---------------------------------------------------------------- */

static void post(world *it, const char *saga, const char *id)
{
    if (strcmp(saga, "Safe") == 0)
        world_post(it, id, PAWL_MESSAGE(put_in, .name = PAWL_TEXT("a")));
    else if (strcmp(saga, "Book") == 0)
        world_post(it, id, PAWL_MESSAGE(lend, .name = PAWL_TEXT("a")));
    else
        world_post(it, id, PAWL_MESSAGE(mark, .name = PAWL_TEXT("a")));
}

/* So often; then a dead letter that says why. */
static void fail_one(const char *url, size_t table, const char *saga)
{
    world *it = open_world(url, (pawl_endpoint_options){.delayed_retries = 1});
    lock_a(it, table);
    post(it, saga, "locked");
    post_plain(it, 1);
    post_plain(it, 2);
    assert_int_equal(world_drain(it).handled, 2);
    assert_string_equal(seen.text, "plain1 plain2 ");
    assert_int_equal(world_queue_row(it, "library").attempts, 1);
    world_go(it, PAWL_HOURS(1));
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_string_equal(dead.items[0].message.id.data, "locked");
    assert_string_equal(dead.items[0].code.data, "ETIMEOUT");
    assert_true(world_says(dead.items[0].error, "its deadline"));
    assert_int_equal(dead.items[0].attempts, 2);
    unlock(it);
    post(it, saga, "later");
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(count_of(it, saga), 2);
    assert_int_equal(world_queue(it, "library").count, 0);
    world_close(it);
}

ON_SERVERS(s32_a_locked_row_fails_its_message_alone)
{
    fail_one(url, 0, "Safe");
}

ON_SERVERS(e24_so_it_does_with_own_sql)
{
    fail_one(url, 1, "Book");
}

/* Nothing is locked at the load of other sagas: the commit waits, once. Then the row is
 * looked for without waiting, and who has it counts as another worker. */
ON_SERVERS(s32_a_commit_waits_for_a_locked_row_once)
{
    world *it = open_world(url, (pawl_endpoint_options){.delayed_retries = 1});
    lock_a(it, 2);
    post(it, "Card", "locked");
    post_plain(it, 1);
    world_post(it, NULL, PAWL_MESSAGE(mark, .name = PAWL_TEXT("b")));
    post(it, "Card", "later");
    assert_int_equal(world_step(it).handled, 0);
    assert_int_equal(world_step(it).handled, 2);
    assert_string_equal(seen.text, "mark(a) plain1 mark(b) mark(a) plain1 mark(b) ");
    pawl_queue_rows rows = world_queue(it, "library");
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.items[0].attempts, 0);
    assert_int_equal(rows.items[1].attempts, 0);
    unlock(it);
    assert_int_equal(world_go(it, PAWL_SECONDS(1)).handled, 2);
    assert_int_equal(count_of(it, "Card"), 3);
    assert_int_equal(world_dead(it).count, 0);
}

/* ---- Other failures of loads and commits --------------------------------------------- */

static hook_point fail_point;
static pawl_code  fail_code;
static int        fail_left, fail_met;

static pawl_code fail_call(hook_point point, void *context)
{
    if (point != fail_point || fail_left == 0)
        return PAWL_OK;
    fail_left--;
    fail_met++;
    return fail_code;
}

static void fail_next(hook_point point, pawl_code code, int count)
{
    fail_point = point;
    fail_code  = code;
    fail_left  = count;
    fail_met   = 0;
    hook_set(fail_call, NULL);
}

/* Another worker that looks for messages. */
static pawl_store *other;
static size_t      other_claims;

static pawl_code claim_too(hook_point point, void *context)
{
    pawl_error       error = PAWL_ERROR_INIT;
    pawl_queue_rows  rows  = {0};
    world           *it    = context;
    pawl_queue_claim claim = {.queue     = PAWL_TEXT("library"),
                              .due_max   = PAWL_TIME_MAX,
                              .count_max = 9,
                              .now       = world_now(it)};
    if (point == HOOK_BEFORE_COMMIT) {
        must(pawl_store_queue_claim(other, &claim, it->arena, &rows, &error));
        other_claims += rows.count;
    }
    return PAWL_OK;
}

/* From the first run to the commit of the failure. */
ON_SERVERS(e24_no_other_worker_gets_a_message_that_fails)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    world             *it      = open_world(hook_url(url), (pawl_endpoint_options){0});
    must(pawl_store_open(url, &options, &other, world_error()));
    other_claims  = 0;
    lend_failures = 4;
    post(it, "Book", NULL);
    hook_set(claim_too, it);
    assert_int_equal(world_drain(it).handled, 0);
    hook_set(NULL, NULL);
    pawl_store_close(other);
    assert_string_equal(seen.text, "lend lend lend lend ");
    assert_int_equal(other_claims, 0);
    assert_int_equal(world_queue(it, "library").items[0].attempts, 1);
    assert_int_equal(world_go(it, PAWL_HOURS(1)).handled, 1);
}

TESTS(e24_a_deadlock_runs_again_at_once, const char *url,
      STORE_ROW(e24_a_deadlock_runs_again_at_once, "sqlite"),
      STORE_ROW(e24_a_deadlock_runs_again_at_once, "postgres"))
{
    world *it = open_world(hook_url(url), (pawl_endpoint_options){.immediate_retries = 2});
    post(it, "Book", NULL);
    post_plain(it, 1);
    fail_next(HOOK_BEFORE_LOAD, PAWL_EBUSY, 2);
    assert_int_equal(world_drain(it).handled, 2);
    assert_string_equal(seen.text, "lend plain1 ");
    assert_int_equal(fail_met, 2);
    /* A lock that does not end is the message's failure, after as many tries. */
    post(it, "Book", NULL);
    post_plain(it, 2);
    fail_next(HOOK_BEFORE_LOAD, PAWL_EBUSY, 3);
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(fail_met, 3);
    assert_int_equal(world_queue(it, "library").items[0].attempts, 1);
    hook_set(NULL, NULL);
    assert_int_equal(world_go(it, PAWL_HOURS(1)).handled, 1);
    world_forget(&seen);
    post(it, "Book", NULL);
    fail_next(HOOK_BEFORE_COMMIT, PAWL_EBUSY, 1);
    assert_int_equal(world_drain(it).handled, 1);
    assert_string_equal(seen.text, "lend lend ");
    assert_int_equal(count_of(it, "Book"), 4);
    hook_set(NULL, NULL);
}

TESTS(e24_a_commit_that_waits_in_vain_fails_its_message, const char *url,
      STORE_ROW(e24_a_commit_that_waits_in_vain_fails_its_message, "sqlite"),
      STORE_ROW(e24_a_commit_that_waits_in_vain_fails_its_message, "postgres"))
{
    world *it = open_world(hook_url(url), (pawl_endpoint_options){0});
    post(it, "Book", NULL);
    post_plain(it, 1);
    fail_next(HOOK_BEFORE_COMMIT, PAWL_ETIMEOUT, 1);
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(world_queue(it, "library").items[0].attempts, 1);
    assert_int_equal(count_of(it, "Book"), 1);
    hook_set(NULL, NULL);
}

/* No row of a saga is waited for: each message is tried alone, to see which it is. */
TESTS(a_commit_that_waits_for_something_else_is_taken_apart, const char *url,
      STORE_ROW(a_commit_that_waits_for_something_else_is_taken_apart, "sqlite"),
      STORE_ROW(a_commit_that_waits_for_something_else_is_taken_apart, "postgres"))
{
    world *it = open_world(hook_url(url), (pawl_endpoint_options){0});
    post_plain(it, 1);
    post_plain(it, 2);
    post_plain(it, 3);
    fail_next(HOOK_BEFORE_COMMIT, PAWL_ETIMEOUT, 2);
    assert_int_equal(world_step(it).handled, 2);
    assert_string_equal(seen.text, "plain1 plain2 plain3 plain1 plain2 plain3 ");
    assert_int_equal(world_queue_row(it, "library").attempts, 1);
    hook_set(NULL, NULL);
}

/* Without a transaction of its own it waits for no row: the store is slow. */
TESTS(a_load_without_locks_that_takes_too_long_is_the_stores_failure, const char *url,
      STORE_ROW(a_load_without_locks_that_takes_too_long_is_the_stores_failure, "sqlite"),
      STORE_ROW(a_load_without_locks_that_takes_too_long_is_the_stores_failure, "postgres"))
{
    pawl_error error = PAWL_ERROR_INIT;
    world     *it    = open_world(hook_url(url), (pawl_endpoint_options){0});
    post(it, "Card", NULL);
    fail_next(HOOK_BEFORE_LOAD, PAWL_ETIMEOUT, 1);
    assert_int_equal(pawl_endpoint_step(it->endpoint, NULL, &error), PAWL_ETIMEOUT);
    assert_int_equal(world_queue(it, "library").items[0].attempts, 0);
    hook_set(NULL, NULL);
    assert_int_equal(world_drain(it).handled, 1);
}
