/* queue.c - claims of queue rows.
 *
 * A row lock is the claim: the transaction that queue_claim opens stays open until the commit, and
 * rows that other transactions have locked are skipped. The list has the numbers of the rows; a
 * rollback loses the locks, which are taken again before anything else: rows that another
 * worker has taken then leave the list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"
#include "store/sql/operations.h"
#include "store/sql/refusal.h"
#include "store/sql/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 21 /* of a number as text, and a comma */

/* ---- The list ----------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
    int64_t l = ((const pawl__mysql_claim *)left)->seq;
    int64_t r = ((const pawl__mysql_claim *)right)->seq;
    return (l > r) - (l < r);
}

static pawl__mysql_claim *find(const pawl__mysql *store, int64_t seq)
{
    const pawl__mysql_claim key = {.seq = seq};
    if (store->claim_count == 0)
        return NULL;
    return bsearch(&key, store->claims, store->claim_count, sizeof key, by_number);
}

static pawl_code no_memory(const pawl__mysql *store, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory for a claim",
                          store->sql.base.scheme);
}

/* Rows that are claimed again stand in the list once. */
static pawl_code add(pawl__mysql *store, const pawl_queue_rows *rows, pawl_error *error)
{
    size_t before = store->claim_count;
    if (before + rows->count > store->claim_capacity) {
        size_t             capacity = (before + rows->count) * 2;
        pawl__mysql_claim *grown    = pawl_resize(store->claims, capacity * sizeof *grown);
        if (grown == NULL)
            return no_memory(store, error);
        store->claims         = grown;
        store->claim_capacity = capacity;
    }
    size_t end = before;
    for (size_t i = 0; i < rows->count; i++) {
        const pawl_queue_row *row   = &rows->items[i];
        pawl__mysql_claim    *known = find(store, row->seq);
        *(known != NULL ? known : &store->claims[end++]) =
            (pawl__mysql_claim){.seq = row->seq, .due = row->due};
    }
    store->claim_count = end;
    if (end > 1)
        qsort(store->claims, end, sizeof *store->claims, by_number);
    return PAWL_OK;
}

static void remove_ended(pawl__mysql *store)
{
    size_t kept = 0;
    for (size_t i = 0; i < store->claim_count; i++)
        if (!store->claims[i].is_ended)
            store->claims[kept++] = store->claims[i];
    store->claim_count = kept;
}

/* The numbers with commas between them, for find_in_set. */
static char *numbers_of(const pawl__mysql *store, pawl_arena *arena, size_t *size)
{
    char *text = pawl_arena_take(arena, store->claim_count * NUMBER_SIZE + 1);
    *size      = 0;
    for (size_t i = 0; text != NULL && i < store->claim_count; i++)
        *size += (size_t)snprintf(text + *size, NUMBER_SIZE + 1, "%s%lld", i != 0 ? "," : "",
                                  (long long)store->claims[i].seq);
    return text;
}

/* ---- Claiming ----------------------------------------------------------- */

typedef struct claim_by {
    pawl_text queue;
    pawl_time due_max;
    int64_t   limit;
    pawl_text claimed; /* this transaction's own locks do not skip its rows */
    int64_t   seq;
    pawl_uuid worker; /* whose stamps are no hindrance */
} claim_by;

#define BY(member, as)                              \
    {                                               \
        offsetof(claim_by, member), PAWL__WIRE_##as \
    }

static const pawl__sql_field  due_fields[]    = {BY(queue, TEXT), BY(due_max, TIME), BY(limit, INT),
                                                 BY(claimed, TEXT), BY(worker, UUID)};
static const pawl__sql_field  again_fields[]  = {BY(seq, INT), BY(queue, TEXT), BY(due_max, TIME)};
static const pawl__sql_fields by_due          = {due_fields, 3};
static const pawl__sql_fields by_due_more     = {due_fields, 4};
static const pawl__sql_fields by_due_free     = PAWL__SQL_LIST(due_fields);
static const pawl__sql_field  number_field[]  = {{0, PAWL__WIRE_INT}};
static const pawl__sql_fields one_number      = PAWL__SQL_LIST(number_field);
static const pawl__sql_fields by_number_again = PAWL__SQL_LIST(again_fields);

