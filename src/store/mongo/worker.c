/* worker.c - workers: their documents, heartbeats, and the fence; named leases.
 *
 *     {_id: UUID, endpoint, types, epoch, pid, seen, beat: date of the server, last_commit: UUID, part,
 *      messages, timeouts, flushes, failures, conflicts, dead}
 *
 * The heartbeat of 5 seconds is by the server's clock; without one for 15 seconds a worker is dead, and
 * others free what it has. The document of the zero id keeps the counters of those that ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/refusal.h"
#include "store/mongo/operations.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#define BEAT_MS 5000
#define DEAD_MS 15000
#define RESOLVE_PAUSE_MS_MAX 1000

#define INFO(member, key, type) PAWL__MONGO_FIELD(pawl_worker_info, member, key, type)
static const pawl__mongo_field worker_fields[] = {
    INFO(id, "_id", UUID),
    INFO(endpoint, "endpoint", TEXT),
    INFO(types, "types", TEXT),
    INFO(epoch, "epoch", INT),
    INFO(pid, "pid", INT),
    INFO(seen, "seen", INT),
    INFO(counters.messages, "messages", INT),
    INFO(counters.timeouts, "timeouts", INT),
    INFO(counters.flushes, "flushes", INT),
    INFO(counters.failures, "failures", INT),
    INFO(counters.conflicts, "conflicts", INT),
    INFO(counters.dead, "dead", INT),
    PAWL__MONGO_END,
};
#define COUNTERS_FROM 6 /* in that table */

/* ---- Documents ----------------------------------------------------------- */

/* {"$expr": {op: ["$beat", {"$subtract": ["$$NOW", 15000]}]}} */
static void put_beat(bson_t *filter, const char *op)
{
    bson_t expression, pair, minus, times;
    (void)bson_append_document_begin(filter, "$expr", -1, &expression);
    (void)bson_append_array_begin(&expression, op, -1, &pair);
    (void)bson_append_utf8(&pair, "0", 1, "$beat", -1);
    (void)bson_append_document_begin(&pair, "1", 1, &minus);
    (void)bson_append_array_begin(&minus, "$subtract", -1, &times);
    (void)bson_append_utf8(&times, "0", 1, "$$NOW", -1);
    (void)bson_append_int64(&times, "1", 1, DEAD_MS);
    (void)bson_append_array_end(&minus, &times);
    (void)bson_append_document_end(&pair, &minus);
    (void)bson_append_array_end(&expression, &pair);
    (void)bson_append_document_end(filter, &expression);
}

static void put_alive(bson_t *filter)
{
    pawl__mongo_put_exists(filter, "beat", true);
    put_beat(filter, "$gte");
}

static void put_dead(bson_t *filter)
{
    pawl__mongo_put_exists(filter, "beat", true);
    put_beat(filter, "$lt");
}

static void put_current(bson_t *update)
{
    bson_t inner;
    (void)bson_append_document_begin(update, "$currentDate", -1, &inner);
    (void)bson_append_bool(&inner, "beat", -1, true);
    (void)bson_append_document_end(update, &inner);
}

/* {"$unset": {name: true, ...}} */
static void put_unset(bson_t *update, const char *const *names)
{
    bson_t inner;
    (void)bson_append_document_begin(update, "$unset", -1, &inner);
    for (; *names != NULL; names++)
        (void)bson_append_bool(&inner, *names, -1, true);
    (void)bson_append_document_end(update, &inner);
}

static pawl_code list_workers(pawl_store *store, const bson_t *filter, pawl_arena *arena,
                              pawl__mongo_rows *rows, pawl_error *error)
{
    const pawl__mongo_find find = {.collection = "workers", .filter = filter, .sort = "_id"};
    return pawl__mongo_read(store, &find, worker_fields, sizeof(pawl_worker_info), arena, rows,
                            error);
}

/* ---- What a worker has --------------------------------------------------- */

typedef struct holding {
    const char *collection, *by;
    const char *unset[4];
    bool        has_lease;
} holding;

static const holding holdings[] = {
    {"queue", "claimed_by", {"claimed_by", "claim", NULL}, false},
    {"timeouts", "worker", {"worker", "owner", NULL}, true},
    {"aggregator", "worker", {"worker", "session", NULL}, true},
};

