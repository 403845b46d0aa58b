/* orders.c - the application: an order saga and a shipping aggregator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "orders.h"

/* ---- The order ------------------------------------------------------------ */

static pawl_code on_place_order(pawl_context *ctx, order_state *order, const place_order *message)
{
    if (pawl_saga_version(ctx) > 0)
        return PAWL_OK; /* placed already: the customer clicked twice */
    order->warehouse   = message->warehouse;
    order->total_cents = message->total_cents;
    pawl_send(
        ctx, "billing",
        PAWL_MESSAGE(charge_card, .order_id = message->order_id, .cents = message->total_cents));
    pawl_timeout(ctx, "payment", PAWL_MINUTES(15));
    return PAWL_OK;
}
PAWL_HANDLER(on_place_order, order_state, place_order);

static pawl_code on_payment_taken(pawl_context *ctx, order_state *order,
                                  const payment_taken *message)
{
    if (order->stage == ORDER_PAID)
        return PAWL_OK;
    if (message->cents < order->total_cents)
        return pawl_fail(ctx, PAWL_REJECT, "%lld cents paid, %lld due", (long long)message->cents,
                         (long long)order->total_cents);
    order->stage = ORDER_PAID;
    pawl_cancel_timeout(ctx, "payment");
    pawl_send(ctx, "orders",
              PAWL_MESSAGE(ship_item, .order_id = order->order_id, .warehouse = order->warehouse));
    return PAWL_OK;
}
PAWL_HANDLER(on_payment_taken, order_state, payment_taken);

static pawl_code on_payment_late(pawl_context *ctx, order_state *order)
{
    pawl_publish(ctx, PAWL_MESSAGE(order_cancelled, .order_id = order->order_id,
                                   .reason = PAWL_TEXT("not paid in time")));
    return pawl_complete(ctx);
}
PAWL_TIMEOUT_HANDLER(on_payment_late, order_state);

static pawl_code on_order_shipped(pawl_context *ctx, order_state *order,
                                  const order_shipped *message)
{
    (void)order;
    (void)message;
    return pawl_complete(ctx);
}
PAWL_HANDLER(on_order_shipped, order_state, order_shipped);

/* The order was cancelled when the money came, or never existed. */
static pawl_code on_stray_payment(pawl_context *ctx, const payment_taken *message)
{
    return pawl_send(
        ctx, "billing",
        PAWL_MESSAGE(refund, .order_ref = message->order_ref, .cents = message->cents));
}
PAWL_MESSAGE_HANDLER(on_stray_payment, payment_taken);

static const pawl_saga order_saga = {
    .name        = "OrderSaga",
    .state       = PAWL_RECORD_OF(order_state),
    .correlation = "order_id",
    .on          = PAWL_ON(
                 {.handle = PAWL_HANDLE(on_place_order),
                  .key    = "order_id",
                  .starts = true,
                  .does   = PAWL_DOES(PAWL_SENDS(charge_card, "billing"), PAWL_SETS("payment"))},
                 {.handle    = PAWL_HANDLE(on_payment_taken),
                  .key       = "order_ref",
                  .not_found = PAWL_NOT_FOUND_CALL,
                  .missing   = PAWL_HANDLE(on_stray_payment),
                  .does      = PAWL_DOES(PAWL_SENDS(ship_item, "orders"), PAWL_SENDS(refund, "billing"))},
                 {.handle  = PAWL_HANDLE(on_payment_late),
                  .timeout = "payment",
                  .does    = PAWL_DOES(PAWL_PUBLISHES(order_cancelled))},
                 {.handle = PAWL_HANDLE(on_order_shipped), .key = "order_id", .does = PAWL_DOES_NOTHING})};

/* ---- Shipping -------------------------------------------------------------- */

/* Sends one shipment for the items that a warehouse has collected, and one event for each order. */
static pawl_code on_ship_items(pawl_context *ctx, const ship_item *items, size_t count)
{
    pawl_text *order_ids = pawl_arena_take(pawl_scratch(ctx), count * sizeof *order_ids);
    if (order_ids == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < count; i++)
        order_ids[i] = items[i].order_id;
    pawl_send(ctx, "carrier",
              PAWL_MESSAGE(shipment, .warehouse = items[0].warehouse,
                           .order_ids = {.items = order_ids, .count = count}));
    for (size_t i = 0; i < count; i++)
        pawl_publish(ctx, PAWL_MESSAGE(order_shipped, .order_id = order_ids[i]));
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_ship_items, ship_item);

static const pawl_aggregator shipping = {
    .name   = "shipping",
    .handle = PAWL_HANDLE(on_ship_items),
    .key    = "warehouse",
    .size   = 10,
    .max    = 10,
    .period = PAWL_SECONDS(30),
    .does   = PAWL_DOES(PAWL_SENDS(shipment, "carrier"), PAWL_PUBLISHES(order_shipped))};

/* ---- The application ------------------------------------------------------- */

static const pawl_endpoint_spec orders = {
    .name = "orders", .sagas = PAWL_SAGAS(&order_saga), .aggregators = PAWL_AGGREGATORS(&shipping)};

const pawl_application orders_application = {PAWL_APPLICATION_HEAD, .name = "orders",
                                             .endpoints = PAWL_ENDPOINTS(&orders)};

PAWL_EXPORT_APPLICATION(orders_application);
