/* line.c - makes the lines of table history for each unit, if the endpoint keeps history.
 *
 *     commits that were refused   one line, before the others
 *     runs that failed            one line for each run with an immediate retry after it
 *     the end                     one line for each saga that the handlers touched or looked for;
 *                                 without such a saga one line without a saga
 *
 * A line lists the sent messages as JSON, by id and type, without bodies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include <string.h>

/* ---- What leaves ---------------------------------------------------------------- */

/* Writes JSON into a buffer that is large enough. A first pass without buffer only counts the bytes. */
typedef struct writer {
    char  *text;
    size_t size;
} writer;

static void put_char(writer *w, char c)
{
    if (w->text != NULL)
        w->text[w->size] = c;
    w->size++;
}

static void put(writer *w, const char *text)
{
    for (; *text != '\0'; text++)
        put_char(w, *text);
}

static void put_quoted(writer *w, pawl_text text)
{
    static const char digits[] = "0123456789abcdef";
    put_char(w, '"');
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '"' || c == '\\')
            put_char(w, '\\');
        if (c >= ' ') {
            put_char(w, (char)c);
            continue;
        }
        put(w, "\\u00");
        put_char(w, digits[c >> 4]);
        put_char(w, digits[c & 15]);
    }
    put_char(w, '"');
}

/* `"name":[` for the first item of a list, a comma for the others. */
static void put_item(writer *w, const char *name, size_t *count)
{
    if (*count == 0)
        put(w, w->size > 1 ? ",\"" : "\"");
    if (*count == 0)
        put(w, name);
    put(w, *count == 0 ? "\":[" : ",");
    ++*count;
}

static void put_send(writer *w, const pawl_message *message, pawl_text to, size_t *count)
{
    put_item(w, "sends", count);
    put(w, "{\"id\":");
    put_quoted(w, message->id);
    put(w, ",\"type\":");
    put_quoted(w, message->type);
    put(w, ",\"to\":");
    put_quoted(w, to);
    put(w, "}");
}

static void put_end(writer *w, size_t count)
{
    if (count > 0)
        put_char(w, ']');
}

/* Sends without a saga, or of an unknown one, are listed in the first line. */
static void put_sends(writer *w, const pawl_context *ctx, size_t touch)
{
    size_t count = 0;
    for (size_t i = 0; i < ctx->effects.send_count && touch <= 1; i++)
        put_send(w, &ctx->effects.sends[i].message, ctx->effects.sends[i].queue, &count);
    for (size_t i = 0; i < ctx->dispatch_count; i++) {
        const pawl__dispatch *dispatch = &ctx->dispatches[i];
        if (dispatch->touch == touch || (dispatch->touch == 0 && touch <= 1))
            put_send(w, &dispatch->add.message, dispatch->add.destination, &count);
    }
    for (size_t i = 0; i < ctx->effects.add_count && touch <= 1; i++)
        put_send(w, &ctx->effects.adds[i].message, ctx->effects.adds[i].partition, &count);
    put_end(w, count);
}

static void put_events(writer *w, const pawl__touch *touch)
{
    size_t count = 0;
    for (size_t i = 0; i < touch->event_count; i++) {
        put_item(w, "events", &count);
        put_quoted(w, touch->events[i].type);
    }
    put_end(w, count);
}

static void put_timeouts(writer *w, const pawl__touch *touch, bool is_cancel)
{
    size_t count = 0;
    for (size_t i = 0; i < touch->timeouts.count; i++) {
        const pawl__timeout_op *op = &touch->timeouts.items[i];
        char                    due[PAWL_TIME_TEXT_SIZE + 1];
        if (op->is_cancel != is_cancel)
            continue;
        put_item(w, is_cancel ? "cancelled" : "timeouts", &count);
        if (is_cancel) {
            put_quoted(w, op->name);
            continue;
        }
        pawl_time_format(op->due, due);
        put(w, "{\"name\":");
        put_quoted(w, op->name);
        put(w, ",\"due\":\"");
        put(w, due);
        put(w, "\"}");
    }
    put_end(w, count);
}

static void put_sent(writer *w, const pawl_context *ctx, size_t touch)
{
    put_char(w, '{');
    put_sends(w, ctx, touch);
    if (touch != 0) {
        const pawl__touch *of = &ctx->touches[touch - 1];
        put_events(w, of);
        put_timeouts(w, of, false);
        put_timeouts(w, of, true);
        if (of->is_completed)
            put(w, w->size > 1 ? ",\"completed\":true" : "\"completed\":true");
    }
    put_char(w, '}');
}

