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

#include "base/arena.h"
#include "base/calm.h"
#include "engine/lookup.h"
#include "engine/stream.h"
#include "pawl/process.h"

#include <stdio.h>
#include <string.h>

/* ---- Sagas that the unit uses ------------------------------------------------ */

/* The unit's copy of the saga, if an earlier handler of this unit began, changed or completed the
 * saga; else NULL. */
static pawl__touch *touch_of(const pawl_context *ctx, const pawl__entry *entry)
{
    for (size_t i = 0; i < ctx->touch_count; i++)
        if (ctx->touches[i].entry == entry)
            return &ctx->touches[i];
    return NULL;
}

static pawl__touch *add_touch(pawl_context *ctx, pawl__entry *entry)
{
    pawl__touch *found = touch_of(ctx, entry);
    if (found != NULL) {
        ctx->touch = (size_t)(found - ctx->touches) + 1;
        return found;
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
    if (model->stream != NULL)
        return PAWL_OK; /* a stream's id comes from its name */
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
        return pawl__context_no_memory(ctx);
    if (ctx->touch_count == before) /* an earlier handler of this unit has copied it */
        return PAWL_OK;
    if (entry->broken != PAWL_OK)
        return pawl_fail(ctx, entry->broken, "%.*s", PAWL_TEXT_ARGS(entry->broken_text));
    if (begins)
        return begin_saga(ctx, touch);
    return pawl_record_copy(entry->model->state, entry->state, touch->state, ctx->batch->arena);
}

/* The entry that exists for the lookup, or NULL. Every entry that was looked at, a missing one included, joins the unit's group. */
static pawl__entry *existing_entry(pawl_context *ctx, pawl__lookup *lookup)
{
    pawl__batch *batch = ctx->batch;
    if (lookup->entry != NULL)
        pawl__identity_touch(batch, lookup->entry, ctx->unit);
    if (lookup->entry != NULL && lookup->entry->exists && !pawl__lookup_is_replaced(lookup))
        return lookup->entry;
    pawl__entry *other =
        pawl__identity_find_transitional(batch, lookup->binding->saga, &lookup->transitional);
    if (other != NULL)
        pawl__identity_touch(batch, other, ctx->unit);
    return other != NULL && other->exists ? other : NULL;
}

static pawl_code call_handler(pawl_context *ctx, pawl__lookup *lookup, const pawl_handler *handler)
{
    pawl__touch *touch = pawl__current_touch(ctx);
    ctx->lookup        = lookup;
    pawl_code code     = pawl__call_handler(ctx, handler, lookup->binding->does,
                                        touch != NULL ? touch->state : NULL, lookup->message, 1);
    ctx->lookup        = NULL;
    ctx->touch         = 0;
    bool is_entity =
        touch != NULL && touch->entry->stream != NULL && touch->entry->model->stream->is_entity;
    ctx->is_rejected |= is_entity && code == PAWL_REJECT;
    return code == PAWL_OK && is_entity ? pawl__answer_accepted(ctx) : code;
}

#define VALUES_SIZE (PAWL_VALUE_TEXT_SIZE * 2 + PAWL_NAME_SIZE_MAX + 20)
#define NONE_SIZE (VALUES_SIZE + PAWL_NAME_SIZE_MAX + 40)

/* Writes " for 'o-1'", " for 'o-1' or number '17'" or " for number '17'", where number is the
 * transitional property; the text has an equal value once. */
static void format_values(const pawl__lookup *lookup, char text[VALUES_SIZE])
{
    const char *name                        = lookup->binding->saga->saga->transitional;
    char        value[PAWL_VALUE_TEXT_SIZE] = "", other[PAWL_VALUE_TEXT_SIZE] = "";
    bool        has_value = lookup->value.type != PAWL_VALUE_NONE;
    if (has_value || lookup->transitional.type == PAWL_VALUE_NONE)
        pawl_value_format(&lookup->value, value, sizeof value);
    if (lookup->transitional.type != PAWL_VALUE_NONE)
        pawl_value_format(&lookup->transitional, other, sizeof other);
    bool has_other = other[0] != '\0' && strcmp(value, other) != 0;
    snprintf(text, VALUES_SIZE, " for %s%s%s%s%s", value, has_other && has_value ? " or " : "",
             has_other ? name : "", has_other ? " " : "", has_other ? other : "");
}

/* Writes "no saga OrderSaga for 'o-1'" or "process Order for 'o-1' is over". */
static void format_none(const pawl__lookup *lookup, char text[NONE_SIZE])
{
    const pawl__saga_model *saga    = lookup->binding->saga;
    bool                    is_past = pawl__lookup_is_over(lookup);
    char                    values[VALUES_SIZE];
    format_values(lookup, values);
    snprintf(text, NONE_SIZE, "%s%s %s%s%s", is_past ? "" : "no ", pawl__model_kind(saga),
             saga->saga->name, values, is_past ? " is over" : "");
}

/* Is "no saga" final? Only if neither the queue nor the rest of this batch has an older message. */
static bool is_final(const pawl_context *ctx, const pawl__lookup *lookup)
{
    bool is_nobody = lookup->binding->find == NULL && lookup->value.type == PAWL_VALUE_NONE &&
                     lookup->transitional.type == PAWL_VALUE_NONE;
    return is_nobody || pawl__lookup_is_over(lookup) ||
           (lookup->is_final && !pawl__load_has_older(ctx->batch, ctx->unit) &&
            ctx->batch->engine->machine_now >= ctx->batch->engine->unread_until);
}

/* PAWL_ENOTFOUND: the message waits, the unit's end is set. */
static pawl_code handle_missing(pawl_context *ctx, pawl__lookup *lookup)
{
    const pawl__binding *binding = lookup->binding;
    if (!is_final(ctx, lookup) && !pawl__unit_wait(ctx->batch, ctx->unit))
        return PAWL_ENOTFOUND;
    if (!pawl__lookup_is_over(lookup) && pawl__starter_wait(ctx->batch, ctx->unit, lookup))
        return PAWL_ENOTFOUND;
    char none[NONE_SIZE];
    format_none(lookup, none);
    ctx->unit->not_found++;
    switch (binding->not_found) {
    case PAWL_NOT_FOUND_CALL: return call_handler(ctx, lookup, binding->missing);
    case PAWL_NOT_FOUND_DEAD:
        return pawl_fail(ctx, PAWL_REJECT, "message %s: %s", pawl_record_type(binding->message),
                         none);
    case PAWL_NOT_FOUND_DROP: break;
    }
    pawl_log(PAWL_LOG_WARNING, "message %.*s of type %s dropped: %s",
             PAWL_TEXT_ARGS(ctx->unit->message.id), pawl_record_type(binding->message), none);
    return PAWL_OK;
}

/* PAWL_ENOTFOUND: another worker has the saga; the unit's end is set. */
static pawl_code take_found(pawl_context *ctx, pawl__entry *entry)
{
    if (entry->is_busy) {
        pawl__unit_put_back(ctx->unit);
        return PAWL_ENOTFOUND;
    }
    pawl__identity_touch(ctx->batch, entry, ctx->unit);
    return PAWL_OK;
}

/* Calls a custom finder, which returns the saga's id, or none: then a message that starts sagas begins one (E30).
 * PAWL_ENOTFOUND: another worker has the saga; the unit's end is set. */
static pawl_code find_by_handler(pawl_context *ctx, pawl__lookup *lookup, pawl__entry **entry)
{
    pawl_saga_id id = {{{0}}};
    ctx->lookup     = lookup;
    if (!pawl__call_begin(ctx, "finder of", lookup->binding->saga->saga->name))
        return PAWL_EFENCED;
    pawl_code code = pawl__call_end(ctx, lookup->binding->find(ctx, lookup->message, &id));
    ctx->lookup    = NULL;
    if (code != PAWL_OK || pawl_uuid_is_zero(id.uuid))
        return code;
    code = pawl__identity_load_id(ctx->batch, lookup->binding->saga, id, entry, &ctx->error);
    if (code != PAWL_OK || *entry == NULL)
        return code;
    pawl__busy_sagas_mark(ctx->batch, PAWL__BY_ID);
    return take_found(ctx, *entry);
}

/* Calls the finder again after a "no saga" once the queue shows no older message: only the second answer is final. */
static pawl_code find_surely(pawl_context *ctx, pawl__lookup *lookup, pawl__entry **entry)
{
    pawl_code code = find_by_handler(ctx, lookup, entry);
    if (code != PAWL_OK || *entry != NULL || lookup->binding->starts)
        return code;
    code = pawl__load_is_oldest(ctx->batch, ctx->unit, &lookup->is_final, &ctx->error);
    return code == PAWL_OK && lookup->is_final ? find_by_handler(ctx, lookup, entry) : code;
}

/* The entry of a saga to begin. Without an id from the finder the message's value may still find a saga. */
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
    if (binding->saga->saga->correlation != NULL && pawl_value_is_default(&main))
        return pawl_fail(ctx, PAWL_EINVAL,
                         "message %s for saga %s: property '%s' has no value; a saga "
                         "cannot be started by it",
                         pawl_record_type(binding->message), binding->saga->saga->name,
                         binding->key);
    *entry = pawl__identity_get(ctx->batch, binding->saga, &main);
    if (*entry == NULL)
        return pawl__context_no_memory(ctx);
    pawl__busy_sagas_mark(ctx->batch, PAWL__BY_MAIN);
    pawl_code code = pawl__identity_load_main(ctx->batch, *entry, &ctx->error);
    return code == PAWL_OK ? take_found(ctx, *entry) : code;
}

