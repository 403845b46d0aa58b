/* metrics_text.c - writes metrics in Prometheus's text format:
 *
 *     # HELP pawl_outbox_attempts_total Attempts to deliver an outbox row, by outcome.
 *     # TYPE pawl_outbox_attempts_total counter
 *     pawl_outbox_attempts_total{endpoint="orders",outcome="success"} 7
 *
 * All samples of a metric are adjacent, and buckets of a histogram are cumulative.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/common/metrics.h"
#include "runtime/operate/observe/observe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A growing text. After a failure nothing more is written. */
typedef struct page {
    char  *data;
    size_t size, capacity;
    bool   has_failed;
} page;

static void put(page *out, const char *text, size_t size)
{
    if (out->capacity - out->size < size && !out->has_failed) {
        size_t capacity = (out->capacity + size) * 2 + 4096;
        char  *grown    = pawl_resize(out->data, capacity);
        out->has_failed = grown == NULL;
        out->data       = grown != NULL ? grown : out->data;
        out->capacity   = grown != NULL ? capacity : out->capacity;
    }
    if (out->has_failed)
        return;
    memcpy(out->data + out->size, text, size);
    out->size += size;
}

static void put_string(page *out, const char *text)
{
    put(out, text, strlen(text));
}

/* Escapes a text; quotes are not escaped in help lines. */
static void put_escaped(page *out, pawl_text text, bool has_quotes)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '\n')
            put(out, "\\n", 2);
        else if (c == '\\' || (c == '"' && has_quotes))
            put(out, (char[]){'\\', c}, 2);
        else
            put(out, &c, 1);
    }
}

static void put_count(page *out, int64_t value)
{
    char text[32];
    int  size = snprintf(text, sizeof text, "%" PRId64, value);
    put(out, text, (size_t)size);
}

/* Microseconds as seconds, without zeros at the end. */
static void put_seconds(page *out, int64_t value)
{
    char     text[40];
    uint64_t size_of_it = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int      size = snprintf(text, sizeof text, "%s%" PRIu64 ".%06" PRIu64, value < 0 ? "-" : "",
                             size_of_it / 1000000, size_of_it % 1000000);
    while (text[size - 1] == '0')
        size--;
    put(out, text, (size_t)(text[size - 1] == '.' ? size - 1 : size));
}

static void put_label(page *out, bool *has_labels, const char *name, pawl_text value)
{
    put_string(out, *has_labels ? "," : "{");
    put_string(out, name);
    put_string(out, "=\"");
    put_escaped(out, value, true);
    put_string(out, "\"");
    *has_labels = true;
}

/* `bound` is a bucket's, NULL for other samples. */
static void put_labels(page *out, const pawl__metrics_view *view, const pawl__metric_row *row,
                       size_t index, const int64_t *bound)
{
    bool has_labels = false;
    if (view->owner != NULL)
        put_label(out, &has_labels, view->owner, view->name);
    if (row->label != NULL)
        put_label(out, &has_labels, row->label[0], pawl_text_of(row->label[index + 1]));
    if (bound != NULL) {
        put_string(out, has_labels ? ",le=\"" : "{le=\"");
        if (*bound == INT64_MAX)
            put_string(out, "+Inf");
        else
            put_seconds(out, *bound);
        put_string(out, "\"");
        has_labels = true;
    }
    put_string(out, has_labels ? "} " : " ");
}

static void put_histogram(page *out, const pawl__metrics_view *view, const pawl__metric_row *row)
{
    int64_t count = 0;
    for (size_t i = 0; i < PAWL__BUCKET_COUNT; i++) {
        int64_t bound = i < PAWL__BUCKET_COUNT - 1 ? pawl__bucket_bounds[i] : INT64_MAX;
        count += view->values[row->slot + i];
        put_string(out, row->name);
        put_string(out, "_bucket");
        put_labels(out, view, row, 0, &bound);
        put_count(out, count);
        put_string(out, "\n");
    }
    put_string(out, row->name);
    put_string(out, "_sum");
    put_labels(out, view, row, 0, NULL);
    put_seconds(out, view->values[row->slot + PAWL__BUCKET_COUNT]);
    put_string(out, "\n");
    put_string(out, row->name);
    put_string(out, "_count");
    put_labels(out, view, row, 0, NULL);
    put_count(out, count);
    put_string(out, "\n");
}

static void put_samples(page *out, const pawl__metrics_view *view, const pawl__metric_row *row)
{
    if (row->type == PAWL__HISTOGRAM) {
        put_histogram(out, view, row);
        return;
    }
    for (size_t i = 0; i < row->slot_count; i++) {
        int64_t value = view->values[row->slot + i];
        put_string(out, row->name);
        put_labels(out, view, row, i, NULL);
        if (pawl__metric_is_seconds(row))
            put_seconds(out, value);
        else
            put_count(out, value);
        put_string(out, "\n");
    }
}

static void put_head(page *out, const pawl__metric_row *row)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    put_string(out, "# HELP ");
    put_string(out, row->name);
    put_string(out, " ");
    put_escaped(out, pawl_text_of(row->help), false);
    put_string(out, "\n# TYPE ");
    put_string(out, row->name);
    put_string(out, " ");
    put_string(out, types[row->type]);
    put_string(out, "\n");
}

pawl_code pawl__metrics_text(const pawl__metrics_view *views, size_t count, pawl_arena *arena,
                             pawl_text *text)
{
    page out = {.size = 0};
    for (size_t i = 0; i < PAWL__METRIC_COUNT; i++) {
        const pawl__metric_row *row      = &pawl__metric_rows[i];
        bool                    has_head = false;
        for (size_t j = 0; j < count; j++) {
            if (!pawl__metrics_has(&views[j], row))
                continue;
            if (!has_head)
                put_head(&out, row);
            has_head = true;
            put_samples(&out, &views[j], row);
        }
    }
    *text = out.has_failed
                ? (pawl_text){0}
                : pawl_arena_text(arena, (pawl_text){.data = out.data, .size = out.size});
    pawl_free(out.data);
    return text->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}
