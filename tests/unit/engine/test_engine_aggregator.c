/* test_engine_aggregator.c - aggregators: by size, by period, on demand, and
 * what becomes of a flush that fails. E17 to E22.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/operations.h"
#include "support/world.h"

RECORD(parcel, (INT32, number), (TEXT, depot));
PAWL_RECORD(letter, A_NUMBER);
PAWL_RECORD(card, A_NUMBER);
PAWL_RECORD(crate, A_NUMBER);
PAWL_RECORD(sack, A_NUMBER);
RECORD(loaded, (INT32, count));

static world_log seen;
static int       failures;
static bool      is_quiet; /* only the sizes are noted */

static pawl_code hand_over(pawl_context *ctx, const char *name, const int32_t *numbers,
                           size_t count)
{
    char   text[400] = "";
    size_t size      = 0;
    for (size_t i = 0; i < count && !is_quiet; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, ",%d", numbers[i]);
    world_note(&seen, "%s%zu%s", name, count, text);
    if (failures > 0) {
        failures--;
        return pawl_fail(ctx, PAWL_RETRY, "the van is late");
    }
    return pawl_send(ctx, "vans", PAWL_MESSAGE(loaded, .count = (int32_t)count));
}

static pawl_code on_parcels(pawl_context *ctx, const parcel *messages, size_t count)
{
    int32_t numbers[300];
    for (size_t i = 0; i < count; i++)
        numbers[i] = messages[i].number;
    pawl_text partition = pawl_partition_in_flight(ctx);
    return hand_over(ctx, test_text("%.*s:", PAWL_TEXT_ARGS(partition)), numbers, count);
}
PAWL_BATCH_HANDLER(on_parcels, parcel);

static pawl_code on_letters(pawl_context *ctx, const letter *messages, size_t count)
{
    is_quiet = true;
    return hand_over(ctx, "letters:", NULL, count);
}
PAWL_BATCH_HANDLER(on_letters, letter);

static pawl_code on_cards(pawl_context *ctx, const card *messages, size_t count)
{
    int32_t numbers[300];
    for (size_t i = 0; i < count; i++)
        numbers[i] = messages[i].number;
    return hand_over(ctx, test_text("cards@%d:", (int)((pawl_now(ctx) - WORLD_START) / 1000000)),
                     numbers, count);
}
PAWL_BATCH_HANDLER(on_cards, card);

static pawl_code on_crates(pawl_context *ctx, const crate *messages, size_t count)
{
    int32_t numbers[300];
    for (size_t i = 0; i < count; i++)
        numbers[i] = messages[i].number;
    return hand_over(ctx, "crates:", numbers, count);
}
PAWL_BATCH_HANDLER(on_crates, crate);

static pawl_code on_sacks(pawl_context *ctx, const sack *messages, size_t count)
{
    int32_t first = messages[0].number;
    is_quiet      = count > 1;
    return hand_over(ctx, "sacks:", &first, count);
}
PAWL_BATCH_HANDLER(on_sacks, sack);

static const pawl_aggregator parcels = {
    .name = "Parcels", .handle = PAWL_HANDLE(on_parcels), .key = "depot", .size = 3};
static const pawl_aggregator letters = {.name = "Letters", .handle = PAWL_HANDLE(on_letters)};
static const pawl_aggregator cards   = {
      .name = "Cards", .handle = PAWL_HANDLE(on_cards), .max = 4, .period = PAWL_SECONDS(60)};
static const pawl_aggregator crates = {.name         = "Crates",
                                       .handle       = PAWL_HANDLE(on_crates),
                                       .size         = 2,
                                       .max          = 2,
                                       .period       = PAWL_SECONDS(60),
                                       .attempts_max = 2};

static const pawl_aggregator sacks = {
    .name = "Sacks", .handle = PAWL_HANDLE(on_sacks), .size = 3, .period = PAWL_SECONDS(60)};

static const pawl_application application =
    ONE_ENDPOINT("aggregators", .name = "yard",
                 .aggregators = PAWL_AGGREGATORS(&parcels, &letters, &cards, &crates, &sacks));

