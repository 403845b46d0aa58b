/* must not compile: a record named where an enum belongs | expected: address_pawl_enum */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#define ADDRESS(F) F(TEXT, city)
PAWL_RECORD(address, ADDRESS)

#ifdef PAWL_CONTROL
#define ORDER(F) F(RECORD, at, address)
#else
#define ORDER(F) F(ENUM, at, address)
#endif
PAWL_RECORD(order, ORDER)

int main(void)
{
    return 0;
}
