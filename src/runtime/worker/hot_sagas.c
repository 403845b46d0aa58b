/* hot_sagas.c - remembers sagas with many conflicts. For a minute the worker loads such a saga under a row lock, and
 * skips it if another worker has locked the row. It also makes the worker pause after conflicts on streams.
 *
 * Sagas are identified by hashes of their id and values; if two have the same hash, one is locked without need. On a
 * store without row locks nothing is remembered, and only versions detect conflicts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/commit.h"

#define HOT_TIME PAWL_MINUTES(1)
#define STREAM_BACKS_MAX 200 /* 64 workers on one stream usually need fewer */
#define STREAM_PAUSE PAWL_MILLISECONDS(40)
#define STREAM_PAUSE_MAX PAWL_MILLISECONDS(320)
#define WAY_BACKS_MAX 2 /* a pause of 20 ms doubles up to twice, */
#define HOT_BACKS_MAX 5 /* or, for a hot saga, five times: 640 ms */
#define CROWD 4

/* Hash of a value; 0 stands for a value that is not known. */
static uint64_t hash_of(const pawl_value *value)
{
    uint64_t hash = value->type != PAWL_VALUE_NONE ? pawl_value_hash(value) : 0;
    return hash != 0 || value->type == PAWL_VALUE_NONE ? hash : 1;
}

static void hash_entry(const pawl__entry *entry, uint64_t hashes[3])
{
    pawl_value id = pawl_value_uuid(entry->stored.id.uuid);
    if (entry->stored.presence == PAWL_SAGA_MISSING)
        id = pawl_value_uuid(entry->id.uuid); /* zero, or the saga id of a timeout */
    bool has_id = !pawl_uuid_is_zero(id.as.uuid) && !entry->is_new;

    hashes[PAWL_SAGA_BY_ID]           = has_id ? hash_of(&id) : 0;
    hashes[PAWL_SAGA_BY_MAIN]         = hash_of(&entry->main);
    hashes[PAWL_SAGA_BY_TRANSITIONAL] = hash_of(&entry->transitional);
}

static pawl__hot_saga *find(pawl__worker *worker, const pawl__entry *entry)
{
    uint64_t hashes[3];
    hash_entry(entry, hashes);
    for (size_t i = 0; i < worker->hot_count; i++) {
        pawl__hot_saga *saga = &worker->hot[i];
        for (size_t key = 0; key < 3 && saga->table == &entry->model->table; key++)
            if (hashes[key] != 0 && saga->hashes[key] == hashes[key])
                return saga;
    }
    return NULL;
}

static bool is_hot(const pawl__worker *worker, const pawl__hot_saga *saga)
{
    return saga->hot_until > worker->engine.machine_now;
}

/* Adds an entry, in place of the one seen longest ago if the list is full. */
static pawl__hot_saga *add(pawl__worker *worker)
{
    if (worker->hot_count < PAWL__HOT_MAX)
        return &worker->hot[worker->hot_count++];
    pawl__hot_saga *oldest = &worker->hot[0];
    for (size_t i = 1; i < PAWL__HOT_MAX; i++)
        if (worker->hot[i].seen < oldest->seen)
            oldest = &worker->hot[i];
    return oldest;
}

static void extend(pawl__worker *worker, pawl__hot_saga *saga)
{
    saga->hot_until = pawl_time_add(worker->engine.machine_now, HOT_TIME);
    if (saga->hot_until > worker->hot_until)
        worker->hot_until = saga->hot_until;
    worker->engine.has_hot = true;
}

/* Notes a conflict. True: it made the saga hot. */
static bool note_conflict(pawl__worker *worker, const pawl__entry *entry, size_t unit_count)
{
    pawl_time       now     = worker->engine.machine_now;
    pawl__hot_saga *saga    = find(worker, entry);
    bool            was_hot = saga != NULL && is_hot(worker, saga);
    /* A refused group of several units counts as several conflicts. */
    bool is_second = unit_count > 1 || (saga != NULL && now - saga->conflict <= HOT_TIME);
    if (saga == NULL) {
        saga  = add(worker);
        *saga = (pawl__hot_saga){.table = &entry->model->table, .hot_until = PAWL_TIME_MIN};
    }
    uint64_t hashes[3];
    hash_entry(entry, hashes);
    for (size_t key = 0; key < 3; key++)
        if (hashes[key] != 0)
            saga->hashes[key] = hashes[key];
    saga->conflict = saga->seen = now;
    if (is_second || was_hot)
        extend(worker, saga);
    return is_second && !was_hot;
}

/* Was the change of this saga refused? */
static bool is_refused(const pawl__entry *entry, const pawl_refusal *refusal)
{
    if (entry->writer != refusal->unit)
        return false;
    switch (refusal->kind) {
    case pawl_change_saga_delete: return entry->is_stored_gone;
    case pawl_change_saga_insert: return entry->exists && entry->is_new;
    case pawl_change_saga_update: return entry->exists && entry->is_dirty && !entry->is_new;
    default: return false;
    }
}

static size_t group_size(pawl__batch *batch, uint32_t group)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->unit_count; i++)
        count += pawl__group_of(batch, (uint32_t)i) == group;
    return count;
}

