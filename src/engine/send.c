/* send.c - messages that a handler sends: refuses effects that its row does not declare (pawl/effect.h), makes type and
 * body from a record's struct or from JSON of the handler, and finds the queues that get a published message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include "record/record_internal.h"

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

/* ---- Type and body -------------------------------------------------------- */

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

/* ---- Subscribers ---------------------------------------------------------- */

/* Is `type` the record's own type or one of its base types? */
static bool is_of_type(pawl_text type, const pawl_record *record)
{
    for (; record != NULL; record = record->base != NULL ? record->base() : NULL)
        if (pawl_text_equal(type, pawl_text_of(pawl_record_type(record))))
            return true;
    return false;
}

bool pawl__is_subscriber(const pawl_subscriptions *list, size_t index, const pawl_record *record)
{
    const pawl_subscription *items = list->items;
    if (!is_of_type(items[index].type, record))
        return false;
    for (size_t i = 0; i < index; i++)
        if (pawl_text_equal(items[i].queue, items[index].queue) &&
            is_of_type(items[i].type, record))
            return false;
    return true;
}
