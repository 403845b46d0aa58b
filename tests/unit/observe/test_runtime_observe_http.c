/* test_runtime_observe_http.c - the module over real sockets: pages are asked for,
 * traces and metrics arrive at a collector. O23.
 *
 * Nothing sleeps: who waits, waits for what is to come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/observed.h"
#include "support/thread.h"

#ifdef PAWL_HAVE_OBSERVE

#include "runtime/operate/observe/observe.h"
#include "support/collector.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yyjson.h>

static void send_one(observed *p)
{
    assert_int_equal(observed_send(p, 1).sent, 1);
}

/* ---- The server ------------------------------------------------------------------ */

static char       page[200000];
static exposition metrics;

static int get(const observed *p, const char *method, const char *path)
{
    return fetch(pawl_endpoint_observe_port(p->it.endpoint), method, path, page, sizeof page);
}

static pawl_text content(void)
{
    char *end = strstr(page, "\r\n\r\n");
    assert_non_null(end);
    return pawl_text_of(end + 4);
}

ON_ALL_STORES(o23_pages_over_a_socket, const char *url)
{
    observed *p = observed_open(url, (pawl_observe_options){.port = PAWL_OBSERVE_PORT_ANY},
                                (pawl_endpoint_options){0});
    assert_true(pawl_endpoint_observe_port(p->it.endpoint) > 0);
    send_one(p);
    assert_int_equal(get(p, "GET", "/metrics"), 200);
    assert_non_null(strstr(page, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    exposition_read(&metrics, content());
    assert_true(
        exposition_value(&metrics,
                         "pawl_outbox_attempts_total{endpoint=\"left\",outcome=\"success\"}") == 1);
    assert_int_equal(get(p, "GET", "/readyz"), 200);
    assert_non_null(strstr(page, "Content-Type: application/json\r\n"));
    assert_true(world_says(content(), "{\"status\":\"healthy\""));
    assert_int_equal(get(p, "GET", "/livez"), 200);
    assert_string_equal(content().data, "alive\n");
    assert_int_equal(get(p, "HEAD", "/livez"), 200);
    assert_int_equal(content().size, 0);
    assert_int_equal(get(p, "GET", "/livez?verbose=1"), 200);
    assert_int_equal(get(p, "GET", "/nothing"), 404);
    assert_int_equal(get(p, "POST", "/metrics"), 405);
    assert_non_null(strstr(page, "Allow: GET, HEAD\r\n"));
    pawl_clock_set(p->it.machine, WORLD_START + PAWL_MINUTES(10));
    assert_int_equal(get(p, "GET", "/readyz"), 200); /* nothing is pending */
    pawl_endpoint_stop(p->it.endpoint);
    assert_int_equal(get(p, "GET", "/readyz"), 503);
}

static void expect_refusal(const char *url, const pawl_observe_options *observe, pawl_code expected,
                           const char *says)
{
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = url;
    options.observe                = observe;
    assert_int_equal(
        pawl_endpoint_create(&observed_application, "left", &options, &endpoint, &error), expected);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, says);
}

/* Tests in memory alone are about sockets: the store only lives. */
ON_STORE(o23_a_port_that_is_taken_is_named, const char *url, "memory")
{
    pawl_observe_options other = PAWL_OBSERVE_OPTIONS_INIT;
    observed *p = observed_open(url, (pawl_observe_options){.port = PAWL_OBSERVE_PORT_ANY},
                                (pawl_endpoint_options){0});
    other.port  = pawl_endpoint_observe_port(p->it.endpoint);
    expect_refusal(url, &other, PAWL_ECONFIG,
                   test_text("cannot listen on 127.0.0.1 port %d: ", other.port));
    other.address = "nowhere.example";
    expect_refusal(url, &other, PAWL_ECONFIG, "'nowhere.example' is not a numeric address");
}

ON_STORE(o23_another_address, const char *url, "memory")
{
    observed *p = observed_open(
        url, (pawl_observe_options){.port = PAWL_OBSERVE_PORT_ANY, .address = "0.0.0.0"},
        (pawl_endpoint_options){0});
    assert_int_equal(get(p, "GET", "/livez"), 200);
}

/* The thread that serves the pages is not in the child: nothing waits for its end. */
ON_STORE(o23_a_child_of_fork_does_not_end_the_pages, const char *url, "memory")
{
    int       status = -1;
    observed *p      = observed_open(url, (pawl_observe_options){.port = PAWL_OBSERVE_PORT_ANY},
                                     (pawl_endpoint_options){0});
    pid_t     child  = fork();
    if (child == 0) {
        alarm(THREAD_SECONDS);
        pawl_endpoint_destroy(p->it.endpoint);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(get(p, "GET", "/livez"), 200);
}

/* ---- The exporter ------------------------------------------------------------------ */

static void assert_json(const char *text, const char *pointer, const char *expected)
{
    yyjson_doc *doc   = yyjson_read(text, strlen(text), 0);
    yyjson_val *found = yyjson_ptr_get(yyjson_doc_get_root(doc), pointer);
    assert_string_equal(yyjson_get_str(found), expected);
    yyjson_doc_free(doc);
}

#define SPANS "/resourceSpans/0/scopeSpans/0/spans"

ON_ALL_STORES(o23_traces_and_metrics_reach_a_collector, const char *url)
{
    collector *far = collector_open(0, 0);
    observed  *p   = observed_open(url,
                                   (pawl_observe_options){.otlp         = collector_url(far),
                                                          .otlp_period  = PAWL_MILLISECONDS(10),
                                                          .service_name = "shop"},
                                   (pawl_endpoint_options){0});
    assert_int_equal(pawl_endpoint_observe_port(p->it.endpoint), 0);
    send_one(p);
    const char *traces = collector_next(far, "traces");
    assert_json(traces, SPANS "/0/name", "pawl.outbox.dispatch");
    assert_json(traces, "/resourceSpans/0/resource/attributes/0/value/stringValue", "shop");
    const char *sent = collector_next(far, "metrics");
    assert_json(sent, "/resourceMetrics/0/scopeMetrics/0/metrics/0/name", "pawl.outbox.attempts");
    test_now(p);
    collector_close(far);
}

ON_STORE(o23_what_waits_is_sent_at_the_end, const char *url, "memory")
{
    collector *far = collector_open(0, 0);
    observed  *p   = observed_open(
           url, (pawl_observe_options){.otlp = collector_url(far), .otlp_period = PAWL_HOURS(1)},
           (pawl_endpoint_options){0});
    send_one(p);
    test_now(p);
    assert_int_equal(collector_count(far, "traces"), 1);
    assert_int_equal(collector_count(far, "metrics"), 1);
    collector_close(far);
}

/* Half of the places are taken: what waits is sent without waiting for the period. */
ON_STORE(o23_many_spans_do_not_wait, const char *url, "memory")
{
    collector *far = collector_open(0, 0);
    observed  *p   = observed_open(url,
                                   (pawl_observe_options){.otlp        = collector_url(far),
                                                          .otlp_period = PAWL_HOURS(1),
                                                          .span_count  = 2},
                                   (pawl_endpoint_options){0});
    send_one(p);
    send_one(p);
    assert_json(collector_next(far, "traces"), SPANS "/0/name", "pawl.outbox.dispatch");
    test_now(p);
    collector_close(far);
}

/* Refused twice with a word that means "later": the same spans come again. */
ON_STORE(o23_a_busy_collector_gets_them_again, const char *url, "memory")
{
    collector *far = collector_open(2, 503);
    observed  *p   = observed_open(
           url,
           (pawl_observe_options){.otlp = collector_url(far), .otlp_period = PAWL_MILLISECONDS(10)},
           (pawl_endpoint_options){0});
    world_quiet();
    send_one(p);
    assert_json(collector_next(far, "traces"), SPANS "/0/name", "pawl.outbox.dispatch");
    test_now(p);
    collector_close(far);
}

ON_STORE(o23_an_absent_collector_stops_nothing, const char *url, "memory")
{
    pawl_observe_options observe  = {.port        = PAWL_OBSERVE_PORT_ANY,
                                     .otlp        = "http://127.0.0.1:1",
                                     .otlp_period = PAWL_MILLISECONDS(1)};
    static const char    failed[] = "pawl_export_failures_total{signal=\"metrics\"}";
    patience             left     = patience_of(THREAD_SECONDS);
    world_quiet(); /* before the exporter's thread, which logs, begins */
    observed *p = observed_open(url, observe, (pawl_endpoint_options){0});
    send_one(p);
    for (;;) {
        assert_int_equal(get(p, "GET", "/metrics"), 200);
        exposition_read(&metrics, content());
        if (exposition_value(&metrics, failed) != 0)
            break;
        patience_wait(&left, "no failure of the exporter is counted");
    }
    send_one(p);
}

/* Rejected spans are counted, and not sent again. */
ON_STORE(o23_what_a_collector_rejects_shows_in_the_metrics, const char *url, "memory")
{
    static const char rejected[] = "pawl_export_rejected_total{signal=\"traces\"}";
    collector        *far        = collector_open(0, 0);
    patience          left       = patience_of(THREAD_SECONDS);
    collector_say(far, "{\"partialSuccess\":{\"rejectedSpans\":\"1\"}}", NULL);
    world_quiet();
    observed *p = observed_open(url,
                                (pawl_observe_options){.port        = PAWL_OBSERVE_PORT_ANY,
                                                       .otlp        = collector_url(far),
                                                       .otlp_period = PAWL_MILLISECONDS(1)},
                                (pawl_endpoint_options){0});
    send_one(p);
    for (;;) {
        assert_int_equal(get(p, "GET", "/metrics"), 200);
        exposition_read(&metrics, content());
        if (exposition_value(&metrics, rejected) != 0)
            break;
        patience_wait(&left, "no rejected span is counted");
    }
    assert_true(exposition_value(&metrics, "pawl_spans_dropped_total") == 1);
    assert_true(exposition_value(&metrics, "pawl_spans_exported_total") == 0);
    test_now(p);
    assert_int_equal(collector_count(far, "traces"), 1);
    collector_close(far);
}

/* The collector takes the connection and says nothing: an end does not wait for it for long. */
ON_STORE(o23_a_silent_collector_holds_nobody_up, const char *url, "memory")
{
    struct sockaddr_in at   = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          size = sizeof at;
    int                fd   = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    observed *p = observed_open(
        url,
        (pawl_observe_options){.otlp        = test_text("http://127.0.0.1:%d", ntohs(at.sin_port)),
                               .otlp_period = PAWL_MILLISECONDS(1)},
        (pawl_endpoint_options){0});
    world_quiet();
    struct pollfd caller = {.fd = fd, .events = POLLIN};
    if (poll(&caller, 1, THREAD_SECONDS * 1000) != 1)
        fail_msg("the exporter does not connect");
    int peer = accept(fd, NULL, NULL); /* from now on a post is in hand */
    assert_true(peer >= 0);
    send_one(p);
    test_now(p);
    close(peer);
    close(fd);
}

#else

int main(void)
{
    const char *required = getenv("PAWL_REQUIRE");
    puts("the module observe is not built (libmicrohttpd and libcurl)");
    return required != NULL && required[0] != '\0' ? 1 : 77;
}
#endif
