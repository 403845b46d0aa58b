/* position.c - gives committed events their positions.
 *
 * An event's number is given before its commit: whoever read by numbers would miss
 * an event whose commit came after one with a larger number. So positions are given
 * later, to what is committed, in the order of the numbers. What began after another
 * was committed has the larger number and the larger position.
 *
 * Entries of events that have their position stay in the index of those without
 * until no snapshot can see them and a vacuum came: with one held open somewhere for
 * minutes, each look from the beginning would walk over all of them. So a handle
 * remembers from where there can be any: horizon.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/wire.h"

#define WHOLE_MS 60000 /* between looks from the beginning, whatever became of the server */

/* What a look saw. */
typedef struct look {
    int64_t              from;
    int64_t              count_max;
    int64_t              count; /* of those that were given a position */
    pawl__postgres_sight sight;
} look;

static void read_look(pawl__postgres_call *call, look *l)
{
    if (!pawl__postgres_next(call))
        return;
    l->count        = pawl__postgres_get_int(call);
    l->sight.last   = pawl__postgres_get_int(call);
    l->sight.oldest = pawl__postgres_get_int(call);
    l->sight.next   = pawl__postgres_get_int(call);
    l->sight.limit  = l->count < l->count_max ? INT64_MAX : l->sight.last;
}

/* One at a time: whoever comes second sees, with its turn, what the first one gave. */
static pawl_code number_on(pawl__postgres *store, pawl__postgres_connection *connection, look *l,
                           pawl_error *error)
{
    pawl__postgres_call turn, call;
    connection->is_gathered = true;
    pawl__postgres_begin_on(connection, error);
    pawl__postgres_begin(&turn, connection, pawl__postgres_event_number_turn, error);
    pawl__postgres_put_int(&turn, pawl__postgres_turn_number(store));
    pawl__postgres_send(&turn);
    pawl__postgres_begin(&call, connection, pawl__postgres_event_number_next, error);
    pawl__postgres_put_int(&call, l->from);
    pawl__postgres_put_int(&call, l->count_max);
    pawl__postgres_send(&call);
    pawl__postgres_send_plain(connection, pawl__postgres_commit_work, error);
    pawl_code code = pawl__postgres_flush(connection, error);
    if (code == PAWL_OK)
        connection->in_transaction = false;
    pawl__postgres_rollback_transaction(connection);
    if (code == PAWL_OK)
        read_look(&call, l);
    pawl__postgres_end(&turn);
    pawl__postgres_end(&call);
    return code == PAWL_OK ? call.code : code;
}

int64_t pawl__postgres_turn_number(const pawl__postgres *store)
{
    return pawl__postgres_lock_number(store, "events", (pawl_text){0});
}

static int64_t begin_look(pawl__postgres_numbering *n)
{
    int64_t now = pawl__postgres_clock_ms();
    if (now - n->whole_ms < WHOLE_MS)
        return pawl__postgres_horizon_begin(&n->horizon);
    n->whole_ms = now;
    return 0;
}

/* Others may read what was given positions here. */
static pawl_code tell_readers(pawl__postgres *store, pawl__postgres_connection *connection,
                              pawl_error *error)
{
    pawl__postgres_call call;
    pawl__postgres_send_notify_events(store, connection, &call, error);
    pawl_code code = pawl__postgres_flush(connection, error);
    pawl__postgres_end(&call);
    return code;
}

pawl_code pawl__postgres_event_number(pawl_store *base, size_t count_max, int64_t *count,
                                      pawl_error *error)
{
    pawl__postgres            *store      = pawl__postgres_of(base);
    pawl__postgres_connection *connection = &store->main;
    look l         = {.count_max = count_max < INT64_MAX ? (int64_t)count_max : INT64_MAX};
    *count         = 0;
    pawl_code code = pawl__postgres_ready(store, error);
    if (code == PAWL_OK && store->main.in_transaction)
        code = pawl__postgres_side(store, &connection, error);
    if (code != PAWL_OK)
        return code;
    l.from = begin_look(&store->numbering);
    code   = number_on(store, connection, &l, error);
    if (code == PAWL_ETIMEOUT)
        pawl__postgres_end_standing(store, connection);
    if (code != PAWL_OK)
        return code;
    pawl__postgres_horizon_move(&store->numbering.horizon, &l.sight);
    *count = l.count;
    return l.count > 0 ? tell_readers(store, connection, error) : PAWL_OK;
}
