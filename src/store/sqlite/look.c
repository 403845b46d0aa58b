/* look.c - the sweep of old rows, and leases of timeouts that are over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/operations.h"

/* ---- Sweep -------------------------------------------------------------- */

/* Marks stand in the order they were made, but for clocks that differ a
 * little: after so many newer ones in a row no older one is looked for. */
#define NEWER_MARKS_MAX 1000

static pawl_code delete_mark(pawl__sqlite *store, int64_t row, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQLITE_INBOX_DELETE_ROW, error);
    pawl__sqlite_put_int(&request, row);
    return pawl__sqlite_run(&request);
}

static pawl_code sweep_inbox(pawl__sqlite *store, const pawl_sweep *sweep, int64_t *count,
                             bool *more, pawl_error *error)
{
    size_t               deleted = 0;
    size_t               newer   = 0;
    pawl_code            code    = PAWL_OK;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQLITE_INBOX_ROWS, error);
    while (code == PAWL_OK && newer < NEWER_MARKS_MAX && pawl__sqlite_next(&request)) {
        int64_t row = pawl__sqlite_get_int(&request);
        if (pawl__sqlite_get_int(&request) >= sweep->inbox_before) {
            newer++;
            continue;
        }
        if (deleted == sweep->count_max) {
            *more = true;
            break;
        }
        newer = 0;
        deleted++;
        code = delete_mark(store, row, error);
    }
    pawl__sqlite_stop(&request);
    *count += (int64_t)deleted;
    return code != PAWL_OK ? code : request.code;
}

static pawl_code sweep_outbox(pawl__sqlite *store, const pawl_sweep *sweep, int64_t *count,
                              bool *more, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_OUTBOX_SWEEP, error);
    pawl__sqlite_put_int(&request, sweep->outbox_before);
    pawl__sqlite_put_int(&request, (int64_t)sweep->count_max);
    pawl_code code = pawl__sqlite_run(&request);
    if (code == PAWL_OK) {
        *count += request.changes;
        *more |= request.changes == (int64_t)sweep->count_max;
        if (sweep->outbox_count != NULL)
            *sweep->outbox_count = request.changes;
    }
    return code;
}

pawl_code pawl__sqlite_sweep(pawl_store *base, const pawl_sweep *sweep, int64_t *count, bool *more,
                             pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = pawl__sqlite_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = sweep_inbox(store, sweep, count, more, error);
    if (code == PAWL_OK)
        code = sweep_outbox(store, sweep, count, more, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_worker_sweep(store, sweep->workers_before, sweep->count_max, count,
                                         more, error);
    code = pawl__sqlite_stamp_end(store, code, error);
    if (code != PAWL_OK)
        *count = 0;
    return code;
}

/* ---- Leases that are over ------------------------------------------------ */

pawl_code pawl__sqlite_timeout_reap(pawl_store *base, pawl_time now, int64_t *count,
                                    pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = pawl__sqlite_stamp_begin(store, error);
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
