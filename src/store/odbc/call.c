/* call.c - converts failures of calls, notes the state of the connection after them, and runs texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_NULL "23502" /* of PostgreSQL */

/* ---- Failures ----------------------------------------------------------- */

/* Reads all records; the first with a native number is the failure, if there is one. */
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

/* Is the connection dead? FreeTDS reports that without a number (HY000, "Unknown error"), as does psqlODBC while
 * preparing. So the driver is asked, without a trip to the server. If it cannot tell, the connection counts as lost, as
 * the failure may have undone more than the statement. */
static bool is_dead(const pawl__odbc_connection *connection, const pawl__odbc_diagnosis *last)
{
    SQLUINTEGER dead = SQL_CD_TRUE;
    if (!pawl__odbc_is_vague(connection->session.store->family->failures, last))
        return false;
    SQLRETURN asked =
        SQLGetConnectAttr(connection->made.dbc, SQL_ATTR_CONNECTION_DEAD, &dead, sizeof dead, NULL);
    return !SQL_SUCCEEDED(asked) || dead == SQL_CD_TRUE;
}

pawl_code pawl__odbc_failed(pawl__odbc_connection *connection, SQLSMALLINT type, SQLHANDLE handle,
                            pawl_error *error)
{
    const pawl__sql_failures *failures = connection->session.store->family->failures;
    pawl__sql_session        *session  = &connection->session;
    pawl__odbc_diagnosis      last;
    pawl__sql_left            left;
    char                      text[sizeof last.text + sizeof last.state + 10];
    pawl__odbc_call_end(connection);
    pawl__odbc_diagnose_handle(type, handle, &last);
    pawl_code code       = pawl__odbc_code_of(failures, &last, &left);
    unsigned  number     = failures->states == NULL ? last.number : 0;
    session->is_unsure   = pawl__odbc_commit_code_of(failures, &last) == PAWL_EUNKNOWN;
    session->is_deferred = failures->states != NULL && pawl__sql_is_deferred(code, last.state);
    if (session->is_callers && strcmp(last.state, "25006") == 0)
        return pawl__sql_session_read_only(session, error);
    if (is_dead(connection, &last)) {
        code = PAWL_ELOST;
        left = PAWL__SQL_CONNECTION_LOST;
    }
    if (last.state[0] == '\0')
        (void)snprintf(text, sizeof text,
                       "the driver failed without a word: the connection is lost");
    else if (number == 0)
        (void)snprintf(text, sizeof text, "%s (state %s)", last.text, last.state);
    else
        (void)snprintf(text, sizeof text, "%s", last.text);
    code = pawl__sql_session_failed(session, code, left, number, text, error);
    session->is_null |= strcmp(last.state, STATE_NULL) == 0;
    return code;
}

/* ---- Texts -------------------------------------------------------------- */

/* If the server cannot be asked to end the statement, the driver's time-out ends it, after the deadline. */
static SQLRETURN allocate(pawl__odbc_connection *connection, SQLHSTMT *stmt)
{
    const pawl__odbc *store   = pawl__odbc_store_of(connection);
    int64_t           seconds = store->remote.sql.base.deadline_ms / 1000 + PAWL__ODBC_SILENCE_S;
    SQLRETURN         made    = SQLAllocHandle(SQL_HANDLE_STMT, connection->made.dbc, stmt);
    if (!SQL_SUCCEEDED(made))
        *stmt = NULL;
    else if (store->kind->kill == NULL && !connection->session.is_callers)
        (void)SQLSetStmtAttr(*stmt, SQL_ATTR_QUERY_TIMEOUT, (SQLPOINTER)(uintptr_t)seconds,
                             SQL_IS_UINTEGER);
    return made;
}

void pawl__odbc_free(SQLHSTMT rows)
{
    if (rows != NULL)
        (void)SQLFreeHandle(SQL_HANDLE_STMT, rows);
}

/* Chooses whether the driver commits by itself. Switching that on commits an open transaction, so it is done only
 * after its end. The mode of a caller's connection is never changed. */
static void set_manual(pawl__odbc_connection *connection, bool is_manual)
{
    if (!pawl__odbc_store_of(connection)->kind->is_sent_as_block ||
        connection->session.is_callers || connection->is_manual == is_manual)
        return;
    uintptr_t mode        = is_manual ? SQL_AUTOCOMMIT_OFF : SQL_AUTOCOMMIT_ON;
    connection->is_manual = is_manual;
    (void)SQLSetConnectAttr(connection->made.dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)mode,
                            SQL_IS_UINTEGER);
}

pawl_code pawl__odbc_send(pawl__odbc_connection *connection, pawl__odbc_send_fn *how,
                          const char *text, SQLHSTMT *stmt, pawl_error *error)
{
    *stmt          = NULL;
    pawl_code code = pawl__sql_session_check(&connection->session, error);
    if (code != PAWL_OK)
        return code;
    if (!SQL_SUCCEEDED(allocate(connection, stmt)))
        return pawl__odbc_failed(connection, SQL_HANDLE_DBC, connection->made.dbc, error);
    code = pawl__odbc_call_begin(connection, *stmt, error);
    if (code == PAWL_OK) {
        set_manual(connection, connection->session.in_transaction);
        SQLRETURN sent = how(*stmt, (SQLCHAR *)(uintptr_t)text, SQL_NTS);
        connection->session.is_unconfirmed =
            sent == SQL_SUCCESS_WITH_INFO &&
            pawl__odbc_store_of(connection)->kind->warns_of_standby;
        if (SQL_SUCCEEDED(sent) || sent == SQL_NO_DATA)
            return PAWL_OK;
        code = pawl__odbc_failed(connection, SQL_HANDLE_STMT, *stmt, error);
    }
    pawl__odbc_free(*stmt);
    *stmt = NULL;
    return code;
}

