/* must not compile: a kind that does not exist | expected: PAWL__KIND_STRING */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#ifdef PAWL_CONTROL
#define ORDER(F) F(TEXT, order_id)
#else
#define ORDER(F) F(STRING, order_id)
#endif
PAWL_RECORD(order, ORDER)

int main(void)
{
    return 0;
}
