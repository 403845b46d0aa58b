/* server_mysql.c - stores on MySQL and MariaDB: each is a database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/server.h"
#include "support/world.h"

#ifdef PAWL_HAVE_MYSQL

#include <mysql.h>

/* Connects by "mysql://user@host:port/database?...", the form of the tests' server URLs. */
static MYSQL *dial(const char *server, const char *database)
{
    char     user[100], host[100];
    unsigned port = 0;
    MYSQL   *made = mysql_init(NULL);
    assert_non_null(made);
    if (sscanf(server, "%*[a-z]://%99[^@:]@%99[^:]:%u/", user, host, &port) != 3)
        fail_msg("%s is not a URL of user@host:port", server);
    mysql_options(made, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(made, host, user, NULL, database, port, NULL, CLIENT_FOUND_ROWS) == NULL)
        fail_msg("%s: %s", server, mysql_error(made));
    return made;
}

/* In MySQL "name" is a text by default, so "..." becomes `...`. */
static void quote(const char *sql, char *text, size_t size)
{
    size_t used = 0;
    assert_true(strlen(sql) < size);
    for (; *sql != '\0'; sql++)
        text[used++] = *sql == '"' ? '`' : *sql;
    text[used] = '\0';
}

/* Returns the first value of each row, separated by blanks. */
static bool try(void *native, const char *sql, char *text, size_t size)
{
    char   quoted[2000];
    size_t used = 0;
    quote(sql, quoted, sizeof quoted);
    bool is_ok = mysql_query(native, quoted) == 0;
    text[0]    = '\0';
    if (is_ok) {
        MYSQL_RES *rows = mysql_store_result(native);
        for (MYSQL_ROW row; rows != NULL && (row = mysql_fetch_row(rows)) != NULL && used < size;)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "",
                                     row[0] != NULL ? row[0] : "");
        mysql_free_result(rows);
    } else {
        snprintf(text, size, "%s", mysql_error(native));
    }
    return is_ok;
}

static bool leave(void *native, const char *sql)
{
    return mysql_query(native, sql) == 0;
}

/* The connection to the server, made at first use. */
static MYSQL *connection(const char *server)
{
    static MYSQL *made[2];
    static char   servers[2][200];
    size_t        i = 0;
    while (i < 1 && made[i] != NULL && strcmp(servers[i], server) != 0)
        i++;
    if (made[i] == NULL || strcmp(servers[i], server) != 0) {
        made[i] = dial(server, NULL);
        snprintf(servers[i], sizeof servers[i], "%s", server);
        mysql_query(made[i], "set session lock_wait_timeout = 60, foreign_key_checks = 0, "
                             "group_concat_max_len = 1000000");
        /* MySQL caches a table's next number for a day in its statistics. */
        mysql_query(made[i], "set session information_schema_stats_expiry = 0");
    }
    return made[i];
}

/* %1$s is the database. False: the reason is on standard error. */
static bool ask(const char *server, const char *template, const char *name, char *text, size_t size)
{
    char sql[3000];
    snprintf(sql, sizeof sql, template, name);
    bool is_ok = try(connection(server), sql, text, size);
    if (!is_ok)
        fprintf(stderr, "%s: %s: %s\n", name, sql, text);
    return is_ok;
}

static void make_url(const char *server, const char *name, char *url, size_t size)
{
    char        text[200];
    const char *path = strchr(strstr(server, "://") + 3, '/');
    if (!ask(server, "create database if not exists `%1$s`", name, text, sizeof text))
        fail_msg("%s: no database", name);
    snprintf(url, size, "%.*s/%s", (int)(path - server), server, name);
}

static const char describe_columns[] =
    "select left(sha2(group_concat(concat_ws(' ', table_name, column_name, column_type,"
    "  collation_name, is_nullable, extra) order by table_name, column_name), 256), 18)"
    "  from information_schema.columns where table_schema = '%1$s' and table_name like 'pawl\\_%%'";
static const char describe_indexes[] =
    "select left(sha2(group_concat(concat_ws(' ', table_name, index_name, column_name, non_unique)"
    "  order by table_name, index_name, seq_in_index), 256), 18)"
    "  from information_schema.statistics where table_schema = '%1$s'"
    "  and table_name like 'pawl\\_%%'";

