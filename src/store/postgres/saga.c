/* saga.c - loading and saving sagas, by statements made for each saga table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/saga.h"
#include "store/postgres/operations.h"
#include "store/postgres/writer.h"
#include "store/sql/saga_text.h"

#include <stdio.h>
#include <string.h>

/* ---- Loading ------------------------------------------------------------ */

static void read_row(pawl__pg_request *request, const pawl_saga_table *table, pawl_saga_row *row)
{
    row->row          = pawl__pg_get_hint(request);
    row->id.uuid      = pawl__pg_get_uuid(request);
    row->presence     = PAWL_SAGA_THERE;
    row->version      = pawl__pg_get_int(request);
    row->metadata     = pawl__pg_get_text(request);
    row->data         = pawl__pg_get_json(request);
    row->type_version = pawl__pg_get_text(request);
    pawl__pg_get_value(request, table->main.type, &row->main);
    pawl__pg_get_value(request, table->transitional.type, &row->transitional);
}

static pawl_value_type type_of(const pawl_saga_table *table, pawl_saga_key key)
{
    return key == PAWL_SAGA_BY_ID     ? PAWL_VALUE_UUID
           : key == PAWL_SAGA_BY_MAIN ? table->main.type
                                      : table->transitional.type;
}

typedef struct loading {
    pawl__pg              *store;
    const pawl_saga_table *table;
    pawl_saga_key          key;
    const pawl_value      *values;
    size_t                 count;
    pawl_error            *error;
} loading;

static void send_load(const loading *l, pawl__pg_request *request, int which)
{
    pawl__pg_saga_begin(request, &l->store->main, l->table, which, l->error);
    pawl__pg_put_values(request, type_of(l->table, l->key), l->values, l->count);
    pawl__pg_send(request);
}

/* Reads the index of the value to which the row belongs; SIZE_MAX for none. */
static size_t read_number(pawl__pg_request *request, size_t count)
{
    int64_t number = pawl__pg_get_int(request);
    return number >= 1 && (uint64_t)number <= count ? (size_t)number - 1 : SIZE_MAX;
}

static pawl_code read_loaded(const loading *l, pawl__pg_request *request, pawl_arena *arena,
                             pawl_saga_row *rows)
{
    request->arena = arena;
    while (request->code == PAWL_OK && pawl__pg_next(request)) {
        size_t at = read_number(request, l->count);
        if (at != SIZE_MAX)
            read_row(request, l->table, &rows[at]);
    }
    pawl__pg_end(request);
    return request->code;
}

/* SKIP LOCKED left out rows that are there: another transaction has them. */
static pawl_code read_elsewhere(const loading *l, pawl__pg_request *request, pawl_saga_row *rows)
{
    while (request->code == PAWL_OK && pawl__pg_next(request)) {
        size_t at = read_number(request, l->count);
        if (at != SIZE_MAX && rows[at].presence == PAWL_SAGA_MISSING)
            rows[at].presence = PAWL_SAGA_LOCKED_BY_ANOTHER;
    }
    pawl__pg_end(request);
    return request->code;
}

static pawl_code load(const loading *l, pawl_saga_lock lock, pawl_arena *arena, pawl_saga_row *rows)
{
    pawl__pg_request request, there = {.result = NULL};
    int              first = lock == PAWL_SAGA_UNLOCKED ? PAWL__PG_SAGA_BY_ID
                             : lock == PAWL_SAGA_LOCKED ? PAWL__PG_SAGA_BY_ID_LOCKED
                                                        : PAWL__PG_SAGA_BY_ID_SKIP;
    bool             skips = lock == PAWL_SAGA_SKIP_LOCKED;
    if (skips && !l->store->in_hold)
        pawl__pg_begin_on(&l->store->main, l->error);
    send_load(l, &request, first + (int)l->key);
    if (skips)
        send_load(l, &there, PAWL__PG_SAGA_BY_ID_THERE + (int)l->key);
    pawl_code code = pawl__pg_await(&l->store->main, l->error);
    if (code == PAWL_OK)
        code = read_loaded(l, &request, arena, rows);
    if (code == PAWL_OK && skips)
        code = read_elsewhere(l, &there, rows);
    pawl__pg_end(&request);
    pawl__pg_end(&there);
    return code;
}

