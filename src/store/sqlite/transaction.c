/* transaction.c - begin and end; stamps; reads that belong together; holds.
 *
 * Write transactions begin with BEGIN IMMEDIATE, so that one that got the lock
 * cannot fail for it later. While a hold is open, everything runs inside it
 * and ends with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

#include <time.h>

#define SYNCHRONOUS_NORMAL 1
#define SLEEP_US_MAX 20000

/* Called while another connection has the lock; sleeps a little longer each
 * time. 0 gives up: SQLITE_BUSY.
 *
 * Handles of one process are not served in turn, on purpose: a commit of another
 * connection empties a connection's page cache, so that writers that
 * alternate are slower (measured: a fifth) than one that goes on while the
 * others sleep. */
int pawl__sqlite_busy(void *context, int count)
{
    pawl__sqlite *store = context;
    if (count == 0)
        store->waited_us = 0;
    if (atomic_load(&store->is_interrupted) || store->waited_us >= (int64_t)store->busy_ms * 1000)
        return 0;
    int64_t sleep_us = 200 + 400 * (int64_t)count;
    if (sleep_us > SLEEP_US_MAX)
        sleep_us = SLEEP_US_MAX;
    struct timespec pause = {0, (long)(sleep_us * 1000)};
    (void)nanosleep(&pause, NULL);
    store->waited_us += sleep_us;
    return 1;
}

static pawl_code run(pawl__sqlite *store, int statement, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, statement, error);
    return pawl__sqlite_run(&request);
}

/* The statement was prepared as the connection was made, so that it runs without
 * memory. Where it does not all the same, the connection is closed: a transaction
 * that stays open would keep every other program from writing. */
void pawl__sqlite_rollback(pawl_store *base)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    sqlite3      *db    = store->connection.db;
    /* A full disk and the like have rolled back already. */
    if (db == NULL || sqlite3_get_autocommit(db))
        return;
    (void)run(store, PAWL__SQLITE_TRANSACTION_ROLLBACK, NULL);
    if (!sqlite3_get_autocommit(db))
        pawl__sqlite_lose(store);
}

/* Says how long it waited, and for what. */
static pawl_code explain_busy(pawl__sqlite *store, pawl_code code, pawl_error *error)
{
    if (code != PAWL_EBUSY || sqlite3_errcode(store->connection.db) == SQLITE_PROTOCOL)
        return code;
    if (atomic_load(&store->is_interrupted))
        return pawl_error_set(error, PAWL_EINTERRUPTED,
                              "sqlite: %s: interrupted while another program held the lock",
                              store->given_path);
    return pawl_error_set(
        error, PAWL_EBUSY,
        "sqlite: %s: another connection holds the write lock for more than %d ms, "
        "the limit",
        store->given_path, store->busy_ms);
}

pawl_code pawl__sqlite_write_begin(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    if (store->sql.in_hold)
        return PAWL_OK;
    pawl_code code = pawl__sqlite_connected(store, error);
    if (code != PAWL_OK)
        return code;
    atomic_store(&store->is_interrupted, false);
    return explain_busy(store, run(store, PAWL__SQLITE_TRANSACTION_BEGIN, error), error);
}

pawl_code pawl__sqlite_write_end(pawl_store *base, pawl_code code, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    if (store->sql.in_hold)
        return code;
    if (code == PAWL_OK)
        code = run(store, PAWL__SQLITE_TRANSACTION_COMMIT, error);
    if (code != PAWL_OK)
        pawl__sqlite_rollback(base);
    return code;
}

/* The setting takes effect as the statement is prepared, so it cannot be kept. */
static pawl_code begin_without_sync(pawl__sqlite *store, pawl_error *error)
{
    if (store->synchronous <= SYNCHRONOUS_NORMAL)
        return PAWL_OK;
    return pawl__sqlite_execute(store->connection.db, "pragma synchronous = normal", error);
}

/* A connection that goes on without syncs would answer OK for what a power cut takes
 * away, so it is closed: the next one has the setting from its beginning. */
static void end_without_sync(pawl__sqlite *store)
{
    sqlite3 *db = store->connection.db;
    if (store->synchronous <= SYNCHRONOUS_NORMAL || db == NULL)
        return;
    if (pawl__sqlite_execute(db, "pragma synchronous = full", NULL) != PAWL_OK)
        pawl__sqlite_lose(store);
}

pawl_code pawl__sqlite_stamp_begin(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    if (store->sql.in_hold)
        return PAWL_OK;
    pawl_code code = pawl__sqlite_connected(store, error);
    if (code != PAWL_OK)
        return code;
    code = begin_without_sync(store, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_write_begin(base, error);
    if (code != PAWL_OK) /* a pragma that fails may have taken effect before */
        end_without_sync(store);
    return code;
}

pawl_code pawl__sqlite_stamp_end(pawl_store *base, pawl_code code, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    if (store->sql.in_hold)
        return code;
    code = pawl__sqlite_write_end(base, code, error);
    end_without_sync(store);
    return code;
}

pawl_code pawl__sqlite_read_begin(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    if (store->sql.in_hold)
        return PAWL_OK;
    pawl_code code = pawl__sqlite_connected(store, error);
    if (code != PAWL_OK)
        return code;
    atomic_store(&store->is_interrupted, false);
    return run(store, PAWL__SQLITE_TRANSACTION_BEGIN_READ, error);
}

pawl_code pawl__sqlite_read_end(pawl_store *base, pawl_code code, pawl_error *error)
{
    return pawl__sqlite_write_end(base, code, error);
}

/* ---- Holds -------------------------------------------------------------- */

pawl_code pawl__sqlite_hold_begin(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    if (store->sql.in_hold)
        return pawl_error_set(error, PAWL_EINVAL, "sqlite: this handle has an open hold already");
    pawl_code code     = pawl__sqlite_write_begin(base, error);
    store->sql.in_hold = code == PAWL_OK;
    return code;
}

void pawl__sqlite_hold_end(pawl_store *base)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    if (!store->sql.in_hold)
        return;
    store->sql.in_hold = false;
    pawl__sqlite_rollback(base);
}
