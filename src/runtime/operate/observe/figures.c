/* figures.c - reads the figures of a store's health within a time limit.
 *
 *     each read has its own deadline, and none begins after the end of the look:
 *
 *     | stats | workers | ... | projections | queue 1 | queue 2 | ... |
 *     begin                                                queues_end      end
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"

#include "base/sized.h"
#include "base/text.h"
#include "pawl/store_queue.h"
#include "store/core/core.h"

#include <string.h>

#define QUERY_MS_MAX INT64_C(86400000) /* a day: times do not overflow */

static const pawl_stats no_stats = PAWL_STATS_INIT;

/* A list that a driver does not support counts as empty. */
static pawl_code ignore_unsupported(pawl_code code, pawl_error *error)
{
    if (code != PAWL_EUNSUPPORTED)
        return code;
    if (error != NULL)
        *error = (pawl_error)PAWL_ERROR_INIT;
    return PAWL_OK;
}

/* A look at a store, and when it ends. */
typedef struct reading {
    pawl_store          *store;
    const pawl__look    *look;
    pawl_time            now;
    pawl_arena          *arena;
    pawl_health_figures *figures;
} reading;

typedef pawl_code read_fn(const reading *it, pawl_error *error);

static bool is_over(const pawl__look *look)
{
    return look->is_over != NULL && atomic_load(look->is_over);
}

/* May another queue be read? Queues are read one by one; if there are many, the last ones are left out, so that the
 * look does not fail. */
static bool may_read_queue(const reading *it)
{
    return !is_over(it->look) && pawl__monotonic_now() < it->look->queues_end;
}

static pawl_code read_workers(const reading *it, pawl_error *error)
{
    pawl_worker_info *workers = NULL;
    size_t            count   = 0;
    pawl_code         code    = ignore_unsupported(
                   pawl_store_worker_list(it->store, it->arena, &workers, &count, error), error);
    it->figures->workers      = workers;
    it->figures->worker_count = count;
    return code;
}

static pawl_code read_subscriptions(const reading *it, pawl_error *error)
{
    return ignore_unsupported(
        pawl_store_subscriptions(it->store, it->arena, &it->figures->subscriptions, error), error);
}

static pawl_code read_timeouts(const reading *it, pawl_error *error)
{
    static const pawl_saga_id any   = {.uuid = {{0}}};
    pawl_timeout_rows         first = {.count = 0};
    pawl_code                 code  = ignore_unsupported(
                         pawl_store_timeout_list(it->store, any, 1, it->arena, &first, error), error);
    if (first.count > 0)
        it->figures->timeout_first = first.items[0].due;
    return code;
}

static pawl_code read_projections(const reading *it, pawl_error *error)
{
    pawl_projection_rows rows = {.count = 0};
    pawl_code code = pawl_store_projection_list(it->store, it->now, it->arena, &rows, error);
    if (code == PAWL_OK)
        it->figures->projections = rows;
    return ignore_unsupported(code, error);
}

/* Reads pauses, only of queues that have messages. */
static pawl_code read_pauses(const reading *it, pawl_error *error)
{
    pawl_code            code    = PAWL_OK;
    pawl_health_figures *figures = it->figures;
    size_t               count   = figures->stats->queue_count;
    for (size_t i = 0; code == PAWL_OK && i < count && may_read_queue(it); i++) {
        pawl_text        queue = figures->stats->queues[i].queue;
        pawl_queue_pause pause = {.is_paused = false};
        code                   = ignore_unsupported(
                              pawl_store_queue_pause_find(it->store, queue, it->arena, &pause, error), error);
        if (!pause.is_paused || (figures->paused.size > 0 && pause.since >= figures->paused_since))
            continue;
        figures->paused       = queue;
        figures->paused_since = pause.since;
    }
    return code;
}

#define UNREAD_PAGE 256 /* or fewer, up to PAWL_CLAIM_SIZE_MAX bytes */
#define UNREAD_PAGES_MAX 16
/* A message that waits for a program of another version is due again every version_delay, by default 10 seconds. */
#define UNREAD_LOOK_BACK PAWL_SECONDS(2)
#define UNREAD_LOOK_AHEAD PAWL_SECONDS(15)

/* Finds the message of a page that has waited longest for a program that reads its version. */
static void take_versions(const pawl_queue_messages *rows, pawl_text queue, pawl_arena *arena,
                          pawl_health_figures *figures)
{
    for (size_t i = 0; i < rows->count; i++) {
        const pawl_queue_message *row = &rows->items[i];
        pawl_text versions            = pawl__text_behind(row->error, PAWL_QUEUE_AWAITS_VERSION);
        if (!pawl__text_begins(row->error, PAWL_QUEUE_AWAITS_VERSION) ||
            (figures->version_awaited_since != 0 &&
             row->row.placed >= figures->version_awaited_since))
            continue;
        figures->version_awaited_since = row->row.placed;
        figures->version_awaited =
            pawl_arena_printf(arena, "%.*s: %.*s", PAWL_TEXT_ARGS(queue), PAWL_TEXT_ARGS(versions));
    }
}

