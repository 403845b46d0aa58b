/* op_saga.c - sagas as single calls: find, insert, update, delete; and an operator removes one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"
#include "pawl/store_saga.h"

#include <stdio.h>

#define PATH_SIZE (2 * PAWL_NAME_SIZE_MAX + 40)

static pawl_code check_table(const pawl_saga_table *table, pawl_error *error)
{
    return table != NULL ? PAWL_OK : pawl_error_set(error, PAWL_EINVAL, "the saga table is NULL");
}

/* "its correlation property is 'OrderRef'" and the like, for an error text. */
static const char *allowed(const pawl_saga_table *table, char text[PATH_SIZE])
{
    if (table->main.type == PAWL_VALUE_NONE && table->transitional.type == PAWL_VALUE_NONE)
        snprintf(text, PATH_SIZE, "it has no correlation property and is found by its id");
    else if (table->transitional.type == PAWL_VALUE_NONE)
        snprintf(text, PATH_SIZE, "its correlation property is '%.*s'",
                 PAWL_TEXT_ARGS(table->main.property));
    else
        snprintf(text, PATH_SIZE, "its correlation properties are '%.*s' and '%.*s'",
                 PAWL_TEXT_ARGS(table->main.property),
                 PAWL_TEXT_ARGS(table->transitional.property));
    return text;
}

/* ---- Find --------------------------------------------------------------- */

static pawl_code column_of(const pawl_saga_table *table, pawl_saga_key key,
                           pawl_correlation *column, pawl_error *error)
{
    char text[PATH_SIZE];
    switch (key) {
    case PAWL_SAGA_BY_ID:
        *column = (pawl_correlation){.property = PAWL_TEXT("id"), .type = PAWL_VALUE_UUID};
        break;
    case PAWL_SAGA_BY_MAIN: *column = table->main; break;
    case PAWL_SAGA_BY_TRANSITIONAL: *column = table->transitional; break;
    default:
        return pawl_error_set(error, PAWL_EINVAL, "saga '%.*s': key %d is unknown",
                              PAWL_TEXT_ARGS(table->type), (int)key);
    }
    if (column->type != PAWL_VALUE_NONE)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "saga '%.*s' cannot be found by a %s correlation property: %s",
                          PAWL_TEXT_ARGS(table->type),
                          key == PAWL_SAGA_BY_MAIN ? "main" : "transitional", allowed(table, text));
}

/* Converts the value to the column's type. */
static pawl_code settle_value(const pawl_saga_table *table, const pawl_correlation *column,
                              pawl_value *value, pawl_arena *arena, pawl_error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "saga '%.*s': property '%.*s'", PAWL_TEXT_ARGS(table->type),
             PAWL_TEXT_ARGS(column->property));
    if (value->type == PAWL_VALUE_NONE)
        return pawl_error_set(error, PAWL_EINVAL, "%s: the value to find it by is null", path);
    pawl_code code = pawl_value_check(value, path, error);
    if (code != PAWL_OK)
        return code;
    code = pawl_value_coerce(column->type, value, arena, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "%s", path);
}

/* Is the table missing? If only a column is missing, counting its rows
 * succeeds. */
static bool is_missing(pawl_store *store, const pawl_saga_table *table)
{
    int64_t count;
    return pawl_store_saga_count(store, table, &count, NULL) == PAWL_ESCHEMA;
}

pawl_code pawl_store_saga_find(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                               pawl_value value, pawl_arena *arena, pawl_saga_row *row,
                               pawl_error *error)
{
    pawl_correlation column;
    *row = (pawl_saga_row){0};
    pawl_code code =
        pawl__store_call_needs(store, store->ops->saga_load != NULL, "saga_load", error);
    if (code == PAWL_OK)
        code = check_table(table, error);
    if (code == PAWL_OK)
        code = column_of(table, key, &column, error);
    if (code == PAWL_OK)
        code = settle_value(table, &column, &value, arena, error);
    if (code != PAWL_OK)
        return code;
    code =
        pawl_store_saga_load(store, table, key, &value, 1, PAWL_SAGA_UNLOCKED, arena, row, error);
    if (code != PAWL_ESCHEMA || !is_missing(store, table))
        return code;
    if (error != NULL)
        *error = (pawl_error)PAWL_ERROR_INIT;
    return PAWL_OK;
}

