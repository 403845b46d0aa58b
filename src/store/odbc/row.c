/* row.c - rows of a statement that has run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/sql/session_rows.h"

#include <stdlib.h>

#define NUMBER_SIZE 44

pawl_code pawl__odbc_fetch(pawl__sql_session *session, pawl__sql_prepared *base, bool *is_row,
                           pawl_error *error)
{
    pawl__odbc_statement *statement = (pawl__odbc_statement *)base;
    SQLHSTMT              stmt      = statement->stmt;
    if (pawl__odbc_kind_of(session)->is_single) {
        *is_row = statement->kept.next < statement->kept.count;
        statement->kept.next += *is_row;
        return PAWL_OK;
    }
    SQLRETURN read = SQLFetch(stmt);
    *is_row        = SQL_SUCCEEDED(read);
    return *is_row || read == SQL_NO_DATA
               ? PAWL_OK
               : pawl__odbc_failed(pawl__odbc_connection_of(session), SQL_HANDLE_STMT, stmt, error);
}

/* As a binary psqlODBC gives a UUID's sixteen bytes, and no JSON. Of MariaDB's driver a binary is the text as it
 * stands. */
static SQLSMALLINT type_of(const pawl__sql_session *session, int wire)
{
    const pawl__odbc_kind *kind      = ((const pawl__odbc *)session->remote)->kind;
    bool                   has_types = kind->has_casts || kind->by_words;
    return has_types && wire != PAWL__WIRE_BYTES ? SQL_C_CHAR : SQL_C_BINARY;
}

/* A number as digits. */
static pawl_code read_digits(SQLHSTMT stmt, SQLUSMALLINT column, pawl__sql_got *got)
{
    char      digits[NUMBER_SIZE] = "";
    SQLLEN    size                = 0;
    SQLRETURN read = SQLGetData(stmt, column, SQL_C_CHAR, digits, sizeof digits, &size);
    got->is_null   = size == SQL_NULL_DATA;
    got->number    = strtoll(digits, NULL, 10);
    return SQL_SUCCEEDED(read) ? PAWL_OK : PAWL_EPERSIST;
}

/* Without the character that stands for the empty text (request.c). */
static pawl_code without_stand_in(pawl_code code, pawl__sql_got *got)
{
    if (code == PAWL_OK && got->text.size != 0 && got->text.data[0] == '\1')
        got->text = (pawl_text){.data = got->text.data + 1, .size = got->text.size - 1};
    return code;
}

static char *room_of(void *context, size_t size)
{
    return pawl__sql_room_of(context, size);
}

pawl_code pawl__odbc_read(pawl__sql_session *session, pawl__sql_prepared *base, unsigned column,
                          int wire, pawl__sql_kind kind, pawl__sql_request *request,
                          pawl__sql_got *got)
{
    SQLHSTMT             stmt     = ((pawl__odbc_statement *)base)->stmt;
    SQLUSMALLINT         at       = (SQLUSMALLINT)(column + 1);
    SQL_TIMESTAMP_STRUCT time     = {0};
    SQLLEN               size     = 0;
    bool                 is_time  = kind == PAWL__SQL_MOMENT;
    bool                 by_words = ((const pawl__odbc *)session->remote)->kind->by_words;
    if (pawl__odbc_kind_of(session)->is_single)
        return pawl__odbc_read_kept(&((pawl__odbc_statement *)base)->kept, column, kind,
                                    pawl__odbc_kind_of(session)->marks &&
                                        pawl__odbc_is_marked(wire),
                                    room_of, request, got);
    if (kind == PAWL__SQL_KEPT || kind == PAWL__SQL_PEEKED) {
        pawl_code code = pawl__odbc_read_pieces(stmt, column, type_of(session, wire), false,
                                                room_of, request, got);
        return by_words && wire != PAWL__WIRE_BYTES ? without_stand_in(code, got) : code;
    }
    if (by_words && !is_time)
        return read_digits(stmt, at, got);
    SQLRETURN read = SQLGetData(stmt, at, is_time ? SQL_C_TYPE_TIMESTAMP : SQL_C_SBIGINT,
                                is_time ? (void *)&time : (void *)&got->number,
                                is_time ? (SQLLEN)sizeof time : (SQLLEN)sizeof got->number, &size);
    got->is_null   = size == SQL_NULL_DATA;
    if (is_time && !got->is_null)
        got->number = pawl__odbc_from_time(&time);
    return SQL_SUCCEEDED(read) ? PAWL_OK : PAWL_EPERSIST;
}

void pawl__odbc_free_rows(pawl__sql_session *session, pawl__sql_prepared *base)
{
    pawl__odbc_statement *statement = (pawl__odbc_statement *)base;
    (void)session;
    if (statement->stmt != NULL)
        (void)SQLFreeStmt(statement->stmt, SQL_CLOSE);
    pawl__odbc_unkeep(&statement->kept);
}
