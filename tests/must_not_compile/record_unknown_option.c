/* must not compile: an option that fields do not have | expected: has no member named 'secrte'|does not refer to any field */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#ifdef PAWL_CONTROL
#define ORDER(F) F(TEXT, iban, .secret = true)
#else
#define ORDER(F) F(TEXT, iban, .secrte = true)
#endif
PAWL_RECORD(order, ORDER)

int main(void)
{
    return 0;
}
