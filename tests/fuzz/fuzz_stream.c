/* fuzz_stream.c - streams of messages to handlers: any bodies and headers, time that passes, dead letters that are tried
 * again, and events, snapshots, sagas and timeouts that another program may have written.
 *
 * Input: steps, each with the byte of its kind, names and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/application.h"

#include "pawl/test.h"

#define STEPS_MAX 24

typedef struct run {
    fuzz_input  in;
    pawl_arena *arena;
    pawl_test  *test;
} run;

static const char *string(run *r, pawl_text text)
{
    return fuzz_string(text, r->arena);
}

static void deliver(run *r)
{
    const char       *queue   = fuzz_below(&r->in, 2) == 0 ? "bank" : "orders";
    const char       *type    = string(r, fuzz_name(&r->in));
    const char       *id      = string(r, fuzz_name(&r->in));
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD};
    options.id                = id[0] != '\0' ? id : NULL;
    (void)pawl_test_deliver_json(r->test, queue, &options, type, string(r, fuzz_json(&r->in)),
                                 NULL);
}

/* The change of one commit that another program may have made. */
static void commit(run *r, pawl_changes *changes)
{
    pawl_refusals refused = {.arena = r->arena};
    pawl_random   random;
    pawl_random_seed(&random, r->in.left);
    changes->commit_id  = pawl_uuid_v7(&random, pawl_test_now(r->test));
    changes->now        = pawl_test_now(r->test);
    changes->unit_count = changes->group_count = 1;
    (void)pawl_store_commit(pawl_test_store(r->test), changes, &refused, NULL);
    (void)pawl_test_drain(r->test, NULL, NULL);
}

static void send(run *r)
{
    pawl_queue_send send    = {.queue   = fuzz_name(&r->in),
                               .message = {.id      = fuzz_name(&r->in),
                                           .type    = fuzz_name(&r->in),
                                           .headers = fuzz_json(&r->in),
                                           .body    = fuzz_json(&r->in)},
                               .due     = pawl_test_now(r->test)};
    pawl_changes    changes = {.queue_send = {&send, 1}};
    commit(r, &changes);
}

static void append(run *r)
{
    pawl_text       stream = fuzz_name(&r->in);
    pawl_event_rows rows   = {.count = 0};
    (void)pawl_test_events(r->test, string(r, stream), &rows, NULL);
    pawl_event_append event   = {.stream   = stream,
                                 .version  = (int64_t)rows.count + 1,
                                 .is_first = true,
                                 .event    = {.type         = fuzz_name(&r->in),
                                              .type_version = (int32_t)fuzz_below(&r->in, 4),
                                              .message_id   = fuzz_name(&r->in),
                                              .headers      = fuzz_json(&r->in),
                                              .body         = fuzz_json(&r->in),
                                              .at           = pawl_test_now(r->test)}};
    pawl_changes      changes = {.event_append = {&event, 1}};
    commit(r, &changes);
}

static void snapshot(run *r)
{
    pawl_stream_snapshot_set set     = {.stream       = fuzz_name(&r->in),
                                        .version      = fuzz_byte(&r->in),
                                        .type_version = (int32_t)fuzz_below(&r->in, 4),
                                        .state        = fuzz_json(&r->in),
                                        .dispatches   = fuzz_json(&r->in)};
    pawl_changes             changes = {.stream_snapshot_set = {&set, 1}};
    commit(r, &changes);
}

static void set_timeout(run *r)
{
    pawl_timeout_set set     = {.id          = {{{1, (uint8_t)fuzz_byte(&r->in)}}},
                                .saga_id     = {{{(uint8_t)fuzz_byte(&r->in)}}},
                                .saga_type   = fuzz_name(&r->in),
                                .name        = fuzz_name(&r->in),
                                .destination = fuzz_name(&r->in),
                                .headers     = fuzz_json(&r->in),
                                .due         = pawl_test_now(r->test)};
    pawl_changes     changes = {.timeout_set = {&set, 1}};
    commit(r, &changes);
}

/* The state of the order o-1, if there is one. */
static void change_saga(run *r)
{
    const pawl_saga_table *const *tables = NULL;
    size_t                        count  = 0;
    pawl_saga_row                 row    = {.version = 0};
    if (pawl_test_saga_row(r->test, "OrderSaga", "o-1", &row, NULL) != PAWL_OK ||
        pawl_endpoint_tables(fuzz_application(), "orders", NULL, r->arena, &tables, &count, NULL) !=
            PAWL_OK)
        return;
    pawl_saga_update update  = {.table        = tables[0],
                                .id           = row.id,
                                .version      = row.version,
                                .metadata     = fuzz_json(&r->in),
                                .data         = fuzz_json(&r->in),
                                .type_version = fuzz_name(&r->in)};
    pawl_changes     changes = {.saga_update = {&update, 1}};
    commit(r, &changes);
}

static void settle_dead(run *r)
{
    pawl_dead_rows dead = {.count = 0};
    (void)pawl_test_dead(r->test, NULL, &dead, NULL);
    if (dead.count == 0)
        return;
    const char *id = string(r, dead.items[0].message.id);
    switch (fuzz_below(&r->in, 3)) {
    case 0: (void)pawl_test_dead_retry(r->test, NULL, id, NULL); return;
    case 1: (void)pawl_test_dead_discard(r->test, NULL, id, NULL); return;
    default:
        (void)pawl_test_dead_edit(r->test, NULL, id, string(r, fuzz_json(&r->in)), NULL);
        return;
    }
}

static void advance(run *r)
{
    static const int64_t durations[] = {PAWL_SECONDS(1), PAWL_MINUTES(16), PAWL_HOURS(49),
                                        PAWL_DAYS(3)};
    (void)pawl_test_advance(r->test, durations[fuzz_below(&r->in, 4)], NULL);
}

/* The versions of each stream have no gap, and all can be read. */
static void check_events(run *r)
{
    pawl_event_rows rows  = {.count = 0};
    pawl_stats      stats = PAWL_STATS_INIT;
    FUZZ_CHECK(pawl_test_events(r->test, "Account/a", &rows, NULL) == PAWL_OK);
    for (size_t i = 0; i < rows.count; i++)
        FUZZ_CHECK(rows.items[i].version == (int64_t)i + 1);
    FUZZ_CHECK(pawl_test_events(r->test, NULL, &rows, NULL) == PAWL_OK);
    FUZZ_CHECK(pawl_test_stats(r->test, &stats, NULL) == PAWL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    typedef void       step(run * r);
    static step *const steps[] = {deliver, deliver,     send,        append,      snapshot,
                                  advance, settle_dead, set_timeout, change_saga, deliver};
    run                it      = {.in = {data, size}, .arena = fuzz_arena()};
    pawl_error         error   = PAWL_ERROR_INIT;
    /* A message of a version that nobody reads waits without end, and a step each ten seconds of the days
     * that pass would be hundreds of thousands. */
    pawl_endpoint_options endpoint = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_test_options     options  = PAWL_TEST_OPTIONS_INIT;
    endpoint.version_delay         = PAWL_HOURS(6);
    options.endpoint               = &endpoint;
    world_quiet();
    FUZZ_CHECK(pawl_test_create(fuzz_application(), &options, &it.test, &error) == PAWL_OK);
    for (int i = 0; i < STEPS_MAX && it.in.left > 0; i++)
        steps[fuzz_below(&it.in, sizeof steps / sizeof steps[0])](&it);
    check_events(&it);
    pawl_test_destroy(it.test);
    pawl_arena_destroy(it.arena);
    return 0;
}
