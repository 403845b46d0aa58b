/* outbox.c - claiming and finding outbox rows. outbox_write.c has the changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/outbox.h"
#include "store/core/rows.h"
#include "store/postgres/operations.h"
#include "store/sql/rows.h"

#include <stdlib.h>

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
    scan->later          = is_waiting ? later : PAWL_TIME_MAX;
    scan->waiting        = is_waiting ? waiting : INT64_MAX;
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
    scan->sight.last  = rows->count != 0 ? rows->items[rows->count - 1].id : 0;
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
    pawl__pg_outbox_front_begin(&store->outbox, endpoint, now, &scan);
    pawl_code code = claim_from(store, endpoint, now, count_max + 1, arena, rows, &scan, error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_outbox_front_end(&store->outbox, &scan);
    rows->next_attempt =
        rows->count > count_max ? rows->items[--rows->count].next_attempt : store->outbox.later;
    return pawl__sql_order_sources(rows, arena, error);
}

/* ---- Finding ------------------------------------------------------------ */

#define BIT(state) (1u << (state))
/* States that most rows leave have a partial index each. */
#define FEW (BIT(PAWL_OUTBOX_PENDING) | BIT(PAWL_OUTBOX_BLOCKED) | BIT(PAWL_OUTBOX_DEAD))

static const int find_statements[] = {
    [PAWL_OUTBOX_PENDING] = PAWL__PG_OUTBOX_FIND_PENDING,
    [PAWL_OUTBOX_BLOCKED] = PAWL__PG_OUTBOX_FIND_HELD,
    [PAWL_OUTBOX_DEAD]    = PAWL__PG_OUTBOX_FIND_DEAD,
};

typedef struct finding {
    pawl__pg        *store;
    const pawl_find *asked;
    pawl_error      *error;
    pawl__pg_request requests[PAWL__STATE_COUNT];
    size_t           count;
} finding;

static int statement_of(const pawl_outbox_query *query, int state)
{
    return state == PAWL_OUTBOX_PENDING && query->attempts_min > 0 ? PAWL__PG_OUTBOX_FIND_TRIED
                                                                   : find_statements[state];
}

static void put_states(pawl__pg_request *request, unsigned states)
{
    pawl_text words[PAWL__STATE_COUNT];
    size_t    count = 0;
    for (int state = 0; state < PAWL__STATE_COUNT; state++)
        if (states == 0 || (states & BIT(state)) != 0)
            words[count++] = pawl__state_words[state];
    pawl__pg_put_texts(request, words, count);
}

/* An id is asked for as a range of one. */
static pawl__pg_request *add_find(finding *f, int statement)
{
    const pawl_outbox_query *query   = &f->asked->outbox;
    pawl__pg_request        *request = &f->requests[f->count++];
    int64_t                  after   = f->asked->after.number;
    bool                     is_id   = query->id != 0;
    pawl__pg_begin(request, &f->store->main, statement, f->error);
    pawl__pg_put_int(request, is_id && query->id > after ? query->id - 1 : after);
    pawl__pg_put_int(request, is_id ? query->id : INT64_MAX);
    pawl__pg_put_text(request, query->endpoint);
    pawl__pg_put_text(request, query->source);
    pawl__pg_put_text(request, query->destination);
    pawl__pg_put_text(request, query->message_type);
    pawl__pg_put_text(request, query->causation_id);
    pawl__pg_put_int(request, f->asked->limit);
    pawl__pg_put_int(request, query->attempts_min);
    return request;
}

static void send_find(finding *f)
{
    const pawl_outbox_query *query       = &f->asked->outbox;
    bool                     is_dispatch = !pawl_uuid_is_zero(query->dispatch_id.uuid);
    if (is_dispatch || query->id != 0 || query->states == 0 || (query->states & ~FEW) != 0) {
        pawl__pg_request *request =
            add_find(f, is_dispatch ? PAWL__PG_OUTBOX_FIND_DISPATCH : PAWL__PG_OUTBOX_FIND_ANY);
        put_states(request, query->states);
        if (is_dispatch)
            pawl__pg_put_uuid(request, query->dispatch_id.uuid);
        pawl__pg_send(request);
        return;
    }
    for (int state = 0; state < PAWL__STATE_COUNT; state++)
        if ((query->states & BIT(state)) != 0)
            pawl__pg_send(add_find(f, statement_of(query, state)));
}

static int by_id(const void *left, const void *right)
{
    const pawl_outbox_row *l = left, *r = right;
    return (l->id > r->id) - (l->id < r->id);
}

/* Merges the answers and cuts them to the limit. */
static pawl_code take_found(finding *f, pawl_arena *arena, pawl_found *found)
{
    pawl_code code  = PAWL_OK;
    int64_t   total = 1;
    for (size_t i = 0; i < f->count; i++)
        total += pawl__pg_rows(&f->requests[i]);
    pawl_outbox_row *rows = found->items = pawl_arena_take(arena, (size_t)total * sizeof *rows);
    if (rows == NULL)
        return pawl__pg_no_memory(f->error);
    for (size_t i = 0; code == PAWL_OK && i < f->count; i++) {
        f->requests[i].arena = arena;
        while (pawl__pg_next(&f->requests[i]))
            pawl__pg_get_fields(&f->requests[i], &pawl__outbox_row_fields, &rows[found->count++]);
        code = f->requests[i].code;
    }
    if (f->count > 1)
        qsort(rows, found->count, sizeof *rows, by_id);
    if (found->count > (uint64_t)f->asked->limit)
        found->count = (size_t)f->asked->limit;
    return code;
}

pawl_code pawl__pg_find_outbox(pawl_store *base, const pawl_find *asked, pawl_arena *arena,
                               pawl_found *found, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    finding   f     = {.store = store, .asked = asked, .error = error};
    send_find(&f);
    pawl_code code = pawl__pg_await(&store->main, error);
    if (code == PAWL_OK)
        code = take_found(&f, arena, found);
    for (size_t i = 0; i < f.count; i++)
        pawl__pg_end(&f.requests[i]);
    return code;
}
