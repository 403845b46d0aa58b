/* stats.c - reads over several collections: next due times, statistics, sweeps and findings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/bodies.h"
#include "store/mongo/mongo.h"

/* ---- Next due ------------------------------------------------------------ */

static const pawl__field_list due_fields = PAWL__MONGO_NUMBER("due");
static const pawl__field_list at_field   = PAWL__MONGO_NUMBER("at");

pawl_code pawl__mongo_next_due(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                               size_t aggregator_count, pawl_next_due *next, pawl_error *error)
{
    static const pawl__mongo_table messages = {.name = "queue", .fields = &due_fields};
    static const pawl__mongo_table timeouts = {.name = "timeouts", .fields = &due_fields};
    static const pawl__mongo_table flushes  = {.name = "aggregator_flush", .fields = &due_fields};
    next->queue = next->timeout = PAWL_TIME_MAX;
    if (aggregator_count != 0)
        next->flush = PAWL_TIME_MAX;
    pawl_code code = pawl__mongo_read_one(
        store, &messages, NULL, &next->queue, NULL, error,
        "filter: {queue: %t, claimed_by: {$exists: false}}, sort: {due: 1}, projection: {due: 1}",
        queue);
    if (code == PAWL_OK)
        code = pawl__mongo_read_one(
            store, &timeouts, NULL, &next->timeout, NULL, error,
            "filter: {destination: %t, owner: {$exists: false}}, sort: {due: 1}, projection: {due: 1}",
            queue);
    if (code == PAWL_OK && aggregator_count != 0)
        code = pawl__mongo_read_one(
            store, &flushes, NULL, &next->flush, NULL, error,
            "filter: {name: {$in: %l}, is_dead: false}, sort: {due: 1}, projection: {due: 1}",
            PAWL__MONGO_VALUES(aggregators, aggregator_count, TEXT));
    return code;
}

/* ---- Statistics ---------------------------------------------------------- */

static const pawl__field_list  name_field = PAWL__FIELDS(PAWL__AS(queue_stats, queue, TEXT));
static const pawl__mongo_table lines =
    PAWL__MONGO_TABLE("queue", "queue", name_field, pawl_queue_stats);

/* Only the first rows that are not due yet are checked for retries. */
static pawl_code count_retried(pawl_store *store, pawl_queue_stats *line, pawl_time now,
                               pawl_error *error)
{
    static const pawl__mongo_table messages = {.name = "queue"};
    pawl__mongo_reading            r =
        pawl__mongo_begin(store, &messages, NULL, error,
                          "filter: {queue: %t, due: {$gt: %i}}, sort: {due: 1, _id: 1}, "
                          "projection: {attempts: 1, placed: 1}, limit: %i",
                          line->queue, now, (int64_t)PAWL_RETRIED_SCAN_MAX);
    while (pawl__mongo_next(&r)) {
        int64_t attempts = 0, placed = 0;
        (void)pawl__mongo_get_int(r.document, "attempts", &attempts);
        (void)pawl__mongo_get_int(r.document, "placed", &placed);
        if (attempts != 0 && (line->retried++ == 0 || placed < line->retried_since))
            line->retried_since = placed;
    }
    return pawl__mongo_end(&r);
}

static pawl_code count_queue(pawl_store *store, pawl_queue_stats *line, pawl_time now,
                             int64_t limit, pawl_error *error)
{
    pawl__mongo_oldest ready;
    pawl_code          code = pawl__mongo_count_oldest(store, "queue", "due", limit, &ready, error,
                                                       "queue: %t, due: {$lte: %i}", line->queue, now);
    line->ready             = ready.n;
    line->oldest            = ready.oldest;
    if (code == PAWL_OK)
        code = pawl__mongo_count(store, "queue", limit, &line->scheduled, error,
                                 "queue: %t, due: {$gt: %i}", line->queue, now);
    return code == PAWL_OK && line->scheduled != 0 ? count_retried(store, line, now, error) : code;
}

static pawl_code queue_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                             pawl_error *error)
{
    pawl_code code =
        pawl__mongo_read(store, &lines, arena, &stats->queues, &stats->queue_count, error,
                         "pipeline: [{$group: {_id: '$queue'}}, {$sort: {_id: 1}}]");
    for (size_t i = 0; code == PAWL_OK && i < stats->queue_count; i++)
        code = count_queue(store, &stats->queues[i], now, stats->count_max, error);
    return code;
}

