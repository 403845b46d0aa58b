/* commit.c - the one write path.
 *
 *     begin immediate
 *     fence            the worker's row, where worker and epoch match
 *     refusable kinds  every refusal of the round is collected
 *       any refused:   roll back, leave their groups out, begin again
 *     the other kinds
 *     commit
 *
 * Rounds end: each leaves out at least one group more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/kinds.h"
#include "store/sql/refusal.h"
#include "store/sqlite/sqlite.h"

#include <string.h>
#include <sys/stat.h>

/* ---- Kinds -------------------------------------------------------------- */

/* In the order in which they are applied. */
static pawl__sqlite_apply_fn *const apply_fns[] = {
#define APPLY_FN(name, is_refusable) pawl__sqlite_apply_##name,
    PAWL_CHANGE_KINDS(APPLY_FN)
#undef APPLY_FN
};
_Static_assert(sizeof apply_fns / sizeof apply_fns[0] == pawl_change_kind_count,
               "one function for each kind");

/* ---- One round ---------------------------------------------------------- */

typedef struct committing {
    pawl__sqlite_writer writer;
    const pawl_changes *changes;
    pawl_refusals      *refused;
    bool               *is_dropped; /* by group */
    pawl_error         *error;
} committing;

static bool is_refusal(pawl_code code)
{
    return code == PAWL_ECONFLICT || code == PAWL_EDUPLICATE || code == PAWL_EGONE ||
           code == PAWL_EMISMATCH;
}

static pawl_code apply_kind(committing *c, pawl_change_kind kind)
{
    const pawl__sql_kind *row   = &pawl__sql_kinds[kind];
    size_t                count = pawl__sql_count_of(c->changes, kind);
    const char           *item  = pawl__sql_items_of(c->changes, kind);
    for (size_t i = 0; i < count; i++, item += row->size) {
        if (c->is_dropped[pawl__sql_group_of(item)])
            continue;
        pawl_error why;
        pawl_code  code = apply_fns[kind](&c->writer, item, &why);
        if (code == PAWL_OK)
            continue;
        if (row->is_refusable && is_refusal(code)) {
            if (pawl__sql_refuse(c->refused, kind, item, &why) == PAWL_OK)
                continue;
            return pawl_error_set(c->error, PAWL_ENOMEM, "sqlite: out of memory for a refusal");
        }
        if (c->error != NULL)
            *c->error = why;
        return pawl_error_wrap(c->error, code, "%s %zu", pawl_change_kind_name(kind), i);
    }
    return PAWL_OK;
}

/* What a later kind may be refused for depends on the kinds before it, those
 * that cannot be refused too. */
static int last_refusable(void)
{
    int last = (int)pawl_change_kind_count - 1;
    while (!pawl__sql_kinds[last].is_refusable)
        last--;
    return last;
}

/* All kinds. Once something was refused, what follows the last kind that can be is
 * not begun: the round is void then. */
static pawl_code apply_all(committing *c, size_t refused_before)
{
    pawl_code code = PAWL_OK;
    for (int kind = 0; code == PAWL_OK && kind < pawl_change_kind_count; kind++)
        if (kind <= last_refusable() || c->refused->count == refused_before)
            code = apply_kind(c, (pawl_change_kind)kind);
    return code;
}

static pawl_code fence(pawl__sqlite *store, const pawl_changes *changes, pawl_error *error)
{
    const pawl_counters *counters = &changes->counters;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_WORKER_FENCE, error);
    pawl__sqlite_put_uuid(&request, changes->commit_id);
    pawl__sqlite_put_int(&request, changes->now);
    pawl__sqlite_put_int(&request, counters->messages);
    pawl__sqlite_put_int(&request, counters->timeouts);
    pawl__sqlite_put_int(&request, counters->flushes);
    pawl__sqlite_put_int(&request, counters->failures);
    pawl__sqlite_put_int(&request, counters->conflicts);
    pawl__sqlite_put_int(&request, counters->dead);
    pawl__sqlite_put_uuid(&request, store->sql.base.worker.uuid);
    pawl__sqlite_put_int(&request, store->sql.base.epoch);
    pawl_code code = pawl__sqlite_run(&request);
    if (code == PAWL_OK && request.changes == 0)
        return pawl__sql_fenced(&store->sql.base, "sqlite", error);
    return code;
}

