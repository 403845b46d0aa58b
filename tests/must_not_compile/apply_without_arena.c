/* must not compile: an apply function with an arena that says nothing | expected: apply_debited must be */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/pawl.h"
#include "pawl/process.h"

#define ACCOUNT(F) F(TEXT, account) F(INT64, cents)
PAWL_RECORD(account, ACCOUNT)
#define DEBIT(F) F(TEXT, account) F(INT64, cents)
PAWL_RECORD(debit, DEBIT)
PAWL_RECORD(debited, DEBIT)

#ifdef PAWL_CONTROL
static pawl_code apply_debited(account *state, const debited *event, pawl_arena *arena)
{
    (void)state, (void)event, (void)arena;
    return PAWL_OK;
}
#else
static void apply_debited(account *state, const debited *event, pawl_arena *arena)
{
    (void)state, (void)event, (void)arena;
}
#endif
PAWL_APPLY_WITH_ARENA(apply_debited, account, debited);
const pawl_apply *const used = PAWL_APPLIES(apply_debited);

int main(void)
{
    return 0;
}
