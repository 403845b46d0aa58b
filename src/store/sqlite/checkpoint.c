/* checkpoint.c - copies the log (WAL) into the file, and starts it again at its beginning.
 *
 * SQLite's automatic checkpoint cannot restart the log while another connection reads it, or has committed after the
 * copied part. With two active connections that is nearly always the case: the log would grow without end, and once it
 * exceeds its size, each commit would copy and sync pages. On a full disk the log is copied earlier.
 *
 * Tests: tests/contract/test_sqlite_checkpoint.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

/* Holds the write lock while it copies, so that no other connection writes or restarts the log meanwhile. */
static bool copy_and_wait(pawl__sqlite *store)
{
    sqlite3 *db             = store->connection.db;
    store->is_checkpointing = true;
    int result = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    store->is_checkpointing = false;
    return result == SQLITE_OK;
}

/* First copies while others write; then, under the write lock, copies the newest frames and waits for readers of the
 * log. The next commit then writes at the log's beginning.
 *
 * If the first step copies everything, the next commit restarts the log by itself, unless others read it or have
 * committed meanwhile; in that case the second step follows that commit. Run at once, it would be a checkpoint after a
 * complete one: if another connection restarts the log at that moment, SQLite before 3.51.3 may damage the file
 * (https://www.sqlite.org/wal.html#walresetbug). */
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

/* If a reader or another checkpoint prevents a restart, the next try follows when the log has grown by its size again.
 * Failures are ignored, since the commit that called this has succeeded. */
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

/* On a full disk no commit succeeds, so after_commit would never copy the log. Copying needs no space where the file
 * has free pages, and makes the log's space usable again. All is done under the write lock, since the log may be copied
 * completely already (see restart). */
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
