/* saga.c - sagas: a collection for each table.
 *
 *     {_id: UUID, version, correlation: {OrderRef: "o-1"}, metadata: {...}, data: {...}, type_version,
 *      persistence_version}
 *
 * The values that sagas are found by stand in `correlation`, by their property, and are indexed there (M2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "store/core/reach.h"
#include "store/mongo/commit.h"
#include "store/mongo/operations.h"

#include <stdio.h>
#include <string.h>

#define PATH_SIZE PAWL__MONGO_PATH_SIZE
#define MISSING (-1)

/* "correlation.OrderRef" */
void pawl__mongo_correlation_path(pawl_text property, char path[PATH_SIZE])
{
    (void)snprintf(path, PATH_SIZE, "correlation.%.*s", PAWL_TEXT_ARGS(property));
    for (char *at = path + sizeof "correlation"; *at != '\0'; at++)
        if (*at == '.' || *at == '$' || *at == ',')
            *at = '_';
}

/* ---- Reads --------------------------------------------------------------- */

static const pawl__mongo_field fields[] = {
    PAWL__MONGO_FIELD(pawl_saga_row, id, "_id", UUID),
    PAWL__MONGO_FIELD(pawl_saga_row, version, "version", INT),
    PAWL__MONGO_FIELD(pawl_saga_row, type_version, "type_version", TEXT),
    PAWL__MONGO_END,
};

/* False when out of memory. */
static bool read_value(const bson_t *document, const pawl_correlation *correlation,
                       pawl_arena *arena, pawl_value *value)
{
    char        path[PATH_SIZE];
    bson_iter_t at, found;
    uint32_t    size = 0;
    *value           = (pawl_value){.type = PAWL_VALUE_NONE};
    pawl__mongo_correlation_path(correlation->property, path);
    if (correlation->type == PAWL_VALUE_NONE || !bson_iter_init(&at, document) ||
        !bson_iter_find_descendant(&at, path, &found))
        return true;
    if (BSON_ITER_HOLDS_UTF8(&found)) {
        const char *data = bson_iter_utf8(&found, &size);
        *value = pawl_value_text(pawl_arena_text(arena, (pawl_text){.data = data, .size = size}));
        return value->as.text.data != NULL;
    }
    if (BSON_ITER_HOLDS_BINARY(&found)) {
        const uint8_t *data = NULL;
        bson_subtype_t subtype;
        bson_iter_binary(&found, &subtype, &size, &data);
        value->type = PAWL_VALUE_UUID;
        if (size == sizeof value->as.uuid.bytes)
            memcpy(value->as.uuid.bytes, data, size);
        return true;
    }
    *value = correlation->type == PAWL_VALUE_TIME ? pawl_value_time(bson_iter_as_int64(&found))
                                                  : pawl_value_integer(bson_iter_as_int64(&found));
    return true;
}

static bool read_row(const bson_t *document, const pawl_saga_table *table, pawl_arena *arena,
                     pawl_saga_row *row)
{
    *row          = (pawl_saga_row){.presence = PAWL_SAGA_THERE};
    row->metadata = pawl__mongo_get_json(document, "metadata", arena);
    row->data     = pawl__mongo_get_json(document, "data", arena);
    return row->metadata.data != NULL && row->data.data != NULL &&
           pawl__mongo_decode(document, fields, arena, row) &&
           read_value(document, &table->main, arena, &row->main) &&
           read_value(document, &table->transitional, arena, &row->transitional);
}

/* The member that the values are looked for in. */
static void key_path(const pawl_saga_table *table, pawl_saga_key key, char path[PATH_SIZE])
{
    if (key == PAWL_SAGA_BY_ID)
        (void)snprintf(path, PATH_SIZE, "_id");
    else
        pawl__mongo_correlation_path(
            key == PAWL_SAGA_BY_MAIN ? table->main.property : table->transitional.property, path);
}

static pawl_value value_of(const pawl_saga_row *row, pawl_saga_key key)
{
    return key == PAWL_SAGA_BY_ID     ? pawl_value_uuid(row->id.uuid)
           : key == PAWL_SAGA_BY_MAIN ? row->main
                                      : row->transitional;
}

