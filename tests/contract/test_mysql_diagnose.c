/* test_mysql_diagnose.c - findings about a server of MySQL or MariaDB, its settings, the user's
 * rights and those who hold work up, and the remedies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "support/tests.h"

#include "contract/findings.h"

static pawl_store *open_here(fixture *p, const char *url)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = PAWL_OPEN_EXISTING;
    ok(p, schema_at(p, PAWL_SCHEMA_APPLY, no_line, NULL));
    ok(p, fixture_open(p, url, &options, &store));
    return store;
}

ON_BOTH(a_server_that_is_well, fixture *p)
{
    pawl_store       *store = open_here(p, p->url);
    pawl_finding_rows rows  = diagnose(p, store);
    expect_no_failure(&rows);
    expect_finding(&rows, "rights", PAWL_FINDING_OK, "may do what a worker does", NULL);
    expect_finding(&rows, "clock", PAWL_FINDING_OK, "agree", NULL);
    expect_finding(&rows, "sql_mode", PAWL_FINDING_OK, "strict", NULL);
    expect_finding(&rows, "server", PAWL_FINDING_OK, "version", NULL);
    expect_finding(&rows, "transactions", PAWL_FINDING_OK, "none", NULL);
}

ON_BOTH(a_clock_that_is_off, fixture *p)
{
    pawl_store *store = open_here(p, p->url);
    expect_clock(p, store, -PAWL_SECONDS(2), PAWL_FINDING_WARN, "ahead of this one's");
    expect_clock(p, store, PAWL_SECONDS(3600), PAWL_FINDING_FAIL, "behind this one's");
}

ON_BOTH(a_setting_that_does_harm, fixture *p)
{
    pawl_store *store = open_here(p, p->url);
    raw_run(p->raw, "set global innodb_flush_log_at_trx_commit = 2");
    pawl_finding_rows rows = diagnose(p, store);
    raw_run(p->raw, "set global innodb_flush_log_at_trx_commit = 1");
    expect_finding(&rows, "innodb_flush_log_at_trx_commit", PAWL_FINDING_WARN, "2: commits",
                   "set global innodb_flush_log_at_trx_commit = 1");
    expect_finding(&rows, "innodb_flush_log_at_trx_commit", PAWL_FINDING_WARN, "2: commits",
                   strcmp(p->scheme, "mysql") == 0 ? "mysql -h " : "mariadb -h ");
    raw_run(pawl_store_native(store, "MYSQL"), "set session sql_mode = ''");
    rows = diagnose(p, store);
    expect_finding(&rows, "sql_mode", PAWL_FINDING_FAIL, "lost its settings", NULL);
}

/* In a remedy or a text. */
static bool is_named(const pawl_finding_rows *rows, const char *part)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strstr(rows->items[i].remedy.data, part) != NULL ||
            strstr(rows->items[i].text.data, part) != NULL)
            return true;
    return false;
}

/* Tables of InnoDB's transactions are copies, which the server renews once nobody has read them for
 * a tenth of a second. */
static pawl_finding_rows diagnose_until_named(fixture *p, pawl_store *store, const char *part)
{
    const pawl_diagnosis asked = {.now = pawl_clock_now(NULL)};
    pawl_finding_rows    rows  = diagnose_as(p, store, asked);
    for (int tries = 0; tries < 100 && !is_named(&rows, part); tries++) {
        ok(p, pawl_store_wait(store, PAWL_MILLISECONDS(120), -1, &p->error));
        rows = diagnose_as(p, store, asked);
    }
    return rows;
}

ON_BOTH(a_transaction_that_stays_open, fixture *p)
{
    pawl_store *store = open_here(p, p->url);
    MYSQL      *other = raw_connect(p, p->database);
    raw_run(other, "begin");
    raw_run(other, "select count(*) from pawl_queue for update");
    const char       *kill = test_text("kill %lu", mysql_thread_id(other));
    pawl_finding_rows rows = diagnose_until_named(p, store, kill);
    assert_true(is_named(&rows, kill));
    expect_finding(&rows, "transactions", PAWL_FINDING_FAIL, "a transaction of user root at ",
                   "kill");
    rows = diagnose(p, store); /* younger than an hour */
    expect_finding(&rows, "transactions", PAWL_FINDING_OK, "none is open for long", NULL);
    mysql_close(other);
}

