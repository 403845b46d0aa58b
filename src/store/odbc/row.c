/* row.c - reads the rows of a statement. All are read at once, since some connections allow only one open result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/core/url_read.h"
#include "store/sql/session_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_MAX 4096
#define REST_MIN 65536 /* size of the second piece if the driver does not tell the length */
#define DRIVER_FAILED PAWL_ELOST /* the statement's diagnosis has the code */

/* ---- Texts --------------------------------------------------------------- */

/* A value of a row while it is read. */
typedef struct reading {
    SQLHSTMT     stmt;
    SQLUSMALLINT column;
    SQLSMALLINT  type;
    pawl_arena  *arena;
} reading;

static pawl_code give(const reading *r, const char *data, size_t size, pawl__sql_got *got)
{
    bool   is_wide = r->type == SQL_C_WCHAR;
    size_t max     = is_wide ? pawl__odbc_narrow_max(size / 2) : size;
    char  *room    = pawl_arena_take(r->arena, max + 1);
    if (room == NULL)
        return PAWL_ENOMEM;
    if (is_wide)
        size = pawl__odbc_to_narrow((const uint16_t *)(const void *)data, size / 2, room);
    else if (size != 0)
        memcpy(room, data, size);
    room[size] = '\0';
    got->text  = (pawl_text){.data = room, .size = size};
    return PAWL_OK;
}

/* A value of which the first piece has been read. */
typedef struct long_value {
    char  *data;
    size_t size;
    SQLLEN said; /* whole size, or SQL_NO_TOTAL */
    SQLLEN nul;  /* size of the NUL behind each piece */
} long_value;

/* Makes room for the rest; if its size is unknown, doubles the room, since each call may be a trip to the server.
 * False: no memory. */
static bool make_room(long_value *value, SQLLEN *room)
{
    size_t size = value->size > REST_MIN ? value->size : REST_MIN;
    if (value->said != SQL_NO_TOTAL)
        size = (size_t)value->said - value->size;
    char *grown = pawl_resize(value->data, value->size + size + (size_t)value->nul);
    if (grown == NULL)
        return false;
    value->data = grown;
    *room       = (SQLLEN)size;
    return true;
}

/* Size of a piece that is not the last. A driver that does not split characters may leave some room unused, after a
 * NUL. */
static size_t size_of(const reading *r, const char *piece, SQLLEN room)
{
    const char *nul = r->type == SQL_C_CHAR ? memchr(piece, '\0', (size_t)room) : NULL;
    return nul != NULL ? (size_t)(nul - piece) : (size_t)room;
}

/* If the driver did not tell the length, the size of the last piece does. */
static pawl_code read_rest(const reading *r, long_value *value)
{
    for (bool is_more = true; is_more;) {
        SQLLEN room, size = 0;
        if (!make_room(value, &room))
            return PAWL_ENOMEM;
        SQLRETURN read = SQLGetData(r->stmt, r->column, r->type, value->data + value->size,
                                    room + value->nul, &size);
        if (!SQL_SUCCEEDED(read) && read != SQL_NO_DATA)
            return DRIVER_FAILED;
        is_more = read != SQL_NO_DATA && (size == SQL_NO_TOTAL || size > room);
        if (is_more && (size = (SQLLEN)size_of(r, value->data + value->size, room)) == 0)
            return PAWL_EPERSIST;
        if (read != SQL_NO_DATA)
            value->size += (size_t)(size > 0 ? size : 0);
        is_more &= value->said == SQL_NO_TOTAL || (size_t)value->said > value->size;
    }
    return value->said == SQL_NO_TOTAL || (size_t)value->said == value->size ? PAWL_OK
                                                                             : PAWL_EPERSIST;
}

/* Most values fit into the first piece, which tells their length. */
static pawl_code read_pieces(const reading *r, pawl__sql_got *got)
{
    _Alignas(uint16_t) char piece[PIECE_MAX];
    SQLLEN                  nul   = r->type == SQL_C_WCHAR ? 2 : r->type == SQL_C_CHAR;
    SQLLEN                  room  = (SQLLEN)sizeof piece - nul;
    long_value              value = {.said = 0, .nul = nul};
    SQLRETURN read = SQLGetData(r->stmt, r->column, r->type, piece, sizeof piece, &value.said);
    got->is_null   = value.said == SQL_NULL_DATA;
    if (!SQL_SUCCEEDED(read))
        return DRIVER_FAILED;
    if (value.said < 0 && !got->is_null && value.said != SQL_NO_TOTAL)
        return PAWL_EPERSIST;
    if (got->is_null)
        return PAWL_OK;
    if (value.said != SQL_NO_TOTAL && value.said <= room)
        return give(r, piece, (size_t)value.said, got);
    value.data = pawl_allocate((size_t)room);
    value.size = size_of(r, piece, room);
    if (value.data == NULL)
        return PAWL_ENOMEM;
    memcpy(value.data, piece, value.size);
    pawl_code code = read_rest(r, &value);
    if (code == PAWL_OK)
        code = give(r, value.data, value.size, got);
    pawl_free(value.data);
    return code;
}

