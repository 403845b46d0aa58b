/* call_read.c - the pawl_store_ calls that read: for the engine, for operators and for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/sized.h"
#include "store/core/call.h"

static const pawl_aggregator_counts no_counts   = {.all = 0};
static const pawl_finding_rows      no_findings = {.count = 0};
static const pawl_dead_counts       no_counted  = {.count = 0};
static const pawl_stats             no_stats    = PAWL_STATS_INIT;
static const pawl_next_due          nothing_due = {PAWL_TIME_MAX, PAWL_TIME_MAX, PAWL_TIME_MAX};
static const pawl_saga_row          no_saga     = {.version = 0};
static const pawl_stream            no_stream   = {.count = 0};

/* ---- What handlers run on ------------------------------------------------ */

pawl_code pawl_store_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                 size_t count, bool *known, pawl_error *error)
{
    PAWL__CALL_EMPTY(known, count, false);
    pawl_code code = PAWL__CALL(inbox_known, endpoint, ids, count, known);
    if (code != PAWL_OK)
        PAWL__CALL_EMPTY(known, count, false);
    return PAWL__CALL_DONE(code);
}

/* A table without the property has no row that could be found by it. */
static pawl_code check_key(const pawl_saga_table *table, pawl_saga_key key, pawl_error *error)
{
    if ((unsigned)key > PAWL_SAGA_BY_TRANSITIONAL)
        return pawl_error_set(error, PAWL_EINVAL, "saga %.*s: key %d is unknown",
                              PAWL_TEXT_ARGS(table->type), (int)key);
    if ((key == PAWL_SAGA_BY_MAIN && table->main.type == PAWL_VALUE_NONE) ||
        (key == PAWL_SAGA_BY_TRANSITIONAL && table->transitional.type == PAWL_VALUE_NONE))
        return pawl_error_set(error, PAWL_EINVAL, "saga %.*s has no %s correlation property",
                              PAWL_TEXT_ARGS(table->type),
                              key == PAWL_SAGA_BY_MAIN ? "main" : "transitional");
    return PAWL_OK;
}

pawl_code pawl_store_saga_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                               const pawl_value *values, size_t count, pawl_saga_lock lock,
                               pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    PAWL__CALL_EMPTY(rows, count, no_saga);
    pawl_code code = PAWL__CALL_BEGIN(saga_load);
    if (code == PAWL_OK)
        code = check_key(table, key, error);
    if (code == PAWL_OK)
        code = store->ops->saga_load(store, table, key, values, count, lock, arena, rows, error);
    if (code != PAWL_OK)
        PAWL__CALL_EMPTY(rows, count, no_saga);
    return PAWL__CALL_DONE(code);
}

pawl_code pawl_store_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                                pawl_error *error)
{
    *count         = 0;
    pawl_code code = PAWL__CALL(saga_count, table, count);
    return PAWL__CALL_END(code, count, 0);
}

pawl_code pawl_store_aggregator_counts(pawl_store *store, pawl_text partition,
                                       const pawl_text *types, size_t type_count, pawl_time now,
                                       pawl_aggregator_counts *counts, pawl_error *error)
{
    *counts        = no_counts;
    pawl_code code = PAWL__CALL(aggregator_count, partition, types, type_count, now, counts);
    return PAWL__CALL_END(code, counts, no_counts);
}

/* ---- When there is something to do --------------------------------------- */

pawl_code pawl_store_queue_oldest(pawl_store *store, pawl_text queue, pawl_time due_max,
                                  const int64_t *except, size_t except_count, pawl_time *placed,
                                  int64_t *seq, pawl_error *error)
{
    *placed        = PAWL_TIME_MAX;
    *seq           = INT64_MAX;
    pawl_code code = PAWL__CALL(queue_oldest, queue, due_max, except, except_count, placed, seq);
    if (code != PAWL_OK)
        *placed = PAWL_TIME_MAX;
    return PAWL__CALL_END(code, seq, INT64_MAX);
}

pawl_code pawl_store_next_due(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                              size_t aggregator_count, pawl_next_due *next, pawl_error *error)
{
    *next          = nothing_due;
    pawl_code code = PAWL__CALL(next_due, queue, aggregators, aggregator_count, next);
    return PAWL__CALL_END(code, next, nothing_due);
}

/* ---- The event store --------------------------------------------------------- */

