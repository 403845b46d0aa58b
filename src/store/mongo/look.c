/* look.c - next due times, statistics, sweeps and findings: reads over several collections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/operations.h"

#include <stdio.h>
#include <string.h>

/* ---- Next due ------------------------------------------------------------ */

typedef struct due_row {
    int64_t due;
} due_row;

static const pawl__mongo_field due_fields[] = {PAWL__MONGO_FIELD(due_row, due, "due", INT),
                                               PAWL__MONGO_END};

static pawl_code first_due(pawl_store *store, const char *collection, const bson_t *filter,
                           pawl_time *due, pawl_error *error)
{
    const pawl__mongo_find find = {
        .collection = collection, .filter = filter, .sort = "due", .only = "due"};
    due_row   row      = {.due = PAWL_TIME_MAX};
    bool      is_there = false;
    pawl_code code = pawl__mongo_read_one(store, find, due_fields, NULL, &row, &is_there, error);
    *due           = row.due < PAWL_TIME_MAX ? row.due : PAWL_TIME_MAX;
    return code;
}

pawl_code pawl__mongo_next_due(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                               size_t aggregator_count, pawl_next_due *next, pawl_error *error)
{
    bson_t           ready = BSON_INITIALIZER, timeout = BSON_INITIALIZER, flush = BSON_INITIALIZER;
    pawl__mongo_list list;
    pawl__mongo_put_text(&ready, "queue", queue);
    pawl__mongo_put_exists(&ready, "claimed_by", false);
    pawl__mongo_put_text(&timeout, "destination", queue);
    pawl__mongo_put_exists(&timeout, "owner", false);
    pawl__mongo_list_begin(&flush, "name", "$in", &list);
    for (size_t i = 0; i < aggregator_count; i++)
        pawl__mongo_put_text(&list.items, pawl__mongo_list_key(&list), aggregators[i]);
    pawl__mongo_list_end(&flush, &list);
    (void)bson_append_bool(&flush, "is_dead", -1, false);
    pawl_code code = first_due(store, "queue", &ready, &next->queue, error);
    if (code == PAWL_OK)
        code = first_due(store, "timeouts", &timeout, &next->timeout, error);
    if (code == PAWL_OK && aggregator_count != 0)
        code = first_due(store, "aggregator_flush", &flush, &next->flush, error);
    bson_destroy(&ready);
    bson_destroy(&timeout);
    bson_destroy(&flush);
    return code;
}

/* ---- Statistics ---------------------------------------------------------- */

/* {"$sum": {"$cond": [{op: ["$due", now]}, 1, 0]}} */
static void put_sum(bson_t *group, const char *key, const char *op, pawl_time now)
{
    bson_t sum, condition, triple, compared, pair;
    (void)bson_append_document_begin(group, key, -1, &sum);
    (void)bson_append_document_begin(&sum, "$sum", -1, &condition);
    (void)bson_append_array_begin(&condition, "$cond", -1, &triple);
    (void)bson_append_document_begin(&triple, "0", 1, &compared);
    (void)bson_append_array_begin(&compared, op, -1, &pair);
    (void)bson_append_utf8(&pair, "0", 1, "$due", -1);
    (void)bson_append_int64(&pair, "1", 1, now);
    (void)bson_append_array_end(&compared, &pair);
    (void)bson_append_document_end(&triple, &compared);
    (void)bson_append_int64(&triple, "1", 1, 1);
    (void)bson_append_int64(&triple, "2", 1, 0);
    (void)bson_append_array_end(&condition, &triple);
    (void)bson_append_document_end(&sum, &condition);
    (void)bson_append_document_end(group, &sum);
}

static void put_counting(bson_t *stages, pawl_time now)
{
    bson_t stage, group, inner;
    (void)bson_append_document_begin(stages, "0", 1, &stage);
    (void)bson_append_document_begin(&stage, "$group", -1, &group);
    (void)bson_append_utf8(&group, "_id", -1, "$queue", -1);
    put_sum(&group, "ready", "$lte", now);
    put_sum(&group, "future", "$gt", now);
    (void)bson_append_document_begin(&group, "oldest", -1, &inner);
    (void)bson_append_utf8(&inner, "$min", -1, "$due", -1);
    (void)bson_append_document_end(&group, &inner);
    (void)bson_append_document_end(&stage, &group);
    (void)bson_append_document_end(stages, &stage);
    (void)bson_append_document_begin(stages, "1", 1, &stage);
    (void)bson_append_document_begin(&stage, "$sort", -1, &inner);
    (void)bson_append_int32(&inner, "_id", -1, 1);
    (void)bson_append_document_end(&stage, &inner);
    (void)bson_append_document_end(stages, &stage);
}