/* ---- Times ---------------------------------------------------------------- */

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

/* Parses "2026-01-01 00:00:00.000000", for drivers without a type for times. The decimal point does not depend on the
 * locale. */
static pawl_time time_of(const char *text)
{
    pawl__sql_date date = {0};
    int            size = 0;
    (void)sscanf(text, "%d-%u-%u%*c%u:%u:%u.%n", &date.year, &date.month, &date.day, &date.hour,
                 &date.minute, &date.second, &size);
    const char *digit = text + size;
    for (unsigned unit = 100000; size > 0 && unit > 0 && *digit >= '0' && *digit <= '9'; unit /= 10)
        date.microsecond += unit * (unsigned)(*digit++ - '0');
    return pawl__sql_time_of(&date);
}

/* ---- Reading ---------------------------------------------------------------- */

/* The C type as which a column is read. Numbers that the driver does not describe as integers are read as text. */
static SQLSMALLINT read_as(const pawl__odbc_kind *kind, SQLSMALLINT type, bool are_texts)
{
    switch (are_texts ? SQL_VARCHAR : type) {
    case SQL_BIGINT:
    case SQL_INTEGER:
    case SQL_SMALLINT:
    case SQL_TINYINT:
    case SQL_BIT: return kind->is_sent_as_block ? SQL_C_CHAR : SQL_C_SBIGINT;
    case SQL_TYPE_TIMESTAMP: return SQL_C_TYPE_TIMESTAMP;
    case SQL_BINARY:
    case SQL_VARBINARY:
    case SQL_LONGVARBINARY: return SQL_C_BINARY;
    /* psqlODBC returns a UUID read as binary as 16 bytes, and no JSON at all. MariaDB's driver returns the unchanged
     * text. */
    default: return are_texts && kind->text_type == SQL_C_BINARY ? SQL_C_CHAR : kind->text_type;
    }
}

static void describe(SQLHSTMT stmt, const pawl__odbc_kind *kind, bool are_texts, unsigned count,
                     SQLSMALLINT *types)
{
    for (unsigned i = 0; i < count; i++) {
        SQLCHAR     name[4];
        SQLSMALLINT size, type = SQL_WVARCHAR, digits, may_be_null;
        SQLULEN     width;
        if (!are_texts)
            (void)SQLDescribeCol(stmt, (SQLUSMALLINT)(i + 1), name, sizeof name, &size, &type,
                                 &width, &digits, &may_be_null);
        types[i] = read_as(kind, type, are_texts);
    }
}

static pawl_code read_column(const reading *r, pawl__sql_got *got)
{
    SQL_TIMESTAMP_STRUCT time = {0};
    SQLLEN               size = 0;
    *got                      = (pawl__sql_got){.text = PAWL_TEXT("")};
    if (r->type != SQL_C_SBIGINT && r->type != SQL_C_TYPE_TIMESTAMP)
        return read_pieces(r, got);
    bool      is_time = r->type == SQL_C_TYPE_TIMESTAMP;
    SQLRETURN read =
        SQLGetData(r->stmt, r->column, r->type, is_time ? (void *)&time : (void *)&got->number,
                   is_time ? (SQLLEN)sizeof time : (SQLLEN)sizeof got->number, &size);
    got->is_null = size == SQL_NULL_DATA;
    got->text    = (pawl_text){.data = NULL}; /* a number has none */
    if (is_time && !got->is_null)
        got->number = from_time(&time);
    return SQL_SUCCEEDED(read) ? PAWL_OK : DRIVER_FAILED;
}

static pawl_code read_row(SQLHSTMT stmt, const SQLSMALLINT *types, pawl__odbc_kept *kept,
                          pawl_error *error)
{
    unsigned       i     = 0;
    pawl__sql_got *grown = pawl_arena_grow(kept->arena, kept->cells, kept->count, &kept->capacity,
                                           kept->width * sizeof *grown);
    pawl_code      code  = grown != NULL ? PAWL_OK : PAWL_ENOMEM;
    if (grown != NULL)
        kept->cells = grown;
    for (; code == PAWL_OK && i < kept->width; i++) {
        const reading r = {stmt, (SQLUSMALLINT)(i + 1), types[i], kept->arena};
        code            = read_column(&r, &kept->cells[kept->count * kept->width + i]);
    }
    if (code == DRIVER_FAILED)
        return code;
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "odbc: column %u: %s", i,
                              code == PAWL_ENOMEM ? "out of memory for a row"
                                                  : "could not be read whole");
    kept->count++;
    return PAWL_OK;
}

