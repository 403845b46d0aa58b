/* saga.c - sagas: one table of rows for each saga table, found by id and by the values of
 * correlation properties.
 *
 * As in SQL, each correlation property has a column of the table. So a program with another property
 * does not find a row by it, and the next program finds a row by the transitional property that the
 * program before it wrote (D29).
 *
 * The text of a correlation value is also a member of the row, because packs
 * need a fixed offset.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include "store/core/refusal.h"

#include <string.h>

typedef struct saga_row {
    MEMORY_ROW(1 + MEMORY_PROPERTIES_MAX)
    pawl_saga_row fields; /* without its two values */
    pawl_value    values[MEMORY_PROPERTIES_MAX];
    pawl_text     texts[MEMORY_PROPERTIES_MAX];
} saga_row;

enum { BY_ID, BY_VALUE };

MEMORY_ORDER(saga_by_id, saga_row, MEMORY_UUID(fields.id.uuid), MEMORY_NOTHING)

#define VALUE(column) ((order = pawl_value_compare(&a->values[column], &b->values[column])) != 0)
#define BY_COLUMN(column)                                              \
    MEMORY_ORDER(by_##column, saga_row, VALUE(column), MEMORY_NOTHING) \
    MEMORY_HAS(has_##column, saga_row, it->values[column].type != PAWL_VALUE_NONE)
BY_COLUMN(0)
BY_COLUMN(1)
BY_COLUMN(2)
BY_COLUMN(3)

static void place_values(void *row)
{
    saga_row *packed = row;
    for (size_t i = 0; i < MEMORY_PROPERTIES_MAX; i++)
        if (packed->values[i].type == PAWL_VALUE_TEXT)
            packed->values[i].as.text = packed->texts[i];
}

static const memory_table_kind saga_kind = {
    MEMORY_SIZES(saga_row, fields),
    .texts   = {offsetof(saga_row, texts[0]), offsetof(saga_row, texts[1]),
                offsetof(saga_row, texts[2]), offsetof(saga_row, texts[3]),
                offsetof(saga_row, fields.metadata), offsetof(saga_row, fields.data),
                offsetof(saga_row, fields.type_version)},
    .packed  = place_values,
    .indexes = {[BY_ID]        = MEMORY_INDEX(saga_by_id, NULL),
                [BY_VALUE]     = MEMORY_INDEX(by_0, has_0),
                [BY_VALUE + 1] = MEMORY_INDEX(by_1, has_1),
                [BY_VALUE + 2] = MEMORY_INDEX(by_2, has_2),
                [BY_VALUE + 3] = MEMORY_INDEX(by_3, has_3)},
};

/* ---- Tables ------------------------------------------------------------- */

static memory_sagas *find_table(const memory_data *data, const pawl_saga_table *table)
{
    for (memory_sagas *sagas = data->sagas; sagas != NULL; sagas = sagas->next)
        if (pawl_text_equal((pawl_text){.data = sagas->name, .size = sagas->name_size},
                            table->name))
            return sagas;
    return NULL;
}

/* NULL when out of memory. */
static memory_sagas *make_table(memory_data *data, const pawl_saga_table *table)
{
    memory_sagas *found = find_table(data, table);
    if (found != NULL)
        return found;
    memory_sagas *made = pawl_allocate(sizeof *made + table->name.size);
    if (made == NULL)
        return NULL;
    memset(made, 0, sizeof *made);
    memcpy(made->name, table->name.data, table->name.size);
    made->name_size = table->name.size;
    pawl__table_init(&made->rows, &saga_kind);
    made->next  = data->sagas;
    data->sagas = made;
    return made;
}

#define NO_COLUMN MEMORY_PROPERTIES_MAX

/* The column of the property's values, or NO_COLUMN: no row has one. */
static size_t column_of(const memory_sagas *sagas, const pawl_correlation *correlation)
{
    size_t column = 0;
    if (sagas == NULL || correlation->type == PAWL_VALUE_NONE)
        return NO_COLUMN;
    while (column < MEMORY_PROPERTIES_MAX &&
           (sagas->properties[column].data == NULL ||
            !pawl_text_equal(sagas->properties[column], correlation->property)))
        column++;
    return column;
}

/* A column without values can be reused for another property, but only before the commit's first change: an undo could
 * bring back a row with a value in it. */
static bool is_free(const memory_commit *commit, const memory_sagas *sagas,
                    const pawl_saga_table *table, size_t column)
{
    bool is_own = column == column_of(sagas, &table->main) ||
                  column == column_of(sagas, &table->transitional);
    return sagas->properties[column].data == NULL ||
           (!is_own && sagas->rows.trees[BY_VALUE + column].count == 0 &&
            commit->data->undo_log.count == 0);
}

/* Gives the property a column, unless it has one. */
static pawl_code make_column(memory_commit *commit, memory_sagas *sagas,
                             const pawl_saga_table *table, const pawl_correlation *correlation)
{
    if (correlation->type == PAWL_VALUE_NONE || column_of(sagas, correlation) != NO_COLUMN)
        return PAWL_OK;
    size_t column = 0;
    while (column < MEMORY_PROPERTIES_MAX && !is_free(commit, sagas, table, column))
        column++;
    if (column == NO_COLUMN)
        return pawl__memory_refuse(commit, PAWL_EUNSUPPORTED,
                                   "saga '%.*s': rows have values of %d other correlation "
                                   "properties, the limit of the memory store",
                                   PAWL_TEXT_ARGS(table->type), MEMORY_PROPERTIES_MAX);
    char *name = pawl_allocate(correlation->property.size + 1);
    if (name == NULL)
        return PAWL_ENOMEM;
    memcpy(name, correlation->property.data, correlation->property.size);
    pawl_free((char *)(uintptr_t)sagas->properties[column].data);
    sagas->properties[column] = (pawl_text){.data = name, .size = correlation->property.size};
    return PAWL_OK;
}

/* Makes columns for both properties of the saga; `*is_made` false: the change was refused. */
static pawl_code make_columns(memory_commit *commit, memory_sagas *sagas,
                              const pawl_saga_table *table, bool *is_made)
{
    size_t    refused = commit->refused_count;
    pawl_code code    = make_column(commit, sagas, table, &table->main);
    if (code == PAWL_OK && commit->refused_count == refused)
        code = make_column(commit, sagas, table, &table->transitional);
    *is_made = commit->refused_count == refused;
    return code;
}

void pawl__memory_sagas_destroy(memory_sagas *sagas)
{
    pawl__table_clear(&sagas->rows);
    for (size_t i = 0; i < MEMORY_PROPERTIES_MAX; i++)
        pawl_free((char *)(uintptr_t)sagas->properties[i].data);
    pawl_free(sagas);
}

static saga_row *find_id(const memory_sagas *sagas, pawl_saga_id id)
{
    const saga_row probe = {.fields.id = id};
    return sagas != NULL ? pawl__tree_find(&sagas->rows.trees[BY_ID], &probe) : NULL;
}

static saga_row *find_value(const memory_sagas *sagas, const pawl_correlation *correlation,
                            pawl_value value)
{
    size_t   column = column_of(sagas, correlation);
    saga_row probe  = {.fields = {.version = 0}};
    if (column == NO_COLUMN || value.type == PAWL_VALUE_NONE)
        return NULL;
    probe.values[column] = value;
    return pawl__tree_find(&sagas->rows.trees[BY_VALUE + column], &probe);
}

/* ---- Reads -------------------------------------------------------------- */

static const saga_row *find_key(const memory_sagas *sagas, const pawl_saga_table *table,
                                pawl_saga_key key, pawl_value value)
{
    switch (key) {
    case PAWL_SAGA_BY_ID:
        return value.type == PAWL_VALUE_UUID ? find_id(sagas, (pawl_saga_id){value.as.uuid}) : NULL;
    case PAWL_SAGA_BY_MAIN: return find_value(sagas, &table->main, value);
    case PAWL_SAGA_BY_TRANSITIONAL: return find_value(sagas, &table->transitional, value);
    }
    return NULL;
}

/* False when out of memory. */
static bool show_value(const memory_sagas *sagas, const pawl_correlation *correlation,
                       const saga_row *row, pawl_arena *arena, pawl_value *value)
{
    size_t column = column_of(sagas, correlation);
    if (column == NO_COLUMN)
        return true;
    *value = row->values[column];
    if (value->type != PAWL_VALUE_TEXT)
        return true;
    value->as.text = pawl_arena_text(arena, value->as.text);
    return value->as.text.data != NULL;
}

static bool show(const memory_sagas *sagas, const pawl_saga_table *table, const saga_row *row,
                 pawl_arena *arena, pawl_saga_row *out)
{
    return pawl__row_show(&sagas->rows, row, &saga_kind.shown, arena, out) &&
           show_value(sagas, &table->main, row, arena, &out->main) &&
           show_value(sagas, &table->transitional, row, arena, &out->transitional);
}

pawl_code pawl__memory_saga_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                                 const pawl_value *values, size_t count, pawl_saga_lock lock,
                                 pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    (void)lock; /* there is no transaction that could keep a lock */
    memory_data        *data  = pawl__memory_enter(store);
    const memory_sagas *sagas = find_table(data, table);
    bool                is_ok = true;
    for (size_t i = 0; is_ok && i < count; i++) {
        const saga_row *row = find_key(sagas, table, key, values[i]);
        rows[i]             = (pawl_saga_row){0};
        is_ok               = row == NULL || show(sagas, table, row, arena, &rows[i]);
    }
    pawl__memory_leave(data);
    return is_ok ? PAWL_OK : pawl__memory_out_of_memory("load of sagas", error);
}

pawl_code pawl__memory_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                                  pawl_error *error)
{
    (void)error;
    memory_data        *data  = pawl__memory_enter(store);
    const memory_sagas *sagas = find_table(data, table);
    *count                    = sagas != NULL ? (int64_t)sagas->rows.trees[BY_ID].count : 0;
    pawl__memory_leave(data);
    return PAWL_OK;
}

