/* worker.c - worker rows: who lives, the epoch that fences, and what was
 * counted.
 *
 * A worker that ends leaves its counters to the row of id zero, in the same
 * transaction that deletes its own, so that sums stay right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

#include <unistd.h>

static const pawl_uuid kept_row; /* the id of zeroes */

/* Runs a statement whose parameters are one or two ids. */
static pawl_code run_with_ids(pawl__sqlite *store, int statement, const pawl_uuid *first,
                              const pawl_uuid *second, int64_t *changes, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, statement, error);
    pawl__sqlite_put_uuid(&request, *first);
    if (second != NULL)
        pawl__sqlite_put_uuid(&request, *second);
    pawl_code code = pawl__sqlite_run(&request);
    if (changes != NULL)
        *changes = request.changes;
    return code;
}

/* ---- Ending -------------------------------------------------------------- */

/* Rows that the worker leased are free at once, not only when the lease is over. */
static pawl_code free_leases(pawl__sqlite *store, pawl_uuid worker, pawl_error *error)
{
    pawl_code code = run_with_ids(store, PAWL__SQL_TIMEOUT_FREE, &worker, NULL, NULL, error);
    if (code == PAWL_OK)
        code = run_with_ids(store, PAWL__SQL_AGGREGATOR_FREE, &worker, NULL, NULL, error);
    if (code == PAWL_OK)
        code = run_with_ids(store, PAWL__SQL_LEASE_DELETE_ALL, &worker, NULL, NULL, error);
    return code;
}

static pawl_code list_dead(pawl__sqlite *store, pawl_arena *arena, pawl_worker_info **rows,
                           size_t *count, pawl_error *error)
{
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    return pawl__sql_workers(&store->sql.base, false, arena, rows, count, error);
}

pawl_code pawl__sqlite_free_dead(pawl__sqlite *store, pawl_error *error)
{
    pawl_arena       *arena = pawl_arena_create(0);
    pawl_worker_info *rows  = NULL;
    size_t            count = 0;
    pawl_code         code  = list_dead(store, arena, &rows, &count, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = free_leases(store, rows[i].id.uuid, error);
    pawl_arena_destroy(arena);
    return code;
}

pawl_code pawl__sqlite_worker_end(pawl__sqlite *store, pawl_uuid worker, pawl_error *error)
{
    pawl_code code = run_with_ids(store, PAWL__SQL_WORKER_KEEP, &kept_row, NULL, NULL, error);
    if (code == PAWL_OK)
        code = run_with_ids(store, PAWL__SQL_WORKER_FOLD, &kept_row, &worker, NULL, error);
    if (code == PAWL_OK)
        code = run_with_ids(store, PAWL__SQL_WORKER_DELETE, &worker, NULL, NULL, error);
    return code == PAWL_OK ? free_leases(store, worker, error) : code;
}

/* ---- Open, close, resolve ----------------------------------------------- */

static pawl_code insert(pawl__sqlite *store, pawl_text endpoint, pawl_text types, pawl_time now,
                        pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_WORKER_INSERT, error);
    pawl__sqlite_put_uuid(&request, store->sql.base.worker.uuid);
    pawl__sqlite_put_text(&request, endpoint);
    pawl__sqlite_put_text(&request, types);
    pawl__sqlite_put_int(&request, pawl__sqlite_process_number(store->process));
    pawl__sqlite_put_int(&request, getpid());
    pawl__sqlite_put_int(&request, now);
    return pawl__sqlite_run(&request);
}

/* The worker is taken over by this handle: another one that has it is fenced. */
static pawl_code replace(pawl__sqlite *store, pawl_text endpoint, pawl_text types, pawl_time now,
                         pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_WORKER_REPLACE, error);
    pawl__sqlite_put_text(&request, endpoint);
    pawl__sqlite_put_text(&request, types);
    pawl__sqlite_put_int(&request, pawl__sqlite_process_number(store->process));
    pawl__sqlite_put_int(&request, getpid());
    pawl__sqlite_put_int(&request, now);
    pawl__sqlite_put_uuid(&request, store->sql.base.worker.uuid);
    pawl_code code = pawl__sqlite_run(&request);
    return code == PAWL_OK ? free_leases(store, store->sql.base.worker.uuid, error) : code;
}

static pawl_code read_epoch(pawl__sqlite *store, int64_t *epoch, pawl_uuid *last_commit,
                            pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_WORKER_READ, error);
    pawl__sqlite_put_uuid(&request, store->sql.base.worker.uuid);
    if (pawl__sqlite_next(&request)) {
        *epoch       = pawl__sqlite_get_int(&request);
        *last_commit = pawl__sqlite_get_uuid(&request);
        pawl__sqlite_stop(&request);
    }
    return request.code;
}

