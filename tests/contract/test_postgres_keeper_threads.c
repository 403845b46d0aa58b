/* test_postgres_keeper_threads.c - the keeper of handles that lend one another their sessions, in trouble: a server that does
 * not answer it, sessions that are ended, poolers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_share.h"
#include "support/tests.h"

/* The keeper's calls to come may take as long as all that must come. */
static void be_patient(pawl_store *store)
{
    struct pawl__pg_share *share = share_of(store);
    pthread_mutex_lock(&share->keeper_mutex);
    share->keeper.sql.base.deadline_ms = ENOUGH_MS;
    share->keeper.main.deadline_ms     = ENOUGH_MS;
    pthread_mutex_unlock(&share->keeper_mutex);
}

static void lose_keeper(pawl_store *store)
{
    struct pawl__pg_share *share = share_of(store);
    pthread_mutex_lock(&share->keeper_mutex);
    share->keeper.main.is_lost = true;
    pthread_mutex_unlock(&share->keeper_mutex);
    (void)eventfd_write(share->kick_fd, 1);
}

/* The keeper has then done all that it does when it has connected. */
static void wait_for_another_keeper(fixture *p, pawl_store *store, int pid)
{
    for (int64_t end = clock_ms() + PATIENCE_MS, now = pid; now == pid || now < 0;
         now = keeper_pid(p))
        assert_true(clock_ms() < end);
    pthread_mutex_lock(&share_of(store)->keeper_mutex);
    pthread_mutex_unlock(&share_of(store)->keeper_mutex);
}

static void wait_for_keeper(pawl_store *store, bool is_away)
{
    for (int64_t end = clock_ms() + PATIENCE_MS; atomic_load(&share_of(store)->is_away) != is_away;)
        assert_true(clock_ms() < end);
}

/* The fixture's URL leads through the proxy then. */
static proxy *go_through_proxy(fixture *p)
{
    char   url[sizeof p->url];
    proxy *between = open_proxy(p);
    if (between == NULL)
        skip();
    proxy_url(p, between, url, sizeof url);
    memcpy(p->url, url, sizeof url);
    return between;
}

/* ---- A server that does not answer ---------------------------------------- */

/* The lock of those that sleep for the queue. Nobody has it then. */
static int64_t find_lock(fixture *p, const char *queue)
{
    pawl_store *store = NULL;
    ok(p, pawl_store_open(p->url, NULL, &store, &p->error));
    find_nothing(p, store, queue);
    sleep_briefly(p, store);
    int64_t lock = lock_of(store);
    pawl_store_close(store);
    wait_for_lock(p, lock, true, 0);
    return lock;
}