/* As in an append. */
static pawl_code check_stream(pawl_text name, pawl_error *error)
{
    size_t at = 0;
    if (name.size == 0 || name.data == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "stream: its name is empty");
    if (name.size > PAWL_STREAM_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "stream: its name has %zu bytes, the limit is %d",
                              name.size, PAWL_STREAM_SIZE_MAX);
    if (!pawl_text_is_valid(name, &at))
        return pawl_error_set(error, PAWL_EINVAL, "stream: byte %zu of its name is %s", at,
                              name.data[at] == '\0' ? "NUL" : "not UTF-8");
    return PAWL_OK;
}

pawl_code pawl_store_stream_load(pawl_store *store, const pawl_stream_read *reads, size_t count,
                                 pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    PAWL__CALL_EMPTY(streams, count, no_stream);
    pawl_code code = PAWL__CALL_BEGIN(stream_load);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = check_stream(reads[i].stream, error);
    if (code == PAWL_OK)
        code = store->ops->stream_load(store, reads, count, arena, streams, error);
    if (code != PAWL_OK)
        PAWL__CALL_EMPTY(streams, count, no_stream);
    return PAWL__CALL_DONE(code);
}

pawl_code pawl_store_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                    pawl_error *error)
{
    *position      = 0;
    pawl_code code = PAWL__CALL(checkpoint_get, name, position);
    return PAWL__CALL_END(code, position, 0);
}

/* ---- Rows for people and tests ------------------------------------------- */

pawl_code pawl_store_diagnose(pawl_store *store, const pawl_diagnosis *asked, pawl_arena *arena,
                              pawl_finding_rows *rows, pawl_error *error)
{
    *rows          = no_findings;
    pawl_code code = PAWL__CALL(diagnose, asked, arena, rows);
    return PAWL__CALL_END(code, rows, no_findings);
}

static void end_count(int64_t *count, int64_t count_max)
{
    *count = *count > count_max ? count_max : *count;
}

pawl_code pawl_store_dead_count(pawl_store *store, pawl_arena *arena, pawl_dead_counts *counts,
                                pawl_error *error)
{
    *counts        = no_counted;
    pawl_code code = PAWL__CALL(dead_count, arena, counts);
    for (size_t i = 0; code == PAWL_OK && i < counts->count; i++)
        end_count(&counts->items[i].count, PAWL_STATS_COUNT_MAX);
    return PAWL__CALL_END(code, counts, no_counted);
}

pawl_code pawl_store_worker_crashed(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                    size_t *count, pawl_error *error)
{
    *items         = NULL;
    *count         = 0;
    pawl_code code = PAWL__CALL(worker_crashed, arena, items, count);
    if (code != PAWL_OK)
        *items = NULL;
    return PAWL__CALL_END(code, count, 0);
}

/* Limits the counts: a driver may count further than asked. */
static void end_counts(pawl_stats *stats)
{
    int64_t *counts[] = {&stats->timeouts_due,   &stats->timeouts_pending, &stats->outbox_pending,
                         &stats->outbox_blocked, &stats->outbox_dead,      &stats->flushes_dead,
                         &stats->flushes_due,    &stats->aggregator_rows,  &stats->dead,
                         &stats->inbox};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        end_count(counts[i], stats->count_max);
    for (size_t i = 0; i < stats->queue_count; i++) {
        end_count(&stats->queues[i].ready, stats->count_max);
        end_count(&stats->queues[i].scheduled, stats->count_max);
    }
}

pawl_code pawl_store_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                           pawl_error *error)
{
    pawl_stats given = PAWL_STATS_INIT, all = no_stats;
    pawl_code  code =
        pawl__sized_read(stats, &given, sizeof given, "stats", "PAWL_STATS_INIT", error);
    if (code == PAWL_OK && given.count_max < 0)
        code = pawl_error_set(error, PAWL_EINVAL, "stats: counts cannot end at %lld",
                              (long long)given.count_max);
    if (code != PAWL_OK)
        return code;
    all.count_max = given.count_max != 0 ? given.count_max : PAWL_STATS_COUNT_MAX;
    code          = PAWL__CALL_BEGIN(stats);
    if (code == PAWL_OK)
        code = store->ops->stats(store, now, arena, &all, error);
    if (code == PAWL_OK)
        end_counts(&all);
    code = PAWL__CALL_END(code, &all, no_stats);
    pawl__sized_write(stats, &all);
    return code;
}
