/* lease.c - who leads: named leases, each a worker's.
 *
 * The row "lead:NAME" is taken in one statement: it looks whether the lease is
 * free, and writes only over the row that it looked at, so that of two that try
 * at once one gets it. When it is not free nothing is written. It is asked again
 * and again for as long as an endpoint runs, so it is a transaction of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/postgres.h"

#include <string.h>

#define KIND "lead:"

/* KIND and a name within the limit. */
typedef struct lease_name {
    char      data[PAWL_NAME_SIZE_MAX + sizeof KIND];
    pawl_text text;
} lease_name;

static pawl_code name_of(pawl_text name, lease_name *result, pawl_error *error)
{
    size_t size = sizeof KIND - 1;
    if (name.size == 0 || name.size > PAWL_NAME_SIZE_MAX)
        return pawl_error_set(error, PAWL_EINVAL,
                              "postgres: a name of %zu bytes for '" KIND "', limit %d", name.size,
                              PAWL_NAME_SIZE_MAX);
    memcpy(result->data, KIND, size);
    memcpy(result->data + size, name.data, name.size);
    result->text = (pawl_text){.data = result->data, .size = size + name.size};
    return PAWL_OK;
}

/* Whoever led before may have been stopped inside a commit: the rows that it has locked
 * are those that its successor writes, and they stay locked until it goes on. That session
 * is ended, and no other. One that is slow between its commits keeps what it has under
 * way, a handler's transaction say: as a leader it is told that another one leads. */
static void end_previous(pawl__postgres_connection *connection, pawl_text name, pawl_uuid previous)
{
    if (pawl__postgres_end_commit_of(connection, previous))
        pawl_log(PAWL_LOG_WARNING,
                 "postgres: %.*s: who had this lease stood still inside a commit: its session was "
                 "ended",
                 PAWL_TEXT_ARGS(name));
}

/* It may have been stopped while it renewed the lease, too: then the row itself is locked,
 * and is free for the next try. */
static void end_renewal(pawl__postgres *store, pawl_text name, pawl_time now)
{
    pawl__postgres_call call;
    pawl__postgres_begin(&call, &store->main, pawl__postgres_end_lease_holder, NULL);
    pawl__postgres_put_text(&call, name);
    pawl__postgres_put_time(&call, now);
    (void)pawl__postgres_run(&call);
    pawl__postgres_end(&call);
}

static pawl_code take(pawl__postgres *store, pawl_text name, pawl_time now, int64_t lease,
                      bool *is_held, pawl_error *error)
{
    pawl__postgres_connection *connection = &store->main;
    pawl__postgres_call        call;
    pawl_uuid                  previous = {{0}};
    pawl_code                  code     = PAWL_OK;
    bool                       is_alone = !store->main.in_transaction;
    if (!is_alone)
        code = pawl__postgres_stamp_begin(store, &connection, error);
    if (code != PAWL_OK)
        return code;
    pawl__postgres_begin(&call, connection,
                         is_alone ? pawl__postgres_lead_take_alone : pawl__postgres_lead_take,
                         error);
    pawl__postgres_put_text(&call, name);
    pawl__postgres_put_uuid(&call, store->base.worker.uuid);
    pawl__postgres_put_int(&call, store->lock_number);
    pawl__postgres_put_int(&call, store->pid);
    pawl__postgres_put_time(&call, now);
    pawl__postgres_put_time(&call, pawl_time_add(now, lease));
    code          = pawl__postgres_run(&call);
    bool is_taken = code == PAWL_OK && pawl__postgres_next(&call);
    if (is_taken)
        previous = pawl__postgres_get_uuid(&call);
    pawl__postgres_end(&call);
    if (!is_alone)
        code = pawl__postgres_stamp_end(connection, code, error);
    *is_held = code == PAWL_OK && is_taken;
    if (*is_held && !pawl_uuid_is_zero(previous) && !store->is_held)
        end_previous(connection, name, previous);
    if (code == PAWL_ETIMEOUT && is_alone)
        end_renewal(store, name, now);
    return code;
}

pawl_code pawl__postgres_lead(pawl_store *base, pawl_text name, pawl_time now, int64_t lease,
                              bool *is_held, pawl_error *error)
{
    pawl__postgres *store = pawl__postgres_of(base);
    lease_name      full;
    *is_held       = false;
    pawl_code code = pawl__postgres_ready(store, error);
    pawl__postgres_note_now(store, now);
    if (code == PAWL_OK && lease <= 0)
        code = pawl_error_set(error, PAWL_EINVAL, "lease is %lld microseconds, must be positive",
                              (long long)lease);
    if (code == PAWL_OK)
        code = name_of(name, &full, error);
    return code == PAWL_OK ? take(store, full.text, now, lease, is_held, error) : code;
}

pawl_code pawl__postgres_unlead(pawl_store *base, pawl_text name, pawl_error *error)
{
    pawl__postgres            *store = pawl__postgres_of(base);
    pawl__postgres_connection *connection;
    pawl__postgres_call        call;
    lease_name                 full;
    pawl_code                  code = pawl__postgres_ready(store, error);
    if (code == PAWL_OK)
        code = name_of(name, &full, error);
    if (code == PAWL_OK)
        code = pawl__postgres_stamp_begin(store, &connection, error);
    if (code != PAWL_OK)
        return code;
    pawl__postgres_begin(&call, connection, pawl__sql_lease_delete, error);
    pawl__postgres_put_text(&call, full.text);
    pawl__postgres_put_uuid(&call, base->worker.uuid);
    code = pawl__postgres_run(&call);
    pawl__postgres_end(&call);
    return pawl__postgres_stamp_end(connection, code, error);
}

pawl_code pawl__postgres_lead_list(pawl_store *base, pawl_time now, pawl_arena *arena,
                                   pawl_lead_row **items, size_t *count, pawl_error *error)
{
    pawl__postgres     *store = pawl__postgres_of(base);
    pawl__postgres_call call;
    *items         = NULL;
    *count         = 0;
    pawl_code code = pawl__postgres_ready(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__postgres_begin(&call, &store->main, pawl__postgres_lead_alive_list, error);
    pawl__postgres_put_time(&call, now);
    code       = pawl__postgres_run(&call);
    call.arena = arena;
    if (code != PAWL_OK)
        return code;
    *items = pawl__postgres_take_rows(&call, sizeof **items);
    while (*items != NULL && pawl__postgres_next(&call)) {
        pawl_lead_row *row = &(*items)[(*count)++];
        row->name          = pawl__postgres_get_text(&call);
        row->worker.uuid   = pawl__postgres_get_uuid(&call);
        row->expires       = pawl__postgres_get_time(&call);
    }
    pawl__postgres_end(&call);
    return call.code;
}
