/* test_otlp.c - the exports to a collector, field by field as the protocol names them. Contract
 * O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"
#include "support/tests.h"

#include <yyjson.h>

static const pawl__otlp_source source = {"shop", "instance-1", INT64_C(1767258000000000)};

typedef struct body {
    pawl_arena *arena;
    yyjson_doc *doc;
} body;

static yyjson_val *at(yyjson_val *value, const char *pointer)
{
    yyjson_val *found = yyjson_ptr_get(value, pointer);
    if (found == NULL)
        fail_msg("there is no %s", pointer);
    return found;
}

static void assert_text(yyjson_val *value, const char *pointer, const char *expected)
{
    assert_string_equal(yyjson_get_str(at(value, pointer)), expected);
}

/* The value of an attribute, whatever its type, as text; NULL: no such one. */
static const char *attribute(yyjson_val *object, const char *key)
{
    yyjson_val *item;
    size_t      index, count;
    yyjson_arr_foreach(at(object, "/attributes"), index, count, item)
    {
        if (strcmp(yyjson_get_str(at(item, "/key")), key) != 0)
            continue;
        yyjson_val *number = yyjson_ptr_get(item, "/value/intValue");
        return yyjson_get_str(number != NULL ? number : at(item, "/value/stringValue"));
    }
    return NULL;
}

static yyjson_val *open_body(body *it, pawl_text json)
{
    it->doc = yyjson_read(json.data, json.size, 0);
    assert_non_null(it->doc);
    return yyjson_doc_get_root(it->doc);
}

static void close_body(body *it)
{
    yyjson_doc_free(it->doc);
    pawl_arena_destroy(it->arena);
}

static pawl__span make_span(void)
{
    pawl__span span  = {.trace       = {.trace_id = {0x4b, [15] = 0x36}, .span_id = {[7] = 0xb7}},
                        .parent      = {1, [7] = 2},
                        .has_parent  = true,
                        .begin       = INT64_C(1767258000123456),
                        .end         = INT64_C(1767258000223456),
                        .dispatch_id = {{{0x87, [15] = 0x41}}},
                        .outcome     = PAWL_ATTEMPT_TRANSIENT,
                        .attempt     = 3};
    span.trace.flags = PAWL__TRACE_SAMPLED;
    strcpy(span.endpoint, "orders");
    strcpy(span.destination, "far \"away\"");
    strcpy(span.message_id, "m1");
    strcpy(span.message_type, "charge");
    return span;
}

TEST(o23_a_span_for_each_dispatch)
{
    pawl__span spans[2] = {make_span(), make_span()};
    body       it       = {.arena = pawl_arena_create(0)};
    pawl_text  json;
    spans[1].outcome    = PAWL_ATTEMPT_SUCCESS;
    spans[1].has_parent = false;
    assert_int_equal(pawl__otlp_traces(&source, spans, 2, it.arena, &json), PAWL_OK);
    yyjson_val *root = open_body(&it, json);
    assert_string_equal(attribute(at(root, "/resourceSpans/0/resource"), "service.name"), "shop");
    assert_string_equal(attribute(at(root, "/resourceSpans/0/resource"), "service.instance.id"),
                        "instance-1");
    assert_text(root, "/resourceSpans/0/scopeSpans/0/scope/name", "pawl");
    assert_int_equal(yyjson_arr_size(at(root, "/resourceSpans/0/scopeSpans/0/spans")), 2);
    yyjson_val *span = at(root, "/resourceSpans/0/scopeSpans/0/spans/0");
    assert_text(span, "/name", "pawl.outbox.dispatch");
    assert_text(span, "/traceId", "4b000000000000000000000000000036");
    assert_text(span, "/spanId", "00000000000000b7");
    assert_text(span, "/parentSpanId", "0100000000000002");
    assert_int_equal(yyjson_get_int(at(span, "/kind")), 3);
    assert_int_equal(yyjson_get_int(at(span, "/flags")), 1);
    assert_text(span, "/startTimeUnixNano", "1767258000123456000");
    assert_text(span, "/endTimeUnixNano", "1767258000223456000");
    assert_string_equal(attribute(span, "pawl.dispatch_id"),
                        "87000000-0000-0000-0000-000000000041");
    assert_string_equal(attribute(span, "pawl.endpoint"), "orders");
    assert_string_equal(attribute(span, "pawl.outcome"), "transient");
    assert_string_equal(attribute(span, "pawl.attempt"), "3");
    assert_string_equal(attribute(span, "pawl.message.type"), "charge");
    assert_string_equal(attribute(span, "messaging.destination.name"), "far \"away\"");
    assert_string_equal(attribute(span, "messaging.message.id"), "m1");
    assert_string_equal(attribute(span, "error.type"), "transient");
    assert_int_equal(yyjson_get_int(at(span, "/status/code")), 2);
    span = at(root, "/resourceSpans/0/scopeSpans/0/spans/1");
    assert_null(yyjson_ptr_get(span, "/parentSpanId"));
    assert_null(yyjson_ptr_get(span, "/status/code"));
    assert_null(attribute(span, "error.type"));
    close_body(&it);
}

