/* request.c - prepared statements: binding, stepping, reading, error codes.
 *
 * Statements are prepared at first use and kept for the life of the handle.
 * Texts are bound without a copy: they are borrowed until the statement ran.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/value.h"
#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <string.h>

static const char *const templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__SQL_ROW_STATEMENTS(TEXT_OF) PAWL__SQLITE_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof templates / sizeof templates[0] == PAWL__SQLITE_STATEMENT_COUNT,
               "one template for each statement");

/* ---- Error codes -------------------------------------------------------- */

typedef struct code_row {
    int       result; /* primary result code of SQLite */
    pawl_code code;
} code_row;

static const code_row codes[] = {
    {SQLITE_PERM, PAWL_EDENIED},     {SQLITE_BUSY, PAWL_EBUSY},
    {SQLITE_PROTOCOL, PAWL_EBUSY}, /* a stopped process is in the way */
    {SQLITE_LOCKED, PAWL_EBUSY},     {SQLITE_NOMEM, PAWL_ENOMEM},
    {SQLITE_READONLY, PAWL_EDENIED}, {SQLITE_INTERRUPT, PAWL_EINTERRUPTED},
    {SQLITE_FULL, PAWL_EFULL},       {SQLITE_CANTOPEN, PAWL_EUNREACHABLE},
    {SQLITE_SCHEMA, PAWL_EBUSY},     {SQLITE_TOOBIG, PAWL_ELIMIT},
    {SQLITE_AUTH, PAWL_EDENIED},     {SQLITE_NOTADB, PAWL_ENOTSTORE},
};

/* By code, not by text (D37). */
pawl_code pawl__sqlite_code_of(int result)
{
    if (result == SQLITE_CONSTRAINT_UNIQUE || result == SQLITE_CONSTRAINT_PRIMARYKEY ||
        result == SQLITE_CONSTRAINT_ROWID)
        return PAWL_EDUPLICATE;
    if (result == SQLITE_CONSTRAINT_CHECK || result == SQLITE_CONSTRAINT_DATATYPE)
        return PAWL_EINVAL;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].result == (result & 0xFF))
            return codes[i].code;
    return PAWL_EPERSIST;
}

/* The shared memory beside a file cannot grow on a full disk, and the quota of a user is another one: neither is
 * SQLITE_FULL. */
static bool is_full(sqlite3 *db, int result)
{
    int reason = db != NULL ? sqlite3_system_errno(db) : 0;
    int base   = result & 0xFF;
    return result == SQLITE_IOERR_SHMSIZE || ((base == SQLITE_IOERR || base == SQLITE_CANTOPEN) &&
                                              (reason == ENOSPC || reason == EDQUOT));
}

pawl_code pawl__sqlite_failed(sqlite3 *db, int result, const char *what, pawl_error *error)
{
    const char *text = db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(result);
    pawl_code   code = pawl__sqlite_code_of(result);
    if ((result & 0xFF) == SQLITE_ERROR && strncmp(text, "no such ", 8) == 0)
        code = PAWL_ESCHEMA;
    if (is_full(db, result)) {
        code = PAWL_EFULL;
        text = "no space left for the file, or for what is beside it";
    }
    return pawl_error_set(error, code, "sqlite: %s%s%s", what, what[0] != '\0' ? ": " : "", text);
}

/* ---- Preparing ---------------------------------------------------------- */

pawl_code pawl__sqlite_prepare(sqlite3 *db, const char *statement, sqlite3_stmt **prepared,
                               pawl_error *error)
{
    int result = sqlite3_prepare_v3(db, statement, -1, SQLITE_PREPARE_PERSISTENT, prepared, NULL);
    return result == SQLITE_OK ? PAWL_OK : pawl__sqlite_failed(db, result, "", error);
}

pawl_code pawl__sqlite_execute(sqlite3 *db, const char *statement, pawl_error *error)
{
    int result = sqlite3_exec(db, statement, NULL, NULL, NULL);
    return result == SQLITE_OK ? PAWL_OK : pawl__sqlite_failed(db, result, "", error);
}

static pawl_code prepare_template(pawl__sqlite_connection *connection, int which, pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__sql_expand(&text, &pawl__sqlite_dialect, connection->prefix, templates[which]);
    pawl_code code = text.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory")
                                    : pawl__sqlite_prepare(connection->db, text.data,
                                                           &connection->statements[which], error);
    pawl__sql_text_free(&text);
    return code;
}