/* Counted for each aggregator, in the order of the index. */
static pawl_code flush_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                             pawl_error *error)
{
    static const pawl__mongo_table aggregators =
        PAWL__MONGO_TABLE("aggregator_flush", "queue", name_field, pawl_queue_stats);
    pawl_queue_stats *names = NULL;
    size_t            count = 0;
    pawl_code         code  = pawl__mongo_read(store, &aggregators, arena, &names, &count, error,
                                               "pipeline: [{$group: {_id: '$name'}}, {$sort: {_id: 1}}]");
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl__mongo_oldest due;
        code = pawl__mongo_count_oldest(store, "aggregator_flush", "due", stats->count_max, &due,
                                        error, "name: %t, is_dead: false, due: {$lte: %i}",
                                        names[i].queue, now);
        stats->flushes_due += due.n;
        if (due.n > 0 && (stats->flushes_oldest == 0 || due.oldest < stats->flushes_oldest))
            stats->flushes_oldest = due.oldest;
    }
    return code;
}

pawl_code pawl__mongo_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                            pawl_error *error)
{
    static const pawl__mongo_table outbox = {.name = "outbox", .fields = &at_field};
    const struct {
        const char *collection, *filter;
        int64_t    *count;
    } counts[] = {
        {"timeouts", "due: {$lte: %i}", &stats->timeouts_due},
        {"timeouts", "due: {$gt: %i}", &stats->timeouts_pending},
        {"aggregator", "", &stats->aggregator_rows},
        {"aggregator_flush", "is_dead: true", &stats->flushes_dead},
        {"dead", "", &stats->dead},
        {"inbox", "", &stats->inbox},
        {"outbox", "state: 'pending'", &stats->outbox_pending},
        {"outbox", "state: 'held'", &stats->outbox_blocked},
        {"outbox", "state: 'dead'", &stats->outbox_dead},
    };
    pawl_code code = queue_stats(store, now, arena, stats, error);
    for (size_t i = 0; code == PAWL_OK && i < sizeof counts / sizeof counts[0]; i++)
        code = pawl__mongo_count(store, counts[i].collection, stats->count_max, counts[i].count,
                                 error, counts[i].filter, now);
    if (code == PAWL_OK)
        code =
            pawl__mongo_read_one(store, &outbox, NULL, &stats->outbox_oldest, NULL, error,
                                 "filter: {state: 'pending'}, sort: {_id: 1}, projection: {at: 1}");
    if (code == PAWL_OK)
        code = flush_stats(store, now, arena, stats, error);
    return code == PAWL_OK ? pawl__mongo_worker_stats(store, stats, error) : code;
}

/* ---- Sweeping ------------------------------------------------------------ */

/* Removes at most count_max documents whose `key` is before a time, the oldest first. */
static pawl_code sweep_before(pawl_store *store, const char *collection, const char *key,
                              pawl_time before, size_t count_max, int64_t *count, bool *more,
                              pawl_error *error)
{
    const pawl__mongo_table table = {.name = collection};
    bson_t                  ids   = BSON_INITIALIZER;
    uint32_t                found = 0;
    pawl__mongo_reading     r     = pawl__mongo_begin(
                store, &table, NULL, error,
                "filter: {%k: {$lt: %i}}, sort: {%k: 1}, projection: {_id: 1}, limit?: %i", key, before,
                key, (int64_t)count_max);
    while (pawl__mongo_next(&r))
        (void)pawl__mongo_push(&ids, &found, "%e", r.document, "_id");
    pawl_code code = pawl__mongo_end(&r);
    if (code == PAWL_OK && found != 0)
        code = pawl__mongo_write(store, collection, PAWL__MONGO_REMOVE_MANY, count, error,
                                 "q: {_id: {$in: %a}}", &ids);
    bson_destroy(&ids);
    *more |= found == count_max;
    return code;
}

