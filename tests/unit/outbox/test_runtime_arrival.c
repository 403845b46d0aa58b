/* test_runtime_arrival.c - the order that the outbox keeps is the order in which a queue of
 * another store is read, although the clocks of those who send and deliver differ.
 *
 * But for the last case there is no virtual clock: the system's own is moved, by as much as
 * the clock of the machine is wrong that works at the moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/outbox/test_outbox_sample.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MESSAGES 24
#define SAGAS 3
#define WORKERS 3

/* ---- The clock ---------------------------------------------------------------- */

static int64_t shift; /* microseconds */

/* In the place of the system library's. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, id, now);
    if (id != CLOCK_REALTIME || result != 0)
        return result;
    int64_t time = (int64_t)now->tv_sec * 1000000 + now->tv_nsec / 1000 + shift;
    now->tv_sec  = (time_t)(time / 1000000);
    now->tv_nsec = (long)(time % 1000000 * 1000);
    return 0;
}

RECORD(call, (TEXT, name), (INT32, number));

static int64_t asked_delay; /* of what is sent */

static pawl_code on_call(pawl_context *ctx, flow_state *state, const call *message)
{
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .delay = asked_delay};
    state->name               = message->name;
    state->steps++;
    return pawl_send_with(ctx, "far", &options, PAWL_MESSAGE(note, .number = message->number));
}
PAWL_HANDLER(on_call, flow_state, call);

static const pawl_saga          flow        = FLOW_SAGA(on_call);
static const pawl_endpoint_spec source      = {.name = "source", .sagas = PAWL_SAGAS(&flow)};
static const pawl_application   application = APPLICATION("arrival", &source, &notes);

/* ---- Machines ------------------------------------------------------------------------ */

typedef struct machines {
    char           here[1000], there[1000];
    pawl_route     routes[2];
    pawl_endpoint *receiver;
} machines;

static pawl_endpoint *make(const machines *it, const char *url, const char *name, bool no_service)
{
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_endpoint        *endpoint = NULL;
    options.store                  = url;
    options.routes                 = url == it->here ? it->routes : NULL;
    options.no_service             = no_service;
    must(pawl_endpoint_create(&application, name, &options, &endpoint, world_error()));
    return endpoint;
}

static void run(pawl_endpoint *endpoint, int64_t wrong_by)
{
    pawl_step step = PAWL_STEP_INIT;
    shift          = wrong_by;
    while (!step.is_idle)
        must(pawl_endpoint_step(endpoint, &step, world_error()));
    shift = 0;
}

static void check_clock(void)
{
    pawl_time before = pawl_clock_now(NULL);
    shift            = PAWL_DAYS(1);
    assert_true(pawl_clock_now(NULL) - before >= PAWL_DAYS(1));
    shift = 0;
}

static void open_machines(machines *it, const char *url)
{
    check_clock();
    asked_delay = 0;
    world_forget(&seen);
    snprintf(it->here, sizeof it->here, "%s", url);
    assert_true(
        scenario_url(test_text("%.*s", (int)strcspn(url, ":"), url), it->there, sizeof it->there));
    world_hold(it->here);
    world_hold(it->there);
    it->routes[0] = (pawl_route){.name = "far", .url = it->there, .queue = "notes"};
    it->routes[1] = (pawl_route){.name = NULL};
    world_make_tables(it->here, &application);
    world_make_tables(it->there, &application);
    it->receiver = make(it, it->there, "notes", false);
}

static void close_machines(machines *it)
{
    pawl_endpoint_destroy(it->receiver);
    scenario_forget(it->there);
}

/* Due by any clock, so that it is handled at once whichever worker is next. */
static void post(machines *it, int number)
{
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = number + 1};
    pawl_sender      *sender  = NULL;
    const char       *name    = test_text("f%d", number % SAGAS);
    must(pawl_sender_open(it->here, NULL, &sender, world_error()));
    must(pawl_sender_send(sender, "source", &options,
                          PAWL_MESSAGE(call, .name = pawl_text_of(name), .number = number),
                          world_error()));
    must(pawl_sender_commit(sender, world_error()));
    pawl_sender_close(sender);
}

/* Handles one message on a machine whose clock is wrong by so much. */
static void handle(machines *it, pawl_endpoint *worker, int number, int64_t wrong_by)
{
    post(it, number);
    run(worker, wrong_by);
}

/* Delivers what there is on a machine that leads for so long only. */
static void deliver(machines *it, int64_t wrong_by)
{
    shift                 = wrong_by;
    pawl_endpoint *runner = make(it, it->here, "source", false);
    run(runner, wrong_by);
    shift = wrong_by;
    pawl_endpoint_destroy(runner);
    shift = 0;
}

static void expect_seen(const machines *it, int64_t wrong_by, const char *expected)
{
    LOG_AFTER(run(it->receiver, wrong_by), seen, expected);
}

