/* sweep.c - rows that are old, and leases of timeouts that are over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/operations.h"
#include "store/sql/worker.h"

/* ---- Sweep -------------------------------------------------------------- */

typedef struct old_rows {
    pawl_time before;
    int64_t   limit;
} old_rows;

static const pawl__field_list by_age =
    PAWL__FIELDS(PAWL__AS_OF(old_rows, before, TIME), PAWL__AS_OF(old_rows, limit, INT));

/* As many as were allowed: there may be more. */
static pawl_code sweep_table(pawl_store *store, int statement, pawl_time before, size_t count_max,
                             int64_t *deleted, bool *more, pawl_error *error)
{
    const old_rows        old   = {before, (int64_t)count_max};
    const pawl__sql_asked asked = {statement, &by_age, &old, NULL, 0};
    pawl_code             code  = pawl__sql_execute(store, &asked, deleted, error);
    *more |= *deleted == old.limit;
    return code;
}

static pawl_code sweep_all(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                           pawl_error *error)
{
    int64_t   marks = 0;
    int64_t   rows  = 0;
    int64_t   lines = 0;
    pawl_code code  = sweep_table(store, PAWL__SQL_INBOX_SWEEP, sweep->inbox_before,
                                  sweep->count_max, &marks, more, error);
    if (code == PAWL_OK)
        code = sweep_table(store, PAWL__SQL_OUTBOX_SWEEP, sweep->outbox_before, sweep->count_max,
                           &rows, more, error);
    if (code == PAWL_OK && sweep->outbox_count != NULL)
        *sweep->outbox_count = rows;
    if (code == PAWL_OK && sweep->history_before != 0)
        code = sweep_table(store, PAWL__SQL_HISTORY_SWEEP, sweep->history_before, sweep->count_max,
                           &lines, more, error);
    *count = marks + rows + lines;
    if (code == PAWL_OK)
        code = pawl__sql_worker_sweep(store, sweep->workers_before, sweep->count_max, count, more,
                                      error);
    return code;
}

pawl_code pawl__sql_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                          pawl_error *error)
{
    pawl_code code = pawl__sql_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    return pawl__sql_stamp_end(store, sweep_all(store, sweep, count, more, error), error);
}

/* ---- Leases that are over ----------------------------------------------- */

pawl_code pawl__sql_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                 pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_TIMEOUT_REAP, &pawl__one_time, &now, NULL, 0};
    pawl_code             code  = pawl__sql_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    return pawl__sql_stamp_end(store, pawl__sql_execute(store, &asked, count, error), error);
}
