/* changes.c - makes the change set of the batch from the ends of its units and the states of its
 * sagas.
 *
 * The net effect of a saga: begun and ended leaves no row; ended and begun
 * again deletes the old id and inserts a new one at version 1; else one
 * update, however many units wrote it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/storable.h"
#include "engine/entry.h"
#include "engine/stream.h"
#include "pawl/process.h"

#include <string.h>

/* The next element of a kind's array, for which reserve() has made room. */
#define NEXT(batch, kind) (&(batch)->changes.kind.items[(batch)->changes.kind.count++])

#define RESERVE(batch, kind, room)                   \
    (((batch)->changes.kind.items = pawl_arena_take( \
          (batch)->arena, ((room) + 1) * sizeof *(batch)->changes.kind.items)) != NULL)

static pawl_code reserve(pawl__batch *batch)
{
    size_t units = batch->unit_count, entries = batch->entry_count, timeouts = 0, events = 0;
    for (size_t i = 0; i < entries; i++) {
        timeouts += batch->entries[i]->timeouts.count + 1;
        events += batch->entries[i]->stream != NULL ? batch->entries[i]->stream->event_count : 0;
    }
    for (size_t i = 0; i < units; i++)
        timeouts += batch->units[i].kind == PAWL__UNIT_SCHEDULE;
    bool is_good =
        RESERVE(batch, queue_settle, units) && RESERVE(batch, inbox_entry, units) &&
        RESERVE(batch, saga_delete, entries) && RESERVE(batch, saga_insert, entries) &&
        RESERVE(batch, event_append, events) && RESERVE(batch, stream_snapshot_set, entries) &&
        RESERVE(batch, saga_update, entries) && RESERVE(batch, timeout_settle, units) &&
        RESERVE(batch, leased_batch_remove, units) && RESERVE(batch, timeout_cancel, timeouts) &&
        RESERVE(batch, timeout_set, timeouts) && RESERVE(batch, leased_batch_release, units) &&
        RESERVE(batch, flush_set, units) && RESERVE(batch, dead_set, units);
    if (batch->engine->has_history)
        is_good = is_good && RESERVE(batch, history_add, pawl__lines_room(batch));
    return is_good ? PAWL_OK : PAWL_ENOMEM;
}

/* ---- Units -------------------------------------------------------------------- */

static void put_mark(pawl__batch *batch, const pawl__unit *unit, uint32_t group,
                     pawl_inbox_outcome outcome)
{
    *NEXT(batch, inbox_entry) = (pawl_inbox_entry){.unit       = unit->index,
                                                   .group      = group,
                                                   .endpoint   = batch->engine->model->endpoint,
                                                   .message_id = unit->message.id,
                                                   .outcome    = outcome,
                                                   .at         = batch->engine->machine_now};
}

/* Headers of a dead timeout: its own, and two that name its saga, so that a retry can set it again. (The type of the
 * dead letter is the timeout's name.) If they are too long, only its own headers for the process and the reply queue
 * are kept. PAWL_ENOMEM is the only failure. */
static pawl_code dead_headers(pawl__batch *batch, const pawl__unit *unit, pawl_text *headers)
{
    static const char *const kept[] = {PAWL_HEADER_PROCESS, PAWL__HEADER_REPLY_TO};
    const pawl_text          own    = unit->message.headers;
    char                     id[PAWL_UUID_TEXT_SIZE + 1];
    *headers = own;
    if (unit->kind == PAWL__UNIT_MESSAGE || !pawl__is_plain(unit->timeout.saga_type))
        return PAWL_OK;
    pawl_uuid_format(unit->timeout.saga_id.uuid, id);
    pawl_text saga = pawl_arena_printf(
        batch->arena, "{\"" PAWL_HEADER_SAGA "\":\"%.*s\",\"" PAWL_HEADER_SAGA_ID "\":\"%s\"}",
        PAWL_TEXT_ARGS(unit->timeout.saga_type), id);
    if (saga.data == NULL)
        return PAWL_ENOMEM;
    pawl_code code = pawl__headers_merge(own, saga, batch->arena, headers);
    if (code != PAWL_OK || headers->size <= PAWL_HEADERS_SIZE_MAX)
        return code;
    *headers = saga;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0] && code == PAWL_OK; i++) {
        pawl_text value;
        code = pawl__headers_value(own, pawl_text_of(kept[i]), batch->arena, &value);
        if (code == PAWL_OK)
            code = pawl__headers_set(*headers, kept[i], value, batch->arena, headers);
    }
    return code;
}

