/* row.c - requests of the generic store: a statement that has run, and its rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"
#include "store/sql/outbox.h"

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
    request->code =
        pawl_error_set(request->error, code, "%s: column %s: %s",
                       request->connection->store->sql.base.scheme, name_of(request), what);
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

static pawl_uuid get_uuid(pawl__sql_request *request)
{
    pawl_uuid uuid    = {{0}};
    bool      is_null = request->statement->columns[request->column].is_null != 0;
    pawl_text text    = get_text(request);
    if (!is_null && request->code == PAWL_OK &&
        pawl_uuid_parse(text, &uuid, request->error) != PAWL_OK)
        request->code = pawl_error_set(request->error, PAWL_EPERSIST,
                                       "%s: column %s holds '%.60s', which is no UUID",
                                       request->connection->store->sql.base.scheme,
                                       name_of(request), text.size != 0 ? text.data : "");
    return uuid;
}

/* A word that is none, written by somebody else, ends the request. */
static int get_word(pawl__sql_request *request, const pawl_text *words, int count)
{
    pawl_text word  = get_text(request);
    int       found = pawl__sql_find_word(word, words, count);
    if (found < 0 && request->code == PAWL_OK)
        request->code = pawl_error_set(
            request->error, PAWL_EPERSIST, "%s: column %s holds '%.*s', which is no state",
            request->connection->store->sql.base.scheme, name_of(request), PAWL_TEXT_ARGS(word));
    return found < 0 ? 0 : found;
}

/* ---- Numbers and times -------------------------------------------------- */

static int64_t get_int(pawl__sql_request *request)
{
    const pawl__mysql_column *column = &request->statement->columns[request->column++];
    return column->is_null ? 0 : column->number;
}

static pawl_time get_time(pawl__sql_request *request, pawl_time null)
{
    const pawl__mysql_column *column = &request->statement->columns[request->column++];
    return column->is_null ? null : pawl__mysql_from_time(&column->time);
}

static void get_value(pawl__sql_request *request, pawl_value *value)
{
    if (request->statement->columns[request->column].is_null)
        value->type = PAWL_VALUE_NONE;
    switch (value->type) {
    case PAWL_VALUE_INT: value->as.integer = get_int(request); return;
    case PAWL_VALUE_TIME: value->as.time = get_time(request, 0); return;
    case PAWL_VALUE_TEXT: value->as.text = get_text(request); return;
    case PAWL_VALUE_UUID: value->as.uuid = get_uuid(request); return;
    case PAWL_VALUE_NONE: request->column++; return;
    }
}

static void get_field(pawl__sql_request *request, int wire, void *member)
{
    switch (wire) {
    case PAWL__WIRE_INT: *(int64_t *)member = get_int(request); return;
    case PAWL__WIRE_TIME: *(pawl_time *)member = get_time(request, 0); return;
    case PAWL__WIRE_TIME_OR_NEVER: *(pawl_time *)member = get_time(request, PAWL_TIME_MAX); return;
    case PAWL__WIRE_INT32: *(int32_t *)member = (int32_t)get_int(request); return;
    case PAWL__WIRE_BOOL:
    case PAWL__WIRE_FLAG: *(bool *)member = get_int(request) != 0; return;
    case PAWL__WIRE_UUID:
    case PAWL__WIRE_UUID_OR_NULL: *(pawl_uuid *)member = get_uuid(request); return;
    case PAWL__WIRE_VALUE: get_value(request, member); return;
    case PAWL__WIRE_STATE:
        *(pawl_outbox_state *)member =
            (pawl_outbox_state)get_word(request, pawl__sql_state_words, PAWL__SQL_STATE_COUNT);
        return;
    case PAWL__WIRE_OUTCOME:
        *(pawl_attempt_outcome *)member = (pawl_attempt_outcome)get_word(
            request, pawl__sql_outcome_words, PAWL__SQL_OUTCOME_COUNT);
        return;
    case PAWL__WIRE_SKIP: request->column++; return;
    default: *(pawl_text *)member = get_text(request); return;
    }
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
    bool is_saga = asked->statement >= PAWL__SQL_ON_SAGA;
    made->statement =
        pawl__mysql_prepared(made->connection, asked->statement - (is_saga ? PAWL__SQL_ON_SAGA : 0),
                             is_saga ? pawl__sql_saga_of(asked->item) : NULL, &made->code, error);
    if (made->code == PAWL_OK)
        made->code = pawl__mysql_execute(made->connection, made->statement, asked->parameters,
                                         asked->item, error);
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
    if (!request->statement->streams || request->connection->is_callers)
        return mysql_stmt_fetch(stmt);
    PAWL__MYSQL_CALL(request->connection, result, mysql_stmt_fetch, stmt, stmt);
    return result;
}

bool pawl__mysql_next(pawl__sql_request *request)
{
    if (request->code != PAWL_OK || request->statement->column_count == 0)
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
    if (!request->statement->streams || request->connection->is_callers)
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
    if (request->statement != NULL && request->statement->column_count != 0)
        free_rows(request);
    if (connection->spare != NULL)
        pawl_free(request);
    else
        connection->spare = request;
    return code;
}
