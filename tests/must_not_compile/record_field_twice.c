/* must not compile: one member name for two fields | expected: duplicate member */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#ifdef PAWL_CONTROL
#define ORDER(F) F(TEXT, order_id) F(INT64, cents)
#else
#define ORDER(F) F(TEXT, order_id) F(INT64, order_id)
#endif
PAWL_RECORD(order, ORDER)

int main(void)
{
    return 0;
}
