/* answers.c - answers to requests for health and metrics.
 *
 * The store is read through a separate handle, by one thread at a time. An answer is valid for a second, or for ten
 * times as long as it took, so that looks take at most a tenth of the time; but not longer than half a minute, and a
 * failure only a few seconds, so that an outage and a recovery are soon seen.
 *
 * While a thread looks, others get the last answer, unless it expired longer ago than a look may take. Then they wait
 * until the look ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"

#include <stdio.h>
#include <string.h>

#define LOOK_PERIOD PAWL_SECONDS(1)
#define LOOK_SHARE 10
#define ANSWER_PERIOD_MAX PAWL_SECONDS(30)
#define FAILURE_PERIOD_MAX PAWL_SECONDS(5)

/* ---- The store ------------------------------------------------------------- */

pawl_time pawl__observe_now(pawl__observer *observer, bool *is_virtual)
{
    pthread_mutex_lock(&observer->mutex);
    const pawl_endpoint *first = observer->endpoints[0];
    pawl_time            now   = pawl__machine_now(first);
    *is_virtual                = first->settings.machine != NULL;
    pthread_mutex_unlock(&observer->mutex);
    return now;
}

static void keep_queue(pawl__metrics_view *view, const pawl_health_figures *figures,
                       const pawl_queue_stats *queue, pawl_time now)
{
    int64_t *messages = &view->values[PAWL__SLOT_QUEUE_MESSAGES];
    int64_t *age      = &view->values[PAWL__SLOT_QUEUE_AGE];
    int64_t *retried  = &view->values[PAWL__SLOT_QUEUE_RETRIED_AGE];
    messages[0] += queue->ready;
    messages[1] += queue->scheduled;
    view->values[PAWL__SLOT_QUEUE_RETRIED] += queue->retried;
    view->values[PAWL__SLOT_QUEUE_WORKERS] += (int64_t)pawl_health_readers(figures, queue->queue);
    if (queue->oldest != 0 && now - queue->oldest > *age)
        *age = now - queue->oldest;
    if (queue->retried_since != 0 && now - queue->retried_since > *retried)
        *retried = now - queue->retried_since;
}

/* Takes the next row, or the last, shared one, as the number of labels must have a limit. NULL: out of memory. */
static pawl__metrics_view *next_place(pawl__store_answer *at, size_t index, pawl_text name,
                                      pawl__metric_scope scope)
{
    bool                is_last = index >= PAWL__NAMES_SHOWN;
    pawl__metrics_view *view    = &at->places[at->place_count];
    if (index > PAWL__NAMES_SHOWN)
        return view - 1;
    view->name   = is_last ? PAWL_TEXT("(others)") : pawl_arena_text(at->arena, name);
    view->owner  = scope == PAWL__OF_QUEUE ? "queue" : "projection";
    view->scopes = 1u << scope;
    if (view->name.data == NULL)
        return NULL;
    at->place_count++;
    return view;
}

static void keep_projection(pawl__metrics_view *view, const pawl_projection_row *row, pawl_time now)
{
    int64_t *lag     = &view->values[PAWL__SLOT_PROJECTION_LAG];
    int64_t *failing = &view->values[PAWL__SLOT_PROJECTION_FAILING];
    int64_t  span    = row->failure.position != 0 ? now - row->failure.since : 0;
    *lag             = row->lag > *lag ? row->lag : *lag;
    *failing         = span > *failing ? span : *failing;
}

/* Keeps the values of queues and projections by name. */
static void keep_places(pawl__store_answer *at, const pawl_health_figures *figures, pawl_time now)
{
    const pawl_stats           *stats       = figures->stats;
    const pawl_projection_rows *projections = &figures->projections;
    pawl__metrics_view         *view;
    at->place_count = 0;
    pawl_arena_reset(at->arena);
    at->places = pawl_arena_take(at->arena, PAWL__PLACES_MAX * sizeof *at->places);
    for (size_t i = 0; at->places != NULL && i < stats->queue_count; i++) {
        view = next_place(at, i, stats->queues[i].queue, PAWL__OF_QUEUE);
        if (view == NULL)
            return;
        keep_queue(view, figures, &stats->queues[i], now);
    }
    for (size_t i = 0; at->places != NULL && i < projections->count; i++) {
        view = next_place(at, i, projections->items[i].name, PAWL__OF_PROJECTION);
        if (view == NULL)
            return;
        keep_projection(view, &projections->items[i], now);
    }
}

