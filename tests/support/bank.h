/* bank.h - an entity (accounts) and a process that transfers money between two of them, for tests of both.
 *
 * One endpoint has them all, so their messages stay in its store. Each test defines the entity itself, with account_on
 * and account_apply, since tests differ in its snapshots and its memory of commands.
 *
 * A command's `how` replaces the handler's normal work. A request passes it on to the second command: with "closed"
 * this is rejected, and the money is returned. If the endpoint's `user` is a world_log, handlers record their calls in
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_BANK_H
#define PAWL_TESTS_BANK_H

#include "world.h"

#include "pawl/process.h"

/* ---- Accounts ----------------------------------------------------------------- */

RECORD(account, (INT64, cents));

#define MOVE(F)      \
    F(TEXT, account) \
    F(INT64, cents)  \
    F(TEXT, how)
PAWL_RECORD(debit, MOVE);
PAWL_RECORD(credit, MOVE);

RECORD(debited, (INT64, cents));
RECORD(credited, (INT64, cents));

RECORD(stray, (INT64, cents));

static pawl_code on_debit(pawl_context *ctx, const account *state, const debit *command)
{
    world_note(pawl_user(ctx), "debit(%.*s,%d)", PAWL_TEXT_ARGS(command->account),
               (int)state->cents);
    if (text_is(command->how, "retry"))
        return PAWL_RETRY;
    if (state->cents < command->cents)
        return pawl_fail(ctx, PAWL_REJECT, "balance %d is below %d", (int)state->cents,
                         (int)command->cents);
    pawl_code code = pawl_emit(ctx, PAWL_MESSAGE(debited, .cents = command->cents));
    world_note(pawl_user(ctx), "v%d:%d", (int)pawl_stream_version(ctx), (int)state->cents);
    return code;
}
PAWL_ENTITY_HANDLER(on_debit, account, debit);

static pawl_code on_credit(pawl_context *ctx, const account *state, const credit *command)
{
    world_note(pawl_user(ctx), "credit(%.*s,%d)", PAWL_TEXT_ARGS(command->account),
               (int)state->cents);
    if (text_is(command->how, "nothing"))
        return PAWL_OK;
    if (text_is(command->how, "stray"))
        (void)pawl_emit(ctx, PAWL_MESSAGE(stray, .cents = 1));
    if (text_is(command->how, "closed"))
        return pawl_fail(ctx, PAWL_REJECT, "account %.*s is closed",
                         PAWL_TEXT_ARGS(command->account));
    if (text_is(command->how, "send"))
        return pawl_send(ctx, "elsewhere", PAWL_MESSAGE(stray, .cents = command->cents));
    if (text_is(command->how, "complete"))
        return pawl_complete(ctx);
    return pawl_emit(ctx, PAWL_MESSAGE(credited, .cents = command->cents));
}
PAWL_ENTITY_HANDLER(on_credit, account, credit);

static void apply_debited(account *state, const debited *event)
{
    state->cents -= event->cents;
}
PAWL_APPLY(apply_debited, account, debited);

static void apply_credited(account *state, const credited *event)
{
    state->cents += event->cents;
}
PAWL_APPLY(apply_credited, account, credited);

static const pawl_on           account_on[] = {{.handle = PAWL_HANDLE(on_debit), .key = "account"},
                                               {.handle = PAWL_HANDLE(on_credit), .key = "account"},
                                               {.handle = NULL}};
static const pawl_apply *const account_apply[] = {PAWL_APPLIES(apply_debited),
                                                  PAWL_APPLIES(apply_credited), NULL};

/* ---- Transfers ------------------------------------------------------------------ */

RECORD(transfer, (TEXT, from), (TEXT, to), (INT64, cents), (INT32, accepted), (TEXT, how));

#define REQUEST(F)   \
    F(INT64, number) \
    F(TEXT, from)    \
    F(TEXT, to)      \
    F(INT64, cents)  \
    F(TEXT, how)
PAWL_RECORD(request, REQUEST);
PAWL_RECORD(requested, REQUEST);

RECORD(advanced, (INT32, step));
RECORD(failed, (INT64, number), (TEXT, reason));
RECORD(poke, (INT64, number), (TEXT, reason));

