/* request.c - prepares statements, binds their parameters and runs them.
 *
 * Statements are prepared at first use and kept for the life of the connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "base/calm.h"
#include "store/odbc/wide.h"
#include "store/sql/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_REST 4096 /* part of a packet that is kept for all but the longer values */
#define TIME_SIZE 26     /* "2024-01-01 12:00:00.000000" */
#define TIME_DIGITS 6
#define NUMBER_DIGITS 19
#define BLOCK "declare "
#define BLOCK_BYTES_MAX 32000 /* of a block's parameter: Oracle ignores the rest in comparisons */
#define PLACE_SIZE 64         /* first size of a buffer; it doubles */
#define PLACE_SIZE_MAX \
    65536 /* longer texts are bound without a copy: one more trip costs little in comparison */

static pawl_code no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory");
}

/* ---- Preparing ---------------------------------------------------------- */

#define IS_NULL " is null" /* follows the parameter of an owner; null: any owner */

/* The type to which the server must cast a parameter; "": its context determines the type. */
static const char *cast_of(int wire, const char *behind)
{
    switch (wire) {
    case PAWL__WIRE_INT:
    case PAWL__WIRE_INT32:
    case PAWL__WIRE_BOOL:
    case PAWL__WIRE_FLAG:
    case PAWL__WIRE_ZERO: return "::bigint";
    case PAWL__WIRE_TIME:
    case PAWL__WIRE_TIME_OR_NEVER:
    case PAWL__WIRE_TIME_FROM: return "::timestamptz";
    case PAWL__WIRE_UUID:
    case PAWL__WIRE_UUID_OR_NULL: return "::uuid";
    case PAWL__WIRE_BYTES: return "::bytea";
    case PAWL__WIRE_JSON:
    case PAWL__WIRE_VALUE: return "";
    case PAWL__WIRE_NULL: return strncmp(behind, IS_NULL, strlen(IS_NULL)) == 0 ? "::uuid" : "";
    default: return "::text";
    }
}

/* Appends the text with casts. It may have the parameters of several items. */
static void append_casts(pawl__sql_text *to, const pawl__sql_dialect *dialect,
                         const pawl__sql_prepared *statement, const char *text,
                         const pawl__field_list *fields)
{
    unsigned placeholder = 0;
    for (const char *at                                                                 = text;
         fields != NULL && (at = pawl__sql_next_placeholder(dialect, at)) != NULL; text = ++at) {
        unsigned number = statement->order[placeholder++ % statement->placeholder_count];
        pawl__sql_append_text(to, (pawl_text){.data = text, .size = (size_t)(at + 1 - text)});
        pawl__sql_append(to, cast_of(fields->items[number - 1].wire, at + 1));
    }
    pawl__sql_append(to, text);
}

pawl_code pawl__odbc_prepare_text(pawl__odbc_connection *connection, SQLHSTMT *stmt,
                                  const pawl__sql_prepared *statement,
                                  const pawl__field_list *fields, const pawl__sql_text *text,
                                  pawl_error *error)
{
    const pawl__odbc_kind *kind  = pawl__odbc_store_of(connection)->kind;
    pawl__sql_text         typed = {.is_failed = text->is_failed};
    if (!text->is_failed)
        append_casts(&typed, connection->session.store->dialect, statement, text->data,
                     kind->has_casts ? fields : NULL);
    pawl_code code = typed.is_failed
                         ? no_memory(error)
                         : pawl__odbc_send(connection, SQLPrepare, typed.data, stmt, error);
    if (code == PAWL_OK)
        pawl__odbc_call_end(connection);
    pawl__sql_text_free(&typed);
    return code;
}

pawl_code pawl__odbc_prepare(pawl__sql_session *session, pawl__sql_prepared *made,
                             const pawl__field_list *fields, const char *template_text,
                             const pawl__sql_text *text, pawl_error *error)
{
    pawl__odbc_statement *statement = (pawl__odbc_statement *)made;
    statement->is_block             = strncmp(template_text, BLOCK, sizeof BLOCK - 1) == 0;
    return pawl__odbc_prepare_text(pawl__odbc_connection_of(session), &statement->one.stmt, made,
                                   fields, text, error);
}

/* ---- Parameters --------------------------------------------------------- */

