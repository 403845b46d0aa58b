/* transaction.c - begins and ends transactions. Those that only write claims ("stamps") are not synced to the disk.
 *
 * Write transactions begin with BEGIN IMMEDIATE: once begun, they cannot fail because of the lock. While a handler
 * transaction is open, everything runs inside it and ends with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

#include <time.h>

#define SYNCHRONOUS_NORMAL 1
#define SLEEP_US_MAX 20000
#define LEAVING_PART 20          /* part of the full wait, enough for another's commit */
#define CHECKPOINT_WAIT_US 50000 /* for readers of the log; nobody else may write meanwhile */

/* Called while another connection has the lock; sleeps longer each time. Returns 0 to give up: SQLITE_BUSY.
 *
 * Handles of one process do not take turns, on purpose: a commit of one connection invalidates the page caches of the
 * others, so alternating writers were measured to be a fifth slower than one that continues while the others sleep. */
int pawl__sqlite_busy(void *context, int count)
{
    pawl__sqlite *store    = context;
    int64_t       limit_us = (int64_t)store->busy_ms * 1000;
    if (store->is_checkpointing && limit_us > CHECKPOINT_WAIT_US)
        limit_us = CHECKPOINT_WAIT_US;
    if (count == 0)
        store->waited_us = 0;
    if (store->is_leaving && store->was_busy)
        limit_us /= LEAVING_PART;
    if (atomic_load(&store->is_interrupted) || store->waited_us >= limit_us)
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
    const pawl__sql_asked asked = {.statement = statement};
    pawl_code             code;
    (void)pawl__sql_session_send(&store->connection.session, &asked, &code, error);
    return code;
}

/* pawl's statements are reset already. An unfinished statement of a handler would prevent the transaction from ending,
 * or keep the connection at an old state of the file. Statements without text belong to FTS5, R*Tree and blobs, which
 * finish them with the transaction. */
bool pawl__sqlite_reset_all(sqlite3 *db, bool has_text)
{
    bool was_busy = false;
    for (sqlite3_stmt *stmt = NULL; db != NULL && (stmt = sqlite3_next_stmt(db, stmt)) != NULL;)
        if (sqlite3_stmt_busy(stmt) && (sqlite3_sql(stmt) != NULL || !has_text)) {
            was_busy = true;
            (void)sqlite3_reset(stmt);
        }
    return was_busy;
}

/* The rollback was prepared when the connection was opened, so it needs no memory. If it fails nevertheless, the
 * connection is closed: an open transaction would block all other writers. */
void pawl__sqlite_rollback(pawl_store *base)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    sqlite3      *db    = store->connection.db;
    (void)pawl__sqlite_reset_all(db, true);
    /* after a full disk, for example, SQLite has rolled back already */
    if (db != NULL && !sqlite3_get_autocommit(db))
        (void)run(store, PAWL__SQLITE_TRANSACTION_ROLLBACK, NULL);
    (void)pawl__sqlite_reset_all(db, false);
    if (db != NULL && !sqlite3_get_autocommit(db))
        pawl__sqlite_lose(store);
    if (store->connection.was_full)
        pawl__sqlite_checkpoint_when_full(store);
    store->connection.was_full = false;
}

/* Adds to the error how long it waited, and for what. */
static pawl_code explain_busy(pawl__sqlite *store, pawl_code code, pawl_error *error)
{
    if (code != PAWL_EBUSY || sqlite3_errcode(store->connection.db) == SQLITE_PROTOCOL)
        return code;
    if (atomic_load(&store->is_interrupted))
        return pawl_error_set(error, PAWL_EINTERRUPTED,
                              "sqlite: %s: interrupted while another program held the lock",
                              store->given_path);
    if (sqlite3_extended_errcode(store->connection.db) == SQLITE_BUSY_SNAPSHOT)
        return pawl_error_set(error, PAWL_EBUSY,
                              "sqlite: %s: a statement of the application's own on this connection "
                              "is unfinished: it reads an older state of the file, behind which "
                              "nothing can be written",
                              store->given_path);
    return pawl_error_set(
        error, PAWL_EBUSY,
        "sqlite: %s: another connection holds the write lock for more than %d ms, "
        "the limit",
        store->given_path, store->busy_ms);
}

