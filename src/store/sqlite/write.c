/* write.c - how the generic store's writes and transactions run on SQLite: a prepared
 * statement for each item, which costs as little as one over a set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

/* ---- Items -------------------------------------------------------------- */

static void begin_item(pawl__sqlite_request *request, pawl__sqlite_connection *connection,
                       const pawl__sql_write *write, const void *item, pawl_error *error)
{
    if (write->is_saga)
        pawl__sqlite_saga_begin(request, connection, pawl__sql_saga_of(item), write->statement,
                                error);
    else
        pawl__sqlite_request_begin(request, connection, pawl__sqlite_statement(write->statement),
                                   error);
    pawl__sqlite_put_fields(request, &write->parameters, item);
}

static pawl__sql_fate fate_of(const pawl__sqlite_request *request, int result)
{
    if (result == SQLITE_ROW)
        return PAWL__SQL_APPLIED;
    bool is_applied = sqlite3_column_count(request->statement) == 0 &&
                      sqlite3_changes64(request->connection->db) != 0;
    return is_applied ? PAWL__SQL_APPLIED : PAWL__SQL_MISSED;
}

/* The constraint that refused the row, if the write expects it. A caller's own connection may give
 * primary codes only, so the extended one is asked for. */
static bool is_expected(const pawl__sqlite_request *request, const pawl__sql_write *write,
                        pawl__sql_fate *fate)
{
    int result = sqlite3_extended_errcode(request->connection->db);
    if (pawl__sqlite_code_of(result) == PAWL_EDUPLICATE)
        *fate = PAWL__SQL_DUPLICATE;
    else if (result == SQLITE_CONSTRAINT_NOTNULL)
        *fate = PAWL__SQL_NULL;
    else
        return false;
    return pawl__sql_expects(write, *fate);
}

static pawl_code write_item(pawl__sqlite_request *request, const pawl__sql_write *write,
                            pawl__sql_fate *fate)
{
    if (request->code != PAWL_OK)
        return request->code;
    int result = sqlite3_step(request->statement);
    if (result == SQLITE_DONE || result == SQLITE_ROW)
        *fate = fate_of(request, result);
    else if (!is_expected(request, write, fate))
        pawl__sqlite_stepped(request, result);
    pawl__sqlite_stop(request);
    return request->code;
}

pawl_code pawl__sqlite_write(pawl__sqlite_connection *connection, const pawl__sql_write *write,
                             const void *const *items, size_t count, pawl__sql_fate *fates,
                             size_t *failed, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl__sqlite_request request;
        begin_item(&request, connection, write, items[i], error);
        code    = write_item(&request, write, &fates[i]);
        *failed = i;
    }
    return code;
}

/* ---- The transaction of a commit ---------------------------------------- */

pawl_code pawl__sqlite_commit_begin(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    store->checked_use  = NULL;
    return pawl__sqlite_write_begin(&store->sql.base, error);
}

pawl_code pawl__sqlite_hold_take(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    store->checked_use  = NULL;
    store->sql.in_hold  = false;
    if (sqlite3_get_autocommit(store->connection.db))
        return pawl_error_set(error, PAWL_ELOST,
                              "sqlite: %s: the transaction of the hold was rolled back before",
                              store->given_path);
    return PAWL_OK;
}

/* A log that could not be synced may have the transaction or not, and a crash
 * would bring to light which. Everything else that fails before its last frame
 * is written is rolled back. */
pawl_code pawl__sqlite_commit_end(pawl_store *base, pawl_error *error)
{
    pawl__sqlite        *store = pawl__sqlite_of(base);
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQLITE_TRANSACTION_COMMIT,
                               error);
    pawl_code code   = pawl__sqlite_run(&request);
    int       result = sqlite3_extended_errcode(store->connection.db);
    if (code == PAWL_OK)
        return PAWL_OK;
    pawl__sqlite_rollback(&store->sql.base);
    if ((result & 0xFF) == SQLITE_IOERR)
        return pawl_error_set(error, PAWL_EUNKNOWN,
                              "sqlite: %s: the commit failed (%s); whether it will be found there "
                              "is not known",
                              store->given_path, sqlite3_errstr(result));
    return pawl_error_wrap(error, code, "commit");
}
