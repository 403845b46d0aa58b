/* op_partition.c - an operator's view of aggregator partitions, and the actions release and remove.
 *
 * One commit for each action:
 *
 *     partition             release                 remove
 *     aggregator_remove                             all rows go
 *     flush_set             due now, no failures    the flush row goes with them
 *     event                 who, when, why
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"

#define NOUN "aggregator partition"

/* ---- Finding ------------------------------------------------------------ */

static pawl_partition_row row_of(const pawl_scan_row *scanned)
{
    return (pawl_partition_row){.partition  = scanned->belongs_to,
                                .aggregator = scanned->name,
                                .count      = scanned->count,
                                .oldest     = scanned->count > 0 ? scanned->oldest : 0,
                                .due        = scanned->due,
                                .attempts   = scanned->attempts,
                                .is_dead    = scanned->is_dead,
                                .error      = scanned->error};
}

static pawl_code list(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                      pawl_partition_rows *rows, pawl_error *error)
{
    pawl_scan_rows scanned;
    *rows          = (pawl_partition_rows){.count = 0};
    pawl_code code = pawl_store_scan(store, scan, arena, &scanned, error);
    if (code != PAWL_OK || scanned.count == 0)
        return code;
    rows->items = pawl_arena_take(arena, scanned.count * sizeof *rows->items);
    if (rows->items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu partitions",
                              scanned.count);
    for (size_t i = 0; i < scanned.count; i++)
        rows->items[i] = row_of(&scanned.items[i]);
    rows->count = scanned.count;
    return PAWL_OK;
}

pawl_code pawl_store_partition_list(pawl_store *store, const pawl_partition_query *query,
                                    pawl_arena *arena, pawl_partition_rows *rows, pawl_error *error)
{
    const pawl_scan_row after = {.belongs_to = query->after};
    const pawl_scan     scan  = {.kind       = PAWL_SCAN_PARTITIONS,
                                 .after      = &after,
                                 .aggregator = query->aggregator,
                                 .is_dead    = query->is_dead,
                                 .count_max  = query->count_max};
    return list(store, &scan, arena, rows, error);
}

pawl_code pawl_store_partition_find(pawl_store *store, pawl_text partition, pawl_arena *arena,
                                    pawl_partition_row *row, pawl_error *error)
{
    const pawl_scan     scan = {.kind = PAWL_SCAN_PARTITIONS, .partition = partition};
    pawl_partition_rows rows;
    *row = (pawl_partition_row){.count = 0};
    if (partition.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, NOUN ": the name is empty");
    pawl_code code = list(store, &scan, arena, &rows, error);
    if (code == PAWL_OK && rows.count == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no " NOUN " '%.*s'",
                              PAWL_TEXT_ARGS(partition));
    if (code == PAWL_OK)
        *row = rows.items[0];
    return code;
}

/* ---- Actions ------------------------------------------------------------ */

static bool put_row(yyjson_mut_doc *doc, const pawl_partition_row *row)
{
    const char *was = row->is_dead ? "dead" : row->attempts > 0 ? "failing" : "collecting";
    return pawl__texts_put(doc, "aggregator", row->aggregator) &&
           pawl__texts_put_number(doc, "count", row->count) &&
           pawl__texts_put_number(doc, "attempts", row->attempts) &&
           pawl__texts_put(doc, "error", row->error) &&
           pawl__texts_put(doc, "was", pawl_text_of(was));
}

static yyjson_mut_doc *headers_of(const pawl_partition_row *row)
{
    yyjson_mut_doc *doc = pawl__texts_begin();
    return pawl__texts_kept(doc, doc != NULL && put_row(doc, row));
}

/* A removal of rows is checked only where there are some. */
static pawl_code apply_action(pawl_store *store, const pawl__action *action, bool is_remove,
                              pawl_time now, int64_t *count, pawl_error *error)
{
    pawl__act              act;
    pawl_partition_row     row    = {.count = 0};
    pawl_aggregator_remove remove = {.partition = action->name, .is_all = true};
    pawl_flush_set         flush  = {.partition = action->name, .due = now, .is_done = is_remove};
    if (count != NULL)
        *count = 0;
    pawl_code code = pawl__act_begin(&act, store, action, now, error);
    if (code == PAWL_OK)
        code = pawl_store_partition_find(store, action->name, act.arena, &row, error);
    remove.is_checked                   = row.count > 0;
    act.changes.flush_set.items         = &flush;
    act.changes.flush_set.count         = 1;
    act.changes.aggregator_remove.items = &remove;
    act.changes.aggregator_remove.count = is_remove;
    if (code == PAWL_OK)
        code = pawl__act_commit(&act, headers_of(&row), error);
    if (code == PAWL_OK && count != NULL)
        *count = row.count;
    pawl_arena_destroy(act.arena);
    return code;
}

pawl_code pawl_store_partition_run_now(pawl_store *store, pawl_text partition, pawl_text by,
                                       pawl_text reason, pawl_time now, pawl_error *error)
{
    const pawl__action action = {PAWL_PARTITION_STREAMS, NOUN, partition,
                                 PAWL_PARTITION_RUN_NOW, by,   reason};
    return apply_action(store, &action, false, now, NULL, error);
}

pawl_code pawl_store_partition_remove(pawl_store *store, pawl_text partition, pawl_text by,
                                      pawl_text reason, pawl_time now, int64_t *count,
                                      pawl_error *error)
{
    const pawl__action action = {PAWL_PARTITION_STREAMS, NOUN, partition,
                                 PAWL_PARTITION_REMOVED, by,   reason};
    return apply_action(store, &action, true, now, count, error);
}

pawl_code pawl_store_partition_actions(pawl_store *store, pawl_text partition, pawl_arena *arena,
                                       pawl_event_rows *rows, pawl_error *error)
{
    return pawl__action_list(store, PAWL_PARTITION_STREAMS, partition, arena, rows, error);
}
