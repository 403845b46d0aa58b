/* effect.c - refuses effects that the row of their handler does not declare (pawl/effect.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

static const char *const doing[] = {
    [PAWL_EFFECT_SEND]    = "sends",
    [PAWL_EFFECT_PUBLISH] = "publishes",
    [PAWL_EFFECT_REPLY]   = "replies with",
    [PAWL_EFFECT_TIMEOUT] = "sets the timeout",
};

pawl_code pawl__context_declared(pawl_context *ctx, pawl_effect_kind kind, const char *type,
                                 const char *name)
{
    if (ctx->does == NULL || pawl__effect_is_declared(ctx->batch->engine->model->application,
                                                      ctx->does, kind, type, name))
        return PAWL_OK;
    bool is_send = kind == PAWL_EFFECT_SEND;
    return pawl__context_refuse(
        ctx, PAWL_EINVAL,
        "the handler of %.*s %s %s%s%s, which the .does of its row does not declare",
        PAWL_TEXT_ARGS(ctx->unit->message.type), doing[kind], type != NULL ? type : name,
        is_send ? " to " : "", is_send ? name : "");
}
