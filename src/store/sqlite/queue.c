/* queue.c - claiming, settling and sending queue rows.
 *
 * A claim is an entry in a table in this process's memory and costs no statement. The process's lease on the queue
 * makes that safe: each commit that settles rows of the queue checks the lease row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/refusal.h"
#include "store/sql/rows.h"
#include "store/sql/session_rows.h"
#include "store/sqlite/sqlite.h"

/* ---- Claiming ----------------------------------------------------------- */

typedef struct claim_by {
    int64_t   seq;
    pawl_text queue;
    pawl_time due_max;
    int64_t   limit;
} claim_by;

#define BY(member, as) PAWL__AS_OF(claim_by, member, as)

static const pawl__field      by_fields[] = {BY(seq, INT), BY(queue, TEXT), BY(due_max, TIME),
                                             BY(limit, INT)};
static const pawl__field_list by_number   = {by_fields, 3};
static const pawl__field_list by_due      = {by_fields + 1, 3};

typedef struct claiming {
    pawl__sqlite           *store;
    const pawl_queue_claim *claim;
    int64_t                 epoch;
    pawl_arena             *arena;
    pawl_queue_rows        *rows;
    size_t                  capacity;
    size_t                  size;
    pawl_error             *error;
} claiming;

/* Claims the current row of the request; skips a row that another handle has claimed since the statement began. */
static pawl_code claim_row(claiming *c, pawl__sql_request *request)
{
    pawl_store     *base = &c->store->sql.base;
    pawl_queue_row *row =
        pawl_arena_grow(c->arena, c->rows->items, c->rows->count, &c->capacity, sizeof *row);
    if (row == NULL)
        return pawl__sql_no_memory(base, "a row", c->error);
    c->rows->items = row;
    row += c->rows->count;
    *row = (pawl_queue_row){0};
    pawl__sqlite_get(request, &pawl__queue_row_fields, row);
    if (request->code != PAWL_OK)
        return request->code;
    pawl_code code = pawl__claim_table_claim(c->store->claim_table, row->seq, c->store, c->epoch);
    if (code == PAWL_OK) {
        c->rows->count++;
        c->size += PAWL_MESSAGE_SIZE(&row->message);
    } else if (code != PAWL_EGONE)
        return pawl__sql_no_memory(base, "a claim", c->error);
    return PAWL_OK;
}

static pawl_code claim_found(claiming *c, const pawl__sql_asked *asked, size_t size_max)
{
    pawl_store        *base    = &c->store->sql.base;
    pawl__sql_request *request = NULL;
    pawl_code          code    = pawl__sql_run(base, asked, c->arena, &request, c->error);
    while (code == PAWL_OK && !PAWL_SIZE_IS_REACHED(c->size, size_max) &&
           pawl__sql_request_next(request))
        code = claim_row(c, request);
    pawl_code ended = pawl__sql_request_end(request);
    return code != PAWL_OK ? code : ended;
}

static pawl_code claim_due(claiming *c)
{
    const claim_by        by    = {.queue   = c->claim->queue,
                                   .due_max = c->claim->due_max,
                                   .limit   = (int64_t)c->claim->count_max};
    const pawl__sql_asked asked = {PAWL__SQLITE_QUEUE_CLAIM, &by_due, &by, NULL, 0};
    return claim_found(c, &asked, c->claim->size_max);
}

static pawl_code claim_again(claiming *c)
{
    claim_by              by    = {.queue = c->claim->queue, .due_max = c->claim->due_max};
    const pawl__sql_asked asked = {PAWL__SQL_QUEUE_ROW, &by_number, &by, NULL, 0};
    pawl_code             code  = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < c->claim->seq_count; i++) {
        if (c->rows->count == c->claim->count_max)
            break;
        by.seq = c->claim->seqs[i];
        code   = claim_found(c, &asked, 0);
    }
    pawl__sql_sort_rows(c->rows);
    return code;
}

/* Rows were read before they were claimed. If another claim ended in between, its commit may have removed or delayed
 * one of them, so they are read again now that this handle has them. */
static pawl_code read_again(claiming *c)
{
    claim_by              by    = {.queue = c->claim->queue, .due_max = c->claim->due_max};
    const pawl__sql_asked asked = {PAWL__SQL_QUEUE_ROW, &by_number, &by, &pawl__queue_row_fields,
                                   0};
    size_t                kept  = 0;
    pawl_code             code  = PAWL_OK;
    for (size_t i = 0; i < c->rows->count && code == PAWL_OK; i++) {
        pawl_queue_row row = {0};
        by.seq             = c->rows->items[i].seq;
        code = pawl__sql_read_first(&c->store->sql.base, &asked, c->arena, &row, c->error);
        if (code == PAWL_OK && row.seq == 0)
            pawl__claim_table_end(c->store->claim_table, by.seq, c->store);
        else if (code == PAWL_OK)
            c->rows->items[kept++] = row;
    }
    if (code == PAWL_OK)
        c->rows->count = kept;
    return code;
}