static yyjson_val *metric(yyjson_val *root, const char *name)
{
    yyjson_val *item;
    size_t      index, count;
    yyjson_arr_foreach(at(root, "/resourceMetrics/0/scopeMetrics/0/metrics"), index, count, item)
    {
        if (strcmp(yyjson_get_str(at(item, "/name")), name) == 0)
            return item;
    }
    fail_msg("no metric %s", name);
    return NULL;
}

TEST(o23_metrics_for_a_collector)
{
    static pawl__metrics      metrics;
    static pawl__metrics_view views[3];
    body                      it = {.arena = pawl_arena_create(0)};
    pawl_text                 json;
    pawl__metric_add(&metrics, PAWL__METRIC_ATTEMPTS, PAWL_ATTEMPT_REJECTED, 5);
    pawl__metric_observe(&metrics, PAWL__METRIC_DISPATCH_DURATION, 1500);
    pawl__metric_set(&metrics, PAWL__METRIC_OUTBOX_AGE, 2500000);
    pawl__metric_set(&metrics, PAWL__METRIC_OUTBOX_PENDING, 6);
    pawl__metric_set(&metrics, PAWL__METRIC_HANDLED, 7);
    for (size_t i = 0; i < 3; i++)
        pawl__metrics_read(&metrics, &views[i]);
    views[0].owner  = "endpoint";
    views[0].name   = PAWL_TEXT("left");
    views[1].owner  = "endpoint";
    views[1].name   = PAWL_TEXT("right");
    views[0].scopes = views[1].scopes = PAWL__SCOPE(ENDPOINT);
    views[2].scopes                   = PAWL__SCOPE(STORE);
    assert_int_equal(pawl__otlp_metrics(&source, views, 3, source.start + 7, it.arena, &json),
                     PAWL_OK);
    yyjson_val *root     = open_body(&it, json);
    yyjson_val *attempts = metric(root, "pawl.outbox.attempts");
    assert_text(attempts, "/unit", "{attempt}");
    assert_int_equal(yyjson_get_int(at(attempts, "/sum/aggregationTemporality")), 2);
    assert_true(yyjson_get_bool(at(attempts, "/sum/isMonotonic")));
    assert_int_equal(yyjson_arr_size(at(attempts, "/sum/dataPoints")), 8);
    yyjson_val *point = at(attempts, "/sum/dataPoints/5");
    assert_text(point, "/asInt", "5");
    assert_text(point, "/startTimeUnixNano", "1767258000000000000");
    assert_text(point, "/timeUnixNano", "1767258000000007000");
    assert_string_equal(attribute(point, "endpoint"), "right");
    assert_string_equal(attribute(point, "outcome"), "rejected");
    yyjson_val *duration = metric(root, "pawl.outbox.dispatch.duration");
    assert_text(duration, "/unit", "s");
    point = at(duration, "/histogram/dataPoints/0");
    assert_text(point, "/count", "1");
    assert_true(yyjson_get_real(at(point, "/sum")) == (double)0.0015);
    assert_int_equal(yyjson_arr_size(at(point, "/bucketCounts")), PAWL__BUCKET_COUNT);
    assert_int_equal(yyjson_arr_size(at(point, "/explicitBounds")), PAWL__BUCKET_COUNT - 1);
    assert_text(point, "/bucketCounts/0", "0");
    assert_text(point, "/bucketCounts/1", "1");
    assert_true(yyjson_get_real(at(point, "/explicitBounds/1")) == (double)0.0025);
    yyjson_val *age = metric(root, "pawl.outbox.oldest_age");
    assert_true(yyjson_get_real(at(age, "/gauge/dataPoints/0/asDouble")) == 2.5);
    assert_null(yyjson_ptr_get(age, "/gauge/dataPoints/0/startTimeUnixNano"));
    assert_text(metric(root, "pawl.outbox.pending"), "/gauge/dataPoints/0/asInt", "6");
    point = at(metric(root, "pawl.messages.handled"), "/sum/dataPoints/0");
    assert_text(point, "/asInt", "7");
    assert_null(yyjson_ptr_get(point, "/startTimeUnixNano"));
    close_body(&it);
}

