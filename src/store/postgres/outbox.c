/* outbox.c - claiming outbox rows. outbox_write.c has the changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"

#define COLUMNS_WITHOUT_FINDING 6 /* DispatchId to At */

/* ---- Claiming ----------------------------------------------------------- */

/* The row without an id has the findings of the scan in the columns behind it. */
static void read_scan(pawl__pg_request *request, pawl__pg_outbox_scan *scan)
{
    pawl__pg_skip(request);
    bool      is_waiting = !pawl__pg_is_null(request);
    pawl_time later      = pawl__pg_get_time(request);
    int64_t   waiting    = pawl__pg_get_int(request);
    scan->sight.oldest   = pawl__pg_get_int(request);
    scan->sight.next     = pawl__pg_get_int(request);
    for (int i = 0; i < COLUMNS_WITHOUT_FINDING; i++)
        pawl__pg_skip(request);
    scan->sight.last = pawl__pg_get_int(request);
    scan->later      = is_waiting ? later : PAWL_TIME_MAX;
    scan->waiting    = is_waiting ? waiting : INT64_MAX;
}

static void read_due(pawl__pg_request *request, pawl_outbox_rows *rows, pawl__pg_outbox_scan *scan)
{
    rows->items = pawl__pg_take_rows(request, sizeof *rows->items);
    while (pawl__pg_next(request)) {
        if (pawl__pg_is_null(request)) {
            read_scan(request, scan);
            continue;
        }
        pawl_outbox_row *row = &rows->items[rows->count++];
        pawl__pg_get_fields(request, &pawl__outbox_claimed_fields, row);
        row->state = PAWL_OUTBOX_PENDING;
    }
    scan->sight.limit = rows->count != 0 ? rows->items[0].id : INT64_MAX;
}

static pawl_code claim_from(pawl__pg *store, pawl_text endpoint, pawl_time now, size_t count_max,
                            pawl_arena *arena, pawl_outbox_rows *rows, pawl__pg_outbox_scan *scan,
                            pawl_error *error)
{
    pawl__pg_request request;
    pawl__pg_begin(&request, &store->main, PAWL__PG_OUTBOX_DUE, error);
    request.arena = arena;
    pawl__pg_put_time(&request, now);
    pawl__pg_put_text(&request, endpoint);
    pawl__pg_put_int(&request, scan->start);
    pawl__pg_put_int(&request, (int64_t)count_max);
    /* Inside an open transaction the transaction id predates this scan, so do not ask for one. */
    pawl__pg_put_int(&request, store->main.in_transaction ? INT64_MAX : scan->far);
    pawl_code code = pawl__pg_run(&request);
    if (code != PAWL_OK)
        return code;
    read_due(&request, rows, scan);
    return request.code;
}

/* LIMIT is one more than asked for: the last row tells when to claim next. */
pawl_code pawl__pg_outbox_claim(pawl_store *base, pawl_text endpoint, pawl_time now,
                                size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                pawl_error *error)
{
    pawl__pg            *store = pawl__pg_of(base);
    pawl__pg_outbox_scan scan  = {0};
    store->is_woken            = false;
    pawl__pg_note_now(store, now);
    pawl__pg_rollback_unclaimed(store);
    pawl_code code = store->outbox.is_claimed ? PAWL_OK : pawl__pg_stop_sleeping(store, error);
    pawl__pg_outbox_front_begin(&store->outbox, endpoint, now, &scan);
    if (code == PAWL_OK)
        code = claim_from(store, endpoint, now, count_max + 1, arena, rows, &scan, error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_outbox_front_end(&store->outbox, &scan);
    rows->next_attempt =
        rows->count > count_max ? rows->items[--rows->count].next_attempt : store->outbox.later;
    return pawl__sql_order_sources(rows, arena, error);
}
