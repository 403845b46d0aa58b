/* observe.c - endpoints join and leave their observer; the dispatcher's attempts are counted and traced.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"

#include "store/core/module.h"

#include <string.h>

#define PORT_MAX 65535
#define PERIOD_DEFAULT PAWL_SECONDS(10)
#define SPAN_COUNT_DEFAULT 2048
#define LOOK_DEADLINE PAWL_SECONDS(2) /* a probe of health gives up soon after */

static pthread_mutex_t observers_mutex = PTHREAD_MUTEX_INITIALIZER;
static pawl__observer *observers; /* under the mutex */

/* ---- The module, which listens and sends ----------------------------------- *
 *
 * It stays loaded until the process ends, as threads may still run in it. */

static pthread_mutex_t         module_mutex = PTHREAD_MUTEX_INITIALIZER;
static const pawl_observe_ops *loaded; /* under the mutex */

static pawl_code load_module(pawl_error *error)
{
    const void *ops = NULL;
    pawl_code   code =
        pawl__module_load("observe", "health, metrics and traces", PAWL_OBSERVE_MODULE_SYMBOL,
                          sizeof(pawl_observe_ops), &ops, error);
    if (code == PAWL_OK)
        loaded = ops;
    return code;
}

pawl_code pawl__observe_load(const pawl_observe_ops **ops, pawl_error *error)
{
    pthread_mutex_lock(&module_mutex);
    pawl_code code = loaded != NULL ? PAWL_OK : load_module(error);
    *ops           = loaded;
    pthread_mutex_unlock(&module_mutex);
    return code;
}

void pawl__observe_load_set(const pawl_observe_ops *ops)
{
    pthread_mutex_lock(&module_mutex);
    loaded = ops;
    pthread_mutex_unlock(&module_mutex);
}

/* ---- Options ------------------------------------------------------------- */

static pawl_code check_numbers(const pawl_observe_options *options, pawl_error *error)
{
    if (options->port < PAWL_OBSERVE_PORT_ANY || options->port > PORT_MAX)
        return pawl_error_set(error, PAWL_ECONFIG, "option observe.port is %d, the limit is %d",
                              options->port, PORT_MAX);
    if (options->otlp_period < 0 || options->otlp_period > PAWL_DAYS(1))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "option observe.otlp_period is %lld us, the limits are 0 and a day",
                              (long long)options->otlp_period);
    if (options->span_count < 0 || options->span_count > PAWL__SPANS_COUNT_MAX)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "option observe.span_count is %d, the limits are 0 and %d",
                              options->span_count, PAWL__SPANS_COUNT_MAX);
    return PAWL_OK;
}

static bool is_port(const char *text, size_t size)
{
    long number = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || number > PORT_MAX)
            return false;
        number = 10 * number + (text[i] - '0');
    }
    return number > 0 && number <= PORT_MAX;
}

/* HOST, HOST:PORT or [ADDRESS]:PORT. */
static const char *wrong_host(pawl_text host)
{
    const char *close =
        host.size > 0 && host.data[0] == '[' ? memchr(host.data, ']', host.size) : NULL;
    size_t name = close != NULL ? (size_t)(close - host.data) + 1 : 0;
    while (name < host.size && host.data[name] != ':' && close == NULL)
        name++;
    if (name == 0)
        return "names no host";
    if (name < host.size &&
        (host.data[name] != ':' || !is_port(host.data + name + 1, host.size - name - 1)))
        return "has a port that is not a number from 1 to 65535";
    return NULL;
}