bool pawl__memory_saga_behind(const memory_data *data, const pawl_scan *scan,
                              const pawl_scan_row *after, pawl_scan_row *row)
{
    const memory_sagas *sagas = find_table(data, scan->table);
    const saga_row      probe = {.fields.id.uuid = after->id};
    const saga_row     *found =
        sagas != NULL ? pawl__tree_above(&sagas->rows.trees[BY_ID], &probe) : NULL;
    if (found != NULL)
        *row = (pawl_scan_row){.id                  = found->fields.id.uuid,
                               .type_version        = found->fields.type_version,
                               .persistence_version = pawl_text_of(PAWL_VERSION),
                               .message.body        = found->fields.data};
    return found != NULL;
}

/* ---- Sagas out of reach ------------------------------------------------- */

/* Has the row a value in a column before `end`: of the saga's properties (own), or of others? */
static bool has_value(const saga_row *row, const bool *is_own, bool own, size_t end)
{
    for (size_t i = 0; i < end; i++)
        if (is_own[i] == own && row->values[i].type != PAWL_VALUE_NONE)
            return true;
    return false;
}

/* Counts the rows that have values only of removed properties; each row counts at its first
 * value. */
static int64_t count_unreached(const memory_sagas *sagas, const bool *is_own)
{
    int64_t count = 0;
    for (size_t i = 0; i < MEMORY_PROPERTIES_MAX; i++) {
        const memory_tree *tree = &sagas->rows.trees[BY_VALUE + i];
        if (is_own[i])
            continue;
        for (const saga_row *row = pawl__tree_first(tree); row != NULL;
             row                 = pawl__tree_next(tree, row))
            count += !has_value(row, is_own, false, i) &&
                     !has_value(row, is_own, true, MEMORY_PROPERTIES_MAX);
    }
    return count;
}