/* All that a driver is told about a parameter, except its value. */
typedef struct shape {
    SQLSMALLINT c_type; /* 0: not bound */
    SQLSMALLINT sql_type;
    SQLSMALLINT digits;
    SQLULEN     size;
    const void *data;
} shape;

/* A parameter of a prepared statement. FreeTDS prepares a statement again after each SQLBindParameter, so values have
 * fixed buffers, which are bound again only when the shape changes. */
typedef struct pawl__odbc_parameter {
    SQLSMALLINT c_type;
    SQLSMALLINT sql_type;
    SQLULEN     size;
    SQLSMALLINT digits;
    void       *data;
    SQLLEN      indicator;
    union {
        int64_t              number;
        SQL_TIMESTAMP_STRUCT time;
        char                 uuid[PAWL_UUID_TEXT_SIZE + 1];
        char                 digits[NUMBER_DIGITS + 3];
        char                 text[PAWL_TIME_TEXT_SIZE + 1];
    } as;
    void  *copy;  /* a changed or UTF-16 copy of a text; or NULL */
    shape  bound; /* shape at the last bind */
    char  *place; /* buffer of a text; NULL: none yet */
    size_t place_size;
} parameter;

static void put_text(parameter *to, const pawl__odbc_kind *kind, pawl_text text, bool is_bytes)
{
    size_t short_max = is_bytes ? kind->bytes_max : kind->text_max;
    bool   is_short  = short_max != 0 && text.size <= short_max;
    to->c_type       = is_bytes ? SQL_C_BINARY : SQL_C_CHAR;
    to->sql_type     = is_bytes ? (is_short ? SQL_VARBINARY : SQL_LONGVARBINARY)
                                : (is_short ? SQL_VARCHAR : SQL_LONGVARCHAR);
    to->size         = text.size != 0 ? text.size : 1;
    to->data         = (void *)(uintptr_t)(text.data != NULL ? text.data : "");
    to->indicator    = (SQLLEN)text.size;
}

static SQL_TIMESTAMP_STRUCT to_time(pawl_time time)
{
    pawl__sql_date date = pawl__sql_date_of(time);
    return (SQL_TIMESTAMP_STRUCT){.year     = (SQLSMALLINT)date.year,
                                  .month    = (SQLUSMALLINT)date.month,
                                  .day      = (SQLUSMALLINT)date.day,
                                  .hour     = (SQLUSMALLINT)date.hour,
                                  .minute   = (SQLUSMALLINT)date.minute,
                                  .second   = (SQLUSMALLINT)date.second,
                                  .fraction = date.microsecond * 1000};
}

/* Oracle's driver lacks SQL_C_SBIGINT. */
static void put_number(parameter *to, const pawl__odbc_kind *kind, int64_t number)
{
    to->as.number = number;
    to->c_type    = SQL_C_SBIGINT;
    to->sql_type  = SQL_BIGINT;
    to->data      = &to->as;
    to->indicator = sizeof to->as.number;
    if (!kind->is_sent_as_block)
        return;
    to->c_type    = SQL_C_CHAR;
    to->sql_type  = SQL_DECIMAL;
    to->size      = NUMBER_DIGITS;
    to->indicator = snprintf(to->as.digits, sizeof to->as.digits, "%lld", (long long)number);
}

/* Writes "2024-01-01T12:00:00.123" for a server that converts it to a time; with six decimals only if needed, since
 * columns of the older type datetime refuse them. With zones: "2024-01-01T12:00:00.123456Z". */
static void put_time_text(parameter *to, const pawl__odbc_kind *kind, pawl_time time)
{
    size_t size = time % 1000 != 0 ? TIME_SIZE : TIME_SIZE - 3;
    if (kind->has_zones)
        size = PAWL_TIME_TEXT_SIZE;
    pawl_time_format(time, to->as.text);
    put_text(to, kind, (pawl_text){.data = to->as.text, .size = size}, false);
}

static void put_time(parameter *to, const pawl__odbc_kind *kind, pawl_time time)
{
    if (kind->times_as_texts) {
        put_time_text(to, kind, time);
        return;
    }
    to->as.time   = to_time(time);
    to->c_type    = SQL_C_TYPE_TIMESTAMP;
    to->sql_type  = SQL_TYPE_TIMESTAMP;
    to->size      = TIME_SIZE;
    to->digits    = TIME_DIGITS;
    to->data      = &to->as.time;
    to->indicator = sizeof to->as.time;
}