static pawl_code free_holding(pawl_store *store, const holding *held, pawl_uuid worker,
                              pawl_error *error)
{
    bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    pawl__mongo_put_uuid(&filter, held->by, worker);
    put_unset(&update, held->unset);
    if (held->has_lease) {
        (void)bson_append_document_begin(&update, "$set", -1, &set);
        pawl__mongo_put_int(&set, "lease_expires", 0);
        (void)bson_append_document_end(&update, &set);
    }
    pawl_code code = pawl__mongo_stamp(store, held->collection, &filter, &update, NULL, error);
    bson_destroy(&filter);
    bson_destroy(&update);
    return code;
}

static pawl_code free_all(pawl_store *store, pawl_uuid worker, pawl_error *error)
{
    bson_t           filter = BSON_INITIALIZER;
    pawl_code        code   = PAWL_OK;
    pawl__mongo_bulk bulk   = pawl__mongo_bulk_begin(store, "leases");
    pawl__mongo_put_uuid(&filter, "worker", worker);
    pawl__mongo_remove_many(&bulk, &filter);
    code = pawl__mongo_bulk_run(&bulk, error);
    bson_destroy(&filter);
    for (size_t i = 0; code == PAWL_OK && i < sizeof holdings / sizeof holdings[0]; i++)
        code = free_holding(store, &holdings[i], worker, error);
    return code;
}

/* Noted in its document, so that the next one need not do it again. */
static pawl_code note_freed(pawl_store *store, pawl_uuid worker, pawl_error *error)
{
    bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    pawl__mongo_put_uuid(&filter, "_id", worker);
    put_dead(&filter);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    (void)bson_append_bool(&set, "is_freed", -1, true);
    (void)bson_append_document_end(&update, &set);
    pawl_code code = pawl__mongo_stamp(store, "workers", &filter, &update, NULL, error);
    bson_destroy(&filter);
    bson_destroy(&update);
    return code;
}

static pawl_code free_dead(pawl_store *store, pawl_error *error)
{
    bson_t           filter = BSON_INITIALIZER, inner;
    pawl_arena      *arena  = pawl_arena_create(0);
    pawl__mongo_rows dead   = {.count = 0};
    (void)bson_append_document_begin(&filter, "is_freed", -1, &inner);
    (void)bson_append_bool(&inner, "$ne", -1, true);
    (void)bson_append_document_end(&filter, &inner);
    put_dead(&filter);
    pawl_code code = arena != NULL ? PAWL_OK : pawl__mongo_no_memory(error);
    if (code == PAWL_OK)
        code = list_workers(store, &filter, arena, &dead, error);
    for (size_t i = 0; code == PAWL_OK && i < dead.count; i++) {
        pawl_uuid worker = ((const pawl_worker_info *)dead.items)[i].id.uuid;
        code             = free_all(store, worker, error);
        if (code == PAWL_OK)
            code = note_freed(store, worker, error);
    }
    pawl_arena_destroy(arena);
    bson_destroy(&filter);
    return code;
}

pawl_code pawl__mongo_beat(pawl_store *store, pawl_error *error)
{
    pawl__mongo *self   = pawl__mongo_of(store);
    int64_t      now_ms = pawl__mongo_clock_ms();
    if (now_ms - self->beat_ms < BEAT_MS)
        return PAWL_OK;
    static const char *const freed[] = {"is_freed", NULL};
    bson_t                   filter = BSON_INITIALIZER, update = BSON_INITIALIZER;
    pawl__mongo_put_uuid(&filter, "_id", store->worker.uuid);
    pawl__mongo_put_int(&filter, "epoch", store->epoch);
    put_current(&update);
    put_unset(&update, freed);
    pawl_code code = pawl__mongo_stamp(store, "workers", &filter, &update, NULL, error);
    bson_destroy(&filter);
    bson_destroy(&update);
    if (code == PAWL_OK)
        self->beat_ms = now_ms;
    return code == PAWL_OK ? free_dead(store, error) : code;
}

/* ---- Opening ------------------------------------------------------------- */

static void read_worker(const bson_t *reply, pawl_worker_info *info, pawl_uuid *last_commit,
                        int64_t *part, bool *is_there)
{
    bson_iter_t    at;
    const uint8_t *data = NULL;
    uint32_t       size = 0;
    bson_t         value;
    *is_there = false;
    if (!bson_iter_init_find(&at, reply, "value") || !BSON_ITER_HOLDS_DOCUMENT(&at))
        return;
    bson_iter_document(&at, &size, &data);
    *is_there = bson_init_static(&value, data, size);
    (void)pawl__mongo_get_int(&value, "epoch", &info->epoch);
    (void)pawl__mongo_get_int(&value, "part", part);
    (void)pawl__mongo_get_uuid(&value, "last_commit", last_commit);
}

