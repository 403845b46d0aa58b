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
#include "base/dispatch.h"
#include "engine/context.h"
#include "pawl/process.h"

/* The id of the message whose handling made the event. An event appended without one has an id made
 * of its stream and version. */
static pawl_text message_id_of(const pawl_event_row *row, pawl_arena *arena)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    if (row->event.message_id.size > 0)
        return row->event.message_id;
    pawl_dispatch_id id = pawl__dispatch_id_of((pawl_text){.data = "", .size = 0},
                                               PAWL__SUBJECT_SOURCE, row->stream, row->version, 0);
    pawl_uuid_format(id.uuid, text);
    return pawl_arena_text(arena, (pawl_text){.data = text, .size = PAWL_UUID_TEXT_SIZE});
}

pawl_code pawl__batch_add_event(pawl__batch *batch, const pawl__projection_model *projection,
                                const pawl_event_row *row, int32_t attempts)
{
    const pawl_event *event = &row->event;
    pawl__unit       *grown = pawl_arena_grow(batch->arena, batch->units, batch->unit_count,
                                              &batch->unit_capacity, sizeof batch->units[0]);
    if (grown == NULL)
        return PAWL_ENOMEM;
    batch->units     = grown;
    pawl__unit *unit = &grown[batch->unit_count++];
    *unit            = (pawl__unit){.kind       = PAWL__UNIT_EVENT,
                                    .now        = batch->engine->business_now,
                                    .projection = projection,
                                    .event      = row,
                                    .row        = {.attempts = attempts},
                                    .message    = {.id             = message_id_of(row, batch->arena),
                                                   .type           = event->type,
                                                   .body           = event->body,
                                                   .headers        = event->headers,
                                                   .correlation_id = event->correlation_id,
                                                   .causation_id   = event->causation_id}};
    if (batch->engine->is_virtual)
        unit->now = event->at;
    return unit->message.id.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code decode(pawl_context *ctx, const pawl_record *record, void *decoded)
{
    const pawl_event *event = &ctx->unit->event->event;
    pawl_arena       *arena = ctx->batch->arena;
    pawl_text         body  = event->body;
    pawl_code         code  = PAWL_OK;
    if (event->type_version != pawl_record_version(record))
        code = pawl_record_upcast(record, event->type_version, body, arena, &body, &ctx->error);
    if (code == PAWL_OK)
        code = pawl_record_decode(record, body, 0, arena, decoded, &ctx->error);
    return code == PAWL_OK || code == PAWL_ENOMEM
               ? code
               : pawl_error_wrap(&ctx->error, code, "event type %.*s", PAWL_TEXT_ARGS(event->type));
}

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
    void *decoded = pawl_arena_take(ctx->batch->arena, on->event->size);
    code          = decoded != NULL ? decode(ctx, on->event, decoded) : PAWL_ENOMEM;
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
