/* origin.c - the metadata of a saga: which message began it, and where an answer to its sender goes.
 *
 * The metadata is written with the saga's first row, and kept by every save; with .idle_after each save
 * adds its time. Before there is a row, the same answers come from the message that began the saga.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include <string.h>

#define ORIGINATOR "Originator"
#define ORIGINAL_MESSAGE "OriginalMessageId"
#define SAGA_TYPE "SagaType"

/* ---- Writing ----------------------------------------------------------------- */

/* `,"name":"value"`, or nothing for a value that is empty, or would need escapes: it is left out
 * rather than stored wrong. */
static pawl_text member(pawl_arena *arena, const char *name, pawl_text value)
{
    if (value.size == 0 || !pawl__is_plain(value))
        return (pawl_text){.data = "", .size = 0};
    return pawl_arena_printf(arena, ",\"%s\":\"%.*s\"", name, PAWL_TEXT_ARGS(value));
}

static pawl_code sender_of(const pawl_message *message, pawl_arena *arena, pawl_text *queue)
{
    return pawl__headers_value(message->headers, PAWL_TEXT(PAWL__HEADER_REPLY_TO), arena, queue);
}

pawl_text pawl__origin_metadata(pawl__batch *batch, const pawl__entry *entry)
{
    const pawl_message *message = &batch->units[entry->beginner].message;
    pawl_arena         *arena   = batch->arena;
    pawl_text           none    = {.data = NULL, .size = 0}, queue;
    if (sender_of(message, arena, &queue) != PAWL_OK)
        return none;
    pawl_text originator = member(arena, ORIGINATOR, queue);
    pawl_text original   = member(arena, ORIGINAL_MESSAGE, message->id);
    if (originator.data == NULL || original.data == NULL)
        return none;
    return pawl__origin_changed(batch, entry,
                                pawl_arena_printf(arena, "{%s%s%s}", entry->model->metadata.data,
                                                  originator.data, original.data));
}

pawl_text pawl__origin_changed(pawl__batch *batch, const pawl__entry *entry, pawl_text metadata)
{
    char      time[PAWL_TIME_TEXT_SIZE + 1];
    pawl_text made = {.data = NULL, .size = 0};
    if (metadata.data == NULL || entry->model->saga->idle_after == 0)
        return metadata;
    pawl_time_format(batch->engine->machine_now, time);
    return pawl__headers_set(metadata, PAWL__SAGA_CHANGED, pawl_text_of(time), batch->arena,
                             &made) == PAWL_OK
               ? made
               : (pawl_text){.data = NULL, .size = 0};
}

/* ---- Reading ----------------------------------------------------------------- */

/* For a saga without a row: reads from the message what its row will contain. */
static pawl_code find_new(pawl_context *ctx, const pawl__touch *touch, const char *name,
                          pawl_text *value)
{
    const pawl_message *message =
        touch->is_begun ? &ctx->unit->message : &ctx->batch->units[touch->entry->beginner].message;
    *value = (pawl_text){.data = NULL, .size = 0};
    if (strcmp(name, SAGA_TYPE) == 0)
        *value = touch->entry->model->table.type;
    else if (strcmp(name, ORIGINAL_MESSAGE) == 0)
        *value = message->id;
    else if (strcmp(name, ORIGINATOR) == 0)
        return sender_of(message, ctx->batch->arena, value);
    return PAWL_OK;
}

pawl_text pawl_saga_metadata(pawl_context *ctx, const char *name)
{
    const pawl__touch *touch = pawl__current_touch(ctx);
    pawl_text          value = {.data = NULL, .size = 0};
    pawl_code          code  = PAWL_OK;
    if (touch == NULL || touch->entry->stream != NULL || name == NULL)
        return value;
    if (touch->is_begun || touch->entry->is_new)
        code = find_new(ctx, touch, name, &value);
    else
        code = pawl__headers_value(touch->entry->stored.metadata, pawl_text_of(name),
                                   ctx->batch->arena, &value);
    if (code != PAWL_OK)
        pawl__context_refuse(ctx, code, "no memory for the metadata of a saga");
    return value;
}

pawl_code pawl_reply_to_originator(pawl_context *ctx, const pawl_record *record,
                                   const void *message)
{
    pawl_text queue = pawl_saga_metadata(ctx, ORIGINATOR);
    if (ctx->failed != PAWL_OK)
        return ctx->failed;
    if (queue.size == 0)
        return pawl__context_refuse(ctx, PAWL_EINVAL,
                                    "message %s: this handler has no saga that was begun by a "
                                    "message with the header " PAWL__HEADER_REPLY_TO,
                                    pawl_record_type(record));
    const pawl__content content = pawl__content_of(record, message);
    return pawl__context_send(ctx, PAWL_EFFECT_REPLY, queue.data, NULL, &content);
}
