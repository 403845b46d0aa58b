/* stats.c - the statistics: statements of one row each, whose columns are
 * members of pawl_stats, the list of queues, and the rows of
 * workers that may live. All of them are awaited together; then queues with messages that are not
 * due are asked for those in delayed retry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/operations.h"
#include "store/sql/rows.h"

typedef struct count_row {
    pawl__sql_statement statement;
    bool                takes_now;
    pawl__field_list    columns;
} count_row;

static const count_row counts[] = {
    {PAWL__SQL_TIMEOUT_STATS, true,
     PAWL__FIELDS(PAWL__AS(stats, timeouts_due, INT), PAWL__AS(stats, timeouts_pending, INT))},
    {PAWL__SQL_OUTBOX_PENDING, false,
     PAWL__FIELDS(PAWL__AS(stats, outbox_pending, INT), PAWL__AS(stats, outbox_oldest, TIME))},
    {PAWL__SQL_OUTBOX_HELD, false, PAWL__FIELDS(PAWL__AS(stats, outbox_blocked, INT))},
    {PAWL__SQL_OUTBOX_DEAD, false, PAWL__FIELDS(PAWL__AS(stats, outbox_dead, INT))},
    {PAWL__SQL_AGGREGATOR_COUNT, false, PAWL__FIELDS(PAWL__AS(stats, aggregator_rows, INT))},
    {PAWL__SQL_FLUSH_DEAD, false, PAWL__FIELDS(PAWL__AS(stats, flushes_dead, INT))},
    {PAWL__SQL_DEAD_COUNT, false, PAWL__FIELDS(PAWL__AS(stats, dead, INT))},
    {PAWL__SQL_INBOX_COUNT, false, PAWL__FIELDS(PAWL__AS(stats, inbox, INT))},
    {PAWL__SQL_WORKER_COUNTERS, false,
     PAWL__FIELDS(PAWL__AS(stats, counters.messages, INT), PAWL__AS(stats, counters.timeouts, INT),
                  PAWL__AS(stats, counters.flushes, INT), PAWL__AS(stats, counters.failures, INT),
                  PAWL__AS(stats, counters.conflicts, INT), PAWL__AS(stats, counters.dead, INT))},
};
#define COUNT_MAX (sizeof counts / sizeof counts[0])

typedef struct reading {
    pawl_store        *store;
    pawl_arena        *arena;
    pawl_stats        *stats;
    pawl_error        *error;
    pawl__sql_asked    queues, workers;
    pawl__sql_request *requests[COUNT_MAX + 2]; /* of queues and workers the last */
} reading;

static pawl_code send_all(reading *r, const pawl_time *now)
{
    const pawl__sql_ops *ops  = pawl__sql_ops_of(r->store);
    pawl_code            code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < COUNT_MAX; i++) {
        const pawl__sql_asked asked = {counts[i].statement,
                                       counts[i].takes_now ? &pawl__one_time : NULL, now,
                                       &counts[i].columns, 0};
        code = ops->send(r->store, &asked, r->arena, &r->requests[i], r->error);
    }
    r->queues = (pawl__sql_asked){PAWL__SQL_QUEUE_STATS, &pawl__one_time, now,
                                  &pawl__queue_stats_fields, sizeof *r->stats->queues};
    if (code == PAWL_OK)
        code = ops->send(r->store, &r->queues, r->arena, &r->requests[COUNT_MAX], r->error);
    r->workers = (pawl__sql_asked){PAWL__SQL_WORKER_LIVES, NULL, NULL, &pawl__sql_life_row,
                                   sizeof(pawl__sql_life)};
    if (code == PAWL_OK)
        code = ops->send(r->store, &r->workers, r->arena, &r->requests[COUNT_MAX + 1], r->error);
    pawl_code awaited = pawl__sql_await(r->store, code == PAWL_OK ? r->error : NULL);
    return code != PAWL_OK ? code : awaited;
}

static pawl_code read_queues(reading *r)
{
    pawl__sql_rows rows = {0};
    pawl_code code = pawl__sql_read_request(r->store, r->requests[COUNT_MAX], &r->queues, r->arena,
                                            &rows, r->error);
    r->stats->queues      = rows.items;
    r->stats->queue_count = rows.count;
    for (size_t i = 0; i < rows.count; i++)
        if (r->stats->queues[i].ready == 0)
            r->stats->queues[i].oldest = 0;
    return code;
}

static pawl_code read_all(reading *r, pawl__sql_rows *lives)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(r->store);
    for (size_t i = 0; i < COUNT_MAX; i++)
        if (ops->next(r->requests[i]))
            ops->get(r->requests[i], &counts[i].columns, r->stats);
    r->stats->timeouts_pending -= r->stats->timeouts_due;
    pawl_code code = read_queues(r);
    return code == PAWL_OK ? pawl__sql_read_request(r->store, r->requests[COUNT_MAX + 1],
                                                    &r->workers, r->arena, lives, r->error)
                           : code;
}

typedef struct retried_by {
    pawl_text queue;
    pawl_time now;
    int64_t   looks;
} retried_by;

static const pawl__field_list by_retried =
    PAWL__FIELDS(PAWL__AS_OF(retried_by, queue, TEXT), PAWL__AS_OF(retried_by, now, TIME),
                 PAWL__AS_OF(retried_by, looks, INT));
static const pawl__field_list retried_row =
    PAWL__FIELDS(PAWL__AS(queue_stats, retried, INT), PAWL__AS(queue_stats, retried_since, TIME));

/* No index has the attempts: rows are looked at, which are bounded. */
static pawl_code count_retried(const reading *r, pawl_time now, pawl_queue_stats *queue)
{
    const pawl__sql_ops  *ops     = pawl__sql_ops_of(r->store);
    const retried_by      by      = {queue->queue, now, PAWL_RETRIED_SCAN_MAX};
    const pawl__sql_asked asked   = {PAWL__SQL_QUEUE_COUNT_RETRIED, &by_retried, &by, &retried_row,
                                     0};
    pawl__sql_request    *request = NULL;
    pawl_code             code    = pawl__sql_run(r->store, &asked, r->arena, &request, r->error);
    if (code == PAWL_OK && ops->next(request))
        ops->get(request, &retried_row, queue);
    if (queue->retried == 0)
        queue->retried_since = 0;
    pawl_code ended = ops->end(request);
    return code != PAWL_OK ? code : ended;
}

static pawl_code count_all_retried(const reading *r, pawl_time now)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < r->stats->queue_count; i++)
        if (r->stats->queues[i].scheduled > 0)
            code = count_retried(r, now, &r->stats->queues[i]);
    return code;
}

static pawl_code read_stats(reading *r, pawl_time now)
{
    const pawl__sql_ops *ops   = pawl__sql_ops_of(r->store);
    pawl__sql_rows       lives = {0};
    pawl_code            code  = send_all(r, &now);
    if (code == PAWL_OK)
        code = read_all(r, &lives);
    for (size_t i = 0; i < COUNT_MAX + 2; i++) {
        pawl_code ended = ops->end(r->requests[i]);
        code            = code != PAWL_OK ? code : ended;
    }
    if (code == PAWL_OK)
        code = count_all_retried(r, now);
    if (code == PAWL_OK)
        code = pawl__sql_count_living(r->store, &lives, r->arena, &r->stats->workers, r->error);
    return code;
}

pawl_code pawl__sql_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                          pawl_error *error)
{
    reading   r    = {.store = store, .arena = arena, .stats = stats, .error = error};
    pawl_code code = pawl__sql_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = read_stats(&r, now);
    return pawl__sql_read_end(store, code, error);
}
