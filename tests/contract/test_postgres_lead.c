/* test_postgres_lead.c - the lead taken from a worker that stands still: what it had
 * under way keeps nobody waiting, and it comes back by itself (O20).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/tests.h"

#define LEASE PAWL_SECONDS(11)

static bool leads(fixture *p, pawl_store *store, pawl_time now)
{
    bool is_held = false;
    ok(p, pawl_store_lead(store, TEXT("outbox"), now, LEASE, &is_held, &p->error));
    return is_held;
}

/* The worker's row, which every commit writes first, and a saga's. */
static void make_sql(const fixture *p, const pawl_store *store, char update[300], char lock[200])
{
    char worker[PAWL_UUID_TEXT_SIZE + 1], order[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(store->worker.uuid, worker);
    pawl_uuid_format(uuid_of(1), order);
    snprintf(update, 300, "update %s.pawl_workers set \"Seen\" = \"Seen\" where \"Id\" = '%s'",
             p->schema, worker);
    snprintf(lock, 200, "select 1 from %s.\"shop_Order\" where \"Id\" = '%s' for update", p->schema,
             order);
}

/* The first one leads. */
static void begin_led(fixture *p, pair *it)
{
    begin_pair(p, it);
    assert_true(leads(p, it->first, NOW));
}

/* Its row is locked by nobody who is waited for here. */
static void expect_saga_locked(fixture *p, bool is_locked)
{
    char order[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(uuid_of(1), order);
    assert_int_equal(
        raw_number(
            p->pg,
            test_text("select count(*) from (select 1 from \"shop_Order\" where \"Id\" = '%s' "
                      "for update skip locked) as o",
                      order)),
        !is_locked);
}

/* A session of that number; one that was ended goes in a moment. */
static void wait_for_end(fixture *p, int pid)
{
    raw_wait(p->pg, test_text("select count(*) from pg_stat_activity where pid = %d", pid), 0);
}

/* As if the process were stopped: nothing more comes from it. */
static void stand_still(fixture *p, pawl_store *store)
{
    char update[300], lock[200];
    make_sql(p, store, update, lock);
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    raw_run(store->ops->native(store),
            "release savepoint pawl_handler"); /* as a commit does first */
    raw_run(store->ops->native(store), update);
    raw_run(store->ops->native(store), lock);
}

ON_TROUBLE(a_commit_that_stands_still_is_ended, fixture *p)
{
    pair            it;
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    begin_led(p, &it);
    stand_still(p, it.first);
    int pid = pid_of(it.first);
    assert_false(leads(p, it.second, NOW + LEASE - 1));
    expect_saga_locked(p, true);
    /* The one who takes the lead ends it, and none that waited for the saga before. */
    assert_true(leads(p, it.second, NOW + LEASE));
    wait_for_end(p, pid);
    expect_saga_locked(p, false);
    ok(p, pawl_store_commit(it.second, &it.changes, NULL, &p->error));
    assert_int_equal(order_version(p, 1), 2);

    expect_code(p, pawl_store_commit(it.first, &changes, NULL, &p->error), PAWL_ELOST);
    assert_int_equal(queue_count(p), 0);
    ok(p, pawl_store_commit(it.first, &changes, NULL, &p->error));
    assert_int_equal(queue_count(p), 1);
    assert_int_not_equal(pid_of(it.first), pid);
    /* The session of the lost lead disturbs nobody, and has its turn again. */
    assert_false(leads(p, it.first, NOW + LEASE + 1));
    assert_true(leads(p, it.second, NOW + LEASE + 1));
    assert_true(leads(p, it.first, NOW + 2 * LEASE + 1));
}

/* On whichever connection: of the handle, its second one, a pooler's. The server does not
 * forget a pipeline whose end never came, as it does a transaction. */
ON_TROUBLE(a_pipeline_without_its_end_is_ended, fixture *p)
{
    pair it;
    char update[300], lock[200];
    begin_led(p, &it);
    make_sql(p, it.first, update, lock);
    PGconn *pg = raw_open(p->schema);
    raw_run(pg, "set idle_in_transaction_session_timeout = 1");
    assert_int_equal(PQenterPipelineMode(pg), 1);
    assert_int_equal(PQsendQueryParams(pg, lock, 0, NULL, NULL, NULL, NULL, 0), 1);
    assert_int_equal(PQsendQueryParams(pg, update, 0, NULL, NULL, NULL, NULL, 0), 1);
    while (PQflush(pg) == 1) {
    }
    snprintf(lock, sizeof lock,
             "select count(*) from %s.pawl_workers as w join pg_stat_activity as a "
             "on a.backend_xid = w.xmax where a.pid = %d",
             p->schema, PQbackendPID(pg));
    raw_wait(p->pg, lock, 1);
    int pid = pid_of(it.first);
    expect_saga_locked(p, true);
    assert_true(leads(p, it.second, NOW + LEASE));
    wait_for_end(p, PQbackendPID(pg));
    ok(p, pawl_store_commit(it.second, &it.changes, NULL, &p->error));
    assert_int_equal(order_version(p, 1), 2);
    /* The session that was not in its way is as it was. */
    ok(p, send_one(p, it.first, "orders", "m-1"));
    assert_int_equal(pid_of(it.first), pid);
    PQfinish(pg);
}

/* In the first one's transaction; the others wait for a deadline of minutes. */
static void lock_lease(fixture *p, pair *it, const char *sql)
{
    begin_led(p, it);
    const char *text = test_text(sql, p->schema);
    ok(p, pawl_store_handler_transaction_begin(it->first, &p->error));
    raw_run(it->first->ops->native(it->first), "release savepoint pawl_handler");
    raw_run(it->first->ops->native(it->first), text);
    assert_false(leads(p, it->second, NOW + LEASE - 1));
}

#define SHORTLY_MS 20000 /* a lock is waited for half a second, by a machine that is not busy */

/* Asked again, as an endpoint does: a busy machine may take longer than the lock is waited for to end a session. */
static void expect_lead_shortly(fixture *p, pawl_store *store, pawl_time now)
{
    bool      is_held = false;
    int64_t   begin   = clock_ms();
    pawl_code code    = PAWL_EBUSY;
    while (code == PAWL_EBUSY && clock_ms() - begin < SHORTLY_MS)
        code = pawl_store_lead(store, TEXT("outbox"), now, LEASE, &is_held, &p->error);
    ok(p, code);
    assert_true(is_held);
    assert_in_range(clock_ms() - begin, 0, SHORTLY_MS);
}

static void expect_followed(fixture *p, pair *it)
{
    expect_lead_shortly(p, it->second, NOW + LEASE + 1);
    expect_code(p, send_one(p, it->first, "orders", "m-1"), PAWL_ELOST);
    ok(p, send_one(p, it->first, "orders", "m-1"));
}

/* The lease's own row is locked: it is not waited for until the deadline. */
ON_TROUBLE(o20_a_renewal_that_stands_still_is_ended, fixture *p)
{
    pair it;
    lock_lease(p, &it, "update %s.pawl_leases set \"Expires\" = now()");
    expect_followed(p, &it);
}

ON_TROUBLE(o20_a_lead_given_back_that_stands_still_is_ended, fixture *p)
{
    pair it;
    lock_lease(p, &it, "delete from %s.pawl_leases");
    expect_followed(p, &it);
}

static int64_t lease_count(fixture *p, const pawl_store *store)
{
    char worker[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(store->worker.uuid, worker);
    return raw_number(
        p->pg, test_text("select count(*) from pawl_leases where \"Worker\" = '%s'", worker));
}

/* While it holds claims: the lease goes over its second connection, and is there for others
 * whatever becomes of the claims. */
ON_TROUBLE(o20_one_with_claims_follows_as_soon, fixture *p)
{
    pair it;
    bool is_held = false;
    lock_lease(p, &it, "update %s.pawl_leases set \"Expires\" = now()");
    ok(p, send_one(p, it.second, "other", "m-1"));
    pawl_queue_rows rows = claim_some(p, it.second, "other", NOW, 1);
    assert_int_equal(rows.count, 1);
    ok(p, pawl_store_lead(it.second, TEXT("sweep"), NOW, LEASE, &is_held, &p->error));
    assert_int_equal(lease_count(p, it.second), 1);
    expect_lead_shortly(p, it.second, NOW + LEASE);
    assert_int_equal(lease_count(p, it.second), 2);
    ok(p, settle_one(p, it.second, "other", rows.items[0].seq));
}

/* The server works for it: its client is alive, or was until a moment ago. */
ON_TROUBLE(o20_a_renewal_that_is_slow_is_left_alone, fixture *p)
{
    pair    it;
    bool    is_held = true;
    PGconn *busy    = raw_open(p->schema);
    begin_led(p, &it);
    raw_run(busy, "begin; update pawl_leases set \"Expires\" = now()");
    assert_int_equal(PQsendQuery(busy, "select pg_sleep(1000)"), 1);
    raw_wait(
        p->pg,
        test_text("select count(*) from pg_stat_activity where wait_event = 'PgSleep' and pid = %d",
                  PQbackendPID(busy)),
        1);
    expect_code(p,
                pawl_store_lead(it.second, TEXT("outbox"), NOW + LEASE, LEASE, &is_held, &p->error),
                PAWL_EBUSY);
    assert_false(is_held);
    kill_pid(p, PQbackendPID(busy));
    assert_true(leads(p, it.second, NOW + LEASE));
    PQfinish(busy);
}

typedef struct try_to_lead {
    pawl_store *store;
    pawl_code   code;
    bool        is_held;
    pawl_error  error;
} try_to_lead;

static void *run_try(void *context)
{
    try_to_lead *t = context;
    t->code = pawl_store_lead(t->store, TEXT("outbox"), NOW + LEASE, LEASE, &t->is_held, &t->error);
    return NULL;
}

/* A transaction of the first one has the lease's row when the other one comes to it. */
static pawl_code meet_over_the_lease(fixture *p, pair *it, const char *sql, bool *is_held)
{
    try_to_lead t = {.store = it->second, .is_held = true};
    pthread_t   thread;
    raw_run(p->pg, "update pawl_leases set \"Expires\" = '2026-01-01'");
    raw_run(p->pg, sql);
    assert_int_equal(pthread_create(&thread, NULL, run_try, &t), 0);
    wait_for_waiting(p, 1);
    raw_run(p->pg, "commit");
    assert_int_equal(pthread_join(thread, NULL), 0);
    *is_held = t.is_held;
    return t.code;
}

/* Two find the lease free; the one that waited for the other looks again. On a busy machine
 * it may have waited for too long: once more. */
static void expect_second_look(fixture *p, pair *it, const char *sql, bool expected)
{
    bool      is_held = !expected;
    pawl_code code    = PAWL_EBUSY;
    for (int i = 0; i < 20 && code == PAWL_EBUSY; i++)
        code = meet_over_the_lease(p, it, sql, &is_held);
    ok(p, code);
    assert_int_equal(is_held, expected);
}

ON_TROUBLE(o20_of_two_that_find_it_free_one_leads, fixture *p)
{
    pair it;
    begin_led(p, &it);
    expect_second_look(p, &it, "begin; update pawl_leases set \"Expires\" = '2100-01-01'", false);
    expect_second_look(p, &it, "begin; update pawl_leases set \"Worker\" = gen_random_uuid()",
                       false);
    expect_second_look(p, &it, "begin; update pawl_leases set \"Epoch\" = \"Epoch\" + 1", false);
    expect_second_look(p, &it, "begin; select 1 from pawl_leases for update", true);
}

/* Of a lease: how often it went from one to another. */
ON_TROUBLE(o20_the_epoch_counts_take_overs, fixture *p)
{
    pair it;
    begin_led(p, &it);
    assert_int_equal(raw_number(p->pg, "select \"Epoch\" from pawl_leases"), 1);
    assert_true(leads(p, it.first, NOW + 1));
    assert_int_equal(raw_number(p->pg, "select \"Epoch\" from pawl_leases"), 1);
    assert_true(leads(p, it.second, NOW + 1 + LEASE));
    assert_int_equal(raw_number(p->pg, "select \"Epoch\" from pawl_leases"), 2);
    assert_false(leads(p, it.first, NOW + 2 + LEASE));
    assert_int_equal(raw_number(p->pg, "select \"Epoch\" from pawl_leases"), 2);
}

/* A handler may take longer than the lease lasts: what it has claimed, and its own SQL,
 * are in nobody's way. */
ON_TROUBLE(a_leader_that_is_slow_is_left_alone, fixture *p)
{
    pair it;
    begin_led(p, &it);
    int pid = pid_of(it.first);
    raw_run(p->pg, "create table mine (id integer)");
    ok(p, send_one(p, it.second, "orders", "m-1"));
    pawl_queue_rows rows = claim_some(p, it.first, "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    ok(p, pawl_store_handler_transaction_begin(it.first, &p->error));
    raw_run(it.first->ops->native(it.first),
            test_text("insert into %s.mine values (1)", p->schema));
    assert_true(leads(p, it.second, NOW + LEASE));
    ok(p, settle_one(p, it.first, "orders", rows.items[0].seq));
    assert_int_equal(raw_number(p->pg, "select count(*) from mine"), 1);
    assert_int_equal(queue_count(p), 0);
    assert_int_equal(pid_of(it.first), pid);
    assert_false(leads(p, it.first, NOW + LEASE + 1));
}

/* Whose sessions are another role's. */
ON_TROUBLE(without_the_right_the_lead_is_taken_all_the_same, fixture *p)
{
    pair it;
    begin_led(p, &it);
    raw_run(
        p->pg,
        test_text("create role \"%s\"; grant usage on schema \"%s\" to \"%s\"; "
                  "grant select, insert, update, delete on all tables in schema \"%s\" to \"%s\"",
                  p->schema, p->schema, p->schema, p->schema, p->schema));
    const char *url   = test_text("%s&options=-c%%20role%%3D%s", p->url, p->schema);
    pawl_store *other = open_more(p, url);
    stand_still(p, it.first);
    assert_true(leads(p, other, NOW + LEASE));
    raw_run(it.first->ops->native(it.first), "select 1");
    pawl_store_handler_transaction_end(it.first);
    test_end();
    raw_run(p->pg, test_text("drop owned by \"%s\"; drop role \"%s\"", p->schema, p->schema));
}

static size_t lead_count(fixture *p, pawl_store *store, pawl_time now)
{
    pawl_lead_row *rows;
    size_t         count = 9;
    ok(p, pawl_store_lead_list(store, now, p->arena, &rows, &count, &p->error));
    return count;
}

/* Long before its lease is over. */
ON_TROUBLE(a_leader_without_its_session_is_not_listed, fixture *p)
{
    pair it;
    begin_led(p, &it);
    assert_int_equal(lead_count(p, it.second, NOW), 1);
    kill_pid(p, pid_of(it.first));
    assert_int_equal(lead_count(p, it.second, NOW), 0);
}

/* The row of its lease would stay for ever. */
ON_TROUBLE(a_leader_that_closes_leaves_no_lease, fixture *p)
{
    pair it;
    begin_led(p, &it);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_leases"), 1);
    ok(p, pawl_store_worker_close(it.second, NOW, &p->error));
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_leases"), 1);
    ok(p, pawl_store_worker_close(it.first, NOW, &p->error));
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_leases"), 0);
}