/* Reads the first page of a queue, and messages due soon until one is found that waits for such a program. */
static pawl_code read_versions_of(const reading *it, pawl_text queue, pawl_error *error)
{
    pawl_queue_query query  = {.queue     = queue,
                               .due_min   = it->now - UNREAD_LOOK_BACK,
                               .count_max = UNREAD_PAGE,
                               .size_max  = PAWL_CLAIM_SIZE_MAX};
    pawl_time        before = it->figures->version_awaited_since;
    pawl_arena      *page   = pawl_arena_create(0);
    pawl_queue_row   last;
    bool             is_last = false;
    pawl_code        code =
        page != NULL ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "no memory for messages");
    for (int i = 0; code == PAWL_OK && !is_last && i < UNREAD_PAGES_MAX && may_read_queue(it);
         i++) {
        pawl_queue_messages rows = {.count = 0};
        pawl_arena_reset(page);
        code =
            ignore_unsupported(pawl_store_queue_find(it->store, &query, page, &rows, error), error);
        take_versions(&rows, queue, it->arena, it->figures);
        if (rows.count > 0)
            last = (pawl_queue_row){.due = rows.items[rows.count - 1].row.due,
                                    .seq = rows.items[rows.count - 1].row.seq};
        is_last = (rows.count < UNREAD_PAGE && !rows.is_cut) ||
                  it->figures->version_awaited_since != before ||
                  last.due > it->now + UNREAD_LOOK_AHEAD;
        query.after = &last;
    }
    pawl_arena_destroy(page);
    return code;
}

static pawl_code read_versions(const reading *it, pawl_error *error)
{
    pawl_code         code  = PAWL_OK;
    const pawl_stats *stats = it->figures->stats;
    for (size_t i = 0; code == PAWL_OK && i < stats->queue_count && may_read_queue(it); i++)
        if (stats->queues[i].ready + stats->queues[i].scheduled > 0)
            code = read_versions_of(it, stats->queues[i].queue, error);
    return code;
}

static pawl_code read_alarms(const reading *it, pawl_error *error)
{
    return ignore_unsupported(pawl_store_alarms(it->store, it->arena, &it->figures->alarms, error),
                              error);
}

/* Reads the difference to the machine's clock, even if the caller's time differs from it. */
static pawl_code read_server(const reading *it, pawl_error *error)
{
    const pawl_diagnosis asked   = {.now = pawl_clock_now(NULL), .is_brief = true};
    pawl_health_figures *figures = it->figures;
    pawl_finding_rows    rows    = {.count = 0};
    pawl_code            code =
        ignore_unsupported(pawl_store_diagnose(it->store, &asked, it->arena, &rows, error), error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        int64_t  value = rows.items[i].value;
        int64_t *to    = pawl_text_equal(rows.items[i].name, PAWL_TEXT("clock"))
                             ? &figures->clock_offset
                             : &figures->transaction_age;
        *to            = value > *to ? value : *to;
    }
    return code;
}

static pawl_code read_stats(const reading *it, pawl_error *error)
{
    pawl_stats *stats = pawl_arena_copy(it->arena, &no_stats, sizeof no_stats);
    if (stats == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for statistics");
    pawl_code code = pawl_store_stats(it->store, it->now, it->arena, stats, error);
    if (code == PAWL_OK)
        it->figures->stats = stats;
    return code;
}

pawl__look pawl__look_begin(int64_t time_max, const atomic_bool *is_over)
{
    int64_t begin = pawl__monotonic_now();
    return (pawl__look){begin + time_max / 2, begin + time_max, is_over};
}

pawl_code pawl__health_read(pawl_store *store, const pawl__look *look, pawl_time now,
                            pawl_arena *arena, pawl_health_figures *figures, pawl_error *error)
{
    static read_fn *const reads[] = {read_stats,       read_workers, read_subscriptions,
                                     read_timeouts,    read_server,  read_alarms,
                                     read_projections, read_pauses,  read_versions};
    const reading         it      = {store, look, now, arena, figures};
    pawl_code             code    = PAWL_OK;
    figures->stats                = &no_stats;
    for (size_t i = 0; code == PAWL_OK && i < sizeof reads / sizeof reads[0]; i++)
        if (is_over(look))
            code = pawl_error_set(error, PAWL_EINTERRUPTED, "health: the look was ended");
        else if (pawl__monotonic_now() >= look->end)
            code = pawl_error_set(error, PAWL_ETIMEOUT, PAWL__STORE_IS_LATE);
        else
            code = reads[i](&it, error);
    return code;
}

pawl_code pawl_health_query(pawl_store *store, pawl_time now, pawl_arena *arena,
                            pawl_health_figures *figures, pawl_error *error)
{
    pawl_health_figures all  = PAWL_HEALTH_FIGURES_INIT;
    pawl_code           code = pawl__sized_check(figures, sizeof all, "figures of health",
                                                 "PAWL_HEALTH_FIGURES_INIT", error);
    if (code != PAWL_OK)
        return code;
    int64_t          most = pawl__store_deadline_ms(store);
    int64_t          ms   = most < QUERY_MS_MAX ? most : QUERY_MS_MAX;
    const pawl__look look = pawl__look_begin(PAWL_MILLISECONDS(ms), NULL);
    code                  = pawl__health_read(store, &look, now, arena, &all, error);
    pawl__sized_write(figures, &all);
    return code;
}
