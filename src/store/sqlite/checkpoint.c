/* checkpoint.c - copies the log (WAL) into the file, and starts it again at its beginning.
 *
 * SQLite's automatic checkpoint cannot restart the log while another connection reads it or has committed behind the
 * copied part. With two active connections that is nearly always so: the log would grow without end, and once over its
 * size, each commit would copy and sync pages. On a full disk the log is copied earlier.
 *
 * Tests: tests/contract/test_sqlite_checkpoint.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

/* Copies while it holds the write lock, so that no other connection writes or restarts the log meanwhile. */
static bool copy_and_wait(pawl__sqlite *store)
{
    sqlite3 *db             = store->connection.db;
    store->is_checkpointing = true;
    int result = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    store->is_checkpointing = false;
    return result == SQLITE_OK;
}

/* Copies all but the newest frames while others write; the rest, and the wait for those that read the log,
 * under the write lock. From then on the next commit writes at the log's beginning.
 *
 * Where the first step leaves nothing to copy, the next commit begins the log again by itself unless others read it
 * or have committed meanwhile; then the second step is done behind that commit. At once it would be a checkpoint that
 * follows a complete one: if another connection begins the log again just then, SQLite before 3.51.3 may damage the
 * file (https://www.sqlite.org/wal.html#walresetbug). */
static bool restart(pawl__sqlite *store)
{
    sqlite3 *db     = store->connection.db;
    int      frames = -1, copied = -1;
    if (!store->is_copied && sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_PASSIVE,
                                                       &frames, &copied) != SQLITE_OK)
        return false;
    store->is_copied = !store->is_copied && frames == copied;
    if (store->is_copied)
        return true;
    return copy_and_wait(store);
}

/* If a reader or another checkpoint prevents a restart, the next try is made when the log has grown by the same amount
 * again. The commit that called this has succeeded, so nothing fails. */
static int after_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    pawl__sqlite *store = context;
    (void)db, (void)name;
    if (pages < store->log_pages) {
        store->checkpoint_due = store->log_pages;
        store->is_copied      = false;
    } else if (pages >= store->checkpoint_due && !restart(store)) {
        store->checkpoint_due = pages + store->log_pages;
    }
    return SQLITE_OK;
}

/* On a full disk no commit succeeds, behind which the log would be copied, while the log itself may have the room.
 * Pages that are free in the file take what the log has. The whole of it is done under the write lock, since the log may be
 * copied already. */
void pawl__sqlite_checkpoint_when_full(pawl__sqlite *store)
{
    if (store->connection.db != NULL)
        (void)copy_and_wait(store);
}

void pawl__sqlite_checkpoint_begin(pawl__sqlite *store, int page_size)
{
    store->log_pages      = (int)(((int64_t)store->log_mb << 20) / page_size);
    store->checkpoint_due = store->log_pages;
    sqlite3_wal_hook(store->connection.db, after_commit, store);
}
