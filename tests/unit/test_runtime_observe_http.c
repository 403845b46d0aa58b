/* test_runtime_observe_http.c - the module over real sockets: pages are asked for,
 * traces and metrics arrive at a collector. Contract O23.
 *
 * Nothing sleeps: who waits, waits for what is to come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/thread.h"

#ifdef PAWL_HAVE_OBSERVE

#include "runtime/observe.h"
#include "support/collector.h"
#include "support/exposition.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <yyjson.h>

#define WAIT_SECONDS 120 /* for what must come */

/* ---- The application ----------------------------------------------------------- */

#define CALL(F) F(INT32, number)
PAWL_RECORD(call, CALL)

static pawl_code on_call(pawl_context *ctx, const call *message)
{
    return pawl_send(ctx, "far", PAWL_MESSAGE(call, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_call, call);

static const pawl_endpoint_spec calls = {
    .name     = "calls",
    .handlers = (const pawl_on[]){{.handle = PAWL_HANDLE(on_call)}, {.handle = NULL}}};
static const pawl_application application = {PAWL_APPLICATION_INIT, .name = "http",
                                             .endpoints =
                                                 (const pawl_endpoint_spec *const[]){&calls, NULL}};

typedef struct place {
    world                it;
    char                 target[1000];
    pawl_route           routes[2];
    pawl_observe_options observe;
} place;

static void open_place(place *p, const char *url, pawl_observe_options observe)
{
    pawl_error            error   = PAWL_ERROR_INIT;
    pawl_store           *store   = NULL;
    pawl_endpoint_options options = {.routes = p->routes, .observe = &p->observe};
    char                  scheme[20];
    snprintf(scheme, sizeof scheme, "%.*s", (int)(strchr(url, ':') - url), url);
    assert_true(scenario_url(scheme, p->target, sizeof p->target));
    world_ok(pawl_store_open(p->target, NULL, &store, &error), &error);
    pawl_store_close(store);
    p->observe              = observe;
    p->observe.options_size = sizeof p->observe;
    p->routes[0]            = (pawl_route){.name = "far", .url = p->target, .queue = "calls"};
    p->routes[1]            = (pawl_route){.name = NULL};
    world_open(&p->it, url, &application, NULL, &options);
}

static void close_place(place *p)
{
    world_close(&p->it);
    scenario_forget(p->target);
}

static void send_one(place *p)
{
    world_post(&p->it, NULL, PAWL_MESSAGE(call, .number = 1));
    assert_int_equal(world_drain(&p->it).sent, 1);
}

/* ---- The server ------------------------------------------------------------------ */

static char       page[200000];
static exposition metrics;

static int get(const place *p, const char *method, const char *path)
{
    return fetch(pawl_endpoint_observe_port(p->it.endpoint), method, path, page, sizeof page);
}

static pawl_text content(void)
{
    char *end = strstr(page, "\r\n\r\n");
    assert_non_null(end);
    return pawl_text_of(end + 4);
}

static void o23_pages_over_a_socket(const char *url)
{
    place p;
    open_place(&p, url, (pawl_observe_options){.port = PAWL_OBSERVE_PORT_ANY});
    assert_true(pawl_endpoint_observe_port(p.it.endpoint) > 0);
    send_one(&p);
    assert_int_equal(get(&p, "GET", "/metrics"), 200);
    assert_non_null(strstr(page, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    exposition_read(&metrics, content());
    assert_true(
        exposition_value(
            &metrics, "pawl_outbox_attempts_total{endpoint=\"calls\",outcome=\"success\"}") == 1);
    assert_int_equal(get(&p, "GET", "/readyz"), 200);
    assert_non_null(strstr(page, "Content-Type: application/json\r\n"));
    assert_true(world_says(content(), "{\"status\":\"healthy\""));
    assert_int_equal(get(&p, "GET", "/livez"), 200);
    assert_string_equal(content().data, "alive\n");
    assert_int_equal(get(&p, "HEAD", "/livez"), 200);
    assert_int_equal(content().size, 0);
    assert_int_equal(get(&p, "GET", "/livez?verbose=1"), 200);
    assert_int_equal(get(&p, "GET", "/nothing"), 404);
    assert_int_equal(get(&p, "POST", "/metrics"), 405);
    assert_non_null(strstr(page, "Allow: GET, HEAD\r\n"));
    pawl_clock_set(p.it.machine, WORLD_START + PAWL_MINUTES(10));
    assert_int_equal(get(&p, "GET", "/readyz"), 200); /* nothing is pending */
    pawl_endpoint_stop(p.it.endpoint);
    assert_int_equal(get(&p, "GET", "/readyz"), 503);
    close_place(&p);
}

static void expect_refusal(const char *url, const pawl_observe_options *observe, pawl_code expected,
                           const char *says)
{
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = url;
    options.observe                = observe;
    assert_int_equal(pawl_endpoint_create(&application, NULL, &options, &endpoint, &error),
                     expected);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, says);
}

static void o23_a_port_that_is_taken_is_named(const char *url)
{
    place                p;
    char                 says[200];
    pawl_observe_options other = PAWL_OBSERVE_OPTIONS_INIT;
    open_place(&p, url, (pawl_observe_options){.port = PAWL_OBSERVE_PORT_ANY});
    other.port = pawl_endpoint_observe_port(p.it.endpoint);
    snprintf(says, sizeof says, "cannot listen on 127.0.0.1 port %d: ", other.port);
    expect_refusal(url, &other, PAWL_ECONFIG, says);
    other.address = "nowhere.example";
    expect_refusal(url, &other, PAWL_ECONFIG, "'nowhere.example' is no numeric address");
    close_place(&p);
}

static void o23_another_address(const char *url)
{
    place p;
    open_place(&p, url,
               (pawl_observe_options){.port = PAWL_OBSERVE_PORT_ANY, .address = "0.0.0.0"});
    assert_int_equal(get(&p, "GET", "/livez"), 200);
    close_place(&p);
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

static void o23_traces_and_metrics_reach_a_collector(const char *url)
{
    place      p;
    collector *far = collector_open(0, 0);
    open_place(&p, url,
               (pawl_observe_options){.otlp         = collector_url(far),
                                      .otlp_period  = PAWL_MILLISECONDS(10),
                                      .service_name = "shop"});
    assert_int_equal(pawl_endpoint_observe_port(p.it.endpoint), 0);
    send_one(&p);
    const char *traces = collector_next(far, "traces");
    assert_json(traces, SPANS "/0/name", "pawl.outbox.dispatch");
    assert_json(traces, "/resourceSpans/0/resource/attributes/0/value/stringValue", "shop");
    const char *sent = collector_next(far, "metrics");
    assert_json(sent, "/resourceMetrics/0/scopeMetrics/0/metrics/0/name", "pawl.outbox.attempts");
    close_place(&p);
    collector_close(far);
}

static void o23_what_waits_is_sent_at_the_end(const char *url)
{
    place      p;
    collector *far = collector_open(0, 0);
    open_place(&p, url,
               (pawl_observe_options){.otlp = collector_url(far), .otlp_period = PAWL_HOURS(1)});
    send_one(&p);
    close_place(&p);
    assert_int_equal(collector_count(far, "traces"), 1);
    assert_int_equal(collector_count(far, "metrics"), 1);
    collector_close(far);
}

/* Half of the places are taken: what waits is sent without waiting for the period. */
static void o23_many_spans_do_not_wait(const char *url)
{
    place      p;
    collector *far = collector_open(0, 0);
    open_place(&p, url,
               (pawl_observe_options){
                   .otlp = collector_url(far), .otlp_period = PAWL_HOURS(1), .span_count = 2});
    send_one(&p);
    send_one(&p);
    assert_json(collector_next(far, "traces"), SPANS "/0/name", "pawl.outbox.dispatch");
    close_place(&p);
    collector_close(far);
}

/* Refused twice with a word that means "later": the same spans come again. */
static void o23_a_busy_collector_gets_them_again(const char *url)
{
    place      p;
    collector *far = collector_open(2, 503);
    open_place(
        &p, url,
        (pawl_observe_options){.otlp = collector_url(far), .otlp_period = PAWL_MILLISECONDS(10)});
    world_quiet();
    send_one(&p);
    assert_json(collector_next(far, "traces"), SPANS "/0/name", "pawl.outbox.dispatch");
    close_place(&p);
    collector_close(far);
}

static void o23_an_absent_collector_stops_nothing(const char *url)
{
    place                p;
    pawl_observe_options observe  = {.port        = PAWL_OBSERVE_PORT_ANY,
                                     .otlp        = "http://127.0.0.1:1",
                                     .otlp_period = PAWL_MILLISECONDS(1)};
    static const char    failed[] = "pawl_export_failures_total{signal=\"metrics\"}";
    patience             left     = patience_of(THREAD_SECONDS);
    open_place(&p, url, observe);
    world_quiet();
    send_one(&p);
    for (;;) {
        assert_int_equal(get(&p, "GET", "/metrics"), 200);
        exposition_read(&metrics, content());
        if (exposition_value(&metrics, failed) != 0)
            break;
        patience_wait(&left, "no failure of the exporter is counted");
    }
    send_one(&p);
    close_place(&p);
}

/* It takes the connection and says nothing: an end does not wait for it for long. */
static void o23_a_silent_collector_holds_nobody_up(const char *url)
{
    place              p;
    char               otlp[100];
    struct sockaddr_in at   = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          size = sizeof at;
    int                fd   = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    snprintf(otlp, sizeof otlp, "http://127.0.0.1:%d", ntohs(at.sin_port));
    open_place(&p, url, (pawl_observe_options){.otlp = otlp, .otlp_period = PAWL_MILLISECONDS(1)});
    world_quiet();
    struct pollfd caller = {.fd = fd, .events = POLLIN};
    if (poll(&caller, 1, WAIT_SECONDS * 1000) != 1)
        fail_msg("the exporter does not connect");
    int peer = accept(fd, NULL, NULL); /* from now on a post is in hand */
    assert_true(peer >= 0);
    send_one(&p);
    close_place(&p);
    close(peer);
    close(fd);
}

/* ---- The module alone ------------------------------------------------------------------ */

/* A source that gives the module what a test is about; who waits in it waits no longer
 * than WAIT_SECONDS, and says so. */
#define TRACES_MAX 100000 /* more than a second has room for */

typedef struct source {
    pthread_mutex_t mutex;
    pthread_cond_t  change;
    bool            is_entered, is_free; /* of who asks for /readyz */
    bool            is_late;
    int             traces, metrics; /* bodies given */
} source;

static void wait_for(source *it, const bool *what)
{
    struct timespec end;
    int             result = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += WAIT_SECONDS;
    while (!*what && result == 0)
        result = pthread_cond_timedwait(&it->change, &it->mutex, &end);
    it->is_late = it->is_late || !*what;
}

static void set(source *it, bool *what)
{
    pthread_mutex_lock(&it->mutex);
    *what = true;
    pthread_cond_broadcast(&it->change);
    pthread_mutex_unlock(&it->mutex);
}

static void answer(void *context, pawl_text path, pawl_arena *arena, pawl_observe_answer *given)
{
    source *it = context;
    (void)arena;
    if (pawl_text_equal(path, PAWL_TEXT("/readyz"))) {
        set(it, &it->is_entered);
        pthread_mutex_lock(&it->mutex);
        wait_for(it, &it->is_free);
        pthread_mutex_unlock(&it->mutex);
    }
    *given = (pawl_observe_answer){200, "text/plain", PAWL_TEXT("here\n")};
}

static bool next_body(void *context, pawl_observe_signal signal, pawl_arena *arena, pawl_text *body)
{
    source *it = context;
    (void)arena;
    pthread_mutex_lock(&it->mutex);
    int given = signal == PAWL_OBSERVE_TRACES ? ++it->traces : ++it->metrics;
    pthread_cond_broadcast(&it->change);
    pthread_mutex_unlock(&it->mutex);
    *body = PAWL_TEXT("{}");
    return given <= TRACES_MAX;
}

static void done(void *context, pawl_observe_signal signal, pawl_observe_outcome outcome,
                 const char *why)
{
    (void)context;
    (void)signal;
    (void)outcome;
    (void)why;
}

static void *start_module(source *it, pawl_observe_plan *plan, const pawl_observe_ops **ops,
                          int *port)
{
    pawl_error error   = PAWL_ERROR_INIT;
    void      *carrier = NULL;
    *it                = (source){.traces = 0};
    pthread_mutex_init(&it->mutex, NULL);
    pthread_cond_init(&it->change, NULL);
    plan->source  = (pawl_observe_source){it, answer, next_body, done};
    plan->address = "127.0.0.1";
    world_ok(pawl__observe_load(ops, &error), &error);
    world_ok((*ops)->start(plan, &carrier, port, &error), &error);
    return carrier;
}

typedef struct asking {
    int  port, status;
    char page[1000];
} asking;

static void *ask_ready(void *context)
{
    asking *it = context;
    it->status = fetch(it->port, "GET", "/readyz", it->page, sizeof it->page);
    return NULL;
}

/* A store that does not answer is no reason to take the process for dead. */
static void o23_who_lives_says_so_while_the_store_is_asked(const char *url)
{
    const pawl_observe_ops *ops;
    source                  it;
    asking                  slow = {.status = 0};
    pthread_t               thread;
    pawl_observe_plan       plan    = {.port = PAWL_OBSERVE_PORT_ANY};
    void                   *carrier = start_module(&it, &plan, &ops, &slow.port);
    (void)url;
    assert_int_equal(pthread_create(&thread, NULL, ask_ready, &slow), 0);
    pthread_mutex_lock(&it.mutex);
    wait_for(&it, &it.is_entered);
    pthread_mutex_unlock(&it.mutex);
    assert_int_equal(fetch(slow.port, "GET", "/livez", page, sizeof page), 200);
    set(&it, &it.is_free);
    pthread_join(thread, NULL);
    assert_int_equal(slow.status, 200);
    assert_false(it.is_late);
    ops->stop(carrier);
}

static bool has_metrics(source *it)
{
    pthread_mutex_lock(&it->mutex);
    bool has_some = it->metrics != 0 || it->traces > TRACES_MAX;
    pthread_mutex_unlock(&it->mutex);
    return has_some;
}

/* There is always another span to send: metrics go out all the same, and the end does
 * not wait for all of them. */
static void o23_traces_without_an_end(const char *url)
{
    const pawl_observe_ops *ops;
    source                  it;
    int                     port;
    patience                left    = patience_of(WAIT_SECONDS);
    collector              *far     = collector_open(INT_MAX, 200); /* which keeps nothing */
    pawl_observe_plan       plan    = {.otlp = collector_url(far), .period = PAWL_MILLISECONDS(5)};
    void                   *carrier = start_module(&it, &plan, &ops, &port);
    (void)url;
    while (!has_metrics(&it))
        patience_wait(&left, "no metrics were asked for");
    ops->stop(carrier);
    assert_true(it.traces > 0 && it.traces <= TRACES_MAX);
    collector_close(far);
}

/* ---- A file that is none ------------------------------------------------------------- */

static void o23_a_file_that_is_no_module_is_named(const char *url)
{
    char        folder[] = "/tmp/pawl-XXXXXX";
    char        file[100], driver[1000];
    const char *build = getenv("PAWL_BUILD_DIR");
    const char *path  = getenv("PAWL_DRIVER_PATH");
    char       *saved = strdup(path != NULL ? path : "");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/libpawl-observe.so", folder);
    snprintf(driver, sizeof driver, "%s/tests/support/driver/tiny.so", build != NULL ? build : ".");
    assert_int_equal(symlink(driver, file), 0);
    setenv("PAWL_DRIVER_PATH", folder, 1);
    pawl__observe_load_set(NULL);
    pawl_observe_options observe = PAWL_OBSERVE_OPTIONS_INIT;
    observe.port                 = PAWL_OBSERVE_PORT_ANY;
    expect_refusal(url, &observe, PAWL_ECONFIG, "has no symbol pawl_observe_module");
    setenv("PAWL_DRIVER_PATH", saved, 1);
    free(saved);
    unlink(file);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STORES(o23_pages_over_a_socket),
        ON_STORE(o23_a_port_that_is_taken_is_named, "memory"),
        ON_STORE(o23_another_address, "memory"),
        ON_STORES(o23_traces_and_metrics_reach_a_collector),
        ON_STORE(o23_what_waits_is_sent_at_the_end, "memory"),
        ON_STORE(o23_many_spans_do_not_wait, "memory"),
        ON_STORE(o23_a_busy_collector_gets_them_again, "memory"),
        ON_STORE(o23_an_absent_collector_stops_nothing, "memory"),
        ON_STORE(o23_a_silent_collector_holds_nobody_up, "memory"),
        ON_STORE(o23_who_lives_says_so_while_the_store_is_asked, "memory"),
        ON_STORE(o23_traces_without_an_end, "memory"),
        ON_STORE(o23_a_file_that_is_no_module_is_named, "memory"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const char *required = getenv("PAWL_REQUIRE");
    puts("the module observe is not built (libmicrohttpd and libcurl)");
    return required != NULL && required[0] != '\0' ? 1 : 77;
}
#endif
