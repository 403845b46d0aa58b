/* row.c - rows of a statement that has run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include "store/sql/session_rows.h"

/* Are rows fetched from the socket one by one? Not on a caller's connection, whose calls block. */
static bool is_stream(const pawl__mysql_statement *statement, const pawl__sql_session *session)
{
    return statement->streams && !session->is_callers;
}

pawl_code pawl__mysql_fetch(pawl__sql_session *session, pawl__sql_prepared *base, bool *is_row,
                            pawl_error *error)
{
    pawl__mysql_connection *connection = pawl__mysql_connection_of(session);
    pawl__mysql_statement  *statement  = (pawl__mysql_statement *)base;
    MYSQL_STMT             *stmt       = statement->stmt;
    int                     result     = 0;
    if (is_stream(statement, session))
        PAWL__MYSQL_CALL(connection, result, mysql_stmt_fetch, stmt, stmt);
    else
        result = mysql_stmt_fetch(stmt);
    *is_row = result == 0 || result == MYSQL_DATA_TRUNCATED;
    return *is_row || result == MYSQL_NO_DATA ? PAWL_OK
                                              : pawl__mysql_stmt_failed(connection, stmt, error);
}

static pawl_code read_text(MYSQL_STMT *stmt, unsigned column, unsigned long size,
                           pawl__sql_request *request, pawl_text *text)
{
    char      *room = pawl__sql_room_of(request, size + 1);
    MYSQL_BIND bind = {
        .buffer_type = MYSQL_TYPE_BLOB, .buffer = room, .buffer_length = size, .length = &size};
    if (room == NULL)
        return PAWL_ENOMEM;
    *text      = (pawl_text){.data = room, .size = size};
    room[size] = '\0';
    return mysql_stmt_fetch_column(stmt, &bind, column, 0) == 0 ? PAWL_OK : PAWL_EPERSIST;
}

pawl_code pawl__mysql_read(pawl__sql_session *session, pawl__sql_prepared *base, unsigned column,
                           int wire, pawl__sql_kind kind, pawl__sql_request *request,
                           pawl__sql_got *got)
{
    pawl__mysql_statement    *statement = (pawl__mysql_statement *)base;
    const pawl__mysql_column *found     = &statement->columns[column];
    (void)session, (void)wire;
    got->is_null = found->is_null != 0;
    if (got->is_null)
        return PAWL_OK;
    if (kind == PAWL__SQL_NUMBER)
        got->number = found->number;
    else if (kind == PAWL__SQL_MOMENT)
        got->number = pawl__mysql_from_time(&found->time);
    else if (found->size != 0)
        return read_text(statement->stmt, column, found->size, request, &got->text);
    return PAWL_OK;
}

/* Skips rows that were not read, as nothing else may be sent before. */
void pawl__mysql_free_rows(pawl__sql_session *session, pawl__sql_prepared *base)
{
    MYSQL_STMT *stmt   = ((pawl__mysql_statement *)base)->stmt;
    my_bool     failed = 0;
    if (is_stream((pawl__mysql_statement *)base, session))
        PAWL__MYSQL_CALL(pawl__mysql_connection_of(session), failed, mysql_stmt_free_result, stmt,
                         stmt);
    else
        failed = mysql_stmt_free_result(stmt);
    (void)failed;
}
