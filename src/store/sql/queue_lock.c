/* queue_lock.c - claims of queue rows as row locks; see queue_lock.h.
 *
 * A claim begins a transaction, which stays open until the commit, and skips rows that other transactions have
 * locked. The list has the numbers of the claimed rows. A rollback releases the locks; they are taken
 * again before anything else, and rows that another worker has claimed meanwhile are removed from the list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/queue_lock.h"

#include "store/core/refusal.h"
#include "store/sql/commit.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 21 /* of a number as text, and a comma */
#define LOOKS_MAX 8    /* tries of a claim whose rows get stamps of other nodes meanwhile */

static pawl__sql_claims *claims_of(pawl_store *store)
{
    return ((pawl__sql_store *)store)->claims;
}

static bool is_held(const pawl_store *store)
{
    return ((const pawl__sql_store *)store)->in_handler_transaction;
}

/* ---- The list ----------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
    int64_t l = ((const pawl__sql_claim *)left)->seq;
    int64_t r = ((const pawl__sql_claim *)right)->seq;
    return (l > r) - (l < r);
}

pawl__sql_claim *pawl__sql_claims_find(const pawl__sql_claims *claims, int64_t seq)
{
    const pawl__sql_claim key = {.seq = seq};
    if (claims->count == 0)
        return NULL;
    return bsearch(&key, claims->rows, claims->count, sizeof key, by_number);
}

bool pawl__sql_claims_add(pawl__sql_claims *claims, const pawl_queue_rows *rows,
                          const pawl__sql_place *places)
{
    size_t end = claims->count;
    if (end + rows->count > claims->capacity) {
        size_t           capacity = (end + rows->count) * 2;
        pawl__sql_claim *grown    = pawl_resize(claims->rows, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        claims->rows     = grown;
        claims->capacity = capacity;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const pawl_queue_row *row   = &rows->items[i];
        pawl__sql_claim      *claim = pawl__sql_claims_find(claims, row->seq);
        if (claim == NULL)
            claim = &claims->rows[end++];
        *claim = (pawl__sql_claim){.seq = row->seq, .due = row->due};
        if (places != NULL)
            claim->place = places[i];
    }
    claims->count = end;
    if (end > 1)
        qsort(claims->rows, end, sizeof *claims->rows, by_number);
    return true;
}

void pawl__sql_claims_remove_ended(pawl__sql_claims *claims)
{
    size_t kept = 0;
    for (size_t i = 0; i < claims->count; i++)
        if (!claims->rows[i].is_ended)
            claims->rows[kept++] = claims->rows[i];
    claims->count = kept;
}

void pawl__sql_claims_settle(pawl__sql_claims *claims, const pawl_changes *changes,
                             const bool *is_dropped)
{
    const pawl_queue_settle *settles = changes->queue_settle.items;
    for (size_t i = 0; i < changes->queue_settle.count; i++) {
        pawl__sql_claim *claim = pawl__sql_claims_find(claims, settles[i].seq);
        if (claim != NULL)
            claim->is_ended |= !is_dropped[settles[i].group];
    }
    pawl__sql_claims_remove_ended(claims);
}

void pawl__sql_claims_free(pawl__sql_claims *claims)
{
    pawl_free(claims->rows);
    claims->rows  = NULL;
    claims->count = claims->capacity = 0;
}

/* The numbers with commas between them; NULL: memory. */
static char *numbers_of(const pawl__sql_claims *claims, pawl_arena *arena, size_t *size)
{
    char *text = pawl_arena_take(arena, claims->count * NUMBER_SIZE + 1);
    *size      = 0;
    for (size_t i = 0; text != NULL && i < claims->count; i++)
        *size += (size_t)snprintf(text + *size, NUMBER_SIZE + 1, "%s%lld", i != 0 ? "," : "",
                                  (long long)claims->rows[i].seq);
    return text;
}

/* ---- Claiming ----------------------------------------------------------- */

typedef struct claim_by {
    pawl_text queue;
    pawl_time due_max;
    int64_t   limit;
    pawl_text claimed; /* rows to leave out: a transaction does not skip its own locks */
    int64_t   seq;
    pawl_uuid worker; /* this worker, whose stamps are ignored */
} claim_by;

#define BY(member, as) PAWL__AS_OF(claim_by, member, as)

