/* request.c - prepared statements: preparing and parameters.
 *
 * Statements are prepared at first use and kept for the life of the connection. The driver reads all rows
 * before the first is looked at, so that statements may follow one another while rows are read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "base/calm.h"
#include "store/sql/value.h"

#include <stdlib.h>
#include <string.h>

#define PACKET_REST 4096 /* of a packet, for what is not the longer values */
#define TIME_SIZE 26     /* "2024-01-01 12:00:00.000000" */
#define TIME_DIGITS 6

static pawl_code no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory");
}

/* ---- Preparing ---------------------------------------------------------- */

static void close_statement(pawl__odbc_statement *statement)
{
    pawl__odbc_free(statement->stmt);
    pawl__odbc_free(statement->set);
    *statement = (pawl__odbc_statement){0};
}

void pawl__odbc_statements_close(pawl__odbc_connection *connection)
{
    for (int i = 0; i < PAWL__MYSQL_STATEMENT_COUNT; i++)
        close_statement(&connection->statements[i]);
    while (connection->sagas != NULL) {
        pawl__odbc_saga *saga = connection->sagas;
        connection->sagas     = saga->next;
        for (int i = 0; i < pawl__sql_saga_statement_count; i++)
            close_statement(&saga->statements[i]);
        pawl_free(saga->texts);
        pawl_free(saga);
    }
    pawl_free(connection->spare);
    connection->spare = NULL;
}

pawl_code pawl__odbc_prepare_text(pawl__odbc_connection *connection, SQLHSTMT *stmt,
                                  unsigned *columns, const pawl__sql_text *text, pawl_error *error)
{
    SQLSMALLINT found = 0;
    pawl_code code = text->is_failed ? no_memory(error) : pawl__odbc_call_begin(connection, error);
    if (code != PAWL_OK)
        return code;
    SQLRETURN made = SQLAllocHandle(SQL_HANDLE_STMT, connection->dbc, stmt);
    if (!SQL_SUCCEEDED(made)) {
        pawl__odbc_call_end(connection);
        *stmt = NULL;
        return pawl__odbc_failed(connection, SQL_HANDLE_DBC, connection->dbc, error);
    }
    made = SQLPrepare(*stmt, (SQLCHAR *)text->data, (SQLINTEGER)text->size);
    if (SQL_SUCCEEDED(made) && columns != NULL)
        made = SQLNumResultCols(*stmt, &found);
    pawl__odbc_call_end(connection);
    if (columns != NULL)
        *columns = (unsigned)found;
    if (SQL_SUCCEEDED(made))
        return PAWL_OK;
    code = pawl__odbc_failed(connection, SQL_HANDLE_STMT, *stmt, error);
    pawl__odbc_free(*stmt);
    *stmt = NULL;
    return code;
}

static int own_of(int statement)
{
    bool is_own = statement < PAWL__SQL_ROW_STATEMENT_END && pawl__mysql_overrides[statement] != 0;
    return is_own ? pawl__mysql_overrides[statement] : statement;
}

const char *pawl__odbc_template(int statement)
{
    return pawl__mysql_templates[own_of(statement)];
}

static pawl_code prepare(pawl__odbc_connection *connection, int which, pawl_error *error)
{
    pawl__odbc_statement *statement = &connection->statements[which];
    const pawl__odbc     *store     = connection->store;
    const char           *template_ = pawl__mysql_templates[which];
    pawl__sql_text        text      = {0};
    statement->marker_count =
        (unsigned)pawl__sql_parameter_order(template_, statement->order, PAWL__ODBC_MARKERS_MAX);
    statement->ignores = strstr(template_, "{ignore:") != NULL;
    pawl__sql_expand(&text, store->dialect, store->sql.base.system_prefix, template_);
    pawl_code code = pawl__odbc_prepare_text(connection, &statement->stmt, &statement->column_count,
                                             &text, error);
    pawl__sql_text_free(&text);
    return code;
}

/* ---- Statements of a saga's table ---------------------------------------- */

static pawl__odbc_saga *add_table(pawl__odbc_connection *connection, const pawl_saga_table *table,
                                  pawl_code *code, pawl_error *error)
{
    pawl__odbc_saga *made = pawl_allocate(sizeof *made);
    if (made == NULL) {
        *code = no_memory(error);
        return NULL;
    }
    *made = (pawl__odbc_saga){.next = connection->sagas};
    *code =
        pawl__sql_saga_copy(connection->store->dialect, table, &made->table, &made->texts, error);
    if (*code != PAWL_OK) {
        pawl_free(made);
        return NULL;
    }
    connection->sagas = made;
    return made;
}

