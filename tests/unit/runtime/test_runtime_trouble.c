/* test_runtime_trouble.c - pawl_endpoint_run when the store is away: what is waited
 * for, what ends it; and the settings that are refused at the start.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/gate.h"
#include "support/ping.h"

#include "base/delay.h"
#include "runtime/endpoint/endpoint.h"

#define FAILURES 5 /* the pauses between them grow: one and a half seconds in all */

static const pawl_application application = APPLICATION("trouble", &plain);

/* ---- A server that can be away ------------------------------------------------ */

static pawl_store_ops        outer;
static const pawl_store_ops *inner;
static atomic_int            away_count; /* claims and openings that fail from now on */
static atomic_int            met_count;
static atomic_int            away_code;
static atomic_int            lost_commits; /* of messages, from now on */
static atomic_int            settled;      /* messages, by the other ones */
static atomic_int            opened;       /* handles */
static atomic_int  failing_opens; /* openings of further handles, once two messages are settled */
static atomic_bool is_silent;     /* claims wait until they are interrupted */
static atomic_int  interrupted;

static bool is_away(void)
{
    if (atomic_load(&away_count) <= 0)
        return false;
    atomic_fetch_sub(&away_count, 1);
    atomic_fetch_add(&met_count, 1);
    return true;
}

static pawl_code open_inner(pawl_store *store, const char *url, const pawl_store_options *options,
                            pawl_error *error)
{
    if (atomic_fetch_add(&opened, 1) > 1 && atomic_load(&failing_opens) > 0) {
        wait_for_count(&settled, 2);
        atomic_fetch_sub(&failing_opens, 1);
        return pawl_error_set(error, PAWL_EUNREACHABLE, "the server is away");
    }
    return inner->open(store, "memory:trouble", options, error);
}

static pawl_code count(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                       pawl_error *error)
{
    if (is_away())
        return pawl_error_set(error, (pawl_code)atomic_load(&away_code), "the server is away");
    return inner->stats(store, now, arena, stats, error);
}

static void interrupt(pawl_store *store)
{
    atomic_fetch_add(&interrupted, 1);
}

static pawl_code claim(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                       pawl_queue_rows *rows, pawl_error *error)
{
    while (atomic_load(&is_silent)) {
        atomic_store(&met_count, 1);
        sched_yield();
        if (atomic_load(&interrupted) > 0)
            return pawl_error_set(error, PAWL_EINTERRUPTED, "the call was interrupted");
    }
    if (is_away())
        return pawl_error_set(error, (pawl_code)atomic_load(&away_code), "the server is away");
    return inner->queue_claim(store, claim, arena, rows, error);
}

static pawl_code commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error)
{
    int count = (int)changes->queue_settle.count;
    if (count > 0 && atomic_load(&lost_commits) > 0) {
        atomic_fetch_sub(&lost_commits, 1);
        atomic_store(&away_count, 1); /* nor is it there again at once */
        return pawl_error_set(error, (pawl_code)atomic_load(&away_code), "the server went away");
    }
    pawl_code code = inner->commit(store, changes, refused, error);
    if (code == PAWL_OK)
        atomic_fetch_add(&settled, count);
    return code;
}

static void use_driver(pawl_code code)
{
    static bool is_registered;
    pawl_store *store = NULL;
    atomic_store(&ping_count, 0);
    atomic_store(&met_count, 0);
    atomic_store(&away_count, 0);
    atomic_store(&away_code, (int)code);
    atomic_store(&lost_commits, 0);
    atomic_store(&settled, 0);
    atomic_store(&opened, 0);
    atomic_store(&failing_opens, 0);
    atomic_store(&interrupted, 0);
    atomic_store(&is_silent, false);
    if (is_registered)
        return;
    must(pawl_store_open("memory:trouble", NULL, &store, world_error()));
    inner = store->ops;
    pawl_store_close(store);
    outer             = *inner;
    outer.scheme      = "trouble";
    outer.open        = open_inner;
    outer.queue_claim = claim;
    outer.commit      = commit;
    outer.stats       = count;
    outer.interrupt   = interrupt;
    must(pawl_store_register(&outer, world_error()));
    is_registered = true;
}