/* Empty if nothing was sent. */
static pawl_code make_sent(pawl_context *ctx, size_t touch, pawl_text *out)
{
    writer count = {.size = 0}, w = {.size = 0};
    *out = (pawl_text){.data = "", .size = 0};
    put_sent(&count, ctx, touch);
    if (count.size <= strlen("{}"))
        return PAWL_OK;
    w.text = pawl_arena_take(ctx->batch->arena, count.size);
    if (w.text == NULL)
        return pawl__context_no_memory(ctx);
    put_sent(&w, ctx, touch);
    *out = (pawl_text){.data = w.text, .size = w.size};
    return PAWL_OK;
}

/* ---- Sagas -------------------------------------------------------------------- */

/* The version that the batch gives the saga, whichever of its units wrote it last. */
static int64_t version_of(const pawl__touch *touch)
{
    const pawl__entry *entry = touch->entry;
    if (entry->stream != NULL)
        return entry->stream->version;
    return entry->is_new ? 1
                         : entry->stored.version + (entry->is_dirty || touch->is_completed ? 1 : 0);
}

static pawl_code keep_line(pawl_context *ctx, size_t touch, pawl__line *line)
{
    if (touch != 0) {
        const pawl__touch *of = &ctx->touches[touch - 1];
        line->source          = of->entry->stream != NULL
                                    ? of->entry->stream->text
                                    : pawl__saga_source(ctx->batch->arena, of->entry->model, of->id);
        line->version         = version_of(of);
    } else if (ctx->unit->kind == PAWL__UNIT_EVENT) {
        line->source = ctx->unit->projection->source;
    }
    if (touch != 0 && line->source.data == NULL)
        return pawl__context_no_memory(ctx);
    return make_sent(ctx, touch, &line->out);
}

pawl_code pawl__lines_keep(pawl_context *ctx)
{
    size_t      count = ctx->touch_count > 0 ? ctx->touch_count : 1;
    pawl__line *lines = pawl_arena_take(ctx->batch->arena, count * sizeof *lines);
    pawl_code   code  = lines != NULL ? PAWL_OK : pawl__context_no_memory(ctx);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        code = keep_line(ctx, ctx->touch_count > 0 ? i + 1 : 0, &lines[i]);
    if (code == PAWL_OK) {
        ctx->unit->lines      = lines;
        ctx->unit->line_count = count;
    }
    return code;
}

/* ---- The change set ---------------------------------------------------------------- */

size_t pawl__lines_room(const pawl__batch *batch)
{
    size_t room = 0;
    for (size_t i = 0; i < batch->unit_count; i++) {
        const pawl__unit *unit = &batch->units[i];
        room += 2 + unit->line_count + unit->lookup_count + unit->attempt_count;
    }
    return room;
}

/* The outcome word for the unit's end. NULL: no line, as nothing ran, or another batch will write it. */
static const char *outcome_of(const pawl__unit *unit)
{
    switch (unit->end) {
    case PAWL__END_HANDLED: return unit->not_found > 0 ? "ignored" : "handled";
    case PAWL__END_DUPLICATE: return "duplicate";
    case PAWL__END_DISCARDED: return "discarded";
    case PAWL__END_RETRY: return "retry";
    case PAWL__END_DEAD: return "dead";
    /* Only the first wait is logged: a waiting message looks for its saga many times. */
    case PAWL__END_WAIT: return unit->row.waiting_since == 0 ? "wait" : NULL;
    case PAWL__END_NEW:
    case PAWL__END_SUPERSEDED:
    case PAWL__END_UNREAD:
    case PAWL__END_SAGA_BUSY:
    case PAWL__END_HELD:
    case PAWL__END_RELEASED:
    case PAWL__END_RERUN: return NULL;
    }
    return NULL;
}

static const char *kind_of(const pawl__unit *unit)
{
    switch (unit->kind) {
    case PAWL__UNIT_MESSAGE: return "message";
    case PAWL__UNIT_TIMEOUT: return "timeout";
    case PAWL__UNIT_FLUSH: return "flush";
    case PAWL__UNIT_EVENT: return "event";
    case PAWL__UNIT_FORWARD: return "forward";
    case PAWL__UNIT_SCHEDULE: return "schedule";
    }
    return "message";
}

static pawl_text cut(pawl_text text)
{
    if (text.size > PAWL_ERROR_TEXT_SIZE_MAX)
        text.size = PAWL_ERROR_TEXT_SIZE_MAX;
    return text.data != NULL ? text : (pawl_text){.data = "", .size = 0};
}

