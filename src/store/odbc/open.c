/* open.c - connecting, the settings of pawl's sessions, and the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MYSQL_VERSION_MIN 80001 /* skip locked */
#define MARIADB_VERSION_MIN 100600
#define KILL_S 2        /* of a connection that ends a statement */
#define CLOSE_MS 2000   /* a rollback that takes longer is left to the server */
#define IDLE_S 31536000 /* a sender that rests keeps its session, and with it its worker's lock */
#define SILENCE_S 5     /* behind the deadline of a call a server that says nothing is given up */
#define REST_MS 1000    /* a session that rested longer is asked whether it is there */
#define CONNECTION_SIZE 4200

/* ---- Connecting ---------------------------------------------------------- */

typedef struct handles {
    SQLHENV env;
    SQLHDBC dbc;
} handles;

static void release(handles *of)
{
    if (of->dbc != NULL)
        (void)SQLFreeHandle(SQL_HANDLE_DBC, of->dbc);
    if (of->env != NULL)
        (void)SQLFreeHandle(SQL_HANDLE_ENV, of->env);
    *of = (handles){0};
}

/* An environment for each connection: none waits for another one's. */
static bool make_handles(handles *to)
{
    *to = (handles){0};
    if (SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &to->env)) &&
        SQL_SUCCEEDED(SQLSetEnvAttr(to->env, SQL_ATTR_ODBC_VERSION,
                                    (SQLPOINTER)(uintptr_t)SQL_OV_ODBC3, 0)) &&
        SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, to->env, &to->dbc)))
        return true;
    release(to);
    return false;
}

static SQLRETURN dial(const pawl__odbc *store, SQLHDBC dbc, int64_t seconds)
{
    char text[CONNECTION_SIZE], rest[200];
    (void)snprintf(rest, sizeof rest, pawl__odbc_attributes, (long long)seconds + SILENCE_S,
                   (long long)seconds + SILENCE_S);
    (void)snprintf(text, sizeof text, "%s%s", store->url.connection, rest);
    (void)SQLSetConnectAttr(dbc, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER)(uintptr_t)seconds,
                            SQL_IS_UINTEGER);
    return SQLDriverConnect(dbc, NULL, (SQLCHAR *)text, SQL_NTS, NULL, 0, NULL,
                            SQL_DRIVER_NOPROMPT);
}

static pawl_code refused(const pawl__odbc *store, SQLHDBC dbc, pawl_error *error)
{
    pawl__odbc_diagnosis why;
    pawl__mysql_left     left;
    pawl__odbc_diagnose_handle(SQL_HANDLE_DBC, dbc, &why);
    /* The number of a driver that is not known yet: the state stands beside it. */
    pawl_code code = pawl__odbc_code_of(pawl__odbc_driver_find("libmaodbc"), &why, &left);
    if (code == PAWL_ELOST || code == PAWL_ETIMEOUT || code == PAWL_EPERSIST)
        code = PAWL_EUNREACHABLE;
    return pawl_error_set(error, code, "odbc: %s: no connection: %s (state %s, error %u)",
                          store->url.given, why.text[0] != '\0' ? why.text : "no reason given",
                          why.state, why.number);
}

static pawl_code check_driver(pawl__odbc *store, pawl__odbc_connection *connection,
                              pawl_error *error)
{
    char        name[100] = "";
    SQLSMALLINT size      = 0;
    (void)SQLGetInfo(connection->dbc, SQL_DRIVER_NAME, name, sizeof name, &size);
    connection->driver = pawl__odbc_driver_find(name);
    if (connection->driver != NULL)
        return PAWL_OK;
    return pawl_error_set(
        error, PAWL_EUNSUPPORTED,
        "odbc: %s: the driver is '%s', whose failures pawl cannot read: MariaDB's "
        "(libmaodbc.so) is known",
        store->url.given, name);
}

static pawl_code open_session(pawl__odbc *store, pawl__odbc_connection *connection,
                              pawl_error *error)
{
    handles made;
    int64_t seconds = (store->sql.base.deadline_ms + 999) / 1000;
    if (!make_handles(&made))
        return pawl_error_set(error, PAWL_ENOMEM, "odbc: no memory for a connection");
    SQLRETURN dialled = dial(store, made.dbc, seconds > 0 ? seconds : 1);
    if (!SQL_SUCCEEDED(dialled)) {
        pawl_code code = refused(store, made.dbc, error);
        release(&made);
        return code;
    }
    connection->env = made.env;
    connection->dbc = made.dbc;
    return check_driver(store, connection, error);
}

void pawl__odbc_disconnect(pawl__odbc_connection *connection)
{
    handles made = {connection->env, connection->dbc};
    pawl__odbc_statements_close(connection);
    if (made.dbc != NULL)
        (void)SQLDisconnect(made.dbc);
    release(&made);
    connection->env            = NULL;
    connection->dbc            = NULL;
    connection->id             = 0;
    connection->is_lost        = false;
    connection->is_undone      = false;
    connection->in_transaction = false;
}