static pawl_code run_saga(pawl_context *ctx, pawl__lookup *lookup)
{
    pawl__entry *entry = NULL;
    pawl_code    code  = PAWL_OK;
    if (lookup->binding->find != NULL)
        code = find_surely(ctx, lookup, &entry);
    else
        entry = existing_entry(ctx, lookup);
    if (code != PAWL_OK)
        return code;
    const pawl__touch *touched = touch_of(ctx, entry != NULL ? entry : lookup->entry);
    if (touched != NULL && touched->is_completed)
        return PAWL_OK; /* an earlier handler of this message completed it */
    const pawl__entry *own =
        lookup->entry != NULL && lookup->entry->stream != NULL ? lookup->entry : NULL;
    /* Before is_over: a completed process, too, knows the commands that it handled. */
    if (own != NULL && pawl__stream_knows(ctx, own))
        return own->model->stream->is_entity ? pawl__answer_accepted(ctx) : PAWL_OK;
    bool begins = entry == NULL && touched == NULL;
    if (begins && (!lookup->binding->starts || pawl__lookup_is_over(lookup)))
        return handle_missing(ctx, lookup);
    if (entry == NULL)
        code = find_missing_entry(ctx, lookup, &entry);
    if (code == PAWL_OK)
        code = open_saga(ctx, entry, begins && !entry->exists);
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

/* A timeout whose saga is gone is dropped without a trace (E14). A timeout of a process without the name of that
 * process becomes a dead letter, since the process may wait for it. */
static pawl_code run_timeout(pawl_context *ctx)
{
    pawl__unit             *unit  = ctx->unit;
    pawl__batch            *batch = ctx->batch;
    const pawl__saga_model *saga  = pawl__model_saga(batch->engine->model, unit->timeout.saga_type);
    const pawl__binding    *binding =
        pawl__model_timeout(batch->engine->model, unit->timeout.saga_type, unit->timeout.name);
    if (saga == NULL || binding == NULL)
        return pawl_fail(ctx, PAWL_EDECODE, "no handler for timeout '%.*s' of saga %.*s",
                         PAWL_TEXT_ARGS(unit->timeout.name),
                         PAWL_TEXT_ARGS(unit->timeout.saga_type));
    pawl__entry *entry = unit->entry;
    if (entry == NULL && saga->stream != NULL)
        return pawl_fail(ctx, PAWL_REJECT,
                         "timeout '%.*s': its header " PAWL_HEADER_PROCESS " names no process %.*s",
                         PAWL_TEXT_ARGS(unit->timeout.name), PAWL_TEXT_ARGS(saga->table.type));
    if (entry == NULL)
        return PAWL_OK;
    pawl__identity_touch(batch, entry, unit);
    if (!entry->exists || pawl_uuid_compare(entry->id.uuid, unit->timeout.saga_id.uuid) != 0)
        return PAWL_OK;
    if (PAWL__ROW_OF(pawl__timeout_op, name, entry->timeouts.items, entry->timeouts.count,
                     unit->timeout.name) != NULL) {
        unit->end = PAWL__END_SUPERSEDED;
        return PAWL_OK;
    }
    pawl__lookup lookup = {.binding = binding, .entry = entry};
    pawl_code    code   = open_saga(ctx, entry, false);
    return code == PAWL_OK ? call_handler(ctx, &lookup, binding->handler) : code;
}

/* Filters see messages, timeouts and flushes only: an event, a timeout whose destination is
 * foreign or a schedule is never discarded by a filter. */
static pawl_code run_filters(pawl_context *ctx, bool is_before)
{
    const pawl__model *model = ctx->batch->engine->model;
    if (ctx->unit->kind == PAWL__UNIT_EVENT || ctx->unit->kind == PAWL__UNIT_FORWARD ||
        ctx->unit->kind == PAWL__UNIT_SCHEDULE)
        return PAWL_OK;
    for (size_t i = 0; i < model->filter_count; i++) {
        const pawl_filter *filter = &model->filters[i];
        pawl_filter_fn    *call   = is_before ? filter->before : filter->after;
        if (call == NULL)
            continue;
        if (!pawl__call_begin(ctx, is_before ? "a filter before" : "a filter after", "handlers"))
            return PAWL_EFENCED;
        pawl_code code = pawl__call_end(ctx, call(ctx, &ctx->unit->message, filter->context));
        if (code != PAWL_OK)
            return code;
    }
    return PAWL_OK;
}

static pawl_code run_handlers(pawl_context *ctx)
{
    switch (ctx->unit->kind) {
    case PAWL__UNIT_MESSAGE: return run_message(ctx);
    case PAWL__UNIT_TIMEOUT: return run_timeout(ctx);
    case PAWL__UNIT_FLUSH: return pawl__context_flush(ctx);
    case PAWL__UNIT_EVENT: return pawl__event_run(ctx);
    case PAWL__UNIT_FORWARD: return pawl__forward_run(ctx);
    case PAWL__UNIT_SCHEDULE: return pawl__schedule_run(ctx);
    }
    return PAWL_EBUG;
}

static pawl_code run_callbacks(pawl_context *ctx)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < ctx->callback_count && code == PAWL_OK; i++) {
        if (!pawl__call_begin(ctx, "a callback before the commit", NULL))
            return PAWL_EFENCED;
        code = pawl__call_end(ctx, ctx->callbacks[i].call(ctx, ctx->callbacks[i].data));
    }
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
        code = pawl__unit_keep(ctx);
    return code;
}

