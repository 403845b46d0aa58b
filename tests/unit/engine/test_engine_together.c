/* test_engine_together.c - units of one batch: the state that they share, and the effects that each
 * keeps for itself: E6, E7, E13, E34, E35 and S23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/operations.h"

RECORD(house, (TEXT, name), (INT32, visits));
RECORD(garden, (TEXT, name), (INT32, visits));

#define VISIT(F)         \
    F(TEXT, name)        \
    F(INT32, ring_after) \
    F(INT32, go_on_after)
PAWL_RECORD(visit, VISIT);
PAWL_RECORD(walk, VISIT);
PAWL_RECORD(party, VISIT); /* in the house and in the garden */

PAWL_RECORD(flower, A_NUMBER);

static world_log seen;
static world    *around; /* another worker meddles in the next visit or ring; NULL: nobody does */

static int64_t seconds_now(const pawl_context *ctx)
{
    return (pawl_now(ctx) - WORLD_START) / 1000000;
}

static const pawl_saga_table *house_table(void);

static void visit_as_another(void)
{
    pawl_value    value = pawl_value_text(PAWL_TEXT("a"));
    pawl_saga_row row;
    must(pawl_store_saga_find(around->store, house_table(), PAWL_SAGA_BY_MAIN, value, around->arena,
                              &row, world_error()));
    must(pawl_store_saga_update(around->store, house_table(), &row, WORLD_START, world_error()));
    around = NULL;
}

/* Arms the one timeout there is for 500 seconds after the start. */
static void set_as_another(void)
{
    const pawl_timeout_row *row = &world_timeouts(around).items[0];
    MUST_COMMIT(around->store, timeout_set, WORLD_START, .id = {{{9}}}, .saga_id = row->saga_id,
                .saga_type = row->saga_type, .name = row->name, .destination = row->destination,
                .due = WORLD_START + PAWL_SECONDS(500));
    around = NULL;
}

static pawl_code on_visit(pawl_context *ctx, house *it, const visit *message)
{
    world_note(&seen, "visit%d", (int)seconds_now(ctx));
    it->visits++;
    if (around != NULL)
        visit_as_another();
    if (message->go_on_after < -1)
        (void)pawl_timeout(ctx, "of no handler", PAWL_SECONDS(1)); /* and does not look */
    else if (message->go_on_after < 0)
        return PAWL_RETRY;
    if (message->ring_after != 0)
        pawl_timeout(ctx, "ring", PAWL_SECONDS(message->ring_after));
    if (message->go_on_after <= 0)
        return PAWL_OK;
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD,
                                 .due = pawl_now(ctx) + PAWL_SECONDS(message->go_on_after)};
    return pawl_send_with(ctx, "street", &options, PAWL_MESSAGE(walk, .name = message->name));
}
PAWL_HANDLER(on_visit, house, visit);

static pawl_code on_ring(pawl_context *ctx, house *it)
{
    world_note(&seen, "ring%d", (int)seconds_now(ctx));
    it->visits = 100;
    if (around != NULL)
        set_as_another();
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_ring, house);

static pawl_code on_walk(pawl_context *ctx, garden *it, const walk *message)
{
    world_note(&seen, "walk%d", (int)seconds_now(ctx));
    it->visits++;
    return PAWL_OK;
}
PAWL_HANDLER(on_walk, garden, walk);

static pawl_code on_party_inside(pawl_context *ctx, house *it, const party *message)
{
    it->visits += 10;
    return PAWL_OK;
}
PAWL_HANDLER(on_party_inside, house, party);

static pawl_code on_party_outside(pawl_context *ctx, garden *it, const party *message)
{
    it->visits += 10;
    return PAWL_OK;
}
PAWL_HANDLER(on_party_outside, garden, party);

static pawl_code on_flowers(pawl_context *ctx, const flower *messages, size_t count)
{
    world_note(&seen, "flowers%d:%zu", (int)seconds_now(ctx), count);
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_flowers, flower);

static const pawl_saga house_saga = SAGA_OF(
    "House", house, "name", {.handle = PAWL_HANDLE(on_visit), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_party_inside), .key = "name"},
    {.handle = PAWL_HANDLE(on_ring), .timeout = "ring"});
