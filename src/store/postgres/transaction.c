/* transaction.c - begins and ends transactions: of claims, of stamps (claims written into rows), of handlers.
 *
 * BEGIN is sent with the statements behind it and costs no round trip of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/wait.h"
#include "store/postgres/postgres.h"
#include "store/postgres/wire.h"

#include <stdio.h>
#include <string.h>

#include <unistd.h>

/* The connection keeps the request: its answer comes with the next await, when the caller's error may be gone. */
static pawl__pg_request *begin_plain(pawl__pg_connection *connection, int statement,
                                     pawl_error *error)
{
    unsigned          index   = connection->plain_count++ % PAWL__PG_PLAIN_MAX;
    pawl__pg_request *request = &connection->plain[index];
    pawl__pg_end(request);
    pawl__pg_begin(request, connection, statement, error);
    request->error = NULL;
    return request;
}

void pawl__pg_send_plain(pawl__pg_connection *connection, int statement, pawl_error *error)
{
    pawl__pg_send(begin_plain(connection, statement, error));
}

/* A shared advisory lock tags a pooled worker's transaction: the session behind a pooler is the
 * worker's only as long as its transaction lasts. Another worker that takes over from it finds and
 * ends the session by the lock. */
static void tag(pawl__pg *store, pawl_error *error)
{
    if (store->tag_number == 0)
        return;
    pawl__pg_request *request = begin_plain(&store->main, PAWL__PG_WORKER_TAG, error);
    pawl__pg_put_int(request, store->tag_number);
    pawl__pg_send(request);
}

static void send_plans(pawl__pg_connection *connection, int statement, int64_t idle_ms,
                       pawl_error *error)
{
    char              text[24];
    pawl__pg_request *request = begin_plain(connection, statement, error);
    (void)snprintf(text, sizeof text, "%lld", (long long)idle_ms);
    pawl__pg_put_text(request, pawl_text_of(text));
    pawl__pg_send(request);
}

/* A session behind a pooler has the plan settings of its server, so each transaction sets pawl's. With statistics
 * of a small table, a plan by the server's settings takes minutes for a set of rows, or locks them in another order
 * than that of the items, which deadlocks. */
void pawl__pg_begin_on(pawl__pg_connection *connection, pawl_error *error)
{
    if (connection->in_transaction)
        return;
    pawl__pg_send_plain(connection, PAWL__PG_TRANSACTION_BEGIN, error);
    if (!connection->is_named)
        send_plans(connection, PAWL__PG_POOLED_PLANS, connection->idle_ms, error);
    connection->in_transaction = true;
    connection->transactions++;
}

pawl_code pawl__pg_begin_transaction(pawl__pg *store, pawl_error *error)
{
    bool has_lost_locks = !store->main.in_transaction && store->claims.count > 0;
    bool is_new         = !store->main.in_transaction;
    pawl__pg_begin_on(&store->main, error);
    if (is_new)
        tag(store, error);
    return has_lost_locks ? pawl__pg_claims_lock(store, error) : PAWL_OK;
}

void pawl__pg_rollback_transaction(pawl__pg_connection *connection)
{
    if (!connection->in_transaction || connection->is_lost)
        return;
    connection->in_transaction = false;
    if (connection->failed != PAWL_OK) /* a failed pipeline would not send the rollback */
        (void)pawl__pg_await(connection, NULL);
    pawl__pg_send_plain(connection, PAWL__PG_TRANSACTION_ROLLBACK, NULL);
    /* A connection that cannot roll back is of no use any more. */
    if (pawl__pg_await(connection, NULL) != PAWL_OK)
        connection->is_lost = true;
}

void pawl__pg_rollback_unclaimed(pawl__pg *store)
{
    if (store->claims.count == 0 && !store->sql.in_handler_transaction)
        pawl__pg_rollback_transaction(&store->main);
}

