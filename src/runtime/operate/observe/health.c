/* health.c - judges the health of a store by its figures, with one row per check (health_rows.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"

#include "base/delay.h"
#include "base/sized.h"
#include "base/text.h"
#include "record/record_internal.h"
#include "store/core/action.h"

#include <stdio.h>

/* ---- Figures ------------------------------------------------------------- */

/* How long ago a time was; 0 for no time, or one in the future. */
static int64_t age_of(pawl_time time, pawl_time now)
{
    return time == 0 || time > now ? 0 : now - time;
}

int64_t pawl_health_timeout_late(const pawl_health_figures *figures, pawl_time now)
{
    return age_of(figures->timeout_first, now);
}

/* The endpoint that reads the queue. Figures from a program built with older headers have no subscriptions. */
static pawl_text reader_of(const pawl_health_figures *figures, pawl_text queue)
{
    const pawl_subscriptions *list = &figures->subscriptions;
    if (figures->figures_size < offsetof(pawl_health_figures, subscriptions) + sizeof *list)
        return queue;
    return pawl__queue_reader(list, queue);
}

size_t pawl_health_readers(const pawl_health_figures *figures, pawl_text queue)
{
    pawl_text endpoint = reader_of(figures, queue);
    size_t    count    = 0;
    for (size_t i = 0; i < figures->worker_count; i++)
        count += pawl_text_equal(figures->workers[i].endpoint, endpoint);
    return count;
}

/* ---- Checks -------------------------------------------------------------- */

/* The worst value of a check, and its place, which may be empty. */
typedef struct measure {
    int64_t   value;
    pawl_text place;
} measure;

/* The oldest message of queues with a consumer, or of those without. */
static measure oldest_queue(const pawl_health_figures *figures, pawl_time now, bool is_read)
{
    measure oldest = {.value = 0};
    for (size_t i = 0; i < figures->stats->queue_count; i++) {
        const pawl_queue_stats *queue = &figures->stats->queues[i];
        int64_t                 age   = age_of(queue->oldest, now);
        if (age > oldest.value && (pawl_health_readers(figures, queue->queue) > 0) == is_read)
            oldest = (measure){age, queue->queue};
    }
    return oldest;
}

/* The message in delayed retry that was first due longest ago. */
static measure oldest_retry(const pawl_health_figures *figures, pawl_time now)
{
    measure oldest = {.value = 0};
    for (size_t i = 0; i < figures->stats->queue_count; i++) {
        const pawl_queue_stats *queue = &figures->stats->queues[i];
        int64_t                 age   = age_of(queue->retried_since, now);
        if (age > oldest.value)
            oldest = (measure){age, queue->queue};
    }
    return oldest;
}

static measure most_behind(const pawl_health_figures *figures)
{
    measure worst = {.value = 0};
    for (size_t i = 0; i < figures->projections.count; i++) {
        const pawl_projection_row *row = &figures->projections.items[i];
        if (row->lag > worst.value)
            worst = (measure){row->lag, row->name};
    }
    return worst;
}

static measure longest_failing(const pawl_health_figures *figures, pawl_time now)
{
    measure worst = {.value = 0};
    for (size_t i = 0; i < figures->projections.count; i++) {
        const pawl_projection_row *row = &figures->projections.items[i];
        int64_t span = row->failure.position != 0 ? age_of(row->failure.since, now) : 0;
        if (span > worst.value)
            worst = (measure){span, row->name};
    }
    return worst;
}

static measure oldest_alarm(const pawl_health_figures *figures, pawl_time now, const char *what)
{
    measure oldest = {.value = 0};
    for (size_t i = 0; i < figures->alarms.count; i++) {
        const pawl_alarm *alarm = &figures->alarms.items[i];
        int64_t           age   = age_of(alarm->since, now);
        if (age > oldest.value && pawl_text_equal(alarm->what, pawl_text_of(what)))
            oldest = (measure){age, alarm->endpoint};
    }
    return oldest;
}

