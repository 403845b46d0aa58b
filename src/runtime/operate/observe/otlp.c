/* otlp.c - OTLP in JSON: the names of the protocol's fields in camel case, ids in
 * hex, numbers of 64 bits as text, as its specification says.
 *
 *     resourceSpans   [ resource, scopeSpans   [ scope, spans   [ ... ] ] ]
 *     resourceMetrics [ resource, scopeMetrics [ scope, metrics [ ... ] ] ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"

#include "base/arena.h"
#include "pawl/pawl.h"
#include "record/record_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define KIND_CLIENT 3 /* a call to another service, with an answer */
#define STATUS_ERROR 2
#define CUMULATIVE 2

/* Without memory yyjson's values are NULL, which its functions accept. Whether memory was missing is checked at the end
 * of the document. */
static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const char *text)
{
    (void)yyjson_mut_obj_add_strcpy(doc, object, key, text);
}

static void format_number(int64_t value, char text[32])
{
    snprintf(text, 32, "%" PRId64, value);
}

static void add_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, int64_t value)
{
    char text[32];
    format_number(value, text);
    add_text(doc, object, key, text);
}

/* Adds a time; times before 1970, which a machine's clock does not show, as 0. */
static void add_nanoseconds(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                            pawl_time time)
{
    char text[40];
    snprintf(text, sizeof text, "%" PRId64 "000", time > 0 ? time : 0);
    add_text(doc, object, key, time > 0 ? text : "0");
}

static yyjson_mut_val *add_attribute(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *key)
{
    yyjson_mut_val *attribute = yyjson_mut_arr_add_obj(doc, list);
    add_text(doc, attribute, "key", key);
    return yyjson_mut_obj_add_obj(doc, attribute, "value");
}

static void add_text_attribute(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *key,
                               const char *value)
{
    add_text(doc, add_attribute(doc, list, key), "stringValue", value);
}

/* Opens the nested arrays of the protocol and returns the innermost, for the items. */
static yyjson_mut_val *begin(yyjson_mut_doc *doc, const pawl__otlp_source *source,
                             const char *resources, const char *scopes, const char *items)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_val *resource =
        yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, root, resources));
    yyjson_mut_val *attributes = yyjson_mut_obj_add_arr(
        doc, yyjson_mut_obj_add_obj(doc, resource, "resource"), "attributes");
    add_text_attribute(doc, attributes, "service.name", source->service_name);
    add_text_attribute(doc, attributes, "service.instance.id", source->instance);
    yyjson_mut_val *scope =
        yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, resource, scopes));
    yyjson_mut_val *named = yyjson_mut_obj_add_obj(doc, scope, "scope");
    add_text(doc, named, "name", "pawl");
    add_text(doc, named, "version", pawl_version());
    return yyjson_mut_obj_add_arr(doc, scope, items);
}

static pawl_code end(const yyjson_mut_doc *doc, pawl_arena *arena, pawl_text *json)
{
    const yyjson_alc memory = pawl__json_allocator(arena);
    size_t           size   = 0;
    char            *text =
        yyjson_mut_write_opts(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &memory, &size, NULL);
    *json = (pawl_text){.data = text, .size = size};
    return text != NULL && !pawl__arena_is_short(arena) ? PAWL_OK : PAWL_ENOMEM;
}

/* ---- Traces ---------------------------------------------------------------- */