/* Why a collector's URL is refused, or NULL. The text contains no part of the URL, which may have a password. */
static const char *wrong_url(const char *url)
{
    size_t scheme = strncmp(url, "http://", 7) == 0 ? 7 : strncmp(url, "https://", 8) == 0 ? 8 : 0;
    if (scheme == 0)
        return "begins with neither http:// nor https://";
    if (strpbrk(url, "?#") != NULL)
        return "has a query or a fragment: a path is put behind it";
    for (const char *at = url; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ')
            return "has a blank in it";
    pawl_text   host = {.data = url + scheme, .size = strcspn(url + scheme, "/")};
    const char *at   = memchr(host.data, '@', host.size);
    if (at != NULL) {
        host.size -= (size_t)(at + 1 - host.data);
        host.data = at + 1;
    }
    if (memchr(host.data, '@', host.size) != NULL)
        return "has more than one '@': in a password it is %40";
    return wrong_host(host);
}

/* Copies options, with defaults; `*is_wanted` false: there is nothing to observe. */
static pawl_code take_options(const pawl_observe_options *given, pawl_observe_options *taken,
                              bool *is_wanted, pawl_error *error)
{
    *taken     = (pawl_observe_options){.options_size = sizeof *taken};
    *is_wanted = false;
    if (given == NULL)
        return PAWL_OK;
    if (given->options_size == 0 || given->options_size > sizeof *taken)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "option observe does not begin with PAWL_OBSERVE_OPTIONS_INIT of this library");
    memcpy(taken, given, given->options_size);
    pawl_code code = check_numbers(taken, error);
    if (code == PAWL_OK && pawl_health_options_check(&taken->health, error) != PAWL_OK)
        code = pawl_error_wrap(error, PAWL_ECONFIG, "option observe");
    const char *wrong = taken->otlp != NULL ? wrong_url(taken->otlp) : NULL;
    if (code == PAWL_OK && wrong != NULL)
        code = pawl_error_set(error, PAWL_ECONFIG, "option observe.otlp %s", wrong);
    if (taken->address == NULL)
        taken->address = "127.0.0.1";
    if (taken->service_name == NULL)
        taken->service_name = "pawl";
    if (taken->otlp_period == 0)
        taken->otlp_period = PERIOD_DEFAULT;
    if (taken->span_count == 0)
        taken->span_count = SPAN_COUNT_DEFAULT;
    *is_wanted = taken->port != 0 || taken->otlp != NULL;
    return code;
}

pawl_code pawl__observe_check(const pawl_observe_options *options, pawl_error *error)
{
    pawl_observe_options taken;
    bool                 is_wanted;
    return take_options(options, &taken, &is_wanted, error);
}

/* ---- Observers ----------------------------------------------------------- */