static void describe(const char *server, const char *name, char *text, size_t size)
{
    size_t used = 0;
    if (!ask(server, describe_columns, name, text, size))
        fail_msg("%s cannot be described", name);
    used = strlen(text);
    (void)ask(server, describe_indexes, name, text + used, size - used);
    used = strlen(text);
    (void)ask(server, "select Version from `%1$s`.pawl_schema", name, text + used, size - used);
}

/* Runs the template for each table; names are separated by slashes. %1$s is the database, %2$s the table. */
static void ask_each(const char *server, const char *template, const char *name, char *tables)
{
    char sql[400], text[400];
    for (char *table = strtok(tables, "/"); table != NULL; table = strtok(NULL, "/")) {
        snprintf(sql, sizeof sql, template, name, table);
        if (!try(connection(server), sql, text, sizeof text))
            fail_msg("%s: %s: %s", name, sql, text);
    }
}

#define TABLES                                                                      \
    "select group_concat(table_name separator '/') from information_schema.tables " \
    "where table_schema = '%1$s' and table_name "

/* Truncating a table costs as much as creating it, so only tables that assigned a number are truncated. The rows of the
 * others are deleted in one commit. */
static void empty(const char *server, const char *name)
{
    char own[8000], numbered[1000], shared[4000], text[100];
    if (!ask(server, TABLES "not like 'pawl\\_%%'", name, own, sizeof own) ||
        !ask(server, TABLES "like 'pawl\\_%%' and auto_increment > 1", name, numbered,
             sizeof numbered) ||
        !ask(server, TABLES "like 'pawl\\_%%' and table_name <> 'pawl_schema'", name, shared,
             sizeof shared))
        fail_msg("%s cannot be emptied", name);
    ask_each(server, "drop table `%1$s`.`%2$s`", name, own);
    ask_each(server, "truncate table `%1$s`.`%2$s`", name, numbered);
    (void)ask(server, "start transaction", name, text, sizeof text);
    ask_each(server, "delete from `%1$s`.`%2$s`", name, shared);
    (void)ask(server, "commit", name, text, sizeof text);
}

/* Ends sessions that a failed test left open first. */
static bool drop(const char *server, const char *name)
{
    char sessions[2000], text[200];
    if (!ask(server,
             "select id from information_schema.processlist where db = '%1$s' and id <> "
             "connection_id()",
             name, sessions, sizeof sessions))
        return false;
    for (char *id = strtok(sessions, " "); id != NULL; id = strtok(NULL, " ")) {
        char sql[60];
        snprintf(sql, sizeof sql, "kill %.20s", id);
        (void)try(connection(server), sql, text, sizeof text);
    }
    return ask(server, "drop database if exists `%1$s`", name, text, sizeof text);
}

static void *connect_to(const char *server, const char *name)
{
    return dial(server, name);
}

static void disconnect(void *native)
{
    mysql_close(native);
}

#else

static void make_url(const char *server, const char *name, char *url, size_t size)
{
    fail_msg("%s: %s: built without libmariadb", server, name);
}

static void describe(const char *server, const char *name, char *text, size_t size)
{
    make_url(server, name, text, size);
}

static void empty(const char *server, const char *name)
{
    make_url(server, name, NULL, 0);
}

static bool drop(const char *server, const char *name)
{
    return false;
}

static void *connect_to(const char *server, const char *name)
{
    make_url(server, name, NULL, 0);
    return NULL;
}

static void disconnect(void *native)
{
}

static bool try(void *native, const char *sql, char *text, size_t size)
{
    snprintf(text, size, "%s: built without libmariadb", sql);
    return false;
}

static bool leave(void *native, const char *sql)
{
    return false;
}

#endif

#define OPS                                                                         \
    {                                                                               \
        .url = make_url, .describe = describe, .empty = empty, .drop = drop,        \
        .connect = connect_to, .disconnect = disconnect, .try = try, .leave = leave \
    }

const server_ops server_mysql_ops   = OPS;
const server_ops server_mariadb_ops = OPS;
