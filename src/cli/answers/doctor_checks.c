/* doctor_checks.c - checks of `pawl doctor` that read what any store has: workers, queues, timeouts,
 * outbox and dead letters.
 *
 * Rows that wait and are read by nobody do not mend themselves, and neither do dead ones: these fail.
 * Rows that are to be tried again are only named.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/doctor.h"

#include <inttypes.h>
#include <string.h>

#define LATE PAWL_SECONDS(60)
#define ROWS_MAX 200 /* of the outbox, the oldest ones */

typedef pawl__doctor_seen seen;

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- Workers and queues ------------------------------------------------- */

static pawl_code check_workers(pawl__doctor *doctor, const seen *all)
{
    char    count[PAWL__SPAN_SIZE];
    int64_t waiting = all->stats.timeouts_due + all->stats.outbox_pending;
    for (size_t i = 0; i < all->stats.queue_count; i++)
        waiting += all->stats.queues[i].ready;
    if (all->worker_count > 0)
        return pawl__doctor_find(doctor, PAWL_FINDING_OK, "", "%zu live", all->worker_count);
    if (waiting == 0)
        return pawl__doctor_find(doctor, PAWL_FINDING_OK, "", "none lives, and nothing is due");
    return pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl run APP.so",
                             "none lives, and %s message%s, timeout%s or deliver%s due",
                             pawl__rows_text(waiting, count), plural(waiting), plural(waiting),
                             waiting == 1 ? "y is" : "ies are");
}

/* Whether the JSON array of a worker's types has the type. */
static bool handles(const pawl_worker_info *worker, pawl_text type)
{
    const char *at = worker->types.data, *end = at + worker->types.size;
    for (; at != NULL && at + type.size + 2 <= end; at++)
        if (at[0] == '"' && at[type.size + 1] == '"' && memcmp(at + 1, type.data, type.size) == 0)
            return true;
    return false;
}

/* An endpoint's queue has its name, or another one: then it is known by the types that it takes. */
static bool is_read(const seen *all, pawl_text queue)
{
    for (size_t w = 0; w < all->worker_count; w++) {
        if (pawl_text_equal(all->workers[w].endpoint, queue))
            return true;
        for (size_t s = 0; s < all->subscriptions.count; s++)
            if (pawl_text_equal(all->subscriptions.items[s].queue, queue) &&
                handles(&all->workers[w], all->subscriptions.items[s].type))
                return true;
    }
    return false;
}

static bool is_known(const seen *all, pawl_text queue)
{
    for (size_t i = 0; i < all->subscriptions.count; i++)
        if (pawl_text_equal(all->subscriptions.items[i].queue, queue))
            return true;
    return false;
}

static pawl_code check_queue(pawl__doctor *doctor, const seen *all, const pawl_queue_stats *queue)
{
    char    text[PAWL__SPAN_SIZE], rows[PAWL__SPAN_SIZE];
    int64_t count = queue->ready + queue->scheduled;
    if (count == 0)
        return PAWL_OK;
    if (!is_read(all, queue->queue))
        return pawl__doctor_find(
            doctor, PAWL_FINDING_FAIL, "pawl run APP.so",
            "queue %.*s has no consumer: %s message%s wait%s%s", PAWL_TEXT_ARGS(queue->queue),
            pawl__rows_text(count, rows), plural(count), count == 1 ? "s" : "",
            is_known(all, queue->queue) ? "" : ", and no endpoint of this store ever read it");
    if (queue->ready > 0 && queue->oldest < doctor->now - LATE)
        return pawl__doctor_find(doctor, PAWL_FINDING_WARN, "pawl worker list",
                                 "queue %.*s: the oldest of %s due message%s is due since %s",
                                 PAWL_TEXT_ARGS(queue->queue), pawl__rows_text(queue->ready, rows),
                                 plural(queue->ready),
                                 pawl__age_text(queue->oldest, doctor->now, text));
    return PAWL_OK;
}

/* ---- Timeouts ----------------------------------------------------------- */

static pawl_code check_timeouts(pawl__doctor *doctor, const seen *all)
{
    pawl_foreign_rows rows;
    pawl_code         code = pawl_store_timeout_foreign(doctor->store, PAWL_TEXT(""), doctor->now,
                                                        doctor->arena, &rows, doctor->error);
    (void)all;
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        code = pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl run APP.so",
                                 "timeouts lead to %.*s, which no endpoint of this store handles",
                                 PAWL_TEXT_ARGS(rows.items[i].destination));
    return code;
}

/* ---- The outbox --------------------------------------------------------- */

static bool has_worker(const seen *all, pawl_text endpoint)
{
    for (size_t i = 0; i < all->worker_count; i++)
        if (pawl_text_equal(all->workers[i].endpoint, endpoint))
            return true;
    return false;
}

