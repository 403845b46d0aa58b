/* busy_sagas.c - units whose saga another worker has at this moment.
 *
 * Workers of one process claim sagas in memory (engine.take). Between processes only a hot saga, one
 * that conflicted often lately, is locked: its row is loaded with SKIP LOCKED. If another worker has
 * a saga, all units that could touch it are deferred by 20 ms; they keep their queue order, and no
 * attempt is counted. A commit of new due times would cost the losers as much work as the winner, so
 * a batch without any other unit only releases its claims (release).
 *
 *     mark -> load -> mark -> put_back -> run (unit_put_back) -> release
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

static bool is_busy(const pawl__entry *entry)
{
    return entry != NULL && entry->is_busy;
}

/* Could the unit touch a saga that another worker has? Checks both the main and the transitional value: which of
 * them finds the saga may depend on earlier units of the batch. */
static bool may_touch_busy_saga(pawl__batch *batch, const pawl__unit *unit)
{
    if (unit->kind == PAWL__UNIT_TIMEOUT)
        return is_busy(unit->entry);
    for (size_t i = 0; i < unit->lookup_count; i++) {
        const pawl__lookup *lookup = &unit->lookups[i];
        if (is_busy(lookup->entry) || is_busy(pawl__identity_find_transitional(
                                          batch, lookup->binding->saga, &lookup->transitional)))
            return true;
    }
    return false;
}

/* Marks sagas of messages that need several sagas. These are not claimed: they might never be free all at once. The
 * version check of the commit decides (optimistic locking). */
static void mark_shared(pawl__batch *batch)
{
    for (size_t i = 0; i < batch->unit_count; i++) {
        const pawl__unit *unit  = &batch->units[i];
        size_t            count = 0;
        for (size_t j = 0; j < unit->lookup_count; j++)
            count += unit->lookups[j].entry != NULL;
        for (size_t j = 0; j < unit->lookup_count && count > 1; j++)
            if (unit->lookups[j].entry != NULL)
                unit->lookups[j].entry->is_shared = true;
    }
}

void pawl__busy_sagas_mark(pawl__batch *batch, pawl__entry_key key)
{
    const pawl__engine *engine = batch->engine;
    if (engine->take == NULL || pawl__identity_lock(batch) == PAWL_SAGA_LOCKED)
        return;
    if (key == PAWL__BY_MAIN)
        mark_shared(batch);
    for (size_t i = 0; i < batch->entry_count; i++) {
        pawl__entry *entry    = batch->entries[i];
        bool         is_asked = key == PAWL__BY_MAIN
                                    ? !entry->is_loaded && entry->main.type != PAWL_VALUE_NONE
                                    : entry->exists && !entry->is_busy;
        if (!is_asked || entry->is_shared || engine->take(engine->runtime, entry->hashes[key]))
            continue;
        entry->is_loaded = entry->is_busy = batch->has_busy = true;
    }
}

static bool is_hot(const pawl__engine *engine, const pawl__entry *entry)
{
    return entry != NULL && entry->main.type != PAWL_VALUE_NONE &&
           engine->is_hot(engine->runtime, &entry->model->table, PAWL_SAGA_BY_MAIN, &entry->main);
}

/* Releases all units if all sagas are hot, another worker has the one with most units, and at least half of the units
 * cannot run. Else the commit would write more due times than it handles messages, and lock sagas that worker needs. */
static void release_all_if_busy(pawl__batch *batch)
{
    const pawl__engine *engine = batch->engine;
    pawl__entry        *most   = NULL;
    size_t              away = 0, here = 0;
    if (!engine->has_hot || engine->order != NULL)
        return;
    for (size_t i = 0; i < batch->unit_count; i++) {
        pawl__unit  *unit  = &batch->units[i];
        pawl__entry *entry = unit->lookup_count > 0 ? unit->lookups[0].entry : NULL;
        if (unit->end != PAWL__END_NEW)
            continue;
        if (!is_hot(engine, entry))
            return;
        if (++entry->wanted > (most != NULL ? most->wanted : 0))
            most = entry;
        if (may_touch_busy_saga(batch, unit))
            away++;
        else
            here++;
    }
    bool is_left = most != NULL && most->is_busy && away >= here;
    for (size_t i = 0; i < batch->unit_count && is_left; i++)
        if (batch->units[i].end == PAWL__END_NEW && !may_touch_busy_saga(batch, &batch->units[i]))
            batch->units[i].end = PAWL__END_RELEASED;
}

void pawl__unit_put_back(pawl__unit *unit)
{
    unit->end          = PAWL__END_SAGA_BUSY;
    unit->due          = pawl_time_add(unit->now, PAWL__SAGA_BUSY_WAIT);
    unit->lookup_count = 0;
}

void pawl__busy_sagas_put_back(pawl__batch *batch)
{
    if (!batch->has_busy)
        return;
    release_all_if_busy(batch);
    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].end == PAWL__END_NEW && may_touch_busy_saga(batch, &batch->units[i]))
            pawl__unit_put_back(&batch->units[i]);
}

void pawl__busy_sagas_release(pawl__batch *batch)
{
    if (!batch->has_busy)
        return;
    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].end != PAWL__END_SAGA_BUSY && batch->units[i].end != PAWL__END_RELEASED)
            return;
    for (size_t i = 0; i < batch->unit_count; i++) {
        batch->is_all_busy |= batch->units[i].end == PAWL__END_SAGA_BUSY;
        batch->units[i].end = PAWL__END_RELEASED;
    }
}