void pawl__sqlite_connection_clear(pawl__sqlite_connection *connection)
{
    for (int i = 0; i < PAWL__SQLITE_STATEMENT_COUNT; i++)
        (void)sqlite3_finalize(connection->statements[i]);
    memset(connection->statements, 0, sizeof connection->statements);
    pawl_free(connection->spare);
    connection->spare = NULL;
    while (connection->sagas != NULL) {
        pawl__sqlite_saga *saga = connection->sagas;
        connection->sagas       = saga->next;
        for (int i = 0; i < pawl__sql_saga_statement_count; i++)
            (void)sqlite3_finalize(saga->statements[i]);
        pawl_free(saga->texts);
        pawl_free(saga);
    }
}

void pawl__sqlite_request_statement(pawl__sqlite_request    *request,
                                    pawl__sqlite_connection *connection, sqlite3_stmt *statement,
                                    pawl_error *error)
{
    request->connection = connection;
    request->statement  = statement;
    request->error      = error;
    request->arena      = NULL;
    request->code       = PAWL_OK;
    request->column     = 1;
    request->changes    = 0;
    request->uuid_count = 0;
}

void pawl__sqlite_request_begin(pawl__sqlite_request *request, pawl__sqlite_connection *connection,
                                int statement, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (connection->statements[statement] == NULL)
        code = prepare_template(connection, statement, error);
    pawl__sqlite_request_statement(request, connection, connection->statements[statement], error);
    request->code = code;
}

/* ---- Binding ------------------------------------------------------------ */

static void bound(pawl__sqlite_request *request, int result)
{
    request->column++;
    if (result != SQLITE_OK)
        request->code = pawl__sqlite_failed(request->connection->db, result, "", request->error);
}

void pawl__sqlite_put_text(pawl__sqlite_request *request, pawl_text text)
{
    if (request->code == PAWL_OK)
        bound(request, sqlite3_bind_text64(request->statement, request->column,
                                           text.data != NULL ? text.data : "", text.size,
                                           SQLITE_STATIC, SQLITE_UTF8));
}

void pawl__sqlite_put_int(pawl__sqlite_request *request, int64_t number)
{
    if (request->code == PAWL_OK)
        bound(request, sqlite3_bind_int64(request->statement, request->column, number));
}

static void put_uuid(pawl__sqlite_request *request, pawl_uuid uuid)
{
    char *text = request->uuids[request->uuid_count++];
    pawl_uuid_format(uuid, text);
    pawl__sqlite_put_text(request, (pawl_text){.data = text, .size = PAWL_UUID_TEXT_SIZE});
}

static void put_value(pawl__sqlite_request *request, const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_INT: pawl__sqlite_put_int(request, value->as.integer); return;
    case PAWL_VALUE_TIME: pawl__sqlite_put_int(request, value->as.time); return;
    case PAWL_VALUE_TEXT: pawl__sqlite_put_text(request, value->as.text); return;
    case PAWL_VALUE_UUID: put_uuid(request, value->as.uuid); return;
    case PAWL_VALUE_NONE: break;
    }
    if (request->code == PAWL_OK)
        bound(request, sqlite3_bind_null(request->statement, request->column));
}

/* Most fields are a number or a text, which go straight: a row costs little more than its values. */
static void put_field(pawl__sqlite_request *request, int wire, const void *member)
{
    pawl_value value;
    switch (wire) {
    case PAWL__WIRE_INT:
    case PAWL__WIRE_TIME: pawl__sqlite_put_int(request, *(const int64_t *)member); return;
    case PAWL__WIRE_TEXT:
    case PAWL__WIRE_BYTES: pawl__sqlite_put_text(request, *(const pawl_text *)member); return;
    default: value = pawl__sql_value_of(wire, member); put_value(request, &value);
    }
}

void pawl__sqlite_put_fields(pawl__sqlite_request *request, const pawl__field_list *fields,
                             const void *item)
{
    for (size_t i = 0; i < fields->count; i++)
        put_field(request, fields->items[i].wire, (const char *)item + fields->items[i].offset);
}

/* ---- Running ------------------------------------------------------------ */

void pawl__sqlite_stop(pawl__sqlite_request *request)
{
    if (request->statement != NULL)
        (void)sqlite3_reset(request->statement);
}

/* A caller's own connection may give primary codes only, so the extended one is
 * asked for. */
void pawl__sqlite_stepped(pawl__sqlite_request *request, int result)
{
    sqlite3 *db = request->connection->db;
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        request->code = pawl__sqlite_failed(db, sqlite3_extended_errcode(db), "", request->error);
}

