/* test_engine_flush.c - the rows that a flush hands over and the time of its next try, while others
 * work on its partition. E18, E20, E21, E22, E36.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

#include "runtime/runtime.h"

#include <sched.h>

PAWL_RECORD(card, A_NUMBER);
PAWL_RECORD(coin, A_NUMBER);
PAWL_RECORD(marker, A_NUMBER);
PAWL_RECORD(token, A_NUMBER);

static world_log seen;
static int       failures;           /* of the next calls */
static pawl_code failure;            /* their code */
static void (*meanwhile)(world *it); /* called once, in the next call */
static world *around;
static bool   coins_ran; /* since the last commit that was failed for them */

static pawl_code hand_over(pawl_context *ctx, const char *name, const int32_t *numbers,
                           size_t count)
{
    char   text[200] = "";
    size_t size      = 0;
    for (size_t i = 0; i < count && numbers != NULL; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, ",%d", (int)numbers[i]);
    world_note(&seen, "%s@%d:%zu%s", name, (int)((pawl_now(ctx) - WORLD_START) / PAWL_SECONDS(1)),
               count, text);
    void (*call)(world *) = meanwhile;
    meanwhile             = NULL;
    if (call != NULL)
        call(around);
    return failures-- > 0 ? pawl_fail(ctx, failure, "the van is late") : PAWL_OK;
}

static pawl_code on_cards(pawl_context *ctx, const card *messages, size_t count)
{
    int32_t numbers[20];
    for (size_t i = 0; i < count; i++)
        numbers[i] = messages[i].number;
    return hand_over(ctx, "cards", numbers, count);
}
PAWL_BATCH_HANDLER(on_cards, card);

static pawl_code on_coins(pawl_context *ctx, const coin *messages, size_t count)
{
    int32_t numbers[20];
    for (size_t i = 0; i < count; i++)
        numbers[i] = messages[i].number;
    coins_ran = true;
    return hand_over(ctx, "coins", numbers, count);
}
PAWL_BATCH_HANDLER(on_coins, coin);

static const pawl_aggregator cards = {.name         = "Cards",
                                      .handle       = PAWL_HANDLE(on_cards),
                                      .max          = 4,
                                      .period       = PAWL_SECONDS(60),
                                      .attempts_max = 3};
static pawl_code             on_stamps(pawl_context *ctx, const marker *messages, size_t count)
{
    return hand_over(ctx, "markers", NULL, count);
}
PAWL_BATCH_HANDLER(on_stamps, marker);

static const pawl_aggregator coins = {.name = "Coins", .handle = PAWL_HANDLE(on_coins), .size = 2};
static const pawl_aggregator markers = {
    .name = "Markers", .handle = PAWL_HANDLE(on_stamps), .size = 2};

static pawl_code on_tokens(pawl_context *ctx, const token *messages, size_t count)
{
    return hand_over(ctx, "tokens", NULL, count);
}
PAWL_BATCH_HANDLER(on_tokens, token);
static const pawl_aggregator tokens = {
    .name = "Tokens", .handle = PAWL_HANDLE(on_tokens), .size = 100, .period = PAWL_SECONDS(60)};

static const pawl_application application = ONE_ENDPOINT(
    "flushes", .name = "yard", .aggregators = PAWL_AGGREGATORS(&cards, &coins, &markers, &tokens));

static world *open_world_with(const char *url, int64_t retry_delay)
{
    failures  = 0;
    failure   = PAWL_RETRY;
    meanwhile = NULL;
    world_forget(&seen);
    world *it =
        world_begin(url, &application, NULL,
                    &(pawl_endpoint_options){.immediate_retries = -1, .retry_delay = retry_delay});
    around = it;
    return it;
}

static world *open_world(const char *url)
{
    return open_world_with(url, PAWL_SECONDS(10));
}

static void post_cards(world *it, int32_t first, int32_t count)
{
    for (int32_t i = first; i < first + count; i++)
        world_post(it, NULL, PAWL_MESSAGE(card, .number = i));
}

