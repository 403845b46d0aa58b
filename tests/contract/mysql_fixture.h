/* mysql_fixture.h - a database of a test's own on MySQL or MariaDB, and short forms of what the tests
 * that are special to these servers all do. ON_BOTH makes a test for each of the two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_MYSQL_FIXTURE_H
#define PAWL_TESTS_CONTRACT_MYSQL_FIXTURE_H

#include <mysql.h>

#define FIXTURE_OWN           \
    char        url[300];     \
    const char *scheme;       \
    char        host[100];    \
    unsigned    port;         \
    char        database[60]; \
    MYSQL      *raw
#include "contract/fixture.h"

typedef struct fixture_case {
    fixture_fn *test;
    const char *scheme;
} fixture_case;

static inline const char *fixture_server(const char *scheme)
{
    const char *url =
        getenv(strcmp(scheme, "mysql") == 0 ? "PAWL_TEST_MYSQL" : "PAWL_TEST_MARIADB");
    return url != NULL && url[0] != '\0' ? url : NULL;
}

static inline MYSQL *raw_connect(const fixture *p, const char *database)
{
    MYSQL *made = mysql_init(NULL);
    assert_non_null(made);
    mysql_options(made, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(made, p->host, "root", NULL, database, p->port, NULL, 0) == NULL)
        fail_msg("%s", mysql_error(made));
    return made;
}

static inline void raw_run(MYSQL *raw, const char *sql)
{
    if (mysql_query(raw, sql) != 0)
        fail_msg("%s: %s", sql, mysql_error(raw));
    mysql_free_result(mysql_store_result(raw));
}

/* The first number of the answer; -1: null, or no row. */
static inline long long raw_number(MYSQL *raw, const char *sql)
{
    if (mysql_query(raw, sql) != 0)
        fail_msg("%s: %s", sql, mysql_error(raw));
    MYSQL_RES *rows  = mysql_store_result(raw);
    MYSQL_ROW  row   = rows != NULL ? mysql_fetch_row(rows) : NULL;
    long long  found = row != NULL && row[0] != NULL ? atoll(row[0]) : -1;
    mysql_free_result(rows);
    return found;
}

/* The test of a server that is not there. */
static inline void leave_out(fixture *p)
{
    skip();
}

static inline int fixture_setup(void **state)
{
    static unsigned     count;
    const fixture_case *row = *state;
    fixture            *p   = fixture_begin(state);
    p->scheme               = row->scheme;
    const char *server      = fixture_server(p->scheme);
    if (server == NULL) {
        p->test = leave_out;
        return 0;
    }
    if (sscanf(server, "%*[a-z]://root@%99[^:]:%u/", p->host, &p->port) != 2)
        return -1;
    p->raw = raw_connect(p, NULL);
    snprintf(p->database, sizeof p->database, "pawl_fixture_%ld_%llx_%u", (long)getpid(),
             (unsigned long long)time(NULL), ++count);
    raw_run(p->raw, test_text("create database %s", p->database));
    mysql_select_db(p->raw, p->database);
    snprintf(p->url, sizeof p->url, "%s://root@%s:%u/%s", p->scheme, p->host, p->port, p->database);
    return 0;
}

static inline int fixture_teardown(void **state)
{
    fixture *p = *state;
    char     sql[200];
    if (p->raw != NULL) {
        snprintf(sql, sizeof sql, "drop database if exists %s", p->database);
        (void)mysql_query(p->raw, "set lock_wait_timeout = 20");
        (void)mysql_query(p->raw, sql);
        mysql_close(p->raw);
    }
    fixture_end(p);
    return 0;
}

#define ON_SERVER_OF(function, scheme)                                                         \
    {                                                                                          \
#function " on " scheme, fixture_run, fixture_setup, fixture_teardown, &(fixture_case) \
        {                                                                                      \
            function, scheme                                                                   \
        }                                                                                      \
    }
#define ON_BOTH(function, parameter) \
    TESTS(function, parameter, ON_SERVER_OF(function, "mysql"), ON_SERVER_OF(function, "mariadb"))

/* Without either server the program is left out. */
static inline int fixtures_are_missing(void)
{
    bool has_mysql   = fixture_server("mysql") != NULL,
         has_mariadb = fixture_server("mariadb") != NULL;
    if ((!has_mysql && !server_may_be_missing("mysql")) ||
        (!has_mariadb && !server_may_be_missing("mariadb")))
        return 1;
    if (has_mysql || has_mariadb)
        return 0;
    puts("skipped: PAWL_TEST_MYSQL and PAWL_TEST_MARIADB name no server");
    return SKIPPED;
}
__attribute__((weak)) int (*const tests_missing)(void) = fixtures_are_missing;

static inline pawl_code open_at(fixture *p, const char *url, int64_t deadline_ms,
                                pawl_store **store)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    options.tables             = order_tables;
    options.table_count        = 1;
    options.deadline           = PAWL_MILLISECONDS(deadline_ms);
    *store                     = NULL;
    return fixture_open(p, url, &options, store);
}

static inline void send_rows(fixture *p, pawl_store *store, size_t count)
{
    pawl_queue_send *sends = pawl_arena_take(p->arena, count * sizeof *sends);
    pawl_changes changes   = {.now = NOW, ONE_UNIT, .queue_send = {.items = sends, .count = count}};
    assert_non_null(sends);
    for (size_t i = 0; i < count; i++)
        sends[i] = send_of("orders", pawl_arena_printf(p->arena, "m-%zu", i).data);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

/* The ids have a byte each. */
static inline pawl_code send_three(fixture *p, pawl_store *store, const char *ids)
{
    pawl_queue_send sends[3];
    for (size_t i = 0; i < COUNT(sends); i++)
        sends[i] = (pawl_queue_send){
            .queue   = TEXT("orders"),
            .due     = NOW,
            .message = {.id = {.data = ids + i, .size = 1}, .type = TEXT("t"), .body = TEXT("{}")}};
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_send = {sends, COUNT(sends)}};
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static inline pawl_code schema_at(fixture *p, pawl_schema_verb verb, pawl_line_fn *line,
                                  void *context)
{
    pawl_schema_spec spec = {.tables = order_tables, .table_count = 1};
    return pawl_store_schema(p->url, verb, &spec, line, context, &p->error);
}

static inline void no_line(pawl_text line, void *context)
{
}

static inline void apply(fixture *p)
{
    ok(p, schema_at(p, PAWL_SCHEMA_APPLY, no_line, NULL));
}

#endif
