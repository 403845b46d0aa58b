/* test_engine_unread.c - a command for a stream with an event that this program cannot read:
 * it has its retries, whatever code the upcaster answers, and then becomes a dead letter; an event
 * of a version that the program does not read is waited for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/process.h"

static world_log seen;
static pawl_code answer; /* of the upcaster */
static int       upcasts;

RECORD(meter, (INT64, total));
RECORD(reading, (TEXT, name), (INT64, by));

static pawl_code upcast(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                        pawl_error *error)
{
    *upcast = json;
    upcasts++;
    return answer == PAWL_OK ? answer : pawl_error_set(error, answer, "version %d is odd", version);
}

RECORD(advanced, (INT64, by));
RECORD_WITH(advanced_today, ((INT64, by)), .type = "advanced", .version = 2, .upcast = upcast);

/* Two programs: the event is of version 1 in one, of version 2 in the other. */
#define PROGRAM(program, event_type)                                                             \
    static pawl_code program##_on_reading(pawl_context *ctx, const meter *state,                 \
                                          const reading *command)                                \
    {                                                                                            \
        world_note(&seen, "%d", (int)state->total);                                              \
        return pawl_emit(ctx, PAWL_MESSAGE(event_type, .by = command->by));                      \
    }                                                                                            \
    PAWL_ENTITY_HANDLER(program##_on_reading, meter, reading);                                   \
    static void program##_apply(meter *state, const event_type *event)                           \
    {                                                                                            \
        state->total += event->by;                                                               \
    }                                                                                            \
    PAWL_APPLY(program##_apply, meter, event_type);                                              \
    static const pawl_entity program##_meter = {                                                 \
        .name  = "Meter",                                                                        \
        .state = PAWL_RECORD_OF(meter),                                                          \
        .on    = (const pawl_on[]){{.handle = PAWL_HANDLE(program##_on_reading), .key = "name"}, \
                                   {.handle = NULL}},                                            \
        .apply = PAWL_APPLY_LIST(PAWL_APPLIES(program##_apply))};                                \
    static const pawl_endpoint_spec program##_endpoint = {                                       \
        .name = "meters", .entities = PAWL_ENTITIES(&program##_meter)};                          \
    static const pawl_application program = {PAWL_APPLICATION_HEAD, .name = "meters",            \
                                             .endpoints = PAWL_ENDPOINTS(&program##_endpoint)}
PROGRAM(yesterday, advanced);
PROGRAM(today, advanced_today);

static void post_reading(world *it)
{
    world_post(it, NULL, PAWL_MESSAGE(reading, .name = PAWL_TEXT("a"), .by = 1));
    world_drain(it);
}

/* A program of today meets an event of yesterday, and cannot read it; a command waits for its
 * first of two delayed retries. */
static world *meet(const char *url, pawl_code code, int32_t attempts)
{
    const pawl_endpoint_options options = {.delayed_retries = 2};
    world_hold(url);
    world_forget(&seen);
    world *it = world_begin(url, &yesterday, NULL, NULL);
    post_reading(it);
    world_close(it);
    answer = code;
    it     = world_begin(url, &today, NULL, &options);
    /* The ids are made of the seed and the time. */
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(1));
    post_reading(it);
    assert_string_equal(seen.text, "0 ");
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "meters").count, 1);
    assert_int_equal(world_queue(it, "meters").items[0].attempts, attempts);
    return it;
}

static void goes_on(const char *url, pawl_code code)
{
    world *it = meet(url, code, 1);
    answer    = PAWL_OK;
    LOG_AFTER(world_go_both(it, PAWL_HOURS(1)), seen, "0 1 ");
    assert_int_equal(world_dead(it).count, 0);
}

ON_ALL_STORES(a_stream_that_can_be_read_again_goes_on, const char *url)
{
    goes_on(url, PAWL_EDECODE);
}

ON_ALL_STORES(the_code_of_an_upcaster_makes_no_difference, const char *url)
{
    goes_on(url, PAWL_EINVAL);
}

ON_ALL_STORES(a_stream_that_stays_unread_makes_a_dead_letter_after_the_retries, const char *url)
{
    world *it = meet(url, PAWL_REJECT, 1);
    world_go_both(it, PAWL_SECONDS(15)); /* 10 s, then 20, each +/- 10 % jitter */
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "meters").items[0].attempts, 2);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(30)), seen, "0 ");
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "version 1 is odd"));
}

/* The upcaster itself may say that it does not know the version. */
ON_ALL_STORES(a_version_that_no_upcaster_knows_is_waited_for, const char *url)
{
    world *it = meet(url, PAWL_EVERSION, 0);
    for (int i = 0; i < 10; i++)
        world_go_both(it, PAWL_SECONDS(11));
    assert_int_equal(world_queue(it, "meters").items[0].attempts, 0);
    assert_int_equal(world_dead(it).count, 0);
    answer = PAWL_OK;
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(12)), seen, "0 1 ");
}

/* However many times the delay fits into the jump. */
ON_ALL_STORES(a_version_is_looked_at_once_when_the_clock_jumps, const char *url)
{
    world *it = meet(url, PAWL_EVERSION, 0);
    upcasts   = 0;
    world_go_both(it, PAWL_HOURS(1));
    assert_int_equal(upcasts, 1);
    pawl_time due = world_queue(it, "meters").items[0].due - world_now(it);
    assert_in_range(due, PAWL_SECONDS(9), PAWL_SECONDS(11));
    answer = PAWL_OK;
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(12)), seen, "0 1 ");
}

ON_ALL_STORES(a_newer_event_is_waited_for, const char *url)
{
    world_hold(url);
    world_forget(&seen);
    world *it = world_begin(url, &today, NULL, NULL);
    post_reading(it);
    world_close(it);
    it = world_begin(url, &yesterday, NULL, &(pawl_endpoint_options){.delayed_retries = -1});
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(1));
    post_reading(it);
    assert_string_equal(seen.text, "0 ");
    assert_int_equal(world_queue(it, "meters").count, 1);
    assert_int_equal(world_dead(it).count, 0);
    world_close(it);
    it = world_begin(url, &today, NULL, NULL);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(12)), seen, "0 1 ");
}
