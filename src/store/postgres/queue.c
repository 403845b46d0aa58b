/* queue.c - claiming and settling queue rows.
 *
 * A claim is a row lock: queue_claim begins a transaction, which stays open until the commit, and
 * skips rows that other transactions have locked. A release writes nothing. A rollback releases
 * the locks: they are taken again before anything else, and rows that another worker has claimed
 * meanwhile are removed from the list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/message.h"
#include "store/postgres/front.h"
#include "store/postgres/operations.h"
#include "store/postgres/set.h"
#include "store/sql/rows.h"

#include <string.h>

/* ---- Pages --------------------------------------------------------------- */

/* A claim with a size_max reads rows up to that size.
 *
 * libpq keeps an answer whole, so large bodies must not be in it. A body no longer than its
 * share of the size comes with its row. Of a longer body only the length comes; once the
 * lengths have shown where the page ends, the bodies still missing in it are read by the
 * numbers of their rows.
 *
 *     size_max 16 MB, count_max 256: a share is 64 KB
 *     sent         1 KB   9 MB: its length   2 KB   8 MB: its length   1 KB
 *     then read           9 MB                      8 MB
 *     the page     1 KB   9 MB               2 KB   8 MB
 *
 * Small bodies cost only the comparison. Sizes added up by the server, in a window over the
 * rows, cost a claim of small messages a tenth of its time. */

/* The share: the largest body that comes with its row. With a count_max of 0 every body does. */
static void put_share(pawl__pg_request *request, size_t size_max, size_t count_max)
{
    uint64_t share = count_max != 0 ? size_max / count_max : 0;
    pawl__pg_put_int(request, size_max != 0 && share < INT64_MAX ? (int64_t)share : INT64_MAX);
}

/* Reads the body's size from the column behind the body; a body that did not come has its size
 * alone. */
static void get_size(pawl__pg_request *request, pawl_text *body)
{
    size_t size = (size_t)pawl__pg_get_int(request);
    if (size != body->size)
        *body = (pawl_text){.data = NULL, .size = size};
}

static size_t find_end(const pawl_queue_rows *rows, size_t size_max)
{
    size_t size  = 0;
    size_t count = 0;
    for (; count < rows->count && !PAWL_SIZE_IS_REACHED(size, size_max); count++) {
        const pawl_message *message = &rows->items[count].message;
        size += message->headers.size + message->body.size;
    }
    return count;
}

static size_t count_missing(const pawl_queue_rows *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        count += rows->items[i].message.body.data == NULL;
    return count;
}

/* The bodies that did not come, and their rows' numbers. */
static void list_missing(const pawl_queue_rows *rows, pawl_text **bodies, int64_t *seqs)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].message.body.data != NULL)
            continue;
        bodies[count] = &rows->items[i].message.body;
        seqs[count++] = rows->items[i].seq;
    }
}

static pawl_code read_bodies(pawl__pg_request *request, pawl_text **bodies, size_t count)
{
    size_t left = count;
    while (pawl__pg_next(request)) {
        size_t number       = (size_t)pawl__pg_get_int(request);
        *bodies[number - 1] = pawl__pg_get_text(request);
        left--;
    }
    if (request->code == PAWL_OK && left > 0)
        request->code =
            pawl_error_set(request->error, PAWL_EBUSY,
                           "postgres: %zu of %zu rows went while they were read", left, count);
    return request->code;
}

/* Cuts the page at its size (0: not at all) and reads the bodies that are missing.
 *
 * PAWL_EBUSY  a row was deleted between the two reads. */
static pawl_code end_page(pawl_queue_rows *rows, size_t size_max, pawl__pg_connection *connection,
                          pawl_arena *arena, pawl_error *error)
{
    pawl__pg_request request;
    rows->count  = find_end(rows, size_max);
    size_t count = count_missing(rows);
    if (count == 0)
        return PAWL_OK;
    pawl_text **bodies = pawl_arena_take(arena, count * sizeof *bodies);
    int64_t    *seqs   = pawl_arena_take(arena, count * sizeof *seqs);
    if (bodies == NULL || seqs == NULL)
        return pawl__pg_no_memory(error);
    list_missing(rows, bodies, seqs);
    pawl__pg_begin(&request, connection, PAWL__PG_QUEUE_BODIES, error);
    pawl__pg_put_ints(&request, seqs, count);
    pawl_code code = pawl__pg_run(&request);
    request.arena  = arena;
    return code == PAWL_OK ? read_bodies(&request, bodies, count) : code;
}

