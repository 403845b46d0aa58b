/* fixture.c - databases of the server that the URL names: pawl_bench_0 is filled
 * once, pawl_bench_1 is the copy that a round works off, pawl_bench_2 is the second
 * store.
 *
 * The tables of all three are made by pawl, once. A copy empties those of the round,
 * which gives them new files, and inserts the filled rows in the order of their keys,
 * in which they lie.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "limit_mysql.h"

#include "store/mysql/url.h"

#include <stdio.h>
#include <string.h>

#define DATABASE "pawl_bench_"
#define ALREADY_EXISTS 1007 /* the database that is to be made */

/* ---- URLs ----------------------------------------------------------------- */

/* The database's name stands between the host and the parameters; a user and a
 * password before the host may hold any letter but '@'. */
static pawl_code name_url(const char *url, int number, char named[PAWL_URL_SIZE_MAX + 1],
                          pawl_error *error)
{
    const char *slashes = strstr(url, "://");
    const char *from    = slashes != NULL ? slashes + 3 : url + strcspn(url, ":");
    const char *user    = from + strcspn(from, "@?/");
    const char *host    = *user == '@' ? user + 1 : from;
    const char *path    = host + strcspn(host, "/?");
    const char *rest    = path + strcspn(path, "?");
    int size = snprintf(named, PAWL_URL_SIZE_MAX + 1, "%.*s/" DATABASE "%d%s", (int)(path - url),
                        url, number, rest);
    if (size < 0 || size > PAWL_URL_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "URL of the store: with '" DATABASE "%d' it has %d bytes, limit %d",
                              number, size, PAWL_URL_SIZE_MAX);
    return PAWL_OK;
}

/* Of a URL that name_url made. */
static int number_of(const char *url)
{
    const char *name = strstr(url, "/" DATABASE);
    return name != NULL ? name[strlen("/" DATABASE)] - '0' : 0;
}

/* ---- Statements ----------------------------------------------------------- */

static void set_options(MYSQL *db, const pawl__mysql_url *url)
{
    my_bool is_required = url->tls >= PAWL__MYSQL_TLS_REQUIRED;
    my_bool is_checked  = url->tls == PAWL__MYSQL_TLS_VERIFY;
    pawl__mysql_url_pass(url, db);
    (void)mysql_optionsv(db, MYSQL_OPT_SSL_ENFORCE, &is_required);
    (void)mysql_optionsv(db, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &is_checked);
}

/* To the first host of the URL, as the driver would, and to none of its databases. */
static pawl_code connect_to(const char *url, MYSQL **db, pawl_error *error)
{
    pawl__mysql_url own;
    pawl_code       code = pawl__mysql_url_read(&own, url, mysql_get_client_version(), error);
    *db                  = code == PAWL_OK ? mysql_init(NULL) : NULL;
    if (code == PAWL_OK && *db == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for a connection");
    if (code == PAWL_OK) {
        const pawl__url_host *host = &own.parts.hosts[0];
        set_options(*db, &own);
        if (mysql_real_connect(*db, host->name[0] != '\0' ? host->name : NULL, own.parts.user,
                               own.parts.password, NULL, host->port, own.socket, 0) == NULL)
            code = pawl_error_set(error, PAWL_EUNREACHABLE, "mysql: %s", mysql_error(*db));
    }
    pawl__mysql_url_free(&own);
    return code;
}

static void disconnect(MYSQL *db)
{
    if (db != NULL)
        mysql_close(db);
}

static pawl_code run(MYSQL *db, const char *sql, pawl_error *error)
{
    if (mysql_query(db, sql) == 0) {
        mysql_free_result(mysql_use_result(db)); /* of `analyze table` */
        return PAWL_OK;
    }
    if (mysql_errno(db) == ALREADY_EXISTS)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "mysql: %s: the benchmark makes that database and drops it; when no "
                              "other benchmark runs on this server, drop it",
                              mysql_error(db));
    return pawl_error_set(error, PAWL_EPERSIST, "mysql: %s: %s", sql, mysql_error(db));
}

static pawl_code run_numbered(MYSQL *db, const char *format, int number, pawl_error *error)
{
    char sql[200];
    (void)snprintf(sql, sizeof sql, format, number);
    return run(db, sql, error);
}

