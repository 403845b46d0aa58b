/* open.c - connects, configures sessions, opens and closes the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/sql/dialects/families.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KILL_S 2     /* time limit of a connection that ends a statement */
#define REST_MS 1000 /* a session that was idle for longer is checked before use */
#define REST_S 300   /* as pawl_store_options.handler_time_max, for handles without handlers */
#define CONNECTION_SIZE 4200

/* ---- Connecting ---------------------------------------------------------- */

static void release(pawl__odbc_handles *of)
{
    if (of->dbc != NULL)
        (void)SQLFreeHandle(SQL_HANDLE_DBC, of->dbc);
    if (of->env != NULL)
        (void)SQLFreeHandle(SQL_HANDLE_ENV, of->env);
    *of = (pawl__odbc_handles){0};
}

/* Each connection has an environment of its own, so that none waits for another's lock. */
static bool make_handles(pawl__odbc_handles *to)
{
    *to = (pawl__odbc_handles){0};
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
    char text[CONNECTION_SIZE + 300], attributes[300];
    (void)snprintf(attributes, sizeof attributes, store->kind->attributes,
                   (long long)seconds + PAWL__ODBC_SILENCE_S,
                   (long long)seconds + PAWL__ODBC_SILENCE_S, (long long)seconds);
    (void)snprintf(text, sizeof text, "%s%s", store->url.connection, attributes);
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
    pawl_code code = pawl__odbc_code_of(store->kind->family->failures, &why, &left);
    if (code == PAWL_ELOST || code == PAWL_ETIMEOUT || code == PAWL_EPERSIST)
        code = PAWL_EUNREACHABLE;
    return pawl_error_set(error, code, "odbc: %s: no connection: %s (state %s, error %u)%s",
                          store->url.given, why.text[0] != '\0' ? why.text : "no reason given",
                          why.state[0] != '\0' ? why.state : "none", why.number,
                          pawl__odbc_remedy(code, why.state));
}

static pawl_code check_driver(const pawl__odbc *store, SQLHDBC dbc, pawl_error *error)
{
    char        name[100] = "";
    SQLSMALLINT size      = 0;
    (void)SQLGetInfo(dbc, SQL_DRIVER_NAME, name, sizeof name, &size);
    int dialect = pawl__odbc_dialect_of(name);
    if (dialect < 0)
        return pawl_error_set(
            error, PAWL_EUNSUPPORTED,
            "odbc: %s: the driver is '%s', whose failures pawl cannot read: libmaodbc.so (MariaDB), "
            "psqlodbca.so (PostgreSQL), libtdsodbc.so and libmsodbcsql (SQL Server), and libsqora "
            "(Oracle) are known",
            store->url.given, name);
    if (dialect != store->url.dialect)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "odbc: %s: the driver %s is for servers of another dialect: "
                              "'?dialect=' names the server's",
                              store->url.given, name);
    return PAWL_OK;
}

/* Refuses clusters in which a row lock on one node does not hold on the others. */
static pawl_code check_server(const pawl__sql_remote *remote, pawl_error *error)
{
    if (remote->database[0] == '\0')
        return pawl_error_set(error, PAWL_ECONFIG,
                              "odbc: %s: no database: name one by Database= in the connection "
                              "string or the data source",
                              remote->given);
    if (remote->is_cluster)
        return pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "odbc: %s: the server is a node of a Galera cluster, which pawl "
                              "reaches by mariadb:// alone",
                              remote->given);
    return PAWL_OK;
}

static void take_encrypted(void *context, const pawl_text *columns)
{
    *(bool *)context |= columns[1].size != 0;
}

/* Drivers configure TLS in different ways, also in the data source, so the server is asked whether the connection is
 * encrypted. It cannot be found out whether the driver verifies the server's certificate. */
static pawl_code require_tls(const pawl__odbc *store, pawl__sql_session *session, pawl_error *error)
{
    pawl__url_tls required;
    bool          is_encrypted = false;
    pawl_code     code         = pawl__url_required_tls("odbc", &required, error);
    if (code == PAWL_OK && required != PAWL__URL_TLS_NONE)
        code = session->store->ops->ask(session, store->kind->encrypted, take_encrypted,
                                        &is_encrypted, error);
    return code != PAWL_OK
               ? code
               : pawl__url_require_tls(
                     "odbc", is_encrypted ? PAWL__URL_TLS_ENCRYPTED : PAWL__URL_TLS_NONE,
                     is_encrypted ? "whether an ODBC driver checks its server is not told: yes in "
                                    "the place of verify, and its own attributes"
                                  : "the attributes of the driver ask for encryption",
                     error);
}

static pawl_code open_session(pawl__odbc *store, pawl__odbc_connection *connection,
                              pawl_error *error)
{
    int64_t seconds = (store->remote.sql.base.deadline_ms + 999) / 1000;
    if (!make_handles(&connection->made))
        return pawl_error_set(error, PAWL_ENOMEM, "odbc: no memory for a connection");
    SQLRETURN dialled = dial(store, connection->made.dbc, seconds > 0 ? seconds : 1);
    if (!SQL_SUCCEEDED(dialled)) {
        pawl_code code = refused(store, connection->made.dbc, error);
        release(&connection->made);
        return code;
    }
    connection->session.is_made = true;
    return check_driver(store, connection->made.dbc, error);
}

