/* test_sql_server.c - the generic store where the database is a server: calls that it undid are done
 * again, a commit in doubt is asked for until it answers, a wait beats.
 *
 * Through the functions of the driver's module, which a test's build exports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#ifndef PAWL_HAVE_SQLITE
int main(void)
{
    puts("skipped: built without SQLite");
    return 77;
}
#else

#include "store/sql/commit.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"
#include "store/sql/server.h"

static struct functions {
    pawl_code (*open)(pawl_store *store, pawl__sql_server *server, pawl_error *error);
    void (*interrupt)(pawl_store *store);
    pawl_code (*wait)(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error);
    pawl_code (*beat)(pawl_store *store, const pawl_worker_id *workers, size_t count, pawl_time now,
                      pawl_error *error);
    pawl_code (*reap)(pawl_store *store, pawl_time now, int64_t *count, pawl_error *error);
    pawl_code (*unlead)(pawl_store *store, pawl_text name, pawl_error *error);
    pawl_code (*resolve)(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                         pawl_error *error);
    pawl_code (*commit)(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error);
    pawl_code (*crashed)(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                         size_t *count, pawl_error *error);
} sql;

static int load(void **state)
{
    void *module             = test_module("sqlite");
    *(void **)&sql.open      = test_symbol(module, "pawl__sql_server_open");
    *(void **)&sql.interrupt = test_symbol(module, "pawl__sql_interrupt");
    *(void **)&sql.wait      = test_symbol(module, "pawl__sql_wait");
    *(void **)&sql.beat      = test_symbol(module, "pawl__sql_worker_heartbeat");
    *(void **)&sql.reap      = test_symbol(module, "pawl__sql_timeout_reap");
    *(void **)&sql.unlead    = test_symbol(module, "pawl__sql_unlead");
    *(void **)&sql.resolve   = test_symbol(module, "pawl__sql_resolve");
    *(void **)&sql.commit    = test_symbol(module, "pawl__sql_commit");
    *(void **)&sql.crashed   = test_symbol(module, "pawl__sql_worker_crashed");
    return 0;
}

/* ---- A database ------------------------------------------------------------- */

/* Every step of it that begins a transaction fails so many times; in a hold, every statement. */
typedef struct fake {
    pawl__sql_store  store; /* first */
    pawl__sql_server server;
    int              failures;
    pawl_code        failure;
    int              begin_count, commit_count, beat_count, free_count, rest_count;
    int              asked_count;
    int              asked; /* the statement */
    int64_t          news;
    pawl_refusals   *refused; /* of a commit, to which each try adds one */
    pawl__sql_worker workers[2];
    size_t           worker_count, read_count;
    pawl_error       error;
} fake;

static fake *of(pawl_store *store)
{
    return (fake *)store;
}

static pawl_code begin(pawl_store *store, pawl_error *error)
{
    fake *it = of(store);
    it->begin_count++;
    if (it->refused != NULL)
        it->refused->count++;
    return it->begin_count <= it->failures ? pawl_error_set(error, it->failure, "begin") : PAWL_OK;
}

static pawl_code commit(pawl_store *store, bool *is_unknown, pawl_error *error)
{
    of(store)->commit_count++;
    return PAWL_OK;
}

static pawl_code send(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                      pawl__sql_request **request, pawl_error *error)
{
    fake *it  = of(store);
    it->asked = asked->statement;
    it->asked_count++;
    it->read_count = 0;
    it->beat_count += asked->statement == PAWL__SQL_WORKER_HEARTBEAT;
    it->free_count += asked->statement == PAWL__SQL_WORKER_LIST;
    *request = (pawl__sql_request *)store;
    return it->store.in_handler_transaction ? begin(store, error) : PAWL_OK;
}

static pawl_code nothing(pawl_store *store, pawl_error *error)
{
    return PAWL_OK;
}

/* NEWS answers with a row, WORKER_LIST with those there are; any other statement has none. */
static bool next(pawl__sql_request *request)
{
    fake *it = (fake *)request;
    if (it->asked == PAWL__SQL_WORKER_LIST)
        return it->read_count++ < it->worker_count;
    return ((fake *)request)->asked == PAWL__SQL_NEWS;
}

static void get(pawl__sql_request *request, const pawl__field_list *columns, void *row)
{
    fake *it = (fake *)request;
    if (it->asked == PAWL__SQL_WORKER_LIST) {
        *(pawl__sql_worker *)row = it->workers[it->read_count - 1];
        return;
    }
    for (size_t i = 0; i < columns->count; i++)
        *(int64_t *)((char *)row + columns->items[i].offset) = ((fake *)request)->news;
}

