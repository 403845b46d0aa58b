/* stats.c - `pawl stats`: prints counts and health of a store.
 *
 * The numbers stand in one table, so that the page for people and the JSON
 * object show the same ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/watch.h"
#include "cli/run/run.h"

#include "base/calm.h"

#include <inttypes.h>
#include <string.h>

#define PERIOD_DEFAULT PAWL_SECONDS(2)

typedef struct verb_fields {
    pawl__store_fields at;
    bool               is_json, is_watch;
    int64_t            period, count;
    pawl__texts        health; /* the words of `limits` */
    pawl__limits       limits;
} verb_fields;

const pawl__argument pawl__stats_verb_arguments[] = {{.name = NULL}};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__stats_verb_options[] = {
    OPTION("count", COUNT, count, "N", 0, "with --watch: end after so many queries", 1, INT64_MAX,
           .with = "watch"),
    PAWL__OPTIONS_STORE(verb_fields, at),
    OPTION("every", DURATION, period, "DURATION", 0, "with --watch: time between two queries",
           PAWL_MILLISECONDS(100), PAWL_HOURS(1), .with = "watch", .has_default = true,
           .value_default = PERIOD_DEFAULT),
    PAWL__OPTION_HEALTH(verb_fields, health),
    OPTION("json", FLAG, is_json, NULL, 0, "print one JSON object"),
    OPTION("watch", FLAG, is_watch, NULL, 0,
           "query again and again: a picture on a terminal, q ends it; else lines"),
    {.name = NULL},
};

const pawl__report pawl__stats_verb_reports[] = {
    {"the object", NULL,
     "at count_max messages timeouts flushes failures conflicts dead_ever dead timeouts_due timeouts_pending outbox_pending outbox_blocked outbox_dead outbox_oldest aggregator_rows flushes_dead inbox workers queues health checks"},
    {"one of queues", NULL, "queue ready scheduled oldest retried retried_since paused"},
    {"one of checks", NULL, "name status value reason"},
    {.what = NULL},
};

#define NUMBER(json, label, kind, member) PAWL__COLUMN(pawl_stats, json, kind, member, label)
static const pawl__column numbers[] = {
    NUMBER("messages", "messages handled", COUNT, counters.messages),
    NUMBER("timeouts", "timeouts handled", COUNT, counters.timeouts),
    NUMBER("flushes", "aggregator flushes", COUNT, counters.flushes),
    NUMBER("failures", "handler failures", COUNT, counters.failures),
    NUMBER("conflicts", "conflicts", COUNT, counters.conflicts),
    NUMBER("dead_ever", "dead letters by workers", COUNT, counters.dead),
    NUMBER("dead", "dead letters now", ROWS, dead),
    NUMBER("timeouts_due", "timeouts due", ROWS, timeouts_due),
    NUMBER("timeouts_pending", "timeouts pending", ROWS, timeouts_pending),
    NUMBER("outbox_pending", "outbox pending", ROWS, outbox_pending),
    NUMBER("outbox_blocked", "outbox blocked", ROWS, outbox_blocked),
    NUMBER("outbox_dead", "outbox dead", ROWS, outbox_dead),
    NUMBER("outbox_oldest", "outbox oldest", TIME, outbox_oldest),
    NUMBER("aggregator_rows", "aggregator messages", ROWS, aggregator_rows),
    NUMBER("flushes_dead", "aggregator partitions dead", ROWS, flushes_dead),
    NUMBER("inbox", "deduplication records", ROWS, inbox),
    NUMBER("workers", "workers alive", COUNT, workers),
    {.key = NULL},
};

/* Formats a time; "" for none. */
static const char *format_time(pawl_time time, char text[PAWL_TIME_TEXT_SIZE + 1])
{
    text[0] = '\0';
    if (time != 0)
        pawl_time_format(time, text);
    return text;
}

static void print_result(const pawl_health_result *result, FILE *out)
{
    char line[sizeof result->reason];
    snprintf(line, sizeof line, "%s", result->reason);
    pawl__calm_line(line, strlen(line));
    fprintf(out, "  %-9s %-16s %s\n", pawl_health_name(result->state), result->name, line);
}