static const pawl__field      due_fields[] = {BY(queue, TEXT), BY(due_max, TIME), BY(limit, INT),
                                              BY(claimed, TEXT), BY(worker, UUID)};
static const pawl__field_list by_due       = {due_fields, 3};
static const pawl__field_list by_due_more  = {due_fields, 4};
static const pawl__field_list by_due_free  = PAWL__FIELD_ARRAY(due_fields);
static const pawl__field_list by_number_again =
    PAWL__FIELDS(BY(seq, INT), BY(queue, TEXT), BY(due_max, TIME));

/* Rows after size_max is reached are only counted: they stay locked until the transaction ends, but are not claimed. */
static pawl_code read_rows(pawl_store *store, const pawl__sql_asked *asked, size_t size_max,
                           pawl_arena *arena, pawl_queue_rows *rows, size_t *found,
                           pawl_error *error)
{
    const pawl__sql_ops *ops      = pawl__sql_ops_of(store);
    pawl__sql_request   *request  = NULL;
    size_t               capacity = 0, size = 0;
    pawl_code            code = pawl__sql_run(store, asked, arena, &request, error);
    for (*found = 0; code == PAWL_OK && ops->next(request); ++*found) {
        if (PAWL_SIZE_IS_REACHED(size, size_max))
            continue;
        pawl_queue_row *row =
            pawl_arena_grow(arena, rows->items, rows->count, &capacity, sizeof *row);
        if (row == NULL) {
            code = pawl__sql_no_memory(store, "a claim", error);
            break;
        }
        rows->items = row;
        row += rows->count++;
        *row = (pawl_queue_row){0};
        ops->get(request, asked->columns, row);
        size += PAWL_MESSAGE_SIZE(&row->message);
    }
    pawl_code ended = ops->end(request);
    return code != PAWL_OK ? code : ended;
}

static pawl_code claim_some(pawl_store *store, const pawl_queue_claim *claim, int64_t limit,
                            pawl_arena *arena, pawl_queue_rows *rows, size_t *found,
                            pawl_error *error)
{
    const pawl__sql_claims   *claims  = claims_of(store);
    const pawl__sql_lock_ops *own     = claims->ops;
    bool                      is_more = claims->count != 0 || claims->are_stamps;
    claim_by                  by      = {.queue   = claim->queue,
                                         .due_max = claim->due_max,
                                         .limit   = limit,
                                         .worker  = store->worker.uuid};
    pawl__sql_asked           asked   = {is_more ? own->claim_more : own->claim,
                             is_more ? &by_due_more : &by_due, &by, &pawl__queue_row_fields,
                             sizeof *rows->items};
    if (claims->are_stamps) {
        asked.statement  = own->claim_free;
        asked.parameters = &by_due_free;
    }
    if (is_more)
        by.claimed.data = numbers_of(claims, arena, &by.claimed.size);
    if (is_more && by.claimed.data == NULL)
        return pawl__sql_no_memory(store, "a claim", error);
    *rows  = (pawl_queue_rows){0};
    *found = 0;
    if (is_more && own->numbers_max != 0 && by.claimed.size > own->numbers_max)
        return PAWL_OK;
    pawl_code code = pawl__sql_ops_of(store)->lock_begin(store, error);
    if (code == PAWL_OK)
        code = read_rows(store, &asked, claim->size_max, arena, rows, found, error);
    return code;
}

/* How many rows are due, without a lock and without their messages. */
static pawl_code count_due(pawl_store *store, const pawl_queue_claim *claim, int64_t *count,
                           pawl_error *error)
{
    const claim_by        by = {.queue = claim->queue, .due_max = claim->due_max, .limit = *count};
    const pawl__sql_asked asked = {claims_of(store)->ops->count_due, &by_due, &by, &pawl__one_int,
                                   0};
    return pawl__sql_read_first(store, &asked, NULL, count, error);
}

/* On MariaDB a claim with a limit larger than the number of due rows also locks the next row, which other workers
 * cannot claim when it becomes due. Such a claim is undone, and repeated with the number of rows as limit. To avoid
 * that, due rows are counted first if the last claim was not full: usually there are none, and a count costs less than
 * a transaction. */
