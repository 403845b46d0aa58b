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

/* ---- Changes ------------------------------------------------------------ */

pawl_code pawl__sqlite_apply_timeout_settle(pawl__sqlite_writer *writer, const void *change,
                                            pawl_error *error)
{
    static const int statements[] = {
        [PAWL_TIMEOUT_REMOVE]  = PAWL__SQL_TIMEOUT_DELETE,
        [PAWL_TIMEOUT_RELEASE] = PAWL__SQL_TIMEOUT_RELEASE,
        [PAWL_TIMEOUT_RETRY]   = PAWL__SQL_TIMEOUT_RETRY,
    };
    const pawl_timeout_settle *settle = change;
    pawl__sqlite_request       request;
    pawl__sqlite_request_begin(&request, writer->connection, statements[settle->action], error);
    pawl__sqlite_put_uuid(&request, settle->id.uuid);
    if (settle->has_owner)
        pawl__sqlite_put_uuid(&request, settle->owner.uuid);
    else
        pawl__sqlite_put_null(&request);
    pawl__sqlite_put_int(&request, settle->generation);
    if (settle->action == PAWL_TIMEOUT_RETRY) {
        pawl__sqlite_put_int(&request, settle->due);
        pawl__sqlite_put_int(&request, settle->attempts);
    }
    pawl_code code = pawl__sqlite_run(&request);
    if (code == PAWL_OK && request.changes == 0 && settle->has_owner)
        return pawl__sql_why_not_leased(settle, error);
    return code;
}

pawl_code pawl__sqlite_apply_timeout_cancel(pawl__sqlite_writer *writer, const void *change,
                                            pawl_error *error)
{
    const pawl_timeout_cancel *cancel = change;
    pawl__sqlite_request       request;
    pawl__sqlite_request_begin(
        &request, writer->connection,
        cancel->name.size != 0 ? PAWL__SQL_TIMEOUT_CANCEL : PAWL__SQL_TIMEOUT_CANCEL_ALL, error);
    pawl__sqlite_put_uuid(&request, cancel->saga_id.uuid);
    if (cancel->name.size != 0)
        pawl__sqlite_put_text(&request, cancel->name);
    return pawl__sqlite_run(&request);
}

static void put_saga_id(pawl__sqlite_request *request, pawl_saga_id id)
{
    if (pawl_uuid_is_zero(id.uuid))
        pawl__sqlite_put_null(request);
    else
        pawl__sqlite_put_uuid(request, id.uuid);
}

static pawl_code insert(pawl__sqlite_writer *writer, const pawl_timeout_set *set, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, writer->connection, PAWL__SQL_TIMEOUT_INSERT, error);
    pawl__sqlite_put_uuid(&request, set->id.uuid);
    put_saga_id(&request, set->saga_id);
    pawl__sqlite_put_text(&request, set->saga_type);
    pawl__sqlite_put_text(&request, set->name);
    pawl__sqlite_put_text(&request, set->destination);
    pawl__sqlite_put_int(&request, set->due);
    pawl__sqlite_put_text(&request, set->correlation_id);
    pawl__sqlite_put_text(&request, set->headers);
    return pawl__sqlite_run(&request);
}

/* Writes the row anew that has the same saga and name, or the same id. */
static pawl_code rearm(pawl__sqlite_writer *writer, const pawl_timeout_set *set, bool is_by_name,
                       int64_t *changes, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, writer->connection,
                               is_by_name ? PAWL__SQL_TIMEOUT_REARM_SAGA : PAWL__SQL_TIMEOUT_REARM,
                               error);
    pawl__sqlite_put_text(&request, set->saga_type);
    pawl__sqlite_put_text(&request, set->destination);
    pawl__sqlite_put_int(&request, set->due);
    pawl__sqlite_put_text(&request, set->correlation_id);
    pawl__sqlite_put_text(&request, set->headers);
    put_saga_id(&request, set->saga_id);
    pawl__sqlite_put_text(&request, set->name);
    if (!is_by_name)
        pawl__sqlite_put_uuid(&request, set->id.uuid);
    pawl_code code = pawl__sqlite_run(&request);
    *changes       = request.changes;
    return code;
}

pawl_code pawl__sqlite_apply_timeout_set(pawl__sqlite_writer *writer, const void *change,
                                         pawl_error *error)
{
    const pawl_timeout_set *set = change;
    bool      is_by_name        = !pawl_uuid_is_zero(set->saga_id.uuid) && set->name.size != 0;
    int64_t   changes           = 0;
    pawl_code code              = PAWL_OK;
    /* With is_new an id that exists refuses, and so does a name: nothing that
     * is there is written over. */
    if (!set->is_new)
        code = rearm(writer, set, is_by_name, &changes, error);
    if (code == PAWL_OK && changes == 0)
        code = insert(writer, set, error);
    if (code == PAWL_EDUPLICATE)
        return pawl__sql_why_timeout_exists(set, error);
    return code;
}
