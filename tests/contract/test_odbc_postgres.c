/* test_odbc_postgres.c - PostgreSQL behind an ODBC driver: what is refused at open, and in which words;
 * an add to a partition while a flush ends it; connections of other time zones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_fixture.h"
#include "pawl/base.h"
#include "pawl/pawl.h"
#include "support/tests.h"
#include "support/thread.h"

#define SKIPPED 77

static void refused_at(const char *url, pawl_code code, const char *words)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    pawl_error         error   = PAWL_ERROR_INIT;
    options.system_prefix      = "pawl_none_";
    pawl_code found            = pawl_store_open(url, &options, &store, &error);
    if (found != code || strstr(error.text, words) == NULL || strstr(error.text, "secret") != NULL)
        fail_msg("%s, '%s', expected %s, '%s'", pawl_code_name(found), error.text,
                 pawl_code_name(code), words);
    pawl_store_close(store);
}

/* The last of two attributes counts. */
static void refused_with(const char *more, pawl_code code, const char *words)
{
    char url[ODBC_URL_SIZE];
    assert_true(odbc_postgres_url(more, url));
    refused_at(url, code, words);
}

TEST(a_refusal_says_why)
{
    char url[ODBC_URL_SIZE], path[200];
    refused_with(";Port=1;PWD=secret", PAWL_EUNREACHABLE, "port 1");
    refused_with(";UID=pawl_nobody;PWD=secret", PAWL_EUNREACHABLE, "pawl_nobody");
    refused_with(";Database=pawl_none;PWD=secret", PAWL_EUNREACHABLE, "\"pawl_none\"");
    refused_with(";PWD=secret", PAWL_ESCHEMA, "run: pawl schema apply");
    refused_at("odbc:Driver=/nowhere.so;PWD=secret?dialect=postgres", PAWL_EUNREACHABLE,
               "Can't open lib '/nowhere.so'");
    assert_true(odbc_postgres_url(";PWD=secret", url));
    memcpy(strstr(url, "?dialect="), "?dialect=mysql", sizeof "?dialect=mysql");
    refused_at(url, PAWL_ECONFIG, "is for servers of another dialect");
    if (odbc_library("psqlodbcw.so", path, sizeof path)) {
        char *name = strstr(url, "psqlodbca");
        name[8]    = 'w';
        refused_at(url, PAWL_EUNSUPPORTED, "whose failures pawl cannot read");
    }
}

/* ---- The session's settings ----------------------------------------------------- */

static void expect_setting(SQLHDBC dbc, const char *name, const char *expected)
{
    SQLHSTMT statement = NULL;
    SQLLEN   size      = 0;
    char     sql[60], value[60] = "";
    snprintf(sql, sizeof sql, "show %s", name);
    assert_int_equal(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &statement), SQL_SUCCESS);
    assert_int_equal(SQLExecDirect(statement, (SQLCHAR *)sql, SQL_NTS), SQL_SUCCESS);
    assert_int_equal(SQLFetch(statement), SQL_SUCCESS);
    assert_int_equal(SQLGetData(statement, 1, SQL_C_CHAR, value, sizeof value, &size), SQL_SUCCESS);
    SQLFreeHandle(SQL_HANDLE_STMT, statement);
    assert_string_equal(value, expected);
}

/* Such limits would end the session again and again, and quoted names are taken for others. */
TEST(limits_of_a_role_do_not_count)
{
    char               url[ODBC_URL_SIZE];
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_schema_spec   spec    = {.system_prefix = "pawl_limits_"};
    pawl_store        *store   = NULL;
    assert_true(odbc_postgres_url(";ConnSettings=set idle_session_timeout%3D600000"
                                  "%3Bset statement_timeout%3D600000"
                                  "%3Bset quote_all_identifiers%3Don",
                                  url));
    options.system_prefix = spec.system_prefix;
    must(pawl_store_schema(url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, world_error()));
    must(pawl_store_schema(url, PAWL_SCHEMA_VERIFY, &spec, NULL, NULL, world_error()));
    must(pawl_store_open(url, &options, &store, world_error()));
    expect_setting(store->ops->native(store), "idle_session_timeout", "0");
    expect_setting(store->ops->native(store), "statement_timeout", "0");
    expect_setting(store->ops->native(store), "quote_all_identifiers", "off");
    pawl_store_close(store);
    must(pawl_store_schema(url, PAWL_SCHEMA_DROP, &spec, NULL, NULL, world_error()));
}

/* ---- An add while a flush ends ------------------------------------------------ */

