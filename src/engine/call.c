/* call.c - tells the runtime's watchdog of each call of the application's code: which function is called,
 * for which message, and that it returned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

static const char *const unit_names[] = {
    [PAWL__UNIT_MESSAGE] = "message",
    [PAWL__UNIT_TIMEOUT] = "timeout",
    [PAWL__UNIT_FLUSH]   = "partition",
    [PAWL__UNIT_EVENT]   = "event of message",
};

bool pawl__call_begin(pawl_context *ctx, const char *kind, const char *name)
{
    const pawl__unit *unit   = ctx->unit;
    pawl__engine     *engine = ctx->batch->engine;
    const pawl__call  call   = {.what = unit_names[unit->kind],
                                .id   = unit->kind == PAWL__UNIT_FLUSH ? unit->flush.partition
                                                                       : unit->message.id,
                                .type = unit->message.type,
                                .kind = kind,
                                .name = name};
    if (!ctx->batch->is_given_up)
        ctx->batch->is_given_up = !engine->call_begin(engine->runtime, &call);
    return !ctx->batch->is_given_up;
}

pawl_code pawl__call_end(pawl_context *ctx, pawl_code answer)
{
    pawl__engine *engine = ctx->batch->engine;
    ctx->batch->is_given_up |= !engine->call_end(engine->runtime);
    return pawl__context_answered(ctx, answer);
}

pawl_code pawl__call_handler(pawl_context *ctx, const pawl_handler *handler,
                             const pawl_effect *does, void *state, const void *message,
                             size_t count)
{
    const pawl_application *application = ctx->batch->engine->model->application;
    if (!pawl__call_begin(ctx, "handler", pawl__handler_name(application, handler)))
        return PAWL_EFENCED;
    ctx->does      = does;
    pawl_code code = handler->call(ctx, state, message, count);
    ctx->does      = NULL;
    return pawl__call_end(ctx, code);
}
