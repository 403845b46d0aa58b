/* must not compile: an apply function for another event | expected: apply_debited must be */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/pawl.h"
#include "pawl/process.h"

#define ACCOUNT(F) F(TEXT, account) F(INT64, cents)
PAWL_RECORD(account, ACCOUNT)
#define DEBIT(F) F(TEXT, account) F(INT64, cents)
PAWL_RECORD(debit, DEBIT)
PAWL_RECORD(debited, DEBIT)

#ifdef PAWL_CONTROL
static void apply_debited(account *state, const debited *event)
#else
static void apply_debited(account *state, const debit *event)
#endif
{
    (void)state, (void)event;
}
PAWL_APPLY(apply_debited, account, debited);
const pawl_apply *const used = PAWL_APPLIES(apply_debited);

int main(void)
{
    return 0;
}
