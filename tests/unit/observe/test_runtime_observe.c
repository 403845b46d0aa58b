/* test_runtime_observe.c - endpoints and their observer, with a module that does
 * nothing by itself: the test asks in its place. O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/minimal.h"
#include "support/observed.h"

#include "pawl/operations.h"
#include "runtime/operate/observe/observe.h"

#include <time.h>
#include <yyjson.h>

static const pawl_observe_options served = {.options_size = sizeof(pawl_observe_options),
                                            .port         = 9464};

/* ---- Counting -------------------------------------------------------------------- */

#define SERIES(outcome) "pawl_outbox_attempts_total{endpoint=\"left\",outcome=\"" outcome "\"}"

ON_MODULE_AND_STORES(o23_attempts_are_counted_by_outcome, const char *url)
{
    world_quiet();
    observed *p = observed_open(url, served, (pawl_endpoint_options){.outbox_attempts = 2});
    world_post(&p->it, NULL, PAWL_MESSAGE(call, .number = 1));
    world_drain(&p->it);
    observed_failures = 1;
    world_post(&p->it, NULL, PAWL_MESSAGE(call, .number = 2));
    world_drain(&p->it);
    const exposition *page = observed_metrics(p);
    assert_true(exposition_value(page, SERIES("success")) == 1);
    assert_true(exposition_value(page, SERIES("transient")) == 1);
    assert_true(exposition_value(page, "pawl_outbox_pending") == 1);
    assert_true(exposition_value(page, "pawl_outbox_dead") == 0);
    observed_failures = 1;
    world_go_both(&p->it, PAWL_HOURS(1));
    page = observed_metrics(p);
    assert_true(exposition_value(page, SERIES("poison")) == 1);
    assert_true(exposition_value(page, SERIES("rejected")) == 0);
    assert_true(exposition_value(page, "pawl_outbox_pending") == 0);
    assert_true(exposition_value(page, "pawl_outbox_dead") == 1);
    assert_true(exposition_value(page, "pawl_messages_handled_total") == 2);
    assert_true(exposition_value(page, "pawl_outbox_dispatch_duration_seconds_count{endpoint="
                                       "\"left\"}") == 3);
    assert_true(exposition_value(page, "pawl_store_up") == 1);
}

#define DELIVERY_MS 5

static pawl_code deliver_slowly(hook_point at, void *context)
{
    const struct timespec pause = {.tv_nsec = DELIVERY_MS * 1000000L};
    if (at == HOOK_BEFORE_COMMIT)
        (void)nanosleep(&pause, NULL);
    return PAWL_OK;
}

ON_MODULE_AND_STORES(o23_the_histogram_has_the_time_of_deliveries, const char *url)
{
    observed *p = observed_open(url, served, (pawl_endpoint_options){0});
    hook_set(deliver_slowly, NULL);
    (void)observed_send(p, 1);
    pawl_attempt_rows attempts =
        world_attempts(&p->it, world_outbox_row(&p->it, PAWL_OUTBOX_DISPATCHED).id);
    assert_int_equal(attempts.count, 1);
    assert_true(attempts.items[0].duration >= PAWL_MILLISECONDS(DELIVERY_MS));
    assert_true(exposition_value(observed_metrics(p),
                                 "pawl_outbox_dispatch_duration_seconds_sum{endpoint=\"left\"}") >=
                DELIVERY_MS / 1000.0);
}

ON_MODULE_AND_STORES(o23_deleted_rows_are_counted, const char *url)
{
    observed *p =
        observed_open(url, served, (pawl_endpoint_options){.outbox_retention = PAWL_DAYS(1)});
    for (int32_t i = 0; i < 3; i++)
        world_post(&p->it, NULL, PAWL_MESSAGE(call, .number = i));
    world_drain(&p->it);
    static const char series[] = "pawl_outbox_retention_deleted_total{endpoint=\"left\"}";
    assert_true(exposition_value(observed_metrics(p), series) == 0);
    assert_true(exposition_value(observed_metrics(p), "pawl_deduplication_records") == 3);
    world_go_both(&p->it, PAWL_DAYS(8)); /* the inbox's marks go as well, and are not counted */
    assert_true(exposition_value(observed_metrics(p), series) == 3);
    assert_true(exposition_value(observed_metrics(p), "pawl_deduplication_records") == 0);
}

