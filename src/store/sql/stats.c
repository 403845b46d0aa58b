/* stats.c - counts for operators.
 *
 * Each count stops at a limit. Names of queues, and of destinations of timeouts, are read from an index one after the
 * other: the cost depends on the number of names, not of rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/operations.h"
#include "store/sql/rows.h"

/* Parameters of the statements; each uses some of them. */
typedef struct counted_by {
    pawl_text name;
    pawl_time now;
    int64_t   limit, looks;
} counted_by;

typedef struct count_row {
    pawl__sql_statement statement;
    pawl__field_list    parameters;
    pawl__field_list    columns;
} count_row;

#define BY(member, as) PAWL__AS_OF(counted_by, member, as)
#define BY_LIMIT PAWL__FIELDS(BY(limit, INT))
#define BY_NAME PAWL__FIELDS(BY(name, TEXT), BY(limit, INT))
#define BY_DUE PAWL__FIELDS(BY(name, TEXT), BY(now, TIME), BY(limit, INT))
#define BY_LOOKS PAWL__FIELDS(BY(name, TEXT), BY(now, TIME), BY(looks, INT))
#define ONE_COUNT(statement, member)                                                \
    {                                                                               \
        PAWL__SQL_##statement, BY_LIMIT, PAWL__FIELDS(PAWL__AS(stats, member, INT)) \
    }

static const count_row store_counts[] = {
    ONE_COUNT(OUTBOX_PENDING, outbox_pending),
    ONE_COUNT(OUTBOX_HELD, outbox_blocked),
    ONE_COUNT(OUTBOX_DEAD, outbox_dead),
    ONE_COUNT(AGGREGATOR_COUNT, aggregator_rows),
    ONE_COUNT(FLUSH_DEAD, flushes_dead),
    ONE_COUNT(DEAD_COUNT, dead),
    ONE_COUNT(INBOX_COUNT, inbox),
    {PAWL__SQL_OUTBOX_OLDEST, {0}, PAWL__FIELDS(PAWL__AS(stats, outbox_oldest, TIME))},
    {PAWL__SQL_WORKER_COUNTERS,
     {0},
     PAWL__FIELDS(PAWL__AS(stats, counters.messages, INT), PAWL__AS(stats, counters.timeouts, INT),
                  PAWL__AS(stats, counters.flushes, INT), PAWL__AS(stats, counters.failures, INT),
                  PAWL__AS(stats, counters.conflicts, INT), PAWL__AS(stats, counters.dead, INT))},
};
/* No index has the attempts, so QUEUE_COUNT_RETRIED reads rows, up to a limit. */
static const count_row queue_counts[] = {
    {PAWL__SQL_QUEUE_READY, BY_DUE,
     PAWL__FIELDS(PAWL__AS(queue_stats, ready, INT), PAWL__AS(queue_stats, oldest, TIME))},
    {PAWL__SQL_QUEUE_SCHEDULED, BY_DUE, PAWL__FIELDS(PAWL__AS(queue_stats, scheduled, INT))},
    {PAWL__SQL_QUEUE_COUNT_RETRIED, BY_LOOKS,
     PAWL__FIELDS(PAWL__AS(queue_stats, retried, INT), PAWL__AS(queue_stats, retried_since, TIME))},
};
static const count_row timeout_counts[] = {
    {PAWL__SQL_TIMEOUT_READY, BY_DUE,
     PAWL__FIELDS(PAWL__AS(queue_stats, ready, INT), PAWL__AS(queue_stats, oldest, TIME))},
    {PAWL__SQL_TIMEOUT_SCHEDULED, BY_DUE, PAWL__FIELDS(PAWL__AS(queue_stats, scheduled, INT))},
};
static const count_row flush_counts[] = {
    {PAWL__SQL_FLUSH_READY, BY_DUE,
     PAWL__FIELDS(PAWL__AS(queue_stats, ready, INT), PAWL__AS(queue_stats, oldest, TIME))},
};
static const count_row dead_counts[] = {
    {PAWL__SQL_DEAD_OF_QUEUE, BY_NAME,
     PAWL__FIELDS(PAWL__AS(dead_count, count, INT), PAWL__AS(dead_count, oldest, TIME))},
};
#define COUNT_MAX (sizeof store_counts / sizeof store_counts[0])

typedef struct reading {
    pawl_store *store;
    pawl_arena *arena;
    counted_by  by;
    pawl_error *error;
} reading;

/* Sends all statements, and awaits them together; each one's columns become members of `to`. */
static pawl_code count_all(const reading *r, const count_row *rows, size_t count, void *to)
{
    const pawl__sql_ops *ops                 = pawl__sql_ops_of(r->store);
    pawl__sql_request   *requests[COUNT_MAX] = {NULL};
    pawl_code            code                = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        const pawl__sql_asked asked = {rows[i].statement,
                                       rows[i].parameters.count != 0 ? &rows[i].parameters : NULL,
                                       &r->by, &rows[i].columns, 0};
        code                        = ops->send(r->store, &asked, r->arena, &requests[i], r->error);
    }
    pawl_code awaited = pawl__sql_await(r->store, code == PAWL_OK ? r->error : NULL);
    code              = code != PAWL_OK ? code : awaited;
    for (size_t i = 0; i < count; i++) {
        if (code == PAWL_OK && ops->next(requests[i]))
            ops->get(requests[i], &rows[i].columns, to);
        pawl_code ended = ops->end(requests[i]);
        code            = code != PAWL_OK ? code : ended;
    }
    return code;
}
#define COUNT_ALL(r, rows, to) count_all(r, rows, sizeof(rows) / sizeof(rows)[0], to)