static pawl_code claim_due(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                           pawl_queue_rows *rows, pawl_error *error)
{
    pawl__sql_claims *claims   = claims_of(store);
    bool              is_alone = !claims->ops->is_open(store) && !is_held(store);
    int64_t           limit    = pawl__sql_limit(claim->count_max);
    int64_t           count    = limit;
    pawl_code         code     = PAWL_OK;
    if (is_alone && !claims->is_busy)
        code = count_due(store, claim, &count, error);
    size_t found = 0;
    for (bool is_done = count == 0; code == PAWL_OK && !is_done;) {
        code    = claim_some(store, claim, count, arena, rows, &found, error);
        is_done = !is_alone || found == 0 || (int64_t)found == count;
        if (code == PAWL_OK && !is_done)
            claims->ops->rollback(store);
        count = (int64_t)found;
    }
    claims->is_busy = (int64_t)found == limit;
    return code;
}

/* Claims the rows with these numbers. */
static pawl_code claim_again(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                             pawl_queue_rows *rows, pawl_error *error)
{
    pawl_code       code  = PAWL_OK;
    claim_by        by    = {.queue = claim->queue, .due_max = claim->due_max};
    pawl__sql_asked asked = {claims_of(store)->ops->claim_again, &by_number_again, &by,
                             &pawl__queue_row_fields, sizeof *rows->items};
    rows->items           = pawl_arena_take(arena, claim->seq_count * sizeof *rows->items);
    if (rows->items == NULL)
        return pawl__sql_no_memory(store, "a claim", error);
    code = pawl__sql_ops_of(store)->lock_begin(store, error);
    for (size_t i = 0; code == PAWL_OK && i < claim->seq_count; i++) {
        pawl_queue_row row = {0};
        by.seq             = claim->seqs[i];
        if (claim->count_max != 0 && rows->count == claim->count_max)
            break;
        code = pawl__sql_read_first(store, &asked, arena, &row, error);
        if (row.seq != 0)
            rows->items[rows->count++] = row;
    }
    pawl__sql_sort_rows(rows);
    return code;
}

static pawl_code claim_rows(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                            pawl_queue_rows *rows, pawl_error *error)
{
    return claim->seq_count != 0 ? claim_again(store, claim, arena, rows, error)
                                 : claim_due(store, claim, arena, rows, error);
}

/* On a cluster row locks only exclude handles on the same node; all rows that were found may have got stamps
 * of another node meanwhile. The next try leaves these rows out. */
static pawl_code claim_stamped(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                               pawl_queue_rows *rows, pawl_error *error)
{
    size_t found   = 1;
    *rows          = (pawl_queue_rows){0};
    pawl_code code = pawl__sql_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    for (int i = 0; code == PAWL_OK && i < LOOKS_MAX && found != 0 && rows->count == 0; i++) {
        code  = claim_rows(store, claim, arena, rows, error);
        found = rows->count;
        if (code == PAWL_OK)
            code = pawl__sql_queue_stamp(store, rows, error);
    }
    return pawl__sql_stamp_end(store, code, error);
}

static pawl_code claim_once(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                            pawl_queue_rows *rows, pawl_error *error)
{
    pawl__sql_claims *claims = claims_of(store);
    pawl_code         code   = claims->are_stamps ? claim_stamped(store, claim, arena, rows, error)
                                                  : claim_rows(store, claim, arena, rows, error);
    if (code == PAWL_OK && !pawl__sql_claims_add(claims, rows, NULL))
        code = pawl__sql_no_memory(store, "a claim", error);
    if (code != PAWL_OK)
        rows->count = 0;
    /* A rollback here may lose the row locks of an earlier claim: they are taken again later. */
    if (!is_held(store) && (code != PAWL_OK || claims->count == 0))
        claims->ops->rollback(store);
    return code;
}

pawl_code pawl__sql_lock_claim(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                               pawl_queue_rows *rows, pawl_error *error)
{
    pawl_code code;
    PAWL__SQL_TRY(store, code, claim_once(store, claim, arena, rows, error));
    return code;
}

/* ---- While rows are claimed ------------------------------------------------ */

/* Reads on the second connection, which skips the claimed rows of this handle like those of others. The claiming
 * transaction itself would see them. */
pawl_code pawl__sql_lock_next_due(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                                  size_t aggregator_count, pawl_next_due *next, pawl_error *error)
{
    const pawl__sql_lock_ops *own  = claims_of(store)->ops;
    pawl_code                 code = own->is_open(store) ? own->aside(store, error) : PAWL_OK;
    if (code == PAWL_OK)
        code = pawl__sql_next_due(store, queue, aggregators, aggregator_count, next, error);
    own->back(store);
    return code;
}