pawl_code pawl__pg_saga_load(pawl_store *base, const pawl_saga_table *table, pawl_saga_key key,
                             const pawl_value *values, size_t count, pawl_saga_lock lock,
                             pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    if (count == 0)
        return PAWL_OK;
    loading l = {store, table, key, values, count, error};
    return load(&l, lock, arena, rows);
}

pawl_code pawl__pg_saga_count(pawl_store *base, const pawl_saga_table *table, int64_t *count,
                              pawl_error *error)
{
    pawl__pg        *store = pawl__pg_of(base);
    pawl__pg_request request;
    pawl__pg_saga_begin(&request, &store->main, table, PAWL__PG_SAGA_COUNT, error);
    return pawl__pg_one_int(&request, count);
}

/* ---- One table at a time ------------------------------------------------ */

/* Changes of a saga begin alike: behind unit and group the table, behind the table the id. */
typedef struct saga_change {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_saga_id           id;
} saga_change;
_Static_assert(offsetof(saga_change, id) == offsetof(pawl_saga_insert, id) &&
                   offsetof(saga_change, id) == offsetof(pawl_saga_update, id) &&
                   offsetof(saga_change, id) == offsetof(pawl_saga_delete, id),
               "saga changes begin alike");

static int by_id(const void *left, const void *right)
{
    saga_change l, r;
    memcpy(&l, left, sizeof l);
    memcpy(&r, right, sizeof r);
    return pawl_uuid_compare(l.id.uuid, r.id.uuid);
}

static bool is_of_table(const void *change, const void *context)
{
    saga_change head;
    memcpy(&head, change, sizeof head);
    return head.table == context || pawl__sql_saga_same(head.table, context);
}

typedef pawl_code send_table_fn(pawl__pg_writer *writer, const pawl_saga_table *table,
                                const void **items, size_t count);

/* Sends the items of each table together, in the order in which the tables appear. */
static pawl_code send_tables(pawl__pg_writer *writer, pawl_change_kind kind, send_table_fn *send)
{
    size_t       all;
    pawl_code    code  = PAWL_OK;
    const void **items = pawl__pg_select(writer, kind, NULL, NULL, &all);
    if (items == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; code == PAWL_OK && i < all; i++) {
        saga_change head;
        bool        is_done = false;
        memcpy(&head, items[i], sizeof head);
        for (size_t j = 0; j < i && !is_done; j++)
            is_done = is_of_table(items[j], head.table);
        if (is_done)
            continue;
        size_t       count;
        const void **own = pawl__pg_select(writer, kind, is_of_table, head.table, &count);
        if (own == NULL)
            return PAWL_ENOMEM;
        pawl__sort_changes(own, count, by_id);
        code = send(writer, head.table, own, count);
    }
    return code;
}

static pawl__pg_write *add_write(pawl__pg_writer *writer, const pawl_saga_table *table, int which,
                                 pawl_change_kind kind, const void **items, size_t count,
                                 pawl__pg_check_fn *check)
{
    pawl__pg_statement *statement = NULL;
    pawl_code           code =
        pawl__pg_saga_statement_of(writer->connection, table, which, &statement, writer->error);
    if (code != PAWL_OK)
        return NULL;
    return pawl__pg_write_add_with(writer, statement, kind, items, count, check);
}

static void put_correlation(pawl__pg_write *write, pawl_value_type type, size_t offset)
{
    if (type == PAWL_VALUE_NONE)
        return;
    pawl__pg_array_begin(&write->request, PAWL__WIRE_VALUE, type, write->count);
    for (size_t i = 0; i < write->count; i++)
        pawl__pg_array_put(&write->request, PAWL__WIRE_VALUE,
                           (const char *)write->items[i] + offset);
    pawl__pg_array_end(&write->request);
}

/* ---- Delete ------------------------------------------------------------- */

static pawl_code check_deleted(pawl__pg_writer *writer, pawl__pg_write *write)
{
    return pawl__pg_check_numbers(writer, write, pawl__why_not_deleted);
}

