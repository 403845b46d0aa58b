/* fixture.c - schemas of the database that the URL names: pawl_bench_0 is
 * filled once, pawl_bench_1 is the copy that a round works off, pawl_bench_2 is
 * the second store.
 *
 * The tables of all three are made by pawl, once. A copy empties those of the
 * round, which gives them new files, and inserts the filled rows in the order
 * in which they lie. It ends with a checkpoint, so that the first change of any
 * page is written whole by the first round as by the last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "limit_postgres.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA "pawl_bench_"

/* ---- URLs ----------------------------------------------------------------- */

/* Where the parameters begin, at '?'; a '?' of a password is none. */
static size_t before_parameters(const char *url)
{
    const char *slashes = strstr(url, "://");
    const char *from    = slashes != NULL ? slashes + 3 : url;
    const char *user    = from + strcspn(from, "@/");
    if (*user == '@')
        from = user;
    return (size_t)(from - url) + strcspn(from, "?");
}

static bool is_named(const char *parameter, const char *name)
{
    size_t size = strlen(name);
    return strncmp(parameter, name, size) == 0 && parameter[size] == '=';
}

/* The URL without its parameters `schema` and `pooler`, which only pawl knows,
 * and with `extra` as a parameter unless that is empty. Returns its size, which
 * is over PAWL_URL_SIZE_MAX when it did not fit. */
static size_t rewrite_url(const char *url, const char *extra, char copy[PAWL_URL_SIZE_MAX + 1])
{
    size_t size = before_parameters(url);
    size_t used = size;
    if (strlen(url) + 1 + strlen(extra) > PAWL_URL_SIZE_MAX)
        return strlen(url) + 1 + strlen(extra);
    memcpy(copy, url, size);
    for (const char *at = url + size; *at != '\0'; at += size) {
        size = 1 + strcspn(at + 1, "&");
        if (is_named(at + 1, "schema") || is_named(at + 1, "pooler"))
            continue;
        copy[used] = used == before_parameters(url) ? '?' : '&';
        memcpy(copy + used + 1, at + 1, size - 1);
        used += size;
    }
    const char *mark = used == before_parameters(url) ? "?" : "&";
    int         tail = snprintf(copy + used, PAWL_URL_SIZE_MAX + 1 - used, "%s%s",
                        extra[0] != '\0' ? mark : "", extra);
    return used + (size_t)tail;
}

static pawl_code name_url(const char *url, int number, char named[PAWL_URL_SIZE_MAX + 1],
                          pawl_error *error)
{
    char extra[sizeof "schema=" SCHEMA + 12];
    (void)snprintf(extra, sizeof extra, "schema=" SCHEMA "%d", number);
    size_t size = rewrite_url(url, extra, named);
    if (size > PAWL_URL_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "URL of the store: with '%s' it has %zu bytes, limit %d", extra, size,
                              PAWL_URL_SIZE_MAX);
    return PAWL_OK;
}

/* Between two statements of a loop a pooler may change the server's session,
 * and with it the prepared statements. */
static pawl_code refuse_pooler(const char *url, pawl_error *error)
{
    const char *at = url + before_parameters(url);
    for (; *at != '\0'; at += 1 + strcspn(at + 1, "&"))
        if (is_named(at + 1, "pooler"))
            return pawl_error_set(error, PAWL_EUNSUPPORTED,
                                  "benchmarks do not run through a pooler: leave 'pooler=' out of "
                                  "the URL and name the database's own port");
    return PAWL_OK;
}

/* ---- Statements ----------------------------------------------------------- */

static void ignore_notice(void *context, const char *text)
{
    (void)context;
    (void)text;
}

