/* scan.c - lists rows: those that match a search, and live rows of one kind after a given row, in key order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

#define ROW(member, key, as) PAWL__MONGO_AS(pawl_scan_row, member, key, as)

static const pawl__field_list saga_fields = PAWL__FIELDS(
    ROW(id, "_id", UUID), ROW(type_version, "type_version", TEXT),
    ROW(persistence_version, "persistence_version", TEXT), ROW(message.body, "data", JSON));
static const pawl__field_list queue_fields = PAWL__FIELDS(
    ROW(number, "_id", INT), ROW(belongs_to, "queue", TEXT), PAWL__AS_MESSAGE(scan_row));
static const pawl__field_list timeout_fields = PAWL__FIELDS(
    ROW(id, "_id", UUID), ROW(belongs_to, "destination", TEXT), ROW(name, "name", TEXT),
    ROW(message.type, "saga_type", TEXT), ROW(saga_id, "saga_id", UUID));
static const pawl__field_list fold_fields =
    PAWL__FIELDS(ROW(belongs_to, "_id", TEXT), ROW(version, "type_version", INT32),
                 ROW(message.body, "state", TEXT));
static const pawl__field_list aggregator_fields = PAWL__FIELDS(
    ROW(number, "_id", INT), ROW(belongs_to, "name", TEXT), PAWL__AS_MESSAGE(scan_row));
static const pawl__field_list dead_fields =
    PAWL__FIELDS(ROW(belongs_to, "endpoint", TEXT), ROW(name, "queue", TEXT),
                 ROW(code, "code", TEXT), PAWL__AS_MESSAGE(scan_row));
static const pawl__field_list checkpoint_fields =
    PAWL__FIELDS(ROW(belongs_to, "_id", TEXT), ROW(number, "position", INT));
static const pawl__field_list partition_fields = PAWL__FIELDS(
    ROW(belongs_to, "_id", TEXT), ROW(name, "name", TEXT), ROW(due, "due", INT),
    ROW(attempts, "attempts", INT32), ROW(is_dead, "is_dead", BOOL), ROW(error, "error", TEXT));

#define KIND(name, fields) PAWL__MONGO_TABLE(name, NULL, fields, pawl_scan_row)
static const pawl__mongo_table kinds[PAWL_SCAN_KINDS] = {
    [PAWL_SCAN_SAGAS]            = KIND(NULL, saga_fields),
    [PAWL_SCAN_QUEUE]            = KIND("queue", queue_fields),
    [PAWL_SCAN_TIMEOUTS]         = KIND("timeouts", timeout_fields),
    [PAWL_SCAN_STREAM_SNAPSHOTS] = KIND("folds", fold_fields),
    [PAWL_SCAN_AGGREGATORS]      = KIND("aggregator", aggregator_fields),
    [PAWL_SCAN_DEAD]             = KIND("dead", dead_fields),
    [PAWL_SCAN_CHECKPOINTS]      = KIND("checkpoints", checkpoint_fields),
    [PAWL_SCAN_PARTITIONS]       = KIND("aggregator_flush", partition_fields),
};

/* The number of the partition's rows, and the oldest of them. */
static pawl_code count_partition(pawl_store *store, pawl_scan_row *row, pawl_error *error)
{
    pawl__mongo_oldest found;
    pawl_code code = pawl__mongo_count_oldest(store, "aggregator", "at", INT64_MAX, &found, error,
                                              "partition: %t", row->belongs_to);
    row->count     = found.n;
    row->oldest    = found.oldest;
    return code;
}

/* Dead letters have a key of two texts. A partition's `_id` is in "$and", as the scan may have a condition on `_id`. */
pawl_code pawl__mongo_scan(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                           pawl_scan_rows *rows, pawl_error *error)
{
    bool is_dead = scan->kind == PAWL_SCAN_DEAD, is_parts = scan->kind == PAWL_SCAN_PARTITIONS;
    pawl__mongo_table       table  = kinds[scan->kind];
    const pawl__mongo_scope after  = {.fields = table.fields, .change = scan->after};
    bson_t                  filter = BSON_INITIALIZER;
    if (scan->kind == PAWL_SCAN_SAGAS)
        table.saga = scan->table->name;
    if (scan->after != NULL)
        (void)pawl__mongo_put_scope(&filter,
                                    is_dead ? "$or: [{endpoint: {$gt: @endpoint}}, {endpoint: "
                                              "@endpoint, message_id: {$gt: @message_id}}]"
                                            : "_id: {$gt: @_id}",
                                    &after);
    if (is_parts)
        (void)pawl__mongo_put(&filter, "name?: %t, is_dead?: %b, $and?: [?{_id?: %t}]",
                              scan->aggregator, (int)scan->is_dead, scan->partition);
    pawl_code code =
        pawl__mongo_read(store, &table, arena, &rows->items, &rows->count, error,
                         is_dead ? "filter: %d, sort: {endpoint: 1, message_id: 1}, limit?: %i"
                                 : "filter: %d, sort: {_id: 1}, limit?: %i",
                         &filter, (int64_t)scan->count_max);
    bson_destroy(&filter);
    for (size_t i = 0; code == PAWL_OK && is_parts && i < rows->count; i++)
        code = count_partition(store, &rows->items[i], error);
    return code;
}

/* ---- Rows that are found ------------------------------------------------- */

pawl_code pawl__mongo_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                           pawl_found *found, pawl_error *error)
{
    static pawl_find_rows_fn *const finds[PAWL_FIND_KINDS] = {
        [PAWL_FIND_MESSAGES]      = pawl__mongo_find_messages,
        [PAWL_FIND_RETRIED]       = pawl__mongo_find_retried,
        [PAWL_FIND_TIMEOUTS]      = pawl__mongo_find_timeouts,
        [PAWL_FIND_FOREIGN]       = pawl__mongo_find_foreign,
        [PAWL_FIND_OUTBOX]        = pawl__mongo_find_outbox,
        [PAWL_FIND_ATTEMPTS]      = pawl__mongo_find_attempts,
        [PAWL_FIND_DEAD]          = pawl__mongo_find_dead,
        [PAWL_FIND_EVENTS]        = pawl__mongo_find_events,
        [PAWL_FIND_HISTORY]       = pawl__mongo_find_history,
        [PAWL_FIND_PARTITION]     = pawl__mongo_find_partition,
        [PAWL_FIND_FLUSHES]       = pawl__mongo_find_flushes,
        [PAWL_FIND_SUBSCRIPTIONS] = pawl__mongo_find_subscriptions,
        [PAWL_FIND_LEADS]         = pawl__mongo_find_leads,
        [PAWL_FIND_WORKERS]       = pawl__mongo_find_workers,
    };
    if ((unsigned)asked->kind >= PAWL_FIND_KINDS)
        return PAWL_EUNSUPPORTED;
    return finds[asked->kind](store, asked, arena, found, error);
}