static void post_coins(world *it, int32_t first, int32_t count)
{
    for (int32_t i = first; i < first + count; i++)
        world_post(it, NULL, PAWL_MESSAGE(coin, .number = i));
}

/* ---- A period's flush that fails ------------------------------------------------ */

/* Once for each try, which are apart from each other: a step of the endpoint does not use
 * them up. */
ON_ALL_STORES(e21_a_period_that_failed_is_tried_again_later, const char *url)
{
    world *it = open_world(url);
    failures  = 1;
    post_cards(it, 1, 2);
    world_drain(it);
    LOG_AFTER(world_go(it, PAWL_SECONDS(60)), seen, "cards@60:2,1,2 ");
    pawl_aggregator_counts counts = world_aggregated(it, "Cards", "card");
    assert_int_equal(counts.ready, 2);
    assert_int_equal(counts.flush_attempts, 1);
    assert_false(counts.flush_is_dead);
    assert_true(counts.flush_due > world_now(it));
    assert_true(counts.flush_due <= world_now(it) + PAWL_SECONDS(15));
    world_go(it, PAWL_SECONDS(15));
    assert_int_equal(world_aggregated(it, "Cards", "card").all, 0);
}

/* Many messages are in its hand, of which one may be to blame: no answer makes it dead before
 * its attempts are over. */
ON_ALL_STORES(e21_a_rejected_flush_is_tried_again_like_any_other, const char *url)
{
    world *it = open_world(url);
    failures  = 1;
    failure   = PAWL_REJECT;
    post_cards(it, 1, 2);
    world_drain(it);
    LOG_AFTER(world_go(it, PAWL_SECONDS(60)), seen, "cards@60:2,1,2 ");
    pawl_aggregator_counts counts = world_aggregated(it, "Cards", "card");
    assert_false(counts.flush_is_dead);
    assert_int_equal(counts.flush_attempts, 1);
    world_go(it, PAWL_SECONDS(15));
    assert_int_equal(world_aggregated(it, "Cards", "card").all, 0);
}

/* ---- What comes meanwhile ------------------------------------------------------------- */

static void add_row(world *it, const char *partition, const char *id, const char *type,
                    int64_t period)
{
    MUST_COMMIT(it->store, aggregator_add, WORLD_START, .name = pawl_text_of(partition),
                .partition = pawl_text_of(partition), .key = pawl_text_of(id),
                .message = {.id   = pawl_text_of(id),
                            .type = pawl_text_of(type),
                            .body = PAWL_TEXT("{\"number\":100}")},
                .at = world_now(it), .due = period > 0 ? world_now(it) + period : PAWL_TIME_MAX);
}

static void add_card(world *it)
{
    add_row(it, "Cards", "late", "card", PAWL_SECONDS(60));
}

/* Between its pieces another worker adds: that is the next period's. */
ON_ALL_STORES(e20_a_period_hands_over_what_was_there_when_it_began, const char *url)
{
    world *it = open_world(url);
    post_cards(it, 1, 5);
    world_drain(it);
    meanwhile = add_card;
    LOG_AFTER(world_go(it, PAWL_SECONDS(60)), seen, "cards@60:4,1,2,3,4 cards@60:1,5 ");
    assert_int_equal(world_aggregated(it, "Cards", "card").ready, 1);
    LOG_AFTER(world_go(it, PAWL_SECONDS(60)), seen,
              "cards@60:4,1,2,3,4 cards@60:1,5 cards@120:1,100 ");
}

/* ---- A flush that is refused ------------------------------------------------------------ */

static const pawl_session_id other_session = {{{7}}};