#define PREFIX "pawl_ending_"
#define NOW (WORLD_START)

typedef struct flush {
    pawl_store *store;
    pawl_code   code;
    atomic_bool is_over;
} flush;

static pawl_store *open_ending(const char *url)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.system_prefix      = PREFIX;
    must(pawl_store_open(url, &options, &store, world_error()));
    return store;
}

static pawl_changes add_of(pawl_aggregator_add *add, const char *id)
{
    *add = (pawl_aggregator_add){
        .name      = PAWL_TEXT("bills"),
        .partition = PAWL_TEXT("bills/k"),
        .key       = pawl_text_of(id),
        .at        = NOW,
        .due       = NOW,
        .message   = {.id = pawl_text_of(id), .type = PAWL_TEXT("bill"), .body = PAWL_TEXT("{}")}};
    return (pawl_changes){.now = NOW, ONE_UNIT, .aggregator_add = {.items = add, .count = 1}};
}

/* The messages that were there are handed over, and the partition is over. */
static void *end_flush(void *context)
{
    flush                 *it      = context;
    pawl_aggregator_remove gone    = {.partition      = PAWL_TEXT("bills/k"),
                                      .correlation_id = {.size = 0}};
    pawl_flush_set         done    = {.partition = PAWL_TEXT("bills/k"), .is_done = true};
    pawl_changes           changes = {.now = NOW,
                                      ONE_UNIT,
                                      .aggregator_remove = {.items = &gone, .count = 1},
                                      .flush_set         = {.items = &done, .count = 1}};
    it->code                       = pawl_store_commit(it->store, &changes, NULL, NULL);
    atomic_store(&it->is_over, true);
    return NULL;
}

/* Sessions that wait for a lock on the flush row. */
static bool is_waiting(SQLHDBC dbc)
{
    SQLHSTMT   stmt  = NULL;
    SQLINTEGER count = 0;
    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    assert_true(SQL_SUCCEEDED(SQLExecDirect(
        stmt,
        (SQLCHAR *)"select count(*)::int from pg_stat_activity where wait_event_type = 'Lock' "
                   "and query like '%" PREFIX "aggregator_flush%'",
        SQL_NTS)));
    SQLFetch(stmt);
    SQLGetData(stmt, 1, SQL_C_SLONG, &count, 0, NULL);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return count != 0;
}

/* The add has the flush row's lock: the flush waits, finds the message and leaves the row. */
TEST(an_add_that_is_not_committed_keeps_the_flush_row)
{
    char                url[ODBC_URL_SIZE];
    pawl_aggregator_add add;
    pawl_flush_rows     rows;
    pthread_t           thread;
    pawl_arena         *arena = test_arena();
    pawl_schema_spec    spec  = {.system_prefix = PREFIX};
    SQLHENV             env = NULL, other_env = NULL;
    assert_true(odbc_postgres_url("", url));
    must(pawl_store_schema(url, PAWL_SCHEMA_DROP, &spec, NULL, NULL, world_error()));
    must(pawl_store_schema(url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, world_error()));
    pawl_store  *store   = open_ending(url);
    flush        ending  = {.store = open_ending(url)};
    pawl_changes changes = add_of(&add, "first");
    must(pawl_store_commit(store, &changes, NULL, world_error()));
    SQLHDBC dbc = odbc_dial(&env, url), looker = odbc_dial(&other_env, url);
    assert_true(dbc != NULL && looker != NULL);
    SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)(uintptr_t)SQL_AUTOCOMMIT_OFF, 0);
    changes = add_of(&add, "second");
    must(pawl_store_enlist(store, dbc, &changes, world_error()));
    assert_int_equal(pthread_create(&thread, NULL, end_flush, &ending), 0);
    patience left = patience_of(THREAD_SECONDS);
    while (!atomic_load(&ending.is_over) && !is_waiting(looker))
        patience_wait(&left, "the flush neither waits nor ends");
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT);
    pthread_join(thread, NULL);
    assert_int_equal(ending.code, PAWL_OK);
    must(pawl_store_flush_list(store, PAWL_TEXT("bills"), PAWL_TIME_MAX, 9, arena, &rows,
                               world_error()));
    assert_int_equal(rows.count, 1);
    SQLDisconnect(dbc), SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQLFreeHandle(SQL_HANDLE_ENV, env);
    SQLDisconnect(looker), SQLFreeHandle(SQL_HANDLE_DBC, looker);
    SQLFreeHandle(SQL_HANDLE_ENV, other_env);
    pawl_store_close(store);
    pawl_store_close(ending.store);
    must(pawl_store_schema(url, PAWL_SCHEMA_DROP, &spec, NULL, NULL, world_error()));
}

