/* saga.c - loads sagas, by statements made for each saga table (saga_statements.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"

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
    pawl_value_type type = l->key == PAWL_SAGA_BY_ID     ? PAWL_VALUE_UUID
                           : l->key == PAWL_SAGA_BY_MAIN ? l->table->main.type
                                                         : l->table->transitional.type;
    pawl__pg_saga_begin(request, &l->store->main, l->table, which, l->error);
    pawl__pg_put_values(request, type, l->values, l->count);
    pawl__pg_send(request);
}

static pawl_code read_loaded(const loading *l, pawl__pg_request *request, pawl_arena *arena,
                             pawl_saga_row *rows)
{
    request->arena = arena;
    while (request->code == PAWL_OK && pawl__pg_next(request)) {
        size_t at = pawl__pg_get_index(request, l->count);
        if (at != SIZE_MAX)
            read_row(request, l->table, &rows[at]);
    }
    pawl__pg_end(request);
    return request->code;
}

/* Rows that exist and that SKIP LOCKED left out are locked by another transaction. */
static pawl_code read_busy(const loading *l, pawl__pg_request *request, pawl_saga_row *rows)
{
    while (request->code == PAWL_OK && pawl__pg_next(request)) {
        size_t at = pawl__pg_get_index(request, l->count);
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
    if (skips && !l->store->sql.in_handler_transaction)
        pawl__pg_begin_on(&l->store->main, l->error);
    send_load(l, &request, first + (int)l->key);
    if (skips)
        send_load(l, &there, PAWL__PG_SAGA_BY_ID_THERE + (int)l->key);
    pawl_code code = pawl__pg_await(&l->store->main, l->error);
    if (code == PAWL_OK)
        code = read_loaded(l, &request, arena, rows);
    if (code == PAWL_OK && skips)
        code = read_busy(l, &there, rows);
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
