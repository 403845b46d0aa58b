/* test_postgres_share_threads.c - handles of one process that lend one another their sessions (sessions=N).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_share.h"
#include "support/tests.h"
#include "support/thread.h"

#include <sys/wait.h>

#define HANDLES 12

/* ---- Sessions ------------------------------------------------------------ */

SHARED(idle_handles_have_no_sessions, fixture *p)
{
    pawl_store *handles[HANDLES];
    open_idle(p, handles, HANDLES);
    for (size_t i = 0; i < HANDLES; i++)
        assert_null(pawl__pg_of(handles[i])->main.pg);
    wait_for_sessions(p, 2); /* the keeper's, and one that all have used in turn */
    test_end();
    wait_for_sessions(p, 0);
}

SHARED(no_more_are_kept_than_the_url_says, fixture *p)
{
    pawl_store *handles[5];
    open_idle(p, handles, 5);
    for (size_t i = 0; i < 5; i++)
        find_nothing(p, handles[i], "orders");
    wait_for_sessions(p, 6); /* all at work at once */
    for (size_t i = 0; i < 5; i++)
        sleep_briefly(p, handles[i]);
    wait_for_sessions(p, 3);
}

/* The claim's row lock is in the session's transaction: the handle keeps it, whatever it waits for. */
SHARED(a_handle_with_claims_keeps_its_session, fixture *p)
{
    pawl_store *handles[2];
    open_idle(p, handles, 2);
    expect_code(p, send_one(p, handles[1], "orders", "m-1"), PAWL_OK);
    pawl_queue_rows rows = claim_some(p, handles[0], "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    sleep_briefly(p, handles[0]);
    assert_non_null(pawl__pg_of(handles[0])->main.pg);
    assert_int_equal(claim_some(p, handles[1], "orders", NOW, 1).count, 0);
    expect_code(p, settle_one(p, handles[0], "orders", rows.items[0].seq), PAWL_OK);
    assert_int_equal(queue_count(p), 0);
}

SHARED(a_lent_session_that_ended_is_not_used, fixture *p)
{
    pawl_store *handles[2];
    open_idle(p, handles, 2);
    find_nothing(p, handles[0], "orders");
    int pid = PQbackendPID(pawl__pg_of(handles[0])->main.pg);
    sleep_briefly(p, handles[0]);
    kill_pid(p, pid);
    expect_code(p, send_one(p, handles[1], "orders", "m-1"), PAWL_OK);
    assert_int_equal(claim_some(p, handles[0], "orders", NOW, 1).count, 1);
}

/* As with a session of its own: the claims are free, and the worker goes on. */
SHARED(a_session_that_is_lost_at_work_is_replaced, fixture *p)
{
    pawl_store *handles[2];
    open_idle(p, handles, 2);
    expect_code(p, send_one(p, handles[1], "orders", "m-1"), PAWL_OK);
    pawl_queue_rows rows = claim_some(p, handles[0], "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    kill_pid(p, pid_of(handles[0]));
    pawl_code code = settle_one(p, handles[0], "orders", rows.items[0].seq);
    assert_true(code != PAWL_OK);
    assert_int_equal(queue_count(p), 1);
    rows = claim_some(p, handles[0], "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    expect_code(p, settle_one(p, handles[0], "orders", rows.items[0].seq), PAWL_OK);
}

/* A session that stands still with a claim while its handle believes it lost: it is ended, so the row is free. */
SHARED(a_lost_session_gives_its_rows_back, fixture *p)
{
    pawl_store *handles[2];
    open_idle(p, handles, 2);
    expect_code(p, send_one(p, handles[1], "orders", "m-1"), PAWL_OK);
    assert_int_equal(claim_some(p, handles[0], "orders", NOW, 1).count, 1);
    pawl__pg *driver     = pawl__pg_of(handles[0]);
    PGconn   *left       = driver->main.pg;
    driver->main.pg      = NULL;
    driver->main.is_lost = true;
    patience wait        = patience_of(THREAD_SECONDS); /* the server ends the session by itself */
    while (claim_some(p, handles[0], "orders", NOW, 1).count == 0)
        patience_wait(&wait, "the row of a lost session is not free");
    PQfinish(left);
}

/* A worker whose thread was given up: another handle ends it in its name. */
SHARED(a_worker_that_is_ended_loses_its_claims, fixture *p)
{
    pawl_store *handles[2];
    open_idle(p, handles, 2);
    expect_code(p, send_one(p, handles[1], "orders", "m-1"), PAWL_OK);
    pawl_queue_rows rows = claim_some(p, handles[0], "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    pawl_store *by = NULL;
    expect_code(p, open_with(p, p->url, order_tables, 1, &by), PAWL_OK);
    pawl_store_worker_set(by, pawl_store_worker(handles[0]));
    expect_code(p, pawl_store_worker_open(by, TEXT("orders"), TEXT("[]"), NOW, &p->error), PAWL_OK);
    assert_int_equal(claim_some(p, handles[1], "orders", NOW, 1).count, 1);
    assert_int_not_equal(settle_one(p, handles[0], "orders", rows.items[0].seq), PAWL_OK);
    assert_int_equal(queue_count(p), 1);
}

/* ---- Liveness ------------------------------------------------------------ */

static size_t dead_count(fixture *p, pawl_store *store)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    expect_code(p, pawl_store_worker_crashed(store, p->arena, &items, &count, &p->error), PAWL_OK);
    return count;
}

SHARED(workers_without_a_session_live, fixture *p)
{
    pawl_store *handles[3];
    int         go[2];
    assert_int_equal(pipe(go), 0);
    pid_t child = fork(); /* before this process has a keeper's thread */
    assert_true(child >= 0);
    if (child == 0) {
        char byte;
        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        pawl_store *own = open_more(p, p->url);
        find_nothing(p, own, "orders");
        sleep_briefly(p, own);
        _exit(0);
    }
    open_idle(p, handles, 3);
    const char *direct            = test_text("%s", p->url);
    *strstr(direct, "&sessions=") = '\0';
    pawl_store *other             = open_more(p, direct);
    assert_int_equal(dead_count(p, other), 0);
    assert_int_equal(write(go[1], "!", 1), 1);
    close(go[0]);
    close(go[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int64_t until = clock_ms() + PATIENCE_MS; dead_count(p, other) != 1;)
        assert_true(clock_ms() < until);
}

SHARED(a_keeper_that_is_lost_takes_all_locks_again, fixture *p)
{
    pawl_store *handles[3];
    open_idle(p, handles, 3);
    pawl_store *other = open_more(p, p->url);
    sleeper     it;
    lie_down(&it, handles[0]);
    int64_t lock = pawl__pg_of(handles[1])->sleep_locks[0];
    wait_for_lock(p, lock, true, 1);
    kill_pid(p, keeper_pid(p));
    expect_woken(&it); /* a NOTIFY may have been lost */
    find_nothing(p, handles[0], "orders");
    lie_down(&it, handles[0]);
    wait_for_lock(p, lock, true, 1);
    assert_int_equal(dead_count(p, other), 0);
    expect_code(p, send_one(p, other, "orders", "m-1"), PAWL_OK);
    expect_woken(&it);
}

/* A session that shows life, and what the handles had in it, are told apart: nobody of the process is dead. */
SHARED(without_its_keeper_nobody_is_dead, fixture *p)
{
    pawl_store *handles[2];
    open_idle(p, handles, 2);
    find_nothing(p, handles[0], "orders");
    struct pawl__pg_share *share = share_of(handles[0]);
    pthread_mutex_lock(&share->keeper_mutex); /* its thread cannot connect again */
    atomic_store(&share->is_away, true);
    kill_pid(p, PQbackendPID(share->keeper.main.pg));
    assert_int_equal(dead_count(p, handles[0]), 0);
    pthread_mutex_unlock(&share->keeper_mutex);
}

/* Settings, temporary tables and locks of a handler's own SQL are no other handler's. */
SHARED(a_session_of_a_handler_is_not_lent, fixture *p)
{
    pawl_store *handles[2];
    open_idle(p, handles, 2);
    find_nothing(p, handles[0], "orders");
    assert_non_null(pawl_store_native(handles[0], "PGconn"));
    sleep_briefly(p, handles[0]);
    assert_non_null(pawl__pg_of(handles[0])->main.pg);
    find_nothing(p, handles[1], "orders");
    assert_ptr_not_equal(pawl__pg_of(handles[0])->main.pg, pawl__pg_of(handles[1])->main.pg);
}

/* ---- Waking -------------------------------------------------------------- */

SHARED(a_message_wakes_the_handle_of_its_queue, fixture *p)
{
    pawl_store *handles[2], *other;
    handles[0] = open_sleeper(p, "orders");
    handles[1] = open_more(p, p->url);
    find_nothing(p, handles[1], "billing");
    sleep_briefly(p, handles[1]);
    set_check(handles[0], NEVER);
    other = open_more(p, p->url);
    sleeper it[2];
    lie_down(&it[0], handles[0]);
    lie_down(&it[1], handles[1]);
    expect_code(p, send_one(p, other, "orders", "m-1"), PAWL_OK);
    expect_woken(&it[0]);
    assert_int_equal(claim_some(p, handles[0], "orders", NOW, 1).count, 1);
    expect_sleeps_on(p, handles[0]); /* the wake-up counts once */
    assert_int_not_equal(pthread_tryjoin_np(it[1].thread, NULL), 0);
    expect_code(p, send_one(p, other, "billing", "m-2"), PAWL_OK);
    expect_woken(&it[1]);
    assert_int_equal(claim_some(p, handles[1], "billing", NOW, 1).count, 1);
}

/* A NOTIFY while the handle works is found when it goes to sleep. */
SHARED(a_message_that_came_before_the_wait_is_not_slept_through, fixture *p)
{
    pawl_store *handles[2];
    open_idle(p, handles, 2);
    find_nothing(p, handles[0], "orders");
    expect_code(p, send_one(p, handles[1], "orders", "m-1"), PAWL_OK);
    expect_does_not_sleep(p, handles[0]);
    assert_int_equal(claim_some(p, handles[0], "orders", NOW, 1).count, 1);
}

/* Of too many queues to name. */
SHARED(a_notify_for_all_wakes_all, fixture *p)
{
    pawl_store *handles[2];
    sleeper     it;
    open_idle(p, handles, 2);
    lie_down(&it, handles[0]);
    raw_run(p->pg, test_text("select pg_notify('%s', '')", pawl__pg_of(handles[1])->channel));
    expect_woken(&it);
}

/* A send of this process is told by the descriptor: the next claim looks from the beginning. */
SHARED(what_the_caller_wakes_by_looks, fixture *p)
{
    pawl_store *handles[1];
    open_idle(p, handles, 1);
    find_nothing(p, handles[0], "orders");
    int wake_fd = eventfd(1, EFD_CLOEXEC);
    assert_false(pawl__pg_of(handles[0])->is_woken);
    ok(p, pawl_store_wait(handles[0], SLEEP, wake_fd, &p->error));
    assert_true(pawl__pg_of(handles[0])->is_woken);
    close(wake_fd);
}

/* Its commit came before the locks, and sent no NOTIFY. */
SHARED(an_event_of_before_the_wait_is_not_slept_through, fixture *p)
{
    pawl_store      *reader = open_store(p, p->url), *other = open_more(p, p->url);
    pawl_event_query query = {.is_by_position = true};
    pawl_event_rows  rows;
    int64_t          count = -1;
    ok(p, pawl_store_event_list(reader, &query, p->arena, &rows, &p->error));
    append_event(p, other, 1);
    ok(p, pawl_store_event_number(other, 100, &count, &p->error));
    assert_int_equal(count, 1);
    expect_does_not_sleep(p, reader);
}

SHARED(a_row_that_nobody_told_of_is_found_by_the_keeper, fixture *p)
{
    pawl_store *handles[2];
    open_idle(p, handles, 2);
    sleeper it;
    lie_down(&it, handles[0]);
    add_row(p, false, "2025-12-31 00:00:00Z");
    set_check(handles[1], 0);
    expect_woken(&it);
    assert_int_equal(claim_some(p, handles[0], "orders", NOW, 1).count, 1);
}

SHARED(an_interrupt_ends_the_wait, fixture *p)
{
    pawl_store *handles[1];
    sleeper     it;
    open_idle(p, handles, 1);
    lie_down(&it, handles[0]);
    do
        pawl_store_interrupt(handles[0]);
    while (pthread_tryjoin_np(it.thread, NULL) != 0);
    assert_int_equal(it.code, PAWL_EINTERRUPTED);
    find_nothing(p, handles[0], "orders");
}

/* ---- The URL ------------------------------------------------------------- */

SHARED(a_number_of_sessions_has_bounds, fixture *p)
{
    static const char *const wrong[] = {"&sessions=", "&sessions=0", "&sessions=1001",
                                        "&sessions=two", "&sessions=-1"};
    char                     url[sizeof p->url + 40];
    pawl_store              *store = NULL;
    *strstr(p->url, "&sessions=")  = '\0';
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(url, sizeof url, "%s%s", p->url, wrong[i]);
        refuses(p, open_with(p, url, NULL, 0, &store), PAWL_ECONFIG, "may be 1 to 1000");
    }
    snprintf(url, sizeof url, "%s&sessions=2&pooler=transaction", p->url);
    refuses(p, open_with(p, url, NULL, 0, &store), PAWL_ECONFIG, "leave sessions out of the URL");
}
