/* otlp.c - OTLP in JSON: the names of the protocol's fields in camel case, ids in
 * hex, numbers of 64 bits as text, as its specification says.
 *
 *     resourceSpans   [ resource, scopeSpans   [ scope, spans   [ ... ] ] ]
 *     resourceMetrics [ resource, scopeMetrics [ scope, metrics [ ... ] ] ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/otlp.h"

#include "pawl/pawl.h"
#include "record/record_internal.h"

#include <inttypes.h>
#include <stdio.h>

#define KIND_CLIENT 3 /* a call to another service that answers */
#define STATUS_ERROR 2
#define CUMULATIVE 2

/* The document that is written; without memory for a value `has_failed` is set. */
typedef struct writer {
    yyjson_mut_doc *doc;
    bool            has_failed;
} writer;

static void keep(writer *out, bool is_ok)
{
    out->has_failed |= !is_ok;
}

static yyjson_mut_val *kept(writer *out, yyjson_mut_val *value)
{
    out->has_failed |= value == NULL;
    return value;
}

static yyjson_mut_val *add_object(writer *out, yyjson_mut_val *parent, const char *key)
{
    return kept(out, yyjson_mut_obj_add_obj(out->doc, parent, key));
}

static yyjson_mut_val *add_array(writer *out, yyjson_mut_val *parent, const char *key)
{
    return kept(out, yyjson_mut_obj_add_arr(out->doc, parent, key));
}

static yyjson_mut_val *append_object(writer *out, yyjson_mut_val *array)
{
    return kept(out, yyjson_mut_arr_add_obj(out->doc, array));
}

static void add_text(writer *out, yyjson_mut_val *object, const char *key, const char *text)
{
    keep(out, yyjson_mut_obj_add_strcpy(out->doc, object, key, text));
}

static void add_int(writer *out, yyjson_mut_val *object, const char *key, int value)
{
    keep(out, yyjson_mut_obj_add_int(out->doc, object, key, value));
}

static void format_number(int64_t value, char text[32])
{
    snprintf(text, 32, "%" PRId64, value);
}

static void add_number(writer *out, yyjson_mut_val *object, const char *key, int64_t value)
{
    char text[32];
    format_number(value, text);
    add_text(out, object, key, text);
}

/* Adds a time; times before 1970, which a machine's clock does not show, as 0. */
static void add_nanoseconds(writer *out, yyjson_mut_val *object, const char *key, pawl_time time)
{
    char text[40];
    snprintf(text, sizeof text, "%" PRId64 "000", time > 0 ? time : 0);
    add_text(out, object, key, time > 0 ? text : "0");
}

static yyjson_mut_val *add_attribute(writer *out, yyjson_mut_val *list, const char *key)
{
    yyjson_mut_val *attribute = append_object(out, list);
    add_text(out, attribute, "key", key);
    return add_object(out, attribute, "value");
}

static void add_text_attribute(writer *out, yyjson_mut_val *list, const char *key,
                               const char *value)
{
    add_text(out, add_attribute(out, list, key), "stringValue", value);
}

/* Opens the nested arrays of the protocol and returns the innermost, for the items. */
static yyjson_mut_val *begin(writer *out, const pawl__otlp_source *source, const char *resources,
                             const char *scopes, const char *items)
{
    yyjson_mut_val *root = kept(out, yyjson_mut_obj(out->doc));
    yyjson_mut_doc_set_root(out->doc, root);
    yyjson_mut_val *resource = append_object(out, add_array(out, root, resources));
    yyjson_mut_val *attributes =
        add_array(out, add_object(out, resource, "resource"), "attributes");
    add_text_attribute(out, attributes, "service.name", source->service_name);
    add_text_attribute(out, attributes, "service.instance.id", source->instance);
    yyjson_mut_val *scope = append_object(out, add_array(out, resource, scopes));
    yyjson_mut_val *named = add_object(out, scope, "scope");
    add_text(out, named, "name", "pawl");
    add_text(out, named, "version", pawl_version());
    return add_array(out, scope, items);
}

