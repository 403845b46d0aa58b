/* test_runtime_thread.c - pawl_endpoint_run: several workers and senders, waking,
 * stopping, two endpoints in one process. E29, E36.
 *
 * Nothing here is timed: a test waits for a state, with a bound far beyond what
 * it takes, and fails when the state does not come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/thread.h"

#include "runtime/runtime.h"

#define SENDERS 3
#define MESSAGES 120 /* of each sender */
#define COUNTERS 7

RECORD(counter_state, (INT32, number), (INT32, count));
PAWL_RECORD(count_up, A_NUMBER);
PAWL_RECORD(part, A_NUMBER);
PAWL_RECORD(slow, A_NUMBER);
RECORD(forward, (TEXT, to));
PAWL_RECORD(alarm_set, A_NUMBER);

static atomic_int handled, flushes, odd_flushes, started;

static _Atomic(pawl_endpoint *) asked; /* by its handlers, and by threads beside it; or NULL */
static atomic_int               answered, failed;

static void ask(pawl_endpoint *endpoint)
{
    pawl_arena *arena   = pawl_arena_create(0);
    pawl_stats  stats   = PAWL_STATS_INIT;
    pawl_value  number  = pawl_value_integer(1);
    pawl_text   data    = {0};
    int64_t     version = 0, count = 0;
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_code   code  = pawl_endpoint_stats(endpoint, arena, &stats, &error);
    if (code == PAWL_OK)
        code = pawl_endpoint_saga_count(endpoint, "Counter", &count, &error);
    if (code == PAWL_OK)
        code = pawl_endpoint_saga(endpoint, "Counter", &number, arena, &data, &version, &error);
    pawl_arena_destroy(arena);
    if (code != PAWL_OK && atomic_fetch_add(&failed, 1) == 0)
        print_message("asked: %s\n", error.text);
    atomic_fetch_add(&answered, code == PAWL_OK);
}

static pawl_code on_count_up(pawl_context *ctx, counter_state *counter, const count_up *message)
{
    counter->count++;
    if (atomic_load(&asked) != NULL && counter->count % 10 == 1)
        ask(atomic_load(&asked));
    return pawl_send(ctx, "counted", PAWL_MESSAGE(part, .number = counter->number));
}
PAWL_HANDLER(on_count_up, counter_state, count_up);

static pawl_code on_alarm(pawl_context *ctx, counter_state *counter, const alarm_set *message)
{
    return pawl_timeout(ctx, "ring", PAWL_MILLISECONDS(5));
}
PAWL_HANDLER(on_alarm, counter_state, alarm_set);

static pawl_code on_ring(pawl_context *ctx, counter_state *counter)
{
    counter->count += 1000;
    atomic_fetch_add(&handled, 1);
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_ring, counter_state);

static pawl_code on_parts(pawl_context *ctx, const part *messages, size_t count)
{
    atomic_fetch_add(&flushes, 1);
    atomic_fetch_add(&odd_flushes, count != 50);
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_parts, part);

static void expect_used(pawl_code code, const pawl_error *error)
{
    assert_int_equal(code, PAWL_EINVAL);
    assert_string_equal(error->text, "endpoint counting: it is being run or stepped already");
}

/* Nothing of it is done, and nothing of the endpoint is gone. */
static void expect_in_use(pawl_endpoint *endpoint)
{
    pawl_error error = PAWL_ERROR_INIT;
    size_t     count = 1;
    expect_used(pawl_endpoint_run(endpoint, &error), &error);
    expect_used(pawl_endpoint_step(endpoint, NULL, &error), &error);
    expect_used(pawl_endpoint_drain(endpoint, NULL, &error), &error);
    expect_used(pawl_endpoint_receive(endpoint, 0, &count, &error), &error);
    assert_int_equal(count, 0);
    pawl_endpoint_destroy(endpoint);
}

static pawl_endpoint *stepped; /* whose handler calls it */

/* Works until the endpoint is being stopped. */
static pawl_code on_slow(pawl_context *ctx, const slow *message)
{
    struct timespec moment = {0, 1000000};
    if (stepped != NULL) {
        expect_in_use(stepped);
        return PAWL_OK;
    }
    atomic_store(&started, 1);
    while (!pawl_stopping(ctx))
        nanosleep(&moment, NULL);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_slow, slow);

static pawl_code on_forward(pawl_context *ctx, const forward *message)
{
    atomic_fetch_add(&handled, 1);
    if (message->to.size == 0)
        return PAWL_OK;
    return pawl_send(ctx, message->to.data, PAWL_MESSAGE(forward, .to = PAWL_TEXT("")));
}
PAWL_MESSAGE_HANDLER(on_forward, forward);