pawl_code pawl__pg_free_connection(pawl__pg *store, pawl__pg_connection **connection,
                                   pawl_error *error)
{
    pawl__pg_rollback_unclaimed(store);
    *connection = &store->main;
    return store->main.in_transaction ? pawl__pg_side(store, connection, error) : PAWL_OK;
}

/* ---- Stamps ------------------------------------------------------------- */

pawl_code pawl__pg_stamp_begin(pawl__pg *store, pawl_error *error)
{
    pawl__pg_connection *connection;
    if (store->sql.in_handler_transaction) /* the stamps are part of the handler transaction */
        return PAWL_OK;
    pawl_code code = pawl__pg_free_connection(store, &connection, error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_use(store, connection);
    connection->is_gathered = true;
    pawl__pg_begin_on(connection, error);
    pawl__pg_send_plain(connection, PAWL__PG_STAMP, error);
    return PAWL_OK;
}

static pawl_code stamp_ended(pawl__pg *store, pawl_code code)
{
    pawl__pg_connection *connection = pawl__pg_in_use(store);
    if (store->sql.in_handler_transaction)
        return code;
    if (code == PAWL_OK)
        connection->in_transaction = false;
    pawl__pg_rollback_transaction(connection);
    pawl__pg_use(store, &store->main);
    return code;
}

pawl_code pawl__pg_stamp_end(pawl__pg *store, pawl_code code, pawl_error *error)
{
    return code == PAWL_OK && !store->sql.in_handler_transaction
               ? pawl__pg_stamp_send_end(store, error)
               : stamp_ended(store, code);
}

pawl_code pawl__pg_stamp_send_end(pawl__pg *store, pawl_error *error)
{
    pawl__pg_connection *connection = pawl__pg_in_use(store);
    if (!store->sql.in_handler_transaction)
        pawl__pg_send_plain(connection, PAWL__PG_TRANSACTION_COMMIT, error);
    return stamp_ended(store, pawl__pg_await(connection, error));
}

/* ---- Handler transactions ------------------------------------------------ */

/* Plan settings: a handler's own SQL is planned by PostgreSQL's defaults; pawl's statements in a handler
 * transaction are planned for their parameters. The transaction may stand idle twice as long as others. */
pawl_code pawl__pg_handler_transaction_begin(pawl_store *base, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    if (store->sql.in_handler_transaction)
        return pawl_error_set(error, PAWL_EINVAL,
                              "postgres: this handle has an open handler transaction already");
    store->sql.is_handler_transaction_lost = false;
    pawl_code code                         = pawl__pg_begin_transaction(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_send_plain(&store->main, PAWL__PG_HANDLER_BEGIN, error);
    send_plans(&store->main, PAWL__PG_HANDLER_PLANS, 2 * store->idle_ms, error);
    code = pawl__pg_await(&store->main, error);
    if (code == PAWL_OK)
        code = pawl__pg_set_pipeline(&store->main, false, error);
    store->sql.in_handler_transaction = code == PAWL_OK;
    if (code != PAWL_OK)
        pawl__pg_rollback_transaction(&store->main);
    return code;
}

/* The server reports each change of client_encoding by itself. */
bool pawl__pg_is_utf8(const PGconn *pg)
{
    const char *encoding = PQparameterStatus(pg, "client_encoding");
    return encoding == NULL || strcmp(encoding, "UTF8") == 0;
}

/* Releases the savepoint before anything is written, in the same round trip. Inside it a claimed row would be
 * locked by one transaction id and deleted by another: PostgreSQL keeps the two as a multixact, and index entries
 * of such a row stay until a vacuum. No statement is prepared by name, so that each is still planned for its
 * parameters. */
static pawl_code begin_commit(pawl__pg *store, pawl_error *error)
{
    pawl_code code = pawl__pg_set_pipeline(&store->main, true, error);
    if (code != PAWL_OK)
        return code;
    store->round.is_handlers = true;
    store->main.is_named     = false;
    pawl__pg_send_plain(&store->main, PAWL__PG_HANDLER_END, error);
    return PAWL_OK;
}

pawl_code pawl__pg_is_open(pawl_store *base, bool *is_open, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    switch (PQtransactionStatus(store->main.pg)) {
    case PQTRANS_INTRANS:
        *is_open = pawl__pg_is_utf8(store->main.pg);
        return *is_open ? begin_commit(store, error)
                        : pawl_error_set(error, PAWL_EINVAL,
                                         "postgres: the handler's own SQL changed the "
                                         "client_encoding: pawl's texts are UTF8");
    case PQTRANS_INERROR:
        return pawl_error_set(error, PAWL_EINVAL,
                              "postgres: a statement of the handler's own SQL failed, and the "
                              "handler answered ok: nothing can be committed");
    case PQTRANS_IDLE:
        return pawl_error_set(error, PAWL_EINVAL,
                              "postgres: the handler's own SQL ended the transaction of its "
                              "message: only pawl may commit it or roll it back");
    case PQTRANS_ACTIVE:
        return pawl_error_set(error, PAWL_EINVAL,
                              "postgres: the handler's own SQL left a statement or a COPY "
                              "unfinished: nothing can be committed");
    case PQTRANS_UNKNOWN: break;
    }
    return pawl_error_set(error, PAWL_ELOST, "postgres: the connection was lost");
}

/* A session that the rollback gave up counts as lost, too, though its server would go on: the claims, which are row
 * locks, end with it. */
bool pawl__pg_is_lost(const pawl_store *base)
{
    const pawl__pg *store = (const pawl__pg *)base;
    return store->main.is_lost;
}

/* Also releases the savepoint: the next handler transaction's would be nested in it. */
#define HANDLER_UNDO "rollback to savepoint " PAWL__SQL_MARK "; release savepoint " PAWL__SQL_MARK

/* Undoes what the handler wrote, and keeps the row locks of claims, taken before the savepoint: no other worker
 * gets the message until its failure is committed. False if the handler's own SQL ended the transaction, and with
 * it the savepoint. */
static bool is_undone(const pawl__pg *store, PGconn *pg)
{
    if (store->claims.count == 0)
        return false;
    PGresult *result  = PQexec(pg, HANDLER_UNDO);
    bool      is_done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return is_done;
}

/* Ends a handler's transaction; returns the status that the session must have now. PQexec skips the rest of a
 * statement or a COPY, but waits for its end, so that is cancelled first. */
static PGTransactionStatusType end_handlers(const pawl__pg *store, PGconn *pg, int64_t deadline_ms)
{
    pawl__pg_cancel *cancel;
    if (PQtransactionStatus(pg) == PQTRANS_ACTIVE &&
        ((cancel = pawl__pg_cancel_begin(pg)) == NULL ||
         !pawl__pg_cancel_end(cancel, pawl__clock_ms() + deadline_ms)))
        return PQTRANS_IDLE;
    if (PQtransactionStatus(pg) == PQTRANS_IDLE)
        return PQTRANS_IDLE;
    if (is_undone(store, pg))
        return PQTRANS_INTRANS;
    PQclear(PQexec(pg, "rollback"));
    return PQTRANS_IDLE;
}

/* Without a pipeline the connection has a handler transaction, which the handler's own SQL may have ended or
 * replaced. It is given up in another state than expected, or with an encoding that no rollback undoes. */
void pawl__pg_rollback(pawl_store *base)
{
    pawl__pg            *store      = pawl__pg_of(base);
    pawl__pg_connection *connection = pawl__pg_in_use(store);
    if (connection->is_pipelined) {
        pawl__pg_rollback_transaction(connection);
        return;
    }
    if (end_handlers(store, connection->pg, connection->deadline_ms) !=
            PQtransactionStatus(connection->pg) ||
        !pawl__pg_is_utf8(connection->pg))
        connection->is_lost = true;
    connection->in_transaction = PQtransactionStatus(connection->pg) == PQTRANS_INTRANS;
    if (!connection->is_lost) /* a loss here shows at the next operation */
        (void)pawl__pg_set_pipeline(connection, true, NULL);
}