pawl_code pawl__mongo_saga_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                                const pawl_value *values, size_t count, pawl_saga_lock lock,
                                pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    (void)lock; /* the version check of the commit decides */
    char             path[PATH_SIZE];
    bson_t           filter   = BSON_INITIALIZER;
    const bson_t    *document = NULL;
    pawl__mongo_list list;
    bool             is_ok = true;
    key_path(table, key, path);
    memset(rows, 0, count * sizeof *rows);
    pawl__mongo_list_begin(&filter, path, "$in", &list);
    for (size_t i = 0; i < count; i++)
        if (values[i].type != PAWL_VALUE_NONE)
            pawl__mongo_put_value(&list.items, pawl__mongo_list_key(&list), &values[i]);
    pawl__mongo_list_end(&filter, &list);
    const pawl__mongo_find find   = {.table = table->name, .filter = &filter};
    mongoc_cursor_t       *cursor = pawl__mongo_begin(store, &find);
    while (is_ok && mongoc_cursor_next(cursor, &document)) {
        pawl_saga_row row;
        is_ok            = read_row(document, table, arena, &row);
        pawl_value value = value_of(&row, key);
        for (size_t i = 0; is_ok && i < count; i++)
            if (pawl_value_equal(&values[i], &value)) {
                /* Each answer is a copy of its own. */
                is_ok = rows[i].presence == PAWL_SAGA_MISSING &&
                        read_row(document, table, arena, &rows[i]);
            }
    }
    bson_destroy(&filter);
    pawl_code code = pawl__mongo_end(store, cursor, error);
    return code == PAWL_OK && !is_ok ? pawl__mongo_no_memory(error) : code;
}

static pawl_code count_matching(pawl_store *store, const pawl_saga_table *table,
                                const bson_t *filter, int64_t limit, int64_t *count,
                                pawl_error *error)
{
    const bson_t          *document = NULL;
    const pawl__mongo_find find     = {
            .table = table->name, .filter = filter, .only = "_id", .limit = limit};
    mongoc_cursor_t *cursor = pawl__mongo_begin(store, &find);
    *count                  = 0;
    while (mongoc_cursor_next(cursor, &document))
        ++*count;
    return pawl__mongo_end(store, cursor, error);
}

pawl_code pawl__mongo_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                                 pawl_error *error)
{
    bson_t    filter = BSON_INITIALIZER;
    pawl_code code   = count_matching(store, table, &filter, 0, count, error);
    bson_destroy(&filter);
    return code;
}

/* ---- Sagas out of reach -------------------------------------------------- */

/* Names the properties that the rows have values of; the first 100 tell. */
static pawl_code name_others(pawl_store *store, const pawl_saga_table *table, const bson_t *filter,
                             char names[PAWL__REACH_NAMES_SIZE], pawl_error *error)
{
    const bson_t          *document = NULL;
    const pawl__mongo_find find     = {
            .table = table->name, .filter = filter, .only = "correlation", .limit = 100};
    mongoc_cursor_t *cursor = pawl__mongo_begin(store, &find);
    while (mongoc_cursor_next(cursor, &document)) {
        bson_iter_t at, inner;
        bool        is_ok =
            bson_iter_init_find(&at, document, "correlation") && bson_iter_recurse(&at, &inner);
        while (is_ok && bson_iter_next(&inner))
            if (strstr(names, bson_iter_key(&inner)) == NULL)
                pawl__reach_name(names, pawl_text_of(bson_iter_key(&inner)));
    }
    return pawl__mongo_end(store, cursor, error);
}

pawl_code pawl__mongo_check_reach(pawl_store *store, const pawl_saga_table *table,
                                  pawl_error *error)
{
    char    path[PATH_SIZE], names[PAWL__REACH_NAMES_SIZE] = "";
    bson_t  filter = BSON_INITIALIZER, inner, empty;
    int64_t count  = 0;
    if (table->main.type == PAWL_VALUE_NONE)
        return PAWL_OK;
    (void)bson_append_document_begin(&filter, "correlation", -1, &inner);
    (void)bson_append_bool(&inner, "$exists", -1, true);
    (void)bson_append_document_begin(&inner, "$ne", -1, &empty);
    (void)bson_append_document_end(&inner, &empty);
    (void)bson_append_document_end(&filter, &inner);
    pawl__mongo_correlation_path(table->main.property, path);
    pawl__mongo_put_exists(&filter, path, false);
    if (table->transitional.type != PAWL_VALUE_NONE) {
        pawl__mongo_correlation_path(table->transitional.property, path);
        pawl__mongo_put_exists(&filter, path, false);
    }
    pawl_code code = count_matching(store, table, &filter, PAWL__REACH_COUNT_MAX, &count, error);
    if (code == PAWL_OK && count != 0)
        code = name_others(store, table, &filter, names, error);
    bson_destroy(&filter);
    return code == PAWL_OK && count != 0 ? pawl__reach_refuse(table, names, count, error) : code;
}