static pawl_text queue_of(const pawl__batch *batch, const pawl__unit *unit)
{
    return unit->kind == PAWL__UNIT_FORWARD ? unit->timeout.destination
                                            : batch->engine->model->queue;
}

static pawl_code put_dead(pawl__batch *batch, const pawl__unit *unit, uint32_t group)
{
    int32_t      attempts = pawl__unit_attempts(unit);
    pawl_message message  = unit->message;
    pawl_text    error    = unit->error;
    if (dead_headers(batch, unit, &message.headers) != PAWL_OK ||
        pawl__fit_body(&message.body, batch->arena, &error) != PAWL_OK)
        return PAWL_ENOMEM;
    if (unit->kind == PAWL__UNIT_MESSAGE)
        message.causation_id = pawl__dead_cause(message.id, message.causation_id, message.headers);
    *NEXT(batch, dead_set) = (pawl_dead_set){.unit     = unit->index,
                                             .group    = group,
                                             .endpoint = batch->engine->model->endpoint,
                                             .queue    = queue_of(batch, unit),
                                             .message  = message,
                                             .code     = pawl_text_of(pawl_code_name(unit->code)),
                                             .error    = error,
                                             .attempts = attempts + 1,
                                             .crashes  = unit->row.crashes,
                                             .history  = pawl__unit_history(batch, unit),
                                             .at       = batch->engine->machine_now};
    batch->counters.dead++;
    return PAWL_OK;
}

static void log_dead(const pawl__batch *batch, const pawl__unit *unit)
{
    pawl_text queue    = queue_of(batch, unit);
    int32_t   attempts = pawl__unit_attempts(unit);
    pawl_log(PAWL_LOG_WARNING,
             "message %.*s of type %.*s in queue %.*s is a dead letter after %d attempt%s: %.*s",
             PAWL_TEXT_ARGS(unit->message.id), PAWL_TEXT_ARGS(unit->message.type),
             PAWL_TEXT_ARGS(queue), attempts + 1, attempts == 0 ? "" : "s",
             PAWL_TEXT_ARGS(unit->error));
    if (unit->key.size > 0)
        pawl_log(PAWL_LOG_WARNING,
                 "messages of key '%.*s' in queue %.*s no longer wait for the dead letter %.*s",
                 PAWL_TEXT_ARGS(unit->key), PAWL_TEXT_ARGS(queue),
                 PAWL_TEXT_ARGS(unit->message.id));
}

/* Logs a unit that failed and runs again later, or that is discarded for its failure. A dead letter
 * has a line of its own. */
static void log_failed(const pawl__batch *batch, const pawl__unit *unit)
{
    pawl_text queue    = batch->engine->model->queue;
    int32_t   attempts = pawl__unit_attempts(unit);
    char      due[PAWL_TIME_TEXT_SIZE + 1];
    if (unit->end == PAWL__END_RETRY) {
        pawl_time_format(unit->due, due);
        pawl_log(
            PAWL_LOG_INFO,
            "message %.*s of type %.*s in queue %.*s failed, attempt %d, and runs again at %s: "
            "%s: %.*s",
            PAWL_TEXT_ARGS(unit->message.id), PAWL_TEXT_ARGS(unit->message.type),
            PAWL_TEXT_ARGS(queue), attempts + 1, due, pawl_code_name(unit->code),
            PAWL_TEXT_ARGS(unit->error));
    } else if (unit->end == PAWL__END_DISCARDED && unit->code != PAWL_OK) {
        pawl_log(
            PAWL_LOG_WARNING,
            "message %.*s of type %.*s in queue %.*s is discarded after %d attempt%s: %s: %.*s",
            PAWL_TEXT_ARGS(unit->message.id), PAWL_TEXT_ARGS(unit->message.type),
            PAWL_TEXT_ARGS(queue), attempts + 1, attempts == 0 ? "" : "s",
            pawl_code_name(unit->code), PAWL_TEXT_ARGS(unit->error));
    }
}

void pawl__batch_say_failed(const pawl__batch *batch, const pawl__unit *unit)
{
    if (unit->kind == PAWL__UNIT_FLUSH)
        return; /* put_flush has a line of its own */
    log_failed(batch, unit);
    if (unit->end == PAWL__END_DEAD && unit->kind != PAWL__UNIT_SCHEDULE)
        log_dead(batch, unit);
}