static world *open_world(const char *url)
{
    pawl_endpoint_options options = {.immediate_retries = -1, .retry_delay = PAWL_SECONDS(10)};
    failures                      = 0;
    is_quiet                      = false;
    world_forget(&seen);
    return world_begin(url, &application, NULL, &options);
}

static void post_parcel(world *it, int32_t number, const char *depot)
{
    world_post(it, NULL, PAWL_MESSAGE(parcel, .number = number, .depot = pawl_text_of(depot)));
}

static void post_card(world *it, int seconds, int32_t number)
{
    world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(seconds),
                  PAWL_MESSAGE(card, .number = number));
}

/* ---- By size ------------------------------------------------------------------------ */

ON_ALL_STORES(e17_neither_size_nor_period_is_size_ten, const char *url)
{
    world *it = open_world(url);
    for (int32_t i = 0; i < 9; i++)
        world_post(it, NULL, PAWL_MESSAGE(letter, .number = i));
    LOG_AFTER(world_drain(it), seen, "");
    assert_int_equal(world_aggregated(it, "Letters", "letter").ready, 9);
    world_post(it, NULL, PAWL_MESSAGE(letter, .number = 9));
    LOG_AFTER(world_drain(it), seen, "letters:10 ");
    assert_int_equal(world_aggregated(it, "Letters", "letter").all, 0);
    assert_int_equal(world_queue(it, "vans").count, 1);
}

ON_ALL_STORES(e17_a_period_alone_never_flushes_by_size, const char *url)
{
    world *it = open_world(url);
    for (int32_t i = 0; i < 30; i++)
        post_card(it, 0, i);
    LOG_AFTER(world_drain(it), seen, "");
}

/* One batch with seven: the callback gets all that is there. */
ON_ALL_STORES(e18_all_resolved_rows_are_handed_over, const char *url)
{
    world *it = open_world(url);
    for (int32_t i = 1; i <= 7; i++)
        post_parcel(it, i, "a");
    LOG_AFTER(world_drain(it), seen, "Parcels/a:7,1,2,3,4,5,6,7 ");
}

ON_ALL_STORES(e18_max_caps_what_is_handed_over, const char *url)
{
    world *it = open_world(url);
    for (int32_t i = 1; i <= 7; i++)
        world_post(it, NULL, PAWL_MESSAGE(crate, .number = i));
    LOG_AFTER(world_drain(it), seen, "crates:2,1,2 crates:2,3,4 crates:2,5,6 ");
    assert_int_equal(world_aggregated(it, "Crates", "crate").all, 1);
}

ON_ALL_STORES(keys_are_partitions, const char *url)
{
    world *it = open_world(url);
    for (int32_t i = 1; i <= 4; i++) {
        post_parcel(it, i, "a");
        post_parcel(it, 10 + i, i <= 2 ? "b" : "");
    }
    LOG_AFTER(world_drain(it), seen, "Parcels/a:4,1,2,3,4 ");
    assert_int_equal(world_aggregated(it, "Parcels/b", "parcel").ready, 2);
    assert_int_equal(world_aggregated(it, "Parcels/", "parcel").ready, 2);
    post_parcel(it, 15, "");
    LOG_AFTER(world_drain(it), seen, "Parcels/a:4,1,2,3,4 Parcels/:3,13,14,15 ");
}

ON_ALL_STORES(a7_a_partition_over_its_limit_is_refused, const char *url)
{
    char   depot[300];
    world *it = open_world(url);
    memset(depot, 'd', sizeof depot);
    depot[193] = '\0'; /* "Parcels/" and 193 are 201 */
    post_parcel(it, 1, depot);
    depot[192] = '\0';
    post_parcel(it, 2, depot);
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "201 bytes, the limit is 200"));
    assert_int_equal(world_stats(it).aggregator_rows, 1);
}

