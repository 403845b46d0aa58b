/* event.c - runs a projection's handler for one event.
 *
 *     reset -> add_event* -> begin -> run -> changes -> (commit with the checkpoint)
 *
 * Messages that its handler sends have ids of the projection's name, the event's position
 * and a number, so that a replay sends nothing twice. An event that fails is run again
 * later, for ever: never a dead letter, never passed over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"
#include "engine/stream.h"
#include "pawl/process.h"

/* If the handler ended the transaction, SQL of the next event would take effect without the checkpoint, repeatedly. */
static pawl_code check_transaction(pawl_context *ctx, pawl_code code)
{
    if (!ctx->is_sql_open || (code != PAWL_OK && code != PAWL_DISCARD) ||
        pawl_store_in_transaction(ctx->batch->engine->store))
        return code;
    pawl_log(PAWL_LOG_ERROR,
             "projection %s: the handler's own SQL ended the transaction at version %lld of stream "
             "%.*s; if it committed, events before it may take effect twice",
             ctx->unit->projection->name.data, (long long)ctx->unit->event->version,
             PAWL_TEXT_ARGS(ctx->unit->event->stream));
    return pawl_fail(ctx, PAWL_EINVAL,
                     "the handler's own SQL ended the transaction of its event: only pawl "
                     "may commit it or roll it back");
}

/* Calls the projection's reset, which deletes its rows, in the transaction of the event. */
static pawl_code reset(pawl_context *ctx)
{
    const pawl__projection_model *projection = ctx->unit->projection;
    if (!ctx->unit->resets)
        return PAWL_OK;
    if (!pawl__call_begin(ctx, "reset of", projection->name.data))
        return PAWL_EFENCED;
    ctx->does      = projection->does;
    pawl_code code = projection->reset(ctx);
    ctx->does      = NULL;
    code           = check_transaction(ctx, pawl__call_end(ctx, code));
    return code == PAWL_OK ? code
                           : pawl_error_wrap(&ctx->error, code, "reset of projection %s",
                                             projection->name.data);
}

pawl_code pawl__event_run(pawl_context *ctx)
{
    const pawl__unit          *unit = ctx->unit;
    const pawl__projection_on *on =
        pawl__model_projection_on(unit->projection, unit->event->event.type);
    pawl_code code = reset(ctx);
    if (code != PAWL_OK || on == NULL || unit->only_resets)
        return code;
    void *decoded;
    code = pawl__event_decode(on->event, &unit->event->event, ctx->batch->arena, &decoded,
                              &ctx->error);
    if (code == PAWL_ENOMEM)
        return pawl__context_no_memory(ctx);
    if (code == PAWL_OK)
        code = pawl__call_handler(ctx, on->handler, unit->projection->does, NULL, decoded, 1);
    return check_transaction(ctx, code);
}

const pawl_event_row *pawl_event_in_flight(const pawl_context *ctx)
{
    return ctx->unit->kind == PAWL__UNIT_EVENT ? ctx->unit->event : NULL;
}
