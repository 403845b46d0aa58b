/* transaction.c - begin and end; the second connection; is a transaction still open?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"
#include "store/sql/commit.h"

#include <unistd.h>

/* ---- Begin and end ------------------------------------------------------- */

static pawl__mysql_connection *current(pawl_store *base)
{
    return pawl__mysql_of(base)->sql.connection;
}

/* A connection that cannot roll back is of no use any more: closed, it frees its locks. */
void pawl__mysql_rollback(pawl__mysql_connection *connection)
{
    if (!connection->in_transaction)
        return;
    connection->is_undone = false; /* the rollback of nothing is harmless */
    /* A node of Galera says at a rollback, too, that it undid the transaction before. */
    if (!connection->is_lost && pawl__mysql_query(connection, "rollback", NULL) != PAWL_OK)
        connection->is_lost |= !connection->is_undone;
    connection->is_undone      = false;
    connection->in_transaction = false;
    pawl__mysql_come_back(connection);
}

/* START TRANSACTION; on `main` it takes the row locks of the claims, too. */
pawl_code pawl__mysql_begin(pawl_store *base, pawl_error *error)
{
    pawl__mysql            *store      = pawl__mysql_of(base);
    pawl__mysql_connection *connection = current(base);
    if (connection->in_transaction && !connection->is_undone)
        return PAWL_OK;
    pawl__mysql_rollback(connection);
    pawl_code code = pawl__mysql_query(connection, "start transaction", error);
    if (code != PAWL_OK)
        return code;
    connection->in_transaction = true;
    if (connection == &store->main)
        code = pawl__sql_lock_keep(base, error);
    if (code != PAWL_OK)
        pawl__mysql_rollback(connection);
    return code;
}

/* The server may have committed although its answer did not come. */
pawl_code pawl__mysql_commit(pawl_store *base, bool *is_unknown, pawl_error *error)
{
    pawl__mysql_connection *connection = current(base);
    pawl_code               code       = pawl__mysql_may_send(connection, error);
    if (code != PAWL_OK)
        return code;
    code                       = pawl__mysql_query(connection, "commit", error);
    connection->in_transaction = code != PAWL_OK;
    unsigned number            = mysql_errno(connection->mysql);
    *is_unknown =
        code != PAWL_OK && number != 0 && pawl__mysql_commit_code_of(number) == PAWL_EUNKNOWN;
    if (code == PAWL_OK)
        pawl__mysql_come_back(connection);
    return code;
}

/* ---- The second connection ----------------------------------------------- */

static bool is_open(const pawl_store *base)
{
    return ((const pawl__mysql *)base)->main.in_transaction;
}

static void rollback_main(pawl_store *base)
{
    pawl__mysql_rollback(&pawl__mysql_of(base)->main);
}

static pawl_code aside(pawl_store *base, pawl_error *error)
{
    pawl__mysql *store = pawl__mysql_of(base);
    pawl_code    code  = PAWL_OK;
    if (store->side.mysql == NULL || store->side.is_lost) {
        pawl__mysql_disconnect(&store->side);
        code = pawl__mysql_connect(store, &store->side, error);
    }
    if (code == PAWL_OK)
        store->sql.connection = &store->side;
    return code;
}

static void back(pawl_store *base)
{
    pawl__mysql *store    = pawl__mysql_of(base);
    store->sql.connection = &store->main;
}

const pawl__sql_lock_ops pawl__mysql_lock_ops = {
    .claim       = PAWL__MYSQL_QUEUE_CLAIM,
    .claim_more  = PAWL__MYSQL_QUEUE_CLAIM_MORE,
    .claim_free  = PAWL__MYSQL_QUEUE_CLAIM_FREE,
    .claim_again = PAWL__MYSQL_QUEUE_CLAIM_AGAIN,
    .count_due   = PAWL__MYSQL_QUEUE_COUNT_DUE,
    .lock        = PAWL__MYSQL_QUEUE_LOCK,
    .is_open     = is_open,
    .rollback    = rollback_main,
    .aside       = aside,
    .back        = back,
};

/* ---- Holds -------------------------------------------------------------- */

/* The handler's own SQL may have ended the transaction, or a deadlock has: an answer that fails says
 * nothing of it, so the server is asked by a statement that does nothing. */
pawl_code pawl__mysql_is_open(pawl_store *base, bool *is_open_still, pawl_error *error)
{
    pawl__mysql_connection *connection = current(base);
    pawl_code               code       = pawl__mysql_query(connection, "do 0", error);
    if (code == PAWL_OK)
        *is_open_still = (connection->mysql->server_status & SERVER_STATUS_IN_TRANS) != 0;
    return code;
}