static const pawl_saga garden_saga = SAGA_OF(
    "Garden", garden, "name", {.handle = PAWL_HANDLE(on_walk), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_party_outside), .key = "name"});
static const pawl_aggregator flowers = {
    .name = "Flowers", .handle = PAWL_HANDLE(on_flowers), .period = PAWL_SECONDS(60)};

static const pawl_endpoint_spec street = {.name        = "street",
                                          .sagas       = PAWL_SAGAS(&house_saga, &garden_saga),
                                          .aggregators = PAWL_AGGREGATORS(&flowers)};

static int filtered; /* units that the filter saw behind their handlers */

static pawl_code count_unit(pawl_context *ctx, const pawl_message *message, void *context)
{
    filtered++;
    return PAWL_OK;
}

static const pawl_application application = {
    PAWL_APPLICATION_HEAD, .name = "together", .endpoints = PAWL_ENDPOINTS(&street),
    .filters = (const pawl_filter[]){{.after = count_unit}, {.after = NULL}}};

static const pawl_saga_table *house_table(void)
{
    return world_table(around, &application, 0);
}

static world *open_world(const char *url)
{
    around   = NULL;
    filtered = 0;
    world_forget(&seen);
    return world_begin(url, &application, NULL,
                       &(pawl_endpoint_options){.immediate_retries = -1, .delayed_retries = 1});
}

static void visit_at(world *it, int seconds, int ring_after, int go_on_after)
{
    world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(seconds),
                  PAWL_MESSAGE(visit, .name = PAWL_TEXT("a"), .ring_after = ring_after,
                               .go_on_after = go_on_after));
}

static void walk_at(world *it, int seconds)
{
    world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(seconds),
                  PAWL_MESSAGE(walk, .name = PAWL_TEXT("a")));
}

static void post_flower(world *it)
{
    world_post(it, NULL, PAWL_MESSAGE(flower, .number = 1));
}

/* A collected row stays, although the unit before its own is refused: its message is done. */
ON_ALL_STORES(e35_what_is_collected_belongs_to_its_own_unit, const char *url)
{
    world *it = open_world(url);
    visit_at(it, 0, 0, 0);
    world_drain(it);
    visit_at(it, 0, 0, 0);
    post_flower(it);
    around         = it;
    pawl_step step = world_drain(it);
    assert_int_equal(step.refused, 1);
    assert_int_equal(world_queue(it, "street").count, 0);
    assert_int_equal(world_aggregated(it, "Flowers", "flower").all, 1);
    world_json_equal(it, world_saga_text(it, "House", "a", NULL), "{\"name\":\"a\",\"visits\":2}");
}

/* The third unit makes one group of those of the house and of the garden: all three are
 * refused, and run again. */
ON_ALL_STORES(e35_a_later_unit_joins_the_groups_of_two_sagas, const char *url)
{
    world *it = open_world(url);
    visit_at(it, 0, 0, 0);
    walk_at(it, 0);
    world_drain(it);
    visit_at(it, 0, 0, 0);
    walk_at(it, 0);
    world_post(it, NULL, PAWL_MESSAGE(party, .name = PAWL_TEXT("a")));
    around         = it;
    pawl_step step = world_drain(it);
    assert_int_equal(step.refused, 3);
    world_json_equal(it, world_saga_text(it, "House", "a", NULL), "{\"name\":\"a\",\"visits\":12}");
    world_json_equal(it, world_saga_text(it, "Garden", "a", NULL),
                     "{\"name\":\"a\",\"visits\":12}");
}

/* As many as make it likely that the two of a value meet in the batch's index. */
ON_ALL_STORES(e7_sagas_of_two_kinds_share_their_values, const char *url)
{
    world *it = open_world(url);
    for (int i = 0; i < 1000; i++) {
        pawl_text name = pawl_arena_printf(it->arena, "%d", i);
        world_post(it, NULL, PAWL_MESSAGE(visit, .name = name));
        world_post(it, NULL, PAWL_MESSAGE(walk, .name = name));
        if (i % 250 != 249)
            continue;
        world_forget(&seen);
        world_drain(it);
    }
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_saga_count(it, "House"), 1000);
    assert_int_equal(world_saga_count(it, "Garden"), 1000);
}

