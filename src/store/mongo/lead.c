/* lead.c - named leases: {_id: name, worker: UUID, expires}.
 *
 * A leader whose worker was replaced is stopped by the fence of its commits; one that lost its lease alone, by
 * the settles, which find that the row is not pending any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

static const pawl__field_list fields =
    PAWL__FIELDS(PAWL__AS(lead_row, name, TEXT), PAWL__AS(lead_row, worker, UUID),
                 PAWL__AS(lead_row, expires, TIME));

/* The id is taken where somebody else's lease runs: the upsert then is a duplicate. */
pawl_code pawl__mongo_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                           bool *is_ours, pawl_error *error)
{
    pawl_code code = pawl__mongo_write(
        store, "leases", PAWL__MONGO_UPSERT, NULL, error,
        "q: {_id: %t, $or: [{worker: %u}, {expires: {$lte: %i}}]}, u: {$set: {worker: %u, expires: %i}}",
        name, store->worker.uuid, now, store->worker.uuid, pawl_time_add(now, lease));
    *is_ours = code == PAWL_OK;
    return code == PAWL_EDUPLICATE ? PAWL_OK : code;
}

pawl_code pawl__mongo_unlead(pawl_store *store, pawl_text name, pawl_error *error)
{
    return pawl__mongo_write(store, "leases", PAWL__MONGO_REMOVE, NULL, error,
                             "q: {_id: %t, worker: %u}", name, store->worker.uuid);
}

pawl_code pawl__mongo_lead_list(pawl_store *store, pawl_time now, pawl_arena *arena,
                                pawl_lead_row **items, size_t *count, pawl_error *error)
{
    static const pawl__mongo_table table =
        PAWL__MONGO_TABLE("leases", "name", fields, pawl_lead_row);
    return pawl__mongo_read(store, &table, arena, items, count, error,
                            "filter: {expires: {$gt: %i}}, sort: {_id: 1}", now);
}
