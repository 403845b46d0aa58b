/* test_runtime_observe.c - endpoints and their observer, with a module that does
 * nothing by itself: the test asks in its place. Contract O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "engine/trace.h"
#include "pawl/operations.h"
#include "runtime/observe.h"
#include "support/exposition.h"
#include "support/hook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

/* ---- The module -------------------------------------------------------------- */

static const pawl_observe_plan *plan; /* of the carrier that runs, or NULL */
static int                      starts, stops, wakes;

static pawl_code start(const pawl_observe_plan *given, void **carrier, int *port, pawl_error *error)
{
    (void)error;
    plan     = given;
    *carrier = &starts;
    *port    = given->port == PAWL_OBSERVE_PORT_ANY ? 4242 : given->port;
    starts++;
    return PAWL_OK;
}

static void wake(void *carrier)
{
    (void)carrier;
    wakes++;
}

static void stop(void *carrier)
{
    (void)carrier;
    plan = NULL;
    stops++;
}

static const pawl_observe_ops module = {sizeof module, start, wake, stop};

static int use_module(void **state)
{
    (void)state;
    pawl__observe_load_set(&module);
    starts = stops = wakes = 0;
    return 0;
}

static pawl_observe_answer ask(world *it, const char *path)
{
    pawl_observe_answer answer;
    plan->source.answer(plan->source.context, pawl_text_of(path), it->arena, &answer);
    return answer;
}

static const exposition *read_metrics(world *it)
{
    static exposition   page;
    pawl_observe_answer answer = ask(it, "/metrics");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.content_type, "text/plain; version=0.0.4; charset=utf-8");
    exposition_read(&page, answer.body);
    return &page;
}

/* ---- The application ----------------------------------------------------------- */

#define CALL(F) F(INT32, number)
PAWL_RECORD(call, CALL)

