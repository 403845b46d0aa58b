/* test_postgres_wake.c - sleeping and waking on PostgreSQL: no commit is slept
 * through, and what the dead had in hand is taken over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_sleep.h"
#include "support/tests.h"

#include <signal.h>
#include <sys/wait.h>

#define TAKE_OVER_SECONDS 15

/* ---- Other processes ----------------------------------------------------------- */

/* Opens a handle, sends to the queue when it is told to, and ends. */
typedef struct sender {
    pid_t pid;
    int   go;
} sender;

static sender start_sender(fixture *p, const char *queue)
{
    int    ends[2];
    sender it;
    assert_int_equal(pipe(ends), 0);
    it.pid = fork();
    assert_true(it.pid >= 0);
    if (it.pid == 0) {
        char        byte;
        pawl_store *store = NULL;
        close(ends[1]);
        pawl_code code = open_with(p, p->url, order_tables, 1, &store);
        if (read(ends[0], &byte, 1) == 1 && code == PAWL_OK)
            code = pawl_store_worker_open(store, TEXT("sender"), TEXT("[]"), NOW, &p->error);
        if (code == PAWL_OK)
            code = send_one(p, store, queue, "from afar");
        if (code != PAWL_OK)
            fprintf(stderr, "child: %s\n", p->error.text);
        _exit(code == PAWL_OK ? 0 : 1);
    }
    close(ends[0]);
    it.go = ends[1];
    return it;
}

static void go(const sender *it)
{
    assert_int_equal(write(it->go, "!", 1), 1);
    close(it->go);
}