/* Uses the second connection for a set that settles no claim (pawl_send_now), since its commit must not end the
 * transaction with the batch's claims. Not for a set that saves a saga: that transaction may have locked the saga's
 * row, and the handle would wait for itself. */
static bool goes_aside(pawl_store *store, const pawl_changes *changes)
{
    const pawl__sql_claims *claims = claims_of(store);
    return claims->ops->is_open(store) && !is_held(store) && claims->count != 0 &&
           changes->queue_settle.count + changes->saga_insert.count + changes->saga_update.count +
                   changes->saga_delete.count ==
               0;
}

pawl_code pawl__sql_lock_commit(pawl_store *store, const pawl_changes *changes,
                                pawl_refusals *refused, pawl_error *error)
{
    const pawl__sql_lock_ops *own = claims_of(store)->ops;
    pawl_code code                = goes_aside(store, changes) ? own->aside(store, error) : PAWL_OK;
    if (code == PAWL_OK)
        code = pawl__sql_commit(store, changes, refused, error);
    own->back(store);
    return code;
}

/* ---- Keeping and ending -------------------------------------------------- */

static const pawl__field_list by_claim =
    PAWL__FIELDS(PAWL__AS_OF(pawl__sql_claim, seq, INT), PAWL__AS_OF(pawl__sql_claim, due, TIME));

pawl_code pawl__sql_lock_keep(pawl_store *store, pawl_error *error)
{
    pawl__sql_claims *claims = claims_of(store);
    pawl_code         code   = PAWL_OK;
    for (size_t i = 0; !claims->are_stamps && code == PAWL_OK && i < claims->count; i++) {
        int64_t               found = 0;
        const pawl__sql_asked asked = {claims->ops->lock, &by_claim, &claims->rows[i],
                                       &pawl__one_int, 0};
        code                        = pawl__sql_read_first(store, &asked, NULL, &found, error);
        if (code == PAWL_OK)
            claims->rows[i].is_ended = found == 0;
    }
    pawl__sql_claims_remove_ended(claims);
    return code;
}

pawl_code pawl__sql_lock_check(pawl_store *store, const pawl_queue_settle *settle, pawl_error *why)
{
    const pawl__sql_claims *claims = claims_of(store);
    if (pawl__sql_claims_find(claims, settle->seq) == NULL)
        return pawl__why_not_claimed(settle, why);
    return claims->are_stamps ? pawl__sql_queue_unstamp(store, settle, why) : PAWL_OK;
}

/* The commit also ended the row locks of claims that it did not settle: takes them again at once. A failure here is
 * ignored, since the commit has succeeded; the next operation will find the claims
 * gone. */
static void keep_rest(pawl_store *store)
{
    pawl__sql_claims *claims = claims_of(store);
    if (claims->count == 0 || claims->ops->is_open(store) || claims->are_stamps)
        return;
    claims->ops->back(store);
    if (pawl__sql_ops_of(store)->lock_begin(store, NULL) != PAWL_OK)
        claims->count = 0;
}

/* Claims that were released without a commit are still locked: a rollback unlocks them. */
void pawl__sql_lock_end(pawl_store *store, const pawl_changes *changes, const bool *is_dropped,
                        pawl_code code)
{
    pawl__sql_claims *claims  = claims_of(store);
    bool              is_over = code == PAWL_OK || code == PAWL_EUNKNOWN;
    if (is_over)
        pawl__sql_claims_settle(claims, changes, is_dropped);
    if (is_over && changes->queue_settle.count != 0)
        claims->ops->rollback(store);
    keep_rest(store);
}

pawl_code pawl__sql_lock_leave(pawl_store *store, pawl_error *error)
{
    pawl__sql_claims *claims = claims_of(store);
    (void)error;
    claims->ops->rollback(store);
    claims->count = 0;
    return PAWL_OK;
}

/* Ends a transaction without claims, which may still have row locks from reads. */
void pawl__sql_lock_rest(pawl_store *store)
{
    const pawl__sql_claims *claims = claims_of(store);
    if (claims->count == 0)
        claims->ops->rollback(store);
}

void pawl__sql_lock_lost(pawl__sql_claims *claims)
{
    if (!claims->are_stamps)
        claims->count = 0;
}
