/* batch.c - the life of a batch: adds units, runs handlers, releases the units that
 * did not run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

#include "base/dispatch.h"
#include "base/storable.h"
#include "engine/order.h"

#include <stdlib.h>
#include <string.h>

pawl__batch *pawl__batch_create(pawl__engine *engine)
{
    pawl__batch *batch = pawl_allocate(sizeof *batch);
    if (batch == NULL)
        return NULL;
    batch->engine = engine;
    batch->arena  = pawl_arena_create((size_t)256 * 1024);
    if (batch->arena == NULL) {
        pawl_free(batch);
        return NULL;
    }
    pawl__batch_reset(batch);
    return batch;
}

void pawl__batch_destroy(pawl__batch *batch)
{
    if (batch == NULL)
        return;
    pawl_arena_destroy(batch->arena);
    pawl_free(batch);
}

void pawl__batch_reset(pawl__batch *batch)
{
    pawl__engine *engine = batch->engine;
    pawl_arena   *arena  = batch->arena;
    pawl_arena_reset(arena);
    *batch = (pawl__batch){.engine      = engine,
                           .arena       = arena,
                           .cut_timeout = PAWL_TIME_MAX,
                           .cut_send    = PAWL_TIME_MAX,
                           .cut_message = PAWL_TIME_MAX};
}

/* ---- Units ------------------------------------------------------------------ */

static pawl__unit *add_unit(pawl__batch *batch, pawl__unit_kind kind)
{
    pawl__unit *grown = pawl_arena_grow(batch->arena, batch->units, batch->unit_count,
                                        &batch->unit_capacity, sizeof batch->units[0]);
    if (grown == NULL)
        return NULL;
    batch->units     = grown;
    pawl__unit *unit = &grown[batch->unit_count++];
    *unit            = (pawl__unit){.kind = kind, .now = batch->engine->business_now};
    return unit;
}

