/* test_runtime_hot_stream.c - several workers on one stream: each command is handled
 * once and in its turn, none is put off because others were faster. O1, O4.
 *
 * A worker that loses a race on a stream claims its messages again as a batch. One by one they
 * would lose each time to a batch of others, until conflicts count as failures and commands wait
 * for seconds.
 *
 * Nothing here is timed: a test waits for a state, with a bound far beyond what
 * it takes, and fails when the state does not come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/thread.h"

#include "pawl/process.h"

#include <inttypes.h>

#define COMMANDS 2000 /* to the entity */
#define ASKS 600      /* to the process, each of which is a command and an answer as well */
#define WORKERS 8
#define BATCH 32
#define WAIT_SECONDS 100

RECORD(put, (TEXT, box), (INT64, number));
RECORD(ask, (TEXT, name), (INT64, number));

RECORD(was_put, (INT64, number));
RECORD(asked, (INT64, number));
RECORD(told, (UUID, dispatch));

RECORD(box, (INT64, count), (INT64, sum));
RECORD(asker, (INT64, asked), (INT64, told));

static pawl_code on_put(pawl_context *ctx, const box *state, const put *command)
{
    return pawl_emit(ctx, PAWL_MESSAGE(was_put, .number = command->number));
}
PAWL_ENTITY_HANDLER(on_put, box, put);

static void apply_put(box *state, const was_put *event)
{
    state->count++;
    state->sum += event->number;
}
PAWL_APPLY(apply_put, box, was_put);

static pawl_code on_ask(pawl_context *ctx, const asker *state, const ask *message)
{
    pawl_emit(ctx, PAWL_MESSAGE(asked, .number = message->number));
    return pawl_send(ctx, "shop",
                     PAWL_MESSAGE(put, .box = PAWL_TEXT("a"), .number = message->number));
}
PAWL_PROCESS_HANDLER(on_ask, asker, ask);

static pawl_code on_accepted(pawl_context *ctx, const asker *state, const pawl_accepted *answer)
{
    return pawl_emit(ctx, PAWL_MESSAGE(told, .dispatch = answer->dispatch_id));
}
PAWL_PROCESS_HANDLER(on_accepted, asker, pawl_accepted);

static void apply_asked(asker *state, const asked *event)
{
    state->asked++;
}
PAWL_APPLY(apply_asked, asker, asked);

static void apply_told(asker *state, const told *event)
{
    state->told++;
}
PAWL_APPLY(apply_told, asker, told);

static const pawl_entity  box_entity    = {.name  = "Box",
                                           .state = PAWL_RECORD_OF(box),
                                           .on = PAWL_ON({.handle = PAWL_HANDLE(on_put), .key = "box"}),
                                           .apply          = PAWL_APPLY_LIST(PAWL_APPLIES(apply_put)),
                                           .snapshot_every = 50};
static const pawl_process asker_process = {
    .name           = "Asker",
    .state          = PAWL_RECORD_OF(asker),
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_ask), .key = "name", .starts = true},
                              {.handle = PAWL_HANDLE(on_accepted)}),
    .apply          = PAWL_APPLY_LIST(PAWL_APPLIES(apply_asked), PAWL_APPLIES(apply_told)),
    .snapshot_every = 50};
static const pawl_application application =
    ONE_ENDPOINT("hot_streams", .name = "shop", .processes = PAWL_PROCESSES(&asker_process),
                 .entities = PAWL_ENTITIES(&box_entity));

/* ---- Running ------------------------------------------------------------------ */

typedef struct fixture {
    runner       run;
    pawl_sender *sender;
    pawl_store  *store; /* to look */
    pawl_arena  *arena;
} fixture;

static void create(fixture *it, const char *url, const pawl_route *routes)
{
    const pawl_endpoint_options options = {
        .routes = routes, .workers = WORKERS, .batch_messages = BATCH};
    world_make_tables(url, &application);
    it->arena = pawl_arena_create(0);
    runner_create(&it->run, &application, NULL, url, options);
    must(pawl_store_open(url, NULL, &it->store, world_error()));
    must(pawl_sender_open(url, NULL, &it->sender, world_error()));
}

/* A row that failed waits for its next attempt: there may be none, ever. */
static void check_queue(fixture *it)
{
    pawl_queue_rows rows = {.count = 0};
    must(pawl_store_queue_list(it->store, PAWL_TEXT("shop"), 0, it->arena, &rows, world_error()));
    for (size_t i = 0; i < rows.count; i++)
        if (rows.items[i].attempts > 0)
            fail_msg("%.*s %.*s is put off after %d attempts",
                     PAWL_TEXT_ARGS(rows.items[i].message.type),
                     PAWL_TEXT_ARGS(rows.items[i].message.id), (int)rows.items[i].attempts);
}

/* The last version of the stream, 0 without one. */
static int64_t length_of(fixture *it, const char *stream)
{
    pawl_event_rows        rows  = {.count = 0};
    const pawl_event_query query = {
        .stream = pawl_text_of(stream), .is_backward = true, .count_max = 1};
    must(pawl_store_event_list(it->store, &query, it->arena, &rows, world_error()));
    return rows.count > 0 ? rows.items[0].version : 0;
}