pawl_code pawl__sqlite_run(pawl__sqlite_request *request)
{
    if (request->code != PAWL_OK)
        return request->code;
    int result = sqlite3_step(request->statement);
    pawl__sqlite_stepped(request, result);
    if (result == SQLITE_DONE)
        request->changes = sqlite3_changes64(request->connection->db);
    pawl__sqlite_stop(request);
    return request->code;
}

bool pawl__sqlite_next(pawl__sqlite_request *request)
{
    if (request->code == PAWL_OK) {
        int result      = sqlite3_step(request->statement);
        request->column = 0;
        if (result == SQLITE_ROW)
            return true;
        pawl__sqlite_stepped(request, result);
    }
    pawl__sqlite_stop(request);
    return false;
}

/* ---- Reading ------------------------------------------------------------ */

static int64_t get_int(pawl__sqlite_request *request)
{
    return sqlite3_column_int64(request->statement, request->column++);
}

pawl_code pawl__sqlite_one_int(pawl__sqlite_request *request, int64_t *number)
{
    *number = 0;
    if (pawl__sqlite_next(request)) {
        *number = get_int(request);
        pawl__sqlite_stop(request);
    }
    return request->code;
}

static bool is_null(const pawl__sqlite_request *request)
{
    return sqlite3_column_type(request->statement, request->column) == SQLITE_NULL;
}

pawl_text pawl__sqlite_peek_text(pawl__sqlite_request *request)
{
    int         column = request->column++;
    const char *data   = (const char *)sqlite3_column_text(request->statement, column);
    return (pawl_text){.data = data,
                       .size = (size_t)sqlite3_column_bytes(request->statement, column)};
}

static void out_of_memory(pawl__sqlite_request *request)
{
    request->code = pawl_error_set(request->error, PAWL_ENOMEM, "sqlite: out of memory for a row");
}

static pawl_text get_text(pawl__sqlite_request *request)
{
    pawl_text text = pawl__sqlite_peek_text(request);
    /* Half of all texts are empty, and need no memory of their own. */
    if (text.size == 0)
        return PAWL_TEXT("");
    text = pawl_arena_text(request->arena, text);
    if (text.data == NULL)
        out_of_memory(request);
    return text;
}

static void get_other(pawl__sqlite_request *request, int wire, void *member)
{
    pawl__sql_kind kind = pawl__sql_kind_of(wire, member);
    bool asks = kind == PAWL__SQL_MOMENT || kind == PAWL__SQL_PEEKED || wire == PAWL__WIRE_VALUE;
    pawl__sql_got got = {.is_null = asks && is_null(request)};
    switch (kind) {
    case PAWL__SQL_NUMBER:
    case PAWL__SQL_MOMENT: got.number = get_int(request); break;
    case PAWL__SQL_KEPT: got.text = get_text(request); break;
    case PAWL__SQL_PEEKED: got.text = pawl__sqlite_peek_text(request); break;
    case PAWL__SQL_SKIPPED: request->column++; break;
    }
    const char *what = pawl__sql_take(wire, member, &got);
    if (what != NULL)
        request->code = pawl_error_set(request->error, PAWL_EPERSIST,
                                       "sqlite: column %s holds '%.*s', which is no %s",
                                       sqlite3_column_name(request->statement, request->column - 1),
                                       PAWL_TEXT_ARGS(got.text), what);
}

/* As put_field. */
static void get_field(pawl__sqlite_request *request, int wire, void *member)
{
    switch (wire) {
    case PAWL__WIRE_INT:
    case PAWL__WIRE_TIME: *(int64_t *)member = get_int(request); return;
    case PAWL__WIRE_TEXT:
    case PAWL__WIRE_BYTES: *(pawl_text *)member = get_text(request); return;
    default: get_other(request, wire, member);
    }
}

void pawl__sqlite_get_fields(pawl__sqlite_request *request, const pawl__field_list *fields,
                             void *row)
{
    for (size_t i = 0; i < fields->count; i++)
        get_field(request, fields->items[i].wire, (char *)row + fields->items[i].offset);
}

void *pawl__sqlite_grow(pawl__sqlite_request *request, void *items, size_t count, size_t *capacity,
                        size_t item_size)
{
    void *grown = pawl_arena_grow(request->arena, items, count, capacity, item_size);
    if (grown == NULL) {
        out_of_memory(request);
        pawl__sqlite_stop(request);
    }
    return grown;
}