pawl_code pawl__odbc_keep(pawl__odbc_connection *connection, SQLHSTMT stmt, bool are_texts,
                          pawl__odbc_kept *kept, pawl_error *error)
{
    SQLSMALLINT types[PAWL__ODBC_COLUMNS_MAX], width = 0;
    pawl_code   code = PAWL_OK;
    pawl__odbc_unkeep(kept);
    SQLRETURN read = SQLNumResultCols(stmt, &width);
    if (SQL_SUCCEEDED(read) && width <= 0)
        return PAWL_OK;
    kept->width = width < PAWL__ODBC_COLUMNS_MAX ? (unsigned)width : PAWL__ODBC_COLUMNS_MAX;
    kept->arena = pawl_arena_create(0);
    if (kept->arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory");
    const pawl__odbc_kind *kind = pawl__odbc_store_of(connection)->kind;
    describe(stmt, kind, are_texts || kind->as_digits, kept->width, types);
    while (code == PAWL_OK && SQL_SUCCEEDED(read) && SQL_SUCCEEDED(read = SQLFetch(stmt)))
        code = read_row(stmt, types, kept, error);
    return code == DRIVER_FAILED || (code == PAWL_OK && read != SQL_NO_DATA)
               ? pawl__odbc_failed(connection, SQL_HANDLE_STMT, stmt, error)
               : code;
}

void pawl__odbc_unkeep(pawl__odbc_kept *kept)
{
    pawl_arena_destroy(kept->arena);
    *kept = (pawl__odbc_kept){0};
}

/* Converts two hex digits each to a byte; returns the number of bytes. */
static size_t from_digits(pawl_text digits, char *bytes)
{
    for (size_t i = 0; i + 1 < digits.size; i += 2)
        bytes[i / 2] = (char)(pawl__url_hex_digit(digits.data[i]) << 4 |
                              pawl__url_hex_digit(digits.data[i + 1]));
    return digits.size / 2;
}

/* ---- Rows of a request -------------------------------------------------------- */

pawl_code pawl__odbc_fetch(pawl__sql_session *session, pawl__sql_prepared *base, bool *is_row,
                           pawl_error *error)
{
    pawl__odbc_kept *kept = &((pawl__odbc_statement *)base)->kept;
    (void)session, (void)error;
    *is_row = kept->next < kept->count;
    kept->next += *is_row;
    return PAWL_OK;
}

pawl_code pawl__odbc_read(pawl__sql_session *session, pawl__sql_prepared *base, unsigned column,
                          int wire, pawl__sql_kind kind, pawl__sql_request *request,
                          pawl__sql_got *got)
{
    const pawl__odbc_kept *kept = &((pawl__odbc_statement *)base)->kept;
    if (column >= kept->width)
        return PAWL_EPERSIST;
    *got         = kept->cells[(kept->next - 1) * kept->width + column];
    bool is_text = got->text.data != NULL && !got->is_null;
    if (kind == PAWL__SQL_NUMBER && is_text)
        got->number = strtoll(got->text.data, NULL, 10);
    if (kind == PAWL__SQL_MOMENT && is_text)
        got->number = time_of(got->text.data);
    if (kind != PAWL__SQL_KEPT && kind != PAWL__SQL_PEEKED)
        return PAWL_OK;
    char digits[30] = "";
    if (!is_text && !got->is_null)
        (void)snprintf(digits, sizeof digits, "%lld", (long long)got->number);
    pawl__odbc_mark mark = pawl__odbc_mark_of(pawl__odbc_kind_of(session), wire);
    pawl_text text = is_text ? pawl__odbc_without_mark(mark, got->text) : pawl_text_of(digits);
    char     *room = pawl__sql_room_of(request, text.size + 1);
    if (room == NULL)
        return PAWL_ENOMEM;
    if (wire == PAWL__WIRE_BYTES && pawl__odbc_kind_of(session)->as_digits)
        text.size = from_digits(text, room);
    else
        memcpy(room, text.data, text.size);
    room[text.size] = '\0';
    got->text       = (pawl_text){.data = room, .size = text.size};
    return PAWL_OK;
}

void pawl__odbc_free_rows(pawl__sql_session *session, pawl__sql_prepared *base)
{
    (void)session;
    pawl__odbc_unkeep(&((pawl__odbc_statement *)base)->kept);
}