#define LEADER(endpoint) "pawl_leader{endpoint=\"" endpoint "\"}"

/* Until its lease is over, whatever became of the runner; nothing is said of an endpoint
 * that delivers nothing. */
ON_MODULE_AND_STORES(o20_o23_who_leads_is_shown, const char *url)
{
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options;
    observed             *p = observed_open(url, served, (pawl_endpoint_options){0});
    assert_true(exposition_value(observed_metrics(p), LEADER("left")) == 0);
    world_drain(&p->it);
    assert_true(exposition_value(observed_metrics(p), LEADER("left")) == 1);
    pawl_clock_set(p->it.machine, WORLD_START + PAWL_SECONDS(11));
    assert_true(exposition_value(observed_metrics(p), LEADER("left")) == 0);
    world_drain(&p->it);
    assert_true(exposition_value(observed_metrics(p), LEADER("left")) == 1);
    options        = p->it.options;
    options.routes = NULL;
    must(pawl_endpoint_create(&observed_application, "right", &options, &endpoint, world_error()));
    assert_int_equal(observed_starts, 1);
    assert_false(exposition_has(observed_metrics(p), LEADER("right")));
    pawl_endpoint_destroy(endpoint);
}

#define READY(queue) "pawl_queue_messages{queue=\"" queue "\",state=\"ready\"}"

/* A queue has a row of its own, and what nobody reads says so. */
ON_MODULE_AND_STORES(o23_queues_and_steps_are_shown, const char *url)
{
    observed *p = observed_open(url, served, (pawl_endpoint_options){0});
    world_post(&p->it, NULL, PAWL_MESSAGE(call, .number = 1));
    assert_true(exposition_value(observed_metrics(p), READY("left")) == 1);
    assert_true(exposition_value(observed_metrics(p),
                                 "pawl_queue_messages{queue=\"left\",state=\"scheduled\"}") == 0);
    pawl_clock_set(p->it.machine, WORLD_START + PAWL_SECONDS(61));
    assert_true(exposition_value(observed_metrics(p),
                                 "pawl_queue_oldest_age_seconds{queue=\"left\"}") == 61);
    assert_true(
        exposition_value(observed_metrics(p), "pawl_health{check=\"queue_age\"}") +
            exposition_value(observed_metrics(p), "pawl_health{check=\"queue_no_consumer\"}") ==
        1);
    assert_true(exposition_value(observed_metrics(p),
                                 "pawl_step_duration_seconds_count{endpoint=\"left\"}") == 0);
    world_drain(&p->it);
    assert_true(exposition_value(observed_metrics(p),
                                 "pawl_step_duration_seconds_count{endpoint=\"left\"}") >= 1);
    assert_false(exposition_has(observed_metrics(p), READY("left")));
    assert_true(exposition_value(observed_metrics(p), "pawl_health{check=\"queue_age\"}") == 0);
    assert_true(exposition_value(observed_metrics(p), "pawl_timeout_lateness_seconds") == 0);
}

/* A message in delayed retry is delayed, and known from one that was sent for later. */
ON_MODULE_AND_STORES(o23_retries_that_wait_are_shown, const char *url)
{
    observed *p = observed_open(
        url, served,
        (pawl_endpoint_options){.immediate_retries = -1, .retry_delay = PAWL_HOURS(1)});
    world_post(&p->it, NULL, PAWL_MESSAGE(call, .number = OBSERVED_AWAY));
    assert_true(exposition_value(observed_metrics(p), "pawl_queue_retried{queue=\"left\"}") == 0);
    world_drain(&p->it);
    const exposition *page = observed_metrics(p);
    assert_true(exposition_value(page, "pawl_queue_retried{queue=\"left\"}") == 1);
    assert_true(exposition_value(page, "pawl_queue_retried_age_seconds{queue=\"left\"}") == 0);
    assert_true(exposition_value(page, "pawl_health{check=\"retry_age\"}") == 0);
    pawl_clock_set(p->it.machine, WORLD_START + PAWL_MINUTES(5));
    page = observed_metrics(p);
    assert_true(exposition_value(page, "pawl_queue_retried_age_seconds{queue=\"left\"}") == 300);
    assert_true(exposition_value(page, "pawl_health{check=\"retry_age\"}") == 1);
    pawl_observe_answer answer = observed_ask(p, "/readyz");
    assert_int_equal(answer.status, 200);
    assert_true(world_says(answer.body, "queue left: a message in delayed retry was first due"));
}

