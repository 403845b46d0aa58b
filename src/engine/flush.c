/* flush.c - hands the messages that an aggregator has collected over to its handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include "base/arena.h"

/* Decodes the collected messages. One that cannot be decoded goes behind the others: it is not handed over, and its row
 * stays, leased, until a later flush tries it again (A10). */
static pawl_code decode_leased(pawl_context *ctx, const pawl_record *record, char *messages)
{
    pawl__unit          *unit  = ctx->unit;
    pawl_aggregator_row *items = unit->leased.items;
    unit->readable             = 0;
    unit->left                 = (pawl_text){.data = NULL};
    for (size_t i = 0; i < unit->leased.count; i++) {
        pawl_aggregator_row row = items[i];
        pawl_code           code =
            pawl__version_decode(&row.message, record, ctx->batch->arena,
                                 messages + unit->readable * record->size, &ctx->error);
        if (code == PAWL_OK) {
            items[i]                = items[unit->readable];
            items[unit->readable++] = row;
            continue;
        }
        pawl_error_wrap(&ctx->error, code, "aggregator %s: message %.*s",
                        unit->aggregator->name.data, PAWL_TEXT_ARGS(row.message.id));
        if (code == PAWL_ENOMEM || code == PAWL_EVERSION)
            return code;
        unit->left = pawl_arena_text(ctx->batch->arena, pawl_text_of(ctx->error.text));
        if (unit->left.data == NULL)
            return pawl__context_no_memory(ctx);
        ctx->error = (pawl_error)PAWL_ERROR_INIT;
    }
    return PAWL_OK;
}

/* By size, fewer messages than the size are not handed over (E18, E19), but for those of a whole piece: others of the
 * partition wait behind it. */
static bool is_below_size(const pawl__unit *unit)
{
    const pawl__aggregator_model *aggregator = unit->aggregator;
    return unit->is_size_flush && unit->readable > 0 && unit->readable < (size_t)aggregator->size &&
           (aggregator->max == 0 || unit->leased.count < (size_t)aggregator->max);
}

pawl_code pawl__context_flush(pawl_context *ctx)
{
    pawl__unit        *unit   = ctx->unit;
    const pawl_record *record = unit->aggregator->message;
    char *messages = pawl_arena_take(ctx->batch->arena, (unit->leased.count + 1) * record->size);
    if (messages == NULL)
        return pawl__context_no_memory(ctx);
    pawl_code code = decode_leased(ctx, record, messages);
    if (code != PAWL_OK)
        return code;
    unit->is_below_size = is_below_size(unit);
    if (unit->is_below_size)
        unit->readable = 0;
    if (unit->readable == 0)
        return PAWL_OK;
    return pawl__call_handler(ctx, unit->aggregator->aggregator->handle, unit->aggregator->does,
                              NULL, messages, unit->readable);
}
