/* flush_list.c - lists the partitions that flush.c flushes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/aggregator/flush.h"

#include <string.h>

#define CHECK_PERIOD PAWL_SECONDS(10)
#define FULL_PERIOD PAWL_MINUTES(1)
#define AHEAD_MAX PAWL_MINUTES(2) /* how far another machine's clock may be ahead */
#define SETS_AT_ONCE 100

pawl_code pawl__flush_list_add(pawl__flush_list *list, size_t known,
                               const pawl__aggregator_model *aggregator, pawl_text partition,
                               pawl_text why, bool is_by_size)
{
    for (size_t i = list->first; i < known; i++)
        if (!list->items[i].is_done && pawl_text_equal(list->items[i].partition, partition))
            return PAWL_OK;
    pawl__flush_target *grown = pawl_arena_grow(list->arena, list->items, list->count,
                                                &list->capacity, sizeof list->items[0]);
    pawl_text           copy  = pawl_arena_text(list->arena, partition);
    pawl_text           error = pawl_arena_text(list->arena, why);
    if (grown == NULL || copy.data == NULL || error.data == NULL)
        return PAWL_ENOMEM;
    list->items                = grown;
    list->items[list->count++] = (pawl__flush_target){
        .aggregator = aggregator, .partition = copy, .error = error, .is_by_size = is_by_size};
    return PAWL_OK;
}

/* ---- Periods and requests ------------------------------------------------------ */

/* Is it a flush by size? A partition without a period is due for two reasons: the retry of a failed flush by size, or
 * an operator's request, which is for all rows. */
static bool is_by_size(const pawl__aggregator_model *aggregator, const pawl_flush_row *row)
{
    return aggregator->period == 0 && row->attempts > 0;
}

static pawl_code list_due(pawl__worker *worker, const pawl__aggregator_model *aggregator,
                          pawl_time due_max, pawl__flush_list *list, pawl_error *error)
{
    size_t          known = list->count;
    pawl_flush_rows rows  = {.count = 0};
    pawl_store     *store = worker->store;
    pawl_code       code  = pawl_store_flush_list(store, aggregator->name, due_max, SIZE_MAX / 2,
                                                  worker->read, &rows, error);
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++)
        code = pawl__flush_list_add(
            list, known, aggregator, rows.items[i].partition, rows.items[i].error,
            list != &worker->flushes[PAWL__FLUSH_ASKED] && is_by_size(aggregator, &rows.items[i]));
    return code;
}

typedef struct requested {
    pawl__flush_request items[PAWL__FLUSH_REQUESTS_MAX];
    size_t              count;
} requested;

static void take_requests(pawl_endpoint *endpoint, requested *taken)
{
    pthread_mutex_lock(&endpoint->mutex);
    taken->count = endpoint->request_count;
    memcpy(taken->items, endpoint->requests, taken->count * sizeof taken->items[0]);
    endpoint->request_count = 0;
    pthread_mutex_unlock(&endpoint->mutex);
}

/* After a failure: keeps the requests for the next step. If there is no room, the same ones have been made again
 * meanwhile. */
static void put_requests_back(pawl_endpoint *endpoint, const requested *taken)
{
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < taken->count && endpoint->request_count < PAWL__FLUSH_REQUESTS_MAX; i++)
        endpoint->requests[endpoint->request_count++] = taken->items[i];
    pthread_mutex_unlock(&endpoint->mutex);
}

pawl_code pawl__flush_list_asked(pawl__worker *worker, pawl_error *error)
{
    pawl__flush_list *list = &worker->flushes[PAWL__FLUSH_ASKED];
    requested         taken;
    pawl_code         code = PAWL_OK;
    take_requests(worker->endpoint, &taken);
    for (size_t i = 0; i < taken.count && code == PAWL_OK; i++) {
        const pawl__flush_request *it = &taken.items[i];
        code                          = it->partition[0] != '\0'
                                            ? pawl__flush_list_add(list, list->count, it->aggregator,
                                                                   pawl_text_of(it->partition), PAWL__FLUSH_NOT_READ, false)
                                            : list_due(worker, it->aggregator, PAWL_TIME_MAX, list, error);
    }
    if (code != PAWL_OK)
        put_requests_back(worker->endpoint, &taken);
    return code;
}

/* ---- The check of all partitions ------------------------------------------------ */

/* All partitions are read by one worker, once a minute, first at the endpoint's start. Each worker makes a check at its start,
 * to learn when the next period ends. */
