/* test_engine_effects.c - effects of a unit once they are kept: the number of an outbox row
 * in its batch, ids of the application's own, a publication that nobody hears, refusals.
 *
 * E2, O5.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

PAWL_RECORD(basket, A_NAME);
RECORD(fill, (TEXT, name), (TEXT, how));
PAWL_RECORD(filled, A_NAME);

static pawl_code on_fill(pawl_context *ctx, basket *state, const fill *message)
{
    const pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .id = "delivery-7"};
    const pawl_send_options no_id   = {PAWL_SEND_OPTIONS_HEAD, .id = ""};
    if (text_is(message->how, "own id"))
        return pawl_send_with(ctx, "far", &options, PAWL_MESSAGE(filled, .name = message->name));
    if (text_is(message->how, "two refused")) { /* for two reasons, their answers ignored */
        pawl_send_with(ctx, "far", &no_id, PAWL_MESSAGE(filled, .name = message->name));
        pawl_send(ctx, "far", PAWL_MESSAGE(filled, .name = PAWL_TEXT("\xff")));
        return PAWL_OK;
    }
    if (text_is(message->how, "publish"))
        return pawl_publish(ctx, PAWL_MESSAGE(filled, .name = message->name));
    return text_is(message->how, "send")
               ? pawl_send(ctx, "far", PAWL_MESSAGE(filled, .name = message->name))
               : PAWL_OK;
}
PAWL_HANDLER(on_fill, basket, fill);

static const pawl_saga basket_saga = SAGA_OF(
    "Basket", basket, "name", {.handle = PAWL_HANDLE(on_fill), .key = "name", .starts = true});

static const pawl_application application =
    ONE_ENDPOINT("effects", .name = "market", .sagas = PAWL_SAGAS(&basket_saga));

static world *open_world(const char *url)
{
    static const pawl_route     far_away[] = {{.name = "far", .url = "memory:effects-far"},
                                              {.name = NULL}};
    const pawl_endpoint_options options    = {
           .routes = far_away, .route_size = sizeof far_away[0], .no_service = true};
    return world_begin(url, &application, NULL, &options);
}

static void post(world *it, const char *how)
{
    world_post(it, NULL, PAWL_MESSAGE(fill, .name = PAWL_TEXT("b"), .how = pawl_text_of(how)));
}

/* ---- Scenarios -------------------------------------------------------------- */

ON_ALL_STORES(o5_the_rows_of_a_saga_are_numbered_through_the_batch, const char *url)
{
    world *it = open_world(url);
    for (int i = 0; i < 3; i++)
        post(it, "send");
    assert_int_equal(world_drain(it).handled, 3);
    pawl_outbox_rows rows = world_outbox(it, PAWL_OUTBOX_PENDING);
    assert_int_equal(rows.count, 3);
    for (size_t i = 0; i < rows.count; i++) {
        assert_int_equal(rows.items[i].version, 1);
        assert_int_equal(rows.items[i].index, i);
    }
}

ON_ALL_STORES(an_outbox_row_keeps_the_id_that_its_handler_gave, const char *url)
{
    world *it = open_world(url);
    post(it, "own id");
    world_drain(it);
    assert_string_equal(world_outbox_row(it, PAWL_OUTBOX_PENDING).message.id.data, "delivery-7");
}

/* A subscriber that comes tomorrow is no reason for another version today. */
ON_ALL_STORES(a_publication_that_nobody_hears_is_an_effect, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url);
    post(it, "begin");
    world_drain(it);
    post(it, "nothing");
    world_drain(it);
    world_saga_text(it, "Basket", "b", &version);
    assert_int_equal(version, 1);
    post(it, "publish");
    world_drain(it);
    world_saga_text(it, "Basket", "b", &version);
    assert_int_equal(version, 2);
}

ON_ALL_STORES(the_first_refused_effect_is_told, const char *url)
{
    world *it = open_world(url);
    post(it, "two refused");
    world_drain(it);
    pawl_dead_row letters = world_dead_letter(it);
    assert_string_equal(letters.code.data, "ELIMIT");
    assert_non_null(strstr(letters.error.data, "id has 0 bytes"));
}