static pawl_code check_table(const memory_sagas *sagas, const pawl_saga_table *table,
                             pawl_error *error)
{
    bool is_own[MEMORY_PROPERTIES_MAX + 1] = {false};
    char names[PAWL__REACH_NAMES_SIZE]     = "";
    if (sagas == NULL || table->main.type == PAWL_VALUE_NONE)
        return PAWL_OK;
    is_own[column_of(sagas, &table->main)]         = true;
    is_own[column_of(sagas, &table->transitional)] = true;
    int64_t count                                  = count_unreached(sagas, is_own);
    for (size_t i = 0; count != 0 && i < MEMORY_PROPERTIES_MAX; i++)
        if (!is_own[i] && sagas->rows.trees[BY_VALUE + i].count != 0)
            pawl__reach_name(names, sagas->properties[i]);
    return count == 0 ? PAWL_OK : pawl__reach_refuse(table, names, count, error);
}

pawl_code pawl__memory_check_reach(pawl_store *store, const pawl_saga_table *const *tables,
                                   size_t count, pawl_error *error)
{
    memory_data *data = pawl__memory_enter(store);
    pawl_code    code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = check_table(find_table(data, tables[i]), tables[i], error);
    pawl__memory_leave(data);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "memory store");
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

/* Puts the value, borrowed, into its property's column. */
static void put_value(const memory_sagas *sagas, const pawl_correlation *correlation,
                      const pawl_value *value, saga_row *row)
{
    size_t column = column_of(sagas, correlation);
    if (column == NO_COLUMN)
        return;
    row->values[column] = *value;
    row->texts[column]  = text_of(value);
}

