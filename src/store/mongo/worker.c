/* worker.c - workers: their documents, heartbeats, and the fence.
 *
 *     {_id: UUID, endpoint, types, epoch, pid, seen, beat: date of the server, last_commit: UUID, part,
 *      messages, timeouts, flushes, failures, conflicts, dead, host, program, program_version,
 *      pawl_version, started}
 *
 * A worker writes its heartbeat every 5 seconds, by the server's clock. Without one for 15 seconds it counts as dead,
 * and other workers free its claims and leases. The document with the zero id adds up the counters of ended workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/refusal.h"
#include "store/mongo/mongo.h"

#include <unistd.h>

#define BEAT_MS 5000

#define INFO(member, as) PAWL__AS(worker_info, member, as)
static const pawl__field_list fields = PAWL__FIELDS(
    INFO(id, UUID), INFO(endpoint, TEXT), INFO(types, TEXT), INFO(epoch, INT), INFO(pid, INT),
    INFO(seen, TIME), INFO(counters.messages, INT), INFO(counters.timeouts, INT),
    INFO(counters.flushes, INT), INFO(counters.failures, INT), INFO(counters.conflicts, INT),
    INFO(counters.dead, INT), INFO(host, TEXT), INFO(program, TEXT), INFO(program_version, TEXT),
    INFO(pawl_version, TEXT), INFO(started, TIME));
static const pawl__mongo_table workers =
    PAWL__MONGO_TABLE("workers", "id", fields, pawl_worker_info);
static const pawl__mongo_table sums =
    PAWL__MONGO_TABLE("workers", NULL, pawl__counters_fields, pawl_counters);

/* The members by which a commit is resolved: its fence leaves commit id and part there. */
typedef struct fence_row {
    int64_t   epoch;
    pawl_uuid last_commit;
    int64_t   part;
} fence_row;

static const pawl__field_list fence_fields =
    PAWL__FIELDS(PAWL__AS_OF(fence_row, epoch, INT), PAWL__AS_OF(fence_row, last_commit, UUID),
                 PAWL__AS_OF(fence_row, part, INT));
static const pawl__mongo_table fences = PAWL__MONGO_TABLE("workers", NULL, fence_fields, fence_row);

/* A document without a heartbeat belongs to no worker. */
#define BEAT(op) "beat: {$exists: true}, $expr: {" op ": ['$beat', {$subtract: ['$$NOW', 15000]}]}"
#define ALIVE BEAT("$gte")
#define DEAD BEAT("$lt")
#define BEATS "$currentDate: {beat: true}, $unset: {is_freed: 1}"
/* A heartbeat without a commit also sets `seen`, so that no sweep ends an idle worker. */
#define BEATS_AND_SEEN                                                             \
    "u: [{$set: {beat: '$$NOW', seen: {$multiply: [{$toLong: '$$NOW'}, 1000]}}}, " \
    "{$unset: 'is_freed'}]"

typedef struct worker_rows {
    pawl_worker_info *items;
    size_t            count;
} worker_rows;

/* ---- What a worker has ---------------------------------------------------- */

static pawl_code free_all(pawl_store *store, pawl_uuid worker, pawl_error *error)
{
    static const struct {
        const char *collection, *text;
    } holdings[] = {
        {"queue", "q: {claimed_by: %u}, u: {$unset: {claimed_by: 1, claim: 1}}"},
        {"timeouts",
         "q: {worker: %u}, u: {$unset: {worker: 1, owner: 1}, $set: {lease_expires: 0}}"},
        {"aggregator",
         "q: {worker: %u}, u: {$unset: {worker: 1, session: 1}, $set: {lease_expires: 0}}"},
    };
    pawl_code code = pawl__mongo_write(store, "leases", PAWL__MONGO_REMOVE_MANY, NULL, error,
                                       "q: {worker: %u}", worker);
    for (size_t i = 0; code == PAWL_OK && i < sizeof holdings / sizeof holdings[0]; i++)
        code = pawl__mongo_write(store, holdings[i].collection, PAWL__MONGO_UPDATE_MANY, NULL,
                                 error, holdings[i].text, worker);
    return code;
}

