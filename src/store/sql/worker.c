/* worker.c - worker rows: the epoch for the fence, the counters, and releasing claims when a
 * worker ends or is found dead.
 *
 * When a worker ends, the transaction that deletes its row adds its counters to the row
 * of id zero, so that sums stay right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"
#include "store/sql/operations.h"
#include "store/sql/server.h"

#include <string.h>
#include <unistd.h>

int64_t pawl__sql_worker_number(pawl_uuid worker)
{
    uint64_t parts[2];
    memcpy(parts, worker.bytes, sizeof parts);
    return (int64_t)((parts[0] * UINT64_C(0x9E3779B97F4A7C15) ^ parts[1]) >> 1 | 1);
}

/* ---- Ending ------------------------------------------------------------- */

#define MOMENT PAWL_MILLISECONDS(1) /* databases may round times by so much */

/* A worker whose row is deleted, and the row of id zero, which gets its counters. */
typedef struct ended {
    pawl_uuid kept;
    pawl_uuid worker;
    pawl_time seen_max; /* the time of its last heartbeat, plus MOMENT */
    int64_t   epoch;
} ended;

static const pawl__field ids[] = {PAWL__AS_OF(ended, kept, UUID), PAWL__AS_OF(ended, worker, UUID)};

#define STEP(which, first, id_count)                                                        \
    {                                                                                       \
        .statement = PAWL__SQL_##which, .parameters = {.items = ids + (first), (id_count) } \
    }
/* Releases the worker's leases at once, before they expire. WORKER_RAISE locks the worker's row first: if two processes
 * end the worker, the second finds no row, so that counters are added once. */
static const pawl__sql_write steps[] = {
    STEP(WORKER_RAISE, 1, 1),     STEP(WORKER_KEEP, 0, 1),  STEP(WORKER_FOLD, 0, 2),
    STEP(WORKER_DELETE, 1, 1),    STEP(TIMEOUT_FREE, 1, 1), STEP(AGGREGATOR_FREE, 1, 1),
    STEP(LEASE_DELETE_ALL, 1, 1),
};
#define END_FROM 0
#define FREE_FROM 4

static pawl_code run_steps(pawl_store *store, size_t from, const ended *workers, size_t count,
                           pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = from; code == PAWL_OK && i < sizeof steps / sizeof steps[0]; i++)
        code = pawl__sql_write_rows(store, &steps[i], workers, sizeof *workers, count, NULL, error);
    return code;
}

static const pawl__field_list still_dead =
    PAWL__FIELDS(PAWL__AS_OF(ended, worker, UUID), PAWL__AS_OF(ended, seen_max, TIME));
static const pawl__field_list locked = PAWL__FIELDS(PAWL__AS_OF(ended, epoch, INT));

/* Locks the row of a worker without recent heartbeats, until its claims are released. If it has sent a heartbeat since,
 * it lives and keeps them; a heartbeat sent now waits for the lock. If the row is locked already, the worker itself has
 * a transaction open: it lives. */
static pawl_code lock_dead(pawl_store *store, ended *dead, bool *is_dead, pawl_error *error)
{
    const pawl__sql_server *server = ((pawl__sql_store *)store)->server;
    const pawl__sql_asked   asked  = {PAWL__SQL_WORKER_DEAD_LOCK, &still_dead, dead, &locked, 0};
    *is_dead                       = server == NULL || !server->beats;
    if (*is_dead)
        return PAWL_OK;
    dead->epoch    = 0;
    pawl_code code = pawl__sql_read_first(store, &asked, NULL, dead, error);
    *is_dead       = dead->epoch != 0;
    return code;
}

/* Finds up to `count_max` dead workers not seen since `before`. */
static pawl_code find_dead(pawl_store *store, pawl_time before, size_t count_max, pawl_arena *arena,
                           ended **dead, size_t *count, bool *more, pawl_error *error)
{
    pawl_found              found;
    pawl_code               code = pawl__sql_workers(store, false, arena, &found, error);
    const pawl_worker_info *rows = found.items;
    if (code == PAWL_OK &&
        (*dead = pawl_arena_take(arena, (found.count + 1) * sizeof **dead)) == NULL)
        code = pawl__sql_no_memory(store, "rows", error);
    for (size_t i = 0; code == PAWL_OK && i < found.count; i++) {
        if (rows[i].seen >= before)
            continue;
        if (*count == count_max) {
            *more = true;
            break;
        }
        ended found_dead = {.worker   = rows[i].id.uuid,
                            .seen_max = pawl_time_add(rows[i].seen, MOMENT)};
        bool  is_dead    = false;
        code             = lock_dead(store, &found_dead, &is_dead, error);
        if (code == PAWL_OK && is_dead)
            (*dead)[(*count)++] = found_dead;
    }
    return code;
}

