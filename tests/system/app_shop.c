/* app_shop.c - an endpoint whose entity sends each thing that it sells to "far", in order, for the tests
 * of what is held back: whether a route leads there is said by `pawl run`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>
#include <pawl/process.h>

#define SELL(F)       \
    F(TEXT, customer) \
    F(INT32, number)
PAWL_RECORD(sell, SELL);
#define SOLD(F) F(INT32, number)
PAWL_RECORD(sold, SOLD);
#define CART(F) F(INT32, count)
PAWL_RECORD(cart, CART);

static pawl_code on_sell(pawl_context *ctx, const cart *state, const sell *command)
{
    (void)state;
    pawl_code code = pawl_send(ctx, "far", PAWL_MESSAGE(sold, .number = command->number));
    return code == PAWL_OK ? pawl_emit(ctx, PAWL_MESSAGE(sold, .number = command->number)) : code;
}
PAWL_ENTITY_HANDLER(on_sell, cart, sell);

static void apply_sold(cart *state, const sold *event)
{
    (void)event;
    state->count++;
}
PAWL_APPLY(apply_sold, cart, sold);

static const pawl_entity cart_entity = {
    .name  = "Cart",
    .state = PAWL_RECORD_OF(cart),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_sell), .key = "customer"}),
    .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_sold))};

static const pawl_endpoint_spec shop = {.name = "shop", .entities = PAWL_ENTITIES(&cart_entity)};
static const pawl_application   application = {PAWL_APPLICATION_HEAD, .name = "shop",
                                               .endpoints = PAWL_ENDPOINTS(&shop)};

PAWL_EXPORT_APPLICATION(application);