/* ---- Claims -------------------------------------------------------------- */

void pawl__pg_put_claims(pawl__pg_request *request, const pawl__pg *store, size_t count)
{
    PAWL__PG_PUT_COLUMN(request, PAWL__WIRE_INT, store->claims.rows, seq, count);
}

pawl_code pawl__pg_claims_lock(pawl__pg *store, pawl_error *error)
{
    pawl__sql_claims *claims = &store->claims;
    pawl__pg_request  request;
    pawl__pg_begin(&request, &store->main, PAWL__PG_QUEUE_LOCK, error);
    pawl__pg_put_claims(&request, store, claims->count);
    PAWL__PG_PUT_COLUMN(&request, PAWL__WIRE_TIME, claims->rows, due, claims->count);
    pawl_code code = pawl__pg_run(&request);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; i < claims->count; i++)
        claims->rows[i].is_ended = true;
    while (pawl__pg_next(&request)) {
        pawl__sql_claim *claim = pawl__sql_claims_find(claims, pawl__pg_get_int(&request));
        if (claim == NULL)
            continue;
        pawl__pg_get_tid(&request, claim->place.bytes);
        claim->is_ended = false;
    }
    pawl__sql_claims_remove_ended(claims);
    return request.code;
}

/* ---- Claiming ----------------------------------------------------------- */

/* SKIP LOCKED does not skip rows that this very transaction has locked: those, the first `locked` of the
 * handle's claims, are left out by their numbers. */
static void put_due(pawl__pg_request *request, const pawl__pg *store, const pawl_queue_claim *claim,
                    pawl_time from, size_t locked)
{
    pawl__pg_put_text(request, claim->queue);
    pawl__pg_put_time(request, claim->due_max);
    pawl__pg_put_time_from(request, from);
    pawl__pg_put_claims(request, store, locked);
    pawl__pg_put_int(request, (int64_t)claim->count_max);
    pawl__pg_put_text(request, (pawl_text){.data = store->endpoint, .size = store->endpoint_size});
    put_share(request, claim->size_max, claim->count_max);
}

static void put_again(pawl__pg_request *request, const pawl_queue_claim *claim)
{
    pawl__pg_put_ints(request, claim->seqs, claim->seq_count);
    pawl__pg_put_text(request, claim->queue);
    pawl__pg_put_time(request, claim->due_max);
    pawl__pg_put_int(request, (int64_t)claim->count_max);
}

/* Reads the rows, up to size_max, and adds their claims. Rows behind size_max stay locked, unclaimed, until the
 * transaction ends. With `is_due` each row also says whether the inbox has its deduplication record. */
static pawl_code read_claimed(pawl__pg *store, pawl__pg_request *request, bool is_due,
                              size_t size_max, pawl_queue_rows *rows, pawl_error *error)
{
    rows->items           = pawl__pg_take_rows(request, sizeof *rows->items);
    pawl__sql_place *tids = pawl__pg_take_rows(request, sizeof *tids);
    while (rows->items != NULL && tids != NULL && pawl__pg_next(request)) {
        pawl_queue_row *row      = &rows->items[rows->count];
        bool            is_known = is_due && pawl__pg_get_bool(request);
        pawl__pg_get_tid(request, tids[rows->count++].bytes);
        pawl__pg_get_fields(request, &pawl__queue_row_fields, row);
        if (!is_due)
            continue;
        get_size(request, &row->message.body);
        pawl__pg_seen_add(store, row->message.id, is_known);
    }
    pawl__pg_end(request);
    if (request->code != PAWL_OK)
        return request->code;
    pawl_code code = end_page(rows, size_max, &store->main, request->arena, error);
    if (code == PAWL_OK && !pawl__sql_claims_add(&store->claims, rows, tids))
        code = pawl__pg_no_memory(error);
    return code;
}

static pawl_code claim_from(pawl__pg *store, const pawl_queue_claim *claim, pawl_time from,
                            pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    pawl__pg_request request, peek;
    bool             is_again = claim->seq_count != 0;
    pawl__pg_begin(&request, &store->main,
                   is_again ? PAWL__PG_QUEUE_CLAIM_AGAIN : PAWL__PG_QUEUE_CLAIM, error);
    if (is_again)
        put_again(&request, claim);
    else
        put_due(&request, store, claim, from, store->claims.count);
    store->main.is_gathered = true;
    pawl__pg_send(&request);
    bool peeks = !is_again && !store->sql.in_handler_transaction &&
                 pawl__pg_peek_send(store, claim, &peek, error);
    pawl_code code = pawl__pg_await(&store->main, error);
    if (peeks)
        pawl__pg_peek_end(store, &peek, code);
    if (request.code == PAWL_OK)
        request.code = code;
    request.arena = arena;
    if (request.code != PAWL_OK) {
        pawl__pg_end(&request);
        return request.code;
    }
    return read_claimed(store, &request, !is_again, is_again ? 0 : claim->size_max, rows, error);
}