/* The error text of a message that waits for another program version has a prefix, to distinguish it from a failure. */
static pawl_text error_of(pawl__batch *batch, const pawl__unit *unit)
{
    pawl_text made = {.data = NULL};
    if (unit->end == PAWL__END_UNREAD)
        made = pawl_arena_printf(batch->arena, PAWL_QUEUE_AWAITS_VERSION "%.*s",
                                 PAWL_TEXT_ARGS(unit->error));
    return made.data != NULL ? made : unit->error;
}

static pawl_queue_settle settle_of(pawl__batch *batch, const pawl__unit *unit, uint32_t group)
{
    pawl_queue_settle settle = {.unit   = unit->index,
                                .group  = group,
                                .action = PAWL_QUEUE_DONE,
                                .queue  = batch->engine->model->queue,
                                .seq    = unit->row.seq};
    if (unit->end == PAWL__END_RELEASED)
        settle.action = PAWL_QUEUE_RELEASE;
    if (!pawl__unit_is_deferred(unit))
        return settle;
    settle.action   = PAWL_QUEUE_RETRY;
    settle.due      = unit->due;
    settle.crashes  = unit->row.crashes;
    settle.error    = error_of(batch, unit);
    settle.history  = pawl__unit_history(batch, unit);
    settle.attempts = unit->row.attempts + (unit->end == PAWL__END_RETRY);
    if (unit->end == PAWL__END_SAGA_BUSY || unit->end == PAWL__END_HELD)
        settle.waiting_since = unit->row.waiting_since;
    if (unit->end == PAWL__END_WAIT)
        settle.waiting_since =
            unit->row.waiting_since != 0 ? unit->row.waiting_since : batch->engine->machine_now;
    return settle;
}

static pawl_code put_message(pawl__batch *batch, const pawl__unit *unit, uint32_t group)
{
    pawl_code code = PAWL_OK;
    if (!unit->is_rowless)
        *NEXT(batch, queue_settle) = settle_of(batch, unit, group);
    switch (unit->end) {
    case PAWL__END_HANDLED: put_mark(batch, unit, group, PAWL_INBOX_HANDLED); break;
    case PAWL__END_DISCARDED: put_mark(batch, unit, group, PAWL_INBOX_DISCARDED); break;
    case PAWL__END_DEAD:
        put_mark(batch, unit, group, PAWL_INBOX_DEAD);
        code = put_dead(batch, unit, group);
        break;
    default: return PAWL_OK;
    }
    batch->counters.messages++;
    return code;
}

static pawl_code put_timeout(pawl__batch *batch, const pawl__unit *unit, uint32_t group)
{
    pawl_code code = PAWL_OK;
    if (unit->end == PAWL__END_SUPERSEDED)
        return code;
    pawl_timeout_settle *settle = NEXT(batch, timeout_settle);
    *settle                     = (pawl_timeout_settle){.unit       = unit->index,
                                                        .group      = group,
                                                        .action     = PAWL_TIMEOUT_REMOVE,
                                                        .id         = unit->timeout.id,
                                                        .has_owner  = true,
                                                        .owner      = unit->timeout.owner,
                                                        .generation = unit->timeout.generation};
    if (unit->end == PAWL__END_RELEASED) {
        settle->action = PAWL_TIMEOUT_RELEASE;
        return code;
    }
    if (unit->kind == PAWL__UNIT_SCHEDULE) {
        code = pawl__schedule_settle(batch, unit, settle);
    } else if (pawl__unit_is_deferred(unit)) {
        settle->action   = PAWL_TIMEOUT_RETRY;
        settle->due      = unit->due;
        settle->attempts = unit->timeout.attempts + (unit->end == PAWL__END_RETRY);
    } else if (unit->end == PAWL__END_DEAD) {
        code = put_dead(batch, unit, group);
    }
    batch->counters.messages += !pawl__unit_is_deferred(unit);
    batch->counters.timeouts += !pawl__unit_is_deferred(unit);
    return code;
}

static pawl_code put_removal(pawl__batch *batch, const pawl__unit *unit, uint32_t group)
{
    int64_t *ids = pawl_arena_take(batch->arena, (unit->readable + 1) * sizeof *ids);
    if (ids == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < unit->readable; i++)
        ids[i] = unit->leased.items[i].id;
    *NEXT(batch, leased_batch_remove) =
        (pawl_leased_batch_remove){.unit      = unit->index,
                                   .group     = group,
                                   .partition = unit->flush.partition,
                                   .session   = unit->session,
                                   .ids       = ids,
                                   .id_count  = unit->readable};
    batch->counters.messages++;
    batch->counters.flushes++;
    return PAWL_OK;
}