/* Ten rows that nobody here can read do not open the gate. */
/* Puts rows into a partition that no handler would add. */
static void add_rows(const world *it, const char *aggregator, const char *type, const char *body,
                     size_t count, pawl_time due)
{
    pawl_aggregator_add adds[10];
    char                ids[10][32];
    assert_true(count <= 10);
    for (size_t i = 0; i < count; i++) {
        snprintf(ids[i], sizeof ids[i], "%s-%zu", type, i);
        adds[i] = (pawl_aggregator_add){.name      = pawl_text_of(aggregator),
                                        .partition = pawl_text_of(aggregator),
                                        .key       = pawl_text_of(ids[i]),
                                        .message   = {.id   = pawl_text_of(ids[i]),
                                                      .type = pawl_text_of(type),
                                                      .body = pawl_text_of(body)},
                                        .at        = WORLD_START,
                                        .due       = due};
    }
    pawl_changes changes = {ONE_UNIT, .now = WORLD_START,
                            .aggregator_add = {.items = adds, .count = count}};
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
}

ON_ALL_STORES(e19_the_gate_counts_what_can_be_read, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Letters", "telegram", "{}", 10, PAWL_TIME_MAX);
    for (int32_t i = 0; i < 9; i++)
        world_post(it, NULL, PAWL_MESSAGE(letter, .number = i));
    world_drain(it);
    LOG_AFTER(world_go_both(it, PAWL_MINUTES(1)), seen, "");
    world_post(it, NULL, PAWL_MESSAGE(letter, .number = 9));
    LOG_AFTER(world_drain(it), seen, "letters:10 ");
    assert_int_equal(world_aggregated(it, "Letters", "letter").all, 10);
}

static pawl_text error_of_partition(world *it, const char *partition)
{
    pawl_partition_row row;
    must(pawl_store_partition_find(it->store, pawl_text_of(partition), it->arena, &row,
                                   world_error()));
    return row.error;
}

ON_ALL_STORES(a10_e19_by_size_what_does_not_decode_stays, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Letters", "letter", "{\"number\": \"none\"}", 2, PAWL_TIME_MAX);
    for (int32_t i = 0; i < 9; i++)
        world_post(it, NULL, PAWL_MESSAGE(letter, .number = i));
    world_drain(it);
    LOG_AFTER(world_go_both(it, PAWL_MINUTES(1)), seen, "");
    /* Nothing is withheld from the next flush. */
    assert_int_equal(world_aggregated(it, "Letters", "letter").ready, 11);
    assert_memory_equal(error_of_partition(it, "Letters").data,
                        "aggregator Letters: message letter-", 35);
    /* The check of all partitions sees that it is full, and a commit that adds later. */
    world_post(it, NULL, PAWL_MESSAGE(letter, .number = 9));
    LOG_AFTER(world_drain(it), seen, "");
    LOG_AFTER(world_go_machine(it, PAWL_SECONDS(61)), seen, "letters:10 ");
    assert_int_equal(world_aggregated(it, "Letters", "letter").all, 2);
    assert_int_equal(world_aggregated(it, "Letters", "letter").flush_attempts, 0);
}

/* Ten that cannot be decoded are tried once a lease, and do not call the handler. */
ON_ALL_STORES(a10_e19_ten_that_do_not_decode_never_flush, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Letters", "letter", "{\"number\": \"none\"}", 10, PAWL_TIME_MAX);
    LOG_AFTER(world_go_both(it, PAWL_MINUTES(1)), seen, "");
    assert_int_equal(world_aggregated(it, "Letters", "letter").ready, 0);
    assert_int_equal(world_aggregated(it, "Letters", "letter").all, 10);
    LOG_AFTER(world_go_both(it, PAWL_MINUTES(10)), seen, "");
    assert_int_equal(world_aggregated(it, "Letters", "letter").all, 10);
}

/* Crates: a piece is two. The whole piece that has one which can be decoded is handed over. */
ON_ALL_STORES(a10_e18_what_does_not_decode_blocks_no_bounded_piece, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Crates", "crate", "[]", 1, PAWL_TIME_MAX);
    for (int32_t i = 0; i < 3; i++)
        world_post(it, NULL, PAWL_MESSAGE(crate, .number = i));
    LOG_AFTER(world_drain(it), seen, "crates:1,0 crates:2,1,2 ");
    assert_int_equal(world_aggregated(it, "Crates", "crate").all, 1);
}

/* Crates again: a whole piece that cannot be decoded is in nobody's way. */
ON_ALL_STORES(a10_e18_behind_an_unreadable_piece_is_another, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Crates", "crate", "[]", 2, PAWL_TIME_MAX);
    for (int32_t i = 0; i < 2; i++)
        world_post(it, NULL, PAWL_MESSAGE(crate, .number = i));
    LOG_AFTER(world_drain(it), seen, "crates:2,0,1 ");
    assert_int_equal(world_aggregated(it, "Crates", "crate").all, 2);
}