static void put_value(parameter *to, const pawl__odbc_kind *kind, const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_INT: put_number(to, kind, value->as.integer); return;
    case PAWL_VALUE_TIME: put_time(to, kind, value->as.time); return;
    case PAWL_VALUE_TEXT: put_text(to, kind, value->as.text, false); return;
    case PAWL_VALUE_UUID:
        pawl_uuid_format(value->as.uuid, to->as.uuid);
        put_text(to, kind, (pawl_text){.data = to->as.uuid, .size = PAWL_UUID_TEXT_SIZE}, false);
        return;
    case PAWL_VALUE_NONE: break;
    }
    put_text(to, kind, PAWL_TEXT(""), false);
    to->indicator = SQL_NULL_DATA;
}

/* Copies the text only if a byte must be replaced. Without memory it stays as it is, and the server refuses it. */
static void put_error_text(parameter *to, const pawl__odbc_kind *kind, pawl_text text)
{
    size_t bad;
    to->copy = pawl_text_is_valid(text, &bad) ? NULL : pawl_allocate(text.size);
    if (to->copy != NULL) {
        memcpy(to->copy, text.data, text.size);
        pawl__make_utf8(to->copy, text.size);
        text.data = to->copy;
    }
    put_text(to, kind, text, false);
}

/* A part of a text gets a mark only if it is empty, or consists of spaces, which the database may take for empty. */
static bool has_mark(int wire, pawl_text text)
{
    size_t at = 0;
    while (at < text.size && (text.data[at] == ' ' || text.data[at] == PAWL__ODBC_MARK))
        at++;
    return wire != PAWL__WIRE_PART || at == text.size;
}

static void put_extra(parameter *to, const pawl__odbc_kind *kind, int wire)
{
    void     *copy = NULL;
    pawl_text text = {.data = to->data, .size = to->indicator > 0 ? (size_t)to->indicator : 0};
    if (to->c_type == SQL_C_CHAR && to->indicator >= 0 && has_mark(wire, text))
        text = pawl__odbc_with_mark(pawl__odbc_mark_of(kind, wire), text, &copy);
    if (copy == NULL)
        return;
    pawl_free(to->copy);
    to->copy = copy;
    put_text(to, kind, text, false);
}

#define NARROW_MAX 4000 /* units of a text that is not a long one */

/* Without memory the text stays as it is, and the server refuses it. A parameter that had a long text keeps the type
 * for long texts. */
static void make_wide(parameter *to)
{
    size_t    size = 0;
    pawl_text text = {.data = to->data, .size = to->indicator > 0 ? (size_t)to->indicator : 0};
    uint16_t *wide = pawl__odbc_to_wide(text, &size);
    if (wide == NULL)
        return;
    bool is_long = size > NARROW_MAX * sizeof *wide || to->bound.sql_type == SQL_WLONGVARCHAR;
    pawl_free(to->copy);
    to->copy      = wide;
    to->data      = wide;
    to->c_type    = SQL_C_WCHAR;
    to->sql_type  = is_long ? SQL_WLONGVARCHAR : SQL_WVARCHAR;
    to->size      = is_long ? size / sizeof *wide : NARROW_MAX;
    to->indicator = to->indicator == SQL_NULL_DATA ? SQL_NULL_DATA : (SQLLEN)size;
}

static void put_field(parameter *to, const pawl__odbc_kind *kind, int wire, const void *member)
{
    pawl_value value = pawl__sql_value_of(wire, member);
    *to = (parameter){.bound = to->bound, .place = to->place, .place_size = to->place_size};
    if (wire == PAWL__WIRE_ERROR_TEXT)
        put_error_text(to, kind, value.as.text);
    else if (wire == PAWL__WIRE_BYTES)
        put_text(to, kind, value.as.text, true);
    else
        put_value(to, kind, &value);
    put_extra(to, kind, wire);
    if (kind->text_type == SQL_C_WCHAR && to->c_type == SQL_C_CHAR)
        make_wide(to);
}

/* ---- Buffers ------------------------------------------------------------- */

static bool is_text(const parameter *of)
{
    return of->c_type == SQL_C_CHAR || of->c_type == SQL_C_BINARY || of->c_type == SQL_C_WCHAR;
}

