/* mysql.c - the driver's tables of operations; the last of them is the module's only exported name.
 *
 * `send` runs a request at once. Each statement sees what was committed when it began; where that is not enough, the
 * generic reads read again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include "store/sql/operations.h"
#include "store/sql/session_rows.h"

#include <string.h>

/* ---- A session ------------------------------------------------------------ */

static pawl_code may_send(pawl__sql_session *session, pawl_error *error)
{
    return pawl__mysql_may_send(pawl__mysql_connection_of(session), error);
}

/* Switches autocommit on again: a pooler may keep the server's connection for a session without autocommit. */
static void ended(pawl__sql_session *session)
{
    if (pawl__sql_remote_at(session)->server.beats)
        pawl__mysql_come_back(pawl__mysql_connection_of(session));
}

/* Did the last statement of the handler end its transaction with a failure, as a deadlock does? */
static bool is_undone(const pawl__mysql_connection *connection)
{
    pawl__sql_left left   = PAWL__SQL_STATEMENT_UNDONE;
    unsigned       number = mysql_errno(connection->mysql);
    if (number != 0)
        (void)pawl__sql_code_of(&pawl__mysql_failures, number, &left);
    return left == PAWL__SQL_TRANSACTION_UNDONE;
}

/* The server reports a change with the answer to the statement that made it, so no further statement is needed. */
static bool is_utf8(const pawl__mysql_connection *connection)
{
    return strcmp(mysql_character_set_name(connection->mysql), PAWL__MYSQL_CHARSET) == 0;
}

/* Compares with the name as the server spells it, and as the URL does. The server reports changes with its answers. */
static bool is_on_database(const pawl__mysql_connection *connection)
{
    const pawl__mysql *store = pawl__mysql_store_of(connection);
    const char        *name  = connection->mysql->db != NULL ? connection->mysql->db : "";
    return strcmp(name, store->remote.database) == 0 ||
           strcmp(name, store->url.parts.database) == 0;
}

static pawl_code is_open(pawl_store *base, bool *is_it, pawl_error *error)
{
    pawl__mysql_connection *main = &pawl__mysql_of(base)->main;
    if (pawl__mysql_pass_over(main))
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s: the handler's own SQL left a statement unfinished (rows that "
                              "were not read): nothing can be committed",
                              base->ops->scheme);
    if (is_undone(main))
        return pawl__mysql_failed(main, mysql_errno(main->mysql), mysql_error(main->mysql), error);
    if (!is_utf8(main))
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s: the handler's own SQL changed the character set to %s: pawl's "
                              "texts are " PAWL__MYSQL_CHARSET,
                              base->ops->scheme, mysql_character_set_name(main->mysql));
    if (!is_on_database(main))
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s: the handler's own SQL changed the database to %s: pawl's tables "
                              "are in %s. Name the database before the table instead",
                              base->ops->scheme, main->mysql->db != NULL ? main->mysql->db : "none",
                              pawl__sql_remote_of(base)->database);
    return pawl__sql_is_open(base, is_it, error);
}

/* A rollback does not reset the character set, and texts of later messages would be stored in it. */
static void put_back_charset(pawl__mysql_connection *connection)
{
    MYSQL *mysql  = connection->mysql;
    int    failed = 0;
    if (mysql == NULL || connection->session.is_lost || is_utf8(connection))
        return;
    if (pawl__mysql_may_send(connection, NULL) == PAWL_OK)
        PAWL__MYSQL_CALL(connection, failed, mysql_set_character_set, mysql, mysql,
                         PAWL__MYSQL_CHARSET);
    connection->session.is_lost |= failed != 0 || !is_utf8(connection) ||
                                   pawl__mysql_set_charset(&connection->session, NULL) != PAWL_OK;
}

/* A rollback does not reset the database either. Statements prepared meanwhile use tables of the other one: closes
 * them. */
static void put_back_database(pawl__mysql_connection *connection)
{
    MYSQL *mysql  = connection->mysql;
    int    failed = 0;
    if (mysql == NULL || connection->session.is_lost || is_on_database(connection))
        return;
    if (pawl__mysql_may_send(connection, NULL) == PAWL_OK)
        PAWL__MYSQL_CALL(connection, failed, mysql_select_db, mysql, mysql,
                         pawl__mysql_store_of(connection)->remote.database);
    connection->session.is_lost |= failed != 0 || !is_on_database(connection);
    pawl__sql_close_statements(&connection->session);
}

static void rollback(pawl_store *base)
{
    pawl__mysql            *store = pawl__mysql_of(base);
    pawl__mysql_connection *connection =
        pawl__mysql_connection_of(pawl__sql_session_of(store->remote.sql.connection));
    (void)pawl__mysql_pass_over(connection);
    pawl__sql_session_rollback(base);
    put_back_charset(connection);
    put_back_database(connection);
}

static int64_t found(pawl__sql_prepared *statement)
{
    MYSQL_STMT *stmt = ((pawl__mysql_statement *)statement)->stmt;
    if (statement->column_count == 0)
        return (int64_t)mysql_stmt_affected_rows(stmt);
    int64_t count = (int64_t)mysql_stmt_num_rows(stmt);
    (void)mysql_stmt_free_result(stmt);
    return count;
}

