/* lease.c - takes, renews and gives back the leases of leaders.
 *
 * One statement takes the row "lead:NAME". It reads whether the lease is free, and writes only if
 * the row is still the version that it read: of two workers that try at once one gets it. If the
 * lease is not free, nothing is written. Endpoints repeat the statement all the time, so it is a
 * transaction of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/refusal.h"
#include "store/postgres/operations.h"
#include "store/sql/lead.h"

/* Longest wait for the row lock of a lease, which its holder keeps for one statement only. */
#define LOCK_MS 500
#define LOCK_MS_TEXT "500"

/* Ends the previous leader's session if its process stands still inside a commit, with row locks that the successor
 * needs. A leader that is only slow between its commits keeps its session (and, say, a handler transaction): its
 * next renewal is refused. */
static void end_previous(pawl__pg_connection *connection, pawl_text name, pawl_uuid previous)
{
    if (pawl__pg_end_commit_of(connection, previous))
        pawl_log(PAWL_LOG_WARNING,
                 "postgres: %.*s: the holder of this lease hung inside a commit: its session was "
                 "ended",
                 PAWL_TEXT_ARGS(name));
}

/* Ends a session that has the row of an expired lease locked and waits for its client: the process of a leader was
 * stopped while it renewed the lease or gave it back. Returns true if there was one; it is gone then. */
static bool end_renewal(pawl__pg_connection *connection, pawl_text name, pawl_time now)
{
    pawl__pg_request request;
    pawl__pg_begin(&request, connection, PAWL__PG_END_LEASE_HOLDER, NULL);
    pawl__pg_put_text(&request, name);
    pawl__pg_put_time(&request, now);
    pawl__pg_put_int(&request, LOCK_MS);
    bool is_ended = pawl__pg_run(&request) == PAWL_OK && pawl__pg_rows(&request) > 0;
    pawl__pg_end(&request);
    if (is_ended)
        pawl_log(PAWL_LOG_WARNING,
                 "postgres: %.*s: the holder of this lease hung while it had the lease row locked: "
                 "its session was ended",
                 PAWL_TEXT_ARGS(name));
    return is_ended;
}

/* A try to take a lease. */
typedef struct taking {
    pawl__pg            *store;
    pawl__pg_connection *connection;
    pawl_text            name;
    pawl_time            now;
    int64_t              lease;
    bool                 is_taken;
    pawl_uuid            previous; /* the worker that had it; zero: none, or this one */
} taking;

/* Sets a short lock_timeout, except in a handler transaction, which would not survive the failure. */
static void send_take(const taking *t, pawl__pg_request *request, pawl_error *error)
{
    bool is_alone = !t->store->sql.in_handler_transaction;
    t->connection->is_gathered =
        true; /* a process that is stopped has sent all of it, or nothing */
    pawl__pg_begin(request, t->connection, is_alone ? PAWL__PG_LEAD_TAKE_ALONE : PAWL__PG_LEAD_TAKE,
                   error);
    pawl__pg_put_text(request, t->name);
    pawl__pg_put_uuid(request, t->store->sql.base.worker.uuid);
    pawl__pg_put_int(request, t->store->lock_number);
    pawl__pg_put_int(request, t->store->wait.pid);
    pawl__pg_put_time(request, t->now);
    pawl__pg_put_time(request, pawl_time_add(t->now, t->lease));
    if (is_alone)
        pawl__pg_put_text(request, PAWL_TEXT(LOCK_MS_TEXT));
    pawl__pg_send(request);
}

static pawl_code try_to_take(taking *t, pawl_error *error)
{
    pawl__pg_request request;
    send_take(t, &request, error);
    pawl_code code = pawl__pg_await(t->connection, error);
    t->is_taken    = code == PAWL_OK && pawl__pg_next(&request);
    if (t->is_taken)
        t->previous = pawl__pg_get_uuid(&request);
    pawl__pg_end(&request);
    return code;
}

/* Takes the lease in one round trip, on a connection without a transaction, so that it is one of its own. */
static pawl_code take(taking *t, pawl_error *error)
{
    pawl__pg *store = t->store;
    pawl_code code  = PAWL_OK;
    t->connection   = &store->main;
    if (!store->sql.in_handler_transaction)
        code = pawl__pg_free_connection(store, &t->connection, error);
    if (code == PAWL_OK)
        code = try_to_take(t, error);
    if (code == PAWL_EBUSY && !store->sql.in_handler_transaction &&
        end_renewal(t->connection, t->name, t->now))
        code = try_to_take(t, error);
    if (t->is_taken && !pawl_uuid_is_zero(t->previous) && !store->sql.in_handler_transaction)
        end_previous(t->connection, t->name, t->previous);
    return code;
}

pawl_code pawl__pg_lead(pawl_store *base, pawl_text name, pawl_time now, int64_t lease,
                        bool *is_ours, pawl_error *error)
{
    pawl__pg                 *store = pawl__pg_of(base);
    pawl__sql_lease_name_text full;
    pawl__pg_note_now(store, now);
    pawl_code code = pawl__sql_lease_name(base, "lead:", name, &full, error);
    if (code != PAWL_OK)
        return code;
    taking t = {.store = store, .name = full.text, .now = now, .lease = lease};
    code     = take(&t, error);
    *is_ours = t.is_taken;
    return code;
}

pawl_code pawl__pg_unlead(pawl_store *base, pawl_text name, pawl_error *error)
{
    pawl__pg                 *store = pawl__pg_of(base);
    pawl__pg_request          request;
    pawl__sql_lease_name_text full;
    pawl_code                 code = pawl__sql_lease_name(base, "lead:", name, &full, error);
    if (code == PAWL_OK)
        code = pawl__pg_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_begin(&request, pawl__pg_in_use(store), PAWL__SQL_LEASE_DELETE, error);
    pawl__pg_put_text(&request, full.text);
    pawl__pg_put_uuid(&request, base->worker.uuid);
    pawl__pg_send(&request);
    code = pawl__pg_stamp_send_end(store, error);
    pawl__pg_end(&request);
    return code;
}
