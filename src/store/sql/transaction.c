/* transaction.c - transactions for reads and for stamps, handler transactions, and the end of each. See transaction.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/transaction.h"

#include "store/sql/queue_lock.h"

static pawl__sql_store *of(pawl_store *store)
{
    return (pawl__sql_store *)store;
}

/* ---- The end -------------------------------------------------------------- */

pawl_code pawl__sql_end(pawl_store *store, pawl_code code, pawl_error *error)
{
    const pawl__sql_ops *ops        = pawl__sql_ops_of(store);
    bool                 is_unknown = false;
    if (code == PAWL_OK)
        code = ops->commit(store, &is_unknown, error);
    if (code != PAWL_OK)
        ops->rollback(store);
    return code;
}

pawl_code pawl__sql_commit_round(pawl_store *store, pawl_error *error)
{
    const pawl__sql_ops *ops        = pawl__sql_ops_of(store);
    pawl_error           why        = PAWL_ERROR_INIT;
    bool                 is_unknown = false;
    pawl_code            code       = ops->commit(store, &is_unknown, &why);
    if (code == PAWL_OK)
        return PAWL_OK;
    ops->rollback(store);
    if (is_unknown)
        return pawl_error_set(error, PAWL_EUNKNOWN,
                              "%s: the commit failed, and its outcome is not known: %s",
                              store->scheme, why.text);
    if (error != NULL)
        *error = why;
    return pawl_error_wrap(error, code, "commit");
}

pawl_code pawl__sql_read_begin(pawl_store *store, pawl_error *error)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(store);
    return ops->read_begin != NULL && !of(store)->in_handler_transaction
               ? ops->read_begin(store, error)
               : PAWL_OK;
}

pawl_code pawl__sql_read_end(pawl_store *store, pawl_code code, pawl_error *error)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(store);
    return ops->read_begin != NULL && !of(store)->in_handler_transaction
               ? pawl__sql_end(store, code, error)
               : code;
}

/* ---- Stamps --------------------------------------------------------------- */

static void leave_stamps(pawl_store *store)
{
    const pawl__sql_ops    *ops    = pawl__sql_ops_of(store);
    const pawl__sql_claims *claims = of(store)->claims;
    if (ops->stamps_end != NULL)
        ops->stamps_end(store);
    if (claims != NULL)
        claims->ops->back(store);
}

pawl_code pawl__sql_stamp_begin(pawl_store *store, pawl_error *error)
{
    const pawl__sql_ops    *ops    = pawl__sql_ops_of(store);
    const pawl__sql_claims *claims = of(store)->claims;
    pawl_code               code   = PAWL_OK;
    if (of(store)->in_handler_transaction)
        return PAWL_OK;
    if (claims != NULL && claims->ops->is_open(store))
        code = claims->ops->aside(store, error);
    if (code == PAWL_OK && ops->stamps_begin != NULL)
        code = ops->stamps_begin(store, error);
    if (code == PAWL_OK)
        code = ops->begin(store, error);
    if (code != PAWL_OK)
        leave_stamps(store);
    return code;
}

pawl_code pawl__sql_stamp_end(pawl_store *store, pawl_code code, pawl_error *error)
{
    if (of(store)->in_handler_transaction)
        return code;
    code = pawl__sql_end(store, code, error);
    leave_stamps(store);
    return code;
}

/* ---- Handler transactions -------------------------------------------------- */

static void note_loss(pawl_store *store)
{
    const pawl__sql_ops *ops               = pawl__sql_ops_of(store);
    of(store)->is_handler_transaction_lost = ops->is_lost != NULL && ops->is_lost(store);
}

pawl_code pawl__sql_handler_transaction_begin(pawl_store *store, pawl_error *error)
{
    if (of(store)->in_handler_transaction)
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s: this handle has an open handler transaction already",
                              store->scheme);
    const pawl__sql_ops *ops               = pawl__sql_ops_of(store);
    of(store)->is_handler_transaction_lost = false;
    pawl_code code                         = ops->begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = ops->mark_open != NULL ? ops->mark_open(store, error) : PAWL_OK;
    of(store)->in_handler_transaction = code == PAWL_OK;
    if (code != PAWL_OK)
        ops->rollback(store);
    return code;
}

/* After a fork the transaction belongs to the parent process: the child leaves it alone. */
void pawl__sql_handler_transaction_end(pawl_store *store)
{
    const pawl__sql_server *server = of(store)->server;
    if (!of(store)->in_handler_transaction ||
        (server != NULL && !pawl__wait_is_ours(&server->wait)))
        return;
    of(store)->in_handler_transaction = false;
    pawl__sql_ops_of(store)->rollback(store);
    note_loss(store);
}

bool pawl__sql_handler_transaction_lost(pawl_store *store)
{
    return of(store)->is_handler_transaction_lost;
}

pawl_code pawl__sql_handler_transaction_take(pawl_store *store, pawl_error *error)
{
    const pawl__sql_ops *ops          = pawl__sql_ops_of(store);
    bool                 is_open      = false;
    of(store)->in_handler_transaction = false;
    pawl_code code                    = ops->is_open(store, &is_open, error);
    if (code == PAWL_OK && is_open)
        return PAWL_OK;
    ops->rollback(store);
    note_loss(store);
    if (code == PAWL_EINVAL)
        return code;
    if (code != PAWL_OK)
        return pawl_error_wrap(error, PAWL_ELOST, "the handler transaction");
    return pawl_error_set(error, PAWL_EINVAL,
                          "%s: the handler's own SQL ended the transaction of its message: only "
                          "pawl may commit it or roll it back, and a handler does not answer ok "
                          "when a failed statement did",
                          store->scheme);
}
