/* test_engine_mapping.c - which mapping a message is found by, and mappings that give no
 * value. E8, S18.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "support/hook.h"

RECORD(place_state, (TEXT, name), (INT32, count));
PAWL_RECORD(open_place, A_NAME);

/* Pieces that move leave one place; pieces that move home are counted where they arrive, too. */
#define MOVE(F)     \
    F(TEXT, from)   \
    F(TEXT, onward) \
    F(INT32, pieces)
PAWL_RECORD(move, MOVE);
PAWL_RECORD_WITH(move_home, MOVE, .base = PAWL_RECORD_OF(move));
PAWL_RECORD_WITH(move_on, MOVE, .base = PAWL_RECORD_OF(move));

RECORD(address, (OPT_TEXT, town));
RECORD(send_to, (OPT_RECORD, to, address));
RECORD(visit, (OPT_TEXT, name));

static world_log seen;

#define COUNTS(message_record)                                                    \
    static pawl_code on_##message_record(pawl_context *ctx, place_state *state,   \
                                         const message_record *message)           \
    {                                                                             \
        (void)ctx;                                                                \
        (void)message;                                                            \
        world_note(&seen, #message_record "(%.*s)", PAWL_TEXT_ARGS(state->name)); \
        state->count++;                                                           \
        return PAWL_OK;                                                           \
    }                                                                             \
    PAWL_HANDLER(on_##message_record, place_state, message_record)
COUNTS(open_place);
COUNTS(move);
COUNTS(move_home);
COUNTS(send_to);
COUNTS(visit);

static const pawl_saga place_saga =
    SAGA_OF("Place", place_state, "name",
            {.handle = PAWL_HANDLE(on_open_place), .key = "name", .starts = true},
            {.handle = PAWL_HANDLE(on_move), .key = "from"},
            {.handle = PAWL_HANDLE(on_move_home), .key = "onward"},
            {.handle = PAWL_HANDLE(on_send_to), .key = "to.town"},
            {.handle = PAWL_HANDLE(on_visit), .key = "name"});

static const pawl_application application =
    ONE_ENDPOINT("mapping", .name = "map", .sagas = PAWL_SAGAS(&place_saga));

/* Two places, a and b. */
static world *open_world(const char *url)
{
    world *it = world_begin(url, &application, NULL, NULL);
    world_post(it, NULL, PAWL_MESSAGE(open_place, .name = PAWL_TEXT("a")));
    world_post(it, NULL, PAWL_MESSAGE(open_place, .name = PAWL_TEXT("b")));
    world_drain(it);
    world_forget(&seen);
    return it;
}

/* ---- The mapping ----------------------------------------------------------------- */

ON_ALL_STORES(e8_each_type_is_found_by_its_own_mapping, const char *url)
{
    world *it = open_world(url);
    world_post(it, NULL, PAWL_MESSAGE(move_home, .from = PAWL_TEXT("a"), .onward = PAWL_TEXT("b")));
    LOG_AFTER(world_drain(it), seen, "move_home(b) move(a) ");
}

ON_ALL_STORES(e8_a_type_without_a_row_is_found_by_its_bases_mapping, const char *url)
{
    const pawl_header headers[] = {{"pawl.base", "move"}, {NULL, NULL}};
    world            *it        = open_world(url);
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it), .headers = headers};
    test_send(it->sender, "map", &options,
              PAWL_MESSAGE(move_on, .from = PAWL_TEXT("a"), .onward = PAWL_TEXT("b")));
    LOG_AFTER(world_drain(it), seen, "move(a) ");
    assert_int_equal(world_dead(it).count, 0);
}

static void refuse(const char *url, const pawl_on *rows, const char *expected)
{
    const pawl_saga saga = {
        .name = "Place", .state = PAWL_RECORD_OF(place_state), .correlation = "name", .on = rows};
    const pawl_endpoint_spec spec     = {.name = "map", .sagas = PAWL_SAGAS(&saga)};
    pawl_application         other    = application;
    pawl_endpoint_options    options  = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_endpoint           *endpoint = NULL;
    other.endpoints                   = PAWL_ENDPOINTS(&spec);
    options.store                     = url;
    must_fail_with(pawl_endpoint_create(&other, NULL, &options, &endpoint, world_error()),
                   PAWL_ECONFIG, expected);
    assert_null(endpoint);
}

/* Not by the correlation id, as the source has it: nobody wrote that down. The base's
 * key is no key of a row that has none. */
ON_STORE(e8_a_row_without_a_mapping_is_refused, const char *url, "memory")
{
    const pawl_on starts   = {.handle = PAWL_HANDLE(on_open_place), .key = "name", .starts = true};
    const pawl_on base     = {.handle = PAWL_HANDLE(on_move), .key = "from"};
    const pawl_on derived  = {.handle = PAWL_HANDLE(on_move_home)};
    const pawl_on nothing  = {.handle = NULL};
    const pawl_on unmapped = {.handle = PAWL_HANDLE(on_open_place), .starts = true};
    refuse(url, (const pawl_on[]){starts, base, derived, nothing},
           "saga Place: message move_home needs .key");
    refuse(url, (const pawl_on[]){unmapped, nothing}, "saga Place: message open_place needs .key");
}

/* ---- No value ---------------------------------------------------------------------- */

static int loads;

static pawl_code count_loads(hook_point point, void *context)
{
    loads += point == HOOK_BEFORE_LOAD;
    return PAWL_OK;
}

ON_STORES(s18_a_null_value_is_refused_and_nothing_is_asked, const char *url)
{
    world *it = open_world(hook_url(url));
    hook_set(count_loads, NULL);
    loads = 0;
    world_post_json(it, "v1", "visit", "{\"name\":null}");
    world_post_json(it, "v2", "visit", "{}");
    world_drain(it);
    hook_set(NULL, NULL);
    assert_string_equal(seen.text, "");
    assert_int_equal(loads, 0);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 2);
    for (size_t i = 0; i < dead.count; i++)
        assert_true(world_says(dead.items[i].error, "message visit for saga Place: property 'name' "
                                                    "is none; a saga cannot be found by it"));
}

/* Not an error and no retry: what a message without a saga is (E3). */
ON_ALL_STORES(s18_a_property_of_a_record_that_is_not_there_finds_none, const char *url)
{
    world *it = open_world(url);
    world_post_json(it, "s1", "send_to", "{}");
    world_post_json(it, "s2", "send_to", "{\"to\":null}");
    world_post_json(it, "s3", "send_to", "{\"to\":{}}");
    assert_int_equal(world_drain(it).handled, 3);
    assert_string_equal(seen.text, "");
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "map").count, 0);
    assert_int_equal(world_stats(it).counters.failures, 0);
    assert_int_equal(world_saga_count(it, "Place"), 2);
    world_post_json(it, "s4", "send_to", "{\"to\":{\"town\":\"b\"}}");
    LOG_AFTER(world_drain(it), seen, "send_to(b) ");
}
