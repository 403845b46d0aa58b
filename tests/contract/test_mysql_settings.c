/* test_mysql_settings.c - settings of a server that would change what pawl's statements do (S2 and all
 * that reads rows): its sessions have their own; its limit of prepared statements, at which they wait; and that it can
 * only be read, for which they go to another host.
 *
 * The settings are the whole server's for a moment, so no other test runs beside this one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "support/tests.h"

#include "contract/findings.h"
#include "store/sql/dialects/mysql_statements.h"

#define SAGAS 12

static const char *const settings[][2] = {
    {"sql_select_limit", "5"},
    {"innodb_default_row_format", "compact"},
    {"sql_auto_is_null", "1"},
    {"completion_type", "1"},
    {"sql_safe_updates", "1"},
    {"sql_big_selects", "0"},
    {"group_concat_max_len", "4"},
    {"sql_mode", "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'"},
    {"time_zone", "'+09:00'"},
    {"autocommit", "0"},
    {"session_track_schema", "0"},
    {"collation_connection", "latin1_swedish_ci"}};

/* Of MariaDB: a session in whose transaction a handler runs is ended. */
static const char *const idle_limits[] = {"idle_transaction_timeout",
                                          "idle_readonly_transaction_timeout",
                                          "idle_write_transaction_timeout"};

static void limit_idle(fixture *p, bool is_default)
{
    if (strcmp(p->scheme, "mariadb") == 0)
        for (size_t i = 0; i < COUNT(idle_limits); i++)
            raw_run(p->raw,
                    test_text("set global %s = %s", idle_limits[i], is_default ? "default" : "7"));
}

static void set_all(fixture *p, bool is_default)
{
    limit_idle(p, is_default);
    for (size_t i = 0; i < COUNT(settings); i++)
        raw_run(p->raw, test_text("set global %s = %s", settings[i][0],
                                  is_default ? "default" : settings[i][1]));
}

static int teardown(void **state)
{
    fixture *p = *state;
    if (p->raw != NULL) {
        set_all(p, true);
        raw_run(p->raw, "set global max_prepared_stmt_count = default");
        raw_run(p->raw, "set global read_only = 0");
        raw_run(p->raw, "set global init_connect = default");
        raw_run(p->raw, "drop user if exists pawl_bound@'127.0.0.1'");
    }
    return fixture_teardown(state);
}

static pawl_saga_id id_of(unsigned number)
{
    return (pawl_saga_id){{{[0] = 1, [15] = (uint8_t)number}}};
}