/* Takes libpq's text, which ends with a newline and may hold several lines. */
static pawl_code set_failed(const char *said, const char *state, pawl_error *error)
{
    char   text[400];
    size_t size = strnlen(said, sizeof text - 1);
    while (size > 0 && said[size - 1] == '\n')
        size--;
    for (size_t i = 0; i < size; i++)
        text[i] = said[i] == '\n' ? ' ' : said[i];
    text[size] = '\0';
    if (strcmp(state, "42P06") == 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "postgres: %s: the benchmark makes that schema and drops it; when no "
                              "other benchmark runs in this database, drop it with 'drop schema "
                              "... cascade'",
                              text);
    pawl_code code = strcmp(state, "42501") == 0 ? PAWL_EDENIED : PAWL_EPERSIST;
    return pawl_error_set(error, state[0] == '\0' ? PAWL_EUNREACHABLE : code, "postgres: %s", text);
}

static pawl_code connect_to(const char *url, PGconn **db, pawl_error *error)
{
    char plain[PAWL_URL_SIZE_MAX + 1];
    (void)rewrite_url(url, "", plain);
    *db = PQconnectdb(plain);
    if (PQstatus(*db) != CONNECTION_OK)
        return set_failed(PQerrorMessage(*db), "", error);
    (void)PQsetNoticeProcessor(*db, ignore_notice, NULL);
    return PAWL_OK;
}

/* `value` may be NULL; else it is the first column of the only row, or "". */
static pawl_code run(PGconn *db, const char *sql, PGresult **value, pawl_error *error)
{
    PGresult      *result = PQexec(db, sql);
    ExecStatusType status = PQresultStatus(result);
    pawl_code      code   = PAWL_OK;
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        const char *text  = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        code =
            set_failed(text != NULL ? text : PQerrorMessage(db), state != NULL ? state : "", error);
    }
    if (value != NULL)
        *value = result;
    else
        PQclear(result);
    return code;
}

/* Runs the statements that the statement `maker` makes, if any. */
static pawl_code run_made(PGconn *db, const char *maker, pawl_error *error)
{
    PGresult *made = NULL;
    pawl_code code = run(db, maker, &made, error);
    if (code == PAWL_OK && PQntuples(made) == 1 && PQgetlength(made, 0, 0) > 0)
        code = run(db, PQgetvalue(made, 0, 0), NULL, error);
    PQclear(made);
    return code;
}

/* ---- The kind of store ---------------------------------------------------- */

const char *pawl__bench_postgres_schema(const char *url)
{
    return strstr(url + before_parameters(url), "schema=" SCHEMA) + strlen("schema=");
}

static pawl_code drop_schema(const char *url, pawl_error *error)
{
    char      sql[100];
    PGconn   *db   = NULL;
    pawl_code code = connect_to(url, &db, error);
    (void)snprintf(sql, sizeof sql, "drop schema if exists %s cascade",
                   pawl__bench_postgres_schema(url));
    if (code == PAWL_OK)
        code = run(db, sql, NULL, error);
    PQfinish(db);
    return code;
}

/* All three or none: the statements of one string are one transaction. */
static pawl_code make_schemas(const char *url, pawl_error *error)
{
    PGconn   *db   = NULL;
    pawl_code code = connect_to(url, &db, error);
    if (code == PAWL_OK)
        code = run(
            db, "create schema " SCHEMA "0; create schema " SCHEMA "1; create schema " SCHEMA "2",
            NULL, error);
    PQfinish(db);
    return code;
}

static pawl_code take_schemas(const char *url, pawl__bench_fixture *fixture, pawl_error *error)
{
    const char *urls[] = {fixture->filled, fixture->round, fixture->target};
    pawl_code   code   = refuse_pooler(url, error);
    if (code == PAWL_OK)
        code = name_url(url, 0, fixture->filled, error);
    if (code == PAWL_OK)
        code = name_url(url, 1, fixture->round, error);
    if (code == PAWL_OK)
        code = name_url(url, 2, fixture->target, error);
    if (code == PAWL_OK)
        code = make_schemas(url, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; code == PAWL_OK && i < 3; i++)
        code = pawl__bench_make_tables(urls[i], error);
    for (size_t i = 0; code != PAWL_OK && i < 3; i++)
        (void)drop_schema(urls[i], NULL);
    return code;
}

