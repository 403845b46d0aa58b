/* test_postgres_lead.c - the lead taken from a worker that stands still: what it had
 * under way keeps nobody waiting, and it comes back by itself (contracts O20).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_HAVE_POSTGRES
#include <stdio.h>

int main(void)
{
    puts("skipped: built without libpq");
    return 77;
}
#else

#include "contract/postgres_trouble.h"

#define LEASE PAWL_SECONDS(11)

static bool leads(place *p, pawl_store *store, pawl_time now)
{
    bool is_held = false;
    expect_code(p, store->ops->lead(store, TEXT("outbox"), now, LEASE, &is_held, &p->error),
                PAWL_OK);
    return is_held;
}

/* The worker's row, which every commit writes first, and a saga's. */
static void make_sql(const place *p, const pawl_store *store, char update[300], char lock[200])
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
static void begin_led(place *p, pair *it)
{
    begin_pair(p, it);
    assert_true(leads(p, it->first, NOW));
}

/* The saga is locked. */
static void miss_the_saga(place *p, pair *it)
{
    set_deadline(it->second, SHORT_MS);
    expect_code(p, pawl_store_commit(it->second, &it->changes, NULL, &p->error), PAWL_ETIMEOUT);
    set_deadline(it->second, ENOUGH_MS);
}

/* As if the process were stopped: nothing more comes from it. */
static void stand_still(place *p, pawl_store *store)
{
    char update[300], lock[200];
    make_sql(p, store, update, lock);
    expect_code(p, store->ops->hold_begin(store, &p->error), PAWL_OK);
    raw_run(store->ops->native(store), update);
    raw_run(store->ops->native(store), lock);
}

static void a_commit_that_stands_still_is_ended(void **state)
{
    place          *p = *state;
    pair            it;
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    begin_led(p, &it);
    stand_still(p, it.first);
    int pid = pid_of(it.first);
    assert_false(leads(p, it.second, NOW + LEASE - 1));
    miss_the_saga(p, &it);
    assert_true(leads(p, it.second, NOW + LEASE));
    expect_code(p, pawl_store_commit(it.second, &it.changes, NULL, &p->error), PAWL_OK);
    assert_int_equal(order_version(p, 1), 2);

    expect_code(p, pawl_store_commit(it.first, &changes, NULL, &p->error), PAWL_ELOST);
    assert_int_equal(queue_count(p), 0);
    expect_code(p, pawl_store_commit(it.first, &changes, NULL, &p->error), PAWL_OK);
    assert_int_equal(queue_count(p), 1);
    assert_int_not_equal(pid_of(it.first), pid);
    /* It disturbs nobody, and has its turn again. */
    assert_false(leads(p, it.first, NOW + LEASE + 1));
    assert_true(leads(p, it.second, NOW + LEASE + 1));
    assert_true(leads(p, it.first, NOW + 2 * LEASE + 1));
    end_pair(&it);
}

/* On whichever connection: of the handle, its second one, a pooler's. The server does not
 * forget a pipeline whose end never came, as it does a transaction. */
static void a_pipeline_without_its_end_is_ended(void **state)
{
    place *p = *state;
    pair   it;
    char   update[300], lock[200];
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
    miss_the_saga(p, &it);
    assert_true(leads(p, it.second, NOW + LEASE));
    expect_code(p, pawl_store_commit(it.second, &it.changes, NULL, &p->error), PAWL_OK);
    assert_int_equal(order_version(p, 1), 2);
    /* What was not in its way is as it was. */
    expect_code(p, send_one(p, it.first, "orders", "m-1"), PAWL_OK);
    assert_int_equal(pid_of(it.first), pid);
    PQfinish(pg);
    end_pair(&it);
}