pawl_code pawl_store_saga_find_by(pawl_store *store, const pawl_saga_table *table,
                                  pawl_text property, pawl_value value, pawl_arena *arena,
                                  pawl_saga_row *row, pawl_error *error)
{
    char text[PATH_SIZE];
    *row           = (pawl_saga_row){0};
    pawl_code code = check_table(table, error);
    if (code != PAWL_OK)
        return code;
    pawl_saga_key key;
    if (table->main.type != PAWL_VALUE_NONE && pawl_text_equal(property, table->main.property))
        key = PAWL_SAGA_BY_MAIN;
    else if (table->transitional.type != PAWL_VALUE_NONE &&
             pawl_text_equal(property, table->transitional.property))
        key = PAWL_SAGA_BY_TRANSITIONAL;
    else
        return pawl_error_set(
            error, PAWL_EINVAL, "saga '%.*s' cannot be found by property '%.*s': %s",
            PAWL_TEXT_ARGS(table->type), PAWL_TEXT_ARGS(property), allowed(table, text));
    return pawl_store_saga_find(store, table, key, value, arena, row, error);
}

/* ---- Changes ------------------------------------------------------------ */

static pawl_code check_not_null(const pawl_saga_table *table, const char *what,
                                const pawl_correlation *column, const pawl_value *value,
                                pawl_error *error)
{
    if (column->type == PAWL_VALUE_NONE || value->type != PAWL_VALUE_NONE)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL, "saga '%.*s': null %s property '%.*s' is not allowed",
                          PAWL_TEXT_ARGS(table->type), what, PAWL_TEXT_ARGS(column->property));
}

static pawl_code check_json(const pawl_saga_table *table, const pawl_saga_row *row,
                            pawl_error *error)
{
    pawl_code code = pawl__texts_check("metadata", row->metadata, error);
    if (code == PAWL_OK)
        code = pawl__texts_check("data", row->data, error);
    return code == PAWL_OK
               ? code
               : pawl_error_wrap(error, code, "saga '%.*s'", PAWL_TEXT_ARGS(table->type));
}

/* The values that a new row needs; one that is there keeps its main one. */
static pawl_code check_row(const pawl_saga_table *table, const pawl_saga_row *row, bool is_new,
                           pawl_error *error)
{
    pawl_code code = check_table(table, error);
    if (code == PAWL_OK && is_new)
        code = check_not_null(table, "correlation", &table->main, &row->main, error);
    if (code == PAWL_OK)
        code =
            check_not_null(table, "transitional", &table->transitional, &row->transitional, error);
    return code == PAWL_OK ? check_json(table, row, error) : code;
}

/* Replaces an empty text, which is no JSON, by {}. */
static pawl_text json_of(pawl_text json)
{
    return json.size != 0 ? json : PAWL_TEXT("{}");
}

pawl_code pawl_store_saga_insert(pawl_store *store, const pawl_saga_table *table,
                                 pawl_saga_row *row, pawl_time now, pawl_error *error)
{
    pawl_code code = check_row(table, row, true, error);
    if (code != PAWL_OK)
        return code;
    pawl_saga_insert change = {
        .table        = table,
        .id           = row->id,
        .main         = row->main,
        .transitional = row->transitional,
        .metadata     = json_of(row->metadata),
        .data         = json_of(row->data),
        .type_version = row->type_version,
    };
    if (pawl_uuid_is_zero(row->id.uuid))
        change.id.uuid = pawl__store_new_id(store, now);
    pawl_changes changes = {PAWL__ONE_UNIT(now), .saga_insert = {&change, 1}};
    code                 = pawl_store_commit(store, &changes, NULL, error);
    if (code != PAWL_OK)
        return code;
    row->presence = PAWL_SAGA_THERE;
    row->id       = change.id;
    row->version  = 1;
    row->row      = 0;
    return PAWL_OK;
}

pawl_code pawl_store_saga_update(pawl_store *store, const pawl_saga_table *table,
                                 pawl_saga_row *row, pawl_time now, pawl_error *error)
{
    pawl_code code = check_row(table, row, false, error);
    if (code != PAWL_OK)
        return code;
    pawl_saga_update change = {
        .table        = table,
        .id           = row->id,
        .version      = row->version,
        .row          = row->row,
        .transitional = row->transitional,
        .metadata     = json_of(row->metadata),
        .data         = json_of(row->data),
        .type_version = row->type_version,
    };
    pawl_changes changes = {PAWL__ONE_UNIT(now), .saga_update = {&change, 1}};
    code                 = pawl_store_commit(store, &changes, NULL, error);
    if (code == PAWL_OK)
        row->version++;
    return code;
}

