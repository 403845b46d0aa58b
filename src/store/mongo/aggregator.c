/* aggregator.c - collected messages by partition, with the leases of batches; and the flush state of each partition.
 *
 *     aggregator        {_id: number, name, partition, key, ..., at, session: UUID, lease_expires, worker}
 *     aggregator_flush  {_id: partition, name, due, attempts, is_dead, error, adds}
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"

#define CLAIM_TRIES_MAX 10

static const pawl__mongo_table collected =
    PAWL__MONGO_TABLE("aggregator", "id", pawl__aggregator_row_fields, pawl_aggregator_row);
static const pawl__mongo_table flushes =
    PAWL__MONGO_TABLE("aggregator_flush", "partition", pawl__flush_row_fields, pawl_flush_row);

#define IN_ORDER "sort: {at: 1, _id: 1}"

/* ---- Snapshots ----------------------------------------------------------- */

#define FREE "partition: %t, lease_expires: {$lte: %i}, _id?: {$lte?: %i}, type: {%k: %l}"
#define FREE_ARGUMENTS(claim, op)                            \
    (claim)->partition, (claim)->now, (claim)->id_max, (op), \
        PAWL__MONGO_VALUES((claim)->types, (claim)->type_count, TEXT)

/* Only the lease of a row ever changes, so the leased rows are those found, unless other workers leased some of them
 * first. */
static pawl_code claim_rows(pawl_store *store, const pawl_leased_batch_claim *claim,
                            pawl_arena *arena, pawl_leased_batch *found, pawl_error *error)
{
    int64_t   leased  = 0;
    pawl_code code    = PAWL_OK;
    pawl_time expires = pawl_time_add(claim->now, claim->lease);
    for (unsigned tries = 0; code == PAWL_OK && leased == 0 && tries < CLAIM_TRIES_MAX; tries++) {
        code = pawl__mongo_read(store, &collected, arena, &found->items, &found->count, error,
                                "filter: {" FREE "}, " IN_ORDER ", limit?: %i",
                                FREE_ARGUMENTS(claim, "$in"), (int64_t)claim->count_max);
        if (code != PAWL_OK || found->count == 0)
            break;
        code = pawl__mongo_write(
            store, "aggregator", PAWL__MONGO_UPDATE_MANY, &leased, error,
            "q: {_id: {$in: %l}, lease_expires: {$lte: %i}}, u: {$set: {session: %u, worker: %u, "
            "lease_expires: %i}}",
            PAWL__MONGO_LIST(found->items, found->count, pawl_aggregator_row, id, INT), claim->now,
            claim->session.uuid, store->worker.uuid, expires);
    }
    if (code == PAWL_OK && leased != (int64_t)found->count)
        code = pawl__mongo_read(store, &collected, arena, &found->items, &found->count, error,
                                "filter: {partition: %t, session: %u}, " IN_ORDER, claim->partition,
                                claim->session.uuid);
    for (size_t i = 0; i < found->count; i++) {
        found->items[i].session       = claim->session;
        found->items[i].lease_expires = expires;
    }
    return code;
}

pawl_code pawl__mongo_leased_batch_claim(pawl_store *store, const pawl_leased_batch_claim *claim,
                                         pawl_arena *arena, pawl_leased_batch *leased,
                                         pawl_error *error)
{
    *leased        = (pawl_leased_batch){.count = 0};
    pawl_code code = pawl__mongo_count(store, "aggregator", 0, &leased->unresolved, error, FREE,
                                       FREE_ARGUMENTS(claim, "$nin"));
    return code == PAWL_OK ? claim_rows(store, claim, arena, leased, error) : code;
}

/* ---- Reads --------------------------------------------------------------- */

pawl_code pawl__mongo_find_partition(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                     pawl_found *found, pawl_error *error)
{
    return pawl__mongo_read(store, &collected, arena, &found->items, &found->count, error,
                            "filter: {partition: %t}, " IN_ORDER, asked->name);
}

