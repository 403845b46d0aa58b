/* saga.c - sagas: a collection for each table.
 *
 *     {_id: UUID, version, correlation: {OrderRef: "o-1"}, metadata: {...}, data: {...}, type_version,
 *      persistence_version}
 *
 * `correlation` has the values by which sagas are found, one member per property, each with an index (M2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "store/core/refusal.h"
#include "store/mongo/commit.h"

#include <stdio.h>
#include <string.h>

#define PATH_SIZE PAWL__MONGO_PATH_SIZE

/* "correlation.OrderRef" */
void pawl__mongo_correlation_path(const pawl_correlation *correlation, char path[PATH_SIZE])
{
    char name[PATH_SIZE];
    pawl__mongo_property(correlation, name);
    (void)snprintf(path, PATH_SIZE, "correlation.%.280s", name);
}

/* ---- Reads --------------------------------------------------------------- */

const pawl__field_list pawl__mongo_saga_fields =
    PAWL__FIELDS(PAWL__AS(saga_row, id, UUID), PAWL__AS(saga_row, version, INT),
                 PAWL__AS(saga_row, metadata, JSON), PAWL__AS(saga_row, data, JSON),
                 PAWL__AS(saga_row, type_version, TEXT));

/* False when out of memory. */
static bool read_value(const bson_t *document, const pawl_correlation *correlation,
                       pawl_arena *arena, pawl_value *value)
{
    char        path[PATH_SIZE];
    bson_iter_t at, found;
    *value = (pawl_value){.type = PAWL_VALUE_NONE};
    pawl__mongo_correlation_path(correlation, path);
    if (!bson_iter_init(&at, document) || !bson_iter_find_descendant(&at, path, &found))
        return true;
    if (BSON_ITER_HOLDS_UTF8(&found)) {
        value->type = PAWL_VALUE_TEXT;
        return pawl__mongo_get_value(&found, PAWL__WIRE_TEXT, arena, &value->as.text);
    }
    if (BSON_ITER_HOLDS_BINARY(&found)) {
        value->type = PAWL_VALUE_UUID;
        return pawl__mongo_get_value(&found, PAWL__WIRE_UUID, arena, &value->as.uuid);
    }
    *value = correlation->type == PAWL_VALUE_TIME ? pawl_value_time(bson_iter_as_int64(&found))
                                                  : pawl_value_integer(bson_iter_as_int64(&found));
    return true;
}

static bool read_row(const bson_t *document, const pawl_saga_table *table, pawl_arena *arena,
                     pawl_saga_row *row)
{
    const pawl__mongo_table of = {.id = "id", .fields = &pawl__mongo_saga_fields};
    *row                       = (pawl_saga_row){
                              .presence = PAWL_SAGA_THERE, .metadata = PAWL_TEXT("{}"), .data = PAWL_TEXT("{}")};
    return pawl__mongo_decode(document, &of, arena, row) &&
           read_value(document, &table->main, arena, &row->main) &&
           read_value(document, &table->transitional, arena, &row->transitional);
}

static pawl_value value_of(const pawl_saga_row *row, pawl_saga_key key)
{
    return key == PAWL_SAGA_BY_ID     ? pawl_value_uuid(row->id.uuid)
           : key == PAWL_SAGA_BY_MAIN ? row->main
                                      : row->transitional;
}

/* Takes no lock: the version check of the commit finds concurrent changes. */
pawl_code pawl__mongo_saga_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                                const pawl_value *values, size_t count, pawl_saga_lock lock,
                                pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    const pawl__mongo_table of              = {.saga = table->name};
    char                    path[PATH_SIZE] = "_id";
    bool                    is_ok           = true;
    (void)lock;
    memset(rows, 0, count * sizeof *rows);
    if (key != PAWL_SAGA_BY_ID)
        pawl__mongo_correlation_path(key == PAWL_SAGA_BY_MAIN ? &table->main : &table->transitional,
                                     path);
    pawl__mongo_reading r = pawl__mongo_begin(store, &of, NULL, error, "filter: {%k: {$in: %l}}",
                                              path, PAWL__MONGO_VALUES(values, count, VALUE));
    while (is_ok && pawl__mongo_next(&r)) {
        pawl_saga_row row;
        is_ok            = read_row(r.document, table, arena, &row);
        pawl_value value = value_of(&row, key);
        /* Equal values get a copy each. */
        for (size_t i = 0; is_ok && i < count; i++)
            if (pawl_value_equal(&values[i], &value))
                is_ok = rows[i].presence == PAWL_SAGA_MISSING &&
                        read_row(r.document, table, arena, &rows[i]);
    }
    pawl_code code = pawl__mongo_end(&r);
    return code == PAWL_OK && !is_ok ? pawl__mongo_no_memory(error) : code;
}