/* By the clock of another worker the lease is over: it leases one of the rows. */
static void lease_one_of(world *it, pawl_text partition, pawl_text type)
{
    pawl_leased_batch       piece = {.count = 0};
    pawl_leased_batch_claim claim = {.partition  = partition,
                                     .session    = other_session,
                                     .types      = &type,
                                     .type_count = 1,
                                     .count_max  = 1,
                                     .now        = world_now(it) + PAWL_HOURS(1),
                                     .lease      = PAWL_MINUTES(5)};
    must(pawl_store_leased_batch_claim(it->store, &claim, it->arena, &piece, world_error()));
    assert_int_equal(piece.count, 1);
}

static void lease_one(world *it)
{
    lease_one_of(it, PAWL_TEXT("Coins"), PAWL_TEXT("coin"));
}

static void lease_one_stamp(world *it)
{
    lease_one_of(it, PAWL_TEXT("Markers"), PAWL_TEXT("marker"));
}

/* A refused flush keeps nothing of its lease: rows that the other worker did not take are free at
 * once. */
ON_ALL_STORES(e36_a_refused_flush_gives_back_what_it_has, const char *url)
{
    world *it = open_world(url);
    meanwhile = lease_one;
    post_coins(it, 1, 2);
    pawl_step step = world_drain(it);
    assert_int_equal(step.refused, 1);
    assert_string_equal(seen.text, "coins@0:2,1,2 ");
    pawl_aggregator_counts counts = world_aggregated(it, "Coins", "coin");
    assert_int_equal(counts.all, 2);
    assert_int_equal(counts.ready, 1);
    assert_int_equal(counts.flush_attempts, 0);
    post_coins(it, 3, 1);
    LOG_AFTER(world_drain(it), seen, "coins@0:2,1,2 coins@0:2,2,3 ");
    assert_int_equal(world_stats(it).counters.flushes, 1); /* the refused one was taken back */
}

/* The next check, long before that of the minute. */
ON_ALL_STORES(e36_a_check_flushes_what_a_refused_flush_left, const char *url)
{
    pawl_leased_batch_release release = {.partition = PAWL_TEXT("Coins"), .session = other_session};
    pawl_changes              changes = {ONE_UNIT, .now = WORLD_START,
                                         .leased_batch_release = {.items = &release, .count = 1}};
    world                    *it      = open_world(url);
    meanwhile                         = lease_one;
    post_coins(it, 1, 2);
    LOG_AFTER(world_drain(it), seen, "coins@0:2,1,2 ");
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
    LOG_AFTER(world_go_machine(it, PAWL_SECONDS(10)), seen, "coins@0:2,1,2 coins@0:2,1,2 ");
}

/* Two partitions are full and flushed by one commit; either of them is refused. */
ON_ALL_STORES(e36_the_refused_one_of_two_gives_back_what_it_has, const char *url)
{
    for (int i = 0; i < 2; i++) {
        char fixture[1000];
        scenario_url_like(url, fixture, sizeof fixture);
        world *it = open_world(fixture);
        add_row(it, "Coins", "1", "coin", 0);
        add_row(it, "Markers", "3", "marker", 0);
        post_coins(it, 2, 1);
        world_post(it, NULL, PAWL_MESSAGE(marker, .number = 4));
        meanwhile      = i == 0 ? lease_one : lease_one_stamp;
        pawl_step step = world_drain(it);
        assert_int_equal(step.refused, 1);
        assert_string_equal(seen.text, "coins@0:2,100,2 markers@0:2 ");
        const char *name = i == 0 ? "Coins" : "Markers", *type = i == 0 ? "coin" : "marker";
        assert_int_equal(world_aggregated(it, name, type).ready, 1);
        assert_int_equal(world_aggregated(it, name, type).all, 2);
        name = i == 0 ? "Markers" : "Coins";
        type = i == 0 ? "marker" : "coin";
        assert_int_equal(world_aggregated(it, name, type).all, 0);
        world_close(it);
        scenario_forget(fixture);
    }
}

/* The store takes nothing of what a flush of coins writes. */
static pawl_code fail_coins(hook_point point, void *context)
{
    if (point != HOOK_BEFORE_COMMIT || !coins_ran)
        return PAWL_OK;
    coins_ran = false;
    return PAWL_ELIMIT;
}