/* How long something has been due while no worker is alive. A sender has no endpoint. */
static int64_t time_without_worker(const pawl_health_figures *figures, pawl_time now)
{
    int64_t late  = pawl_health_timeout_late(figures, now);
    int64_t flush = age_of(figures->stats->flushes_oldest, now);
    late          = flush > late ? flush : late;
    for (size_t i = 0; i < figures->worker_count; i++)
        if (figures->workers[i].endpoint.size > 0)
            return 0;
    for (size_t i = 0; i < figures->stats->queue_count; i++) {
        int64_t age = age_of(figures->stats->queues[i].oldest, now);
        late        = age > late ? age : late;
    }
    return late;
}

typedef enum check_number {
#define CHECK_NUMBER(check, field, kind, degraded_default, unhealthy_default, reason, help) \
    CHECK_##check,
    PAWL__HEALTH_ROWS(CHECK_NUMBER)
#undef CHECK_NUMBER
} check_number;

static measure measure_of(check_number number, const pawl_health_figures *figures, pawl_time now)
{
    const pawl_stats *stats = figures->stats;
    switch (number) {
    case CHECK_outbox_lag: return (measure){.value = age_of(stats->outbox_oldest, now)};
    case CHECK_outbox_dead: return (measure){.value = stats->outbox_dead};
    case CHECK_outbox_blocked: return (measure){.value = stats->outbox_blocked};
    case CHECK_queue_age: return oldest_queue(figures, now, true);
    case CHECK_queue_no_consumer: return oldest_queue(figures, now, false);
    case CHECK_retry_age: return oldest_retry(figures, now);
    case CHECK_timeouts_late: return (measure){.value = pawl_health_timeout_late(figures, now)};
    case CHECK_partitions_dead: return (measure){.value = stats->flushes_dead};
    case CHECK_dead_letters: return (measure){.value = stats->dead};
    case CHECK_projection_lag: return most_behind(figures);
    case CHECK_projection_failing: return longest_failing(figures, now);
    case CHECK_clock_offset: return (measure){.value = figures->clock_offset};
    case CHECK_transaction_age: return (measure){.value = figures->transaction_age};
    case CHECK_queue_paused: return (measure){age_of(figures->paused_since, now), figures->paused};
    case CHECK_breaker_open: return oldest_alarm(figures, now, "breaker");
    case CHECK_retention_failing: return oldest_alarm(figures, now, "retention");
    case CHECK_route_away: return oldest_alarm(figures, now, "route");
    case CHECK_no_worker: return (measure){.value = time_without_worker(figures, now)};
    case CHECK_version_wait:
        return (measure){age_of(figures->version_awaited_since, now), figures->version_awaited};
    }
    return (measure){.value = 0};
}

static const pawl__health_row check_rows[] = {PAWL__HEALTH_ROWS(PAWL__HEALTH_ROW)};
#define CHECK_COUNT PAWL__HEALTH_CHECK_COUNT

_Static_assert(CHECK_COUNT + 3 <= PAWL_HEALTH_CHECKS_MAX,
               "breakers, inbound transports and the endpoint itself are checks too");

/* ---- Limits -------------------------------------------------------------- */

static int64_t limit_of(const pawl_health_options *options, size_t offset, int64_t value_default)
{
    int64_t limit =
        options != NULL ? *(const int64_t *)(const void *)((const char *)options + offset) : 0;
    if (limit == 0)
        limit = value_default;
    return limit > 0 ? limit : INT64_MAX;
}

/* Is the limit higher than any count of rows? */
static bool is_behind(int64_t limit)
{
    return limit > PAWL_STATS_COUNT_MAX && limit != INT64_MAX;
}

/* The limit in the form in which operators write it. */
static const char *limit_text(const pawl__health_row *row, int64_t limit, char *text, size_t size)
{
    if (row->kind == PAWL__HEALTH_DURATION)
        return pawl__duration_text(limit, text, size);
    snprintf(text, size, "%lld", (long long)limit);
    return text;
}

