/* unit.c - runs one unit: all handlers of one message, timeout or flush.
 *
 *     filters before -> handlers -> filters after -> callbacks -> keep
 *
 * Handlers work on copies of the saga states. When all is well the copies and
 * effects become the batch's (keep); else nothing of the unit is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include "engine/ids.h"

#include <string.h>

static pawl_code fail(pawl_context *ctx, pawl_code code, const char *format, ...) PAWL_PRINTF(3, 4);

static pawl_code fail(pawl_context *ctx, pawl_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_error_setv(&ctx->error, code, format, arguments);
    va_end(arguments);
    return code;
}

static pawl_code no_memory(pawl_context *ctx)
{
    return fail(ctx, PAWL_ENOMEM, "no memory for message %.*s",
                PAWL_TEXT_ARGS(ctx->unit->message.id));
}

/* ---- Sagas in the unit's hands ---------------------------------------------- */

static pawl__touch *add_touch(pawl_context *ctx, pawl__entry *entry)
{
    for (size_t i = 0; i < ctx->touch_count; i++)
        if (ctx->touches[i].entry == entry) {
            ctx->touch = i + 1;
            return &ctx->touches[i];
        }
    pawl__touch *grown = pawl_arena_grow(ctx->batch->arena, ctx->touches, ctx->touch_count,
                                         &ctx->touch_capacity, sizeof ctx->touches[0]);
    if (grown == NULL)
        return NULL;
    ctx->touches       = grown;
    pawl__touch *touch = &grown[ctx->touch_count++];
    *touch             = (pawl__touch){.entry = entry, .id = entry->id};
    touch->state       = pawl_arena_take(ctx->batch->arena, entry->model->state->size);
    ctx->touch         = ctx->touch_count;
    return touch->state != NULL ? touch : NULL;
}

static pawl_code begin_saga(pawl_context *ctx, pawl__touch *touch)
{
    const pawl__saga_model *model = touch->entry->model;
    touch->is_begun               = true;
    touch->id.uuid = pawl_uuid_v7(ctx->batch->engine->random, ctx->batch->engine->machine_now);
    if (model->saga->correlation == NULL)
        return PAWL_OK;
    return pawl_record_value_set(model->state, model->saga->correlation, touch->state,
                                 &touch->entry->main, ctx->batch->arena, &ctx->error);
}

static pawl_code open_saga(pawl_context *ctx, pawl__entry *entry, bool begins)
{
    size_t       before = ctx->touch_count;
    pawl__touch *touch  = add_touch(ctx, entry);
    if (touch == NULL)
        return no_memory(ctx);
    if (ctx->touch_count == before) /* another handler of this unit has it already */
        return PAWL_OK;
    if (entry->broken != PAWL_OK)
        return fail(ctx, entry->broken, "%.*s", PAWL_TEXT_ARGS(entry->broken_text));
    if (begins)
        return begin_saga(ctx, touch);
    return pawl_record_copy(entry->model->state, entry->state, touch->state, ctx->batch->arena);
}

/* The entry that exists for the lookup, or NULL. Every entry that was looked
 * at, a missing one included, joins the unit's group. */
static pawl__entry *existing_entry(pawl_context *ctx, pawl__lookup *lookup)
{
    pawl__batch *batch = ctx->batch;
    if (lookup->entry != NULL)
        pawl__identity_touch(batch, lookup->entry, ctx->unit);
    if (lookup->entry != NULL && lookup->entry->exists)
        return lookup->entry;
    pawl__entry *other =
        pawl__identity_find_transitional(batch, lookup->binding->saga, &lookup->transitional);
    if (other != NULL)
        pawl__identity_touch(batch, other, ctx->unit);
    return other != NULL && other->exists ? other : NULL;
}

/* Did an earlier handler of this very unit begin or complete the saga? */
static const pawl__touch *touch_of(const pawl_context *ctx, const pawl__entry *entry)
{
    for (size_t i = 0; i < ctx->touch_count; i++)
        if (ctx->touches[i].entry == entry)
            return &ctx->touches[i];
    return NULL;
}