/* Tables that refer to others come behind them. */
#define ROWS_OF_ROUND                                                                         \
    "select string_agg(format('insert into " SCHEMA "1.%1$I overriding system value "         \
    "select * from " SCHEMA "0.%1$I', relname), '; ' order by exists (select from "           \
    "pg_constraint where conrelid = pg_class.oid and contype = 'f'), relname) from pg_class " \
    "where relkind = 'r' and relnamespace = '" SCHEMA "0'::regnamespace"

/* Only tables with rows: one that was found empty by a vacuum is planned for as
 * if it stayed so, and each side would scan it whole while it grows. */
#define VACUUM_OF(schema)                                                                \
    "select 'vacuum (analyze) ' || string_agg(oid::regclass::text, ', ') from pg_class " \
    "where relkind = 'r' and relnamespace = '" schema "'::regnamespace "                 \
    "and pg_relation_size(oid) > 0"

static pawl_code copy_schema(const pawl__bench_fixture *fixture, pawl_error *error)
{
    static const char *const makers[] = {
        "select 'truncate ' || string_agg(oid::regclass::text, ', ') || ' restart identity' "
        "from pg_class where relkind = 'r' and relnamespace in "
        "('" SCHEMA "1'::regnamespace, '" SCHEMA "2'::regnamespace)",
        ROWS_OF_ROUND,
        "select 'insert into " SCHEMA "2." PAWL__BENCH_PREFIX "schema select * from " SCHEMA
        "0." PAWL__BENCH_PREFIX "schema'",
        "select string_agg(format('select setval(%L, last_value, is_called) from " SCHEMA
        "0.%I', format('" SCHEMA "1.%I', relname), relname), '; ') from pg_class "
        "where relkind = 'S' and relnamespace = '" SCHEMA "0'::regnamespace",
        VACUUM_OF(SCHEMA "1"),
    };
    PGconn   *db   = NULL;
    pawl_code code = connect_to(fixture->round, &db, error);
    for (size_t i = 0; code == PAWL_OK && i < sizeof makers / sizeof makers[0]; i++)
        code = run_made(db, makers[i], error);
    /* Not every user may: then the server's own checkpoints do, more or less. */
    if (code == PAWL_OK)
        (void)run(db, "checkpoint", NULL, NULL);
    PQfinish(db);
    return code;
}

/* Autovacuum and the checkpointer would do the same a little later. */
static pawl_code settle_schema(const pawl__bench_fixture *fixture, pawl_error *error)
{
    PGconn   *db   = NULL;
    pawl_code code = connect_to(fixture->filled, &db, error);
    if (code == PAWL_OK)
        code = run_made(db, VACUUM_OF(SCHEMA "0"), error);
    if (code == PAWL_OK)
        (void)run(db, "checkpoint", NULL, NULL);
    PQfinish(db);
    return code;
}

static const pawl__bench_limit limits[] = {
    {"append", pawl__bench_postgres_append},
    {"latency", pawl__bench_postgres_latency},
    {"no-op", pawl__bench_postgres_saga_step},
    {"outbox-drain", pawl__bench_postgres_outbox_drain},
    {"saga-step", pawl__bench_postgres_saga_step},
    {"timeouts", pawl__bench_postgres_timeouts},
    {NULL, NULL},
};

const pawl__bench_kind pawl_bench_kind = {.kind_size = sizeof(pawl__bench_kind),
                                          .take      = take_schemas,
                                          .copy      = copy_schema,
                                          .drop      = drop_schema,
                                          .settle    = settle_schema,
                                          .limits    = limits,
                                          .hold      = pawl__bench_postgres_hold,
                                          .release   = pawl__bench_postgres_release};