/* The first worker is dead. */
static pawl_code which_are_alive(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                                 pawl_error *error)
{
    for (size_t i = 0; i < count; i++)
        lives[i]->is_alive = i > 0;
    return PAWL_OK;
}

static pawl_code end(pawl__sql_request *request)
{
    return PAWL_OK;
}

static pawl_code write_items(pawl__sql_connection *connection, const pawl__sql_write *write,
                             const void *const *items, size_t count, pawl__sql_result *results,
                             size_t *failed, pawl_error *error)
{
    for (size_t i = 0; i < count; i++)
        results[i] = PAWL__SQL_APPLIED;
    return PAWL_OK;
}

static void claims_end(pawl_store *store, const pawl_changes *changes, const bool *is_dropped,
                       pawl_code code)
{
}

static int64_t changed(pawl__sql_request *request)
{
    return ((fake *)request)->asked == PAWL__SQL_TIMEOUT_REAP ? 7 : 0;
}

static void rollback(pawl_store *store)
{
}

static void rest(pawl_store *store)
{
    of(store)->rest_count++;
}

static int no_session(pawl_store *store)
{
    return -1;
}

static void handler_transaction_end(pawl_store *store)
{
}

static const pawl__sql_ops ops = {.name            = "fake",
                                  .send            = send,
                                  .await           = nothing,
                                  .next            = next,
                                  .get             = get,
                                  .end             = end,
                                  .changed         = changed,
                                  .which_are_alive = which_are_alive,
                                  .rollback        = rollback,
                                  .begin           = begin,
                                  .write           = write_items,
                                  .commit          = commit,
                                  .claims_end      = claims_end,
                                  .rest            = rest,
                                  .session_fd      = no_session};

static const pawl_store_ops store_ops = {.scheme                  = "fake",
                                         .ready                   = begin,
                                         .handler_transaction_end = handler_transaction_end,
                                         .interrupt               = NULL};

static void open_fake(fake *it, bool has_server, int failures, pawl_code failure)
{
    *it                        = (fake){.failures = failures, .failure = failure};
    it->store.ops              = &ops;
    it->store.base.ops         = &store_ops;
    it->store.base.scheme      = "fake";
    it->store.base.deadline_ms = 60000;
    it->error                  = (pawl_error)PAWL_ERROR_INIT;
    if (has_server)
        assert_int_equal(sql.open(&it->store.base, &it->server, &it->error), PAWL_OK);
}

static void close_fake(fake *it)
{
    pawl__wait_close(&it->server.wait);
    pawl__wait_close(&it->server.wait);
}

/* ---- Again -------------------------------------------------------------------- */

static void expect_unlead(fake *it, pawl_code code, int begin_count)
{
    assert_int_equal(sql.unlead(&it->store.base, PAWL_TEXT("a"), &it->error), code);
    assert_int_equal(it->begin_count, begin_count);
    close_fake(it);
}

TEST(what_a_server_undid_is_done_again)
{
    fake it;
    open_fake(&it, true, 3, PAWL_EBUSY);
    expect_unlead(&it, PAWL_OK, 4);
    open_fake(&it, true, 1000, PAWL_EBUSY);
    expect_unlead(&it, PAWL_EBUSY, 20);
    open_fake(&it, true, 3, PAWL_ELOST);
    expect_unlead(&it, PAWL_ELOST, 1);
}

TEST(a_wait_that_took_the_deadline_is_not_done_again)
{
    fake it;
    open_fake(&it, true, 3, PAWL_EBUSY);
    it.store.base.deadline_ms = 0;
    expect_unlead(&it, PAWL_EBUSY, 1);
}

TEST(in_a_hold_and_in_a_file_nothing_is_done_again)
{
    fake it;
    open_fake(&it, true, 3, PAWL_EBUSY);
    it.store.in_handler_transaction = true;
    expect_unlead(&it, PAWL_EBUSY, 1);
    open_fake(&it, false, 3, PAWL_EBUSY);
    it.server.wait.interrupt_fd = -1;
    expect_unlead(&it, PAWL_EBUSY, 1);
}

