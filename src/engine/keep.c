/* keep.c - copies a unit's saga states and effects into the batch, once all its handlers,
 * filters and callbacks have succeeded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include "base/dispatch.h"
#include "engine/stream.h"

#include <string.h>

/* A saga whose unit has effects is saved even when its state is the same. */
static bool is_changed(const pawl_context *ctx, const pawl__touch *touch)
{
    const pawl__entry *entry = touch->entry;
    if (entry->stream != NULL)
        return touch->event_count > 0;
    return touch->is_begun || ctx->effect_count > 0 ||
           !pawl_record_equal(entry->model->state, entry->state, touch->state);
}

/* Fails the unit if the handler changed the correlation property (E10, E11). A row written by a program that lacks the
 * property (an older or a newer one) has no value: it was found by its transitional value or id, and stays without
 * (D27, D29). */
static pawl_code check_correlation(pawl_context *ctx, const pawl__touch *touch,
                                   pawl_value *transitional)
{
    const pawl__saga_model *model = touch->entry->model;
    *transitional                 = (pawl_value){PAWL_VALUE_NONE, {0}};
    if (model->saga->correlation == NULL || touch->is_completed)
        return PAWL_OK;
    pawl_value value;
    pawl_code code = pawl_record_value(model->state, model->saga->correlation, touch->state, &value,
                                       &ctx->error);
    if (code != PAWL_OK)
        return code;
    bool is_unset = touch->entry->main.type == PAWL_VALUE_NONE && !touch->is_begun;
    if (!is_unset && !pawl_value_equal(&value, &touch->entry->main)) {
        char was[PAWL_VALUE_TEXT_SIZE], is[PAWL_VALUE_TEXT_SIZE];
        return pawl_fail(ctx, PAWL_EINVAL,
                         "saga %s: the handler changed the correlation property '%s' from %s to %s",
                         model->saga->name, model->saga->correlation,
                         pawl_value_format(&touch->entry->main, was, sizeof was),
                         pawl_value_format(&value, is, sizeof is));
    }
    if (model->saga->transitional == NULL || !touch->is_changed)
        return PAWL_OK;
    code = pawl_record_value(model->state, model->saga->transitional, touch->state, transitional,
                             &ctx->error);
    if (code == PAWL_OK && pawl_value_is_default(transitional))
        return pawl_fail(ctx, PAWL_EINVAL,
                         "saga %s: null transitional property not allowed: '%s' has no value",
                         model->saga->name, model->saga->transitional);
    return code == PAWL_OK ? pawl_value_check(transitional, model->saga->transitional, &ctx->error)
                           : code;
}

static pawl_code keep_timeouts(pawl_context *ctx, pawl__entry *entry, const pawl__touch *touch)
{
    for (size_t i = 0; i < touch->timeouts.count; i++) {
        const pawl__timeout_op *op    = &touch->timeouts.items[i];
        size_t                  index = 0;
        while (index < entry->timeouts.count &&
               !pawl_text_equal(entry->timeouts.items[index].name, op->name))
            index++;
        pawl__timeout_op *grown =
            pawl_arena_grow(ctx->batch->arena, entry->timeouts.items, entry->timeouts.count,
                            &entry->timeouts.capacity, sizeof entry->timeouts.items[0]);
        if (grown == NULL)
            return pawl__context_no_memory(ctx);
        entry->timeouts.items        = grown;
        entry->timeouts.items[index] = *op;
        if (index == entry->timeouts.count)
            entry->timeouts.count++;
        if (!op->is_cancel && op->due < ctx->batch->cut_timeout)
            ctx->batch->cut_timeout = op->due;
    }
    return PAWL_OK;
}

static void end_entry(pawl__entry *entry)
{
    entry->is_stored_gone |= entry->stored.presence == PAWL_SAGA_THERE && !entry->is_new;
    entry->exists         = false;
    entry->is_new         = false;
    entry->is_dirty       = false;
    entry->timeouts.count = 0;
}

/* Copies the state into the batch's arena. */
static pawl_code copy_state(pawl_context *ctx, const pawl__touch *touch, void **state)
{
    const pawl__saga_model *model = touch->entry->model;
    *state                        = pawl_arena_take(ctx->batch->arena, model->state->size);
    pawl_code code                = *state != NULL
                                        ? pawl_record_copy(model->state, touch->state, *state, ctx->batch->arena)
                                        : PAWL_ENOMEM;
    if (code == PAWL_OK)
        return PAWL_OK;
    if (code == PAWL_ENOMEM)
        return pawl__context_no_memory(ctx);
    return pawl_fail(ctx, code,
                     "saga %s: the handler left a text or list in the state that has "
                     "a size but no data, or is over its limit",
                     model->saga->name);
}

