/* failed.c - why the unit in hand fails: its first refused effect, or what its function answered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

pawl_code pawl__context_failed(pawl_context *ctx, pawl_code code)
{
    if (code == PAWL_OK || ctx->failed != PAWL_OK)
        return code;
    ctx->failed      = code;
    ctx->failed_text = pawl_arena_text(ctx->batch->arena, pawl_text_of(ctx->error.text));
    return code;
}

pawl_code pawl__context_fail(pawl_context *ctx, pawl_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_error_setv(&ctx->error, code, format, arguments);
    va_end(arguments);
    return code;
}

pawl_code pawl__context_no_memory(pawl_context *ctx)
{
    return pawl__context_fail(ctx, PAWL_ENOMEM, "no memory for message %.*s",
                              PAWL_TEXT_ARGS(ctx->unit->message.id));
}

pawl_code pawl__context_refuse(pawl_context *ctx, pawl_code code, const char *format, ...)
{
    if (ctx->failed == PAWL_OK) {
        va_list arguments;
        va_start(arguments, format);
        pawl_error_setv(&ctx->error, code, format, arguments);
        va_end(arguments);
    }
    return pawl__context_failed(ctx, code);
}

/* Lack of memory for an effect outranks the handler's answer, which may be OK all the same. */
pawl_code pawl__context_answered(pawl_context *ctx, pawl_code answer)
{
    if (answer == PAWL_OK || ctx->failed == PAWL_ENOMEM) {
        /* The error's text may be that of a later effect, which was refused as well. */
        if (ctx->failed != PAWL_OK && ctx->failed_text.data != NULL)
            pawl_error_set(&ctx->error, ctx->failed, "%s", ctx->failed_text.data);
        return ctx->failed;
    }
    ctx->is_answer = true;
    return answer;
}
