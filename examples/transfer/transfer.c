/* transfer.c - the process Transfer: debits one account, then credits another; if the credit is rejected, returns the
 * money to the first.
 *
 *     requested -> withdrawn -> done
 *              |            \-> bounced -> failed     the second leg was rejected
 *              \-> failed                             the first one was
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"
#include "records.h"

#include <inttypes.h>

#define LATE "late" /* the timeout */

static bool is_of(pawl_text type, const pawl_record *record)
{
    return pawl_text_equal(type, pawl_text_of(pawl_record_type(record)));
}

static pawl_code on_request(pawl_context *ctx, const transfer_state *state,
                            const request_transfer *message)
{
    const transfer_settings *settings = pawl_user(ctx);
    (void)state;
    pawl_emit(ctx, PAWL_MESSAGE(requested, .transfer = message->transfer, .source = message->source,
                                .target = message->target, .cents = message->cents));
    pawl_timeout(ctx, LATE, settings->late);
    return pawl_send(ctx, TRANSFER_ACCOUNTS,
                     PAWL_MESSAGE(debit, .account = message->source, .transfer = message->transfer,
                                  .cents = message->cents));
}
PAWL_PROCESS_HANDLER(on_request, transfer_state, request_transfer);

static pawl_code on_accepted(pawl_context *ctx, const transfer_state *state,
                             const pawl_accepted *answer)
{
    if (is_of(answer->type, PAWL_RECORD_OF(debit)())) {
        pawl_emit(ctx, PAWL_MESSAGE(withdrawn, .cents = state->cents));
        return pawl_send(ctx, TRANSFER_ACCOUNTS,
                         PAWL_MESSAGE(credit, .account = state->target, .transfer = state->transfer,
                                      .cents = state->cents));
    }
    if (is_of(answer->type, PAWL_RECORD_OF(credit)()))
        pawl_emit(ctx, PAWL_MESSAGE(done, .cents = state->cents));
    else
        pawl_emit(ctx, PAWL_MESSAGE(failed, .reason = state->reason));
    return pawl_complete(ctx);
}
PAWL_PROCESS_HANDLER(on_accepted, transfer_state, pawl_accepted);

static pawl_code on_rejected(pawl_context *ctx, const transfer_state *state,
                             const pawl_rejected *answer)
{
    if (is_of(answer->type, PAWL_RECORD_OF(credit)())) {
        pawl_emit(ctx, PAWL_MESSAGE(bounced, .reason = answer->reason));
        return pawl_send(ctx, TRANSFER_ACCOUNTS,
                         PAWL_MESSAGE(credit_back, .account = state->source,
                                      .transfer = state->transfer, .cents = state->cents));
    }
    if (!is_of(answer->type, PAWL_RECORD_OF(debit)()))
        return pawl_fail(ctx, PAWL_REJECT, "transfer %" PRId64 " cannot be undone: %.*s",
                         state->transfer,
                         PAWL_TEXT_ARGS(answer->reason)); /* an operator must decide */
    pawl_emit(ctx, PAWL_MESSAGE(failed, .reason = answer->reason));
    return pawl_complete(ctx);
}
PAWL_PROCESS_HANDLER(on_rejected, transfer_state, pawl_rejected);

/* The transfer goes on waiting: the answer will come, however late. */
static pawl_code on_late(pawl_context *ctx, const transfer_state *state)
{
    const transfer_settings *settings = pawl_user(ctx);
    (void)state;
    return pawl_emit(ctx, PAWL_MESSAGE(overdue, .microseconds = settings->late));
}
PAWL_PROCESS_TIMEOUT_HANDLER(on_late, transfer_state);

static void apply_requested(transfer_state *state, const requested *event)
{
    state->transfer = event->transfer;
    state->source   = event->source;
    state->target   = event->target;
    state->cents    = event->cents;
}
PAWL_APPLY(apply_requested, transfer_state, requested);

static void apply_bounced(transfer_state *state, const bounced *event)
{
    state->reason = event->reason;
}
PAWL_APPLY(apply_bounced, transfer_state, bounced);

/* The state needs no change: the next command depends only on the answer. */
#define APPLY_NOTHING(event_record)                                                    \
    static void apply_##event_record(transfer_state *state, const event_record *event) \
    {                                                                                  \
        (void)state;                                                                   \
        (void)event;                                                                   \
    }                                                                                  \
    PAWL_APPLY(apply_##event_record, transfer_state, event_record)
APPLY_NOTHING(withdrawn);
APPLY_NOTHING(done);
APPLY_NOTHING(failed);
APPLY_NOTHING(overdue);

static const pawl_on on[] = {{.handle = PAWL_HANDLE(on_request), .key = "transfer", .starts = true},
                             {.handle = PAWL_HANDLE(on_accepted)},
                             {.handle = PAWL_HANDLE(on_rejected)},
                             {.handle = PAWL_HANDLE(on_late), .timeout = LATE},
                             {.handle = NULL}};

static const pawl_apply *const applies[] = {PAWL_APPLIES(apply_requested),
                                            PAWL_APPLIES(apply_withdrawn),
                                            PAWL_APPLIES(apply_done),
                                            PAWL_APPLIES(apply_bounced),
                                            PAWL_APPLIES(apply_failed),
                                            PAWL_APPLIES(apply_overdue),
                                            NULL};

const pawl_process transfer_transfer_process = {
    .name = "Transfer", .state = PAWL_RECORD_OF(transfer_state), .on = on, .apply = applies};

/* ---- The application ------------------------------------------------------------ */

static const pawl_endpoint_spec accounts = {.name     = TRANSFER_ACCOUNTS,
                                            .entities = PAWL_ENTITIES(&transfer_account_entity)};

static const pawl_endpoint_spec transfers = {
    .name = TRANSFER_TRANSFERS, .processes = PAWL_PROCESSES(&transfer_transfer_process)};

const pawl_application transfer_application = {PAWL_APPLICATION_HEAD, .name = "bank",
                                               .endpoints = PAWL_ENDPOINTS(&accounts, &transfers)};

const pawl_route transfer_routes[] = {{.name = TRANSFER_ACCOUNTS, .is_outbox = true},
                                      {.name = NULL}};
