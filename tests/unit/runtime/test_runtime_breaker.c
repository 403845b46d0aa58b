/* test_runtime_breaker.c - the breaker of an endpoint: what opens it, what waits while it is open,
 * its probes, and what others see of it.
 *
 * Nothing here depends on the kind of store, so memory and SQLite do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/gate.h"
#include "support/hook.h"
#include "support/observed.h"

#include "pawl/store_alarm.h"
#include "runtime/runtime.h"

#define PAUSE PAWL_SECONDS(10)

PAWL_RECORD(work_state, A_NAME);
RECORD(work, (TEXT, how));
PAWL_RECORD(alarm_set, A_NAME);
PAWL_RECORD(piece, A_NUMBER);

static atomic_bool is_down; /* what "ask" depends on */
static atomic_int  runs;
static int         alarms, flushes;

static pawl_code ask(pawl_context *ctx)
{
    return atomic_load(&is_down) ? pawl_fail(ctx, PAWL_EUNREACHABLE, "the bank is closed")
                                 : PAWL_OK;
}

static pawl_code on_work(pawl_context *ctx, const work *message)
{
    const char *how = message->how.data;
    atomic_fetch_add(&runs, 1);
    if (strcmp(how, "reject") == 0)
        return PAWL_REJECT;
    if (strcmp(how, "discard") == 0)
        return PAWL_DISCARD;
    if (strcmp(how, "later") == 0)
        return pawl_retry_after(ctx, PAWL_HOURS(5));
    if (strcmp(how, "fail") == 0)
        return PAWL_RETRY;
    return strcmp(how, "ask") == 0 ? ask(ctx) : PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_work, work);

static pawl_code on_alarm_set(pawl_context *ctx, work_state *state, const alarm_set *message)
{
    bool is_now = strcmp(message->name.data, "now") == 0;
    return pawl_timeout(ctx, "ring", is_now ? 0 : PAWL_SECONDS(1));
}
PAWL_HANDLER(on_alarm_set, work_state, alarm_set);

static pawl_code on_ring(pawl_context *ctx, work_state *state)
{
    alarms++;
    return ask(ctx);
}
PAWL_TIMEOUT_HANDLER(on_ring, work_state);

static pawl_code on_pieces(pawl_context *ctx, const piece *messages, size_t count)
{
    flushes++;
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_pieces, piece);

static const pawl_saga alarm_saga =
    SAGA_OF("Alarm", work_state, "name",
            {.handle = PAWL_HANDLE(on_alarm_set), .key = "name", .starts = true},
            {.handle = PAWL_HANDLE(on_ring), .timeout = "ring"});
static const pawl_aggregator pieces = {
    .name = "Pieces", .handle = PAWL_HANDLE(on_pieces), .period = PAWL_SECONDS(2)};
static const pawl_application application =
    ONE_ENDPOINT("breaker", .name = "working", .sagas = PAWL_SAGAS(&alarm_saga),
                 .aggregators = PAWL_AGGREGATORS(&pieces),
                 .handlers    = PAWL_ON({.handle = PAWL_HANDLE(on_work)}));

/* ---- Words ------------------------------------------------------------------- */

/* Half of ten, and what failed comes back long after. */
static const pawl_endpoint_options half_of_ten = {.immediate_retries = -1,
                                                  .retry_delay       = PAWL_HOURS(1),
                                                  .breaker_rate      = 50,
                                                  .breaker_window    = 10,
                                                  .breaker_pause     = PAUSE};

static world *open_world(const char *url, pawl_endpoint_options options)
{
    atomic_store(&runs, 0);
    atomic_store(&is_down, true);
    alarms = flushes = 0;
    gate_listen();
    return world_begin(url, &application, NULL, &options);
}

static void post(world *it, const char *how, int count)
{
    for (int i = 0; i < count; i++)
        world_post(it, NULL, PAWL_MESSAGE(work, .how = pawl_text_of(how)));
}

static void expect_runs(int wanted)
{
    assert_int_equal(atomic_load(&runs), wanted);
}

static pawl__breaker_state state_of(const world *it)
{
    int64_t shown = atomic_load(&it->endpoint->metrics.slots[PAWL__SLOT_BREAKER_STATE]);
    assert_int_equal(shown, atomic_load(&it->endpoint->breaker.state));
    return (pawl__breaker_state)shown;
}

static int openings_of(const world *it)
{
    return (int)atomic_load(&it->endpoint->metrics.slots[PAWL__SLOT_BREAKER_OPENED]);
}