static pawl_code take_row(pawl__sqlite *store, pawl_text endpoint, pawl_text types, pawl_time now,
                          int64_t *epoch, pawl_error *error)
{
    pawl_uuid last;
    pawl_code code = pawl__sqlite_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = insert(store, endpoint, types, now, error);
    if (code == PAWL_EDUPLICATE)
        code = replace(store, endpoint, types, now, error);
    if (code == PAWL_OK)
        code = read_epoch(store, epoch, &last, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_free_dead(store, error);
    return pawl__sqlite_stamp_end(store, code, error);
}

pawl_code pawl__sqlite_worker_open(pawl_store *base, pawl_text endpoint, pawl_text types,
                                   pawl_time now, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    int64_t       epoch = 0;
    pawl_code     code  = pawl__sqlite_join(store, error);
    if (code == PAWL_OK &&
        (code = pawl__sqlite_attach(store->book, base->worker.uuid, store)) != PAWL_OK)
        code = pawl_error_set(error, code, "sqlite: out of memory");
    if (code == PAWL_OK)
        code = take_row(store, endpoint, types, now, &epoch, error);
    store->has_worker |= code == PAWL_OK;
    /* After the commit, which fences what the other handle has in hand. */
    if (code == PAWL_OK && epoch > 1)
        code = pawl__sqlite_take_over(store, error);
    if (code == PAWL_OK) {
        base->epoch       = epoch;
        base->is_attached = true;
    }
    return code;
}

pawl_code pawl__sqlite_worker_close(pawl_store *base, pawl_time now, pawl_error *error)
{
    (void)now;
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl__sqlite_hold_end(base);
    pawl_code code  = pawl__sqlite_leave_queues(store, error);
    pawl_code ended = pawl__sqlite_stamp_begin(store, code == PAWL_OK ? error : NULL);
    if (ended == PAWL_OK) {
        ended = pawl__sqlite_worker_end(store, base->worker.uuid, code == PAWL_OK ? error : NULL);
        ended = pawl__sqlite_stamp_end(store, ended, code == PAWL_OK ? error : NULL);
    }
    store->has_worker = ended != PAWL_OK;
    base->is_attached = false;
    return code != PAWL_OK ? code : ended;
}

/* The commit in doubt is no longer in doubt. */
static void settle_unsure(pawl__sqlite *store, bool is_applied)
{
    for (size_t i = 0; is_applied && i < store->unsure_count; i++)
        pawl__sqlite_claim_end(store->book, store->unsure[i], store);
    pawl_free(store->unsure);
    store->unsure       = NULL;
    store->unsure_count = 0;
}

pawl_code pawl__sqlite_resolve(pawl_store *base, pawl_uuid commit_id, bool *is_applied,
                               pawl_error *error)
{
    pawl__sqlite *store   = pawl__sqlite_of(base);
    int64_t       changes = 0;
    pawl_code     code    = pawl__sqlite_ready(base, error);
    if (code != PAWL_OK)
        return code;
    pawl__sqlite_hold_end(base);
    /* A full transaction, not a stamp: it takes the place in the log of
     * whatever a failed commit may have left there. */
    code = pawl__sqlite_write_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = run_with_ids(store, PAWL__SQL_WORKER_RAISE, &base->worker.uuid, NULL, &changes, error);
    if (code == PAWL_OK && changes == 0)
        code = pawl_error_set(error, PAWL_EFENCED, "sqlite: this worker has no row any longer");
    int64_t   epoch = 0;
    pawl_uuid last  = {{0}};
    if (code == PAWL_OK)
        code = read_epoch(store, &epoch, &last, error);
    code = pawl__sqlite_write_end(store, code, error);
    if (code == PAWL_OK) {
        base->epoch = epoch;
        *is_applied = pawl_uuid_compare(last, commit_id) == 0;
        settle_unsure(store, *is_applied);
    }
    return code;
}

/* ---- Sweeping ------------------------------------------------------------ */

pawl_code pawl__sqlite_worker_sweep(pawl__sqlite *store, pawl_time before, size_t count_max,
                                    int64_t *count, bool *more, pawl_error *error)
{
    pawl_arena       *arena = pawl_arena_create(0);
    pawl_worker_info *rows  = NULL;
    size_t            found = 0;
    size_t            ended = 0;
    pawl_code         code  = list_dead(store, arena, &rows, &found, error);
    for (size_t i = 0; code == PAWL_OK && i < found; i++) {
        if (rows[i].seen >= before)
            continue;
        *more |= ended == count_max;
        if (ended == count_max)
            break;
        code = pawl__sqlite_worker_end(store, rows[i].id.uuid, error);
        ended++;
    }
    pawl_arena_destroy(arena);
    *count += (int64_t)ended;
    return code;
}
