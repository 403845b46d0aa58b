/* stream.c - loads streams, computes their states from events, and records what handlers emit.
 *
 * An emitted event is encoded, decoded and applied at once: a handler sees the same state that a later
 * load will compute, and an event that cannot be read again fails the message that emitted it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/stream.h"

#include "pawl/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Folding ---------------------------------------------------------------- */

/* Ids to remember so that every duplicate within `retention` is recognised; 0: too many. */
static size_t count_to_remember(size_t remembered, int64_t reach, int64_t retention)
{
    double count = reach > 0 ? (double)remembered * (double)retention / (double)reach + 1 : 0;
    return count <= PAWL_DISPATCHES_REMEMBERED_MAX ? (size_t)count : 0;
}

/* Warns that dispatch ids are forgotten while duplicates may still come. Only if deduplication records
 * are deleted earlier than outbox rows; otherwise the inbox drops the duplicates. */
static void warn(pawl__batch *batch, const pawl__entry *entry, const pawl__recent_item *gone)
{
    pawl__engine *engine   = batch->engine;
    size_t        count    = entry->model->stream->remembered;
    int64_t       reach    = engine->business_now - gone->at;
    char          more[80] = "";
    if (gone->at == 0 || engine->has_warned_recent || reach >= engine->dispatch_retention)
        return;
    engine->has_warned_recent = true;
    size_t needed             = count_to_remember(count, reach, engine->dispatch_retention);
    if (needed != 0)
        snprintf(more, sizeof more, ", or .dispatches_remembered to %zu", needed);
    pawl_log(
        PAWL_LOG_WARNING,
        "%s: the %zu dispatch ids that it remembers reach back %lld s; the outbox may send a "
        "copy for %lld s, and one that comes when the inbox has forgotten it is handled again: "
        "raise inbox_retention to outbox_retention%s",
        entry->stream->text.data, count, (long long)(reach / PAWL_SECONDS(1)),
        (long long)(engine->dispatch_retention / PAWL_SECONDS(1)), more);
}

static pawl_code remember(pawl__batch *batch, pawl__entry *entry, const pawl_event *event)
{
    pawl__recent_item gone;
    if (pawl_uuid_is_zero(event->dispatch_id.uuid))
        return PAWL_OK;
    pawl_code code = pawl__recent_add(&entry->stream->recent, event->dispatch_id.uuid, event->at,
                                      batch->arena, &gone);
    if (code == PAWL_OK && gone.at != 0)
        warn(batch, entry, &gone);
    return code;
}

static pawl_code fold_events(pawl__batch *batch, pawl__entry *entry, const pawl_stream *loaded,
                             void *state, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < loaded->count && code == PAWL_OK; i++) {
        const pawl_event *event = &loaded->events[i].event;
        code = pawl__stream_apply(entry->model->stream, event, state, batch->arena, error);
        if (code == PAWL_OK)
            code = remember(batch, entry, event);
        else if (code != PAWL_ENOMEM)
            pawl_error_wrap(error, code, "%s: version %lld", entry->stream->text.data,
                            (long long)loaded->events[i].version);
        entry->stream->is_completed |=
            pawl_text_equal(event->type, PAWL_TEXT(PAWL__EVENT_COMPLETED));
    }
    return code;
}

/* `last` is the version of the stream's last event. */
static pawl_code fold_stored(pawl__batch *batch, pawl__entry *entry,
                             const pawl_stream_snapshot_row *snapshot, int64_t last, void *state,
                             pawl_error *error)
{
    const pawl_record *record = entry->model->state;
    pawl_text          json   = snapshot->state;
    pawl_code          code   = PAWL_OK;
    if (snapshot->version > last)
        return pawl_error_set(error, PAWL_EDECODE,
                              "the snapshot is of version %lld, the last is %lld",
                              (long long)snapshot->version, (long long)last);
    if (snapshot->type_version != pawl_record_version(record))
        code = pawl_record_upcast(record, snapshot->type_version, json, batch->arena, &json, error);
    if (code == PAWL_OK)
        code = pawl_record_decode(record, json, PAWL_DECODE_KEEP_EXTRA, batch->arena, state, error);
    if (code == PAWL_OK)
        code = pawl__recent_read(&entry->stream->recent, snapshot->dispatches, batch->arena);
    if (code == PAWL_OK)
        entry->stream->fold_version = snapshot->version;
    return code;
}

