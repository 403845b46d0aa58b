/* test_runtime_flush.c - a step that leaves partitions of aggregators to the next ones. E18, E20, E26, E29.
 *
 * By the machine's clock a callback uses the time of its step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

#include "runtime/runtime.h"
#include "runtime/worker/worker.h"

#include <sched.h>

#define BATCH_TIME PAWL_MILLISECONDS(200)

PAWL_RECORD(card, A_NUMBER);
PAWL_RECORD(coin, A_NUMBER);
PAWL_RECORD(marker, A_NUMBER);

static int flushes;
static int failures;                  /* of the next calls */
static void (*in_each)(world *where); /* or NULL */
static world *around;

static pawl_code hand_over(pawl_context *ctx)
{
    flushes++;
    if (in_each != NULL)
        in_each(around);
    return failures-- > 0 ? pawl_fail(ctx, PAWL_RETRY, "the van is late") : PAWL_OK;
}

static pawl_code on_cards(pawl_context *ctx, const card *messages, size_t count)
{
    return hand_over(ctx);
}
PAWL_BATCH_HANDLER(on_cards, card);

static pawl_code on_coins(pawl_context *ctx, const coin *messages, size_t count)
{
    return hand_over(ctx);
}
PAWL_BATCH_HANDLER(on_coins, coin);

static pawl_code on_stamps(pawl_context *ctx, const marker *messages, size_t count)
{
    return hand_over(ctx);
}
PAWL_BATCH_HANDLER(on_stamps, marker);

static const pawl_aggregator cards = {.name         = "Cards",
                                      .handle       = PAWL_HANDLE(on_cards),
                                      .max          = 4,
                                      .period       = PAWL_DAYS(1000),
                                      .attempts_max = 3};
static const pawl_aggregator coins = {.name = "Coins", .handle = PAWL_HANDLE(on_coins), .size = 2};
static const pawl_aggregator markers = {
    .name = "Markers", .handle = PAWL_HANDLE(on_stamps), .size = 2};

static const pawl_application application = ONE_ENDPOINT(
    "leaving", .name = "yard", .aggregators = PAWL_AGGREGATORS(&cards, &coins, &markers));

/* ---- Both clocks ---------------------------------------------------------------- */

static const pawl_endpoint_options options = {
    .options_size      = sizeof options,
    .batch_time_max    = BATCH_TIME,
    .immediate_retries = -1,
    .no_service        = true,
};

static world *open_world(const char *url)
{
    flushes = failures = 0;
    in_each            = NULL;
    around             = world_begin(url, &application, NULL, &options);
    return around;
}

/* Another endpoint of the same store, by the machine's clock. */
static pawl_endpoint *open_timed(const char *url)
{
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options timed    = options;
    timed.store                    = url;
    must(pawl_endpoint_create(&application, NULL, &timed, &endpoint, world_error()));
    return endpoint;
}

static void use_the_time(world *it)
{
    int64_t end = pawl__monotonic_now() + BATCH_TIME;
    while (pawl__monotonic_now() <= end)
        sched_yield();
}

static void add_rows(world *it, const char *partition, const char *type, size_t count)
{
    static int number;
    bool       is_card = strcmp(type, "card") == 0;
    for (size_t i = 0; i < count; i++) {
        const char *id = test_text("r%d", number++);
        MUST_COMMIT(it->store, aggregator_add, WORLD_START, .name = pawl_text_of(partition),
                    .partition = pawl_text_of(partition), .key = pawl_text_of(id),
                    .message = {.id   = pawl_text_of(id),
                                .type = pawl_text_of(type),
                                .body = PAWL_TEXT("{\"number\":100}")},
                    .at = WORLD_START, .due = is_card ? WORLD_START : PAWL_TIME_MAX);
    }
}

static void post_cards(world *it, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        world_post(it, NULL, PAWL_MESSAGE(card, .number = i));
}

static pawl_step step_of(pawl_endpoint *endpoint)
{
    pawl_step step = PAWL_STEP_INIT;
    must(pawl_endpoint_step(endpoint, &step, world_error()));
    return step;
}

/* ---- Its time is over ------------------------------------------------------------- */

/* Two partitions are full, and each uses the time of a step. A step that claims nothing behind a flush is not idle, for
 * more may be due. */