static pawl_history_add *put_line(pawl__batch *batch, const pawl__unit *unit, uint32_t group,
                                  const char *outcome)
{
    pawl_history_add *add = &batch->changes.history_add.items[batch->changes.history_add.count++];
    *add =
        (pawl_history_add){.unit  = unit->index,
                           .group = group,
                           .entry = {.endpoint   = batch->engine->model->endpoint,
                                     .message_id = unit->message.id,
                                     .type = unit->kind == PAWL__UNIT_FLUSH ? unit->flush.partition
                                                                            : unit->message.type,
                                     .kind = pawl_text_of(kind_of(unit)),
                                     .outcome  = pawl_text_of(outcome),
                                     .attempts = pawl__unit_attempts(unit),
                                     .at       = batch->engine->machine_now}};
    return add;
}

/* The saga that a lookup of the unit found, or that its timeout is of; empty: none. */
static pawl_text source_of_entry(pawl__batch *batch, const pawl__entry *entry)
{
    if (entry == NULL || (entry->stream == NULL && !entry->exists))
        return (pawl_text){.data = "", .size = 0};
    return entry->stream != NULL ? entry->stream->text
                                 : pawl__saga_source(batch->arena, entry->model, entry->id);
}

static int64_t version_of_entry(const pawl__entry *entry)
{
    if (entry == NULL)
        return 0;
    return entry->stream != NULL ? entry->stream->version : entry->stored.version;
}

/* The end of a unit that did not succeed: one line for each saga that it looked for. Texts are left out
 * if memory is short. */
static void put_ended(pawl__batch *batch, const pawl__unit *unit, uint32_t group,
                      const char *outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < unit->lookup_count + 1; i++) {
        const pawl__entry *entry  = i < unit->lookup_count ? unit->lookups[i].entry : unit->entry;
        pawl_text          source = source_of_entry(batch, entry);
        if (source.size == 0 && (count > 0 || i < unit->lookup_count))
            continue;
        pawl_history_add *add = put_line(batch, unit, group, outcome);
        add->entry.source     = source;
        add->entry.version    = source.size != 0 ? version_of_entry(entry) : 0;
        add->entry.duration   = unit->duration;
        add->entry.error      = unit->code != PAWL_OK ? cut(unit->error) : add->entry.error;
        count++;
    }
}

static void put_kept(pawl__batch *batch, const pawl__unit *unit, uint32_t group,
                     const char *outcome)
{
    for (size_t i = 0; i < unit->line_count; i++) {
        pawl_history_add *add = put_line(batch, unit, group, outcome);
        add->entry.source     = unit->lines[i].source;
        add->entry.version    = unit->lines[i].version;
        add->entry.out        = unit->lines[i].out;
        add->entry.duration   = unit->duration;
    }
}

/* The lines before the end. */
static void put_failed(pawl__batch *batch, const pawl__unit *unit, uint32_t group)
{
    /* The last attempt is left out: the line of the end reports it. */
    bool   is_noted = unit->code != PAWL_OK && unit->kind != PAWL__UNIT_EVENT;
    size_t count    = unit->attempt_count;
    count -= is_noted && count > 0 && unit->end != PAWL__END_HANDLED ? 1 : 0;
    if (unit->conflicts > 0) {
        pawl_history_add *add = put_line(batch, unit, group, "conflict");
        add->entry.attempts   = unit->conflicts;
    }
    for (size_t i = 0; i < count; i++) {
        pawl_history_add *add = put_line(batch, unit, group, "failed");
        add->entry.error      = cut(unit->attempts[i].error);
        add->entry.at         = unit->attempts[i].at;
    }
}

void pawl__lines_put(pawl__batch *batch, const pawl__unit *unit, uint32_t group)
{
    const char *outcome = outcome_of(unit);
    bool        is_kept =
        unit->line_count > 0 && (unit->end == PAWL__END_HANDLED ||
                                 (unit->end == PAWL__END_DISCARDED && unit->code == PAWL_OK));
    if (outcome == NULL)
        return;
    /* A saga that took the message was not missed by all. */
    if (unit->end == PAWL__END_HANDLED && is_kept && unit->lines[0].source.size != 0)
        outcome = "handled";
    size_t before = batch->changes.history_add.count;
    put_failed(batch, unit, group);
    size_t first = batch->changes.history_add.count;
    if (is_kept)
        put_kept(batch, unit, group, outcome);
    else
        put_ended(batch, unit, group, outcome);
    /* The lines before it are of the same saga, the first where there are several. */
    pawl_history_add *items = batch->changes.history_add.items;
    for (size_t i = before; i < first; i++)
        items[i].entry.source = items[first].entry.source;
}