static pawl_code check_due(pawl__pg *store, const pawl_queue_claim *claim, pawl_time from,
                           bool *is_there, pawl_error *error)
{
    pawl__pg_request request;
    pawl__pg_begin(&request, &store->main, PAWL__PG_QUEUE_IS_DUE, error);
    pawl__pg_put_text(&request, claim->queue);
    pawl__pg_put_time(&request, claim->due_max);
    pawl__pg_put_time_from(&request, from);
    pawl_code code = pawl__pg_run(&request);
    *is_there      = code == PAWL_OK && pawl__pg_next(&request) && pawl__pg_get_bool(&request);
    pawl__pg_end(&request);
    return code;
}

/* Claims in the open transaction, or begins one. */
static pawl_code claim_rows(pawl__pg *store, const pawl_queue_claim *claim, pawl_time from,
                            pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    pawl_code code = pawl__pg_begin_transaction(store, error);
    if (code == PAWL_OK)
        code = claim_from(store, claim, from, arena, rows, error);
    if (code != PAWL_OK)
        rows->count = 0;
    /* A rollback here may lose the row locks of an earlier claim: they are taken again later. */
    if (!store->sql.in_handler_transaction && (code != PAWL_OK || store->claims.count == 0))
        pawl__pg_rollback_transaction(&store->main);
    return code;
}

/* A check without locks comes first where the last claim found nothing and no NOTIFY came since:
 * mostly there is nothing, and the check costs a third of a claim's statements. */
static pawl_code check_and_claim(pawl__pg *store, const pawl_queue_claim *claim, bool is_quiet,
                                 pawl_time from, pawl_arena *arena, pawl_queue_rows *rows,
                                 pawl_error *error)
{
    bool      is_there = true;
    pawl_code code     = PAWL_OK;
    if (is_quiet && !store->main.in_transaction && !store->sql.in_handler_transaction &&
        store->claims.count == 0)
        code = check_due(store, claim, from, &is_there, error);
    return code == PAWL_OK && is_there ? claim_rows(store, claim, from, arena, rows, error) : code;
}

static pawl_code claim_at_front(pawl__pg *store, pawl__pg_front *front,
                                const pawl_queue_claim *claim, pawl_arena *arena,
                                pawl_queue_rows *rows, pawl_error *error)
{
    pawl_time from     = pawl__pg_front_begin(front, claim->due_max);
    bool      is_quiet = front->is_quiet && !store->is_woken;
    pawl_code code     = check_and_claim(store, claim, is_quiet, from, arena, rows, error);
    store->is_woken    = false;
    if (code == PAWL_OK && pawl__pg_front_is_too_far(front, from, rows)) {
        from = PAWL_TIME_MIN;
        code = check_and_claim(store, claim, true, from, arena, rows, error);
    }
    if (code == PAWL_OK)
        pawl__pg_front_end(front, from, claim->due_max, rows);
    return code;
}

/* ---- Claims sent ahead --------------------------------------------------- */

/* Every 16th claim is sent by itself, to measure how long it takes (front.h). */
#define ALONE 16

/* Has the commit handled messages? If it only releases them, or writes in-flight markers, no next claim follows. */
static bool has_handled(const pawl_changes *changes)
{
    bool is_done = false;
    for (size_t i = 0; i < changes->queue_settle.count; i++) {
        if (changes->queue_settle.items[i].action == PAWL_QUEUE_RELEASE)
            return false;
        is_done |= changes->queue_settle.items[i].action == PAWL_QUEUE_DONE;
    }
    return is_done;
}

/* Was the last claim full, and does this commit settle all claims? */
static bool claims_ahead(pawl__pg *store, const pawl_changes *changes)
{
    return store->ahead.front != NULL && !store->round.is_handlers &&
           changes->queue_settle.count == store->claims.count && has_handled(changes) &&
           store->ahead.count++ % ALONE != 0;
}