ON_ALL_STORES(e20_a_message_waits_for_a_step_of_flushes_at_most, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Coins", "coin", 2);
    add_rows(it, "Markers", "marker", 2);
    post_cards(it, 1);
    in_each                 = use_the_time;
    pawl_endpoint *endpoint = open_timed(url);
    step_of(endpoint);
    assert_int_equal(flushes, 1);
    assert_int_equal(step_of(endpoint).handled, 1);
    assert_int_equal(flushes, 1);
    assert_int_equal(world_aggregated(it, "Cards", "card").all, 1);
    step_of(endpoint);
    assert_int_equal(flushes, 2);
    must(pawl_endpoint_flush(endpoint, "Cards", NULL, world_error()));
    must(pawl_endpoint_drain(endpoint, NULL, world_error()));
    assert_int_equal(flushes, 3);
    pawl_endpoint_destroy(endpoint);
}

static int counted;

static pawl_code use_time_to_count(hook_point point, void *context)
{
    if (point != HOOK_BEFORE_COUNT)
        return PAWL_OK;
    counted++;
    use_the_time(context);
    return PAWL_OK;
}

/* None of them is full: reading their counts takes the time of two steps. */
ON_ALL_STORES(e20_a_message_waits_for_some_looks_at_partitions_at_most, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Coins", "coin", 1);
    add_rows(it, "Markers", "marker", 1);
    counted                 = 0;
    pawl_endpoint *endpoint = open_timed(hook_url(url));
    hook_set(use_time_to_count, it);
    assert_false(step_of(endpoint).is_idle);
    assert_int_equal(counted, 1);
    post_cards(it, 1);
    assert_int_equal(step_of(endpoint).handled, 1);
    assert_int_equal(counted, 2);
    hook_set(NULL, NULL);
    pawl_endpoint_destroy(endpoint);
}

/* One commit fills two partitions, and the first one's flush uses the time of its step. */
ON_ALL_STORES(e18_the_next_step_flushes_what_a_commit_filled, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Coins", "coin", 1);
    add_rows(it, "Markers", "marker", 1);
    world_post(it, NULL, PAWL_MESSAGE(coin, .number = 1));
    world_post(it, NULL, PAWL_MESSAGE(marker, .number = 2));
    in_each                 = use_the_time;
    pawl_endpoint *endpoint = open_timed(url);
    step_of(endpoint);
    assert_int_equal(flushes, 1);
    must(pawl_endpoint_drain(endpoint, NULL, world_error()));
    assert_int_equal(flushes, 2);
    pawl_endpoint_destroy(endpoint);
}

/* Behind a flush that left one, before any message; and a partition that is due since. */
ON_ALL_STORES(e20_an_isolated_step_hands_over_all, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Coins", "coin", 2);
    add_rows(it, "Markers", "marker", 2);
    in_each                 = use_the_time;
    pawl_endpoint *endpoint = open_timed(url);
    step_of(endpoint);
    assert_int_equal(flushes, 1);
    add_rows(it, "Cards", "card", 2);
    pawl__isolation_isolate_partitions(endpoint);
    step_of(endpoint);
    assert_int_equal(flushes, 3);
    pawl_endpoint_destroy(endpoint);
}

ON_ALL_STORES(e20_under_a_virtual_clock_a_step_has_no_end, const char *url)
{
    world *it = open_world(hook_url(url));
    add_rows(it, "Coins", "coin", 2);
    add_rows(it, "Markers", "marker", 2);
    hook_set(use_time_to_count, it);
    step_of(it->endpoint);
    hook_set(NULL, NULL);
    assert_int_equal(flushes, 2);
}

/* ---- It has to end ------------------------------------------------------------------ */

static void stop(world *it)
{
    pawl_endpoint_stop(it->endpoint);
}

static void open_breaker(world *it)
{
    atomic_store(&it->endpoint->breaker.state, PAWL__BREAKER_OPEN);
}

static pawl_code lose_lease(hook_point point, void *context)
{
    int *left = context;
    return point == HOOK_BEFORE_LEASE && (*left)-- > 0 ? PAWL_ELOST : PAWL_OK;
}