static void keep_health(pawl__metrics *metrics, const pawl_health *health)
{
    for (size_t i = 0; i < PAWL__HEALTH_CHECK_COUNT && i < health->check_count; i++)
        pawl__metric_set_at(metrics, PAWL__METRIC_HEALTH, i, (int64_t)health->checks[i].state);
}

static void keep_numbers(pawl__metrics *metrics, const pawl_health_figures *figures, pawl_time now)
{
    const pawl_stats    *stats    = figures->stats;
    const pawl_counters *counters = &stats->counters;
    int64_t              age =
        stats->outbox_oldest != 0 && stats->outbox_oldest < now ? now - stats->outbox_oldest : 0;
    pawl__metric_set(metrics, PAWL__METRIC_OUTBOX_PENDING, stats->outbox_pending);
    pawl__metric_set(metrics, PAWL__METRIC_OUTBOX_HELD, stats->outbox_blocked);
    pawl__metric_set(metrics, PAWL__METRIC_OUTBOX_DEAD, stats->outbox_dead);
    pawl__metric_set(metrics, PAWL__METRIC_OUTBOX_AGE, age);
    pawl__metric_set(metrics, PAWL__METRIC_TIMEOUT_LATENESS,
                     pawl_health_timeout_late(figures, now));
    pawl__metric_set(metrics, PAWL__METRIC_TIMEOUTS_DUE, stats->timeouts_due);
    pawl__metric_set(metrics, PAWL__METRIC_TIMEOUTS_PENDING, stats->timeouts_pending);
    pawl__metric_set(metrics, PAWL__METRIC_DEAD_LETTERS, stats->dead);
    pawl__metric_set(metrics, PAWL__METRIC_INBOX_MARKS, stats->inbox);
    pawl__metric_set(metrics, PAWL__METRIC_AGGREGATOR_ROWS, stats->aggregator_rows);
    pawl__metric_set(metrics, PAWL__METRIC_FLUSHES_DEAD, stats->flushes_dead);
    pawl__metric_set(metrics, PAWL__METRIC_WORKERS, stats->workers);
    pawl__metric_raise(metrics, PAWL__METRIC_HANDLED, counters->messages);
    pawl__metric_raise(metrics, PAWL__METRIC_HANDLED_TIMEOUTS, counters->timeouts);
    pawl__metric_raise(metrics, PAWL__METRIC_HANDLED_FLUSHES, counters->flushes);
    pawl__metric_raise(metrics, PAWL__METRIC_FAILURES, counters->failures);
    pawl__metric_raise(metrics, PAWL__METRIC_CONFLICTS, counters->conflicts);
    pawl__metric_raise(metrics, PAWL__METRIC_DEAD, counters->dead);
}

/* Reads the store. Called without the mutex. */
static pawl_code ask(const pawl__observer *observer, pawl_store **store, pawl_time now,
                     pawl_health_figures *figures, pawl_arena *arena, pawl_error *error)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_EXISTING;
    options.system_prefix      = observer->system_prefix;
    options.deadline           = observer->deadline;
    pawl_code code             = PAWL_OK;
    if (*store == NULL)
        code = pawl_store_open(observer->store, &options, store, error);
    return code == PAWL_OK
               ? pawl__health_read(*store, &observer->answer.look, now, arena, figures, error)
               : code;
}

/* State of the check in `health`; healthy if it is missing. */
static pawl_health_state state_of(const pawl_health *health, const char *name)
{
    for (size_t i = 0; i < health->check_count; i++)
        if (strcmp(health->checks[i].name, name) == 0)
            return health->checks[i].state;
    return PAWL_HEALTHY;
}

/* Logs a line for each check whose state has changed. */
static void say_changes(const pawl_health *before, const pawl_health *after)
{
    for (size_t i = 0; i < after->check_count; i++) {
        const pawl_health_result *result = &after->checks[i];
        pawl_health_state         was    = state_of(before, result->name);
        if (result->state == was)
            continue;
        if (result->state == PAWL_HEALTHY)
            pawl_log(PAWL_LOG_INFO, "health: %s is healthy again", result->name);
        else
            pawl_log(PAWL_LOG_WARNING, "health: %s is %s: %s", result->name,
                     pawl_health_name(result->state), result->reason);
    }
}