pawl_code pawl__memory_apply_saga_delete(memory_commit *commit, const void *item)
{
    const pawl_saga_delete *change = item;
    memory_sagas           *sagas  = find_table(commit->data, change->table);
    saga_row               *row    = find_id(sagas, change->id);
    if (row == NULL || row->fields.version != change->version)
        return refuse_version(commit, change->table, change->id, change->version, row);
    return pawl__memory_write(commit, &sagas->rows, row, NULL);
}

/* Empty JSON is stored as {}, as in the other stores. */
static pawl_text object_of(pawl_text json)
{
    return json.size > 0 ? json : PAWL_TEXT("{}");
}

static pawl_code insert_row(memory_commit *commit, memory_sagas *sagas,
                            const pawl_saga_insert *change)
{
    saga_row model = {.fields = {.id           = change->id,
                                 .presence     = PAWL_SAGA_THERE,
                                 .version      = 1,
                                 .metadata     = object_of(change->metadata),
                                 .data         = object_of(change->data),
                                 .type_version = change->type_version}};
    put_value(sagas, &change->table->main, &change->main, &model);
    put_value(sagas, &change->table->transitional, &change->transitional, &model);
    return pawl__memory_write(commit, &sagas->rows, NULL, &model);
}

pawl_code pawl__memory_apply_saga_insert(memory_commit *commit, const void *item)
{
    const pawl_saga_insert *change = item;
    const pawl_saga_table  *table  = change->table;
    memory_sagas           *sagas  = make_table(commit->data, table);
    if (sagas == NULL)
        return PAWL_ENOMEM;
    pawl_value id = pawl_value_uuid(change->id.uuid);
    if (find_id(sagas, change->id) != NULL)
        return refuse_duplicate(commit, table, change->id, PAWL_TEXT("id"), &id);
    if (find_value(sagas, &table->main, change->main) != NULL)
        return refuse_duplicate(commit, table, change->id, table->main.property, &change->main);
    if (find_value(sagas, &table->transitional, change->transitional) != NULL)
        return refuse_duplicate(commit, table, change->id, table->transitional.property,
                                &change->transitional);
    bool      is_made;
    pawl_code code = make_columns(commit, sagas, table, &is_made);
    return code == PAWL_OK && is_made ? insert_row(commit, sagas, change) : code;
}

pawl_code pawl__memory_apply_saga_update(memory_commit *commit, const void *item)
{
    const pawl_saga_update *change         = item;
    const pawl_correlation *other_property = &change->table->transitional;
    memory_sagas           *sagas          = find_table(commit->data, change->table);
    saga_row               *row            = find_id(sagas, change->id);
    if (row == NULL || row->fields.version != change->version)
        return refuse_version(commit, change->table, change->id, change->version, row);
    const saga_row *other = find_value(sagas, other_property, change->transitional);
    if (other != NULL && other != row)
        return refuse_duplicate(commit, change->table, change->id, other_property->property,
                                &change->transitional);
    bool      is_made;
    pawl_code code = make_columns(commit, sagas, change->table, &is_made);
    if (code != PAWL_OK || !is_made)
        return code;
    saga_row model            = *row;
    model.fields.version      = change->version + 1;
    model.fields.metadata     = object_of(change->metadata);
    model.fields.data         = object_of(change->data);
    model.fields.type_version = change->type_version;
    put_value(sagas, other_property, &change->transitional, &model);
    return pawl__memory_write(commit, &sagas->rows, row, &model);
}
