/* test_postgres_stand.c - a client that is stopped in the middle of a commit, or cut off
 * there, keeps what it has locked: whoever waited for it ends its session, and nobody
 * else's. A short request leaves in one piece, so that nobody is stopped in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "store/postgres/postgres.h"
#include "support/tests.h"

#include <dlfcn.h>

#define DEADLINE_MS 2500 /* longer than a slow client is waited for at least */

/* ---- What goes to the server, and when ---------------------------------------------- */

static int flushes; /* before the end of the pipeline that is being made */
static int flushes_at_end;
static int syncs; /* ends of pipelines */

/* The driver's calls come here, since the program is searched first. */
static int (*real_function(const char *name))(PGconn *)
{
    union {
        void *object;
        int (*function)(PGconn *);
    } found = {.object = dlsym(RTLD_NEXT, name)};
    assert_non_null(found.object);
    return found.function;
}

PAWL_API int PQflush(PGconn *pg)
{
    flushes++;
    return real_function("PQflush")(pg);
}

PAWL_API int PQpipelineSync(PGconn *pg)
{
    flushes_at_end = flushes;
    syncs++;
    return real_function("PQpipelineSync")(pg);
}

/* ---- Sessions that stand still -------------------------------------------------------- */

/* Locks the saga as a commit of that worker does, in a session of its own. */
static void lock_saga(const pawl_store *store, PGconn *pg)
{
    char worker[PAWL_UUID_TEXT_SIZE + 1], order[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(store->worker.uuid, worker);
    pawl_uuid_format(uuid_of(1), order);
    raw_run(pg, "begin");
    raw_run(pg,
            test_text("update pawl_workers set \"Seen\" = \"Seen\" where \"Id\" = '%s'", worker));
    raw_run(pg, test_text("select 1 from \"shop_Order\" where \"Id\" = '%s' for update", order));
}

static void miss_the_saga(fixture *p, pair *it)
{
    set_deadline(it->second, DEADLINE_MS);
    expect_code(p, pawl_store_commit(it->second, &it->changes, NULL, &p->error), PAWL_ETIMEOUT);
    set_deadline(it->second, ENOUGH_MS);
}

/* A statement of a pipeline whose end never comes. */
static void send_without_end(PGconn *pg, const char *sql)
{
    assert_int_equal(PQenterPipelineMode(pg), 1);
    assert_int_equal(PQsendQueryParams(pg, sql, 0, NULL, NULL, NULL, NULL, 0), 1);
    while (PQflush(pg) == 1) {
    }
}

/* Of what was sent, not of the transaction that it was sent in: that is idle until it comes. */
static void wait_for_state(fixture *p, int pid, const char *event)
{
    raw_wait(
        p->pg,
        test_text("select count(*) from pg_stat_activity where pid = %d and state = 'active' and "
                  "wait_event = '%s'",
                  pid, event),
        1);
}

#define THERE_SQL "select count(*) from pg_stat_activity where pid = %d"

static int64_t is_there(fixture *p, int pid)
{
    return raw_number(p->pg, test_text(THERE_SQL, pid));
}

/* A session that is ended leaves its locks first, and the list of sessions a moment later. */
static void wait_for_end(fixture *p, int pid)
{
    raw_wait(p->pg, test_text(THERE_SQL, pid), 0);
}

ON_TROUBLE(a_worker_stopped_in_its_commit_is_waited_for_once, fixture *p)
{
    pair    it;
    PGconn *pg = NULL;
    begin_pair(p, &it);
    pg = raw_open(p->schema);
    lock_saga(it.first, pg);
    send_without_end(pg, "select 1");
    wait_for_state(p, PQbackendPID(pg), "ClientRead");
    miss_the_saga(p, &it);
    ok(p, pawl_store_commit(it.second, &it.changes, NULL, &p->error));
    assert_int_equal(order_version(p, 1), 2);
    wait_for_end(p, PQbackendPID(pg));
    /* The session that was stopped goes on. */
    ok(p, send_one(p, it.first, "orders", "m-1"));
    PQfinish(pg);
}

/* The server works for the one; the other one is no commit. */
/* Both looks for sessions to end read the workers: neither has the whole deadline again. */
ON_TROUBLE(a_call_on_locked_workers_ends_soon_after_its_deadline, fixture *p)
{
    const int64_t deadline_ms = 4000;
    pawl_store   *store       = open_store(p, p->url);
    raw_run(p->pg, "begin");
    raw_run(p->pg, "lock table pawl_workers");
    set_deadline(store, deadline_ms);
    int64_t begun = clock_ms();
    expect_code(p, send_one(p, store, "orders", "m"), PAWL_ETIMEOUT);
    assert_true(clock_ms() - begun < 2 * deadline_ms);
    raw_run(p->pg, "rollback");
    set_deadline(store, ENOUGH_MS);
    ok(p, send_one(p, store, "orders", "m"));
}

ON_TROUBLE(one_that_works_and_one_that_is_not_ours_are_left_alone, fixture *p)
{
    pair    it;
    PGconn *busy, *other;
    begin_pair(p, &it);
    busy  = raw_open(p->schema);
    other = raw_open(p->schema);
    lock_saga(it.first, busy);
    raw_run(other, "begin; select pg_current_xact_id()");
    send_without_end(busy, "select pg_sleep(100)");
    wait_for_state(p, PQbackendPID(busy), "PgSleep");
    miss_the_saga(p, &it);
    assert_int_equal(is_there(p, PQbackendPID(busy)), 1);
    assert_int_equal(is_there(p, PQbackendPID(other)), 1);
    kill_pid(p, PQbackendPID(busy));
    PQfinish(busy);
    PQfinish(other);
}

static void *number_events(void *context)
{
    pawl_store *store = context;
    int64_t     count;
    (void)pawl_store_event_number(store, 10, &count, NULL);
    return NULL;
}

/* The lock that the store has, beside its worker's, while it numbers events. */
static int64_t find_turn(fixture *p, pawl_store *store)
{
    pthread_t thread;
    raw_run(p->pg, "begin; lock table pawl_events");
    assert_int_equal(pthread_create(&thread, NULL, number_events, store), 0);
    wait_for_waiting(p, 1);
    int64_t number = raw_number(
        p->pg,
        test_text("select classid::bigint << 32 | objid::bigint from pg_locks where pid = %d and "
                  "locktype = 'advisory' and (classid::bigint << 32 | objid::bigint) <> %lld",
                  pid_of(store), (long long)pawl__pg_of(store)->lock_number));
    raw_run(p->pg, "rollback");
    assert_int_equal(pthread_join(thread, NULL), 0);
    return number;
}

ON_TROUBLE(the_turn_to_number_events_is_not_kept_by_one_that_stands_still, fixture *p)
{
    int64_t count = -1;
    apply_schema(p, p->url, order_tables, 1);
    pawl_store *store = open_more(p, p->url);
    PGconn     *pg    = raw_open(p->schema);
    raw_run(pg, "begin");
    send_without_end(
        pg, test_text("select pg_advisory_xact_lock(%lld)", (long long)find_turn(p, store)));
    raw_wait(
        p->pg,
        test_text(
            "select count(*) from pg_locks where locktype = 'advisory' and granted and pid = %d",
            PQbackendPID(pg)),
        1);
    wait_for_state(p, PQbackendPID(pg), "ClientRead");
    set_deadline(store, DEADLINE_MS);
    expect_code(p, pawl_store_event_number(store, 10, &count, &p->error), PAWL_ETIMEOUT);
    set_deadline(store, ENOUGH_MS);
    ok(p, pawl_store_event_number(store, 10, &count, &p->error));
    assert_int_equal(count, 0);
    PQfinish(pg);
}

/* With claims it goes over the second connection. */
static void expect_lead_in_one_piece(fixture *p, pawl_store *store)
{
    bool is_held = false;
    flushes = syncs = 0;
    ok(p, pawl_store_lead(store, TEXT("outbox"), NOW, PAWL_SECONDS(10), &is_held, &p->error));
    assert_true(is_held);
    assert_int_equal(flushes_at_end, 0);
    assert_int_equal(syncs, 1);
    flushes = syncs = 0;
    ok(p, pawl_store_unlead(store, TEXT("outbox"), &p->error));
    assert_int_equal(flushes_at_end, 0);
    assert_int_equal(syncs, 1);
}

ON_TROUBLE(what_is_short_leaves_in_one_piece, fixture *p)
{
    apply_schema(p, p->url, order_tables, 1);
    pawl_store *store = open_more(p, p->url);
    int64_t     count = -1;
    expect_lead_in_one_piece(p, store);
    ok(p, send_one(p, store, "orders", "m-0"));
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 1);
    ok(p, send_one(p, store, "orders", "m-2")); /* over the second one, too */
    expect_lead_in_one_piece(p, store);
    flushes = 0;
    ok(p, pawl_store_event_number(store, 10, &count, &p->error));
    assert_int_equal(flushes_at_end, 0);
    /* The check can fail: a commit is on its way while it is made. */
    flushes = 0;
    ok(p, send_one(p, store, "orders", "m-1"));
    assert_int_not_equal(flushes_at_end, 0);
}

