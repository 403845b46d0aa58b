/* identity.c - the entries of a batch: each saga once, found by correlation value, transitional
 * value or id; and the groups of units that touched a common entry.
 *
 * Values compare as the stores compare: same type, text byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

#include "engine/entry.h"
#include "engine/stream.h"

#include <string.h>

#define CAPACITY_FIRST 64

/* ---- Indexes ------------------------------------------------------------ */

static uint64_t hash_of(const pawl__saga_model *model, const pawl_value *value)
{
    return pawl_value_hash(value) ^ (model->index * UINT64_C(0x9E3779B97F4A7C15));
}

static pawl_value value_of(const pawl__entry *entry, pawl__entry_key key)
{
    if (key == PAWL__BY_ID)
        return pawl_value_uuid(entry->id.uuid);
    return key == PAWL__BY_MAIN ? entry->main : entry->transitional;
}

static void put(pawl__entry_index *index, pawl__entry_key key, pawl__entry *entry)
{
    size_t mask = index->capacity - 1;
    size_t slot = entry->hashes[key] & mask;
    while (index->slots[slot] != NULL)
        slot = (slot + 1) & mask;
    index->slots[slot] = entry;
    index->count++;
}

static bool grow(pawl__batch *batch, pawl__entry_key key)
{
    pawl__entry_index *index  = &batch->indexes[key];
    pawl__entry_index  larger = {NULL, 0, index->capacity * 2};
    if (larger.capacity == 0)
        larger.capacity = CAPACITY_FIRST;
    larger.slots = pawl_arena_take(batch->arena, larger.capacity * sizeof larger.slots[0]);
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < index->capacity; i++)
        if (index->slots[i] != NULL)
            put(&larger, key, index->slots[i]);
    *index = larger;
    return true;
}

/* Adds an entry whose key is new or changed (a new id, another transitional value); a changed key
 * leaves its old slot behind, which no longer matches. */
static bool add(pawl__batch *batch, pawl__entry_key key, pawl__entry *entry)
{
    pawl__entry_index *index = &batch->indexes[key];
    if (index->count * 2 >= index->capacity && !grow(batch, key))
        return false;
    pawl_value value   = value_of(entry, key);
    entry->hashes[key] = hash_of(entry->model, &value);
    put(index, key, entry);
    return true;
}

/* Two entries may have one transitional value if one of these sagas completed in this batch: finds the living
 * one. */
static pawl__entry *find(pawl__batch *batch, pawl__entry_key key, const pawl__saga_model *model,
                         const pawl_value *value)
{
    const pawl__entry_index *index = &batch->indexes[key];
    pawl__entry             *ended = NULL;
    if (index->capacity == 0 || value->type == PAWL_VALUE_NONE)
        return NULL;
    size_t mask = index->capacity - 1;
    for (size_t slot = hash_of(model, value) & mask; index->slots[slot] != NULL;
         slot        = (slot + 1) & mask) {
        pawl__entry *entry = index->slots[slot];
        pawl_value   other = value_of(entry, key);
        if (entry->model != model || !pawl_value_equal(&other, value))
            continue;
        if (entry->exists || key != PAWL__BY_TRANSITIONAL)
            return entry;
        ended = ended != NULL ? ended : entry;
    }
    return ended;
}

pawl__entry *pawl__identity_find_transitional(pawl__batch *batch, const pawl__saga_model *model,
                                              const pawl_value *value)
{
    return find(batch, PAWL__BY_TRANSITIONAL, model, value);
}

pawl__entry *pawl__identity_find_id(pawl__batch *batch, const pawl__saga_model *model,
                                    pawl_saga_id id)
{
    pawl_value value = pawl_value_uuid(id.uuid);
    return find(batch, PAWL__BY_ID, model, &value);
}

/* ---- Entries ------------------------------------------------------------- */

