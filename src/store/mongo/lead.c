/* lead.c - named leases: {_id: name, worker: UUID, expires}.
 *
 * A leader whose worker was replaced is stopped by the fence of its commits; one that lost its lease alone, by
 * the settles, which find that the row is not pending any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/operations.h"

static const pawl__mongo_field lead_fields[] = {
    PAWL__MONGO_FIELD(pawl_lead_row, name, "_id", TEXT),
    PAWL__MONGO_FIELD(pawl_lead_row, worker, "worker", UUID),
    PAWL__MONGO_FIELD(pawl_lead_row, expires, "expires", INT),
    PAWL__MONGO_END,
};

/* {_id: name, "$or": [{worker: ours}, {expires: {"$lte": now}}]} */
static void put_takeable(bson_t *filter, const pawl_store *store, pawl_text name, pawl_time now)
{
    bson_t either, one;
    pawl__mongo_put_text(filter, "_id", name);
    (void)bson_append_array_begin(filter, "$or", -1, &either);
    (void)bson_append_document_begin(&either, "0", 1, &one);
    pawl__mongo_put_uuid(&one, "worker", store->worker.uuid);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_document_begin(&either, "1", 1, &one);
    pawl__mongo_put_op(&one, "expires", "$lte", now);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_array_end(filter, &either);
}

/* The id is taken where somebody else's lease runs: the upsert then is a duplicate. */
pawl_code pawl__mongo_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                           bool *is_ours, pawl_error *error)
{
    bson_t           filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(store, "leases");
    put_takeable(&filter, store, name, now);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    pawl__mongo_put_uuid(&set, "worker", store->worker.uuid);
    pawl__mongo_put_int(&set, "expires", pawl_time_add(now, lease));
    (void)bson_append_document_end(&update, &set);
    pawl__mongo_update(&bulk, &filter, &update, true);
    pawl_code code = pawl__mongo_bulk_run(&bulk, error);
    bson_destroy(&filter);
    bson_destroy(&update);
    *is_ours = code == PAWL_OK;
    return code == PAWL_EDUPLICATE ? PAWL_OK : code;
}

pawl_code pawl__mongo_unlead(pawl_store *store, pawl_text name, pawl_error *error)
{
    bson_t           filter = BSON_INITIALIZER;
    pawl__mongo_bulk bulk   = pawl__mongo_bulk_begin(store, "leases");
    pawl__mongo_put_text(&filter, "_id", name);
    pawl__mongo_put_uuid(&filter, "worker", store->worker.uuid);
    pawl__mongo_remove(&bulk, &filter);
    pawl_code code = pawl__mongo_bulk_run(&bulk, error);
    bson_destroy(&filter);
    return code;
}

pawl_code pawl__mongo_lead_list(pawl_store *store, pawl_time now, pawl_arena *arena,
                                pawl_lead_row **items, size_t *count, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "leases", .filter = &filter, .sort = "_id"};
    pawl__mongo_rows       rows   = {.count = 0};
    pawl__mongo_put_op(&filter, "expires", "$gt", now);
    pawl_code code =
        pawl__mongo_read(store, &find, lead_fields, sizeof(pawl_lead_row), arena, &rows, error);
    *items = rows.items;
    *count = rows.count;
    bson_destroy(&filter);
    return code;
}
