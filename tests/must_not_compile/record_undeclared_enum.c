/* must not compile: an enum that was never declared | expected: stage_pawl_enum.*undeclared|undeclared identifier 'stage_pawl_enum' */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#ifdef PAWL_CONTROL
#define STAGE(E) E(STAGE_PLACED, "placed")
PAWL_ENUM(stage, STAGE)
#endif
#define ORDER(F) F(ENUM, at, stage)
PAWL_RECORD(order, ORDER)

int main(void)
{
    return 0;
}