/* Was the engine out of memory? Then the batch is tried again with fewer units, and the unit fails only if it was
 * the only one. PAWL_ENOMEM returned by the application is a failure of its unit. */
static bool is_engine_out_of_memory(const pawl_context *ctx, pawl_code code)
{
    return code == PAWL_ENOMEM &&
           (!ctx->is_answer || pawl__arena_is_short(ctx->batch->engine->scratch) ||
            pawl__arena_is_short(ctx->batch->arena));
}

static void describe(pawl_context *ctx, pawl_code code, pawl_text *text)
{
    if (ctx->error.text[0] == '\0')
        pawl_error_set(&ctx->error, code, "%s", pawl_code_text(code));
    /* The application may have set any bytes, and the text goes into rows and answers. */
    pawl__make_utf8(ctx->error.text, strlen(ctx->error.text));
    *text = pawl_arena_text(ctx->batch->arena, pawl_text_of(ctx->error.text));
    if (text->data == NULL)
        *text = pawl_text_of(pawl_code_text(code));
}

/* Does the failure spoil the batch? Yes if half of the unit is kept already, or if memory is too short for
 * so many units. */
static bool is_of_batch(const pawl_context *ctx, pawl_code code)
{
    return code != PAWL_OK &&
           (ctx->is_keeping || (is_engine_out_of_memory(ctx, code) && ctx->batch->unit_count > 1));
}