/* ---- Running ------------------------------------------------------------------ */

static void start(runner *it)
{
    runner_open(it, &application, NULL, "trouble:store",
                (pawl_endpoint_options){.no_service = true});
}

static void send_ping(void)
{
    pawl_sender *sender = NULL;
    must(pawl_sender_open("memory:trouble", NULL, &sender, world_error()));
    test_send(sender, "plain", NULL, PAWL_MESSAGE(ping, .number = 1));
    pawl_sender_close(sender);
}

/* The memory store is gone with its last handle. */
static pawl_store *keep_store(void)
{
    pawl_store *store = NULL;
    must(pawl_store_open("memory:trouble", NULL, &store, world_error()));
    return store;
}

TEST(a_server_that_comes_back_was_waited_for)
{
    static const pawl_code codes[] = {PAWL_EUNREACHABLE, PAWL_ELOST, PAWL_EDENIED};
    for (size_t i = 0; i < COUNT(codes); i++) {
        runner it;
        use_driver(codes[i]);
        pawl_store *store = keep_store();
        start(&it);
        send_ping();
        wait_for_count(&ping_count, 1);
        atomic_store(&away_count, FAILURES);
        send_ping();
        wait_for_count(&ping_count, 2);
        assert_int_equal(atomic_load(&met_count), FAILURES);
        runner_close(&it);
        pawl_store_close(store);
    }
}

/* Questions share a handle, beside that of the worker, until one fails. */
TEST(a_question_that_failed_is_asked_again_on_another_handle)
{
    static const int wanted[] = {1, 1, 1, 2};
    pawl_error       error    = PAWL_ERROR_INIT;
    runner           it;
    use_driver(PAWL_ELOST);
    runner_create(&it, &application, NULL, "trouble:store",
                  (pawl_endpoint_options){.no_service = true});
    atomic_store(&opened, 0);
    for (size_t i = 0; i < COUNT(wanted); i++) {
        pawl_stats stats = PAWL_STATS_INIT;
        atomic_store(&away_count, i == 2);
        pawl_code code = pawl_endpoint_stats(it.endpoint, test_arena(), &stats, &error);
        assert_int_equal(code, i == 2 ? PAWL_ELOST : PAWL_OK);
        assert_int_equal(atomic_load(&opened), wanted[i]);
    }
    runner_destroy(&it);
}

/* Without retries a single attempt that were counted would be a letter, and open the breaker. */
TEST(e26_a_store_that_goes_away_costs_no_attempt)
{
    pawl_stats stats = PAWL_STATS_INIT;
    use_driver(PAWL_EUNREACHABLE);
    pawl_store *store = keep_store();
    pawl_arena *arena = test_arena();
    runner     *it    = runner_begin(&application, NULL, "trouble:store",
                                     (pawl_endpoint_options){.no_service        = true,
                                                             .immediate_retries = -1,
                                                             .delayed_retries   = -1,
                                                             .breaker_rate      = 1,
                                                             .breaker_window    = 1});
    send_ping();
    wait_for_count(&settled, 1);
    atomic_store(&lost_commits, 2);
    send_ping();
    wait_for_count(&settled, 2);
    assert_int_equal(atomic_load(&ping_count), 4);
    assert_int_equal(atomic_load(&met_count), 2);
    must(pawl_store_stats(store, WORLD_START, arena, &stats, world_error()));
    assert_int_equal(stats.dead, 0);
    assert_int_equal(stats.counters.failures, 0);
    assert_int_equal(atomic_load(&it->endpoint->metrics.slots[PAWL__SLOT_BREAKER_OPENED]), 0);
    pawl_store_close(store);
}

