/* request.c - a session (store/sql/connection.h) through SQLite's library: statements, their parameters and rows, error
 * codes.
 *
 * Texts are bound without a copy: they are borrowed until the statement has run. Running a statement computes its first
 * row; each further row is computed when it is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/session_rows.h"
#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <string.h>

/* ---- Error codes -------------------------------------------------------- */

typedef struct code_row {
    int       result; /* primary result code of SQLite */
    pawl_code code;
} code_row;

static const code_row codes[] = {
    {SQLITE_PERM, PAWL_EDENIED},      {SQLITE_BUSY, PAWL_EBUSY},
    {SQLITE_PROTOCOL, PAWL_EBUSY}, /* a stopped process holds a lock */
    {SQLITE_LOCKED, PAWL_EBUSY},      {SQLITE_NOMEM, PAWL_ENOMEM},
    {SQLITE_READONLY, PAWL_EDENIED},  {SQLITE_INTERRUPT, PAWL_EINTERRUPTED},
    {SQLITE_FULL, PAWL_EFULL},        {SQLITE_CANTOPEN, PAWL_EUNREACHABLE},
    {SQLITE_SCHEMA, PAWL_EBUSY},      {SQLITE_TOOBIG, PAWL_ELIMIT},
    {SQLITE_AUTH, PAWL_EDENIED},      {SQLITE_NOTADB, PAWL_ENOTSTORE},
    {SQLITE_CORRUPT, PAWL_ENOTSTORE}, {SQLITE_IOERR, PAWL_EUNREACHABLE},
};

/* The code decides, not the text (D37). */
static pawl_code code_of(int result)
{
    if (result == SQLITE_CONSTRAINT_UNIQUE || result == SQLITE_CONSTRAINT_PRIMARYKEY ||
        result == SQLITE_CONSTRAINT_ROWID)
        return PAWL_EDUPLICATE;
    if (result == SQLITE_CONSTRAINT_CHECK || result == SQLITE_CONSTRAINT_DATATYPE)
        return PAWL_EINVAL;
    if (result == SQLITE_CORRUPT_VTAB) /* a damaged index of the application, not the file */
        return PAWL_EPERSIST;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].result == (result & 0xFF))
            return codes[i].code;
    return PAWL_EPERSIST;
}

/* A full disk or an exhausted user quota is not always reported as SQLITE_FULL: the shared memory file, for example,
 * fails to grow. */
static bool is_full(sqlite3 *db, int result)
{
    int reason = db != NULL ? sqlite3_system_errno(db) : 0;
    int base   = result & 0xFF;
    return result == SQLITE_IOERR_SHMSIZE || ((base == SQLITE_IOERR || base == SQLITE_CANTOPEN) &&
                                              (reason == ENOSPC || reason == EDQUOT));
}

/* SQLite reports an unreadable disk as a damaged file; only errno has the system's reason. */
static bool is_unreadable(int result, int reason)
{
    return (result & 0xFF) == SQLITE_CORRUPT && (reason == EIO || reason == ENXIO);
}

pawl_code pawl__sqlite_failed(sqlite3 *db, int result, const char *what, pawl_error *error)
{
    bool        no_read = is_unreadable(result, errno);
    const char *text    = db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(result);
    pawl_code   code    = code_of(result);
    if (no_read) {
        code = PAWL_EUNREACHABLE;
        text = "the disk cannot be read";
    }
    if ((result & 0xFF) == SQLITE_ERROR && strncmp(text, "no such ", 8) == 0)
        code = PAWL_ESCHEMA;
    int         reason = db != NULL ? sqlite3_system_errno(db) : 0;
    const char *why    = "";
    if ((result & 0xFF) == SQLITE_CANTOPEN && reason != 0)
        why = strerror(reason);
    if (is_full(db, result)) {
        code = PAWL_EFULL;
        text = "no space left for the file, or for what is beside it";
        why  = "";
    }
    return pawl_error_set(error, code, "sqlite: %s%s%s%s%s", what, what[0] != '\0' ? ": " : "",
                          text, why[0] != '\0' ? ": " : "", why);
}

static sqlite3 *db_of(const pawl__sql_session *session)
{
    return ((const pawl__sqlite_connection *)session)->db;
}

/* The caller's connection may return primary codes only, so the extended code is read. */
static pawl_code failed(pawl__sql_session *session, pawl_error *error)
{
    sqlite3 *db      = db_of(session);
    int      result  = sqlite3_extended_errcode(db);
    session->is_null = result == SQLITE_CONSTRAINT_NOTNULL;
    pawl_code code   = pawl__sqlite_failed(db, result, "", error);
    if (code == PAWL_EFULL)
        ((pawl__sqlite_connection *)session)->was_full = true;
    return code;
}

/* ---- Texts --------------------------------------------------------------- */