/* Rolls back by a statement, which has a deadline, since a disconnect may commit an open transaction. Then ends the
 * driver's transaction, with which it may refuse to disconnect. */
static void roll_back(pawl__odbc_connection *connection)
{
    pawl__sql_session *session = &connection->session;
    SQLUINTEGER        dead    = SQL_CD_FALSE;
    (void)SQLGetConnectAttr(connection->made.dbc, SQL_ATTR_CONNECTION_DEAD, &dead, sizeof dead,
                            NULL);
    if (dead == SQL_CD_TRUE)
        return;
    session->is_lost        = false;
    session->is_undone      = false;
    session->in_transaction = true; /* so that the driver does not commit by itself */
    (void)pawl__wait_take(&pawl__odbc_store_of(connection)->remote.server.wait);
    if (pawl__sql_query(session, "rollback", NULL) == PAWL_OK)
        (void)SQLEndTran(SQL_HANDLE_DBC, connection->made.dbc, SQL_ROLLBACK);
}

void pawl__odbc_disconnect(pawl__sql_session *session)
{
    pawl__odbc_connection *connection = pawl__odbc_connection_of(session);
    if (connection->is_manual)
        roll_back(connection);
    pawl__sql_session_closed(session);
    if (connection->made.dbc != NULL && !session->is_callers) {
        (void)SQLDisconnect(connection->made.dbc);
        release(&connection->made);
    }
    pawl__odbc_round_forget(session);
    pawl_free(connection->round);
    connection->round     = NULL;
    connection->is_manual = false;
    connection->made      = (pawl__odbc_handles){0};
}

bool pawl__odbc_kill_query(const pawl__odbc *store, int64_t session)
{
    pawl__odbc_handles made;
    SQLHSTMT           stmt    = NULL;
    bool               is_done = false;
    char               text[100];
    if (store->kind->kill == NULL || session == 0 || !make_handles(&made))
        return false;
    (void)snprintf(text, sizeof text, store->kind->kill, (long long)session);
    if (SQL_SUCCEEDED(dial(store, made.dbc, KILL_S))) {
        is_done = SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, made.dbc, &stmt)) &&
                  SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)text, SQL_NTS));
        pawl__odbc_free(stmt);
        (void)SQLDisconnect(made.dbc);
    }
    release(&made);
    return is_done;
}

pawl_code pawl__odbc_connect(pawl__sql_session *session, pawl_error *error)
{
    pawl__odbc_connection *connection = pawl__odbc_connection_of(session);
    pawl_code              code = open_session(pawl__odbc_store_of(connection), connection, error);
    if (code == PAWL_OK)
        code = session->store->family->begin(session, error);
    if (code == PAWL_OK)
        code = check_server(pawl__sql_remote_at(session), error);
    return code == PAWL_OK ? require_tls(pawl__odbc_store_of(connection), session, error) : code;
}

/* ---- The handle ---------------------------------------------------------- */

/* An idle session does not notice that it has ended, so it is checked, unless it answered recently. */
pawl_code pawl__odbc_ready(pawl_store *base, pawl_error *error)
{
    pawl__odbc        *store = pawl__odbc_of(base);
    pawl__sql_session *main  = &store->main.session;
    (void)pawl__wait_take(&store->remote.server.wait);
    if (main->is_made && !main->is_lost && !main->is_undone &&
        pawl__clock_ms() - store->watch.ended_ms > REST_MS)
        (void)pawl__sql_query(main, store->kind->session_check, NULL);
    return pawl__sql_remote_ready(base, error);
}

static pawl_code shorten(pawl__odbc *store, pawl_error *error)
{
    if (store->url.dialect != PAWL__ODBC_ORACLE)
        return pawl_error_set(error, PAWL_ECONFIG, "odbc: names=30 is for dialect=oracle alone");
    store->remote.sql.dialect = &pawl__oracle_short_dialect;
    return PAWL_OK;
}

pawl_code pawl__odbc_open(pawl_store *base, const char *url, const pawl_store_options *options,
                          pawl_error *error)
{
    pawl__odbc *store = pawl__odbc_of(base);
    pawl_code   code  = pawl__odbc_url_read(&store->url, url, error);
    if (code == PAWL_OK && store->url.names != 0)
        code = shorten(store, error);
    if (code == PAWL_OK) {
        store->kind              = &pawl__odbc_kinds[store->url.dialect];
        store->remote.sql.family = store->kind->family;
        store->remote.rest_s     = REST_S;
        store->remote.given      = store->url.given;
        code = pawl__sql_remote_open(base, pawl__odbc_ops_of(store->kind), &store->main.session,
                                     &store->side.session, error);
    }
    if (code == PAWL_OK)
        code = pawl__odbc_watch_start(store, error);
    return code == PAWL_OK ? pawl__sql_family_open(&store->remote, options, error) : code;
}

void pawl__odbc_close(pawl_store *base)
{
    pawl__odbc *store   = pawl__odbc_of(base);
    bool        is_ours = pawl__wait_is_ours(&store->remote.server.wait);
    pawl__sql_remote_close(base);
    if (is_ours)
        pawl__odbc_watch_stop(store); /* in a child process the thread is the parent's */
    pawl__odbc_url_free(&store->url);
}