static bool has_row_locks(const pawl__worker *worker)
{
    return (pawl_store_promises(worker->store) & PAWL_STORE_ROW_LOCKS) != 0;
}

/* Pause after a conflict on a stream. A conflict wastes the loser's batch and delays the winner, so fewer active
 * workers finish sooner. The pause doubles with each loss in a row, with random jitter. A worker that lost less than
 * half of its batch pauses shorter in proportion. */
static int64_t stream_pause(pawl__worker *worker, const pawl__unit_result *results)
{
    pawl__batch *batch = worker->batch;
    int64_t      time  = pawl__doubled(STREAM_PAUSE, worker->stream_backs, STREAM_PAUSE_MAX);
    int64_t      count = (int64_t)batch->unit_count, lost = 0;
    for (size_t i = 0; i < batch->unit_count; i++)
        lost += results[pawl__group_of(batch, (uint32_t)i)].is_back;
    if (lost < count - lost)
        time = time * 2 * lost / count;
    return time / 2 + (int64_t)pawl_random_below(&worker->random, (uint64_t)time + 1);
}

/* Releases the units of refused streams, to be claimed again as a batch: a stream has no row to lock, and units that
 * run one by one lose against other workers' batches. After STREAM_BACKS_MAX losses in a row, the worker does run its
 * units one by one, each of which counts as a conflict. */
static void note_streams(pawl__worker *worker, const pawl_refusals *refused,
                         pawl__unit_result *results)
{
    bool has = false, has_back = false;
    for (size_t i = 0; i < refused->count; i++) {
        const pawl_refusal *refusal = &refused->items[i];
        if (refusal->kind != pawl_change_event_append)
            continue;
        has = true;
        if (worker->stream_backs < STREAM_BACKS_MAX)
            results[refusal->group].is_back = has_back = true;
    }
    if (has_back && !worker->engine.is_virtual)
        pawl__worker_pause(worker, stream_pause(worker, results));
    worker->stream_backs = has ? worker->stream_backs + 1 : 0;
}

void pawl__hot_note(pawl__worker *worker, const pawl_refusals *refused, pawl__unit_result *results)
{
    pawl__batch *batch = worker->batch;
    note_streams(worker, refused, results);
    if (!has_row_locks(worker))
        return;
    for (size_t i = 0; i < refused->count; i++) {
        const pawl_refusal *refusal = &refused->items[i];
        size_t              size    = 0;
        for (size_t j = 0; j < batch->entry_count; j++) {
            if (!is_refused(batch->entries[j], refusal))
                continue;
            if (size == 0)
                size = group_size(batch, refusal->group);
            if (note_conflict(worker, batch->entries[j], size) && size > 1)
                results[refusal->group].is_back = true;
        }
    }
}

bool pawl__hot_all(pawl__worker *worker)
{
    pawl__batch *batch = worker->batch;
    bool         any   = false;
    for (size_t i = 0; i < batch->entry_count && has_row_locks(worker); i++) {
        const pawl__entry *entry = batch->entries[i];
        if (entry->stream == NULL && (entry->is_stored_gone || (entry->is_dirty && !entry->is_new)))
            any |= note_conflict(worker, entry, batch->unit_count + 1);
    }
    return any;
}

/* Factor for the pause, so that all workers of the endpoint together try as often as CROWD workers would. */
static int64_t count_crowds(pawl__worker *worker)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0, same = 0;
    if (!worker->engine.is_virtual)
        (void)pawl_store_worker_list(worker->store, worker->read, &items, &count, NULL);
    for (size_t i = 0; i < count; i++)
        same += pawl_text_equal(items[i].endpoint, worker->endpoint->model->endpoint);
    return (int64_t)(same / CROWD) + 1;
}

void pawl__hot_note_busy(pawl__worker *worker)
{
    pawl__batch *batch = worker->batch;
    if (!batch->is_all_busy)
        worker->busy_pauses -=
            worker->engine.has_hot ? worker->busy_pauses > 0 : worker->busy_pauses;
    if (!batch->has_busy)
        return;
    bool is_hot_one = false;
    for (size_t i = 0; i < batch->entry_count; i++) {
        pawl__hot_saga *saga = batch->entries[i]->is_busy ? find(worker, batch->entries[i]) : NULL;
        if (saga == NULL)
            continue;
        is_hot_one = true;
        saga->seen = worker->engine.machine_now;
        extend(worker, saga);
    }
    if (!batch->is_all_busy)
        return;
    worker->found_all_busy = true;
    int32_t most           = is_hot_one ? HOT_BACKS_MAX : WAY_BACKS_MAX;
    int32_t times          = worker->busy_pauses < most ? worker->busy_pauses++ : most;
    int64_t crowds         = is_hot_one ? count_crowds(worker) : 1;
    pawl__worker_pause(worker, crowds * (PAWL__SAGA_BUSY_WAIT << times));
}

bool pawl__hot_is(void *runtime, const pawl_saga_table *table, pawl_saga_key key,
                  const pawl_value *value)
{
    const pawl__worker *worker = runtime;
    uint64_t            hash   = hash_of(value);
    for (size_t i = 0; i < worker->hot_count && hash != 0; i++)
        if (worker->hot[i].hashes[key] == hash && worker->hot[i].table == table)
            return is_hot(worker, &worker->hot[i]);
    return false;
}
