/* forward.c - due timeouts for a destination that no endpoint of this store handles.
 *
 * Such a timeout becomes a message to its destination, in the commit that removes it (E13): a row
 * of a queue of this store, or of the outbox, as the destination's route says. So the timeout is
 * sent exactly once, and a failed commit leaves it as it was.
 *
 *     type         the timeout's name, or "pawl.timeout"
 *     body         {}
 *     headers      the timeout's, with its saga's type and id
 *     id           computed from the timeout's id and due time: the same timeout, set again, gets another id
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include "base/dispatch.h"

/* The timeout has the headers of the message that set it, without those that describe that message's
 * body. */
static pawl_code put_headers(const pawl_timeout_row *row, pawl_arena *arena, pawl_text *headers)
{
    static const char *const of_body[] = {PAWL_HEADER_BASE, PAWL_HEADER_VERSION, NULL};
    char                     id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_code                code = PAWL_OK;
    *headers                      = row->headers;
    if (headers->size > 0)
        code = pawl__headers_without(*headers, of_body, arena, headers);
    if (code != PAWL_OK || pawl_uuid_is_zero(row->saga_id.uuid))
        return code;
    pawl_uuid_format(row->saga_id.uuid, id);
    code = pawl__headers_set(*headers, PAWL_HEADER_SAGA_ID, pawl_text_of(id), arena, headers);
    return code == PAWL_OK
               ? pawl__headers_set(*headers, PAWL_HEADER_SAGA, row->saga_type, arena, headers)
               : code;
}

pawl_code pawl__forward_run(pawl_context *ctx)
{
    const pawl_timeout_row *row     = &ctx->unit->timeout;
    pawl_arena             *arena   = ctx->batch->arena;
    pawl_message            message = ctx->unit->message;
    pawl_dispatch_id made = pawl__dispatch_id(ctx->batch->engine->model->endpoint, PAWL_TEXT(""),
                                              message.id, row->due, 0);
    message.causation_id  = message.id;
    message.id            = pawl__arena_uuid(arena, made.uuid);
    if (message.type.size == 0)
        message.type = PAWL_TEXT("pawl.timeout");
    if (message.correlation_id.size == 0)
        message.correlation_id = message.id;
    if (message.id.data == NULL || put_headers(row, arena, &message.headers) != PAWL_OK)
        return pawl__context_no_memory(ctx);
    return pawl__context_put(ctx, row->destination, &message, PAWL__NO_DELAY, true);
}