/* Whatever a collector or a proxy says, it is a count and a text. */
TEST(o23_answers_of_a_collector)
{
    static const struct {
        const char         *answer;
        pawl_observe_signal signal;
        int64_t             rejected;
        const char         *message;
    } rows[] = {
        {"{\"partialSuccess\":{\"rejectedSpans\":\"3\",\"errorMessage\":\"old\"}}",
         PAWL_OBSERVE_TRACES, 3, "old"},
        {"{\"partialSuccess\":{\"rejectedSpans\":3}}", PAWL_OBSERVE_TRACES, 3, ""},
        {"{\"partialSuccess\":{\"rejectedSpans\":3}}", PAWL_OBSERVE_METRICS, 0, ""},
        {"{\"partialSuccess\":{\"rejectedDataPoints\":\"4\"}}", PAWL_OBSERVE_METRICS, 4, ""},
        {"{\"partialSuccess\":{\"errorMessage\":\"soon\"}}", PAWL_OBSERVE_TRACES, 0, "soon"},
        {"{\"partialSuccess\":{\"rejectedSpans\":-1}}", PAWL_OBSERVE_TRACES, 0, ""},
        {"{\"partialSuccess\":{\"rejectedSpans\":\"-1\"}}", PAWL_OBSERVE_TRACES, 0, ""},
        {"{\"partialSuccess\":{\"rejectedSpans\":1e300}}", PAWL_OBSERVE_TRACES, PAWL__REJECTED_MAX,
         ""},
        {"{\"partialSuccess\":{\"rejectedSpans\":\"99999999999999999999\"}}", PAWL_OBSERVE_TRACES,
         PAWL__REJECTED_MAX, ""},
        {"{\"partialSuccess\":{\"rejectedSpans\":99999999999999999999}}", PAWL_OBSERVE_TRACES, 0,
         ""},
        {"{\"partialSuccess\":{\"rejectedSpans\":[1],\"errorMessage\":[2]}}", PAWL_OBSERVE_TRACES,
         0, ""},
        {"{\"partialSuccess\":null}", PAWL_OBSERVE_TRACES, 0, ""},
        {"{\"partialSuccess\":{\"rejectedSpans\":\"3\"", PAWL_OBSERVE_TRACES, 0, ""},
        {"[]", PAWL_OBSERVE_TRACES, 0, ""},
        {"", PAWL_OBSERVE_TRACES, 0, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        pawl_arena        *arena = pawl_arena_create(0);
        pawl__otlp_partial found =
            pawl__otlp_accepted(rows[i].signal, pawl_text_of(rows[i].answer), arena);
        if (found.rejected != rows[i].rejected ||
            !pawl_text_equal(found.message, pawl_text_of(rows[i].message)))
            fail_msg("%s: %lld '%.*s'", rows[i].answer, (long long)found.rejected,
                     PAWL_TEXT_ARGS(found.message));
        pawl_arena_destroy(arena);
    }
}

TEST(o23_a_refusal_says_why_or_is_shown_as_it_is)
{
    static const char *const rows[][2] = {
        {"{\"code\":3,\"message\":\"no tenant\"}", "no tenant"},
        {"{\"code\":3}", "{\"code\":3}"},
        {"404 page not found\n", "404 page not found\n"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        pawl_arena *arena   = pawl_arena_create(0);
        pawl_text   message = pawl__otlp_refused(pawl_text_of(rows[i][0]), arena);
        assert_true(pawl_text_equal(message, pawl_text_of(rows[i][1])));
        pawl_arena_destroy(arena);
    }
}

/* The n-th allocation fails, it alone, for every n: no memory is the only answer until all
 * succeed, and then the JSON is whole. */
typedef struct failing {
    int left;
} failing;

static void *fail_later(void *memory, size_t size, void *context)
{
    failing *it = context;
    if (size == 0) {
        free(memory);
        return NULL;
    }
    return it->left-- != 0 ? realloc(memory, size) : NULL;
}

TEST(o23_no_memory_makes_no_half_export)
{
    static pawl__span spans[40];
    failing           it        = {0};
    pawl_allocator    allocator = {fail_later, &it};
    bool              is_done   = false;
    pawl_arena       *all       = pawl_arena_create(0);
    pawl_text         whole     = {0};
    for (size_t i = 0; i < 40; i++)
        spans[i] = make_span();
    assert_int_equal(pawl__otlp_traces(&source, spans, 40, all, &whole), PAWL_OK);
    for (int n = 0; !is_done; n++) {
        pawl_text json = {0};
        it.left        = n;
        pawl_allocator_set(&allocator);
        pawl_arena *arena = pawl_arena_create(512);
        pawl_code   code =
            arena != NULL ? pawl__otlp_traces(&source, spans, 40, arena, &json) : PAWL_ENOMEM;
        pawl_allocator_set(NULL);
        is_done = code == PAWL_OK;
        assert_true(is_done || code == PAWL_ENOMEM);
        if (is_done) {
            assert_true(pawl_text_equal(json, whole));
            assert_true(n > 3);
        }
        pawl_arena_destroy(arena);
    }
    pawl_arena_destroy(all);
}
