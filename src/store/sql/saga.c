/* saga.c - loading sagas, and counting them.
 *
 * A value is looked up by one statement, after another; a database that reads a set with
 * one statement has its place in load_rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/operations.h"
#include "store/sql/saga_text.h"
#include "store/sql/write.h"

/* Begins as a pawl__sql_saga_change. */
typedef struct saga_by {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_value             value;
} saga_by;

static const pawl__sql_field  value_field[]  = {{offsetof(saga_by, value), PAWL__WIRE_VALUE}};
static const pawl__sql_fields by_value       = PAWL__SQL_LIST(value_field);
static const pawl__sql_field  number_field[] = {{0, PAWL__WIRE_INT}};
static const pawl__sql_fields one_number     = PAWL__SQL_LIST(number_field);

#define ROW(member, as) PAWL__SQL_FIELD(saga_row, member, as)
#define ROW_FIELDS                                                                              \
    ROW(row, INT), ROW(id, UUID), ROW(version, INT), ROW(metadata, JSON_TEXT), ROW(data, JSON), \
        ROW(type_version, TEXT)
static const pawl__sql_field main_row[]  = {ROW_FIELDS, ROW(main, VALUE), ROW(transitional, VALUE)};
static const pawl__sql_field other_row[] = {ROW_FIELDS, ROW(transitional, VALUE)};

/* The columns that the table has. */
static pawl__sql_fields columns_of(const pawl_saga_table *table)
{
    bool   has_main = table->main.type != PAWL_VALUE_NONE;
    size_t count    = 6 + has_main + (table->transitional.type != PAWL_VALUE_NONE);
    return (pawl__sql_fields){has_main ? main_row : other_row, count};
}

/* A row that is not there stays empty. */
static pawl_code load_row(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                          pawl_saga_row *row, pawl_error *error)
{
    const saga_by *by      = asked->item;
    *row                   = (pawl_saga_row){0};
    row->main.type         = by->table->main.type;
    row->transitional.type = by->table->transitional.type;
    pawl_code code         = pawl__sql_read_first(store, asked, arena, row, error);
    if (row->version == 0)
        *row = (pawl_saga_row){0};
    else
        row->presence = PAWL_SAGA_THERE;
    return code;
}

/* Values whose rows are missing, or all of them. */
static pawl_code load_rows(pawl_store *store, const pawl_saga_table *table, int statement,
                           const pawl_value *values, size_t count, pawl_arena *arena,
                           pawl_saga_row *rows, pawl_error *error)
{
    const pawl__sql_fields columns = columns_of(table);
    saga_by                by      = {.table = table};
    const pawl__sql_asked  asked   = {PAWL__SQL_ON_SAGA + statement, &by_value, &by, &columns, 0};
    pawl_code              code    = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        by.value = values[i];
        code     = load_row(store, &asked, arena, &rows[i], error);
    }
    return code;
}

/* A row that was skipped but is there is another transaction's. */
static pawl_code find_elsewhere(pawl_store *store, const pawl_saga_table *table, int statement,
                                const pawl_value *values, size_t count, pawl_arena *arena,
                                pawl_saga_row *rows, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        if (rows[i].presence != PAWL_SAGA_MISSING)
            continue;
        code = load_rows(store, table, statement, &values[i], 1, arena, &rows[i], error);
        if (rows[i].presence == PAWL_SAGA_THERE)
            rows[i] = (pawl_saga_row){.presence = PAWL_SAGA_ELSEWHERE};
    }
    return code;
}

static pawl_code load_locked(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                             const pawl_value *values, size_t count, bool skips, pawl_arena *arena,
                             pawl_saga_row *rows, pawl_error *error)
{
    int       first = skips ? PAWL__SQL_SAGA_SKIP_LOCKED : PAWL__SQL_SAGA_LOCKED;
    pawl_code code  = pawl__sql_ops_of(store)->lock_begin(store, error);
    if (code == PAWL_OK)
        code = load_rows(store, table, first + (int)key, values, count, arena, rows, error);
    if (code == PAWL_OK && skips)
        code = find_elsewhere(store, table, PAWL__SQL_SAGA_BY_ID + (int)key, values, count, arena,
                              rows, error);
    return code;
}

pawl_code pawl__sql_saga_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                              const pawl_value *values, size_t count, pawl_saga_lock lock,
                              pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(store);
    if (lock != PAWL_SAGA_UNLOCKED && ops->lock_begin != NULL)
        return load_locked(store, table, key, values, count, lock == PAWL_SAGA_SKIP_LOCKED, arena,
                           rows, error);
    pawl_code code = ops->read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code =
        load_rows(store, table, PAWL__SQL_SAGA_BY_ID + (int)key, values, count, arena, rows, error);
    return ops->read_end(store, code, error);
}

pawl_code pawl__sql_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                               pawl_error *error)
{
    const saga_by         by    = {.table = table};
    const pawl__sql_asked asked = {PAWL__SQL_ON_SAGA + PAWL__SQL_SAGA_COUNT, NULL, &by, &one_number,
                                   0};
    return pawl__sql_read_first(store, &asked, NULL, count, error);
}
