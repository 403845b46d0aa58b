/* retry_list.c - copies units that have to run again, empties the batch and fills it with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/commit.h"

#include "base/arena.h"

static bool copy_flush(pawl_arena *arena, pawl__unit *unit)
{
    pawl_text           *texts[] = {&unit->flush.name, &unit->flush.partition};
    size_t               count   = unit->leased.count;
    pawl_aggregator_row *items   = pawl_arena_take(arena, (count + 1) * sizeof *items);
    if (items == NULL || !pawl__arena_texts(arena, texts, sizeof texts / sizeof texts[0]))
        return false;
    for (size_t i = 0; i < count; i++) {
        items[i] = unit->leased.items[i];
        if (!pawl__arena_texts(arena, PAWL__MESSAGE_TEXTS(&items[i].message)))
            return false;
    }
    unit->leased.items = items;
    return true;
}

/* Appends the attempts of this run to the history of the copied row. */
bool pawl__retry_list_copy(pawl__worker *worker, pawl__unit *unit)
{
    pawl_arena *arena   = worker->kept;
    unit->row.history   = pawl_arena_text(arena, pawl__unit_history(worker->batch, unit));
    unit->attempts      = NULL;
    unit->attempt_count = unit->attempt_capacity = 0;
    if (unit->kind == PAWL__UNIT_MESSAGE)
        return unit->row.history.data != NULL &&
               pawl__arena_texts(arena, PAWL__MESSAGE_TEXTS(&unit->row.message));
    if (unit->kind == PAWL__UNIT_FLUSH)
        return copy_flush(arena, unit);
    pawl_timeout_row *row     = &unit->timeout;
    pawl_text        *texts[] = {&row->saga_type, &row->name, &row->destination, &row->headers,
                                 &row->correlation_id};
    return pawl__arena_texts(arena, texts, sizeof texts / sizeof texts[0]);
}

bool pawl__retry_list_reserve(pawl__worker *worker, pawl__outcome *outcome)
{
    size_t count         = worker->batch->unit_count + 1;
    outcome->retry_count = 0;
    outcome->retries     = pawl_arena_take(worker->kept, count * sizeof outcome->retries[0]);
    return outcome->retries != NULL;
}

bool pawl__retry_list_add(pawl__worker *worker, pawl__outcome *outcome, const pawl__unit *unit,
                          bool is_back)
{
    pawl__retry *retry = &outcome->retries[outcome->retry_count++];
    *retry             = (pawl__retry){.unit = *unit, .is_back = is_back};
    return pawl__retry_list_copy(worker, &retry->unit);
}

/* ---- Filling the batch --------------------------------------------------------------- */

static pawl_code fill(pawl__worker *worker, const pawl__unit *unit)
{
    switch (unit->kind) {
    case PAWL__UNIT_MESSAGE:
        return pawl__batch_add_message(worker->batch, &unit->row, unit->conflicts);
    case PAWL__UNIT_FLUSH:
        return pawl__batch_add_flush(worker->batch, unit->aggregator, &unit->flush, &unit->leased,
                                     unit->session, unit->is_size_flush, unit->pause);
    default: return pawl__batch_add_timeout(worker->batch, &unit->timeout);
    }
}

pawl_code pawl__retry_list_fill_one(pawl__worker *worker, const pawl__unit *unit)
{
    pawl__batch_reset(worker->batch);
    pawl_code code = fill(worker, unit);
    if (code == PAWL_OK) {
        worker->batch->units[0].now       = unit->now;
        worker->batch->units[0].runs      = unit->runs;
        worker->batch->units[0].conflicts = unit->conflicts;
        worker->batch->units[0].before    = unit->before;
        /* The history of a timeout has no column, so it is only in the kept copy. */
        worker->batch->units[0].row.history = unit->row.history;
    }
    return code;
}

pawl_code pawl__retry_list_fill_back(pawl__worker *worker, const pawl__outcome *outcome)
{
    pawl_code code = PAWL_OK;
    pawl__batch_reset(worker->batch);
    for (size_t i = 0; i < outcome->retry_count && code == PAWL_OK; i++)
        if (outcome->retries[i].is_back)
            code = fill(worker, &outcome->retries[i].unit);
    return code;
}
