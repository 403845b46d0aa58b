/* test_postgres_diagnose.c - findings about a PostgreSQL server, its settings, the role's rights
 * and those who hold work up, and the remedies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_fixture.h"
#include "support/tests.h"

#include "contract/findings.h"

static pawl_store *open_at(fixture *p, const char *more)
{
    pawl_store *store = NULL;
    apply_schema(p, p->url, NULL, 0);
    const char *url = test_text("%s%s", p->url, more);
    ok(p, open_with(p, url, NULL, 0, &store));
    return store;
}

ON_FIXTURE(a_server_that_is_well, fixture *p)
{
    pawl_store       *store = open_at(p, "");
    pawl_finding_rows rows  = diagnose(p, store);
    expect_no_failure(&rows);
    expect_finding(&rows, "rights", PAWL_FINDING_OK, "may do what a worker does", NULL);
    expect_finding(&rows, "clock", PAWL_FINDING_OK, "agree", NULL);
    expect_finding(&rows, "notify", PAWL_FINDING_OK, "took", NULL);
    expect_finding(&rows, "pooler", PAWL_FINDING_OK, "own", NULL);
    expect_finding(&rows, "transactions", PAWL_FINDING_OK, "none", NULL);
    expect_finding(&rows, "indexes", PAWL_FINDING_OK, "valid", NULL);
}

ON_FIXTURE(a_clock_that_is_off, fixture *p)
{
    pawl_store *store = open_at(p, "");
    expect_clock(p, store, -PAWL_SECONDS(2), PAWL_FINDING_WARN, "clock is 2.");
    expect_clock(p, store, PAWL_SECONDS(3600), PAWL_FINDING_FAIL, "behind this one's");
}

ON_FIXTURE(settings_that_do_harm, fixture *p)
{
    pawl_store       *store = open_at(p, "&options=-c%20synchronous_commit%3Doff%20-c%20"
                                               "default_transaction_isolation%3Dserializable");
    pawl_finding_rows rows  = diagnose(p, store);
    expect_finding(&rows, "synchronous_commit", PAWL_FINDING_WARN, "off: commits", "psql -h ");
    expect_finding(&rows, "synchronous_commit", PAWL_FINDING_WARN, "off: commits",
                   "set synchronous_commit = on");
    expect_finding(&rows, "isolation", PAWL_FINDING_WARN, "serializable",
                   "set default_transaction_isolation = ");
}

ON_FIXTURE(a_session_that_may_not_write, fixture *p)
{
    pawl_store       *store = open_at(p, "&options=-c%20default_transaction_read_only%3Don");
    pawl_finding_rows rows  = diagnose(p, store);
    expect_finding(&rows, "read_only", PAWL_FINDING_FAIL, "refused",
                   "set default_transaction_read_only = off");
}

ON_FIXTURE(a_notify_that_is_refused, fixture *p)
{
    static const char *const states[][2] = {
        {"54000", "select pg_notification_queue_usage()"},
        {"42501", "grant execute on function pg_notify(text, text) to public"}};
    pawl_store *store = NULL;
    store = open_at(p, test_text("&options=-c%%20search_path%%3D%s,pg_catalog", p->schema));
    for (size_t i = 0; i < COUNT(states); i++) {
        raw_run(
            p->pg,
            test_text(
                "create or replace function pg_notify(text, text) returns void language plpgsql "
                "as $$ begin raise 'not today' using errcode = '%s'; end $$",
                states[i][0]));
        pawl_finding_rows rows = diagnose(p, store);
        expect_finding(&rows, "notify", PAWL_FINDING_FAIL,
                       "refuses LISTEN or NOTIFY: ", states[i][1]);
    }
}

/* By the name that it gave itself, and by its age. */
ON_FIXTURE(a_transaction_that_stays_open, fixture *p)
{
    pawl_store       *store = open_at(p, "");
    PGconn           *other = raw_open(p->schema);
    pawl_diagnosis    asked = {.now = pawl_clock_now(NULL)};
    pawl_finding_rows rows;
    raw_run(other, "set application_name = 'the night report'");
    raw_run(other, "begin");
    raw_run(other, "select 1");
    rows = diagnose_as(p, store, asked);
    expect_finding(&rows, "transactions", PAWL_FINDING_FAIL, "the night report (user",
                   test_text("select pg_terminate_backend(%d)", PQbackendPID(other)));
    rows = diagnose(p, store); /* younger than an hour */
    expect_finding(&rows, "transactions", PAWL_FINDING_OK, "none is open for long", NULL);
    PQfinish(other);
}