static const pawl_saga counter_saga =
    SAGA_OF("Counter", counter_state, "number",
            {.handle = PAWL_HANDLE(on_count_up), .key = "number", .starts = true},
            {.handle = PAWL_HANDLE(on_alarm), .key = "number", .starts = true},
            {.handle = PAWL_HANDLE(on_ring), .timeout = "ring"});
static const pawl_aggregator parts = {
    .name = "Parts", .handle = PAWL_HANDLE(on_parts), .size = 50, .max = 50};

static const pawl_endpoint_spec counting = {
    .name     = "counting",
    .sagas    = PAWL_SAGAS(&counter_saga),
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_slow)}, {.handle = PAWL_HANDLE(on_forward)})};
static const pawl_endpoint_spec packing = {.name        = "packing",
                                           .aggregators = PAWL_AGGREGATORS(&parts)};
static const pawl_endpoint_spec second  = {.name     = "second",
                                           .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_forward)})};

static const pawl_application application = APPLICATION("threads", &counting, &packing, &second);

/* ---- Running ---------------------------------------------------------------------- */

static void start(runner *it, const char *url, const char *name, pawl_endpoint_options options)
{
    runner_open(it, &application, name, url, options);
}

/* ---- Looking from outside ------------------------------------------------------------- */

typedef struct looker {
    pawl_store *store;
    pawl_arena *arena;
    int64_t     wanted;
} looker;

static void open_looker(looker *it, const char *url)
{
    it->store = test_open(url);
    it->arena = test_arena();
    atomic_store(&handled, 0);
    atomic_store(&flushes, 0);
    atomic_store(&odd_flushes, 0);
    atomic_store(&started, 0);
}

static int64_t queued(looker *it, const char *queue)
{
    pawl_stats stats = test_stats(it->store, it->arena);
    for (size_t i = 0; i < stats.queue_count; i++)
        if (pawl_text_equal(stats.queues[i].queue, pawl_text_of(queue)))
            return stats.queues[i].ready + stats.queues[i].scheduled;
    return 0;
}

static void wait_for(bool (*is_reached)(looker *it), looker *it, const char *what)
{
    patience left = patience_of(THREAD_SECONDS);
    while (!is_reached(it))
        patience_wait(&left, "%s: the wait is over", what);
}

/* Counts of a refused group are taken back by the worker's next commit: the counter may stand above
 * for a moment. */
static bool has_counted(looker *it)
{
    return queued(it, "counted") == it->wanted &&
           test_stats(it->store, it->arena).counters.messages == it->wanted;
}

static bool is_packed(looker *it)
{
    pawl_stats stats = test_stats(it->store, it->arena);
    return stats.aggregator_rows == 0 && stats.counters.messages == it->wanted;
}

static bool has_arrived(looker *it)
{
    return queued(it, "abroad") == it->wanted;
}

/* ---- Senders ---------------------------------------------------------------------------- */

typedef struct sending {
    const char *url;
    const char *queue;
    int         first;
    bool        is_part;
    pawl_code   code;
    pthread_t   thread;
} sending;

static void *send_all(void *argument)
{
    sending     *self   = argument;
    pawl_sender *sender = NULL;
    self->code          = pawl_sender_open(self->url, NULL, &sender, NULL);
    for (int i = 0; i < MESSAGES && self->code == PAWL_OK; i++) {
        int32_t number = (self->first + i) % COUNTERS + 1;
        self->code     = self->is_part
                             ? pawl_sender_send(sender, self->queue, NULL,
                                                PAWL_MESSAGE(part, .number = number), NULL)
                             : pawl_sender_send(sender, self->queue, NULL,
                                                PAWL_MESSAGE(count_up, .number = number), NULL);
        if (self->code == PAWL_OK && i % 3 == 2)
            self->code = pawl_sender_commit(sender, NULL);
    }
    if (self->code == PAWL_OK)
        self->code = pawl_sender_commit(sender, NULL);
    pawl_sender_close(sender);
    return NULL;
}

static void send_from_threads(const char *url, const char *queue, bool is_part)
{
    sending senders[SENDERS];
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (sending){.url = url, .queue = queue, .first = i, .is_part = is_part};
        assert_int_equal(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]), 0);
    }
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(senders[i].thread, NULL);
        assert_int_equal(senders[i].code, PAWL_OK);
    }
}

