/* must not compile: a struct sent without saying what record it is | expected: too few arguments */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/pawl.h"

#define ORDER(F) F(TEXT, order_id) F(INT64, cents)
PAWL_RECORD(order, ORDER)
#define PLACE_ORDER(F) F(TEXT, order_id)
PAWL_RECORD(place_order, PLACE_ORDER)
#define TAKE_PAYMENT(F) F(TEXT, order_id)
PAWL_RECORD(take_payment, TAKE_PAYMENT)

#ifdef PAWL_CONTROL
static pawl_code on_place(pawl_context *ctx, order *state, const place_order *message)
{
    (void)ctx, (void)state, (void)message;
    return PAWL_OK;
}
PAWL_HANDLER(on_place, order, place_order);
const pawl_handler *const used = PAWL_HANDLE(on_place);
pawl_code                 send(pawl_context *ctx);
pawl_code                 send(pawl_context *ctx)
{
    return pawl_send(ctx, "x", PAWL_MESSAGE(take_payment, .order_id = PAWL_TEXT("1")));
}
#else
static pawl_code on_place(pawl_context *ctx, order *state, const place_order *message)
{
    (void)ctx, (void)state, (void)message;
    return PAWL_OK;
}
PAWL_HANDLER(on_place, order, place_order);
const pawl_handler *const used = PAWL_HANDLE(on_place);
pawl_code                 send(pawl_context *ctx);
pawl_code                 send(pawl_context *ctx)
{
    return pawl_send(ctx, "x", &(take_payment){.order_id = PAWL_TEXT("1")});
}
#endif

int main(void)
{
    return 0;
}