static pawl_code on_call(pawl_context *ctx, const call *message)
{
    return pawl_send(ctx, "far", PAWL_MESSAGE(call, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_call, call);

static const pawl_endpoint_spec left = {
    .name     = "left",
    .handlers = (const pawl_on[]){{.handle = PAWL_HANDLE(on_call)}, {.handle = NULL}}};
static const pawl_endpoint_spec right = {
    .name     = "right",
    .handlers = (const pawl_on[]){{.handle = PAWL_HANDLE(on_call)}, {.handle = NULL}}};
static const pawl_application application = {
    PAWL_APPLICATION_INIT, .name = "observe",
    .endpoints = (const pawl_endpoint_spec *const[]){&left, &right, NULL}};

/* A store whose messages go to another one that refuses them as long as it is told
 * to. */
typedef struct place {
    world                it;
    char                 target[1000];
    pawl_route           routes[2];
    pawl_observe_options observe;
} place;

static int failures; /* deliveries that fail from now on */

static pawl_code fail_delivery(hook_place at, void *context)
{
    (void)context;
    return at == HOOK_BEFORE_COMMIT && failures-- > 0 ? PAWL_EBUSY : PAWL_OK;
}

static void open_place(place *p, const char *url, pawl_endpoint_options options)
{
    char scheme[20];
    snprintf(scheme, sizeof scheme, "%.*s", (int)(strchr(url, ':') - url), url);
    assert_true(scenario_url(scheme, p->target, sizeof p->target));
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *store = NULL;
    world_ok(pawl_store_open(p->target, NULL, &store, &error), &error);
    pawl_store_close(store);
    failures        = 0;
    p->routes[0]    = (pawl_route){.name = "far", .url = hook_url(p->target), .queue = "calls"};
    p->routes[1]    = (pawl_route){.name = NULL};
    options.routes  = p->routes;
    options.observe = &p->observe;
    hook_set(fail_delivery, NULL);
    world_open(&p->it, url, &application, "left", &options);
}

static void close_place(place *p)
{
    world_close(&p->it);
    hook_set(NULL, NULL);
    scenario_forget(p->target);
}

static const pawl_observe_options served = {.options_size = sizeof(pawl_observe_options),
                                            .port         = 9464};
static const pawl_observe_options sent   = {.options_size = sizeof(pawl_observe_options),
                                            .otlp         = "http://127.0.0.1:4318//",
                                            .span_count   = 4};

/* ---- Counting -------------------------------------------------------------------- */

#define SERIES(outcome) "pawl_outbox_attempts_total{endpoint=\"left\",outcome=\"" outcome "\"}"

static void o23_attempts_are_counted_by_outcome(const char *url)
{
    place p = {.observe = served};
    world_quiet();
    open_place(&p, url, (pawl_endpoint_options){.outbox_attempts = 2});
    world_post(&p.it, NULL, PAWL_MESSAGE(call, .number = 1));
    world_drain(&p.it);
    failures = 1;
    world_post(&p.it, NULL, PAWL_MESSAGE(call, .number = 2));
    world_drain(&p.it);
    const exposition *page = read_metrics(&p.it);
    assert_true(exposition_value(page, SERIES("success")) == 1);
    assert_true(exposition_value(page, SERIES("transient")) == 1);
    assert_true(exposition_value(page, "pawl_outbox_pending") == 1);
    assert_true(exposition_value(page, "pawl_outbox_dead") == 0);
    failures = 1;
    world_go_both(&p.it, PAWL_HOURS(1));
    page = read_metrics(&p.it);
    assert_true(exposition_value(page, SERIES("poison")) == 1);
    assert_true(exposition_value(page, SERIES("rejected")) == 0);
    assert_true(exposition_value(page, "pawl_outbox_pending") == 0);
    assert_true(exposition_value(page, "pawl_outbox_dead") == 1);
    assert_true(exposition_value(page, "pawl_messages_handled_total") == 2);
    assert_true(exposition_value(page, "pawl_outbox_dispatch_duration_seconds_count{endpoint="
                                       "\"left\"}") == 3);
    assert_true(exposition_value(page, "pawl_store_up") == 1);
    close_place(&p);
}

static void o23_deleted_rows_are_counted(const char *url)
{
    place p = {.observe = served};
    open_place(&p, url, (pawl_endpoint_options){.outbox_retention = PAWL_DAYS(1)});
    for (int32_t i = 0; i < 3; i++)
        world_post(&p.it, NULL, PAWL_MESSAGE(call, .number = i));
    world_drain(&p.it);
    static const char series[] = "pawl_outbox_retention_deleted_total{endpoint=\"left\"}";
    assert_true(exposition_value(read_metrics(&p.it), series) == 0);
    assert_true(exposition_value(read_metrics(&p.it), "pawl_inbox_marks") == 3);
    world_go_both(&p.it, PAWL_DAYS(8)); /* the inbox's marks go as well, and are not counted */
    assert_true(exposition_value(read_metrics(&p.it), series) == 3);
    assert_true(exposition_value(read_metrics(&p.it), "pawl_inbox_marks") == 0);
    close_place(&p);
}

/* Without options nothing is loaded, and counting goes on. */
static void o23_nothing_is_loaded_unless_asked_for(const char *url)
{
    place p = {.observe = PAWL_OBSERVE_OPTIONS_INIT};
    open_place(&p, url, (pawl_endpoint_options){0});
    assert_int_equal(starts, 0);
    assert_int_equal(pawl_endpoint_observe_port(p.it.endpoint), 0);
    world_post(&p.it, NULL, PAWL_MESSAGE(call, .number = 1));
    world_drain(&p.it);
    assert_int_equal(atomic_load(&p.it.endpoint->metrics.slots[PAWL__SLOT_ATTEMPTS]), 1);
    close_place(&p);
}

/* ---- Answers ---------------------------------------------------------------------- */

static void o23_ready_says_why_not(const char *url)
{
    place p = {.observe = served};
    world_quiet();
    open_place(
        &p, url,
        (pawl_endpoint_options){.outbox_delay = PAWL_HOURS(1), .outbox_delay_max = PAWL_HOURS(1)});
    assert_int_equal(ask(&p.it, "/livez").status, 200);
    pawl_observe_answer answer = ask(&p.it, "/readyz");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.content_type, "application/json");
    assert_true(world_says(answer.body, "{\"status\":\"healthy\""));
    failures = 1;
    world_post(&p.it, NULL, PAWL_MESSAGE(call, .number = 2));
    world_drain(&p.it);
    pawl_clock_set(p.it.machine, WORLD_START + PAWL_SECONDS(90));
    answer = ask(&p.it, "/readyz");
    assert_int_equal(answer.status, 200);
    assert_true(world_says(answer.body, "{\"status\":\"degraded\""));
    assert_true(world_says(answer.body, "is 90 s old, the limit is 60 s"));
    pawl_clock_set(p.it.machine, WORLD_START + PAWL_MINUTES(6));
    answer = ask(&p.it, "/readyz");
    assert_int_equal(answer.status, 503);
    assert_true(world_says(answer.body, "{\"status\":\"unhealthy\""));
    assert_int_equal(ask(&p.it, "/livez").status, 200);
    assert_true(exposition_value(read_metrics(&p.it), "pawl_outbox_oldest_age_seconds") == 360);
    assert_int_equal(ask(&p.it, "/").status, 404);
    assert_int_equal(ask(&p.it, "/metricsx").status, 404);
    close_place(&p);
}

static void o23_a_stopping_endpoint_is_not_ready(const char *url)
{
    place p = {.observe = served};
    open_place(&p, url, (pawl_endpoint_options){0});
    pawl_endpoint_stop(p.it.endpoint);
    pawl_observe_answer answer = ask(&p.it, "/readyz");
    assert_int_equal(answer.status, 503);
    assert_true(world_says(answer.body, "\"reason\":\"endpoint left is stopping\""));
    close_place(&p);
}

/* On the system's clock; the row is put there by another handle. */
static void o23_an_answer_of_the_store_is_good_for_a_moment(const char *url)
{
    static const char pending[] = "pawl_outbox_pending";
    place             p         = {.observe = served};
    pawl_error        error     = PAWL_ERROR_INIT;
    pawl_outbox_row   row       = {.dispatch_id = {{{1}}},
                                   .endpoint    = PAWL_TEXT("nobody"),
                                   .destination = PAWL_TEXT("far"),
                                   .message     = {.id      = PAWL_TEXT("m1"),
                                                   .type    = PAWL_TEXT("call"),
                                                   .body    = PAWL_TEXT("{}"),
                                                   .headers = PAWL_TEXT("")}};
    open_place(&p, url, (pawl_endpoint_options){0});
    p.it.endpoint->settings.machine = NULL;
    pawl__look *look                = &p.it.endpoint->observer->look;
    int64_t     begin               = pawl__monotonic_now();
    assert_true(exposition_value(read_metrics(&p.it), pending) == 0);
    assert_true(look->due >= begin + PAWL_SECONDS(1));
    look->due = INT64_MAX;
    world_ok(pawl_store_outbox_insert(p.it.store, &row, WORLD_START, &error), &error);
    assert_true(exposition_value(read_metrics(&p.it), pending) == 0);
    look->due = 0;
    assert_true(exposition_value(read_metrics(&p.it), pending) == 1);
    p.it.endpoint->settings.machine = p.it.machine;
    close_place(&p);
}

/* Looking costs little; the end of an outage is not told a minute late. */
static void o23_looks_are_rare_but_not_after_an_outage(void **state)
{
    (void)state;
    assert_int_equal(pawl__look_pause(100, true), PAWL_SECONDS(1));
    assert_int_equal(pawl__look_pause(PAWL_MILLISECONDS(400), true), PAWL_SECONDS(4));
    assert_int_equal(pawl__look_pause(PAWL_SECONDS(2), true), PAWL_SECONDS(20));
    assert_int_equal(pawl__look_pause(100, false), PAWL_SECONDS(1));
    assert_int_equal(pawl__look_pause(PAWL_SECONDS(4), false), PAWL_SECONDS(5));
}

/* ---- Sharing ------------------------------------------------------------------------ */

static pawl_endpoint *open_right(place *p, const pawl_observe_options *observe)
{
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = p->it.options;
    options.observe                = observe;
    world_ok(pawl_endpoint_create(&application, "right", &options, &endpoint, &error), &error);
    return endpoint;
}

static void o23_endpoints_with_equal_options_share(const char *url)
{
    place                p     = {.observe = served};
    pawl_observe_options other = served;
    open_place(&p, url, (pawl_endpoint_options){0});
    assert_int_equal(pawl_endpoint_observe_port(p.it.endpoint), 9464);
    pawl_endpoint *endpoint = open_right(&p, &served);
    assert_int_equal(starts, 1);
    const exposition *page = read_metrics(&p.it);
    assert_true(exposition_has(page, "pawl_outbox_retention_deleted_total{endpoint=\"left\"}"));
    assert_true(exposition_has(page, "pawl_outbox_retention_deleted_total{endpoint=\"right\"}"));
    pawl_endpoint_destroy(endpoint);
    assert_int_equal(stops, 0);
    assert_false(exposition_has(read_metrics(&p.it),
                                "pawl_outbox_retention_deleted_total{endpoint=\"right\"}"));
    other.health.dead_degraded       = 2;
    const pawl_observe_plan *earlier = plan;
    endpoint                         = open_right(&p, &other);
    assert_int_equal(starts, 2);
    pawl_endpoint_destroy(endpoint);
    assert_int_equal(stops, 1);
    plan = earlier;
    close_place(&p);
    assert_int_equal(stops, 2);
}

/* ---- Options -------------------------------------------------------------------------- */

static void o23_options_out_of_bounds_are_refused(const char *url)
{
    static const struct {
        pawl_observe_options options;
        const char          *says;
    } wrong[] = {
        {{.options_size = sizeof(pawl_observe_options), .port = 65536}, "observe.port is 65536"},
        {{.options_size = sizeof(pawl_observe_options), .port = -2}, "observe.port is -2"},
        {{.options_size = sizeof(pawl_observe_options), .otlp = "ftp://x"},
         "neither http:// nor https://"},
        {{.options_size = sizeof(pawl_observe_options), .otlp_period = -1},
         "observe.otlp_period is -1"},
        {{.options_size = sizeof(pawl_observe_options), .span_count = 1 << 21},
         "span_count is 2097152"},
        {{.options_size = sizeof(pawl_observe_options), .health = {.dead_degraded = 200}},
         "below degraded"},
        {{.options_size = 0, .port = 1}, "PAWL_OBSERVE_OPTIONS_INIT"},
        {{.options_size = sizeof(pawl_observe_options) + 1}, "PAWL_OBSERVE_OPTIONS_INIT"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pawl_error            error    = PAWL_ERROR_INIT;
        pawl_endpoint        *endpoint = NULL;
        pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
        options.store                  = url;
        options.observe                = &wrong[i].options;
        pawl_code code = pawl_endpoint_create(&application, "left", &options, &endpoint, &error);
        assert_int_equal(code, PAWL_ECONFIG);
        if (strstr(error.text, wrong[i].says) == NULL)
            fail_msg("row %zu: %s", i, error.text);
        assert_null(endpoint);
    }
    assert_int_equal(starts, 0);
}

/* ---- Traces ------------------------------------------------------------------------------ */

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"

static void post_traced(place *p, const char *traceparent)
{
    pawl_error        error   = PAWL_ERROR_INIT;
    pawl_header       list[]  = {{"traceparent", traceparent}, {NULL, NULL}};
    pawl_send_options options = {PAWL_SEND_OPTIONS_INIT, .due = world_now(&p->it), .headers = list};
    world_ok(
        pawl_sender_send(p->it.sender, "left", &options, PAWL_MESSAGE(call, .number = 1), &error),
        &error);
    world_ok(pawl_sender_commit(p->it.sender, &error), &error);
    world_drain(&p->it);
}

/* The next export of traces: its spans, or NULL. The document is leaked to the arena's
 * end by the caller's yyjson_doc_free. */
static yyjson_doc *next_spans(place *p, yyjson_val **spans)
{
    pawl_text body;
    *spans = NULL;
    if (!plan->source.next(plan->source.context, PAWL_OBSERVE_TRACES, p->it.arena, &body))
        return NULL;
    yyjson_doc *doc = yyjson_read(body.data, body.size, 0);
    *spans = yyjson_ptr_get(yyjson_doc_get_root(doc), "/resourceSpans/0/scopeSpans/0/spans");
    assert_non_null(*spans);
    return doc;
}

static void done(pawl_observe_outcome outcome)
{
    plan->source.done(plan->source.context, PAWL_OBSERVE_TRACES, outcome, "said so");
}

static const char *text_at(yyjson_val *spans, const char *pointer)
{
    return yyjson_get_str(yyjson_ptr_get(spans, pointer));
}

/* The dispatch lies in the trace of the message that caused it; its parent is the
 * span that stands in the row's own header. */
static void o23_a_dispatch_is_a_span_of_its_trace(const char *url)
{
    place       p = {.observe = sent};
    yyjson_val *spans;
    open_place(&p, url, (pawl_endpoint_options){0});
    assert_string_equal(plan->otlp, "http://127.0.0.1:4318");
    assert_null(next_spans(&p, &spans));
    post_traced(&p, "00-" TRACE "-" SPAN "-01");
    pawl_outbox_row row    = world_outbox(&p.it, PAWL_OUTBOX_DISPATCHED).items[0];
    pawl_text       header = {NULL, 0};
    assert_int_equal(
        pawl__headers_value(row.message.headers, PAWL_TEXT("traceparent"), p.it.arena, &header),
        PAWL_OK);
    yyjson_doc *doc = next_spans(&p, &spans);
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
    assert_null(next_spans(&p, &spans));
    assert_true(exposition_value(read_metrics(&p.it), "pawl_spans_exported_total") == 1);
    close_place(&p);
}

static void o23_what_is_not_sampled_makes_no_span(const char *url)
{
    place       p = {.observe = sent};
    yyjson_val *spans;
    open_place(&p, url, (pawl_endpoint_options){0});
    post_traced(&p, "00-" TRACE "-" SPAN "-00");
    assert_null(next_spans(&p, &spans));
    close_place(&p);
}

/* Without a trace of the message, or with one that cannot be read, the dispatch id
 * is the trace's: all attempts lie in it. */
static void o23_a_dispatch_without_trace_begins_one(const char *url)
{
    place       p = {.observe = sent};
    yyjson_val *spans;
    char        id[PAWL_UUID_TEXT_SIZE + 1], trace[33];
    world_quiet();
    open_place(&p, url, (pawl_endpoint_options){0});
    failures = 1;
    post_traced(&p, "00-nonsense-" SPAN "-01");
    world_go_both(&p.it, PAWL_HOURS(1));
    pawl_outbox_row row = world_outbox(&p.it, PAWL_OUTBOX_DISPATCHED).items[0];
    pawl__trace_hex(row.dispatch_id.uuid.bytes, 16, trace);
    pawl_uuid_format(row.dispatch_id.uuid, id);
    yyjson_doc *doc = next_spans(&p, &spans);
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
    assert_true(exposition_value(read_metrics(&p.it), "pawl_spans_dropped_total") == 2);
    close_place(&p);
}

/* ---- A collector that does not take them ----------------------------------------------- */

static size_t count_spans(place *p)
{
    yyjson_val *spans;
    yyjson_doc *doc   = next_spans(p, &spans);
    size_t      count = yyjson_arr_size(spans);
    yyjson_doc_free(doc);
    return count;
}

static void o23_spans_wait_for_the_collector_and_are_dropped_in_the_end(const char *url)
{
    place p = {.observe = sent}; /* four places */
    world_quiet();
    open_place(&p, url, (pawl_endpoint_options){0});
    for (int32_t i = 0; i < 6; i++)
        world_post(&p.it, NULL, PAWL_MESSAGE(call, .number = i));
    assert_int_equal(world_drain(&p.it).sent, 6); /* delivery does not care */
    assert_int_equal(wakes, 1);
    assert_true(exposition_value(read_metrics(&p.it), "pawl_spans_dropped_total") == 2);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(count_spans(&p), 4);
        done(PAWL_OBSERVE_AGAIN);
    }
    assert_int_equal(count_spans(&p), 0);
    const exposition *page = read_metrics(&p.it);
    assert_true(exposition_value(page, "pawl_spans_dropped_total") == 6);
    assert_true(exposition_value(page, "pawl_spans_exported_total") == 0);
    assert_true(exposition_value(page, "pawl_export_failures_total{signal=\"traces\"}") == 5);
    assert_true(exposition_value(page, "pawl_export_failures_total{signal=\"metrics\"}") == 0);
    world_post(&p.it, NULL, PAWL_MESSAGE(call, .number = 7));
    world_drain(&p.it);
    for (int i = 0; i < 4; i++) { /* the count of tries began anew */
        assert_int_equal(count_spans(&p), 1);
        done(PAWL_OBSERVE_AGAIN);
    }
    assert_int_equal(count_spans(&p), 1);
    done(PAWL_OBSERVE_ACCEPTED);
    world_post(&p.it, NULL, PAWL_MESSAGE(call, .number = 8));
    world_drain(&p.it);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(count_spans(&p), 1);
        done(PAWL_OBSERVE_AGAIN);
    }
    assert_int_equal(count_spans(&p), 0);
    close_place(&p);
}

#define TEST(function, scheme)                                               \
    {                                                                        \
#function " on " scheme, scenario_run, use_module, NULL, &(scenario) \
        {                                                                    \
            function, scheme                                                 \
        }                                                                    \
    }
#define TESTS(function) TEST(function, "memory"), TEST(function, "sqlite")

int main(void)
{
    const struct CMUnitTest tests[] = {
        TESTS(o23_attempts_are_counted_by_outcome),
        TESTS(o23_deleted_rows_are_counted),
        TESTS(o23_nothing_is_loaded_unless_asked_for),
        TESTS(o23_ready_says_why_not),
        TESTS(o23_a_stopping_endpoint_is_not_ready),
        TESTS(o23_an_answer_of_the_store_is_good_for_a_moment),
        cmocka_unit_test(o23_looks_are_rare_but_not_after_an_outage),
        TESTS(o23_endpoints_with_equal_options_share),
        TESTS(o23_options_out_of_bounds_are_refused),
        TESTS(o23_a_dispatch_is_a_span_of_its_trace),
        TESTS(o23_what_is_not_sampled_makes_no_span),
        TESTS(o23_a_dispatch_without_trace_begins_one),
        TESTS(o23_spans_wait_for_the_collector_and_are_dropped_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
