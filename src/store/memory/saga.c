/* saga.c - sagas: one table of rows for each saga table, found by id, by main
 * and by transitional correlation value.
 *
 * A text that is a correlation value is kept beside the value, because packs
 * know texts by a fixed offset in the row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include <string.h>

typedef struct saga_row {
    MEMORY_ROW(3)
    pawl_saga_row fields;
    pawl_text     main_text;
    pawl_text     transitional_text;
} saga_row;

enum { BY_ID, BY_MAIN, BY_TRANSITIONAL };

static int by_id(const void *left, const void *right)
{
    const saga_row *a = left, *b = right;
    return pawl_uuid_compare(a->fields.id.uuid, b->fields.id.uuid);
}

static int by_main(const void *left, const void *right)
{
    const saga_row *a = left, *b = right;
    return pawl_value_compare(&a->fields.main, &b->fields.main);
}

static int by_transitional(const void *left, const void *right)
{
    const saga_row *a = left, *b = right;
    return pawl_value_compare(&a->fields.transitional, &b->fields.transitional);
}

static bool has_main(const void *row)
{
    const saga_row *it = row;
    return it->fields.main.type != PAWL_VALUE_NONE;
}

static bool has_transitional(const void *row)
{
    const saga_row *it = row;
    return it->fields.transitional.type != PAWL_VALUE_NONE;
}

const memory_table_kind pawl__memory_saga_kind = {
    .row_size      = sizeof(saga_row),
    .fields_offset = offsetof(saga_row, fields),
    .fields_size   = sizeof(pawl_saga_row),
    .fixed         = {offsetof(saga_row, main_text)},
    .loose         = {offsetof(saga_row, transitional_text), offsetof(saga_row, fields.metadata),
                      offsetof(saga_row, fields.data), offsetof(saga_row, fields.type_version)},
    .index_count   = MEMORY_INDEX_COUNT(saga_row),
    .indexes       = {[BY_ID]           = {by_id, NULL},
                      [BY_MAIN]         = {by_main, has_main},
                      [BY_TRANSITIONAL] = {by_transitional, has_transitional}},
};

/* ---- Tables ------------------------------------------------------------- */

static memory_table *find_table(const memory_data *data, const pawl_saga_table *table)
{
    for (memory_sagas *sagas = data->sagas; sagas != NULL; sagas = sagas->next)
        if (pawl_text_equal((pawl_text){.data = sagas->name, .size = sagas->name_size},
                            table->name))
            return &sagas->rows;
    return NULL;
}

/* NULL when out of memory. */
static memory_table *make_table(memory_data *data, const pawl_saga_table *table)
{
    memory_table *found = find_table(data, table);
    if (found != NULL)
        return found;
    memory_sagas *made = pawl_allocate(sizeof *made + table->name.size);
    if (made == NULL)
        return NULL;
    memcpy(made->name, table->name.data, table->name.size);
    made->name_size = table->name.size;
    pawl__table_init(&made->rows, &pawl__memory_saga_kind);
    made->next  = data->sagas;
    data->sagas = made;
    return &made->rows;
}

static saga_row *find_id(const memory_table *table, pawl_saga_id id)
{
    const saga_row probe = {.fields.id = id};
    return table != NULL ? pawl__tree_find(&table->trees[BY_ID], &probe) : NULL;
}

static saga_row *find_main(const memory_table *table, pawl_value value)
{
    const saga_row probe = {.fields.main = value};
    return value.type != PAWL_VALUE_NONE ? pawl__tree_find(&table->trees[BY_MAIN], &probe) : NULL;
}

static saga_row *find_transitional(const memory_table *table, pawl_value value)
{
    const saga_row probe = {.fields.transitional = value};
    return value.type != PAWL_VALUE_NONE ? pawl__tree_find(&table->trees[BY_TRANSITIONAL], &probe)
                                         : NULL;
}

/* ---- Reads -------------------------------------------------------------- */

static const saga_row *find_key(const memory_table *table, pawl_saga_key key, pawl_value value)
{
    if (table == NULL)
        return NULL;
    switch (key) {
    case PAWL_SAGA_BY_ID:
        return value.type == PAWL_VALUE_UUID ? find_id(table, (pawl_saga_id){value.as.uuid}) : NULL;
    case PAWL_SAGA_BY_MAIN: return find_main(table, value);
    case PAWL_SAGA_BY_TRANSITIONAL: return find_transitional(table, value);
    }
    return NULL;
}

static bool show_value(pawl_value *value, pawl_arena *arena)
{
    if (value->type != PAWL_VALUE_TEXT)
        return true;
    value->as.text = pawl_arena_text(arena, value->as.text);
    return value->as.text.data != NULL;
}

static bool show(const memory_table *table, const saga_row *row, pawl_arena *arena,
                 pawl_saga_row *out)
{
    return pawl__row_show(table, row, arena, out) && show_value(&out->main, arena) &&
           show_value(&out->transitional, arena);
}

pawl_code pawl__memory_saga_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                                 const pawl_value *values, size_t count, pawl_saga_lock lock,
                                 pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    (void)lock; /* there is no transaction that could keep a lock */
    memory_data        *data  = pawl__memory_enter(store);
    const memory_table *sagas = find_table(data, table);
    bool                is_ok = true;
    for (size_t i = 0; is_ok && i < count; i++) {
        const saga_row *row = find_key(sagas, key, values[i]);
        rows[i]             = (pawl_saga_row){0};
        is_ok               = row == NULL || show(sagas, row, arena, &rows[i]);
    }
    pawl__memory_leave(data);
    return is_ok ? PAWL_OK : pawl__memory_out_of_memory("load of sagas", error);
}

