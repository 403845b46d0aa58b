/* call_read.c - the calls that read: what handlers run on, and rows for people and tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/sized.h"
#include "store/core/call.h"

static const pawl_queue_rows        no_messages = {.count = 0};
static const pawl_timeout_rows      no_timeouts = {.next_due = PAWL_TIME_MAX};
static const pawl_foreign_rows      no_foreign  = {.count = 0};
static const pawl_leased_batch      no_rows     = {.count = 0};
static const pawl_aggregator_counts no_counts   = {.all = 0};
static const pawl_flush_rows        no_flushes  = {.count = 0};
static const pawl_outbox_rows       no_outbox   = {.next_attempt = PAWL_TIME_MAX};
static const pawl_attempt_rows      no_attempts = {.count = 0};
static const pawl_dead_rows         no_letters  = {.count = 0};
static const pawl_finding_rows      no_findings = {.count = 0};
static const pawl_queue_messages    no_found    = {.count = 0};
static const pawl_dead_counts       no_counted  = {.count = 0};
static const pawl_history_rows      no_history  = {.count = 0};
static const pawl_subscriptions     no_list     = {.count = 0};
static const pawl_event_rows        no_events   = {.count = 0};
static const pawl_stats             no_stats    = {.queue_count = 0};
static const pawl_next_due          nothing_due = {PAWL_TIME_MAX, PAWL_TIME_MAX, PAWL_TIME_MAX};
static const pawl_saga_row          no_saga     = {.version = 0};
static const pawl_stream            no_stream   = {.count = 0};

/* ---- What handlers run on ------------------------------------------------ */

pawl_code pawl_store_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                 size_t count, bool *known, pawl_error *error)
{
    PAWL__CALL_EMPTY(known, count, false);
    pawl_code code = PAWL__CALL_BEGIN(inbox_known);
    if (code == PAWL_OK)
        code = store->ops->inbox_known(store, endpoint, ids, count, known, error);
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
    pawl_code code = PAWL__CALL_BEGIN(saga_count);
    if (code == PAWL_OK)
        code = store->ops->saga_count(store, table, count, error);
    return PAWL__CALL_END(code, count, 0);
}

pawl_code pawl_store_aggregator_get(pawl_store *store, pawl_text partition, pawl_arena *arena,
                                    pawl_leased_batch *rows, pawl_error *error)
{
    *rows          = no_rows;
    pawl_code code = PAWL__CALL_BEGIN(aggregator_get);
    if (code == PAWL_OK)
        code = store->ops->aggregator_get(store, partition, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_rows);
}

pawl_code pawl_store_aggregator_counts(pawl_store *store, pawl_text partition,
                                       const pawl_text *types, size_t type_count, pawl_time now,
                                       pawl_aggregator_counts *counts, pawl_error *error)
{
    *counts        = no_counts;
    pawl_code code = PAWL__CALL_BEGIN(aggregator_count);
    if (code == PAWL_OK)
        code =
            store->ops->aggregator_count(store, partition, types, type_count, now, counts, error);
    return PAWL__CALL_END(code, counts, no_counts);
}

pawl_code pawl_store_flush_list(pawl_store *store, pawl_text name, pawl_time due_max,
                                size_t count_max, pawl_arena *arena, pawl_flush_rows *rows,
                                pawl_error *error)
{
    *rows          = no_flushes;
    pawl_code code = PAWL__CALL_BEGIN(flush_list);
    if (code == PAWL_OK)
        code = store->ops->flush_list(store, name, due_max, count_max, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_flushes);
}

pawl_code pawl_store_subscriptions(pawl_store *store, pawl_arena *arena, pawl_subscriptions *list,
                                   pawl_error *error)
{
    *list          = no_list;
    pawl_code code = PAWL__CALL_BEGIN(subscriptions);
    if (code == PAWL_OK)
        code = store->ops->subscriptions(store, arena, list, error);
    return PAWL__CALL_END(code, list, no_list);
}

/* ---- When there is something to do --------------------------------------- */

pawl_code pawl_store_queue_oldest(pawl_store *store, pawl_text queue, pawl_time due_max,
                                  const int64_t *except, size_t except_count, pawl_time *placed,
                                  int64_t *seq, pawl_error *error)
{
    *placed        = PAWL_TIME_MAX;
    *seq           = INT64_MAX;
    pawl_code code = PAWL__CALL_BEGIN(queue_oldest);
    if (code == PAWL_OK)
        code = store->ops->queue_oldest(store, queue, due_max, except, except_count, placed, seq,
                                        error);
    if (code != PAWL_OK)
        *placed = PAWL_TIME_MAX;
    return PAWL__CALL_END(code, seq, INT64_MAX);
}