#define ASKED_COLUMNS_MAX 3

typedef struct asking {
    pawl__sql_row_fn *each;
    void             *context;
} asking;

static int take_row(void *context, int count, char **values, char **names)
{
    const asking *asked                      = context;
    pawl_text     columns[ASKED_COLUMNS_MAX] = {{.data = NULL}};
    (void)names;
    for (int i = 0; i < count && i < ASKED_COLUMNS_MAX; i++)
        if (values[i] != NULL)
            columns[i] = pawl_text_of(values[i]);
    asked->each(asked->context, columns);
    return 0;
}

pawl_code pawl__sqlite_ask(pawl__sql_session *session, const char *text, pawl__sql_row_fn *each,
                           void *context, pawl_error *error)
{
    asking asked = {each, context};
    errno        = 0; /* here, and before each step: see is_unreadable */
    int result   = sqlite3_exec(db_of(session), text, each != NULL ? take_row : NULL, &asked, NULL);
    return result == SQLITE_OK ? PAWL_OK : pawl__sqlite_failed(db_of(session), result, "", error);
}

/* ---- Statements ---------------------------------------------------------- */

pawl_code pawl__sqlite_prepare_text(sqlite3 *db, const char *text, sqlite3_stmt **prepared,
                                    pawl_error *error)
{
    errno      = 0;
    int result = sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, prepared, NULL);
    return result == SQLITE_OK ? PAWL_OK : pawl__sqlite_failed(db, result, "", error);
}

pawl_code pawl__sqlite_prepare(pawl__sql_session *session, pawl__sql_prepared *made,
                               const pawl__field_list *fields, const char *template_text,
                               const pawl__sql_text *text, pawl_error *error)
{
    pawl__sqlite_statement *statement = (pawl__sqlite_statement *)made;
    (void)fields, (void)template_text;
    pawl_code code = pawl__sqlite_prepare_text(db_of(session), text->data, &statement->stmt, error);
    made->column_count = (unsigned)sqlite3_column_count(statement->stmt);
    return code;
}

void pawl__sqlite_close_statement(pawl__sql_prepared *statement)
{
    (void)sqlite3_finalize(((pawl__sqlite_statement *)statement)->stmt);
}

/* ---- Parameters ---------------------------------------------------------- */

static int bind_text(pawl__sqlite_statement *statement, int at, pawl_text text)
{
    return sqlite3_bind_text64(statement->stmt, at, text.data != NULL ? text.data : "", text.size,
                               SQLITE_STATIC, SQLITE_UTF8);
}

static int bind_uuid(pawl__sqlite_statement *statement, int at, pawl_uuid uuid)
{
    char *text = statement->uuids[statement->uuid_count++];
    pawl_uuid_format(uuid, text);
    return bind_text(statement, at, (pawl_text){.data = text, .size = PAWL_UUID_TEXT_SIZE});
}

static int bind_value(pawl__sqlite_statement *statement, int at, const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_INT: return sqlite3_bind_int64(statement->stmt, at, value->as.integer);
    case PAWL_VALUE_TIME: return sqlite3_bind_int64(statement->stmt, at, value->as.time);
    case PAWL_VALUE_TEXT: return bind_text(statement, at, value->as.text);
    case PAWL_VALUE_UUID: return bind_uuid(statement, at, value->as.uuid);
    case PAWL_VALUE_NONE: break;
    }
    return sqlite3_bind_null(statement->stmt, at);
}

/* Most fields are numbers or texts; these skip the conversion to pawl_value. */
static int bind_field(pawl__sqlite_statement *statement, int at, int wire, const void *member)
{
    pawl_value value;
    switch (wire) {
    case PAWL__WIRE_INT:
    case PAWL__WIRE_TIME: return sqlite3_bind_int64(statement->stmt, at, *(const int64_t *)member);
    case PAWL__WIRE_TEXT:
    case PAWL__WIRE_BYTES: return bind_text(statement, at, *(const pawl_text *)member);
    default: value = pawl__sql_value_of(wire, member); return bind_value(statement, at, &value);
    }
}

/* ---- Running ------------------------------------------------------------- */

/* A statement without rows is finished at once, any other when its rows are freed or it fails. */
pawl_code pawl__sqlite_run(pawl__sql_session *session, pawl__sql_prepared *base,
                           const pawl__field_list *fields, const void *item, pawl_error *error)
{
    pawl__sqlite_statement *statement = (pawl__sqlite_statement *)base;
    int                     result    = SQLITE_OK;
    size_t                  count     = fields != NULL ? fields->count : 0;
    statement->uuid_count             = 0;
    for (size_t i = 0; result == SQLITE_OK && i < count; i++)
        result = bind_field(statement, (int)i + 1, fields->items[i].wire,
                            (const char *)item + fields->items[i].offset);
    if (result != SQLITE_OK)
        return pawl__sqlite_failed(db_of(session), result, "", error);
    errno             = 0;
    statement->result = sqlite3_step(statement->stmt);
    statement->is_new = true;
    bool      is_well = statement->result == SQLITE_ROW || statement->result == SQLITE_DONE;
    pawl_code code    = is_well ? PAWL_OK : failed(session, error);
    if (!is_well || base->column_count == 0)
        (void)sqlite3_reset(statement->stmt);
    return code;
}