static void add_span(yyjson_mut_doc *doc, yyjson_mut_val *list, const pawl__span *span)
{
    char            text[PAWL_UUID_TEXT_SIZE + 1];
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
    pawl__trace_hex(span->trace.trace_id, sizeof span->trace.trace_id, text);
    add_text(doc, object, "traceId", text);
    pawl__trace_hex(span->trace.span_id, sizeof span->trace.span_id, text);
    add_text(doc, object, "spanId", text);
    if (span->has_parent) {
        pawl__trace_hex(span->parent, sizeof span->parent, text);
        add_text(doc, object, "parentSpanId", text);
    }
    yyjson_mut_obj_add_int(doc, object, "flags", span->trace.flags);
    add_text(doc, object, "name", "pawl.outbox.dispatch");
    yyjson_mut_obj_add_int(doc, object, "kind", KIND_CLIENT);
    add_nanoseconds(doc, object, "startTimeUnixNano", span->begin);
    add_nanoseconds(doc, object, "endTimeUnixNano", span->end);
    const char     *outcome    = pawl__outcome_names[span->outcome + 1];
    yyjson_mut_val *attributes = yyjson_mut_obj_add_arr(doc, object, "attributes");
    pawl_uuid_format(span->dispatch_id.uuid, text);
    add_text_attribute(doc, attributes, "pawl.dispatch_id", text);
    add_text_attribute(doc, attributes, "pawl.endpoint", span->endpoint);
    add_text_attribute(doc, attributes, "pawl.outcome", outcome);
    add_number(doc, add_attribute(doc, attributes, "pawl.attempt"), "intValue", span->attempt);
    add_text_attribute(doc, attributes, "pawl.message.type", span->message_type);
    add_text_attribute(doc, attributes, "messaging.system", "pawl");
    add_text_attribute(doc, attributes, "messaging.operation.type", "send");
    add_text_attribute(doc, attributes, "messaging.operation.name", "dispatch");
    add_text_attribute(doc, attributes, "messaging.destination.name", span->destination);
    add_text_attribute(doc, attributes, "messaging.message.id", span->message_id);
    yyjson_mut_val *status = yyjson_mut_obj_add_obj(doc, object, "status");
    if (span->outcome == PAWL_ATTEMPT_SUCCESS)
        return;
    add_text_attribute(doc, attributes, "error.type", outcome);
    yyjson_mut_obj_add_int(doc, status, "code", STATUS_ERROR);
}

pawl_code pawl__otlp_traces(const pawl__otlp_source *source, const pawl__span *spans, size_t count,
                            pawl_arena *arena, pawl_text *json)
{
    yyjson_alc      memory = pawl__json_allocator(arena);
    yyjson_mut_doc *doc    = yyjson_mut_doc_new(&memory);
    if (doc == NULL)
        return PAWL_ENOMEM;
    yyjson_mut_val *list = begin(doc, source, "resourceSpans", "scopeSpans", "spans");
    for (size_t i = 0; i < count; i++)
        add_span(doc, list, &spans[i]);
    return end(doc, arena, json);
}

/* ---- Metrics --------------------------------------------------------------- */

/* Times of one export of metrics. */
typedef struct times {
    pawl_time start, now;
} times;

static yyjson_mut_val *add_point(yyjson_mut_doc *doc, yyjson_mut_val *points, const times *of,
                                 const pawl__metrics_view *view, const pawl__metric_row *row,
                                 size_t index)
{
    yyjson_mut_val *point      = yyjson_mut_arr_add_obj(doc, points);
    yyjson_mut_val *attributes = yyjson_mut_obj_add_arr(doc, point, "attributes");
    if (view->owner != NULL)
        add_text_attribute(doc, attributes, view->owner, view->name.data);
    if (row->label != NULL)
        add_text_attribute(doc, attributes, row->label[0], row->label[index + 1]);
    /* A store's counters are older than the process. With the process's start as their start, they would be counted
     * again after each restart. */
    if (row->type != PAWL__GAUGE && row->scope != PAWL__OF_STORE)
        add_nanoseconds(doc, point, "startTimeUnixNano", of->start);
    add_nanoseconds(doc, point, "timeUnixNano", of->now);
    return point;
}

static void add_seconds(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                        int64_t microseconds)
{
    (void)yyjson_mut_obj_add_real(doc, object, key, (double)microseconds / 1e6);
}

static void add_numbers(yyjson_mut_doc *doc, yyjson_mut_val *points, const times *of,
                        const pawl__metrics_view *view, const pawl__metric_row *row)
{
    for (size_t i = 0; i < row->slot_count; i++) {
        yyjson_mut_val *point = add_point(doc, points, of, view, row, i);
        int64_t         value = view->values[row->slot + i];
        if (pawl__metric_is_seconds(row))
            add_seconds(doc, point, "asDouble", value);
        else
            add_number(doc, point, "asInt", value);
    }
}

static void add_buckets(yyjson_mut_doc *doc, yyjson_mut_val *points, const times *of,
                        const pawl__metrics_view *view, const pawl__metric_row *row)
{
    yyjson_mut_val *point  = add_point(doc, points, of, view, row, 0);
    yyjson_mut_val *counts = yyjson_mut_obj_add_arr(doc, point, "bucketCounts");
    yyjson_mut_val *bounds = yyjson_mut_obj_add_arr(doc, point, "explicitBounds");
    int64_t         sum    = 0;
    for (size_t i = 0; i < PAWL__BUCKET_COUNT; i++) {
        char    text[32];
        int64_t count = view->values[row->slot + i];
        sum += count;
        format_number(count, text);
        (void)yyjson_mut_arr_add_strcpy(doc, counts, text);
        if (i < PAWL__BUCKET_COUNT - 1)
            (void)yyjson_mut_arr_add_real(doc, bounds, (double)pawl__bucket_bounds[i] / 1e6);
    }
    add_number(doc, point, "count", sum);
    add_seconds(doc, point, "sum", view->values[row->slot + PAWL__BUCKET_COUNT]);
}