static pawl_code send_deletes(pawl__pg_writer *writer, const pawl_saga_table *table,
                              const void **items, size_t count)
{
    static const pawl__field fields[] = {
        PAWL__AS(saga_delete, id.uuid, UUID),
        PAWL__AS(saga_delete, version, INT),
    };
    pawl__pg_write *write = add_write(writer, table, PAWL__PG_SAGA_DELETE, pawl_change_saga_delete,
                                      items, count, check_deleted);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, fields, sizeof fields / sizeof fields[0]);
    return pawl__pg_write_send(write);
}

pawl_code pawl__pg_send_saga_delete(pawl__pg_writer *writer)
{
    return send_tables(writer, pawl_change_saga_delete, send_deletes);
}

/* ---- Insert ------------------------------------------------------------- */

/* INSERT returns the ids in the order of the items, without those that were there. */
static pawl_code check_inserted(pawl__pg_writer *writer, pawl__pg_write *write)
{
    pawl_code code = PAWL_OK;
    if (pawl__pg_rows(&write->request) == (int64_t)write->count)
        return PAWL_OK;
    bool      has_row = pawl__pg_next(&write->request);
    pawl_uuid id      = has_row ? pawl__pg_get_uuid(&write->request) : (pawl_uuid){{0}};
    for (size_t i = 0; code == PAWL_OK && i < write->count; i++) {
        const pawl_saga_insert *row = write->items[i];
        if (has_row && pawl_uuid_compare(id, row->id.uuid) == 0) {
            has_row = pawl__pg_next(&write->request);
            if (has_row)
                id = pawl__pg_get_uuid(&write->request);
            continue;
        }
        code = pawl__pg_refuse_for(writer, write->kind, row, pawl__why_not_inserted);
    }
    return code;
}

static pawl_code send_inserts(pawl__pg_writer *writer, const pawl_saga_table *table,
                              const void **items, size_t count)
{
    static const pawl__field fields[] = {
        PAWL__AS(saga_insert, id.uuid, UUID),
        PAWL__AS(saga_insert, metadata, JSON_TEXT),
        PAWL__AS(saga_insert, data, JSON),
        PAWL__AS(saga_insert, type_version, TEXT),
    };
    pawl__pg_write *write = add_write(writer, table, PAWL__PG_SAGA_INSERT, pawl_change_saga_insert,
                                      items, count, check_inserted);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, fields, sizeof fields / sizeof fields[0]);
    put_correlation(write, table->main.type, offsetof(pawl_saga_insert, main));
    put_correlation(write, table->transitional.type, offsetof(pawl_saga_insert, transitional));
    return pawl__pg_write_send(write);
}

pawl_code pawl__pg_send_saga_insert(pawl__pg_writer *writer)
{
    return send_tables(writer, pawl_change_saga_insert, send_inserts);
}

/* ---- Update ------------------------------------------------------------- */

/* The versions of the rows, asked for only when some were not updated: a row that moved on tells
 * itself apart from one whose transitional value another saga has. */
static pawl_code find_versions(pawl__pg_writer *writer, pawl__pg_write *write, pawl_saga_row *rows)
{
    const pawl_saga_update *first     = write->items[0];
    pawl__pg_statement     *statement = NULL;
    pawl__pg_request        request;
    pawl_code               code = pawl__pg_saga_statement_of(
                      writer->connection, first->table, PAWL__PG_SAGA_BY_ID_THERE, &statement, writer->error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_begin_with(&request, writer->connection, statement, writer->error);
    pawl__pg_array_begin(&request, PAWL__WIRE_UUID, PAWL_VALUE_NONE, write->count);
    for (size_t i = 0; i < write->count; i++)
        pawl__pg_array_put(&request, PAWL__WIRE_UUID,
                           &((const pawl_saga_update *)write->items[i])->id.uuid);
    pawl__pg_array_end(&request);
    code = pawl__pg_run(&request);
    while (code == PAWL_OK && pawl__pg_next(&request)) {
        size_t at = read_number(&request, write->count);
        if (at != SIZE_MAX)
            rows[at].version = pawl__pg_get_int(&request);
    }
    return request.code;
}

static pawl_code refuse_updates(pawl__pg_writer *writer, pawl__pg_write *write,
                                const bool *is_applied, const pawl_saga_row *rows)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < write->count; i++) {
        const pawl_saga_update *row = write->items[i];
        bool                    is_taken =
            row->table->transitional.type != PAWL_VALUE_NONE && rows[i].version == row->version;
        if (!is_applied[i])
            code = pawl__pg_refuse_for(writer, write->kind, row,
                                       is_taken ? pawl__why_value_taken : pawl__why_not_updated);
    }
    return code;
}