/* The flush row's error says why messages stay. A size flush that handed none over begins no new period. */
static pawl_code put_handed_over(pawl__batch *batch, const pawl__unit *unit, pawl_flush_set *set,
                                 uint32_t group)
{
    set->error = unit->left;
    if (unit->left.size > 0 && pawl__may_log_type(batch->engine, unit->flush.partition))
        pawl_log(PAWL_LOG_WARNING,
                 "aggregator partition %.*s: messages that cannot be decoded stay: %.*s",
                 PAWL_TEXT_ARGS(unit->flush.partition), PAWL_TEXT_ARGS(unit->left));
    if (unit->readable > 0)
        return put_removal(batch, unit, group);
    if (unit->is_size_flush && unit->flush.due > unit->now)
        set->due = unit->flush.due;
    return PAWL_OK;
}

/* The pause begins after the last piece of a flush. Until then the due time does not change: after a stop or a crash
 * the next worker hands over the rest (E20). */
static pawl_time next_flush(const pawl__unit *unit)
{
    return unit->pause == 0 ? unit->flush.due : pawl_time_add(unit->now, unit->pause);
}

/* A partition out of attempts becomes dead: adds go on, no flush is due until an operator releases
 * it. */
static pawl_code put_flush(pawl__batch *batch, const pawl__unit *unit, uint32_t group)
{
    bool is_done = unit->end == PAWL__END_HANDLED || unit->end == PAWL__END_DISCARDED;
    if (!is_done || unit->is_below_size)
        *NEXT(batch, leased_batch_release) =
            (pawl_leased_batch_release){.unit      = unit->index,
                                        .group     = group,
                                        .partition = unit->flush.partition,
                                        .session   = unit->session};
    if (unit->end == PAWL__END_RELEASED)
        return PAWL_OK;
    pawl_flush_set *set = NEXT(batch, flush_set);
    *set                = (pawl_flush_set){.unit      = unit->index,
                                           .group     = group,
                                           .partition = unit->flush.partition,
                                           .due       = next_flush(unit),
                                           .is_done   = is_done};
    if (is_done)
        return put_handed_over(batch, unit, set, group);
    set->due = unit->end == PAWL__END_DEAD ? PAWL_TIME_MAX : unit->due;
    /* The gate knows a partition that waits by its attempts: an unread one counts once, not more. */
    set->attempts =
        unit->flush.attempts + (unit->end != PAWL__END_UNREAD || unit->flush.attempts == 0);
    set->is_dead = unit->end == PAWL__END_DEAD;
    set->error   = unit->error;
    if (unit->end == PAWL__END_UNREAD)
        return PAWL_OK;
    pawl_log(PAWL_LOG_WARNING, "aggregator partition %.*s: flush failed, attempt %d%s: %.*s",
             PAWL_TEXT_ARGS(unit->flush.partition), set->attempts,
             set->is_dead ? ", it is dead now" : "", PAWL_TEXT_ARGS(unit->error));
    return PAWL_OK;
}

/* ---- Sagas ---------------------------------------------------------------------- */

static pawl_code put_insert(pawl__batch *batch, const pawl__entry *entry, uint32_t group,
                            pawl_text data)
{
    pawl_text metadata = pawl__origin_metadata(batch, entry);
    if (metadata.data == NULL)
        return PAWL_ENOMEM;
    *NEXT(batch, saga_insert) = (pawl_saga_insert){.unit         = entry->writer,
                                                   .group        = group,
                                                   .table        = &entry->model->table,
                                                   .id           = entry->id,
                                                   .main         = entry->main,
                                                   .transitional = entry->transitional,
                                                   .metadata     = metadata,
                                                   .data         = data,
                                                   .type_version = entry->model->type_version};
    return PAWL_OK;
}

