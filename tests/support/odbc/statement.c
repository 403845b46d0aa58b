/* statement.c - statements and parameters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/odbc/handle.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 60 /* of a parameter's bytes */
#define CALL_SIZE 12000

static char *text_of(const SQLCHAR *text, SQLINTEGER size)
{
    return size == SQL_NTS ? strdup((const char *)text) : strndup((const char *)text, (size_t)size);
}

/* ---- The record of a statement ------------------------------------------- */

static int show_bytes(char *to, size_t size, const char *bytes, SQLLEN length)
{
    char shown[SHOWN_MAX + 1];
    int  count = length < SHOWN_MAX ? (int)length : SHOWN_MAX;
    for (int i = 0; i < count; i++)
        shown[i] = isprint((unsigned char)bytes[i]) ? bytes[i] : '.';
    shown[count] = '\0';
    return snprintf(to, size, " '%s'%s", shown, length > count ? "..." : "");
}

static int show_time(char *to, size_t size, const SQL_TIMESTAMP_STRUCT *time)
{
    return snprintf(to, size, " %04d-%02u-%02u %02u:%02u:%02u.%06u", time->year, time->month,
                    time->day, time->hour, time->minute, time->second,
                    (unsigned)(time->fraction / 1000));
}

/* Test texts are ASCII, here in UTF-16. */
static int show_wide(char *to, size_t size, const uint16_t *wide, SQLLEN length)
{
    char   text[SHOWN_MAX + 1];
    SQLLEN units = length / 2 < SHOWN_MAX ? length / 2 : SHOWN_MAX;
    for (SQLLEN i = 0; i < units; i++)
        text[i] = (char)wide[i];
    return show_bytes(to, size, text, units);
}

static int show(char *to, size_t size, const scripted_parameter *one)
{
    SQLLEN length = one->indicator != NULL ? *one->indicator : SQL_NTS;
    if (one->data == NULL || length == SQL_NULL_DATA)
        return snprintf(to, size, " null");
    if (one->c_type == SQL_C_SBIGINT)
        return snprintf(to, size, " %lld", (long long)*(const int64_t *)one->data);
    if (one->c_type == SQL_C_TYPE_TIMESTAMP)
        return show_time(to, size, one->data);
    if (one->c_type == SQL_C_WCHAR)
        return show_wide(to, size, one->data, length);
    return show_bytes(to, size, one->data, length == SQL_NTS ? (SQLLEN)strlen(one->data) : length);
}

/* Before a run records whether parameters were bound since the last run: FreeTDS then prepares the statement again. */
static void record_bound(scripted_statement *statement)
{
    char text[CALL_SIZE];
    if (statement->bound_count == 0)
        return;
    (void)snprintf(text, sizeof text, "%u of %.8000s", statement->bound_count, statement->text);
    scripted_record(statement->connection, "bind", text);
    statement->bound_count = 0;
}

static bool is_long(const scripted_parameter *one)
{
    return one->sql_type == SQL_LONGVARCHAR || one->sql_type == SQL_WLONGVARCHAR ||
           one->sql_type == SQL_LONGVARBINARY;
}

static void record_run(const scripted_statement *statement)
{
    bool   has_types = statement->connection->script->has_types;
    char   text[CALL_SIZE];
    size_t used = (size_t)snprintf(text, sizeof text, "%.8000s", statement->text);
    if (statement->parameter_count != 0)
        used += (size_t)snprintf(text + used, sizeof text - used, " <-");
    for (unsigned i = 0; i < statement->parameter_count && used + 2 * SHOWN_MAX < sizeof text;
         i++) {
        if (has_types && is_long(&statement->parameters[i]))
            used += (size_t)snprintf(text + used, sizeof text - used, " long");
        used += (size_t)show(text + used, sizeof text - used, &statement->parameters[i]);
    }
    scripted_record(statement->connection, "run", text);
}

/* ---- Running ------------------------------------------------------------- */

static void begin_result(scripted_statement *statement, const script_answer *answer)
{
    statement->answer   = answer;
    statement->next_row = answer != NULL ? answer->rows : NULL;
    statement->row      = NULL;
    statement->column   = 0;
    statement->offset   = 0;
}

static SQLRETURN run(scripted_statement *statement)
{
    scripted_connection *connection = statement->connection;
    record_bound(statement);
    record_run(statement);
    begin_result(statement, NULL);
    const script_answer *answer = script_find(connection->script, "", statement->text);
    if (answer == NULL)
        return scripted_missing(connection, &statement->handle, statement->text);
    SQLRETURN result = scripted_answer(connection, &statement->handle, statement, answer);
    if (result != SQL_ERROR)
        begin_result(statement, answer);
    return result;
}