/* ---- What opens it -------------------------------------------------------------- */

/* Within one batch: what has not run is given back, and nothing is counted. */
ON_STORES(a_rate_of_failures_opens_it, const char *url)
{
    world *it = open_world(url, half_of_ten);
    post(it, "ask", 20);
    pawl_step step = world_drain(it);
    expect_runs(5);
    assert_true(step.is_idle);
    assert_int_equal(step.next_due, world_now(it) + PAUSE);
    pawl_queue_rows rows = world_queue(it, "working");
    assert_int_equal(rows.count, 20);
    int attempts = 0;
    for (size_t i = 0; i < rows.count; i++)
        attempts += rows.items[i].attempts;
    assert_int_equal(attempts, 5);
    assert_int_equal(state_of(it), PAWL__BREAKER_OPEN);
    assert_int_equal(gate_said("1 endpoint working: 5 of the last 5 messages failed, the last of "
                               "type work with EUNREACHABLE: the bank is closed; its breaker is "
                               "open: nothing is claimed for 10 s, then a probe"),
                     1);
}

ON_STORES(a_short_pause_is_said_in_milliseconds, const char *url)
{
    pawl_endpoint_options options = half_of_ten;
    options.breaker_pause         = PAWL_MILLISECONDS(1500);
    world *it                     = open_world(url, options);
    post(it, "ask", 20);
    world_drain(it);
    assert_int_equal(gate_said("nothing is claimed for 1500 ms, then a probe"), 1);
}

ON_STORES(without_one_all_of_them_run, const char *url)
{
    pawl_endpoint_options none = {.immediate_retries = -1, .retry_delay = PAWL_HOURS(1)};
    world                *it   = open_world(url, none);
    post(it, "ask", 200);
    world_drain(it);
    expect_runs(200);
    assert_int_equal(state_of(it), PAWL__BREAKER_CLOSED);
}

ON_STORES(old_failures_slide_out_of_the_window, const char *url)
{
    world *it = open_world(url, half_of_ten);
    post(it, "ask", 4);
    post(it, "fine", 10);
    post(it, "ask", 4);
    world_drain(it);
    assert_int_equal(state_of(it), PAWL__BREAKER_CLOSED);
    post(it, "fine", 8);
    post(it, "ask", 4);
    world_drain(it);
    assert_int_equal(state_of(it), PAWL__BREAKER_CLOSED);
    post(it, "ask", 1);
    world_drain(it);
    assert_int_equal(state_of(it), PAWL__BREAKER_OPEN);
    assert_int_equal(gate_said("5 of the last 10 messages failed"), 1);
    expect_runs(31);
}

/* A rate of 100 is so many failures in a row. */
ON_STORES(a_success_begins_a_row_anew, const char *url)
{
    pawl_endpoint_options in_a_row = half_of_ten;
    in_a_row.breaker_rate          = 100;
    in_a_row.breaker_window        = 3;
    world *it                      = open_world(url, in_a_row);
    for (int i = 0; i < 70; i++) {
        post(it, "ask", 2);
        post(it, "fine", 1);
    }
    world_drain(it);
    assert_int_equal(state_of(it), PAWL__BREAKER_CLOSED);
    post(it, "ask", 4);
    world_drain(it);
    assert_int_equal(state_of(it), PAWL__BREAKER_OPEN);
    expect_runs(213);
}

/* A window of more than one word of bits. */
ON_STORES(a_large_window_is_counted_whole, const char *url)
{
    pawl_endpoint_options large = half_of_ten;
    large.breaker_rate          = 30;
    large.breaker_window        = 1000;
    world *it                   = open_world(url, large);
    post(it, "ask", 299);
    post(it, "fine", 700);
    world_drain(it);
    post(it, "ask", 20);
    world_drain(it);
    assert_int_equal(state_of(it), PAWL__BREAKER_OPEN); /* the next of 1000, and no more */
    expect_runs(1000);
}

/* The message is to blame, or its handler says when to come back. */
ON_STORES(failures_of_the_message_itself_do_not_count, const char *url)
{
    static const char *const hows[] = {"reject", "later", "discard"};
    world                   *it     = open_world(url, half_of_ten);
    post(it, "ask", 4);
    for (size_t i = 0; i < COUNT(hows); i++)
        post(it, hows[i], 20);
    world_post_text(it, "cut", "work", "{\"how\":");
    world_drain(it);
    assert_int_equal(state_of(it), PAWL__BREAKER_CLOSED);
    post(it, "fail", 1); /* the failures before are in the window still */
    world_drain(it);
    assert_int_equal(state_of(it), PAWL__BREAKER_OPEN);
}