/* A handle that begins to sleep makes the keeper wait for a lock. Others take sessions, give them back, come and go. */
SHARED(a_call_of_the_keeper_holds_up_no_other_handle, fixture *p)
{
    pawl_store *handles[2], *more;
    sleeper     it;
    open_idle(p, handles, 2);
    be_patient(handles[0]);
    int64_t lock = find_lock(p, "billing");
    raw_run(p->pg, test_text("select pg_advisory_lock(%lld)", (long long)lock));
    more = open_more(p, p->url);
    find_nothing(p, more, "billing");
    lie_down(&it, more);
    wait_for_lock(p, lock, false, 1);
    expect_code(p, send_one(p, handles[0], "orders", "m-1"), PAWL_OK);
    pawl_queue_rows rows = claim_some(p, handles[1], "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    expect_code(p, settle_one(p, handles[1], "orders", rows.items[0].seq), PAWL_OK);
    sleep_briefly(p, handles[1]);
    expect_code(p, open_with(p, p->url, order_tables, 1, &more), PAWL_OK);
    wait_for_lock(p, lock, false, 1);
    raw_run(p->pg, test_text("select pg_advisory_unlock(%lld)", (long long)lock));
    wait_for_lock(p, lock, true, 1);
    expect_code(p, send_one(p, handles[0], "billing", "m-2"), PAWL_OK);
    expect_woken(&it);
}

typedef struct away {
    pawl_store *handles[3];
    proxy      *between;
} away;

/* The keeper connects to a server that accepts and says nothing. The last handle has never slept. */
static void begin_away(fixture *p, away *it)
{
    it->between = go_through_proxy(p);
    open_idle(p, it->handles, 2);
    be_patient(it->handles[0]);
    it->handles[2] = open_more(p, p->url);
    find_nothing(p, it->handles[2], "orders");
    int accepted = proxy_accepted(it->between);
    proxy_stall(it->between, true);
    lose_keeper(it->handles[0]);
    for (int64_t end = clock_ms() + PATIENCE_MS; proxy_accepted(it->between) == accepted;)
        assert_true(clock_ms() < end);
}

/* Nor does one that would begin to sleep wait for it. No wait is long then. */
SHARED(no_handle_waits_while_the_keeper_connects, fixture *p)
{
    away    it;
    sleeper sleepers[2];
    int64_t begin = clock_ms();
    begin_away(p, &it);
    sleep_briefly(p, it.handles[2]);
    lie_down(&sleepers[0], it.handles[0]);
    lie_down(&sleepers[1], it.handles[2]);
    expect_woken(&sleepers[0]); /* by itself, after 5 s */
    expect_woken(&sleepers[1]);
    assert_true(atomic_load(&share_of(it.handles[0])->is_away));
    assert_true(clock_ms() - begin < ENOUGH_MS);
    assert_false(pawl__pg_of(it.handles[2])->sleeps);
    proxy_stall(it.between, false);
    wait_for_keeper(it.handles[0], false);
    sleep_briefly(p, it.handles[2]);
    assert_true(pawl__pg_of(it.handles[2])->sleeps);
    test_end();
    proxy_close(it.between);
}

/* A handle that waits without locks at the keeper looks when the keeper is back: a NOTIFY is sent to nobody meanwhile. */
SHARED(a_keeper_that_is_back_wakes_those_without_locks, fixture *p)
{
    away    it;
    sleeper sleeps;
    begin_away(p, &it);
    sleep_briefly(p, it.handles[2]);
    lie_down(&sleeps, it.handles[2]);
    wait_for_waiter(it.handles[2], true);
    proxy_stall(it.between, false);
    expect_woken(&sleeps);
    assert_true(pawl__pg_of(it.handles[2])->is_woken);
    test_end();
    proxy_close(it.between);
}

/* A handle that worked meanwhile, with locks at the keeper: a NOTIFY for it was lost. */
SHARED(a_keeper_that_is_back_has_those_look_that_worked, fixture *p)
{
    pawl_store *handles[2];
    open_idle(p, handles, 2);
    find_nothing(p, handles[0], "orders");
    add_row(p, false, "2025-12-31 00:00:00Z"); /* nobody hears of it */
    int pid = keeper_pid(p);
    lose_keeper(handles[0]);
    wait_for_another_keeper(p, handles[0], pid);
    expect_does_not_sleep(p, handles[0]);
    assert_int_equal(claim_some(p, handles[0], "orders", NOW, 1).count, 1);
}

/* Idle sessions may be those of a server that is gone, and would answer nobody. */
SHARED(idle_sessions_end_with_the_keepers, fixture *p)
{
    pawl_store *handles[5];
    open_idle(p, handles, 5);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 5; i++)
            find_nothing(p, handles[i], "orders");
        for (size_t i = 0; i < 5; i++)
            sleep_briefly(p, handles[i]);
        wait_for_sessions(p, 3); /* its own, and two that are kept, in each round */
        int pid = keeper_pid(p);
        lose_keeper(handles[0]);
        wait_for_another_keeper(p, handles[0], pid);
        wait_for_sessions(p, 1);
    }
}

/* ---- Sessions that the server ends ----------------------------------------- */

/* A server that ends idle sessions after a moment ends none of pawl's. */
SHARED(a_server_that_ends_idle_sessions_ends_none_of_ours, fixture *p)
{
    pawl_store *handles[2];
    sleeper     it;
    raw_run(p->pg,
            test_text("create role %s login superuser; alter role %s set idle_session_timeout = 1",
                      p->schema, p->schema));
    size_t size = strlen(p->url);
    snprintf(p->url + size, sizeof p->url - size, "&user=%s", p->schema);
    open_idle(p, handles, 2);
    int pid = keeper_pid(p);
    lie_down(&it, handles[0]);
    for (int i = 0; i < 20; i++)
        expect_raw_text(p->pg, "select pg_sleep(0.001)", "");
    assert_int_equal(keeper_pid(p), pid);
    expect_code(p, send_one(p, handles[1], "orders", "m-1"), PAWL_OK);
    expect_woken(&it);
    test_end();
    raw_run(p->pg, test_text("reassign owned by %s to current_user; drop owned by %s; drop role %s",
                             p->schema, p->schema, p->schema));
}