/* A block returns its rows as a second result; the first has none. */
static SQLRETURN find_rows(SQLHSTMT stmt)
{
    SQLSMALLINT columns = 0;
    SQLRETURN   found   = SQLNumResultCols(stmt, &columns);
    while (SQL_SUCCEEDED(found) && columns == 0) {
        found = SQLMoreResults(stmt);
        if (SQL_SUCCEEDED(found))
            found = SQLNumResultCols(stmt, &columns);
    }
    return found;
}

/* A driver may report a call that was ended as the end of the rows; then rows are missing. */
static pawl_code end_rows(pawl__odbc_connection *connection, pawl_code code, bool has_rows,
                          pawl_error *error)
{
    pawl__odbc_call_end(connection);
    bool is_cut = has_rows && connection->session.why != PAWL_OK &&
                  pawl__odbc_store_of(connection)->kind->kill == NULL;
    return code == PAWL_OK && is_cut ? pawl__sql_broken_off(&connection->session, error) : code;
}

pawl_code pawl__odbc_run(pawl__odbc_connection *connection, SQLHSTMT stmt, bool is_block,
                         bool are_texts, pawl__odbc_kept *kept, pawl_error *error)
{
    pawl_code code = pawl__odbc_call_begin(connection, stmt, error);
    if (code != PAWL_OK)
        return code;
    set_manual(connection, connection->session.in_transaction);
    SQLRETURN ran = SQLExecute(stmt);
    if (SQL_SUCCEEDED(ran) && is_block)
        ran = find_rows(stmt);
    code = SQL_SUCCEEDED(ran) || ran == SQL_NO_DATA
               ? pawl__odbc_keep(connection, stmt, are_texts, kept, error)
               : pawl__odbc_failed(connection, SQL_HANDLE_STMT, stmt, error);
    return end_rows(connection, code, kept->width != 0, error);
}

/* Passes the rows of one result to `each`. */
static pawl_code give_rows(pawl__odbc_connection *connection, SQLHSTMT rows, pawl__sql_row_fn *each,
                           void *context, pawl_error *error)
{
    pawl__odbc_kept kept = {0};
    pawl_text       columns[PAWL__ODBC_COLUMNS_MAX];
    pawl_code       code = pawl__odbc_keep(connection, rows, true, &kept, error);
    for (size_t i = 0; code == PAWL_OK && i < kept.count; i++) {
        for (unsigned j = 0; j < kept.width; j++)
            columns[j] = kept.cells[i * kept.width + j].is_null
                             ? (pawl_text){.data = NULL}
                             : kept.cells[i * kept.width + j].text;
        each(context, columns);
    }
    pawl__odbc_unkeep(&kept);
    return code;
}

/* After PAWL_OK the caller must end the call. */
static pawl_code send_asked(pawl__odbc_connection *connection, const char *sql, bool is_prepared,
                            SQLHSTMT *rows, pawl_error *error)
{
    pawl_code code =
        pawl__odbc_send(connection, is_prepared ? SQLPrepare : SQLExecDirect, sql, rows, error);
    SQLRETURN ran = code == PAWL_OK && is_prepared ? SQLExecute(*rows) : SQL_SUCCESS;
    if (SQL_SUCCEEDED(ran) || ran == SQL_NO_DATA)
        return code;
    code = pawl__odbc_failed(connection, SQL_HANDLE_STMT, *rows, error);
    pawl__odbc_free(*rows);
    return code;
}

/* A text with several statements has several results, and a later one may be the failure. */
pawl_code pawl__odbc_ask(pawl__sql_session *session, const char *sql, pawl__sql_row_fn *each,
                         void *context, pawl_error *error)
{
    pawl__odbc_connection *connection  = pawl__odbc_connection_of(session);
    SQLHSTMT               rows        = NULL;
    bool                   is_prepared = each != NULL && pawl__odbc_kind_of(session)->asks_prepared;
    pawl_code              code        = send_asked(connection, sql, is_prepared, &rows, error);
    if (code != PAWL_OK)
        return code;
    for (SQLRETURN next = SQL_SUCCESS; code == PAWL_OK && next != SQL_NO_DATA;) {
        if (each != NULL)
            code = give_rows(connection, rows, each, context, error);
        next = code == PAWL_OK ? SQLMoreResults(rows) : SQL_NO_DATA;
        if (!SQL_SUCCEEDED(next) && next != SQL_NO_DATA)
            code = pawl__odbc_failed(connection, SQL_HANDLE_STMT, rows, error);
    }
    code = end_rows(connection, code, each != NULL, error);
    session->is_unconfirmed &= session->why != PAWL_OK;
    pawl__odbc_free(rows);
    return code;
}