/* The end of its session would make another worker run the message at once. */
ON_FIXTURE(a_handler_that_runs_for_long, fixture *p)
{
    pawl_store          *look = open_at(p, ""), *worker = NULL;
    const pawl_diagnosis asked = {.now = pawl_clock_now(NULL)};
    ok(p, open_with(p, p->url, NULL, 0, &worker));
    ok(p, pawl_store_worker_open(worker, PAWL_TEXT("desk"), PAWL_TEXT("[]"), NOW, &p->error));
    ok(p, pawl_store_handler_transaction_begin(worker, &p->error));
    raw_run(pawl_store_native(worker, "PGconn"), "select 1");
    pawl_finding_rows rows = diagnose_as(p, look, asked);
    expect_finding(&rows, "transactions", PAWL_FINDING_WARN, "has run a handler for ", NULL);
    assert_int_equal(find_text(&rows, "transactions", "has run")->value > 0, true);
    test_now(worker);
}

ON_FIXTURE(an_index_that_was_not_built_to_its_end, fixture *p)
{
    pawl_store *store = open_at(p, "");
    raw_run(p->pg, "update pg_index set indisvalid = false where "
                   "indexrelid = 'pawl_queue_due'::regclass");
    pawl_finding_rows rows = diagnose(p, store);
    expect_finding(&rows, "indexes", PAWL_FINDING_FAIL, "pawl_queue_due", "reindex index ");
}

/* As behind a copy by logical replication. */
ON_FIXTURE(a_sequence_that_is_behind_its_table, fixture *p)
{
    static const char *const numbers[][2] = {{"queue", "Seq"},
                                             {"outbox", "Id"},
                                             {"events", "Seq"},
                                             {"aggregator", "Id"},
                                             {"history", "Id"}};
    char                     sql[500];
    pawl_store              *store = open_at(p, "");
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const char *table = numbers[i][0], *column = numbers[i][1];
        snprintf(
            sql, sizeof sql,
            "do $$ declare c record; begin for c in select attname from pg_attribute where "
            "attrelid = 'pawl_%s'::regclass and attnum > 1 and attnotnull loop execute "
            "format('alter table pawl_%s alter column %%I drop not null', c.attname); end loop; end $$; "
            "insert into pawl_%s (\"%s\") values (7)",
            table, table, table, column);
        raw_run(p->pg, sql);
        pawl_finding_rows rows = diagnose(p, store);
        expect_finding(&rows, "sequences", PAWL_FINDING_FAIL,
                       test_text("pawl_%s_%s_seq\" is behind number 7", table, column),
                       "select setval(");
        snprintf(sql, sizeof sql, "select setval('\"pawl_%s_%s_seq\"', 7)", table, column);
        raw_run(p->pg, sql);
        rows = diagnose(p, store);
        expect_finding(&rows, "sequences", PAWL_FINDING_OK, "can be numbered", NULL);
    }
}

/* Leases that ran out a while ago, and events without a position where projections read. */
ON_FIXTURE(rows_that_nobody_takes, fixture *p)
{
    pawl_store *store = open_at(p, "");
    raw_run(p->pg,
            "insert into pawl_timeouts select gen_random_uuid(), 1, null, '', 't', 'orders', "
            "now(), 0, gen_random_uuid(), now() - interval '2 minutes', null, '', '{}'");
    raw_run(p->pg,
            "insert into pawl_events (\"Stream\", \"Version\", \"Type\", \"TypeVersion\", "
            "\"MessageId\", \"CorrelationId\", \"CausationId\", \"At\", \"Headers\", \"Body\") "
            "values ('A/1', 1, 't', 1, 'm', 'm', 'm', now() - interval '1 hour', '{}', '{}')");
    pawl_finding_rows rows = diagnose(p, store);
    expect_finding(&rows, "leases", PAWL_FINDING_WARN, "1 timeouts of orders are leased by nobody",
                   NULL);
    expect_finding(&rows, "events", PAWL_FINDING_OK, "each has its global position", NULL);
    /* The numbers of leaders stand among checkpoints: they are no projection. */
    raw_run(p->pg, "insert into pawl_checkpoints values ('outbox/desk', 1, now()), "
                   "('ordered/orders', 1, now())");
    rows = diagnose(p, store);
    expect_finding(&rows, "events", PAWL_FINDING_OK, "each has its global position", NULL);
    raw_run(p->pg, "insert into pawl_checkpoints values ('projection/balances', 0, now())");
    rows = diagnose(p, store);
    expect_finding(&rows, "events", PAWL_FINDING_FAIL, "1 events have no global position", NULL);
    raw_run(p->pg, "insert into pawl_leases values ('lead:sequencer', null, 0, 0, 1, "
                   "now() + interval '1 minute')");
    rows = diagnose(p, store);
    expect_finding(&rows, "events", PAWL_FINDING_OK, "each has its global position", NULL);
}

/* ---- Rights ------------------------------------------------------------- */

/* A role named by the schema, with a quote; it may log in without a password where the tests' own
 * may. */
