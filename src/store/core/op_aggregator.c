/* op_aggregator.c - rows of aggregators as single calls: insert, remove, count; leased batches: take, remove, release;
 * and an operator's view of partitions, with the actions release and remove.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"

pawl_code pawl_store_aggregator_insert(pawl_store *store, const pawl_aggregator_row *row,
                                       pawl_time due, pawl_time now, pawl_error *error)
{
    pawl_aggregator_add change = {
        .name      = row->name,
        .partition = row->partition.size != 0 ? row->partition : row->name,
        .key       = row->key.size != 0 ? row->key : row->message.id,
        .message   = row->message,
        .at        = now,
        .due       = due,
    };
    return PAWL__COMMIT_ONE(aggregator_add, &change);
}

/* ---- Counting ----------------------------------------------------------- */

/* Time 0: it only separates free rows from leased ones, which these calls do not tell apart. */
static pawl_code count_rows(pawl_store *store, pawl_text partition, const pawl_text *types,
                            size_t type_count, pawl_aggregator_counts *counts, pawl_error *error)
{
    return pawl_store_aggregator_counts(store, partition, types, type_count, 0, counts, error);
}

pawl_code pawl_store_aggregator_count(pawl_store *store, pawl_text partition, int64_t *count,
                                      pawl_error *error)
{
    pawl_aggregator_counts counts;
    pawl_code              code = count_rows(store, partition, NULL, 0, &counts, error);
    *count                      = counts.all;
    return code;
}

pawl_code pawl_store_aggregator_count_resolved(pawl_store *store, pawl_text partition,
                                               const pawl_text *types, size_t type_count,
                                               int64_t *count, pawl_error *error)
{
    pawl_aggregator_counts counts;
    pawl_code              code = count_rows(store, partition, types, type_count, &counts, error);
    *count                      = counts.resolved;
    return code;
}

/* ---- Removing ----------------------------------------------------------- */

/* Nothing was removed: finds out which of the two answers is right from the other rows of
 * the partition. */
static pawl_code explain_none(pawl_store *store, const pawl_aggregator_remove *change,
                              pawl_error *error)
{
    int64_t   count = 0;
    pawl_code code  = pawl_store_aggregator_count(store, change->partition, &count, error);
    if (code != PAWL_OK)
        return code;
    if (count == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND,
                              "aggregator '%.*s': no row to remove for correlation id '%.*s', it "
                              "holds none",
                              PAWL_TEXT_ARGS(change->partition),
                              PAWL_TEXT_ARGS(change->correlation_id));
    return pawl_error_set(error, PAWL_ECONFLICT,
                          "aggregator '%.*s': no row has correlation id '%.*s', it holds %lld rows",
                          PAWL_TEXT_ARGS(change->partition), PAWL_TEXT_ARGS(change->correlation_id),
                          (long long)count);
}

pawl_code pawl_store_aggregator_remove(pawl_store *store, pawl_text partition,
                                       pawl_text correlation_id, pawl_time now, pawl_error *error)
{
    if (correlation_id.size == 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "aggregator '%.*s': the correlation id to remove is empty",
                              PAWL_TEXT_ARGS(partition));
    pawl_aggregator_remove change = {
        .partition = partition, .correlation_id = correlation_id, .is_checked = true};
    pawl_changes changes = {PAWL__ONE_UNIT(now), .aggregator_remove = {&change, 1}};
    pawl_code    code    = pawl_store_commit(store, &changes, NULL, error);
    return code == PAWL_ECONFLICT ? explain_none(store, &change, error) : code;
}

pawl_code pawl_store_aggregator_remove_all(pawl_store *store, pawl_text partition, pawl_time now,
                                           pawl_error *error)
{
    pawl_aggregator_remove change = {.partition = partition, .is_all = true};
    return PAWL__COMMIT_ONE(aggregator_remove, &change);
}

/* ---- Leased batches ------------------------------------------------------- *
 *
 * A driver leases by type. Rows of a known type that the program cannot decode
 * are sorted out here. They stay leased until the session removes or releases
 * its batch; otherwise they would fill every batch again:
 *
 *     size 2         rows  1 bad  2 bad  3 good  4 good
 *     first claim          1      2                        none to hand out
 *     second claim                       3       4         two: done */

#define WHAT "leased batch of an aggregator"

static pawl_code check_options(const pawl_store                           *store,
                               const pawl_aggregator_leased_batch_options *options,
                               pawl_error                                 *error)
{
    pawl_code code = pawl__store_call_needs(store, store->ops->leased_batch_claim != NULL,
                                            "leased_batch_claim", error);
    if (code == PAWL_OK)
        code = pawl__operation_size(WHAT, options->size, error);
    if (code == PAWL_OK)
        code = pawl__operation_lease(WHAT, options->lease, error);
    return code;
}

static bool is_decodable(const pawl_aggregator_leased_batch_options *options,
                         const pawl_aggregator_row                  *row)
{
    return options->can_decode == NULL || options->can_decode(&row->message, options->context);
}

/* Adds the rows of a claim that can be decoded, and counts the others. */
static pawl_code take_rows(const pawl_aggregator_leased_batch_options *options,
                           const pawl_leased_batch *claimed, pawl_arena *arena, size_t *capacity,
                           pawl_aggregator_leased_batch *leased, int64_t *undecodable)
{
    for (size_t i = 0; i < claimed->count; i++) {
        if (!is_decodable(options, &claimed->items[i])) {
            ++*undecodable;
            continue;
        }
        pawl_aggregator_row *rows =
            pawl_arena_grow(arena, leased->rows, leased->count, capacity, sizeof rows[0]);
        if (rows == NULL)
            return PAWL_ENOMEM;
        rows[leased->count++] = claimed->items[i];
        leased->rows          = rows;
    }
    return PAWL_OK;
}

