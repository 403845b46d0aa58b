/* test_health_figures.c - the figures of a store are read, within one limit of time. O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/minimal.h"
#include "support/world.h"

#include "pawl/operations.h"
#include "runtime/operate/observe/observe.h"

#define NOW WORLD_START
#define SECOND PAWL_SECONDS(1)

/* A row that was dispatched to nowhere waits; another one is dead. */
ON_ALL_STORES(o23_a_store_is_asked, const char *url)
{
    pawl_error      error = PAWL_ERROR_INIT;
    pawl_store     *store = NULL;
    pawl_health     health;
    pawl_outbox_row row = {.dispatch_id = {{{1}}},
                           .endpoint    = PAWL_TEXT("orders"),
                           .destination = PAWL_TEXT("far"),
                           .message     = {.id      = PAWL_TEXT("m1"),
                                           .type    = PAWL_TEXT("note"),
                                           .body    = PAWL_TEXT("{}"),
                                           .headers = PAWL_TEXT("")}};
    must(pawl_store_open(url, NULL, &store, world_error()));
    must(pawl_health_check(store, NULL, NOW, &health, world_error()));
    assert_int_equal(health.state, PAWL_HEALTHY);
    must(pawl_store_outbox_insert(store, &row, NOW, world_error()));
    must(pawl_health_check(store, NULL, NOW + 59 * SECOND, &health, world_error()));
    assert_int_equal(health.state, PAWL_HEALTHY);
    must(pawl_health_check(store, NULL, NOW + 60 * SECOND, &health, world_error()));
    assert_int_equal(health.state, PAWL_DEGRADED);
    assert_int_equal(health.checks[0].value, 60 * SECOND);
    world_ok(pawl_health_check(store, NULL, NOW + 300 * SECOND, &health, NULL), &error);
    assert_int_equal(health.state, PAWL_UNHEALTHY);
    pawl_arena        *arena  = test_arena();
    pawl_outbox_rows   rows   = {.count = 0};
    pawl_outbox_result result = {.outcome = PAWL_ATTEMPT_REJECTED, .error = PAWL_TEXT("no")};
    must(pawl_store_outbox_list(store, PAWL_OUTBOX_PENDING, 0, arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    must(pawl_store_outbox_settle(store, &rows.items[0], &result, NOW, world_error()));
    must(pawl_health_check(store, NULL, NOW + 300 * SECOND, &health, world_error()));
    assert_int_equal(health.checks[0].state, PAWL_HEALTHY);
    assert_int_equal(health.checks[1].state, PAWL_DEGRADED);
    assert_int_equal(health.state, PAWL_DEGRADED);
    pawl_store_close(store);
}

ON_ALL_STORES(o23_the_reader_of_a_queue_is_asked_for, const char *url)
{
    pawl_store         *store   = NULL;
    pawl_arena         *arena   = test_arena();
    pawl_health_figures figures = PAWL_HEALTH_FIGURES_INIT;
    must(pawl_store_open(url, NULL, &store, world_error()));
    MUST_COMMIT(store, subscription_set, NOW, .type = PAWL_TEXT("reader:orders"),
                .queue = PAWL_TEXT("biling"));
    must(pawl_health_query(store, NOW, arena, &figures, world_error()));
    assert_int_equal(figures.subscriptions.count, 1);
    pawl_store_close(store);
}

#define LARGE 9 /* messages that fill a page by their size */

/* The last message of a queue is put back by a worker that does not read its version. */
static void put_back_last(pawl_store *store, pawl_arena *arena)
{
    pawl_queue_rows  rows  = {.count = 0};
    pawl_queue_claim claim = {.queue     = PAWL_TEXT("desk"),
                              .due_max   = NOW + LARGE * SECOND,
                              .count_max = LARGE + 1,
                              .now       = NOW};
    must(pawl_store_worker_open(store, PAWL_TEXT("desk"), PAWL_TEXT("[]"), NOW, world_error()));
    must(pawl_store_queue_claim(store, &claim, arena, &rows, world_error()));
    assert_int_equal(rows.count, LARGE + 1);
    for (size_t i = 0; i <= LARGE; i++)
        MUST_COMMIT(store, queue_settle, NOW, .queue = PAWL_TEXT("desk"), .seq = rows.items[i].seq,
                    .action = PAWL_QUEUE_RETRY, .due = NOW + (pawl_time)i * SECOND,
                    .error = i == LARGE ? PAWL_TEXT(PAWL_QUEUE_AWAITS_VERSION "note of version 2")
                                        : PAWL_TEXT(""));
}

/* A page of messages that ends by its size is not the last one. */
ON_ALL_STORES(o23_large_messages_hide_none_that_waits_for_its_version, const char *url)
{
    pawl_store         *store   = NULL;
    pawl_arena         *arena   = test_arena();
    pawl_health_figures figures = PAWL_HEALTH_FIGURES_INIT;
    size_t              size    = PAWL_CLAIM_SIZE_MAX / LARGE + 1;
    char               *body    = pawl_arena_take(arena, size);
    memset(body, '1', size);
    must(pawl_store_open(url, NULL, &store, world_error()));
    for (int i = 0; i <= LARGE; i++)
        MUST_COMMIT(store, queue_send, NOW, .queue = PAWL_TEXT("desk"),
                    .message = {.id   = pawl_arena_printf(arena, "m%d", i),
                                .type = PAWL_TEXT("note"),
                                .body = {.data = body, .size = i < LARGE ? size : 1}},
                    .due     = NOW + i * SECOND);
    put_back_last(store, arena);
    must(pawl_health_query(store, NOW, arena, &figures, world_error()));
    assert_true(pawl_text_equal(figures.version_awaited, PAWL_TEXT("desk: note of version 2")));
    pawl_store_close(store);
}

static pawl_code no_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                          pawl_error *error)
{
    return pawl_error_set(error, PAWL_EUNREACHABLE, "the server is away");
}

static pawl_code no_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                           pawl_error *error)
{
    return PAWL_OK;
}