static void keep_answer(pawl__observer *observer, pawl_code code, const pawl_error *error,
                        const pawl_health_figures *figures, pawl_time now)
{
    pawl__store_answer *at = &observer->answer;
    pawl_health         health;
    at->has_store = code == PAWL_OK;
    if (code != PAWL_OK) {
        pawl__health_of_failure(error->text, &at->health);
        return;
    }
    keep_numbers(&observer->metrics, figures, now);
    keep_places(at, figures, now);
    pawl_health_judge(figures, &observer->options.health, now, &health);
    say_changes(&at->judged, &health);
    keep_health(&observer->metrics, &health);
    at->health = at->judged = health;
}

int64_t pawl__store_answer_pause(int64_t took, bool has_answered)
{
    int64_t pause = took * LOOK_SHARE;
    int64_t most  = has_answered ? ANSWER_PERIOD_MAX : FAILURE_PERIOD_MAX;
    if (pause > most)
        pause = most;
    return pause > LOOK_PERIOD ? pause : LOOK_PERIOD;
}

/* Makes a look. Releases the mutex while it waits for the store. If the end of the observer interrupts the look, the
 * result is ignored. */
static void look(pawl__observer *observer, pawl_time now, pawl_arena *arena)
{
    pawl_error          error     = PAWL_ERROR_INIT;
    pawl_health_figures figures   = PAWL_HEALTH_FIGURES_INIT;
    pawl__store_answer *at        = &observer->answer;
    pawl_store         *store     = at->store;
    bool                is_ending = atomic_load(&observer->is_ending);
    int64_t             begin     = pawl__monotonic_now();
    at->is_looking                = true;
    at->look = pawl__look_begin(observer->deadline, is_ending ? NULL : &observer->is_ending);
    pthread_mutex_unlock(&at->mutex);
    pawl_code code = ask(observer, &store, now, &figures, arena, &error);
    pthread_mutex_lock(&at->mutex);
    at->store = code == PAWL_OK ? store : NULL;
    if (code != PAWL_OK) { /* no other thread can interrupt the handle now */
        pthread_mutex_unlock(&at->mutex);
        pawl_store_close(store);
        pthread_mutex_lock(&at->mutex);
    }
    at->is_looking = false;
    pthread_cond_broadcast(&at->is_free);
    if (code != PAWL_OK && !is_ending && atomic_load(&observer->is_ending))
        return;
    int64_t end = pawl__monotonic_now();
    keep_answer(observer, code, &error, &figures, now);
    at->due = end + pawl__store_answer_pause(end - begin, at->has_store);
}

/* May the last answer be returned during a look? At the end of the observer always. */
static bool is_good(const pawl__observer *observer)
{
    const pawl__store_answer *at = &observer->answer;
    return at->health.check_count > 0 && (atomic_load(&observer->is_ending) ||
                                          pawl__monotonic_now() - at->due < observer->deadline);
}

/* Waits until the look under way ends or fails. */
static void wait_for_look(pawl__store_answer *at)
{
    struct timespec until = {.tv_sec  = (time_t)(at->look.end / PAWL_SECONDS(1)),
                             .tv_nsec = (long)(at->look.end % PAWL_SECONDS(1)) * 1000};
    while (at->is_looking && pthread_cond_timedwait(&at->is_free, &at->mutex, &until) == 0) {
    }
}

/* Returns the health, after a look if the last answer is too old or the clock is virtual, as that does not advance by
 * itself. `*has_store`: the counts of the store are valid. */
static pawl_health answer_of(pawl__observer *observer, pawl_arena *arena, bool *has_store)
{
    bool                is_virtual;
    pawl_time           now = pawl__observe_now(observer, &is_virtual);
    pawl__store_answer *at  = &observer->answer;
    pawl_health         health;
    pthread_mutex_lock(&at->mutex);
    if (at->is_looking && (is_virtual || !is_good(observer)))
        wait_for_look(at);
    bool is_due = is_virtual || pawl__monotonic_now() >= at->due;
    if (!at->is_looking && is_due && !(atomic_load(&observer->is_ending) && is_good(observer)))
        look(observer, now, arena);
    bool is_given = is_good(observer);
    *has_store    = is_given && at->has_store;
    if (is_given)
        health = at->health;
    else
        pawl__health_of_failure(PAWL__STORE_IS_LATE, &health);
    pthread_mutex_unlock(&at->mutex);
    return health;
}

void pawl__observe_end_look(pawl__observer *observer)
{
    pawl__store_answer *at = &observer->answer;
    pthread_mutex_lock(&at->mutex);
    atomic_store(&observer->is_ending, true);
    if (at->is_looking && at->store != NULL)
        pawl_store_interrupt(at->store);
    pthread_mutex_unlock(&at->mutex);
}