static pawl_code find_next(reading *r, pawl__sql_statement statement)
{
    return pawl__sql_next_name(r->store, (int)statement, &r->by.name, r->arena, r->error);
}

/* Makes room for one more item; NULL: out of memory. */
static void *add(const reading *r, void *items, size_t *count, size_t *capacity, size_t size)
{
    char *grown = pawl_arena_grow(r->arena, items, *count, capacity, size);
    if (grown == NULL)
        (void)pawl__sql_no_memory(r->store, "counts", r->error);
    return grown;
}

static pawl_code read_queues(reading *r, pawl_stats *stats)
{
    size_t    capacity = 0;
    pawl_code code     = find_next(r, PAWL__SQL_QUEUE_NAME);
    for (; code == PAWL_OK && r->by.name.size != 0; stats->queue_count++) {
        pawl_queue_stats *grown =
            add(r, stats->queues, &stats->queue_count, &capacity, sizeof *grown);
        if (grown == NULL)
            return PAWL_ENOMEM;
        pawl_queue_stats *queue = &grown[stats->queue_count];
        stats->queues           = grown;
        *queue                  = (pawl_queue_stats){.queue = r->by.name};
        code                    = COUNT_ALL(r, queue_counts, queue);
        if (code == PAWL_OK)
            code = find_next(r, PAWL__SQL_QUEUE_NAME);
    }
    return code;
}

/* Adds up the counts of all names that `scan` finds. */
static pawl_code sum_up(reading *r, pawl__sql_statement scan, const count_row *rows, size_t count,
                        pawl_queue_stats *sum)
{
    r->by.name     = PAWL_TEXT("");
    pawl_code code = find_next(r, scan);
    while (code == PAWL_OK && r->by.name.size != 0) {
        pawl_queue_stats one = {.ready = 0};
        code                 = count_all(r, rows, count, &one);
        sum->ready += one.ready;
        sum->scheduled += one.scheduled;
        if (one.ready > 0 && (sum->oldest == 0 || one.oldest < sum->oldest))
            sum->oldest = one.oldest;
        if (code == PAWL_OK)
            code = find_next(r, scan);
    }
    return code;
}
#define SUM_UP(r, scan, rows, to) sum_up(r, scan, rows, sizeof(rows) / sizeof(rows)[0], to)

static pawl_code read_timeouts(reading *r, pawl_stats *stats)
{
    pawl_queue_stats sum    = {.ready = 0};
    pawl_code        code   = SUM_UP(r, PAWL__SQL_TIMEOUT_NAME, timeout_counts, &sum);
    stats->timeouts_due     = sum.ready;
    stats->timeouts_pending = sum.scheduled;
    return code;
}

/* Counts flushes per aggregator, since their index begins with its name. */
static pawl_code read_flushes(reading *r, pawl_stats *stats)
{
    pawl_queue_stats sum  = {.ready = 0};
    pawl_code        code = SUM_UP(r, PAWL__SQL_FLUSH_NAME, flush_counts, &sum);
    stats->flushes_due    = sum.ready;
    stats->flushes_oldest = sum.oldest;
    return code;
}

static pawl_code read_workers(const reading *r, pawl_stats *stats)
{
    const pawl__sql_asked asked = {PAWL__SQL_WORKER_LIVES, NULL, NULL, &pawl__sql_life_row,
                                   sizeof(pawl__sql_life)};
    pawl_found            lives;
    pawl_code             code = pawl__sql_read(r->store, &asked, r->arena, &lives, r->error);
    return code == PAWL_OK
               ? pawl__sql_count_living(r->store, &lives, r->arena, &stats->workers, r->error)
               : code;
}

static pawl_code read_all(reading *r, pawl_stats *stats)
{
    pawl_code code = COUNT_ALL(r, store_counts, stats);
    if (code == PAWL_OK)
        code = read_queues(r, stats);
    if (code == PAWL_OK)
        code = read_timeouts(r, stats);
    if (code == PAWL_OK)
        code = read_flushes(r, stats);
    return code == PAWL_OK ? read_workers(r, stats) : code;
}

pawl_code pawl__sql_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                          pawl_error *error)
{
    const counted_by by   = {PAWL_TEXT(""), now, stats->count_max, PAWL_RETRIED_SCAN_MAX};
    reading          r    = {.store = store, .arena = arena, .by = by, .error = error};
    pawl_code        code = pawl__sql_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = read_all(&r, stats);
    return pawl__sql_read_end(store, code, error);
}

/* Begins with the empty name: the dead letters that cannot be returned to a queue. */
static pawl_code read_dead(reading *r, pawl_dead_counts *counts)
{
    size_t    capacity = 0;
    pawl_code code     = PAWL_OK;
    do {
        pawl_dead_count *grown = add(r, counts->items, &counts->count, &capacity, sizeof *grown);
        if (grown == NULL)
            return PAWL_ENOMEM;
        counts->items        = grown;
        grown[counts->count] = (pawl_dead_count){.queue = r->by.name};
        code                 = COUNT_ALL(r, dead_counts, &grown[counts->count]);
        counts->count += grown[counts->count].count != 0;
        if (code == PAWL_OK)
            code = find_next(r, PAWL__SQL_DEAD_NAME);
    } while (code == PAWL_OK && r->by.name.size != 0);
    return code;
}

pawl_code pawl__sql_dead_count(pawl_store *store, pawl_arena *arena, pawl_dead_counts *counts,
                               pawl_error *error)
{
    const counted_by by   = {.name = PAWL_TEXT(""), .limit = PAWL_STATS_COUNT_MAX};
    reading          r    = {.store = store, .arena = arena, .by = by, .error = error};
    pawl_code        code = pawl__sql_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = read_dead(&r, counts);
    return pawl__sql_read_end(store, code, error);
}