static pawl_code end_dead(pawl_store *store, size_t from, pawl_time before, size_t count_max,
                          int64_t *count, bool *more, pawl_error *error)
{
    pawl_arena *arena = pawl_arena_create(0);
    ended      *dead  = NULL;
    size_t      found = 0;
    pawl_code   code  = arena != NULL ? PAWL_OK : pawl__sql_no_memory(store, "rows", error);
    if (code == PAWL_OK)
        code = find_dead(store, before, count_max, arena, &dead, &found, more, error);
    if (code == PAWL_OK)
        code = run_steps(store, from, dead, found, error);
    pawl_arena_destroy(arena);
    *count += (int64_t)found;
    return code;
}

pawl_code pawl__sql_free_dead(pawl_store *store, pawl_error *error)
{
    int64_t count = 0;
    bool    more  = false;
    return end_dead(store, FREE_FROM, PAWL_TIME_MAX, SIZE_MAX, &count, &more, error);
}

pawl_code pawl__sql_worker_sweep(pawl_store *store, pawl_time before, size_t count_max,
                                 int64_t *count, bool *more, pawl_error *error)
{
    return end_dead(store, END_FROM, before, count_max, count, more, error);
}

/* ---- Opening ------------------------------------------------------------ */

typedef struct row {
    pawl_uuid id;
    pawl_text endpoint;
    pawl_text types;
    int64_t   process;
    int64_t   pid;
    pawl_time now;
    int64_t   epoch;
    pawl_uuid last_commit;
    pawl_text host;
    pawl_text program;
    pawl_text program_version;
    pawl_text pawl_version;
} row;

#define ROW(member, as) PAWL__AS_OF(row, member, as)
#define PROGRAM \
    ROW(host, TEXT), ROW(program, TEXT), ROW(program_version, TEXT), ROW(pawl_version, TEXT)
static const pawl__field insert_fields[] = {
    ROW(id, UUID), ROW(endpoint, TEXT), ROW(types, TEXT), ROW(process, INT),
    ROW(pid, INT), ROW(now, TIME),      PROGRAM};

static const pawl__field_list by_id    = {insert_fields, 1};
static const pawl__field_list read_row = PAWL__FIELDS(ROW(epoch, INT), ROW(last_commit, UUID));

static const pawl__sql_write replace = {
    .statement  = PAWL__SQL_WORKER_REPLACE,
    .parameters = PAWL__FIELDS(ROW(endpoint, TEXT), ROW(types, TEXT), ROW(process, INT),
                               ROW(pid, INT), ROW(now, TIME), ROW(id, UUID), PROGRAM),
};
static const pawl__sql_write insert = {
    .statement  = PAWL__SQL_WORKER_INSERT,
    .parameters = PAWL__FIELD_ARRAY(insert_fields),
    .then       = {[PAWL__SQL_DUPLICATE] = {.next = &replace}},
};

static pawl_code read_epoch(pawl_store *store, row *worker, pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_WORKER_GET, &by_id, worker, &read_row, 0};
    return pawl__sql_read_first(store, &asked, NULL, worker, error);
}

/* Inserts the worker's row, or takes an existing one over: another handle of this worker is then fenced.
 *
 * On SQL Server a read of all workers waits for uncommitted rows of others. So it comes first, while this transaction
 * has no row for which those could wait. */