pawl_code pawl_store_saga_delete(pawl_store *store, const pawl_saga_table *table,
                                 const pawl_saga_row *row, pawl_time now, pawl_error *error)
{
    pawl_saga_delete change = {.table = table, .id = row->id, .version = row->version};
    return PAWL__COMMIT_ONE(saga_delete, &change);
}

/* ---- A saga that an operator removes ----------------------------------------- *
 *
 * One commit:
 *
 *     saga_delete       at the version that the operator saw
 *     event_append      who, when, why
 *     timeout_cancel    all of the saga's */

static pawl_code no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "out of memory for a saga");
}

/* "TYPE/ID"; data NULL: out of memory. */
static pawl_text name_of(pawl_text type, pawl_saga_id id, pawl_arena *arena)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id.uuid, text);
    return pawl_arena_printf(arena, "%.*s/%s", PAWL_TEXT_ARGS(type), text);
}

static yyjson_mut_doc *headers_of(const pawl_saga_row *row, size_t timeouts)
{
    yyjson_mut_doc *doc = pawl__texts_begin();
    return pawl__texts_kept(doc, doc != NULL &&
                                     pawl__texts_put_number(doc, "version", row->version) &&
                                     pawl__texts_put_number(doc, "timeouts", (int64_t)timeouts));
}

static pawl_code remove_saga(pawl_store *store, const pawl_saga_table *table,
                             const pawl_saga_row *row, const pawl__action *action, pawl_time now,
                             pawl_arena *arena, size_t *timeouts, pawl_error *error)
{
    pawl_saga_delete    ended   = {.table = table, .id = row->id, .version = row->version};
    pawl_timeout_cancel cancel  = {.saga_id = row->id};
    pawl_event_append   event   = {.version = 0};
    pawl_changes        changes = {PAWL__ONE_UNIT(now), .saga_delete = {&ended, 1},
                                   .event_append = {&event, 1}, .timeout_cancel = {&cancel, 1}};
    pawl_timeout_rows   rows    = {.count = 0};
    pawl_code           code    = pawl__action_check(action, error);
    if (code == PAWL_OK)
        code = pawl_store_timeout_list(store, row->id, 0, arena, &rows, error);
    *timeouts = rows.count;
    if (code == PAWL_OK)
        code = pawl__action_event(store, action, headers_of(row, rows.count), now, arena, &event,
                                  error);
    if (code == PAWL_OK)
        code = pawl_store_commit(store, &changes, NULL, error);
    return code;
}

pawl_code pawl_store_saga_remove(pawl_store *store, const pawl_saga_table *table,
                                 const pawl_saga_row *row, pawl_text by, pawl_text reason,
                                 pawl_time now, int64_t *timeouts, pawl_error *error)
{
    size_t count = 0;
    if (timeouts != NULL)
        *timeouts = 0;
    pawl_code code = check_table(table, error);
    if (code != PAWL_OK)
        return code;
    if (pawl_uuid_is_zero(row->id.uuid))
        return pawl_error_set(error, PAWL_EINVAL, "saga '%.*s': the id is zero",
                              PAWL_TEXT_ARGS(table->type));
    pawl_arena  *arena  = pawl_arena_create(0);
    pawl__action action = {.streams = PAWL_SAGA_STREAMS,
                           .noun    = "saga",
                           .type    = PAWL_SAGA_REMOVED,
                           .by      = by,
                           .reason  = reason};
    if (arena != NULL)
        action.name = name_of(table->type, row->id, arena);
    code = action.name.data != NULL
               ? remove_saga(store, table, row, &action, now, arena, &count, error)
               : no_memory(error);
    if (code == PAWL_OK && timeouts != NULL)
        *timeouts = (int64_t)count;
    pawl_arena_destroy(arena);
    return code;
}

pawl_code pawl_store_saga_actions(pawl_store *store, pawl_text type, pawl_saga_id id,
                                  pawl_arena *arena, pawl_event_rows *rows, pawl_error *error)
{
    pawl_text name = name_of(type, id, arena);
    *rows          = (pawl_event_rows){.count = 0};
    return name.data != NULL ? pawl__action_list(store, PAWL_SAGA_STREAMS, name, arena, rows, error)
                             : no_memory(error);
}