/* Gives a new entry its stream: name, id, and the set of remembered dispatch ids. */
static bool add_stream(pawl__batch *batch, pawl__entry *entry)
{
    pawl__stream_entry *stream = pawl_arena_take(batch->arena, sizeof *stream);
    if (stream == NULL)
        return false;
    stream->text         = pawl_arena_printf(batch->arena, "%s/%.*s", entry->model->saga->name,
                                             PAWL_TEXT_ARGS(entry->main.as.text));
    stream->recent.bound = entry->model->stream->remembered;
    entry->stream        = stream;
    return stream->text.data != NULL &&
           pawl__identity_set_id(batch, entry,
                                 pawl__stream_id(batch->engine->model->endpoint, stream->text));
}

static pawl__entry *add_entry(pawl__batch *batch, const pawl__saga_model *model,
                              const pawl_value *main)
{
    pawl__entry  *entry = pawl_arena_take(batch->arena, sizeof *entry);
    pawl__entry **grown = pawl_arena_grow(batch->arena, batch->entries, batch->entry_count,
                                          &batch->entry_capacity, sizeof batch->entries[0]);
    if (entry == NULL || grown == NULL)
        return NULL;
    entry->model   = model;
    entry->main    = *main;
    batch->entries = grown;
    if (main->type != PAWL_VALUE_NONE && !add(batch, PAWL__BY_MAIN, entry))
        return NULL;
    if (model->stream != NULL && !add_stream(batch, entry))
        return NULL;
    batch->entries[batch->entry_count++] = entry;
    return entry;
}

pawl__entry *pawl__identity_get(pawl__batch *batch, const pawl__saga_model *model,
                                const pawl_value *main)
{
    pawl__entry *found = find(batch, PAWL__BY_MAIN, model, main);
    return found != NULL ? found : add_entry(batch, model, main);
}

bool pawl__identity_set_id(pawl__batch *batch, pawl__entry *entry, pawl_saga_id id)
{
    entry->id = id;
    return add(batch, PAWL__BY_ID, entry);
}

bool pawl__identity_set_transitional(pawl__batch *batch, pawl__entry *entry,
                                     const pawl_value *value)
{
    if (pawl_value_equal(&entry->transitional, value))
        return true;
    entry->transitional = *value;
    return value->type == PAWL_VALUE_NONE || add(batch, PAWL__BY_TRANSITIONAL, entry);
}

/* Did an earlier read, by another key of the row, find it locked by another worker? It may have become free
 * since, or this read locks nothing. */
static bool is_row_busy(pawl__batch *batch, const pawl__entry *entry, const pawl_saga_row *row)
{
    const pawl__entry *found[] = {
        entry, pawl__identity_find_id(batch, entry->model, row->id),
        find(batch, PAWL__BY_MAIN, entry->model, &row->main),
        pawl__identity_find_transitional(batch, entry->model, &row->transitional)};
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
        if (found[i] != NULL && found[i]->is_busy)
            return true;
    return false;
}

/* Indexes the keys of a row that another worker has, so that a look-up by any of them finds this entry. */
static pawl_code leave_row(pawl__batch *batch, pawl__entry *entry, const pawl_saga_row *row)
{
    entry->is_busy  = true;
    batch->has_busy = true;
    if (row->presence == PAWL_SAGA_LOCKED_BY_ANOTHER)
        return PAWL_OK;
    if (!pawl__identity_set_transitional(batch, entry, &row->transitional) ||
        !pawl__identity_set_id(batch, entry, row->id))
        return PAWL_ENOMEM;
    return PAWL_OK;
}