static const pawl__mongo_field line_fields[] = {
    PAWL__MONGO_FIELD(pawl_queue_stats, queue, "_id", TEXT),
    PAWL__MONGO_FIELD(pawl_queue_stats, ready, "ready", INT),
    PAWL__MONGO_FIELD(pawl_queue_stats, future, "future", INT),
    PAWL__MONGO_FIELD(pawl_queue_stats, oldest, "oldest", INT),
    PAWL__MONGO_END,
};

/* Of the rows that are not due the first ones are asked whether they are retried. */
static pawl_code count_retried(pawl_store *store, pawl_queue_stats *line, pawl_time now,
                               pawl_error *error)
{
    bson_t                 filter   = BSON_INITIALIZER;
    const bson_t          *document = NULL;
    const pawl__mongo_find find     = {.collection = "queue",
                                       .filter     = &filter,
                                       .sort       = "due,_id",
                                       .only       = "attempts,placed",
                                       .limit      = PAWL_RETRIED_LOOK_MAX};
    pawl__mongo_put_text(&filter, "queue", line->queue);
    pawl__mongo_put_op(&filter, "due", "$gt", now);
    mongoc_cursor_t *cursor = pawl__mongo_begin(store, &find);
    while (mongoc_cursor_next(cursor, &document)) {
        int64_t attempts = 0, placed = 0;
        (void)pawl__mongo_get_int(document, "attempts", &attempts);
        (void)pawl__mongo_get_int(document, "placed", &placed);
        if (attempts == 0)
            continue;
        if (line->retried++ == 0 || placed < line->retried_since)
            line->retried_since = placed;
    }
    bson_destroy(&filter);
    return pawl__mongo_end(store, cursor, error);
}

static pawl_code queue_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                             pawl_error *error)
{
    bson_t        stages   = BSON_INITIALIZER;
    const bson_t *document = NULL;
    size_t        capacity = 0;
    bool          is_ok    = true;
    put_counting(&stages, now);
    mongoc_cursor_t *cursor = pawl__mongo_aggregate(store, "queue", &stages);
    while (is_ok && mongoc_cursor_next(cursor, &document)) {
        pawl_queue_stats *grown =
            pawl_arena_grow(arena, stats->queues, stats->queue_count, &capacity, sizeof *grown);
        is_ok = grown != NULL;
        if (is_ok) {
            stats->queues             = grown;
            grown[stats->queue_count] = (pawl_queue_stats){.ready = 0};
            is_ok = pawl__mongo_decode(document, line_fields, arena, &grown[stats->queue_count++]);
        }
    }
    bson_destroy(&stages);
    pawl_code code = pawl__mongo_end(store, cursor, error);
    if (code == PAWL_OK && !is_ok)
        code = pawl__mongo_no_memory(error);
    for (size_t i = 0; code == PAWL_OK && i < stats->queue_count; i++) {
        pawl_queue_stats *line = &stats->queues[i];
        if (line->ready == 0)
            line->oldest = 0;
        if (line->future != 0)
            code = count_retried(store, line, now, error);
    }
    return code;
}

static pawl_code count_where(pawl_store *store, const char *collection, const char *key,
                             const char *op, int64_t value, int64_t *count, pawl_error *error)
{
    bson_t filter = BSON_INITIALIZER;
    if (key != NULL)
        pawl__mongo_put_op(&filter, key, op, value);
    pawl_code code = pawl__mongo_count(store, collection, &filter, count, error);
    bson_destroy(&filter);
    return code;
}

static pawl_code count_dead_flushes(pawl_store *store, int64_t *count, pawl_error *error)
{
    bson_t filter = BSON_INITIALIZER;
    (void)bson_append_bool(&filter, "is_dead", -1, true);
    pawl_code code = pawl__mongo_count(store, "aggregator_flush", &filter, count, error);
    bson_destroy(&filter);
    return code;
}

pawl_code pawl__mongo_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                            pawl_error *error)
{
    pawl_code code = queue_stats(store, now, arena, stats, error);
    if (code == PAWL_OK)
        code = count_where(store, "timeouts", "due", "$lte", now, &stats->timeouts_due, error);
    if (code == PAWL_OK)
        code = count_where(store, "timeouts", "due", "$gt", now, &stats->timeouts_pending, error);
    if (code == PAWL_OK)
        code = pawl__mongo_outbox_stats(store, stats, error);
    if (code == PAWL_OK)
        code = count_where(store, "aggregator", NULL, NULL, 0, &stats->aggregator_rows, error);
    if (code == PAWL_OK)
        code = count_dead_flushes(store, &stats->flushes_dead, error);
    if (code == PAWL_OK)
        code = count_where(store, "dead", NULL, NULL, 0, &stats->dead, error);
    if (code == PAWL_OK)
        code = count_where(store, "inbox", NULL, NULL, 0, &stats->inbox, error);
    return code == PAWL_OK ? pawl__mongo_worker_stats(store, stats, error) : code;
}

