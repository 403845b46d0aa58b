/* timeout.c - claims (leases) due timeouts, and ends their leases.
 *
 * A lease is written into the row: owner, worker and expiry. Claims skip the rows that others
 * have locked, so they never wait for each other or for a commit. Leased rows are found by the
 * ranges of timeout_statements.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/front.h"
#include "store/postgres/operations.h"
#include "store/sql/rows.h"

#include <stdio.h>

#define UNCHECKED_MAX 16
/* Seconds between the first and the last end of the leases in one range. */
#define RANGE_SECONDS 600
/* One check in 16 goes alone, which shows how long it takes (front.h); the others go with claims. */
#define PEEKS 16

/* ---- Claiming ----------------------------------------------------------- */

/* The earliest free row that is due at `from` or later. */
static void send_first(pawl__pg_request *request, const pawl__pg *store,
                       const pawl_timeout_claim *claim, pawl_time from, pawl_error *error)
{
    pawl__pg_begin(
        request, pawl__pg_in_use(store),
        claim->destination.size != 0 ? PAWL__PG_TIMEOUT_FIRST : PAWL__PG_TIMEOUT_FIRST_ANY, error);
    pawl__pg_put_text(request, claim->destination);
    pawl__pg_put_time(request, claim->now);
    pawl__pg_put_time(request, from);
    pawl__pg_send(request);
}

static pawl_code first_from(pawl__pg *store, const pawl_timeout_claim *claim, pawl_time from,
                            pawl_time *due, pawl_error *error)
{
    pawl__pg_request request;
    send_first(&request, store, claim, from, error);
    pawl_code code = pawl__pg_await(&store->main, error);
    if (code == PAWL_OK && pawl__pg_next(&request))
        *due = pawl__pg_get_time(&request);
    pawl__pg_end(&request);
    return code == PAWL_OK ? request.code : code;
}

/* The front of a destination's timeouts, kept among those of queues as "timeouts:NAME"; NULL if that is too long. */
static pawl__pg_front *front_of(pawl__pg *store, pawl_text destination, bool is_made)
{
    char key[PAWL_NAME_SIZE_MAX + 1];
    int  size = snprintf(key, sizeof key, "timeouts:%.*s", PAWL_TEXT_ARGS(destination));
    if (size < 0 || (size_t)size >= sizeof key)
        return NULL;
    pawl_text name = {.data = key, .size = (size_t)size};
    return is_made ? pawl__pg_front_of(store, name) : pawl__pg_front_find(store, name);
}

/* A check without locks or writes: most of the time nothing is due. It also finds the due time at which the claim
 * begins. A check from the front that finds nothing due is repeated from the first row. */
static pawl_code check_due(pawl__pg *store, pawl__pg_front *front, const pawl_timeout_claim *claim,
                           pawl_time *due, pawl_error *error)
{
    pawl_time from = front != NULL ? pawl__pg_front_begin(front, claim->due_max) : PAWL_TIME_MIN;
    *due           = PAWL_TIME_MAX;
    pawl_code code = first_from(store, claim, from, due, error);
    if (code == PAWL_OK && *due > claim->due_max && from > PAWL_TIME_MIN) {
        from = PAWL_TIME_MIN;
        *due = PAWL_TIME_MAX;
        code = first_from(store, claim, from, due, error);
    }
    pawl_queue_row  first = {.due = *due};
    pawl_queue_rows found = {.items = &first, .count = *due <= claim->due_max};
    if (code == PAWL_OK && front != NULL)
        pawl__pg_front_end(front, from, claim->due_max, &found);
    return code;
}

static size_t count_of(const pawl_timeout_claim *claim)
{
    return claim->count_max != 0 ? claim->count_max : PAWL_TIMEOUTS_DEFAULT;
}

/* The name of a range, without the destination, and its epoch. */
static void put_range(pawl__pg_request *request, pawl_time lease_expires)
{
    char    name[40];
    int64_t from = lease_expires > 0 ? lease_expires / PAWL_SECONDS(RANGE_SECONDS) : 0;
    int64_t end  = (from + 1) * RANGE_SECONDS;
    int     size = snprintf(name, sizeof name, "timeouts:%012lld:", (long long)end);
    pawl__pg_put_text(request, (pawl_text){.data = name, .size = (size_t)size});
    pawl__pg_put_int(request, end * PAWL_SECONDS(1));
}