static const pawl__field_list counted = PAWL__MONGO_NUMBER("n");

pawl_code pawl__mongo_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                                 pawl_error *error)
{
    const pawl__mongo_table of = {.saga = table->name, .fields = &counted};
    *count                     = 0;
    return pawl__mongo_read_one(store, &of, NULL, count, NULL, error, "pipeline: [{$count: 'n'}]");
}

/* ---- Sagas out of reach -------------------------------------------------- */

/* Appends the names of the properties for which the document has values. */
static void name_others(const bson_t *document, char names[PAWL__REACH_NAMES_SIZE])
{
    bson_iter_t at, inner;
    bool        is_ok =
        bson_iter_init_find(&at, document, "correlation") && bson_iter_recurse(&at, &inner);
    while (is_ok && bson_iter_next(&inner))
        pawl__reach_name(names, pawl_text_of(bson_iter_key(&inner)));
}

pawl_code pawl__mongo_check_reach(pawl_store *store, const pawl_saga_table *table,
                                  pawl_error *error)
{
    const pawl__mongo_table of = {.saga = table->name};
    char                    main[PATH_SIZE], other[PATH_SIZE], names[PAWL__REACH_NAMES_SIZE] = "";
    int64_t                 count = 0;
    if (table->main.type == PAWL_VALUE_NONE)
        return PAWL_OK;
    pawl__mongo_correlation_path(&table->main, main);
    pawl__mongo_correlation_path(&table->transitional, other);
    pawl__mongo_reading r = pawl__mongo_begin(
        store, &of, NULL, error,
        "filter: {correlation: {$exists: true, $ne: {}}, %k: {$exists: false}, %k: {$exists: "
        "false}}, projection: {correlation: 1}, limit: %i",
        main, other, (int64_t)PAWL__REACH_COUNT_MAX);
    for (; pawl__mongo_next(&r); count++)
        name_others(r.document, names);
    pawl_code code = pawl__mongo_end(&r);
    return code == PAWL_OK && count != 0 ? pawl__reach_refuse(table, names, count, error) : code;
}

/* ---- Changes ------------------------------------------------------------- */

static pawl__why_fn *judge_insert(const pawl__mongo_run *run, const void *change, const void *row)
{
    static const char filter[] = "$or: [{_id: @id}, ?{correlation.@main?: @main}, "
                                 "?{correlation.@transitional?: @transitional}]";
    (void)row;
    return pawl__mongo_is_there(run, change, filter) ? pawl__why_not_inserted : NULL;
}

static pawl__why_fn *judge_update(const pawl__mongo_run *run, const void *change, const void *row)
{
    static const char filter[] = "correlation.@transitional: @transitional, _id: {$ne: @id}";
    bool has_value = ((const pawl_saga_update *)change)->transitional.type != PAWL_VALUE_NONE;
    (void)row;
    return has_value && pawl__mongo_is_there(run, change, filter) ? pawl__why_value_taken : NULL;
}

#define LOOK "filter: {_id: {$in: @@id}}, projection: {version: 1}"
#define DATA                                                          \
    "metadata: @metadata, data: @data, type_version: @type_version, " \
    "persistence_version: '" PAWL_VERSION "'"
#define UPDATE                                                          \
    "update q: {_id: @id, version: @version}, u: {$inc: {version: 1}, " \
    "$set: {correlation.@transitional?: @transitional, " DATA "}"

const pawl__mongo_rule pawl__mongo_saga_delete_rule = {
    .keys       = "id",
    .reads      = LOOK,
    .match      = "id=_id",
    .same       = "version=version",
    .if_other   = pawl__why_not_deleted,
    .if_missing = pawl__why_not_deleted,
    .writes     = {"remove q: {_id: @id, version: @version}"}};

const pawl__mongo_rule pawl__mongo_saga_insert_rule = {
    .keys   = "id;main;transitional",
    .judge  = judge_insert,
    .writes = {"insert _id: @id, version: 1, correlation: {@main?: @main, @transitional?: "
               "@transitional}, " DATA}};

const pawl__mongo_rule pawl__mongo_saga_update_rule = {
    .keys       = "id;transitional",
    .reads      = LOOK,
    .match      = "id=_id",
    .same       = "version=version",
    .if_other   = pawl__why_not_updated,
    .if_missing = pawl__why_not_updated,
    .judge      = judge_update,
    .writes     = {"when transitional: " UPDATE "}",
                   UPDATE ", $unset?: {correlation.@transitional: 1}}"}};
