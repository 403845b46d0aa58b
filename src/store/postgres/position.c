/* position.c - gives committed events their positions.
 *
 * A sequence numbers an event before its commit: reading by numbers would miss an event whose
 * commit came after one with a larger number. So positions are given later, to committed
 * events, in the order of their numbers. An event that was appended after another was committed
 * has the larger number and the larger position.
 *
 * An event that gets its position leaves an entry in the index of events without one, until no
 * snapshot can see it and a vacuum has run. While a snapshot is open for minutes, a scan from the
 * beginning would read all these entries. So a scan begins at the horizon (horizon.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/wait.h"
#include "store/postgres/operations.h"
#include "store/postgres/wire.h"

#define WHOLE_MS 60000 /* a scan from the first event once a minute, should the horizon be wrong */

/* Where a scan of the events without a position begins, and its results. */
typedef struct scan {
    int64_t        from;
    int64_t        count_max;
    int64_t        count; /* of the events that were given a position */
    pawl__pg_sight sight;
} scan;

static void read_scan(pawl__pg_request *request, scan *l)
{
    if (!pawl__pg_next(request))
        return;
    l->count        = pawl__pg_get_int(request);
    l->sight.last   = pawl__pg_get_int(request);
    l->sight.oldest = pawl__pg_get_int(request);
    l->sight.next   = pawl__pg_get_int(request);
    l->sight.limit  = l->count < l->count_max ? INT64_MAX : l->sight.last;
}

/* An advisory lock lets one handle at a time number: the second sees, once it has the lock, the
 * positions that the first gave. */
static pawl_code number_on(pawl__pg *store, pawl__pg_connection *connection, scan *l,
                           pawl_error *error)
{
    pawl__pg_request turn, request;
    int64_t          number = pawl__pg_turn_number(store);
    connection->is_gathered = true;
    pawl__pg_begin_on(connection, error);
    pawl__pg_send_with(&turn, connection, PAWL__PG_EVENT_TURN, &pawl__one_int, &number, error);
    pawl__pg_begin(&request, connection, PAWL__PG_EVENT_NUMBER, error);
    pawl__pg_put_int(&request, l->from);
    pawl__pg_put_int(&request, l->count_max);
    pawl__pg_send(&request);
    pawl__pg_send_plain(connection, PAWL__PG_TRANSACTION_COMMIT, error);
    pawl_code code = pawl__pg_await(connection, error);
    if (code == PAWL_OK)
        connection->in_transaction = false;
    pawl__pg_rollback_transaction(connection);
    if (code == PAWL_OK)
        read_scan(&request, l);
    pawl__pg_end(&turn);
    pawl__pg_end(&request);
    return code == PAWL_OK ? request.code : code;
}

int64_t pawl__pg_turn_number(const pawl__pg *store)
{
    return pawl__pg_lock_number(store, "events", (pawl_text){0});
}

static int64_t begin_scan(pawl__pg_numbering *n)
{
    int64_t now = pawl__clock_ms();
    if (now - n->whole_ms < WHOLE_MS)
        return pawl__pg_horizon_begin(&n->horizon);
    n->whole_ms = now;
    return 0;
}

/* Sends NOTIFY to readers of events, which can read the new positions. A failure is only logged, as the positions
 * are committed. */
static void tell_readers(pawl__pg *store, pawl__pg_connection *connection)
{
    pawl_error       why = PAWL_ERROR_INIT;
    pawl__pg_request request;
    pawl__pg_send_notify_events(store, connection, &request, &why);
    pawl_code code = pawl__pg_await(connection, &why);
    pawl__pg_end(&request);
    pawl__pg_notified(store, connection, code, &why);
}

pawl_code pawl__pg_event_number(pawl_store *base, size_t count_max, int64_t *count,
                                pawl_error *error)
{
    pawl__pg            *store = pawl__pg_of(base);
    pawl__pg_connection *connection;
    uint64_t             most = count_max; /* a size_t of 32 bits is always below */
    scan                 l    = {.count_max = most < INT64_MAX ? (int64_t)most : INT64_MAX};
    pawl_code            code = pawl__pg_free_connection(store, &connection, error);
    if (code != PAWL_OK)
        return code;
    l.from = begin_scan(&store->numbering);
    code   = number_on(store, connection, &l, error);
    if (code == PAWL_ETIMEOUT)
        pawl__pg_end_standing(store, connection);
    if (code != PAWL_OK)
        return code;
    pawl__pg_horizon_move(&store->numbering.horizon, &l.sight);
    *count = l.count;
    if (l.count > 0)
        tell_readers(store, connection);
    return PAWL_OK;
}