static pawl_code fail_batch(pawl_context *ctx, pawl_code code, pawl_error *error)
{
    pawl_text text;
    describe(ctx, code, &text);
    return pawl_error_set(error, code, "%.*s", PAWL_TEXT_ARGS(text));
}

/* Ends a command that an entity rejected, with a reason or without. A process that asked for the
 * answer is told, and the command is done; PAWL_REJECT: no process asked. */
static pawl_code reject(pawl_context *ctx, pawl_text text, bool has_reason, bool *is_answered)
{
    pawl__batch    *batch  = ctx->batch;
    pawl__unit     *unit   = ctx->unit;
    const pawl_text reason = has_reason ? text : (pawl_text){.data = "", .size = 0};
    pawl__context_init(ctx, batch, unit);
    pawl_code code = pawl__answer_rejected(ctx, reason, is_answered);
    if (code != PAWL_OK)
        return code;
    if (!*is_answered)
        return pawl_fail(ctx, PAWL_REJECT, "%.*s", PAWL_TEXT_ARGS(text));
    code = pawl__unit_keep(ctx);
    if (code == PAWL_OK)
        unit->end = PAWL__END_DISCARDED;
    return code;
}

/* The result of running a unit. */
typedef enum outcome {
    OUTCOME_HANDLED,
    OUTCOME_DISCARDED,
    OUTCOME_ENDED,    /* unit->end is set already */
    OUTCOME_FAILED,   /* failed with the code, and no more runs in memory are left */
    OUTCOME_SPOILT,   /* the batch cannot go on */
    OUTCOME_GIVEN_UP, /* the watchdog gave the worker up: nothing more may be written */
} outcome;