/* `is_freed` tells the other workers that it is done. The condition is checked again in the transaction: a worker with
 * a heartbeat since the read keeps its claims; a heartbeat during the transaction waits. */
static pawl_code free_one(pawl_store *store, void *context, pawl_error *error)
{
    const pawl_uuid *worker = context;
    int64_t          done   = 0;
    pawl_code        code =
        pawl__mongo_write(store, "workers", PAWL__MONGO_UPDATE, &done, error,
                          "q: {_id: %u, " DEAD "}, u: {$set: {is_freed: true}}", *worker);
    return code == PAWL_OK && done > 0 ? free_all(store, *worker, error) : code;
}

static pawl_code free_dead(pawl_store *store, pawl_error *error)
{
    pawl_arena *arena = pawl_arena_create(0);
    worker_rows dead  = {.count = 0};
    pawl_code   code  = pawl__mongo_read(store, &workers, arena, &dead.items, &dead.count, error,
                                         "filter: {is_freed: {$ne: true}, " DEAD "}");
    for (size_t i = 0; code == PAWL_OK && i < dead.count; i++) {
        code = pawl__mongo_transact(store, free_one, &dead.items[i].id.uuid, error);
        if (code == PAWL_EBUSY) /* the worker is alive, or another one frees its claims */
            code = PAWL_OK;
    }
    pawl_arena_destroy(arena);
    return code;
}

/* Frees claims that were made after this worker's document was removed: other workers find claims by documents. If a
 * document exists, another handle has taken over the worker with its claims. */
static pawl_code free_claims_of_removed_worker(pawl_store *store, pawl_error *error)
{
    bool      is_there = false;
    pawl_code code     = pawl__mongo_read_one(store, &workers, NULL, NULL, &is_there, error,
                                              "filter: {_id: %u}", store->worker.uuid);
    return code == PAWL_OK && !is_there ? free_all(store, store->worker.uuid, error) : code;
}

/* After a sweep ended the worker, or another handle took it over, this handle claims no more messages. */
pawl_code pawl__mongo_heartbeat(pawl_store *store, pawl_error *error)
{
    pawl__mongo *self   = pawl__mongo_of(store);
    int64_t      now_ms = pawl__clock_ms();
    int64_t      done   = 0;
    if (self->is_fenced || now_ms - self->beat_ms < BEAT_MS)
        return PAWL_OK;
    pawl_code code = pawl__mongo_write(store, "workers", PAWL__MONGO_UPDATE, &done, error,
                                       "q: {_id: %u, epoch: %i}, " BEATS_AND_SEEN,
                                       store->worker.uuid, store->epoch);
    if (code == PAWL_OK && done == 0)
        code = free_claims_of_removed_worker(store, error);
    if (code == PAWL_OK) {
        self->beat_ms   = now_ms;
        self->is_fenced = done == 0;
    }
    return code == PAWL_OK ? free_dead(store, error) : code;
}

/* Documents without a heartbeat belong to no worker. */
pawl_code pawl__mongo_worker_heartbeat(pawl_store *store, const pawl_worker_id *beating,
                                       size_t count, pawl_time now, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    (void)now; /* the server's clock counts */
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = pawl__mongo_write(store, "workers", PAWL__MONGO_UPDATE, NULL, error,
                                 "q: {_id: %u, beat: {$exists: true}}, " BEATS_AND_SEEN,
                                 beating[i].uuid);
    return code;
}

/* ---- Opening ------------------------------------------------------------- */

