/* server_empty.c - one statement for each table, or a removal for each collection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/server_empty.h"

#include "support/mongodb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSIONS "schema" /* the table of versions, behind its prefix */

#if PAWL_HAVE_POSTGRES
#include <libpq-fe.h>

/* The server's own loop: one round trip. */
static const char postgres_delete[] =
    "do $$ declare name text; is_there bool := false; begin set local lock_timeout = '5s';"
    " for name in select format('%%I.%%I', schemaname, tablename) from pg_tables"
    " where starts_with(tablename, '%s') and right(tablename, 6) <> '" VERSIONS "'"
    " loop execute 'delete from ' || name; is_there := true; end loop;"
    " if not is_there then raise exception 'the case has dropped them'; end if; end $$";

/* The connection stays: a new one reads the catalog for each of the tables again. */
static bool postgres_empty(const char *url, const char *prefix)
{
    static PGconn *connection;
    char           plain[300], sql[sizeof postgres_delete + 60];
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(url, "?"), url);
    snprintf(sql, sizeof sql, postgres_delete, prefix);
    if (connection == NULL)
        connection = PQconnectdb(plain);
    PGresult *answer   = PQexec(connection, sql);
    bool      is_empty = PQresultStatus(answer) == PGRES_COMMAND_OK;
    if (!is_empty) {
        printf("emptying the tables: %s", PQerrorMessage(connection));
        PQfinish(connection);
        connection = NULL;
    }
    PQclear(answer);
    return is_empty;
}
#else
static bool postgres_empty(const char *url, const char *prefix)
{
    return false;
}
#endif

#if PAWL_HAVE_MYSQL
#include <mysql.h>

static bool mysql_run(MYSQL *connection, const char *sql)
{
    if (mysql_query(connection, sql) == 0)
        return true;
    printf("emptying the tables: %s\n", mysql_error(connection));
    return false;
}

/* A table that has no row is passed over: most have none. Deleted rows would stay in the indexes until the server
 * purges them, and an insert of such a key locks the gap beside it, which no case expects. */
static bool mysql_empty_table(MYSQL *connection, const char *name)
{
    char sql[200];
    snprintf(sql, sizeof sql, "select 1 from `%s` limit 1", name);
    if (!mysql_run(connection, sql))
        return false;
    MYSQL_RES *found   = mysql_store_result(connection);
    bool       has_row = found != NULL && mysql_num_rows(found) != 0;
    mysql_free_result(found);
    snprintf(sql, sizeof sql, "truncate table `%s`", name);
    return !has_row || mysql_run(connection, sql);
}

static bool mysql_empty_all(MYSQL *connection, const char *prefix)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "select table_name from information_schema.tables where table_schema = database()"
             " and left(table_name, %zu) = '%s' and right(table_name, 6) <> '" VERSIONS "'",
             strlen(prefix), prefix);
    if (!mysql_run(connection, "set lock_wait_timeout = 5, foreign_key_checks = 0") ||
        !mysql_run(connection, sql))
        return false;
    MYSQL_RES *names    = mysql_store_result(connection);
    bool       is_empty = names != NULL && mysql_num_rows(names) != 0; /* a case may drop them */
    for (MYSQL_ROW row; is_empty && (row = mysql_fetch_row(names)) != NULL;)
        is_empty = mysql_empty_table(connection, row[0]);
    mysql_free_result(names);
    return is_empty;
}

static bool mysql_empty(const char *url, const char *prefix)
{
    char     host[100], database[60];
    unsigned port;
    if (sscanf(url, "%*[a-z]://root@%99[^:]:%u/%59[^?]", host, &port, database) != 3)
        return false;
    MYSQL *connection = mysql_init(NULL);
    bool   is_empty   = connection != NULL &&
                    mysql_real_connect(connection, host, "root", NULL, database, port, NULL, 0) &&
                    mysql_empty_all(connection, prefix);
    mysql_close(connection);
    return is_empty;
}
#else
static bool mysql_empty(const char *url, const char *prefix)
{
    return false;
}
#endif

static bool mongodb_empty_prefix(const char *url, const char *prefix)
{
    return mongodb_empty(url, prefix, false);
}

/* ---- By scheme ---------------------------------------------------------- */

static const struct {
    const char *scheme;
    bool (*empty)(const char *url, const char *prefix);
} servers[] = {
    {"postgres:", postgres_empty},
    {"mysql:", mysql_empty},
    {"mariadb:", mysql_empty},
    {"mongodb:", mongodb_empty_prefix},
};

/* Its row; the number of rows: there is none. */
static size_t server_of(const char *url)
{
    size_t i = 0;
    while (i < sizeof servers / sizeof servers[0] &&
           strncmp(url, servers[i].scheme, strlen(servers[i].scheme)) != 0)
        i++;
    return i;
}

bool server_can_empty(const char *url)
{
    return server_of(url) < sizeof servers / sizeof servers[0];
}

bool server_empty(const char *url, const char *prefix)
{
    return server_can_empty(url) && servers[server_of(url)].empty(url, prefix);
}
