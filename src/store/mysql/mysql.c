/* mysql.c - the driver's tables of operations; the last of them is the module's only exported name.
 *
 * A request has run when it was sent, and its rows are here. Each statement sees what was committed when it
 * began: the generic reads look again where that is not enough.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include "store/sql/operations.h"
#include "store/sql/session_rows.h"

#include <stdio.h>

/* ---- A session ------------------------------------------------------------ */

static pawl_code may_send(pawl__sql_session *session, pawl_error *error)
{
    return pawl__mysql_may_send(pawl__mysql_connection_of(session), error);
}

static void ended(pawl__sql_session *session)
{
    pawl__mysql_come_back(pawl__mysql_connection_of(session));
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

const pawl__sql_session_ops pawl__mysql_session_ops = {
    .statement_size = sizeof(pawl__mysql_statement),
    .connect        = pawl__mysql_connect,
    .disconnect     = pawl__mysql_disconnect,
    .may_send       = may_send,
    .ended          = ended,
    .query          = pawl__mysql_query_text,
    .ask            = pawl__mysql_ask_text,
    .prepare        = pawl__mysql_prepare,
    .close          = pawl__mysql_close_statement,
    .execute        = pawl__mysql_execute,
    .found          = found,
    .fetch          = pawl__mysql_fetch,
    .read           = pawl__mysql_read,
    .free_rows      = pawl__mysql_free_rows,
    .load_set       = pawl__mysql_load_set,
    .write_set      = pawl__mysql_write_set,
};

/* ---- The generic store's connection ---------------------------------------- */

static int session_fd(pawl_store *base)
{
    return (int)mysql_get_socket(pawl__mysql_of(base)->main.mysql);
}

/* The handler's own SQL may have ended the transaction, or a deadlock has: an answer that fails says
 * nothing of it, so the server is asked by a statement that does nothing. */
static pawl_code is_open(pawl_store *base, bool *is_open_still, pawl_error *error)
{
    pawl__mysql_connection *connection = ((pawl__sql_store *)base)->connection;
    pawl_code               code       = pawl__mysql_query(connection, "do 0", error);
    if (code == PAWL_OK)
        *is_open_still = (connection->mysql->server_status & SERVER_STATUS_IN_TRANS) != 0;
    return code;
}

const pawl__sql_ops pawl__mysql_ops = {
    .name         = "mysql",
    .send         = pawl__sql_request_send,
    .send_set     = pawl__sql_request_send_set,
    .next         = pawl__sql_request_next,
    .get          = pawl__sql_request_get,
    .changed      = pawl__sql_request_changed,
    .end          = pawl__sql_request_end,
    .who_lives    = pawl__sql_family_lives,
    .own_lock     = pawl__sql_own_lock,
    .own_unlock   = pawl__sql_own_unlock,
    .claims_leave = pawl__sql_lock_leave,
    .rest         = pawl__sql_lock_rest,
    .session_fd   = session_fd,
    .lock_begin   = pawl__sql_session_begin,
    .write        = pawl__sql_write_looking,
    .write_ahead  = pawl__sql_write_ahead,
    .settle       = pawl__sql_settle,
    .begin        = pawl__sql_session_begin,
    .is_open      = is_open,
    .commit       = pawl__sql_session_commit,
    .rollback     = pawl__sql_session_rollback,
    .claim_check  = pawl__sql_lock_check,
    .claims_end   = pawl__sql_lock_end,
    .hold_back    = pawl__sql_session_hold_back,
};

/* ---- The store ------------------------------------------------------------- */

static void *native(pawl_store *base)
{
    return pawl__mysql_of(base)->main.mysql;
}

/* Without a lock, behind a pooler and in a cluster, a missed heartbeat alone tells of no death. */
static pawl_code worker_died(pawl_store *base, pawl_arena *arena, pawl_worker_info **items,
                             size_t *count, pawl_error *error)
{
    if (!pawl__sql_remote_of(base)->server.beats)
        return pawl__sql_worker_died(base, arena, items, count, error);
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "%s: workers that live by heartbeats: nothing tells that one died",
                          base->ops->scheme);
}

/* The command that a remedy is for, without the user: it is for somebody who may more than this one. */
static pawl_code diagnose(pawl_store *base, const pawl_diagnosis *asked, pawl_arena *arena,
                          pawl_finding_rows *rows, pawl_error *error)
{
    const MYSQL *mysql = pawl__mysql_of(base)->main.mysql;
    char         client[400];
    (void)snprintf(client, sizeof client, "%s -h '%.100s' -P %u -D '%.70s' -e",
                   pawl__mysql_is_mariadb(pawl__sql_remote_of(base)) ? "mariadb" : "mysql",
                   mysql->host != NULL ? mysql->host : "localhost", mysql->port,
                   mysql->db != NULL ? mysql->db : "");
    return pawl__sql_family_look(base, client, asked, arena, rows, error);
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .scheme     = "mysql",
    .store_size = sizeof(pawl__mysql),
    .promises =
        PAWL_STORE_HAS_SQL | PAWL_STORE_HAS_WAKE | PAWL_STORE_ROW_LOCKS | PAWL_STORE_KNOWS_REFUSED,

    .open         = pawl__mysql_open,
    .close        = pawl__mysql_close,
    .schema       = pawl__sql_family_schema,
    .commit       = pawl__sql_lock_commit,
    .queue_claim  = pawl__sql_lock_claim,
    .next_due     = pawl__sql_lock_next_due,
    .wait         = pawl__sql_wait,
    .interrupt    = pawl__sql_interrupt,
    .native       = native,
    .native_type  = "MYSQL",
    .enlist       = pawl__mysql_enlist,
    .event_number = pawl__sql_event_number,
    .ready        = pawl__mysql_ready,
    .diagnose     = diagnose,
    .worker_died  = worker_died,
    PAWL__SQL_OPERATIONS,
};
