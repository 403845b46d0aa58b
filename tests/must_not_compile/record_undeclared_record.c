/* must not compile: a nested record that was never declared | expected: address_pawl_record.*undeclared|undeclared identifier 'address_pawl_record' */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#ifdef PAWL_CONTROL
#define ADDRESS(F) F(TEXT, city)
PAWL_RECORD(address, ADDRESS)
#endif
#define ORDER(F) F(LIST_RECORD, places, address)
PAWL_RECORD(order, ORDER)

int main(void)
{
    return 0;
}