/* Takes over an existing document by raising its epoch, which fences the handle that has the old one. */
pawl_code pawl__mongo_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                  pawl_time now, pawl_error *error)
{
    const pawl_worker_info *about    = pawl_store_program(store);
    fence_row               row      = {.part = 0};
    bool                    is_there = false;
    pawl_code               code     = pawl__mongo_modify(
                          store, &fences, true, &row, &is_there, error,
                          "q: {_id: %u}, u: {$set: {endpoint: %t, types: %t, pid: %i, seen: %i, host: %t, program: %t, "
                                            "program_version: %t, pawl_version: %t, started: %i}, $inc: {epoch: 1}, " BEATS "}",
                          store->worker.uuid, endpoint, types, (int64_t)getpid(), now, about->host, about->program,
                          about->program_version, about->pawl_version, now);
    if (code == PAWL_OK && (row.epoch > 1 || store->is_attached))
        code = free_all(store, store->worker.uuid, error);
    if (code == PAWL_OK)
        code = free_dead(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__mongo_of(store)->beat_ms   = pawl__clock_ms();
    pawl__mongo_of(store)->is_fenced = false;
    store->epoch                     = row.epoch;
    store->is_attached               = true;
    return PAWL_OK;
}

/* ---- Ending -------------------------------------------------------------- */

typedef struct ending {
    pawl_uuid worker;
    int64_t   epoch;   /* 0: any */
    bool      is_dead; /* only if its heartbeat is too old */
    bool      is_ended;
} ending;

/* Removes the document and adds its counters to the document with the zero id, in one transaction. */
static pawl_code end_document(pawl_store *store, void *context, pawl_error *error)
{
    static const pawl_uuid zero;
    ending                *end  = context;
    pawl_counters          row  = {.messages = 0};
    int64_t                done = 1;
    end->is_ended               = false;
    pawl_code code              = PAWL_OK;
    if (end->is_dead) /* also locks the document */
        code =
            pawl__mongo_write(store, "workers", PAWL__MONGO_UPDATE, &done, error,
                              "q: {_id: %u, " DEAD "}, u: {$set: {is_freed: true}}", end->worker);
    if (code == PAWL_OK && done > 0)
        code = pawl__mongo_read_one(store, &sums, NULL, &row, &end->is_ended, error,
                                    "filter: {_id: %u, epoch?: %i}", end->worker, end->epoch);
    if (code == PAWL_OK && end->is_ended && end->is_dead)
        code = free_all(store, end->worker, error);
    if (code == PAWL_OK && end->is_ended)
        code =
            pawl__mongo_write(store, "workers", PAWL__MONGO_UPSERT, NULL, error,
                              "q: {_id: %u}, u: {$inc: {%r}}", zero, &pawl__counters_fields, &row);
    if (code == PAWL_OK && end->is_ended)
        code = pawl__mongo_write(store, "workers", PAWL__MONGO_REMOVE, NULL, error, "q: {_id: %u}",
                                 end->worker);
    return code;
}

/* Frees claims and leases first: without a document no other worker would free them. */
static pawl_code end_worker(pawl_store *store, ending *end, pawl_error *error)
{
    pawl_code code = end->is_dead ? PAWL_OK : free_all(store, end->worker, error);
    return code == PAWL_OK ? pawl__mongo_transact(store, end_document, end, error) : code;
}

pawl_code pawl__mongo_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    ending end    = {.worker = store->worker.uuid, .epoch = store->is_attached ? store->epoch : 0};
    bool   is_own = false;
    (void)now;
    pawl_code code = pawl__mongo_read_one(store, &workers, NULL, NULL, &is_own, error,
                                          "filter: {_id: %u, epoch?: %i}", end.worker, end.epoch);
    if (code == PAWL_OK && is_own)
        code = end_worker(store, &end, error);
    else if (code == PAWL_OK && store->is_attached)
        code = free_claims_of_removed_worker(store, error);
    store->is_attached = false;
    return code;
}

/* ---- The fence ----------------------------------------------------------- */

pawl_code pawl__mongo_fence(pawl_store *store, const pawl_changes *changes, pawl_error *error)
{
    pawl__mongo *self     = pawl__mongo_of(store);
    int64_t      done     = 0;
    int64_t      begun_ms = pawl__clock_ms();
    /* The counters are for the whole change set, so only its first part adds them. */
    static const pawl__field_list none    = {NULL, 0};
    const pawl__field_list       *counted = self->part == 1 ? &pawl__counters_fields : &none;
    pawl_code                     code    = pawl__mongo_write(
                               store, "workers", PAWL__MONGO_UPDATE, &done, error,
                               "q: {_id: %u, epoch: %i}, u: {$set: {last_commit: %u, part: %i, seen: %i}, $inc?: {%r}, " BEATS
                               "}",
                               store->worker.uuid, store->epoch, changes->commit_id, self->part, changes->now, counted,
                               &changes->counters);
    if (code == PAWL_OK && done == 0)
        return pawl__why_fenced(store, "mongodb", error);
    if (code == PAWL_OK)
        self->beat_ms = begun_ms;
    return code;
}

