/* account.c - the entity Account: accepts or rejects commands, by its balance and whether it is closed.
 *
 * The library drops copies of a command by its dispatch id, so no handler here
 * checks whether a command was handled already.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"
#include "records.h"

#include <inttypes.h>

static pawl_code on_open_account(pawl_context *ctx, const account_state *state,
                                 const open_account *command)
{
    if (state->is_open)
        return pawl_fail(ctx, PAWL_REJECT, "account %" PRId64 " is open already", command->account);
    return pawl_emit(ctx, PAWL_MESSAGE(account_opened, .cents = command->cents,
                                       .is_closed = command->is_closed));
}
PAWL_ENTITY_HANDLER(on_open_account, account_state, open_account);

static pawl_code on_debit(pawl_context *ctx, const account_state *state, const debit *command)
{
    if (state->cents < command->cents)
        return pawl_fail(ctx, PAWL_REJECT,
                         "account %" PRId64 " has %" PRId64 " of %" PRId64 " cents",
                         command->account, state->cents, command->cents);
    return pawl_emit(ctx,
                     PAWL_MESSAGE(debited, .transfer = command->transfer, .cents = command->cents));
}
PAWL_ENTITY_HANDLER(on_debit, account_state, debit);

static pawl_code on_credit(pawl_context *ctx, const account_state *state, const credit *command)
{
    if (!state->is_open || state->is_closed)
        return pawl_fail(ctx, PAWL_REJECT, "account %" PRId64 " is closed", command->account);
    return pawl_emit(
        ctx, PAWL_MESSAGE(credited, .transfer = command->transfer, .cents = command->cents));
}
PAWL_ENTITY_HANDLER(on_credit, account_state, credit);

/* Returns the money of a failed transfer, even to a closed account. */
static pawl_code on_credit_back(pawl_context *ctx, const account_state *state,
                                const credit_back *command)
{
    if (!state->is_open)
        return pawl_fail(ctx, PAWL_REJECT, "there is no account %" PRId64, command->account);
    return pawl_emit(
        ctx, PAWL_MESSAGE(credited_back, .transfer = command->transfer, .cents = command->cents));
}
PAWL_ENTITY_HANDLER(on_credit_back, account_state, credit_back);

static void apply_account_opened(account_state *state, const account_opened *event)
{
    state->is_open   = true;
    state->is_closed = event->is_closed;
    state->cents     = event->cents;
}
PAWL_APPLY(apply_account_opened, account_state, account_opened);

static void apply_debited(account_state *state, const debited *event)
{
    state->cents -= event->cents;
}
PAWL_APPLY(apply_debited, account_state, debited);

static void apply_credited(account_state *state, const credited *event)
{
    state->cents += event->cents;
}
PAWL_APPLY(apply_credited, account_state, credited);

static void apply_credited_back(account_state *state, const credited_back *event)
{
    state->cents += event->cents;
}
PAWL_APPLY(apply_credited_back, account_state, credited_back);

static const pawl_on on[] = {{.handle = PAWL_HANDLE(on_open_account), .key = "account"},
                             {.handle = PAWL_HANDLE(on_debit), .key = "account"},
                             {.handle = PAWL_HANDLE(on_credit), .key = "account"},
                             {.handle = PAWL_HANDLE(on_credit_back), .key = "account"},
                             {.handle = NULL}};

static const pawl_apply *const applies[] = {
    PAWL_APPLIES(apply_account_opened), PAWL_APPLIES(apply_debited), PAWL_APPLIES(apply_credited),
    PAWL_APPLIES(apply_credited_back), NULL};

const pawl_entity transfer_account_entity = {
    .name           = "Account",
    .state          = PAWL_RECORD_OF(account_state),
    .on             = on,
    .apply          = applies,
    .snapshot_every = 20,
};