/* Two partitions are full and flushed by one commit: what one of them writes fails its own flush alone. */
ON_ALL_STORES(e21_what_one_of_two_writes_does_not_fail_the_other, const char *url)
{
    world *it = open_world(hook_url(url));
    add_row(it, "Coins", "1", "coin", 0);
    add_row(it, "Markers", "3", "marker", 0);
    post_coins(it, 2, 1);
    world_post(it, NULL, PAWL_MESSAGE(marker, .number = 4));
    coins_ran = false;
    hook_set(fail_coins, NULL);
    world_drain(it);
    hook_set(NULL, NULL);
    assert_string_equal(seen.text, "coins@0:2,100,2 markers@0:2 coins@0:2,100,2 markers@0:2 ");
    assert_int_equal(world_aggregated(it, "Markers", "marker").all, 0);
    pawl_aggregator_counts counts = world_aggregated(it, "Coins", "coin");
    assert_int_equal(counts.all, 2);
    assert_int_equal(counts.flush_attempts, 1);
}

/* ---- A flush that gave way ---------------------------------------------------------------- */

#define BATCH_TIME PAWL_MILLISECONDS(200)

static void use_the_time(world *it)
{
    int64_t end = pawl__monotonic_now() + BATCH_TIME;
    while (pawl__monotonic_now() <= end)
        sched_yield();
}

/* By the machine's clock. */
static pawl_endpoint *open_hasty(const char *url)
{
    pawl_endpoint              *endpoint = NULL;
    const pawl_endpoint_options hasty    = {.options_size      = sizeof hasty,
                                            .store             = url,
                                            .batch_time_max    = BATCH_TIME,
                                            .immediate_retries = -1,
                                            .no_service        = true};
    must(pawl_endpoint_create(&application, NULL, &hasty, &endpoint, world_error()));
    return endpoint;
}

/* Two partitions are full, and the first one's callback uses the time of the batch: the
 * other has not failed by that, and a later step hands it over. Then each has failed once. */
ON_ALL_STORES(e21_a_flush_that_gave_way_has_not_failed, const char *url)
{
    world *it = open_world(url);
    add_row(it, "Coins", "1", "coin", 0);
    add_row(it, "Coins", "2", "coin", 0);
    add_row(it, "Markers", "3", "marker", 0);
    add_row(it, "Markers", "4", "marker", 0);
    failures                = 2;
    meanwhile               = use_the_time;
    pawl_endpoint *endpoint = open_hasty(url);
    must(pawl_endpoint_step(endpoint, NULL, world_error()));
    assert_int_equal(failures, 1);
    assert_int_equal(world_aggregated(it, "Markers", "marker").flush_attempts, 0);
    assert_int_equal(world_aggregated(it, "Markers", "marker").ready, 2);
    must(pawl_endpoint_drain(endpoint, NULL, world_error()));
    assert_int_equal(failures, 0);
    assert_int_equal(world_aggregated(it, "Coins", "coin").flush_attempts, 1);
    assert_int_equal(world_aggregated(it, "Coins", "coin").ready, 2);
    assert_int_equal(world_aggregated(it, "Markers", "marker").flush_attempts, 1);
    assert_int_equal(world_aggregated(it, "Markers", "marker").ready, 2);
    pawl_endpoint_destroy(endpoint);
}

/* ---- Counting a large partition ----------------------------------------------------------- */

static pawl_code note_count(hook_point point, void *context)
{
    *(int *)context += point == HOOK_BEFORE_COUNT;
    return PAWL_OK;
}