static bool is_same(const char *left, const char *right)
{
    return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

static bool is_shared(const pawl__observer *observer, const pawl_observe_options *options,
                      const pawl_endpoint *endpoint)
{
    return observer->options.port == options->port &&
           is_same(observer->options.address, options->address) &&
           is_same(observer->options.otlp, options->otlp) &&
           is_same(observer->options.service_name, options->service_name) &&
           observer->options.otlp_period == options->otlp_period &&
           observer->options.span_count == options->span_count &&
           memcmp(&observer->options.health, &options->health, sizeof options->health) == 0 &&
           is_same(observer->store, endpoint->settings.store) &&
           is_same(observer->system_prefix, endpoint->settings.system_prefix);
}

static const char *copy(pawl__observer *observer, const char *text, bool *is_ok)
{
    if (text == NULL)
        return NULL;
    const char *made = pawl_arena_copy(observer->arena, text, strlen(text) + 1);
    *is_ok           = *is_ok && made != NULL;
    return made;
}

/* The collector's URL without the slashes at its end. */
static const char *copy_url(pawl__observer *observer, const char *url, bool *is_ok)
{
    size_t size = url != NULL ? strlen(url) : 0;
    while (size > 0 && url[size - 1] == '/')
        size--;
    if (url == NULL)
        return NULL;
    pawl_text made = pawl_arena_text(observer->arena, (pawl_text){.data = url, .size = size});
    *is_ok         = *is_ok && made.data != NULL;
    return made.data;
}

static bool fill(pawl__observer *observer, const pawl_observe_options *options,
                 const pawl_endpoint *endpoint)
{
    bool        is_ok = true;
    pawl_random random;
    observer->options              = *options;
    observer->options.address      = copy(observer, options->address, &is_ok);
    observer->options.service_name = copy(observer, options->service_name, &is_ok);
    observer->options.otlp         = copy(observer, options->otlp, &is_ok);
    observer->store                = copy(observer, endpoint->settings.store, &is_ok);
    observer->system_prefix        = copy(observer, endpoint->settings.system_prefix, &is_ok);
    observer->deadline =
        endpoint->settings.deadline < LOOK_DEADLINE ? endpoint->settings.deadline : LOOK_DEADLINE;
    observer->start = pawl__machine_now(endpoint);
    pawl_random_seed(&random, pawl__system_seed());
    pawl_uuid_format(pawl_uuid_v7(&random, observer->start), observer->instance);
    atomic_init(&observer->ids, pawl_random_next(&random));
    observer->plan = (pawl_observe_plan){
        .source  = {observer, pawl__observe_answer, pawl__observe_next, pawl__observe_done},
        .address = observer->options.address,
        .port    = options->port,
        .otlp    = copy_url(observer, options->otlp, &is_ok),
        .period  = options->otlp_period};
    if (options->otlp != NULL) {
        observer->spans = pawl__spans_create((size_t)options->span_count);
        is_ok           = is_ok && observer->spans != NULL;
    }
    return is_ok;
}

static void destroy(pawl__observer *observer)
{
    pawl__observe_end_look(observer);
    if (observer->carrier != NULL)
        observer->ops->stop(observer->carrier);
    size_t lost = observer->spans != NULL ? pawl__spans_waiting(observer->spans) : 0;
    if (lost > 0)
        pawl_log(PAWL_LOG_WARNING, "%zu spans were not sent: the collector did not take them",
                 lost);
    pawl_store_close(observer->answer.store);
    pawl__spans_destroy(observer->spans);
    pawl_arena_destroy(observer->arena);
    pawl_arena_destroy(observer->answer.arena);
    pthread_mutex_destroy(&observer->mutex);
    pthread_mutex_destroy(&observer->answer.mutex);
    pthread_cond_destroy(&observer->answer.is_free);
    pawl_free(observer);
}

static pawl_code create(const pawl_observe_options *options, pawl_endpoint *endpoint,
                        pawl__observer **observer, pawl_error *error)
{
    pthread_condattr_t monotonic;
    pawl__observer    *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory to observe");
    pthread_mutex_init(&made->mutex, NULL);
    pthread_mutex_init(&made->answer.mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&made->answer.is_free, &monotonic);
    pthread_condattr_destroy(&monotonic);
    made->endpoints[made->endpoint_count++] = endpoint;
    made->arena                             = pawl_arena_create(4096);
    made->answer.arena                      = pawl_arena_create(0);
    pawl_code code =
        made->arena != NULL && made->answer.arena != NULL && fill(made, options, endpoint)
            ? pawl__observe_load(&made->ops, error)
            : pawl_error_set(error, PAWL_ENOMEM, "no memory to observe");
    if (code == PAWL_OK)
        code = made->ops->start(&made->plan, &made->carrier, &made->port, error);
    if (code != PAWL_OK) {
        destroy(made);
        return code;
    }
    if (made->port != 0)
        pawl_log(PAWL_LOG_INFO, "/livez, /readyz and /metrics on %s port %d", made->options.address,
                 made->port);
    *observer = made;
    return PAWL_OK;
}

static pawl_code add(pawl__observer *observer, pawl_endpoint *endpoint, pawl_error *error)
{
    pthread_mutex_lock(&observer->mutex);
    bool has_room = observer->endpoint_count < PAWL__OBSERVED_MAX;
    if (has_room)
        observer->endpoints[observer->endpoint_count++] = endpoint;
    pthread_mutex_unlock(&observer->mutex);
    return has_room ? PAWL_OK
                    : pawl_error_set(error, PAWL_ELIMIT, "%d endpoints share a port, the limit",
                                     PAWL__OBSERVED_MAX);
}

pawl_code pawl__observe_join(pawl_endpoint *endpoint, pawl_error *error)
{
    pawl_observe_options options;
    bool                 is_wanted;
    pawl_code code = take_options(endpoint->settings.observe, &options, &is_wanted, error);
    if (code != PAWL_OK || !is_wanted)
        return code;
    pthread_mutex_lock(&observers_mutex);
    pawl__observer *found = observers;
    while (found != NULL && !is_shared(found, &options, endpoint))
        found = found->next;
    if (found != NULL) {
        code = add(found, endpoint, error);
    } else {
        code = create(&options, endpoint, &found, error);
        if (code == PAWL_OK) {
            found->next = observers;
            observers   = found;
        }
    }
    if (code == PAWL_OK)
        endpoint->observer = found;
    pthread_mutex_unlock(&observers_mutex);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "observe");
}

/* Takes the endpoint out of the list; the last slot is free afterwards. */
static void remove_endpoint(pawl__observer *observer, const pawl_endpoint *endpoint)
{
    pthread_mutex_lock(&observer->mutex);
    size_t at = 0;
    while (observer->endpoints[at] != endpoint)
        at++;
    pawl__observe_keep(observer, observer->endpoints[at]);
    size_t left = --observer->endpoint_count;
    memmove(&observer->endpoints[at], &observer->endpoints[at + 1],
            (left - at) * sizeof observer->endpoints[0]);
    pthread_mutex_unlock(&observer->mutex);
}