static void send_lease(pawl__pg_request *request, const pawl__pg *store,
                       const pawl_timeout_claim *claim, pawl_time from, pawl_error *error)
{
    int64_t   count   = (int64_t)count_of(claim);
    pawl_time expires = pawl_time_add(claim->now, claim->lease);
    pawl__pg_begin(
        request, pawl__pg_in_use(store),
        claim->destination.size != 0 ? PAWL__PG_TIMEOUT_CLAIM : PAWL__PG_TIMEOUT_CLAIM_ANY, error);
    pawl__pg_put_text(request, claim->destination);
    pawl__pg_put_time(request, claim->now);
    pawl__pg_put_time(request, from);
    pawl__pg_put_time(request, claim->due_max);
    pawl__pg_put_int(request, count + 1);
    pawl__pg_put_int(request, count);
    pawl__pg_put_uuid(request, claim->owner.uuid);
    pawl__pg_put_time(request, expires);
    pawl__pg_put_uuid(request, store->sql.base.worker.uuid);
    put_range(request, expires);
    pawl__pg_send(request);
}

/* LIMIT is one more than are leased: the last row tells what is left over. A row that another
 * transaction changed meanwhile is not leased: it is due at the next claim. */
static pawl_code read_leased(pawl__pg_request *request, size_t count_max, pawl_timeout_rows *rows)
{
    size_t    found = 0;
    pawl_time first = PAWL_TIME_MAX;
    pawl_time last  = PAWL_TIME_MAX;
    rows->items     = pawl__pg_take_rows(request, sizeof *rows->items);
    while (rows->items != NULL && pawl__pg_next(request)) {
        found = (size_t)pawl__pg_get_int(request);
        first = pawl__pg_get_time(request);
        last  = pawl__pg_get_time(request);
        if (!pawl__pg_is_null(request))
            pawl__pg_get_fields(request, &pawl__timeout_row_fields, &rows->items[rows->count++]);
    }
    pawl__pg_end(request);
    if (found > count_max)
        rows->next_due = last;
    if (rows->count < (found < count_max ? found : count_max))
        rows->next_due = first;
    return request->code;
}

/* Clears the leases of a claim, in a commit of its own. */
static pawl_code free_claim(pawl__pg *store, pawl_uuid owner, pawl_error *error)
{
    pawl_code code = pawl__pg_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = pawl__pg_ask(pawl__pg_in_use(store), PAWL__PG_TIMEOUT_FREE_CLAIM, &pawl__one_uuid,
                        &owner, NULL, NULL, error);
    return pawl__pg_stamp_end(store, code, error);
}

/* Leases rows due at `from` or later, in one round trip: the leases are committed before the rows are read, and
 * cleared again if reading fails. */
static pawl_code lease(pawl__pg *store, const pawl_timeout_claim *claim, pawl_time from,
                       pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl__pg_request leased, later;
    pawl_code        code = pawl__pg_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    store->has_leased = true; /* even when the answer is lost */
    send_lease(&leased, store, claim, from, error);
    send_first(&later, store, claim, pawl_time_add(claim->due_max, 1), error);
    code           = pawl__pg_stamp_send_end(store, error);
    rows->next_due = PAWL_TIME_MAX;
    if (code == PAWL_OK) {
        leased.arena = arena;
        if (pawl__pg_next(&later))
            rows->next_due = pawl__pg_get_time(&later);
        code = read_leased(&leased, count_of(claim), rows);
        if (code != PAWL_OK)
            (void)free_claim(store, claim->owner.uuid, NULL);
    }
    pawl__pg_end(&later);
    pawl__pg_end(&leased);
    return code;
}

/* May the claim go without a check? While claims find more than they asked for, and handled rows do not slow them
 * down, a check would only say that rows are due. */
static bool goes_unchecked(pawl__pg_front *front)
{
    if (front == NULL || !front->is_full || front->pause_ms != 0 ||
        front->unchecked >= UNCHECKED_MAX)
        return false;
    front->unchecked++;
    return true;
}

