/* timeout.c - claiming, settling, setting and cancelling timeouts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/refusal.h"
#include "store/sql/rows.h"
#include "store/sqlite/operations.h"

#define CLAIM_COUNT_DEFAULT 1000

static pawl_code read_rows(pawl__sqlite_call *call, pawl_timeout_rows *rows)
{
    size_t capacity = 0;
    while (pawl__sqlite_next(call)) {
        pawl_timeout_row *grown =
            pawl__sqlite_grow(call, rows->items, rows->count, &capacity, sizeof *grown);
        if (grown == NULL)
            break;
        rows->items           = grown;
        pawl_timeout_row *row = &grown[rows->count++];
        *row                  = (pawl_timeout_row){0};
        pawl__sqlite_get_fields(call, &pawl__sql_timeout_row, row);
    }
    return call->code;
}

/* ---- Claiming ----------------------------------------------------------- */

static size_t count_of(const pawl_timeout_claim *claim)
{
    return claim->count_max != 0 ? claim->count_max : CLAIM_COUNT_DEFAULT;
}

/* Binds the destination, unless any will do, and the two times. */
static void put_claim(pawl__sqlite_call *call, const pawl_timeout_claim *claim)
{
    if (claim->destination.size != 0)
        pawl__sqlite_put_text(call, claim->destination);
    pawl__sqlite_put_int(call, claim->due_max);
    pawl__sqlite_put_int(call, claim->now);
}

/* The due rows that are free, and one more: when there is one, its due time is
 * the next. */
static pawl_code read_due(pawl__sqlite *store, const pawl_timeout_claim *claim, pawl_arena *arena,
                          pawl_timeout_rows *rows, pawl_error *error)
{
    pawl__sqlite_call call;
    *rows = (pawl_timeout_rows){.next_due = PAWL_TIME_MAX};
    pawl__sqlite_call_begin(
        &call, &store->connection,
        claim->destination.size != 0 ? PAWL__SQL_TIMEOUT_DUE : PAWL__SQL_TIMEOUT_DUE_ANY, error);
    call.arena = arena;
    put_claim(&call, claim);
    pawl__sqlite_put_int(&call, (int64_t)count_of(claim) + 1);
    pawl_code code = read_rows(&call, rows);
    if (code == PAWL_OK && rows->count > count_of(claim)) {
        rows->next_due = rows->items[--rows->count].due;
        return PAWL_OK;
    }
    if (code != PAWL_OK)
        return code;
    pawl__sqlite_call_begin(
        &call, &store->connection,
        claim->destination.size != 0 ? PAWL__SQL_TIMEOUT_NEXT : PAWL__SQL_TIMEOUT_NEXT_ANY, error);
    put_claim(&call, claim);
    if (pawl__sqlite_next(&call))
        rows->next_due = pawl__sqlite_get_int(&call);
    pawl__sqlite_stop(&call);
    return call.code;
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
        pawl__sqlite_call call;
        pawl__sqlite_call_begin(&call, &store->connection, PAWL__SQL_TIMEOUT_STAMP, error);
        pawl__sqlite_put_uuid(&call, claim->owner.uuid);
        pawl__sqlite_put_int(&call, expires);
        pawl__sqlite_put_uuid(&call, store->sql.base.worker.uuid);
        pawl__sqlite_put_uuid(&call, row->id.uuid);
        code = pawl__sqlite_run(&call);
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
    pawl__sqlite_call call;
    pawl__sqlite_call_begin(&call, &store->connection, PAWL__SQL_TIMEOUT_REAP, error);
    pawl__sqlite_put_int(&call, now);
    code = pawl__sqlite_stamp_end(store, pawl__sqlite_run(&call), error);
    if (code == PAWL_OK)
        *count = call.changes;
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
    pawl__sqlite_call          call;
    pawl__sqlite_call_begin(&call, writer->connection, statements[settle->action], error);
    pawl__sqlite_put_uuid(&call, settle->id.uuid);
    if (settle->has_owner)
        pawl__sqlite_put_uuid(&call, settle->owner.uuid);
    else
        pawl__sqlite_put_null(&call);
    pawl__sqlite_put_int(&call, settle->generation);
    if (settle->action == PAWL_TIMEOUT_RETRY) {
        pawl__sqlite_put_int(&call, settle->due);
        pawl__sqlite_put_int(&call, settle->attempts);
    }
    pawl_code code = pawl__sqlite_run(&call);
    if (code == PAWL_OK && call.changes == 0 && settle->has_owner)
        return pawl__sql_why_not_leased(settle, error);
    return code;
}

pawl_code pawl__sqlite_apply_timeout_cancel(pawl__sqlite_writer *writer, const void *change,
                                            pawl_error *error)
{
    const pawl_timeout_cancel *cancel = change;
    pawl__sqlite_call          call;
    pawl__sqlite_call_begin(
        &call, writer->connection,
        cancel->name.size != 0 ? PAWL__SQL_TIMEOUT_CANCEL : PAWL__SQL_TIMEOUT_CANCEL_ALL, error);
    pawl__sqlite_put_uuid(&call, cancel->saga_id.uuid);
    if (cancel->name.size != 0)
        pawl__sqlite_put_text(&call, cancel->name);
    return pawl__sqlite_run(&call);
}

static void put_saga_id(pawl__sqlite_call *call, pawl_saga_id id)
{
    if (pawl_uuid_is_zero(id.uuid))
        pawl__sqlite_put_null(call);
    else
        pawl__sqlite_put_uuid(call, id.uuid);
}

static pawl_code insert(pawl__sqlite_writer *writer, const pawl_timeout_set *set, pawl_error *error)
{
    pawl__sqlite_call call;
    pawl__sqlite_call_begin(&call, writer->connection, PAWL__SQL_TIMEOUT_INSERT, error);
    pawl__sqlite_put_uuid(&call, set->id.uuid);
    put_saga_id(&call, set->saga_id);
    pawl__sqlite_put_text(&call, set->saga_type);
    pawl__sqlite_put_text(&call, set->name);
    pawl__sqlite_put_text(&call, set->destination);
    pawl__sqlite_put_int(&call, set->due);
    pawl__sqlite_put_text(&call, set->correlation_id);
    pawl__sqlite_put_text(&call, set->headers);
    return pawl__sqlite_run(&call);
}

/* Writes the row anew that has the same saga and name, or the same id. */
static pawl_code rearm(pawl__sqlite_writer *writer, const pawl_timeout_set *set, bool is_by_name,
                       int64_t *changes, pawl_error *error)
{
    pawl__sqlite_call call;
    pawl__sqlite_call_begin(&call, writer->connection,
                            is_by_name ? PAWL__SQL_TIMEOUT_REARM_SAGA : PAWL__SQL_TIMEOUT_REARM,
                            error);
    pawl__sqlite_put_text(&call, set->saga_type);
    pawl__sqlite_put_text(&call, set->destination);
    pawl__sqlite_put_int(&call, set->due);
    pawl__sqlite_put_text(&call, set->correlation_id);
    pawl__sqlite_put_text(&call, set->headers);
    put_saga_id(&call, set->saga_id);
    pawl__sqlite_put_text(&call, set->name);
    if (!is_by_name)
        pawl__sqlite_put_uuid(&call, set->id.uuid);
    pawl_code code = pawl__sqlite_run(&call);
    *changes       = call.changes;
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