/* Of three pieces a step hands over one; the others stay, also behind a failure. */
ON_ALL_STORES(e20_e29_a_stop_ends_a_round_of_flushes, const char *url)
{
    int    left = 1;
    world *it   = open_world(hook_url(url));
    post_cards(it, 12);
    world_drain(it);
    must(pawl_endpoint_flush(it->endpoint, "Cards", NULL, world_error()));
    in_each = stop;
    step_of(it->endpoint);
    assert_int_equal(flushes, 1);
    hook_set(lose_lease, &left);
    assert_int_equal(pawl_endpoint_step(it->endpoint, NULL, NULL), PAWL_ELOST);
    hook_set(NULL, NULL);
    for (int i = 2; i <= 3; i++) {
        step_of(it->endpoint);
        assert_int_equal(flushes, i);
    }
    assert_int_equal(world_aggregated(it, "Cards", "card").all, 0);
}

/* Another process, after a stop or a crash behind the first of three pieces: the partition is due as it was. Behind the
 * last piece a new period begins. */
ON_ALL_STORES(e20_e29_what_a_stop_left_is_due_in_another_process, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Cards", "card", 12);
    in_each = stop;
    step_of(it->endpoint);
    assert_int_equal(flushes, 1);
    in_each                       = NULL;
    pawl_aggregator_counts counts = world_aggregated(it, "Cards", "card");
    assert_int_equal(counts.ready, 8);
    assert_true(counts.flush_due == WORLD_START);
    pawl_endpoint *endpoint = open_timed(url);
    step_of(endpoint);
    assert_int_equal(flushes, 3);
    pawl_endpoint_destroy(endpoint);
    assert_int_equal(world_aggregated(it, "Cards", "card").all, 0);
}

/* A message that is added behind the first piece waits for the next period, which the last piece begins. */
static void add_late(world *it)
{
    in_each = NULL;
    add_rows(it, "Cards", "card", 1);
}

ON_ALL_STORES(e20_the_last_piece_begins_the_next_period, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Cards", "card", 8);
    in_each = add_late;
    world_drain(it);
    assert_int_equal(flushes, 2);
    pawl_aggregator_counts counts = world_aggregated(it, "Cards", "card");
    assert_int_equal(counts.ready, 1);
    assert_true(counts.flush_due == WORLD_START + PAWL_DAYS(1000));
}

/* Another process failed twice meanwhile: the counts are read again. */
ON_ALL_STORES(e20_e26_a_breaker_that_opens_ends_a_round_of_flushes, const char *url)
{
    world *it = open_world(url);
    post_cards(it, 8);
    world_drain(it);
    must(pawl_endpoint_flush(it->endpoint, "Cards", NULL, world_error()));
    in_each = open_breaker;
    step_of(it->endpoint);
    assert_int_equal(flushes, 1);
    atomic_store(&it->endpoint->breaker.state, PAWL__BREAKER_CLOSED);
    MUST_COMMIT(it->store, flush_set, WORLD_START, .partition = PAWL_TEXT("Cards"), .attempts = 2,
                .due = WORLD_START);
    in_each  = NULL;
    failures = 1;
    world_drain(it);
    assert_int_equal(flushes, 2);
    assert_true(world_aggregated(it, "Cards", "card").flush_is_dead);
}

/* ---- Others have the rows ------------------------------------------------------------- */

static const pawl_session_id other_session = {{{7}}};

/* Another worker leases cards. */
static pawl_leased_batch lease_cards(world *it, size_t count, int64_t lease)
{
    pawl_text               type  = PAWL_TEXT("card");
    pawl_leased_batch       piece = {.count = 0};
    pawl_leased_batch_claim claim = {.partition  = PAWL_TEXT("Cards"),
                                     .session    = other_session,
                                     .types      = &type,
                                     .type_count = 1,
                                     .count_max  = count,
                                     .id_max     = INT64_MAX,
                                     .now        = pawl__machine_now(it->endpoint),
                                     .lease      = lease};
    must(pawl_store_leased_batch_claim(it->store, &claim, it->arena, &piece, world_error()));
    assert_int_equal(piece.count, count);
    return piece;
}

static pawl_code note_count(hook_point point, void *context)
{
    counted += point == HOOK_BEFORE_COUNT;
    return PAWL_OK;
}

