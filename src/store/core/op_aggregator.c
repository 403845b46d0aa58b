/* op_aggregator.c - rows of aggregators as single calls: insert, get, remove,
 * count. Snapshots are in op_snapshot.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/call.h"

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
