/* timeout.c - claiming, settling, setting and cancelling timeouts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/refusal.h"
#include "store/sql/rows.h"
#include "store/sqlite/operations.h"

#define CLAIM_COUNT_DEFAULT 1000

static pawl_code read_rows(pawl__sqlite_request *request, pawl_timeout_rows *rows)
{
    size_t capacity = 0;
    while (pawl__sqlite_next(request)) {
        pawl_timeout_row *grown =
            pawl__sqlite_grow(request, rows->items, rows->count, &capacity, sizeof *grown);
        if (grown == NULL)
            break;
        rows->items           = grown;
        pawl_timeout_row *row = &grown[rows->count++];
        *row                  = (pawl_timeout_row){0};
        pawl__sqlite_get_fields(request, &pawl__sql_timeout_row, row);
    }
    return request->code;
}

/* ---- Claiming ----------------------------------------------------------- */

static size_t count_of(const pawl_timeout_claim *claim)
{
    return claim->count_max != 0 ? claim->count_max : CLAIM_COUNT_DEFAULT;
}

/* Binds the destination, unless any will do, and the two times. */
static void put_claim(pawl__sqlite_request *request, const pawl_timeout_claim *claim)
{
    if (claim->destination.size != 0)
        pawl__sqlite_put_text(request, claim->destination);
    pawl__sqlite_put_int(request, claim->due_max);
    pawl__sqlite_put_int(request, claim->now);
}

/* The due rows that are free, and one more: when there is one, its due time is
 * the next. */
static pawl_code read_due(pawl__sqlite *store, const pawl_timeout_claim *claim, pawl_arena *arena,
                          pawl_timeout_rows *rows, pawl_error *error)
{
    pawl__sqlite_request request;
    *rows = (pawl_timeout_rows){.next_due = PAWL_TIME_MAX};
    pawl__sqlite_request_begin(
        &request, &store->connection,
        claim->destination.size != 0 ? PAWL__SQL_TIMEOUT_DUE : PAWL__SQL_TIMEOUT_DUE_ANY, error);
    request.arena = arena;
    put_claim(&request, claim);
    pawl__sqlite_put_int(&request, (int64_t)count_of(claim) + 1);
    pawl_code code = read_rows(&request, rows);
    if (code == PAWL_OK && rows->count > count_of(claim)) {
        rows->next_due = rows->items[--rows->count].due;
        return PAWL_OK;
    }
    if (code != PAWL_OK)
        return code;
    pawl__sqlite_request_begin(
        &request, &store->connection,
        claim->destination.size != 0 ? PAWL__SQL_TIMEOUT_NEXT : PAWL__SQL_TIMEOUT_NEXT_ANY, error);
    put_claim(&request, claim);
    if (pawl__sqlite_next(&request))
        rows->next_due = pawl__sqlite_get_int(&request);
    pawl__sqlite_stop(&request);
    return request.code;
}

static pawl_code stamp(pawl__sqlite *store, const pawl_timeout_claim *claim,
                       pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_code code    = PAWL_OK;
    pawl_time expires = pawl_time_add(claim->now, claim->lease);
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++) {
        pawl_timeout_row *row = &rows->items[i];
        row->owner            = claim->owner;
        row->lease_expires    = expires;
        pawl__sqlite_request request;
        pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_TIMEOUT_STAMP, error);
        pawl__sqlite_put_uuid(&request, claim->owner.uuid);
        pawl__sqlite_put_int(&request, expires);
        pawl__sqlite_put_uuid(&request, store->sql.base.worker.uuid);
        pawl__sqlite_put_uuid(&request, row->id.uuid);
        code = pawl__sqlite_run(&request);
    }
    return code;
}

pawl_code pawl__sqlite_timeout_claim(pawl_store *base, const pawl_timeout_claim *claim,
                                     pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    *rows               = (pawl_timeout_rows){.next_due = PAWL_TIME_MAX};
    pawl_code code      = pawl__sqlite_ready(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_check_timeout_lease(claim, error);
    /* A look first: most of the time nothing is due, and no lock is needed. */
    if (code == PAWL_OK)
        code = read_due(store, claim, arena, rows, error);
    if (code != PAWL_OK || rows->count == 0)
        return code;
    code = pawl__sqlite_stamp_begin(store, error);
    if (code == PAWL_OK) {
        code = read_due(store, claim, arena, rows, error);
        if (code == PAWL_OK)
            code = stamp(store, claim, rows, error);
        code = pawl__sqlite_stamp_end(store, code, error);
    }
    if (code != PAWL_OK)
        rows->count = 0;
    return code;
}

pawl_code pawl__sqlite_timeout_reap(pawl_store *base, pawl_time now, int64_t *count,
                                    pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    *count              = 0;
    pawl_code code      = pawl__sqlite_ready(store, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_TIMEOUT_REAP, error);
    pawl__sqlite_put_int(&request, now);
    code = pawl__sqlite_stamp_end(store, pawl__sqlite_run(&request), error);
    if (code == PAWL_OK)
        *count = request.changes;
    return code;
}
