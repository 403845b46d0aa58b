/* enlist.c - a change set inside a transaction of the application's own connection (an SQLHDBC), within a
 * savepoint. Its calls have the application's deadlines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/sql/commit.h"

#include <string.h>

static pawl_code check_session(pawl__odbc_connection *own, pawl_error *error)
{
    pawl__odbc *store   = own->store;
    int64_t     is_open = 0;
    char        id[sizeof store->database_id];
    if (own->dbc == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "enlist: the connection is NULL");
    pawl_code code = pawl__odbc_database_id(own, id, error);
    if (code == PAWL_OK && strcmp(id, store->database_id) != 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection is on another server or database than the "
                              "store, %s: they must be the same",
                              store->url.given);
    if (code == PAWL_OK)
        code = pawl__odbc_ask_number(own, "select @@in_transaction or not @@autocommit", &is_open,
                                     error);
    if (code == PAWL_OK && is_open == 0)
        code = pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection has no open transaction: start one first");
    return code;
}

/* A savepoint that cannot be undone takes the caller's whole transaction with it: a commit of his
 * then makes nothing durable, where it would have made half of a change set. */
static pawl_code savepoint_end(pawl__odbc_connection *own, pawl_code code, pawl_error *error)
{
    pawl_code ended = PAWL_OK;
    if (code != PAWL_OK)
        ended = pawl__odbc_query(own, "rollback to savepoint pawl_enlist", NULL);
    if (ended == PAWL_OK)
        ended =
            pawl__odbc_query(own, "release savepoint pawl_enlist", code == PAWL_OK ? error : NULL);
    if (ended == PAWL_OK)
        return code;
    own->is_undone = false;
    (void)pawl__odbc_query(own, "rollback", NULL);
    return pawl_error_wrap(error, code != PAWL_OK ? code : ended,
                           "enlist: your transaction was rolled back");
}

pawl_code pawl__odbc_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                            pawl_error *error)
{
    pawl__odbc            *store = pawl__odbc_of(base);
    pawl__odbc_connection *own   = pawl_allocate(sizeof *own);
    if (own == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory");
    *own           = (pawl__odbc_connection){.store      = store,
                                             .dbc        = native,
                                             .driver     = store->main.driver,
                                             .is_callers = true,
                                             .packet_max = store->main.packet_max};
    pawl_code code = check_session(own, error);
    if (code == PAWL_OK)
        code = pawl__odbc_query(own, "savepoint pawl_enlist", error);
    if (code == PAWL_OK) {
        own->in_transaction = true;
        code                = pawl__sql_apply_enlisted(base, own, changes, error);
        code                = savepoint_end(own, code, error);
    }
    pawl__odbc_statements_close(own);
    pawl_free(own);
    return code;
}