/* Of the rows behind size_max, which stay locked, unclaimed, until the transaction ends, only the
 * number is kept. */
static pawl_code read_rows(pawl__mysql *store, const pawl__sql_asked *asked, size_t size_max,
                           pawl_arena *arena, pawl_queue_rows *rows, size_t *found,
                           pawl_error *error)
{
    pawl__sql_request *request  = NULL;
    size_t             capacity = 0, size = 0;
    pawl_code          code = pawl__sql_run(&store->sql.base, asked, arena, &request, error);
    for (*found = 0; code == PAWL_OK && pawl__mysql_next(request); ++*found) {
        if (PAWL_SIZE_IS_REACHED(size, size_max))
            continue;
        pawl_queue_row *row =
            pawl_arena_grow(arena, rows->items, rows->count, &capacity, sizeof *row);
        if (row == NULL) {
            code = no_memory(store, error);
            break;
        }
        rows->items = row;
        row += rows->count++;
        *row = (pawl_queue_row){0};
        pawl__mysql_get(request, asked->columns, row);
        size += PAWL_MESSAGE_SIZE(&row->message);
    }
    pawl_code ended = pawl__mysql_end(request);
    return code != PAWL_OK ? code : ended;
}

static pawl_code claim_some(pawl__mysql *store, const pawl_queue_claim *claim, int64_t limit,
                            pawl_arena *arena, pawl_queue_rows *rows, size_t *found,
                            pawl_error *error)
{
    bool            is_more = store->claim_count != 0 || store->is_cluster;
    claim_by        by      = {.queue   = claim->queue,
                               .due_max = claim->due_max,
                               .limit   = limit,
                               .worker  = store->sql.base.worker.uuid};
    pawl__sql_asked asked   = {is_more ? PAWL__MYSQL_QUEUE_CLAIM_MORE : PAWL__MYSQL_QUEUE_CLAIM,
                             is_more ? &by_due_more : &by_due, &by, &pawl__sql_queue_row,
                             sizeof *rows->items};
    if (store->is_cluster) {
        asked.statement  = PAWL__MYSQL_QUEUE_CLAIM_FREE;
        asked.parameters = &by_due_free;
    }
    if (is_more)
        by.claimed.data = numbers_of(store, arena, &by.claimed.size);
    if (is_more && by.claimed.data == NULL)
        return no_memory(store, error);
    pawl_code code = pawl__mysql_begin(&store->sql.base, error);
    *rows          = (pawl_queue_rows){0};
    *found         = 0;
    if (code == PAWL_OK)
        code = read_rows(store, &asked, claim->size_max, arena, rows, found, error);
    return code;
}

/* How many rows are due, without a lock and without their messages. */
static pawl_code count_due(pawl__mysql *store, const pawl_queue_claim *claim, int64_t *count,
                           pawl_error *error)
{
    const claim_by        by = {.queue = claim->queue, .due_max = claim->due_max, .limit = *count};
    const pawl__sql_asked asked = {PAWL__MYSQL_QUEUE_COUNT_DUE, &by_due, &by, &one_number, 0};
    return pawl__sql_read_first(&store->sql.base, &asked, NULL, count, error);
}

/* A claim that comes to the end of the due rows locks the next row behind them, too, on MariaDB, which
 * then is due and kept from others: such a claim is undone, and asks for as many as there were. Where
 * the last claim found fewer rows than it asked for they are counted first, so that it does
 * not come to that: mostly there are none, and a count costs less than a transaction. */