int64_t pawl__sqlite_found(pawl__sql_prepared *base)
{
    const pawl__sqlite_statement *statement = (const pawl__sqlite_statement *)base;
    if (base->column_count == 0)
        return sqlite3_changes64(sqlite3_db_handle(statement->stmt));
    (void)sqlite3_reset(statement->stmt);
    return statement->result == SQLITE_ROW;
}

pawl_code pawl__sqlite_fetch(pawl__sql_session *session, pawl__sql_prepared *base, bool *is_row,
                             pawl_error *error)
{
    pawl__sqlite_statement *statement = (pawl__sqlite_statement *)base;
    errno                             = 0;
    if (!statement->is_new && statement->result == SQLITE_ROW)
        statement->result = sqlite3_step(statement->stmt);
    statement->is_new = false;
    *is_row           = statement->result == SQLITE_ROW;
    return *is_row || statement->result == SQLITE_DONE ? PAWL_OK : failed(session, error);
}

void pawl__sqlite_free_rows(pawl__sql_session *session, pawl__sql_prepared *statement)
{
    (void)session;
    (void)sqlite3_reset(((pawl__sqlite_statement *)statement)->stmt);
}

/* ---- Reading ------------------------------------------------------------- */

static pawl_text peek_text(sqlite3_stmt *stmt, int column)
{
    const char *data = (const char *)sqlite3_column_text(stmt, column);
    return (pawl_text){.data = data, .size = (size_t)sqlite3_column_bytes(stmt, column)};
}

static pawl_text get_text(pawl__sql_request *request, sqlite3_stmt *stmt, int column)
{
    pawl_text text = peek_text(stmt, column);
    /* half of all texts are empty, and need no memory */
    if (text.size == 0)
        return PAWL_TEXT("");
    text = pawl_arena_text(request->arena, text);
    if (text.data == NULL)
        request->code =
            pawl_error_set(request->error, PAWL_ENOMEM, "sqlite: out of memory for a row");
    return text;
}

static void get_other(pawl__sql_request *request, sqlite3_stmt *stmt, int column, int wire,
                      void *member)
{
    pawl__sql_kind kind = pawl__sql_kind_of(wire, member);
    bool asks = kind == PAWL__SQL_MOMENT || kind == PAWL__SQL_PEEKED || wire == PAWL__WIRE_VALUE;
    pawl__sql_got got = {.is_null = asks && sqlite3_column_type(stmt, column) == SQLITE_NULL};
    switch (kind) {
    case PAWL__SQL_NUMBER:
    case PAWL__SQL_MOMENT: got.number = sqlite3_column_int64(stmt, column); break;
    case PAWL__SQL_KEPT: got.text = get_text(request, stmt, column); break;
    case PAWL__SQL_PEEKED: got.text = peek_text(stmt, column); break;
    case PAWL__SQL_SKIPPED: break;
    }
    const char *what = pawl__sql_take(wire, member, &got);
    if (what != NULL)
        request->code =
            pawl_error_set(request->error, PAWL_EPERSIST,
                           "sqlite: column %s holds '%.*s', which is not a valid %s",
                           sqlite3_column_name(stmt, column), PAWL_TEXT_ARGS(got.text), what);
}

/* Numbers and texts skip the conversion, as in bind_field. */
static void get_field(pawl__sql_request *request, sqlite3_stmt *stmt, int column, int wire,
                      void *member)
{
    switch (wire) {
    case PAWL__WIRE_INT:
    case PAWL__WIRE_TIME: *(int64_t *)member = sqlite3_column_int64(stmt, column); return;
    case PAWL__WIRE_TEXT:
    case PAWL__WIRE_BYTES: *(pawl_text *)member = get_text(request, stmt, column); return;
    default: get_other(request, stmt, column, wire, member);
    }
}

/* Replaces the generic `read`, which notes the columns already read: SQLite returns a column any number of times. */
void pawl__sqlite_get(pawl__sql_request *request, const pawl__field_list *columns, void *row)
{
    sqlite3_stmt *stmt = ((pawl__sqlite_statement *)request->statement)->stmt;
    for (size_t i = 0; i < columns->count; i++)
        get_field(request, stmt, (int)i, columns->items[i].wire,
                  (char *)row + columns->items[i].offset);
}
