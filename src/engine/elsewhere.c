/* elsewhere.c - units whose saga another worker has at this moment.
 *
 * Workers of one process claim sagas in memory (engine.take). Between processes only a hot saga, one
 * that conflicted often lately, is locked: its row is loaded with SKIP LOCKED. If another worker has
 * a saga, all units that could touch it are deferred by 20 ms; they keep their queue order, and no
 * attempt is counted. A commit of new due times would cost the losers as much work as the winner, so
 * a batch without any other unit only releases its claims (give_way).
 *
 *     leave -> load -> leave -> put_back -> run (unit_put_back) -> give_way
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

static bool is_elsewhere(const pawl__entry *entry)
{
    return entry != NULL && entry->is_elsewhere;
}

/* Could the unit touch a saga that another worker has? Checks both the main and the transitional value: which of
 * them finds the saga may depend on earlier units of the batch. */
static bool could_touch(pawl__batch *batch, const pawl__unit *unit)
{
    if (unit->kind == PAWL__UNIT_TIMEOUT)
        return is_elsewhere(unit->entry);
    for (size_t i = 0; i < unit->lookup_count; i++) {
        const pawl__lookup *lookup = &unit->lookups[i];
        if (is_elsewhere(lookup->entry) ||
            is_elsewhere(pawl__identity_find_transitional(batch, lookup->binding->saga,
                                                          &lookup->transitional)))
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

void pawl__elsewhere_leave(pawl__batch *batch, pawl__entry_key key)
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
                                    : entry->exists && !entry->is_elsewhere;
        if (!is_asked || entry->is_shared || engine->take(engine->runtime, entry->hashes[key]))
            continue;
        entry->is_loaded = entry->is_elsewhere = batch->has_elsewhere = true;
    }
}

static bool is_hot(const pawl__engine *engine, const pawl__entry *entry)
{
    return entry != NULL && entry->main.type != PAWL_VALUE_NONE &&
           engine->is_hot(engine->runtime, &entry->model->table, PAWL_SAGA_BY_MAIN, &entry->main);
}

/* Releases all units if all sagas are hot, another worker has the one with most units, and at least half of the units
 * cannot run. Else the commit would write more due times than it handles messages, and lock sagas that worker needs. */
static void leave_rest(pawl__batch *batch)
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
        if (could_touch(batch, unit))
            away++;
        else
            here++;
    }
    bool is_left = most != NULL && most->is_elsewhere && away >= here;
    for (size_t i = 0; i < batch->unit_count && is_left; i++)
        if (batch->units[i].end == PAWL__END_NEW && !could_touch(batch, &batch->units[i]))
            batch->units[i].end = PAWL__END_RELEASED;
}

void pawl__unit_put_back(pawl__unit *unit)
{
    unit->end          = PAWL__END_ELSEWHERE;
    unit->due          = pawl_time_add(unit->now, PAWL__ELSEWHERE_WAIT);
    unit->lookup_count = 0;
}

void pawl__elsewhere_put_back(pawl__batch *batch)
{
    if (!batch->has_elsewhere)
        return;
    leave_rest(batch);
    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].end == PAWL__END_NEW && could_touch(batch, &batch->units[i]))
            pawl__unit_put_back(&batch->units[i]);
}

void pawl__elsewhere_give_way(pawl__batch *batch)
{
    if (!batch->has_elsewhere)
        return;
    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].end != PAWL__END_ELSEWHERE && batch->units[i].end != PAWL__END_RELEASED)
            return;
    for (size_t i = 0; i < batch->unit_count; i++) {
        batch->gives_way |= batch->units[i].end == PAWL__END_ELSEWHERE;
        batch->units[i].end = PAWL__END_RELEASED;
    }
}
