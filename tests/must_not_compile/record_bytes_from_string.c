/* must not compile: a string literal where the record has bytes | expected: incompatible types when initializing type .double|initializing 'pawl_text_wanted_not_a_c_string' */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#define ORDER(F) F(BYTES, order_id) F(INT64, cents)
PAWL_RECORD(order, ORDER)

static void take(const pawl_record *record, const void *message)
{
    (void)record;
    (void)message;
}

int main(void)
{
#ifdef PAWL_CONTROL
    take(PAWL_MESSAGE(order, .order_id = {.data = "5", .size = 1}));
#else
    take(PAWL_MESSAGE(order, .order_id = "5"));
#endif
    return 0;
}
