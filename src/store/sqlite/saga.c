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

#include "pawl/pawl.h"
#include "store/sql/tables.h"

#include <stdio.h>
#include <string.h>

/* ---- Statements --------------------------------------------------------- */

static void append_table(pawl__sql_text *text, const pawl_saga_table *table)
{
    pawl__sql_append_name(text, &pawl__sqlite_dialect, "", table->name);
}

static void append_columns(pawl__sql_text *text, const pawl_saga_table *table)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    for (size_t i = 0; i < count; i++) {
        pawl__sql_append(text, ", ");
        pawl__sql_append_name(text, &pawl__sqlite_dialect, "Correlation_", list[i]->property);
    }
}

static void write_load(pawl__sql_text *text, const pawl_saga_table *table, pawl_saga_key key)
{
    pawl__sql_append(text, "select rowid, \"Id\", \"Concurrency\", \"Metadata\", \"Data\", "
                           "\"SagaTypeVersion\"");
    append_columns(text, table);
    pawl__sql_append(text, " from ");
    append_table(text, table);
    pawl__sql_append(text, " where ");
    if (key == PAWL_SAGA_BY_ID)
        pawl__sql_append(text, "\"Id\"");
    else
        pawl__sql_append_name(text, &pawl__sqlite_dialect, "Correlation_",
                              key == PAWL_SAGA_BY_MAIN ? table->main.property
                                                       : table->transitional.property);
    pawl__sql_append(text, " = ?1");
}

static void write_insert(pawl__sql_text *text, const pawl_saga_table *table)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    pawl__sql_append(text, "insert into ");
    append_table(text, table);
    pawl__sql_append(text, " (\"Id\", \"Metadata\", \"Data\", \"PersistenceVersion\", "
                           "\"SagaTypeVersion\", \"Concurrency\"");
    append_columns(text, table);
    pawl__sql_append(text, ") values (?1, ?2, ?3, '" PAWL_VERSION "', ?4, 1");
    pawl__sql_append(text, count > 0 ? ", ?5" : "");
    pawl__sql_append(text, count > 1 ? ", ?6)" : ")");
}

static void write_update(pawl__sql_text *text, const pawl_saga_table *table, const char *where)
{
    pawl__sql_append(text, "update ");
    append_table(text, table);
    pawl__sql_append(text, " set \"Concurrency\" = \"Concurrency\" + 1, \"Metadata\" = ?4, "
                           "\"Data\" = ?5, \"PersistenceVersion\" = '" PAWL_VERSION "', "
                           "\"SagaTypeVersion\" = ?6");
    if (table->transitional.type != PAWL_VALUE_NONE) {
        pawl__sql_append(text, ", ");
        pawl__sql_append_name(text, &pawl__sqlite_dialect, "Correlation_",
                              table->transitional.property);
        pawl__sql_append(text, " = ?7");
    }
    pawl__sql_append(text, where);
}

void pawl__sqlite_saga_text(pawl__sql_text *text, const pawl_saga_table *table, int which)
{
    switch ((pawl__sqlite_saga_statement)which) {
    case PAWL__SQLITE_SAGA_BY_ID:
    case PAWL__SQLITE_SAGA_BY_MAIN:
    case PAWL__SQLITE_SAGA_BY_TRANSITIONAL: write_load(text, table, (pawl_saga_key)which); return;
    case PAWL__SQLITE_SAGA_INSERT: write_insert(text, table); return;
    case PAWL__SQLITE_SAGA_UPDATE_ROW:
        write_update(text, table, " where rowid = ?3 and \"Id\" = ?1 and \"Concurrency\" = ?2");
        return;
    case PAWL__SQLITE_SAGA_UPDATE:
        write_update(text, table, " where \"Id\" = ?1 and \"Concurrency\" = ?2");
        return;
    case PAWL__SQLITE_SAGA_DELETE:
        pawl__sql_append(text, "delete from ");
        append_table(text, table);
        pawl__sql_append(text, " where \"Id\" = ?1 and \"Concurrency\" = ?2");
        return;
    case PAWL__SQLITE_SAGA_COUNT:
        pawl__sql_append(text, "select count(*) from ");
        append_table(text, table);
        return;
    case pawl__sqlite_saga_statement_count: break;
    }
}

/* ---- The tables of a connection ----------------------------------------- */

static bool same_correlation(const pawl_correlation *left, const pawl_correlation *right)
{
    return left->type == right->type && pawl_text_equal(left->property, right->property);
}

static bool same_table(const pawl_saga_table *left, const pawl_saga_table *right)
{
    return pawl_text_equal(left->name, right->name) &&
           same_correlation(&left->main, &right->main) &&
           same_correlation(&left->transitional, &right->transitional);
}

static pawl_text copy_text(char **at, pawl_text text)
{
    pawl_text copy = {.data = *at, .size = text.size};
    if (text.size != 0)
        memcpy(*at, text.data, text.size);
    *at += text.size;
    return copy;
}

