/* write.c - how the generic store's writes run on SQLite: a prepared
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
        pawl__sqlite_saga_begin(request, connection, pawl__saga_table_of(item), write->statement,
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