static pawl_code call_handler(pawl_context *ctx, pawl__lookup *lookup, const pawl_handler *handler)
{
    void *state    = ctx->touch != 0 ? ctx->touches[ctx->touch - 1].state : NULL;
    ctx->lookup    = lookup;
    pawl_code code = handler->call(ctx, state, lookup->message, 1);
    ctx->lookup    = NULL;
    ctx->touch     = 0;
    return code == PAWL_OK ? ctx->failed : code;
}

/* PAWL_ENOTFOUND here means: wait, the unit's end is set. */
static pawl_code handle_missing(pawl_context *ctx, pawl__lookup *lookup)
{
    const pawl__binding *binding = lookup->binding;
    if (binding->find == NULL && !lookup->is_final && lookup->value.type != PAWL_VALUE_NONE &&
        !pawl__unit_wait(ctx->batch, ctx->unit))
        return PAWL_ENOTFOUND;
    char value[PAWL_VALUE_TEXT_SIZE];
    pawl_value_format(&lookup->value, value, sizeof value);
    ctx->batch->not_found++;
    switch (binding->not_found) {
    case PAWL_NOT_FOUND_CALL: return call_handler(ctx, lookup, binding->missing);
    case PAWL_NOT_FOUND_DEAD:
        return fail(ctx, PAWL_REJECT, "message %s: no saga %s for %s",
                    pawl_record_type(binding->message), binding->saga->saga->name, value);
    case PAWL_NOT_FOUND_DROP: break;
    }
    pawl_log(PAWL_LOG_WARNING, "message %.*s of type %s dropped: no saga %s for %s",
             PAWL_TEXT_ARGS(ctx->unit->message.id), pawl_record_type(binding->message),
             binding->saga->saga->name, value);
    return PAWL_OK;
}

/* A custom finder names the saga by id; "none" on a starter begins one (E30). */
static pawl_code find_by_handler(pawl_context *ctx, pawl__lookup *lookup, pawl__entry **entry)
{
    pawl_saga_id id = {{{0}}};
    ctx->lookup     = lookup;
    pawl_code code  = lookup->binding->find(ctx, lookup->message, &id);
    ctx->lookup     = NULL;
    if (code != PAWL_OK || pawl_uuid_is_zero(id.uuid))
        return code;
    code = pawl__identity_load_id(ctx->batch, lookup->binding->saga, id, entry, &ctx->error);
    if (code == PAWL_OK && *entry != NULL)
        pawl__identity_touch(ctx->batch, *entry, ctx->unit);
    return code;
}

static pawl_code find_missing_entry(pawl_context *ctx, pawl__lookup *lookup, pawl__entry **entry)
{
    const pawl__binding *binding = lookup->binding;
    pawl_value           main    = lookup->value;
    *entry                       = lookup->entry;
    if (*entry != NULL)
        return PAWL_OK;
    if (binding->saga->saga->correlation != NULL && binding->key != NULL) {
        pawl_code code =
            pawl_record_value(binding->message, binding->key, lookup->message, &main, &ctx->error);
        if (code == PAWL_OK)
            code = pawl_value_coerce(binding->saga->table.main.type, &main, ctx->batch->arena,
                                     &ctx->error);
        if (code != PAWL_OK)
            return code;
    }
    *entry = pawl__identity_add(ctx->batch, binding->saga, &main);
    if (*entry == NULL)
        return no_memory(ctx);
    pawl__identity_touch(ctx->batch, *entry, ctx->unit);
    return PAWL_OK;
}

