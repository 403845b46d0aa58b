/* must not compile: a handler of another message than it is declared for | expected: on_place must be */
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
#else
static pawl_code on_place(pawl_context *ctx, order *state, const take_payment *message)
{
    (void)ctx, (void)state, (void)message;
    return PAWL_OK;
}
#endif
PAWL_HANDLER(on_place, order, place_order);
const pawl_handler *const used = PAWL_HANDLE(on_place);

int main(void)
{
    return 0;
}