/* The state needs no copy: it was computed from events that were decoded into the batch's
 * arena. */
static pawl_code keep_stream(pawl_context *ctx, pawl__touch *touch)
{
    pawl_code code = pawl__stream_keep(ctx, touch);
    return code == PAWL_OK && !touch->is_completed ? keep_timeouts(ctx, touch->entry, touch) : code;
}

static pawl_code keep_saga(pawl_context *ctx, pawl__touch *touch, const pawl_value *transitional)
{
    pawl__entry *entry = touch->entry;
    void        *state = NULL;
    if (touch->is_completed) {
        entry->writer = ctx->unit->index;
        if (entry->exists)
            end_entry(entry);
        return PAWL_OK;
    }
    if (!touch->is_changed)
        return PAWL_OK;
    pawl_code code = copy_state(ctx, touch, &state);
    if (code != PAWL_OK)
        return code;
    entry->writer   = ctx->unit->index;
    entry->state    = state;
    entry->is_dirty = true;
    if (touch->is_begun) {
        entry->exists   = true;
        entry->is_new   = true;
        entry->beginner = ctx->unit->index;
        if (!pawl__identity_set_id(ctx->batch, entry, touch->id))
            return pawl__context_no_memory(ctx);
    }
    pawl_value kept = *transitional;
    if (kept.type == PAWL_VALUE_TEXT)
        kept.as.text = pawl_arena_text(ctx->batch->arena, kept.as.text);
    if (!pawl__identity_set_transitional(ctx->batch, entry, &kept))
        return pawl__context_no_memory(ctx);
    return keep_timeouts(ctx, entry, touch);
}

/* Sets source, version and index of an outbox row, from which its dispatch id is computed (O5). A saga has one new
 * version per batch, so its index counts through the batch; a saga that completes and begins again has another id, and
 * so another source. A stream has a new version per unit, so its index counts through the unit. */
static pawl_code keep_dispatch(pawl_context *ctx, pawl__dispatch *dispatch, int32_t index)
{
    pawl_outbox_add *add   = &dispatch->add;
    pawl_arena      *arena = ctx->batch->arena;
    add->index             = index;
    if (ctx->unit->kind == PAWL__UNIT_FORWARD || ctx->unit->kind == PAWL__UNIT_SCHEDULE) {
        add->version = ctx->unit->timeout.due;
    } else if (ctx->unit->kind == PAWL__UNIT_EVENT) {
        add->source     = ctx->unit->projection->source;
        add->version    = ctx->unit->event->position;
        add->may_differ = true;
    } else if (dispatch->touch != 0 && ctx->touches[dispatch->touch - 1].entry->stream != NULL) {
        pawl__touch        *touch  = &ctx->touches[dispatch->touch - 1];
        pawl__stream_entry *stream = touch->entry->stream;
        add->source                = stream->text;
        add->version               = stream->version + (int64_t)touch->event_count;
        add->index                 = touch->next_index++;
    } else if (dispatch->touch != 0) {
        pawl__touch *touch  = &ctx->touches[dispatch->touch - 1];
        pawl__entry *entry  = touch->entry;
        bool         is_new = touch->is_begun || entry->is_new;
        add->source         = pawl__saga_source(arena, entry->model, touch->id);
        add->version        = is_new ? 1 : entry->stored.version + 1;
        add->index          = entry->next_index++;
        if (add->source.data == NULL)
            return pawl__context_no_memory(ctx);
    }
    add->dispatch_id = pawl__dispatch_id(add->endpoint, add->source, ctx->unit->message.id,
                                         add->version, add->index);
    if (dispatch->has_id)
        return PAWL_OK;
    add->message.id = pawl__arena_uuid(arena, add->dispatch_id.uuid);
    return add->message.id.data != NULL ? PAWL_OK : pawl__context_no_memory(ctx);
}

