/* op_snapshot.c - leased batches of aggregators as single calls: take, remove,
 * release.
 *
 * A driver leases by type. Rows of a known type that the program cannot decode
 * are sorted out here. They stay leased until the session removes or releases
 * its batch; otherwise they would fill every batch again:
 *
 *     size 2         rows  1 bad  2 bad  3 good  4 good
 *     first claim          1      2                        none to hand out
 *     second claim                       3       4         two: done
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/call.h"

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