/* ---- Changes ------------------------------------------------------------- */

static uint32_t hash_value(uint32_t from, const pawl_saga_table *table, const pawl_value *value)
{
    uint64_t hash = pawl_value_hash(value);
    from          = pawl__mongo_hash(from, table->name.data, table->name.size);
    return value->type == PAWL_VALUE_NONE ? 0 : pawl__mongo_hash(from, &hash, sizeof hash);
}

static uint32_t hash_id(const pawl_saga_table *table, pawl_saga_id id)
{
    const pawl_value value = pawl_value_uuid(id.uuid);
    return hash_value(1, table, &value);
}

void pawl__mongo_keys_saga_delete(const void *change, uint32_t keys[3])
{
    const pawl_saga_delete *gone = change;
    keys[0]                      = hash_id(gone->table, gone->id);
}

void pawl__mongo_keys_saga_insert(const void *change, uint32_t keys[3])
{
    const pawl_saga_insert *row = change;
    keys[0]                     = hash_id(row->table, row->id);
    keys[1]                     = hash_value(2, row->table, &row->main);
    keys[2]                     = hash_value(3, row->table, &row->transitional);
}

void pawl__mongo_keys_saga_update(const void *change, uint32_t keys[3])
{
    const pawl_saga_update *row = change;
    keys[0]                     = hash_id(row->table, row->id);
    keys[1]                     = hash_value(3, row->table, &row->transitional);
}

/* Each saga change begins so. */
typedef struct saga_change {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_saga_id           id;
} saga_change;

static const saga_change *change_of(const void *item)
{
    return item;
}

typedef pawl_code table_fn(const pawl__mongo_run *run, const pawl_saga_table *table);

/* The items table by table: a find and a bulk are of one collection. */
static pawl_code by_tables(const pawl__mongo_run *run, table_fn *apply)
{
    const void **alike = pawl__mongo_scratch(run, sizeof *alike, run->writer->error);
    bool        *taken = pawl__mongo_scratch(run, sizeof *taken, run->writer->error);
    pawl_code    code  = alike != NULL && taken != NULL ? PAWL_OK : PAWL_ENOMEM;
    for (size_t first = 0; code == PAWL_OK && first < run->count; first++) {
        const pawl_saga_table *table = change_of(run->items[first])->table;
        size_t                 count = 0;
        if (taken[first])
            continue;
        for (size_t i = first; i < run->count; i++)
            if (pawl_text_equal(change_of(run->items[i])->table->name, table->name)) {
                alike[count++] = run->items[i];
                taken[i]       = true;
            }
        pawl__mongo_run some = {.writer = run->writer, .items = alike, .count = count};
        some.is_out          = pawl__mongo_scratch(&some, sizeof *some.is_out, run->writer->error);
        code                 = some.is_out != NULL ? apply(&some, table) : PAWL_ENOMEM;
    }
    return code;
}

/* Ids and versions of the sagas of the run, in the arena of the round. */
static pawl_code find_ids(const pawl__mongo_run *run, const pawl_saga_table *table,
                          pawl__mongo_rows *rows)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find = {.table = table->name, .filter = &filter, .only = "_id,version"};
    pawl__mongo_list       list;
    pawl__mongo_list_begin(&filter, "_id", "$in", &list);
    for (size_t i = 0; i < run->count; i++)
        pawl__mongo_put_uuid(&list.items, pawl__mongo_list_key(&list),
                             change_of(run->items[i])->id.uuid);
    pawl__mongo_list_end(&filter, &list);
    pawl_code code = pawl__mongo_read(run->writer->store, &find, fields, sizeof(pawl_saga_row),
                                      run->writer->arena, rows, run->writer->error);
    bson_destroy(&filter);
    return code;
}

/* A row that is gone has no version that a change could ask for. */
static int64_t version_of(const pawl__mongo_rows *rows, pawl_saga_id id)
{
    const pawl_saga_row *items = rows->items;
    for (size_t i = 0; i < rows->count; i++)
        if (pawl_uuid_compare(items[i].id.uuid, id.uuid) == 0)
            return items[i].version;
    return MISSING;
}

static void put_at_version(bson_t *filter, pawl_saga_id id, int64_t version)
{
    pawl__mongo_put_uuid(filter, "_id", id.uuid);
    pawl__mongo_put_int(filter, "version", version);
}

