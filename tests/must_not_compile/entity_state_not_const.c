/* must not compile: an entity's handler that could change the state | expected: on_debit must be */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/pawl.h"
#include "pawl/process.h"

#define ACCOUNT(F) F(TEXT, account) F(INT64, cents)
PAWL_RECORD(account, ACCOUNT)
#define DEBIT(F) F(TEXT, account) F(INT64, cents)
PAWL_RECORD(debit, DEBIT)
PAWL_RECORD(debited, DEBIT)

#ifdef PAWL_CONTROL
static pawl_code on_debit(pawl_context *ctx, const account *state, const debit *command)
{
    (void)ctx, (void)state, (void)command;
    return PAWL_OK;
}
#else
static pawl_code on_debit(pawl_context *ctx, account *state, const debit *command)
{
    (void)ctx, (void)state, (void)command;
    return PAWL_OK;
}
#endif
PAWL_ENTITY_HANDLER(on_debit, account, debit);
const pawl_handler *const used = PAWL_HANDLE(on_debit);

int main(void)
{
    return 0;
}