static size_t size_of(const parameter *of)
{
    return !is_text(of) ? sizeof of->as : of->indicator > 0 ? (size_t)of->indicator : 0;
}

/* Numbers, times and UUIDs are stored in the parameter itself. */
static bool is_in_place(const parameter *of)
{
    return of->data == of->place || of->data == &of->as;
}

/* The longest value that the buffer takes, in units of the type. */
static SQLULEN width_of(const parameter *of, const pawl__odbc_kind *kind)
{
    size_t max = of->sql_type == SQL_VARCHAR     ? kind->text_max
                 : of->sql_type == SQL_VARBINARY ? kind->bytes_max
                                                 : PLACE_SIZE_MAX;
    if (of->c_type == SQL_C_WCHAR)
        return of->sql_type == SQL_WVARCHAR ? NARROW_MAX : of->place_size / sizeof(uint16_t);
    return of->place_size < max ? of->place_size : max;
}

/* False: no memory. */
static bool put_in_place(parameter *to, const pawl__odbc_kind *kind)
{
    size_t size = size_of(to), wanted = PLACE_SIZE;
    if (is_in_place(to) || size > PLACE_SIZE_MAX)
        return true;
    while (wanted < size)
        wanted *= 2;
    if (to->place_size < wanted) {
        char *place = pawl_resize(to->place, wanted);
        if (place == NULL)
            return false;
        to->place      = place;
        to->place_size = wanted;
        to->bound      = (shape){0};
    }
    memcpy(to->place, to->data, size);
    to->data = to->place;
    to->size = width_of(to, kind);
    return true;
}

static bool is_bound(const parameter *of)
{
    return is_in_place(of) && of->bound.c_type == of->c_type &&
           of->bound.sql_type == of->sql_type && of->bound.digits == of->digits &&
           of->bound.size == of->size && of->bound.data == of->data;
}

static void free_text(pawl__odbc_text *text)
{
    pawl__odbc_free(text->stmt);
    for (size_t i = 0; i < text->parameter_count; i++)
        pawl_free(text->parameters[i].place);
    pawl_free(text->parameters);
    *text = (pawl__odbc_text){0};
}

void pawl__odbc_close_statement(pawl__sql_prepared *base)
{
    pawl__odbc_statement *statement = (pawl__odbc_statement *)base;
    free_text(&statement->one);
    free_text(&statement->set);
    pawl__odbc_unkeep(&statement->kept);
    *statement = (pawl__odbc_statement){0};
}

/* ---- Running ------------------------------------------------------------ */

/* Refuses a request larger than a packet, which would end the session. */
static pawl_code check_size(const pawl__odbc_connection *connection, const parameter *all,
                            size_t count, pawl_error *error)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += size_of(&all[i]);
    if (connection->session.packet_max == 0 || size + PACKET_REST <= connection->session.packet_max)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ELIMIT,
                          "odbc: values of %zu bytes, limit %zu: max_allowed_packet of the server",
                          size, connection->session.packet_max - PACKET_REST);
}

/* Binds the parameters of one item, behind the `first` parameters of the items before it. */
static pawl_code bind_all(pawl__odbc_connection *connection, const pawl__odbc_statement *statement,
                          SQLHSTMT stmt, unsigned first, parameter *all, pawl_error *error)
{
    for (unsigned i = 0; i < statement->base.placeholder_count; i++) {
        parameter *one = &all[statement->base.order[i] - 1];
        if (is_bound(one))
            continue;
        if (!SQL_SUCCEEDED(SQLBindParameter(stmt, (SQLUSMALLINT)(first + i + 1), SQL_PARAM_INPUT,
                                            one->c_type, one->sql_type, one->size, one->digits,
                                            one->data, one->indicator > 0 ? one->indicator : 0,
                                            &one->indicator)))
            return pawl__odbc_failed(connection, SQL_HANDLE_STMT, stmt, error);
    }
    return PAWL_OK;
}

/* After a failure it is unknown which parameters the driver took. */
static void remember(parameter *all, size_t count, bool is_known)
{
    for (size_t i = 0; i < count; i++)
        all[i].bound = is_known ? (shape){all[i].c_type, all[i].sql_type, all[i].digits,
                                          all[i].size, all[i].data}
                                : (shape){0};
}