static pawl_code put_update(pawl__batch *batch, const pawl__entry *entry, uint32_t group,
                            pawl_text data)
{
    pawl_text metadata = pawl__origin_changed(batch, entry, entry->stored.metadata);
    if (metadata.data == NULL && entry->stored.metadata.data != NULL)
        return PAWL_ENOMEM;
    *NEXT(batch, saga_update) = (pawl_saga_update){.unit         = entry->writer,
                                                   .group        = group,
                                                   .table        = &entry->model->table,
                                                   .id           = entry->id,
                                                   .version      = entry->stored.version,
                                                   .row          = entry->stored.row,
                                                   .transitional = entry->transitional,
                                                   .metadata     = metadata,
                                                   .data         = data,
                                                   .type_version = entry->model->type_version};
    return PAWL_OK;
}

static void put_delete(pawl__batch *batch, const pawl__entry *entry, uint32_t group)
{
    *NEXT(batch, saga_delete)    = (pawl_saga_delete){.unit    = entry->writer,
                                                      .group   = group,
                                                      .table   = &entry->model->table,
                                                      .id      = entry->stored.id,
                                                      .version = entry->stored.version};
    *NEXT(batch, timeout_cancel) = (pawl_timeout_cancel){.unit    = entry->writer,
                                                         .group   = group,
                                                         .saga_id = entry->stored.id,
                                                         .name    = PAWL_TEXT_INIT("")};
}

static pawl_code put_timeouts(pawl__batch *batch, const pawl__entry *entry, uint32_t group,
                              pawl_error *error)
{
    for (size_t i = 0; i < entry->timeouts.count; i++) {
        const pawl__timeout_op *op = &entry->timeouts.items[i];
        if (op->is_cancel && !entry->is_new)
            *NEXT(batch, timeout_cancel) = (pawl_timeout_cancel){
                .unit = op->unit, .group = group, .saga_id = entry->id, .name = op->name};
        if (op->is_cancel)
            continue;
        const pawl__unit *unit = &batch->units[op->unit];
        pawl_timeout_id   id   = {pawl_uuid_v7(batch->engine->random, batch->engine->machine_now)};
        pawl_text         headers = unit->message.headers;
        if (entry->stream != NULL) {
            pawl_code code = pawl__stream_headers(batch, entry, &unit->message, &headers, error);
            if (code == PAWL_OK && headers.size > PAWL_HEADERS_SIZE_MAX)
                code = pawl_error_set(
                    error, PAWL_ELIMIT,
                    "timeout '%.*s' of %s: the message's headers and " PAWL_HEADER_PROCESS
                    " have %zu bytes, the limit is %d",
                    PAWL_TEXT_ARGS(op->name), entry->stream->text.data, headers.size,
                    PAWL_HEADERS_SIZE_MAX);
            if (code != PAWL_OK)
                return code;
        }
        *NEXT(batch, timeout_set) =
            (pawl_timeout_set){.unit           = op->unit,
                               .group          = group,
                               .id             = id,
                               .saga_id        = entry->id,
                               .saga_type      = entry->model->table.type,
                               .name           = op->name,
                               .destination    = batch->engine->model->queue,
                               .due            = op->due,
                               .headers        = headers,
                               .correlation_id = unit->message.correlation_id};
    }
    return PAWL_OK;
}

/* A fold only shortens loads: when its state cannot be stored, the events are written without
 * it. */
static pawl_code put_fold(pawl__batch *batch, const pawl__entry *entry, uint32_t group,
                          pawl_error *error)
{
    const char              *stream = entry->stream->text.data;
    pawl_error               why    = PAWL_ERROR_INIT;
    pawl_stream_snapshot_set snapshot;
    pawl_code                code = pawl__stream_fold(batch, entry, &snapshot, &why);
    if (code == PAWL_ENOMEM)
        return pawl_error_set(error, code, "no memory for the snapshot of %s", stream);
    if (code != PAWL_OK) {
        pawl_log(PAWL_LOG_WARNING, "%s: its snapshot is not stored: %s", stream, why.text);
        return PAWL_OK;
    }
    snapshot.group                    = group;
    *NEXT(batch, stream_snapshot_set) = snapshot;
    return PAWL_OK;
}

/* The events of a process or entity, a fold when one is due, and its timeouts set and cancelled. */
static pawl_code put_stream(pawl__batch *batch, const pawl__entry *entry, pawl_error *error)
{
    const pawl__stream_entry *stream = entry->stream;
    uint32_t                  group  = pawl__group_of(batch, entry->unit);
    if (stream->event_count == 0)
        return PAWL_OK;
    for (size_t i = 0; i < stream->event_count; i++) {
        pawl_event_append *append = NEXT(batch, event_append);
        *append                   = stream->events[i];
        append->group             = group;
    }
    if (entry->is_timeouts_dropped)
        *NEXT(batch, timeout_cancel) = (pawl_timeout_cancel){.unit    = entry->writer,
                                                             .group   = group,
                                                             .saga_id = entry->id,
                                                             .name    = PAWL_TEXT_INIT("")};
    pawl_code code = PAWL_OK;
    if (pawl__stream_is_fold_due(entry))
        code = put_fold(batch, entry, group, error);
    return code == PAWL_OK ? put_timeouts(batch, entry, group, error) : code;
}