STATE_TEST(o23_a_store_that_does_not_answer_is_unhealthy, void **state)
{
    static pawl_store_ops ops   = {MINIMAL_STORE, .scheme = "mute", .commit = no_commit,
                                   .stats = no_stats};
    pawl_store           *store = NULL;
    pawl_health           health;
    must(pawl_store_register(&ops, world_error()));
    must(pawl_store_open("mute:", NULL, &store, world_error()));
    assert_int_equal(pawl_health_check(store, NULL, NOW, &health, world_error()),
                     PAWL_EUNREACHABLE);
    assert_int_equal(health.state, PAWL_UNHEALTHY);
    assert_int_equal(health.check_count, 1);
    assert_string_equal(health.checks[0].name, "store");
    assert_string_equal(health.checks[0].reason, "the server is away");
    assert_int_equal(pawl_health_check(store, NULL, NOW, &health, NULL), PAWL_EUNREACHABLE);
    assert_string_equal(health.checks[0].reason, "the server is away");
    ops.stats = NULL;
    assert_int_equal(pawl_health_check(store, NULL, NOW, &health, world_error()),
                     PAWL_EUNSUPPORTED);
    assert_int_equal(health.state, PAWL_UNHEALTHY);
    pawl_health_options wrong = {.dead_degraded = 200};
    assert_int_equal(pawl_health_check(store, &wrong, NOW, &health, world_error()), PAWL_EINVAL);
    assert_int_equal(health.state, PAWL_UNHEALTHY);
    pawl_store_close(store);
}

static int     finds[PAWL_FIND_KINDS];
static int64_t limits[PAWL_FIND_KINDS]; /* of the last find */

static pawl_code count_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                            pawl_found *found, pawl_error *error)
{
    finds[asked->kind]++;
    limits[asked->kind] = asked->limit;
    return PAWL_OK;
}

static pawl_code three_queues(pawl_store *store, pawl_time now, pawl_arena *arena,
                              pawl_stats *stats, pawl_error *error)
{
    static pawl_queue_stats queues[] = {{.queue = PAWL_TEXT_INIT("a"), .ready = 1},
                                        {.queue = PAWL_TEXT_INIT("b"), .ready = 1},
                                        {.queue = PAWL_TEXT_INIT("c"), .ready = 1}};
    stats->queues                    = queues;
    stats->queue_count               = COUNT(queues);
    memset(finds, 0, sizeof finds);
    return PAWL_OK;
}

/* A store of many queues is still asked for all the rest; one that is slow is not asked for ever. */
STATE_TEST(o23_a_look_has_one_limit_of_time, void **state)
{
    static const pawl_store_ops ops     = {MINIMAL_STORE, .scheme = "counting", .commit = no_commit,
                                           .stats = three_queues, .find = count_find};
    atomic_bool                 is_over = false;
    pawl_store                 *store   = NULL;
    pawl_arena                 *arena   = test_arena();
    pawl_health_figures         figures = PAWL_HEALTH_FIGURES_INIT;
    pawl__look                  look    = pawl__look_begin(PAWL_HOURS(1), &is_over);
    assert_int_equal(look.end - look.queues_end, PAWL_MINUTES(30));
    must(pawl_store_register(&ops, world_error()));
    must(pawl_store_open("counting:", NULL, &store, world_error()));
    must(pawl__health_read(store, &look, NOW, arena, &figures, world_error()));
    assert_int_equal(finds[PAWL_FIND_MESSAGES], 3);
    assert_in_range(limits[PAWL_FIND_MESSAGES], 1, 4); /* their size is not known yet */
    assert_int_equal(finds[PAWL_FIND_EVENTS], 3);
    look.queues_end = pawl__monotonic_now();
    must(pawl__health_read(store, &look, NOW, arena, &figures, world_error()));
    assert_int_equal(finds[PAWL_FIND_MESSAGES], 0);
    assert_int_equal(finds[PAWL_FIND_EVENTS], 0);
    assert_int_equal(finds[PAWL_FIND_TIMEOUTS], 1);
    assert_int_equal(figures.stats->queue_count, 3);
    look.end = look.queues_end;
    must_fail(pawl__health_read(store, &look, NOW, arena, &figures, world_error()), PAWL_ETIMEOUT,
              "the store does not answer in time");
    assert_int_equal(figures.stats->queue_count, 0);
    look    = pawl__look_begin(PAWL_HOURS(1), &is_over);
    is_over = true;
    assert_int_equal(pawl__health_read(store, &look, NOW, arena, &figures, world_error()),
                     PAWL_EINTERRUPTED);
    store->deadline_ms = 0; /* the public call's limit */
    assert_int_equal(pawl_health_query(store, NOW, arena, &figures, world_error()), PAWL_ETIMEOUT);
    assert_int_equal(figures.stats->queue_count, 0);
    store->deadline_ms = INT64_MAX;
    must(pawl_health_query(store, NOW, arena, &figures, world_error()));
    pawl_store_close(store);
}