/* ---- Commit ------------------------------------------------------------- */

/* The transaction is durable: the rows it settled are nobody's now. */
static void end_claims(committing *c)
{
    const pawl_queue_settle *settles = c->changes->queue_settle.items;
    pawl__sqlite            *store   = c->writer.store;
    for (size_t i = 0; i < c->changes->queue_settle.count; i++)
        if (!c->is_dropped[settles[i].group] && store->book != NULL)
            pawl__sqlite_claim_end(store->book, settles[i].seq, store);
}

/* The same when it is not known: resolve() will end them, or not. Without
 * memory for the list they stay claimed until this handle closes. */
static void remember_claims(committing *c)
{
    const pawl_queue_settle *settles = c->changes->queue_settle.items;
    size_t                   count   = c->changes->queue_settle.count;
    pawl__sqlite            *store   = c->writer.store;
    store->unsure_count              = 0;
    int64_t *rows                    = pawl_resize(store->unsure, (count + 1) * sizeof *rows);
    if (rows == NULL)
        return;
    store->unsure = rows;
    for (size_t i = 0; i < count; i++)
        if (!c->is_dropped[settles[i].group])
            rows[store->unsure_count++] = settles[i].seq;
}

/* A log that could not be synced may hold the transaction or not, and a crash
 * would bring to light which. Everything else that fails before its last frame
 * is written is rolled back. */
static pawl_code finish(committing *c)
{
    pawl__sqlite        *store = c->writer.store;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQLITE_COMMIT_TRANSACTION,
                               c->error);
    pawl_code code   = pawl__sqlite_run(&request);
    int       result = sqlite3_extended_errcode(store->connection.db);
    if (code == PAWL_OK)
        return PAWL_OK;
    pawl__sqlite_rollback(store);
    if ((result & 0xFF) == SQLITE_IOERR)
        return pawl_error_set(c->error, PAWL_EUNKNOWN,
                              "sqlite: %s: the commit failed (%s); whether it will be found there "
                              "is not known",
                              store->given_path, sqlite3_errstr(result));
    return pawl_error_wrap(c->error, code, "commit");
}

static pawl_code run_round(committing *c, bool *is_done)
{
    pawl__sqlite *store   = c->writer.store;
    size_t        before  = c->refused->count;
    c->writer.checked_use = NULL;
    c->writer.has_held    = false;
    pawl_code code        = fence(store, c->changes, c->error);
    if (code == PAWL_OK)
        code = apply_all(c, before);
    *is_done = code == PAWL_OK && c->refused->count == before;
    if (*is_done)
        return finish(c);
    pawl__sqlite_rollback(store);
    pawl__sql_drop_refused(c->refused, before, c->is_dropped);
    return code;
}

/* What the handler wrote itself cannot be done again here, so one refusal
 * refuses all groups. */
static pawl_code commit_held(committing *c)
{
    pawl__sqlite *store = c->writer.store;
    bool          is_done;
    store->in_hold = false;
    if (sqlite3_get_autocommit(store->connection.db))
        return pawl_error_set(c->error, PAWL_ELOST,
                              "sqlite: %s: the transaction of the hold was rolled back before",
                              store->given_path);
    pawl_code code = run_round(c, &is_done);
    if (code != PAWL_OK || is_done)
        return code;
    code = pawl__sql_refuse_all(c->refused, c->changes, c->is_dropped);
    return code == PAWL_OK ? PAWL_OK
                           : pawl_error_set(c->error, code, "sqlite: out of memory for a refusal");
}

static pawl_code commit_rounds(committing *c)
{
    pawl__sqlite *store   = c->writer.store;
    bool          is_done = false;
    pawl_code     code    = PAWL_OK;
    while (code == PAWL_OK && !is_done) {
        code = pawl__sqlite_write_begin(store, c->error);
        if (code == PAWL_OK)
            code = run_round(c, &is_done);
    }
    return code;
}

/* Claims that are given back and nothing else: the claim table is all there is to
 * change. */
