/* watch_draw.c - the picture of `pawl stats --watch`.
 *
 *     who and when -> health and what is stuck, worst first -> rates -> counts -> queues
 *
 * Queues are sorted by urgency: those that nobody reads, then those with the oldest messages. The
 * end of a long picture is cut off; it has the healthy queues.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/calm.h"
#include "cli/answers/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lines --------------------------------------------------------------- */

typedef struct drawing {
    const pawl__watch_picture *picture;
    FILE                      *out;
    size_t                     line_count;
} drawing;

/* Bytes of the first `columns` characters. */
static size_t size_of_columns(const char *text, size_t columns)
{
    size_t size = 0;
    for (size_t count = 0; text[size] != '\0'; size++)
        if (((unsigned char)text[size] & 0xC0) != 0x80 && ++count > columns)
            break;
    return size;
}

static void add(drawing *to, const char *format, ...) PAWL_PRINTF(2, 3);
static void add(drawing *to, const char *format, ...)
{
    char    text[PAWL__WATCH_LINE_SIZE];
    va_list values;
    if (to->line_count++ >= to->picture->lines)
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    pawl__calm_line(text, strlen(text));
    fprintf(to->out, "%.*s\n", (int)size_of_columns(text, to->picture->columns), text);
}

/* ---- Numbers --------------------------------------------------------------- */

#define NUMBER_SIZE 32

/* "1234", "12.5 k", "3.4 M": at most seven characters. */
static const char *format_count(int64_t count, char text[NUMBER_SIZE])
{
    static const char units[] = "kMGTPE";
    double            value   = (double)count;
    size_t            unit    = 0;
    if (count < 100000) {
        snprintf(text, NUMBER_SIZE, "%" PRId64, count);
        return text;
    }
    for (value /= 1000; value >= 1000; value /= 1000)
        unit++;
    snprintf(text, NUMBER_SIZE, "%.1f %c", value, units[unit]);
    return text;
}

/* Of rows, whose count ends at a limit. */
static const char *format_rows(int64_t count, char text[NUMBER_SIZE])
{
    size_t size = strlen(format_count(count, text));
    snprintf(text + size, NUMBER_SIZE - size, "%s", count >= PAWL_STATS_COUNT_MAX ? "+" : "");
    return text;
}

/* The growth of a counter per second; "-" before the second look. */
static const char *format_rate(const pawl__watch_picture *picture, int64_t before, int64_t after,
                               char text[NUMBER_SIZE])
{
    int64_t span = picture->sample->at - picture->before;
    snprintf(text, NUMBER_SIZE, "-");
    if (picture->before == 0 || span <= 0)
        return text;
    double rate = (double)(after > before ? after - before : 0) * 1e6 / (double)span;
    if (rate >= 100000)
        return format_count((int64_t)rate, text);
    snprintf(text, NUMBER_SIZE, rate < 100 && rate > 0 ? "%.1f" : "%.0f", rate);
    return text;
}

/* Formats an age; "-" when there is nothing that has one. */
static const char *format_age(pawl_time time, pawl_time now, char text[PAWL__SPAN_SIZE])
{
    if (time == 0)
        return "-";
    return pawl__span_text(now > time ? now - time : 0, text);
}

/* ---- The head ---------------------------------------------------------------- */

static void draw_head(drawing *to)
{
    const pawl__watch_picture *picture = to->picture;
    char                       time[PAWL_TIME_TEXT_SIZE + 1], every[PAWL__SPAN_SIZE], right[100];
    pawl_time_format(picture->sample->at, time);
    time[sizeof "2026-01-01T00:00:00" - 1] = '\0';
    snprintf(right, sizeof right, "%sZ  every %s", time, pawl__span_text(picture->period, every));
    size_t used = sizeof "pawl stats  " - 1 + strlen(right);
    int    room = picture->columns > used ? (int)(picture->columns - used) : 0;
    int    size = (int)size_of_columns(picture->store, (size_t)room);
    add(to, "pawl stats %-*.*s %s", room, size, picture->store, right);
}

static int compare_results(const void *left, const void *right)
{
    const pawl_health_result *a = *(const pawl_health_result *const *)left;
    const pawl_health_result *b = *(const pawl_health_result *const *)right;
    if (a->state != b->state)
        return a->state > b->state ? -1 : 1;
    return a < b ? -1 : 1;
}

static void draw_health(drawing *to)
{
    const pawl_health        *health = &to->picture->sample->health;
    const pawl_health_result *sorted[PAWL_HEALTH_CHECKS_MAX];
    for (size_t i = 0; i < health->check_count; i++)
        sorted[i] = &health->checks[i];
    qsort(sorted, health->check_count, sizeof sorted[0], compare_results);
    if (health->state == PAWL_HEALTHY)
        add(to, "healthy    nothing is stuck");
    for (size_t i = 0; i < health->check_count && sorted[i]->state != PAWL_HEALTHY; i++)
        add(to, "%-10s %s", pawl_health_name(sorted[i]->state), sorted[i]->reason);
}

