/* aggregator.c - deliveries that wait in partitions, snapshots of them, and
 * the flush row that each partition with deliveries has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/refusal.h"
#include "store/sql/rows.h"
#include "store/sqlite/operations.h"

static bool is_known(pawl_text type, const pawl_text *types, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pawl_text_equal(type, types[i]))
            return true;
    return false;
}

/* The first three columns of a row decide whether the rest is wanted. */
typedef struct row_head {
    pawl_text type; /* until the next step */
    pawl_time lease_expires;
    int64_t   id;
} row_head;

static row_head read_head(pawl__sqlite_request *request)
{
    row_head head;
    head.type          = pawl__sqlite_peek_text(request);
    head.lease_expires = pawl__sqlite_get_int(request);
    head.id            = pawl__sqlite_get_int(request);
    return head;
}

/* ---- Reading ------------------------------------------------------------ */

/* What the claim may take, in its order. */
static pawl_code read_partition(pawl__sqlite *store, const pawl_snapshot_claim *claim,
                                pawl_arena *arena, pawl_snapshot *rows, pawl_error *error)
{
    size_t capacity = 0;
    *rows           = (pawl_snapshot){0};
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_AGGREGATOR_GET, error);
    request.arena = arena;
    pawl__sqlite_put_text(&request, claim->partition);
    while (pawl__sqlite_next(&request)) {
        row_head head    = read_head(&request);
        bool     is_free = head.lease_expires == 0 || head.lease_expires <= claim->now;
        if (!is_free || (claim->id_max != 0 && head.id > claim->id_max))
            continue;
        if (!is_known(head.type, claim->types, claim->type_count)) {
            rows->unresolved++;
            continue;
        }
        if (claim->count_max != 0 && rows->count == claim->count_max)
            continue;
        pawl_aggregator_row *grown =
            pawl__sqlite_grow(&request, rows->items, rows->count, &capacity, sizeof *grown);
        if (grown == NULL)
            break;
        rows->items              = grown;
        pawl_aggregator_row *row = &grown[rows->count++];
        *row                     = (pawl_aggregator_row){0};
        request.column           = 0;
        pawl__sqlite_get_fields(&request, &pawl__sql_aggregator_row, row);
    }
    return request.code;
}

static pawl_code stamp(pawl__sqlite *store, const pawl_snapshot_claim *claim,
                       pawl_snapshot *snapshot, pawl_error *error)
{
    pawl_code code    = PAWL_OK;
    pawl_time expires = pawl_time_add(claim->now, claim->lease);
    for (size_t i = 0; code == PAWL_OK && i < snapshot->count; i++) {
        pawl_aggregator_row *row = &snapshot->items[i];
        row->session             = claim->session;
        row->lease_expires       = expires;
        pawl__sqlite_request request;
        pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_AGGREGATOR_STAMP, error);
        pawl__sqlite_put_uuid(&request, claim->session.uuid);
        pawl__sqlite_put_int(&request, expires);
        pawl__sqlite_put_uuid(&request, store->sql.base.worker.uuid);
        pawl__sqlite_put_int(&request, row->id);
        code = pawl__sqlite_run(&request);
    }
    return code;
}

pawl_code pawl__sqlite_snapshot_claim(pawl_store *base, const pawl_snapshot_claim *claim,
                                      pawl_arena *arena, pawl_snapshot *snapshot, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    *snapshot           = (pawl_snapshot){0};
    pawl_code code      = pawl__sqlite_ready(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_check_partition_lease(claim, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = read_partition(store, claim, arena, snapshot, error);
    if (code == PAWL_OK)
        code = stamp(store, claim, snapshot, error);
    code = pawl__sqlite_stamp_end(store, code, error);
    if (code != PAWL_OK)
        *snapshot = (pawl_snapshot){0};
    return code;
}

static pawl_code read_flush(pawl__sqlite *store, pawl_text partition,
                            pawl_aggregator_counts *counts, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_FLUSH_READ, error);
    pawl__sqlite_put_text(&request, partition);
    if (pawl__sqlite_next(&request)) {
        counts->flush_due      = pawl__sqlite_get_int(&request);
        counts->flush_attempts = (int32_t)pawl__sqlite_get_int(&request);
        counts->flush_is_dead  = pawl__sqlite_get_int(&request) != 0;
        pawl__sqlite_stop(&request);
    }
    return request.code;
}

static pawl_code count_rows(pawl__sqlite *store, pawl_text partition, const pawl_text *types,
                            size_t type_count, pawl_time now, pawl_aggregator_counts *counts,
                            pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_AGGREGATOR_LOOK, error);
    pawl__sqlite_put_text(&request, partition);
    while (pawl__sqlite_next(&request)) {
        row_head head     = read_head(&request);
        bool     resolved = is_known(head.type, types, type_count);
        counts->all++;
        counts->resolved += resolved;
        counts->ready += resolved && (head.lease_expires == 0 || head.lease_expires <= now);
        if (head.id > counts->id_last)
            counts->id_last = head.id;
    }
    return request.code;
}

pawl_code pawl__sqlite_aggregator_count(pawl_store *base, pawl_text partition,
                                        const pawl_text *types, size_t type_count, pawl_time now,
                                        pawl_aggregator_counts *counts, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    *counts             = (pawl_aggregator_counts){0};
    pawl_code code      = pawl__sqlite_ready(store, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = count_rows(store, partition, types, type_count, now, counts, error);
    if (code == PAWL_OK)
        code = read_flush(store, partition, counts, error);
    return pawl__sqlite_read_end(store, code, error);
}