/* How far a projection is, whoever reads it, and since when one waits for an event. */
ON_MODULE_AND_STORES(o23_projections_are_shown, const char *url)
{
    const pawl_projection_failure first = {.position = 1,
                                           .stream   = PAWL_TEXT("a"),
                                           .version  = 1,
                                           .type     = PAWL_TEXT("x"),
                                           .at       = WORLD_START,
                                           .attempts = 1,
                                           .code     = PAWL_TEXT("EPERSIST"),
                                           .error    = PAWL_TEXT("no"),
                                           .endpoint = PAWL_TEXT("left")};
    observed                     *p     = observed_open(url, served, (pawl_endpoint_options){0});
    must(pawl_store_projection_fail(p->it.store, PAWL_TEXT("totals"), &first, WORLD_START,
                                    world_error()));
    pawl_clock_set(p->it.machine, WORLD_START + PAWL_SECONDS(11));
    const exposition *page = observed_metrics(p);
    assert_true(exposition_value(page, "pawl_projection_lag_events{projection=\"totals\"}") == 0);
    assert_true(exposition_value(page, "pawl_projection_failing_seconds{projection=\"totals\"}") ==
                11);
    assert_true(exposition_value(page, "pawl_health{check=\"projection_failing\"}") == 1);
}

/* However many names messages are sent to, labels have a limit. */
ON_MODULE_AND_STORES(o23_queues_beyond_the_limit_are_one, const char *url)
{
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = WORLD_START};
    observed         *p       = observed_open(url, served, (pawl_endpoint_options){0});
    for (int i = 0; i < PAWL__NAMES_SHOWN + 2; i++)
        must(pawl_sender_send_json(p->it.sender, test_text("queue%04d", i), &options, "x",
                                   PAWL_TEXT("{}"), world_error()));
    must(pawl_sender_commit(p->it.sender, world_error()));
    const exposition *page = observed_metrics(p);
    assert_true(exposition_has(page, READY("queue0099")));
    assert_false(exposition_has(page, READY("queue0100")));
    assert_true(exposition_value(page, READY("(others)")) == 2);
}

/* Without options nothing is loaded, and counting goes on. */
ON_MODULE_AND_STORES(o23_nothing_is_loaded_unless_asked_for, const char *url)
{
    observed *p = observed_open(url, (pawl_observe_options){0}, (pawl_endpoint_options){0});
    assert_int_equal(observed_starts, 0);
    assert_int_equal(pawl_endpoint_observe_port(p->it.endpoint), 0);
    world_post(&p->it, NULL, PAWL_MESSAGE(call, .number = 1));
    world_drain(&p->it);
    assert_int_equal(atomic_load(&p->it.endpoint->metrics.slots[PAWL__SLOT_ATTEMPTS]), 1);
}

/* ---- Answers ---------------------------------------------------------------------- */

ON_MODULE_AND_STORES(o23_ready_says_why_not, const char *url)
{
    world_quiet();
    observed *p = observed_open(
        url, served,
        (pawl_endpoint_options){.outbox_delay = PAWL_HOURS(1), .outbox_delay_max = PAWL_HOURS(1)});
    assert_int_equal(observed_ask(p, "/livez").status, 200);
    pawl_observe_answer answer = observed_ask(p, "/readyz");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.content_type, "application/json");
    assert_true(world_says(answer.body, "{\"status\":\"healthy\""));
    observed_failures = 1;
    world_post(&p->it, NULL, PAWL_MESSAGE(call, .number = 2));
    world_drain(&p->it);
    pawl_clock_set(p->it.machine, WORLD_START + PAWL_SECONDS(90));
    answer = observed_ask(p, "/readyz");
    assert_int_equal(answer.status, 200);
    assert_true(world_says(answer.body, "{\"status\":\"degraded\""));
    assert_true(world_says(answer.body, "is 90 s old, the limit is 60 s"));
    pawl_clock_set(p->it.machine, WORLD_START + PAWL_MINUTES(6));
    answer = observed_ask(p, "/readyz");
    assert_int_equal(answer.status, 503);
    assert_true(world_says(answer.body, "{\"status\":\"unhealthy\""));
    assert_int_equal(observed_ask(p, "/livez").status, 200);
    assert_true(exposition_value(observed_metrics(p), "pawl_outbox_oldest_age_seconds") == 360);
    assert_int_equal(observed_ask(p, "/").status, 404);
    assert_int_equal(observed_ask(p, "/metricsx").status, 404);
}

