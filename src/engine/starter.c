/* starter.c - see starter.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/starter.h"

#include "engine/batch.h"

/* Limits of one read: retried messages of one type, and queue rows that are examined for them, so that a long queue is
 * not scanned. After a read that hit its limit the saga's other types are not read. */
#define READ_MAX 256
#define LOOK_MAX 4096
#define BEHIND PAWL_MILLISECONDS(50)
/* Pause before the next read if there are more starters than were read. */
#define LOOK_AGAIN PAWL_SECONDS(1)

/* ---- Reading ------------------------------------------------------------------ */

/* Adds the message as one that could begin the binding's saga. A body that cannot be read begins
 * nothing. */
static pawl_code add(pawl__batch *batch, const pawl__binding *binding, const pawl_queue_row *row)
{
    pawl__starters *list    = &batch->starters;
    pawl__lookup    lookup  = {.binding = binding};
    void           *message = pawl_arena_take(batch->arena, binding->message->size);
    if (message == NULL)
        return PAWL_ENOMEM;
    pawl_code code =
        pawl__version_decode(&row->message, binding->message, batch->arena, message, NULL);
    lookup.message = message;
    if (code == PAWL_OK)
        code = pawl__lookup_values(batch, &lookup);
    if (code != PAWL_OK)
        return code == PAWL_ENOMEM ? code : PAWL_OK;
    pawl__starter *grown =
        pawl_arena_grow(batch->arena, list->items, list->count, &list->capacity, sizeof *grown);
    if (grown == NULL)
        return PAWL_ENOMEM;
    list->items          = grown;
    grown[list->count++] = (pawl__starter){.saga         = binding->saga,
                                           .main         = lookup.value,
                                           .transitional = lookup.transitional,
                                           .due          = row->due,
                                           .placed       = row->placed,
                                           .seq          = row->seq};
    return PAWL_OK;
}

static size_t index_of(const pawl__batch *batch, const pawl__saga_model *saga)
{
    return (size_t)(saga - batch->engine->model->sagas);
}

static bool is_cut(const pawl__batch *batch, const pawl__saga_model *saga)
{
    return batch->starters.cut != NULL && batch->starters.cut[index_of(batch, saga)];
}

static pawl_code note_cut(pawl__batch *batch, const pawl__saga_model *saga)
{
    pawl__starters *list = &batch->starters;
    if (list->cut == NULL)
        list->cut = pawl_arena_take(batch->arena, batch->engine->model->saga_count);
    if (list->cut == NULL)
        return PAWL_ENOMEM;
    list->cut[index_of(batch, saga)] = true;
    return PAWL_OK;
}

static pawl_code read_from(pawl__batch *batch, const pawl__binding *binding, pawl_text type,
                           pawl_time due_after, pawl_error *error)
{
    if (batch->starters.is_full)
        return PAWL_OK;
    const pawl_retried_query query = {.queue     = batch->engine->model->queue,
                                      .type      = type,
                                      .due_after = due_after,
                                      .scan_max  = LOOK_MAX,
                                      .count_max = READ_MAX,
                                      .size_max  = PAWL_CLAIM_SIZE_MAX};
    pawl_queue_rows          rows;
    pawl_code                code =
        pawl_store_queue_retried(batch->engine->store, &query, batch->arena, &rows, error);
    if (code == PAWL_EUNSUPPORTED)
        return PAWL_OK; /* the driver lacks this read: no starters are known */
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++)
        code = add(batch, binding, &rows.items[i]);
    batch->starters.is_full = rows.is_cut;
    return code == PAWL_OK && (rows.count == READ_MAX || rows.is_cut)
               ? note_cut(batch, binding->saga)
               : code;
}

/* Two reads: the due rows, claimed ones included, and the rows due later. If many are due, one read
 * would end at its limit before it comes to the later ones. */
static pawl_code read_type(pawl__batch *batch, const pawl__binding *binding, pawl_text type,
                           pawl_error *error)
{
    pawl_code code = read_from(batch, binding, type, PAWL_TIME_MIN, error);
    return code == PAWL_OK ? read_from(batch, binding, type, batch->engine->business_now, error)
                           : code;
}