bool pawl__odbc_kill_query(const pawl__odbc *store, int64_t session)
{
    handles  made;
    SQLHSTMT stmt    = NULL;
    bool     is_done = false;
    char     text[60];
    if (session == 0 || !make_handles(&made))
        return false;
    (void)snprintf(text, sizeof text, "kill query %lld", (long long)session);
    if (SQL_SUCCEEDED(dial(store, made.dbc, KILL_S))) {
        is_done = SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, made.dbc, &stmt)) &&
                  SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)text, SQL_NTS));
        pawl__odbc_free(stmt);
        (void)SQLDisconnect(made.dbc);
    }
    release(&made);
    return is_done;
}

/* ---- The session --------------------------------------------------------- */

/* "10.11.6-MariaDB-1", "8.0.36": as 101106, 80036. */
static pawl_code check_version(pawl__odbc *store, const char *version, pawl_error *error)
{
    unsigned major = 0, minor = 0, patch = 0;
    bool     is_mariadb = strstr(version, "MariaDB") != NULL;
    store->dialect      = is_mariadb ? &pawl__mariadb_dialect : &pawl__mysql_dialect;
    (void)sscanf(version, "%u.%u.%u", &major, &minor, &patch);
    if (major * 10000 + minor * 100 + patch >=
        (is_mariadb ? MARIADB_VERSION_MIN : MYSQL_VERSION_MIN))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "odbc: %s: the server is %s, at least %s is needed (skip locked)",
                          store->url.given, version, is_mariadb ? "MariaDB 10.6" : "MySQL 8.0.1");
}

/* Settings of the session, whatever the server's are, as store/mysql has them. The character set is the
 * driver's (driver.c), which refuses SET NAMES. */
#define OURS                                                                           \
    ", session sql_select_limit = 18446744073709551615, session sql_auto_is_null = 0," \
    " session completion_type = 'NO_CHAIN', session sql_safe_updates = 0,"             \
    " session sql_big_selects = 1, session group_concat_max_len = 1048576"

static pawl_code set_session(pawl__odbc *store, pawl__odbc_connection *connection,
                             pawl_error *error)
{
    char      text[1000];
    bool      is_mariadb = store->dialect == &pawl__mariadb_dialect;
    long long wait       = (long long)((store->sql.base.deadline_ms + 999) / 1000 + 1);
    (void)snprintf(text, sizeof text,
                   "set session collation_connection = %s, session sql_mode = 'TRADITIONAL', "
                   "session time_zone = '+00:00', session autocommit = 1, "
                   "session innodb_lock_wait_timeout = %lld, session lock_wait_timeout = %lld, "
                   "session wait_timeout = %d" OURS "%s",
                   is_mariadb ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin", wait, wait, IDLE_S,
                   is_mariadb ? ", session idle_transaction_timeout = 300" : "");
    pawl_code code = pawl__odbc_query(connection, text, error);
    if (code == PAWL_OK)
        code = pawl__odbc_query(connection,
                                "set session transaction isolation level read committed", error);
    return code;
}

#define SESSION "select version(), connection_id(), @@max_allowed_packet, coalesce(database(), '')"
#define DATABASE_ID \
    "select left(sha2(concat_ws('/', @@hostname, @@port, @@datadir, database()), 256), 32)"
/* A server that was built without Galera has no such variable. */
#define WSREP_ON                                                                \
    "select max(global_value = 'ON') from information_schema.system_variables " \
    "where variable_name = 'wsrep_on'"

static pawl_code ask_session(pawl__odbc *store, pawl__odbc_connection *connection,
                             pawl_error *error)
{
    SQLHSTMT  rows = NULL;
    char      version[200], number[40];
    pawl_code code = pawl__odbc_ask(connection, SESSION, &rows, error);
    if (code != PAWL_OK)
        return code;
    version[0] = '\0';
    if (pawl__odbc_row(rows)) {
        (void)pawl__odbc_column(rows, 1, version, sizeof version);
        (void)pawl__odbc_column(rows, 2, number, sizeof number);
        connection->id = strtoll(number, NULL, 10);
        (void)pawl__odbc_column(rows, 3, number, sizeof number);
        connection->packet_max = strtoul(number, NULL, 10);
        (void)pawl__odbc_column(rows, 4, store->database, sizeof store->database);
    }
    pawl__odbc_free(rows);
    if (store->database[0] == '\0')
        return pawl_error_set(error, PAWL_ECONFIG,
                              "odbc: %s: no database: name one by Database= in the connection "
                              "string or the data source",
                              store->url.given);
    return check_version(store, version, error);
}

/* A row lock of a cluster's node is not the others'. */
static pawl_code check_cluster(pawl__odbc *store, pawl__odbc_connection *connection,
                               pawl_error *error)
{
    int64_t   is_on = 0;
    pawl_code code  = PAWL_OK;
    if (store->dialect == &pawl__mariadb_dialect)
        code = pawl__odbc_ask_number(connection, WSREP_ON, &is_on, error);
    if (code == PAWL_OK && is_on != 0)
        code = pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "odbc: %s: the server is a node of a Galera cluster, which pawl "
                              "reaches by mariadb:// alone",
                              store->url.given);
    return code;
}