static SQLRETURN prepare(scripted_statement *statement)
{
    scripted_connection *connection = statement->connection;
    const script_answer *answer     = script_find(connection->script, "prepare ", statement->text);
    scripted_record(connection, "prepare", statement->text);
    if (answer != NULL)
        return scripted_answer(connection, &statement->handle, statement, answer);
    if (connection->is_gone)
        return SQL_ERROR;
    return script_columns(connection->script, statement->text, &statement->prepared_columns)
               ? SQL_SUCCESS
               : scripted_missing(connection, &statement->handle, statement->text);
}

static SQLRETURN with_text(scripted_statement *statement, const SQLCHAR *text, SQLINTEGER size,
                           SQLRETURN (*function)(scripted_statement *statement))
{
    (void)pthread_mutex_lock(&scripted_lock);
    statement->handle.records = NULL;
    if (text != NULL) {
        free(statement->text);
        statement->text = text_of(text, size);
    }
    SQLRETURN result = statement->text != NULL ? function(statement) : SQL_ERROR;
    (void)pthread_mutex_unlock(&scripted_lock);
    return result;
}

SQLRETURN SQLPrepare(SQLHSTMT stmt, SQLCHAR *text, SQLINTEGER size)
{
    return with_text(stmt, text, size, prepare);
}

SQLRETURN SQLExecDirect(SQLHSTMT stmt, SQLCHAR *text, SQLINTEGER size)
{
    return with_text(stmt, text, size, run);
}

SQLRETURN SQLExecute(SQLHSTMT stmt)
{
    return with_text(stmt, NULL, 0, run);
}

SQLRETURN SQLCancel(SQLHSTMT stmt)
{
    (void)pthread_mutex_lock(&scripted_lock);
    scripted_record(((scripted_statement *)stmt)->connection, "cancel", "");
    scripted_cancel(stmt);
    (void)pthread_mutex_unlock(&scripted_lock);
    return SQL_SUCCESS;
}

SQLRETURN SQLBindParameter(SQLHSTMT stmt, SQLUSMALLINT number, SQLSMALLINT way, SQLSMALLINT c_type,
                           SQLSMALLINT sql_type, SQLULEN size, SQLSMALLINT digits, SQLPOINTER data,
                           SQLLEN data_size, SQLLEN *indicator)
{
    scripted_statement *statement = stmt;
    (void)way, (void)size, (void)digits, (void)data_size;
    if (number == 0 || number > SCRIPTED_PARAMETERS_MAX)
        return scripted_fail(&statement->handle, "07009", "no such parameter", statement->text);
    statement->parameters[number - 1] = (scripted_parameter){c_type, sql_type, data, indicator};
    statement->bound_count++;
    if (number > statement->parameter_count)
        statement->parameter_count = number;
    return SQL_SUCCESS;
}

/* ---- Results ------------------------------------------------------------- */

SQLRETURN SQLNumResultCols(SQLHSTMT stmt, SQLSMALLINT *count)
{
    const scripted_statement *statement = stmt;
    *count = (SQLSMALLINT)(statement->answer != NULL ? statement->answer->column_count
                                                     : statement->prepared_columns);
    return SQL_SUCCESS;
}

/* All columns are texts. */
SQLRETURN SQLDescribeCol(SQLHSTMT stmt, SQLUSMALLINT column, SQLCHAR *name, SQLSMALLINT room,
                         SQLSMALLINT *size, SQLSMALLINT *type, SQLULEN *width, SQLSMALLINT *digits,
                         SQLSMALLINT *may_be_null)
{
    (void)stmt, (void)column;
    if (room > 0)
        name[0] = '\0';
    *size        = 0;
    *type        = SQL_VARCHAR;
    *width       = 4000;
    *digits      = 0;
    *may_be_null = SQL_NULLABLE;
    return SQL_SUCCESS;
}

SQLRETURN SQLRowCount(SQLHSTMT stmt, SQLLEN *count)
{
    const scripted_statement *statement = stmt;
    *count = statement->answer != NULL ? (SQLLEN)statement->answer->count : -1;
    return SQL_SUCCESS;
}

static SQLRETURN more(scripted_statement *statement)
{
    const script_answer *next = statement->answer != NULL ? statement->answer->next : NULL;
    if (next == NULL)
        return SQL_NO_DATA;
    begin_result(statement, next);
    return scripted_answer(statement->connection, &statement->handle, statement, next);
}

SQLRETURN SQLMoreResults(SQLHSTMT stmt)
{
    return with_text(stmt, NULL, 0, more);
}

SQLRETURN SQLFreeStmt(SQLHSTMT stmt, SQLUSMALLINT how)
{
    scripted_statement *statement = stmt;
    if (how == SQL_CLOSE)
        begin_result(statement, NULL);
    else if (how == SQL_RESET_PARAMS)
        statement->parameter_count = 0;
    return SQL_SUCCESS;
}

SQLRETURN SQLSetStmtAttr(SQLHSTMT stmt, SQLINTEGER attribute, SQLPOINTER value, SQLINTEGER size)
{
    (void)stmt, (void)attribute, (void)value, (void)size;
    return SQL_SUCCESS;
}