static void handle_all(const char *url, int batch)
{
    runner it;
    looker look;
    open_looker(&look, url);
    start(&it, url, "counting", (pawl_endpoint_options){.workers = 4, .batch_messages = batch});
    send_from_threads(url, "counting", false);
    look.wanted = SENDERS * MESSAGES;
    wait_for(has_counted, &look, "messages handled");
    assert_int_equal(queued(&look, "counting"), 0);
    runner_stop(&it);
    int64_t sum = 0;
    for (int i = 1; i <= COUNTERS; i++) {
        pawl_value number  = pawl_value_integer(i);
        pawl_text  data    = {0};
        int64_t    version = 0;
        must(pawl_endpoint_saga(it.endpoint, "Counter", &number, look.arena, &data, &version,
                                world_error()));
        sum += world_json_number(data.data, "count");
    }
    assert_int_equal(sum, SENDERS * MESSAGES);
    runner_destroy(&it);
}

ON_ALL_STORES(all_messages_are_handled_once, const char *url)
{
    handle_all(url, 16);
}

/* Each claim is full: where a store can, the next one goes with the commit. */
ON_ALL_STORES(e5_all_messages_are_handled_once_in_batches_of_one, const char *url)
{
    handle_all(url, 1);
}

static void *ask_on(void *argument)
{
    const struct timespec moment = {0, 2000000};
    pawl_endpoint        *endpoint;
    while ((endpoint = atomic_load(&asked)) != NULL) {
        ask(endpoint);
        nanosleep(&moment, NULL);
    }
    return NULL;
}

/* By threads of the program, and by its handlers, while workers use their handles. */
ON_ALL_STORES(an_endpoint_is_asked_while_it_runs, const char *url)
{
    runner    it;
    looker    look;
    pthread_t threads[2];
    open_looker(&look, url);
    atomic_store(&answered, 0);
    atomic_store(&failed, 0);
    start(&it, url, "counting", (pawl_endpoint_options){.workers = 2, .batch_messages = 16});
    atomic_store(&asked, it.endpoint);
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on, NULL), 0);
    send_from_threads(url, "counting", false);
    look.wanted = SENDERS * MESSAGES;
    wait_for(has_counted, &look, "messages handled");
    atomic_store(&asked, NULL);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&failed), 0);
    assert_true(atomic_load(&answered) >= COUNTERS);
    runner_close(&it);
}

static bool claims_ahead(const char *url, pawl_endpoint_options options)
{
    runner it;
    atomic_store(&hook_opened_ahead, 0);
    runner_create(&it, &application, "second", hook_url(url), options);
    runner_destroy(&it);
    return atomic_load(&hook_opened_ahead) > 0;
}

/* A clock of the program's may stand still; an ordered queue is led by lease. */
ON_STORE(e5_claims_go_ahead_of_the_machines_clock_alone, const char *url, "memory")
{
    world_hold(url);
    pawl_clock *clock = pawl_clock_create(WORLD_START);
    assert_true(claims_ahead(url, (pawl_endpoint_options){0}));
    assert_false(claims_ahead(url, (pawl_endpoint_options){.business = clock}));
    assert_false(claims_ahead(url, (pawl_endpoint_options){.machine = clock}));
    assert_false(claims_ahead(url, (pawl_endpoint_options){.ordered = "header:key"}));
    pawl_clock_destroy(clock);
}

/* The machine clock stands still: nobody looks at the partitions again after ten
 * seconds, so only the gate after the commit opens. */
ON_ALL_STORES(e36_flushes_of_fifty_whoever_adds, const char *url)
{
    runner      it;
    looker      look;
    pawl_clock *machine = pawl_clock_create(WORLD_START);
    open_looker(&look, url);
    start(&it, url, "packing",
          (pawl_endpoint_options){.workers = 4, .batch_messages = 4, .machine = machine});
    /* 360 of the senders, and 40 to make it a multiple of 50. */
    send_from_threads(url, "packing", true);
    pawl_sender *sender = NULL;
    assert_int_equal(pawl_sender_open(url, NULL, &sender, NULL), PAWL_OK);
    for (int i = 0; i < 40; i++)
        must(pawl_sender_send(sender, "packing", NULL, PAWL_MESSAGE(part, .number = 1),
                              world_error()));
    assert_int_equal(pawl_sender_commit(sender, NULL), PAWL_OK);
    pawl_sender_close(sender);
    look.wanted = 400 + 8;
    wait_for(is_packed, &look, "parts packed");
    assert_int_equal(atomic_load(&flushes), 8);
    assert_int_equal(atomic_load(&odd_flushes), 0);
    runner_close(&it);
    pawl_clock_destroy(machine);
}