/* ---- A deferred constraint ---------------------------------------------------- */

static void odbc_run(SQLHDBC dbc, const char *sql)
{
    SQLHSTMT stmt = NULL;
    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    assert_true(SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)(uintptr_t)sql, SQL_NTS)));
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
}

TEST(a_deferred_constraint_fails_the_commit)
{
    char                url[ODBC_URL_SIZE];
    pawl_aggregator_add add;
    pawl_schema_spec    spec    = {.system_prefix = PREFIX};
    pawl_changes        changes = add_of(&add, "first");
    assert_true(odbc_postgres_url("", url));
    must(pawl_store_schema(url, PAWL_SCHEMA_DROP, &spec, NULL, NULL, world_error()));
    must(pawl_store_schema(url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, world_error()));
    pawl_store *store = open_ending(url);
    must(pawl_store_commit(store, &changes, NULL, world_error()));
    changes = add_of(&add, "second");
    must(pawl_store_handler_transaction_begin(store, world_error()));
    odbc_run(pawl_store_native(store, "SQLHDBC"),
             "create temporary table mine (id integer primary key, other integer references mine "
             "deferrable initially deferred); insert into mine values (1, 2)");
    must_fail_with(pawl_store_commit(store, &changes, NULL, world_error()), PAWL_ECONFLICT,
                   "violates foreign key");
    must(pawl_store_commit(store, &changes, NULL, world_error()));
    pawl_store_close(store);
    must(pawl_store_schema(url, PAWL_SCHEMA_DROP, &spec, NULL, NULL, world_error()));
}

/* ---- Time zones ---------------------------------------------------------------- */

static pawl_store *open_applied(char url[ODBC_URL_SIZE])
{
    pawl_schema_spec spec = {.system_prefix = PREFIX};
    assert_true(odbc_postgres_url("", url));
    must(pawl_store_schema(url, PAWL_SCHEMA_DROP, &spec, NULL, NULL, world_error()));
    must(pawl_store_schema(url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, world_error()));
    return open_ending(url);
}

static void close_dropped(pawl_store *store, const char *url)
{
    pawl_schema_spec spec = {.system_prefix = PREFIX};
    pawl_store_close(store);
    must(pawl_store_schema(url, PAWL_SCHEMA_DROP, &spec, NULL, NULL, world_error()));
}

#define JULY INT64_C(1689336000123456)    /* 2023-07-14T12:00:00.123456Z */
#define JANUARY INT64_C(1673697600000000) /* 2023-01-14T12:00:00Z */

/* A row of a transaction whose session has these settings has the times that were given. */
static void enlist_with(pawl_store *store, const char *url, const char *settings, pawl_time due)
{
    char                text[PAWL_TIME_TEXT_SIZE + 1];
    pawl_aggregator_add add;
    pawl_changes        changes = add_of(&add, "first");
    pawl_queue_send     send    = {
               .queue   = PAWL_TEXT("zones"),
               .due     = due,
               .message = {.id = PAWL_TEXT("m-1"), .type = PAWL_TEXT("t"), .body = PAWL_TEXT("{}")}};
    SQLHENV env = NULL;
    SQLHDBC dbc = odbc_dial(&env, url);
    assert_non_null(dbc);
    changes.queue_send.items = &send;
    changes.queue_send.count = 1;
    SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)(uintptr_t)SQL_AUTOCOMMIT_OFF, 0);
    odbc_run(dbc, settings);
    must(pawl_store_enlist(store, dbc, &changes, world_error()));
    pawl_time_format(due, text);
    odbc_run(dbc, test_text("select 1 / count(*) from " PREFIX "queue where \"Due\" = '%s'", text));
    pawl_time_format(NOW, text);
    odbc_run(dbc,
             test_text("select 1 / count(*) from " PREFIX "aggregator_flush where \"Due\" = '%s'",
                       text));
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    SQLDisconnect(dbc), SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQLFreeHandle(SQL_HANDLE_ENV, env);
}

TEST(t19_enlisted_times_are_the_same_in_every_zone)
{
    static const char *const settings[] = {
        "set time zone 'UTC'",
        "set time zone 'Europe/London'",
        "set time zone 'Asia/Kathmandu'",
        "set time zone 'America/New_York'; set datestyle = 'German'",
    };
    char        url[ODBC_URL_SIZE];
    pawl_store *store = open_applied(url);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        enlist_with(store, url, settings[i], JULY);
        enlist_with(store, url, settings[i], JANUARY);
    }
    close_dropped(store, url);
}