/* Runs the statements that the statement `maker` makes: one in each of its rows. */
static pawl_code run_made(MYSQL *db, const char *maker, pawl_error *error)
{
    MYSQL_ROW row;
    if (mysql_query(db, maker) != 0)
        return pawl_error_set(error, PAWL_EPERSIST, "mysql: %s", mysql_error(db));
    MYSQL_RES *made = mysql_store_result(db);
    pawl_code  code = made != NULL ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "no memory");
    while (code == PAWL_OK && (row = mysql_fetch_row(made)) != NULL)
        code = run(db, row[0], error);
    mysql_free_result(made);
    return code;
}

/* ---- The kind of store ---------------------------------------------------- */

static pawl_code drop_database(const char *url, pawl_error *error)
{
    MYSQL    *db   = NULL;
    pawl_code code = connect_to(url, &db, error);
    if (code == PAWL_OK)
        code = run_numbered(db, "drop database if exists " DATABASE "%d", number_of(url), error);
    disconnect(db);
    return code;
}

/* All three or none. */
static pawl_code make_databases(const char *url, pawl_error *error)
{
    int       made = 0;
    MYSQL    *db   = NULL;
    pawl_code code = connect_to(url, &db, error);
    while (code == PAWL_OK && made < 3) {
        code =
            run_numbered(db, "create database " DATABASE "%d character set utf8mb4", made, error);
        made += code == PAWL_OK;
    }
    for (int i = 0; code != PAWL_OK && i < made; i++)
        (void)run_numbered(db, "drop database " DATABASE "%d", i, NULL);
    disconnect(db);
    return code;
}

static pawl_code take_databases(const char *url, pawl__bench_fixture *fixture, pawl_error *error)
{
    const char *urls[] = {fixture->filled, fixture->round, fixture->target};
    pawl_code   code   = name_url(url, 0, fixture->filled, error);
    if (code == PAWL_OK)
        code = name_url(url, 1, fixture->round, error);
    if (code == PAWL_OK)
        code = name_url(url, 2, fixture->target, error);
    if (code == PAWL_OK)
        code = make_databases(url, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; code == PAWL_OK && i < 3; i++)
        code = pawl__bench_make_tables(urls[i], error);
    for (size_t i = 0; code != PAWL_OK && i < 3; i++)
        (void)drop_database(urls[i], NULL);
    return code;
}

/* Columns that the server computes take no value. */
#define ROWS_OF_ROUND                                                                            \
    "select concat('insert into " DATABASE "1.`', table_name, '` (', columns, ') select ', "     \
    "columns, ' from " DATABASE "0.`', table_name, '`') from (select table_name as table_name, " \
    "group_concat('`', column_name, '`' order by ordinal_position) as columns from "             \
    "information_schema.columns where table_schema = '" DATABASE "0' and "                       \
    "extra not like '%generated%' group by table_name) as tables"

static pawl_code copy_database(const pawl__bench_fixture *fixture, pawl_error *error)
{
    static const char *const makers[] = {
        "select 'set foreign_key_checks = 0' union all "
        "select 'set session group_concat_max_len = 65536'",
        "select concat('truncate table ', table_schema, '.`', table_name, '`') from "
        "information_schema.tables where table_schema in ('" DATABASE "1', '" DATABASE "2')",
        ROWS_OF_ROUND,
        "select 'insert into " DATABASE "2." PAWL__BENCH_PREFIX "schema select * from " DATABASE
        "0." PAWL__BENCH_PREFIX "schema'",
        "select concat('analyze table ', table_schema, '.`', table_name, '`') from "
        "information_schema.tables where table_schema = '" DATABASE "1'",
        "select 'set foreign_key_checks = 1'",
    };
    MYSQL    *db   = NULL;
    pawl_code code = connect_to(fixture->round, &db, error);
    for (size_t i = 0; code == PAWL_OK && i < sizeof makers / sizeof makers[0]; i++)
        code = run_made(db, makers[i], error);
    disconnect(db);
    return code;
}

static const pawl__bench_limit limits[] = {
    {"append", pawl__bench_mysql_append},
    {"latency", pawl__bench_mysql_latency},
    {"no-op", pawl__bench_mysql_saga_step},
    {"outbox-drain", pawl__bench_mysql_outbox_drain},
    {"saga-step", pawl__bench_mysql_saga_step},
    {"timeouts", pawl__bench_mysql_timeouts},
    {NULL, NULL},
};

const pawl__bench_kind pawl_bench_kind = {.kind_size = sizeof(pawl__bench_kind),
                                          .take      = take_databases,
                                          .copy      = copy_database,
                                          .drop      = drop_database,
                                          .limits    = limits};