/* ---- Sweeping ------------------------------------------------------------ */

/* Removes at most count_max documents whose `key` is before a time, the oldest first. */
static pawl_code sweep_before(pawl_store *store, const char *collection, const char *key,
                              pawl_time before, size_t count_max, int64_t *count, bool *more,
                              pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER, ids = BSON_INITIALIZER;
    const bson_t          *document = NULL;
    const pawl__mongo_find find     = {.collection = collection,
                                       .filter     = &filter,
                                       .sort       = key,
                                       .only       = "_id",
                                       .limit      = (int64_t)count_max};
    pawl__mongo_list       list;
    bson_iter_t            at;
    pawl__mongo_put_op(&filter, key, "$lt", before);
    pawl__mongo_list_begin(&ids, "_id", "$in", &list);
    mongoc_cursor_t *cursor = pawl__mongo_begin(store, &find);
    while (mongoc_cursor_next(cursor, &document))
        if (bson_iter_init_find(&at, document, "_id"))
            (void)bson_append_iter(&list.items, pawl__mongo_list_key(&list), -1, &at);
    pawl__mongo_list_end(&ids, &list);
    pawl_code        code = pawl__mongo_end(store, cursor, error);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(store, collection);
    if (code == PAWL_OK && list.count != 0)
        pawl__mongo_remove_many(&bulk, &ids);
    pawl_code removed = pawl__mongo_bulk_run(&bulk, code == PAWL_OK ? error : NULL);
    bson_destroy(&filter);
    bson_destroy(&ids);
    *count = bulk.removed;
    *more |= list.count == count_max;
    return code != PAWL_OK ? code : removed;
}

pawl_code pawl__mongo_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                            pawl_error *error)
{
    int64_t   marks = 0, rows = 0, lines = 0, ended = 0;
    pawl_code code = sweep_before(store, "inbox", "at", sweep->inbox_before, sweep->count_max,
                                  &marks, more, error);
    if (code == PAWL_OK)
        code = sweep_before(store, "outbox", "ended", sweep->outbox_before, sweep->count_max, &rows,
                            more, error);
    if (code == PAWL_OK && sweep->history_before != 0)
        code = sweep_before(store, "history", "at", sweep->history_before, sweep->count_max, &lines,
                            more, error);
    if (code == PAWL_OK)
        code = pawl__mongo_worker_sweep(store, sweep->workers_before, sweep->count_max, &ended,
                                        more, error);
    if (code == PAWL_OK)
        code = pawl__mongo_bodies_sweep(store, sweep->count_max, error);
    if (code == PAWL_OK && sweep->outbox_count != NULL)
        *sweep->outbox_count = rows;
    *count = marks + rows + lines + ended;
    return code;
}

/* ---- Findings ------------------------------------------------------------ */

pawl_code pawl__mongo_diagnose(pawl_store *store, const pawl_diagnosis *asked, pawl_arena *arena,
                               pawl_finding_rows *rows, pawl_error *error)
{
    bson_t      command = BSON_INITIALIZER, reply;
    bson_iter_t at;
    (void)bson_append_int32(&command, "hello", -1, 1);
    pawl_code code = pawl__mongo_command(store, &command, &reply, error);
    rows->items    = pawl_arena_take(arena, sizeof *rows->items);
    if (code == PAWL_OK && rows->items == NULL)
        code = pawl__mongo_no_memory(error);
    if (code == PAWL_OK && bson_iter_init_find(&at, &reply, "localTime") &&
        BSON_ITER_HOLDS_DATE_TIME(&at)) {
        int64_t            offset = bson_iter_date_time(&at) * 1000 - asked->now;
        int64_t            size   = offset < 0 ? -offset : offset;
        pawl_finding_level level  = size < PAWL_CLOCK_OFFSET_WARN   ? PAWL_FINDING_OK
                                    : size < PAWL_CLOCK_OFFSET_FAIL ? PAWL_FINDING_WARN
                                                                    : PAWL_FINDING_FAIL;
        rows->items[0] =
            (pawl_finding){.name  = PAWL_TEXT("clock"),
                           .level = level,
                           .text = pawl_arena_printf(arena, "the server's clock differs by %lld ms",
                                                     (long long)(offset / 1000)),
                           .value = offset};
        rows->count = 1;
    }
    bson_destroy(&command);
    bson_destroy(&reply);
    return code;
}