/* No session has it: there is nothing to kill. */
ON_BOTH(a_prepared_xa_transaction, fixture *p)
{
    pawl_store *store = open_here(p, p->url);
    MYSQL      *other = raw_connect(p, p->database);
    raw_run(p->raw, "create table prepared (n int primary key) engine = innodb");
    static const char *const steps[] = {"xa start '%s'", "insert into prepared values (1) -- %s",
                                        "xa end '%s'", "xa prepare '%s'"};
    for (size_t i = 0; i < COUNT(steps); i++)
        raw_run(other, test_text(steps[i], p->database));
    mysql_close(other);
    pawl_finding_rows rows = diagnose_until_named(p, store, "a prepared XA transaction");
    raw_run(p->raw, test_text("xa rollback '%s'", p->database));
    expect_finding(&rows, "transactions", PAWL_FINDING_FAIL,
                   "a prepared XA transaction waits for its end since ", "-e 'xa recover'");
}

/* The end of its connection would make another worker run the message at once. */
ON_BOTH(a_handler_that_runs_for_long, fixture *p)
{
    pawl_store *look = open_here(p, p->url), *worker = NULL;
    ok(p, fixture_open(p, p->url, NULL, &worker));
    ok(p, pawl_store_worker_open(worker, PAWL_TEXT("desk"), PAWL_TEXT("[]"), NOW, &p->error));
    ok(p, pawl_store_handler_transaction_begin(worker, &p->error));
    raw_run(pawl_store_native(worker, "MYSQL"), "select count(*) from pawl_queue for update");
    pawl_finding_rows rows = diagnose_until_named(p, look, "has run a handler since ");
    expect_finding(&rows, "transactions", PAWL_FINDING_WARN, "has run a handler since ", NULL);
    test_now(worker);
}

ON_BOTH(rows_that_nobody_takes, fixture *p)
{
    pawl_store *store = open_here(p, p->url);
    raw_run(p->raw,
            "insert into pawl_timeouts (Id, Generation, SagaType, Name, Destination, Due, "
            "Attempts, Owner, LeaseExpires, CorrelationId, Headers) values ("
            "'019a0000-0000-7000-8000-000000000001', 1, '', 't', 'orders', utc_timestamp(6), "
            "0, '019a0000-0000-7000-8000-000000000002', "
            "utc_timestamp(6) - interval 2 minute, '', '{}')");
    raw_run(p->raw, "insert into pawl_events (Stream, Version, Type, TypeVersion, MessageId, "
                    "CorrelationId, CausationId, At, Headers, Body) values ('A/1', 1, 't', 1, 'm', "
                    "'m', 'm', utc_timestamp(6) - interval 1 hour, '{}', '{}')");
    pawl_finding_rows rows = diagnose(p, store);
    expect_finding(&rows, "leases", PAWL_FINDING_WARN, "1 timeouts of orders are leased by nobody",
                   NULL);
    expect_finding(&rows, "events", PAWL_FINDING_OK, "each has its global position", NULL);
    /* The numbers of leaders stand among checkpoints: they are no projection. */
    raw_run(p->raw, "insert into pawl_checkpoints values ('outbox/desk', 1, utc_timestamp(6)), "
                    "('ordered/orders', 1, utc_timestamp(6))");
    rows = diagnose(p, store);
    expect_finding(&rows, "events", PAWL_FINDING_OK, "each has its global position", NULL);
    raw_run(p->raw, "insert into pawl_checkpoints values ('projection/balances', 0, "
                    "utc_timestamp(6))");
    rows = diagnose(p, store);
    expect_finding(&rows, "events", PAWL_FINDING_FAIL, "1 events have no global position", NULL);
}

/* ---- Remedies ----------------------------------------------------------- */