/* Each message meets sleeping workers. */
ON_ALL_STORES(a_message_wakes_a_sleeping_worker, const char *url)
{
    runner       it;
    looker       look;
    pawl_sender *sender = NULL;
    open_looker(&look, url);
    start(&it, url, "counting", (pawl_endpoint_options){.workers = 2});
    assert_int_equal(pawl_sender_open(url, NULL, &sender, NULL), PAWL_OK);
    for (int i = 1; i <= 15; i++) {
        must(pawl_sender_send(sender, "counting", NULL, PAWL_MESSAGE(forward, .to = PAWL_TEXT("")),
                              world_error()));
        assert_int_equal(pawl_sender_commit(sender, NULL), PAWL_OK);
        wait_for_count(&handled, i);
    }
    pawl_sender_close(sender);
    runner_close(&it);
}

ON_ALL_STORES(a_timeout_wakes_a_sleeping_worker, const char *url)
{
    runner       it;
    looker       look;
    pawl_sender *sender = NULL;
    open_looker(&look, url);
    start(&it, url, "counting", (pawl_endpoint_options){.workers = 2});
    assert_int_equal(pawl_sender_open(url, NULL, &sender, NULL), PAWL_OK);
    must(pawl_sender_start(sender, &application, NULL, PAWL_MESSAGE(alarm_set, .number = 3),
                           world_error()));
    assert_int_equal(pawl_sender_commit(sender, NULL), PAWL_OK);
    wait_for_count(&handled, 1);
    pawl_sender_close(sender);
    runner_close(&it);
}

ON_ALL_STORES(an_endpoint_is_run_or_stepped_by_one_call_at_a_time, const char *url)
{
    runner       it;
    pawl_step    step   = PAWL_STEP_INIT;
    size_t       count  = 0;
    pawl_sender *sender = NULL;
    atomic_store(&started, 0);
    runner_create(&it, &application, "counting", url, (pawl_endpoint_options){.workers = 2});
    assert_int_equal(pawl_sender_open(url, NULL, &sender, NULL), PAWL_OK);
    must(pawl_sender_send(sender, "counting", NULL, PAWL_MESSAGE(slow, .number = 1), NULL));
    assert_int_equal(pawl_sender_commit(sender, NULL), PAWL_OK);
    stepped = it.endpoint;
    must(pawl_endpoint_drain(it.endpoint, &step, world_error()));
    assert_int_equal(step.handled, 1);
    must(pawl_endpoint_step(it.endpoint, NULL, world_error()));
    stepped = NULL;
    /* Its own answer, and it may be stepped behind it. */
    assert_int_equal(pawl_endpoint_receive(it.endpoint, 0, &count, world_error()), PAWL_EINVAL);
    must(pawl_endpoint_step(it.endpoint, NULL, world_error()));
    must(pawl_sender_send(sender, "counting", NULL, PAWL_MESSAGE(slow, .number = 2), NULL));
    assert_int_equal(pawl_sender_commit(sender, NULL), PAWL_OK);
    pawl_sender_close(sender);
    runner_start(&it);
    wait_for_count(&started, 1);
    expect_in_use(it.endpoint);
    runner_stop(&it);
    must(pawl_endpoint_step(it.endpoint, NULL, world_error()));
    runner_destroy(&it);
}

/* Idle, and with a message in hand: it is finished and acknowledged. */
ON_ALL_STORES(e29_stop_is_graceful_and_prompt, const char *url)
{
    runner       it;
    looker       look;
    pawl_sender *sender = NULL;
    open_looker(&look, url);
    start(&it, url, "counting", (pawl_endpoint_options){.workers = 3});
    runner_close(&it);

    start(&it, url, "counting", (pawl_endpoint_options){.workers = 3});
    assert_int_equal(pawl_sender_open(url, NULL, &sender, NULL), PAWL_OK);
    must(
        pawl_sender_send(sender, "counting", NULL, PAWL_MESSAGE(slow, .number = 1), world_error()));
    assert_int_equal(pawl_sender_commit(sender, NULL), PAWL_OK);
    pawl_sender_close(sender);
    wait_for_count(&started, 1);
    runner_close(&it);
    assert_int_equal(queued(&look, "counting"), 0);
    assert_int_equal(test_stats(look.store, look.arena).counters.messages, 1);
    assert_int_equal(test_stats(look.store, look.arena).workers, 0);
}

