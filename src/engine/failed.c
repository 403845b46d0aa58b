/* failed.c - notes why the current unit fails: its first refused effect, or the code that its function returned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include <string.h>

pawl_code pawl__context_failed(pawl_context *ctx, pawl_code code)
{
    if (code == PAWL_OK || ctx->failed != PAWL_OK)
        return code;
    ctx->failed      = code;
    ctx->failed_text = pawl_arena_text(ctx->batch->arena, pawl_text_of(ctx->error.text));
    return code;
}

pawl_code pawl_fail(pawl_context *ctx, pawl_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_error_setv(&ctx->error, code, format, arguments);
    va_end(arguments);
    if (code != PAWL_OK)
        return code;
    ctx->error.code = PAWL_EINVAL;
    return pawl_error_wrap(&ctx->error, PAWL_EINVAL, "pawl_fail needs a code that is not PAWL_OK");
}

pawl_code pawl__context_no_memory(pawl_context *ctx)
{
    return pawl_fail(ctx, PAWL_ENOMEM, "no memory for message %.*s",
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

pawl_code pawl__context_check_name(pawl_context *ctx, const char *what, const char *name)
{
    size_t size = name != NULL ? strlen(name) : 0;
    if (size == 0 || size > PAWL_NAME_SIZE_MAX)
        return pawl__context_refuse(ctx, PAWL_EINVAL, "%s has %zu bytes, the limit is 1 to %d",
                                    what, size, PAWL_NAME_SIZE_MAX);
    if (!pawl_text_is_valid(pawl_text_of(name), NULL))
        return pawl__context_refuse(ctx, PAWL_EINVAL, "%s '%s' is not UTF-8", what, name);
    return PAWL_OK;
}

/* Replaces an invalid return code. A retry class, returned by mistake, would be returned by every run; other numbers
 * may be accidental, and get retries. */
static pawl_code refuse_answer(pawl_context *ctx, pawl_code answer)
{
    static const char *const names[] = {"NEVER", "LATER", "RELOAD", "RESOLVE", "BOUNDED"};
    char                     said[sizeof ctx->error.text];
    int                      number = (int)answer;
    bool        is_class = number >= (int)PAWL_RETRY_NEVER && number <= (int)PAWL_RETRY_BOUNDED;
    const char *colon    = ctx->error.text[0] != '\0' ? ": " : "";
    pawl_code   code     = is_class ? PAWL_EINVAL : answer;
    memcpy(said, ctx->error.text, sizeof said);
    if (!is_class)
        return pawl_fail(ctx, code, "the answer %d is not a code of pawl%s%s", number, colon, said);
    return pawl_fail(ctx, code,
                     "the answer PAWL_RETRY_%s is a retry class, not a code: PAWL_REJECT "
                     "ends a message, PAWL_RETRY runs it again%s%s",
                     names[number - (int)PAWL_RETRY_NEVER], colon, said);
}

/* An effect that failed for lack of memory outranks the handler's code, which may be PAWL_OK. So does a pawl_native
 * that found no connection. */
pawl_code pawl__context_answered(pawl_context *ctx, pawl_code answer)
{
    if (answer == PAWL_OK || ctx->failed == PAWL_ENOMEM || ctx->failed == PAWL_EUNSUPPORTED) {
        /* The error's text may be that of a later effect, which was refused as well. */
        if (ctx->failed != PAWL_OK && ctx->failed_text.data != NULL)
            pawl_error_set(&ctx->error, ctx->failed, "%s", ctx->failed_text.data);
        return ctx->failed;
    }
    ctx->is_answer = true;
    return strcmp(pawl_code_name(answer), "?") != 0 ? answer : refuse_answer(ctx, answer);
}
