/* test_runtime_observe_export.c - exports that an observer gives a module to send, and their
 * results. O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/observed.h"

#include "engine/headers.h"
#include "runtime/operate/observe/observe.h"

#include <yyjson.h>

static const pawl_observe_options sent = {.otlp = "http://127.0.0.1:4318//", .span_count = 4};

/* ---- Traces ------------------------------------------------------------------------------ */

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"

static void post_traced(observed *p, const char *traceparent)
{
    pawl_header       list[]  = {{"traceparent", traceparent}, {NULL, NULL}};
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(&p->it), .headers = list};
    test_send(p->it.sender, "left", &options, PAWL_MESSAGE(call, .number = 1));
    world_drain(&p->it);
}

/* The next export of traces: its spans, or NULL. The document is leaked to the arena's
 * end by the caller's yyjson_doc_free. */
static yyjson_doc *next_spans(observed *p, yyjson_val **spans)
{
    pawl_text body;
    *spans = NULL;
    if (!observed_plan->source.next(observed_plan->source.context, PAWL_OBSERVE_TRACES, p->it.arena,
                                    &body))
        return NULL;
    yyjson_doc *doc = yyjson_read(body.data, body.size, 0);
    *spans = yyjson_ptr_get(yyjson_doc_get_root(doc), "/resourceSpans/0/scopeSpans/0/spans");
    assert_non_null(*spans);
    return doc;
}

static void done_with(pawl_observe_signal signal, pawl_observe_outcome outcome, const char *why,
                      const char *answer)
{
    pawl_observe_result result = {outcome, why, pawl_text_of(answer)};
    observed_plan->source.done(observed_plan->source.context, signal, &result);
}

static void done(pawl_observe_outcome outcome)
{
    done_with(PAWL_OBSERVE_TRACES, outcome, "said so", "");
}

static const char *text_at(yyjson_val *spans, const char *pointer)
{
    return yyjson_get_str(yyjson_ptr_get(spans, pointer));
}

/* The dispatch lies in the trace of the message that caused it; its parent is the
 * span that stands in the row's own header. */
ON_MODULE_AND_STORES(o23_a_dispatch_is_a_span_of_its_trace, const char *url)
{
    yyjson_val *spans;
    observed   *p = observed_open(url, sent, (pawl_endpoint_options){0});
    assert_string_equal(observed_plan->otlp, "http://127.0.0.1:4318");
    assert_null(next_spans(p, &spans));
    post_traced(p, "00-" TRACE "-" SPAN "-01");
    pawl_outbox_row row    = world_outbox(&p->it, PAWL_OUTBOX_DISPATCHED).items[0];
    pawl_text       header = {0};
    assert_int_equal(
        pawl__headers_value(row.message.headers, PAWL_TEXT("traceparent"), p->it.arena, &header),
        PAWL_OK);
    yyjson_doc *doc = next_spans(p, &spans);
    assert_int_equal(yyjson_arr_size(spans), 1);
    assert_string_equal(text_at(spans, "/0/traceId"), TRACE);
    assert_string_not_equal(text_at(spans, "/0/parentSpanId"), SPAN);
    assert_memory_equal(text_at(spans, "/0/parentSpanId"), header.data + 36, 16);
    assert_string_not_equal(text_at(spans, "/0/spanId"), text_at(spans, "/0/parentSpanId"));
    char id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(row.dispatch_id.uuid, id);
    assert_string_equal(text_at(spans, "/0/attributes/0/key"), "pawl.dispatch_id");
    assert_string_equal(text_at(spans, "/0/attributes/0/value/stringValue"), id);
    yyjson_doc_free(doc);
    done(PAWL_OBSERVE_ACCEPTED);
    assert_null(next_spans(p, &spans));
    assert_true(exposition_value(observed_metrics(p), "pawl_spans_exported_total") == 1);
}

