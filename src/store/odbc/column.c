/* column.c - values of a row: texts of any length, in UTF-16 where the kind says so, and rows that are read at
 * once because the connection has one open result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/odbc/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_MAX 4096
#define COLUMNS_MAX 40

/* ---- Texts --------------------------------------------------------------- */

/* A value of a row, and where it goes. */
typedef struct reading {
    SQLHSTMT            stmt;
    SQLUSMALLINT        column;
    SQLSMALLINT         type;
    bool                marks;
    pawl__odbc_room_fn *room_of;
    void               *context;
} reading;

static pawl_code give(const reading *r, const char *data, size_t size, pawl__sql_got *got)
{
    bool   is_wide = r->type == SQL_C_WCHAR;
    size_t max     = is_wide ? pawl__odbc_narrow_max(size / 2) : size;
    char  *room    = r->room_of(r->context, max + 1);
    if (room == NULL)
        return PAWL_ENOMEM;
    if (is_wide)
        size = pawl__odbc_to_narrow((const uint16_t *)(const void *)data, size / 2, r->marks, room);
    else if (size != 0)
        memcpy(room, data, size);
    room[size] = '\0';
    got->text  = (pawl_text){.data = room, .size = size};
    return PAWL_OK;
}

/* Appends the pieces behind the first one; the last one, of a driver that does not know the length before, is
 * the one that says it. */
static pawl_code collect(const reading *r, char *piece, SQLLEN room, pawl__sql_text *all)
{
    for (bool is_more = true; is_more;) {
        SQLLEN    size = 0;
        SQLRETURN read = SQLGetData(r->stmt, r->column, r->type, piece, PIECE_MAX, &size);
        if (read == SQL_NO_DATA)
            break;
        if (!SQL_SUCCEEDED(read))
            return PAWL_EPERSIST;
        is_more = size == SQL_NO_TOTAL || size > room;
        size    = is_more ? room : size < 0 ? 0 : size;
        pawl__sql_append_text(all, (pawl_text){.data = piece, .size = (size_t)size});
    }
    return all->is_failed ? PAWL_ENOMEM : PAWL_OK;
}

/* Most values are whole in the first piece, which says how long they are. */
pawl_code pawl__odbc_read_pieces(SQLHSTMT stmt, unsigned column, SQLSMALLINT type, bool marks,
                                 pawl__odbc_room_fn *room_of, void *context, pawl__sql_got *got)
{
    const reading           r = {stmt, (SQLUSMALLINT)(column + 1), type, marks, room_of, context};
    _Alignas(uint16_t) char piece[PIECE_MAX];
    SQLLEN         nul  = type == SQL_C_WCHAR ? 2 : type == SQL_C_CHAR; /* behind each piece */
    SQLLEN         room = (SQLLEN)sizeof piece - nul, said = 0;
    pawl__sql_text all  = {0};
    SQLRETURN      read = SQLGetData(stmt, r.column, type, piece, sizeof piece, &said);
    got->is_null        = said == SQL_NULL_DATA;
    if (!SQL_SUCCEEDED(read) || (said < 0 && !got->is_null && said != SQL_NO_TOTAL))
        return PAWL_EPERSIST;
    if (got->is_null)
        return PAWL_OK;
    if (said != SQL_NO_TOTAL && said <= room)
        return give(&r, piece, (size_t)said, got);
    pawl__sql_append_text(&all, (pawl_text){.data = piece, .size = (size_t)room});
    pawl_code code = collect(&r, piece, room, &all);
    if (code == PAWL_OK && said != SQL_NO_TOTAL && (size_t)said != all.size)
        code = PAWL_EPERSIST;
    if (code == PAWL_OK)
        code = give(&r, all.data, all.size, got);
    pawl__sql_text_free(&all);
    return code;
}

/* ---- Times ---------------------------------------------------------------- */

pawl_time pawl__odbc_from_time(const SQL_TIMESTAMP_STRUCT *time)
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

