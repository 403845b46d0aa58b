/* must not compile: a fixed text without its size | expected: expected expression|undeclared */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#ifdef PAWL_CONTROL
#define ORDER(F) F(FIXED, country, 2)
#else
#define ORDER(F) F(FIXED, country)
#endif
PAWL_RECORD(order, ORDER)

int main(void)
{
    return 0;
}