/* A command for a shell: by the socket, and whatever the names are. */
ON_BOTH(a_remedy_leads_to_the_same_server, fixture *p)
{
    pawl_store *store;
    raw_run(p->raw, test_text("create database `%s's`", p->database));
    assert_int_equal(mysql_query(p->raw, "select @@socket"), 0);
    MYSQL_RES  *found = mysql_store_result(p->raw);
    const char *url   = test_text("%s://root@localhost/%s's?socket=%s", p->scheme, p->database,
                                  mysql_fetch_row(found)[0]);
    mysql_free_result(found);
    pawl_schema_spec spec = {.tables = NULL};
    ok(p, pawl_store_schema(url, PAWL_SCHEMA_APPLY, &spec, no_line, NULL, &p->error));
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_EXISTING;
    ok(p, fixture_open(p, url, &options, &store));
    raw_run(p->raw, "set global innodb_flush_log_at_trx_commit = 2");
    pawl_finding_rows rows = diagnose(p, store);
    raw_run(p->raw, "set global innodb_flush_log_at_trx_commit = 1");
    test_now(store);
    const char *part = test_text("%s -S '%s' -D '%s'\\''s' -e ", p->scheme,
                                 strstr(url, "socket=") + strlen("socket="), p->database);
    raw_run(p->raw, test_text("drop database `%s's`", p->database));
    expect_finding(&rows, "innodb_flush_log_at_trx_commit", PAWL_FINDING_WARN, "2: commits", part);
}

/* ---- Rights ------------------------------------------------------------- */

#define OTHERS 4 /* connections */

ON_BOTH(a_user_without_rights, fixture *p)
{
    const char *name = test_text("p%.28s", p->database + strlen("pawl_fixture_"));
    ok(p, schema_at(p, PAWL_SCHEMA_APPLY, no_line, NULL));
    raw_run(p->raw, test_text("create user '%s'@'%%'", name));
    raw_run(p->raw, test_text("grant select on %s.* to '%s'@'%%'", p->database, name));
    raw_run(p->raw, test_text("grant insert, update, delete on %s.pawl_queue to '%s'@'%%'",
                              p->database, name));
    pawl_store *store =
        open_here(p, test_text("%s://%s@%s:%u/%s", p->scheme, name, p->host, p->port, p->database));
    MYSQL *others[OTHERS];
    for (size_t i = 0; i < OTHERS; i++)
        others[i] = raw_connect(p, NULL);
    pawl_finding_rows rows = diagnose(p, store);
    for (size_t i = 0; i < OTHERS; i++)
        mysql_close(others[i]);
    expect_finding(&rows, "rights", PAWL_FINDING_FAIL, "insert, update, delete on pawl_inbox",
                   "grant insert, update, delete on `pawl_inbox`");
    /* Another user, who may more, runs the remedy. */
    const char *to = test_text(" to '\\''%s'\\''@'\\''%%'\\''", name);
    expect_finding(&rows, "rights", PAWL_FINDING_FAIL, "", to);
    expect_finding(&rows, "transactions", PAWL_FINDING_WARN, "cannot be read", to);
    assert_null(strstr(find_text(&rows, "rights", "")->text.data, "pawl_queue"));
    assert_null(strstr(find_text(&rows, "rights", "")->text.data, "pawl_schema"));
    /* Connections of others are not shown to it, but are counted. */
    const pawl_finding *used = find_text(&rows, "connections", " connections are in use");
    assert_true(atoll(used->text.data) >= OTHERS);
    /* Transactions of others are not shown to it. */
    expect_finding(&rows, "transactions", PAWL_FINDING_WARN, "cannot be read", "grant process");
    test_now(store);
    raw_run(p->raw, test_text("drop user '%s'@'%%'", name));
}

/* The catalog has no tables that the user may do nothing with. */
ON_BOTH(a_table_without_any_right_is_not_missing, fixture *p)
{
    static const struct {
        const char *granted, *denied;
    } steps[] = {{"pawl_queue", "pawl_schema"}, {"pawl_schema", "shop_Order"}};
    pawl_store *store;
    apply(p);
    const char *name = test_text("p%.28s", p->database + strlen("pawl_fixture_"));
    raw_run(p->raw, test_text("create user '%s'@'%%'", name));
    const char *url = test_text("%s://%s@%s:%u/%s", p->scheme, name, p->host, p->port, p->database);
    for (size_t i = 0; i < COUNT(steps); i++) {
        raw_run(p->raw, test_text("grant select on %s.%s to '%s'@'%%'", p->database,
                                  steps[i].granted, name));
        refuses(p, open_at(p, url, 20000, &store), PAWL_EDENIED, steps[i].denied);
        expect_text(p, "(error 1142)");
    }
    raw_run(p->raw, "drop table shop_Order");
    expect_code(p, open_at(p, p->url, 20000, &store), PAWL_ESCHEMA);
    raw_run(p->raw, test_text("drop user '%s'@'%%'", name));
}