/* A login that was locked, say: for hours, in a few lines. */
TEST(trouble_is_said_once_a_minute)
{
    pawl_clock *machine = pawl_clock_create(WORLD_START);
    use_driver(PAWL_EDENIED);
    pawl_store *store = keep_store();
    runner     *it    = runner_begin(&application, NULL, "trouble:store",
                                     (pawl_endpoint_options){.no_service = true, .machine = machine});
    send_ping();
    wait_for_count(&ping_count, 1);
    gate_listen();
    atomic_store(&away_count, 1000);
    send_ping();
    wait_for_count(&met_count, 3);
    assert_int_equal(gate_said("the server is away; trying again"), 1);
    pawl_clock_set(machine, WORLD_START + PAWL_SECONDS(59));
    wait_for_count(&met_count, 5);
    assert_int_equal(gate_said("the server is away; trying again"), 1);
    pawl_clock_set(machine, WORLD_START + PAWL_SECONDS(61));
    wait_for_count(&met_count, 7);
    assert_int_equal(gate_said("the server is away; trying again"), 2);
    atomic_store(&away_code, (int)PAWL_ELOST); /* another trouble is another line */
    wait_for_count(&met_count, 8);
    atomic_store(&away_count, 0);
    wait_for_count(&ping_count, 2);
    assert_int_equal(gate_said("the server is away; trying again"), 3);
    gate_wait_until_said("endpoint plain: back after 61 s");
    test_now(it);
    world_quiet();
    pawl_store_close(store);
    pawl_clock_destroy(machine);
}

/* All workers meet it, in several ways: one line, and one when the last of them is back. */
TEST(an_outage_is_one_of_the_endpoint)
{
    enum { WORKERS = 3 };
    pawl_clock *machine = pawl_clock_create(WORLD_START);
    use_driver(PAWL_ELOST);
    pawl_store *store = keep_store();
    runner     *it    = runner_begin(
               &application, NULL, "trouble:store",
               (pawl_endpoint_options){.no_service = true, .machine = machine, .workers = WORKERS});
    send_ping();
    wait_for_count(&ping_count, 1);
    gate_listen();
    for (int round = 1; round <= 2; round++) { /* the second outage is told like the first one */
        atomic_store(&met_count, 0);
        atomic_store(&away_code, (int)PAWL_ELOST);
        atomic_store(&away_count, 100000);
        for (int i = 0; i < 10; i++)
            send_ping();
        wait_for_count(&met_count, 3 * WORKERS);
        atomic_store(&away_code, (int)PAWL_EUNREACHABLE);
        wait_for_count(&met_count, 6 * WORKERS);
        assert_int_equal(gate_said("the server is away; trying again"), round);
        assert_int_equal(gate_said("back after"), round - 1);
        pawl_clock_set(machine, WORLD_START + round * PAWL_SECONDS(31));
        atomic_store(&away_count, 0);
        wait_for_count(&ping_count, 1 + 10 * round);
        while (gate_said("back after 31 s") < round)
            sched_yield();
    }
    test_now(it);
    assert_int_equal(gate_said("back after"), 2);
    world_quiet();
    pawl_store_close(store);
    pawl_clock_destroy(machine);
}

TEST(who_was_never_let_in_is_not_waited_for)
{
    runner it;
    use_driver(PAWL_EDENIED);
    pawl_store *store = keep_store();
    atomic_store(&away_count, 1000);
    start(&it);
    runner_join(&it);
    runner_destroy(&it);
    assert_int_equal(it.code, PAWL_EDENIED);
    assert_int_equal(atomic_load(&met_count), 1);
    pawl_store_close(store);
}

TEST(a_server_never_reached_is_not_waited_for)
{
    runner it;
    use_driver(PAWL_EUNREACHABLE);
    pawl_store *store = keep_store();
    atomic_store(&away_count, 1000);
    start(&it);
    runner_join(&it);
    runner_destroy(&it);
    assert_int_equal(it.code, PAWL_EUNREACHABLE);
    assert_string_equal(it.error.text, "the server is away");
    assert_int_equal(atomic_load(&met_count), 1);
    pawl_store_close(store);
}

