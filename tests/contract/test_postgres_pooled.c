/* test_postgres_pooled.c - short waits and heartbeats, which stand for LISTEN and for session
 * locks behind a pooler that gives out transactions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_sleep.h"
#include "support/tests.h"

/* ---- Behind a pooler ------------------------------------------------------------ */

/* The pooled form of the fixture's URL, or skips. */
static void pooled_url(fixture *p, char *url, size_t size)
{
    const char *pooler = getenv("PAWL_TEST_PGBOUNCER");
    if (pooler != NULL && pooler[0] != '\0') {
        snprintf(url, size, "%s%cschema=%s", pooler, strchr(pooler, '?') != NULL ? '&' : '?',
                 p->schema);
        return;
    }
    if (!server_may_be_missing("pgbouncer"))
        fail_msg("PAWL_TEST_PGBOUNCER names no server");
    print_message("PAWL_TEST_PGBOUNCER names no server\n");
    skip();
}

static pawl_store *open_pooled(fixture *p, pawl_time now)
{
    char        url[1200];
    pawl_store *store = NULL;
    pooled_url(p, url, sizeof url);
    apply_schema(p, p->url, order_tables, 1);
    ok(p, open_with(p, url, order_tables, 1, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), now, &p->error));
    store->is_attached = true;
    return store;
}

/* Nothing is listened to: a wait is over soon, whoever sent what. */
ON_FIXTURE(a_pooled_wait_is_short, fixture *p)
{
    pawl_store *store = open_pooled(p, NOW);
    sleeper     it;
    find_nothing(p, store, "orders");
    for (int i = 0; i < 3; i++) {
        lie_down(&it, store);
        expect_woken(&it);
    }
    assert_false(pawl__pg_of(store)->listens);
    raw_run(p->pg, "select pawl_send('orders', 'ping', '', due => '2026-01-01 00:00:00Z')");
    assert_int_equal(claim_some(p, store, "orders", NOW, 10).count, 1);
}

/* As if so much time had passed since the handle was last told the time. */
static void let_pass(pawl_store *store, int64_t seconds)
{
    pawl__pg *driver = pawl__pg_of(store);
    driver->last_now_ms -= seconds * 1000;
    driver->beat_ms -= seconds * 1000;
}

ON_FIXTURE(a_pooled_worker_says_that_it_lives, fixture *p)
{
    static const char is_later[] = "select \"Seen\" >= '2026-01-01 00:00:06Z' and \"Seen\" < "
                                   "'2026-01-01 00:00:30Z' from pawl_workers where \"Epoch\" > 0";
    pawl_store       *store      = open_pooled(p, NOW);
    pawl__pg_of(store)->beat_ms  = clock_ms(); /* its heartbeat was just now */
    sleep_briefly(p, store);
    expect_raw_text(
        p->pg, "select \"Seen\" = '2026-01-01 00:00:00Z' from pawl_workers where \"Epoch\" > 0",
        "t");
    let_pass(store, 6);
    sleep_briefly(p, store);
    expect_raw_text(p->pg, is_later, "t");
    /* The commit of a step that began before the heartbeat. */
    ok(p, send_one(p, store, "orders", "m-1"));
    expect_raw_text(p->pg, is_later, "t");
}

static size_t claim_timeouts(fixture *p, pawl_store *store, unsigned owner, pawl_time now)
{
    pawl_timeout_rows  rows;
    pawl_timeout_claim claim = {.destination = TEXT("orders"),
                                .due_max     = NOW,
                                .count_max   = 10,
                                .owner       = {uuid_of(owner)},
                                .now         = now,
                                .lease       = PAWL_MINUTES(5)};
    ok(p, pawl_store_timeout_claim(store, &claim, p->arena, &rows, &p->error));
    return rows.count;
}

static size_t lead_count(fixture *p, pawl_store *store, pawl_time now)
{
    pawl_lead_row *rows;
    size_t         count = 9;
    ok(p, pawl_store_lead_list(store, now, p->arena, &rows, &count, &p->error));
    return count;
}

/* The heartbeat of a worker that was seen at NOW, and is gone without a word, ends after 15 s. */
ON_FIXTURE(a_dead_pooled_worker_is_known_after_15_s, fixture *p)
{
    pawl_store *dead  = open_pooled(p, NOW);
    bool        leads = false;
    add_row(p, true, "2026-01-01 00:00:00Z");
    assert_int_equal(claim_timeouts(p, dead, 1, NOW), 1);
    ok(p, pawl_store_lead(dead, TEXT("outbox"), NOW, PAWL_SECONDS(15), &leads, &p->error));
    assert_true(leads);
    test_now(dead);
    pawl_store *early = open_pooled(p, NOW + PAWL_SECONDS(14));
    assert_int_equal(claim_timeouts(p, early, 2, NOW + PAWL_SECONDS(14)), 0);
    ok(p, pawl_store_lead(early, TEXT("outbox"), NOW + PAWL_SECONDS(14), PAWL_SECONDS(15), &leads,
                          &p->error));
    assert_false(leads);
    assert_int_equal(lead_count(p, early, NOW + PAWL_SECONDS(14)), 1);
    pawl_store *late = open_pooled(p, NOW + PAWL_SECONDS(16));
    assert_int_equal(claim_timeouts(p, late, 3, NOW + PAWL_SECONDS(16)), 1);
    assert_int_equal(lead_count(p, late, NOW + PAWL_SECONDS(16)), 0);
    ok(p, pawl_store_lead(late, TEXT("outbox"), NOW + PAWL_SECONDS(16), PAWL_SECONDS(15), &leads,
                          &p->error));
    assert_true(leads);
}