static pawl_code prepare_saga(pawl__odbc_connection *connection, pawl__odbc_saga *saga, int which,
                              pawl_error *error)
{
    pawl__odbc_statement *statement = &saga->statements[which];
    pawl__sql_text        text      = {0};
    statement->marker_count         = 0;
    pawl__sql_saga_text(&text, connection->store->dialect, &saga->table,
                        (pawl__sql_saga_statement)which);
    for (const char *at = text.data; at != NULL && (at = strchr(at, '?')) != NULL; at++) {
        statement->order[statement->marker_count] = statement->marker_count + 1;
        statement->marker_count++;
    }
    pawl_code code = pawl__odbc_prepare_text(connection, &statement->stmt, &statement->column_count,
                                             &text, error);
    pawl__sql_text_free(&text);
    if (code == PAWL_OK)
        return PAWL_OK;
    return pawl_error_wrap(error, code, "saga %.*s", PAWL_TEXT_ARGS(saga->table.type));
}

static pawl__odbc_statement *prepared_saga(pawl__odbc_connection *connection, int which,
                                           const pawl_saga_table *table, pawl_code *code,
                                           pawl_error *error)
{
    pawl__odbc_saga *saga = connection->sagas;
    *code                 = PAWL_OK;
    while (saga != NULL && !pawl__sql_saga_same(&saga->table, table))
        saga = saga->next;
    if (saga == NULL)
        saga = add_table(connection, table, code, error);
    if (saga == NULL)
        return NULL;
    if (saga->statements[which].stmt == NULL)
        *code = prepare_saga(connection, saga, which, error);
    return *code == PAWL_OK ? &saga->statements[which] : NULL;
}

pawl__odbc_statement *pawl__odbc_prepared(pawl__odbc_connection *connection, int statement,
                                          const pawl_saga_table *table, pawl_code *code,
                                          pawl_error *error)
{
    if (table != NULL)
        return prepared_saga(connection, statement, table, code, error);
    statement = own_of(statement);
    *code     = PAWL_OK;
    if (connection->statements[statement].stmt == NULL)
        *code = prepare(connection, statement, error);
    return *code == PAWL_OK ? &connection->statements[statement] : NULL;
}

/* ---- Parameters --------------------------------------------------------- */

/* A parameter as ODBC takes it. */
typedef struct parameter {
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
    } as;
    char *copy; /* of a text whose bytes had to be replaced; or NULL */
} parameter;

static void put_text(parameter *to, pawl_text text, bool is_bytes)
{
    to->c_type    = is_bytes ? SQL_C_BINARY : SQL_C_CHAR;
    to->sql_type  = is_bytes ? SQL_LONGVARBINARY : SQL_LONGVARCHAR;
    to->size      = text.size != 0 ? text.size : 1;
    to->data      = (void *)(uintptr_t)(text.data != NULL ? text.data : "");
    to->indicator = (SQLLEN)text.size;
}

static void put_value(parameter *to, const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_INT:
        to->as.number = value->as.integer;
        to->c_type    = SQL_C_SBIGINT;
        to->sql_type  = SQL_BIGINT;
        to->data      = &to->as.number;
        to->indicator = sizeof to->as.number;
        return;
    case PAWL_VALUE_TIME:
        pawl__odbc_to_time(value->as.time, &to->as.time);
        to->c_type    = SQL_C_TYPE_TIMESTAMP;
        to->sql_type  = SQL_TYPE_TIMESTAMP;
        to->size      = TIME_SIZE;
        to->digits    = TIME_DIGITS;
        to->data      = &to->as.time;
        to->indicator = sizeof to->as.time;
        return;
    case PAWL_VALUE_TEXT: put_text(to, value->as.text, false); return;
    case PAWL_VALUE_UUID:
        pawl_uuid_format(value->as.uuid, to->as.uuid);
        put_text(to, (pawl_text){.data = to->as.uuid, .size = PAWL_UUID_TEXT_SIZE}, false);
        return;
    case PAWL_VALUE_NONE: break;
    }
    put_text(to, PAWL_TEXT(""), false);
    to->indicator = SQL_NULL_DATA;
}

/* A copy is made where a byte is to be replaced; without memory for it the server refuses the text. */
static void put_error_text(parameter *to, pawl_text text)
{
    size_t bad;
    to->copy = pawl_text_is_valid(text, &bad) ? NULL : pawl_allocate(text.size);
    if (to->copy != NULL) {
        memcpy(to->copy, text.data, text.size);
        pawl__make_utf8(to->copy, text.size);
        text.data = to->copy;
    }
    put_text(to, text, false);
}

static void put_field(parameter *to, int wire, const void *member)
{
    pawl_value value = pawl__sql_value_of(wire, member);
    memset(to, 0, sizeof *to);
    if (wire == PAWL__WIRE_ERROR_TEXT)
        put_error_text(to, value.as.text);
    else if (wire == PAWL__WIRE_BYTES)
        put_text(to, value.as.text, true);
    else
        put_value(to, &value);
}

