/* call.c - failures, and what each leaves of the connection; texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_TOO_LARGE 1153
#define NUMBER_NULL 1048
#define STATE_NULL "23502" /* of PostgreSQL */
#define COLUMNS_MAX 8      /* of a text that is asked */
#define TEXT_SIZE 2000     /* of one of them, which is cut behind it */

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

pawl_code pawl__odbc_failed(pawl__odbc_connection *connection, SQLSMALLINT type, SQLHANDLE handle,
                            pawl_error *error)
{
    pawl__sql_left        left = PAWL__SQL_STATEMENT_UNDONE;
    pawl__odbc_diagnosis *last = &connection->last;
    pawl__odbc_diagnose_handle(type, handle, last);
    pawl_code code = pawl__odbc_code_of(connection->driver, last, &left);
    pawl__sql_note_left(&connection->session, left);
    connection->session.is_null =
        last->number == NUMBER_NULL || strcmp(last->state, STATE_NULL) == 0;
    connection->session.is_unsure =
        pawl__odbc_commit_code_of(connection->driver, last) == PAWL_EUNKNOWN;
    if (connection->session.why != PAWL_OK && (code == PAWL_ETIMEOUT || code == PAWL_ELOST))
        return pawl__sql_broken_off(&connection->session, error);
    if (last->state[0] == '\0')
        return pawl_error_set(error, code,
                              "odbc: the driver failed without a word: the connection is lost");
    if (last->number == NUMBER_TOO_LARGE)
        return pawl_error_set(error, code, "odbc: %s (max_allowed_packet of the server: %zu bytes)",
                              last->text, connection->session.packet_max);
    if (last->number == 0 || (connection->driver != NULL && connection->driver->code_of == NULL))
        return pawl_error_set(error, code, "odbc: %s (state %s)", last->text, last->state);
    return pawl_error_set(error, code, "odbc: %s (error %u)", last->text, last->number);
}

/* ---- Texts -------------------------------------------------------------- */

void pawl__odbc_free(SQLHSTMT rows)
{
    if (rows != NULL)
        (void)SQLFreeHandle(SQL_HANDLE_STMT, rows);
}

static pawl_code run(pawl__odbc_connection *connection, const char *sql, SQLHSTMT *rows,
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

static pawl_text column_of(SQLHSTMT rows, SQLUSMALLINT column, char *text)
{
    SQLLEN size = SQL_NULL_DATA;
    if (!SQL_SUCCEEDED(SQLGetData(rows, column, SQL_C_CHAR, text, TEXT_SIZE, &size)) ||
        size == SQL_NULL_DATA)
        return (pawl_text){.data = NULL};
    return (pawl_text){.data = text,
                       .size = size >= 0 && size < TEXT_SIZE ? (size_t)size : strlen(text)};
}

pawl_code pawl__odbc_ask(pawl__sql_session *session, const char *sql, pawl__sql_row_fn *each,
                         void *context, pawl_error *error)
{
    SQLHSTMT    rows  = NULL;
    SQLSMALLINT count = 0;
    char        texts[COLUMNS_MAX][TEXT_SIZE];
    pawl_text   columns[COLUMNS_MAX];
    pawl_code   code = run(pawl__odbc_connection_of(session), sql, &rows, error);
    if (code == PAWL_OK && each != NULL)
        (void)SQLNumResultCols(rows, &count);
    SQLRETURN read = count > 0 ? SQLFetch(rows) : SQL_NO_DATA;
    for (; SQL_SUCCEEDED(read); read = SQLFetch(rows)) {
        for (int i = 0; i < count && i < COLUMNS_MAX; i++)
            columns[i] = column_of(rows, (SQLUSMALLINT)(i + 1), texts[i]);
        each(context, columns);
    }
    if (read != SQL_NO_DATA)
        code = pawl__odbc_failed(pawl__odbc_connection_of(session), SQL_HANDLE_STMT, rows, error);
    pawl__odbc_free(rows);
    return code;
}

pawl_code pawl__odbc_query(pawl__sql_session *session, const char *sql, pawl_error *error)
{
    return pawl__odbc_ask(session, sql, NULL, NULL, error);
}