/* Tries of too few put the end of the period off no further. */
ON_ALL_STORES(a10_e20_too_few_by_size_keep_their_period, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Sacks", "sack", "[]", 2, WORLD_START + PAWL_SECONDS(60));
    world_go(it, PAWL_SECONDS(50));
    world_post(it, NULL, PAWL_MESSAGE(sack, .number = 7));
    LOG_AFTER(world_drain(it), seen, "");
    LOG_AFTER(world_go(it, PAWL_SECONDS(10)), seen, "sacks:1,7 ");
    assert_int_equal(world_aggregated(it, "Sacks", "sack").all, 2);
}

/* The one that is left when two of three are handed over. */
ON_ALL_STORES(e20_a_flush_by_size_begins_a_new_period, const char *url)
{
    world *it = open_world(url);
    for (int32_t i = 1; i <= 3; i++)
        world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(i == 1 ? 0 : 30),
                      PAWL_MESSAGE(crate, .number = i));
    LOG_AFTER(world_go(it, PAWL_SECONDS(30)), seen, "crates:2,1,2 ");
    assert_int_equal(world_aggregated(it, "Crates", "crate").flush_due,
                     WORLD_START + PAWL_SECONDS(90));
    LOG_AFTER(world_go(it, PAWL_SECONDS(60) - 1), seen, "crates:2,1,2 ");
    LOG_AFTER(world_go(it, 1), seen, "crates:2,1,2 crates:1,3 ");
}

ON_ALL_STORES(a10_e20_a_period_hands_over_what_decodes, const char *url)
{
    world *it = open_world(url);
    add_rows(it, "Cards", "card", "{\"number\": \"none\"}", 5, WORLD_START + PAWL_SECONDS(60));
    for (int32_t i = 1; i <= 3; i++)
        post_card(it, 0, i);
    world_drain(it);
    pawl_step step = world_go(it, PAWL_SECONDS(60));
    assert_string_equal(seen.text, "cards@60:3,1,2,3 ");
    assert_int_equal(world_aggregated(it, "Cards", "card").all, 5);
    assert_int_equal(step.next_due, WORLD_START + PAWL_SECONDS(120));
    /* The next period ends before their leases: nothing is due, and the row still says why. */
    step = world_go(it, PAWL_SECONDS(60));
    assert_string_equal(seen.text, "cards@60:3,1,2,3 ");
    assert_int_equal(step.next_due, WORLD_START + PAWL_SECONDS(180));
    assert_int_equal(world_aggregated(it, "Cards", "card").all, 5);
    assert_memory_equal(error_of_partition(it, "Cards").data, "aggregator Cards: message card-",
                        31);
}

/* ---- By period, on demand ------------------------------------------------------------- */

ON_ALL_STORES(e20_a_period_hands_over_what_is_there_in_pieces, const char *url)
{
    world *it = open_world(url);
    for (int32_t i = 1; i <= 6; i++)
        post_card(it, 0, i);
    world_drain(it);
    pawl_step step = world_go(it, PAWL_SECONDS(60) - 1);
    assert_string_equal(seen.text, "");
    assert_int_equal(step.next_due, WORLD_START + PAWL_SECONDS(60));
    LOG_AFTER(world_go(it, 1), seen, "cards@60:4,1,2,3,4 cards@60:2,5,6 ");
    /* Empty: no callback, and nothing known of the partition any more. */
    step = world_go(it, PAWL_MINUTES(10));
    assert_string_equal(seen.text, "cards@60:4,1,2,3,4 cards@60:2,5,6 ");
    assert_int_equal(step.next_due, PAWL_TIME_MAX);
}

/* In one drain: each period ends where it would in real time. */
ON_ALL_STORES(e20_periods_and_messages_in_the_order_of_time, const char *url)
{
    world *it = open_world(url);
    post_card(it, 0, 1);
    post_card(it, 59, 2);
    post_card(it, 60, 3);
    post_card(it, 61, 4);
    post_card(it, 200, 5);
    LOG_AFTER(world_go(it, PAWL_HOURS(1)), seen, "cards@60:2,1,2 cards@120:2,3,4 cards@260:1,5 ");
}