static yyjson_mut_val *add_metric(yyjson_mut_doc *doc, yyjson_mut_val *list,
                                  const pawl__metric_row *row)
{
    static const char *const kinds[] = {"sum", "gauge", "histogram"};
    yyjson_mut_val          *metric  = yyjson_mut_arr_add_obj(doc, list);
    add_text(doc, metric, "name", row->otlp_name);
    add_text(doc, metric, "description", row->help);
    add_text(doc, metric, "unit", row->otlp_unit);
    yyjson_mut_val *kind = yyjson_mut_obj_add_obj(doc, metric, kinds[row->type]);
    if (row->type != PAWL__GAUGE)
        yyjson_mut_obj_add_int(doc, kind, "aggregationTemporality", CUMULATIVE);
    if (row->type == PAWL__COUNTER)
        (void)yyjson_mut_obj_add_bool(doc, kind, "isMonotonic", true);
    return yyjson_mut_obj_add_arr(doc, kind, "dataPoints");
}

pawl_code pawl__otlp_metrics(const pawl__otlp_source *source, const pawl__metrics_view *views,
                             size_t count, pawl_time now, pawl_arena *arena, pawl_text *json)
{
    yyjson_alc      memory = pawl__json_allocator(arena);
    yyjson_mut_doc *doc    = yyjson_mut_doc_new(&memory);
    times           of     = {source->start, now};
    if (doc == NULL)
        return PAWL_ENOMEM;
    yyjson_mut_val *list = begin(doc, source, "resourceMetrics", "scopeMetrics", "metrics");
    for (size_t i = 0; i < PAWL__METRIC_COUNT; i++) {
        const pawl__metric_row *row    = &pawl__metric_rows[i];
        yyjson_mut_val         *points = NULL;
        for (size_t j = 0; j < count; j++) {
            if (!pawl__metrics_has(&views[j], row))
                continue;
            if (points == NULL)
                points = add_metric(doc, list, row);
            if (row->type == PAWL__HISTOGRAM)
                add_buckets(doc, points, &of, &views[j], row);
            else
                add_numbers(doc, points, &of, &views[j], row);
        }
    }
    return end(doc, arena, json);
}

/* ---- Answers of a collector ---------------------------------------------------- *
 *
 *     {"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}     with status 200
 *     {"code":3,"message":"no tenant"}                                      with others
 *
 * A proxy in front of it may answer anything. An unexpected answer is no error here, as the export is over. */

/* Reads the answer; NULL: no JSON, or no memory. */
static yyjson_val *read(pawl_text answer, pawl_arena *arena)
{
    yyjson_doc *doc = NULL;
    return pawl__json_read(answer, arena, &doc, NULL) == PAWL_OK ? yyjson_doc_get_root(doc) : NULL;
}

static pawl_text text_at(yyjson_val *object, const char *key)
{
    return pawl_text_of(yyjson_get_str(yyjson_obj_get(object, key)));
}

/* Reads a count: the protocol writes numbers of 64 bits as text, and allows plain numbers. */
static int64_t count_at(yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    double      count = yyjson_is_str(value) ? (double)strtoll(yyjson_get_str(value), NULL, 10)
                                             : yyjson_get_num(value);
    if (count < 0)
        return 0;
    return count < PAWL__REJECTED_MAX ? (int64_t)count : PAWL__REJECTED_MAX;
}

pawl__otlp_partial pawl__otlp_accepted(pawl_observe_signal signal, pawl_text answer,
                                       pawl_arena *arena)
{
    static const char *const counts[] = {"rejectedSpans", "rejectedDataPoints"};
    yyjson_val              *partial  = yyjson_obj_get(read(answer, arena), "partialSuccess");
    return (pawl__otlp_partial){count_at(partial, counts[signal]),
                                text_at(partial, "errorMessage")};
}

pawl_text pawl__otlp_refused(pawl_text answer, pawl_arena *arena)
{
    pawl_text message = text_at(read(answer, arena), "message");
    return message.size > 0 ? message : answer;
}