pawl_code pawl_store_next_due(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                              size_t aggregator_count, pawl_next_due *next, pawl_error *error)
{
    *next          = nothing_due;
    pawl_code code = PAWL__CALL_BEGIN(next_due);
    if (code == PAWL_OK)
        code = store->ops->next_due(store, queue, aggregators, aggregator_count, next, error);
    return PAWL__CALL_END(code, next, nothing_due);
}

pawl_code pawl_store_timeout_foreign(pawl_store *store, pawl_text own, pawl_time now,
                                     pawl_arena *arena, pawl_foreign_rows *rows, pawl_error *error)
{
    *rows          = no_foreign;
    pawl_code code = PAWL__CALL_BEGIN(timeout_foreign);
    if (code == PAWL_OK)
        code = store->ops->timeout_foreign(store, own, now, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_foreign);
}

/* ---- The journal --------------------------------------------------------- */

pawl_code pawl_store_stream_load(pawl_store *store, const pawl_stream_read *reads, size_t count,
                                 pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    PAWL__CALL_EMPTY(streams, count, no_stream);
    pawl_code code = PAWL__CALL_BEGIN(stream_load);
    if (code == PAWL_OK)
        code = store->ops->stream_load(store, reads, count, arena, streams, error);
    if (code != PAWL_OK)
        PAWL__CALL_EMPTY(streams, count, no_stream);
    return PAWL__CALL_DONE(code);
}

pawl_code pawl_store_event_list(pawl_store *store, const pawl_event_query *query, pawl_arena *arena,
                                pawl_event_rows *rows, pawl_error *error)
{
    *rows          = no_events;
    pawl_code code = PAWL__CALL_BEGIN(event_list);
    if (code == PAWL_OK)
        code = store->ops->event_list(store, query, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_events);
}

pawl_code pawl_store_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                    pawl_error *error)
{
    *position      = 0;
    pawl_code code = PAWL__CALL_BEGIN(checkpoint_get);
    if (code == PAWL_OK)
        code = store->ops->checkpoint_get(store, name, position, error);
    return PAWL__CALL_END(code, position, 0);
}

/* ---- Rows for people and tests ------------------------------------------- */

pawl_code pawl_store_queue_list(pawl_store *store, pawl_text queue, size_t count_max,
                                pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    *rows          = no_messages;
    pawl_code code = PAWL__CALL_BEGIN(queue_list);
    if (code == PAWL_OK)
        code = store->ops->queue_list(store, queue, count_max, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_messages);
}

pawl_code pawl_store_queue_retried(pawl_store *store, const pawl_retried_query *query,
                                   pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    *rows          = no_messages;
    pawl_code code = PAWL__CALL_BEGIN(queue_retried);
    if (code == PAWL_OK)
        code = store->ops->queue_retried(store, query, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_messages);
}

pawl_code pawl_store_timeout_list(pawl_store *store, pawl_saga_id saga_id, size_t count_max,
                                  pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    *rows          = no_timeouts;
    pawl_code code = PAWL__CALL_BEGIN(timeout_list);
    if (code == PAWL_OK)
        code = store->ops->timeout_list(store, saga_id, count_max, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_timeouts);
}

pawl_code pawl_store_outbox_list(pawl_store *store, pawl_outbox_state state, size_t count_max,
                                 pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    const pawl_outbox_query query = {.states = 1u << (unsigned)state % 32, .count_max = count_max};
    bool is_find   = store->ops->outbox_list == NULL && store->ops->outbox_find != NULL;
    *rows          = no_outbox;
    pawl_code code = is_find ? PAWL__CALL_BEGIN(outbox_find) : PAWL__CALL_BEGIN(outbox_list);
    if (code == PAWL_OK && (unsigned)state > PAWL_OUTBOX_DISCARDED)
        code = pawl_error_set(error, PAWL_EINVAL, "list of outbox rows: state %d is unknown",
                              (int)state);
    if (code == PAWL_OK)
        code = is_find ? store->ops->outbox_find(store, &query, arena, rows, error)
                       : store->ops->outbox_list(store, state, count_max, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_outbox);
}

pawl_code pawl_store_outbox_find(pawl_store *store, const pawl_outbox_query *query,
                                 pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    *rows          = no_outbox;
    pawl_code code = PAWL__CALL_BEGIN(outbox_find);
    if (code == PAWL_OK)
        code = store->ops->outbox_find(store, query, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_outbox);
}

pawl_code pawl_store_outbox_attempts(pawl_store *store, int64_t id, pawl_arena *arena,
                                     pawl_attempt_rows *rows, pawl_error *error)
{
    *rows          = no_attempts;
    pawl_code code = PAWL__CALL_BEGIN(outbox_attempts);
    if (code == PAWL_OK)
        code = store->ops->outbox_attempts(store, id, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_attempts);
}