/* Moves the times of the last claim to now, less a millisecond by which the clock may be ahead: the claim that
 * follows must not have earlier times. */
static void move_on(pawl__pg *store)
{
    pawl__pg_ahead *ahead  = &store->ahead;
    int64_t         passed = pawl__pg_now(store) - ahead->claim.now - PAWL_MILLISECONDS(1);
    passed                 = passed > 0 ? passed : 0;
    ahead->claim.queue = (pawl_text){.data = ahead->front->queue, .size = ahead->front->queue_size};
    ahead->claim.due_max = pawl_time_add(ahead->claim.due_max, passed);
    ahead->claim.now     = pawl_time_add(ahead->claim.now, passed);
}

bool pawl__pg_ahead_send(pawl__pg *store, const pawl_changes *changes, pawl__pg_request *peek)
{
    pawl__pg_ahead   *ahead = &store->ahead;
    pawl_queue_claim *claim = &ahead->claim;
    if (!claims_ahead(store, changes))
        return false;
    move_on(store);
    pawl__pg_part(&store->main);
    store->main.in_transaction = false; /* COMMIT was sent just before */
    pawl__pg_begin_on(&store->main, NULL);
    pawl__pg_end(&ahead->request);
    pawl__pg_begin(&ahead->request, &store->main, PAWL__PG_QUEUE_CLAIM, NULL);
    put_due(&ahead->request, store, claim, PAWL_TIME_MIN, 0);
    pawl__pg_send(&ahead->request);
    if (!pawl__pg_peek_send(store, claim, peek, NULL))
        *peek = (pawl__pg_request){.result = NULL};
    ahead->transaction = store->main.transactions;
    ahead->sent_ms     = pawl__clock_ms();
    return true;
}

void pawl__pg_ahead_end(pawl__pg *store, pawl__pg_request *peek)
{
    pawl__pg_ahead *ahead = &store->ahead;
    if (ahead->request.result == NULL || PQntuples(ahead->request.result) == 0)
        ahead->transaction = 0;
    pawl__pg_peek_end(store, peek, ahead->request.code);
}

/* Rows claimed ahead are used for this long: later the server may have ended the idle session, and handlers would
 * run for rows that are no longer locked. */
#define AHEAD_MS_MAX 1000

/* Unlocks rows of a claim sent ahead that are not needed. */
static void drop_ahead(pawl__pg *store)
{
    if (store->ahead.transaction == store->main.transactions)
        pawl__pg_rollback_unclaimed(store);
    store->ahead.transaction = 0;
    pawl__pg_end(&store->ahead.request);
}

static bool has_ahead(pawl__pg *store, const pawl__pg_front *front, const pawl_queue_claim *claim)
{
    const pawl__pg_ahead *ahead = &store->ahead;
    bool is_now = store->main.in_transaction && ahead->transaction == store->main.transactions;
    if (is_now && ahead->front == front && claim->count_max >= ahead->claim.count_max &&
        claim->due_max >= ahead->claim.due_max && pawl__clock_ms() - ahead->sent_ms < AHEAD_MS_MAX)
        return true;
    drop_ahead(store);
    return false;
}

static pawl_code take_ahead(pawl__pg *store, const pawl_queue_claim *claim, pawl_arena *arena,
                            pawl_queue_rows *rows, pawl_error *error)
{
    pawl__pg_ahead *ahead = &store->ahead;
    ahead->transaction    = 0;
    ahead->request.arena  = arena;
    ahead->request.error  = error;
    store->is_woken       = false;
    store->peek.due_max   = claim->due_max;
    store->peek.now       = claim->now;
    pawl_code code       = read_claimed(store, &ahead->request, true, claim->size_max, rows, error);
    ahead->request.error = NULL;
    if (code == PAWL_OK)
        return PAWL_OK;
    rows->count = 0;
    pawl__pg_rollback_unclaimed(store);
    return code;
}

/* After a claim that was full and quick the next one is sent ahead; not after the clock was set back, since
 * pawl__pg_now ignores earlier times. */
static void note_ahead(pawl__pg *store, const pawl__pg_front *front, const pawl_queue_claim *claim,
                       const pawl_queue_rows *rows)
{
    pawl__pg_ahead *ahead   = &store->ahead;
    bool            is_full = rows->count == claim->count_max && front->pause_ms == 0;
    bool may_send = ahead->is_wanted && !store->is_pooled && !store->sql.in_handler_transaction;
    ahead->front  = may_send && is_full && claim->now >= store->last_now ? front : NULL;
    ahead->claim  = *claim;
}