/* A handler's own SQL sets the zone of pawl's session: what is written and read behind it is the same. */
TEST(t19_own_sql_does_not_change_the_zone_of_times)
{
    char                url[ODBC_URL_SIZE];
    pawl_aggregator_add add;
    pawl_flush_rows     rows;
    pawl_store         *store   = open_applied(url);
    pawl_arena         *arena   = test_arena();
    pawl_changes        changes = add_of(&add, "first");
    add.due                     = JULY;
    must(pawl_store_handler_transaction_begin(store, world_error()));
    odbc_run(pawl_store_native(store, "SQLHDBC"),
             "set time zone 'Asia/Kathmandu'; set datestyle = 'German'");
    must(pawl_store_commit(store, &changes, NULL, world_error()));
    must(pawl_store_flush_list(store, PAWL_TEXT("bills"), PAWL_TIME_MAX, 9, arena, &rows,
                               world_error()));
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].due, JULY);
    close_dropped(store, url);
}

/* ---- Encodings ----------------------------------------------------------------- */

static void enlist_in(pawl_store *store, const char *url, const char *encoding, pawl_code expected)
{
    pawl_aggregator_add add;
    pawl_error          error   = PAWL_ERROR_INIT;
    pawl_changes        changes = add_of(&add, "\xc3\xa9"); /* an e with an acute */
    SQLHENV             env     = NULL;
    SQLHDBC             dbc     = odbc_dial(&env, url);
    assert_non_null(dbc);
    SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)(uintptr_t)SQL_AUTOCOMMIT_OFF, 0);
    odbc_run(dbc, test_text("set client_encoding = '%s'", encoding));
    assert_int_equal(pawl_store_enlist(store, dbc, &changes, &error), expected);
    if (expected == PAWL_OK)
        odbc_run(dbc,
                 "select 1 / count(*) from " PREFIX "aggregator where \"MessageId\" = U&'\\00e9'");
    else
        assert_non_null(strstr(error.text, "client_encoding is LATIN1, UTF8 is needed"));
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    SQLDisconnect(dbc), SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQLFreeHandle(SQL_HANDLE_ENV, env);
}

/* With SQL_ASCII the server, whose encoding is UTF8, converts nothing. */
TEST(a_connection_of_another_encoding_is_refused)
{
    char        url[ODBC_URL_SIZE];
    pawl_store *store = open_applied(url);
    enlist_in(store, url, "LATIN1", PAWL_EINVAL);
    enlist_in(store, url, "SQL_ASCII", PAWL_OK);
    enlist_in(store, url, "UTF8", PAWL_OK);
    close_dropped(store, url);
}

/* ---- A lost session ------------------------------------------------------------- */

/* The driver finds it where it prepares, and says it in a general state. */
TEST(a_session_that_is_gone_before_a_first_run_is_lost)
{
    char            url[ODBC_URL_SIZE];
    pawl_flush_rows rows;
    pawl_error      error = PAWL_ERROR_INIT;
    pawl_store     *store = open_applied(url);
    pawl_arena     *arena = test_arena();
    SQLHENV         env   = NULL;
    SQLHDBC         dbc   = odbc_dial(&env, url);
    assert_non_null(dbc);
    odbc_run(pawl_store_native(store, "SQLHDBC"), "set application_name = 'pawl_gone'");
    odbc_run(dbc, "select pg_terminate_backend(pid, 10000) from pg_stat_activity "
                  "where application_name = 'pawl_gone'");
    assert_int_equal(
        pawl_store_flush_list(store, PAWL_TEXT("bills"), PAWL_TIME_MAX, 9, arena, &rows, &error),
        PAWL_ELOST);
    must(pawl_store_flush_list(store, PAWL_TEXT("bills"), PAWL_TIME_MAX, 9, arena, &rows,
                               world_error()));
    SQLDisconnect(dbc), SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQLFreeHandle(SQL_HANDLE_ENV, env);
    close_dropped(store, url);
}

int main(void)
{
    char url[ODBC_URL_SIZE];
    if (!odbc_postgres_url("", url)) {
        puts("skipped: PAWL_TEST_POSTGRES names no server, or odbc-postgresql is not installed");
        return server_may_be_missing("postgres") ? SKIPPED : 1;
    }
    return tests_run(NULL, NULL);
}