pawl_code pawl_health_options_check(const pawl_health_options *options, pawl_error *error)
{
    char low[40], high[40];
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        const pawl__health_row *row      = &check_rows[i];
        int64_t                 degraded = limit_of(options, row->degraded, row->degraded_default);
        int64_t unhealthy = limit_of(options, row->unhealthy, row->unhealthy_default);
        if (unhealthy < degraded && degraded != INT64_MAX)
            return pawl_error_set(error, PAWL_EINVAL,
                                  "health, %s: unhealthy from %s is below degraded from %s",
                                  row->check, limit_text(row, unhealthy, low, sizeof low),
                                  limit_text(row, degraded, high, sizeof high));
        if (row->kind == PAWL__HEALTH_ROWS && (is_behind(degraded) || is_behind(unhealthy)))
            return pawl_error_set(error, PAWL_EINVAL,
                                  "health, %s: the count ends at %d, and never reaches %lld",
                                  row->check, PAWL_STATS_COUNT_MAX,
                                  (long long)(is_behind(degraded) ? degraded : unhealthy));
    }
    return PAWL_OK;
}

/* ---- Judging --------------------------------------------------------------- */

const char *pawl_health_name(pawl_health_state state)
{
    static const char *const names[] = {"healthy", "degraded", "unhealthy"};
    return state >= PAWL_HEALTHY && state <= PAWL_UNHEALTHY ? names[state] : "?";
}

pawl_health_result *pawl__health_add(pawl_health *health, const char *name, pawl_health_state state)
{
    pawl_health_result *result = &health->checks[health->check_count++];
    *result                    = (pawl_health_result){.name = name, .state = state};
    if (state > health->state)
        health->state = state;
    return result;
}

pawl_text pawl__health_place(pawl_text name, char cut[PAWL__PLACE_SIZE])
{
    if (name.size < PAWL__PLACE_SIZE)
        return name;
    memcpy(cut, name.data, PAWL__PLACE_SIZE);
    pawl__text_end_cut(cut, PAWL__PLACE_SIZE);
    return pawl_text_of(cut);
}

static void run_check(check_number number, const pawl_health_options *options,
                      const pawl_health_figures *figures, pawl_time now, pawl_health *health)
{
    const pawl__health_row *row       = &check_rows[number];
    measure                 found     = measure_of(number, figures, now);
    int64_t                 value     = found.value;
    int64_t                 degraded  = limit_of(options, row->degraded, row->degraded_default);
    int64_t                 unhealthy = limit_of(options, row->unhealthy, row->unhealthy_default);
    pawl_health_state       state     = value >= unhealthy  ? PAWL_UNHEALTHY
                                        : value >= degraded ? PAWL_DEGRADED
                                                            : PAWL_HEALTHY;
    pawl_health_result     *result    = pawl__health_add(health, row->check, state);
    result->value                     = value;
    if (state == PAWL_HEALTHY)
        return;
    char      cut[PAWL__PLACE_SIZE];
    pawl_text place = pawl__health_place(found.place, cut);
    int64_t   limit = state == PAWL_UNHEALTHY ? unhealthy : degraded;
    int64_t   unit  = row->kind == PAWL__HEALTH_DURATION ? PAWL_SECONDS(1) : 1;
    snprintf(result->reason, sizeof result->reason, row->reason, PAWL_TEXT_ARGS(place),
             (long long)(value / unit), (long long)(limit / unit));
}

/* Figures from a program built with older headers are shorter. */
static pawl_code take_figures(const pawl_health_figures *given, pawl_health_figures *figures,
                              pawl_stats *stats, pawl_error *error)
{
    pawl_code code = pawl__sized_read(given, figures, sizeof *figures, "figures of health",
                                      "PAWL_HEALTH_FIGURES_INIT", error);
    if (code == PAWL_OK)
        code = pawl__sized_read(figures->stats, stats, sizeof *stats, "stats", "PAWL_STATS_INIT",
                                error);
    figures->stats = stats;
    return code;
}