static pawl_code sweep_page(void *context, pawl__old_page *page, pawl_error *error)
{
    static const pawl__mongo_table table = {.name = "history"};
    pawl_store                    *store = context;
    page->count = page->deleted = 0;
    pawl__mongo_reading r       = pawl__mongo_begin(
              store, &table, NULL, error,
              "filter: {_id: {$gt: %i}}, sort: {_id: 1}, projection: {_id: 1}, limit?: %i", page->after,
              page->looks);
    for (; pawl__mongo_next(&r); page->count++)
        (void)pawl__mongo_get_int(r.document, "_id", &page->last);
    pawl_code code = pawl__mongo_end(&r);
    if (code == PAWL_OK && page->count != 0)
        code = pawl__mongo_write(store, "history", PAWL__MONGO_REMOVE_MANY, &page->deleted, error,
                                 "q: {_id: {$gt: %i, $lte: %i}, at: {$lt: %i}}", page->after,
                                 page->last, page->before);
    return code;
}

/* History has no index on its times. */
static pawl_code sweep_history(pawl_store *store, const pawl_sweep *sweep, int64_t *count,
                               bool *more, pawl_error *error)
{
    pawl__old_page page = {.before = sweep->history_before,
                           .limit  = (int64_t)sweep->count_max,
                           .looks  = (int64_t)sweep->count_max};
    if (sweep->history_before == 0)
        return PAWL_OK;
    return pawl__old_sweep(&pawl__mongo_of(store)->history_place, &page, sweep_page, store, count,
                           more, error);
}

pawl_code pawl__mongo_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                            pawl_error *error)
{
    size_t    max   = sweep->count_max;
    int64_t   marks = 0, rows = 0, others = 0;
    pawl_code code =
        sweep_before(store, "inbox", "at", sweep->inbox_before, max, &marks, more, error);
    if (code == PAWL_OK)
        code =
            sweep_before(store, "outbox", "ended", sweep->outbox_before, max, &rows, more, error);
    if (code == PAWL_OK)
        code = sweep_history(store, sweep, &others, more, error);
    if (code == PAWL_OK)
        code = pawl__mongo_worker_sweep(store, sweep->workers_before, max, &others, more, error);
    if (code == PAWL_OK)
        code = pawl__mongo_old_bodies_sweep(store, sweep, &others, more, error);
    if (code == PAWL_OK)
        code = pawl__mongo_bodies_sweep(store, max, error);
    if (code == PAWL_OK && sweep->outbox_count != NULL)
        *sweep->outbox_count = rows;
    *count = marks + rows + others;
    return code;
}

/* ---- Findings ------------------------------------------------------------ */

pawl_code pawl__mongo_server_time(pawl_store *store, pawl_time *time, pawl_error *error)
{
    bson_t      command = BSON_INITIALIZER, reply;
    bson_iter_t at;
    *time = PAWL_TIME_MIN;
    (void)pawl__mongo_put(&command, "isMaster: 1"); /* "hello" came with MongoDB 4.4.2 */
    pawl_code code = pawl__mongo_command(store, &command, 0, &reply, error);
    if (code == PAWL_OK && bson_iter_init_find(&at, &reply, "localTime") &&
        BSON_ITER_HOLDS_DATE_TIME(&at))
        *time = bson_iter_date_time(&at) * 1000;
    bson_destroy(&command);
    bson_destroy(&reply);
    return code;
}

pawl_code pawl__mongo_diagnose(pawl_store *store, const pawl_diagnosis *asked, pawl_arena *arena,
                               pawl_finding_rows *rows, pawl_error *error)
{
    pawl_time time = PAWL_TIME_MIN;
    pawl_code code = pawl__mongo_server_time(store, &time, error);
    rows->items    = pawl_arena_take(arena, sizeof *rows->items);
    if (code == PAWL_OK && rows->items == NULL)
        code = pawl__mongo_no_memory(error);
    if (code == PAWL_OK && time != PAWL_TIME_MIN) {
        int64_t            offset = time - asked->now;
        int64_t            size   = offset < 0 ? -offset : offset;
        pawl_finding_level level  = size < PAWL_CLOCK_OFFSET_WARN   ? PAWL_FINDING_OK
                                    : size < PAWL_CLOCK_OFFSET_FAIL ? PAWL_FINDING_WARN
                                                                    : PAWL_FINDING_FAIL;
        rows->items[rows->count++] =
            (pawl_finding){.name  = PAWL_TEXT("clock"),
                           .level = level,
                           .text = pawl_arena_printf(arena, "the server's clock differs by %lld ms",
                                                     (long long)(offset / 1000)),
                           .value = size};
    }
    return code;
}