ON_ALL_STORES(e20_a_flush_can_be_asked_for, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    world     *it    = open_world(url);
    post_parcel(it, 1, "a");
    post_parcel(it, 2, "b");
    post_card(it, 0, 3);
    world_drain(it);
    must(pawl_endpoint_flush(it->endpoint, "Parcels", "Parcels/b", world_error()));
    LOG_AFTER(world_drain(it), seen, "Parcels/b:1,2 ");
    must(pawl_endpoint_flush(it->endpoint, "Parcels", NULL, world_error()));
    must(pawl_endpoint_flush(it->endpoint, "Cards", NULL, world_error()));
    LOG_AFTER(world_drain(it), seen, "Parcels/b:1,2 cards@0:1,3 Parcels/a:1,1 ");
    assert_int_equal(pawl_endpoint_flush(it->endpoint, "Nothing", NULL, &error), PAWL_ENOTFOUND);
    static const char *const strange[] = {"Cards", "b", "Parcel", "Parcelsb", "Cards/b"};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++)
        assert_int_equal(pawl_endpoint_flush(it->endpoint, "Parcels", strange[i], &error),
                         PAWL_EINVAL);
    must(pawl_endpoint_flush(it->endpoint, "Parcels", "Parcels", world_error()));
}

/* A period ends over rows that cannot be read: nothing else may wait for it. */
ON_ALL_STORES(an_unreadable_partition_holds_nothing_up, const char *url)
{
    world *it = open_world(url);
    MUST_COMMIT(
        it->store, aggregator_add, WORLD_START, .name = PAWL_TEXT("Cards"),
        .partition = PAWL_TEXT("Cards"), .key = PAWL_TEXT("x"),
        .message = {.id = PAWL_TEXT("x"), .type = PAWL_TEXT("telegram"), .body = PAWL_TEXT("{}")},
        .at = WORLD_START, .due = WORLD_START + PAWL_SECONDS(30));
    for (int i = 0; i < 3; i++)
        world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(40 + i),
                      PAWL_MESSAGE(parcel, .number = i, .depot = PAWL_TEXT("a")));
    LOG_AFTER(world_go(it, PAWL_SECONDS(50)), seen, "Parcels/a:3,0,1,2 ");
    assert_int_equal(world_aggregated(it, "Cards", "card").all, 1);
}

/* ---- Failing ------------------------------------------------------------------------------ */

ON_ALL_STORES(e21_a_failing_callback_releases_and_tries_again, const char *url)
{
    world *it = open_world(url);
    failures  = 1;
    for (int32_t i = 1; i <= 3; i++)
        post_parcel(it, i, "a");
    LOG_AFTER(world_drain(it), seen, "Parcels/a:3,1,2,3 ");
    pawl_aggregator_counts counts = world_aggregated(it, "Parcels/a", "parcel");
    assert_int_equal(counts.all, 3);
    assert_int_equal(counts.ready, 3);
    assert_int_equal(counts.flush_attempts, 1);
    assert_false(counts.flush_is_dead);
    assert_true(world_says(error_of_partition(it, "Parcels/a"), "the van is late"));
    assert_int_equal(world_queue(it, "vans").count, 0);
    /* The messages themselves are done with. */
    assert_int_equal(world_queue(it, "yard").count, 0);
    assert_int_equal(world_dead(it).count, 0);
    LOG_AFTER(world_go(it, PAWL_SECONDS(5)), seen, "Parcels/a:3,1,2,3 ");
    LOG_AFTER(world_go(it, PAWL_SECONDS(10)), seen, "Parcels/a:3,1,2,3 Parcels/a:3,1,2,3 ");
    assert_int_equal(world_aggregated(it, "Parcels/a", "parcel").all, 0);
    assert_int_equal(world_queue(it, "vans").count, 1);
}

