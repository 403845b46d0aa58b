/* row.c - requests of the generic store: a statement that has run, and its rows.
 *
 * ODBC gives a column of a row once, so each that was read is kept until the next row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/sql/value.h"

#include <string.h>

#define PEEKED_MAX 512
#define COLUMNS_MAX 40
#define PIECE_MAX 1024

struct pawl__sql_request {
    pawl__odbc_connection *connection;
    pawl__odbc_statement  *statement;
    pawl_arena            *arena;
    pawl_error            *error;
    pawl_code              code;
    size_t                 peeked_size;
    char                   peeked[PEEKED_MAX]; /* texts that are read without an arena */
    bool                   is_read[COLUMNS_MAX];
    pawl__sql_got          got[COLUMNS_MAX];
};

/* ---- Columns ------------------------------------------------------------- */

static void fail_column(pawl__sql_request *request, unsigned column, pawl_code code,
                        const char *what)
{
    if (request->code == PAWL_OK)
        request->code =
            pawl_error_set(request->error, code, "odbc: column %u: %s", column + 1, what);
}

static char *room_of(pawl__sql_request *request, size_t size)
{
    if (request->arena != NULL)
        return pawl_arena_take(request->arena, size);
    if (size > PEEKED_MAX - request->peeked_size)
        return NULL;
    request->peeked_size += size;
    return request->peeked + request->peeked_size - size;
}

/* As a binary psqlODBC gives a UUID's sixteen bytes, and no JSON. Of MariaDB's driver a binary is the text as it
 * stands. */
static SQLSMALLINT type_of(const pawl__sql_request *request, int wire)
{
    bool has_types = pawl__odbc_store_of(request->connection)->kind->has_casts;
    return has_types && wire != PAWL__WIRE_BYTES ? SQL_C_CHAR : SQL_C_BINARY;
}

/* The first piece says how long the whole is. */
static void read_text(pawl__sql_request *request, unsigned column, SQLSMALLINT type,
                      pawl__sql_got *got)
{
    SQLHSTMT  stmt = request->statement->stmt;
    char      piece[PIECE_MAX];
    SQLLEN    size = 0, rest = 0;
    SQLRETURN read = SQLGetData(stmt, (SQLUSMALLINT)(column + 1), type, piece, sizeof piece, &size);
    got->is_null   = size == SQL_NULL_DATA;
    if (!SQL_SUCCEEDED(read) || (size < 0 && !got->is_null)) {
        fail_column(request, column, PAWL_EPERSIST, "could not be read");
        return;
    }
    got->text = PAWL_TEXT("");
    if (size <= 0)
        return;
    char *room = room_of(request, (size_t)size + 1);
    if (room == NULL) {
        fail_column(request, column, PAWL_ENOMEM, "out of memory for a row");
        return;
    }
    SQLLEN nul   = type == SQL_C_CHAR; /* behind each piece of a text */
    SQLLEN first = size < (SQLLEN)sizeof piece - nul ? size : (SQLLEN)sizeof piece - nul;
    rest         = size - first;
    memcpy(room, piece, (size_t)first);
    if (size > first)
        read = SQLGetData(stmt, (SQLUSMALLINT)(column + 1), type, room + first, size - first + nul,
                          &rest);
    if (!SQL_SUCCEEDED(read) || rest != size - first)
        fail_column(request, column, PAWL_EPERSIST, "could not be read whole");
    room[size] = '\0';
    got->text  = (pawl_text){.data = room, .size = (size_t)size};
}

static pawl_time from_time(const SQL_TIMESTAMP_STRUCT *time)
{
    const pawl__sql_date date = {.year        = time->year,
                                 .month       = time->month,
                                 .day         = time->day,
                                 .hour        = time->hour,
                                 .minute      = time->minute,
                                 .second      = time->second,
                                 .microsecond = time->fraction / 1000};
    return pawl__sql_time_of(&date);
}

