/* queue.c - claiming, settling and sending queue rows.
 *
 * A claim is an entry in this process's claim table and costs no statement;
 * the process's lease on the queue makes it safe: each commit that settles a
 * row of it reads the lease's row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/refusal.h"
#include "store/sql/rows.h"
#include "store/sqlite/operations.h"

/* Room for the next row, or NULL with request->code set. */
static pawl_queue_row *next_row(pawl__sqlite_request *request, pawl_queue_rows *rows,
                                size_t *capacity)
{
    pawl_queue_row *grown =
        pawl__sqlite_grow(request, rows->items, rows->count, capacity, sizeof *rows->items);
    if (grown == NULL)
        return NULL;
    rows->items = grown;
    return &grown[rows->count];
}

/* ---- Claiming ----------------------------------------------------------- */

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

/* Claims the row the request stands on; a row that another handle took since the
 * statement began is passed over. */
static void claim_row(claiming *c, pawl__sqlite_request *request)
{
    pawl_queue_row *row = next_row(request, c->rows, &c->capacity);
    if (row == NULL)
        return;
    *row = (pawl_queue_row){0};
    pawl__sqlite_get_fields(request, &pawl__queue_row_fields, row);
    if (request->code != PAWL_OK)
        return;
    pawl_code code = pawl__book_claim(c->store->book, row->seq, c->store, c->epoch);
    if (code == PAWL_OK) {
        c->rows->count++;
        c->size += PAWL_MESSAGE_SIZE(&row->message);
    } else if (code != PAWL_EGONE)
        request->code = pawl_error_set(c->error, code, "sqlite: out of memory for a claim");
}

static pawl_code claim_due(claiming *c)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &c->store->connection, PAWL__SQLITE_QUEUE_CLAIM, c->error);
    request.arena = c->arena;
    pawl__sqlite_put_text(&request, c->claim->queue);
    pawl__sqlite_put_int(&request, c->claim->due_max);
    pawl__sqlite_put_int(&request, (int64_t)c->claim->count_max);
    while (!PAWL_SIZE_IS_REACHED(c->size, c->claim->size_max) && pawl__sqlite_next(&request))
        claim_row(c, &request);
    pawl__sqlite_stop(&request);
    return request.code;
}

static pawl_code claim_again(claiming *c)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < c->claim->seq_count; i++) {
        if (c->rows->count == c->claim->count_max)
            break;
        pawl__sqlite_request request;
        pawl__sqlite_request_begin(&request, &c->store->connection, PAWL__SQL_QUEUE_ROW, c->error);
        request.arena = c->arena;
        pawl__sqlite_put_int(&request, c->claim->seqs[i]);
        pawl__sqlite_put_text(&request, c->claim->queue);
        pawl__sqlite_put_int(&request, c->claim->due_max);
        while (pawl__sqlite_next(&request))
            claim_row(c, &request);
        code = request.code;
    }
    pawl__sql_sort_rows(c->rows);
    return code;
}

/* The rows were read before they were claimed. If a claim ended in between,
 * its commit may have settled one of them, which then is gone, or back with a
 * later due time: now that they are ours they are read again. */
static pawl_code read_again(claiming *c)
{
    size_t    kept = 0;
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < c->rows->count && code == PAWL_OK; i++) {
        int64_t              seq      = c->rows->items[i].seq;
        bool                 is_there = false;
        pawl__sqlite_request request;
        pawl__sqlite_request_begin(&request, &c->store->connection, PAWL__SQL_QUEUE_ROW, c->error);
        request.arena = c->arena;
        pawl__sqlite_put_int(&request, seq);
        pawl__sqlite_put_text(&request, c->claim->queue);
        pawl__sqlite_put_int(&request, c->claim->due_max);
        while (pawl__sqlite_next(&request)) {
            c->rows->items[kept] = (pawl_queue_row){0};
            pawl__sqlite_get_fields(&request, &pawl__queue_row_fields, &c->rows->items[kept]);
            is_there = true;
        }
        code = request.code;
        if (code == PAWL_OK && !is_there)
            pawl__book_claim_end(c->store->book, seq, c->store);
        kept += is_there;
    }
    if (code == PAWL_OK)
        c->rows->count = kept;
    return code;
}

static pawl_code claim_rows(claiming *c)
{
    uint64_t  ended = pawl__book_claims_ended(c->store->book);
    pawl_code code  = pawl__sql_read_begin(&c->store->sql.base, c->error);
    if (code == PAWL_OK) {
        code = c->claim->seq_count != 0 ? claim_again(c) : claim_due(c);
        code = pawl__sql_read_end(&c->store->sql.base, code, c->error);
    }
    if (code != PAWL_OK || c->rows->count == 0 || ended == pawl__book_claims_ended(c->store->book))
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
        /* The caller learns of none, so it must have none; those it named it
         * may have had before. */
        for (size_t i = 0; claim->seq_count == 0 && i < rows->count; i++)
            pawl__book_claim_end(store->book, rows->items[i].seq, store);
        rows->count = 0;
    }
    return code;
}

/* ---- Settling ----------------------------------------------------------- */

/* The process's lease is read once for each queue and transaction. */
pawl_code pawl__sqlite_claim_check(pawl_store *base, const pawl_queue_settle *settle,
                                   pawl_error *why)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    int64_t       epoch =
        store->book != NULL ? pawl__book_claim_epoch(store->book, settle->seq, store) : 0;
    pawl_code code = PAWL_OK;
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

/* The outcome is not known: resolve() will end the claims, or not. Without memory for the
 * list they stay until this handle closes. */
static void remember_claims(pawl__sqlite *store, const pawl_changes *changes,
                            const bool *is_dropped)
{
    const pawl_queue_settle *settles = changes->queue_settle.items;
    size_t                   count   = changes->queue_settle.count;
    store->unsure_count              = 0;
    int64_t *rows                    = pawl_resize(store->unsure, (count + 1) * sizeof *rows);
    if (rows == NULL)
        return;
    store->unsure = rows;
    for (size_t i = 0; i < count; i++)
        if (!is_dropped[settles[i].group])
            rows[store->unsure_count++] = settles[i].seq;
}

void pawl__sqlite_claims_settled(pawl_store *base, const pawl_changes *changes,
                                 const bool *is_dropped, pawl_code code)
{
    pawl__sqlite            *store   = pawl__sqlite_of(base);
    const pawl_queue_settle *settles = changes->queue_settle.items;
    store->checked_queue             = (pawl_text){0};
    if (code == PAWL_EUNKNOWN)
        remember_claims(store, changes, is_dropped);
    if (code != PAWL_OK || store->book == NULL)
        return;
    for (size_t i = 0; i < changes->queue_settle.count; i++)
        if (!is_dropped[settles[i].group])
            pawl__book_claim_end(store->book, settles[i].seq, store);
}

void pawl__sqlite_resolved(pawl_store *base, bool is_applied)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    for (size_t i = 0; is_applied && i < store->unsure_count; i++)
        pawl__book_claim_end(store->book, store->unsure[i], store);
    pawl_free(store->unsure);
    store->unsure       = NULL;
    store->unsure_count = 0;
}