static void print_page(const pawl__watch_sample *sample, FILE *out)
{
    const pawl_stats *stats = pawl__watch_stats(sample);
    char              text[PAWL_TIME_TEXT_SIZE + 1], rows[2][PAWL__SPAN_SIZE];
    fprintf(out, "%-28s %12s\n", "health", pawl_health_name(sample->health.state));
    for (size_t i = 0; i < sample->health.check_count; i++)
        if (sample->health.checks[i].state != PAWL_HEALTHY)
            print_result(&sample->health.checks[i], out);
    for (const pawl__column *number = numbers; number->key != NULL; number++) {
        int64_t value = *(const int64_t *)(const void *)((const char *)stats + number->offset);
        if (number->kind == PAWL__COLUMN_COUNT)
            fprintf(out, "%-28s %12" PRId64 "\n", number->heading, value);
        else if (number->kind == PAWL__COLUMN_ROWS)
            fprintf(out, "%-28s %12s\n", number->heading, pawl__rows_text(value, rows[0]));
        else if (value != 0)
            fprintf(out, "%-28s %s\n", number->heading, format_time(value, text));
    }
    if (stats->queue_count > 0)
        fprintf(out, "\n%-28s %12s %12s %12s  %s\n", "queue", "ready", "scheduled", "retried",
                "oldest");
    for (size_t i = 0; i < stats->queue_count; i++) {
        const pawl_queue_stats *queue = &stats->queues[i];
        char                    name[PAWL_NAME_SIZE_MAX + 1];
        (void)snprintf(name, sizeof name, "%.*s", PAWL_TEXT_ARGS(queue->queue));
        pawl__calm_line(name, strlen(name));
        fprintf(out, "%-28s %12s %12s %12" PRId64 "  %s%s\n", name,
                pawl__rows_text(queue->ready, rows[0]), pawl__rows_text(queue->scheduled, rows[1]),
                queue->retried, format_time(queue->oldest, text),
                pawl__watch_is_paused(sample, i) ? "  paused" : "");
    }
}

static void add_health(yyjson_mut_doc *doc, yyjson_mut_val *root, const pawl_health *health)
{
    yyjson_mut_obj_add_str(doc, root, "health", pawl_health_name(health->state));
    yyjson_mut_val *checks = yyjson_mut_obj_add_arr(doc, root, "checks");
    for (size_t i = 0; i < health->check_count; i++) {
        const pawl_health_result *result = &health->checks[i];
        yyjson_mut_val           *object = yyjson_mut_arr_add_obj(doc, checks);
        yyjson_mut_obj_add_str(doc, object, "name", result->name);
        yyjson_mut_obj_add_str(doc, object, "status", pawl_health_name(result->state));
        yyjson_mut_obj_add_sint(doc, object, "value", result->value);
        pawl__json_add_text(doc, object, "reason",
                            result->reason[0] != '\0' ? result->reason : NULL);
    }
}

static pawl_code print_json(const pawl__watch_sample *sample, FILE *out)
{
    const pawl_stats *stats = pawl__watch_stats(sample);
    yyjson_mut_doc   *doc   = pawl__json_create();
    yyjson_mut_val   *root  = yyjson_mut_doc_get_root(doc);
    pawl__json_add_time(doc, root, "at", sample->at);
    yyjson_mut_obj_add_sint(doc, root, "count_max", PAWL_STATS_COUNT_MAX);
    pawl__row_json(&(const pawl__view){.columns = numbers}, doc, root, stats);
    yyjson_mut_val *queues = yyjson_mut_obj_add_arr(doc, root, "queues");
    for (size_t i = 0; i < stats->queue_count; i++) {
        const pawl_queue_stats *queue  = &stats->queues[i];
        yyjson_mut_val         *object = yyjson_mut_arr_add_obj(doc, queues);
        yyjson_mut_obj_add_strn(doc, object, "queue", queue->queue.data, queue->queue.size);
        yyjson_mut_obj_add_sint(doc, object, "ready", queue->ready);
        yyjson_mut_obj_add_sint(doc, object, "scheduled", queue->scheduled);
        pawl__json_add_time(doc, object, "oldest", queue->oldest);
        yyjson_mut_obj_add_sint(doc, object, "retried", queue->retried);
        pawl__json_add_time(doc, object, "retried_since", queue->retried_since);
        yyjson_mut_obj_add_bool(doc, object, "paused", pawl__watch_is_paused(sample, i));
    }
    add_health(doc, root, &sample->health);
    return pawl__json_print(doc, out);
}

static pawl_code watch(const verb_fields *fields, pawl_store *store, pawl_arena *arena,
                       pawl_error *error)
{
    const pawl__watch asked = {.store  = fields->at.store,
                               .period = fields->period,
                               .count  = fields->count,
                               .limits = fields->limits.health,
                               .print  = fields->is_json ? print_json : NULL};
    return pawl__watch_run(&asked, store, arena, error);
}

static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    if (fields->is_watch)
        return watch(fields, store, arena, error);
    pawl__watch_sample sample = {.at = pawl_clock_now(NULL)};
    pawl_code code = pawl__watch_read(store, &fields->limits.health, arena, &sample, error);
    if (code != PAWL_OK)
        return code;
    if (fields->is_json)
        return print_json(&sample, stdout);
    print_page(&sample, stdout);
    return PAWL_OK;
}

static pawl_code check_words(void *context, pawl_error *error)
{
    verb_fields *fields = context;
    return pawl__limits_read(&fields->health, &fields->limits, error);
}

PAWL__VERB_ON_STORE(stats, verb_fields, show)