/* While it waits for its next try, adds do not try it at once. */
ON_ALL_STORES(e22_a_waiting_partition_takes_adds, const char *url)
{
    world *it = open_world(url);
    failures  = 1;
    for (int32_t i = 1; i <= 3; i++)
        post_parcel(it, i, "a");
    world_drain(it);
    post_parcel(it, 4, "a");
    LOG_AFTER(world_drain(it), seen, "Parcels/a:3,1,2,3 ");
    LOG_AFTER(world_go(it, PAWL_SECONDS(20)), seen, "Parcels/a:3,1,2,3 Parcels/a:4,1,2,3,4 ");
}

ON_ALL_STORES(a_partition_past_its_attempts_is_dead, const char *url)
{
    world *it = open_world(url);
    failures  = 100;
    for (int32_t i = 1; i <= 2; i++)
        world_post(it, NULL, PAWL_MESSAGE(crate, .number = i));
    world_drain(it);
    world_go_both(it, PAWL_HOURS(3));
    assert_int_equal(failures, 98);
    assert_true(world_aggregated(it, "Crates", "crate").flush_is_dead);
    assert_int_equal(world_stats(it).flushes_dead, 1);
    world_post(it, NULL, PAWL_MESSAGE(crate, .number = 3));
    world_go_both(it, PAWL_HOURS(3));
    assert_int_equal(failures, 98);
    assert_int_equal(world_aggregated(it, "Crates", "crate").ready, 3);
}

ON_ALL_STORES(a_dead_partition_that_is_released_starts_again, const char *url)
{
    pawl_partition_row row;
    world             *it = open_world(url);
    failures              = 2;
    for (int32_t i = 1; i <= 2; i++)
        world_post(it, NULL, PAWL_MESSAGE(crate, .number = i));
    world_drain(it);
    world_go_both(it, PAWL_HOURS(3));
    must(pawl_store_partition_find(it->store, PAWL_TEXT("Crates"), it->arena, &row, world_error()));
    assert_true(row.is_dead);
    assert_int_equal(row.count, 2);
    must(pawl_store_partition_run_now(it->store, PAWL_TEXT("Crates"), PAWL_TEXT("ann"),
                                      PAWL_TEXT(""), world_now(it), world_error()));
    assert_int_equal(world_stats(it).flushes_dead, 0);
    world_go_both(it, PAWL_SECONDS(20));
    assert_int_equal(world_aggregated(it, "Crates", "crate").ready, 0);
    assert_int_equal(
        pawl_store_partition_find(it->store, PAWL_TEXT("Crates"), it->arena, &row, NULL),
        PAWL_ENOTFOUND);
}

ON_ALL_STORES(a_request_needs_no_full_partition, const char *url)
{
    world *it = open_world(url);
    post_parcel(it, 1, "a");
    LOG_AFTER(world_drain(it), seen, "");
    must(pawl_store_partition_run_now(it->store, PAWL_TEXT("Parcels/a"), PAWL_TEXT("ann"),
                                      PAWL_TEXT(""), world_now(it), world_error()));
    world_go_both(it, PAWL_SECONDS(20));
    assert_int_equal(world_aggregated(it, "Parcels/a", "parcel").all, 0);
    assert_non_null(strstr(seen.text, ":1,1"));
}

/* A worker died after the commit that filled the partition: the next one looks
 * at all partitions at its start, before its first claim. */
ON_ALL_STORES(a_full_partition_is_found_after_a_crash, const char *url)
{
    pawl_aggregator_add adds[3];
    static const char  *ids[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++)
        adds[i] = (pawl_aggregator_add){.name      = PAWL_TEXT("Parcels"),
                                        .partition = PAWL_TEXT("Parcels/q"),
                                        .key       = pawl_text_of(ids[i]),
                                        .message   = {.id   = pawl_text_of(ids[i]),
                                                      .type = PAWL_TEXT("parcel"),
                                                      .body = PAWL_TEXT("{\"number\":5}")},
                                        .at        = WORLD_START,
                                        .due       = PAWL_TIME_MAX};
    world *it = open_world(url);
    world_drain(it);
    pawl_changes changes = {ONE_UNIT, .now = WORLD_START,
                            .aggregator_add = {.items = adds, .count = 3}};
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
    LOG_AFTER(world_drain(it), seen, "");
    LOG_AFTER(world_go_machine(it, PAWL_MINUTES(1)), seen, "Parcels/q:3,5,5,5 ");
}