/* The endpoint's first batch meets it, and the next opening does. */
TEST(a_server_that_goes_away_behind_the_first_claim_is_waited_for)
{
    static const pawl_code codes[] = {PAWL_EUNREACHABLE, PAWL_EDENIED};
    for (size_t i = 0; i < COUNT(codes); i++) {
        runner it;
        use_driver(codes[i]);
        pawl_store *store = keep_store();
        send_ping();
        atomic_store(&lost_commits, 1);
        start(&it);
        wait_for_count(&settled, 1);
        runner_close(&it);
        assert_int_equal(atomic_load(&met_count), 1);
        pawl_store_close(store);
    }
}

/* The server went away before the service opened its handle. */
TEST(a_server_that_a_worker_reached_is_waited_for_by_the_service)
{
    runner it;
    use_driver(PAWL_EUNREACHABLE);
    pawl_store *store = keep_store();
    atomic_store(&failing_opens, FAILURES);
    runner_open(&it, &application, NULL, "trouble:store", (pawl_endpoint_options){0});
    for (int i = 1; i <= 2; i++) {
        send_ping();
        wait_for_count(&settled, i);
    }
    patience left = patience_of(THREAD_SECONDS);
    while (atomic_load(&opened) <= FAILURES + 2)
        patience_wait(&left, "%d handles were opened", atomic_load(&opened));
    runner_close(&it);
    assert_int_equal(it.code, PAWL_OK);
    pawl_store_close(store);
}

TEST(what_does_not_pass_ends_it)
{
    runner it;
    use_driver(PAWL_EPERSIST);
    pawl_store *store = keep_store();
    start(&it);
    send_ping();
    wait_for_count(&ping_count, 1);
    atomic_store(&away_count, 1000);
    send_ping();
    runner_join(&it);
    assert_int_equal(it.code, PAWL_EPERSIST);
    assert_int_equal(atomic_load(&met_count), 1);
    /* Its stop is not taken for that of the next run. */
    must_fail(pawl_endpoint_run(it.endpoint, world_error()), PAWL_EINVAL,
              "endpoint plain: it was run before: create another one");
    runner_destroy(&it);
    pawl_store_close(store);
}

/* No handler runs: stopping waits for half of its time, and then for nothing. */
TEST(e29_a_store_that_does_not_answer_is_interrupted)
{
    pawl_clock *machine = pawl_clock_create(WORLD_START);
    use_driver(PAWL_ELOST);
    pawl_store *store = keep_store();
    runner      it;
    runner_open(&it, &application, NULL, "trouble:store",
                (pawl_endpoint_options){.no_service = true, .machine = machine});
    send_ping();
    wait_for_count(&ping_count, 1);
    atomic_store(&met_count, 0);
    atomic_store(&is_silent, true);
    send_ping();
    wait_for_count(&met_count, 1);
    pawl_endpoint_stop(it.endpoint);
    pawl_clock_set(machine, WORLD_START + PAWL_SECONDS(14));
    patience left = patience_of(1);
    while (left.left_ms > 500)
        patience_wait(&left, "half a second");
    assert_int_equal(atomic_load(&interrupted), 0);
    pawl_clock_set(machine, WORLD_START + PAWL_SECONDS(29));
    runner_join(&it);
    world_ok(it.code, &it.error);
    assert_true(atomic_load(&interrupted) > 0);
    runner_destroy(&it);
    pawl_store_close(store);
    pawl_clock_destroy(machine);
}