#define KNOWN "{$in: ['$type', {$literal: %l}]}"
#define COUNT(member, as) PAWL__AS(aggregator_counts, member, as)
#define FLUSH(member, as) PAWL__MONGO_AS(pawl_aggregator_counts, flush_##member, #member, as)
static const pawl__field_list row_counts =
    PAWL__FIELDS(COUNT(all, INT), COUNT(resolved, INT), COUNT(ready, INT), COUNT(id_last, INT));
static const pawl__field_list flush_counts =
    PAWL__FIELDS(FLUSH(due, TIME), FLUSH(attempts, INT32), FLUSH(is_dead, BOOL));

pawl_code pawl__mongo_aggregator_count(pawl_store *store, pawl_text partition,
                                       const pawl_text *types, size_t type_count, pawl_time now,
                                       pawl_aggregator_counts *counts, pawl_error *error)
{
    static const pawl__mongo_table rows  = {.name = "aggregator", .fields = &row_counts};
    static const pawl__mongo_table flush = {.name = "aggregator_flush", .fields = &flush_counts};
    pawl__mongo_list              *known = PAWL__MONGO_VALUES(types, type_count, TEXT);
    pawl_code                      code  = pawl__mongo_read_one(
                              store, &rows, NULL, counts, NULL, error,
                              "pipeline: [{$match: {partition: %t}}, {$group: {_id: null, all: {$sum: 1}, "
                                                    "id_last: {$max: '$_id'}, resolved: {$sum: {$cond: [" KNOWN ", 1, 0]}}, ready: {$sum: "
                                                    "{$cond: [{$and: [" KNOWN ", {$lte: ['$lease_expires', %i]}]}, 1, 0]}}}}]",
                              partition, known, known, now);
    if (code == PAWL_OK)
        code = pawl__mongo_read_one(store, &flush, NULL, counts, NULL, error, "filter: {_id: %t}",
                                    partition);
    return code;
}

pawl_code pawl__mongo_find_flushes(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                   pawl_found *found, pawl_error *error)
{
    return pawl__mongo_read(
        store, &flushes, arena, &found->items, &found->count, error,
        "filter: {name: %t, is_dead: false, due: {$lte: %i}}, sort: {due: 1, _id: 1}, limit: %i",
        asked->name, asked->time, asked->limit);
}

/* ---- Changes ------------------------------------------------------------- */

/* Each add writes the flush document of its partition; a flush that finds the partition empty removes it. So if both
 * happen at once, they conflict, and one of the two transactions is repeated.
 *
 * Concurrent adds to a partition conflict on this document, too. It is written first: a long transaction that wrote it
 * last would lose against shorter ones again and again. */
static const pawl__mongo_rule period = {
    .collection = "aggregator_flush",
    .writes = {"maybe by partition upsert q: {_id: @partition}, u: {$setOnInsert: {name: @name, "
               "due: @due, attempts: 0, is_dead: false}, $inc: {adds: 1}}"}};

const pawl__mongo_rule pawl__mongo_aggregator_add_rule = {
    .collection = "aggregator",
    .keys       = "partition,key",
    .table      = &collected,
    .reads =
        "filter: {$or: @@{partition: @partition, key: @key}}, projection: {partition: 1, key: 1}",
    .match    = "partition=partition,key=key",
    .if_there = pawl__mongo_known,
    .writes   = {"insert _id: @number, @*, lease_expires: 0"},
    .before   = &period};

const pawl__mongo_rule pawl__mongo_leased_batch_release_rule = {
    .collection = "aggregator",
    .writes     = {"maybe updates q: {partition: @partition, session: @session}, u: {$set: "
                       "{lease_expires: 0}, $unset: {session: 1, worker: 1}}"}};

static int choose_flush(const pawl__mongo_run *run, const void *change)
{
    const pawl_flush_set *set      = change;
    bool                  is_there = false;
    pawl_code             code     = PAWL_OK;
    if (set->is_done)
        code = pawl__mongo_read_one(
            run->writer->store, &collected, NULL, NULL, &is_there, run->writer->error,
            "filter: {partition: %t}, projection: {_id: 1}", set->partition);
    return code != PAWL_OK ? PAWL__MONGO_FAILED : set->is_done && !is_there;
}