ON_MODULE_AND_STORES(o23_what_is_not_sampled_makes_no_span, const char *url)
{
    yyjson_val *spans;
    observed   *p = observed_open(url, sent, (pawl_endpoint_options){0});
    post_traced(p, "00-" TRACE "-" SPAN "-00");
    assert_null(next_spans(p, &spans));
}

/* Without a trace of the message, or with one that cannot be read, the dispatch id
 * is the trace's: all attempts lie in it. */
ON_MODULE_AND_STORES(o23_a_dispatch_without_trace_begins_one, const char *url)
{
    yyjson_val *spans;
    char        id[PAWL_UUID_TEXT_SIZE + 1], trace[33];
    world_quiet();
    observed *p       = observed_open(url, sent, (pawl_endpoint_options){0});
    observed_failures = 1;
    post_traced(p, "00-nonsense-" SPAN "-01");
    world_go_both(&p->it, PAWL_HOURS(1));
    pawl_outbox_row row = world_outbox(&p->it, PAWL_OUTBOX_DISPATCHED).items[0];
    pawl__trace_hex(row.dispatch_id.uuid.bytes, 16, trace);
    pawl_uuid_format(row.dispatch_id.uuid, id);
    yyjson_doc *doc = next_spans(p, &spans);
    assert_int_equal(yyjson_arr_size(spans), 2);
    for (int i = 0; i < 2; i++) {
        yyjson_val *span = yyjson_arr_get(spans, (size_t)i);
        assert_string_equal(text_at(span, "/traceId"), trace);
        assert_null(yyjson_ptr_get(span, "/parentSpanId"));
    }
    assert_string_not_equal(text_at(spans, "/0/spanId"), text_at(spans, "/1/spanId"));
    assert_string_equal(text_at(spans, "/0/attributes/2/value/stringValue"), "transient");
    assert_string_equal(text_at(spans, "/1/attributes/2/value/stringValue"), "success");
    yyjson_doc_free(doc);
    done(PAWL_OBSERVE_REFUSED);
    assert_true(exposition_value(observed_metrics(p), "pawl_spans_dropped_total") == 2);
}

/* ---- A collector that does not take them ----------------------------------------------- */

static size_t count_spans(observed *p)
{
    yyjson_val *spans;
    yyjson_doc *doc   = next_spans(p, &spans);
    size_t      count = yyjson_arr_size(spans);
    yyjson_doc_free(doc);
    return count;
}

static double value_of(observed *p, const char *series)
{
    return exposition_value(observed_metrics(p), series);
}

/* Half of the places and one: the module is woken, once. */
ON_MODULE_AND_STORES(o23_spans_wait_for_the_collector_and_are_dropped_in_the_end, const char *url)
{
    world_quiet();
    observed *p = observed_open(url, sent, (pawl_endpoint_options){0});
    assert_int_equal(observed_send(p, 4).sent, 4);
    assert_int_equal(observed_wakes, 1);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(count_spans(p), 4);
        done(PAWL_OBSERVE_AGAIN);
    }
    assert_int_equal(count_spans(p), 0);
    assert_true(value_of(p, "pawl_spans_dropped_total") == 4);
    assert_true(value_of(p, "pawl_spans_exported_total") == 0);
    assert_true(value_of(p, "pawl_export_failures_total{signal=\"traces\"}") == 6);
    assert_true(value_of(p, "pawl_export_failures_total{signal=\"metrics\"}") == 0);
    observed_send(p, 1);
    for (int i = 0; i < 5; i++) { /* the count of tries began anew */
        assert_int_equal(count_spans(p), 1);
        done(PAWL_OBSERVE_AGAIN);
    }
    assert_int_equal(count_spans(p), 1);
    done(PAWL_OBSERVE_ACCEPTED);
    assert_true(value_of(p, "pawl_spans_dropped_total") == 4);
}