static pawl_code resolve_once(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                              pawl_error *error)
{
    pawl__mongo *self     = pawl__mongo_of(store);
    fence_row    row      = {.part = 0};
    bool         is_there = false;
    pawl_code    code     = pawl__mongo_modify(store, &fences, false, &row, &is_there, error,
                                               "q: {_id: %u}, u: {$inc: {epoch: 1}}", store->worker.uuid);
    if (code != PAWL_OK)
        return code;
    if (!is_there)
        return pawl__why_fenced(store, "mongodb", error);
    store->epoch            = row.epoch;
    self->is_fenced         = false;
    bool is_ours            = pawl_uuid_compare(row.last_commit, commit_id) == 0;
    *is_applied             = is_ours && row.part == self->part;
    self->is_partly_applied = is_ours && !*is_applied;
    return PAWL_OK;
}

pawl_code pawl__mongo_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                              pawl_error *error)
{
    pawl__mongo *self = pawl__mongo_of(store);
    pawl__mongo_transaction_abort(store);
    self->is_partly_applied = false;
    pawl_code code = pawl__wait_resolve(store, &self->wait, pawl__clock_ms() + store->deadline_ms,
                                        resolve_once, commit_id, is_applied, error);
    /* Only a part was applied: the commit itself handles that; for other callers both "applied" and "not applied" are
     * wrong. */
    if (code == PAWL_OK && self->is_partly_applied && !self->is_in_commit)
        return pawl_error_set(error, PAWL_EUNKNOWN, "mongodb: a part of the commit was applied");
    return code;
}

/* ---- Lists --------------------------------------------------------------- */

/* Lists workers with a recent heartbeat. Others are not reported as crashed: a missed heartbeat alone is no proof. */
pawl_code pawl__mongo_find_workers(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                   pawl_found *found, pawl_error *error)
{
    (void)asked;
    return pawl__mongo_read(store, &workers, arena, &found->items, &found->count, error,
                            "filter: {" ALIVE "}, sort: {_id: 1}");
}

pawl_code pawl__mongo_worker_stats(pawl_store *store, pawl_stats *stats, pawl_error *error)
{
    pawl_code code = pawl__mongo_count(store, "workers", 0, &stats->workers, error, ALIVE);
    if (code == PAWL_OK)
        code = pawl__mongo_read_one(
            store, &sums, NULL, &stats->counters, NULL, error,
            "pipeline: [{$group: {_id: null, messages: {$sum: '$messages'}, timeouts: {$sum: "
            "'$timeouts'}, flushes: {$sum: '$flushes'}, failures: {$sum: '$failures'}, conflicts: "
            "{$sum: '$conflicts'}, dead: {$sum: '$dead'}}}]");
    return code;
}

pawl_code pawl__mongo_worker_sweep(pawl_store *store, pawl_time before, size_t count_max,
                                   int64_t *count, bool *more, pawl_error *error)
{
    pawl_arena *arena = pawl_arena_create(0);
    worker_rows dead  = {.count = 0};
    pawl_code   code =
        pawl__mongo_read(store, &workers, arena, &dead.items, &dead.count, error,
                         "filter: {seen: {$lt: %i}, " DEAD "}, sort: {_id: 1}", before);
    *more |= dead.count > count_max;
    for (size_t i = 0; code == PAWL_OK && i < dead.count && i < count_max; i++) {
        ending end = {.worker = dead.items[i].id.uuid, .is_dead = true};
        code       = end_worker(store, &end, error);
        *count += end.is_ended;
    }
    pawl_arena_destroy(arena);
    return code;
}
