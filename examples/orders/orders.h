/* orders.h - the messages of the example, the state of its saga, and the
 * application itself.
 *
 *     place_order ----> order ----> charge_card            to "billing"
 *     payment_taken --> order ----> ship_item              to the shipping aggregator
 *     10 items, or 30 seconds ----> shipment               to "carrier"
 *                          `------> order_shipped (event), ends the order
 *     15 minutes unpaid ----------> order_cancelled (event), ends the order
 *     a payment without order ----> refund                 to "billing"
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ORDERS_H
#define ORDERS_H

#include <pawl/pawl.h>

#define PLACE_ORDER(F)                   \
    F(TEXT, order_id, .required = true)  \
    F(TEXT, warehouse, .required = true) \
    F(INT64, total_cents)
PAWL_RECORD(place_order, PLACE_ORDER);

#define CHARGE_CARD(F)                  \
    F(TEXT, order_id, .required = true) \
    F(INT64, cents)
PAWL_RECORD(charge_card, CHARGE_CARD);

/* Billing has its own name for an order's id: the saga's table maps one to the other. */
#define PAYMENT_TAKEN(F)                 \
    F(TEXT, order_ref, .required = true) \
    F(INT64, cents)
PAWL_RECORD(payment_taken, PAYMENT_TAKEN);

#define REFUND(F)                        \
    F(TEXT, order_ref, .required = true) \
    F(INT64, cents)
PAWL_RECORD(refund, REFUND);

#define SHIP_ITEM(F)                    \
    F(TEXT, order_id, .required = true) \
    F(TEXT, warehouse, .required = true)
PAWL_RECORD(ship_item, SHIP_ITEM);

#define SHIPMENT(F)                      \
    F(TEXT, warehouse, .required = true) \
    F(LIST_TEXT, order_ids)
PAWL_RECORD(shipment, SHIPMENT);

#define ORDER_CANCELLED(F)              \
    F(TEXT, order_id, .required = true) \
    F(TEXT, reason)
PAWL_RECORD(order_cancelled, ORDER_CANCELLED);

#define ORDER_SHIPPED(F) F(TEXT, order_id, .required = true)
PAWL_RECORD(order_shipped, ORDER_SHIPPED);

#define ORDER_STAGE(E)        \
    E(ORDER_PLACED, "placed") \
    E(ORDER_PAID, "paid")
PAWL_ENUM(order_stage, ORDER_STAGE);

#define ORDER_STATE(F)                  \
    F(TEXT, order_id, .required = true) \
    F(TEXT, warehouse)                  \
    F(INT64, total_cents)               \
    F(ENUM, stage, order_stage)
PAWL_RECORD(order_state, ORDER_STATE);

extern const pawl_application orders_application;

#endif
