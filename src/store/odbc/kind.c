/* kind.c - kinds of servers: what a family of them needs of the connection, as a table by dialect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/sql/dialects/mssql_family.h"
#include "store/sql/dialects/mysql_family.h"
#include "store/sql/dialects/oracle_family.h"
#include "store/sql/dialects/postgres_family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IN_HANDLER_S 300 /* a transaction that rests is ended, where the server can do that */

/* ---- MySQL and MariaDB ------------------------------------------------------ */

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
static pawl_code begin_mysql(pawl__sql_session *session, pawl_error *error)
{
    pawl__odbc_connection *connection = pawl__odbc_connection_of(session);
    pawl_code              code       = ask_session(connection, error);
    if (code == PAWL_OK)
        code =
            pawl__mysql_set_session(session, "session collation_connection =", IN_HANDLER_S, error);
    return code == PAWL_OK ? check_cluster(connection, error) : code;
}

static pawl_code is_open_mysql(pawl__sql_session *session, bool *is_open, pawl_error *error)
{
    int64_t   number = 0;
    pawl_code code =
        pawl__sql_ask_number(session,
                             session->is_callers ? "select @@in_transaction or not @@autocommit"
                                                 : "select @@in_transaction",
                             &number, error);
    *is_open = code == PAWL_OK && number != 0;
    return code;
}

/* ---- The table ---------------------------------------------------------------- */

const pawl__odbc_kind pawl__odbc_kinds[pawl__odbc_dialect_count] = {
    [PAWL__ODBC_MYSQL] =
        {
            .family    = &pawl__mysql_family,
            .text_type = SQL_C_BINARY,
            .kill      = "kill query %lld",
            .rest      = "do 0",
            .begin     = begin_mysql,
            .is_open   = is_open_mysql,
        },
    [PAWL__ODBC_POSTGRES] =
        {
            .family    = &pawl__pg_family,
            .has_casts = true,
            .text_type = SQL_C_CHAR,
            .kill      = "select pg_cancel_backend(%lld)",
            .rest      = "select 1",
            .begin     = pawl__pg_session_begin,
            .is_open   = pawl__pg_is_in_transaction,
        },
    [PAWL__ODBC_MSSQL] =
        {
            .family     = &pawl__mssql_family,
            .text_type  = SQL_C_WCHAR,
            .extra      = PAWL__ODBC_EXTRA_BEHIND,
            .append_set = pawl__mssql_append_set,
            .rest       = "select 1",
            .begin      = pawl__mssql_begin,
            .is_open    = pawl__mssql_is_open,
        },
    [PAWL__ODBC_ORACLE] =
        {
            .family    = &pawl__oracle_family,
            .by_words  = true,
            .text_type = SQL_C_CHAR,
            .extra     = PAWL__ODBC_EXTRA_BEFORE,
            .text_max  = 4000,
            .bytes_max = 2000,
            .rest      = "begin null; end;",
            .begin     = pawl__oracle_begin,
            .is_open   = pawl__oracle_is_open,
        },
};