void pawl_health_judge(const pawl_health_figures *figures, const pawl_health_options *options,
                       pawl_time now, pawl_health *health)
{
    pawl_error          error = PAWL_ERROR_INIT;
    pawl_health_figures all   = PAWL_HEALTH_FIGURES_INIT;
    pawl_stats          stats = PAWL_STATS_INIT;
    if (take_figures(figures, &all, &stats, &error) != PAWL_OK) {
        pawl__health_of_failure(error.text, health);
        return;
    }
    *health = (pawl_health){.state = PAWL_HEALTHY};
    for (size_t i = 0; i < CHECK_COUNT; i++)
        run_check((check_number)i, options, &all, now, health);
}

void pawl__health_of_failure(const char *reason, pawl_health *health)
{
    *health                    = (pawl_health){.state = PAWL_HEALTHY};
    pawl_health_result *result = pawl__health_add(health, "store", PAWL_UNHEALTHY);
    int                 size   = snprintf(result->reason, sizeof result->reason, "%s", reason);
    if ((size_t)size >= sizeof result->reason)
        pawl__text_end_cut(result->reason, sizeof result->reason);
}

pawl_code pawl_health_check(pawl_store *store, const pawl_health_options *options, pawl_time now,
                            pawl_health *health, pawl_error *error)
{
    pawl_error          own     = PAWL_ERROR_INIT;
    pawl_health_figures figures = PAWL_HEALTH_FIGURES_INIT;
    pawl_arena         *arena   = NULL;
    *health                     = (pawl_health){.state = PAWL_UNHEALTHY};
    if (error == NULL)
        error = &own;
    pawl_code code = pawl_health_options_check(options, error);
    if (code != PAWL_OK)
        return code;
    arena = pawl_arena_create(0);
    code  = arena != NULL ? pawl_health_query(store, now, arena, &figures, error)
                          : pawl_error_set(error, PAWL_ENOMEM, "no memory for statistics");
    if (code == PAWL_OK)
        pawl_health_judge(&figures, options, now, health);
    else
        pawl__health_of_failure(error->text, health);
    pawl_arena_destroy(arena);
    return code;
}

/* ---- JSON ------------------------------------------------------------------ */

/* Replaces invalid UTF-8 in the text of a handler or server, as JSON must be UTF-8. */
static const char *valid_reason(const pawl_health_result *result, pawl_arena *arena)
{
    size_t at   = 0;
    char  *copy = pawl_arena_copy(arena, result->reason, sizeof result->reason);
    while (copy != NULL && !pawl_text_is_valid(pawl_text_of(copy), &at))
        copy[at] = '?';
    return copy;
}

pawl_code pawl__health_json(const pawl_health *health, pawl_arena *arena, pawl_text *json)
{
    yyjson_alc      memory = pawl__json_allocator(arena);
    yyjson_mut_doc *doc    = yyjson_mut_doc_new(&memory);
    yyjson_mut_val *root   = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "status", pawl_health_name(health->state));
    yyjson_mut_val *checks = yyjson_mut_obj_add_arr(doc, root, "checks");
    for (size_t i = 0; i < health->check_count; i++) {
        const pawl_health_result *result = &health->checks[i];
        yyjson_mut_val           *check  = yyjson_mut_arr_add_obj(doc, checks);
        yyjson_mut_obj_add_str(doc, check, "name", result->name);
        yyjson_mut_obj_add_str(doc, check, "status", pawl_health_name(result->state));
        if (result->reason[0] != '\0')
            yyjson_mut_obj_add_str(doc, check, "reason", valid_reason(result, arena));
    }
    size_t size = 0;
    char  *text = yyjson_mut_write_opts(doc, 0, &memory, &size, NULL);
    *json       = (pawl_text){.data = text, .size = size};
    return text != NULL && checks != NULL ? PAWL_OK : PAWL_ENOMEM;
}
