/* test_engine_version.c - sagas whose state an older program wrote: brought up by the
 * record's function, or the failure of their own messages, never an empty state.
 * S27.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include <string.h>

static world_log seen;

#define TURN(F) F(TEXT, name)
PAWL_RECORD(turn, TURN)

/* ---- A program of yesterday --------------------------------------------------- */

#define OLD_WHEEL(F) \
    F(TEXT, name)    \
    F(INT64, half_turns)
PAWL_RECORD(old_wheel, OLD_WHEEL)

static pawl_code on_turn_old(pawl_context *ctx, old_wheel *state, const turn *message)
{
    (void)ctx;
    (void)message;
    state->half_turns += 2;
    world_note(&seen, "half_turns=%d", (int)state->half_turns);
    return PAWL_OK;
}
PAWL_HANDLER(on_turn_old, old_wheel, turn);

/* ---- One of today, and one that lost its way back ------------------------------ */

#define WHEEL(F)  \
    F(TEXT, name) \
    F(INT64, turns)

static int upcasts;

static pawl_code upcast_wheel(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                              pawl_error *error)
{
    upcasts++;
    if (version != 1)
        return pawl_error_set(error, PAWL_EDECODE, "version %d", version);
    *upcast = pawl_arena_printf(arena, "{\"name\":\"a\",\"turns\":%d}",
                                (int)world_json_number(json.data, "half_turns") / 2);
    return upcast->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}
PAWL_RECORD_WITH(wheel, WHEEL, .version = 2, .upcast = upcast_wheel)
PAWL_RECORD_WITH(lost_wheel, WHEEL, .version = 2)

static pawl_code on_turn(pawl_context *ctx, wheel *state, const turn *message)
{
    (void)ctx;
    (void)message;
    state->turns++;
    world_note(&seen, "turns=%d", (int)state->turns);
    return PAWL_OK;
}
PAWL_HANDLER(on_turn, wheel, turn);

static pawl_code on_turn_lost(pawl_context *ctx, lost_wheel *state, const turn *message)
{
    (void)ctx;
    (void)message;
    state->turns++;
    world_note(&seen, "lost=%d", (int)state->turns);
    return PAWL_OK;
}
PAWL_HANDLER(on_turn_lost, lost_wheel, turn);

#define PROGRAM(program, of_state, handler)                                                      \
    static const pawl_saga program##_saga = {                                                    \
        .name        = "Wheel",                                                                  \
        .state       = PAWL_RECORD_OF(of_state),                                                 \
        .correlation = "name",                                                                   \
        .on = (const pawl_on[]){{.handle = PAWL_HANDLE(handler), .key = "name", .starts = true}, \
                                {.handle = NULL}}};                                              \
    static const pawl_endpoint_spec program##_endpoint = {                                       \
        .name = "wheels", .sagas = (const pawl_saga *const[]){&program##_saga, NULL}};           \
    static const pawl_application program = {                                                    \
        PAWL_APPLICATION_INIT, .name = "wheels",                                                 \
        .endpoints = (const pawl_endpoint_spec *const[]){&program##_endpoint, NULL}}
PROGRAM(yesterday, old_wheel, on_turn_old);
PROGRAM(today, wheel, on_turn);
PROGRAM(astray, lost_wheel, on_turn_lost);

/* One message to the program. */
static void turn_with(const char *url, const pawl_application *program, const char *expected,
                      size_t dead)
{
    world it;
    world_forget(&seen);
    world_open(&it, url, program, NULL, &(pawl_endpoint_options){.delayed_retries = -1});
    world_post(&it, NULL, PAWL_MESSAGE(turn, .name = PAWL_TEXT("a")));
    /* The ids are made of the seed and the time. */
    pawl_clock_set(it.machine, WORLD_START + PAWL_SECONDS(upcasts));
    world_drain(&it);
    assert_string_equal(seen.text, expected);
    assert_int_equal(world_dead(&it).count, dead);
    if (dead > 0)
        assert_true(world_says(world_dead(&it).items[0].error, "saga Wheel "));
    world_close(&it);
}

static void s27_state_of_an_older_program_is_brought_up(const char *url)
{
    pawl_store *held = world_hold(url);
    upcasts          = 0;
    turn_with(url, &yesterday, "half_turns=2 ", 0);
    turn_with(url, &today, "turns=2 ", 0);
    assert_int_equal(upcasts, 1);
    turn_with(url, &today, "turns=3 ", 0); /* the saga was saved as this program's */
    assert_int_equal(upcasts, 1);
    pawl_store_close(held);
}

static void s27_state_that_cannot_be_brought_up_fails_its_message(const char *url)
{
    pawl_store *held = world_hold(url);
    upcasts          = 0;
    turn_with(url, &yesterday, "half_turns=2 ", 0);
    turn_with(url, &astray, "", 1);
    turn_with(url, &yesterday, "half_turns=4 ", 1); /* nothing of it is lost */
    pawl_store_close(held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_ALL_STORES(s27_state_of_an_older_program_is_brought_up),
        ON_ALL_STORES(s27_state_that_cannot_be_brought_up_fails_its_message),
    };
    world_quiet();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
