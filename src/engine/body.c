/* body.c - type and body of a message that a handler sends: a record's struct, or JSON that the handler
 * made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include "record/record_internal.h"

static pawl_code check_size(pawl_context *ctx, const char *type, size_t size)
{
    if (size > PAWL_BODY_SIZE_MAX)
        return pawl__context_refuse(ctx, PAWL_ELIMIT,
                                    "message %s: body has %zu bytes, the limit is %d", type, size,
                                    PAWL_BODY_SIZE_MAX);
    return PAWL_OK;
}

static pawl_code copy_json(pawl_context *ctx, const pawl__content *content, pawl_message *message)
{
    pawl_arena *arena = ctx->batch->arena;
    pawl_code   code  = pawl__json_try(content->json, arena, &ctx->error);
    if (code != PAWL_OK)
        return code;
    message->type = pawl_arena_text(arena, pawl_text_of(content->type));
    message->body = pawl_arena_text(arena, content->json);
    return message->type.data != NULL && message->body.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code encode(pawl_context *ctx, const pawl__content *content, pawl_message *message)
{
    message->type = pawl_text_of(content->type);
    return pawl_record_encode(content->record, content->value, 0, ctx->batch->arena, &message->body,
                              &ctx->error);
}

pawl_code pawl__body_write(pawl_context *ctx, const pawl__content *content, pawl_message *message)
{
    bool is_json = content->record == NULL;
    if (is_json && (pawl__context_check_name(ctx, "type of a message", content->type) != PAWL_OK ||
                    check_size(ctx, content->type, content->json.size) != PAWL_OK))
        return ctx->failed;
    pawl_code code = is_json ? copy_json(ctx, content, message) : encode(ctx, content, message);
    if (code != PAWL_OK) {
        pawl_error_wrap(&ctx->error, code, "message %s", content->type);
        return pawl__context_failed(ctx, code);
    }
    return check_size(ctx, content->type, message->body.size);
}