pawl_code pawl__odbc_database_id(pawl__odbc_connection *connection,
                                 char database_id[PAWL__ODBC_DATABASE_ID_SIZE], pawl_error *error)
{
    SQLHSTMT  rows = NULL;
    pawl_code code = pawl__odbc_ask(connection, DATABASE_ID, &rows, error);
    database_id[0] = '\0';
    if (pawl__odbc_row(rows))
        (void)pawl__odbc_column(rows, 1, database_id, PAWL__ODBC_DATABASE_ID_SIZE);
    pawl__odbc_free(rows);
    return code;
}

/* Handles on the same data have the same identity, by whatever driver they reached it. */
static pawl_code identify(pawl__odbc *store, pawl_error *error)
{
    pawl_code code = pawl__odbc_database_id(&store->main, store->database_id, error);
    (void)snprintf(store->sql.base.identity, sizeof store->sql.base.identity, "mysql:%s/%s",
                   store->database_id, store->sql.base.system_prefix);
    return code;
}

pawl_code pawl__odbc_connect(pawl__odbc *store, pawl__odbc_connection *connection,
                             pawl_error *error)
{
    pawl__odbc_disconnect(connection);
    pawl_code code = open_session(store, connection, error);
    if (code == PAWL_OK)
        code = ask_session(store, connection, error);
    if (code == PAWL_OK)
        code = set_session(store, connection, error);
    if (code == PAWL_OK)
        code = check_cluster(store, connection, error);
    if (code == PAWL_OK && connection == &store->main)
        code = identify(store, error);
    if (code == PAWL_OK && store->lock_number != 0)
        code = pawl__odbc_worker_lock(connection, error);
    if (code != PAWL_OK)
        pawl__odbc_disconnect(connection);
    return code;
}

/* ---- The handle ---------------------------------------------------------- */

/* A lost connection took the row locks of the claims and the worker's lock with it. */
static pawl_code connect_again(pawl__odbc *store, pawl_error *error)
{
    pawl__sql_lock_lost(&store->claims);
    store->sql.in_hold  = false;
    pawl_code code      = pawl__odbc_connect(store, &store->main, error);
    store->main.is_lost = code != PAWL_OK; /* the next operation tries again */
    if (code == PAWL_OK)
        pawl_log(PAWL_LOG_INFO, "odbc: %s: connected again", store->url.given);
    return code;
}

/* A session at rest shows nothing of its end: it is asked, unless it answered just now. */
pawl_code pawl__odbc_ready(pawl_store *base, pawl_error *error)
{
    pawl__odbc *store = pawl__odbc_of(base);
    pawl__sql_server_calm(&store->server);
    if (store->main.dbc != NULL && !store->main.is_lost && !store->main.is_undone &&
        pawl__sql_clock_ms() - store->watch.ended_ms > REST_MS)
        (void)pawl__odbc_query(&store->main, "do 0", NULL);
    return store->main.is_lost || store->main.dbc == NULL ? connect_again(store, error) : PAWL_OK;
}

pawl_code pawl__odbc_open(pawl_store *base, const char *url, const pawl_store_options *options,
                          pawl_error *error)
{
    pawl__odbc *store     = pawl__odbc_of(base);
    store->sql.ops        = &pawl__odbc_ops;
    store->sql.connection = &store->main;
    store->sql.claims     = &store->claims;
    store->claims.ops     = &pawl__odbc_lock_ops;
    store->main.store     = store;
    store->side.store     = store;
    pawl_code code        = pawl__sql_server_open(base, &store->server, error);
    if (code == PAWL_OK)
        code = pawl__odbc_url_read(&store->url, url, error);
    if (code == PAWL_OK)
        code = pawl__odbc_watch_start(store, error);
    if (code != PAWL_OK || options->mode == PAWL_OPEN_SCHEMA)
        return code; /* schema() connects when it is called */
    code = pawl__odbc_connect(store, &store->main, error);
    if (code == PAWL_OK)
        code = pawl__odbc_schema_check(store, options, error);
    return code;
}

void pawl__odbc_close(pawl_store *base)
{
    pawl__odbc *store = pawl__odbc_of(base);
    if (pawl__sql_server_is_ours(&store->server)) {
        base->deadline_ms = base->deadline_ms < CLOSE_MS ? base->deadline_ms : CLOSE_MS;
        pawl__odbc_watch_stop(store);
        /* A goodbye frees the locks of the claims now. */
        pawl__odbc_disconnect(&store->side);
        pawl__odbc_disconnect(&store->main);
    } /* else the socket is the parent's, and so is the thread */
    pawl__sql_server_close(&store->server);
    pawl__odbc_url_free(&store->url);
    pawl__sql_lock_free(&store->claims);
}
