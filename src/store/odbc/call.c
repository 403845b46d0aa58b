/* call.c - failures, and what each leaves of the connection; texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_TOO_LARGE 1153

/* ---- Failures ----------------------------------------------------------- */

/* All records are read; the first one with a number of the server's is the failure. */
void pawl__odbc_diagnose_handle(SQLSMALLINT type, SQLHANDLE handle, pawl__odbc_diagnosis *diagnosis)
{
    *diagnosis = (pawl__odbc_diagnosis){.state = ""};
    for (SQLSMALLINT i = 1; handle != NULL; i++) {
        pawl__odbc_diagnosis found  = {.state = ""};
        SQLINTEGER           native = 0;
        SQLSMALLINT          size   = 0;
        if (!SQL_SUCCEEDED(SQLGetDiagRec(type, handle, i, (SQLCHAR *)found.state, &native,
                                         (SQLCHAR *)found.text, sizeof found.text, &size)))
            return;
        found.number = native > 0 ? (unsigned)native : 0;
        if (i == 1 || (diagnosis->number == 0 && found.number != 0))
            *diagnosis = found;
    }
}

static pawl_code say_broken_off(const pawl__odbc_connection *connection, pawl_error *error)
{
    if (connection->why == PAWL_EINTERRUPTED)
        return pawl_error_set(error, connection->why, "odbc: the call was interrupted");
    return pawl_error_set(error, connection->why,
                          "odbc: the call took longer than %lld ms, its deadline",
                          (long long)connection->store->sql.base.deadline_ms);
}

pawl_code pawl__odbc_failed(pawl__odbc_connection *connection, SQLSMALLINT type, SQLHANDLE handle,
                            pawl_error *error)
{
    pawl__mysql_left      left = PAWL__MYSQL_STATEMENT_UNDONE;
    pawl__odbc_diagnosis *last = &connection->last;
    pawl__odbc_diagnose_handle(type, handle, last);
    pawl_code code = pawl__odbc_code_of(connection->driver, last, &left);
    connection->is_lost |= left == PAWL__MYSQL_CONNECTION_LOST;
    connection->is_undone |= connection->in_transaction && left == PAWL__MYSQL_TRANSACTION_UNDONE;
    if (connection->why != PAWL_OK && (code == PAWL_ETIMEOUT || code == PAWL_ELOST))
        return say_broken_off(connection, error);
    if (last->state[0] == '\0')
        return pawl_error_set(error, code,
                              "odbc: the driver failed without a word: the connection is lost");
    if (last->number == NUMBER_TOO_LARGE)
        return pawl_error_set(error, code, "odbc: %s (max_allowed_packet of the server: %zu bytes)",
                              last->text, connection->packet_max);
    if (last->number == 0)
        return pawl_error_set(error, code, "odbc: %s (state %s)", last->text, last->state);
    return pawl_error_set(error, code, "odbc: %s (error %u)", last->text, last->number);
}

/* ---- Texts -------------------------------------------------------------- */

pawl_code pawl__odbc_ask(pawl__odbc_connection *connection, const char *sql, SQLHSTMT *rows,
                         pawl_error *error)
{
    *rows          = NULL;
    pawl_code code = pawl__odbc_call_begin(connection, error);
    if (code != PAWL_OK)
        return code;
    SQLRETURN made = SQLAllocHandle(SQL_HANDLE_STMT, connection->dbc, rows);
    if (!SQL_SUCCEEDED(made)) {
        pawl__odbc_call_end(connection);
        *rows = NULL;
        return pawl__odbc_failed(connection, SQL_HANDLE_DBC, connection->dbc, error);
    }
    SQLRETURN ran = SQLExecDirect(*rows, (SQLCHAR *)(uintptr_t)sql, SQL_NTS);
    pawl__odbc_call_end(connection);
    if (SQL_SUCCEEDED(ran) || ran == SQL_NO_DATA)
        return PAWL_OK;
    code = pawl__odbc_failed(connection, SQL_HANDLE_STMT, *rows, error);
    pawl__odbc_free(*rows);
    *rows = NULL;
    return code;
}

void pawl__odbc_free(SQLHSTMT rows)
{
    if (rows != NULL)
        (void)SQLFreeHandle(SQL_HANDLE_STMT, rows);
}

bool pawl__odbc_row(SQLHSTMT rows)
{
    return rows != NULL && SQL_SUCCEEDED(SQLFetch(rows));
}

SQLLEN pawl__odbc_column(SQLHSTMT rows, unsigned column, char *text, size_t size)
{
    SQLLEN found = SQL_NULL_DATA;
    text[0]      = '\0';
    if (!SQL_SUCCEEDED(
            SQLGetData(rows, (SQLUSMALLINT)column, SQL_C_CHAR, text, (SQLLEN)size, &found)) ||
        found == SQL_NULL_DATA)
        return -1;
    return found >= 0 && found < (SQLLEN)size ? found : (SQLLEN)strlen(text);
}

pawl_code pawl__odbc_query(pawl__odbc_connection *connection, const char *sql, pawl_error *error)
{
    SQLHSTMT  rows = NULL;
    pawl_code code = pawl__odbc_ask(connection, sql, &rows, error);
    pawl__odbc_free(rows);
    return code;
}

pawl_code pawl__odbc_ask_number(pawl__odbc_connection *connection, const char *text,
                                int64_t *number, pawl_error *error)
{
    char      digits[40] = "";
    SQLHSTMT  rows       = NULL;
    pawl_code code       = pawl__odbc_ask(connection, text, &rows, error);
    if (pawl__odbc_row(rows))
        (void)pawl__odbc_column(rows, 1, digits, sizeof digits);
    *number = strtoll(digits, NULL, 10);
    pawl__odbc_free(rows);
    return code;
}