/* Its period is over, and another worker's flush, which has leased all its rows, is under way: the partition is looked at
 * each second, not by each step. */
ON_ALL_STORES(e20_a_partition_that_another_flushes_is_looked_at_each_second, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Cards", "card", 2);
    lease_cards(it, 2, PAWL_DAYS(100000));
    pawl_endpoint *endpoint = open_timed(hook_url(url));
    must(pawl_endpoint_drain(endpoint, NULL, world_error()));
    counted = 0;
    hook_set(note_count, NULL);
    pawl_step step = PAWL_STEP_INIT;
    for (int i = 0; i < 20; i++)
        step = step_of(endpoint);
    hook_set(NULL, NULL);
    assert_in_range(counted, 0, 4);
    assert_true(step.next_due > pawl__business_now(endpoint) - PAWL_SECONDS(1));
    assert_int_equal(flushes, 0);
    pawl_endpoint_destroy(endpoint);
}

static void step_another_worker(pawl_endpoint *endpoint)
{
    pawl__worker *worker = NULL;
    pawl_step     step   = PAWL_STEP_INIT;
    must(pawl__worker_create(endpoint, &worker, world_error()));
    must(pawl__worker_step(worker, &step, world_error()));
    pawl__worker_leave(worker);
    pawl__worker_destroy(worker);
}

/* Of an endpoint's workers the first one counts what the partitions hold. */
ON_ALL_STORES(e36_partitions_are_counted_once_for_all_workers_at_a_start, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Coins", "coin", 1);
    add_rows(it, "Markers", "marker", 1);
    counted                 = 0;
    pawl_endpoint *endpoint = open_timed(hook_url(url));
    hook_set(note_count, NULL);
    step_of(endpoint);
    step_another_worker(endpoint);
    step_another_worker(endpoint);
    hook_set(NULL, NULL);
    assert_int_equal(counted, 2);
    pawl_endpoint_destroy(endpoint);
}

static pawl_code lose_count(hook_point point, void *context)
{
    return point == HOOK_BEFORE_COUNT ? PAWL_ELOST : PAWL_OK;
}

/* The handle is lost between the commit that fills a partition and the flush: the next step hands it over. */
ON_ALL_STORES(e36_a_partition_that_a_lost_handle_left_full_is_handed_over, const char *url)
{
    world *it = open_world(hook_url(url));
    world_post(it, NULL, PAWL_MESSAGE(coin, .number = 1));
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(coin, .number = 2));
    hook_set(lose_count, NULL);
    assert_int_equal(pawl_endpoint_step(it->endpoint, NULL, NULL), PAWL_ELOST);
    hook_set(NULL, NULL);
    assert_int_equal(flushes, 0);
    step_of(it->endpoint);
    assert_int_equal(flushes, 1);
}

/* Two workers share the pieces of a period, and the other one dies in its piece of three: they are handed over when its
 * lease is over, not a period later. The pieces of this one are smaller than the limit, as large, and two. */
ON_ALL_STORES(e20_rows_of_a_worker_that_died_do_not_wait_for_a_period, const char *url)
{
    for (size_t ours = 3; ours <= 5; ours++) {
        world *it = open_world(url);
        add_rows(it, "Cards", "card", 3 + ours);
        lease_cards(it, 3, PAWL_MINUTES(5));
        world_drain(it);
        assert_int_equal(flushes, ours <= 4 ? 1 : 2);
        assert_int_equal(world_aggregated(it, "Cards", "card").all, 3);
        world_go_both(it, PAWL_MINUTES(5));
        assert_int_equal(world_aggregated(it, "Cards", "card").all, 0);
        world_close(it);
    }
}

/* While the other one is at its piece, what is added is not handed over by and by. */
ON_ALL_STORES(e20_a_shared_flush_hands_over_nothing_that_is_added_meanwhile, const char *url)
{
    for (size_t ours = 3; ours <= 4; ours++) {
        world *it = open_world(url);
        add_rows(it, "Cards", "card", 3 + ours);
        lease_cards(it, 3, PAWL_MINUTES(5));
        world_drain(it);
        assert_int_equal(flushes, 1);
        add_rows(it, "Cards", "card", 1);
        world_go_both(it, PAWL_MINUTES(4));
        assert_int_equal(flushes, 1);
        assert_int_equal(world_aggregated(it, "Cards", "card").ready, 1);
        world_go_both(it, PAWL_MINUTES(1));
        assert_int_equal(world_aggregated(it, "Cards", "card").all, 0);
        world_close(it);
    }
}