static pawl_code run_saga(pawl_context *ctx, pawl__lookup *lookup)
{
    pawl__entry *entry = NULL;
    pawl_code    code  = PAWL_OK;
    if (lookup->binding->find != NULL)
        code = find_by_handler(ctx, lookup, &entry);
    else
        entry = existing_entry(ctx, lookup);
    if (code != PAWL_OK)
        return code;
    const pawl__touch *held = touch_of(ctx, entry != NULL ? entry : lookup->entry);
    if (held != NULL && held->is_completed)
        return PAWL_OK; /* an earlier handler of this message ended it */
    bool begins = entry == NULL && held == NULL;
    if (begins && !lookup->binding->starts)
        return handle_missing(ctx, lookup);
    if (entry == NULL)
        code = find_missing_entry(ctx, lookup, &entry);
    if (code == PAWL_OK)
        code = open_saga(ctx, entry, begins);
    return code == PAWL_OK ? call_handler(ctx, lookup, lookup->binding->handler) : code;
}

/* ---- Kinds of unit -------------------------------------------------------------- */

static pawl_code run_message(pawl_context *ctx)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < ctx->unit->lookup_count && code == PAWL_OK; i++) {
        pawl__lookup *lookup = &ctx->unit->lookups[i];
        ctx->touch           = 0;
        switch (lookup->binding->kind) {
        case PAWL__BINDING_SAGA: code = run_saga(ctx, lookup); break;
        case PAWL__BINDING_PLAIN: code = call_handler(ctx, lookup, lookup->binding->handler); break;
        case PAWL__BINDING_AGGREGATOR: code = pawl__context_aggregate(ctx, lookup); break;
        }
    }
    return code;
}

/* A timeout whose saga is gone is dropped in silence (contracts E14). */
static pawl_code run_timeout(pawl_context *ctx)
{
    pawl__unit             *unit  = ctx->unit;
    pawl__batch            *batch = ctx->batch;
    const pawl__saga_model *saga  = pawl__model_saga(batch->engine->model, unit->timeout.saga_type);
    const pawl__binding    *binding =
        pawl__model_timeout(batch->engine->model, unit->timeout.saga_type, unit->timeout.name);
    if (saga == NULL || binding == NULL)
        return fail(ctx, PAWL_REJECT, "no handler for timeout '%.*s' of saga %.*s",
                    PAWL_TEXT_ARGS(unit->timeout.name), PAWL_TEXT_ARGS(unit->timeout.saga_type));
    pawl__entry *entry = pawl__identity_find_id(batch, saga, unit->timeout.saga_id);
    if (entry == NULL)
        return PAWL_OK;
    pawl__identity_touch(batch, entry, unit);
    if (!entry->exists || pawl_uuid_compare(entry->id.uuid, unit->timeout.saga_id.uuid) != 0)
        return PAWL_OK;
    for (size_t i = 0; i < entry->timeouts.count; i++)
        if (pawl_text_equal(entry->timeouts.items[i].name, unit->timeout.name)) {
            unit->end = PAWL__END_SUPERSEDED;
            return PAWL_OK;
        }
    pawl__lookup lookup = {.binding = binding, .entry = entry};
    pawl_code    code   = open_saga(ctx, entry, false);
    return code == PAWL_OK ? call_handler(ctx, &lookup, binding->handler) : code;
}

static pawl_code run_flush(pawl_context *ctx)
{
    pawl__unit        *unit     = ctx->unit;
    const pawl_record *record   = unit->aggregator->message;
    size_t             count    = unit->snapshot.count;
    char              *messages = pawl_arena_take(ctx->batch->arena, (count + 1) * record->size);
    if (messages == NULL)
        return no_memory(ctx);
    for (size_t i = 0; i < count; i++) {
        pawl_code code =
            pawl_record_decode(record, unit->snapshot.items[i].message.body, 0, ctx->batch->arena,
                               messages + i * record->size, &ctx->error);
        if (code != PAWL_OK)
            return pawl_error_wrap(&ctx->error, code, "aggregator %s: message %.*s",
                                   unit->aggregator->name.data,
                                   PAWL_TEXT_ARGS(unit->snapshot.items[i].message.id));
    }
    pawl_code code = unit->aggregator->aggregator->handle->call(ctx, NULL, messages, count);
    return code == PAWL_OK ? ctx->failed : code;
}