static pawl_code claim_again(pawl__pg *store, const pawl_queue_claim *claim, pawl_arena *arena,
                             pawl_queue_rows *rows, pawl_error *error)
{
    drop_ahead(store);
    store->ahead.front = NULL;
    return claim_rows(store, claim, PAWL_TIME_MIN, arena, rows, error);
}

static pawl_code claim_due(pawl__pg *store, const pawl_queue_claim *claim, pawl_arena *arena,
                           pawl_queue_rows *rows, pawl_error *error)
{
    pawl__pg_front *front   = pawl__pg_front_of(store, claim->queue);
    pawl_code       code    = front->is_queue ? PAWL_OK : pawl__pg_stop_sleeping(store, error);
    pawl_time       due_max = claim->due_max;
    if (code != PAWL_OK)
        return code;
    if (has_ahead(store, front, claim)) {
        due_max = store->ahead.claim.due_max;
        code    = take_ahead(store, claim, arena, rows, error);
    } else {
        code = claim_at_front(store, front, claim, arena, rows, error);
    }
    if (code != PAWL_OK)
        return code;
    front->is_queue  = true;
    front->is_quiet  = rows->count == 0;
    front->due_max   = due_max;
    front->queue_due = front->timeout_due = pawl_time_add(due_max, 1);
    note_ahead(store, front, claim, rows);
    return PAWL_OK;
}

pawl_code pawl__pg_queue_claim(pawl_store *base, const pawl_queue_claim *claim, pawl_arena *arena,
                               pawl_queue_rows *rows, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    pawl__pg_note_now(store, claim->now);
    pawl_code code = claim->seq_count == 0 ? claim_due(store, claim, arena, rows, error)
                                           : claim_again(store, claim, arena, rows, error);
    if (code == PAWL_OK)
        pawl__pg_note_claim(store, rows->count == 0);
    return code;
}

/* ---- The oldest --------------------------------------------------------- */

pawl_code pawl__pg_queue_oldest(pawl_store *base, pawl_text queue, pawl_time due_max,
                                const int64_t *except, size_t except_count, pawl_time *placed,
                                int64_t *seq, pawl_error *error)
{
    pawl__pg        *store = pawl__pg_of(base);
    pawl__pg_request request;
    pawl__pg_begin(&request, &store->main, PAWL__PG_QUEUE_OLDEST, error);
    pawl__pg_put_text(&request, queue);
    pawl__pg_put_time(&request, due_max);
    pawl__pg_put_ints(&request, except, except_count);
    pawl_code code = pawl__pg_run(&request);
    if (code == PAWL_OK && pawl__pg_next(&request)) {
        *placed = pawl__pg_get_time(&request);
        *seq    = pawl__pg_get_int(&request);
    }
    pawl__pg_end(&request);
    return request.code;
}

/* ---- Settling ----------------------------------------------------------- */

void pawl__pg_put_claimed(pawl__pg_write *write)
{
    const pawl__pg *store = pawl__pg_of(write->writer->store);
    pawl__pg_array_begin(&write->request, PAWL__PG_TID, PAWL_VALUE_NONE, write->count);
    for (size_t i = 0; i < write->count; i++) {
        const pawl_queue_settle *settle = write->items[i];
        pawl__pg_array_put(&write->request, PAWL__PG_TID,
                           pawl__sql_claims_find(&store->claims, settle->seq)->place.bytes);
    }
    pawl__pg_array_end(&write->request);
}

/* Refuses rows that this handle has not claimed; a release writes nothing. */
pawl_code pawl__pg_send_queue_settle(pawl__sql_writer *writer)
{
    size_t       count, kept = 0;
    pawl_code    code  = PAWL_OK;
    const void **items = pawl__pg_select(writer, pawl_change_queue_settle, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    if (writer->is_enlisted)
        return pawl__why_not_enlisted(writer->changes->queue_settle.items, writer->error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        const pawl_queue_settle *settle = items[i];
        if (pawl__sql_claims_find(&pawl__pg_of(writer->store)->claims, settle->seq) == NULL)
            code =
                pawl__sql_refuse(writer, pawl_change_queue_settle, settle, pawl__why_not_claimed);
        else if (settle->action != PAWL_QUEUE_RELEASE)
            items[kept++] = settle;
    }
    return code == PAWL_OK ? pawl__pg_send_items(writer, pawl_change_queue_settle, items, kept)
                           : code;
}