static pawl_code mark_one(fixture *p, pawl_store *store)
{
    return pawl_store_commit(store,
                             ONE_CHANGE(inbox_entry, NOW, .endpoint = TEXT("orders"),
                                        .message_id = TEXT("m-1"), .at = NOW),
                             NULL, &p->error);
}

/* A refusal is seldom alone: as long as they come, no commit is tried first in the form that says
 * nothing of what it refuses. */
ON_TROUBLE(of_many_refusals_the_first_alone_costs_a_round, fixture *p)
{
    apply_schema(p, p->url, order_tables, 1);
    pawl_store *store = open_more(p, p->url);
    ok(p, mark_one(p, store));
    syncs = 0;
    expect_code(p, mark_one(p, store), PAWL_EDUPLICATE);
    int first = syncs;
    for (int i = 0; i < 100; i++) {
        syncs = 0;
        expect_code(p, mark_one(p, store), PAWL_EDUPLICATE);
        assert_in_range(syncs, 1, first - 1);
    }
}

ON_TROUBLE(a_client_that_is_gone_is_noticed, fixture *p)
{
    apply_schema(p, p->url, order_tables, 1);
    pawl_store *store = open_more(p, p->url);
    PGconn     *pg    = store->ops->native(store);
    assert_int_equal(PQexitPipelineMode(pg), 1);
    PGresult *shown = PQexec(pg, "show tcp_user_timeout");
    /* A local socket has none. */
    assert_string_equal(PQgetvalue(shown, 0, 0), PQhost(pg)[0] == '/' ? "0" : "30000");
    PQclear(shown);
    assert_int_equal(PQenterPipelineMode(pg), 1);
}