static pawl_code fill(pawl__batch *batch, pawl__entry *entry, const pawl_stream *loaded,
                      pawl_error *error)
{
    pawl__stream_entry *stream = entry->stream;
    void               *state  = pawl_arena_take(batch->arena, entry->model->state->size);
    pawl_error          broken = PAWL_ERROR_INIT;
    if (state == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the state of %s",
                              stream->text.data);
    stream->is_completed = false;
    stream->fold_version = 0;
    entry->broken        = PAWL_OK;
    pawl__recent_clear(&stream->recent);
    if (loaded->snapshot.version > 0)
        entry->broken =
            fold_stored(batch, entry, &loaded->snapshot, loaded->version, state, &broken);
    stream->is_fold_bad = entry->broken != PAWL_OK;
    if (entry->broken == PAWL_OK)
        entry->broken = fold_events(batch, entry, loaded, state, &broken);
    if (entry->broken == PAWL_ENOMEM)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the state of %s",
                              stream->text.data);
    if (entry->broken != PAWL_OK) {
        /* Another program version may read the event, so every code becomes one with retries before the dead letter.
         * An event of a newer record version waits for a program that reads it. */
        if (entry->broken != PAWL_EVERSION)
            entry->broken = PAWL_ECONFIG;
        entry->broken_text = pawl_arena_text(batch->arena, pawl_text_of(broken.text));
        memset(state, 0, entry->model->state->size);
    }
    entry->is_loaded       = true;
    entry->state           = state;
    entry->stored.presence = loaded->version > 0 ? PAWL_SAGA_THERE : PAWL_SAGA_MISSING;
    entry->stored.version = stream->version = loaded->version;
    entry->exists                           = loaded->version > 0 && !stream->is_completed;
    return PAWL_OK;
}

/* ---- Loading ------------------------------------------------------------------ */