ON_MODULE_AND_STORES(o23_a_stopping_endpoint_is_not_ready, const char *url)
{
    observed *p = observed_open(url, served, (pawl_endpoint_options){0});
    pawl_endpoint_stop(p->it.endpoint);
    pawl_observe_answer answer = observed_ask(p, "/readyz");
    assert_int_equal(answer.status, 503);
    assert_true(world_says(answer.body, "\"reason\":\"endpoint left is stopping\""));
}

/* On the system's clock; the row is put there by another handle. */
ON_MODULE_AND_STORES(o23_an_answer_of_the_store_is_good_for_a_moment, const char *url)
{
    static const char pending[]      = "pawl_outbox_pending";
    pawl_outbox_row   row            = {.dispatch_id = {{{1}}},
                                        .endpoint    = PAWL_TEXT("nobody"),
                                        .destination = PAWL_TEXT("far"),
                                        .message     = {.id      = PAWL_TEXT("m1"),
                                                        .type    = PAWL_TEXT("call"),
                                                        .body    = PAWL_TEXT("{}"),
                                                        .headers = PAWL_TEXT("")}};
    observed         *p              = observed_open(url, served, (pawl_endpoint_options){0});
    p->it.endpoint->settings.machine = NULL;
    pawl__store_answer *look         = &p->it.endpoint->observer->answer;
    int64_t             begin        = pawl__monotonic_now();
    assert_true(exposition_value(observed_metrics(p), pending) == 0);
    assert_true(look->due >= begin + PAWL_SECONDS(1));
    look->due = INT64_MAX;
    must(pawl_store_outbox_insert(p->it.store, &row, WORLD_START, world_error()));
    assert_true(exposition_value(observed_metrics(p), pending) == 0);
    look->due = 0;
    assert_true(exposition_value(observed_metrics(p), pending) == 1);
    p->it.endpoint->settings.machine = p->it.machine;
}

/* Looking costs little; the end of an outage is not told a minute late. */
TEST(o23_looks_are_rare_but_not_after_an_outage)
{
    assert_int_equal(pawl__store_answer_pause(100, true), PAWL_SECONDS(1));
    assert_int_equal(pawl__store_answer_pause(PAWL_MILLISECONDS(400), true), PAWL_SECONDS(4));
    assert_int_equal(pawl__store_answer_pause(PAWL_SECONDS(2), true), PAWL_SECONDS(20));
    assert_int_equal(pawl__store_answer_pause(PAWL_SECONDS(4), true), PAWL_SECONDS(30));
    assert_int_equal(pawl__store_answer_pause(100, false), PAWL_SECONDS(1));
    assert_int_equal(pawl__store_answer_pause(PAWL_SECONDS(4), false), PAWL_SECONDS(5));
}

/* On the system's clock, until the test ends. */
static pawl__store_answer *answer_in_time(observed *p)
{
    p->it.endpoint->settings.machine = NULL;
    assert_int_equal(observed_ask(p, "/readyz").status, 200);
    return &p->it.endpoint->observer->answer;
}

/* The test stands for the thread that looks, and does not come back. */
ON_MODULE_AND_STORES(o23_nobody_waits_for_a_look_that_takes_too_long, const char *url)
{
    observed           *p    = observed_open(url, served, (pawl_endpoint_options){0});
    pawl__store_answer *last = answer_in_time(p);
    world_post(&p->it, NULL, PAWL_MESSAGE(call, .number = 1));
    last->due = 0;
    assert_true(exposition_has(observed_metrics(p), READY("left")));
    last->is_looking = true;
    last->look       = (pawl__look){.end = pawl__monotonic_now() + PAWL_MINUTES(10)};
    last->due        = pawl__monotonic_now();
    assert_int_equal(observed_ask(p, "/readyz").status, 200);
    last->due -= PAWL_SECONDS(2);
    last->look.end             = pawl__monotonic_now() + PAWL_MILLISECONDS(20);
    pawl_observe_answer answer = observed_ask(p, "/readyz");
    assert_int_equal(answer.status, 503);
    assert_true(pawl__monotonic_now() >= last->look.end);
    assert_true(world_says(answer.body, "\"reason\":\"the store does not answer in time\""));
    const exposition *page = observed_metrics(p);
    assert_true(exposition_value(page, "pawl_store_up") == 0);
    assert_false(exposition_has(page, "pawl_outbox_pending"));
    assert_false(exposition_has(page, READY("left")));
    last->is_looking = false;
    assert_int_equal(observed_ask(p, "/readyz").status, 200);
    p->it.endpoint->settings.machine = p->it.machine;
}