/* Reserves room for `more` items in a list of the batch; its items and count do not change. */
static pawl_code reserve(pawl_context *ctx, void *items, size_t *count, size_t *capacity,
                         size_t more, size_t size, void **reserved)
{
    *reserved = items;
    if (*count + more <= *capacity)
        return PAWL_OK;
    size_t larger = (*count + more) * 2;
    char  *grown  = pawl_arena_take(ctx->batch->arena, larger * size);
    if (grown == NULL)
        return pawl__context_no_memory(ctx);
    if (*count > 0)
        memcpy(grown, items, *count * size);
    *capacity = larger;
    *reserved = grown;
    return PAWL_OK;
}

/* Makes room for all effects of the unit before any is kept, so that running out of memory
 * half-way leaves the batch as it was. */
static pawl_code reserve_effects(pawl_context *ctx)
{
    pawl__effects *all = &ctx->batch->effects;
    void          *sends, *dispatches, *adds;
    pawl_code      code =
        reserve(ctx, all->sends, &all->send_count, &all->send_capacity,
                ctx->effects.send_count + ctx->dispatch_count, sizeof all->sends[0], &sends);
    if (code != PAWL_OK)
        return code;
    all->sends = sends;
    code       = reserve(ctx, all->dispatches, &all->dispatch_count, &all->dispatch_capacity,
                         ctx->dispatch_count, sizeof all->dispatches[0], &dispatches);
    if (code != PAWL_OK)
        return code;
    all->dispatches = dispatches;
    code = reserve(ctx, all->adds, &all->add_count, &all->add_capacity, ctx->effects.add_count,
                   sizeof all->adds[0], &adds);
    if (code == PAWL_OK)
        all->adds = adds;
    return code;
}

static void keep_send(pawl__batch *batch, const pawl_queue_send *send)
{
    batch->effects.sends[batch->effects.send_count++] = *send;
    if (pawl_text_equal(send->queue, batch->engine->model->queue) && send->due < batch->cut_send)
        batch->cut_send = send->due;
}

static void keep_effects(pawl_context *ctx)
{
    pawl__batch   *batch = ctx->batch;
    pawl__effects *all   = &batch->effects;
    for (size_t i = 0; i < ctx->effects.send_count; i++)
        keep_send(batch, &ctx->effects.sends[i]);
    for (size_t i = 0; i < ctx->dispatch_count; i++) {
        const pawl_outbox_add *add  = &ctx->dispatches[i].add;
        const pawl_queue_send  send = {
             .unit = add->unit, .queue = add->destination, .message = add->message, .due = add->due};
        if (ctx->dispatches[i].is_local)
            keep_send(batch, &send);
        else
            all->dispatches[all->dispatch_count++] = *add;
    }
    for (size_t i = 0; i < ctx->effects.add_count; i++) {
        all->adds[all->add_count++] = ctx->effects.adds[i];
        if (ctx->effects.adds[i].due < batch->cut_timeout)
            batch->cut_timeout = ctx->effects.adds[i].due;
    }
}

pawl_code pawl__unit_keep(pawl_context *ctx)
{
    pawl_value *transitional =
        pawl_arena_take(ctx->batch->arena, (ctx->touch_count + 1) * sizeof *transitional);
    pawl_code code = transitional != NULL ? PAWL_OK : pawl__context_no_memory(ctx);
    for (size_t i = 0; i < ctx->touch_count && code == PAWL_OK; i++)
        if (ctx->touches[i].entry->stream != NULL)
            code = pawl__stream_seal(ctx, i);
    for (size_t i = 0; i < ctx->touch_count; i++)
        ctx->touches[i].is_changed = is_changed(ctx, &ctx->touches[i]);
    for (size_t i = 0; i < ctx->touch_count && code == PAWL_OK; i++)
        code = check_correlation(ctx, &ctx->touches[i], &transitional[i]);
    if (code == PAWL_OK)
        code = reserve_effects(ctx);
    ctx->is_keeping = code == PAWL_OK;
    for (size_t i = 0; i < ctx->dispatch_count && code == PAWL_OK; i++)
        code = keep_dispatch(ctx, &ctx->dispatches[i], (int32_t)i);
    for (size_t i = 0; i < ctx->touch_count && code == PAWL_OK; i++)
        code = ctx->touches[i].entry->stream != NULL
                   ? keep_stream(ctx, &ctx->touches[i])
                   : keep_saga(ctx, &ctx->touches[i], &transitional[i]);
    if (code == PAWL_OK && ctx->batch->engine->has_history)
        code = pawl__lines_keep(ctx);
    if (code == PAWL_OK)
        keep_effects(ctx);
    return code;
}