static pawl_code claim_rows(claiming *c)
{
    uint64_t  ended = pawl__claim_table_ended_count(c->store->claim_table);
    pawl_code code  = pawl__sql_read_begin(&c->store->sql.base, c->error);
    if (code == PAWL_OK) {
        code = c->claim->seq_count != 0 ? claim_again(c) : claim_due(c);
        code = pawl__sql_read_end(&c->store->sql.base, code, c->error);
    }
    if (code != PAWL_OK || c->rows->count == 0 ||
        ended == pawl__claim_table_ended_count(c->store->claim_table))
        return code;
    code = pawl__sql_read_begin(&c->store->sql.base, c->error);
    if (code == PAWL_OK)
        code = pawl__sql_read_end(&c->store->sql.base, read_again(c), c->error);
    return code;
}

pawl_code pawl__sqlite_queue_claim(pawl_store *base, const pawl_queue_claim *claim,
                                   pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    int64_t       epoch = 0;
    pawl_code     code =
        pawl__sqlite_queue_lease(store, claim->queue, arena, &epoch, &rows->taken_by, error);
    if (code != PAWL_OK)
        return code;
    rows->is_taken = epoch == 0;
    if (rows->is_taken)
        return PAWL_OK;

    claiming c = {store, claim, epoch, arena, rows, 0, 0, error};
    code       = claim_rows(&c);
    if (code != PAWL_OK) {
        /* The caller gets no rows, so claims made here end. Rows that the caller named may have been its own before, so
         * they are kept. */
        for (size_t i = 0; claim->seq_count == 0 && i < rows->count; i++)
            pawl__claim_table_end(store->claim_table, rows->items[i].seq, store);
        rows->count = 0;
    }
    return code;
}

/* ---- Settling ----------------------------------------------------------- */

/* Reads the process's lease once for each queue and transaction. */
pawl_code pawl__sqlite_claim_check(pawl_store *base, const pawl_queue_settle *settle,
                                   pawl_error *why)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    int64_t       epoch = store->claim_table != NULL
                              ? pawl__claim_table_epoch(store->claim_table, settle->seq, store)
                              : 0;
    pawl_code     code  = PAWL_OK;
    if (epoch == 0)
        return pawl__why_not_claimed(settle, why);
    if (!pawl_text_equal(store->checked_queue, settle->queue))
        code = pawl__sqlite_lease_epoch(store, settle->queue, &store->checked_epoch, why);
    if (code != PAWL_OK)
        return code;
    store->checked_queue = settle->queue;
    return epoch == store->checked_epoch
               ? PAWL_OK
               : pawl__why_gone_row(settle, "another process took the queue over", why);
}

/* Used when the outcome is unknown: resolve() then ends the claims if the commit was applied. Without memory for the
 * list they remain until this handle closes. */
static void remember_claims(pawl__sqlite *store, const pawl_changes *changes,
                            const bool *is_dropped)
{
    const pawl_queue_settle *settles = changes->queue_settle.items;
    size_t                   count   = changes->queue_settle.count;
    store->unresolved_count          = 0;
    int64_t *rows = pawl_resize(store->unresolved_seqs, (count + 1) * sizeof *rows);
    if (rows == NULL)
        return;
    store->unresolved_seqs = rows;
    for (size_t i = 0; i < count; i++)
        if (!is_dropped[settles[i].group])
            rows[store->unresolved_count++] = settles[i].seq;
}

void pawl__sqlite_claims_settled(pawl_store *base, const pawl_changes *changes,
                                 const bool *is_dropped, pawl_code code)
{
    pawl__sqlite            *store   = pawl__sqlite_of(base);
    const pawl_queue_settle *settles = changes->queue_settle.items;
    store->checked_queue             = (pawl_text){0};
    if (code == PAWL_EUNKNOWN)
        remember_claims(store, changes, is_dropped);
    if (code != PAWL_OK || store->claim_table == NULL)
        return;
    for (size_t i = 0; i < changes->queue_settle.count; i++)
        if (!is_dropped[settles[i].group])
            pawl__claim_table_end(store->claim_table, settles[i].seq, store);
}

void pawl__sqlite_resolved(pawl_store *base, bool is_applied)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    for (size_t i = 0; is_applied && i < store->unresolved_count; i++)
        pawl__claim_table_end(store->claim_table, store->unresolved_seqs[i], store);
    pawl_free(store->unresolved_seqs);
    store->unresolved_seqs  = NULL;
    store->unresolved_count = 0;
}