/* ---- Running ------------------------------------------------------------ */

static size_t size_of(const parameter *of)
{
    return of->c_type == SQL_C_CHAR || of->c_type == SQL_C_BINARY
               ? (of->indicator > 0 ? (size_t)of->indicator : 0)
               : sizeof of->as;
}

/* A request that does not fit into a packet ends the session, so it is not sent. */
static pawl_code check_size(const pawl__odbc_connection *connection, const parameter *all,
                            size_t count, pawl_error *error)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += size_of(&all[i]);
    if (connection->packet_max == 0 || size + PACKET_REST <= connection->packet_max)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ELIMIT,
                          "odbc: values of %zu bytes, limit %zu: max_allowed_packet of the server",
                          size, connection->packet_max - PACKET_REST);
}

/* Of one item, behind `first` markers of those before it. */
static pawl_code bind_all(pawl__odbc_connection *connection, const pawl__odbc_statement *statement,
                          SQLHSTMT stmt, unsigned first, parameter *all, pawl_error *error)
{
    for (unsigned i = 0; i < statement->marker_count; i++) {
        parameter *one = &all[statement->order[i] - 1];
        if (!SQL_SUCCEEDED(SQLBindParameter(stmt, (SQLUSMALLINT)(first + i + 1), SQL_PARAM_INPUT,
                                            one->c_type, one->sql_type, one->size, one->digits,
                                            one->data, one->indicator > 0 ? one->indicator : 0,
                                            &one->indicator)))
            return pawl__odbc_failed(connection, SQL_HANDLE_STMT, stmt, error);
    }
    return PAWL_OK;
}

static pawl_code run(pawl__odbc_connection *connection, SQLHSTMT stmt, pawl_error *error)
{
    pawl_code code = pawl__odbc_call_begin(connection, error);
    if (code != PAWL_OK)
        return code;
    SQLRETURN ran = SQLExecute(stmt);
    pawl__odbc_call_end(connection);
    if (SQL_SUCCEEDED(ran) || ran == SQL_NO_DATA)
        return PAWL_OK;
    return pawl__odbc_failed(connection, SQL_HANDLE_STMT, stmt, error);
}

/* Puts, binds and runs: `rows` items with `all` as their room. */
static pawl_code execute(pawl__odbc_connection *connection, const pawl__odbc_statement *statement,
                         SQLHSTMT stmt, const pawl__sql_fields *fields, const void *const *items,
                         size_t rows, parameter *all, pawl_error *error)
{
    size_t    width = fields != NULL ? fields->count : 0;
    pawl_code code  = PAWL_OK;
    for (size_t i = 0; i < rows * width; i++)
        put_field(&all[i], fields->items[i % width].wire,
                  (const char *)items[i / width] + fields->items[i % width].offset);
    code = check_size(connection, all, rows * width, error);
    for (size_t i = 0; code == PAWL_OK && i < rows; i++)
        code = bind_all(connection, statement, stmt, (unsigned)i * statement->marker_count,
                        all + i * width, error);
    if (code == PAWL_OK)
        code = run(connection, stmt, error);
    for (size_t i = 0; i < rows * width; i++)
        pawl_free(all[i].copy);
    return code;
}

pawl_code pawl__odbc_execute(pawl__odbc_connection *connection, pawl__odbc_statement *statement,
                             const pawl__sql_fields *fields, const void *item, pawl_error *error)
{
    parameter all[PAWL__ODBC_FIELDS_MAX];
    return execute(connection, statement, statement->stmt, fields, &item, 1, all, error);
}

pawl_code pawl__odbc_execute_set(pawl__odbc_connection *connection, pawl__odbc_statement *statement,
                                 const pawl__sql_fields *fields, const void *const *items,
                                 pawl_error *error)
{
    parameter *all = pawl_allocate(PAWL__ODBC_SET_ROWS * fields->count * sizeof *all);
    if (all == NULL)
        return no_memory(error);
    pawl_code code = execute(connection, statement, statement->set, fields, items,
                             PAWL__ODBC_SET_ROWS, all, error);
    pawl_free(all);
    return code;
}

int64_t pawl__odbc_found(pawl__odbc_statement *statement)
{
    SQLLEN count = 0;
    if (statement->column_count != 0) {
        count = SQL_SUCCEEDED(SQLFetch(statement->stmt));
        (void)SQLFreeStmt(statement->stmt, SQL_CLOSE);
    } else if (!SQL_SUCCEEDED(SQLRowCount(statement->stmt, &count))) {
        count = 0;
    }
    return (int64_t)count;
}