pawl_code pawl__memory_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                                  pawl_error *error)
{
    (void)error;
    memory_data        *data  = pawl__memory_enter(store);
    const memory_table *sagas = find_table(data, table);
    *count                    = sagas != NULL ? (int64_t)sagas->trees[BY_ID].count : 0;
    pawl__memory_leave(data);
    return PAWL_OK;
}

bool pawl__memory_saga_behind(const memory_data *data, const pawl_walk *walk,
                              const pawl_walk_row *after, pawl_walk_row *row)
{
    const memory_table *sagas = find_table(data, walk->table);
    const saga_row      probe = {.fields.id.uuid = after->id};
    const saga_row *found = sagas != NULL ? pawl__tree_above(&sagas->trees[BY_ID], &probe) : NULL;
    if (found != NULL)
        *row = (pawl_walk_row){.id           = found->fields.id.uuid,
                               .type_version = found->fields.type_version,
                               .message.body = found->fields.data};
    return found != NULL;
}

/* ---- Changes ------------------------------------------------------------ */

/* "saga 'OrderSaga' 0190...: expected version 3, it is 4" */
static pawl_code refuse_version(memory_commit *commit, const pawl_saga_table *table,
                                pawl_saga_id id, int64_t expected, const saga_row *row)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id.uuid, text);
    if (row == NULL)
        return pawl__memory_refuse(commit, PAWL_ECONFLICT,
                                   "saga '%.*s' %s: expected version %lld, it is gone",
                                   PAWL_TEXT_ARGS(table->type), text, (long long)expected);
    return pawl__memory_refuse(
        commit, PAWL_ECONFLICT, "saga '%.*s' %s: expected version %lld, it is %lld",
        PAWL_TEXT_ARGS(table->type), text, (long long)expected, (long long)row->fields.version);
}

static pawl_code refuse_duplicate(memory_commit *commit, const pawl_saga_table *table,
                                  pawl_saga_id id, pawl_text property, const pawl_value *value)
{
    char text[PAWL_UUID_TEXT_SIZE + 1], shown[PAWL_VALUE_TEXT_SIZE];
    pawl_uuid_format(id.uuid, text);
    return pawl__memory_refuse(commit, PAWL_EDUPLICATE, "saga '%.*s' %s: %.*s %s exists already",
                               PAWL_TEXT_ARGS(table->type), text, PAWL_TEXT_ARGS(property),
                               pawl_value_format(value, shown, sizeof shown));
}

static pawl_text text_of(const pawl_value *value)
{
    return value->type == PAWL_VALUE_TEXT ? value->as.text : (pawl_text){0};
}

/* Lets the values of a row that has its packs point into them. */
static saga_row *with_values(saga_row *row)
{
    if (row != NULL && row->fields.main.type == PAWL_VALUE_TEXT)
        row->fields.main.as.text = row->main_text;
    if (row != NULL && row->fields.transitional.type == PAWL_VALUE_TEXT)
        row->fields.transitional.as.text = row->transitional_text;
    return row;
}

pawl_code pawl__memory_apply_saga_delete(memory_commit *commit, const void *item)
{
    const pawl_saga_delete *change = item;
    memory_table           *table  = find_table(commit->data, change->table);
    saga_row               *row    = find_id(table, change->id);
    if (row == NULL || row->fields.version != change->version)
        return refuse_version(commit, change->table, change->id, change->version, row);
    return pawl__journal_remove(&commit->data->journal, table, row);
}

pawl_code pawl__memory_apply_saga_insert(memory_commit *commit, const void *item)
{
    const pawl_saga_insert *change = item;
    memory_table           *table  = make_table(commit->data, change->table);
    if (table == NULL)
        return PAWL_ENOMEM;
    pawl_value id = pawl_value_uuid(change->id.uuid);
    if (find_id(table, change->id) != NULL)
        return refuse_duplicate(commit, change->table, change->id, PAWL_TEXT("id"), &id);
    if (find_main(table, change->main) != NULL)
        return refuse_duplicate(commit, change->table, change->id, change->table->main.property,
                                &change->main);
    if (find_transitional(table, change->transitional) != NULL)
        return refuse_duplicate(commit, change->table, change->id,
                                change->table->transitional.property, &change->transitional);
    const saga_row model = {
        .fields            = {.id           = change->id,
                              .presence     = PAWL_SAGA_THERE,
                              .version      = 1,
                              .main         = change->main,
                              .transitional = change->transitional,
                              .metadata     = change->metadata,
                              .data         = change->data,
                              .type_version = change->type_version},
        .main_text         = text_of(&change->main),
        .transitional_text = text_of(&change->transitional),
    };
    return pawl__journal_insert(&commit->data->journal, table,
                                with_values(pawl__row_create(table, &model)));
}

pawl_code pawl__memory_apply_saga_update(memory_commit *commit, const void *item)
{
    const pawl_saga_update *change = item;
    memory_table           *table  = find_table(commit->data, change->table);
    saga_row               *row    = find_id(table, change->id);
    if (row == NULL || row->fields.version != change->version)
        return refuse_version(commit, change->table, change->id, change->version, row);
    const saga_row *other = find_transitional(table, change->transitional);
    if (other != NULL && other != row)
        return refuse_duplicate(commit, change->table, change->id,
                                change->table->transitional.property, &change->transitional);
    saga_row *copy = pawl__row_clone(table, row);
    if (copy == NULL)
        return PAWL_ENOMEM;
    copy->fields.version      = change->version + 1;
    copy->fields.transitional = change->transitional;
    copy->transitional_text   = text_of(&change->transitional);
    copy->fields.metadata     = change->metadata;
    copy->fields.data         = change->data;
    copy->fields.type_version = change->type_version;
    if (!pawl__row_repack(table, copy))
        return PAWL_ENOMEM;
    return pawl__journal_replace(&commit->data->journal, table, row, with_values(copy));
}