/* ---- Numbers of the store ------------------------------------------------------ */

typedef struct rate_row {
    const char *heading;
    size_t      offset; /* in pawl_counters */
} rate_row;

#define RATE(heading, member)                    \
    {                                            \
        heading, offsetof(pawl_counters, member) \
    }
static const rate_row rates[] = {
    RATE("handled", messages),  RATE("timeouts", timeouts),   RATE("flushes", flushes),
    RATE("failures", failures), RATE("conflicts", conflicts), RATE("dead", dead),
};
#define RATE_COUNT (sizeof rates / sizeof rates[0])

static int64_t counter_of(const pawl_counters *counters, const rate_row *row)
{
    return *(const int64_t *)(const void *)((const char *)counters + row->offset);
}

static void draw_rates(drawing *to)
{
    const pawl__watch_picture *picture   = to->picture;
    const pawl_counters       *counters  = &pawl__watch_stats(picture->sample)->counters;
    char                       head[100] = "", rate[100] = "", ever[100] = "", cell[NUMBER_SIZE];
    size_t                     used = 0;
    for (size_t i = 0; i < RATE_COUNT; i++) {
        int64_t count = counter_of(counters, &rates[i]);
        snprintf(head + used, sizeof head - used, "%11s", rates[i].heading);
        format_rate(picture, counter_of(&picture->counters_before, &rates[i]), count, cell);
        snprintf(rate + used, sizeof rate - used, "%11s", cell);
        snprintf(ever + used, sizeof ever - used, "%11s", format_count(count, cell));
        used += 11;
    }
    add(to, "            %s", head);
    add(to, "per second  %s", rate);
    add(to, "ever        %s", ever);
}

/* The one that fails, else the one that is furthest behind; NULL: there is none. */
static const pawl_projection_row *worst_projection(const pawl_health_figures *figures)
{
    const pawl_projection_row *worst = NULL;
    for (size_t i = 0; i < figures->projections.count; i++) {
        const pawl_projection_row *row      = &figures->projections.items[i];
        bool                       is_first = worst == NULL;
        bool                       fails    = row->failure.position != 0,
             worst_fails                    = !is_first && worst->failure.position != 0;
        if (is_first || (fails && !worst_fails) || (fails == worst_fails && row->lag > worst->lag))
            worst = row;
    }
    return worst;
}

static void draw_counts(drawing *to)
{
    const pawl__watch_sample *sample = to->picture->sample;
    const pawl_stats         *stats  = pawl__watch_stats(sample);
    char                      a[NUMBER_SIZE], b[NUMBER_SIZE], c[NUMBER_SIZE], age[PAWL__SPAN_SIZE];
    add(to, "outbox       pending %-9s blocked %-9s dead %-9s oldest %s",
        format_rows(stats->outbox_pending, a), format_rows(stats->outbox_blocked, b),
        format_rows(stats->outbox_dead, c), format_age(stats->outbox_oldest, sample->at, age));
    int64_t late = pawl_health_timeout_late(&sample->figures, sample->at);
    add(to, "timeouts     pending %-9s due     %-24s late   %s",
        format_rows(stats->timeouts_pending, a), format_rows(stats->timeouts_due, b),
        late > 0 ? pawl__span_text(late, age) : "-");
    add(to, "aggregators  messages %-8s partitions dead %s", format_rows(stats->aggregator_rows, a),
        format_rows(stats->flushes_dead, b));
    const pawl_projection_row *worst = worst_projection(&sample->figures);
    if (worst != NULL)
        add(to, "projections  behind  %-9s %.*s%s", format_count(worst->lag, a),
            PAWL_TEXT_ARGS(worst->name), worst->failure.position != 0 ? "  failing" : "");
    add(to, "store        dead letters %-4s deduplication records %-7s workers %s",
        format_rows(stats->dead, a), format_rows(stats->inbox, b), format_count(stats->workers, c));
}

/* ---- Queues ------------------------------------------------------------------ */

typedef struct queue_row {
    const pawl_queue_stats *queue;
    size_t                  readers;
    bool                    is_paused;
} queue_row;

static bool is_unread(const queue_row *row)
{
    return row->readers == 0 && row->queue->ready > 0;
}

/* A queue without messages comes last. */
static pawl_time oldest_of(const queue_row *row)
{
    return row->queue->oldest != 0 ? row->queue->oldest : PAWL_TIME_MAX;
}