static pawl_code delete_some(const pawl__mongo_run *run, const pawl_saga_table *table)
{
    const pawl_saga_delete *const *items    = (const pawl_saga_delete *const *)run->items;
    pawl__mongo_rows               found    = {.count = 0};
    size_t                         expected = 0;
    pawl_code                      code     = find_ids(run, table, &found);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin_table(run->writer->store, table->name);
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        bson_t filter = BSON_INITIALIZER;
        if (version_of(&found, items[i]->id) != items[i]->version) {
            code = pawl__mongo_refuse(run, i, pawl__why_not_deleted);
            continue;
        }
        put_at_version(&filter, items[i]->id, items[i]->version);
        pawl__mongo_remove(&bulk, &filter);
        bson_destroy(&filter);
        expected++;
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}

pawl_code pawl__mongo_apply_saga_delete(const pawl__mongo_run *run)
{
    return by_tables(run, delete_some);
}

/* The documents that have one of the values of the run: {path: {"$in": values}}, read whole. */
static pawl_code find_values(const pawl__mongo_run *run, const pawl_saga_table *table,
                             const pawl_correlation *correlation, size_t value_offset,
                             pawl__mongo_rows *rows)
{
    char             path[PATH_SIZE];
    bson_t           filter   = BSON_INITIALIZER;
    const bson_t    *document = NULL;
    pawl_arena      *arena    = run->writer->arena;
    pawl__mongo_list list;
    size_t           capacity = 0;
    bool             is_ok    = true;
    *rows                     = (pawl__mongo_rows){.count = 0};
    pawl__mongo_correlation_path(correlation->property, path);
    pawl__mongo_list_begin(&filter, path, "$in", &list);
    for (size_t i = 0; i < run->count; i++) {
        const void       *at    = (const char *)run->items[i] + value_offset;
        const pawl_value *value = at;
        if (value->type != PAWL_VALUE_NONE)
            pawl__mongo_put_value(&list.items, pawl__mongo_list_key(&list), value);
    }
    pawl__mongo_list_end(&filter, &list);
    const pawl__mongo_find find = {
        .table = table->name, .filter = &filter, .only = "_id,correlation"};
    mongoc_cursor_t *cursor = list.count != 0 ? pawl__mongo_begin(run->writer->store, &find) : NULL;
    while (is_ok && cursor != NULL && mongoc_cursor_next(cursor, &document)) {
        pawl_saga_row *grown =
            pawl_arena_grow(arena, rows->items, rows->count, &capacity, sizeof *grown);
        is_ok = grown != NULL && read_row(document, table, arena, &grown[rows->count]);
        if (is_ok) {
            rows->items = grown;
            rows->count++;
        }
    }
    bson_destroy(&filter);
    pawl_code code = PAWL_OK;
    if (cursor != NULL)
        code = pawl__mongo_end(run->writer->store, cursor, run->writer->error);
    return code == PAWL_OK && !is_ok ? pawl__mongo_no_memory(run->writer->error) : code;
}

/* Whether a row, of another id, has the value. */
static bool is_taken(const pawl__mongo_rows *rows, pawl_saga_key key, const pawl_value *value,
                     pawl_saga_id own)
{
    const pawl_saga_row *items = rows->items;
    for (size_t i = 0; value->type != PAWL_VALUE_NONE && i < rows->count; i++) {
        pawl_value there = value_of(&items[i], key);
        if (pawl_value_equal(&there, value) && pawl_uuid_compare(items[i].id.uuid, own.uuid) != 0)
            return true;
    }
    return false;
}

static pawl_code put_state(bson_t *document, pawl_text metadata, pawl_text data,
                           pawl_text type_version, pawl_error *error)
{
    pawl_code code = pawl__mongo_put_json(document, "metadata", metadata, error);
    if (code == PAWL_OK)
        code = pawl__mongo_put_json(document, "data", data, error);
    pawl__mongo_put_text(document, "type_version", type_version);
    (void)bson_append_utf8(document, "persistence_version", -1, PAWL_VERSION, -1);
    return code;
}

static void put_property(bson_t *document, const pawl_correlation *correlation,
                         const pawl_value *value)
{
    char path[PATH_SIZE];
    pawl__mongo_correlation_path(correlation->property, path);
    if (correlation->type != PAWL_VALUE_NONE)
        pawl__mongo_put_value(document, path + sizeof "correlation", value);
}

