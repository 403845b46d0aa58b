/* test_engine_unread_begin.c - messages for a saga that a message begins which this program cannot
 * read: they wait with it. E3.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

static world_log seen;
/* ---- Two programs ------------------------------------------------------------- */

RECORD_WITH(old_parcel, ((TEXT, name), (INT64, pieces)), .type = "parcel");
RECORD_WITH(parcel, ((TEXT, name), (INT64, pieces)), .version = 2);

RECORD(old_state, (TEXT, name), (INT64, pieces));
RECORD(new_state, (TEXT, name), (INT64, pieces));
PAWL_RECORD(marker, A_NAME);

#define TRACKER(program, of_state, of_message)                                                     \
    static pawl_code program##_on_parcel(pawl_context *ctx, of_state *state,                       \
                                         const of_message *message)                                \
    {                                                                                              \
        (void)ctx;                                                                                 \
        (void)state;                                                                               \
        world_note(&seen, "parcel(%.*s)", PAWL_TEXT_ARGS(message->name));                          \
        return PAWL_OK;                                                                            \
    }                                                                                              \
    PAWL_HANDLER(program##_on_parcel, of_state, of_message);                                       \
    static pawl_code program##_on_stamp(pawl_context *ctx, of_state *state, const marker *message) \
    {                                                                                              \
        (void)ctx;                                                                                 \
        (void)state;                                                                               \
        world_note(&seen, "marker(%.*s)", PAWL_TEXT_ARGS(message->name));                          \
        return PAWL_OK;                                                                            \
    }                                                                                              \
    PAWL_HANDLER(program##_on_stamp, of_state, marker);                                            \
    static const pawl_saga program##_tracker = {                                                   \
        .name        = "Tracker",                                                                  \
        .state       = PAWL_RECORD_OF(of_state),                                                   \
        .correlation = "name",                                                                     \
        .on          = (const pawl_on[]){                                                          \
                     {.handle = PAWL_HANDLE(program##_on_parcel), .key = "name", .starts = true},  \
                     {.handle = PAWL_HANDLE(program##_on_stamp), .key = "name"},                   \
                     {.handle = NULL}}};                                                                    \
    static const pawl_endpoint_spec program##_trackers = {                                         \
        .name = "parcels", .sagas = PAWL_SAGAS(&program##_tracker)};                               \
    static const pawl_application program##_tracking = {PAWL_APPLICATION_HEAD, .name = "parcels",  \
                                                        .endpoints =                               \
                                                            PAWL_ENDPOINTS(&program##_trackers)}
TRACKER(old, old_state, old_parcel);
TRACKER(new, new_state, parcel);

static world *open_with(const char *url, const pawl_application *program)
{
    static int64_t opened;
    world         *it = world_begin(url, program, NULL, NULL);
    /* The ids are made of the seed and the time. */
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(++opened));
    return it;
}

static void begin(const char *url)
{
    world_hold(url);
    world_forget(&seen);
}

static void post_new(world *it)
{
    world_post(it, NULL, PAWL_MESSAGE(parcel, .name = PAWL_TEXT("b"), .pieces = 5));
}

/* ---- Waiting together ------------------------------------------------------------ */

static void post_stamp(world *it)
{
    world_post(it, NULL, PAWL_MESSAGE(marker, .name = PAWL_TEXT("b")));
    world_drain(it);
}

/* The message that continues the saga waits with the one that begins it, however long. */
ON_ALL_STORES(e3_none_is_not_final_while_its_beginning_is_unread, const char *url)
{
    begin(url);
    world *it = open_with(url, &old_tracking);
    post_new(it);
    world_drain(it);
    post_stamp(it);
    for (int i = 0; i < 5; i++) {
        pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(14));
        world_go(it, PAWL_MILLISECONDS(1100));
    }
    assert_int_equal(world_queue(it, "parcels").count, 2);
    pawl_time business = world_now(it), machine = pawl_clock_now(it->machine);
    world_close(it);
    it = open_with(url, &new_tracking);
    pawl_clock_set(it->business, business);
    pawl_clock_set(it->machine, machine);
    for (int i = 0; i < 12; i++)
        world_go_both(it, PAWL_SECONDS(1));
    assert_string_equal(seen.text, "parcel(b) marker(b) ");
}

/* Neither of the two comes again as often as its delay fits into the jump. */
ON_ALL_STORES(e3_none_is_not_final_when_the_clock_jumps, const char *url)
{
    begin(url);
    world *it = open_with(url, &old_tracking);
    post_new(it);
    world_drain(it);
    post_stamp(it);
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_HOURS(1));
    pawl_clock_set(it->business, world_now(it) + PAWL_HOURS(1));
    int steps = 0;
    while (!world_step(it).is_idle)
        assert_true(++steps < 10);
    pawl_queue_rows rows = world_queue(it, "parcels");
    assert_int_equal(rows.count, 2);
    for (size_t i = 0; i < rows.count; i++)
        assert_true(rows.items[i].due > world_now(it));
}

/* The first wait is short: what begins its saga may be due a moment later. */
ON_ALL_STORES(e3_a_message_waits_shortly_first_when_the_clock_jumps, const char *url)
{
    begin(url);
    world *it = open_with(url, &old_tracking);
    post_new(it);
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(marker, .name = PAWL_TEXT("c")));
    world_post(it, NULL, PAWL_MESSAGE(old_parcel, .name = PAWL_TEXT("c"), .pieces = 1));
    LOG_AFTER(world_go(it, PAWL_SECONDS(1)), seen, "parcel(c) marker(c) ");
}

/* A message of the same batch that is put back as unread is an older one, too. */
ON_ALL_STORES(e3_none_is_not_final_behind_an_unread_message_of_the_batch, const char *url)
{
    begin(url);
    world *it = open_with(url, &old_tracking);
    post_new(it);
    post_stamp(it);
    assert_int_equal(world_queue(it, "parcels").count, 2);
    world_close(it);
    it = open_with(url, &new_tracking);
    for (int i = 0; i < 12; i++)
        world_go_both(it, PAWL_SECONDS(1));
    assert_string_equal(seen.text, "parcel(b) marker(b) ");
}

/* A program that reads all of it does not end the wait of what an older program put back. */
ON_ALL_STORES(e3_none_is_not_final_before_what_others_put_back, const char *url)
{
    begin(url);
    world *it = open_with(url, &old_tracking);
    post_new(it);
    world_drain(it);
    world_close(it);
    it = open_with(url, &new_tracking);
    world_go_both(it, PAWL_SECONDS(1));
    post_stamp(it);
    assert_int_equal(world_queue(it, "parcels").count, 2);
    for (int i = 0; i < 12; i++)
        world_go_both(it, PAWL_SECONDS(1));
    assert_string_equal(seen.text, "parcel(b) marker(b) ");
}

ON_ALL_STORES(e3_none_is_final_when_nothing_was_unread_for_long, const char *url)
{
    begin(url);
    world *it = open_with(url, &old_tracking);
    post_new(it);
    world_drain(it);
    pawl_queue_row    row     = world_queue(it, "parcels").items[0];
    pawl_changes      changes = {ONE_UNIT, .now = world_now(it)};
    pawl_refusals     refused = {.arena = it->arena};
    pawl_queue_settle done    = {
           .action = PAWL_QUEUE_DONE, .queue = PAWL_TEXT("parcels"), .seq = row.seq};
    pawl_clock_set(it->business, row.due);
    row                        = world_claim_oldest(it, "parcels");
    done.seq                   = row.seq;
    changes.queue_settle.items = &done;
    changes.queue_settle.count = 1;
    must(pawl_store_commit(it->store, &changes, &refused, world_error()));
    post_stamp(it);
    assert_int_equal(world_queue(it, "parcels").count, 1);
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_MINUTES(6));
    world_go(it, PAWL_SECONDS(2));
    assert_int_equal(world_queue(it, "parcels").count, 0);
    assert_string_equal(seen.text, "");
}