static void *ask_ready(void *context)
{
    pawl_observe_answer *answer = context;
    pawl_arena          *arena  = pawl_arena_create(0);
    observed_plan->source.answer(observed_plan->source.context, PAWL_TEXT("/readyz"), arena,
                                 answer);
    pawl_arena_destroy(arena);
    return NULL;
}

/* Without an answer before: it gets the one that the other thread was given. */
ON_MODULE_AND_STORES(o23_who_comes_during_a_look_gets_its_answer, const char *url)
{
    pthread_t           thread;
    pawl_observe_answer got  = {0};
    observed           *p    = observed_open(url, served, (pawl_endpoint_options){0});
    pawl__store_answer *last = answer_in_time(p);
    pawl_health         well = last->health;
    pthread_mutex_lock(&last->mutex);
    last->is_looking = true;
    last->look       = (pawl__look){.end = pawl__monotonic_now() + PAWL_MINUTES(10)};
    last->health     = (pawl_health){.check_count = 0};
    pthread_mutex_unlock(&last->mutex);
    assert_int_equal(pthread_create(&thread, NULL, ask_ready, &got), 0);
    pthread_mutex_lock(&last->mutex);
    last->is_looking = false;
    last->health     = well;
    last->due        = INT64_MAX;
    pthread_cond_broadcast(&last->is_free);
    pthread_mutex_unlock(&last->mutex);
    pthread_join(thread, NULL);
    assert_int_equal(got.status, 200);
    p->it.endpoint->settings.machine = p->it.machine;
}

static pawl__observer *ended; /* while its store is asked */
static int             interrupts;

static pawl_code end_within(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                            pawl_error *error)
{
    if (ended != NULL)
        pawl__observe_end_look(ended);
    return PAWL_OK;
}

static pawl_code commit_none(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    return PAWL_OK;
}

static void count_interrupt(pawl_store *store)
{
    interrupts++;
}

/* The reads before the end say neither that the store is well nor that it is away. */
ON_MODULE(o23_the_end_breaks_off_a_look, const char *url, "memory")
{
    static pawl_store_ops ops   = {MINIMAL_STORE, .scheme = "ending", .commit = commit_none,
                                   .stats = end_within, .interrupt = count_interrupt};
    observed             *p     = observed_open(url, served, (pawl_endpoint_options){0});
    pawl__store_answer   *last  = answer_in_time(p);
    pawl__observer       *it    = p->it.endpoint->observer;
    const char           *store = it->store;
    must(pawl_store_register(&ops, world_error()));
    pawl_store_close(last->store);
    last->store = NULL;
    last->due   = 0;
    it->store   = "ending:";
    assert_int_equal(observed_ask(p, "/readyz").status, 200); /* the handle stays open */
    last->health.state = PAWL_DEGRADED;
    last->due          = 0;
    ended              = it;
    assert_true(world_says(observed_ask(p, "/readyz").body, "{\"status\":\"degraded\""));
    assert_int_equal(interrupts, 1);
    assert_null(last->store);
    it->store = store;
    assert_true(exposition_value(observed_metrics(p), "pawl_store_up") == 1); /* as it was known */
    assert_null(last->store);
    last->health = (pawl_health){.check_count = 0};
    assert_true(world_says(observed_ask(p, "/readyz").body, "{\"status\":\"healthy\""));
    assert_non_null(last->store);
    p->it.endpoint->settings.machine = p->it.machine;
}

/* ---- Sharing ------------------------------------------------------------------------ */

