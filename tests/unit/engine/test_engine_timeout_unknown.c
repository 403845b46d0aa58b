/* test_engine_timeout_unknown.c - timeouts that a program has no handler for: they wait for a worker
 * that has one, or are dead letters (E28).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

RECORD(lamp_state, (TEXT, lamp));
RECORD(switch_on, (TEXT, lamp));

static world_log seen;

static pawl_code on_switch_on(pawl_context *ctx, lamp_state *lamp, const switch_on *message)
{
    return pawl_timeout(ctx, "dim", PAWL_SECONDS(60));
}
PAWL_HANDLER(on_switch_on, lamp_state, switch_on);

static pawl_code on_dim(pawl_context *ctx, lamp_state *lamp)
{
    world_note(&seen, "dim %.*s", PAWL_TEXT_ARGS(lamp->lamp));
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_dim, lamp_state);

#define LAMP .state = PAWL_RECORD_OF(lamp_state), .correlation = "lamp"
#define ON_DIM(name)                                   \
    {                                                  \
        .handle = PAWL_HANDLE(on_dim), .timeout = name \
    }
#define ON_SWITCH                                                          \
    {                                                                      \
        .handle = PAWL_HANDLE(on_switch_on), .key = "lamp", .starts = true \
    }
static const pawl_saga new_lamp = {.name = "Lamp", LAMP, .on = PAWL_ON(ON_SWITCH, ON_DIM("dim"))};
static const pawl_saga old_lamp = {
    .name = "Lamp", LAMP, .on = PAWL_ON(ON_SWITCH, ON_DIM("flicker"))};
static const pawl_saga lantern = {.name = "Lantern", LAMP, .on = PAWL_ON(ON_SWITCH, ON_DIM("dim"))};

#define HOUSE(saga)                                          \
    {                                                        \
        .name = "house", .sagas = (const pawl_saga *const[]) \
        {                                                    \
            saga, NULL                                       \
        }                                                    \
    }
static const pawl_endpoint_spec new_house = HOUSE(&new_lamp), old_house = HOUSE(&old_lamp),
                                lantern_house = HOUSE(&lantern);

static const pawl_application new_program = APPLICATION("timeouts", &new_house);
static const pawl_application old_program = APPLICATION("timeouts", &old_house);
static const pawl_application lanterns    = APPLICATION("timeouts", &lantern_house);

/* Types that nobody handles, one the begin and one the end of a type that somebody does. */
RECORD_WITH(of_begin, ((TEXT, lamp)), .type = "switch");
RECORD_WITH(of_end, ((TEXT, lamp)), .type = "on");

/* Opens one for the old program, and lets a new one set a timeout that the old one does not
 * know, and that is due now. */
static world *open_old(world **newer, const char *url)
{
    world_forget(&seen);
    world *old = world_begin(url, &old_program, NULL, NULL);
    *newer     = world_begin(url, &new_program, NULL, NULL);
    world_post(*newer, "m-1", PAWL_MESSAGE(switch_on, .lamp = PAWL_TEXT("l")));
    world_drain(*newer);
    assert_int_equal(world_timeouts(old).count, 1);
    pawl_clock_set(old->business, WORLD_START + PAWL_SECONDS(60));
    return old;
}

/* ---- Waiting ----------------------------------------------------------------- */

ON_ALL_STORES(e28_a_timeout_that_another_worker_knows_is_put_back, const char *url)
{
    world *newer;
    world *old = open_old(&newer, url);
    world_drain(old);
    pawl_timeout_row rows = world_timeout(old);
    assert_int_equal(rows.attempts, 0);
    assert_int_equal(rows.due, WORLD_START + PAWL_SECONDS(61));
    assert_int_equal(world_dead(old).count, 0);
    assert_string_equal(seen.text, "");
    LOG_AFTER(world_go(newer, PAWL_SECONDS(61)), seen, "dim l ");
    assert_int_equal(world_timeouts(old).count, 0);
}

ON_ALL_STORES(e28_a_message_of_a_part_of_a_known_type_is_dead, const char *url)
{
    world *newer;
    world *old = open_old(&newer, url);
    world_post(old, "begin", PAWL_MESSAGE(of_begin, .lamp = PAWL_TEXT("l")));
    world_post(old, "end", PAWL_MESSAGE(of_end, .lamp = PAWL_TEXT("l")));
    world_drain(old);
    assert_int_equal(world_dead(old).count, 2);
}

ON_ALL_STORES(e28_a_timeout_that_nobody_knows_is_dead, const char *url)
{
    world *newer;
    world *old = open_old(&newer, url);
    world_close(newer);
    world_drain(old);
    assert_int_equal(world_timeouts(old).count, 0);
    assert_int_equal(world_dead(old).count, 1);
    assert_true(world_says(world_dead(old).items[0].error, "no handler for timeout 'dim'"));
    assert_true(pawl_text_equal(world_dead(old).items[0].code, PAWL_TEXT("EDECODE")));
}

ON_ALL_STORES(e28_a_timeout_of_that_name_of_another_saga_is_another, const char *url)
{
    world *newer;
    world *old = open_old(&newer, url);
    world_close(newer);
    world_begin(url, &lanterns, NULL, NULL);
    world_drain(old);
    assert_int_equal(world_timeouts(old).count, 0);
    assert_int_equal(world_dead(old).count, 1);
}