/* A row that another program wrote with SQL may have texts that are too long for a dead letter, and an empty id. */
static pawl_code make_storable(const pawl__batch *batch, pawl__unit *unit)
{
    const pawl__engine *engine = batch->engine;
    pawl_code           code =
        pawl__make_storable(PAWL__STORABLE_TEXTS(&unit->message), batch->arena, &unit->unfit);
    if (code != PAWL_OK || unit->message.id.size > 0)
        return code;
    unit->message.id =
        pawl__arena_uuid(batch->arena, pawl_uuid_v7(engine->random, engine->machine_now));
    return unit->message.id.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

pawl_code pawl__batch_add_message(pawl__batch *batch, const pawl_queue_row *row, int32_t conflicts)
{
    pawl__unit *unit = add_unit(batch, PAWL__UNIT_MESSAGE);
    if (unit == NULL)
        return PAWL_ENOMEM;
    unit->row       = *row;
    unit->message   = row->message;
    unit->conflicts = conflicts;
    if (batch->engine->is_virtual)
        unit->now = row->due;
    return make_storable(batch, unit);
}

pawl_code pawl__batch_add_timeout(pawl__batch *batch, const pawl_timeout_row *row)
{
    bool            is_own = pawl_text_equal(row->destination, batch->engine->model->queue);
    pawl__unit_kind kind   = is_own ? PAWL__UNIT_TIMEOUT : PAWL__UNIT_FORWARD;
    if (pawl_uuid_compare(row->saga_id.uuid, pawl__schedules_saga.uuid) == 0)
        kind = PAWL__UNIT_SCHEDULE;
    pawl__unit *unit = add_unit(batch, kind);
    if (unit == NULL)
        return PAWL_ENOMEM;
    unit->timeout                = *row;
    unit->message.id             = pawl__arena_uuid(batch->arena, row->id.uuid);
    unit->message.type           = row->name;
    unit->message.body           = PAWL_TEXT("{}");
    unit->message.headers        = row->headers;
    unit->message.correlation_id = row->correlation_id;
    if (batch->engine->is_virtual)
        unit->now = row->due;
    return unit->message.id.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

pawl_code pawl__batch_add_flush(pawl__batch *batch, const pawl__aggregator_model *aggregator,
                                const pawl_flush_row *flush, const pawl_leased_batch *leased,
                                pawl_session_id session, bool is_size_flush, int64_t pause)
{
    pawl__unit *unit = add_unit(batch, PAWL__UNIT_FLUSH);
    if (unit == NULL)
        return PAWL_ENOMEM;
    unit->aggregator    = aggregator;
    unit->flush         = *flush;
    unit->leased        = *leased;
    unit->readable      = leased->count;
    unit->session       = session;
    unit->is_size_flush = is_size_flush;
    unit->pause         = pause;
    unit->message.id    = pawl__arena_uuid(batch->arena, session.uuid);
    unit->message.type  = aggregator->type;
    if (leased->count > 0)
        unit->message.correlation_id = leased->items[0].message.correlation_id;
    return unit->message.id.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

/* The id of the message whose handling made the event. An event appended without one has an id made
 * of its stream and version. */
static pawl_text message_id_of(const pawl_event_row *row, pawl_arena *arena)
{
    if (row->event.message_id.size > 0)
        return row->event.message_id;
    pawl_dispatch_id id = pawl__dispatch_id_of((pawl_text){.data = "", .size = 0},
                                               PAWL__SUBJECT_SOURCE, row->stream, row->version, 0);
    return pawl__arena_uuid(arena, id.uuid);
}

pawl_code pawl__batch_add_event(pawl__batch *batch, const pawl__projection_model *projection,
                                const pawl_event_row *row, int32_t attempts)
{
    const pawl_event *event = &row->event;
    pawl__unit       *unit  = add_unit(batch, PAWL__UNIT_EVENT);
    if (unit == NULL)
        return PAWL_ENOMEM;
    unit->projection   = projection;
    unit->event        = row;
    unit->row.attempts = attempts;
    unit->message      = (pawl_message){.id             = message_id_of(row, batch->arena),
                                        .type           = event->type,
                                        .body           = event->body,
                                        .headers        = event->headers,
                                        .correlation_id = event->correlation_id,
                                        .causation_id   = event->causation_id};
    if (batch->engine->is_virtual)
        unit->now = event->at;
    return unit->message.id.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

/* ---- Begin ------------------------------------------------------------------- */

static int compare_numbers(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

/* Sorts by business time; at one time flushes and timeouts come before messages, messages by their
 * row numbers. */
static int compare_units(const void *left, const void *right)
{
    const pawl__unit *a     = left;
    const pawl__unit *b     = right;
    int               order = compare_numbers(a->now, b->now);
    if (order == 0)
        order = (a->kind == PAWL__UNIT_MESSAGE) - (b->kind == PAWL__UNIT_MESSAGE);
    if (order == 0 && a->kind == PAWL__UNIT_MESSAGE)
        order = compare_numbers(a->row.seq, b->row.seq);
    if (order == 0 && a->kind == PAWL__UNIT_FLUSH && b->kind == PAWL__UNIT_FLUSH)
        order = pawl_text_compare(a->flush.partition, b->flush.partition);
    if (order == 0 && (a->kind == PAWL__UNIT_TIMEOUT || a->kind == PAWL__UNIT_FORWARD ||
                       a->kind == PAWL__UNIT_SCHEDULE))
        order = pawl_uuid_compare(a->timeout.id.uuid, b->timeout.id.uuid);
    return order;
}

static void release_from(pawl__batch *batch, size_t first)
{
    for (size_t i = first; i < batch->unit_count; i++)
        if (batch->units[i].end == PAWL__END_NEW)
            batch->units[i].end = PAWL__END_RELEASED;
}

/* Sets is_alone: begin ends the batch before such a unit, or behind it if it is the first. A
 * timeout has no lookup; its saga and name find the handler. */
static pawl_code prepare_unit(pawl__batch *batch, pawl__unit *unit, pawl_error *error)
{
    if (unit->kind == PAWL__UNIT_MESSAGE)
        return pawl__lookup_build(batch, unit, error);
    if (unit->kind == PAWL__UNIT_TIMEOUT)
        return pawl__lookup_timeout(batch, unit, error);
    if (unit->kind == PAWL__UNIT_EVENT)
        unit->has_sql = unit->projection->own_sql;
    if (unit->kind == PAWL__UNIT_FLUSH)
        unit->is_alone = unit->has_sql = unit->aggregator->own_sql;
    return PAWL_OK;
}

static bool has_events(const pawl__batch *batch)
{
    return batch->unit_count > 0 && batch->units[0].kind == PAWL__UNIT_EVENT;
}

/* Events share a checkpoint: they are one group. So are the messages and timeouts of an ordered
 * endpoint, of which none may be refused while one behind it is applied. */
static void number_units(pawl__batch *batch)
{
    bool is_ordered = batch->engine->order != NULL && batch->unit_count > 0 &&
                      batch->units[0].kind != PAWL__UNIT_FLUSH;
    bool is_one = is_ordered || has_events(batch);
    for (size_t i = 0; i < batch->unit_count; i++) {
        batch->units[i].index  = (uint32_t)i;
        batch->units[i].parent = is_one ? 0 : (uint32_t)i;
    }
}

void pawl__batch_release(pawl__batch *batch)
{
    number_units(batch);
    release_from(batch, 0);
}

/* A unit that is only deferred needs neither a batch of its own nor sagas. */
static void wait_with_others(pawl__unit *unit)
{
    unit->is_alone     = false;
    unit->lookup_count = 0;
}

pawl_code pawl__batch_begin(pawl__batch *batch, pawl_error *error)
{
    if (batch->engine->is_virtual && batch->unit_count > 1 && !has_events(batch))
        qsort(batch->units, batch->unit_count, sizeof batch->units[0], compare_units);
    number_units(batch);
    pawl_code code = batch->engine->order != NULL ? pawl__order_find(batch, error) : PAWL_OK;
    for (size_t i = 0; i < batch->unit_count; i++) {
        pawl__unit *unit = &batch->units[i];
        if (code == PAWL_OK)
            code = prepare_unit(batch, unit, error);
        if (code != PAWL_OK)
            return code;
        unit->only_waits =
            unit->is_alone && batch->engine->order != NULL && pawl__order_waits(batch, unit);
        if (unit->only_waits)
            wait_with_others(unit);
        if (unit->is_alone) {
            if (i > 0)
                unit->lookup_count = 0; /* looked up again in a later batch */
            release_from(batch, i > 0 ? i : 1);
            break;
        }
    }
    bool can_hold  = (pawl_store_promises(batch->engine->store) & PAWL_STORE_HAS_SQL) != 0;
    batch->has_sql = can_hold && batch->unit_count > 0 && batch->units[0].has_sql &&
                     (batch->units[0].is_alone || has_events(batch));
    return PAWL_OK;
}

/* ---- Load --------------------------------------------------------------------- */

static bool needs_mark(const pawl__unit *unit)
{
    return unit->kind == PAWL__UNIT_MESSAGE && unit->end != PAWL__END_RELEASED;
}

static pawl_code load_marks(pawl__batch *batch, pawl_error *error)
{
    pawl_text  *ids   = pawl_arena_take(batch->arena, (batch->unit_count + 1) * sizeof *ids);
    bool       *known = pawl_arena_take(batch->arena, (batch->unit_count + 1) * sizeof *known);
    size_t      count = 0;
    pawl_store *store = batch->engine->store;
    if (ids == NULL || known == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < batch->unit_count; i++)
        if (needs_mark(&batch->units[i]))
            ids[count++] = batch->units[i].message.id;
    if (count == 0)
        return PAWL_OK;
    pawl_code code =
        pawl_store_inbox_known(store, batch->engine->model->endpoint, ids, count, known, error);
    count = 0;
    for (size_t i = 0; i < batch->unit_count && code == PAWL_OK; i++)
        if (needs_mark(&batch->units[i]) && known[count++]) {
            batch->units[i].end          = PAWL__END_DUPLICATE;
            batch->units[i].lookup_count = 0;
            batch->units[i].is_expired   = false;
        }
    return code;
}

pawl_code pawl__batch_load(pawl__batch *batch, pawl_error *error)
{
    pawl_code code = load_marks(batch, error);
    if (code == PAWL_OK && batch->engine->order != NULL)
        code = pawl__order_look(batch, error);
    return code == PAWL_OK ? pawl__load_sagas(batch, error) : code;
}

/* ---- Run ----------------------------------------------------------------------- */

/* Under a virtual clock a unit waits for rows that this batch made due before it: timeouts at the
 * unit's own time run before it, messages sent for its own time after it. */
static bool is_cut(const pawl__batch *batch, const pawl__unit *unit)
{
    if (!batch->engine->is_virtual || unit->kind == PAWL__UNIT_EVENT)
        return false;
    return batch->cut_timeout <= unit->now || batch->cut_send < unit->now ||
           (unit->kind == PAWL__UNIT_MESSAGE && batch->cut_message <= unit->now);
}

pawl_code pawl__batch_run(pawl__batch *batch, pawl_error *error)
{
    bool is_first = true; /* one unit always runs */
    batch->engine->begin_time(batch->engine->runtime);
    for (size_t i = 0; i < batch->unit_count; i++) {
        pawl__unit *unit    = &batch->units[i];
        bool        is_over = i > 0 && is_cut(batch, unit);
        if (batch->engine->order != NULL && pawl__order_hold(batch, unit))
            continue;
        if (unit->only_waits && unit->end == PAWL__END_NEW)
            unit->end =
                PAWL__END_RELEASED; /* need not be deferred after all: runs alone in a later batch */
        if (unit->end != PAWL__END_NEW) {
            is_first &= unit->end == PAWL__END_SAGA_BUSY;
            continue;
        }
        if (is_over || (!is_first && batch->engine->is_time_over(batch->engine->runtime))) {
            release_from(batch, i);
            if (batch->engine->order != NULL)
                pawl__order_release(batch, i);
            break;
        }
        is_first       = false;
        pawl_code code = pawl__unit_run(batch, unit, error);
        if (code != PAWL_OK)
            return code;
        if (unit->kind == PAWL__UNIT_EVENT && unit->end == PAWL__END_RETRY)
            release_from(batch, i + 1); /* events after a failed one do not run */
    }
    pawl__busy_sagas_release(batch);
    return PAWL_OK;
}

/* Drops entries and effects. Returns the text in the arena, or the code's own text without
 * memory. */
static pawl_text forget(pawl__batch *batch, pawl_code code, const char *text)
{
    batch->entry_count = 0;
    memset(batch->indexes, 0, sizeof batch->indexes);
    batch->effects = (pawl__effects){.sends = NULL};
    pawl_text copy = pawl_arena_text(batch->arena, pawl_text_of(text));
    return copy.data != NULL ? copy : pawl_text_of(pawl_code_text(code));
}

void pawl__batch_fail(pawl__batch *batch, pawl_code code, const char *text)
{
    pawl_text copy = forget(batch, code, text);
    number_units(batch);
    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].end != PAWL__END_RELEASED)
            pawl__unit_fail(batch, &batch->units[i], code, copy, -1);
}

void pawl__batch_set_one_by_one(pawl__batch *batch, pawl_code code, const char *text)
{
    pawl_text copy = forget(batch, code, text);
    for (size_t i = 0; i < batch->unit_count; i++) {
        pawl__unit *unit = &batch->units[i];
        if (unit->end == PAWL__END_RELEASED || unit->end == PAWL__END_SAGA_BUSY)
            continue;
        if (unit->kind == PAWL__UNIT_FLUSH && !unit->is_alone)
            pawl__unit_fail(batch, unit, code, copy, -1);
        else
            unit->end = PAWL__END_RERUN;
    }
}
