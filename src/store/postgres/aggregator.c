/* aggregator.c - counts, claims and removes the messages that wait in partitions of aggregators.
 *
 * A claim leases a batch: it writes session, worker and expiry into each row. Rows that another
 * transaction has locked are skipped: that transaction leases, removes or frees them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/set.h"
#include "store/sql/rows.h"

/* ---- Reading ------------------------------------------------------------ */

static void put_free(pawl__pg_request *request, const pawl_leased_batch_claim *claim)
{
    pawl__pg_put_text(request, claim->partition);
    pawl__pg_put_time(request, claim->now);
    pawl__pg_put_int(request, claim->id_max != 0 ? claim->id_max : INT64_MAX);
    pawl__pg_put_texts(request, claim->types, claim->type_count);
}

static pawl_code lease(pawl__pg *store, const pawl_leased_batch_claim *claim, pawl_arena *arena,
                       pawl_leased_batch *leased, pawl_error *error)
{
    pawl__pg_connection *connection = pawl__pg_in_use(store);
    pawl__pg_request     rows, rest;
    pawl_found           found = {0};
    pawl__pg_begin(&rows, connection, PAWL__PG_AGGREGATOR_CLAIM, error);
    rows.arena = arena;
    put_free(&rows, claim);
    pawl__pg_put_int(&rows, claim->count_max != 0 ? (int64_t)claim->count_max : INT64_MAX);
    pawl__pg_put_uuid(&rows, claim->session.uuid);
    pawl__pg_put_time(&rows, pawl_time_add(claim->now, claim->lease));
    pawl__pg_put_uuid(&rows, store->sql.base.worker.uuid);
    pawl__pg_send(&rows);
    pawl__pg_begin(&rest, connection, PAWL__PG_AGGREGATOR_UNRESOLVED, error);
    put_free(&rest, claim);
    pawl_code code = pawl__pg_one_int(&rest, &leased->unresolved);
    if (code == PAWL_OK)
        code =
            pawl__pg_take_all(&rows, &pawl__aggregator_row_fields, sizeof *leased->items, &found);
    pawl__pg_end(&rows);
    leased->items = found.items;
    leased->count = found.count;
    return code;
}

pawl_code pawl__pg_leased_batch_claim(pawl_store *base, const pawl_leased_batch_claim *claim,
                                      pawl_arena *arena, pawl_leased_batch *leased,
                                      pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    pawl_code code  = pawl__pg_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = pawl__pg_stamp_end(store, lease(store, claim, arena, leased, error), error);
    if (code != PAWL_OK)
        *leased = (pawl_leased_batch){0};
    return code;
}

pawl_code pawl__pg_aggregator_count(pawl_store *base, pawl_text partition, const pawl_text *types,
                                    size_t type_count, pawl_time now,
                                    pawl_aggregator_counts *counts, pawl_error *error)
{
    pawl__pg        *store = pawl__pg_of(base);
    pawl__pg_request request;
    pawl__pg_begin(&request, &store->main, PAWL__PG_AGGREGATOR_TALLY, error);
    pawl__pg_put_text(&request, partition);
    pawl__pg_put_texts(&request, types, type_count);
    pawl__pg_put_time(&request, now);
    pawl_code code = pawl__pg_run(&request);
    if (code == PAWL_OK && pawl__pg_next(&request)) {
        counts->all            = pawl__pg_get_int(&request);
        counts->resolved       = pawl__pg_get_int(&request);
        counts->ready          = pawl__pg_get_int(&request);
        counts->id_last        = pawl__pg_get_int(&request);
        counts->flush_due      = pawl__pg_get_time(&request);
        counts->flush_attempts = (int32_t)pawl__pg_get_int(&request);
        counts->flush_is_dead  = pawl__pg_get_int(&request) != 0;
    }
    pawl__pg_end(&request);
    return request.code;
}

/* ---- Removing a leased batch --------------------------------------------- */

/* A removal names many rows: each row becomes an item. */
pawl_code pawl__pg_send_leased_batch_remove(pawl__sql_writer *writer)
{
    size_t       count, total = 0, made = 0;
    const void **removals = pawl__pg_select(writer, pawl_change_leased_batch_remove, &count);
    if (removals == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < count; i++)
        total += ((const pawl_leased_batch_remove *)removals[i])->id_count;
    pawl__sql_removed_row *rows =
        pawl_arena_take(pawl__pg_scratch(writer), (total + 1) * sizeof *rows);
    const void **items = pawl_arena_take(pawl__pg_scratch(writer), (total + 1) * sizeof *items);
    if (rows == NULL || items == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < count; i++) {
        const pawl_leased_batch_remove *removal = removals[i];
        for (size_t index = 0; index < removal->id_count; index++, made++) {
            rows[made]  = pawl__sql_row_of(removal, index);
            items[made] = &rows[made];
        }
    }
    return pawl__pg_send_items(writer, pawl_change_leased_batch_remove, items, made);
}