/* The timeout is set for later before it rings: nothing was handled, and no filter is told so. */
ON_ALL_STORES(e13_a_superseded_timeout_is_not_filtered, const char *url)
{
    world *it = open_world(url);
    visit_at(it, 0, 60, 0);
    world_drain(it);
    visit_at(it, 50, 100, 0);
    LOG_AFTER(world_go(it, PAWL_SECONDS(70)), seen, "visit0 visit50 ");
    assert_int_equal(filtered, 2);
}

/* The clock jumps over all three: the first visit sends the second, which comes before
 * the third. */
ON_ALL_STORES(a_message_sent_in_the_batch_for_an_earlier_time_cuts_it, const char *url)
{
    world *it = open_world(url);
    visit_at(it, 10, 0, 10);
    walk_at(it, 30);
    LOG_AFTER(world_go(it, PAWL_SECONDS(40)), seen, "visit10 walk20 walk30 ");
}

/* The timeout rang, but by then it was set for later: nothing of that run is kept. */
ON_ALL_STORES(e35_a_timeout_that_another_worker_set_again_stays, const char *url)
{
    world *it = open_world(url);
    visit_at(it, 0, 60, 0);
    world_drain(it);
    around         = it;
    pawl_step step = world_go(it, PAWL_SECONDS(70));
    assert_int_equal(step.refused, 1);
    assert_int_equal(world_timeout(it).due, WORLD_START + PAWL_SECONDS(500));
    world_json_equal(it, world_saga_text(it, "House", "a", NULL), "{\"name\":\"a\",\"visits\":1}");
    LOG_AFTER(world_go(it, PAWL_SECONDS(440)), seen, "visit0 ring60 ring500 ");
    assert_int_equal(world_timeouts(it).count, 0);
}

/* The handler says that all is well, but an effect it asked for could not be. */
ON_ALL_STORES(e6_an_effect_that_failed_fails_its_unit, const char *url)
{
    world *it = open_world(url);
    visit_at(it, 0, 0, -2);
    world_drain(it);
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(world_dead(it).count, 1);
    assert_int_equal(world_saga_count(it, "House"), 0);
}

/* The metadata is JSON whatever the id of the message that began the saga. */
ON_ALL_STORES(s23_an_id_that_needs_escapes_is_left_out_of_the_metadata, const char *url)
{
    pawl_value    value = pawl_value_text(PAWL_TEXT("a"));
    pawl_saga_row row;
    world        *it = open_world(url);
    world_post(it, "say \"a\"", PAWL_MESSAGE(visit, .name = PAWL_TEXT("a")));
    world_drain(it);
    around = it;
    must(pawl_store_saga_find(it->store, house_table(), PAWL_SAGA_BY_MAIN, value, it->arena, &row,
                              world_error()));
    assert_int_equal(row.version, 1);
    world_json_equal(it, row.metadata.data, "{\"SagaType\":\"House\"}");
}

/* Another worker has the message in hand, and gives it back: its holders died twice. */
static void kill_holders(world *it)
{
    pawl_store      *store = it->store;
    pawl_queue_rows  rows  = {.count = 0};
    pawl_queue_claim claim = {
        .queue = PAWL_TEXT("street"), .due_max = WORLD_START, .count_max = 1, .now = WORLD_START};
    must(pawl_store_worker_open(store, PAWL_TEXT("street"), PAWL_TEXT("[]"), WORLD_START,
                                world_error()));
    store->is_attached = true;
    must(pawl_store_queue_claim(store, &claim, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    MUST_COMMIT(store, queue_settle, WORLD_START, .queue = PAWL_TEXT("street"),
                .seq = rows.items[0].seq, .action = PAWL_QUEUE_RETRY, .due = WORLD_START,
                .crashes = 2);
}

/* Through its failures, to its end. */
ON_ALL_STORES(e34_a_message_keeps_its_deaths, const char *url)
{
    world *it = open_world(url);
    visit_at(it, 0, 0, -1);
    kill_holders(it);
    world_drain(it);
    assert_int_equal(world_queue(it, "street").items[0].crashes, 2);
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(world_dead_letter(it).crashes, 2);
}