ON_ALL_STORES(two_endpoints_in_one_process, const char *url)
{
    runner       it, other;
    looker       look;
    pawl_sender *sender = NULL;
    open_looker(&look, url);
    start(&it, url, "counting", (pawl_endpoint_options){.workers = 2});
    start(&other, url, "second", (pawl_endpoint_options){.workers = 2});
    assert_int_equal(pawl_sender_open(url, NULL, &sender, NULL), PAWL_OK);
    for (int i = 0; i < 20; i++)
        must(pawl_sender_send(sender, "counting", NULL,
                              PAWL_MESSAGE(forward, .to = PAWL_TEXT("second")), world_error()));
    assert_int_equal(pawl_sender_commit(sender, NULL), PAWL_OK);
    pawl_sender_close(sender);
    wait_for_count(&handled, 40);
    runner_close(&other);
    runner_close(&it);
    assert_int_equal(test_stats(look.store, look.arena).counters.messages, 40);
}

static bool has_pulse(pawl_endpoint *endpoint)
{
    return pawl__stopped_time_read(&endpoint->stopped_time, INT64_MAX) > 0;
}

/* The service's thread delivers, woken by the commit that adds the row. */
ON_ALL_STORES(the_service_delivers_to_another_store, const char *url)
{
    runner       it;
    looker       look, far;
    pawl_sender *sender = NULL;
    char         target[1000];
    assert_true(
        scenario_url(test_text("%.*s", (int)(strchr(url, ':') - url), url), target, sizeof target));
    const pawl_route routes[] = {{.name = "abroad", .url = target}, {.name = NULL}};
    open_looker(&look, url);
    open_looker(&far, target);
    start(&it, url, "counting", (pawl_endpoint_options){.workers = 2, .routes = routes});
    runner receiver;
    start(&receiver, target, "second", (pawl_endpoint_options){.workers = 1});
    assert_int_equal(pawl_sender_open(url, NULL, &sender, NULL), PAWL_OK);
    for (int i = 0; i < 5; i++)
        must(pawl_sender_send(sender, "counting", NULL,
                              PAWL_MESSAGE(forward, .to = PAWL_TEXT("abroad")), world_error()));
    assert_int_equal(pawl_sender_commit(sender, NULL), PAWL_OK);
    pawl_sender_close(sender);
    wait_for_count(&handled, 5);
    far.wanted = 5;
    wait_for(has_arrived, &far, "what goes abroad");
    patience left = patience_of(THREAD_SECONDS);
    while (!has_pulse(it.endpoint)) /* the service has to know of stops */
        patience_wait(&left, "the thread that watches beats");
    runner_close(&receiver);
    runner_close(&it);
    test_now(far.store);
    scenario_forget(target);
}

/* The machine clock stands, so no check of the outbox is ever due again: each row is delivered
 * because its commit wakes the service. A service that is not woken waits for seconds between two
 * rows: then the patience, which is for all of them, is over. Another thread of the process commits;
 * of servers, which call by other ways, see test_postgres_wake_events.c and STORES.md. */
ON_STORES(a_row_of_the_outbox_wakes_the_service, const char *url)
{
    runner       it;
    looker       far;
    pawl_sender *sender = NULL;
    pawl_clock  *still  = pawl_clock_create(WORLD_START);
    char         target[1000];
    assert_true(
        scenario_url(test_text("%.*s", (int)(strchr(url, ':') - url), url), target, sizeof target));
    const pawl_route routes[] = {{.name = "abroad", .url = target}, {.name = NULL}};
    open_looker(&far, target);
    start(&it, url, "counting",
          (pawl_endpoint_options){.workers = 1, .routes = routes, .machine = still});
    assert_int_equal(pawl_sender_open(url, NULL, &sender, NULL), PAWL_OK);
    patience left = patience_of(THREAD_SECONDS);
    for (far.wanted = 1; far.wanted <= 20; far.wanted++) {
        must(pawl_sender_send(sender, "counting", NULL,
                              PAWL_MESSAGE(forward, .to = PAWL_TEXT("abroad")), world_error()));
        assert_int_equal(pawl_sender_commit(sender, NULL), PAWL_OK);
        while (!has_arrived(&far))
            patience_wait(&left, "%d rows went abroad in all the time", (int)far.wanted - 1);
    }
    pawl_sender_close(sender);
    runner_close(&it);
    pawl_clock_destroy(still);
    test_now(far.store);
    scenario_forget(target);
}