/* The lease itself is locked: whoever tries to take it waits, once. */
static void a_renewal_that_stands_still_is_ended(void **state)
{
    place *p = *state;
    pair   it;
    bool   is_held = false;
    char   sql[200];
    begin_led(p, &it);
    pawl_store *hasty = open_more(p, p->url);
    snprintf(sql, sizeof sql, "update %s.pawl_leases set \"Expires\" = now()", p->schema);
    expect_code(p, it.first->ops->hold_begin(it.first, &p->error), PAWL_OK);
    raw_run(it.first->ops->native(it.first), sql);
    assert_false(leads(p, hasty, NOW + LEASE - 1));
    set_deadline(hasty, SHORT_MS);
    expect_code(p, hasty->ops->lead(hasty, TEXT("outbox"), NOW + LEASE, LEASE, &is_held, &p->error),
                PAWL_ETIMEOUT);
    set_deadline(hasty, ENOUGH_MS);
    assert_false(is_held);
    assert_true(leads(p, hasty, NOW + LEASE));
    expect_code(p, send_one(p, it.first, "orders", "m-1"), PAWL_ELOST);
    expect_code(p, send_one(p, it.first, "orders", "m-1"), PAWL_OK);
    pawl_store_close(hasty);
    end_pair(&it);
}

/* A handler may take longer than the lease lasts: what it has claimed, and its own SQL,
 * are in nobody's way. */
static void a_leader_that_is_slow_is_left_alone(void **state)
{
    place *p = *state;
    pair   it;
    begin_led(p, &it);
    int pid = pid_of(it.first);
    raw_run(p->pg, "create table mine (id integer)");
    expect_code(p, send_one(p, it.second, "orders", "m-1"), PAWL_OK);
    pawl_queue_rows rows = claim_some(p, it.first, "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    expect_code(p, it.first->ops->hold_begin(it.first, &p->error), PAWL_OK);
    char sql[100];
    snprintf(sql, sizeof sql, "insert into %s.mine values (1)", p->schema);
    raw_run(it.first->ops->native(it.first), sql);
    assert_true(leads(p, it.second, NOW + LEASE));
    expect_code(p, settle_one(p, it.first, "orders", rows.items[0].seq), PAWL_OK);
    assert_int_equal(raw_number(p->pg, "select count(*) from mine"), 1);
    assert_int_equal(queue_count(p), 0);
    assert_int_equal(pid_of(it.first), pid);
    assert_false(leads(p, it.first, NOW + LEASE + 1));
    end_pair(&it);
}

/* Whose sessions are another role's. */
static void without_the_right_the_lead_is_taken_all_the_same(void **state)
{
    place *p = *state;
    pair   it;
    char   sql[400], url[1400];
    begin_led(p, &it);
    snprintf(sql, sizeof sql,
             "create role \"%s\"; grant usage on schema \"%s\" to \"%s\"; "
             "grant select, insert, update, delete on all tables in schema \"%s\" to \"%s\"",
             p->schema, p->schema, p->schema, p->schema, p->schema);
    raw_run(p->pg, sql);
    snprintf(url, sizeof url, "%s&options=-c%%20role%%3D%s", p->url, p->schema);
    pawl_store *other = open_more(p, url);
    stand_still(p, it.first);
    assert_true(leads(p, other, NOW + LEASE));
    raw_run(it.first->ops->native(it.first), "select 1");
    it.first->ops->hold_end(it.first);
    pawl_store_close(other);
    end_pair(&it);
    snprintf(sql, sizeof sql, "drop owned by \"%s\"; drop role \"%s\"", p->schema, p->schema);
    raw_run(p->pg, sql);
}

static size_t lead_count(place *p, pawl_store *store, pawl_time now)
{
    pawl_lead_row *rows;
    size_t         count = 9;
    expect_code(p, store->ops->lead_list(store, now, p->arena, &rows, &count, &p->error), PAWL_OK);
    return count;
}

/* Long before its lease is over. */
static void a_leader_without_its_session_is_not_listed(void **state)
{
    place *p = *state;
    pair   it;
    begin_led(p, &it);
    assert_int_equal(lead_count(p, it.second, NOW), 1);
    kill_pid(p, pid_of(it.first));
    assert_int_equal(lead_count(p, it.second, NOW), 0);
    end_pair(&it);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, trouble_setup, place_teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_commit_that_stands_still_is_ended),
        CASE(a_pipeline_without_its_end_is_ended),
        CASE(a_renewal_that_stands_still_is_ended),
        CASE(a_leader_that_is_slow_is_left_alone),
        CASE(without_the_right_the_lead_is_taken_all_the_same),
        CASE(a_leader_without_its_session_is_not_listed),
    };
    if (place_server() == NULL)
        return place_skip();
    return cmocka_run_group_tests_name("postgres_lead", tests, NULL, NULL);
}

#endif
