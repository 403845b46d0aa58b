/* saga.c - loads sagas by id or correlation value, and counts them.
 *
 * Values are looked up one by one; in sets, each with one statement, if the driver has send_set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/operations.h"
#include "store/sql/saga_text.h"
#include "store/sql/write.h"

#include <string.h>

/* Begins as a pawl__saga_change. */
typedef struct saga_by {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_value             value;
} saga_by;

static const pawl__field_list by_value = PAWL__FIELDS(PAWL__AS_OF(saga_by, value, VALUE));

#define ROW(member, as) PAWL__AS(saga_row, member, as)
#define ROW_FIELDS                                                                              \
    ROW(row, INT), ROW(id, UUID), ROW(version, INT), ROW(metadata, JSON_TEXT), ROW(data, JSON), \
        ROW(type_version, TEXT)
static const pawl__field main_row[]  = {ROW_FIELDS, ROW(main, VALUE), ROW(transitional, VALUE)};
static const pawl__field other_row[] = {ROW_FIELDS, ROW(transitional, VALUE)};

/* The columns of a load from this table. */
static pawl__field_list columns_of(const pawl_saga_table *table)
{
    bool   has_main = table->main.type != PAWL_VALUE_NONE;
    size_t count    = 6 + has_main + (table->transitional.type != PAWL_VALUE_NONE);
    return (pawl__field_list){has_main ? main_row : other_row, count};
}

static pawl_saga_row empty_row(const pawl_saga_table *table)
{
    return (pawl_saga_row){.main.type         = table->main.type,
                           .transitional.type = table->transitional.type};
}

/* A missing row stays empty. */
static pawl_code load_row(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                          pawl_saga_row *row, pawl_error *error)
{
    *row           = empty_row(((const saga_by *)asked->item)->table);
    pawl_code code = pawl__sql_read_first(store, asked, arena, row, error);
    if (row->version == 0)
        *row = (pawl_saga_row){0};
    else
        row->presence = PAWL_SAGA_THERE;
    return code;
}

/* Each row has the number of its value in place of {row}. */
static pawl_code read_set(pawl_store *store, pawl__sql_request *request,
                          const pawl_saga_table *table, const pawl__field_list *columns,
                          size_t count, pawl_saga_row *rows)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(store);
    memset(rows, 0, count * sizeof *rows);
    while (ops->next(request)) {
        pawl_saga_row row = empty_row(table);
        ops->get(request, columns, &row);
        if (row.row < 0 || (size_t)row.row >= count)
            continue;
        pawl_saga_row *found = &rows[row.row];
        *found               = row;
        found->row           = 0;
        found->presence      = PAWL_SAGA_THERE;
    }
    return ops->end(request);
}

static pawl_code load_set(pawl_store *store, pawl__sql_asked asked, const saga_by *by, size_t count,
                          pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(store);
    const void          *items[PAWL__SQL_SET_MAX];
    pawl__sql_request   *request = NULL;
    asked.item                   = by;
    for (size_t i = 0; i < count; i++)
        items[i] = &by[i];
    pawl_code code = ops->send_set(store, &asked, items, count, arena, &request, error);
    if (code == PAWL_OK)
        code = pawl__sql_await(store, error);
    if (code != PAWL_OK) {
        (void)ops->end(request);
        return code;
    }
    return read_set(store, request, by->table, asked.columns, count, rows);
}

/* Loads the row of each value, in sets where possible. */
static pawl_code load_rows(pawl_store *store, const pawl_saga_table *table, int statement,
                           const pawl_value *values, size_t count, pawl_arena *arena,
                           pawl_saga_row *rows, pawl_error *error)
{
    const pawl__field_list columns = columns_of(table);
    saga_by                by[PAWL__SQL_SET_MAX];
    pawl__sql_asked        asked  = {PAWL__SQL_ON_SAGA + statement, &by_value, by, &columns, 0};
    bool                   is_set = pawl__sql_ops_of(store)->send_set != NULL && count > 1;
    pawl_code              code   = PAWL_OK;
    for (size_t at = 0, some = 1; code == PAWL_OK && at < count; at += some) {
        some = !is_set ? 1 : count - at < PAWL__SQL_SET_MAX ? count - at : PAWL__SQL_SET_MAX;
        for (size_t i = 0; i < some; i++)
            by[i] = (saga_by){.table = table, .value = values[at + i]};
        code = some > 1 ? load_set(store, asked, by, some, arena, rows + at, error)
                        : load_row(store, &asked, arena, &rows[at], error);
    }
    return code;
}

/* A row that the locking read skipped, and a plain read finds, is locked by another transaction. */
static pawl_code find_busy(pawl_store *store, const pawl_saga_table *table, int statement,
                           const pawl_value *values, size_t count, pawl_arena *arena,
                           pawl_saga_row *rows, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        if (rows[i].presence != PAWL_SAGA_MISSING)
            continue;
        code = load_rows(store, table, statement, &values[i], 1, arena, &rows[i], error);
        if (rows[i].presence == PAWL_SAGA_THERE)
            rows[i] = (pawl_saga_row){.presence = PAWL_SAGA_LOCKED_BY_ANOTHER};
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
        code = find_busy(store, table, PAWL__SQL_SAGA_BY_ID + (int)key, values, count, arena, rows,
                         error);
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
    pawl_code code = pawl__sql_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code =
        load_rows(store, table, PAWL__SQL_SAGA_BY_ID + (int)key, values, count, arena, rows, error);
    return pawl__sql_read_end(store, code, error);
}

pawl_code pawl__sql_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                               pawl_error *error)
{
    const saga_by         by    = {.table = table};
    const pawl__sql_asked asked = {PAWL__SQL_ON_SAGA + PAWL__SQL_SAGA_COUNT, NULL, &by,
                                   &pawl__one_int, 0};
    return pawl__sql_read_first(store, &asked, NULL, count, error);
}