/* Once at the beginning, and once to see that nothing is left. */
ON_ALL_STORES(e20_a_backlog_is_not_counted_for_each_piece, const char *url)
{
    int    counted = 0;
    world *it      = open_world(hook_url(url));
    post_cards(it, 1, 12);
    world_drain(it);
    hook_set(note_count, &counted);
    world_go(it, PAWL_SECONDS(60));
    hook_set(NULL, NULL);
    assert_string_equal(seen.text, "cards@60:4,1,2,3,4 cards@60:4,5,6,7,8 cards@60:4,9,10,11,12 ");
    assert_int_equal(counted, 2);
}

/* A crash left Markers full. The check every ten seconds counts no partition, that of each minute each of them: Markers twice,
 * as its flush may have left some. */
ON_ALL_STORES(e18_full_partitions_are_looked_for_each_minute, const char *url)
{
    int    counted = 0;
    world *it      = open_world(hook_url(url));
    world_drain(it);
    add_row(it, "Coins", "1", "coin", 0);
    add_row(it, "Markers", "2", "marker", 0);
    add_row(it, "Markers", "3", "marker", 0);
    hook_set(note_count, &counted);
    world_go_machine(it, PAWL_SECONDS(50));
    assert_int_equal(counted, 0);
    world_go_machine(it, PAWL_SECONDS(10));
    hook_set(NULL, NULL);
    assert_int_equal(world_aggregated(it, "Markers", "marker").all, 0);
    assert_int_equal(world_aggregated(it, "Coins", "coin").all, 1);
    assert_int_equal(counted, 3);
}

/* Behind the piece that was handed over in the end. */
static pawl_code fail_next_piece(hook_point point, void *context)
{
    if (point == HOOK_AFTER_COMMIT && failures < 0)
        failures = 1;
    return PAWL_OK;
}

/* A piece does not have the tries of the piece before it. */
ON_ALL_STORES(e21_each_piece_has_tries_of_its_own, const char *url)
{
    world *it = open_world(hook_url(url));
    failures  = 2; /* of three */
    post_cards(it, 1, 8);
    world_drain(it);
    world_go(it, PAWL_SECONDS(60));
    world_go(it, PAWL_SECONDS(15));
    assert_int_equal(world_aggregated(it, "Cards", "card").flush_attempts, 2);
    hook_set(fail_next_piece, NULL);
    world_go(it, PAWL_SECONDS(25));
    hook_set(NULL, NULL);
    pawl_aggregator_counts counts = world_aggregated(it, "Cards", "card");
    assert_int_equal(counts.all, 4);
    assert_false(counts.flush_is_dead);
    assert_int_equal(counts.flush_attempts, 1);
}

/* A thousand rows wait for the next try of their flush: commits that add to them do not count them each time. */
ON_ALL_STORES(e21_what_waits_is_not_counted_by_each_commit, const char *url)
{
    static pawl_aggregator_add adds[1000];
    static char                ids[1000][8];
    int                        counted = 0;
    world                     *it      = open_world_with(hook_url(url), PAWL_SECONDS(1));
    for (size_t i = 0; i < 1000; i++) {
        snprintf(ids[i], sizeof ids[i], "s%zu", i);
        adds[i] = (pawl_aggregator_add){.name      = PAWL_TEXT("Markers"),
                                        .partition = PAWL_TEXT("Markers"),
                                        .key       = pawl_text_of(ids[i]),
                                        .message   = {.id   = pawl_text_of(ids[i]),
                                                      .type = PAWL_TEXT("marker"),
                                                      .body = PAWL_TEXT("{}")},
                                        .at        = WORLD_START,
                                        .due       = PAWL_TIME_MAX};
    }
    pawl_changes changes = {ONE_UNIT, .now = WORLD_START,
                            .aggregator_add = {.items = adds, .count = 1000}};
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
    failures = 1;
    LOG_AFTER(world_drain(it), seen, "markers@0:1000 ");
    hook_set(note_count, &counted);
    for (int32_t i = 1; i <= 3; i++) {
        world_post(it, NULL, PAWL_MESSAGE(marker, .number = i));
        world_drain(it);
    }
    hook_set(NULL, NULL);
    assert_in_range(counted, 0, 1);
    world_go_both(it, PAWL_SECONDS(2));
    assert_non_null(strstr(seen.text, ":1003 "));
    for (int32_t i = 4; i <= 5; i++)
        world_post(it, NULL, PAWL_MESSAGE(marker, .number = i));
    world_drain(it);
    assert_non_null(strstr(seen.text, ":2 "));
}

