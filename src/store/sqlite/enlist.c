/* enlist.c - a change set inside a transaction of the application's own connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"
#include "store/sqlite/sqlite.h"

#include <sys/stat.h>

static pawl_code check_native(pawl__sqlite *store, sqlite3 *db, pawl_error *error)
{
    struct stat status;
    const char *path = db != NULL ? sqlite3_db_filename(db, "main") : NULL;
    if (db == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "enlist: the connection is NULL");
    if (path == NULL || stat(path, &status) != 0 || status.st_dev != store->device ||
        status.st_ino != store->inode)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection is on '%s', the store on '%s': they must be "
                              "the same file",
                              path != NULL ? path : "", store->path);
    if (sqlite3_get_autocommit(db))
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection has no open transaction: BEGIN first");
    return PAWL_OK;
}

/* Prepared before the savepoint begins, so that ending it needs no memory: no half change set remains in the caller's
 * transaction. */
typedef struct savepoint {
    sqlite3_stmt *rollback_to, *release, *rollback;
} savepoint;

static void savepoint_free(savepoint *point)
{
    (void)sqlite3_finalize(point->rollback_to);
    (void)sqlite3_finalize(point->release);
    (void)sqlite3_finalize(point->rollback);
}

static pawl_code savepoint_begin(pawl__sqlite_connection *own, savepoint *point, pawl_error *error)
{
    sqlite3  *db = own->db;
    pawl_code code =
        pawl__sqlite_prepare_text(db, "rollback to pawl_enlist", &point->rollback_to, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_prepare_text(db, "release pawl_enlist", &point->release, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_prepare_text(db, "rollback", &point->rollback, error);
    return code == PAWL_OK ? pawl__sql_query(&own->session, "savepoint pawl_enlist", error) : code;
}

/* If the savepoint cannot be rolled back, the caller's whole transaction is: otherwise the caller's commit would make
 * half of a change set durable. */
static pawl_code savepoint_end(sqlite3 *db, savepoint *point, pawl_code code, pawl_error *error)
{
    if (sqlite3_get_autocommit(db))
        return code;
    bool is_over = code == PAWL_OK || sqlite3_step(point->rollback_to) == SQLITE_DONE;
    if (is_over && sqlite3_step(point->release) == SQLITE_DONE)
        return code;
    (void)sqlite3_step(point->rollback);
    if (code == PAWL_OK)
        code = pawl__sqlite_failed(db, sqlite3_errcode(db), "release", error);
    return pawl_error_wrap(error, code, "enlist: your transaction was rolled back");
}

pawl_code pawl__sqlite_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                              pawl_error *error)
{
    pawl__sqlite           *store = pawl__sqlite_of(base);
    pawl__sqlite_connection own   = {.session = {.store = &store->sql}, .db = native};
    savepoint               point = {0};
    pawl_code               code  = check_native(store, native, error);
    if (code != PAWL_OK)
        return code;
    code = savepoint_begin(&own, &point, error);
    if (code == PAWL_OK) {
        code = pawl__sql_apply_enlisted(base, &own, changes, error);
        pawl__sql_session_closed(&own.session);
        code = savepoint_end(native, &point, code, error);
    }
    savepoint_free(&point);
    return code;
}