static pawl_code send_set(pawl_store *base, const pawl__sql_asked *asked, const void *const *items,
                          size_t count, pawl_arena *arena, pawl__sql_request **request,
                          pawl_error *error)
{
    pawl__sql_request *made = *request = pawl__sql_request_make(base, arena, error);
    if (made == NULL)
        return PAWL_ENOMEM;
    made->statement = pawl__mysql_load_set(made->session, asked->statement - PAWL__SQL_ON_SAGA,
                                           asked->parameters, items, count, &made->code, error);
    return made->code;
}

static int session_fd(pawl_store *base)
{
    return (int)mysql_get_socket(pawl__mysql_of(base)->main.mysql);
}

const pawl__sql_ops pawl__mysql_ops = {
    PAWL__SQL_REMOTE_OPS,
    .name           = "mysql",
    .send_set       = send_set,
    .session_fd     = session_fd,
    .write_ahead    = pawl__sql_write_ahead,
    .settle         = pawl__sql_settle,
    .statement_size = sizeof(pawl__mysql_statement),
    .connect        = pawl__mysql_connect,
    .disconnect     = pawl__mysql_disconnect,
    .may_send       = may_send,
    .ended          = ended,
    .is_open        = is_open,
    .rollback       = rollback,
    .ask            = pawl__mysql_ask,
    .prepare        = pawl__mysql_prepare,
    .close          = pawl__mysql_close_statement,
    .execute        = pawl__mysql_execute,
    .found          = found,
    .fetch          = pawl__mysql_fetch,
    .read           = pawl__mysql_read,
    .free_rows      = pawl__mysql_free_rows,
    .write_set      = pawl__mysql_write_set,
};

/* ---- The store ------------------------------------------------------------- */

/* The status comes with each successful answer; is_undone tells what a failure did. */
static bool in_transaction(pawl_store *base)
{
    const pawl__mysql_connection *main = &pawl__mysql_of(base)->main;
    return (main->mysql->server_status & SERVER_STATUS_IN_TRANS) != 0 && !is_undone(main);
}

static void *native(pawl_store *base)
{
    pawl__mysql_come_back(&pawl__mysql_of(base)->main);
    return pawl__mysql_of(base)->main.mysql;
}

/* Behind a pooler and on a cluster workers have no lock, and late heartbeats alone do not prove a crash. */
static pawl_code worker_crashed(pawl_store *base, pawl_arena *arena, pawl_worker_info **items,
                                size_t *count, pawl_error *error)
{
    if (!pawl__sql_remote_of(base)->server.beats)
        return pawl__sql_worker_crashed(base, arena, items, count, error);
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "%s: with heartbeats alone crashed workers cannot be detected",
                          base->ops->scheme);
}

/* The client command for remedies names no user, since they may need more rights than this one has. */
static pawl_code diagnose(pawl_store *base, const pawl_diagnosis *asked, pawl_arena *arena,
                          pawl_finding_rows *rows, pawl_error *error)
{
    const MYSQL   *mysql  = pawl__mysql_of(base)->main.mysql;
    const char    *socket = pawl__mysql_of(base)->url.socket;
    pawl__sql_text client = {0};
    pawl__sql_append(&client, pawl__sql_remote_of(base)->sql.dialect->name);
    if (socket != NULL) {
        pawl__sql_append_option(&client, " -S ", pawl_text_of(socket));
    } else {
        pawl__sql_append_option(&client, " -h ",
                                pawl_text_of(mysql->host != NULL ? mysql->host : "localhost"));
        pawl__sql_appendf(&client, " -P %u", mysql->port);
    }
    pawl__sql_append_option(&client, " -D ", pawl_text_of(pawl__sql_remote_of(base)->database));
    pawl__sql_append(&client, " -e");
    pawl_code code = client.is_failed
                         ? pawl__sql_no_memory(base, "a check", error)
                         : pawl__sql_family_diagnose(base, client.data, asked, arena, rows, error);
    pawl__sql_text_free(&client);
    return code;
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size         = sizeof(pawl_store_ops),
    .abi              = PAWL_ABI,
    .scheme           = "mysql",
    .store_size       = sizeof(pawl__mysql),
    .open             = pawl__mysql_open,
    .close            = pawl__mysql_close,
    .schema           = pawl__sql_family_schema,
    .interrupt        = pawl__sql_interrupt,
    .native           = native,
    .in_transaction   = in_transaction,
    .native_type      = "MYSQL",
    .enlist           = pawl__mysql_enlist,
    .ready            = pawl__mysql_ready,
    .wait             = pawl__mysql_wait,
    .diagnose         = diagnose,
    .worker_crashed   = worker_crashed,
    .worker_heartbeat = pawl__sql_worker_heartbeat,
    PAWL__SQL_REMOTE_OPERATIONS,
    PAWL__SQL_OPERATIONS,
};
