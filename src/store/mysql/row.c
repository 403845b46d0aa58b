/* row.c - requests of the generic store: a statement that has run, and its rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"
#include "store/sql/value.h"

#include <string.h>

#define PEEKED_MAX 512

struct pawl__sql_request {
    pawl__mysql_connection *connection;
    pawl__mysql_statement  *statement;
    pawl_arena             *arena;
    pawl_error             *error;
    pawl_code               code;
    unsigned                column;             /* the next one */
    char                    peeked[PEEKED_MAX]; /* a text that is read without an arena */
};

/* ---- Texts -------------------------------------------------------------- */

static const char *name_of(const pawl__sql_request *request)
{
    return request->statement->stmt->fields[request->column - 1].name;
}

static pawl_text fail_text(pawl__sql_request *request, pawl_code code, const char *what)
{
    request->code = pawl_error_set(request->error, code, "%s: column %s: %s",
                                   request->connection->session.remote->sql.base.scheme,
                                   name_of(request), what);
    return PAWL_TEXT("");
}

static char *room_of(pawl__sql_request *request, size_t size)
{
    if (request->arena != NULL)
        return pawl_arena_take(request->arena, size);
    return size <= PEEKED_MAX ? request->peeked : NULL;
}

static pawl_text get_text(pawl__sql_request *request)
{
    unsigned                  column = request->column++;
    const pawl__mysql_column *found  = &request->statement->columns[column];
    if (found->is_null || found->size == 0)
        return PAWL_TEXT("");
    char         *room = room_of(request, found->size + 1);
    unsigned long size = found->size;
    MYSQL_BIND    bind = {
           .buffer_type = MYSQL_TYPE_BLOB, .buffer = room, .buffer_length = size, .length = &size};
    if (room == NULL)
        return fail_text(request, PAWL_ENOMEM, "out of memory for a row");
    if (mysql_stmt_fetch_column(request->statement->stmt, &bind, column, 0) != 0)
        return fail_text(request, PAWL_EPERSIST, "could not be read");
    room[found->size] = '\0';
    return (pawl_text){.data = room, .size = found->size};
}

/* ---- Fields ------------------------------------------------------------- */

static void get_field(pawl__sql_request *request, int wire, void *member)
{
    const pawl__mysql_column *column = &request->statement->columns[request->column];
    pawl__sql_got             got    = {.is_null = column->is_null != 0};
    pawl__sql_kind            kind   = pawl__sql_kind_of(wire, member);
    if (kind == PAWL__SQL_KEPT || kind == PAWL__SQL_PEEKED)
        got.text = get_text(request);
    else
        request->column++;
    if (kind == PAWL__SQL_NUMBER && !got.is_null)
        got.number = column->number;
    if (kind == PAWL__SQL_MOMENT && !got.is_null)
        got.number = pawl__mysql_from_time(&column->time);
    const char *what = pawl__sql_take(wire, member, &got);
    if (what != NULL && request->code == PAWL_OK)
        request->code = pawl_error_set(request->error, PAWL_EPERSIST,
                                       "%s: column %s holds '%.*s', which is no %s",
                                       request->connection->session.remote->sql.base.scheme,
                                       name_of(request), PAWL_TEXT_ARGS(got.text), what);
}

/* ---- The generic store's requests ---------------------------------------- */

static pawl__sql_request *make(pawl_store *base, pawl_arena *arena, pawl_error *error)
{
    pawl__mysql_connection *connection = ((pawl__sql_store *)base)->connection;
    pawl__sql_request      *made =
        connection->spare != NULL ? connection->spare : pawl_allocate(sizeof *made);
    if (made == NULL) {
        pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory for a request", base->scheme);
        return NULL;
    }
    connection->spare = NULL;
    made->connection  = connection;
    made->arena       = arena;
    made->error       = error;
    return made;
}

pawl_code pawl__mysql_send(pawl_store *base, const pawl__sql_asked *asked, pawl_arena *arena,
                           pawl__sql_request **request, pawl_error *error)
{
    pawl__sql_request *made = *request = make(base, arena, error);
    if (made == NULL)
        return PAWL_ENOMEM;
    made->statement = (pawl__mysql_statement *)pawl__sql_session_send(&made->connection->session,
                                                                      asked, &made->code, error);
    return made->code;
}

pawl_code pawl__mysql_send_set(pawl_store *base, const pawl__sql_asked *asked,
                               const void *const *items, size_t count, pawl_arena *arena,
                               pawl__sql_request **request, pawl_error *error)
{
    pawl__sql_request *made = *request = make(base, arena, error);
    if (made == NULL)
        return PAWL_ENOMEM;
    made->statement = pawl__mysql_load_set(made->connection, asked->statement - PAWL__SQL_ON_SAGA,
                                           asked->parameters, items, count, &made->code, error);
    return made->code;
}

static int fetch(pawl__sql_request *request)
{
    MYSQL_STMT *stmt   = request->statement->stmt;
    int         result = 0;
    if (!request->statement->streams || request->connection->session.is_callers)
        return mysql_stmt_fetch(stmt);
    PAWL__MYSQL_CALL(request->connection, result, mysql_stmt_fetch, stmt, stmt);
    return result;
}

bool pawl__mysql_next(pawl__sql_request *request)
{
    if (request->code != PAWL_OK || request->statement->base.column_count == 0)
        return false;
    int result = fetch(request);
    if (result != 0 && result != MYSQL_NO_DATA && result != MYSQL_DATA_TRUNCATED)
        request->code =
            pawl__mysql_failed(request->connection, mysql_stmt_errno(request->statement->stmt),
                               mysql_stmt_error(request->statement->stmt), request->error);
    return result == 0 || result == MYSQL_DATA_TRUNCATED;
}

void pawl__mysql_get(pawl__sql_request *request, const pawl__sql_fields *columns, void *row)
{
    request->column = 0;
    for (size_t i = 0; i < columns->count; i++)
        get_field(request, columns->items[i].wire, (char *)row + columns->items[i].offset);
}

int64_t pawl__mysql_changed(pawl__sql_request *request)
{
    return (int64_t)mysql_stmt_affected_rows(request->statement->stmt);
}

/* Rows that were not read are read over: nothing else may be sent before. */
static void free_rows(pawl__sql_request *request)
{
    MYSQL_STMT *stmt   = request->statement->stmt;
    my_bool     failed = 0;
    if (!request->statement->streams || request->connection->session.is_callers)
        (void)mysql_stmt_free_result(stmt);
    else
        PAWL__MYSQL_CALL(request->connection, failed, mysql_stmt_free_result, stmt, stmt);
    (void)failed;
}

pawl_code pawl__mysql_end(pawl__sql_request *request)
{
    if (request == NULL)
        return PAWL_OK;
    pawl__mysql_connection *connection = request->connection;
    pawl_code               code       = request->code;
    if (request->statement != NULL && request->statement->base.column_count != 0)
        free_rows(request);
    if (connection->spare != NULL)
        pawl_free(request);
    else
        connection->spare = request;
    return code;
}