static outcome outcome_of(const pawl_context *ctx, pawl_code code)
{
    if (ctx->batch->is_given_up)
        return OUTCOME_GIVEN_UP;
    if (ctx->unit->end != PAWL__END_NEW)
        return OUTCOME_ENDED;
    if (code == PAWL_OK || code == PAWL_DISCARD)
        return code == PAWL_OK ? OUTCOME_HANDLED : OUTCOME_DISCARDED;
    return is_of_batch(ctx, code) ? OUTCOME_SPOILT : OUTCOME_FAILED;
}

/* How often the unit may run again at once; never when a process is to be told of a rejection. */
static int32_t immediate_limit(const pawl_context *ctx, pawl_code code)
{
    return code == PAWL_REJECT && ctx->is_rejected
               ? 0
               : pawl__unit_runs_again(ctx->batch->engine, ctx->unit, code);
}

/* Have the runs used half of the claim's duration? Then another run could outlive the claim. */
static bool is_late(const pawl__engine *engine, int64_t begin)
{
    return engine->watch(engine->runtime) - begin >= engine->handler_time_max / 2;
}

/* Runs the unit once, and again while immediate retries are left for its failure. */
static outcome run_attempts(pawl_context *ctx, pawl__batch *batch, pawl__unit *unit,
                            pawl_code *code)
{
    int64_t begin = batch->engine->watch(batch->engine->runtime);
    for (int32_t attempt = 0;; attempt++) {
        pawl_arena_reset(batch->engine->scratch);
        pawl__context_init(ctx, batch, unit);
        unit->not_found = 0;
        *code           = run_once(ctx);
        outcome came_to = outcome_of(ctx, *code);
        if (came_to != OUTCOME_FAILED)
            return came_to;
        batch->counters.failures +=
            *code != PAWL_EVERSION && (*code != PAWL_REJECT || !ctx->is_rejected);
        if (batch->has_sql || attempt >= immediate_limit(ctx, *code) ||
            is_late(batch->engine, begin))
            return OUTCOME_FAILED;
        if (batch->engine->is_stopping(batch->engine->runtime))
            return pawl__unit_release(unit) ? OUTCOME_ENDED : OUTCOME_FAILED;
        pawl_text why;
        describe(ctx, *code, &why);
        pawl__unit_note(batch, unit, *code, why);
    }
}