static pawl_code claim_due(pawl__mysql *store, const pawl_queue_claim *claim, pawl_arena *arena,
                           pawl_queue_rows *rows, pawl_error *error)
{
    bool      is_alone = !store->main.in_transaction && !store->sql.in_hold;
    int64_t   limit    = pawl__sql_limit(claim->count_max);
    int64_t   count    = limit;
    pawl_code code     = PAWL_OK;
    if (is_alone && !store->is_busy)
        code = count_due(store, claim, &count, error);
    size_t found = 0;
    for (bool is_done = count == 0; code == PAWL_OK && !is_done;) {
        code    = claim_some(store, claim, count, arena, rows, &found, error);
        is_done = !is_alone || found == 0 || (int64_t)found == count;
        if (code == PAWL_OK && !is_done)
            pawl__mysql_rollback(&store->main);
        count = (int64_t)found;
    }
    store->is_busy = (int64_t)found == limit;
    return code;
}

static int by_place(const void *left, const void *right)
{
    const pawl_queue_row *l     = left;
    const pawl_queue_row *r     = right;
    int                   order = (l->due > r->due) - (l->due < r->due);
    return order != 0 ? order : (l->seq > r->seq) - (l->seq < r->seq);
}

/* The rows with these numbers. */
static pawl_code claim_again(pawl__mysql *store, const pawl_queue_claim *claim, pawl_arena *arena,
                             pawl_queue_rows *rows, pawl_error *error)
{
    pawl_code       code  = PAWL_OK;
    claim_by        by    = {.queue = claim->queue, .due_max = claim->due_max};
    pawl__sql_asked asked = {PAWL__MYSQL_QUEUE_CLAIM_AGAIN, &by_number_again, &by,
                             &pawl__sql_queue_row, sizeof *rows->items};
    rows->items           = pawl_arena_take(arena, claim->seq_count * sizeof *rows->items);
    if (rows->items == NULL)
        return no_memory(store, error);
    code = pawl__mysql_begin(&store->sql.base, error);
    for (size_t i = 0; code == PAWL_OK && i < claim->seq_count; i++) {
        pawl_queue_row row = {0};
        by.seq             = claim->seqs[i];
        if (claim->count_max != 0 && rows->count == claim->count_max)
            break;
        code = pawl__sql_read_first(&store->sql.base, &asked, arena, &row, error);
        if (row.seq != 0)
            rows->items[rows->count++] = row;
    }
    if (rows->count > 1)
        qsort(rows->items, rows->count, sizeof *rows->items, by_place);
    return code;
}

static pawl_code claim_rows(pawl__mysql *store, const pawl_queue_claim *claim, pawl_arena *arena,
                            pawl_queue_rows *rows, pawl_error *error)
{
    return claim->seq_count != 0 ? claim_again(store, claim, arena, rows, error)
                                 : claim_due(store, claim, arena, rows, error);
}

/* On a cluster the row locks only keep handles on one node apart while they stamp. */
static pawl_code claim_stamped(pawl__mysql *store, const pawl_queue_claim *claim, pawl_arena *arena,
                               pawl_queue_rows *rows, pawl_error *error)
{
    pawl_store *base = &store->sql.base;
    *rows            = (pawl_queue_rows){0};
    pawl_code code   = pawl__mysql_stamp_begin(base, error);
    if (code != PAWL_OK)
        return code;
    code = claim_rows(store, claim, arena, rows, error);
    if (code == PAWL_OK)
        code = pawl__sql_queue_stamp(base, rows, error);
    return pawl__mysql_stamp_end(base, code, error);
}

static pawl_code claim_queue(pawl_store *base, const pawl_queue_claim *claim, pawl_arena *arena,
                             pawl_queue_rows *rows, pawl_error *error)
{
    pawl__mysql *store = pawl__mysql_of(base);
    pawl_code    code  = store->is_cluster ? claim_stamped(store, claim, arena, rows, error)
                                           : claim_rows(store, claim, arena, rows, error);
    if (code == PAWL_OK)
        code = add(store, rows, error);
    if (code != PAWL_OK)
        rows->count = 0;
    /* A rollback here may lose the row locks of an earlier claim: they are taken again later. */
    if (!store->sql.in_hold && (code != PAWL_OK || store->claim_count == 0))
        pawl__mysql_rollback(&store->main);
    return code;
}