static pawl_code put_all(pawl__odbc_connection *connection, const pawl__odbc_statement *statement,
                         parameter *all, const pawl__field_list *fields, const void *const *items,
                         size_t count, pawl_error *error)
{
    const pawl__odbc_kind *kind  = pawl__odbc_store_of(connection)->kind;
    size_t                 width = fields != NULL ? fields->count : 0;
    for (size_t i = 0; i < count * width; i++) {
        parameter *one = &all[i];
        put_field(one, kind, fields->items[i % width].wire,
                  (const char *)items[i / width] + fields->items[i % width].offset);
        if (statement->is_block && one->indicator > BLOCK_BYTES_MAX)
            one->indicator = BLOCK_BYTES_MAX;
        if (!put_in_place(one, kind))
            return no_memory(error);
        if (statement->is_block && one->size > BLOCK_BYTES_MAX)
            one->size = BLOCK_BYTES_MAX;
    }
    return check_size(connection, all, count * width, error);
}

/* Makes as many unbound parameters as the items need, or keeps those of the last run if their number is the same. */
static pawl_code make_places(pawl__odbc_text *text, size_t count, pawl_error *error)
{
    SQLHSTMT stmt = text->stmt;
    if (text->parameters != NULL && text->parameter_count == count)
        return PAWL_OK;
    text->stmt = NULL;
    free_text(text);
    text->stmt       = stmt;
    text->parameters = pawl_allocate((count + 1) * sizeof *text->parameters);
    if (text->parameters == NULL)
        return no_memory(error);
    text->parameter_count = count;
    return PAWL_OK;
}

static pawl_code bind_items(pawl__odbc_connection      *connection,
                            const pawl__odbc_statement *statement, const pawl__odbc_text *text,
                            size_t count, pawl_error *error)
{
    size_t    width = count != 0 ? text->parameter_count / count : 0;
    pawl_code code  = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = bind_all(connection, statement, text->stmt,
                        (unsigned)i * statement->base.placeholder_count,
                        text->parameters + i * width, error);
    remember(text->parameters, text->parameter_count, code == PAWL_OK);
    return code;
}

pawl_code pawl__odbc_execute_items(pawl__odbc_connection *connection,
                                   pawl__odbc_statement *statement, pawl__odbc_text *text,
                                   bool is_block, const pawl__field_list *fields,
                                   const void *const *items, size_t count, pawl_error *error)
{
    pawl_code code = make_places(text, count * (fields != NULL ? fields->count : 0), error);
    if (code != PAWL_OK)
        return code;
    code = put_all(connection, statement, text->parameters, fields, items, count, error);
    if (code == PAWL_OK)
        code = bind_items(connection, statement, text, count, error);
    if (code == PAWL_OK)
        code = pawl__odbc_run(connection, text->stmt, is_block, false, &statement->kept, error);
    for (size_t i = 0; i < text->parameter_count; i++) {
        pawl_free(text->parameters[i].copy);
        text->parameters[i].copy = NULL;
    }
    if (statement->kept.width != 0)
        (void)SQLFreeStmt(text->stmt, SQL_CLOSE);
    return code;
}

pawl_code pawl__odbc_execute(pawl__sql_session *session, pawl__sql_prepared *base,
                             const pawl__field_list *fields, const void *item, pawl_error *error)
{
    pawl__odbc_connection *connection = pawl__odbc_connection_of(session);
    pawl__odbc_statement  *statement  = (pawl__odbc_statement *)base;
    pawl_code              code       = pawl__odbc_round_send(connection, error);
    if (code == PAWL_OK)
        code = pawl__odbc_execute_items(connection, statement, &statement->one, statement->is_block,
                                        fields, &item, 1, error);
    base->column_count = statement->kept.width;
    return code;
}

int64_t pawl__odbc_found(pawl__sql_prepared *base)
{
    pawl__odbc_statement *statement = (pawl__odbc_statement *)base;
    SQLLEN                count     = statement->kept.count != 0;
    if (base->column_count != 0)
        pawl__odbc_unkeep(&statement->kept);
    else if (!SQL_SUCCEEDED(SQLRowCount(statement->one.stmt, &count)))
        count = -1;
    return (int64_t)count;
}