static pawl_code add_table(pawl__sqlite_connection *connection, const pawl_saga_table *table,
                           pawl__sqlite_saga **saga, pawl_error *error)
{
    pawl_code code = pawl__sql_saga_check(&pawl__sqlite_dialect, table, error);
    if (code != PAWL_OK)
        return code;
    size_t size = table->type.size + table->name.size + table->main.property.size +
                  table->transitional.property.size;
    pawl__sqlite_saga *made  = pawl_allocate(sizeof *made);
    char              *texts = pawl_allocate(size);
    if (made == NULL || texts == NULL) {
        pawl_free(made);
        pawl_free(texts);
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    }
    made->texts                       = texts;
    made->table                       = *table;
    made->table.type                  = copy_text(&texts, table->type);
    made->table.name                  = copy_text(&texts, table->name);
    made->table.main.property         = copy_text(&texts, table->main.property);
    made->table.transitional.property = copy_text(&texts, table->transitional.property);
    made->next                        = connection->sagas;
    connection->sagas                 = made;
    *saga                             = made;
    return PAWL_OK;
}

static pawl_code prepare(pawl__sqlite_connection *connection, pawl__sqlite_saga *saga, int which,
                         pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__sqlite_saga_text(&text, &saga->table, which);
    pawl_code code = text.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory")
                                    : pawl__sqlite_prepare(connection->db, text.data,
                                                           &saga->statements[which], error);
    pawl__sql_text_free(&text);
    if (code == PAWL_OK)
        return PAWL_OK;
    return pawl_error_wrap(error, code, "saga %.*s", PAWL_TEXT_ARGS(saga->table.type));
}

static void begin(pawl__sqlite_request *request, pawl__sqlite_connection *connection,
                  const pawl_saga_table *table, int which, pawl_error *error)
{
    pawl__sqlite_saga *saga = connection->sagas;
    pawl_code          code = PAWL_OK;
    while (saga != NULL && !same_table(&saga->table, table))
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
        begin(&request, &store->connection, table, (int)key, error);
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
    begin(&request, &store->connection, table, PAWL__SQLITE_SAGA_COUNT, error);
    return pawl__sqlite_one_int(&request, count);
}

/* ---- Saving ------------------------------------------------------------- */

/* An empty text is no JSON. */
static void put_json(pawl__sqlite_request *request, pawl_text json)
{
    pawl__sqlite_put_text(request, json.size != 0 ? json : PAWL_TEXT("{}"));
}

pawl_code pawl__sqlite_apply_saga_delete(pawl__sqlite_writer *writer, const void *change,
                                         pawl_error *error)
{
    const pawl_saga_delete *gone = change;
    pawl__sqlite_request    request;
    begin(&request, writer->connection, gone->table, PAWL__SQLITE_SAGA_DELETE, error);
    pawl__sqlite_put_uuid(&request, gone->id.uuid);
    pawl__sqlite_put_int(&request, gone->version);
    pawl_code code = pawl__sqlite_run(&request);
    if (code == PAWL_OK && request.changes == 0)
        return pawl__sql_why_not_deleted(gone, error);
    return code;
}

pawl_code pawl__sqlite_apply_saga_insert(pawl__sqlite_writer *writer, const void *change,
                                         pawl_error *error)
{
    const pawl_saga_insert *row = change;
    pawl__sqlite_request    request;
    begin(&request, writer->connection, row->table, PAWL__SQLITE_SAGA_INSERT, error);
    pawl__sqlite_put_uuid(&request, row->id.uuid);
    put_json(&request, row->metadata);
    put_json(&request, row->data);
    pawl__sqlite_put_text(&request, row->type_version);
    if (row->table->main.type != PAWL_VALUE_NONE)
        pawl__sqlite_put_value(&request, &row->main);
    if (row->table->transitional.type != PAWL_VALUE_NONE)
        pawl__sqlite_put_value(&request, &row->transitional);
    pawl_code code = pawl__sqlite_run(&request);
    if (code == PAWL_EDUPLICATE)
        return pawl__sql_why_not_inserted(row, error);
    return code;
}

/* `hint` 0: by id. */
static pawl_code update(pawl__sqlite_connection *connection, const pawl_saga_update *row,
                        int64_t hint, int64_t *changes, pawl_error *error)
{
    pawl__sqlite_request request;
    begin(&request, connection, row->table,
          hint != 0 ? PAWL__SQLITE_SAGA_UPDATE_ROW : PAWL__SQLITE_SAGA_UPDATE, error);
    pawl__sqlite_put_uuid(&request, row->id.uuid);
    pawl__sqlite_put_int(&request, row->version);
    if (hint != 0)
        pawl__sqlite_put_int(&request, hint);
    else
        request.column++;
    put_json(&request, row->metadata);
    put_json(&request, row->data);
    pawl__sqlite_put_text(&request, row->type_version);
    if (row->table->transitional.type != PAWL_VALUE_NONE)
        pawl__sqlite_put_value(&request, &row->transitional);
    pawl_code code = pawl__sqlite_run(&request);
    *changes       = request.changes;
    return code;
}

pawl_code pawl__sqlite_apply_saga_update(pawl__sqlite_writer *writer, const void *change,
                                         pawl_error *error)
{
    const pawl_saga_update *row     = change;
    int64_t                 changes = 0;
    pawl_code               code    = update(writer->connection, row, row->row, &changes, error);
    if (code == PAWL_OK && changes == 0 && row->row != 0)
        code = update(writer->connection, row, 0, &changes, error);
    if (code == PAWL_EDUPLICATE)
        return pawl__sql_why_value_taken(row, error);
    if (code == PAWL_OK && changes == 0)
        return pawl__sql_why_not_updated(row, error);
    return code;
}
