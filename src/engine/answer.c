/* answer.c - tells a process what became of a command that it sent.
 *
 * The answer's id is made from the command's and the queue it was in, so that a command
 * handled again is answered with the same message, which the process's inbox drops, and
 * a command that a process sent to two queues under an id of its own is answered twice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/stream.h"
#include "pawl/process.h"

#include <string.h>

/* Headers of the command in hand that ask for an answer, and name the process and queue it goes
 * to. */
typedef struct asked {
    bool      is_wanted;
    pawl_text process;
    pawl_text reply_to;
} asked;

static bool has_word(pawl_text list, const char *word)
{
    return list.size > 0 && memmem(list.data, list.size, word, strlen(word)) != NULL;
}

static pawl_code read_asked(pawl_context *ctx, const char *word, asked *request)
{
    pawl_text   headers = ctx->unit->message.headers;
    pawl_arena *arena   = ctx->batch->arena;
    pawl_text   wanted;
    *request = (asked){.is_wanted = false};
    if (!has_word(headers, PAWL_HEADER_ANSWER)) /* most messages ask for no answer */
        return PAWL_OK;
    pawl_code code = pawl__headers_value(headers, PAWL_TEXT(PAWL_HEADER_ANSWER), arena, &wanted);
    if (code == PAWL_OK && has_word(wanted, word))
        code =
            pawl__headers_value(headers, PAWL_TEXT(PAWL_HEADER_PROCESS), arena, &request->process);
    if (code == PAWL_OK && request->process.size > 0)
        code = pawl__headers_value(headers, PAWL_TEXT("pawl.reply_to"), arena, &request->reply_to);
    request->is_wanted = request->reply_to.size > 0;
    return code == PAWL_OK ? PAWL_OK : pawl__context_no_memory(ctx);
}

static pawl_code send(pawl_context *ctx, const asked *request, const pawl_record *record,
                      const void *body)
{
    const pawl_message *command = &ctx->unit->message;
    const pawl__cause   cause   = {command, ctx->batch->engine->model->queue};
    pawl_arena         *arena   = ctx->batch->arena;
    const pawl_header   extra[] = {{PAWL_HEADER_PROCESS, request->process.data}, {NULL, NULL}};
    pawl_message        made    = {.type           = pawl_text_of(pawl_record_type(record)),
                                   .correlation_id = command->correlation_id,
                                   .causation_id   = command->id};
    pawl_text name = pawl_arena_printf(arena, "answer/%.*s/%.*s", PAWL_TEXT_ARGS(cause.queue),
                                       PAWL_TEXT_ARGS(command->id));
    if (name.data == NULL)
        return pawl__context_no_memory(ctx);
    made.id        = pawl__arena_uuid(arena,
                                      pawl_uuid_v5(pawl__carried_dispatch(command), name.data, name.size));
    pawl_code code = pawl_record_encode(record, body, 0, arena, &made.body, &ctx->error);
    if (code == PAWL_OK)
        code = pawl__headers_build(cause.queue, NULL, extra, &cause, arena, &made.headers,
                                   &ctx->error);
    if (code != PAWL_OK || made.id.data == NULL)
        return code != PAWL_OK ? code : pawl__context_no_memory(ctx);
    return pawl__context_put(ctx, request->reply_to, &made, PAWL__NO_DELAY, true);
}

pawl_code pawl__answer_accepted(pawl_context *ctx)
{
    asked               request;
    const pawl_message *command = &ctx->unit->message;
    pawl_code           code    = read_asked(ctx, "accepted", &request);
    if (code != PAWL_OK || !request.is_wanted)
        return code;
    const pawl_accepted answer = {.dispatch_id = pawl__carried_dispatch(command),
                                  .type        = command->type};
    return send(ctx, &request, PAWL_RECORD_OF(pawl_accepted)(), &answer);
}

pawl_code pawl__answer_rejected(pawl_context *ctx, pawl_text reason, bool *is_answered)
{
    asked               request;
    const pawl_message *command = &ctx->unit->message;
    pawl_code           code    = read_asked(ctx, "rejected", &request);
    *is_answered                = request.is_wanted;
    if (code != PAWL_OK || !request.is_wanted)
        return code;
    const pawl_rejected answer = {
        .dispatch_id = pawl__carried_dispatch(command), .type = command->type, .reason = reason};
    return send(ctx, &request, PAWL_RECORD_OF(pawl_rejected)(), &answer);
}