bool pawl__pg_peek_send(pawl__pg *store, const pawl_queue_claim *claim, pawl__pg_request *request,
                        pawl_error *error)
{
    pawl__pg_peek           *peek  = &store->peek;
    const pawl__pg_front    *front = front_of(store, claim->queue, false);
    const pawl_timeout_claim check = {.destination = claim->queue, .now = claim->now};
    peek->front                    = NULL;
    if (front == NULL || front->is_full || front->pause_ms != 0 || peek->count++ % PEEKS == 0)
        return false;
    send_first(request, store, &check, PAWL_TIME_MIN, error);
    peek->front   = front;
    peek->due_max = claim->due_max;
    peek->now     = claim->now;
    peek->due     = PAWL_TIME_MAX;
    return true;
}

void pawl__pg_peek_end(pawl__pg *store, pawl__pg_request *request, pawl_code code)
{
    if (code == PAWL_OK && pawl__pg_next(request))
        store->peek.due = pawl__pg_get_time(request);
    pawl__pg_end(request);
    if (code != PAWL_OK || request->code != PAWL_OK)
        store->peek.front = NULL;
}

/* Was the check sent with the claim of the queue? Its answer is used once. */
static bool take_peek(pawl__pg *store, const pawl__pg_front *front, const pawl_timeout_claim *claim,
                      pawl_time *due)
{
    pawl__pg_peek *peek = &store->peek;
    bool is_known = front != NULL && peek->front == front && peek->due_max == claim->due_max &&
                    peek->now == claim->now;
    if (is_known)
        *due = peek->due;
    peek->front = NULL;
    return is_known;
}

static pawl_code check_and_lease(pawl__pg *store, const pawl_timeout_claim *claim,
                                 pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl__pg_front *front = front_of(store, claim->destination, true);
    pawl_time       from  = PAWL_TIME_MIN;
    pawl_code       code  = PAWL_OK;
    if (!take_peek(store, front, claim, &from) && !goes_unchecked(front)) {
        code = check_due(store, front, claim, &from, error);
        if (front != NULL)
            front->unchecked = 0;
    }
    rows->next_due = from;
    if (code == PAWL_OK && from <= claim->due_max)
        code = lease(store, claim, from, arena, rows, error);
    if (front != NULL)
        front->is_full = code == PAWL_OK && rows->count == count_of(claim);
    return code;
}

pawl_code pawl__pg_timeout_claim(pawl_store *base, const pawl_timeout_claim *claim,
                                 pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    return check_and_lease(pawl__pg_of(base), claim, arena, rows, error);
}

void pawl__pg_send_timeout_free_dead(pawl__pg *store, pawl__pg_request *request, bool is_pooled_too,
                                     pawl_error *error)
{
    pawl__pg_begin(request, pawl__pg_in_use(store), PAWL__PG_TIMEOUT_FREE_DEAD, error);
    pawl__pg_put_time(request, store->last_now);
    pawl__pg_put_bool(request, is_pooled_too);
    pawl__pg_send(request);
}

pawl_code pawl__pg_timeout_reap(pawl_store *base, pawl_time now, int64_t *count, pawl_error *error)
{
    pawl__pg        *store = pawl__pg_of(base);
    pawl__pg_request expire, ranges, dead;
    pawl_code        code = pawl__pg_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_connection *connection = pawl__pg_in_use(store);
    pawl__pg_send_with(&expire, connection, PAWL__PG_TIMEOUT_REAP, &pawl__one_time, &now, error);
    pawl__pg_send_with(&ranges, connection, PAWL__PG_TIMEOUT_RANGES_END, &pawl__one_int, &now,
                       error);
    pawl__pg_send_timeout_free_dead(store, &dead, false, error);
    code            = pawl__pg_await(connection, error);
    int64_t changed = code == PAWL_OK ? pawl__pg_rows(&expire) : 0;
    pawl__pg_end(&expire);
    pawl__pg_end(&ranges);
    pawl__pg_end(&dead);
    code = pawl__pg_stamp_end(store, code, error);
    if (code == PAWL_OK)
        *count = changed;
    return code;
}