/* A document that is there is taken over: another handle that has its epoch is fenced. */
static pawl_code take_document(pawl_store *store, const pawl_worker_info *info, int64_t *epoch,
                               pawl_error *error)
{
    static const char *const freed[] = {"is_freed", NULL};
    bson_t                   filter = BSON_INITIALIZER, update = BSON_INITIALIZER, inner, reply;
    pawl_worker_info         found = {.epoch = 0};
    pawl_uuid                last_commit;
    int64_t                  part;
    bool                     is_there = false;
    pawl__mongo_put_uuid(&filter, "_id", store->worker.uuid);
    (void)bson_append_document_begin(&update, "$set", -1, &inner);
    pawl__mongo_put_text(&inner, "endpoint", info->endpoint);
    pawl__mongo_put_text(&inner, "types", info->types);
    pawl__mongo_put_int(&inner, "pid", info->pid);
    pawl__mongo_put_int(&inner, "seen", info->seen);
    (void)bson_append_document_end(&update, &inner);
    (void)bson_append_document_begin(&update, "$inc", -1, &inner);
    pawl__mongo_put_int(&inner, "epoch", 1);
    (void)bson_append_document_end(&update, &inner);
    put_current(&update);
    put_unset(&update, freed);
    pawl_code code =
        pawl__mongo_find_and_modify(store, "workers", &filter, &update, true, &reply, error);
    if (code == PAWL_OK)
        read_worker(&reply, &found, &last_commit, &part, &is_there);
    *epoch = found.epoch;
    bson_destroy(&reply);
    bson_destroy(&filter);
    bson_destroy(&update);
    return code;
}

pawl_code pawl__mongo_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                  pawl_time now, pawl_error *error)
{
    const pawl_worker_info info = {
        .endpoint = endpoint, .types = types, .pid = getpid(), .seen = now};
    int64_t   epoch = 0;
    pawl_code code  = take_document(store, &info, &epoch, error);
    if (code == PAWL_OK && epoch > 1)
        code = free_all(store, store->worker.uuid, error);
    if (code == PAWL_OK)
        code = free_dead(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__mongo_of(store)->beat_ms = pawl__mongo_clock_ms();
    store->epoch                   = epoch;
    store->is_attached             = true;
    return PAWL_OK;
}

/* ---- Ending -------------------------------------------------------------- */

typedef struct ending {
    pawl_uuid worker;
    int64_t   epoch; /* 0: any */
    bool      is_ended;
} ending;

static void put_counters(bson_t *update, const pawl_counters *counters)
{
    bson_t                 inner;
    const pawl_worker_info info = {.counters = *counters};
    (void)bson_append_document_begin(update, "$inc", -1, &inner);
    (void)pawl__mongo_encode(&inner, worker_fields + COUNTERS_FROM, &info);
    (void)bson_append_document_end(update, &inner);
}

static pawl_code keep_counters(pawl_store *store, const pawl_counters *counters, pawl_error *error)
{
    static const pawl_uuid zero;
    bson_t                 filter = BSON_INITIALIZER, update = BSON_INITIALIZER;
    pawl__mongo_bulk       bulk = pawl__mongo_bulk_begin(store, "workers");
    pawl__mongo_put_uuid(&filter, "_id", zero);
    put_counters(&update, counters);
    pawl__mongo_update(&bulk, &filter, &update, true);
    pawl_code code = pawl__mongo_bulk_run(&bulk, error);
    bson_destroy(&filter);
    bson_destroy(&update);
    return code;
}

/* The document goes, and its counters to that of those that ended, in one transaction. */
static pawl_code end_document(pawl_store *store, void *context, pawl_error *error)
{
    ending          *end    = context;
    bson_t           filter = BSON_INITIALIZER;
    pawl_worker_info info   = {.epoch = 0};
    pawl_arena      *arena  = pawl_arena_create(0);
    pawl_code        code   = arena != NULL ? PAWL_OK : pawl__mongo_no_memory(error);
    pawl__mongo_put_uuid(&filter, "_id", end->worker);
    if (end->epoch != 0)
        pawl__mongo_put_int(&filter, "epoch", end->epoch);
    const pawl__mongo_find find = {.collection = "workers", .filter = &filter};
    if (code == PAWL_OK)
        code =
            pawl__mongo_read_one(store, find, worker_fields, arena, &info, &end->is_ended, error);
    if (code == PAWL_OK && end->is_ended)
        code = keep_counters(store, &info.counters, error);
    if (code == PAWL_OK && end->is_ended) {
        pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(store, "workers");
        pawl__mongo_remove(&bulk, &filter);
        code = pawl__mongo_bulk_run(&bulk, error);
    }
    pawl_arena_destroy(arena);
    bson_destroy(&filter);
    return code;
}

/* What the worker had is freed first: a document that is gone would free nothing any more. */
pawl_code pawl__mongo_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    pawl_worker_info info = {.epoch = 0};
    ending end    = {.worker = store->worker.uuid, .epoch = store->is_attached ? store->epoch : 0};
    bson_t filter = BSON_INITIALIZER;
    bool   is_own = false;
    pawl_arena *arena = pawl_arena_create(0);
    pawl_code   code  = arena != NULL ? PAWL_OK : pawl__mongo_no_memory(error);
    (void)now;
    pawl__mongo_put_uuid(&filter, "_id", end.worker);
    if (end.epoch != 0)
        pawl__mongo_put_int(&filter, "epoch", end.epoch);
    const pawl__mongo_find find = {.collection = "workers", .filter = &filter};
    if (code == PAWL_OK)
        code = pawl__mongo_read_one(store, find, worker_fields, arena, &info, &is_own, error);
    if (code == PAWL_OK && is_own)
        code = free_all(store, end.worker, error);
    if (code == PAWL_OK && is_own)
        code = pawl__mongo_transact(store, end_document, &end, error);
    store->is_attached = false;
    pawl_arena_destroy(arena);
    bson_destroy(&filter);
    return code;
}