/* ---- Answers ----------------------------------------------------------------- */

static void answer_live(pawl__observer *observer, pawl_arena *arena, pawl_observe_answer *answer)
{
    (void)observer;
    (void)arena;
    *answer = (pawl_observe_answer){200, "text/plain; charset=utf-8", PAWL_TEXT("alive\n")};
}

static void check_endpoints(pawl__observer *observer, pawl_health *health)
{
    pthread_mutex_lock(&observer->mutex);
    for (size_t i = 0; i < observer->endpoint_count; i++) {
        const pawl_endpoint *endpoint = observer->endpoints[i];
        if (!atomic_load(&endpoint->is_stopping))
            continue;
        char                cut[PAWL__PLACE_SIZE];
        pawl_text           name   = pawl__health_place(endpoint->model->endpoint, cut);
        pawl_health_result *result = pawl__health_add(health, "endpoint", PAWL_UNHEALTHY);
        snprintf(result->reason, sizeof result->reason, "endpoint %.*s is stopping",
                 PAWL_TEXT_ARGS(name));
        break; /* one stopping endpoint is enough: no more requests should come here */
    }
    pthread_mutex_unlock(&observer->mutex);
}

/* Functions for a check of endpoints: is the feature in use, and what is wrong with it? */
typedef bool is_on_fn(const pawl_endpoint *endpoint);
typedef void describe_fn(pawl_endpoint *endpoint, char *text, size_t size);

static bool has_transport(const pawl_endpoint *endpoint)
{
    return endpoint->settings.transport != NULL;
}

/* Adds one check for all endpoints of this process, if one of them uses the feature: the first problem that is
 * found. */
static void check_each(pawl__observer *observer, const char *name, is_on_fn *is_used,
                       describe_fn *describe, pawl_health *health)
{
    char reason[sizeof health->checks[0].reason] = "";
    bool is_on                                   = false;
    pthread_mutex_lock(&observer->mutex);
    for (size_t i = 0; i < observer->endpoint_count && reason[0] == '\0'; i++) {
        is_on |= is_used(observer->endpoints[i]);
        describe(observer->endpoints[i], reason, sizeof reason);
    }
    pthread_mutex_unlock(&observer->mutex);
    if (!is_on)
        return;
    pawl_health_result *result =
        pawl__health_add(health, name, reason[0] != '\0' ? PAWL_DEGRADED : PAWL_HEALTHY);
    memcpy(result->reason, reason, sizeof reason);
}

static void answer_ready(pawl__observer *observer, pawl_arena *arena, pawl_observe_answer *answer)
{
    bool        has_store;
    pawl_health health = answer_of(observer, arena, &has_store);
    check_each(observer, "breaker", pawl__breaker_is_on, pawl__breaker_describe, &health);
    check_each(observer, "inbound", has_transport, pawl__inbound_state_describe, &health);
    check_endpoints(observer, &health);
    *answer = (pawl_observe_answer){
        health.state == PAWL_UNHEALTHY ? 503 : 200, "application/json", {.size = 0}};
    pawl__health_json(&health, arena, &answer->body);
}

/* Fills the view, whose name is borrowed from the endpoint. */
static void read_endpoint(pawl_endpoint *endpoint, pawl__metrics_view *view)
{
    pawl__metric_set(&endpoint->metrics, PAWL__METRIC_LEADER, pawl__leader_is(endpoint));
    pawl__metrics_read(&endpoint->metrics, view);
    view->owner  = "endpoint";
    view->name   = endpoint->model->endpoint;
    view->scopes = PAWL__SCOPE(ENDPOINT) | (endpoint->route_count > 0 ? PAWL__SCOPE(RUNNER) : 0);
}

/* Merges views[*count] into an earlier view of the same name, or keeps it with a copy of its name: endpoints with one
 * name are one series. */
static bool add_view(pawl__metrics_view *views, size_t *count, pawl_arena *arena)
{
    pawl__metrics_view *added = &views[*count];
    for (pawl__metrics_view *view = views; view < added; view++)
        if (pawl_text_equal(view->name, added->name)) {
            pawl__metrics_merge(view, added);
            return true;
        }
    added->name = pawl_arena_text(arena, added->name);
    *count += added->name.data != NULL;
    return added->name.data != NULL;
}