pawl_code pawl__mysql_queue_claim(pawl_store *base, const pawl_queue_claim *claim,
                                  pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    pawl__sql_tries tries = pawl__sql_tries_begin(base);
    pawl_code       code;
    do
        code = claim_queue(base, claim, arena, rows, error);
    while (pawl__sql_again(&tries, code));
    return code;
}

/* Rows in hand are passed over, those of this handle's transaction, too: its own locks would not
 * hide them from it. */
pawl_code pawl__mysql_next_due(pawl_store *base, pawl_text queue, const pawl_text *aggregators,
                               size_t aggregator_count, pawl_next_due *next, pawl_error *error)
{
    pawl__mysql *store = pawl__mysql_of(base);
    pawl_code    code  = PAWL_OK;
    if (store->main.in_transaction)
        code = pawl__mysql_use_side(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_next_due(base, queue, aggregators, aggregator_count, next, error);
    store->sql.connection = &store->main;
    return code;
}

/* ---- Keeping and ending -------------------------------------------------- */

static const pawl__sql_field  claim_fields[] = {{offsetof(pawl__mysql_claim, seq), PAWL__WIRE_INT},
                                                {offsetof(pawl__mysql_claim, due), PAWL__WIRE_TIME}};
static const pawl__sql_fields by_claim       = PAWL__SQL_LIST(claim_fields);

pawl_code pawl__mysql_claims_lock(pawl__mysql *store, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < store->claim_count; i++) {
        int64_t               found = 0;
        const pawl__sql_asked asked = {PAWL__MYSQL_QUEUE_LOCK, &by_claim, &store->claims[i],
                                       &one_number, 0};
        code = pawl__sql_read_first(&store->sql.base, &asked, NULL, &found, error);
        if (code == PAWL_OK)
            store->claims[i].is_ended = found == 0;
    }
    remove_ended(store);
    return code;
}

pawl_code pawl__mysql_claim_check(pawl_store *base, const pawl_queue_settle *settle,
                                  pawl_error *why)
{
    if (find(pawl__mysql_of(base), settle->seq) == NULL)
        return pawl__sql_why_not_claimed(settle, why);
    return pawl__mysql_of(base)->is_cluster ? pawl__sql_queue_unstamp(base, settle, why) : PAWL_OK;
}

/* The locks of claims that the commit did not settle went with its transaction: they are taken again
 * at once. A commit that is through is no failure because of that: without them the next
 * operation finds the claims gone. */
static void keep_rest(pawl__mysql *store)
{
    if (store->claim_count == 0 || store->main.in_transaction || store->is_cluster)
        return;
    store->sql.connection = &store->main;
    if (pawl__mysql_begin(&store->sql.base, NULL) != PAWL_OK)
        store->claim_count = 0;
}

/* Claims that were given back, without a commit, are still locked: a rollback frees them. */
void pawl__mysql_claims_end(pawl_store *base, const pawl_changes *changes, const bool *is_dropped,
                            pawl_code code)
{
    pawl__mysql             *store   = pawl__mysql_of(base);
    const pawl_queue_settle *settles = changes->queue_settle.items;
    bool                     is_over = code == PAWL_OK || code == PAWL_EUNKNOWN;
    for (size_t i = 0; is_over && i < changes->queue_settle.count; i++) {
        pawl__mysql_claim *claim = find(store, settles[i].seq);
        if (claim != NULL)
            claim->is_ended |= !is_dropped[settles[i].group];
    }
    remove_ended(store);
    if (is_over && changes->queue_settle.count != 0)
        pawl__mysql_rollback(&store->main);
    keep_rest(store);
}