/* Refusals of a try that was undone are found again. */
TEST(a_commit_that_was_undone_has_the_refusals_of_its_last_try)
{
    fake          it;
    pawl_changes  changes = {.group_count = 1, .counters = {.messages = 1}};
    pawl_refusals refused = {.arena = pawl_arena_create(0)};
    open_fake(&it, true, 3, PAWL_EBUSY);
    it.refused = &refused;
    assert_int_equal(sql.commit(&it.store.base, &changes, &refused, &it.error), PAWL_OK);
    assert_int_equal(it.begin_count, 4);
    assert_int_equal(refused.count, 1);
    close_fake(&it);
    pawl_arena_destroy(refused.arena);
}

/* ---- Crashes ------------------------------------------------------------------- */

static size_t count_crashed(pawl__sql_worker dead, pawl__sql_worker other)
{
    fake              it;
    size_t            count = 9;
    pawl_worker_info *items = NULL;
    pawl_arena       *arena = pawl_arena_create(0);
    open_fake(&it, true, 0, PAWL_OK);
    it.workers[0]   = dead;
    it.workers[1]   = other;
    it.worker_count = 2;
    assert_int_equal(sql.crashed(&it.store.base, arena, &items, &count, &it.error), PAWL_OK);
    close_fake(&it);
    pawl_arena_destroy(arena);
    return count;
}

static pawl__sql_worker worker_of(int64_t number, const char *host, int64_t pid, pawl_time started)
{
    return (pawl__sql_worker){.info = {.id      = {{{(uint8_t)number}}},
                                       .host    = pawl_text_of(host),
                                       .pid     = pid,
                                       .started = started,
                                       .seen    = 100},
                              .life = {.process = number}};
}

TEST(a_worker_whose_process_has_another_that_lives_did_not_crash)
{
    const pawl__sql_worker dead = worker_of(1, "a", 7, 50);
    assert_int_equal(count_crashed(dead, worker_of(2, "a", 7, 100)), 0);
    assert_int_equal(count_crashed(dead, worker_of(2, "a", 7, 101)), 1);
    assert_int_equal(count_crashed(dead, worker_of(2, "a", 8, 100)), 1);
    assert_int_equal(count_crashed(dead, worker_of(2, "b", 7, 100)), 1);
    assert_int_equal(count_crashed(worker_of(1, "", 7, 50), worker_of(2, "", 7, 100)), 1);
    assert_int_equal(count_crashed(worker_of(1, "a", 0, 50), worker_of(2, "a", 0, 100)), 1);
    assert_int_equal(count_crashed(worker_of(0, "a", 7, 50), worker_of(2, "b", 7, 100)), 0);
}

/* A negative one tells that its timeouts were freed. */
TEST(the_process_of_a_crashed_worker_whose_timeouts_were_freed_is_known)
{
    const int64_t mark = INT64_C(1) << 62, low = INT64_C(1767225600000000) % (INT64_C(1) << 40)
                                                 << 22;
    const pawl__sql_worker lives = worker_of(2, "a", 4194303, 100);
    assert_int_equal(count_crashed(worker_of(1, "a", -(mark | low | 4194303), 50), lives), 0);
    assert_int_equal(count_crashed(worker_of(1, "a", -(mark | low | 4194302), 50), lives), 1);
    assert_int_equal(count_crashed(worker_of(1, "a", -(mark | 4194303), 50), lives), 0);
    assert_int_equal(count_crashed(worker_of(1, "a", -(mark | low), 50), worker_of(2, "a", 0, 100)),
                     1);
    assert_int_equal(count_crashed(worker_of(1, "a", -(low | 4194303), 50), lives), 1);
    assert_int_equal(count_crashed(worker_of(1, "a", -4194303, 50), lives), 1);
}

/* ---- A commit in doubt ---------------------------------------------------------- */

static void expect_resolve(fake *it, pawl_code code, int begin_count)
{
    const pawl_uuid id         = {{1}};
    bool            is_applied = false;
    assert_int_equal(sql.resolve(&it->store.base, id, &is_applied, &it->error), code);
    assert_false(is_applied);
    assert_int_equal(it->begin_count, begin_count);
    assert_int_equal(it->server.until_ms, 0);
    close_fake(it);
}

/* The worker's row is not there in the end, which is an answer. */
TEST(a_commit_in_doubt_is_asked_for_until_the_server_answers)
{
    fake it;
    open_fake(&it, true, 2, PAWL_EUNREACHABLE);
    expect_resolve(&it, PAWL_EFENCED, 4); /* two failed, one was ready, and the transaction began */
    open_fake(&it, true, 1000, PAWL_EUNREACHABLE);
    it.store.base.deadline_ms = 0;
    expect_resolve(&it, PAWL_EUNREACHABLE, 1);
    open_fake(&it, true, 1000, PAWL_EDENIED);
    expect_resolve(&it, PAWL_EDENIED, 1);
    open_fake(&it, false, 1, PAWL_EUNREACHABLE);
    it.server.wait.interrupt_fd = -1;
    expect_resolve(&it, PAWL_EUNREACHABLE, 1);
}