/* Ends the unit with its failure, unless the process that asked is told of it, or a handler with
 * own SQL is worth another run in a transaction of its own. */
static outcome end_failed(pawl_context *ctx, pawl__unit *unit, pawl_code *code)
{
    pawl__batch *batch      = ctx->batch;
    bool         has_reason = ctx->error.text[0] != '\0';
    pawl_text    text;
    describe(ctx, *code, &text);
    if (*code == PAWL_REJECT && ctx->is_rejected) {
        bool is_answered = false;
        *code            = reject(ctx, text, has_reason, &is_answered);
        if (is_answered && *code == PAWL_OK)
            return OUTCOME_ENDED;
        if (is_of_batch(ctx, *code))
            return OUTCOME_SPOILT;
        describe(ctx, *code, &text);
    }
    if (batch->has_sql && unit->kind != PAWL__UNIT_EVENT &&
        unit->runs < immediate_limit(ctx, *code)) {
        if (batch->engine->is_stopping(batch->engine->runtime) && pawl__unit_release(unit))
            return OUTCOME_ENDED;
        pawl__unit_note(batch, unit, *code, text);
        unit->end = PAWL__END_RERUN;
        unit->runs++;
    } else {
        pawl__unit_fail(batch, unit, *code, text, ctx->retry_delay);
    }
    return OUTCOME_ENDED;
}

/* Fails a unit whose claim ended during an earlier run, instead of running it again. */
static bool fail_outlived(pawl__batch *batch, pawl__unit *unit)
{
    pawl_context ctx      = {.batch = batch, .error = PAWL_ERROR_INIT};
    bool      is_outlived = batch->engine->has_outlived(batch->engine->runtime, unit, &ctx.error);
    pawl_text text;
    if (is_outlived) {
        describe(&ctx, ctx.error.code, &text);
        batch->counters.failures++;
        pawl__unit_fail(batch, unit, ctx.error.code, text, -1);
    }
    return is_outlived;
}

static int64_t note_begin(const pawl__engine *engine, pawl__unit *unit)
{
    if (engine->audit != NULL)
        unit->started = engine->machine(engine->runtime);
    return engine->clock(engine->runtime);
}

pawl_code pawl__unit_run(pawl__batch *batch, pawl__unit *unit, pawl_error *error)
{
    pawl_context ctx;
    pawl_code    code = PAWL_OK;
    if (unit->is_expired) {
        unit->end = PAWL__END_DISCARDED;
        return PAWL_OK;
    }
    if (fail_outlived(batch, unit))
        return PAWL_OK;
    bool    is_timed = batch->engine->is_timed;
    int64_t begin    = is_timed ? note_begin(batch->engine, unit) : 0;
    outcome came_to  = run_attempts(&ctx, batch, unit, &code);
    if (is_timed)
        unit->duration = batch->engine->clock(batch->engine->runtime) - begin;
    if (came_to == OUTCOME_FAILED)
        came_to = end_failed(&ctx, unit, &code);
    switch (came_to) {
    case OUTCOME_HANDLED: unit->end = PAWL__END_HANDLED; break;
    case OUTCOME_DISCARDED: unit->end = PAWL__END_DISCARDED; break;
    case OUTCOME_SPOILT: return fail_batch(&ctx, code, error);
    case OUTCOME_GIVEN_UP:
        return pawl_error_set(error, PAWL_EFENCED, "message %.*s was abandoned by stopping",
                              PAWL_TEXT_ARGS(unit->message.id));
    case OUTCOME_ENDED:
    case OUTCOME_FAILED: break;
    }
    return PAWL_OK;
}
