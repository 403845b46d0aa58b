/* handle.c - a store handle on the tables of a round, with what belongs to it, and
 * filling the tables through it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

void pawl__bench_no_line(pawl_text line, void *context)
{
    (void)line;
    (void)context;
}

pawl_code pawl__bench_make_tables(const char *url, pawl_error *error)
{
    pawl_schema_spec spec  = {.system_prefix = PAWL__BENCH_PREFIX, .table_count = 1};
    pawl_arena      *arena = pawl_arena_create(0);
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a table's description");
    const pawl_saga_table *table = NULL;
    pawl_code              code  = pawl__bench_table(arena, &table, error);
    spec.tables                  = &table;
    if (code == PAWL_OK)
        code = pawl_store_schema(url, PAWL_SCHEMA_APPLY, &spec, pawl__bench_no_line, NULL, error);
    pawl_arena_destroy(arena);
    return code;
}

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
    if (handle->store != NULL && pawl_store_is_attached(handle->store))
        (void)pawl_store_worker_close(handle->store, pawl_clock_now(NULL), NULL);
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

pawl_code pawl__bench_stats(const pawl__bench_handle *handle, pawl_stats *stats, pawl_error *error)
{
    pawl_store *store = handle->store;
    stats->count_max  = INT64_MAX; /* benchmarks have more rows than an operator needs counted */
    return pawl_store_stats(store, pawl_clock_now(NULL), handle->arena, stats, error);
}

int64_t pawl__bench_ready(const pawl_stats *stats, const char *queue)
{
    for (size_t i = 0; i < stats->queue_count; i++)
        if (pawl_text_equal(stats->queues[i].queue, pawl_text_of(queue)))
            return stats->queues[i].ready;
    return 0;
}

/* ---- Filling -------------------------------------------------------------- */

static pawl_code fill_piece(pawl__bench_filler *filler, const pawl__bench_filling *filling,
                            int64_t first, pawl_error *error)
{
    pawl_changes changes = {.group_count = 1};
    int64_t      count   = pawl__bench_piece(filling->total, first, filling->of_commit);
    pawl_arena_reset(filler->handle.arena);
    pawl_code code = filling->make(filler, first, (size_t)count, &changes, error);
    pawl__bench_progress(filling->what, first, filling->total);
    return code == PAWL_OK ? pawl__bench_commit(&filler->handle, &changes, error) : code;
}

pawl_code pawl__bench_fill(const pawl__bench_job *job, const pawl__bench_filling *fillings,
                           pawl_error *error)
{
    pawl__bench_filler filler = {.job = job};
    pawl_random_seed(&filler.random, job->seed);
    pawl_code code = pawl__bench_open(job->url, &filler.handle, error);
    for (; code == PAWL_OK && fillings->what != NULL; fillings++)
        for (int64_t i = 0; code == PAWL_OK && i < fillings->total; i += fillings->of_commit)
            code = fill_piece(&filler, fillings, i, error);
    pawl__bench_close(&filler.handle);
    return code;
}

/* ---- Orders --------------------------------------------------------------- */

static pawl_code read_steps(const pawl_saga_row *row, pawl_arena *arena, int64_t *steps,
                            pawl_error *error)
{
    const pawl_record *record = PAWL_RECORD_OF(bench_order)();
    bench_order       *order  = pawl_arena_take(arena, sizeof *order);
    *steps                    = 0;
    if (order == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a saga's state");
    if (row->version == 0)
        return PAWL_OK;
    pawl_code code = pawl_record_decode(record, row->data, 0, arena, order, error);
    if (code == PAWL_OK)
        *steps = order->steps;
    return code;
}

pawl_code pawl__bench_load_orders(const pawl__bench_handle *handle, uint64_t seed, int64_t first,
                                  pawl_saga_row *rows, size_t count, pawl_error *error)
{
    char        ids[PAWL__BENCH_CHECK_COUNT][PAWL__BENCH_ORDER_ID_SIZE + 1];
    pawl_value  values[PAWL__BENCH_CHECK_COUNT];
    pawl_store *store = handle->store;
    pawl_arena_reset(handle->arena);
    for (size_t i = 0; i < count; i++) {
        pawl__bench_order_id(seed, first + (int64_t)i, ids[i]);
        values[i] = pawl_value_text(pawl_text_of(ids[i]));
    }
    return pawl_store_saga_load(store, handle->table, PAWL_SAGA_BY_MAIN, values, count,
                                PAWL_SAGA_UNLOCKED, handle->arena, rows, error);
}

pawl_code pawl__bench_count_steps(const pawl__bench_handle *handle, uint64_t seed, int64_t first,
                                  int64_t *steps, size_t count, pawl_error *error)
{
    pawl_saga_row rows[PAWL__BENCH_CHECK_COUNT];
    pawl_code     code = pawl__bench_load_orders(handle, seed, first, rows, count, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = read_steps(&rows[i], handle->arena, &steps[i], error);
    return code;
}

pawl_code pawl__bench_check_orders(const pawl__bench_handle *handle, uint64_t seed, int64_t first,
                                   const int64_t *steps, size_t count, pawl_error *error)
{
    int64_t   found[PAWL__BENCH_CHECK_COUNT];
    pawl_code code = pawl__bench_count_steps(handle, seed, first, found, count, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = pawl__bench_expect("steps of an order", found[i], steps[i], error);
    return code;
}
