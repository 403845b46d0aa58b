/* test_runtime_midway.c - an endpoint in the middle of its work, while code of the application
 * stands still, or when the time of a batch is over: a commit does not wait for an outbound transport, and what was
 * claimed with the message in hand is given back. E16, O22.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/common/clock.h"
#include "support/gate.h"

PAWL_RECORD(slow_work, A_NUMBER);
PAWL_RECORD(abroad, A_NUMBER);
PAWL_RECORD(notice, A_NUMBER);
PAWL_RECORD(begin, A_NUMBER);
PAWL_RECORD(shift, A_NUMBER);

static atomic_int runs; /* of the handlers behind the gate */
static bool       fails;

static pawl_code on_slow_work(pawl_context *ctx, const slow_work *message)
{
    gate_pass();
    atomic_fetch_add(&runs, 1);
    if (fails)
        return PAWL_RETRY;
    return pawl_send(ctx, "noted", PAWL_MESSAGE(notice, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_slow_work, slow_work);

static pawl_code on_abroad(pawl_context *ctx, const abroad *message)
{
    return pawl_send(ctx, "far", PAWL_MESSAGE(notice, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_abroad, abroad);

static pawl_code on_begin(pawl_context *ctx, shift *state, const begin *message)
{
    pawl_timeout(ctx, "first", PAWL_SECONDS(1));
    return pawl_timeout(ctx, "second", PAWL_SECONDS(1));
}
PAWL_HANDLER(on_begin, shift, begin);

static pawl_code on_due(pawl_context *ctx, shift *state)
{
    for (int64_t since = pawl__monotonic_now(); pawl__monotonic_now() - since < 3;)
        ; /* longer than the time of a hasty batch */
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_due, shift);

static const pawl_saga shift_saga = SAGA_OF(
    "Shift", shift, "number", {.handle = PAWL_HANDLE(on_begin), .key = "number", .starts = true},
    {.handle = PAWL_HANDLE(on_due), .timeout = "first"},
    {.handle = PAWL_HANDLE(on_due), .timeout = "second"});

static const pawl_application application = ONE_ENDPOINT(
    "midway", .name = "mill", .sagas = PAWL_SAGAS(&shift_saga),
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_slow_work)}, {.handle = PAWL_HANDLE(on_abroad)}));

static const pawl_endpoint_spec sql_mill = {
    .name = "mill", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_slow_work), .own_sql = true})};
static const pawl_application sql_application = APPLICATION("midway", &sql_mill);

static atomic_int delivered;

static pawl_code deliver(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    gate_pass();
    for (size_t i = 0; i < count; i++)
        items[i].outcome = PAWL_ATTEMPT_SUCCESS;
    atomic_fetch_add(&delivered, (int)count);
    return PAWL_OK;
}

static const pawl_transport_ops slow_outbound = PAWL_OUTBOUND(deliver);
static const pawl_route routes[] = {{.name = "far", .outbound = &slow_outbound}, {.name = NULL}};

/* ---- A fixture ------------------------------------------------------------------------ */

typedef struct fixture {
    pawl_store  *store; /* to look */
    pawl_sender *sender;
    pawl_arena  *arena;
    runner       endpoint;
} fixture;

static void open_fixture(fixture *p, const char *url)
{
    *p = (fixture){.arena = pawl_arena_create(0)};
    world_make_tables(url, &application);
    must(pawl_store_open(url, NULL, &p->store, world_error()));
    must(pawl_sender_open(url, NULL, &p->sender, world_error()));
    atomic_store(&delivered, 0);
    atomic_store(&runs, 0);
    fails = false;
    gate_close();
}

static void close_fixture(fixture *p)
{
    pawl_arena_destroy(p->arena);
    pawl_sender_close(p->sender);
    pawl_store_close(p->store);
}

static void post(fixture *p, const pawl_record *record, const void *message)
{
    test_send(p->sender, "mill", NULL, record, message);
}

/* Of what is in the queue, what another worker can have now. */
static size_t claim_all(fixture *p, const char *queue)
{
    pawl_store      *store = p->store;
    pawl_queue_rows  rows  = {.count = 0};
    pawl_queue_claim claim = {.queue     = pawl_text_of(queue),
                              .due_max   = PAWL_TIME_MAX,
                              .count_max = 10,
                              .now       = WORLD_START};
    must(pawl_store_worker_open(store, PAWL_TEXT("mill"), PAWL_TEXT("[]"), WORLD_START,
                                world_error()));
    must(pawl_store_queue_claim(store, &claim, p->arena, &rows, world_error()));
    must(pawl_store_worker_close(store, WORLD_START, world_error()));
    return rows.count;
}

