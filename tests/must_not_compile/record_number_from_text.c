/* must not compile: text where the record has a number | expected: incompatible types when initializing|incompatible type 'pawl_text' */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#define ORDER(F) F(TEXT, order_id) F(INT64, cents)
PAWL_RECORD(order, ORDER)

static void take(const pawl_record *record, const void *message)
{
    (void)record;
    (void)message;
}

int main(void)
{
#ifdef PAWL_CONTROL
    take(PAWL_MESSAGE(order, .cents = 5));
#else
    take(PAWL_MESSAGE(order, .cents = PAWL_TEXT("5")));
#endif
    return 0;
}
