/* sweep.c - deletes old rows (retention), and releases expired leases of timeouts.
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

/* Sets `*more` if the limit was reached. */
static pawl_code sweep_table(pawl_store *store, int statement, pawl_time before, size_t count_max,
                             int64_t *deleted, bool *more, pawl_error *error)
{
    const old_rows        old   = {before, (int64_t)count_max};
    const pawl__sql_asked asked = {statement, &by_age, &old, NULL, 0};
    pawl_code             code  = pawl__sql_execute(store, &asked, deleted, error);
    *more |= *deleted == old.limit;
    return code;
}

/* The statements for a table without an index on time: `look` reads a page, `sweep` deletes the old rows in it. */
typedef struct paged {
    pawl_store             *store;
    int                     look, sweep;
    const pawl__field_list *swept; /* parameters of `sweep` */
} paged;

#define PAGE(member, as) PAWL__AS_OF(pawl__old_page, member, as)
static const pawl__field_list page_range = PAWL__FIELDS(PAGE(after, INT), PAGE(looks, INT));
static const pawl__field_list page_found = PAWL__FIELDS(PAGE(count, INT), PAGE(last, INT));
static const pawl__field_list page_lines =
    PAWL__FIELDS(PAGE(before, TIME), PAGE(limit, INT), PAGE(after, INT));
static const pawl__field_list page_marks =
    PAWL__FIELDS(PAGE(before, TIME), PAGE(limit, INT), PAGE(after, INT), PAGE(looks, INT));

static pawl_code sweep_page(void *context, pawl__old_page *page, pawl_error *error)
{
    const paged          *it    = context;
    const pawl__sql_asked look  = {it->look, &page_range, page, &page_found, sizeof *page};
    const pawl__sql_asked sweep = {it->sweep, it->swept, page, NULL, 0};
    page->deleted               = 0;
    pawl_code code              = pawl__sql_read_first(it->store, &look, NULL, page, error);
    if (code == PAWL_OK && page->count > 0)
        code = pawl__sql_execute(it->store, &sweep, &page->deleted, error);
    return code;
}

static pawl_code sweep_pages(int64_t *place, paged it, pawl_time before, size_t count_max,
                             int64_t looks, int64_t *deleted, bool *more, pawl_error *error)
{
    pawl__old_page page = {
        .before = before, .limit = (int64_t)count_max, .looks = (int64_t)count_max + looks};
    return pawl__old_sweep(place, &page, sweep_page, &it, deleted, more, error);
}

/* Deduplication records lie in the order of their times, except that clocks differ a little. So a sweep looks for old
 * ones among this number of newer ones. */
#define INBOX_LOOKS 9999

static pawl_code sweep_inbox(pawl_store *store, const pawl_sweep *sweep, int64_t *deleted,
                             bool *more, pawl_error *error)
{
    pawl__sql_store *self = (pawl__sql_store *)store;
    paged            it   = {store, self->ops->inbox_page, PAWL__SQL_INBOX_SWEEP, &page_marks};
    if (it.look == 0)
        return sweep_table(store, it.sweep, sweep->inbox_before, sweep->count_max, deleted, more,
                           error);
    return sweep_pages(&self->inbox_place, it, sweep->inbox_before, sweep->count_max, INBOX_LOOKS,
                       deleted, more, error);
}

static pawl_code sweep_history(pawl_store *store, const pawl_sweep *sweep, int64_t *deleted,
                               bool *more, pawl_error *error)
{
    pawl__sql_store *self = (pawl__sql_store *)store;
    paged            it   = {store, PAWL__SQL_HISTORY_PAGE, PAWL__SQL_HISTORY_SWEEP, &page_lines};
    return sweep_pages(&self->history_place, it, sweep->history_before, sweep->count_max, 0,
                       deleted, more, error);
}

/* After a full page without an old body, the next page is left to the next sweep. */
pawl_code pawl__sql_sweep_bodies(pawl_store *store, const pawl_sweep *sweep, int64_t *cleared,
                                 bool *more, pawl_error *error)
{
    const pawl__sql_ops  *ops = pawl__sql_ops_of(store);
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
    if (code == PAWL_OK && page.count > 0 && ops->bodies_begin != NULL)
        code = ops->bodies_begin(store, error);
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
    pawl_code code   = sweep_inbox(store, sweep, &marks, more, error);
    if (code == PAWL_OK)
        code = sweep_table(store, PAWL__SQL_OUTBOX_SWEEP, sweep->outbox_before, sweep->count_max,
                           &rows, more, error);
    if (code == PAWL_OK && sweep->outbox_count != NULL)
        *sweep->outbox_count = rows;
    if (code == PAWL_OK && sweep->history_before != 0)
        code = sweep_history(store, sweep, &lines, more, error);
    if (code == PAWL_OK)
        code = pawl__sql_sweep_bodies(store, sweep, &bodies, more, error);
    *count = marks + rows + lines + bodies;
    if (code == PAWL_OK)
        code = pawl__sql_worker_sweep(store, sweep->workers_before, sweep->count_max, count, more,
                                      error);
    return code;
}

/* If the transaction fails, sets the cursor of the bodies back. */
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

/* ---- Expired leases ------------------------------------------------------- */

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