static int compare_queues(const void *left, const void *right)
{
    const queue_row *a = left, *b = right;
    if (is_unread(a) != is_unread(b))
        return is_unread(a) ? -1 : 1;
    if (oldest_of(a) != oldest_of(b))
        return oldest_of(a) < oldest_of(b) ? -1 : 1;
    return pawl_text_compare(a->queue->queue, b->queue->queue);
}

static void draw_queue(drawing *to, const queue_row *row)
{
    const pawl_queue_stats *queue = row->queue;
    char                    ready[NUMBER_SIZE], delayed[NUMBER_SIZE], age[PAWL__SPAN_SIZE],
        name[PAWL_NAME_SIZE_MAX + 1];
    snprintf(name, sizeof name, "%.*s", PAWL_TEXT_ARGS(queue->queue));
    name[size_of_columns(name, 27)] = '\0';
    add(to, "%-27s %9s %9s %9s %8zu%s", name, format_rows(queue->ready, ready),
        format_rows(queue->scheduled, delayed),
        format_age(queue->oldest, to->picture->sample->at, age), row->readers,
        row->is_paused   ? "  paused"
        : is_unread(row) ? "  no consumer"
                         : "");
}

static void draw_queues(drawing *to)
{
    const pawl_health_figures *figures = &to->picture->sample->figures;
    const pawl_stats          *stats   = pawl__watch_stats(to->picture->sample);
    size_t                     count   = stats->queue_count;
    queue_row                 *rows    = pawl_allocate((count + 1) * sizeof *rows);
    if (rows == NULL) { /* watching goes on: memory may suffice for the next picture */
        add(to, "out of memory for %zu queues", count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        rows[i] =
            (queue_row){&stats->queues[i], pawl_health_readers(figures, stats->queues[i].queue),
                        pawl__watch_is_paused(to->picture->sample, i)};
    qsort(rows, count, sizeof *rows, compare_queues);
    add(to, "%-27s %9s %9s %9s %8s", "queue", "ready", "scheduled", "oldest", "workers");
    for (size_t i = 0; i < count; i++)
        draw_queue(to, &rows[i]);
    pawl_free(rows);
}

void pawl__watch_draw(const pawl__watch_picture *picture, FILE *out)
{
    drawing to = {.picture = picture, .out = out};
    draw_head(&to);
    if (picture->failure != NULL) {
        add(&to, "no answer  %s", picture->failure);
        return;
    }
    draw_health(&to);
    add(&to, "%s", "");
    draw_rates(&to);
    add(&to, "%s", "");
    draw_counts(&to);
    add(&to, "%s", "");
    draw_queues(&to);
}

/* ---- A line ------------------------------------------------------------------- */

void pawl__watch_heading(FILE *out)
{
    fprintf(out, "%-20s %9s %9s %9s %8s %9s %9s %7s %5s %7s %s\n", "at", "handled/s", "failed/s",
            "confl/s", "ready", "scheduled", "oldest", "outbox", "dead", "workers", "health");
}

/* The time of the oldest message of any queue, and how many there are. */
static pawl_queue_stats sum_of(const pawl_stats *stats)
{
    pawl_queue_stats sum = {.ready = 0};
    for (size_t i = 0; i < stats->queue_count; i++) {
        const pawl_queue_stats *queue = &stats->queues[i];
        sum.ready += queue->ready;
        sum.scheduled += queue->scheduled;
        if (queue->oldest != 0 && (sum.oldest == 0 || queue->oldest < sum.oldest))
            sum.oldest = queue->oldest;
    }
    return sum;
}

void pawl__watch_line(const pawl__watch_picture *picture, FILE *out)
{
    const pawl__watch_sample *sample = picture->sample;
    const pawl_stats         *stats  = pawl__watch_stats(sample);
    const pawl_counters      *after = &stats->counters, *before = &picture->counters_before;
    pawl_queue_stats          sum = sum_of(stats);
    char                      time[PAWL_TIME_TEXT_SIZE + 1], age[PAWL__SPAN_SIZE];
    char                      rate[3][NUMBER_SIZE], count[5][NUMBER_SIZE];
    pawl_time_format(sample->at, time);
    time[sizeof "2026-01-01T00:00:00" - 1] = '\0';
    fprintf(out, "%sZ %9s %9s %9s %8s %9s %9s %7s %5s %7s %s\n", time,
            format_rate(picture, before->messages, after->messages, rate[0]),
            format_rate(picture, before->failures, after->failures, rate[1]),
            format_rate(picture, before->conflicts, after->conflicts, rate[2]),
            format_rows(sum.ready, count[0]), format_rows(sum.scheduled, count[1]),
            format_age(sum.oldest, sample->at, age), format_rows(stats->outbox_pending, count[2]),
            format_rows(stats->dead, count[3]), format_count(stats->workers, count[4]),
            pawl_health_name(sample->health.state));
}