static pawl_code run_filters(pawl_context *ctx, bool is_before)
{
    const pawl__model *model = ctx->batch->engine->model;
    for (size_t i = 0; i < model->filter_count; i++) {
        const pawl_filter *filter = &model->filters[i];
        pawl_filter_fn    *call   = is_before ? filter->before : filter->after;
        pawl_code code = call != NULL ? call(ctx, &ctx->unit->message, filter->context) : PAWL_OK;
        if (code != PAWL_OK)
            return code;
    }
    return ctx->failed;
}

static pawl_code run_handlers(pawl_context *ctx)
{
    switch (ctx->unit->kind) {
    case PAWL__UNIT_MESSAGE: return run_message(ctx);
    case PAWL__UNIT_TIMEOUT: return run_timeout(ctx);
    case PAWL__UNIT_FLUSH: return run_flush(ctx);
    }
    return PAWL_EBUG;
}

static pawl_code run_callbacks(pawl_context *ctx)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < ctx->callback_count && code == PAWL_OK; i++)
        code = ctx->callbacks[i].call(ctx, ctx->callbacks[i].data);
    return code == PAWL_OK ? ctx->failed : code;
}

/* ---- Keeping ----------------------------------------------------------------------- */

/* The correlation property must be what found or began the saga (E10, E11). */
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
    if (!pawl_value_equal(&value, &touch->entry->main)) {
        char was[PAWL_VALUE_TEXT_SIZE], is[PAWL_VALUE_TEXT_SIZE];
        return fail(ctx, PAWL_EINVAL,
                    "saga %s: the handler changed the correlation property '%s' from %s to %s",
                    model->saga->name, model->saga->correlation,
                    pawl_value_format(&touch->entry->main, was, sizeof was),
                    pawl_value_format(&value, is, sizeof is));
    }
    if (model->saga->transitional == NULL)
        return PAWL_OK;
    code = pawl_record_value(model->state, model->saga->transitional, touch->state, transitional,
                             &ctx->error);
    if (code == PAWL_OK && pawl_value_is_default(transitional))
        return fail(ctx, PAWL_EINVAL,
                    "saga %s: null transitional property not allowed: '%s' has no value",
                    model->saga->name, model->saga->transitional);
    return code == PAWL_OK ? pawl_value_check(transitional, model->saga->transitional, &ctx->error)
                           : code;
}

static pawl_code keep_timeouts(pawl_context *ctx, pawl__entry *entry, const pawl__touch *touch)
{
    for (size_t i = 0; i < touch->timeouts.count; i++) {
        const pawl__timeout_op *op    = &touch->timeouts.items[i];
        size_t                  place = 0;
        while (place < entry->timeouts.count &&
               !pawl_text_equal(entry->timeouts.items[place].name, op->name))
            place++;
        pawl__timeout_op *grown =
            pawl_arena_grow(ctx->batch->arena, entry->timeouts.items, entry->timeouts.count,
                            &entry->timeouts.capacity, sizeof entry->timeouts.items[0]);
        if (grown == NULL)
            return no_memory(ctx);
        entry->timeouts.items        = grown;
        entry->timeouts.items[place] = *op;
        if (place == entry->timeouts.count)
            entry->timeouts.count++;
        if (!op->is_cancel && op->due < ctx->batch->cut_timeout)
            ctx->batch->cut_timeout = op->due;
    }
    return PAWL_OK;
}

static void end_entry(pawl__entry *entry)
{
    entry->is_stored_gone |= entry->stored.version != 0 && !entry->is_new;
    entry->exists         = false;
    entry->is_new         = false;
    entry->is_dirty       = false;
    entry->timeouts.count = 0;
}

