/* transaction.c - begin and end; the second connection; stamps; holds.
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

static pawl_code say_unknown(const pawl_store *base, const pawl_error *why, pawl_error *error)
{
    return pawl_error_set(error, PAWL_EUNKNOWN,
                          "%s: the commit was not answered, so whether it is there is not known: "
                          "%s",
                          base->scheme, why->text);
}

/* The server may have committed although its answer did not come. */
pawl_code pawl__mysql_commit_end(pawl_store *base, pawl_error *error)
{
    pawl__mysql_connection *connection = current(base);
    pawl_error              why        = PAWL_ERROR_INIT;
    pawl_code               code       = pawl__mysql_may_send(connection, error);
    if (code == PAWL_OK)
        code = pawl__mysql_query(connection, "commit", &why);
    else
        why = error != NULL ? *error : why;
    if (code == PAWL_OK) {
        connection->in_transaction = false;
        pawl__mysql_come_back(connection);
        return PAWL_OK;
    }
    bool was_sent = connection->mysql != NULL && mysql_errno(connection->mysql) != 0;
    bool is_unknown =
        was_sent && pawl__mysql_commit_code_of(mysql_errno(connection->mysql)) == PAWL_EUNKNOWN;
    pawl__mysql_rollback(connection);
    if (is_unknown)
        return say_unknown(base, &why, error);
    if (error != NULL)
        *error = why;
    return pawl_error_wrap(error, code, "commit");
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

/* ---- Stamps ------------------------------------------------------------- */

/* Stamps end before the transaction of the claims does. */
pawl_code pawl__mysql_stamp_begin(pawl_store *base, pawl_error *error)
{
    pawl__mysql *store = pawl__mysql_of(base);
    pawl_code    code  = PAWL_OK;
    if (store->sql.in_hold)
        return PAWL_OK;
    if (store->main.in_transaction)
        code = aside(base, error);
    if (code == PAWL_OK)
        code = pawl__mysql_begin(base, error);
    if (code != PAWL_OK)
        store->sql.connection = &store->main;
    return code;
}

pawl_code pawl__mysql_stamp_end(pawl_store *base, pawl_code code, pawl_error *error)
{
    pawl__mysql            *store      = pawl__mysql_of(base);
    pawl__mysql_connection *connection = current(base);
    if (store->sql.in_hold)
        return code;
    if (code == PAWL_OK)
        code = pawl__mysql_query(connection, "commit", error);
    if (code == PAWL_OK)
        connection->in_transaction = false;
    pawl__mysql_rollback(connection);
    store->sql.connection = &store->main;
    return code;
}

/* ---- Holds -------------------------------------------------------------- */

pawl_code pawl__mysql_hold_begin(pawl_store *base, pawl_error *error)
{
    pawl__mysql *store = pawl__mysql_of(base);
    if (store->sql.in_hold)
        return pawl_error_set(error, PAWL_EINVAL, "%s: this handle has an open hold already",
                              base->scheme);
    pawl_code code     = pawl__mysql_begin(base, error);
    store->sql.in_hold = code == PAWL_OK;
    return code;
}

/* In a child process it is the parent's. */
void pawl__mysql_hold_end(pawl_store *base)
{
    pawl__mysql *store = pawl__mysql_of(base);
    if (!store->sql.in_hold || !pawl__sql_server_is_ours(&store->server))
        return;
    store->sql.in_hold = false;
    pawl__mysql_rollback(&store->main);
}

/* The handler's own SQL may have ended the transaction, or a deadlock has: an answer that fails says
 * nothing of it, so the server is asked by a statement that does nothing. */
pawl_code pawl__mysql_hold_take(pawl_store *base, pawl_error *error)
{
    pawl__mysql            *store      = pawl__mysql_of(base);
    pawl__mysql_connection *connection = &store->main;
    store->sql.in_hold                 = false;
    pawl_code code                     = pawl__mysql_query(connection, "do 0", error);
    if (code == PAWL_OK && (connection->mysql->server_status & SERVER_STATUS_IN_TRANS) != 0)
        return PAWL_OK;
    pawl__mysql_rollback(connection);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, PAWL_ELOST, "the transaction of the hold");
    return pawl_error_set(error, PAWL_ELOST,
                          "%s: the transaction of the hold was ended before: by the handler's own "
                          "SQL, or rolled back by the server",
                          base->scheme);
}