static pawl_code begin(pawl__sqlite *store, int statement, pawl_error *error)
{
    pawl_code code       = pawl__sqlite_connected(store, error);
    store->checked_queue = (pawl_text){0};
    if (code != PAWL_OK)
        return code;
    atomic_store(&store->is_interrupted, false);
    return run(store, statement, error);
}

pawl_code pawl__sqlite_begin(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = begin(store, PAWL__SQLITE_TRANSACTION_BEGIN, error);
    /* the handler's own SQL may have left it on */
    if (code == PAWL_EDENIED && sqlite3_exec(store->connection.db, "pragma query_only = off", NULL,
                                             NULL, NULL) == SQLITE_OK)
        code = begin(store, PAWL__SQLITE_TRANSACTION_BEGIN, error);
    code            = explain_busy(store, code, error);
    store->was_busy = code == PAWL_EBUSY || code == PAWL_EINTERRUPTED;
    store->is_leaving &= code != PAWL_OK;
    return code;
}

pawl_code pawl__sqlite_read_begin(pawl_store *base, pawl_error *error)
{
    return begin(pawl__sqlite_of(base), PAWL__SQLITE_TRANSACTION_BEGIN_READ, error);
}

/* If the sync of the log fails, the transaction may or may not be in the log. All other failures, also of a deferred
 * foreign key, come before its last frame is written, and roll it back. */
pawl_code pawl__sqlite_commit(pawl_store *base, bool *is_unknown, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = run(store, PAWL__SQLITE_TRANSACTION_COMMIT, error);
    int           kind  = sqlite3_extended_errcode(store->connection.db) & 0xFF;
    *is_unknown         = code != PAWL_OK && kind == SQLITE_IOERR;
    if (code != PAWL_OK && kind == SQLITE_CONSTRAINT)
        return pawl_error_set(error, PAWL_ECONFLICT, "sqlite: %s",
                              sqlite3_errmsg(store->connection.db));
    return code;
}

pawl_code pawl__sqlite_mark_open(pawl_store *base, pawl_error *error)
{
    return PAWL__SQL_SAY(&pawl__sqlite_of(base)->connection.session, save, PAWL__SQL_MARK, error);
}

/* The savepoint is missing if the handler's own SQL ended the transaction, or SQLite undid it after a failed
 * statement, even if the handler then began another one. */
pawl_code pawl__sqlite_is_open(pawl_store *base, bool *is_open, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    if (pawl__sqlite_reset_all(store->connection.db, true))
        return pawl_error_set(error, PAWL_EINVAL,
                              "sqlite: the handler's own SQL left a statement unfinished "
                              "(sqlite3_finalize, sqlite3_reset): nothing can be committed");
    pawl_code code = PAWL__SQL_SAY(&store->connection.session, release, PAWL__SQL_MARK, error);
    *is_open       = code == PAWL_OK;
    return code == PAWL_ESCHEMA ? PAWL_OK : code; /* no such savepoint */
}

/* ---- Stamps ------------------------------------------------------------- */

/* The pragma takes effect while it is prepared, so no prepared statement is kept. */
pawl_code pawl__sqlite_stamps_begin(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = pawl__sqlite_connected(store, error);
    if (code != PAWL_OK || store->synchronous <= SYNCHRONOUS_NORMAL)
        return code;
    return pawl__sql_query(&store->connection.session, "pragma synchronous = normal", error);
}

/* If the setting cannot be restored, the connection is closed: without syncs it would report commits as durable that a
 * power cut can undo. A new connection starts with the right setting. */
void pawl__sqlite_stamps_end(pawl_store *base)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    if (store->synchronous <= SYNCHRONOUS_NORMAL || store->connection.db == NULL)
        return;
    if (pawl__sql_query(&store->connection.session, "pragma synchronous = full", NULL) != PAWL_OK)
        pawl__sqlite_lose(store);
}