/* ---- Rows that are kept ----------------------------------------------------- */

/* How a column is read, by its type. */
typedef enum form { OF_NUMBER, OF_TIME, OF_BYTES, OF_TEXT } form;

static form form_of(SQLSMALLINT type)
{
    switch (type) {
    case SQL_BIGINT:
    case SQL_INTEGER:
    case SQL_SMALLINT:
    case SQL_TINYINT:
    case SQL_BIT: return OF_NUMBER;
    case SQL_TYPE_TIMESTAMP: return OF_TIME;
    case SQL_BINARY:
    case SQL_VARBINARY:
    case SQL_LONGVARBINARY: return OF_BYTES;
    default: return OF_TEXT;
    }
}

static char *take(void *context, size_t size)
{
    return pawl_arena_take(context, size);
}

static pawl_code keep_column(SQLHSTMT stmt, unsigned column, form as, const pawl__odbc_kind *kind,
                             pawl_arena *arena, pawl__sql_got *got)
{
    SQL_TIMESTAMP_STRUCT time = {0};
    SQLLEN               size = 0;
    *got                      = (pawl__sql_got){.text = PAWL_TEXT("")};
    if (as == OF_BYTES || as == OF_TEXT)
        return pawl__odbc_read_pieces(stmt, column,
                                      as == OF_BYTES  ? SQL_C_BINARY
                                      : kind->is_wide ? SQL_C_WCHAR
                                                      : SQL_C_CHAR,
                                      false, take, arena, got);
    bool      is_time = as == OF_TIME;
    SQLRETURN read =
        SQLGetData(stmt, (SQLUSMALLINT)(column + 1), is_time ? SQL_C_TYPE_TIMESTAMP : SQL_C_SBIGINT,
                   is_time ? (void *)&time : (void *)&got->number,
                   is_time ? (SQLLEN)sizeof time : (SQLLEN)sizeof got->number, &size);
    got->is_null = size == SQL_NULL_DATA;
    got->text    = (pawl_text){.data = NULL}; /* a number has none */
    if (is_time && !got->is_null)
        got->number = pawl__odbc_from_time(&time);
    return SQL_SUCCEEDED(read) ? PAWL_OK : PAWL_EPERSIST;
}

static pawl__sql_got *new_row(pawl__odbc_kept *kept)
{
    if (kept->count == kept->capacity) {
        size_t          capacity = kept->capacity != 0 ? kept->capacity * 2 : 16;
        pawl__sql_got **grown    = pawl_resize(kept->rows, capacity * sizeof(pawl__sql_got *));
        if (grown == NULL)
            return NULL;
        kept->rows     = grown;
        kept->capacity = capacity;
    }
    return pawl_arena_take(kept->arena, kept->width * sizeof(pawl__sql_got));
}

static void describe(SQLHSTMT stmt, unsigned count, form *forms)
{
    for (unsigned i = 0; i < count; i++) {
        SQLCHAR     name[4];
        SQLSMALLINT size, type = SQL_WVARCHAR, digits, may_be_null;
        SQLULEN     width;
        (void)SQLDescribeCol(stmt, (SQLUSMALLINT)(i + 1), name, sizeof name, &size, &type, &width,
                             &digits, &may_be_null);
        forms[i] = form_of(type);
    }
}

static pawl_code keep_rows(pawl__odbc_connection *connection, pawl__odbc_statement *statement,
                           pawl_error *error)
{
    const pawl__odbc_kind *kind = pawl__odbc_store_of(connection)->kind;
    pawl__odbc_kept       *kept = &statement->kept;
    form                   forms[COLUMNS_MAX];
    SQLRETURN              read;
    describe(statement->stmt, kept->width, forms);
    for (read = SQLFetch(statement->stmt); SQL_SUCCEEDED(read); read = SQLFetch(statement->stmt)) {
        pawl__sql_got *row  = new_row(kept);
        pawl_code      code = row != NULL ? PAWL_OK : PAWL_ENOMEM;
        for (unsigned i = 0; code == PAWL_OK && i < kept->width; i++)
            code = keep_column(statement->stmt, i, forms[i], kind, kept->arena, &row[i]);
        if (code != PAWL_OK)
            return pawl_error_set(error, code, "odbc: %s",
                                  code == PAWL_ENOMEM ? "out of memory for a row"
                                                      : "a column could not be read whole");
        kept->rows[kept->count++] = row;
    }
    return read == SQL_NO_DATA
               ? PAWL_OK
               : pawl__odbc_failed(connection, SQL_HANDLE_STMT, statement->stmt, error);
}

