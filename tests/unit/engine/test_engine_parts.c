/* test_engine_parts.c - programs that use a part of what there is: sagas without an
 * outbox, an outbox without sagas, neither. E31.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/native.h"
#include "support/world.h"

RECORD(trip_state, (TEXT, name), (INT32, count));
PAWL_RECORD(step, A_NAME);
PAWL_RECORD(ping, A_NAME);

static world_log seen;

/* Every handler looks for its session, and notes it. */
static pawl_code act(pawl_context *ctx, const char *what, pawl_text name)
{
    world_note(&seen, "%s(%s)", what, native_of(ctx) != NULL ? "session" : "none");
    return pawl_send(ctx, "far", PAWL_MESSAGE(ping, .name = name));
}

static pawl_code on_step(pawl_context *ctx, trip_state *trip, const step *message)
{
    trip->count++;
    return act(ctx, "saga", message->name);
}
PAWL_HANDLER(on_step, trip_state, step);

static pawl_code on_ping(pawl_context *ctx, const ping *message)
{
    return act(ctx, "plain", message->name);
}
PAWL_MESSAGE_HANDLER(on_ping, ping);

#define SAGA_ROW(is_own)                                                                      \
    (const pawl_on[])                                                                         \
    {                                                                                         \
        {.handle = PAWL_HANDLE(on_step), .key = "name", .starts = true, .own_sql = (is_own)}, \
        {                                                                                     \
            .handle = NULL                                                                    \
        }                                                                                     \
    }
#define PLAIN_ROW(is_own)                                      \
    (const pawl_on[])                                          \
    {                                                          \
        {.handle = PAWL_HANDLE(on_ping), .own_sql = (is_own)}, \
        {                                                      \
            .handle = NULL                                     \
        }                                                      \
    }

/* Sends a message, and expects it handled; with own SQL, in a session. */
static void try_out(const char *url, const pawl_endpoint_spec *spec, const pawl_route *routes,
                    const char *expected)
{
    const pawl_application      application = APPLICATION("parts", spec);
    const pawl_endpoint_options options     = {.routes = routes, .no_service = true};
    world_forget(&seen);
    world *it = world_begin(url, &application, NULL, &options);
    if (spec->sagas != NULL)
        world_post(it, NULL, PAWL_MESSAGE(step, .name = PAWL_TEXT("a")));
    else
        world_post(it, NULL, PAWL_MESSAGE(ping, .name = PAWL_TEXT("a")));
    assert_int_equal(world_drain(it).handled, 1);
    assert_string_equal(seen.text, expected);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, routes != NULL ? 1 : 0);
    assert_int_equal(world_queue(it, "far").count, routes != NULL ? 0 : 1);
    assert_int_equal(world_dead(it).count, 0);
    world_close(it);
}

static const pawl_route far_away[] = {{.name = "far", .url = "memory:parts-far"}, {.name = NULL}};

static void sagas_without_an_outbox(const char *url, bool is_own, const char *expected)
{
    const pawl_saga          saga = {.name        = "Trip",
                                     .state       = PAWL_RECORD_OF(trip_state),
                                     .correlation = "name",
                                     .on          = SAGA_ROW(is_own)};
    const pawl_endpoint_spec spec = {.name = "parts", .sagas = PAWL_SAGAS(&saga)};
    try_out(url, &spec, NULL, expected);
}

static void no_sagas(const char *url, bool is_own, const pawl_route *routes, const char *expected)
{
    const pawl_endpoint_spec spec = {.name = "parts", .handlers = PLAIN_ROW(is_own)};
    try_out(url, &spec, routes, expected);
}

/* ---- Scenarios -------------------------------------------------------------- */

ON_ALL_STORES(e31_sagas_without_an_outbox, const char *url)
{
    sagas_without_an_outbox(url, false, "saga(none) ");
}

ON_ALL_STORES(e31_an_outbox_without_sagas, const char *url)
{
    no_sagas(url, false, far_away, "plain(none) ");
}

ON_ALL_STORES(e31_neither_sagas_nor_an_outbox, const char *url)
{
    no_sagas(url, false, NULL, "plain(none) ");
}

ON_SQL_STORES(e31_sagas_without_an_outbox_have_a_session, const char *url)
{
    sagas_without_an_outbox(url, true, "saga(session) ");
}

ON_SQL_STORES(e31_an_outbox_without_sagas_has_a_session, const char *url)
{
    no_sagas(url, true, far_away, "plain(session) ");
}

ON_SQL_STORES(e31_neither_sagas_nor_an_outbox_and_a_session, const char *url)
{
    no_sagas(url, true, NULL, "plain(session) ");
}
