/* flush.c - flush rows: for each partition that has messages, when its next flush is due and how
 * the last ones failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

typedef struct flush_row {
    MEMORY_ROW(2)
    pawl_flush_row fields;
} flush_row;

enum { BY_PARTITION, BY_DUE };

MEMORY_ORDER(flush_by_partition, flush_row, MEMORY_TEXT(fields.partition), MEMORY_NOTHING)
MEMORY_ORDER(flush_by_due, flush_row, MEMORY_TEXT(fields.name),
             MEMORY_NUMBER(fields.due) || MEMORY_TEXT(fields.partition))
MEMORY_HAS(flush_is_alive, flush_row, !it->fields.is_dead)

const memory_table_kind pawl__memory_flush_kind = {
    MEMORY_SIZES(flush_row, fields),
    .fields  = &pawl__flush_row_fields,
    .loose   = {offsetof(flush_row, fields.error)},
    .indexes = {[BY_PARTITION] = MEMORY_INDEX(flush_by_partition, NULL),
                [BY_DUE]       = MEMORY_INDEX(flush_by_due, flush_is_alive)},
};

static flush_row *find(const memory_data *data, pawl_text partition)
{
    const flush_row probe = {.fields.partition = partition};
    return pawl__tree_find(&data->flushes.trees[BY_PARTITION], &probe);
}

static flush_row *first_due(const memory_data *data, pawl_text name)
{
    const flush_row probe = {.fields.name = name};
    return pawl__tree_first_of(&data->flushes.trees[BY_DUE], &probe);
}

void pawl__memory_find_flushes(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    flush_row *row = first_due(data, asked->name);
    while (row != NULL && row->fields.due <= asked->time && pawl__memory_list_take(list, row))
        row = pawl__tree_next_of(&data->flushes.trees[BY_DUE], row);
}

static bool is_scanned(const pawl_scan *scan, const pawl_flush_row *fields)
{
    return pawl__memory_is_like(scan->partition, fields->partition) &&
           pawl__memory_is_like(scan->aggregator, fields->name) &&
           (!scan->is_dead || fields->is_dead);
}

bool pawl__memory_partition_behind(const memory_data *data, const pawl_scan *scan,
                                   const pawl_scan_row *after, pawl_scan_row *row)
{
    const memory_tree *tree  = &data->flushes.trees[BY_PARTITION];
    const flush_row    probe = {.fields.partition = after->belongs_to};
    const flush_row   *found = pawl__tree_above(tree, &probe);
    while (found != NULL && !is_scanned(scan, &found->fields))
        found = pawl__tree_next(tree, found);
    if (found == NULL)
        return false;
    *row = (pawl_scan_row){.belongs_to = found->fields.partition,
                           .name       = found->fields.name,
                           .due        = found->fields.due,
                           .attempts   = found->fields.attempts,
                           .is_dead    = found->fields.is_dead,
                           .error      = found->fields.error};
    pawl__memory_partition_count(data, row);
    return true;
}

pawl_time pawl__memory_flush_next_due(const memory_data *data, pawl_text name)
{
    const flush_row *row = first_due(data, name);
    return row != NULL && row->fields.due < PAWL_TIME_MAX ? row->fields.due : PAWL_TIME_MAX;
}

void pawl__memory_flush_stats(const memory_data *data, pawl_time now, pawl_stats *stats)
{
    const memory_tree *tree  = &data->flushes.trees[BY_DUE];
    const flush_row   *first = pawl__tree_first(tree), *row;
    stats->flushes_dead      = (int64_t)(data->flushes.trees[BY_PARTITION].count - tree->count);
    for (; first != NULL; first = pawl__tree_behind_group(tree, first))
        for (row = first; row != NULL && row->fields.due <= now;
             row = pawl__tree_next_of(tree, row)) {
            stats->flushes_due++;
            if (stats->flushes_oldest == 0 || row->fields.due < stats->flushes_oldest)
                stats->flushes_oldest = row->fields.due;
        }
}

void pawl__memory_flush_counts(const memory_data *data, pawl_text partition,
                               pawl_aggregator_counts *counts)
{
    const flush_row *row = find(data, partition);
    if (row == NULL)
        return;
    counts->flush_due      = row->fields.due;
    counts->flush_attempts = row->fields.attempts;
    counts->flush_is_dead  = row->fields.is_dead;
}

pawl_code pawl__memory_flush_ensure(memory_commit *commit, pawl_text name, pawl_text partition,
                                    pawl_time due)
{
    memory_data *data = commit->data;
    if (find(data, partition) != NULL)
        return PAWL_OK;
    const flush_row model = {.fields = {.name = name, .partition = partition, .due = due}};
    return pawl__memory_write(commit, &data->flushes, NULL, &model);
}

pawl_code pawl__memory_apply_flush_set(memory_commit *commit, const void *item)
{
    const pawl_flush_set *change = item;
    memory_data          *data   = commit->data;
    flush_row            *row    = find(data, change->partition);
    if (row == NULL)
        return PAWL_OK;
    if (change->is_done && pawl__memory_partition_is_empty(data, change->partition))
        return pawl__memory_write(commit, &data->flushes, row, NULL);
    flush_row model       = *row;
    model.fields.due      = change->due;
    model.fields.attempts = change->attempts;
    model.fields.is_dead  = change->is_dead;
    model.fields.error    = change->error;
    return pawl__memory_write(commit, &data->flushes, row, &model);
}