static pawl_code take_row(pawl_store *store, row *worker, pawl_error *error)
{
    pawl__sql_result result = PAWL__SQL_APPLIED;
    const ended      self   = {.worker = worker->id};
    pawl_code        code   = pawl__sql_free_dead(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_write_own(store, &insert, worker, &result, error);
    if (code == PAWL_OK && result == PAWL__SQL_DUPLICATE) {
        code = pawl__sql_write_own(store, &replace, worker, &result, error);
        if (code == PAWL_OK)
            code = run_steps(store, FREE_FROM, &self, 1, error);
    }
    return code == PAWL_OK ? read_epoch(store, worker, error) : code;
}

static pawl_code open_worker(pawl_store *store, row worker, pawl_error *error)
{
    const pawl__sql_ops *ops  = pawl__sql_ops_of(store);
    pawl__sql_store     *own  = (pawl__sql_store *)store;
    pawl_code            code = pawl__sql_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = pawl__sql_stamp_end(store, take_row(store, &worker, error), error);
    own->has_worker |= code == PAWL_OK;
    /* After the commit, since only that fences the other handle. */
    if (code == PAWL_OK && worker.epoch > 1 && ops->take_over != NULL)
        code = ops->take_over(store, error);
    if (code == PAWL_OK) {
        store->epoch       = worker.epoch;
        store->is_attached = true;
    }
    return code;
}

/* Waits for the lock only once: a failed wait has used most of the deadline. */
pawl_code pawl__sql_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                pawl_time now, pawl_error *error)
{
    const pawl_worker_info *about  = pawl_store_program(store);
    row                     worker = {.id              = store->worker.uuid,
                                      .endpoint        = endpoint,
                                      .types           = types,
                                      .pid             = getpid(),
                                      .now             = now,
                                      .host            = about->host,
                                      .program         = about->program,
                                      .program_version = about->program_version,
                                      .pawl_version    = about->pawl_version};
    pawl_code               code = pawl__sql_ops_of(store)->own_lock(store, &worker.process, error);
    if (code == PAWL_OK)
        PAWL__SQL_TRY(store, code, open_worker(store, worker, error));
    return code;
}

/* ---- Closing ------------------------------------------------------------ */

static pawl_code close_worker(pawl_store *store, pawl_time now, pawl_error *error)
{
    const pawl__sql_ops *ops  = pawl__sql_ops_of(store);
    pawl__sql_store     *own  = (pawl__sql_store *)store;
    const ended          self = {.worker = store->worker.uuid};
    (void)now;
    store->ops->handler_transaction_end(store);
    pawl_code   code   = ops->claims_leave(store, error);
    pawl_error *second = code == PAWL_OK ? error : NULL;
    pawl_code   gone   = pawl__sql_stamp_begin(store, second);
    if (gone == PAWL_OK)
        gone = pawl__sql_stamp_end(store, run_steps(store, END_FROM, &self, 1, second), second);
    own->has_worker    = gone != PAWL_OK;
    store->is_attached = false;
    if (ops->own_unlock != NULL && gone != PAWL_EBUSY) /* the row stays until the next try */
        ops->own_unlock(store);
    return code != PAWL_OK ? code : gone;
}

pawl_code pawl__sql_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    pawl_code code;
    PAWL__SQL_TRY(store, code, close_worker(store, now, error));
    return code;
}

/* ---- A commit in doubt -------------------------------------------------- */

/* Raises the epoch first; that waits for a commit that still has locked the row. */
static pawl_code raise_epoch(pawl_store *store, row *worker, pawl_error *error)
{
    const pawl__sql_asked asked   = {PAWL__SQL_WORKER_RAISE, &by_id, worker, NULL, 0};
    int64_t               changed = 0;
    pawl_code             code    = pawl__sql_execute(store, &asked, &changed, error);
    if (code == PAWL_OK && changed == 0)
        code = pawl_error_set(error, PAWL_EFENCED, "%s: this worker has no row any longer",
                              pawl__sql_ops_of(store)->name);
    return code == PAWL_OK ? read_epoch(store, worker, error) : code;
}

/* A full transaction, not a stamp: in a file it overwrites whatever a failed commit
 * may have left in the log. */
static pawl_code resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                         pawl_error *error)
{
    const pawl__sql_ops *ops    = pawl__sql_ops_of(store);
    row                  worker = {.id = store->worker.uuid};
    pawl_code            code   = store->ops->ready(store, error);
    if (code != PAWL_OK)
        return code;
    store->ops->handler_transaction_end(store);
    code = ops->begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = raise_epoch(store, &worker, error);
    if (code != PAWL_OK) {
        ops->rollback(store);
        return code;
    }
    code = pawl__sql_commit_round(store, error);
    if (code == PAWL_OK) {
        store->epoch = worker.epoch;
        *is_applied  = pawl_uuid_compare(worker.last_commit, commit_id) == 0;
        if (ops->resolved != NULL)
            ops->resolved(store, *is_applied);
    }
    return code;
}

pawl_code pawl__sql_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                            pawl_error *error)
{
    pawl__sql_server *server = ((pawl__sql_store *)store)->server;
    if (server == NULL)
        return resolve(store, commit_id, is_applied, error);
    server->until_ms = pawl__clock_ms() + store->deadline_ms;
    pawl_code code = pawl__wait_resolve(store, &server->wait, server->until_ms, resolve, commit_id,
                                        is_applied, error);
    server->until_ms = 0;
    return code;
}