static void begin_sagas(fixture *p, pawl_store *store)
{
    pawl_saga_insert inserts[SAGAS];
    char             orders[SAGAS][20];
    pawl_changes     changes = {.now = NOW, ONE_UNIT};
    for (unsigned i = 0; i < SAGAS; i++) {
        snprintf(orders[i], sizeof orders[i], "order-%u", i);
        inserts[i] = (pawl_saga_insert){.table        = &order_table,
                                        .id           = id_of(i),
                                        .main         = pawl_value_text(pawl_text_of(orders[i])),
                                        .metadata     = TEXT("{}"),
                                        .data         = TEXT("{\"path\":\"C:\\\\new\"}"),
                                        .type_version = TEXT("1.0")};
    }
    changes.saga_insert.items = inserts;
    changes.saga_insert.count = SAGAS;
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

static void s2_settings_of_the_server_change_nothing(fixture *p)
{
    pawl_store   *store;
    pawl_value    ids[SAGAS];
    pawl_saga_row rows[SAGAS] = {0};
    set_all(p, false);
    apply(p);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
    ok(p, open_at(p, p->url, 60000, &store));
    set_all(p, true);
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    begin_sagas(p, store);
    for (unsigned i = 0; i < SAGAS; i++)
        ids[i] = (pawl_value){.type = PAWL_VALUE_UUID, .as.uuid = id_of(i).uuid};
    ok(p, pawl_store_saga_load(store, &order_table, PAWL_SAGA_BY_ID, ids, SAGAS, 0, p->arena, rows,
                               &p->error));
    for (unsigned i = 0; i < SAGAS; i++)
        assert_int_equal(rows[i].version, 1);
    assert_int_equal(raw_number(p->raw, "select count(*) from shop_Order"), SAGAS);
    assert_int_equal(raw_number(pawl_store_native(store, "MYSQL"),
                                "select @@sql_select_limit > 5 and not @@sql_auto_is_null "
                                "and @@completion_type = 'NO_CHAIN' and not @@sql_safe_updates "
                                "and @@sql_big_selects and @@group_concat_max_len = 1048576 "
                                "and @@autocommit and @@time_zone = '+00:00' "
                                "and @@session_track_schema"),
                     1);
    for (size_t i = 0; i < COUNT(idle_limits) && strcmp(p->scheme, "mariadb") == 0; i++)
        assert_int_equal(
            raw_number(pawl_store_native(store, "MYSQL"), test_text("select @@%s", idle_limits[i])),
            60);
}

static pawl_code send(fixture *p, pawl_store *store, const char *id)
{
    return pawl_store_commit(
        store,
        ONE_CHANGE(queue_send, NOW, .queue = TEXT("orders"), .due = NOW,
                   .message = {.id = pawl_text_of(id), .type = TEXT("t"), .body = TEXT("{}")}),
        NULL, &p->error);
}

static void leave_room_for_one(fixture *p)
{
    char sql[100];
    snprintf(
        sql, sizeof sql, "set global max_prepared_stmt_count = %lld",
        1 + raw_number(p->raw, strcmp(p->scheme, "mysql") == 0
                                   ? "select variable_value from performance_schema.global_status "
                                     "where variable_name = 'Prepared_stmt_count'"
                                   : "select variable_value from information_schema.global_status "
                                     "where variable_name = 'PREPARED_STMT_COUNT'"));
    raw_run(p->raw, sql);
}

/* A server that takes no more prepared statements is one that is away for a while: an endpoint waits. An application's
 * own transaction is as it was before, and commits without what was sent in it. */
static void d37_a_server_without_room_for_a_statement_is_waited_for(fixture *p)
{
    MYSQL           *own = raw_connect(p, p->database);
    pawl_store      *store;
    pawl_queue_send  one  = {.queue   = TEXT("orders"),
                             .due     = NOW,
                             .message = {.id = TEXT("m-1"), .type = TEXT("t"), .body = TEXT("{}")}};
    pawl_saga_insert saga = {.table        = &order_table,
                             .id           = id_of(1),
                             .main         = pawl_value_text(TEXT("order-1")),
                             .metadata     = TEXT("{}"),
                             .data         = TEXT("{}"),
                             .type_version = TEXT("1.0")};
    pawl_changes     sent = {.now = NOW,
                             ONE_UNIT,
                             .saga_insert = {.items = &saga, .count = 1},
                             .queue_send  = {.items = &one, .count = 1}};
    apply(p);
    /* With another host: the store's own session is left for it. */
    ok(p, open_at(p,
                  test_text("%s://root@%s:%u,%s:%u/%s", p->scheme, p->host, p->port, p->host,
                            p->port, p->database),
                  60000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    raw_run(p->raw, "create table `own` (n int)");
    raw_run(own, "begin");
    raw_run(own, "insert into `own` values (1)");
    leave_room_for_one(p);
    expect_code(p, pawl_store_enlist(store, own, &sent, &p->error), PAWL_EUNREACHABLE);
    raw_run(p->raw, "set global max_prepared_stmt_count = 1");
    refuses(p, send(p, store, "m-2"), PAWL_EUNREACHABLE, "max_prepared_stmt_count");
    raw_run(own, "commit");
    assert_int_equal(raw_number(p->raw, "select count(*) from `own`"), 1);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 0);
    assert_int_equal(raw_number(p->raw, "select count(*) from shop_Order"), 0);
    raw_run(p->raw, "set global max_prepared_stmt_count = default");
    ok(p, send(p, store, "m-2"));
    mysql_close(own);
}

/* ---- A server that becomes read-only ------------------------------------------- */

static void make_bound(fixture *p)
{
    apply(p);
    raw_run(p->raw, "create user pawl_bound@'127.0.0.1'");
    raw_run(p->raw, test_text("grant all on %s.* to pawl_bound@'127.0.0.1'", p->database));
}

/* A worker that the setting binds, which the user root is not. */
static pawl_store *open_bound(fixture *p, bool is_twice)
{
    char        url[400], other[60] = "";
    pawl_store *store;
    if (is_twice)
        snprintf(other, sizeof other, ",127.0.0.1:%u", p->port);
    snprintf(url, sizeof url, "%s://pawl_bound@127.0.0.1:%u%s/%s", p->scheme, p->port, other,
             p->database);
    ok(p, open_at(p, url, 60000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return store;
}

static unsigned long session_of(pawl_store *store)
{
    return mysql_thread_id(pawl_store_native(store, "MYSQL"));
}

static pawl_code wait_for_news(fixture *p, pawl_store *store)
{
    return pawl_store_wait(store, PAWL_MILLISECONDS(1), -1, &p->error);
}

/* After a switch-over the old primary keeps its sessions. Where the URL names other hosts a worker that only waits leaves
 * it, and so does one whose write is refused, alone or among others. */
static void d37_a_server_that_becomes_read_only_is_left(fixture *p)
{
    enum { ALONE, IDLE, BUSY, BUSIER, WORKERS };
    pawl_store   *stores[WORKERS];
    unsigned long sessions[WORKERS];
    make_bound(p);
    for (int i = 0; i < WORKERS; i++) {
        stores[i]   = open_bound(p, i != ALONE);
        sessions[i] = session_of(stores[i]);
        ok(p, wait_for_news(p, stores[i]));
    }
    raw_run(p->raw, "set global read_only = 1");
    pawl_code alone = wait_for_news(p, stores[ALONE]), idle = wait_for_news(p, stores[IDLE]);
    pawl_code again = wait_for_news(p, stores[IDLE]);
    pawl_code first = send(p, stores[ALONE], "m-1"), one = send(p, stores[BUSY], "m-2");
    pawl_code three = send_three(p, stores[BUSIER], "xyz");
    raw_run(p->raw, "set global read_only = 0");
    expect_code(p, alone, PAWL_OK);
    expect_code(p, idle, PAWL_ELOST);
    expect_code(p, again, PAWL_EUNREACHABLE); /* the other host is the same server */
    expect_code(p, first, PAWL_EUNREACHABLE);
    expect_code(p, one, PAWL_EUNREACHABLE);
    expect_code(p, three, PAWL_EUNREACHABLE);
    for (int i = 0; i < WORKERS; i++) {
        const char ids[] = {(char)('a' + 3 * i), (char)('b' + 3 * i), (char)('c' + 3 * i), '\0'};
        ok(p, send_three(p, stores[i], ids));
        assert_int_equal(session_of(stores[i]) == sessions[i], i == ALONE);
    }
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 3 * WORKERS);
}

/* A server or a login may say that transactions only read. */
static void s2_a_login_whose_transactions_only_read_can_write(fixture *p)
{
    make_bound(p);
    raw_run(p->raw, "set global init_connect = 'set session transaction read only'");
    pawl_store *store = open_bound(p, false);
    pawl_code   code  = send(p, store, "m-1");
    raw_run(p->raw, "set global init_connect = default");
    ok(p, code);
    ok(p, send_three(p, store, "abc"));
}

/* The rights are as they were. */
static void a_server_that_is_read_only_is_told_of(fixture *p)
{
    const pawl_diagnosis asked = {.now = pawl_clock_now(NULL), .transaction_age = 1};
    pawl_finding_rows    rows;
    make_bound(p);
    pawl_store *store = open_bound(p, false);
    raw_run(p->raw, "set global read_only = 1");
    pawl_code code = pawl_store_diagnose(store, &asked, p->arena, &rows, &p->error);
    raw_run(p->raw, "set global read_only = 0");
    ok(p, code);
    expect_finding(&rows, "rights", PAWL_FINDING_OK, "may do what a worker does", NULL);
    expect_finding(&rows, "server", PAWL_FINDING_FAIL, "name the primary in the URL", NULL);
}

/* A setting is on as a number, or as a text of MariaDB 12.0.1 and later. */
static void d37_each_form_of_read_only_is_known(fixture *p)
{
    raw_run(p->raw, "set session sql_mode = 'TRADITIONAL'");
    assert_int_equal(
        raw_number(p->raw, "select " PAWL__MYSQL_IS_ON("0") " or " PAWL__MYSQL_IS_ON("'OFF'")), 0);
    assert_int_equal(
        raw_number(
            p->raw,
            "select " PAWL__MYSQL_IS_ON("1") " and " PAWL__MYSQL_IS_ON("'ON'") " and " PAWL__MYSQL_IS_ON(
                "'NO_LOCK'") " and " PAWL__MYSQL_IS_ON("'NO_LOCK_NO_ADMIN'")),
        1);
}

int main(void)
{
#define CASE(function, scheme)                                                         \
    {                                                                                  \
#function " on " scheme, fixture_run, fixture_setup, teardown, &(fixture_case) \
        {                                                                              \
            function, scheme                                                           \
        }                                                                              \
    }
    const struct CMUnitTest tests[] = {
        CASE(s2_settings_of_the_server_change_nothing, "mysql"),
        CASE(s2_settings_of_the_server_change_nothing, "mariadb"),
        CASE(d37_a_server_without_room_for_a_statement_is_waited_for, "mysql"),
        CASE(d37_a_server_without_room_for_a_statement_is_waited_for, "mariadb"),
        CASE(d37_a_server_that_becomes_read_only_is_left, "mysql"),
        CASE(d37_a_server_that_becomes_read_only_is_left, "mariadb"),
        CASE(d37_each_form_of_read_only_is_known, "mysql"),
        CASE(d37_each_form_of_read_only_is_known, "mariadb"),
        CASE(s2_a_login_whose_transactions_only_read_can_write, "mysql"),
        CASE(s2_a_login_whose_transactions_only_read_can_write, "mariadb"),
        CASE(a_server_that_is_read_only_is_told_of, "mysql"),
        CASE(a_server_that_is_read_only_is_told_of, "mariadb"),
    };
    int missing = fixtures_are_missing();
    return missing != 0 ? missing
                        : cmocka_run_group_tests_name("mysql_settings", tests, NULL, NULL);
}