static pawl_code add_insert(pawl__mongo_bulk *bulk, const pawl_saga_insert *change,
                            pawl_error *error)
{
    bson_t document = BSON_INITIALIZER, inner;
    put_at_version(&document, change->id, 1);
    (void)bson_append_document_begin(&document, "correlation", -1, &inner);
    put_property(&inner, &change->table->main, &change->main);
    put_property(&inner, &change->table->transitional, &change->transitional);
    (void)bson_append_document_end(&document, &inner);
    pawl_code code =
        put_state(&document, change->metadata, change->data, change->type_version, error);
    if (code == PAWL_OK)
        pawl__mongo_insert(bulk, &document);
    bson_destroy(&document);
    return code;
}

static pawl_code insert_some(const pawl__mongo_run *run, const pawl_saga_table *table)
{
    const pawl_saga_insert *const *items = (const pawl_saga_insert *const *)run->items;
    pawl__mongo_rows               ids = {.count = 0}, mains = {.count = 0}, others = {.count = 0};
    size_t                         expected = 0;
    pawl_code                      code     = find_ids(run, table, &ids);
    if (code == PAWL_OK)
        code = find_values(run, table, &table->main, offsetof(pawl_saga_insert, main), &mains);
    if (code == PAWL_OK)
        code = find_values(run, table, &table->transitional,
                           offsetof(pawl_saga_insert, transitional), &others);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin_table(run->writer->store, table->name);
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        if (version_of(&ids, items[i]->id) != MISSING ||
            is_taken(&mains, PAWL_SAGA_BY_MAIN, &items[i]->main, items[i]->id) ||
            is_taken(&others, PAWL_SAGA_BY_TRANSITIONAL, &items[i]->transitional, items[i]->id)) {
            code = pawl__mongo_refuse(run, i, pawl__why_not_inserted);
            continue;
        }
        code = add_insert(&bulk, items[i], run->writer->error);
        expected++;
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}

pawl_code pawl__mongo_apply_saga_insert(const pawl__mongo_run *run)
{
    return by_tables(run, insert_some);
}

static pawl_code add_update(pawl__mongo_bulk *bulk, const pawl_saga_update *change,
                            pawl_error *error)
{
    bson_t                  filter = BSON_INITIALIZER, update = BSON_INITIALIZER, inner;
    char                    path[PATH_SIZE];
    const pawl_correlation *other = &change->table->transitional;
    bool is_unset = other->type != PAWL_VALUE_NONE && change->transitional.type == PAWL_VALUE_NONE;
    pawl__mongo_correlation_path(other->property, path);
    put_at_version(&filter, change->id, change->version);
    (void)bson_append_document_begin(&update, "$set", -1, &inner);
    pawl__mongo_put_int(&inner, "version", change->version + 1);
    if (other->type != PAWL_VALUE_NONE)
        pawl__mongo_put_value(&inner, path, &change->transitional);
    pawl_code code = put_state(&inner, change->metadata, change->data, change->type_version, error);
    (void)bson_append_document_end(&update, &inner);
    if (is_unset) {
        (void)bson_append_document_begin(&update, "$unset", -1, &inner);
        (void)bson_append_bool(&inner, path, -1, true);
        (void)bson_append_document_end(&update, &inner);
    }
    if (code == PAWL_OK)
        pawl__mongo_update(bulk, &filter, &update, false);
    bson_destroy(&filter);
    bson_destroy(&update);
    return code;
}

static pawl_code update_some(const pawl__mongo_run *run, const pawl_saga_table *table)
{
    const pawl_saga_update *const *items = (const pawl_saga_update *const *)run->items;
    pawl__mongo_rows               ids = {.count = 0}, others = {.count = 0};
    size_t                         expected = 0;
    pawl_code                      code     = find_ids(run, table, &ids);
    if (code == PAWL_OK)
        code = find_values(run, table, &table->transitional,
                           offsetof(pawl_saga_update, transitional), &others);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin_table(run->writer->store, table->name);
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        if (version_of(&ids, items[i]->id) != items[i]->version) {
            code = pawl__mongo_refuse(run, i, pawl__why_not_updated);
        } else if (is_taken(&others, PAWL_SAGA_BY_TRANSITIONAL, &items[i]->transitional,
                            items[i]->id)) {
            code = pawl__mongo_refuse(run, i, pawl__why_value_taken);
        } else {
            code = add_update(&bulk, items[i], run->writer->error);
            expected++;
        }
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}

pawl_code pawl__mongo_apply_saga_update(const pawl__mongo_run *run)
{
    return by_tables(run, update_some);
}
