/* billing.c - services that the orders example sends to: a bank that accepts every payment, and a carrier. An
 * application with two endpoints, as a module for `pawl run`.
 *
 * To build in this folder with an installed pawl:
 *
 *     cc -std=c17 -shared -fPIC -I.. -o billing.so billing.c $(pkg-config --cflags --libs pawl)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "orders/orders.h"

/* A real handler would call the bank here, with the message's id as idempotency key. */
static pawl_code on_charge_card(pawl_context *ctx, const charge_card *message)
{
    return pawl_reply(
        ctx, PAWL_MESSAGE(payment_taken, .order_ref = message->order_id, .cents = message->cents));
}
PAWL_MESSAGE_HANDLER(on_charge_card, charge_card);

static pawl_code on_refund(pawl_context *ctx, const refund *message)
{
    (void)ctx;
    (void)message;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_refund, refund);

static pawl_code on_shipment(pawl_context *ctx, const shipment *message)
{
    (void)ctx;
    (void)message;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_shipment, shipment);

static const pawl_endpoint_spec billing = {
    .name = "billing",
    .handlers =
        PAWL_ON({.handle = PAWL_HANDLE(on_charge_card)}, {.handle = PAWL_HANDLE(on_refund)})};
static const pawl_endpoint_spec carrier = {
    .name = "carrier", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_shipment)})};
static const pawl_application application = {PAWL_APPLICATION_HEAD, .name = "billing",
                                             .endpoints = PAWL_ENDPOINTS(&billing, &carrier)};

PAWL_EXPORT_APPLICATION(application);