static pawl_code end(writer *out, const yyjson_alc *memory, pawl_text *json)
{
    size_t size = 0;
    char  *text = out->has_failed
                      ? NULL
                      : yyjson_mut_write_opts(out->doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, memory,
                                              &size, NULL);
    *json       = (pawl_text){.data = text, .size = size};
    return text != NULL ? PAWL_OK : PAWL_ENOMEM;
}

/* ---- Traces ---------------------------------------------------------------- */

static void add_span(writer *out, yyjson_mut_val *list, const pawl__span *span)
{
    char            text[PAWL_UUID_TEXT_SIZE + 1];
    yyjson_mut_val *object = append_object(out, list);
    pawl__trace_hex(span->trace.trace_id, sizeof span->trace.trace_id, text);
    add_text(out, object, "traceId", text);
    pawl__trace_hex(span->trace.span_id, sizeof span->trace.span_id, text);
    add_text(out, object, "spanId", text);
    if (span->has_parent) {
        pawl__trace_hex(span->parent, sizeof span->parent, text);
        add_text(out, object, "parentSpanId", text);
    }
    add_int(out, object, "flags", span->trace.flags);
    add_text(out, object, "name", "pawl.outbox.dispatch");
    add_int(out, object, "kind", KIND_CLIENT);
    add_nanoseconds(out, object, "startTimeUnixNano", span->begin);
    add_nanoseconds(out, object, "endTimeUnixNano", span->end);
    const char     *outcome    = pawl__outcome_names[span->outcome + 1];
    yyjson_mut_val *attributes = add_array(out, object, "attributes");
    pawl_uuid_format(span->dispatch_id.uuid, text);
    add_text_attribute(out, attributes, "pawl.dispatch_id", text);
    add_text_attribute(out, attributes, "pawl.endpoint", span->endpoint);
    add_text_attribute(out, attributes, "pawl.outcome", outcome);
    add_number(out, add_attribute(out, attributes, "pawl.attempt"), "intValue", span->attempt);
    add_text_attribute(out, attributes, "pawl.message.type", span->message_type);
    add_text_attribute(out, attributes, "messaging.system", "pawl");
    add_text_attribute(out, attributes, "messaging.operation.type", "send");
    add_text_attribute(out, attributes, "messaging.operation.name", "dispatch");
    add_text_attribute(out, attributes, "messaging.destination.name", span->destination);
    add_text_attribute(out, attributes, "messaging.message.id", span->message_id);
    yyjson_mut_val *status = add_object(out, object, "status");
    if (span->outcome == PAWL_ATTEMPT_SUCCESS)
        return;
    add_text_attribute(out, attributes, "error.type", outcome);
    add_int(out, status, "code", STATUS_ERROR);
}

pawl_code pawl__otlp_traces(const pawl__otlp_source *source, const pawl__span *spans, size_t count,
                            pawl_arena *arena, pawl_text *json)
{
    yyjson_alc memory = pawl__json_allocator(arena);
    writer     out    = {.doc = yyjson_mut_doc_new(&memory)};
    if (out.doc == NULL)
        return PAWL_ENOMEM;
    yyjson_mut_val *list = begin(&out, source, "resourceSpans", "scopeSpans", "spans");
    for (size_t i = 0; i < count && !out.has_failed; i++)
        add_span(&out, list, &spans[i]);
    return end(&out, &memory, json);
}

/* ---- Metrics --------------------------------------------------------------- */

/* Times of one export of metrics. */
typedef struct times {
    pawl_time start, now;
} times;

static yyjson_mut_val *add_point(writer *out, yyjson_mut_val *points, const times *of,
                                 const pawl__metrics_view *view, const pawl__metric_row *row,
                                 size_t index)
{
    yyjson_mut_val *point      = append_object(out, points);
    yyjson_mut_val *attributes = add_array(out, point, "attributes");
    if (view->owner != NULL)
        add_text_attribute(out, attributes, view->owner, view->name.data);
    if (row->label != NULL)
        add_text_attribute(out, attributes, row->label[0], row->label[index + 1]);
    /* A store's counters are older than the process: counted from its start they would be taken for
     * new at each start. */
    if (row->type != PAWL__GAUGE && row->scope != PAWL__OF_STORE)
        add_nanoseconds(out, point, "startTimeUnixNano", of->start);
    add_nanoseconds(out, point, "timeUnixNano", of->now);
    return point;
}