static pawl_code release_rows(committing *c)
{
    size_t    before = c->refused->count;
    pawl_code code   = apply_kind(c, pawl_change_queue_settle);
    pawl__sql_drop_refused(c->refused, before, c->is_dropped);
    return code;
}

pawl_code pawl__sqlite_commit(pawl_store *base, const pawl_changes *changes, pawl_refusals *refused,
                              pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = pawl__sqlite_ready(store, error);
    if (code != PAWL_OK) {
        pawl__sqlite_hold_end(base);
        return code;
    }
    committing c = {
        .writer  = {.connection = &store->connection, .store = store, .changes = changes},
        .changes = changes,
        .refused = refused,
        .error   = error};
    c.is_dropped        = pawl_arena_take(refused->arena, changes->group_count + 1);
    c.writer.is_dropped = c.is_dropped;
    if (c.is_dropped == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    if (code == PAWL_OK && !store->in_hold && pawl__sql_only_releases(changes))
        code = release_rows(&c);
    else if (code == PAWL_OK)
        code = store->in_hold ? commit_held(&c) : commit_rounds(&c);
    else
        pawl__sqlite_hold_end(base);
    if (code == PAWL_OK)
        end_claims(&c);
    else if (code == PAWL_EUNKNOWN)
        remember_claims(&c);
    return code;
}

/* ---- Enlist ------------------------------------------------------------- */

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

/* Ends the savepoint whatever memory there is, as the statements were prepared before
 * it began: nothing half done stays in the caller's transaction. */
typedef struct savepoint {
    sqlite3_stmt *rollback_to, *release, *rollback;
} savepoint;

static void savepoint_free(savepoint *point)
{
    (void)sqlite3_finalize(point->rollback_to);
    (void)sqlite3_finalize(point->release);
    (void)sqlite3_finalize(point->rollback);
}

static pawl_code savepoint_begin(sqlite3 *db, savepoint *point, pawl_error *error)
{
    pawl_code code =
        pawl__sqlite_prepare(db, "rollback to pawl_enlist", &point->rollback_to, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_prepare(db, "release pawl_enlist", &point->release, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_prepare(db, "rollback", &point->rollback, error);
    return code == PAWL_OK ? pawl__sqlite_execute(db, "savepoint pawl_enlist", error) : code;
}

/* A savepoint that cannot be undone takes the caller's whole transaction with it: the
 * caller's commit then fails, where it would have made half of a change set durable. */
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

static pawl_code apply_enlisted(committing *c)
{
    size_t    before = c->refused->count;
    pawl_code code   = apply_all(c, before);
    if (code != PAWL_OK || c->refused->count == before)
        return code;
    return pawl__sql_refusal_error(&c->refused->items[before], c->error);
}

static pawl_code apply_to(sqlite3 *db, const char *prefix, const pawl_changes *changes,
                          pawl_error *error)
{
    pawl__sqlite_connection connection = {.db = db, .prefix = prefix};
    pawl_refusals           refused    = {.arena = pawl_arena_create(0)};
    committing              c          = {.changes = changes, .refused = &refused, .error = error};
    pawl_code               code;
    c.writer = (pawl__sqlite_writer){.connection = &connection, .changes = changes};
    if (refused.arena != NULL)
        c.is_dropped = pawl_arena_take(refused.arena, changes->group_count + 1);
    c.writer.is_dropped = c.is_dropped;
    if (c.is_dropped != NULL)
        code = apply_enlisted(&c);
    else
        code = pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    pawl__sqlite_connection_clear(&connection);
    pawl_arena_destroy(refused.arena);
    return code;
}

pawl_code pawl__sqlite_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                              pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = pawl__sqlite_ready(store, error);
    if (code == PAWL_OK)
        code = check_native(store, native, error);
    if (code != PAWL_OK)
        return code;
    savepoint point = {0};
    code            = savepoint_begin(native, &point, error);
    if (code == PAWL_OK) {
        code = apply_to(native, store->connection.prefix, changes, error);
        code = savepoint_end(native, &point, code, error);
    }
    savepoint_free(&point);
    return code;
}