static pawl_endpoint *open_right(observed *p, const pawl_observe_options *observe)
{
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = p->it.options;
    options.observe                = observe;
    must(pawl_endpoint_create(&observed_application, "right", &options, &endpoint, world_error()));
    return endpoint;
}

ON_MODULE_AND_STORES(o23_endpoints_with_equal_options_share, const char *url)
{
    pawl_observe_options other = served;
    observed            *p     = observed_open(url, served, (pawl_endpoint_options){0});
    assert_int_equal(pawl_endpoint_observe_port(p->it.endpoint), 9464);
    pawl_endpoint *endpoint = open_right(p, &served);
    assert_int_equal(observed_starts, 1);
    const exposition *page = observed_metrics(p);
    assert_true(exposition_has(page, "pawl_outbox_retention_deleted_total{endpoint=\"left\"}"));
    assert_true(exposition_has(page, "pawl_outbox_retention_deleted_total{endpoint=\"right\"}"));
    pawl_endpoint_destroy(endpoint);
    assert_int_equal(observed_stops, 0);
    other.health.dead_degraded       = 2;
    const pawl_observe_plan *earlier = observed_plan;
    endpoint                         = open_right(p, &other);
    assert_int_equal(observed_starts, 2);
    pawl_endpoint_destroy(endpoint);
    assert_int_equal(observed_stops, 1);
    observed_plan = earlier;
    test_now(p);
    assert_int_equal(observed_stops, 2);
}

/* Prometheus refuses a page that has a series twice. */
ON_MODULE_AND_STORES(o23_endpoints_of_one_name_are_one_series, const char *url)
{
    pawl_endpoint    *others[2];
    observed         *p      = observed_open(url, served, (pawl_endpoint_options){0});
    const pawl_route *routes = p->it.options.routes;
    p->it.options.routes     = NULL;
    others[0]                = open_right(p, &served);
    p->it.options.routes     = routes;
    others[1]                = open_right(p, &served);
    for (int64_t i = 0; i < 2; i++) {
        pawl__metric_add(&others[i]->metrics, PAWL__METRIC_ATTEMPTS, PAWL_ATTEMPT_REJECTED, 5 + i);
        pawl__metric_observe(&others[i]->metrics, PAWL__METRIC_STEP_DURATION, PAWL_SECONDS(1 + i));
        pawl__metric_set(&others[i]->metrics, PAWL__METRIC_BREAKER_STATE, 2 - i);
        pawl__metric_set(&others[i]->metrics, PAWL__METRIC_INTAKE_UNSETTLED, 3 + i);
    }
    const exposition *page = observed_metrics(p);
    assert_true(exposition_value(
                    page, "pawl_outbox_attempts_total{endpoint=\"right\",outcome=\"rejected\"}") ==
                11);
    assert_true(exposition_value(page, "pawl_step_duration_seconds_sum{endpoint=\"right\"}") == 3);
    assert_true(exposition_value(page, "pawl_step_duration_seconds_count{endpoint=\"right\"}") ==
                2);
    assert_true(exposition_value(page, "pawl_breaker_state{endpoint=\"right\"}") == 2);
    assert_true(exposition_has(page, "pawl_leader{endpoint=\"right\"}"));
    assert_true(exposition_has(page, "pawl_store_up"));
    assert_true(exposition_value(page, "pawl_inbound_unacknowledged{endpoint=\"right\"}") == 4);
    assert_true(exposition_value(page, "pawl_step_duration_seconds_count{endpoint=\"left\"}") == 0);
    for (int i = 0; i < 2; i++)
        pawl_endpoint_destroy(others[i]);
}

static void come_and_go(observed *p, const char *name, int64_t opened)
{
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = p->it.options;
    must(pawl_endpoint_create(&observed_application, name, &options, &endpoint, world_error()));
    pawl__metric_add(&endpoint->metrics, PAWL__METRIC_BREAKER_OPENED, 0, opened);
    pawl__metric_set(&endpoint->metrics, PAWL__METRIC_BREAKER_STATE, opened);
    pawl_endpoint_destroy(endpoint);
}