static pawl_code keep_state(pawl_context *ctx, pawl__touch *touch, const pawl_value *transitional)
{
    pawl__entry       *entry  = touch->entry;
    const pawl_record *record = entry->model->state;
    entry->writer             = ctx->unit->index;
    if (touch->is_completed) {
        if (entry->exists)
            end_entry(entry);
        return PAWL_OK;
    }
    bool is_changed = touch->is_begun || ctx->effect_count > 0 ||
                      !pawl_record_equal(record, entry->state, touch->state);
    if (!is_changed)
        return PAWL_OK;
    void *state = pawl_arena_take(ctx->batch->arena, record->size);
    if (state == NULL ||
        pawl_record_copy(record, touch->state, state, ctx->batch->arena) != PAWL_OK)
        return no_memory(ctx);
    entry->state    = state;
    entry->is_dirty = true;
    if (touch->is_begun) {
        entry->exists     = true;
        entry->is_new     = true;
        entry->next_index = 0;
        entry->originator = ctx->unit->message.id;
        if (!pawl__identity_set_id(ctx->batch, entry, touch->id))
            return no_memory(ctx);
    }
    pawl_value kept = *transitional;
    if (kept.type == PAWL_VALUE_TEXT)
        kept.as.text = pawl_arena_text(ctx->batch->arena, kept.as.text);
    if (!pawl__identity_set_transitional(ctx->batch, entry, &kept))
        return no_memory(ctx);
    return keep_timeouts(ctx, entry, touch);
}

/* Source, version and index of an outbox row: what its id is made of (O5). */
static pawl_code keep_dispatch(pawl_context *ctx, pawl__dispatch *dispatch, int32_t index)
{
    pawl_outbox_add *add   = &dispatch->add;
    pawl_arena      *arena = ctx->batch->arena;
    add->index             = index;
    if (dispatch->touch != 0) {
        pawl__touch *touch = &ctx->touches[dispatch->touch - 1];
        pawl__entry *entry = touch->entry;
        char         id[PAWL_UUID_TEXT_SIZE + 1];
        pawl_uuid_format(touch->id.uuid, id);
        bool is_new  = touch->is_begun || entry->is_new;
        add->source  = pawl_arena_printf(arena, "%s/%s", entry->model->saga->name, id);
        add->version = is_new ? 1 : entry->stored.version + 1;
        add->index   = entry->next_index++;
        if (add->source.data == NULL)
            return no_memory(ctx);
    }
    add->dispatch_id = pawl__dispatch_id(add->endpoint, add->source, ctx->unit->message.id,
                                         add->version, add->index);
    if (dispatch->has_id)
        return PAWL_OK;
    char id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(add->dispatch_id.uuid, id);
    add->message.id = pawl_arena_text(arena, (pawl_text){id, PAWL_UUID_TEXT_SIZE});
    return add->message.id.data != NULL ? PAWL_OK : no_memory(ctx);
}

/* Makes room for all effects of the unit before any is kept, so that running
 * out of memory half-way leaves the batch as it was. */
static pawl_code reserve(pawl_context *ctx, void *items, size_t *count, size_t *capacity,
                         size_t more, size_t size, void **reserved)
{
    *reserved = items;
    if (*count + more <= *capacity)
        return PAWL_OK;
    size_t larger = (*count + more) * 2;
    char  *grown  = pawl_arena_take(ctx->batch->arena, larger * size);
    if (grown == NULL)
        return no_memory(ctx);
    if (*count > 0)
        memcpy(grown, items, *count * size);
    *capacity = larger;
    *reserved = grown;
    return PAWL_OK;
}

