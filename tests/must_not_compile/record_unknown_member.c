/* must not compile: a message with a member that the record does not have | expected: has no member named 'centz'|does not refer to any field */
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
    take(PAWL_MESSAGE(order, .centz = 5));
#endif
    return 0;
}