/* Under the mutex. */
static bool read_endpoints(pawl__observer *observer, pawl_arena *arena, pawl__metrics_view *views,
                           size_t *count)
{
    bool is_ok = true;
    for (size_t i = 0; is_ok && i < observer->endpoint_count; i++) {
        read_endpoint(observer->endpoints[i], &views[*count]);
        is_ok = add_view(views, count, arena);
    }
    for (size_t i = 0; is_ok && i < observer->left_count; i++) {
        views[*count] = observer->left[i];
        is_ok         = add_view(views, count, arena);
    }
    return is_ok;
}

void pawl__observe_keep(pawl__observer *observer, pawl_endpoint *endpoint)
{
    size_t room = PAWL__OBSERVED_MAX + 1; /* counts of further names are not kept */
    if (observer->left == NULL)
        observer->left = pawl_arena_take(observer->arena, room * sizeof *observer->left);
    if (observer->left == NULL)
        return;
    pawl__metrics_view *added = &observer->left[observer->left_count];
    read_endpoint(endpoint, added);
    added->has_left = true;
    add_view(observer->left, &observer->left_count, observer->arena);
    if (observer->left_count == room)
        observer->left_count--;
}

/* Copies queues and projections of the last look to the views. */
static bool copy_places(pawl__observer *observer, pawl_arena *arena, pawl__metrics_view *views,
                        size_t *count)
{
    pawl__store_answer *at    = &observer->answer;
    bool                is_ok = true;
    pthread_mutex_lock(&at->mutex);
    *count = at->has_store ? at->place_count : 0;
    for (size_t i = 0; is_ok && i < *count; i++) {
        views[i]      = at->places[i];
        views[i].name = pawl_arena_text(arena, at->places[i].name);
        is_ok         = views[i].name.data != NULL;
    }
    pthread_mutex_unlock(&at->mutex);
    return is_ok;
}

pawl__metrics_view *pawl__observe_views(pawl__observer *observer, pawl_arena *arena, size_t *count)
{
    bool   has_store;
    size_t endpoint_count = 0, place_count = 0;
    answer_of(observer, arena, &has_store);
    pthread_mutex_lock(&observer->mutex);
    size_t room = observer->endpoint_count + observer->left_count + PAWL__PLACES_MAX + 1;
    pawl__metrics_view *views = pawl_arena_take(arena, room * sizeof *views);
    bool is_ok = views != NULL && read_endpoints(observer, arena, views, &endpoint_count);
    pthread_mutex_unlock(&observer->mutex);
    if (!is_ok ||
        (has_store && !copy_places(observer, arena, &views[endpoint_count], &place_count)))
        return NULL;
    pawl__metrics_view *own = &views[endpoint_count + place_count];
    *own                    = (pawl__metrics_view){.scopes =
                                                       PAWL__SCOPE(OBSERVER) | (has_store ? PAWL__SCOPE(STORE) : 0)};
    pawl__metrics_read(&observer->metrics, own);
    own->values[PAWL__SLOT_STORE_UP] = has_store;
    *count                           = endpoint_count + place_count + 1;
    return views;
}

static void answer_metrics(pawl__observer *observer, pawl_arena *arena, pawl_observe_answer *answer)
{
    size_t              count = 0;
    pawl__metrics_view *views = pawl__observe_views(observer, arena, &count);
    *answer = (pawl_observe_answer){200, "text/plain; version=0.0.4; charset=utf-8", {.size = 0}};
    if (views != NULL)
        pawl__metrics_text(views, count, arena, &answer->body);
}

static const struct {
    const char *path;
    void (*answer)(pawl__observer *observer, pawl_arena *arena, pawl_observe_answer *answer);
} path_rows[] = {
    {"/livez", answer_live},
    {"/metrics", answer_metrics},
    {"/readyz", answer_ready},
};

void pawl__observe_answer(void *context, pawl_text path, pawl_arena *arena,
                          pawl_observe_answer *answer)
{
    *answer = (pawl_observe_answer){404, "text/plain; charset=utf-8",
                                    PAWL_TEXT("there are /livez, /readyz and /metrics\n")};
    for (size_t i = 0; i < sizeof path_rows / sizeof path_rows[0]; i++)
        if (pawl_text_equal(path, pawl_text_of(path_rows[i].path)))
            path_rows[i].answer(context, arena, answer);
    if (answer->body.data == NULL)
        *answer =
            (pawl_observe_answer){500, "text/plain; charset=utf-8", PAWL_TEXT("out of memory\n")};
}