static pawl_code lease_four(hook_point point, void *context)
{
    if (point != HOOK_BEFORE_LEASE)
        return PAWL_OK;
    hook_set(NULL, NULL);
    lease_cards(context, 4, PAWL_MINUTES(5));
    return PAWL_OK;
}

/* The other one leases four of eight behind our look. The failure that ours was a retry of is over with our piece: it is
 * not taken for messages that cannot be decoded, which wait for the end of their leases. */
ON_ALL_STORES(e20_a_failure_of_before_does_not_put_off_a_shared_flush, const char *url)
{
    world *it = open_world(hook_url(url));
    add_rows(it, "Cards", "card", 8);
    MUST_COMMIT(it->store, flush_set, WORLD_START, .partition = PAWL_TEXT("Cards"), .attempts = 1,
                .due = WORLD_START, .error = PAWL_TEXT("not yet"));
    hook_set(lease_four, it);
    world_drain(it);
    assert_int_equal(flushes, 1);
    pawl_aggregator_counts counts = world_aggregated(it, "Cards", "card");
    assert_int_equal(counts.all, 4);
    assert_true(counts.flush_due == WORLD_START);
}

static pawl_leased_batch theirs;
static size_t            late;

/* The other worker's piece is handed over while ours is; messages may be added, too. */
static void end_theirs(world *it)
{
    int64_t ids[3];
    in_each = NULL;
    for (size_t i = 0; i < theirs.count; i++)
        ids[i] = theirs.items[i].id;
    MUST_COMMIT(it->store, leased_batch_remove, WORLD_START, .partition = PAWL_TEXT("Cards"),
                .session = other_session, .ids = ids, .id_count = theirs.count);
    add_rows(it, "Cards", "card", late);
}

/* The worker that ends last begins the next period. Messages that were added meanwhile wait for it. */
ON_ALL_STORES(e20_the_last_of_two_workers_begins_the_next_period, const char *url)
{
    for (size_t i = 0; i < 6; i++) {
        world *it   = open_world(url);
        size_t ours = 3 + i / 2;
        late        = i % 2;
        add_rows(it, "Cards", "card", 3 + ours);
        theirs  = lease_cards(it, 3, PAWL_MINUTES(5));
        in_each = end_theirs;
        world_drain(it);
        assert_int_equal(flushes, ours <= 4 ? 1 : 2);
        pawl_aggregator_counts counts = world_aggregated(it, "Cards", "card");
        assert_int_equal(counts.all, late);
        assert_true(counts.flush_due == (late > 0 ? WORLD_START + PAWL_DAYS(1000) : 0));
        world_go_both(it, PAWL_DAYS(1000));
        assert_int_equal(world_aggregated(it, "Cards", "card").all, 0);
        world_close(it);
    }
}

/* ---- It fails ------------------------------------------------------------------------- */

static const pawl_store_ops *hearing;

static pawl_code fail_flushes(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                              pawl_found *found, pawl_error *error)
{
    return asked->kind == PAWL_FIND_FLUSHES ? pawl_error_set(error, PAWL_EBUSY, "not now")
                                            : hearing->find(store, asked, arena, found, error);
}

/* Its partitions could not be listed. */
ON_STORES(e20_what_was_asked_for_is_listed_behind_a_failure, const char *url)
{
    static pawl_store_ops deaf;
    world                *it = open_world(url);
    post_cards(it, 2);
    world_drain(it);
    pawl_store *store = it->endpoint->worker->store;
    hearing           = store->ops;
    deaf              = *hearing;
    deaf.find         = fail_flushes;
    store->ops        = &deaf;
    must(pawl_endpoint_flush(it->endpoint, "Cards", NULL, world_error()));
    assert_int_equal(pawl_endpoint_step(it->endpoint, NULL, NULL), PAWL_EBUSY);
    assert_int_equal(flushes, 0);
    world_drain(it);
    assert_int_equal(flushes, 1);
}