/* ---- The fence ----------------------------------------------------------- */

pawl_code pawl__mongo_fence(pawl_store *store, const pawl_changes *changes, pawl_error *error)
{
    static const char *const freed[] = {"is_freed", NULL};
    pawl__mongo             *self    = pawl__mongo_of(store);
    bson_t                   filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    pawl__mongo_bulk         bulk = pawl__mongo_bulk_begin(store, "workers");
    pawl__mongo_put_uuid(&filter, "_id", store->worker.uuid);
    pawl__mongo_put_int(&filter, "epoch", store->epoch);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    pawl__mongo_put_uuid(&set, "last_commit", changes->commit_id);
    pawl__mongo_put_int(&set, "part", self->part);
    pawl__mongo_put_int(&set, "seen", changes->now);
    (void)bson_append_document_end(&update, &set);
    if (self->part == 1)
        put_counters(&update, &changes->counters);
    put_current(&update);
    put_unset(&update, freed);
    pawl__mongo_update(&bulk, &filter, &update, false);
    int64_t   begun_ms = pawl__mongo_clock_ms();
    pawl_code code     = pawl__mongo_bulk_run(&bulk, error);
    bson_destroy(&filter);
    bson_destroy(&update);
    if (code != PAWL_OK)
        return code;
    if (bulk.matched == 0)
        return pawl__why_fenced(store, "mongodb", error);
    self->beat_ms = begun_ms;
    return PAWL_OK;
}

static pawl_code resolve_once(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                              pawl_error *error)
{
    bson_t           filter = BSON_INITIALIZER, update = BSON_INITIALIZER, inner, reply;
    pawl_worker_info found       = {.epoch = 0};
    pawl_uuid        last_commit = {{0}};
    int64_t          part        = 0;
    bool             is_there    = false;
    pawl__mongo_put_uuid(&filter, "_id", store->worker.uuid);
    (void)bson_append_document_begin(&update, "$inc", -1, &inner);
    pawl__mongo_put_int(&inner, "epoch", 1);
    (void)bson_append_document_end(&update, &inner);
    pawl_code code =
        pawl__mongo_find_and_modify(store, "workers", &filter, &update, false, &reply, error);
    if (code == PAWL_OK)
        read_worker(&reply, &found, &last_commit, &part, &is_there);
    bson_destroy(&reply);
    bson_destroy(&filter);
    bson_destroy(&update);
    if (code != PAWL_OK)
        return code;
    if (!is_there)
        return pawl__why_fenced(store, "mongodb", error);
    store->epoch = found.epoch;
    *is_applied =
        pawl_uuid_compare(last_commit, commit_id) == 0 && part == pawl__mongo_of(store)->part;
    return PAWL_OK;
}