static pawl_code on_request(pawl_context *ctx, const transfer *state, const request *message)
{
    world_note(pawl_user(ctx), "request(%d)", (int)message->number);
    if (text_is(message->how, "silent"))
        return pawl_send(ctx, "elsewhere", PAWL_MESSAGE(stray, .cents = 1));
    if (text_is(message->how, "wait"))
        return pawl_timeout(ctx, "late", PAWL_HOURS(48));
    pawl_emit(ctx, PAWL_MESSAGE(requested, .number = message->number, .from = message->from,
                                .to = message->to, .cents = message->cents, .how = message->how));
    pawl_timeout(ctx, "late", PAWL_HOURS(48));
    return pawl_send(ctx, "bank",
                     PAWL_MESSAGE(debit, .account = message->from, .cents = message->cents));
}
PAWL_PROCESS_HANDLER(on_request, transfer, request);

static pawl_code on_accepted(pawl_context *ctx, const transfer *state, const pawl_accepted *answer)
{
    world_note(pawl_user(ctx), "accepted(%.*s)", PAWL_TEXT_ARGS(answer->type));
    pawl_emit(ctx, PAWL_MESSAGE(advanced, .step = 1));
    if (state->accepted == 1)
        return pawl_send(
            ctx, "bank",
            PAWL_MESSAGE(credit, .account = state->to, .cents = state->cents, .how = state->how));
    return pawl_complete(ctx);
}
PAWL_PROCESS_HANDLER(on_accepted, transfer, pawl_accepted);

static pawl_code on_rejected(pawl_context *ctx, const transfer *state, const pawl_rejected *answer)
{
    world_note(pawl_user(ctx), "rejected(%.*s:%.*s)", PAWL_TEXT_ARGS(answer->type),
               PAWL_TEXT_ARGS(answer->reason));
    pawl_emit(ctx, PAWL_MESSAGE(failed, .reason = answer->reason));
    if (state->accepted == 1)
        pawl_send(ctx, "bank", PAWL_MESSAGE(credit, .account = state->from, .cents = state->cents));
    else
        return pawl_complete(ctx);
    return PAWL_OK;
}
PAWL_PROCESS_HANDLER(on_rejected, transfer, pawl_rejected);

static pawl_code on_poke(pawl_context *ctx, const transfer *state, const poke *message)
{
    world_note(pawl_user(ctx), "poke(%d)", (int)state->cents);
    return PAWL_OK;
}
PAWL_PROCESS_HANDLER(on_poke, transfer, poke);

static pawl_code on_late(pawl_context *ctx, const transfer *state)
{
    world_note(pawl_user(ctx), "late(%d,%.*s)", (int)state->cents,
               PAWL_TEXT_ARGS(pawl_stream_in_flight(ctx)));
    return pawl_emit(ctx, PAWL_MESSAGE(failed, .reason = PAWL_TEXT("late")));
}
PAWL_PROCESS_TIMEOUT_HANDLER(on_late, transfer);

static void apply_requested(transfer *state, const requested *event)
{
    state->from  = event->from;
    state->to    = event->to;
    state->cents = event->cents;
    state->how   = event->how;
}
PAWL_APPLY(apply_requested, transfer, requested);

static void apply_advanced(transfer *state, const advanced *event)
{
    state->accepted += event->step;
}
PAWL_APPLY(apply_advanced, transfer, advanced);

static void apply_failed(transfer *state, const failed *event)
{
}
PAWL_APPLY(apply_failed, transfer, failed);

static const pawl_process transfer_process = {
    .name  = "Transfer",
    .state = PAWL_RECORD_OF(transfer),
    .on =
        PAWL_ON({.handle = PAWL_HANDLE(on_request), .key = "number", .starts = true},
                {.handle = PAWL_HANDLE(on_accepted)}, {.handle = PAWL_HANDLE(on_rejected)},
                {.handle = PAWL_HANDLE(on_poke), .key = "number", .not_found = PAWL_NOT_FOUND_DEAD},
                {.handle = PAWL_HANDLE(on_late), .timeout = "late"}),
    .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_requested), PAWL_APPLIES(apply_advanced),
                             PAWL_APPLIES(apply_failed)),
};

#endif