pawl_code pawl_store_dead_list(pawl_store *store, pawl_text endpoint, size_t count_max,
                               pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error)
{
    const pawl_dead_query query   = {.endpoint = endpoint, .count_max = count_max};
    bool                  is_find = store->ops->dead_list == NULL && store->ops->dead_find != NULL;
    *rows                         = no_letters;
    pawl_code code = is_find ? PAWL__CALL_BEGIN(dead_find) : PAWL__CALL_BEGIN(dead_list);
    if (code == PAWL_OK)
        code = is_find ? store->ops->dead_find(store, &query, arena, rows, error)
                       : store->ops->dead_list(store, endpoint, count_max, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_letters);
}

pawl_code pawl_store_dead_find(pawl_store *store, const pawl_dead_query *query, pawl_arena *arena,
                               pawl_dead_rows *rows, pawl_error *error)
{
    *rows          = no_letters;
    pawl_code code = PAWL__CALL_BEGIN(dead_find);
    if (code == PAWL_OK)
        code = store->ops->dead_find(store, query, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_letters);
}

pawl_code pawl_store_diagnose(pawl_store *store, const pawl_diagnosis *asked, pawl_arena *arena,
                              pawl_finding_rows *rows, pawl_error *error)
{
    *rows          = no_findings;
    pawl_code code = PAWL__CALL_BEGIN(diagnose);
    if (code == PAWL_OK)
        code = store->ops->diagnose(store, asked, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_findings);
}

pawl_code pawl_store_history_find(pawl_store *store, const pawl_history_query *query,
                                  pawl_arena *arena, pawl_history_rows *rows, pawl_error *error)
{
    *rows          = no_history;
    pawl_code code = PAWL__CALL_BEGIN(history_find);
    if (code == PAWL_OK)
        code = store->ops->history_find(store, query, arena, rows, error);
    return PAWL__CALL_END(code, rows, no_history);
}

static void end_count(int64_t *count, int64_t count_max)
{
    *count = *count > count_max ? count_max : *count;
}

pawl_code pawl_store_dead_count(pawl_store *store, pawl_arena *arena, pawl_dead_counts *counts,
                                pawl_error *error)
{
    *counts        = no_counted;
    pawl_code code = PAWL__CALL_BEGIN(dead_count);
    if (code == PAWL_OK)
        code = store->ops->dead_count(store, arena, counts, error);
    for (size_t i = 0; code == PAWL_OK && i < counts->count; i++)
        end_count(&counts->items[i].count, PAWL_STATS_COUNT_MAX);
    return PAWL__CALL_END(code, counts, no_counted);
}

pawl_code pawl_store_queue_find(pawl_store *store, const pawl_queue_query *query, pawl_arena *arena,
                                pawl_queue_messages *messages, pawl_error *error)
{
    *messages      = no_found;
    pawl_code code = PAWL__CALL_BEGIN(queue_find);
    if (code == PAWL_OK && query->queue.size == 0)
        code = pawl_error_set(error, PAWL_EINVAL, "messages of a queue: the queue's name is empty");
    if (code == PAWL_OK)
        code = store->ops->queue_find(store, query, arena, messages, error);
    return PAWL__CALL_END(code, messages, no_found);
}

pawl_code pawl_store_worker_list(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                 size_t *count, pawl_error *error)
{
    *items         = NULL;
    *count         = 0;
    pawl_code code = PAWL__CALL_BEGIN(worker_list);
    if (code == PAWL_OK)
        code = store->ops->worker_list(store, arena, items, count, error);
    if (code != PAWL_OK)
        *items = NULL;
    return PAWL__CALL_END(code, count, 0);
}

pawl_code pawl_store_worker_crashed(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                    size_t *count, pawl_error *error)
{
    *items         = NULL;
    *count         = 0;
    pawl_code code = PAWL__CALL_BEGIN(worker_crashed);
    if (code == PAWL_OK)
        code = store->ops->worker_crashed(store, arena, items, count, error);
    if (code != PAWL_OK)
        *items = NULL;
    return PAWL__CALL_END(code, count, 0);
}

pawl_code pawl_store_lead_list(pawl_store *store, pawl_time now, pawl_arena *arena,
                               pawl_lead_row **items, size_t *count, pawl_error *error)
{
    *items         = NULL;
    *count         = 0;
    pawl_code code = PAWL__CALL_BEGIN(lead_list);
    if (code == PAWL_OK)
        code = store->ops->lead_list(store, now, arena, items, count, error);
    if (code != PAWL_OK)
        *items = NULL;
    return PAWL__CALL_END(code, count, 0);
}

/* A driver may count further than it is asked to. */
static void end_counts(pawl_stats *stats)
{
    int64_t *counts[] = {&stats->timeouts_due,
                         &stats->timeouts_pending,
                         &stats->outbox_pending,
                         &stats->outbox_blocked,
                         &stats->outbox_dead,
                         &stats->flushes_dead,
                         &stats->aggregator_rows,
                         &stats->dead,
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
