/* test_engine_version.c - sagas whose state a program of another version wrote: brought up by the
 * record's function, or their messages and timeouts wait, never an empty state. S24, S27.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/entry.h"
#include "support/native.h"
#include "support/world.h"

static world_log seen;

PAWL_RECORD(turn, A_NAME);

/* ---- A program of yesterday --------------------------------------------------- */

RECORD(old_wheel, (TEXT, name), (INT64, half_turns));

static pawl_code on_turn_old(pawl_context *ctx, old_wheel *state, const turn *message)
{
    state->half_turns += 2;
    world_note(&seen, "half_turns=%d", (int)state->half_turns);
    return state->half_turns == 2 ? pawl_timeout(ctx, "squeak", PAWL_MINUTES(1)) : PAWL_OK;
}
PAWL_HANDLER(on_turn_old, old_wheel, turn);

static pawl_code on_squeak_old(pawl_context *ctx, old_wheel *state)
{
    world_note(&seen, "squeak(%d)", (int)state->half_turns);
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_squeak_old, old_wheel);

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
PAWL_RECORD_WITH(wheel, WHEEL, .version = 2, .upcast = upcast_wheel);
PAWL_RECORD_WITH(lost_wheel, WHEEL, .version = 2);

static pawl_code on_turn(pawl_context *ctx, wheel *state, const turn *message)
{
    state->turns++;
    world_note(&seen, "turns=%d", (int)state->turns);
    return state->turns == 1 ? pawl_timeout(ctx, "squeak", PAWL_MINUTES(1)) : PAWL_OK;
}
PAWL_HANDLER(on_turn, wheel, turn);

static pawl_code on_squeak(pawl_context *ctx, wheel *state)
{
    world_note(&seen, "squeak(%d)", (int)state->turns);
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_squeak, wheel);

static pawl_code on_turn_lost(pawl_context *ctx, lost_wheel *state, const turn *message)
{
    state->turns++;
    world_note(&seen, "lost=%d", (int)state->turns);
    return PAWL_OK;
}
PAWL_HANDLER(on_turn_lost, lost_wheel, turn);

static pawl_code on_squeak_lost(pawl_context *ctx, lost_wheel *state)
{
    world_note(&seen, "lost_squeak(%d)", (int)state->turns);
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_squeak_lost, lost_wheel);

/* ---- Programs whose versions are dates ------------------------------------------ */

PAWL_RECORD_WITH(dated_wheel, WHEEL, .version = 20261130);

static pawl_code on_turn_dated(pawl_context *ctx, dated_wheel *state, const turn *message)
{
    world_note(&seen, "dated=%d", (int)++state->turns);
    return PAWL_OK;
}
PAWL_HANDLER(on_turn_dated, dated_wheel, turn);

IDLE_TIMEOUT_HANDLER(on_squeak_dated, dated_wheel);

static int upcast_from;

static pawl_code upcast_last(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                             pawl_error *error)
{
    upcast_from = version;
    *upcast     = json;
    return PAWL_OK;
}
PAWL_RECORD_WITH(last_wheel, WHEEL, .version = PAWL_RECORD_VERSION_MAX, .upcast = upcast_last);

static pawl_code on_turn_last(pawl_context *ctx, last_wheel *state, const turn *message)
{
    world_note(&seen, "last=%d", (int)++state->turns);
    return PAWL_OK;
}
PAWL_HANDLER(on_turn_last, last_wheel, turn);

IDLE_TIMEOUT_HANDLER(on_squeak_last, last_wheel);