/* Each saga meets all workers in turn. */
static void handle_all(machines *it, world_log *expected)
{
    static const int64_t wrong_by[WORKERS] = {PAWL_SECONDS(3), 0, -PAWL_SECONDS(2)};
    pawl_endpoint       *workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        workers[i] = make(it, it->here, "source", true);
    for (int i = 0; i < MESSAGES; i++) {
        int which = (i + i / SAGAS) % WORKERS;
        handle(it, workers[which], i, wrong_by[which]);
        world_note(expected, "note%d", i);
    }
    for (int i = 0; i < WORKERS; i++)
        pawl_endpoint_destroy(workers[i]);
}

ON_ALL_STORES(o14_the_order_of_a_source_survives_its_workers_clocks, const char *url)
{
    machines  it;
    world_log expected = {.size = 0};
    open_machines(&it, url);
    handle_all(&it, &expected);
    deliver(&it, 0);
    expect_seen(&it, 0, expected.text);
    close_machines(&it);
}

/* The same by way of the outbox into a queue of the same store. */
ON_ALL_STORES(o14_the_order_survives_on_the_way_to_a_queue_of_the_store, const char *url)
{
    machines  it;
    world_log expected = {.size = 0};
    open_machines(&it, url);
    it.routes[0] = (pawl_route){.name = "far", .queue = "notes", .is_outbox = true};
    handle_all(&it, &expected);
    deliver(&it, 0);
    pawl_endpoint_destroy(it.receiver);
    it.receiver = make(&it, it.here, "notes", true);
    expect_seen(&it, 0, expected.text);
    close_machines(&it);
}

/* The next leader's clock is behind that of the one before. */
ON_ALL_STORES(o14_the_order_survives_a_change_of_the_leader, const char *url)
{
    machines it;
    open_machines(&it, url);
    pawl_endpoint *worker = make(&it, it.here, "source", true);
    for (int i = 0; i < 3; i++) {
        handle(&it, worker, i, 0);
        deliver(&it, PAWL_SECONDS(1) - i * PAWL_MILLISECONDS(300));
    }
    expect_seen(&it, PAWL_SECONDS(1), "note0 note1 note2 ");
    pawl_endpoint_destroy(worker);
    close_machines(&it);
}

/* A clock that is set back by a moment while it leads, then by more than a moment: what
 * arrives now does not wait for an hour. */
ON_ALL_STORES(o14_a_clock_that_is_set_back, const char *url)
{
    machines it;
    open_machines(&it, url);
    pawl_endpoint *worker = make(&it, it.here, "source", true);
    pawl_endpoint *runner = make(&it, it.here, "source", false);
    handle(&it, worker, 0, 0);
    run(runner, PAWL_SECONDS(1));
    handle(&it, worker, 1, 0);
    run(runner, PAWL_MILLISECONDS(500));
    expect_seen(&it, PAWL_SECONDS(1), "note0 note1 ");
    handle(&it, worker, 2, 0);
    run(runner, PAWL_HOURS(1));
    handle(&it, worker, 3, 0);
    run(runner, 0);
    expect_seen(&it, PAWL_SECONDS(1), "note0 note1 note3 ");
    expect_seen(&it, PAWL_HOURS(1), "note0 note1 note3 note2 ");
    pawl_endpoint_destroy(runner);
    pawl_endpoint_destroy(worker);
    close_machines(&it);
}

/* A message that is to be late is late, wherever it arrives first. */
ON_ALL_STORES(a_delay_is_kept, const char *url)
{
    machines it;
    open_machines(&it, url);
    pawl_endpoint *worker = make(&it, it.here, "source", true);
    asked_delay           = PAWL_MINUTES(1);
    handle(&it, worker, 0, 0);
    asked_delay = 0;
    handle(&it, worker, 1, 0);
    deliver(&it, 0);
    expect_seen(&it, PAWL_SECONDS(30), "note1 ");
    expect_seen(&it, PAWL_MINUTES(2), "note1 note0 ");
    pawl_endpoint_destroy(worker);
    close_machines(&it);
}

/* ---- A virtual clock ------------------------------------------------------------------------ */

static void expect_due(const machines *it, pawl_time first, pawl_time second)
{
    pawl_store     *store = NULL;
    pawl_arena     *arena = pawl_arena_create(0);
    pawl_queue_rows rows;
    must(pawl_store_open(it->there, NULL, &store, world_error()));
    must(pawl_store_queue_list(store, PAWL_TEXT("notes"), 9, arena, &rows, world_error()));
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.items[0].due, first);
    assert_int_equal(rows.items[1].due, second);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
}

/* There each message is handled at its own time, elsewhere too; also at the time 0. */
ON_ALL_STORES(virtual_time_goes_with_the_message, const char *url)
{
    machines it;
    open_machines(&it, url);
    pawl_endpoint_options options = {.routes = it.routes};
    world                *here    = world_begin(it.here, &application, "source", &options);
    asked_delay                   = PAWL_SECONDS(1);
    world_post_at(here, "m1", -PAWL_SECONDS(1),
                  PAWL_MESSAGE(call, .name = PAWL_TEXT("f"), .number = 1));
    world_drain(here);
    asked_delay = 0;
    world_post_at(here, "m2", PAWL_HOURS(2),
                  PAWL_MESSAGE(call, .name = PAWL_TEXT("f"), .number = 2));
    world_drain(here);
    world_close(here);
    expect_due(&it, 0, PAWL_HOURS(2));
    close_machines(&it);
}
