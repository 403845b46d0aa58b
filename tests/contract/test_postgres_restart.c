/* test_postgres_restart.c - a server of the test's own that stops, crashes and
 * comes back, and that asks for a password.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/own_server.h"
#include "contract/postgres_trouble.h"
#include "support/tests.h"

#define SECRET "Se-kret"

/* The database without pawl: raw_open connects to what the environment names. */
static bool begin_server(void)
{
    if (!own_server_begin("postgres", 1))
        return false;
    return setenv("PAWL_TEST_POSTGRES",
                  test_text("postgres://postgres:" SECRET "@127.0.0.1:%d/postgres", own.port),
                  1) == 0;
}

static void expect_no_secret(const fixture *p)
{
    if (strstr(p->error.text, SECRET) != NULL)
        fail_msg("'%s' shows a password", p->error.text);
}

/* Nothing was applied, and the text says why. */
static void expect_no_server(fixture *p, pawl_code code, pawl_code expected, const char *part)
{
    refuses(p, code, expected, part);
    expect_no_secret(p);
}

/* The fixture's own connection, which the server ended too. */
static void reopen(fixture *p)
{
    PQfinish(p->pg);
    p->pg = raw_open(p->schema);
}

/* ---- Stopping and starting ---------------------------------------------- */

static void try_end(fixture *p, pawl_store *store, const char *verb, const char *id)
{
    pawl_queue_rows rows;
    ok(p, send_one(p, store, "orders", id));
    rows = claim_some(p, store, "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    own_server_must_run(verb, "");
    expect_no_server(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error),
                     PAWL_ELOST, "postgres: ");
    expect_no_server(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error),
                     PAWL_EUNREACHABLE, "Connection refused");
    expect_text(p, "postgres:***@127.0.0.1");
    expect_no_server(p, send_one(p, store, "orders", "lost"), PAWL_EUNREACHABLE, "refused");
    expect_no_server(p, pawl_store_wait(store, 1, -1, &p->error), PAWL_EUNREACHABLE, "refused");
    own_server_must_run("start", "");
    reopen(p);
    assert_int_equal(queue_count(p), 1);
    rows = claim_some(p, store, "orders", NOW, 9);
    assert_int_equal(rows.count, 1);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    assert_int_equal(queue_count(p), 0);
}

ON_TROUBLE(a_handle_outlives_its_server, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    try_end(p, store, "stop", "m-1");
    try_end(p, store, "crash", "m-2");
    try_end(p, store, "stop", "m-3");
}

/* The server goes while a commit waits in it. */
ON_TROUBLE(a_commit_meets_the_end_of_the_server, fixture *p)
{
    pawl_store      *store   = open_store(p, p->url);
    pawl_saga_update update  = begin_order(p, store, 1);
    pawl_changes     changes = one_update(&update);
    job              commit;
    set_deadline(store, ENOUGH_MS); /* the server has to come back within it */
    lock_order(p, 1);
    start_job(p, &commit, store, &changes);
    wait_for_waiting(p, 1);
    own_server_must_run("crash", "");
    own_server_must_run("start", "");
    expect_job(p, &commit, PAWL_ELOST);
    expect_no_secret(p);
    reopen(p);
    assert_int_equal(order_version(p, 1), 1);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    assert_int_equal(order_version(p, 1), 2);
}

/* ---- A standby ---------------------------------------------------------- */

static void set_standby(const fixture *p, const char *name)
{
    const char *sql = test_text("alter system set synchronous_standby_names = '%s'", name);
    raw_run(p->pg, "set synchronous_commit = local");
    raw_run(p->pg, sql);
    raw_run(p->pg, "select pg_reload_conf()");
    raw_wait(p->pg,
             test_text("select (current_setting('synchronous_standby_names') = '%s')::int", name),
             1);
}

/* Whether a commit on this connection waits for the standby, instead of being over. */
static bool waits_for_standby(const fixture *p, PGconn *pg)
{
    int64_t     end = clock_ms() + PATIENCE_MS;
    const char *sql =
        test_text("select count(*) from pg_stat_activity where pid = %d and wait_event = 'SyncRep'",
                  PQbackendPID(pg));
    assert_int_equal(PQsendQuery(pg, "select pg_logical_emit_message(true, 'pawl', '')"), 1);
    while (clock_ms() < end) {
        if (raw_number(p->pg, sql) == 1)
            return true;
        assert_int_equal(PQconsumeInput(pg), 1);
        if (!PQisBusy(pg))
            break;
    }
    if (PQisBusy(pg))
        fail_msg("a commit neither waits for a standby nor ends");
    for (PGresult *result = PQgetResult(pg); result != NULL; result = PQgetResult(pg))
        PQclear(result);
    return false;
}

/* Commits wait for a standby of that name; there is none. The checkpointer says so to all
 * sessions, at a time of its own: behind the sessions that have read the setting already. */
