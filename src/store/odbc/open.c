/* open.c - connecting, the settings of pawl's sessions, and the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IN_HANDLER_S 300 /* a transaction that rests is ended, where the server can do that */
#define KILL_S 2         /* of a connection that ends a statement */
#define SILENCE_S 5      /* behind the deadline of a call a server that says nothing is given up */
#define REST_MS 1000     /* a session that rested longer is asked whether it is there */
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
    pawl__sql_left       left;
    pawl__odbc_diagnose_handle(SQL_HANDLE_DBC, dbc, &why);
    /* The number of a driver that is not known yet: the state stands beside it. */
    pawl_code code = pawl__odbc_code_of(pawl__odbc_driver_find("libmaodbc"), &why, &left);
    if (code == PAWL_ELOST || code == PAWL_ETIMEOUT || code == PAWL_EPERSIST)
        code = PAWL_EUNREACHABLE;
    return pawl_error_set(error, code, "odbc: %s: no connection: %s (state %s, error %u)%s",
                          store->url.given, why.text[0] != '\0' ? why.text : "no reason given",
                          why.state[0] != '\0' ? why.state : "none", why.number,
                          pawl__odbc_remedy(code, why.state));
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
    int64_t seconds = (store->remote.sql.base.deadline_ms + 999) / 1000;
    if (!make_handles(&made))
        return pawl_error_set(error, PAWL_ENOMEM, "odbc: no memory for a connection");
    SQLRETURN dialled = dial(store, made.dbc, seconds > 0 ? seconds : 1);
    if (!SQL_SUCCEEDED(dialled)) {
        pawl_code code = refused(store, made.dbc, error);
        release(&made);
        return code;
    }
    connection->env             = made.env;
    connection->dbc             = made.dbc;
    connection->session.is_made = true;
    return check_driver(store, connection, error);
}

void pawl__odbc_disconnect(pawl__sql_session *session)
{
    pawl__odbc_connection *connection = pawl__odbc_connection_of(session);
    handles                made       = {connection->env, connection->dbc};
    pawl__sql_session_closed(session);
    if (made.dbc != NULL && !session->is_callers)
        (void)SQLDisconnect(made.dbc);
    if (!session->is_callers)
        release(&made);
    pawl_free(connection->spare);
    connection->spare = NULL;
    connection->env   = NULL;
    connection->dbc   = NULL;
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

typedef struct answer {
    pawl__odbc_connection *connection;
    char                   version[200];
} answer;

static void take_session(void *context, const pawl_text *columns)
{
    answer           *to     = context;
    pawl__sql_remote *remote = to->connection->session.remote;
    (void)snprintf(to->version, sizeof to->version, "%.*s", PAWL_TEXT_ARGS(columns[0]));
    to->connection->session.id         = strtoll(columns[1].data, NULL, 10);
    to->connection->session.packet_max = strtoul(columns[2].data, NULL, 10);
    (void)snprintf(remote->database, sizeof remote->database, "%.*s", PAWL_TEXT_ARGS(columns[3]));
}

static pawl_code ask_session(pawl__odbc_connection *connection, pawl_error *error)
{
    pawl__sql_remote *remote = connection->session.remote;
    answer            to     = {.connection = connection};
    pawl_code         code   = pawl__odbc_ask(
                  &connection->session,
                  "select version(), connection_id(), @@max_allowed_packet, coalesce(database(), '')",
                  take_session, &to, error);
    if (code == PAWL_OK && remote->database[0] == '\0')
        code = pawl_error_set(error, PAWL_ECONFIG,
                              "odbc: %s: no database: name one by Database= in the connection "
                              "string or the data source",
                              remote->given);
    return code == PAWL_OK ? pawl__mysql_check_version(remote, to.version, error) : code;
}

/* A row lock of a cluster's node is not the others'. */
static pawl_code check_cluster(pawl__odbc_connection *connection, pawl_error *error)
{
    const pawl__sql_remote *remote = connection->session.remote;
    int64_t                 is_on  = 0;
    pawl_code               code   = PAWL_OK;
    if (pawl__mysql_is_mariadb(remote))
        code = pawl__sql_ask_number(&connection->session, PAWL__MYSQL_WSREP_ON, &is_on, error);
    if (code == PAWL_OK && is_on != 0)
        code = pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "odbc: %s: the server is a node of a Galera cluster, which pawl "
                              "reaches by mariadb:// alone",
                              remote->given);
    return code;
}

/* The character set is the driver's (driver.c), which refuses SET NAMES. */
pawl_code pawl__odbc_connect(pawl__sql_session *session, pawl_error *error)
{
    pawl__odbc_connection *connection = pawl__odbc_connection_of(session);
    pawl__odbc_disconnect(session);
    pawl_code code = open_session(pawl__odbc_store_of(connection), connection, error);
    if (code == PAWL_OK)
        code = ask_session(connection, error);
    if (code == PAWL_OK)
        code =
            pawl__mysql_set_session(session, "session collation_connection =", IN_HANDLER_S, error);
    if (code == PAWL_OK)
        code = check_cluster(connection, error);
    if (code == PAWL_OK)
        code = pawl__sql_session_known(session, error);
    if (code != PAWL_OK)
        pawl__odbc_disconnect(session);
    return code;
}

/* ---- The handle ---------------------------------------------------------- */

/* A session at rest shows nothing of its end: it is asked, unless it answered just now. */
pawl_code pawl__odbc_ready(pawl_store *base, pawl_error *error)
{
    pawl__odbc        *store = pawl__odbc_of(base);
    pawl__sql_session *main  = &store->main.session;
    pawl__sql_server_calm(&store->remote.server);
    if (main->is_made && !main->is_lost && !main->is_undone &&
        pawl__sql_clock_ms() - store->watch.ended_ms > REST_MS)
        (void)pawl__odbc_query(main, "do 0", NULL);
    return pawl__sql_remote_ready(base, error);
}

pawl_code pawl__odbc_open(pawl_store *base, const char *url, const pawl_store_options *options,
                          pawl_error *error)
{
    pawl__odbc *store    = pawl__odbc_of(base);
    store->remote.family = &pawl__mysql_family;
    pawl_code code       = pawl__sql_remote_open(base, &pawl__odbc_ops, &pawl__odbc_session_ops,
                                                 &store->main.session, &store->side.session, error);
    if (code == PAWL_OK)
        code = pawl__odbc_url_read(&store->url, url, error);
    store->remote.given = store->url.given;
    if (code == PAWL_OK)
        code = pawl__odbc_watch_start(store, error);
    if (code != PAWL_OK || options->mode == PAWL_OPEN_SCHEMA)
        return code; /* schema() connects when it is called */
    code = pawl__odbc_connect(&store->main.session, error);
    if (code == PAWL_OK)
        code = pawl__mysql_schema_check(&store->remote, options, error);
    return code;
}

void pawl__odbc_close(pawl_store *base)
{
    pawl__odbc *store = pawl__odbc_of(base);
    if (pawl__sql_server_is_ours(&store->remote.server))
        pawl__odbc_watch_stop(store); /* else the thread is the parent's, too */
    pawl__sql_remote_close(base);
    pawl__odbc_url_free(&store->url);
}