/* A primary that is away comes back, or another one in its place: it is asked until it answers, or the
 * deadline is over. */
pawl_code pawl__mongo_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                              pawl_error *error)
{
    int64_t begun_ms = pawl__mongo_clock_ms();
    int     pause_ms = 10;
    pawl__mongo_transaction_abort(store);
    pawl_code code = resolve_once(store, commit_id, is_applied, error);
    while (pawl_code_retry(code) == PAWL_RETRY_LATER &&
           pawl__mongo_clock_ms() - begun_ms < store->deadline_ms) {
        (void)poll(NULL, 0, pause_ms);
        pause_ms = pause_ms * 2 < RESOLVE_PAUSE_MS_MAX ? pause_ms * 2 : RESOLVE_PAUSE_MS_MAX;
        code     = resolve_once(store, commit_id, is_applied, error);
    }
    return code;
}

/* ---- Lists --------------------------------------------------------------- */

pawl_code pawl__mongo_worker_list(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                  size_t *count, pawl_error *error)
{
    bson_t           filter = BSON_INITIALIZER;
    pawl__mongo_rows rows   = {.count = 0};
    put_alive(&filter);
    pawl_code code = list_workers(store, &filter, arena, &rows, error);
    *items         = rows.items;
    *count         = rows.count;
    bson_destroy(&filter);
    return code;
}

/* A missed heartbeat alone tells of no death. */
pawl_code pawl__mongo_worker_died(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                  size_t *count, pawl_error *error)
{
    (void)store, (void)arena, (void)items, (void)count;
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "mongodb: workers live by heartbeats: nothing tells that one died");
}

static void add_counters(pawl_counters *sum, const pawl_counters *counters)
{
    sum->messages += counters->messages;
    sum->timeouts += counters->timeouts;
    sum->flushes += counters->flushes;
    sum->failures += counters->failures;
    sum->conflicts += counters->conflicts;
    sum->dead += counters->dead;
}

pawl_code pawl__mongo_worker_stats(pawl_store *store, pawl_stats *stats, pawl_error *error)
{
    bson_t           all = BSON_INITIALIZER, alive = BSON_INITIALIZER;
    pawl_arena      *arena = pawl_arena_create(0);
    pawl__mongo_rows rows  = {.count = 0};
    put_alive(&alive);
    pawl_code code = arena != NULL ? PAWL_OK : pawl__mongo_no_memory(error);
    if (code == PAWL_OK)
        code = list_workers(store, &all, arena, &rows, error);
    for (size_t i = 0; i < rows.count; i++)
        add_counters(&stats->counters, &((const pawl_worker_info *)rows.items)[i].counters);
    if (code == PAWL_OK)
        code = pawl__mongo_count(store, "workers", &alive, &stats->workers, error);
    pawl_arena_destroy(arena);
    bson_destroy(&all);
    bson_destroy(&alive);
    return code;
}

pawl_code pawl__mongo_worker_sweep(pawl_store *store, pawl_time before, size_t count_max,
                                   int64_t *count, bool *more, pawl_error *error)
{
    bson_t           filter = BSON_INITIALIZER;
    pawl_arena      *arena  = pawl_arena_create(0);
    pawl__mongo_rows dead   = {.count = 0};
    pawl__mongo_put_op(&filter, "seen", "$lt", before);
    put_dead(&filter);
    pawl_code code = arena != NULL ? PAWL_OK : pawl__mongo_no_memory(error);
    if (code == PAWL_OK)
        code = list_workers(store, &filter, arena, &dead, error);
    *more |= dead.count > count_max;
    for (size_t i = 0; code == PAWL_OK && i < dead.count && i < count_max; i++) {
        ending end = {.worker = ((const pawl_worker_info *)dead.items)[i].id.uuid};
        code       = free_all(store, end.worker, error);
        if (code == PAWL_OK)
            code = pawl__mongo_transact(store, end_document, &end, error);
        *count += end.is_ended;
    }
    pawl_arena_destroy(arena);
    bson_destroy(&filter);
    return code;
}