/* With retries left or without, a letter or none. */
ON_STORES(a_failure_that_ends_as_a_letter_counts, const char *url)
{
    pawl_endpoint_options no_retries = half_of_ten;
    no_retries.delayed_retries       = -1;
    world *it                        = open_world(url, no_retries);
    post(it, "ask", 9);
    world_drain(it);
    assert_int_equal(world_dead(it).count, 5);
    assert_int_equal(world_queue(it, "working").count, 4);
    assert_int_equal(state_of(it), PAWL__BREAKER_OPEN);
}

ON_STORES(failing_timeouts_open_it_too, const char *url)
{
    world *it = open_world(url, half_of_ten);
    for (int i = 0; i < 8; i++)
        world_post(it, NULL, PAWL_MESSAGE(alarm_set, .name = pawl_text_of(test_text("a%d", i))));
    world_drain(it);
    world_go_both(it, PAWL_SECONDS(1));
    assert_int_equal(alarms, 5); /* eight that went well, then five of the last ten */
    assert_int_equal(state_of(it), PAWL__BREAKER_OPEN);
}

/* ---- While it is open --------------------------------------------------------------- */

static void trip(world *it)
{
    post(it, "ask", 5);
    world_drain(it);
    assert_int_equal(state_of(it), PAWL__BREAKER_OPEN);
    expect_runs(5);
}

ON_STORES(nothing_is_claimed_while_it_is_open, const char *url)
{
    world *it = open_world(hook_url(url), half_of_ten);
    world_post(it, NULL, PAWL_MESSAGE(alarm_set, .name = PAWL_TEXT("a")));
    world_post(it, NULL, PAWL_MESSAGE(piece, .number = 1));
    trip(it);
    post(it, "fine", 3);
    atomic_store(&is_down, false);
    atomic_store(&hook_given_back, 0);
    world_go_both(it, PAUSE - 1);
    assert_int_not_equal(atomic_load(&hook_given_back), 0);
    expect_runs(5);
    assert_int_equal(alarms, 0);
    assert_int_equal(flushes, 0);
    assert_int_equal(world_timeout(it).attempts, 0);
    world_go_both(it, 1);
    expect_runs(8);
    assert_int_equal(alarms, 1);
    assert_int_equal(flushes, 1);
    assert_int_equal(state_of(it), PAWL__BREAKER_CLOSED);
    assert_int_equal(gate_said("endpoint working: its breaker is closed again, after 10 s"), 1);
}

/* ---- Probes ------------------------------------------------------------------------- */

ON_STORES(a_failed_probe_opens_it_for_longer, const char *url)
{
    static const int64_t  pauses[] = {10, 20, 40, 50, 50};
    pawl_endpoint_options capped   = half_of_ten;
    capped.breaker_pause_max       = PAWL_SECONDS(50);
    world *it                      = open_world(url, capped);
    trip(it);
    post(it, "ask", 20);
    for (int i = 0; i < 5; i++) {
        world_go_both(it, PAWL_SECONDS(pauses[i]) - 1);
        expect_runs(5 + i);
        pawl_step step = world_go_both(it, 1);
        expect_runs(6 + i); /* one message for a probe */
        assert_int_equal(state_of(it), PAWL__BREAKER_OPEN);
        assert_int_equal(step.next_due, world_now(it) + PAWL_SECONDS(i < 4 ? pauses[i + 1] : 50));
    }
    assert_int_equal(openings_of(it), 6);
    assert_int_equal(gate_said("its breaker is open"), 1);
    atomic_store(&is_down, false);
    world_go_both(it, PAWL_SECONDS(50));
    assert_int_equal(gate_said("its breaker is closed again, after 220 s"), 1);
}

/* The longest pause is at least the first. */
ON_STORES(a_first_pause_may_be_longer_than_the_longest, const char *url)
{
    pawl_endpoint_options long_one = half_of_ten;
    long_one.breaker_pause         = PAWL_MINUTES(7);
    world *it                      = open_world(url, long_one);
    trip(it);
    post(it, "fine", 1);
    world_go_both(it, PAWL_MINUTES(7) - 1);
    expect_runs(5);
    world_go_both(it, 1);
    expect_runs(6);
}