/* The counts of the last endpoint are sent before it leaves. */
void pawl__observe_leave(pawl_endpoint *endpoint)
{
    pawl__observer *observer = endpoint->observer;
    if (observer == NULL)
        return;
    pthread_mutex_lock(&observers_mutex);
    bool is_last = observer->endpoint_count == 1;
    if (is_last) {
        pawl__observer **at = &observers;
        while (*at != observer)
            at = &(*at)->next;
        *at = observer->next;
        destroy(observer);
    } else {
        remove_endpoint(observer, endpoint);
    }
    endpoint->observer = NULL;
    pthread_mutex_unlock(&observers_mutex);
}

int pawl_endpoint_observe_port(const pawl_endpoint *endpoint)
{
    return endpoint != NULL && endpoint->observer != NULL ? endpoint->observer->port : 0;
}

/* ---- Attempts -------------------------------------------------------------- */

/* splitmix64 of a counter with a random start: ids differ between processes, without a lock. */
static void draw_span_id(pawl__observer *observer, uint8_t id[8])
{
    uint64_t mixed = atomic_fetch_add(&observer->ids, UINT64_C(0x9E3779B97F4A7C15));
    mixed          = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed          = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    mixed          = (mixed ^ (mixed >> 31)) | 1; /* zero is no valid id */
    memcpy(id, &mixed, sizeof mixed);
}

static bool find_parent(const pawl_outbox_row *row, pawl__trace *parent)
{
    pawl_text   value   = {0};
    pawl_text   headers = row->message.headers;
    pawl_arena *arena   = NULL;
    bool        found   = false;
    if (headers.size == 0 || memmem(headers.data, headers.size, PAWL__HEADER_TRACE,
                                    sizeof PAWL__HEADER_TRACE - 1) == NULL)
        return false;
    arena = pawl_arena_create(256);
    if (arena != NULL &&
        pawl__headers_value(headers, PAWL_TEXT(PAWL__HEADER_TRACE), arena, &value) == PAWL_OK)
        found = pawl__trace_parse(value, parent);
    pawl_arena_destroy(arena);
    return found;
}

/* A message without a trace begins one, whose id is the dispatch id, so that all attempts of a row are in it. False:
 * the trace is not recorded. */
static bool begin_in_trace(pawl__observer *observer, const pawl_outbox_row *row, pawl__span *span)
{
    pawl__trace parent;
    span->has_parent = find_parent(row, &parent);
    if (span->has_parent) {
        span->trace = parent;
        memcpy(span->parent, parent.span_id, sizeof span->parent);
    } else {
        memcpy(span->trace.trace_id, row->dispatch_id.uuid.bytes, sizeof span->trace.trace_id);
        span->trace.flags = PAWL__TRACE_SAMPLED;
    }
    draw_span_id(observer, span->trace.span_id);
    return (span->trace.flags & PAWL__TRACE_SAMPLED) != 0;
}

static void put_span(pawl_endpoint *endpoint, const pawl_outbox_row *row,
                     pawl_attempt_outcome outcome, int64_t duration, pawl_time now)
{
    pawl__observer *observer = endpoint->observer;
    size_t          waiting  = 0;
    pawl__span      span     = {.begin       = pawl_time_add(now, -duration),
                                .end         = now,
                                .dispatch_id = row->dispatch_id,
                                .outcome     = outcome,
                                .attempt     = row->attempts + 1};
    if (!begin_in_trace(observer, row, &span))
        return;
    pawl__span_name(span.endpoint, sizeof span.endpoint, row->endpoint);
    pawl__span_name(span.destination, sizeof span.destination, row->destination);
    pawl__span_name(span.message_id, sizeof span.message_id, row->message.id);
    pawl__span_name(span.message_type, sizeof span.message_type, row->message.type);
    if (!pawl__spans_put(observer->spans, &span, &waiting))
        pawl__metric_add(&observer->metrics, PAWL__METRIC_SPANS_DROPPED, 0, 1);
    else if (waiting == (size_t)observer->options.span_count / 2 + 1)
        observer->ops->wake(observer->carrier);
}

void pawl__observe_attempt(pawl_endpoint *endpoint, const pawl_outbox_row *row,
                           pawl_attempt_outcome outcome, int64_t duration, pawl_time now)
{
    if (outcome > PAWL_ATTEMPT_POISON) /* an outcome that no outbound transport should return */
        outcome = PAWL_ATTEMPT_TRANSIENT;
    pawl__metric_add(&endpoint->metrics, PAWL__METRIC_ATTEMPTS, outcome, 1);
    pawl__metric_observe(&endpoint->metrics, PAWL__METRIC_DISPATCH_DURATION, duration);
    if (endpoint->observer != NULL && endpoint->observer->spans != NULL)
        put_span(endpoint, row, outcome, duration, now);
}