/* ---- What is asked for, and a clock that is set back ------------------------------------ */

static pawl_code lose_lease(hook_point point, void *context)
{
    int *left = context;
    return point == HOOK_BEFORE_LEASE && (*left)-- > 0 ? PAWL_ELOST : PAWL_OK;
}

ON_ALL_STORES(e20_a_flush_that_was_asked_for_is_made_behind_a_failure, const char *url)
{
    int       left = 1;
    pawl_step step = PAWL_STEP_INIT;
    world    *it   = open_world(hook_url(url));
    post_cards(it, 1, 2);
    world_drain(it);
    hook_set(lose_lease, &left);
    must(pawl_endpoint_flush(it->endpoint, "Cards", NULL, world_error()));
    assert_int_equal(pawl_endpoint_drain(it->endpoint, &step, NULL), PAWL_ELOST);
    assert_string_equal(seen.text, "");
    world_drain(it);
    hook_set(NULL, NULL);
    assert_string_equal(seen.text, "cards@0:2,1,2 ");
}

/* Rows that another program added are found by the check of all, ten seconds later at the latest. */
ON_ALL_STORES(e20_a_clock_that_was_set_back_does_not_put_off_the_check, const char *url)
{
    world *it = open_world(url);
    world_drain(it);
    world_set_back(it, PAWL_HOURS(1));
    add_row(it, "Coins", "1", "coin", 0);
    add_row(it, "Coins", "2", "coin", 0);
    world_go_machine(it, PAWL_SECONDS(11));
    assert_non_null(strstr(seen.text, "coins@"));
}

/* ---- A due time of another program ------------------------------------------------------ */

/* By a program without a period, with a longer one, and by a clock that was ahead; at the start, and of a program that
 * runs beside this one. */
ON_ALL_STORES(e20_a_period_that_is_new_or_shorter_holds_for_what_is_there, const char *url)
{
    world *it = open_world(url);
    add_row(it, "Cards", "1", "card", 0);
    add_row(it, "Tokens", "2", "token", PAWL_DAYS(30));
    world_drain(it);
    assert_true(world_aggregated(it, "Cards", "card").flush_due ==
                world_now(it) + PAWL_SECONDS(60));
    LOG_AFTER(world_go(it, PAWL_SECONDS(60)), seen, "cards@60:1,100 tokens@60:1 ");
    add_row(it, "Tokens", "3", "token", 0);
    world_go_machine(it, PAWL_MINUTES(1));
    assert_true(world_aggregated(it, "Tokens", "token").flush_due ==
                world_now(it) + PAWL_SECONDS(60));
}

/* Of a partition that waits for its next try, and of one that the clock of another machine may have planned. */
ON_ALL_STORES(e20_other_due_times_stay, const char *url)
{
    world    *it  = open_world(url);
    pawl_time due = world_now(it) + PAWL_SECONDS(170);
    add_row(it, "Cards", "1", "card", PAWL_SECONDS(170));
    add_row(it, "Tokens", "2", "token", PAWL_SECONDS(60));
    MUST_COMMIT(it->store, flush_set, WORLD_START, .partition = PAWL_TEXT("Tokens"), .attempts = 1,
                .due = WORLD_START + PAWL_DAYS(1), .error = PAWL_TEXT("the van is late"));
    world_drain(it);
    assert_true(world_aggregated(it, "Cards", "card").flush_due == due);
    assert_true(world_aggregated(it, "Tokens", "token").flush_due == WORLD_START + PAWL_DAYS(1));
    assert_int_equal(world_aggregated(it, "Tokens", "token").flush_attempts, 1);
}