/* As often as it takes, once it was there; the pauses grow up to five seconds. */
TEST(patience_has_no_end)
{
    static const pawl_code away[] = {PAWL_EUNREACHABLE, PAWL_ELOST, PAWL_EUNKNOWN, PAWL_EDENIED,
                                     PAWL_EBUSY};
    pawl_random            random;
    pawl_random_seed(&random, 1);
    for (size_t i = 0; i < COUNT(away); i++)
        for (int retries = 0; retries < 50; retries++)
            assert_true(pawl__thread_retries(away[i], true, retries));
    for (int retries = 0; retries < 50; retries++) {
        assert_false(pawl__thread_retries(PAWL_EUNREACHABLE, false, retries));
        assert_false(pawl__thread_retries(PAWL_EDENIED, false, retries));
        assert_true(pawl__thread_retries(PAWL_EFULL, true, retries));
        assert_true(pawl__thread_retries(PAWL_EFULL, false, retries));
        assert_false(pawl__thread_retries(PAWL_ESCHEMA, true, retries));
        assert_false(pawl__thread_retries(PAWL_EPERSIST, true, retries));
        assert_int_equal(pawl__thread_retries(PAWL_ELOST, false, retries), retries < 10);
        assert_int_equal(pawl__thread_retries(PAWL_EBUSY, false, retries), retries < 10);
        assert_int_equal(pawl__thread_retries(PAWL_EFENCED, true, retries), retries < 10);
        assert_in_range(pawl__thread_pause(retries, &random), PAWL_MILLISECONDS(45),
                        pawl__jittered_max(PAWL_SECONDS(5)));
    }
    assert_in_range(pawl__thread_pause(0, &random), PAWL_MILLISECONDS(45), PAWL_MILLISECONDS(55));
    assert_in_range(pawl__thread_pause(1, &random), PAWL_MILLISECONDS(90), PAWL_MILLISECONDS(110));
    assert_in_range(pawl__thread_pause(49, &random), PAWL_MILLISECONDS(4500),
                    PAWL_MILLISECONDS(5500));
    assert_int_not_equal(pawl__thread_pause(49, &random), pawl__thread_pause(49, &random));
}

/* ---- Settings ----------------------------------------------------------------- */

static pawl_code create(pawl_endpoint_options options, pawl_error *error)
{
    pawl_endpoint *endpoint = NULL;
    options.options_size    = sizeof options;
    options.store           = "memory:settings";
    pawl_code code          = pawl_endpoint_create(&application, NULL, &options, &endpoint, error);
    pawl_endpoint_destroy(endpoint);
    return code;
}

TEST(marks_outlive_the_last_retry)
{
    /* 10 + 20 + 40 s, each with the most jitter. */
    pawl_endpoint_options delayed = {
        .delayed_retries = 3, .outbox_attempts = 1, .inbox_retention = PAWL_SECONDS(77)};
    must(create(delayed, world_error()));
    delayed.inbox_retention--;
    must_fail(create(delayed, world_error()), PAWL_ECONFIG,
              "option inbox_retention is 76 s, and delayed retries go on for up to 77 s: "
              "a message would be handled again when a copy of it comes after its "
              "deduplication record is gone");
    /* The second try comes after an hour, and the third. */
    pawl_endpoint_options outbox = {.outbox_attempts  = 3,
                                    .outbox_delay     = PAWL_HOURS(1),
                                    .outbox_delay_max = PAWL_HOURS(1),
                                    .inbox_retention  = PAWL_SECONDS(7920)};
    must(create(outbox, world_error()));
    outbox.inbox_retention = PAWL_HOURS(1);
    must_fail_with(create(outbox, world_error()), PAWL_ECONFIG,
                   "inbox_retention is 3600 s, and tries of the outbox go on for up to "
                   "7920 s");
    /* Sums that no clock can hold. */
    pawl_endpoint_options endless = {
        .delayed_retries = 1000, .retry_delay = PAWL_DAYS(365), .retry_delay_max = PAWL_DAYS(365)};
    assert_int_equal(create(endless, world_error()), PAWL_ECONFIG);
    pawl_endpoint_options none = {
        .delayed_retries = -1, .outbox_attempts = 1, .inbox_retention = PAWL_MILLISECONDS(1)};
    must(create(none, world_error()));
}