static void add_seconds(writer *out, yyjson_mut_val *object, const char *key, int64_t microseconds)
{
    keep(out, yyjson_mut_obj_add_real(out->doc, object, key, (double)microseconds / 1e6));
}

static void add_numbers(writer *out, yyjson_mut_val *points, const times *of,
                        const pawl__metrics_view *view, const pawl__metric_row *row)
{
    for (size_t i = 0; i < row->slot_count; i++) {
        yyjson_mut_val *point = add_point(out, points, of, view, row, i);
        int64_t         value = view->values[row->slot + i];
        if (pawl__metric_is_seconds(row))
            add_seconds(out, point, "asDouble", value);
        else
            add_number(out, point, "asInt", value);
    }
}

static void add_buckets(writer *out, yyjson_mut_val *points, const times *of,
                        const pawl__metrics_view *view, const pawl__metric_row *row)
{
    yyjson_mut_val *point  = add_point(out, points, of, view, row, 0);
    yyjson_mut_val *counts = add_array(out, point, "bucketCounts");
    yyjson_mut_val *bounds = add_array(out, point, "explicitBounds");
    int64_t         sum    = 0;
    for (size_t i = 0; i < PAWL__BUCKET_COUNT; i++) {
        char    text[32];
        int64_t count = view->values[row->slot + i];
        sum += count;
        format_number(count, text);
        keep(out, yyjson_mut_arr_add_strcpy(out->doc, counts, text));
        if (i < PAWL__BUCKET_COUNT - 1)
            keep(out,
                 yyjson_mut_arr_add_real(out->doc, bounds, (double)pawl__bucket_bounds[i] / 1e6));
    }
    add_number(out, point, "count", sum);
    add_seconds(out, point, "sum", view->values[row->slot + PAWL__BUCKET_COUNT]);
}

static yyjson_mut_val *add_metric(writer *out, yyjson_mut_val *list, const pawl__metric_row *row)
{
    static const char *const kinds[] = {"sum", "gauge", "histogram"};
    yyjson_mut_val          *metric  = append_object(out, list);
    add_text(out, metric, "name", row->otlp_name);
    add_text(out, metric, "description", row->help);
    add_text(out, metric, "unit", row->otlp_unit);
    yyjson_mut_val *kind = add_object(out, metric, kinds[row->type]);
    if (row->type != PAWL__GAUGE)
        add_int(out, kind, "aggregationTemporality", CUMULATIVE);
    if (row->type == PAWL__COUNTER)
        keep(out, yyjson_mut_obj_add_bool(out->doc, kind, "isMonotonic", true));
    return add_array(out, kind, "dataPoints");
}

pawl_code pawl__otlp_metrics(const pawl__otlp_source *source, const pawl__metrics_view *views,
                             size_t count, pawl_time now, pawl_arena *arena, pawl_text *json)
{
    yyjson_alc memory = pawl__json_allocator(arena);
    writer     out    = {.doc = yyjson_mut_doc_new(&memory)};
    times      of     = {source->start, now};
    if (out.doc == NULL)
        return PAWL_ENOMEM;
    yyjson_mut_val *list = begin(&out, source, "resourceMetrics", "scopeMetrics", "metrics");
    for (size_t i = 0; i < PAWL__METRIC_COUNT && !out.has_failed; i++) {
        const pawl__metric_row *row    = &pawl__metric_rows[i];
        yyjson_mut_val         *points = NULL;
        for (size_t j = 0; j < count && !out.has_failed; j++) {
            if (!pawl__metrics_has(&views[j], row))
                continue;
            if (points == NULL)
                points = add_metric(&out, list, row);
            if (row->type == PAWL__HISTOGRAM)
                add_buckets(&out, points, &of, &views[j], row);
            else
                add_numbers(&out, points, &of, &views[j], row);
        }
    }
    return end(&out, &memory, json);
}
