/* event.c - an event in the hands of a projection.
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
#include "engine/fold.h"
#include "pawl/process.h"

/* The projection's own rows go, in the transaction of the event. */
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
    return pawl__call_end(ctx, code);
}

pawl_code pawl__event_run(pawl_context *ctx)
{
    const pawl__unit          *unit = ctx->unit;
    const pawl__projection_on *on =
        pawl__model_projection_on(unit->projection, unit->event->event.type);
    pawl_code code = reset(ctx);
    if (code != PAWL_OK || on == NULL)
        return code;
    void *decoded;
    code = pawl__event_decode(on->event, &unit->event->event, ctx->batch->arena, &decoded,
                              &ctx->error);
    if (code == PAWL_ENOMEM)
        return pawl__context_no_memory(ctx);
    if (code == PAWL_OK)
        code = pawl__call_handler(ctx, on->handler, unit->projection->does, NULL, decoded, 1);
    return code;
}

const pawl_event_row *pawl_event_in_flight(const pawl_context *ctx)
{
    return ctx->unit->kind == PAWL__UNIT_EVENT ? ctx->unit->event : NULL;
}