/* Pending rows are delivered by the endpoint that made them, and by nobody else. */
static pawl_code check_orphans(pawl__doctor *doctor, const seen *all)
{
    pawl_outbox_rows rows;
    pawl_code        code = pawl_store_outbox_list(doctor->store, PAWL_OUTBOX_PENDING, ROWS_MAX,
                                                   doctor->arena, &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        const pawl_outbox_row *row      = &rows.items[i];
        bool                   is_first = true;
        for (size_t j = 0; j < i; j++)
            is_first &= !pawl_text_equal(rows.items[j].endpoint, row->endpoint);
        if (is_first && !has_worker(all, row->endpoint))
            code = pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl run APP.so",
                                     "nobody delivers what endpoint %.*s produced, row %" PRId64
                                     " and others: no worker of it lives",
                                     PAWL_TEXT_ARGS(row->endpoint), row->id);
    }
    return code;
}

static pawl_code check_outbox(pawl__doctor *doctor, const seen *all)
{
    const pawl_stats *stats = &all->stats;
    pawl_code         code  = check_orphans(doctor, all);
    if (code == PAWL_OK && stats->outbox_dead > 0)
        code = pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl outbox list --state dead",
                                 "%" PRId64 " row%s dead: not delivered, and not tried again",
                                 stats->outbox_dead, stats->outbox_dead == 1 ? " is" : "s are");
    return code;
}

/* ---- Dead letters -------------------------------------------------------- */

static pawl_code check_dead(pawl__doctor *doctor, const seen *all)
{
    char    text[PAWL__SPAN_SIZE];
    int64_t count = all->stats.dead;
    if (count == 0)
        return PAWL_OK;
    return pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl dead list",
                             "%s message%s dead-lettered", pawl__rows_text(count, text),
                             count == 1 ? " is" : "s are");
}

/* ---- All of them -------------------------------------------------------- */

/* A situation that somebody may have to deal with. */
typedef struct situation {
    const char               *name;
    pawl__doctor_check       *check;
    pawl__doctor_queue_check *of_queue; /* in place of `check`: of each queue */
    const char *well; /* said where nothing is found; NULL: the check says so itself */
} situation;

static const situation situations[] = {
    {"workers", check_workers, NULL, NULL},
    {"queues", NULL, check_queue, "no queue with messages is without a consumer"},
    {"paused", NULL, pawl__doctor_paused, "no queue that has messages is paused"},
    {"alarms", pawl__doctor_alarms, NULL,
     "no endpoint stands still by its breaker, cannot deliver, or cannot clean up"},
    {"retries", NULL, pawl__doctor_retries, "no message waits to be tried again"},
    {"versions", NULL, pawl__doctor_versions,
     "no message waits for a program that reads its version"},
    {"timeouts", check_timeouts, NULL, "each leads to an endpoint of this store"},
    {"outbox", check_outbox, NULL, "no row is dead, and none is without a worker"},
    {"sources", pawl__doctor_sources, NULL, "no row is blocked"},
    {"routes", pawl__doctor_routes, NULL, "no row waits for a route that is missing"},
    {"retention", pawl__doctor_retention, NULL,
     "nothing waits for longer than deduplication records are kept by default"},
    {"projections", pawl__doctor_projections, NULL, "none fails, and none is far behind"},
    {"dead_letters", check_dead, NULL, "there is none"},
    {"partitions", pawl__doctor_partitions, NULL, "no partition of an aggregator is dead"},
    {"sagas", pawl__doctor_sagas, NULL, NULL},
};

/* A store that has no such list has no such situation. */
static pawl_code run(pawl__doctor *doctor, const seen *all, const situation *row)
{
    size_t    count = doctor->found.count;
    pawl_code code  = PAWL_OK;
    doctor->check   = row->name;
    if (row->check != NULL)
        code = row->check(doctor, all);
    for (size_t i = 0; row->of_queue != NULL && code == PAWL_OK && i < all->stats.queue_count; i++)
        code = row->of_queue(doctor, all, &all->stats.queues[i]);
    if (code == PAWL_OK && doctor->found.count == count && row->well != NULL)
        code = pawl__doctor_find(doctor, PAWL_FINDING_OK, "", "%s", row->well);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

static pawl_code read_all(pawl__doctor *doctor, seen *all)
{
    all->stats = (pawl_stats)PAWL_STATS_INIT;
    pawl_code code =
        pawl_store_stats(doctor->store, doctor->now, doctor->arena, &all->stats, doctor->error);
    if (code == PAWL_OK)
        code = pawl_store_worker_list(doctor->store, doctor->arena, &all->workers,
                                      &all->worker_count, doctor->error);
    if (code == PAWL_OK)
        code = pawl_store_subscriptions(doctor->store, doctor->arena, &all->subscriptions,
                                        doctor->error);
    return code;
}

pawl_code pawl__doctor_checks(pawl__doctor *doctor)
{
    seen      all  = {.workers = NULL};
    pawl_code code = read_all(doctor, &all);
    for (size_t i = 0; code == PAWL_OK && i < sizeof situations / sizeof situations[0]; i++)
        code = run(doctor, &all, &situations[i]);
    if (code == PAWL_OK || code == PAWL_ENOMEM)
        return code;
    doctor->check = "store";
    return pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "", "cannot be read: %s",
                             doctor->error->text);
}
