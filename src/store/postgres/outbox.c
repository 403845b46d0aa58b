/* outbox.c - claims outbox rows, settles them, and holds rows back behind a failed one.
 *
 * No index has the source (ordering key) of a pending row. So the hold reads all pending rows
 * behind the failed one. One statement does this for all holds of a change set: if a
 * destination is down, there are as many holds as rows in a batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/rows.h"
#include "store/postgres/operations.h"
#include "store/postgres/set.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"

#define COLUMNS_WITHOUT_FINDING 6 /* DispatchId to At */

/* ---- Claiming ----------------------------------------------------------- */

/* Reads the row without an id: its columns are the results of the scan. */
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

/* ---- Settling ----------------------------------------------------------- */

static const pawl__field id_field       = PAWL__AS(outbox_settle, id, INT);
static const pawl__field duration_field = PAWL__AS(outbox_settle, duration, INT);

/* Do the settles differ in id and duration only? Those of rows that were delivered at the first attempt do. */
static bool have_equal_results(const void **items, size_t count)
{
    const pawl_outbox_settle *first    = items[0];
    bool                      is_equal = true;
    for (size_t i = 0; i < count && is_equal; i++) {
        const pawl_outbox_settle *other = items[i];
        is_equal = other->state == first->state && other->outcome == first->outcome &&
                   other->attempts == first->attempts && other->at == first->at &&
                   other->next_attempt == first->next_attempt && other->error.size == 0;
    }
    return is_equal;
}

/* Equal values go over the wire once, not once for each row. The history has a statement of its own, which need not
 * know which rows were settled: all are, or the commit fails. */
static pawl_code send_alike(pawl__sql_writer *writer, const void **items, size_t count)
{
    const pawl_outbox_settle *first = items[0];
    pawl__pg_write           *write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_SETTLE_ALIKE,
                                                         pawl_change_outbox_settle, items, count, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, &id_field, 1);
    pawl__pg_put_text(&write->request, pawl__state_words[first->state]);
    pawl__pg_put_int(&write->request, first->attempts);
    pawl__pg_put_time(&write->request, first->next_attempt);
    pawl__pg_put_time(&write->request, first->at);
    pawl__pg_put_int(&write->request, (int64_t)count);
    pawl_code code = pawl__pg_write_send(write);
    if (code != PAWL_OK)
        return code;
    write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_ATTEMPT_ALIKE, pawl_change_outbox_settle,
                               items, count, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, &id_field, 1);
    pawl__pg_write_fields(write, &duration_field, 1);
    pawl__pg_put_int(&write->request, first->attempts);
    pawl__pg_put_text(&write->request, pawl__outcome_words[first->outcome]);
    pawl__pg_put_time(&write->request, first->at);
    return pawl__pg_write_send(write);
}

pawl_code pawl__pg_send_outbox_settle(pawl__sql_writer *writer)
{
    size_t       count;
    const void **items = pawl__pg_select(writer, pawl_change_outbox_settle, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    return writer->is_ahead && count != 0 && have_equal_results(items, count)
               ? send_alike(writer, items, count)
               : pawl__pg_send_items(writer, pawl_change_outbox_settle, items, count);
}

/* ---- Holding back ------------------------------------------------------- */

static pawl_code send_releases(pawl__sql_writer *writer, const pawl__sql_blocks *all)
{
    if (all->release_count == 0)
        return PAWL_OK;
    pawl__pg_write *write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_UNBLOCK,
                                               pawl_change_outbox_block, NULL, 0, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    PAWL__PG_PUT_COLUMN(&write->request, PAWL__WIRE_TEXT, all->releases, source,
                        all->release_count);
    if (!writer->is_enlisted)
        pawl__pg_outbox_front_restart(&pawl__pg_of(writer->store)->outbox);
    return pawl__pg_write_send(write);
}

static pawl_code send_blocks(pawl__sql_writer *writer, const pawl__sql_blocks *all)
{
    static const pawl__field fields[] = {PAWL__AS(outbox_block, source, TEXT),
                                         PAWL__AS(outbox_block, after, INT)};
    int64_t                  after    = INT64_MAX;
    const void             **items =
        pawl_arena_take(pawl__pg_scratch(writer), (all->block_count + 1) * sizeof *items);
    if (all->block_count == 0)
        return PAWL_OK;
    if (items == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < all->block_count; i++) {
        items[i] = all->blocks[i];
        after    = all->blocks[i]->after < after ? all->blocks[i]->after : after;
    }
    pawl__pg_write *write = pawl__pg_write_add(
        writer, PAWL__PG_OUTBOX_BLOCK, pawl_change_outbox_block, items, all->block_count, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_put_int(&write->request, after);
    pawl__pg_write_fields(write, fields, 2);
    return pawl__pg_write_send(write);
}

static pawl_code send_held_rows(pawl__sql_writer *writer, const pawl__sql_blocks *all)
{
    if (all->row_count == 0)
        return PAWL_OK;
    pawl__pg_write *write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_BLOCK_ROWS,
                                               pawl_change_outbox_block, NULL, 0, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    PAWL__PG_PUT_COLUMN(&write->request, PAWL__WIRE_INT, all->rows, id, all->row_count);
    PAWL__PG_PUT_COLUMN(&write->request, PAWL__WIRE_TEXT, all->rows, source, all->row_count);
    return pawl__pg_write_send(write);
}

pawl_code pawl__pg_send_outbox_block(pawl__sql_writer *writer)
{
    pawl__sql_blocks all;
    pawl_code code = pawl__sql_sum_blocks(writer, pawl__pg_scratch(writer), &all, writer->error);
    if (code == PAWL_OK)
        code = send_releases(writer, &all);
    if (code == PAWL_OK)
        code = send_held_rows(writer, &all);
    return code == PAWL_OK ? send_blocks(writer, &all) : code;
}