ON_STORES(so_many_probes_in_a_row_close_it, const char *url)
{
    world *it = open_world(url, half_of_ten);
    trip(it);
    post(it, "fine", 2);
    world_go_both(it, PAUSE);
    expect_runs(7);
    assert_int_equal(state_of(it), PAWL__BREAKER_HALF_OPEN); /* the third has not come yet */
    post(it, "ask", 2);
    world_drain(it);
    expect_runs(8);
    assert_int_equal(state_of(it), PAWL__BREAKER_OPEN);
    atomic_store(&is_down, false);
    world_go_both(it, 2 * PAUSE);
    expect_runs(9); /* the row of successes begins anew */
    assert_int_equal(state_of(it), PAWL__BREAKER_HALF_OPEN);
    post(it, "ask", 2);
    world_drain(it);
    expect_runs(11);
    assert_int_equal(state_of(it), PAWL__BREAKER_CLOSED);
    /* Pause and window begin anew. */
    atomic_store(&is_down, true);
    post(it, "ask", 6);
    pawl_step step = world_drain(it);
    expect_runs(16);
    assert_int_equal(step.next_due, world_now(it) + PAUSE);
    assert_int_equal(gate_said("its breaker is open"), 2);
}

ON_STORES(a_message_that_says_nothing_is_no_probe, const char *url)
{
    world *it = open_world(url, half_of_ten);
    trip(it);
    atomic_store(&is_down, false);
    post(it, "reject", 10);
    world_go_both(it, PAUSE);
    expect_runs(15);
    assert_int_equal(state_of(it), PAWL__BREAKER_HALF_OPEN);
    post(it, "fine", 3);
    world_drain(it);
    assert_int_equal(state_of(it), PAWL__BREAKER_CLOSED);
}

/* A message and a timeout are claimed for one probe, and the second is given back. Business time is the
 * system's, as under a virtual clock the message waits for other timeouts of its time anyway. */
ON_STORES(one_probe_is_one_unit, const char *url)
{
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = half_of_ten;
    world                *it       = open_world(url, half_of_ten);
    options.options_size           = sizeof options;
    options.store                  = url;
    options.machine                = it->machine;
    must(pawl_endpoint_create(&application, NULL, &options, &endpoint, world_error()));
    world_post(it, NULL, PAWL_MESSAGE(alarm_set, .name = PAWL_TEXT("now")));
    post(it, "ask", 6);
    must(pawl_endpoint_drain(endpoint, NULL, world_error()));
    expect_runs(5);
    pawl_clock_set(it->machine, WORLD_START + PAUSE);
    must(pawl_endpoint_drain(endpoint, NULL, world_error()));
    assert_int_equal(alarms + atomic_load(&runs), 6);
    assert_int_equal(atomic_load(&endpoint->metrics.slots[PAWL__SLOT_BREAKER_OPENED]), 2);
    pawl_endpoint_destroy(endpoint);
}

/* ---- What others see ---------------------------------------------------------------- */

ON_MODULE(health_and_metrics_tell_of_it, const char *url, "memory")
{
    static const pawl_observe_options served  = {.options_size = sizeof served,
                                                 .port         = PAWL_OBSERVE_PORT_ANY};
    pawl_endpoint_options             options = half_of_ten;
    observed                          p       = {.target = ""};
    options.observe                           = &served;
    p.it                       = *open_world(url, options); /* which ends with the test */
    pawl_observe_answer answer = observed_ask(&p, "/readyz");
    assert_true(world_says(answer.body, "{\"name\":\"breaker\",\"status\":\"healthy\"}"));
    trip(&p.it);
    pawl_clock_set(p.it.machine, WORLD_START + PAWL_SECONDS(4));
    answer = observed_ask(&p, "/readyz");
    assert_int_equal(answer.status, 200);
    assert_true(world_says(answer.body, "{\"status\":\"degraded\""));
    assert_true(world_says(answer.body,
                           "{\"name\":\"breaker\",\"status\":\"degraded\",\"reason\":\"endpoint "
                           "working: its breaker has been open for 4 s: work: EUNREACHABLE: the "
                           "bank is closed\"}"));
    const exposition *page = observed_metrics(&p);
    assert_true(exposition_value(page, "pawl_breaker_state{endpoint=\"working\"}") == 2);
    assert_true(exposition_value(page, "pawl_breaker_opened_total{endpoint=\"working\"}") == 1);
}

static void note_critical(void *context, const char *what, const pawl_error *error)
{
    world_note(context, "%s: %s", what, error->text);
}