TEST(an_interrupt_ends_the_asking)
{
    fake it;
    open_fake(&it, true, 1000, PAWL_EUNREACHABLE);
    sql.interrupt(&it.store.base);
    expect_resolve(&it, PAWL_EINTERRUPTED, 1);
}

/* ---- Waiting ---------------------------------------------------------------------- */

static void wait_once(fake *it, int64_t microseconds, pawl_code code)
{
    assert_int_equal(sql.wait(&it->store.base, microseconds, -1, &it->error), code);
}

TEST(o21_a_wait_ends_with_news_and_with_interrupts)
{
    fake it;
    open_fake(&it, true, 0, PAWL_OK);
    it.news = 1;
    wait_once(&it, INT64_C(3600000000), PAWL_OK); /* numbers that were never seen are news */
    assert_int_equal(it.rest_count, 1);
    sql.interrupt(&it.store.base);
    wait_once(&it, INT64_C(3600000000), PAWL_EINTERRUPTED);
    (void)pawl__wait_take(&it.server.wait);
    wait_once(&it, 1000, PAWL_OK);
    it.store.in_handler_transaction = true;
    wait_once(&it, 1000, PAWL_EINVAL);
    assert_int_equal(it.rest_count, 3);
    close_fake(&it);
}

/* Of a worker without a lock; once in five seconds. */
TEST(o21_a_wait_says_that_the_worker_lives)
{
    fake it;
    open_fake(&it, true, 0, PAWL_OK);
    it.server.beats = true;
    wait_once(&it, 0, PAWL_OK);
    assert_int_equal(it.beat_count, 0); /* no worker */
    it.store.base.is_attached = true;
    wait_once(&it, 0, PAWL_OK);
    wait_once(&it, 0, PAWL_OK);
    assert_int_equal(it.beat_count, 1);
    it.server.beat_ms -= 5001;
    wait_once(&it, 0, PAWL_OK);
    assert_int_equal(it.beat_count, 2);
    assert_int_equal(it.free_count, 0);
    it.server.beat_ms -= 5001;
    it.server.frees_dead = true;
    wait_once(&it, 0, PAWL_OK);
    assert_int_equal(it.free_count, 1);
    it.server.beats = false;
    it.server.beat_ms -= 5001;
    wait_once(&it, 0, PAWL_OK);
    assert_int_equal(it.beat_count, 3);
    close_fake(&it);
}

/* By another thread's handle, which has no worker of its own, while a handler runs. */
TEST(a_handle_beats_for_workers_of_others)
{
    static const pawl_worker_id workers[] = {{{{1}}}, {{{2}}}, {{{3}}}};
    fake                        it;
    open_fake(&it, true, 0, PAWL_OK);
    assert_int_equal(sql.beat(&it.store.base, workers, 3, 0, &it.error), PAWL_EUNSUPPORTED);
    assert_int_equal(it.asked_count, 0);
    it.server.beats = true;
    assert_int_equal(sql.beat(&it.store.base, workers, 3, 0, &it.error), PAWL_OK);
    assert_int_equal(it.beat_count, 3);
    assert_int_equal(sql.beat(&it.store.base, workers, 0, 0, &it.error), PAWL_OK);
    assert_int_equal(it.beat_count, 3);
    close_fake(&it);
}

/* ---- Leases that are over --------------------------------------------------------- */

/* However many they are: one statement in one transaction. */
TEST(t14_leases_that_are_over_end_in_one_update)
{
    fake    it;
    int64_t count = 0;
    open_fake(&it, true, 0, PAWL_OK);
    assert_int_equal(sql.reap(&it.store.base, 0, &count, &it.error), PAWL_OK);
    assert_int_equal(count, 7);
    assert_int_equal(it.asked, PAWL__SQL_TIMEOUT_REAP);
    assert_int_equal(it.asked_count, 1);
    assert_int_equal(it.begin_count, 1);
    assert_int_equal(it.commit_count, 1);
    close_fake(&it);
}

int main(void)
{
    return tests_run(load, NULL);
}
#endif