/* Reads messages of the binding's type and of its subtypes. */
static pawl_code read_types(pawl__batch *batch, const pawl__binding *binding,
                            const pawl__type_model *type, pawl_error *error)
{
    const pawl__model *model = batch->engine->model;
    pawl_code          code  = read_type(batch, binding, type->type, error);
    for (size_t i = 0; i < model->type_count && code == PAWL_OK; i++)
        if (pawl__record_is_derived(model->types[i]->record, type->type))
            code = read_type(batch, binding, model->types[i]->type, error);
    return code;
}

pawl_code pawl__starters_read(pawl__batch *batch, const pawl__saga_model *saga, pawl_error *error)
{
    const pawl__model *model = batch->engine->model;
    pawl_code          code  = PAWL_OK;
    batch->starters.is_full  = false;
    for (size_t i = 0; i < model->type_count; i++)
        for (size_t j = 0; j < model->types[i]->count && code == PAWL_OK; j++) {
            const pawl__binding *binding = model->types[i]->bindings[j];
            if (binding->kind == PAWL__BINDING_SAGA && binding->saga == saga && binding->starts &&
                binding->key != NULL)
                code = read_types(batch, binding, model->types[i], error);
        }
    return code;
}

/* ---- Waiting ------------------------------------------------------------------ */

static bool is_older(pawl_time placed, int64_t seq, const pawl__unit *unit)
{
    return placed < unit->row.placed || (placed == unit->row.placed && seq < unit->row.seq);
}

static bool is_same(const pawl_value *left, const pawl_value *right)
{
    return left->type != PAWL_VALUE_NONE && pawl_value_equal(left, right);
}

/* Looks among the units of the batch: a unit that failed just now for the first time is not yet a row in
 * retry. */
static bool find_in_batch(const pawl__batch *batch, const pawl__unit *unit,
                          const pawl__lookup *lookup, pawl_time *due)
{
    for (size_t i = 0; i < batch->unit_count; i++) {
        const pawl__unit *other = &batch->units[i];
        if (other->end != PAWL__END_RETRY || !is_older(other->row.placed, other->row.seq, unit))
            continue;
        for (size_t j = 0; j < other->lookup_count; j++) {
            const pawl__lookup *its = &other->lookups[j];
            if (its->binding->starts && its->binding->saga == lookup->binding->saga &&
                (is_same(&its->value, &lookup->value) ||
                 is_same(&its->transitional, &lookup->transitional))) {
                *due = other->due;
                return true;
            }
        }
    }
    return false;
}

static bool find_in_queue(const pawl__batch *batch, const pawl__unit *unit,
                          const pawl__lookup *lookup, pawl_time *due)
{
    const pawl__starters *list = &batch->starters;
    for (size_t i = 0; i < list->count; i++) {
        const pawl__starter *starter = &list->items[i];
        if (starter->saga == lookup->binding->saga && starter->seq != unit->row.seq &&
            is_older(starter->placed, starter->seq, unit) &&
            (is_same(&starter->main, &lookup->value) ||
             is_same(&starter->transitional, &lookup->transitional))) {
            *due = starter->due;
            return true;
        }
    }
    return false;
}

bool pawl__starter_wait(pawl__batch *batch, pawl__unit *unit, const pawl__lookup *lookup)
{
    pawl_time due  = unit->now;
    int64_t   more = BEHIND;
    if (unit->kind != PAWL__UNIT_MESSAGE)
        return false;
    if (!find_in_batch(batch, unit, lookup, &due) && !find_in_queue(batch, unit, lookup, &due)) {
        bool has_value =
            lookup->value.type != PAWL_VALUE_NONE || lookup->transitional.type != PAWL_VALUE_NONE;
        if (!has_value || !is_cut(batch, lookup->binding->saga))
            return false;
        more = LOOK_AGAIN;
    }
    unit->end = PAWL__END_WAIT;
    unit->due = pawl_time_add(due > unit->now ? due : unit->now, more);
    return true;
}
