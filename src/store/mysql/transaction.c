/* transaction.c - begin and end; stamps; holds; which of the two connections a commit goes over.
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
}

/* A transaction, with the row locks of the claims where it is main's. */
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
    if (connection == &store->main && store->claim_count > 0 && !store->is_cluster)
        code = pawl__mysql_claims_lock(store, error);
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

/* ---- Stamps ------------------------------------------------------------- */

/* Stamps end before the transaction of the claims does. */
pawl_code pawl__mysql_stamp_begin(pawl_store *base, pawl_error *error)
{
    pawl__mysql *store = pawl__mysql_of(base);
    pawl_code    code  = PAWL_OK;
    if (store->sql.in_hold)
        return PAWL_OK;
    if (store->main.in_transaction)
        code = pawl__mysql_use_side(store, error);
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

pawl_code pawl__mysql_use_side(pawl__mysql *store, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (store->side.mysql == NULL || store->side.is_lost) {
        pawl__mysql_disconnect(&store->side);
        code = pawl__mysql_connect(store, &store->side, error);
    }
    if (code == PAWL_OK)
        store->sql.connection = &store->side;
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

/* ---- Commits ------------------------------------------------------------ */

/* The second connection is for a send that does not wait: a set that settles no claim must not end the
 * transaction of the batch's claims. A set that saves a saga may have its row locked by that one, and
 * would wait for itself. */
static bool goes_aside(const pawl__mysql *store, const pawl_changes *changes)
{
    return store->main.in_transaction && !store->sql.in_hold && store->claim_count != 0 &&
           changes->queue_settle.count + changes->saga_insert.count + changes->saga_update.count +
                   changes->saga_delete.count ==
               0;
}

pawl_code pawl__mysql_commit(pawl_store *base, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    pawl__mysql *store = pawl__mysql_of(base);
    pawl_code    code  = PAWL_OK;
    if (goes_aside(store, changes))
        code = pawl__mysql_use_side(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_commit(base, changes, refused, error);
    store->sql.connection = &store->main;
    return code;
}