static pawl_store *open_as_role(fixture *p)
{
    const char *at    = strstr(p->url, "//");
    const char *host  = strchr(p->url, '@');
    pawl_store *store = NULL;
    apply_schema(p, p->url, NULL, 0);
    raw_run(
        p->pg,
        test_text(
            "create role \"%s's\" login; grant usage on schema %s to \"%s's\"; "
            "grant select on all tables in schema %s to \"%s's\"; grant insert, update, delete on "
            "pawl_queue to \"%s's\"; alter role \"%s's\" set default_transaction_read_only = on; "
            "alter role \"%s's\" set default_transaction_isolation = 'serializable'",
            p->schema, p->schema, p->schema, p->schema, p->schema, p->schema, p->schema,
            p->schema));
    assert_true(at != NULL && host != NULL);
    const char *url = test_text("%.*s%s%%27s%s", (int)(at + 2 - p->url), p->url, p->schema, host);
    ok(p, open_with(p, url, NULL, 0, &store));
    return store;
}

/* Rows are hidden from a role without an error, until a policy shows all of them to it. */
static void expect_row_security(fixture *p, pawl_store *store)
{
    raw_run(
        p->pg,
        "alter table pawl_dead enable row level security; create policy mine on pawl_dead "
        "to current_user using (true); create policy only_read on pawl_dead for select using (true); "
        "create policy few on pawl_dead using (\"Queue\" = 'desk')");
    pawl_finding_rows rows = diagnose(p, store);
    expect_finding(&rows, "row_security", PAWL_FINDING_WARN, "\"pawl_dead\" for role ",
                   "create policy pawl on ");
    raw_run(p->pg,
            test_text("create policy pawl on pawl_dead to \"%s's\" using (true)", p->schema));
    rows = diagnose(p, store);
    expect_finding(&rows, "row_security", PAWL_FINDING_OK, "hides no row", NULL);
    raw_run(p->pg, "drop policy pawl on pawl_dead; create policy pawl on pawl_dead using (true)");
    rows = diagnose(p, store);
    expect_finding(&rows, "row_security", PAWL_FINDING_OK, "hides no row", NULL);
}

ON_FIXTURE(a_role_without_rights, fixture *p)
{
    pawl_store       *store = open_as_role(p);
    pawl_finding_rows rows  = diagnose(p, store);
    expect_finding(&rows, "rights", PAWL_FINDING_FAIL, "may not do what a worker does", "grant ");
    expect_finding(&rows, "rights", PAWL_FINDING_FAIL, "insert, update, delete on ", "inbox");
    expect_finding(&rows, "sequences", PAWL_FINDING_FAIL, "queue_Seq_seq",
                   "grant usage on sequence ");
    expect_finding(&rows, "sequences", PAWL_FINDING_FAIL, "history_Id_seq",
                   "grant usage on sequence ");
    /* The role's setting, which counts for more than the database's. */
    expect_finding(&rows, "read_only", PAWL_FINDING_FAIL, "every write is refused", "in database ");
    /* Which the session's own counts for more than. */
    expect_finding(&rows, "isolation", PAWL_FINDING_OK, "read committed", NULL);
    /* A quote in a word of the shell. */
    expect_finding(&rows, "rights", PAWL_FINDING_FAIL, "", "'\\''s\"");
    assert_null(strstr(find_text(&rows, "rights", "")->text.data, "pawl_queue"));
    assert_null(strstr(find_text(&rows, "rights", "")->text.data, "pawl_schema"));
    raw_run(p->pg, test_text("grant insert, update, delete on all tables in schema %s to \"%s's\"",
                             p->schema, p->schema));
    rows = diagnose(p, store);
    expect_finding(&rows, "rights", PAWL_FINDING_OK, "may do what a worker does", NULL);
    expect_finding(&rows, "row_security", PAWL_FINDING_OK, "hides no row", NULL);
    expect_row_security(p, store);
    test_now(store);
    raw_run(p->pg, test_text("drop owned by \"%s's\"; drop role \"%s's\"", p->schema, p->schema));
}

ON_FIXTURE(a_schema_with_an_apostrophe, fixture *p)
{
    static const char *const names[] = {"rights", "sequences", "indexes", "vacuum"};
    pawl_store              *store   = NULL;
    const char              *url     = test_text("%s'", p->url);
    apply_schema(p, url, NULL, 0);
    ok(p, open_with(p, url, NULL, 0, &store));
    pawl_finding_rows rows = diagnose(p, store);
    for (size_t i = 0; i < COUNT(names); i++)
        expect_finding(&rows, names[i], PAWL_FINDING_OK, "", NULL);
    test_now(store);
    raw_run(p->pg, test_text("drop schema \"%s'\" cascade", p->schema));
}