static pawl_code check_updated(pawl__pg_writer *writer, pawl__pg_write *write)
{
    if (pawl__pg_rows(&write->request) == (int64_t)write->count)
        return PAWL_OK;
    bool          *is_applied = pawl__pg_applied(writer, write);
    pawl_saga_row *rows       = pawl_arena_take(writer->arena, (write->count + 1) * sizeof *rows);
    if (is_applied == NULL || rows == NULL)
        return pawl__pg_no_memory(writer->error);
    pawl_code code = find_versions(writer, write, rows);
    return code == PAWL_OK ? refuse_updates(writer, write, is_applied, rows) : code;
}

static const pawl__field update_tid[] = {
    {offsetof(pawl_saga_update, row), "row", PAWL__PG_TID_HINT, 0}};
static const pawl__field update_fields[] = {
    PAWL__AS(saga_update, id.uuid, UUID),       PAWL__AS(saga_update, version, INT),
    PAWL__AS(saga_update, metadata, JSON_TEXT), PAWL__AS(saga_update, data, JSON),
    PAWL__AS(saga_update, type_version, TEXT),
};

static pawl_code send_update_write(pawl__pg_writer *writer, const void **items, size_t count,
                                   bool is_by_tid, pawl__pg_check_fn *check)
{
    if (count == 0)
        return PAWL_OK;
    const pawl_saga_table *table = ((const pawl_saga_update *)items[0])->table;
    pawl__pg_write        *write =
        add_write(writer, table, is_by_tid ? PAWL__PG_SAGA_UPDATE : PAWL__PG_SAGA_UPDATE_ID,
                  pawl_change_saga_update, items, count, check);
    if (write == NULL)
        return PAWL_ENOMEM;
    if (is_by_tid)
        pawl__pg_write_fields(write, update_tid, 1);
    pawl__pg_write_fields(write, update_fields, sizeof update_fields / sizeof update_fields[0]);
    put_correlation(write, table->transitional.type, offsetof(pawl_saga_update, transitional));
    return pawl__pg_write_send(write);
}

/* The ctid is a hint: a row that was not found by it is updated by its id, in a write that is
 * checked like the others. */
static pawl_code check_by_tid(pawl__pg_writer *writer, pawl__pg_write *write)
{
    if (pawl__pg_rows(&write->request) == (int64_t)write->count)
        return PAWL_OK;
    size_t       count      = 0;
    bool        *is_applied = pawl__pg_applied(writer, write);
    const void **missing    = pawl_arena_take(writer->arena, (write->count + 1) * sizeof *missing);
    if (is_applied == NULL || missing == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < write->count; i++)
        if (!is_applied[i])
            missing[count++] = write->items[i];
    pawl_code code   = send_update_write(writer, missing, count, false, check_updated);
    pawl_code answer = pawl__pg_await(writer->connection, writer->error);
    return code != PAWL_OK ? code : answer;
}

static pawl_code send_updates(pawl__pg_writer *writer, const pawl_saga_table *table,
                              const void **items, size_t count)
{
    const void **by_tid       = pawl_arena_take(writer->arena, (count + 1) * sizeof *by_tid);
    const void **others       = pawl_arena_take(writer->arena, (count + 1) * sizeof *others);
    size_t       by_tid_count = 0, other_count = 0;
    (void)table;
    if (by_tid == NULL || others == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < count; i++)
        if (((const pawl_saga_update *)items[i])->row != 0)
            by_tid[by_tid_count++] = items[i];
        else
            others[other_count++] = items[i];
    pawl_code code = send_update_write(writer, by_tid, by_tid_count, true, check_by_tid);
    return code == PAWL_OK ? send_update_write(writer, others, other_count, false, check_updated)
                           : code;
}

pawl_code pawl__pg_send_saga_update(pawl__pg_writer *writer)
{
    return send_tables(writer, pawl_change_saga_update, send_updates);
}
