/* handle.c - a store handle on the tables of a round, with what belongs to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

pawl_code pawl__bench_open(const char *url, pawl__bench_handle *handle, pawl_error *error)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    *handle = (pawl__bench_handle){.kept = pawl_arena_create(0), .arena = pawl_arena_create(0)};
    if (handle->arena == NULL || handle->kept == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a store handle");
    pawl_code code        = pawl__bench_table(handle->kept, &handle->table, error);
    options.system_prefix = PAWL__BENCH_PREFIX;
    options.tables        = &handle->table;
    options.table_count   = 1;
    return code == PAWL_OK ? pawl_store_open(url, &options, &handle->store, error) : code;
}

void pawl__bench_close(pawl__bench_handle *handle)
{
    if (handle->store != NULL && handle->store->is_attached)
        (void)handle->store->ops->worker_close(handle->store, pawl_clock_now(NULL), NULL);
    pawl_store_close(handle->store);
    pawl_arena_destroy(handle->arena);
    pawl_arena_destroy(handle->kept);
    *handle = (pawl__bench_handle){.store = NULL};
}

pawl_code pawl__bench_commit(pawl__bench_handle *handle, pawl_changes *changes, pawl_error *error)
{
    changes->group_count = 1;
    changes->unit_count  = 1;
    changes->now         = pawl_clock_now(NULL);
    pawl_code code       = pawl_store_commit(handle->store, changes, NULL, error);
    return code == PAWL_OK ? pawl__bench_go_on(error) : code;
}

static pawl_code check_order(const pawl_saga_row *row, int64_t steps, pawl_arena *arena,
                             pawl_error *error)
{
    const pawl_record *record = PAWL_RECORD_OF(bench_order)();
    pawl_code    code  = pawl__bench_expect("saga rows of an order", row->version != 0, 1, error);
    bench_order *order = pawl_arena_take(arena, sizeof *order);
    if (order == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a saga's state");
    if (code == PAWL_OK)
        code = pawl_record_decode(record, row->data, 0, arena, order, error);
    return code == PAWL_OK ? pawl__bench_expect("steps of an order", order->steps, steps, error)
                           : code;
}

pawl_code pawl__bench_check_orders(const pawl__bench_handle *handle, uint64_t seed, int64_t first,
                                   const int64_t *steps, size_t count, pawl_error *error)
{
    char          ids[PAWL__BENCH_CHECK_COUNT][PAWL__BENCH_ORDER_ID_SIZE + 1];
    pawl_value    values[PAWL__BENCH_CHECK_COUNT];
    pawl_saga_row rows[PAWL__BENCH_CHECK_COUNT];
    pawl_store   *store = handle->store;
    pawl_arena_reset(handle->arena);
    for (size_t i = 0; i < count; i++) {
        pawl__bench_order_id(seed, first + (int64_t)i, ids[i]);
        values[i] = pawl_value_text(pawl_text_of(ids[i]));
    }
    pawl_code code = store->ops->saga_load(store, handle->table, PAWL_SAGA_BY_MAIN, values, count,
                                           false, handle->arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = check_order(&rows[i], steps[i], handle->arena, error);
    return code;
}
