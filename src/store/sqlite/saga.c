/* saga.c - loading and saving saga rows. Each saga table has its own
 * statements, prepared at first use and kept.
 *
 * A loaded row carries its rowid; the update goes straight to it and checks id
 * and version there. Where the hint does not fit (VACUUM may give rows of these
 * tables new numbers) the update by id decides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/refusal.h"
#include "store/sqlite/operations.h"

#include "store/sql/saga_text.h"

/* ---- The tables of a connection ----------------------------------------- */

static pawl_code add_table(pawl__sqlite_connection *connection, const pawl_saga_table *table,
                           pawl__sqlite_saga **saga, pawl_error *error)
{
    pawl__sqlite_saga *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    pawl_code code =
        pawl__sql_saga_copy(&pawl__sqlite_dialect, table, &made->table, &made->texts, error);
    if (code != PAWL_OK) {
        pawl_free(made);
        return code;
    }
    made->next        = connection->sagas;
    connection->sagas = made;
    *saga             = made;
    return PAWL_OK;
}

static pawl_code prepare(pawl__sqlite_connection *connection, pawl__sqlite_saga *saga, int which,
                         pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__sql_saga_text(&text, &pawl__sqlite_dialect, &saga->table,
                        (pawl__sql_saga_statement)which);
    pawl_code code = text.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory")
                                    : pawl__sqlite_prepare(connection->db, text.data,
                                                           &saga->statements[which], error);
    pawl__sql_text_free(&text);
    if (code == PAWL_OK)
        return PAWL_OK;
    return pawl_error_wrap(error, code, "saga %.*s", PAWL_TEXT_ARGS(saga->table.type));
}

void pawl__sqlite_saga_begin(pawl__sqlite_request *request, pawl__sqlite_connection *connection,
                             const pawl_saga_table *table, int which, pawl_error *error)
{
    pawl__sqlite_saga *saga = connection->sagas;
    pawl_code          code = PAWL_OK;
    while (saga != NULL && !pawl__sql_saga_same(&saga->table, table))
        saga = saga->next;
    if (saga == NULL)
        code = add_table(connection, table, &saga, error);
    if (code == PAWL_OK && saga->statements[which] == NULL)
        code = prepare(connection, saga, which, error);
    pawl__sqlite_request_statement(request, connection,
                                   code == PAWL_OK ? saga->statements[which] : NULL, error);
    request->code = code;
}

/* ---- Loading ------------------------------------------------------------ */

static void read_value(pawl__sqlite_request *request, pawl_value_type type, pawl_value *value)
{
    value->type = PAWL_VALUE_NONE;
    if (type == PAWL_VALUE_NONE)
        return;
    if (pawl__sqlite_is_null(request)) {
        request->column++;
        return;
    }
    value->type = type;
    switch (type) {
    case PAWL_VALUE_INT: value->as.integer = pawl__sqlite_get_int(request); return;
    case PAWL_VALUE_TIME: value->as.time = pawl__sqlite_get_int(request); return;
    case PAWL_VALUE_TEXT: value->as.text = pawl__sqlite_get_text(request); return;
    case PAWL_VALUE_UUID: value->as.uuid = pawl__sqlite_get_uuid(request); return;
    case PAWL_VALUE_NONE: return;
    }
}

static void read_row(pawl__sqlite_request *request, const pawl_saga_table *table,
                     pawl_saga_row *row)
{
    row->row          = pawl__sqlite_get_int(request);
    row->id.uuid      = pawl__sqlite_get_uuid(request);
    row->presence     = PAWL_SAGA_THERE;
    row->version      = pawl__sqlite_get_int(request);
    row->metadata     = pawl__sqlite_get_text(request);
    row->data         = pawl__sqlite_get_text(request);
    row->type_version = pawl__sqlite_get_text(request);
    read_value(request, table->main.type, &row->main);
    read_value(request, table->transitional.type, &row->transitional);
}

/* A row in a hold is locked in any case: the hold has the database's one
 * write lock. */
pawl_code pawl__sqlite_saga_load(pawl_store *base, const pawl_saga_table *table, pawl_saga_key key,
                                 const pawl_value *values, size_t count, pawl_saga_lock lock,
                                 pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    (void)lock;
    pawl_code code = pawl__sqlite_ready(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_check_key(table, key, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl__sqlite_request request;
        rows[i] = (pawl_saga_row){0};
        pawl__sqlite_saga_begin(&request, &store->connection, table, (int)key, error);
        request.arena = arena;
        pawl__sqlite_put_value(&request, &values[i]);
        if (pawl__sqlite_next(&request))
            read_row(&request, table, &rows[i]);
        pawl__sqlite_stop(&request);
        code = request.code;
    }
    return pawl__sqlite_read_end(store, code, error);
}

pawl_code pawl__sqlite_saga_count(pawl_store *base, const pawl_saga_table *table, int64_t *count,
                                  pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = pawl__sqlite_ready(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__sqlite_request request;
    pawl__sqlite_saga_begin(&request, &store->connection, table, PAWL__SQL_SAGA_COUNT, error);
    return pawl__sqlite_one_int(&request, count);
}