static void join_sender(const sender *it)
{
    int status;
    assert_int_equal(waitpid(it->pid, &status, 0), it->pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- Waking -------------------------------------------------------------------- */

ON_FIXTURE(a_commit_of_another_process_wakes, fixture *p)
{
    pawl_store *store = open_sleeper(p, "orders");
    sender      other = start_sender(p, "orders");
    sleeper     it;
    lie_down(&it, store);
    go(&other);
    expect_woken(&it);
    join_sender(&other);
    assert_int_equal(claim_some(p, store, "orders", NOW, 10).count, 1);
}

ON_FIXTURE(a_message_sent_with_sql_wakes, fixture *p)
{
    pawl_store *store = open_sleeper(p, "orders");
    sleeper     it;
    lie_down(&it, store);
    raw_run(p->pg, "select pawl_send('orders', 'ping', '', due => '2026-01-01 00:00:00Z')");
    expect_woken(&it);
    assert_int_equal(claim_some(p, store, "orders", NOW, 10).count, 1);
}

ON_FIXTURE(another_queue_wakes_nobody, fixture *p)
{
    pawl_store *store = open_sleeper(p, "orders");
    raw_run(p->pg, "select pawl_send('billing', 'ping', '')");
    raw_run(p->pg, test_text("notify \"%s\", '/outbox'", pawl__pg_of(store)->channel));
    /* A round trip: what was notified is there behind its answer. */
    find_nothing(p, store, "orders");
    expect_sleeps_on(p, store);
    raw_run(p->pg, test_text("notify \"%s\", 'orders'", pawl__pg_of(store)->channel));
    expect_does_not_sleep(p, store);
}

/* A wake-up is kept until the next claim: without one the handle does not sleep, whatever else it did. */
ON_FIXTURE(a_wake_up_counts_until_the_next_claim, fixture *p)
{
    pawl_store   *store = open_sleeper(p, "orders");
    pawl_next_due next;
    raw_run(p->pg, "select pawl_send('orders', 'ping', '', due => '2026-01-02 00:00:00Z')");
    expect_does_not_sleep(p, store);
    expect_does_not_sleep(p, store);
    ok(p, pawl_store_next_due(store, TEXT("orders"), NULL, 0, &next, &p->error));
    assert_int_equal(next.queue, NOW + PAWL_DAYS(1));
    expect_does_not_sleep(p, store);
    find_nothing(p, store, "orders");
    expect_sleeps_on(p, store);
}

/* A row for the outbox wakes the handle that works on it; another one it does not. */
ON_FIXTURE(a_call_for_the_outbox_wakes_its_runner, fixture *p)
{
    pawl_store      *store = open_store(p, p->url);
    pawl_outbox_rows rows;
    for (int i = 0; i < 2; i++) {
        find_nothing(p, store, "orders");
        ok(p, pawl_store_outbox_claim(store, TEXT("orders"), NOW, 10, p->arena, &rows, &p->error));
        sleep_briefly(p, store);
    }
    find_nothing(p, store, "orders");
    expect_sleeps_on(p, store);
    raw_run(p->pg, test_text("notify \"%s\", '/outbox'", pawl__pg_of(store)->channel));
    expect_does_not_sleep(p, store);
}

/* The sleepers' locks of the handle: one for each queue, the outbox and the event store. */
static int64_t sleepers_locks(const fixture *p, pawl_store *store)
{
    return raw_number(
        p->pg,
        test_text(
            "select count(*) from pg_locks where locktype = 'advisory' and mode = 'ShareLock' "
            "and pid = %d",
            PQbackendPID(pawl__pg_of(store)->main.pg)));
}

/* A handle that sleeps for events only, and claims from a queue and the outbox later. */
ON_FIXTURE(a_handle_that_sleeps_is_called_for_what_it_claims_later, fixture *p)
{
    pawl_store      *store = open_store(p, p->url);
    pawl_event_query query = {.is_by_position = true, .count_max = 10};
    pawl_event_rows  events;
    pawl_outbox_rows rows;
    ok(p, pawl_store_event_list(store, &query, p->arena, &events, &p->error));
    sleep_briefly(p, store);
    assert_int_equal(sleepers_locks(p, store), 1);
    ok(p, pawl_store_outbox_claim(store, TEXT("orders"), NOW, 10, p->arena, &rows, &p->error));
    sleep_briefly(p, store);
    assert_int_equal(sleepers_locks(p, store), 2);
    find_nothing(p, store, "orders");
    sleep_briefly(p, store);
    assert_int_equal(sleepers_locks(p, store), 3);
}

/* The server ended the session that listened, and its locks. */
ON_FIXTURE(a_connection_made_again_listens, fixture *p)
{
    pawl_store *store = open_sleeper(p, "orders");
    expect_sleeps_on(p, store);
    raw_run(p->pg, test_text("select pg_terminate_backend(%d)", pawl__pg_of(store)->backend_pid));
    (void)pawl_store_wait(store, PAWL_SECONDS(WAIT_SECONDS), -1, &p->error);
    find_nothing(p, store, "orders");
    sleep_briefly(p, store);
    find_nothing(p, store, "orders");
    expect_sleeps_on(p, store);
    wait_for_lock(p, lock_of(store), true, 1);
    raw_run(p->pg, test_text("notify \"%s\", 'orders'", pawl__pg_of(store)->channel));
    expect_does_not_sleep(p, store);
}

/* ---- No commit is slept through ------------------------------------------------ */

/* The sleeper has looked, and has not got its lock yet, when the row is committed
 * without a word. */
static void commit_before_the_lock(fixture *p, bool is_timeout, const char *due)
{
    sleeper     it;
    pawl_store *first = open_sleeper(p, "orders");
    int64_t     lock  = lock_of(first);
    test_now(first);
    wait_for_lock(p, lock, true, 0);
    raw_run(p->pg, test_text("select pg_advisory_lock(%lld)", (long long)lock));
    pawl_store *store = open_store(p, p->url);
    find_nothing(p, store, "orders");
    lie_down(&it, store);
    wait_for_lock(p, lock, false, 1);
    add_row(p, is_timeout, due);
    raw_run(p->pg, test_text("select pg_advisory_unlock(%lld)", (long long)lock));
    expect_woken(&it);
    test_now(store);
    raw_run(p->pg, "delete from pawl_queue; delete from pawl_timeouts");
}

ON_FIXTURE(no_commit_is_slept_through, fixture *p)
{
    commit_before_the_lock(p, false, "2026-01-01 00:00:00Z");
    commit_before_the_lock(p, true, "2026-01-01 00:00:00Z");
    commit_before_the_lock(p, false, "-infinity");
    /* The wait was to last longer than that. */
    commit_before_the_lock(p, false, "2026-01-01 00:00:07Z");
    commit_before_the_lock(p, true, "2026-01-01 00:00:07Z");
}

/* A NOTIFY of rows that the last claim left wakes nobody. */
ON_FIXTURE(what_is_known_may_wait, fixture *p)
{
    pawl_next_due next;
    pawl_store   *store = open_store(p, p->url);
    add_row(p, false, "2026-01-01 00:00:07Z");
    add_row(p, true, "2026-01-01 00:00:05Z");
    assert_int_equal(claim_some(p, store, "orders", NOW, 10).count, 0);
    ok(p, pawl_store_next_due(store, TEXT("orders"), NULL, 0, &next, &p->error));
    assert_int_equal(next.queue, NOW + PAWL_SECONDS(7));
    assert_int_equal(next.timeout, NOW + PAWL_SECONDS(5));
    expect_sleeps_on(p, store);
    expect_sleeps_on(p, store);
}

/* ---- Take-over ------------------------------------------------------------------ */

/* Has a message and a timeout in hand, says so, and is killed. */
static pid_t start_holder(fixture *p)
{
    int   ends[2];
    char  byte;
    pid_t child;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pawl_store       *store = NULL;
        pawl_queue_rows   rows;
        pawl_timeout_rows timeouts;
        pawl_queue_claim  claim = {
             .queue = TEXT("orders"), .due_max = NOW, .count_max = 10, .now = NOW};
        pawl_timeout_claim timeout = {.destination = TEXT("orders"),
                                      .due_max     = NOW,
                                      .count_max   = 10,
                                      .owner       = {uuid_of(7)},
                                      .now         = NOW,
                                      .lease       = PAWL_MINUTES(5)};
        pawl_code          code    = open_with(p, p->url, order_tables, 1, &store);
        if (code == PAWL_OK)
            code = pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error);
        if (code == PAWL_OK)
            code = pawl_store_timeout_claim(store, &timeout, p->arena, &timeouts, &p->error);
        if (code == PAWL_OK)
            code = pawl_store_queue_claim(store, &claim, p->arena, &rows, &p->error);
        if (code != PAWL_OK || timeouts.count != 1 || rows.count != 1)
            _exit(1);
        if (write(ends[1], "!", 1) == 1)
            pause();
        _exit(2);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

ON_FIXTURE(what_the_dead_had_is_taken_over, fixture *p)
{
    pawl_store        *store = open_store(p, p->url);
    pawl_timeout_rows  timeouts;
    pawl_timeout_claim timeout       = {.destination = TEXT("orders"),
                                        .due_max     = NOW,
                                        .count_max   = 10,
                                        .owner       = {uuid_of(8)},
                                        .now         = NOW,
                                        .lease       = PAWL_MINUTES(5)};
    size_t             message_count = 0, timeout_count = 0;
    add_row(p, false, "2026-01-01 00:00:00Z");
    add_row(p, true, "2026-01-01 00:00:00Z");
    pid_t child = start_holder(p);
    find_nothing(p, store, "orders");
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    int64_t slept_ms = 0; /* without the calls, which take as long as the server likes */
    while (message_count + timeout_count < 2 && slept_ms < TAKE_OVER_SECONDS * 1000) {
        pawl_next_due next;
        int64_t       begin = clock_ms();
        ok(p, pawl_store_wait(store, SLEEP, -1, &p->error));
        slept_ms += clock_ms() - begin;
        pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 10);
        message_count += rows.count;
        if (rows.count != 0)
            ok(p, settle_one(p, store, "orders", rows.items[0].seq));
        ok(p, pawl_store_timeout_claim(store, &timeout, p->arena, &timeouts, &p->error));
        timeout_count += timeouts.count;
        ok(p, pawl_store_next_due(store, TEXT("orders"), NULL, 0, &next, &p->error));
    }
    assert_int_equal(message_count, 1);
    assert_int_equal(timeout_count, 1);
}