static pawl_alarm_rows alarms_of(world *it)
{
    pawl_alarm_rows rows = {.count = 0};
    must(pawl_store_alarms(it->store, it->arena, &rows, world_error()));
    return rows;
}

/* Other processes see it in the store until it is closed, and the action is called each time that it opens. */
ON_MODULE(the_store_and_the_critical_action_are_told, const char *url, "memory")
{
    static world_log      told;
    pawl_endpoint_options options = half_of_ten;
    options.critical              = note_critical;
    options.critical_context      = &told;
    world_forget(&told);
    world *it = open_world(url, options);
    world_drain(it);
    assert_int_equal(alarms_of(it).count, 0);
    trip(it);
    pawl_alarm_rows rows = alarms_of(it);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.items[0].endpoint.data, "working");
    assert_string_equal(rows.items[0].what.data, "breaker");
    assert_string_equal(rows.items[0].text.data, "work: EUNREACHABLE: the bank is closed");
    assert_int_equal(rows.items[0].since, WORLD_START);
    world_go_both(it, PAUSE); /* a probe fails: nothing new */
    assert_int_equal(alarms_of(it).count, 1);
    pawl__worker_close_store(it->endpoint->worker);
    assert_int_equal(alarms_of(it).count, 0); /* gone with the worker's row */
    world_go_both(it, PAUSE - 1);
    assert_int_equal(alarms_of(it).count, 1);
    assert_string_equal(told.text, "breaker: the breaker of endpoint working is open: work: "
                                   "EUNREACHABLE: the bank is closed ");
    atomic_store(&is_down, false);
    post(it, "well", 3);
    world_go_both(it, 3 * PAUSE);
    assert_int_equal(state_of(it), PAWL__BREAKER_CLOSED);
    assert_int_equal(alarms_of(it).count, 0);
    assert_int_equal(world_events(it, PAWL_ALARM_STREAMS "/working").count, 3);
    atomic_store(&is_down, true);
    world_forget(&told);
    atomic_store(&runs, 0);
    trip(it);
    assert_true(told.size > 0);
}

ON_MODULE(no_breaker_is_no_check, const char *url, "memory")
{
    static const pawl_observe_options served  = {.options_size = sizeof served,
                                                 .port         = PAWL_OBSERVE_PORT_ANY};
    pawl_endpoint_options             options = {.observe = &served};
    observed                          p       = {.target = ""};
    p.it = *open_world(url, options); /* which ends with the test */
    assert_false(world_says(observed_ask(&p, "/readyz").body, "\"breaker\""));
}

/* ---- Threads ------------------------------------------------------------------------ */

/* All workers share it, on the system's clock; then all is handled. */
ON_STORES(workers_share_it_and_go_on, const char *url)
{
    pawl_sender          *sender  = NULL;
    pawl_endpoint_options options = half_of_ten;
    options.workers               = 3;
    options.retry_delay           = PAWL_MILLISECONDS(10);
    options.delayed_retries       = 1000;
    options.retry_delay_max       = PAWL_MILLISECONDS(10);
    options.breaker_pause         = PAWL_MILLISECONDS(30);
    options.breaker_pause_max     = PAWL_MILLISECONDS(30);
    atomic_store(&runs, 0);
    atomic_store(&is_down, true);
    gate_listen();
    world_hold(url);
    runner *run = runner_begin(&application, NULL, url, options);
    must(pawl_sender_open(url, NULL, &sender, world_error()));
    for (int i = 0; i < 100; i++)
        must(pawl_sender_send(sender, "working", NULL, PAWL_MESSAGE(work, .how = PAWL_TEXT("ask")),
                              world_error()));
    must(pawl_sender_commit(sender, world_error()));
    patience       left  = patience_of(THREAD_SECONDS);
    pawl__metrics *shown = &run->endpoint->metrics;
    while (atomic_load(&shown->slots[PAWL__SLOT_BREAKER_OPENED]) < 3)
        patience_wait(&left, "no probe has failed");
    /* Four more than openings, those in the hands of others, and a probe that runs just now. */
    int     so_far   = atomic_load(&runs);
    int64_t openings = atomic_load(&shown->slots[PAWL__SLOT_BREAKER_OPENED]);
    assert_in_range(so_far, 7, openings + 10);
    atomic_store(&is_down, false);
    gate_wait_until_said("its breaker is closed again");
    wait_for_count(&runs, 100);
    pawl_sender_close(sender);
}
