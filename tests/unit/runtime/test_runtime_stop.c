/* test_runtime_stop.c - stopping while code of the application does not return, and what
 * is said of code that takes long (E29, O29).
 *
 * The code blocks until the test lets it go on. Time is the machine's clock, which the
 * test sets: stopping gives up when the clock says so, and at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/gate.h"

PAWL_RECORD(stubborn, A_NUMBER);
PAWL_RECORD(done_note, A_NUMBER);
PAWL_RECORD(latch, A_NUMBER);
PAWL_RECORD(watched, A_NUMBER);
PAWL_RECORD(found, A_NUMBER);
PAWL_RECORD(pile, A_NUMBER);
PAWL_RECORD(late, A_NUMBER);
PAWL_RECORD(own, A_NUMBER);
PAWL_RECORD(abroad, A_NUMBER);

static atomic_int sent_now_code, after_calls;

static pawl_code on_stubborn(pawl_context *ctx, const stubborn *message)
{
    pawl_send(ctx, "noted", PAWL_MESSAGE(done_note, .number = message->number));
    gate_pass();
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_stubborn, stubborn);

/* Effects of the handler after it comes back are refused. */
static pawl_code on_late(pawl_context *ctx, const late *message)
{
    gate_pass();
    atomic_store(
        &sent_now_code,
        (int)pawl_send_now(ctx, "noted", PAWL_MESSAGE(done_note, .number = message->number)));
    return pawl_send(ctx, "noted", PAWL_MESSAGE(done_note, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_late, late);

static pawl_code on_own(pawl_context *ctx, const own *message)
{
    pawl_send(ctx, "noted", PAWL_MESSAGE(done_note, .number = message->number));
    gate_pass();
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_own, own);

static pawl_code on_latch(pawl_context *ctx, latch *state, const latch *message)
{
    state->number++;
    gate_pass();
    return PAWL_OK;
}
PAWL_HANDLER(on_latch, latch, latch);

static pawl_code on_abroad(pawl_context *ctx, const abroad *message)
{
    return pawl_send(ctx, "far", PAWL_MESSAGE(done_note, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_abroad, abroad);

static pawl_code at_commit(pawl_context *ctx, void *data)
{
    gate_pass();
    return PAWL_OK;
}

static pawl_code on_watched(pawl_context *ctx, const watched *message)
{
    return pawl_before_commit(ctx, at_commit, NULL);
}
PAWL_MESSAGE_HANDLER(on_watched, watched);

static pawl_code on_pile(pawl_context *ctx, const pile *messages, size_t count)
{
    gate_pass();
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_pile, pile);

IDLE_HANDLER(on_found, latch, found);

static pawl_code find(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    *id = (pawl_saga_id){{{0}}};
    gate_pass();
    return PAWL_OK;
}

/* Of messages of one type. */
static pawl_code before(pawl_context *ctx, const pawl_message *message, void *context)
{
    if (strcmp(message->id.data, "filtered") == 0)
        gate_pass();
    return PAWL_OK;
}

static pawl_code after(pawl_context *ctx, const pawl_message *message, void *context)
{
    atomic_fetch_add(&after_calls, 1);
    return PAWL_OK;
}

static const pawl_saga latch_saga = SAGA_OF(
    "Latch", latch, "number", {.handle = PAWL_HANDLE(on_latch), .key = "number", .starts = true},
    {.handle = PAWL_HANDLE(on_found), .find = find});
static const pawl_aggregator piles = {.name = "Piles", .handle = PAWL_HANDLE(on_pile), .size = 1};

static const pawl_endpoint_spec holding = {
    .name        = "holding",
    .sagas       = PAWL_SAGAS(&latch_saga),
    .aggregators = PAWL_AGGREGATORS(&piles),
    .handlers    = PAWL_ON({.handle = PAWL_HANDLE(on_stubborn)}, {.handle = PAWL_HANDLE(on_late)},
                           {.handle = PAWL_HANDLE(on_watched)}, {.handle = PAWL_HANDLE(on_abroad)})};

static const pawl_application application = {
    PAWL_APPLICATION_HEAD, .name = "stopping", .endpoints = PAWL_ENDPOINTS(&holding),
    .filters = PAWL_FILTERS({.before = before, .after = after})};

static const pawl_application own_application = ONE_ENDPOINT(
    "own", .name = "owning", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_own), .own_sql = true}));

/* ---- A fixture ------------------------------------------------------------------------ */

typedef struct fixture {
    const char             *url;
    const pawl_application *application;
    pawl_clock             *machine;
    pawl_store             *store; /* to look */
    pawl_arena             *arena;
    runner                  first, second;
} fixture;

static void open_fixture(fixture *p, const char *url, const pawl_application *used)
{
    *p = (fixture){.url = url, .application = used, .machine = pawl_clock_create(WORLD_START)};
    world_make_tables(url, used);
    must(pawl_store_open(url, NULL, &p->store, world_error()));
    p->arena = pawl_arena_create(0);
    atomic_store(&after_calls, 0);
    atomic_store(&sent_now_code, (int)PAWL_EBUG);
    gate_listen();
    gate_close();
}

/* A thread that was given up may look at its clock later: clocks stay until the program ends. */
static void close_fixture(fixture *p)
{
    static pawl_clock *clocks[100], **next = clocks;
    world_quiet();
    pawl_arena_destroy(p->arena);
    pawl_store_close(p->store);
    *next++ = p->machine;
}

static void post_json(fixture *p, const char *id, const char *type)
{
    pawl_sender      *sender = NULL;
    pawl_send_options send   = {PAWL_SEND_OPTIONS_HEAD, .id = id};
    must(pawl_sender_open(p->url, NULL, &sender, world_error()));
    must(pawl_sender_send_json(sender, p->application->endpoints[0]->name, &send, type,
                               PAWL_TEXT("{\"number\":1}"), world_error()));
    must(pawl_sender_commit(sender, world_error()));
    pawl_sender_close(sender);
}

static void start(fixture *p, runner *it, pawl_endpoint_options options)
{
    options.machine = p->machine;
    runner_open(it, p->application, NULL, p->url, options);
}

static void pass(fixture *p, int64_t time)
{
    pawl_clock_set(p->machine, pawl_clock_now(p->machine) + time);
}

/* Stops, and the clock goes on: the run ends without what is in the gate. */
static void stop_and_give_up(fixture *p, runner *it)
{
    pawl_endpoint_stop(it->endpoint);
    patience left = patience_of(THREAD_SECONDS);
    while (pthread_tryjoin_np(it->thread, NULL) != 0) {
        pass(p, PAWL_SECONDS(7)); /* whenever it began to wait */
        patience_wait(&left, "the endpoint does not give up");
    }
    assert_int_equal(it->code, PAWL_ETIMEOUT);
}

static void expect_said(const runner *it, const char *part)
{
    if (strstr(it->error.text, part) == NULL)
        fail_msg("'%s' is not in: %s", part, it->error.text);
}

/* Threads end by themselves when their code returns: one that was in a call of the store soon. */
static void wait_until_left(runner *it, int count)
{
    patience left = patience_of(THREAD_SECONDS);
    while (pawl_endpoint_abandoned(it->endpoint) != count)
        patience_wait(&left, "of what was given up not %d are left", count);
}

static void wait_until_back(runner *it)
{
    wait_until_left(it, 0);
}

static int64_t queued(fixture *p, const char *queue)
{
    pawl_stats stats = test_stats(p->store, p->arena);
    for (size_t i = 0; i < stats.queue_count; i++)
        if (pawl_text_equal(stats.queues[i].queue, pawl_text_of(queue)))
            return stats.queues[i].ready + stats.queues[i].scheduled;
    return 0;
}

static void wait_for_queued(fixture *p, const char *queue, int64_t wanted)
{
    patience left = patience_of(THREAD_SECONDS);
    while (queued(p, queue) != wanted)
        patience_wait(&left, "%d are in %s", (int)queued(p, queue), queue);
}

/* ---- Giving up -------------------------------------------------------------------------- */

/* The rest of the batch, and the message itself, are free for others while the handler
 * stands still; what it did takes no effect when it returns. */
ON_ALL_STORES(e29_stopping_gives_up_a_handler_that_does_not_return, const char *url)
{
    fixture p;
    open_fixture(&p, url, &application);
    post_json(&p, "m-1", "stubborn");
    post_json(&p, "m-2", "stubborn");
    start(&p, &p.first, (pawl_endpoint_options){.workers = 1});
    gate_wait(1);
    stop_and_give_up(&p, &p.first);
    expect_said(&p.first, "stopping waited for 30 s and abandoned: message m-1 of type stubborn is "
                          "in handler on_stubborn for ");
    wait_until_left(&p.first, 1);
    assert_int_equal(test_stats(p.store, p.arena).workers, 0);

    gate_close();
    start(&p, &p.second, (pawl_endpoint_options){.workers = 1});
    gate_wait(1);
    gate_open(); /* both go on */
    wait_for_queued(&p, "holding", 0);
    wait_until_back(&p.first);
    runner_stop(&p.second);
    assert_int_equal(queued(&p, "noted"), 2);
    assert_int_equal(test_stats(p.store, p.arena).counters.messages, 2);
    assert_int_equal(test_stats(p.store, p.arena).workers, 0);
    /* The endpoint can be asked still: another worker took the place of the lost one. */
    must(pawl_endpoint_stats(p.first.endpoint, p.arena, &(pawl_stats)PAWL_STATS_INIT,
                             world_error()));
    runner_destroy(&p.second);
    runner_destroy(&p.first);
    close_fixture(&p);
}

/* Nothing of the application is called any more, and nothing is written. */
ON_ALL_STORES(e29_what_was_given_up_writes_nothing, const char *url)
{
    fixture p;
    open_fixture(&p, url, &application);
    post_json(&p, "m-1", "late");
    start(&p, &p.first, (pawl_endpoint_options){.workers = 1});
    gate_wait(1);
    stop_and_give_up(&p, &p.first);
    gate_open();
    wait_until_back(&p.first);
    assert_int_equal(atomic_load(&sent_now_code), PAWL_EFENCED);
    assert_int_equal(atomic_load(&after_calls), 0);
    assert_int_equal(queued(&p, "noted"), 0);
    assert_int_equal(queued(&p, "holding"), 1);
    assert_int_equal(test_stats(p.store, p.arena).counters.messages, 0);
    assert_int_equal(test_stats(p.store, p.arena).counters.failures, 0);
    runner_destroy(&p.first);
    close_fixture(&p);
}

/* The last that needs it frees the endpoint. */
ON_ALL_STORES(e29_an_endpoint_may_go_before_what_was_given_up, const char *url)
{
    fixture p;
    open_fixture(&p, url, &application);
    for (int i = 0; i < 2; i++)
        post_json(&p, i == 0 ? "m-1" : "m-2", "stubborn");
    start(&p, &p.first, (pawl_endpoint_options){.workers = 2, .batch_messages = 1});
    gate_wait(2);
    stop_and_give_up(&p, &p.first);
    expect_said(&p.first, "message m-1 of type stubborn is in handler on_stubborn");
    expect_said(&p.first, "message m-2 of type stubborn is in handler on_stubborn");
    runner_destroy(&p.first);
    atomic_store(&gate_ended, 0);
    gate_open();
    wait_for_count(&gate_ended, 2);
    assert_int_equal(queued(&p, "holding"), 2);
    close_fixture(&p);
}

typedef struct named {
    const char *type, *id, *words;
} named;

/* Each kind of the application's code is named. */
ON_ALL_STORES(e29_what_does_not_return_is_named, const char *url)
{
    static const named all[] = {
        {"latch", "s-1", "message s-1 of type latch is in handler on_latch for "},
        {"found", "f-1", "message f-1 of type found is in finder of Latch for "},
        {"watched", "w-1", "message w-1 of type watched is in a callback before the commit for "},
        {"stubborn", "filtered",
         "message filtered of type stubborn is in a filter before handlers for "},
        {"pile", "p-1", "partition Piles of type pile is in handler on_pile for "},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        fixture p;
        open_fixture(&p, url, &application);
        post_json(&p, all[i].id, all[i].type);
        start(&p, &p.first,
              (pawl_endpoint_options){.workers = 1, .not_found_wait = PAWL_MILLISECONDS(1)});
        gate_wait(1);
        stop_and_give_up(&p, &p.first);
        expect_said(&p.first, all[i].words);
        gate_open();
        wait_until_back(&p.first);
        runner_destroy(&p.first);
        /* Somebody else handles it. */
        start(&p, &p.second,
              (pawl_endpoint_options){.workers = 1, .not_found_wait = PAWL_MILLISECONDS(1)});
        wait_for_queued(&p, "holding", 0);
        patience left = patience_of(THREAD_SECONDS);
        while (test_stats(p.store, p.arena).aggregator_rows > 0)
            patience_wait(&left, "the partition is not handed over");
        runner_close(&p.second);
        close_fixture(&p);
    }
}

/* A server ends the transaction that the handler has open. */
ON_STORE(e29_a_transaction_of_what_is_given_up_is_ended, const char *url, "postgres")
{
    fixture p;
    open_fixture(&p, url, &own_application);
    post_json(&p, "m-1", "own");
    start(&p, &p.first, (pawl_endpoint_options){.workers = 1});
    gate_wait(1);
    stop_and_give_up(&p, &p.first);
    expect_said(&p.first, "message m-1 of type own is in handler on_own for ");
    gate_close();
    start(&p, &p.second, (pawl_endpoint_options){.workers = 1});
    gate_wait(1);
    gate_open();
    wait_for_queued(&p, "owning", 0);
    wait_until_back(&p.first);
    runner_close(&p.second);
    runner_destroy(&p.first);
    assert_int_equal(queued(&p, "noted"), 1);
    close_fixture(&p);
}

/* A file's write lock is its connection's until the handler returns: so it is said. */
ON_STORE(e29_a_file_is_locked_until_what_was_given_up_returns, const char *url, "sqlite")
{
    fixture p;
    open_fixture(&p, url, &own_application);
    post_json(&p, "m-1", "own");
    start(&p, &p.first, (pawl_endpoint_options){.workers = 1, .deadline = PAWL_MILLISECONDS(50)});
    gate_wait(1);
    stop_and_give_up(&p, &p.first);
    assert_int_equal(gate_said("abandoned workers keep their claims until they come back"), 1);
    gate_open();
    wait_until_back(&p.first);
    runner_destroy(&p.first);
    assert_int_equal(queued(&p, "noted"), 0);
    start(&p, &p.second, (pawl_endpoint_options){.workers = 1});
    wait_for_queued(&p, "owning", 0);
    runner_close(&p.second);
    assert_int_equal(queued(&p, "noted"), 1);
    close_fixture(&p);
}

/* ---- Outbound transports ---------------------------------------------------------------------------------- */

static atomic_int delivered, closed;

static pawl_code deliver(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    gate_pass();
    for (size_t i = 0; i < count; i++)
        items[i].outcome = PAWL_ATTEMPT_SUCCESS;
    atomic_fetch_add(&delivered, (int)count);
    return PAWL_OK;
}

static void close_transport(pawl_transport *transport)
{
    atomic_fetch_add(&closed, 1);
}

static const pawl_transport_ops slow_outbound = {.ops_size       = sizeof(pawl_transport_ops),
                                                 .transport_size = sizeof(pawl_transport),
                                                 .deliver        = deliver,
                                                 .close          = close_transport};
static const pawl_route         slow_routes[] = {{.name = "far", .outbound = &slow_outbound},
                                                 {.name = NULL}};

/* The row is not settled, and another runner delivers it: once more, if it came through. */
ON_ALL_STORES(e29_stopping_gives_up_an_outbound_transport_that_does_not_return, const char *url)
{
    fixture p;
    open_fixture(&p, url, &application);
    atomic_store(&delivered, 0);
    atomic_store(&closed, 0);
    post_json(&p, "m-1", "abroad");
    start(&p, &p.first, (pawl_endpoint_options){.workers = 1, .routes = slow_routes});
    gate_wait(1);
    stop_and_give_up(&p, &p.first);
    expect_said(&p.first, " of type done_note is in the outbound transport of route far for ");
    assert_int_equal(test_stats(p.store, p.arena).outbox_pending, 1);
    gate_open();
    wait_until_back(&p.first);
    assert_int_equal(atomic_load(&closed), 1);
    assert_int_equal(test_stats(p.store, p.arena).outbox_pending, 1);
    runner_destroy(&p.first);
    start(&p, &p.second, (pawl_endpoint_options){.workers = 1, .routes = slow_routes});
    wait_for_count(&delivered, 2);
    patience left = patience_of(THREAD_SECONDS);
    while (test_stats(p.store, p.arena).outbox_pending > 0)
        patience_wait(&left, "the row is not settled");
    runner_close(&p.second);
    close_fixture(&p);
}

/* In time: all is finished, and settled. */
ON_ALL_STORES(o29_stopping_waits_for_an_outbound_transport_that_is_called, const char *url)
{
    fixture p;
    open_fixture(&p, url, &application);
    post_json(&p, "m-1", "abroad");
    start(&p, &p.first, (pawl_endpoint_options){.workers = 1, .routes = slow_routes});
    gate_wait(1);
    pawl_endpoint_stop(p.first.endpoint);
    pass(&p, PAWL_SECONDS(29));
    assert_int_not_equal(pthread_tryjoin_np(p.first.thread, NULL), 0);
    gate_open();
    runner_join(&p.first);
    world_ok(p.first.code, &p.first.error);
    assert_int_equal(test_stats(p.store, p.arena).outbox_pending, 0);
    runner_destroy(&p.first);
    close_fixture(&p);
}

/* ---- What takes long ------------------------------------------------------------------------- */

ON_ALL_STORES(e29_what_takes_long_is_said_once, const char *url)
{
    fixture p;
    open_fixture(&p, url, &application);
    post_json(&p, "m-1", "stubborn");
    start(&p, &p.first, (pawl_endpoint_options){.workers = 1});
    gate_wait(1);
    pass(&p, PAWL_SECONDS(9));
    pass(&p, PAWL_SECONDS(1));
    gate_wait_until_said(
        "1 endpoint holding: message m-1 of type stubborn is in handler on_stubborn "
        "for 10 s");
    pass(&p, PAWL_SECONDS(60));
    gate_open();
    gate_wait_until_said("message m-1 of type stubborn was in handler on_stubborn for 70 s");
    assert_int_equal(gate_said("is in handler"), 1);
    assert_int_equal(gate_said("9 s"), 0);
    post_json(&p, "m-2", "stubborn");
    wait_for_queued(&p, "noted", 2);
    assert_int_equal(gate_said("m-2"), 0);
    runner_close(&p.first);
    close_fixture(&p);
}

static fixture *stepped;

static pawl_code step_slowly(pawl_context *ctx, const stubborn *message)
{
    pass(stepped, PAWL_SECONDS(11));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(step_slowly, stubborn);

static const pawl_endpoint_spec stepping = {
    .name = "stepping", .handlers = PAWL_ON({.handle = PAWL_HANDLE(step_slowly)})};
static const pawl_application step_application = APPLICATION("steps", &stepping);

/* Where nobody watches it is said afterwards. */
ON_STORES(e29_a_step_that_took_long_is_said, const char *url)
{
    fixture p;
    open_fixture(&p, url, &step_application);
    stepped = &p;
    post_json(&p, "m-1", "stubborn");
    runner_create(&p.first, &step_application, NULL, url,
                  (pawl_endpoint_options){.machine = p.machine});
    assert_int_equal(pawl_endpoint_drain(p.first.endpoint, NULL, NULL), PAWL_OK);
    assert_int_equal(
        gate_said(
            "endpoint stepping: message m-1 of type stubborn was in handler step_slowly for 11 s"),
        1);
    runner_destroy(&p.first);
    close_fixture(&p);
}