/* Claims until the batch is full or no free row is left. */
static pawl_code claim_rows(pawl_store *store, const pawl_aggregator_leased_batch_options *options,
                            pawl_time now, pawl_arena *arena, pawl_aggregator_leased_batch *leased,
                            pawl_error *error)
{
    bool                    is_bounded  = options->size != PAWL_SIZE_DEFAULT;
    size_t                  capacity    = 0;
    int64_t                 undecodable = 0;
    pawl_leased_batch       claimed;
    pawl_leased_batch_claim claim = {
        .partition  = options->partition,
        .session    = leased->session,
        .types      = options->types,
        .type_count = options->type_count,
        .now        = now,
        .lease      = options->lease,
    };
    do {
        claim.count_max = is_bounded ? (size_t)options->size - leased->count : 0;
        pawl_code code  = pawl_store_leased_batch_claim(store, &claim, arena, &claimed, error);
        if (code != PAWL_OK)
            return code;
        code = take_rows(options, &claimed, arena, &capacity, leased, &undecodable);
        if (code != PAWL_OK)
            return pawl_error_set(error, code, WHAT ": out of memory");
    } while (is_bounded && claimed.count == claim.count_max &&
             leased->count < (size_t)options->size);
    leased->unresolved = claimed.unresolved + undecodable;
    return PAWL_OK;
}

static pawl_code list_ids(pawl_aggregator_leased_batch *leased, pawl_arena *arena,
                          pawl_error *error)
{
    leased->ids = pawl_arena_take(arena, (leased->count + 1) * sizeof leased->ids[0]);
    if (leased->ids == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, WHAT ": out of memory");
    for (size_t i = 0; i < leased->count; i++)
        leased->ids[i] = leased->rows[i].id;
    return PAWL_OK;
}

/* Nothing was handed out, so the caller will not release anything: releases the
 * leases here. A failure is ignored, since a lease that is left behind
 * expires. */
static void free_leases(pawl_store *store, pawl_aggregator_leased_batch *leased, pawl_time now)
{
    (void)pawl_store_aggregator_release_leased_batch(store, leased, now, NULL);
    leased->count = 0;
}

pawl_code pawl_store_aggregator_leased_batch(pawl_store                                 *store,
                                             const pawl_aggregator_leased_batch_options *options,
                                             pawl_time now, pawl_arena *arena,
                                             pawl_aggregator_leased_batch *leased,
                                             pawl_error                   *error)
{
    *leased        = (pawl_aggregator_leased_batch){.partition = options->partition,
                                                    .session   = options->session};
    pawl_code code = check_options(store, options, error);
    if (code == PAWL_OK)
        code = pawl__store_attach(store, now, error);
    if (code != PAWL_OK)
        return code;
    if (pawl_uuid_is_zero(leased->session.uuid))
        leased->session.uuid = pawl__store_new_id(store, now);
    leased->partition = pawl_arena_text(arena, options->partition);
    if (leased->partition.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, WHAT ": out of memory");
    code = claim_rows(store, options, now, arena, leased, error);
    if (code == PAWL_OK)
        code = list_ids(leased, arena, error);
    if (code != PAWL_OK || (leased->count == 0 && leased->unresolved != 0))
        free_leases(store, leased, now);
    return code;
}

static pawl_code check_session(const char *what, const pawl_aggregator_leased_batch *leased,
                               pawl_error *error)
{
    if (!pawl_uuid_is_zero(leased->session.uuid))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "%s of a leased batch of aggregator '%.*s': the session is zero", what,
                          PAWL_TEXT_ARGS(leased->partition));
}

pawl_code pawl_store_aggregator_remove_leased_batch(pawl_store                         *store,
                                                    const pawl_aggregator_leased_batch *leased,
                                                    pawl_time now, pawl_error *error)
{
    if (leased->count == 0)
        return PAWL_OK;
    pawl_code code = check_session("removal", leased, error);
    if (code != PAWL_OK)
        return code;
    pawl_leased_batch_remove  change = {.partition = leased->partition,
                                        .session   = leased->session,
                                        .ids       = leased->ids,
                                        .id_count  = leased->count};
    pawl_leased_batch_release rest   = {.partition = leased->partition, .session = leased->session};
    pawl_changes              changes = {PAWL__ONE_UNIT(now), .leased_batch_remove = {&change, 1},
                                         .leased_batch_release = {&rest, 1}};
    return pawl_store_commit(store, &changes, NULL, error);
}

pawl_code pawl_store_aggregator_release_leased_batch(pawl_store                         *store,
                                                     const pawl_aggregator_leased_batch *leased,
                                                     pawl_time now, pawl_error *error)
{
    pawl_code code = check_session("release", leased, error);
    if (code != PAWL_OK)
        return code;
    pawl_leased_batch_release change = {.partition = leased->partition, .session = leased->session};
    return PAWL__COMMIT_ONE(leased_batch_release, &change);
}

/* ---- Partitions, of an operator ------------------------------------------- *
 *
 * One commit for each action:
 *
 *     partition             release                 remove
 *     aggregator_remove                             all rows go
 *     flush_set             due now, no failures    the flush row goes with them
 *     event                 who, when, why */

#define NOUN "aggregator partition"

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
