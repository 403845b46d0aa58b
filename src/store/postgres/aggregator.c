/* aggregator.c - deliveries that wait in partitions, and snapshots of them.
 *
 * A stamp on each row is the lease of a snapshot. Rows that another transaction has locked are
 * skipped: it leases, removes or frees them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/writer.h"
#include "store/sql/rows.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Reading ------------------------------------------------------------ */

static void read_rows(pawl__pg_request *request, pawl_leased_batch *rows)
{
    rows->items = pawl__pg_take_rows(request, sizeof *rows->items);
    while (pawl__pg_next(request))
        pawl__pg_get_fields(request, &pawl__aggregator_row_fields, &rows->items[rows->count++]);
}

static void put_free(pawl__pg_request *request, const pawl_leased_batch_claim *claim)
{
    pawl__pg_put_text(request, claim->partition);
    pawl__pg_put_time(request, claim->now);
    pawl__pg_put_int(request, claim->id_max != 0 ? claim->id_max : INT64_MAX);
    pawl__pg_put_texts(request, claim->types, claim->type_count);
}

static pawl_code lease(pawl__pg *store, pawl__pg_connection *connection,
                       const pawl_leased_batch_claim *claim, pawl_arena *arena,
                       pawl_leased_batch *leased, pawl_error *error)
{
    pawl__pg_request rows, rest;
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
        read_rows(&rows, leased);
    pawl__pg_end(&rows);
    return code != PAWL_OK ? code : rows.code;
}

pawl_code pawl__pg_leased_batch_claim(pawl_store *base, const pawl_leased_batch_claim *claim,
                                      pawl_arena *arena, pawl_leased_batch *leased,
                                      pawl_error *error)
{
    pawl__pg            *store = pawl__pg_of(base);
    pawl__pg_connection *connection;
    pawl_code            code = pawl__pg_stamp_begin(store, &connection, error);
    if (code != PAWL_OK)
        return code;
    code = lease(store, connection, claim, arena, leased, error);
    code = pawl__pg_stamp_end(connection, code, error);
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

/* ---- Removing a snapshot ------------------------------------------------ */

/* A row of a removal. */
typedef struct piece {
    const pawl_leased_batch_remove *removal;
    size_t                          index; /* among the removal's ids */
    int64_t                         id;
    pawl_session_id                 session;
    pawl_text                       partition;
    bool                            is_gone;
} piece;

static const pawl__field piece_fields[] = {
    PAWL__AS_OF(piece, id, INT),
    PAWL__AS_OF(piece, partition, TEXT),
    PAWL__AS_OF(piece, session, UUID_OR_NULL),
};

/* Of two removals with the same row the earlier one removes it. */
static int by_id(const void *left, const void *right)
{
    const piece *l = left, *r = right;
    return (l->id > r->id) - (l->id < r->id);
}

static pawl_code refuse_removal(pawl__pg_writer *writer, const piece *missing)
{
    const pawl_leased_batch_remove *removal = missing->removal;
    pawl_error                      why     = PAWL_ERROR_INIT;
    (void)pawl__why_not_removed(removal, missing->index, &why);
    return pawl__pg_refuse(writer, pawl_change_leased_batch_remove, removal, &why);
}

static int by_removal(const void *left, const void *right)
{
    const piece *l = left, *r = right;
    return (l > r) - (l < r);
}

/* A removal that lacks a row is refused once, for the first that it lacks. */
static pawl_code check_removed(pawl__pg_writer *writer, pawl__pg_write *write)
{
    const pawl_leased_batch_remove *refused = NULL;
    const void                    **missing = write->items;
    size_t                          count   = 0;
    pawl_code                       code    = PAWL_OK;
    if (pawl__pg_rows(&write->request) == (int64_t)write->count)
        return PAWL_OK;
    bool *is_removed = pawl__pg_applied(writer, write);
    if (is_removed == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < write->count; i++) {
        const piece *it = write->items[i];
        if (!is_removed[i] && !pawl_uuid_is_zero(it->session.uuid))
            missing[count++] = it;
    }
    pawl__sort_changes(missing, count, by_removal);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        const piece *it = missing[i];
        if (it->removal != refused)
            code = refuse_removal(writer, it);
        refused = it->removal;
    }
    return code;
}

/* The rows of all removals, in order; NULL without memory. */
static piece *list_pieces(pawl__pg_writer *writer, const void **removals, size_t count,
                          size_t *piece_count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += ((const pawl_leased_batch_remove *)removals[i])->id_count;
    piece *pieces = pawl_arena_take(writer->arena, (total + 1) * sizeof *pieces);
    *piece_count  = 0;
    for (size_t i = 0; pieces != NULL && i < count; i++) {
        const pawl_leased_batch_remove *removal = removals[i];
        for (size_t index = 0; index < removal->id_count; index++)
            pieces[(*piece_count)++] = (piece){.removal   = removal,
                                               .index     = index,
                                               .id        = removal->ids[index],
                                               .session   = removal->session,
                                               .partition = removal->partition};
    }
    return pieces;
}

/* Row locks first: without a session the rows may be locked by a claim at this moment, and have
 * another ctid after it. */
static pawl_code lock_pieces(pawl__pg_writer *writer, const void **items, size_t count)
{
    bool is_any = false;
    for (size_t i = 0; i < count; i++)
        is_any |= pawl_uuid_is_zero(((const piece *)items[i])->session.uuid);
    if (!is_any)
        return PAWL_OK;
    pawl__pg_write *write = pawl__pg_write_add(writer, PAWL__PG_AGGREGATOR_LOCK_ID,
                                               pawl_change_leased_batch_remove, items, count, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, piece_fields, 1);
    return pawl__pg_write_send(write);
}

pawl_code pawl__pg_send_leased_batch_remove(pawl__pg_writer *writer)
{
    size_t       count, piece_count;
    const void **removals =
        pawl__pg_select(writer, pawl_change_leased_batch_remove, NULL, NULL, &count);
    if (removals == NULL)
        return PAWL_ENOMEM;
    piece       *pieces = list_pieces(writer, removals, count, &piece_count);
    const void **items  = pawl_arena_take(writer->arena, (piece_count + 1) * sizeof *items);
    if (pieces == NULL || items == NULL)
        return pawl__pg_no_memory(writer->error);
    if (piece_count == 0)
        return PAWL_OK;
    for (size_t i = 0; i < piece_count; i++)
        items[i] = &pieces[i];
    pawl__sort_changes(items, piece_count, by_id);
    pawl_code code = lock_pieces(writer, items, piece_count);
    if (code != PAWL_OK)
        return code;
    pawl__pg_write *write =
        pawl__pg_write_add(writer, PAWL__PG_AGGREGATOR_DELETE, pawl_change_leased_batch_remove,
                           items, piece_count, check_removed);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, piece_fields, COUNT(piece_fields));
    return pawl__pg_write_send(write);
}