const pawl__mongo_rule pawl__mongo_flush_set_rule = {
    .collection = "aggregator_flush",
    .keys       = "partition",
    .choose     = choose_flush,
    .writes     = {"maybe update q: {_id: @partition}, u: {$set: {due: @due, attempts: @attempts, "
                       "is_dead: @is_dead, error: @error}}",
                   "maybe remove q: {_id: @partition}"}};

/* Refuses with the first id that the session has no lease on. */
static pawl_code look_at_removal(const pawl__mongo_run          *run,
                                 const pawl_leased_batch_remove *removal)
{
    pawl_leased_batch found = {.count = 0};
    pawl_code         code  = pawl__mongo_read(
                 run->writer->store, &collected, run->writer->arena, &found.items, &found.count,
                 run->writer->error,
                 "filter: {_id: {$in: %l}, partition: %t, session: %u}, projection: {_id: 1}",
                 PAWL__MONGO_VALUES(removal->ids, removal->id_count, INT), removal->partition,
                 removal->session.uuid);
    for (size_t i = 0; code == PAWL_OK && i < removal->id_count; i++) {
        pawl_error why = PAWL_ERROR_INIT;
        size_t     at  = 0;
        while (at < found.count && found.items[at].id != removal->ids[i])
            at++;
        if (at < found.count)
            continue;
        (void)pawl__why_not_removed(removal, i, &why);
        return pawl__mongo_refuse(run, 0, &why);
    }
    return code;
}

static pawl_code apply_leased_batch_remove(pawl__mongo_run *run)
{
    const pawl_leased_batch_remove *removal   = run->items[0];
    bool                            is_leased = !pawl_uuid_is_zero(removal->session.uuid);
    int64_t                         done      = 0;
    pawl_code                       code      = PAWL_OK;
    if (is_leased && run->writer->commits_singly)
        code = look_at_removal(run, removal);
    if (code != PAWL_OK || run->is_settled[0] || removal->id_count == 0)
        return code;
    code = pawl__mongo_write(run->writer->store, "aggregator", PAWL__MONGO_REMOVE_MANY, &done,
                             run->writer->error, "q: {_id: {$in: %l}, partition: %t, session?: %u}",
                             PAWL__MONGO_VALUES(removal->ids, removal->id_count, INT),
                             removal->partition, removal->session.uuid);
    return code == PAWL_OK && is_leased && done != (int64_t)removal->id_count
               ? pawl__mongo_mismatch(run, done, removal->id_count)
               : code;
}

const pawl__mongo_rule pawl__mongo_leased_batch_remove_rule = {
    .collection = "aggregator", .keys = "", .apply = apply_leased_batch_remove};

/* Removes the oldest message with the correlation id, or the whole partition. */
static pawl_code apply_remove(pawl__mongo_run *run)
{
    const pawl_aggregator_remove *gone   = run->items[0];
    pawl__mongo_writer           *writer = run->writer;
    pawl_aggregator_row           row    = {.id = 0};
    pawl_error                    why    = PAWL_ERROR_INIT;
    pawl_code                     code   = PAWL_OK;
    int64_t                       done   = 0;
    bool is_one = !gone->is_all && gone->correlation_id.size != 0, is_found = true;
    if (is_one)
        code = pawl__mongo_read_one(writer->store, &collected, NULL, &row, &is_found, writer->error,
                                    "filter: {partition: %t, correlation_id: %t}, " IN_ORDER
                                    ", projection: {_id: 1}",
                                    gone->partition, gone->correlation_id);
    if (code == PAWL_OK && is_found)
        code = pawl__mongo_write(writer->store, "aggregator", PAWL__MONGO_REMOVE_MANY, &done,
                                 writer->error, "q: {partition: %t, _id?: %i}", gone->partition,
                                 row.id);
    if (code != PAWL_OK || done != 0 || !gone->is_checked)
        return code;
    (void)pawl__why_no_row(gone, &why);
    return pawl__mongo_refuse(run, 0, &why);
}

const pawl__mongo_rule pawl__mongo_aggregator_remove_rule = {
    .collection = "aggregator", .keys = "", .apply = apply_remove};