/* Nothing downstream is waited for: messages are sent and handled, and what they send is
 * there, in commits that return. */
ON_ALL_STORES(o22_no_commit_waits_for_an_outbound_transport, const char *url)
{
    fixture p;
    open_fixture(&p, url);
    runner_open(&p.endpoint, &application, NULL, url,
                (pawl_endpoint_options){.workers = 1, .routes = routes});
    post(&p, PAWL_MESSAGE(abroad, .number = 1));
    gate_wait(1);
    post(&p, PAWL_MESSAGE(abroad, .number = 2));
    patience left = patience_of(THREAD_SECONDS);
    while (test_stats(p.store, p.arena).outbox_pending < 2)
        patience_wait(&left, "the second message is not handled");
    assert_int_equal(atomic_load(&delivered), 0);
    gate_open();
    wait_for_count(&delivered, 2);
    runner_close(&p.endpoint);
    close_fixture(&p);
}

/* The message in hand is finished; the others are free at once, and nothing is counted. */
ON_ALL_STORES(e16_stopping_gives_back_what_is_claimed, const char *url)
{
    fixture p;
    open_fixture(&p, url);
    for (int32_t i = 1; i <= 3; i++)
        post(&p, PAWL_MESSAGE(slow_work, .number = i));
    runner_open(&p.endpoint, &application, NULL, url,
                (pawl_endpoint_options){.workers = 1, .batch_time_max = 1});
    gate_wait(1);
    pawl_endpoint_stop(p.endpoint.endpoint);
    gate_open();
    runner_join(&p.endpoint);
    world_ok(p.endpoint.code, &p.endpoint.error);
    assert_int_equal(claim_all(&p, "noted"), 1);
    assert_int_equal(claim_all(&p, "mill"), 2);
    assert_int_equal(test_stats(p.store, p.arena).counters.failures, 0);
    runner_destroy(&p.endpoint);
    close_fixture(&p);
}

/* A stop ends retries in memory and the batch: what failed in vain is not dead, though it has no delayed retry. */
static void stop_in_failure(fixture *p, const char *url, const pawl_application *used)
{
    open_fixture(p, url);
    fails = true;
    for (int32_t i = 1; i <= 3; i++)
        post(p, PAWL_MESSAGE(slow_work, .number = i));
    runner_open(&p->endpoint, used, NULL, url,
                (pawl_endpoint_options){
                    .workers = 1, .batch_time_max = PAWL_MINUTES(1), .delayed_retries = PAWL_NONE});
    gate_wait(1);
    pawl_endpoint_stop(p->endpoint.endpoint);
    gate_open();
    runner_join(&p->endpoint);
    world_ok(p->endpoint.code, &p->endpoint.error);
    assert_int_equal(atomic_load(&runs), 1);
    assert_int_equal(test_stats(p->store, p->arena).counters.failures, 1);
    assert_int_equal(claim_all(p, "mill"), 3);
    runner_destroy(&p->endpoint);
    close_fixture(p);
}

ON_ALL_STORES(e29_stopping_ends_immediate_retries, const char *url)
{
    fixture p;
    stop_in_failure(&p, url, &application);
}

TESTS(e29_stopping_ends_immediate_retries_with_own_sql, const char *url,
      STORE_ROW(e29_stopping_ends_immediate_retries_with_own_sql, "sqlite"),
      STORE_ROW(e29_stopping_ends_immediate_retries_with_own_sql, "postgres"))
{
    fixture p;
    stop_in_failure(&p, url, &sql_application);
}

/* The time of the batch is over behind the first of two timeouts: the other is free while its worker lives. */
ON_ALL_STORES(e16_a_timeout_for_which_there_is_no_time_is_free_at_once, const char *url)
{
    const pawl_endpoint_options hasty = {
        .options_size = sizeof hasty, .store = url, .batch_time_max = 1, .no_service = true};
    pawl_endpoint *endpoint = NULL;
    world         *it       = world_begin(url, &application, NULL, NULL);
    world_post(it, NULL, PAWL_MESSAGE(begin, .number = 1));
    world_drain(it);
    assert_int_equal(world_timeouts(it).count, 2);
    must(pawl_endpoint_create(&application, NULL, &hasty, &endpoint, world_error()));
    must(pawl_endpoint_step(endpoint, NULL, world_error()));
    pawl_timeout_row rows = world_timeout(it);
    assert_true(pawl_uuid_is_zero(rows.owner.uuid));
    assert_int_equal(rows.attempts, 0);
    pawl_endpoint_destroy(endpoint);
}