static pawl_code put_entry(pawl__batch *batch, const pawl__entry *entry, pawl_error *error)
{
    if (entry->stream != NULL && entry->has_unit)
        return put_stream(batch, entry, error);
    if (!entry->is_stored_gone && !entry->is_dirty)
        return PAWL_OK;
    uint32_t  group = pawl__group_of(batch, entry->unit);
    pawl_text data  = {0};
    pawl_code code  = PAWL_OK;
    if (entry->is_stored_gone)
        put_delete(batch, entry, group);
    if (!entry->exists)
        return PAWL_OK;
    code = pawl__state_write(entry->model, entry->id, entry->state, batch->arena, &data, error);
    if (code != PAWL_OK) {
        batch->is_unwritable = code != PAWL_ENOMEM;
        return code;
    }
    if (entry->is_new)
        code = put_insert(batch, entry, group, data);
    else
        code = put_update(batch, entry, group, data);
    return code == PAWL_OK ? put_timeouts(batch, entry, group, error) : code;
}

/* ---- All of it -------------------------------------------------------------------- */

static void put_effects(pawl__batch *batch)
{
    pawl__effects *effects = &batch->effects;
    for (size_t i = 0; i < effects->send_count; i++)
        effects->sends[i].group = pawl__group_of(batch, effects->sends[i].unit);
    for (size_t i = 0; i < effects->dispatch_count; i++)
        effects->dispatches[i].group = pawl__group_of(batch, effects->dispatches[i].unit);
    for (size_t i = 0; i < effects->add_count; i++)
        effects->adds[i].group = pawl__group_of(batch, effects->adds[i].unit);
    batch->changes.queue_send.items     = effects->sends;
    batch->changes.queue_send.count     = effects->send_count;
    batch->changes.outbox_add.items     = effects->dispatches;
    batch->changes.outbox_add.count     = effects->dispatch_count;
    batch->changes.aggregator_add.items = effects->adds;
    batch->changes.aggregator_add.count = effects->add_count;
}

static pawl_code put_unit(pawl__batch *batch, const pawl__unit *unit)
{
    uint32_t group = pawl__group_of(batch, unit->index);
    if (batch->engine->has_history)
        pawl__lines_put(batch, unit, group);
    if (unit->end == PAWL__END_RERUN)
        return PAWL_OK;
    switch (unit->kind) {
    case PAWL__UNIT_MESSAGE: return put_message(batch, unit, group);
    case PAWL__UNIT_TIMEOUT:
    case PAWL__UNIT_SCHEDULE:
    case PAWL__UNIT_FORWARD: return put_timeout(batch, unit, group);
    case PAWL__UNIT_FLUSH: return put_flush(batch, unit, group);
    case PAWL__UNIT_EVENT: return PAWL_OK; /* one checkpoint stands for all */
    }
    return PAWL_EBUG;
}

pawl_code pawl__batch_changes(pawl__batch *batch, pawl_error *error)
{
    int64_t failures     = batch->counters.failures;
    batch->counters      = (pawl_counters){.failures = failures};
    batch->is_unwritable = false;
    batch->changes       = (pawl_changes){.now         = batch->engine->machine_now,
                                          .group_count = (uint32_t)batch->unit_count,
                                          .unit_count  = (uint32_t)batch->unit_count};
    pawl_code code       = reserve(batch);
    for (size_t i = 0; i < batch->unit_count && code == PAWL_OK; i++)
        code = put_unit(batch, &batch->units[i]);
    for (size_t i = 0; i < batch->entry_count && code == PAWL_OK; i++)
        code = put_entry(batch, batch->entries[i], error);
    put_effects(batch);
    if (code == PAWL_OK && batch->engine->audit != NULL)
        code = pawl__audit_put(batch);
    if (code == PAWL_ENOMEM)
        pawl_error_set(error, code, "no memory for a change set of %zu units", batch->unit_count);
    batch->changes.counters = batch->counters;
    return code;
}