/* All at once, as when the server is restarted: those that wait, and those that are lent. */
SHARED(when_all_sessions_end_all_go_on, fixture *p)
{
    pawl_store *handles[4];
    sleeper     sleepers[2];
    char        sql[300];
    open_idle(p, handles, 4);
    find_nothing(p, handles[2], "orders");
    find_nothing(p, handles[3], "orders");
    lie_down(&sleepers[0], handles[0]);
    lie_down(&sleepers[1], handles[1]);
    int pid = keeper_pid(p);
    snprintf(
        sql, sizeof sql,
        "select pg_terminate_backend(pid, %d) from pg_stat_activity where application_name = '%s'",
        PATIENCE_MS, p->schema);
    raw_run(p->pg, sql);
    expect_woken(&sleepers[0]);
    expect_woken(&sleepers[1]);
    wait_for_keeper(handles[0], false);
    assert_int_not_equal(keeper_pid(p), pid);
    expect_code(p, send_one(p, handles[2], "orders", "m-1"), PAWL_ELOST);
    expect_code(p, send_one(p, handles[2], "orders", "m-1"), PAWL_OK);
    pawl_queue_rows rows = claim_some(p, handles[0], "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    expect_code(p, settle_one(p, handles[0], "orders", rows.items[0].seq), PAWL_OK);
    for (size_t i = 0; i < 2; i++) {
        find_nothing(p, handles[i], "orders");
        lie_down(&sleepers[i], handles[i]);
    }
    wait_for_lock(p, pawl__pg_of(handles[0])->sleep_locks[0], true, 1);
    expect_code(p, send_one(p, handles[2], "orders", "m-2"), PAWL_OK);
    expect_woken(&sleepers[0]);
    expect_woken(&sleepers[1]);
}

/* The session that another has now. */
SHARED(a_handle_that_is_closed_takes_no_session_along, fixture *p)
{
    pawl_store *first = NULL, *second;
    apply_schema(p, p->url, order_tables, 1);
    ok(p, pawl_store_open(p->url, NULL, &first, &p->error));
    ok(p, pawl_store_worker_open(first, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    int pid = lent_pid(first);
    sleep_briefly(p, first);
    second = open_more(p, p->url);
    assert_int_equal(lent_pid(second), pid);
    pawl__pg *driver = pawl__pg_of(second);
    assert_int_equal(driver->main.interrupt_fd, atomic_load(&driver->wait.interrupt_fd));
    pawl_store_close(first);
    expect_code(p, send_one(p, second, "orders", "m-1"), PAWL_OK);
    assert_int_equal(claim_some(p, second, "orders", NOW, 1).count, 1);
    assert_int_equal(lent_pid(second), pid);
}

/* ---- Processes ---------------------------------------------------------------- */

/* The lease names the worker, whose lock the keeper has: it lasts while the worker has no session. */
SHARED(a_leader_without_a_session_leads, fixture *p)
{
    pawl_store *handles[2], *other;
    bool        leads = false;
    open_idle(p, handles, 2);
    ok(p, pawl_store_lead(handles[0], TEXT("outbox"), NOW, PAWL_SECONDS(15), &leads, &p->error));
    assert_true(leads);
    sleep_briefly(p, handles[0]);
    assert_null(pawl__pg_of(handles[0])->main.pg);
    const char *direct            = test_text("%s", p->url);
    *strstr(direct, "&sessions=") = '\0';
    other = open_more(p, direct); /* its first act is to free the leases of the dead */
    ok(p, pawl_store_lead(other, TEXT("outbox"), NOW, PAWL_SECONDS(15), &leads, &p->error));
    assert_false(leads);
    ok(p, pawl_store_lead(handles[0], TEXT("outbox"), NOW, PAWL_SECONDS(15), &leads, &p->error));
    assert_true(leads);
}

/* ---- Poolers ---------------------------------------------------------------- */

/* A name may lead to a pooler for a while: no session is lent then, and afterwards they are again. */
SHARED(a_pooler_that_is_gone_again_is_forgotten, fixture *p)
{
    pawl_store *handles[2];
    proxy      *between = go_through_proxy(p);
    open_idle(p, handles, 2);
    find_nothing(p, handles[0], "orders");
    proxy_fake_pids(between, true);
    kill_pid(p, lent_pid(handles[0]));
    kill_pid(p, keeper_pid(p));
    wait_for_keeper(handles[1], true);
    assert_int_not_equal(send_one(p, handles[0], "orders", "m-1"), PAWL_OK);
    refuses(p, send_one(p, handles[0], "orders", "m-1"), PAWL_ECONFIG,
            "leave sessions out of the URL");
    proxy_fake_pids(between, false);
    expect_code(p, send_one(p, handles[0], "orders", "m-1"), PAWL_OK);
    wait_for_keeper(handles[1], false);
    expect_code(p, send_one(p, handles[1], "orders", "m-2"), PAWL_OK);
    test_end();
    proxy_close(between);
}