static void read_fixed(pawl__sql_request *request, unsigned column, bool is_time,
                       pawl__sql_got *got)
{
    SQL_TIMESTAMP_STRUCT time   = {0};
    int64_t              number = 0;
    SQLLEN               size   = 0;
    SQLRETURN            read   = SQLGetData(request->statement->stmt, (SQLUSMALLINT)(column + 1),
                                is_time ? SQL_C_TYPE_TIMESTAMP : SQL_C_SBIGINT,
                                is_time ? (void *)&time : (void *)&number,
                                is_time ? (SQLLEN)sizeof time : (SQLLEN)sizeof number, &size);
    if (!SQL_SUCCEEDED(read))
        fail_column(request, column, PAWL_EPERSIST, "could not be read");
    got->is_null = size == SQL_NULL_DATA;
    if (!got->is_null)
        got->number = is_time ? from_time(&time) : number;
}

static void get_field(pawl__sql_request *request, unsigned column, int wire, void *member)
{
    pawl__sql_kind kind = pawl__sql_kind_of(wire, member);
    pawl__sql_got *got  = &request->got[column];
    if (kind == PAWL__SQL_SKIPPED)
        return;
    if (!request->is_read[column]) {
        *got = (pawl__sql_got){.is_null = true};
        if (kind == PAWL__SQL_KEPT || kind == PAWL__SQL_PEEKED)
            read_text(request, column, type_of(request, wire), got);
        else
            read_fixed(request, column, kind == PAWL__SQL_MOMENT, got);
        request->is_read[column] = true;
    }
    const char *what = pawl__sql_take(wire, member, got);
    if (what != NULL && request->code == PAWL_OK)
        request->code =
            pawl_error_set(request->error, PAWL_EPERSIST, "odbc: column %u holds '%.*s', no %s",
                           column + 1, PAWL_TEXT_ARGS(got->text), what);
}

/* ---- The generic store's requests ---------------------------------------- */

pawl_code pawl__odbc_send(pawl_store *base, const pawl__sql_asked *asked, pawl_arena *arena,
                          pawl__sql_request **request, pawl_error *error)
{
    pawl__odbc_connection *connection = ((pawl__sql_store *)base)->connection;
    pawl__sql_request     *made =
        connection->spare != NULL ? connection->spare : pawl_allocate(sizeof *made);
    *request = made;
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory for a request");
    connection->spare = NULL;
    made->connection  = connection;
    made->arena       = arena;
    made->error       = error;
    made->statement   = (pawl__odbc_statement *)pawl__sql_session_send(&connection->session, asked,
                                                                       &made->code, error);
    return made->code;
}

bool pawl__odbc_next(pawl__sql_request *request)
{
    if (request->code != PAWL_OK || request->statement->base.column_count == 0)
        return false;
    SQLHSTMT  stmt = request->statement->stmt;
    SQLRETURN read = SQLFetch(stmt);
    memset(request->is_read, 0, sizeof request->is_read);
    request->peeked_size = 0;
    if (read != SQL_NO_DATA && !SQL_SUCCEEDED(read))
        request->code =
            pawl__odbc_failed(request->connection, SQL_HANDLE_STMT, stmt, request->error);
    return SQL_SUCCEEDED(read);
}

void pawl__odbc_get(pawl__sql_request *request, const pawl__sql_fields *columns, void *row)
{
    for (size_t i = 0; i < columns->count && i < COLUMNS_MAX; i++)
        get_field(request, (unsigned)i, columns->items[i].wire,
                  (char *)row + columns->items[i].offset);
}

int64_t pawl__odbc_changed(pawl__sql_request *request)
{
    int64_t found = pawl__odbc_found(&request->statement->base);
    if (found < 0 && request->code == PAWL_OK)
        request->code = pawl__sql_not_counted("odbc", request->error);
    return found;
}

pawl_code pawl__odbc_end(pawl__sql_request *request)
{
    if (request == NULL)
        return PAWL_OK;
    pawl__odbc_connection *connection = request->connection;
    pawl_code              code       = request->code;
    if (request->statement != NULL && request->statement->stmt != NULL &&
        request->statement->base.column_count != 0)
        (void)SQLFreeStmt(request->statement->stmt, SQL_CLOSE);
    if (connection->spare != NULL)
        pawl_free(request);
    else
        connection->spare = request;
    return code;
}