pawl_code pawl__odbc_keep(pawl__odbc_connection *connection, pawl__odbc_statement *statement,
                          pawl_error *error)
{
    pawl__odbc_kept *kept = &statement->kept;
    pawl__odbc_unkeep(kept);
    if (statement->base.column_count == 0)
        return PAWL_OK;
    kept->width =
        statement->base.column_count < COLUMNS_MAX ? statement->base.column_count : COLUMNS_MAX;
    kept->arena    = pawl_arena_create(0);
    pawl_code code = kept->arena != NULL
                         ? keep_rows(connection, statement, error)
                         : pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory");
    (void)SQLFreeStmt(statement->stmt, SQL_CLOSE);
    return code;
}

void pawl__odbc_unkeep(pawl__odbc_kept *kept)
{
    pawl_arena_destroy(kept->arena);
    pawl_free(kept->rows);
    *kept = (pawl__odbc_kept){0};
}

/* "2026-01-01 00:00:00.000000", of a driver that has no type for it. */
static pawl_time time_of(const char *text)
{
    SQL_TIMESTAMP_STRUCT time   = {0};
    int                  year   = 0;
    double               second = 0;
    unsigned             of[4]  = {0};
    (void)sscanf(text, "%d-%u-%u%*c%u:%u:%lf", &year, &of[0], &of[1], &of[2], &of[3], &second);
    time.year     = (SQLSMALLINT)year;
    time.month    = (SQLUSMALLINT)of[0];
    time.day      = (SQLUSMALLINT)of[1];
    time.hour     = (SQLUSMALLINT)of[2];
    time.minute   = (SQLUSMALLINT)of[3];
    time.second   = (SQLUSMALLINT)second;
    time.fraction = (SQLUINTEGER)((second - (double)time.second) * 1e6 + 0.5) * 1000;
    return pawl__odbc_from_time(&time);
}

pawl_code pawl__odbc_read_kept(const pawl__odbc_kept *kept, unsigned column, pawl__sql_kind kind,
                               bool marks, pawl__odbc_room_fn *room_of, void *context,
                               pawl__sql_got *got)
{
    if (column >= kept->width)
        return PAWL_EPERSIST;
    const pawl__sql_got *from    = &kept->rows[kept->next - 1][column];
    bool                 is_text = from->text.data != NULL && !from->is_null;
    *got                         = *from;
    if (kind == PAWL__SQL_NUMBER && is_text)
        got->number = strtoll(from->text.data, NULL, 10);
    if (kind == PAWL__SQL_MOMENT && is_text)
        got->number = time_of(from->text.data);
    if (kind != PAWL__SQL_KEPT && kind != PAWL__SQL_PEEKED)
        return PAWL_OK;
    char digits[30] = "";
    if (!is_text && !from->is_null)
        (void)snprintf(digits, sizeof digits, "%lld", (long long)from->number);
    pawl_text text = is_text ? from->text : pawl_text_of(digits);
    text.size -= marks && text.size != 0 && text.data[text.size - 1] == PAWL__ODBC_MARK;
    char *room = room_of(context, text.size + 1);
    if (room == NULL)
        return PAWL_ENOMEM;
    memcpy(room, text.data, text.size);
    room[text.size] = '\0';
    got->text       = (pawl_text){.data = room, .size = text.size};
    return PAWL_OK;
}