static pawl_code reserve_effects(pawl_context *ctx)
{
    pawl__effects *all = &ctx->batch->effects;
    void          *sends, *dispatches, *adds;
    pawl_code      code = reserve(ctx, all->sends, &all->send_count, &all->send_capacity,
                                  ctx->effects.send_count, sizeof all->sends[0], &sends);
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

static void keep_effects(pawl_context *ctx)
{
    pawl__batch   *batch = ctx->batch;
    pawl__effects *all   = &batch->effects;
    for (size_t i = 0; i < ctx->effects.send_count; i++) {
        const pawl_queue_send *send   = &ctx->effects.sends[i];
        all->sends[all->send_count++] = *send;
        if (pawl_text_equal(send->queue, batch->engine->model->queue) &&
            send->due < batch->cut_send)
            batch->cut_send = send->due;
    }
    for (size_t i = 0; i < ctx->dispatch_count; i++)
        all->dispatches[all->dispatch_count++] = ctx->dispatches[i].add;
    for (size_t i = 0; i < ctx->effects.add_count; i++) {
        all->adds[all->add_count++] = ctx->effects.adds[i];
        if (ctx->effects.adds[i].due < batch->cut_timeout)
            batch->cut_timeout = ctx->effects.adds[i].due;
    }
}

static pawl_code keep(pawl_context *ctx)
{
    pawl_value *transitional =
        pawl_arena_take(ctx->batch->arena, (ctx->touch_count + 1) * sizeof *transitional);
    pawl_code code = transitional != NULL ? PAWL_OK : no_memory(ctx);
    for (size_t i = 0; i < ctx->touch_count && code == PAWL_OK; i++)
        code = check_correlation(ctx, &ctx->touches[i], &transitional[i]);
    if (code == PAWL_OK)
        code = reserve_effects(ctx);
    ctx->is_keeping = code == PAWL_OK;
    for (size_t i = 0; i < ctx->dispatch_count && code == PAWL_OK; i++)
        code = keep_dispatch(ctx, &ctx->dispatches[i], (int32_t)i);
    for (size_t i = 0; i < ctx->touch_count && code == PAWL_OK; i++)
        code = keep_state(ctx, &ctx->touches[i], &transitional[i]);
    if (code == PAWL_OK)
        keep_effects(ctx);
    return code;
}

/* ---- Running ------------------------------------------------------------------------ */

static pawl_code run_once(pawl_context *ctx)
{
    pawl_code code = run_filters(ctx, true);
    if (code == PAWL_OK)
        code = run_handlers(ctx);
    if (code == PAWL_OK && ctx->unit->end == PAWL__END_NEW)
        code = run_filters(ctx, false);
    if (code == PAWL_OK && ctx->unit->end == PAWL__END_NEW)
        code = run_callbacks(ctx);
    if (code == PAWL_OK && ctx->unit->end == PAWL__END_NEW)
        code = keep(ctx);
    return code;
}

/* Is it worth running the unit again at once, in memory? */
static bool is_worth_again(pawl_code code)
{
    return code == PAWL_RETRY ||
           (code != PAWL_REJECT && code != PAWL_RETRY_AFTER &&
            pawl_code_retry(code) != PAWL_RETRY_NEVER) ||
           code == PAWL_EPERSIST;
}

static void describe(pawl_context *ctx, pawl_code code, pawl_text *text)
{
    if (ctx->error.text[0] == '\0')
        pawl_error_set(&ctx->error, code, "%s", pawl_code_text(code));
    *text = pawl_arena_text(ctx->batch->arena, pawl_text_of(ctx->error.text));
    if (text->data == NULL)
        *text = pawl_text_of(pawl_code_text(code));
}

pawl_code pawl__unit_run(pawl__batch *batch, pawl__unit *unit, pawl_error *error)
{
    pawl_context ctx;
    pawl_code    code = PAWL_OK;
    for (int32_t attempt = 0; attempt <= batch->engine->immediate_retries; attempt++) {
        pawl_arena_reset(batch->engine->scratch);
        pawl__context_init(&ctx, batch, unit);
        code = run_once(&ctx);
        if (code == PAWL_OK || unit->end != PAWL__END_NEW || code == PAWL_DISCARD)
            break;
        batch->counters.failures++;
        if (!is_worth_again(code))
            break;
    }
    if (unit->end != PAWL__END_NEW)
        return PAWL_OK;
    if (code == PAWL_OK || code == PAWL_DISCARD) {
        unit->end = code == PAWL_OK ? PAWL__END_HANDLED : PAWL__END_DISCARDED;
        return PAWL_OK;
    }
    pawl_text text;
    describe(&ctx, code, &text);
    if (ctx.is_keeping || (code == PAWL_ENOMEM && batch->unit_count > 1))
        return pawl_error_set(error, code, "%.*s", PAWL_TEXT_ARGS(text));
    pawl__unit_fail(batch, unit, code, text, ctx.retry_delay);
    return PAWL_OK;
}