#define PROGRAM(program, of_state, handler, on_timeout)                                            \
    static const pawl_saga program##_saga = {                                                      \
        .name        = "Wheel",                                                                    \
        .state       = PAWL_RECORD_OF(of_state),                                                   \
        .correlation = "name",                                                                     \
        .on = (const pawl_on[]){{.handle = PAWL_HANDLE(handler), .key = "name", .starts = true},   \
                                {.handle = PAWL_HANDLE(on_timeout), .timeout = "squeak"},          \
                                {.handle = NULL}}};                                                \
    static const pawl_endpoint_spec program##_endpoint = {.name  = "wheels",                       \
                                                          .sagas = PAWL_SAGAS(&program##_saga)};   \
    static const pawl_application   program            = {PAWL_APPLICATION_HEAD, .name = "wheels", \
                                                          .endpoints = PAWL_ENDPOINTS(&program##_endpoint)}
PROGRAM(yesterday, old_wheel, on_turn_old, on_squeak_old);
PROGRAM(today, wheel, on_turn, on_squeak);
PROGRAM(astray, lost_wheel, on_turn_lost, on_squeak_lost);
PROGRAM(dated, dated_wheel, on_turn_dated, on_squeak_dated);
PROGRAM(last, last_wheel, on_turn_last, on_squeak_last);

static void begin(const char *url)
{
    world_hold(url);
    upcasts = 0;
}

/* One message to the program. */
static world *open_and_turn(const char *url, const pawl_application *program, const char *expected)
{
    static int64_t opened;
    world_forget(&seen);
    world *it = world_begin(url, program, NULL, &(pawl_endpoint_options){.delayed_retries = -1});
    world_post(it, NULL, PAWL_MESSAGE(turn, .name = PAWL_TEXT("a")));
    /* The ids are made of the seed and the time. */
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(++opened));
    LOG_AFTER(world_drain(it), seen, expected);
    assert_int_equal(world_dead(it).count, 0);
    return it;
}

static void turn_with(const char *url, const pawl_application *program, const char *expected)
{
    world *it = open_and_turn(url, program, expected);
    world_close(it);
}

ON_ALL_STORES(s24_s27_state_of_an_older_program_is_brought_up, const char *url)
{
    begin(url);
    turn_with(url, &yesterday, "half_turns=2 ");
    turn_with(url, &today, "turns=2 ");
    assert_int_equal(upcasts, 1);
    turn_with(url, &today, "turns=3 "); /* the saga was saved as this program's */
    assert_int_equal(upcasts, 1);
}

/* A column of the one row; ` stands for the quotes of the database. */
static void column_is(const char *url, const char *column, const char *expected)
{
    char sql[200];
    snprintf(sql, sizeof sql, "select `%s` from {`wheels_Wheel`}", column);
    for (char *at = sql; *at != '\0'; at++)
        *at = *at == '`' && strncmp(url, "m", 1) != 0 ? '"' : *at;
    native_expect(url, sql, expected);
}

/* The library's version and the record's are those of the program that saved the row last. */
ON_SQL_STORES(s24_both_versions_are_written_anew, const char *url)
{
    bool is_quoted = strncmp(url, "m", 1) != 0;
    begin(url);
    turn_with(url, &yesterday, "half_turns=2 ");
    column_is(url, "PersistenceVersion", PAWL_VERSION);
    column_is(url, "SagaTypeVersion", "1.0");
    native_exec(url, is_quoted ? "update {\"wheels_Wheel\"} set \"PersistenceVersion\" = '0.0.9'"
                               : "update {`wheels_Wheel`} set `PersistenceVersion` = '0.0.9'");
    turn_with(url, &today, "turns=2 ");
    column_is(url, "PersistenceVersion", PAWL_VERSION);
    column_is(url, "SagaTypeVersion", "2.0");
}

/* The message and the timeout of a saga that the program cannot read wait, for as long as it takes;
 * then `reader` handles both. */
static void wait_for(const char *url, const pawl_application *other, const pawl_application *reader)
{
    world *it = open_and_turn(url, other, "");
    for (int i = 0; i < 12; i++) /* retries are off */
        world_go_both(it, PAWL_SECONDS(11));
    assert_string_equal(seen.text, "");
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "wheels").count, 1);
    assert_int_equal(world_queue(it, "wheels").items[0].attempts, 0);
    assert_int_equal(world_timeouts(it).count, 1);
    assert_int_equal(world_timeouts(it).items[0].attempts, 0);
    assert_int_equal(world_stats(it).counters.failures, 0);
    pawl_time later = world_now(it);
    world_close(it);
    it = world_begin(url, reader, NULL, NULL);
    pawl_clock_set(it->business, later);
    world_go_both(it, PAWL_SECONDS(12));
    assert_non_null(strstr(seen.text, "turns=2 "));
    assert_non_null(strstr(seen.text, "squeak("));
    assert_int_equal(world_queue(it, "wheels").count, 0);
    assert_int_equal(world_timeouts(it).count, 0);
    world_close(it);
}

ON_ALL_STORES(s27_a_newer_state_waits_for_its_program, const char *url)
{
    begin(url);
    turn_with(url, &today, "turns=1 ");
    wait_for(url, &yesterday, &today);
}

ON_ALL_STORES(s27_state_that_cannot_be_brought_up_waits, const char *url)
{
    begin(url);
    turn_with(url, &yesterday, "half_turns=2 ");
    wait_for(url, &astray, &today);
}

ON_ALL_STORES(s24_a_version_may_be_a_date, const char *url)
{
    begin(url);
    turn_with(url, &dated, "dated=1 ");
    turn_with(url, &dated, "dated=2 ");
    turn_with(url, &last, "last=3 ");
    assert_int_equal(upcast_from, 20261130);
    turn_with(url, &last, "last=4 ");
}

/* Rows of other programs have any text there. */
STATE_TEST(s27_the_version_of_a_row, void **state)
{
    static const struct {
        const char *text;
        int         version;
    } rows[] = {{"1.0", 1},
                {"2", 2},
                {"1.0.0.0", 1},
                {"20261130.0", 20261130},
                {"999999999.0", PAWL_RECORD_VERSION_MAX},
                {"1000000000.0", PAWL_RECORD_VERSION_MAX + 1},
                {"2026113001.0", PAWL_RECORD_VERSION_MAX + 1},
                {"99999999999999999999.0", PAWL_RECORD_VERSION_MAX + 1},
                {"", 0},
                {"v2", 0},
                {"3-beta", 3}};
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(pawl__state_version(pawl_text_of(rows[i].text)), rows[i].version);
}