/* Its handler takes longer than 15 s: another handle beats for it, and for nobody beside it. */
ON_FIXTURE(o26_a_pooled_worker_that_takes_long_keeps_what_it_has, fixture *p)
{
    pawl_store    *slow   = open_pooled(p, NOW);
    pawl_worker_id self[] = {{uuid_of(99)}, pawl_store_worker(slow)};
    add_row(p, true, "2026-01-01 00:00:00Z");
    assert_int_equal(claim_timeouts(p, slow, 1, NOW), 1);
    pawl_store *aside = open_pooled(p, NOW + PAWL_SECONDS(10));
    ok(p, pawl_store_worker_heartbeat(aside, self, 2, NOW + PAWL_SECONDS(10), &p->error));
    pawl_store *late = open_pooled(p, NOW + PAWL_SECONDS(20));
    assert_int_equal(claim_timeouts(p, late, 2, NOW + PAWL_SECONDS(20)), 0);
    test_now(late);
    late = open_pooled(p, NOW + PAWL_SECONDS(26));
    assert_int_equal(claim_timeouts(p, late, 3, NOW + PAWL_SECONDS(26)), 1);
}

/* The heartbeat is in a transaction while another worker looks for the dead, which does not wait for it. */
ON_FIXTURE(o26_a_pooled_worker_that_beats_while_others_free_it_keeps_what_it_has, fixture *p)
{
    pawl_store *slow = open_pooled(p, NOW);
    add_row(p, true, "2026-01-01 00:00:00Z");
    assert_int_equal(claim_timeouts(p, slow, 1, NOW), 1);
    raw_run(p->pg, "begin");
    raw_run(p->pg, "update pawl_workers set \"Seen\" = '2026-01-01 00:00:16Z' where \"Epoch\" > 0");
    pawl_store *late = open_pooled(p, NOW + PAWL_SECONDS(16));
    assert_int_equal(claim_timeouts(p, late, 2, NOW + PAWL_SECONDS(16)), 0);
    raw_run(p->pg, "commit");
    pawl_store *later = open_pooled(p, NOW + PAWL_SECONDS(17));
    assert_int_equal(claim_timeouts(p, later, 3, NOW + PAWL_SECONDS(17)), 0);
}

/* The worker's row tells which of the pooler's sessions has the queue locked in a commit that does
 * not end. */
ON_FIXTURE(a_pooled_commit_that_stands_still_is_ended, fixture *p)
{
    pawl_store *first = open_pooled(p, NOW), *second = open_pooled(p, NOW);
    bool        leads = false;
    ok(p, pawl_store_lead(first, TEXT("outbox"), NOW, PAWL_SECONDS(11), &leads, &p->error));
    assert_true(leads);
    ok(p, pawl_store_handler_transaction_begin(first, &p->error));
    const char *sql = test_text("update %s.pawl_workers set \"Seen\" = \"Seen\" where \"Id\" = "
                                "(select \"Worker\" from %s.pawl_leases)",
                                p->schema, p->schema);
    raw_run(first->ops->native(first),
            "release savepoint pawl_handler"); /* as a commit does first */
    raw_run(first->ops->native(first), sql);
    raw_run(first->ops->native(first),
            test_text("lock table %s.pawl_queue in exclusive mode", p->schema));
    ok(p, pawl_store_lead(second, TEXT("outbox"), NOW + PAWL_SECONDS(11), PAWL_SECONDS(11), &leads,
                          &p->error));
    assert_true(leads);
    ok(p, send_one(p, second, "orders", "m-1"));
    expect_code(p, send_one(p, first, "orders", "m-2"), PAWL_ELOST);
    ok(p, send_one(p, first, "orders", "m-2"));
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_queue"), 2);
}

/* The value of a setting, or of what `show` says. */
static void expect_setting(pawl_store *store, const char *name, const char *wanted)
{
    char      sql[100];
    PGconn   *pg     = pawl__pg_of(store)->main.pg;
    PGresult *result = (snprintf(sql, sizeof sql, "show %s", name), PQexec(pg, sql));
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    assert_string_equal(PQgetvalue(result, 0, 0), wanted);
    PQclear(result);
}

/* Statistics of a small table would have a set of thousands scan it for each of its items. A claim
 * leaves its transaction open. */
ON_FIXTURE(a_pooled_transaction_has_the_plans_of_a_session, fixture *p)
{
    pawl_store *store = open_pooled(p, NOW);
    PGconn     *pg    = pawl__pg_of(store)->main.pg;
    ok(p, send_one(p, store, "orders", "m-1"));
    assert_int_equal(claim_some(p, store, "orders", NOW + PAWL_HOURS(1), 1).count, 1);
    assert_int_equal(PQexitPipelineMode(pg), 1);
    assert_int_equal(PQtransactionStatus(pg), PQTRANS_INTRANS);
    expect_setting(store, "enable_seqscan", "off");
    expect_setting(store, "enable_hashjoin", "off");
    expect_setting(store, "enable_mergejoin", "off");
    expect_setting(store, "enable_sort", "off");
    expect_setting(store, "plan_cache_mode", "force_generic_plan");
    expect_setting(store, "idle_in_transaction_session_timeout", "1min");
    assert_int_equal(PQenterPipelineMode(pg), 1);
}

ON_FIXTURE(a_pooled_handler_has_the_plans_of_the_server, fixture *p)
{
    pawl_store *store = open_pooled(p, NOW);
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    expect_setting(store, "enable_seqscan", "on");
    expect_setting(store, "plan_cache_mode", "auto");
    expect_setting(store, "idle_in_transaction_session_timeout", "2min");
}