pawl_code pawl__identity_leave(pawl__batch *batch, const pawl__saga_model *model, pawl_saga_key key,
                               const pawl_value *value, pawl_error *error)
{
    static const pawl_value none;
    pawl__entry            *entry = add_entry(batch, model, &none);
    bool                    is_ok = entry != NULL;
    if (is_ok && key == PAWL_SAGA_BY_ID)
        is_ok = pawl__identity_set_id(batch, entry, (pawl_saga_id){value->as.uuid});
    else if (is_ok)
        is_ok = pawl__identity_set_transitional(batch, entry, value);
    if (!is_ok)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a saga of another worker");
    entry->is_loaded = true;
    entry->is_busy = batch->has_busy = true;
    return PAWL_OK;
}

/* Some databases keep times to the second only, and round them (D22). */
static bool is_same(const pawl_value *column, const pawl_value *value)
{
    if (column->type == PAWL_VALUE_TIME && value->type == PAWL_VALUE_TIME)
        return value->as.time - column->as.time < PAWL_SECONDS(1) &&
               column->as.time - value->as.time < PAWL_SECONDS(1);
    return pawl_value_equal(column, value);
}

/* Checks that the correlation property has the same value in the column, which finds the row, and in the state, which
 * the handler sees. An older or newer program may leave one of them empty (D27, D29). The transitional column is not
 * checked: a program of the previous migration phase changes only the state. */
static pawl_code check_row(const pawl__saga_model *model, const pawl_saga_row *row,
                           const void *state, pawl_error *error)
{
    pawl_value value;
    char       id[PAWL_UUID_TEXT_SIZE + 1], in[2][PAWL_VALUE_TEXT_SIZE];
    if (model->saga->correlation == NULL || row->main.type == PAWL_VALUE_NONE)
        return PAWL_OK;
    pawl_code code =
        pawl_record_value(model->state, model->saga->correlation, state, &value, error);
    if (code != PAWL_OK || pawl_value_is_default(&value) || is_same(&row->main, &value))
        return code;
    pawl_uuid_format(row->id.uuid, id);
    return pawl_error_set(
        error, PAWL_EINVAL,
        "saga %s %s: the column of its correlation property '%s' has %s, its state "
        "%s; the row was changed by other means, and one of them is wrong",
        model->saga->name, id, model->saga->correlation,
        pawl_value_format(&row->main, in[0], sizeof in[0]),
        pawl_value_format(&value, in[1], sizeof in[1]));
}

pawl_code pawl__identity_fill(pawl__batch *batch, pawl__entry *entry, const pawl_saga_row *row,
                              pawl_error *error)
{
    entry->is_loaded = true;
    if (row->presence == PAWL_SAGA_MISSING)
        return PAWL_OK;
    if (row->presence == PAWL_SAGA_LOCKED_BY_ANOTHER ||
        (batch->has_busy && is_row_busy(batch, entry, row)))
        return leave_row(batch, entry, row);
    void *state = pawl_arena_take(batch->arena, entry->model->state->size);
    if (state == NULL)
        return PAWL_ENOMEM;
    entry->stored     = *row;
    pawl_error broken = PAWL_ERROR_INIT;
    /* A state that cannot be read is an error that names the saga, never "no saga" (S27). */
    entry->broken =
        pawl__state_read(entry->model, entry->model->state, row, batch->arena, state, &broken);
    if (entry->broken == PAWL_OK)
        entry->broken = check_row(entry->model, row, state, &broken);
    if (entry->broken == PAWL_ENOMEM)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the state of a saga");
    if (entry->broken != PAWL_OK) {
        entry->broken_text = pawl_arena_text(batch->arena, pawl_text_of(broken.text));
        memset(state, 0, entry->model->state->size);
    }
    entry->state  = state;
    entry->exists = true;
    if (!pawl__identity_set_transitional(batch, entry, &row->transitional) ||
        !pawl__identity_set_id(batch, entry, row->id))
        return PAWL_ENOMEM;
    return PAWL_OK;
}