/* Spans that came after the first tries have as many left as any other. */
ON_MODULE(o23_spans_are_tried_as_often_as_each_other, const char *url, "memory")
{
    static const size_t waiting[] = {1, 1, 1, 1, 3, 3, 2, 2, 2, 2, 0};
    world_quiet();
    observed *p = observed_open(url, sent, (pawl_endpoint_options){0});
    for (size_t i = 0; i < sizeof waiting / sizeof waiting[0]; i++) {
        if (i == 0 || i == 4)
            observed_send(p, i == 0 ? 1 : 2);
        assert_int_equal(count_spans(p), waiting[i]);
        done(PAWL_OBSERVE_AGAIN);
    }
    assert_true(value_of(p, "pawl_spans_dropped_total") == 3);
}

/* The next spans are those of these outbox rows, numbered from 0 as they were sent. */
static void assert_spans_of(observed *p, const size_t *numbers, size_t count)
{
    yyjson_val      *spans;
    pawl_outbox_rows rows = world_outbox(&p->it, PAWL_OUTBOX_DISPATCHED);
    yyjson_doc      *doc  = next_spans(p, &spans);
    assert_int_equal(yyjson_arr_size(spans), count);
    for (size_t i = 0; i < count; i++) {
        char id[PAWL_UUID_TEXT_SIZE + 1];
        pawl_uuid_format(rows.items[numbers[i]].dispatch_id.uuid, id);
        assert_string_equal(text_at(yyjson_arr_get(spans, i), "/attributes/0/value/stringValue"),
                            id);
    }
    yyjson_doc_free(doc);
}

/* Six spans, four places: the oldest two are lost. Of those in hand none is. */
ON_MODULE_AND_STORES(o23_the_oldest_spans_give_way, const char *url)
{
    world_quiet();
    observed *p = observed_open(url, sent, (pawl_endpoint_options){0});
    assert_int_equal(observed_send(p, 6).sent, 6); /* delivery does not care */
    assert_true(value_of(p, "pawl_spans_dropped_total") == 2);
    assert_spans_of(p, (size_t[]){2, 3}, 2); /* up to the end of the ring */
    observed_send(p, 1);
    assert_true(value_of(p, "pawl_spans_dropped_total") == 3);
    done(PAWL_OBSERVE_AGAIN);
    assert_spans_of(p, (size_t[]){2, 3}, 2);
    done(PAWL_OBSERVE_AGAIN);
    observed_send(p, 1); /* none is in hand: the oldest gives way */
    assert_true(value_of(p, "pawl_spans_dropped_total") == 4);
    assert_spans_of(p, (size_t[]){3}, 1);
    done(PAWL_OBSERVE_ACCEPTED);
    assert_spans_of(p, (size_t[]){4, 5, 7}, 3);
    done(PAWL_OBSERVE_ACCEPTED);
    assert_true(value_of(p, "pawl_spans_exported_total") == 4);
}

static world_log said;

static void keep_line(pawl_log_level level, const char *text, void *context)
{
    world_note(&said, "%s", text);
}

static void listen_to_log(void)
{
    world_forget(&said);
    pawl_log_set(keep_line, PAWL_LOG_INFO, NULL);
}

static void assert_said(const char *expected)
{
    assert_string_equal(said.text, expected);
    world_forget(&said);
}