/* Until the stream has `length` events, the last effect of them all: a sum of counters is too large
 * until refused messages are taken off it, and a message is in the queue or in the outbox. */
static void wait_until_handled(fixture *it, const char *stream, int64_t length)
{
    patience left  = patience_of(WAIT_SECONDS);
    int64_t  there = length_of(it, stream);
    while (there < length) {
        check_queue(it);
        patience_wait(&left, "%" PRId64 " of %" PRId64 " events are there", there, length);
        pawl_arena_reset(it->arena);
        there = length_of(it, stream);
    }
}

/* From the first message to the last of `wanted`, which leave the stream `length` events. */
static void run_all(fixture *it, int64_t wanted, const char *stream, int64_t length)
{
    runner_start(&it->run);
    wait_until_handled(it, stream, length);
    runner_stop(&it->run);
    pawl_stats stats = test_stats(it->store, it->arena);
    assert_int_equal(stats.counters.messages, wanted);
    assert_int_equal(stats.counters.failures, 0);
    assert_int_equal(stats.dead, 0);
    print_message("%" PRId64 " messages, %" PRId64 " conflicts\n", stats.counters.messages,
                  stats.counters.conflicts);
}

static void destroy(fixture *it)
{
    pawl_sender_close(it->sender);
    pawl_store_close(it->store);
    runner_destroy(&it->run);
    pawl_arena_destroy(it->arena);
}

/* ---- What is there -------------------------------------------------------------- */

/* All versions from 1 on, `count` of them. */
static pawl_event_rows events_of(fixture *it, const char *stream, size_t count)
{
    pawl_event_rows        rows  = {.count = 0};
    const pawl_event_query query = {.stream = pawl_text_of(stream)};
    must(pawl_store_event_list(it->store, &query, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows.items[i].version, i + 1);
    return rows;
}

/* Each number from 1 to the last one wanted, in one event of the type. */
static void check_numbers(const pawl_event_rows *rows, const char *type, int wanted)
{
    static bool is_there[COMMANDS + 1];
    int         count = 0;
    memset(is_there, 0, sizeof is_there);
    for (size_t i = 0; i < rows->count; i++) {
        int number = 0;
        if (!pawl_text_equal(rows->items[i].event.type, pawl_text_of(type)))
            continue;
        assert_int_equal(sscanf(rows->items[i].event.body.data, "{\"number\":%d}", &number), 1);
        assert_in_range(number, 1, wanted);
        assert_false(is_there[number]);
        is_there[number] = true;
        count++;
    }
    assert_int_equal(count, wanted);
}

static void check_state(fixture *it, const char *name, const char *key, const char *wanted)
{
    pawl_value value   = pawl_value_text(pawl_text_of(key));
    pawl_text  data    = {0};
    int64_t    version = 0;
    must(pawl_endpoint_saga(it->run.endpoint, name, &value, it->arena, &data, &version,
                            world_error()));
    assert_string_equal(data.data, wanted);
}

ON_ALL_STORES(o4_many_workers_on_one_entity_put_nothing_off, const char *url)
{
    fixture it;
    create(&it, url, NULL);
    for (int i = 1; i <= COMMANDS; i++)
        must(pawl_sender_send(it.sender, "shop", NULL,
                              PAWL_MESSAGE(put, .box = PAWL_TEXT("a"), .number = i),
                              world_error()));
    must(pawl_sender_commit(it.sender, world_error()));
    run_all(&it, COMMANDS, "Box/a", COMMANDS);
    pawl_event_rows rows = events_of(&it, "Box/a", COMMANDS);
    check_numbers(&rows, "was_put", COMMANDS);
    check_state(&it, "Box", "a", "{\"count\":2000,\"sum\":2001000}");
    destroy(&it);
}

/* Commands and answers go through the outbox: two hot streams, and the runner beside. */
ON_ALL_STORES(o4_many_workers_on_one_process_put_nothing_off, const char *url)
{
    static const pawl_route routes[] = {{.name = "shop", .is_outbox = true}, {.name = NULL}};
    fixture                 it;
    create(&it, url, routes);
    for (int i = 1; i <= ASKS; i++)
        must(pawl_sender_send(it.sender, "shop", NULL,
                              PAWL_MESSAGE(ask, .name = PAWL_TEXT("b"), .number = i),
                              world_error()));
    must(pawl_sender_commit(it.sender, world_error()));
    run_all(&it, INT64_C(3) * ASKS, "Asker/b", INT64_C(2) * ASKS);
    pawl_event_rows rows = events_of(&it, "Box/a", ASKS);
    check_numbers(&rows, "was_put", ASKS);
    rows = events_of(&it, "Asker/b", (size_t)2 * ASKS);
    check_numbers(&rows, "asked", ASKS);
    check_state(&it, "Asker", "b", "{\"asked\":600,\"told\":600}");
    destroy(&it);
}
