/* postgres_raw.h - the server that the environment names, without pawl.
 *
 * A statement that fails, or an answer that does not come, fails the test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_POSTGRES_RAW_H
#define PAWL_TESTS_CONTRACT_POSTGRES_RAW_H

#include "support/required.h"
#include "support/tests.h"

#include <libpq-fe.h>
#include <poll.h>
#include <time.h>

#define PATIENCE_MS 120000 /* for what must come */

/* ---- Whether there is a server ------------------------------------------ */

static inline const char *fixture_server(void)
{
    const char *url = getenv("PAWL_TEST_POSTGRES");
    return url != NULL && url[0] != '\0' ? url : NULL;
}

/* The program's exit code where there is no server. */
static inline int fixture_skip(void)
{
    puts("skipped: PAWL_TEST_POSTGRES names no server");
    return server_may_be_missing("postgres") ? 77 : 1;
}

static inline int fixture_is_missing(void)
{
    return fixture_server() != NULL ? 0 : fixture_skip();
}
__attribute__((weak)) int (*const tests_missing)(void) = fixture_is_missing;

/* ---- Statements --------------------------------------------------------- */

static inline PGconn *raw_open(const char *schema)
{
    PGconn *pg = PQconnectdb(fixture_server());
    if (PQstatus(pg) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(pg));
    PQclear(PQexec(
        pg, test_text("set search_path = \"%s\"; set client_min_messages = warning", schema)));
    return pg;
}

static inline void raw_run(PGconn *pg, const char *sql)
{
    PGresult      *result = PQexec(pg, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(pg));
    PQclear(result);
}

/* First column of the first row, copied to `text`; "" for null and no row. */
static inline void raw_text(PGconn *pg, const char *sql, char *text, size_t size)
{
    PGresult *result = PQexec(pg, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(pg));
    snprintf(text, size, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
}

static inline int64_t raw_number(PGconn *pg, const char *sql)
{
    char text[100];
    raw_text(pg, sql, text, sizeof text);
    return text[0] != '\0' ? strtoll(text, NULL, 10) : -1;
}

static inline int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until the statement selects that number, within a transaction as well. */
static inline void raw_wait(PGconn *pg, const char *sql, int64_t number)
{
    int64_t end = clock_ms() + PATIENCE_MS, found;
    while ((found = raw_number(pg, sql)) != number) {
        if (clock_ms() > end)
            fail_msg("%s: is %lld, not %lld", sql, (long long)found, (long long)number);
        (void)poll(NULL, 0, 2);
        raw_run(pg, "select pg_stat_clear_snapshot()");
    }
}

static inline void expect_raw_text(PGconn *pg, const char *sql, const char *expected)
{
    char text[1000];
    raw_text(pg, sql, text, sizeof text);
    assert_string_equal(text, expected);
}

/* The server refuses the statement with this SQLSTATE, and names `part`. */
static inline void expect_refused(PGconn *pg, const char *sql, const char *state, const char *part)
{
    PGresult   *result = PQexec(pg, sql);
    const char *found  = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (found == NULL || strcmp(found, state) != 0 ||
        strstr(PQresultErrorMessage(result), part) == NULL)
        fail_msg("%s: is %s '%s', expected %s '%s'", sql, found != NULL ? found : "no error",
                 PQresultErrorMessage(result), state, part);
    PQclear(result);
}

#endif