/* Each way to fail is said once, with the URL and the answer; signals are apart. */
ON_MODULE(o23_a_collector_that_does_not_take_them_is_named, const char *url, "memory")
{
    static const char    refused[] = "{\"code\":3,\"message\":\"no tenant\"}";
    pawl_observe_options secret    = sent;
    secret.otlp                    = "http://shop:secret@far:4318";
    observed *p                    = observed_open(url, secret, (pawl_endpoint_options){0});
    listen_to_log();
    for (int i = 0; i < 2; i++)
        done_with(PAWL_OBSERVE_METRICS, PAWL_OBSERVE_REFUSED, "status 400", refused);
    assert_said("the collector refuses metrics: http://***@far:4318/v1/metrics: status 400: "
                "no tenant ");
    done_with(PAWL_OBSERVE_METRICS, PAWL_OBSERVE_AGAIN, "status 502", "<h1>bad\ngateway</h1>");
    assert_said("the collector does not take metrics: http://***@far:4318/v1/metrics: "
                "status 502: <h1>bad gateway</h1> ");
    observed_send(p, 1);
    assert_int_equal(count_spans(p), 1);
    done_with(PAWL_OBSERVE_TRACES, PAWL_OBSERVE_REFUSED, "status 404", "");
    assert_said("the collector refuses traces: http://***@far:4318/v1/traces: status 404 ");
    done_with(PAWL_OBSERVE_METRICS, PAWL_OBSERVE_ACCEPTED, "status 200", "{}");
    done_with(PAWL_OBSERVE_METRICS, PAWL_OBSERVE_ACCEPTED, "status 200", "");
    assert_said("the collector takes metrics again ");
    assert_true(value_of(p, "pawl_export_failures_total{signal=\"metrics\"}") == 3);
    assert_true(value_of(p, "pawl_spans_dropped_total") == 1);
    world_quiet();
}

#define REJECTS(what, count) \
    "{\"partialSuccess\":{\"" what "\":\"" count "\",\"errorMessage\":\"too old\"}}"

/* Rejected spans are not sent again: the collector has the others. */
ON_MODULE(o23_what_a_collector_rejects_is_counted_and_said_now_and_then, const char *url, "memory")
{
    observed *p = observed_open(url, sent, (pawl_endpoint_options){0});
    observed_send(p, 4);
    listen_to_log();
    assert_int_equal(count_spans(p), 4);
    done_with(PAWL_OBSERVE_TRACES, PAWL_OBSERVE_ACCEPTED, "status 200",
              REJECTS("rejectedSpans", "3"));
    assert_int_equal(count_spans(p), 0);
    assert_said("the collector rejected 3 spans of late: http://127.0.0.1:4318/v1/traces: "
                "status 200: too old ");
    assert_true(value_of(p, "pawl_spans_exported_total") == 1);
    assert_true(value_of(p, "pawl_spans_dropped_total") == 3);
    for (int i = 0; i < 2; i++) { /* more than there were cannot be lost */
        observed_send(p, 1);
        assert_int_equal(count_spans(p), 1);
        if (i == 1)
            p->it.endpoint->observer->exports[PAWL_OBSERVE_TRACES].due = 0;
        done_with(PAWL_OBSERVE_TRACES, PAWL_OBSERVE_ACCEPTED, "status 200",
                  REJECTS("rejectedSpans", "5"));
    }
    assert_said("the collector rejected 10 spans of late: http://127.0.0.1:4318/v1/traces: "
                "status 200: too old ");
    done_with(PAWL_OBSERVE_METRICS, PAWL_OBSERVE_ACCEPTED, "status 200",
              REJECTS("rejectedDataPoints", "7"));
    assert_said("the collector rejected 7 data points of late: http://127.0.0.1:4318/v1/metrics: "
                "status 200: too old ");
    assert_true(value_of(p, "pawl_spans_exported_total") == 1);
    assert_true(value_of(p, "pawl_spans_dropped_total") == 5);
    assert_true(value_of(p, "pawl_export_rejected_total{signal=\"traces\"}") == 13);
    assert_true(value_of(p, "pawl_export_rejected_total{signal=\"metrics\"}") == 7);
    assert_true(value_of(p, "pawl_export_failures_total{signal=\"traces\"}") == 0);
    world_quiet();
}

/* The module stops without sending, as in a pause that the collector asked for. */
ON_MODULE(o23_spans_that_were_not_sent_are_said_at_the_end, const char *url, "memory")
{
    observed *p = observed_open(url, sent, (pawl_endpoint_options){0});
    observed_send(p, 3);
    listen_to_log();
    test_now(p);
    world_quiet();
    assert_said("3 spans were not sent: the collector did not take them ");
}