pawl_code pawl__identity_adopt(pawl__batch *batch, const pawl__saga_model *model,
                               const pawl_saga_row *row, pawl__entry **entry, pawl_error *error)
{
    *entry = pawl__identity_find_id(batch, model, row->id);
    if (*entry == NULL)
        *entry = pawl__identity_get(batch, model, &row->main);
    if (*entry == NULL)
        return PAWL_ENOMEM;
    return (*entry)->is_loaded && !(*entry)->is_busy
               ? PAWL_OK
               : pawl__identity_fill(batch, *entry, row, error);
}

/* A unit in a handler transaction, alone in its batch, waits for the row lock. */
pawl_saga_lock pawl__identity_lock(const pawl__batch *batch)
{
    return batch->has_sql ? PAWL_SAGA_LOCKED : PAWL_SAGA_UNLOCKED;
}

static pawl_code load_row(pawl__batch *batch, const pawl__saga_model *model, pawl_saga_key key,
                          const pawl_value *value, pawl_saga_row *row, pawl_error *error)
{
    pawl__engine  *engine = batch->engine;
    pawl_saga_lock lock   = pawl__identity_lock(batch);
    *row                  = (pawl_saga_row){.presence = PAWL_SAGA_MISSING};
    if (lock == PAWL_SAGA_UNLOCKED && engine->has_hot &&
        engine->is_hot(engine->runtime, &model->table, key, value))
        lock = PAWL_SAGA_SKIP_LOCKED;
    return pawl_store_saga_load(engine->store, &model->table, key, value, 1, lock, batch->arena,
                                row, error);
}

pawl_code pawl__identity_load_main(pawl__batch *batch, pawl__entry *entry, pawl_error *error)
{
    pawl_saga_row row;
    if (entry->is_loaded || entry->main.type == PAWL_VALUE_NONE)
        return PAWL_OK;
    pawl_code code = load_row(batch, entry->model, PAWL_SAGA_BY_MAIN, &entry->main, &row, error);
    return code == PAWL_OK ? pawl__identity_fill(batch, entry, &row, error) : code;
}

pawl_code pawl__identity_load_id(pawl__batch *batch, const pawl__saga_model *model, pawl_saga_id id,
                                 pawl__entry **entry, pawl_error *error)
{
    pawl_value    value = pawl_value_uuid(id.uuid);
    pawl_saga_row row;
    *entry = pawl__identity_find_id(batch, model, id);
    if (*entry != NULL)
        return PAWL_OK;
    pawl_code code = load_row(batch, model, PAWL_SAGA_BY_ID, &value, &row, error);
    if (code != PAWL_OK || row.presence == PAWL_SAGA_MISSING)
        return code;
    if (row.presence == PAWL_SAGA_THERE)
        return pawl__identity_adopt(batch, model, &row, entry, error);
    code   = pawl__identity_leave(batch, model, PAWL_SAGA_BY_ID, &value, error);
    *entry = pawl__identity_find_id(batch, model, id);
    return code;
}

pawl_text pawl__saga_source(pawl_arena *arena, const pawl__saga_model *model, pawl_saga_id id)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id.uuid, text);
    return pawl_arena_printf(arena, "%s/%s", model->saga->name, text);
}

/* ---- Groups --------------------------------------------------------------- */

uint32_t pawl__group_of(pawl__batch *batch, uint32_t unit)
{
    uint32_t root = unit;
    while (batch->units[root].parent != root)
        root = batch->units[root].parent;
    while (batch->units[unit].parent != root) {
        uint32_t next             = batch->units[unit].parent;
        batch->units[unit].parent = root;
        unit                      = next;
    }
    return root;
}

void pawl__identity_touch(pawl__batch *batch, pawl__entry *entry, pawl__unit *unit)
{
    if (!entry->has_unit) {
        entry->has_unit = true;
        entry->unit     = unit->index;
        return;
    }
    uint32_t left  = pawl__group_of(batch, entry->unit);
    uint32_t right = pawl__group_of(batch, unit->index);
    if (left < right)
        batch->units[right].parent = left;
    else
        batch->units[left].parent = right;
}