bool pawl__flush_list_takes_check(pawl__worker *worker)
{
    pawl_endpoint *endpoint = worker->endpoint;
    pawl_time      now      = worker->engine.machine_now;
    pawl_time      next     = pawl_time_add(now, CHECK_PERIOD);
    pawl_time      due      = atomic_load(&endpoint->flush_check);
    if (!pawl__is_due(worker->flush_check, now, CHECK_PERIOD))
        return false;
    bool is_first = worker->flush_check == PAWL_TIME_MIN;
    bool is_ours  = (is_first || pawl__is_due(due, now, CHECK_PERIOD)) &&
                   atomic_compare_exchange_strong(&endpoint->flush_check, &due, next);
    worker->flush_check    = is_ours ? next : due;
    bool is_asked          = is_ours || is_first;
    worker->has_full_check = is_asked && pawl__take_due(&endpoint->flush_full, now, FULL_PERIOD);
    return is_asked;
}

/* Writes the due times of some partitions. */
static pawl_code set_due(pawl__worker *worker, pawl_flush_set *sets, size_t count,
                         pawl_error *error)
{
    pawl_refusals refused = {.arena = worker->read};
    pawl_changes changes = {PAWL__ONE_UNIT(worker->engine.machine_now), .flush_set = {sets, count}};
    return pawl_store_commit(worker->store, &changes, &refused, error);
}

/* A partition has the due time that its first message or its last flush set. If that is more than a period away, a
 * program with a longer period or none set it, or a clock that was ahead. Then the period begins now. */
static pawl_code bring_forward(pawl__worker *worker, const pawl__aggregator_model *aggregator,
                               pawl_flush_rows *rows, pawl_error *error)
{
    pawl_flush_set sets[SETS_AT_ONCE];
    size_t         count  = 0;
    pawl_time      due    = pawl_time_add(pawl__business_now(worker->endpoint), aggregator->period);
    pawl_time      latest = pawl_time_add(due, AHEAD_MAX);
    pawl_code      code   = PAWL_OK;
    for (size_t i = 0; i < rows->count && code == PAWL_OK; i++) {
        pawl_flush_row *row = &rows->items[i];
        if (row->due <= latest || row->attempts > 0)
            continue;
        row->due      = due;
        sets[count++] = (pawl_flush_set){
            .partition = row->partition, .due = due, .is_done = true, .error = row->error};
        if (count < SETS_AT_ONCE)
            continue;
        code  = set_due(worker, sets, count, error);
        count = 0;
    }
    return code == PAWL_OK && count > 0 ? set_due(worker, sets, count, error) : code;
}

/* Reads all partitions of the aggregator that are not dead: corrects due times that are too late, and lists those that
 * may be full (their rows are counted later, one by one). */
static pawl_code check_all(pawl__worker *worker, const pawl__aggregator_model *aggregator,
                           pawl_error *error)
{
    pawl__flush_list *full  = &worker->flushes[PAWL__FLUSH_FULL];
    size_t            known = full->count;
    pawl_flush_rows   rows  = {.count = 0};
    pawl_code         code  = pawl_store_flush_list(worker->store, aggregator->name, PAWL_TIME_MAX,
                                                    SIZE_MAX / 2, worker->read, &rows, error);
    if (code == PAWL_OK && aggregator->period > 0)
        code = bring_forward(worker, aggregator, &rows, error);
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++) {
        if (rows.items[i].due < worker->flush_due)
            worker->flush_due = rows.items[i].due;
        if (aggregator->size > 0)
            code = pawl__flush_list_add(full, known, aggregator, rows.items[i].partition,
                                        rows.items[i].error, true);
    }
    return code;
}

pawl_code pawl__flush_list_next(pawl__worker *worker, pawl_error *error)
{
    pawl_next_due next;
    pawl_code     code = pawl__worker_next_due(worker, &next, error);
    worker->flush_due  = next.flush;
    return code;
}

pawl_code pawl__flush_list_due(pawl__worker *worker, pawl_time due_max, pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    pawl_code          code  = PAWL_OK;
    for (size_t i = 0; i < model->aggregator_count && code == PAWL_OK; i++)
        code = list_due(worker, &model->aggregators[i], due_max, &worker->flushes[PAWL__FLUSH_DUE],
                        error);
    return code;
}

pawl_code pawl__flush_list_checked(pawl__worker *worker, pawl_time due_max, pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    pawl_code          code  = PAWL_OK;
    worker->flush_due        = PAWL_TIME_MAX;
    for (size_t i = 0; i < model->aggregator_count && code == PAWL_OK && worker->has_full_check;
         i++)
        code = check_all(worker, &model->aggregators[i], error);
    if (code == PAWL_OK && !worker->has_full_check)
        code = pawl__flush_list_next(worker, error);
    return code == PAWL_OK && worker->flush_due <= due_max
               ? pawl__flush_list_due(worker, due_max, error)
               : code;
}
