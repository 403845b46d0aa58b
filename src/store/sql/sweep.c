/* sweep.c - rows that are old, and leases of timeouts that are over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/bodies.h"
#include "store/sql/operations.h"
#include "store/sql/server.h"

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

/* Behind a full page without an old body the next sweep is soon enough. */
static pawl_code sweep_bodies(pawl_store *store, const pawl_sweep *sweep, int64_t *cleared,
                              bool *more, pawl_error *error)
{
    pawl__bodies          page;
    const pawl__sql_asked asked = {PAWL__SQL_BODIES_PAGE, &pawl__bodies_range, &page,
                                   &pawl__bodies_found, sizeof page};
    const pawl__sql_asked clear = {PAWL__SQL_BODIES_CLEAR, &pawl__bodies_clear, &page, NULL, 0};
    if (!pawl__bodies_begin(sweep, &page))
        return PAWL_OK;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        return pawl__sql_no_memory(store, "rows", error);
    pawl_code code    = pawl__sql_read_first(store, &asked, arena, &page, error);
    bool      is_full = pawl__bodies_is_full(&page);
    if (code == PAWL_OK && page.count > 0)
        code = pawl__sql_execute(store, &clear, cleared, error);
    if (code == PAWL_OK)
        pawl__bodies_end(sweep, &page);
    *more |= is_full && *cleared > 0;
    pawl_arena_destroy(arena);
    return code;
}

static pawl_code sweep_all(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                           pawl_error *error)
{
    int64_t   marks  = 0;
    int64_t   rows   = 0;
    int64_t   lines  = 0;
    int64_t   bodies = 0;
    pawl_code code   = sweep_table(store, PAWL__SQL_INBOX_SWEEP, sweep->inbox_before,
                                   sweep->count_max, &marks, more, error);
    if (code == PAWL_OK)
        code = sweep_table(store, PAWL__SQL_OUTBOX_SWEEP, sweep->outbox_before, sweep->count_max,
                           &rows, more, error);
    if (code == PAWL_OK && sweep->outbox_count != NULL)
        *sweep->outbox_count = rows;
    if (code == PAWL_OK && sweep->history_before != 0)
        code = sweep_table(store, PAWL__SQL_HISTORY_SWEEP, sweep->history_before, sweep->count_max,
                           &lines, more, error);
    if (code == PAWL_OK)
        code = sweep_bodies(store, sweep, &bodies, more, error);
    *count = marks + rows + lines + bodies;
    if (code == PAWL_OK)
        code = pawl__sql_worker_sweep(store, sweep->workers_before, sweep->count_max, count, more,
                                      error);
    return code;
}

/* The place among the bodies stays where it was if their change was undone. */
static pawl_code sweep_once(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                            pawl_error *error)
{
    pawl_sweep_cursor *place  = sweep->bodies_cursor;
    pawl_sweep_cursor  before = {.size = 0};
    pawl_code          code   = pawl__sql_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    if (place != NULL)
        before = *place;
    code = pawl__sql_stamp_end(store, sweep_all(store, sweep, count, more, error), error);
    if (code != PAWL_OK && place != NULL)
        *place = before;
    return code;
}

pawl_code pawl__sql_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                          pawl_error *error)
{
    pawl_code code;
    PAWL__SQL_TRY(store, code, sweep_once(store, sweep, count, more, error));
    return code;
}

/* ---- Leases that are over ----------------------------------------------- */

static pawl_code reap_once(pawl_store *store, pawl_time now, int64_t *count, pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_TIMEOUT_REAP, &pawl__one_time, &now, NULL, 0};
    pawl_code             code  = pawl__sql_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    return pawl__sql_stamp_end(store, pawl__sql_execute(store, &asked, count, error), error);
}

pawl_code pawl__sql_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                 pawl_error *error)
{
    pawl_code code;
    PAWL__SQL_TRY(store, code, reap_once(store, now, count, error));
    return code;
}
