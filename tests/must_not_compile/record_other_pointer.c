/* must not compile: a pointer to another record than the one named | expected: _Generic.*not compatible|not compatible with any generic association */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#define ORDER(F) F(TEXT, order_id) F(INT64, cents)
PAWL_RECORD(order, ORDER)

static void take(const pawl_record *record, const void *message)
{
    (void)record;
    (void)message;
}

#define REFUND(F) F(INT64, cents)
PAWL_RECORD(refund, REFUND)

int main(void)
{
    refund money = {.cents = 5};
#ifdef PAWL_CONTROL
    take(PAWL_MESSAGE_OF(refund, &money));
#else
    take(PAWL_MESSAGE_OF(order, &money));
#endif
    return 0;
}