static void lose_standby(const fixture *p)
{
    PGconn *pg  = raw_open(p->schema);
    int64_t end = clock_ms() + PATIENCE_MS;
    set_standby(p, "away");
    while (!waits_for_standby(p, pg))
        if (clock_ms() > end)
            fail_msg("no commit waits for a standby");
    PQfinish(pg);
}

/* A failed test leaves no server whose commits wait for ever. */
static int standby_teardown(void **state)
{
    set_standby(*state, "");
    return fixture_teardown(state);
}

/* A commit that no standby has is not said to stand, not even when the server, asked to
 * cancel, says so. */
TESTS(a_commit_without_its_standby_is_unknown, fixture *p,
      FIXTURE_ROW(a_commit_without_its_standby_is_unknown, trouble_setup, standby_teardown))
{
    pawl_queue_rows rows;
    pawl_store     *store = open_store(p, p->url);
    ok(p, send_one(p, store, "orders", "m-1"));
    lose_standby(p);
    set_deadline(store, 1000); /* its outcome is asked for by a new connection within that time */
    refuses(p, send_one(p, store, "orders", "m-2"), PAWL_EUNKNOWN,
            "the synchronous standby did not confirm the commit in time");
    set_standby(p, "");
    ok(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error));
    test_now(store);
    store = open_more(p, p->url);
    ok(p, send_one(p, store, "orders", "m-2"));
    ok(p, send_one(p, store, "orders", "m-3"));
    /* Other warnings say nothing of a standby. */
    raw_run(p->pg, "create function warn() returns trigger language plpgsql as "
                   "$$ begin raise warning 'look'; return null; end $$");
    raw_run(p->pg, "create trigger warn after insert on pawl_queue execute function warn()");
    int pid = pid_of(store);
    ok(p, send_one(p, store, "orders", "m-4"));
    assert_int_equal(queue_count(p), 4);
    assert_int_equal(pid_of(store), pid);
}

/* The set is durable then: what comes behind the commit cannot undo it. */
ON_TROUBLE(a_wake_up_that_fails_is_no_failure, fixture *p)
{
    apply_schema(p, p->url, order_tables, 1);
    raw_run(p->pg, test_text("create role quiet login; grant usage on schema %s to quiet; "
                             "grant all on all tables in schema %s to quiet; "
                             "grant all on all sequences in schema %s to quiet; "
                             "revoke execute on function pg_notify(text, text) from public",
                             p->schema, p->schema, p->schema));
    const char *url   = test_text("%s&user=quiet", p->url);
    pawl_store *store = open_more(p, url);
    ok(p, send_one(p, store, "orders", "m-1"));
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    ok(p, send_one(p, store, "orders", "m-2"));
    assert_int_equal(queue_count(p), 2);
    test_now(store);
    raw_run(p->pg, "grant execute on function pg_notify(text, text) to public");
    raw_run(p->pg, "drop owned by quiet; drop role quiet");
}

/* ---- Passwords ---------------------------------------------------------- */

/* The server reads its settings a moment after it was told to. */
static void wait_for_refusal(const char *user)
{
    bool        is_refused = false;
    int64_t     end        = clock_ms() + PATIENCE_MS;
    const char *url        = test_text("postgres://%s@127.0.0.1:%d/postgres", user, own.port);
    while (!is_refused) {
        PGconn *pg = PQconnectdb(url);
        is_refused = PQstatus(pg) != CONNECTION_OK;
        PQfinish(pg);
        if (clock_ms() > end)
            fail_msg("%s needs no password", user);
    }
}

ON_TROUBLE(a_wrong_password_is_refused, fixture *p)
{
    pawl_store *store = NULL;
    raw_run(p->pg, "create role clerk login superuser password 'right'");
    assert_int_equal(
        system(test_text(
            "echo 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256' "
            ">'%s/data/pg_hba.conf'",
            own.folder)),
        0);
    raw_run(p->pg, "select pg_reload_conf()");
    wait_for_refusal("clerk");
    apply_schema(p, p->url, NULL, 0);
    expect_no_server(
        p,
        open_with(p,
                  test_text("postgres://clerk:" SECRET "@127.0.0.1:%d/postgres?schema=%s", own.port,
                            p->schema),
                  NULL, 0, &store),
        PAWL_EDENIED, "password authentication failed for user \"clerk\"");
    expect_no_server(p,
                     open_with(p,
                               test_text("postgres://clerk@127.0.0.1:%d/postgres?schema=%s",
                                         own.port, p->schema),
                               NULL, 0, &store),
                     PAWL_EDENIED, "no password supplied");
    ok(p, open_with(p,
                    test_text("postgres://clerk:right@127.0.0.1:%d/postgres?schema=%s", own.port,
                              p->schema),
                    NULL, 0, &store));
}

int main(void)
{
    if (fixture_server() == NULL)
        return fixture_skip();
    if (!begin_server()) {
        own_server_end();
        puts("skipped: no server of the test's own can be started here");
        return 77;
    }
    int result = tests_run(NULL, NULL);
    own_server_end();
    return result;
}