/* Counts of what happened since the last export are not lost, and counters do not fall. */
ON_MODULE_AND_STORES(o23_counts_of_an_endpoint_that_left_stay, const char *url)
{
    static const char state[]  = "pawl_breaker_state{endpoint=\"right\"}";
    static const char opened[] = "pawl_breaker_opened_total{endpoint=\"right\"}";
    observed         *p        = observed_open(url, served, (pawl_endpoint_options){0});
    come_and_go(p, "right", 3);
    come_and_go(p, "right", 4);
    const exposition *page = observed_metrics(p);
    assert_true(exposition_value(page, opened) == 7);
    assert_false(exposition_has(page, state));
    assert_false(exposition_has(page, "pawl_leader{endpoint=\"right\"}"));
    assert_true(exposition_has(page, "pawl_leader{endpoint=\"left\"}"));
    p->it.options.routes    = NULL;
    pawl_endpoint *endpoint = open_right(p, &served);
    pawl__metric_add(&endpoint->metrics, PAWL__METRIC_BREAKER_OPENED, 0, 1);
    page = observed_metrics(p);
    assert_true(exposition_value(page, opened) == 8);
    assert_true(exposition_value(page, state) == 0);
    assert_false(exposition_has(page, "pawl_leader{endpoint=\"right\"}"));
    pawl_endpoint_destroy(endpoint);
    pawl__observer *observer = p->it.endpoint->observer;
    observer->left_count     = PAWL__OBSERVED_MAX; /* the others have no name */
    come_and_go(p, "left", 1);
    assert_int_equal(observer->left_count, PAWL__OBSERVED_MAX);
    come_and_go(p, "right", 1);
    observer->left_count = 1;
    page                 = observed_metrics(p);
    assert_true(exposition_value(page, opened) == 9);
    assert_true(exposition_value(page, "pawl_breaker_opened_total{endpoint=\"left\"}") == 0);
}

ON_STORE(o23_a_port_has_a_limit_of_endpoints, const char *url, "memory")
{
    pawl_endpoint        *more[63] = {0}, *refused = NULL;
    pawl_endpoint_options options;
    observed             *p = observed_open(url, served, (pawl_endpoint_options){0});
    options                 = p->it.options;
    options.routes          = NULL;
    for (size_t i = 0; i < 63; i++)
        must(pawl_endpoint_create(&observed_application, "right", &options, &more[i],
                                  world_error()));
    must_fail_with(
        pawl_endpoint_create(&observed_application, "right", &options, &refused, world_error()),
        PAWL_ELIMIT, "64 endpoints share a port, the limit");
    for (size_t i = 0; i < 63; i++)
        pawl_endpoint_destroy(more[i]);
}

/* Each observer asks one store. */
ON_MODULE_AND_STORES(o23_endpoints_of_two_stores_do_not_share, const char *url)
{
    char                     other[1000];
    pawl_endpoint           *endpoint = NULL;
    observed                *p        = observed_open(url, served, (pawl_endpoint_options){0});
    const pawl_observe_plan *earlier  = observed_plan;
    scenario_url_like(url, other, sizeof other);
    world_make_tables(other, &observed_application);
    pawl_endpoint_options options = p->it.options;
    options.store                 = other;
    must(pawl_endpoint_create(&observed_application, "right", &options, &endpoint, world_error()));
    assert_int_equal(observed_starts, 2);
    pawl_endpoint_destroy(endpoint);
    assert_int_equal(observed_stops, 1);
    observed_plan = earlier;
    test_now(p);
    scenario_forget(other);
}

/* Old counts would be taken for those of now. The file is moved away, and comes back. */
/* A file can be moved. */
ON_MODULE(o23_counts_of_a_store_that_is_away_are_not_shown, const char *url, "sqlite")
{
    const char *path = url + strlen("sqlite:");
    assert_null(strchr(path, '?'));
    const char *away = test_text("%s.away", path);
    observed   *p    = observed_open(url, served, (pawl_endpoint_options){0});
    assert_true(exposition_has(observed_metrics(p), "pawl_outbox_pending"));
    assert_int_equal(rename(path, away), 0);
    const exposition *page = observed_metrics(p);
    assert_true(exposition_value(page, "pawl_store_up") == 0);
    assert_false(exposition_has(page, "pawl_outbox_pending"));
    assert_int_equal(observed_ask(p, "/readyz").status, 503);
    assert_int_equal(rename(away, path), 0);
    page = observed_metrics(p);
    assert_true(exposition_value(page, "pawl_store_up") == 1);
    assert_true(exposition_has(page, "pawl_outbox_pending"));
}