static pawl_code read_streams(pawl__batch *batch, pawl__entry *const *entries, size_t count,
                              bool with_folds, pawl_error *error)
{
    pawl_store       *store   = batch->engine->store;
    pawl_stream_read *reads   = pawl_arena_take(batch->arena, count * sizeof *reads);
    pawl_stream      *streams = pawl_arena_take(batch->arena, count * sizeof *streams);
    if (reads == NULL || streams == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for %zu streams", count);
    for (size_t i = 0; i < count; i++) {
        int version = pawl_record_version(entries[i]->model->state);
        reads[i]    = (pawl_stream_read){.stream               = entries[i]->stream->text,
                                         .snapshot_version_max = with_folds ? version : 0};
    }
    pawl_code code = pawl_store_stream_load(store, reads, count, batch->arena, streams, error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        code = fill(batch, entries[i], &streams[i], error);
    return code;
}

pawl_code pawl__stream_read(pawl__batch *batch, pawl__entry *const *entries, size_t count,
                            pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (count > 0)
        code = read_streams(batch, entries, count, true, error);
    /* A stored fold only shortens the load: when this program cannot read it, all events are
     * read. */
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        if (entries[i]->stream->is_fold_bad)
            code = read_streams(batch, &entries[i], 1, false, error);
    }
    return code;
}

/* Finds the stream that a timeout names in a header. */
static pawl_code find_timeout(pawl__batch *batch, const pawl__saga_model *model, pawl__unit *unit)
{
    pawl_text stream;
    pawl_code code = pawl__headers_value(unit->timeout.headers, PAWL_TEXT(PAWL_HEADER_PROCESS),
                                         batch->arena, &stream);
    size_t    name = model->table.type.size;
    if (code != PAWL_OK || stream.size <= name + 1 || stream.data[name] != '/')
        return code;
    pawl_value key = {.type = PAWL_VALUE_TEXT};
    key.as.text    = (pawl_text){.data = stream.data + name + 1, .size = stream.size - name - 1};
    unit->entry    = pawl__identity_get(batch, model, &key);
    return unit->entry != NULL ? PAWL_OK : PAWL_ENOMEM;
}

pawl_code pawl__stream_load(pawl__batch *batch, const pawl__saga_model *model, pawl_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->unit_count; i++) {
        pawl__unit *unit = &batch->units[i];
        if (unit->kind == PAWL__UNIT_TIMEOUT && unit->end == PAWL__END_NEW &&
            pawl_text_equal(unit->timeout.saga_type, model->table.type) &&
            find_timeout(batch, model, unit) != PAWL_OK)
            return pawl_error_set(error, PAWL_ENOMEM, "no memory for a timeout's process");
    }
    pawl__entry **wanted = pawl_arena_take(batch->arena, (batch->entry_count + 1) * sizeof *wanted);
    if (wanted == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the streams of a batch");
    for (size_t i = 0; i < batch->entry_count; i++)
        if (batch->entries[i]->model == model && !batch->entries[i]->is_loaded)
            wanted[count++] = batch->entries[i];
    return pawl__stream_read(batch, wanted, count, error);
}

/* ---- Dispatch ids --------------------------------------------------------------- */

pawl_uuid pawl__carried_dispatch(const pawl_message *message)
{
    static const size_t version = 14; /* index of the version's digit */
    pawl_uuid           id      = {{0}};
    if (message->id.size != PAWL_UUID_TEXT_SIZE || message->id.data[version] != '5' ||
        pawl_uuid_parse(message->id, &id, NULL) != PAWL_OK)
        return (pawl_uuid){{0}};
    return id;
}

bool pawl__stream_knows(const pawl_context *ctx, const pawl__entry *entry)
{
    pawl_uuid id = pawl__carried_dispatch(&ctx->unit->message);
    return !pawl_uuid_is_zero(id) && pawl__recent_has(&entry->stream->recent, id);
}

/* ---- Emitting ------------------------------------------------------------------- */

static pawl_code add_event(pawl_context *ctx, pawl__touch *touch, const pawl_event *event)
{
    pawl_event *grown = pawl_arena_grow(ctx->batch->arena, touch->events, touch->event_count,
                                        &touch->event_capacity, sizeof touch->events[0]);
    if (grown == NULL)
        return PAWL_ENOMEM;
    touch->events                       = grown;
    touch->events[touch->event_count++] = *event;
    return PAWL_OK;
}

/* An event with the fields that all events of the unit have in common: message, correlation,
 * causation, dispatch id, time. */
static pawl_event event_of(const pawl_context *ctx, pawl_text type)
{
    const pawl_message *message = &ctx->unit->message;
    return (pawl_event){.type           = type,
                        .type_version   = 1,
                        .message_id     = message->id,
                        .correlation_id = message->correlation_id,
                        .causation_id   = message->causation_id,
                        .dispatch_id    = {pawl__carried_dispatch(message)},
                        .at             = ctx->unit->now};
}

static pawl_code emit(pawl_context *ctx, pawl__touch *touch, const pawl__apply_model *known,
                      const pawl_record *record, const void *event)
{
    pawl_arena *arena = ctx->batch->arena;
    pawl__cause cause = {&ctx->unit->message, ctx->batch->engine->model->queue};
    pawl_event  made  = event_of(ctx, known->type);
    made.type_version = pawl_record_version(record);
    pawl_code code    = pawl_record_encode(record, event, 0, arena, &made.body, &ctx->error);
    if (code == PAWL_OK && made.body.size > PAWL_BODY_SIZE_MAX)
        code = pawl_error_set(&ctx->error, PAWL_ELIMIT, "body has %zu bytes, the limit is %d",
                              made.body.size, PAWL_BODY_SIZE_MAX);
    if (code == PAWL_OK)
        code = pawl__headers_build((pawl_text){.data = "", .size = 0}, NULL, NULL, &cause, arena,
                                   &made.headers, &ctx->error);
    if (code == PAWL_OK)
        code = pawl__stream_apply(touch->entry->model->stream, &made, touch->state, arena,
                                  &ctx->error);
    if (code == PAWL_OK)
        code = add_event(ctx, touch, &made);
    return code;
}

pawl_code pawl_emit(pawl_context *ctx, const pawl_record *record, const void *event)
{
    pawl__touch *touch = pawl__current_touch(ctx);
    const char  *type  = pawl_record_type(record);
    if (touch == NULL || touch->entry->stream == NULL)
        return pawl__context_refuse(ctx, PAWL_EINVAL,
                                    "event %s: the handler has no process or entity to emit it for",
                                    type);
    const pawl__apply_model *known =
        pawl__model_apply(touch->entry->model->stream, pawl_text_of(type));
    if (known == NULL)
        return pawl__context_refuse(ctx, PAWL_EINVAL, "event %s has no function in .apply of %s",
                                    type, touch->entry->model->saga->name);
    if (ctx->failed != PAWL_OK)
        return ctx->failed;
    pawl_code code = emit(ctx, touch, known, record, event);
    if (code != PAWL_OK) {
        pawl_error_wrap(&ctx->error, code, "event %s", type);
        return pawl__context_failed(ctx, code);
    }
    ctx->effect_count++;
    return PAWL_OK;
}

int64_t pawl_stream_version(const pawl_context *ctx)
{
    const pawl__touch *touch = pawl__current_touch(ctx);
    if (touch == NULL || touch->entry->stream == NULL)
        return 0;
    return touch->entry->stream->version + (int64_t)touch->event_count;
}

pawl_text pawl_stream_in_flight(const pawl_context *ctx)
{
    const pawl__touch *touch = pawl__current_touch(ctx);
    return touch != NULL && touch->entry->stream != NULL ? touch->entry->stream->text
                                                         : (pawl_text){.data = "", .size = 0};
}

/* ---- Keeping -------------------------------------------------------------------- */

/* Adds an event of the library's own. */
static pawl_code add_own(pawl_context *ctx, pawl__touch *touch, const char *type)
{
    pawl_event event = event_of(ctx, pawl_text_of(type));
    event.body       = PAWL_TEXT("{}");
    if (strcmp(type, PAWL__EVENT_HANDLED) == 0) {
        const pawl_handled handled = {.message_id = ctx->unit->message.id,
                                      .type       = ctx->unit->message.type};
        pawl_code          code    = pawl_record_encode(PAWL_RECORD_OF(pawl_handled)(), &handled, 0,
                                                        ctx->batch->arena, &event.body, &ctx->error);
        if (code != PAWL_OK)
            return code;
    }
    pawl_code code = add_event(ctx, touch, &event);
    return code == PAWL_OK ? PAWL_OK : pawl__context_no_memory(ctx);
}

pawl_code pawl__stream_seal(pawl_context *ctx, size_t index)
{
    pawl__touch *touch     = &ctx->touches[index];
    pawl_code    code      = PAWL_OK;
    bool         is_needed = touch->event_count == 0 && !touch->is_completed &&
                     (touch->has_sent || touch->timeouts.count > 0);
    if (is_needed)
        code = add_own(ctx, touch, PAWL__EVENT_HANDLED);
    if (code == PAWL_OK && touch->is_completed)
        code = add_own(ctx, touch, PAWL__EVENT_COMPLETED);
    return code;
}

static pawl_code append(pawl_context *ctx, pawl__entry *entry, const pawl_event *event)
{
    pawl__stream_entry *stream = entry->stream;
    pawl_event_append  *grown =
        pawl_arena_grow(ctx->batch->arena, stream->events, stream->event_count,
                        &stream->event_capacity, sizeof stream->events[0]);
    if (grown == NULL)
        return PAWL_ENOMEM;
    stream->events                      = grown;
    stream->events[stream->event_count] = (pawl_event_append){.unit     = ctx->unit->index,
                                                              .stream   = stream->text,
                                                              .version  = stream->version + 1,
                                                              .is_first = stream->event_count == 0,
                                                              .event    = *event};
    stream->event_count++;
    stream->version++;
    return remember(ctx->batch, entry, event);
}

pawl_code pawl__stream_keep(pawl_context *ctx, pawl__touch *touch)
{
    pawl__entry *entry = touch->entry;
    pawl_code    code  = PAWL_OK;
    if (touch->event_count == 0)
        return PAWL_OK;
    for (size_t i = 0; i < touch->event_count && code == PAWL_OK; i++)
        code = append(ctx, entry, &touch->events[i]);
    if (code != PAWL_OK)
        return pawl__context_no_memory(ctx);
    entry->state                = touch->state;
    entry->writer               = ctx->unit->index;
    entry->exists               = !touch->is_completed;
    entry->stream->is_completed = touch->is_completed;
    if (touch->is_completed) {
        entry->timeouts.count      = 0;
        entry->is_timeouts_dropped = true;
    }
    return PAWL_OK;
}

pawl_code pawl__stream_headers(pawl__batch *batch, const pawl__entry *entry,
                               const pawl_message *message, pawl_text *headers, pawl_error *error)
{
    const pawl__cause cause   = {message, batch->engine->model->queue};
    const pawl_header extra[] = {{PAWL_HEADER_PROCESS, entry->stream->text.data}, {NULL, NULL}};
    pawl_text         over;
    pawl_code code = pawl__headers_build((pawl_text){.data = "", .size = 0}, NULL, extra, &cause,
                                         batch->arena, &over, error);
    return code == PAWL_OK ? pawl__headers_merge(message->headers, over, batch->arena, headers)
                           : code;
}

bool pawl__stream_is_fold_due(const pawl__entry *entry)
{
    const pawl__stream_entry *stream = entry->stream;
    int64_t                   every  = entry->model->stream->snapshot_every;
    return every > 0 && stream->event_count > 0 && entry->exists &&
           stream->version / every > stream->fold_version / every;
}

pawl_code pawl__stream_fold(pawl__batch *batch, const pawl__entry *entry,
                            pawl_stream_snapshot_set *snapshot, pawl_error *error)
{
    *snapshot = (pawl_stream_snapshot_set){
        .unit         = entry->writer,
        .stream       = entry->stream->text,
        .version      = entry->stream->version,
        .type_version = pawl_record_version(entry->model->state),
        .dispatches   = pawl__recent_write(&entry->stream->recent, batch->arena),
        .at           = batch->engine->machine_now};
    if (snapshot->dispatches.data == NULL)
        return PAWL_ENOMEM;
    pawl_code code = pawl_record_encode(entry->model->state, entry->state, 0, batch->arena,
                                        &snapshot->state, error);
    if (code == PAWL_OK &&
        snapshot->state.size + snapshot->dispatches.size > PAWL_SNAPSHOT_SIZE_MAX)
        code = pawl_error_set(
            error, PAWL_ELIMIT, "state and dispatch ids have %zu and %zu bytes, the limit is %d",
            snapshot->state.size, snapshot->dispatches.size, PAWL_SNAPSHOT_SIZE_MAX);
    return code;
}
