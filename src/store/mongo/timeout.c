/* timeout.c - timeouts and their leases.
 *
 *     {_id: UUID, generation, saga_id: UUID, saga_type, name, armed: {saga_id, name}, destination, due,
 *      headers, correlation_id, attempts, owner: UUID of a session, lease_expires, worker: UUID}
 *
 * A free one has no owner and `lease_expires` 0: so what can be claimed is one range.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"
#include "store/mongo/operations.h"

#include <stdlib.h>

#define CLAIM_TRIES_MAX 10
#define COUNT_DEFAULT 1000 /* of a claim that names no number (T3) */

#define ROW(member, key, type) PAWL__MONGO_FIELD(pawl_timeout_row, member, key, type)
static const pawl__mongo_field fields[] = {
    ROW(id, "_id", UUID),
    ROW(generation, "generation", INT),
    ROW(saga_id, "saga_id", UUID),
    ROW(saga_type, "saga_type", TEXT),
    ROW(name, "name", TEXT),
    ROW(destination, "destination", TEXT),
    ROW(due, "due", INT),
    ROW(headers, "headers", TEXT),
    ROW(correlation_id, "correlation_id", TEXT),
    ROW(attempts, "attempts", INT32),
    ROW(owner, "owner", UUID),
    ROW(lease_expires, "lease_expires", INT),
    PAWL__MONGO_END,
};

static pawl_code read_rows(pawl_store *store, const pawl__mongo_find *find, pawl_arena *arena,
                           pawl__mongo_rows *rows, pawl_error *error)
{
    return pawl__mongo_read(store, find, fields, sizeof(pawl_timeout_row), arena, rows, error);
}

static void put_ids(bson_t *filter, const pawl_timeout_row *rows, size_t count)
{
    pawl__mongo_list list;
    pawl__mongo_list_begin(filter, "_id", "$in", &list);
    for (size_t i = 0; i < count; i++)
        pawl__mongo_put_uuid(&list.items, pawl__mongo_list_key(&list), rows[i].id.uuid);
    pawl__mongo_list_end(filter, &list);
}

/* ---- Claims -------------------------------------------------------------- */

/* One more than the claim takes: the next one tells when to look again. */
static pawl_code find_free(pawl_store *store, const pawl_timeout_claim *claim, size_t count_max,
                           pawl_arena *arena, pawl__mongo_rows *rows, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "timeouts",
                                     .filter     = &filter,
                                     .sort       = "due,_id",
                                     .limit      = (int64_t)count_max + 1};
    if (claim->destination.size != 0)
        pawl__mongo_put_text(&filter, "destination", claim->destination);
    pawl__mongo_put_op(&filter, "lease_expires", "$lte", claim->now);
    pawl_code code = read_rows(store, &find, arena, rows, error);
    bson_destroy(&filter);
    return code;
}

static pawl_code lease(pawl_store *store, const pawl_timeout_claim *claim,
                       const pawl__mongo_rows *found, int64_t *modified, pawl_error *error)
{
    bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    put_ids(&filter, found->items, found->count);
    pawl__mongo_put_op(&filter, "lease_expires", "$lte", claim->now);
    pawl__mongo_put_op(&filter, "due", "$lte", claim->due_max);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    pawl__mongo_put_uuid(&set, "owner", claim->owner.uuid);
    pawl__mongo_put_uuid(&set, "worker", store->worker.uuid);
    pawl__mongo_put_int(&set, "lease_expires", pawl_time_add(claim->now, claim->lease));
    (void)bson_append_document_end(&update, &set);
    pawl_code code = pawl__mongo_stamp(store, "timeouts", &filter, &update, modified, error);
    bson_destroy(&filter);
    bson_destroy(&update);
    return code;
}

/* As they stand now that they are leased: a re-arming may have come between. */
static pawl_code read_leased(pawl_store *store, const pawl_timeout_claim *claim, pawl_arena *arena,
                             pawl__mongo_rows *rows, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find = {.collection = "timeouts", .filter = &filter, .sort = "due,_id"};
    put_ids(&filter, rows->items, rows->count);
    pawl__mongo_put_uuid(&filter, "owner", claim->owner.uuid);
    pawl__mongo_put_int(&filter, "lease_expires", pawl_time_add(claim->now, claim->lease));
    pawl_code code = read_rows(store, &find, arena, rows, error);
    bson_destroy(&filter);
    return code;
}

pawl_code pawl__mongo_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                    pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    size_t           count_max = claim->count_max != 0 ? claim->count_max : COUNT_DEFAULT;
    pawl__mongo_rows found     = {.count = 0};
    int64_t          modified  = 0;
    pawl_code        code      = PAWL_OK;
    for (unsigned tries = 0; code == PAWL_OK && modified == 0 && tries < CLAIM_TRIES_MAX; tries++) {
        size_t count                  = 0;
        code                          = find_free(store, claim, count_max, arena, &found, error);
        const pawl_timeout_row *items = found.items;
        while (code == PAWL_OK && count < found.count && count < count_max &&
               items[count].due <= claim->due_max)
            count++;
        rows->next_due = code == PAWL_OK && count < found.count ? items[count].due : PAWL_TIME_MAX;
        found.count    = count;
        if (code != PAWL_OK || count == 0)
            break;
        code = lease(store, claim, &found, &modified, error);
    }
    if (code == PAWL_OK && found.count != 0)
        code = read_leased(store, claim, arena, &found, error);
    rows->items = found.items;
    rows->count = code == PAWL_OK ? found.count : 0;
    return code;
}

static void put_free(bson_t *update)
{
    bson_t inner;
    (void)bson_append_document_begin(update, "$unset", -1, &inner);
    (void)bson_append_bool(&inner, "owner", -1, true);
    (void)bson_append_bool(&inner, "worker", -1, true);
    (void)bson_append_document_end(update, &inner);
}

pawl_code pawl__mongo_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                   pawl_error *error)
{
    bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    pawl__mongo_put_exists(&filter, "owner", true);
    pawl__mongo_put_op(&filter, "lease_expires", "$lte", now);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    pawl__mongo_put_int(&set, "lease_expires", 0);
    (void)bson_append_document_end(&update, &set);
    put_free(&update);
    pawl_code code = pawl__mongo_stamp(store, "timeouts", &filter, &update, count, error);
    bson_destroy(&filter);
    bson_destroy(&update);
    return code;
}

/* ---- Reads --------------------------------------------------------------- */

pawl_code pawl__mongo_timeout_list(pawl_store *store, pawl_saga_id saga_id, size_t count_max,
                                   pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "timeouts",
                                     .filter     = &filter,
                                     .sort       = "due,_id",
                                     .limit      = (int64_t)count_max};
    pawl__mongo_rows       found  = {.count = 0};
    if (!pawl_uuid_is_zero(saga_id.uuid))
        pawl__mongo_put_uuid(&filter, "saga_id", saga_id.uuid);
    pawl_code code = read_rows(store, &find, arena, &found, error);
    rows->items    = found.items;
    rows->count    = found.count;
    bson_destroy(&filter);
    return code;
}

/* The name of the first destination behind `after` of a timeout that is free, and when the first of it
 * is due: two looks at an index for each destination. */
static pawl_code next_destination(pawl_store *store, pawl_text after, pawl_time now,
                                  pawl_arena *arena, pawl_timeout_row *row, bool *is_there,
                                  pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER, inner;
    const pawl__mongo_find find   = {.collection = "timeouts",
                                     .filter     = &filter,
                                     .sort       = "destination,due,_id",
                                     .only       = "destination,due"};
    if (after.size != 0) {
        (void)bson_append_document_begin(&filter, "destination", -1, &inner);
        pawl__mongo_put_text(&inner, "$gt", after);
        (void)bson_append_document_end(&filter, &inner);
    }
    pawl__mongo_put_op(&filter, "lease_expires", "$lte", now);
    pawl_code code = pawl__mongo_read_one(store, find, fields, arena, row, is_there, error);
    bson_destroy(&filter);
    return code;
}

static bool is_subscribed(const pawl_subscriptions *list, pawl_text queue)
{
    for (size_t i = 0; i < list->count; i++)
        if (pawl_text_equal(list->items[i].queue, queue))
            return true;
    return false;
}

pawl_code pawl__mongo_timeout_foreign(pawl_store *store, pawl_text own, pawl_time now,
                                      pawl_arena *arena, pawl_foreign_rows *rows, pawl_error *error)
{
    pawl_subscriptions list     = {.count = 0};
    pawl_timeout_row   row      = {.generation = 0};
    size_t             capacity = 0;
    bool               is_there = false;
    pawl_code          code     = pawl__mongo_subscriptions(store, arena, &list, error);
    rows->items                 = pawl_arena_take(arena, 1);
    if (code == PAWL_OK)
        code = next_destination(store, PAWL_TEXT(""), now, arena, &row, &is_there, error);
    while (code == PAWL_OK && is_there) {
        pawl_text destination = row.destination;
        bool      is_own      = own.size != 0 && pawl_text_equal(destination, own);
        if (is_own || !is_subscribed(&list, destination)) {
            pawl_foreign_row *grown =
                pawl_arena_grow(arena, rows->items, rows->count, &capacity, sizeof *grown);
            if (grown == NULL)
                return pawl__mongo_no_memory(error);
            rows->items          = grown;
            grown[rows->count++] = (pawl_foreign_row){.destination = destination, .due = row.due};
        }
        code = next_destination(store, destination, now, arena, &row, &is_there, error);
    }
    return code;
}

/* ---- Settles ------------------------------------------------------------- */

void pawl__mongo_keys_timeout_settle(const void *change, uint32_t keys[3])
{
    const pawl_timeout_settle *settle = change;
    keys[0]                           = pawl__mongo_hash(1, &settle->id, sizeof settle->id);
}

static const pawl_timeout_row *find_id(const pawl__mongo_rows *rows, pawl_timeout_id id)
{
    const pawl_timeout_row *items = rows->items;
    for (size_t i = 0; i < rows->count; i++)
        if (pawl_uuid_compare(items[i].id.uuid, id.uuid) == 0)
            return &items[i];
    return NULL;
}

/* With neither an owner nor a generation a row that is gone is settled, too. */
static bool is_settled(const pawl_timeout_row *row, const pawl_timeout_settle *settle)
{
    if (row == NULL)
        return !settle->has_owner && settle->generation == 0;
    return (!settle->has_owner || pawl_uuid_compare(row->owner.uuid, settle->owner.uuid) == 0) &&
           (settle->generation == 0 || settle->generation == row->generation);
}

static void add_settle(pawl__mongo_bulk *bulk, const pawl_timeout_settle *settle)
{
    bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    pawl__mongo_put_uuid(&filter, "_id", settle->id.uuid);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    pawl__mongo_put_int(&set, "lease_expires", 0);
    if (settle->action == PAWL_TIMEOUT_RETRY) {
        pawl__mongo_put_int(&set, "due", settle->due);
        pawl__mongo_put_int(&set, "attempts", settle->attempts);
    }
    (void)bson_append_document_end(&update, &set);
    put_free(&update);
    if (settle->action == PAWL_TIMEOUT_REMOVE)
        pawl__mongo_remove(bulk, &filter);
    else
        pawl__mongo_update(bulk, &filter, &update, false);
    bson_destroy(&filter);
    bson_destroy(&update);
}

pawl_code pawl__mongo_apply_timeout_settle(const pawl__mongo_run *run)
{
    const pawl_timeout_settle *const *items    = (const pawl_timeout_settle *const *)run->items;
    bson_t                            filter   = BSON_INITIALIZER;
    pawl__mongo_rows                  found    = {.count = 0};
    size_t                            expected = 0;
    pawl__mongo_list                  list;
    const pawl__mongo_find            find = {
                   .collection = "timeouts", .filter = &filter, .only = "_id,generation,owner"};
    pawl__mongo_list_begin(&filter, "_id", "$in", &list);
    for (size_t i = 0; i < run->count; i++)
        pawl__mongo_put_uuid(&list.items, pawl__mongo_list_key(&list), items[i]->id.uuid);
    pawl__mongo_list_end(&filter, &list);
    pawl_code code =
        read_rows(run->writer->store, &find, run->writer->arena, &found, run->writer->error);
    bson_destroy(&filter);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(run->writer->store, "timeouts");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        const pawl_timeout_row *row = find_id(&found, items[i]->id);
        if (!is_settled(row, items[i])) {
            code = pawl__mongo_refuse(run, i, pawl__why_not_leased);
        } else if (row != NULL) {
            add_settle(&bulk, items[i]);
            expected++;
        }
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}

/* ---- Cancelling and setting ----------------------------------------------- */

pawl_code pawl__mongo_apply_timeout_cancel(const pawl__mongo_run *run)
{
    const pawl_timeout_cancel *const *items = (const pawl_timeout_cancel *const *)run->items;
    pawl__mongo_bulk                  bulk = pawl__mongo_bulk_begin(run->writer->store, "timeouts");
    for (size_t i = 0; i < run->count; i++) {
        bson_t filter = BSON_INITIALIZER;
        pawl__mongo_put_uuid(&filter, "saga_id", items[i]->saga_id.uuid);
        if (items[i]->name.size != 0)
            pawl__mongo_put_text(&filter, "name", items[i]->name);
        pawl__mongo_remove_many(&bulk, &filter);
        bson_destroy(&filter);
    }
    return pawl__mongo_bulk_run(&bulk, run->writer->error);
}

static bool is_named(const pawl_timeout_set *set)
{
    return !pawl_uuid_is_zero(set->saga_id.uuid) && set->name.size != 0;
}

void pawl__mongo_keys_timeout_set(const void *change, uint32_t keys[3])
{
    const pawl_timeout_set *set = change;
    keys[0]                     = pawl__mongo_hash(1, &set->id, sizeof set->id);
    if (is_named(set))
        keys[1] = pawl__mongo_hash(pawl__mongo_hash(2, &set->saga_id, sizeof set->saga_id),
                                   set->name.data, set->name.size);
}

/* {"$or": [{_id: {"$in": ids}}, {armed: {"$in": names}}]} */
static void put_set(bson_t *filter, const pawl__mongo_run *run)
{
    const pawl_timeout_set *const *items = (const pawl_timeout_set *const *)run->items;
    bson_t                         either, one, armed;
    pawl__mongo_list               list;
    (void)bson_append_array_begin(filter, "$or", -1, &either);
    (void)bson_append_document_begin(&either, "0", 1, &one);
    pawl__mongo_list_begin(&one, "_id", "$in", &list);
    for (size_t i = 0; i < run->count; i++)
        pawl__mongo_put_uuid(&list.items, pawl__mongo_list_key(&list), items[i]->id.uuid);
    pawl__mongo_list_end(&one, &list);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_document_begin(&either, "1", 1, &one);
    pawl__mongo_list_begin(&one, "armed", "$in", &list);
    for (size_t i = 0; i < run->count; i++)
        if (is_named(items[i])) {
            (void)bson_append_document_begin(&list.items, pawl__mongo_list_key(&list), -1, &armed);
            pawl__mongo_put_uuid(&armed, "saga_id", items[i]->saga_id.uuid);
            pawl__mongo_put_text(&armed, "name", items[i]->name);
            (void)bson_append_document_end(&list.items, &armed);
        }
    pawl__mongo_list_end(&one, &list);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_array_end(filter, &either);
}

static const pawl_timeout_row *find_armed(const pawl__mongo_rows *rows, const pawl_timeout_set *set)
{
    const pawl_timeout_row *items = rows->items;
    if (!is_named(set))
        return find_id(rows, set->id);
    for (size_t i = 0; i < rows->count; i++)
        if (pawl_uuid_compare(items[i].saga_id.uuid, set->saga_id.uuid) == 0 &&
            pawl_text_equal(items[i].name, set->name))
            return &items[i];
    return NULL;
}

/* Another generation of the document, free and never tried; all is written anew but its id. */
static void add_set(pawl__mongo_bulk *bulk, const pawl_timeout_set *set,
                    const pawl_timeout_row *armed)
{
    bson_t                 filter = BSON_INITIALIZER, document = BSON_INITIALIZER, inner;
    const pawl_timeout_row row = {.id             = armed != NULL ? armed->id : set->id,
                                  .generation     = armed != NULL ? armed->generation + 1 : 1,
                                  .saga_id        = set->saga_id,
                                  .saga_type      = set->saga_type,
                                  .name           = set->name,
                                  .destination    = set->destination,
                                  .due            = set->due,
                                  .headers        = set->headers,
                                  .correlation_id = set->correlation_id};
    pawl__mongo_put_uuid(&filter, "_id", row.id.uuid);
    (void)pawl__mongo_encode(&document, fields, &row);
    if (is_named(set)) {
        (void)bson_append_document_begin(&document, "armed", -1, &inner);
        pawl__mongo_put_uuid(&inner, "saga_id", set->saga_id.uuid);
        pawl__mongo_put_text(&inner, "name", set->name);
        (void)bson_append_document_end(&document, &inner);
    }
    if (armed != NULL)
        pawl__mongo_replace(bulk, &filter, &document);
    else
        pawl__mongo_insert(bulk, &document);
    bson_destroy(&filter);
    bson_destroy(&document);
}

pawl_code pawl__mongo_apply_timeout_set(const pawl__mongo_run *run)
{
    const pawl_timeout_set *const *items    = (const pawl_timeout_set *const *)run->items;
    bson_t                         filter   = BSON_INITIALIZER;
    pawl__mongo_rows               found    = {.count = 0};
    size_t                         expected = 0;
    const pawl__mongo_find         find     = {
                    .collection = "timeouts", .filter = &filter, .only = "_id,generation,saga_id,name"};
    put_set(&filter, run);
    pawl_code code =
        read_rows(run->writer->store, &find, run->writer->arena, &found, run->writer->error);
    bson_destroy(&filter);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(run->writer->store, "timeouts");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        const pawl_timeout_row *same  = find_id(&found, items[i]->id);
        const pawl_timeout_row *armed = find_armed(&found, items[i]);
        if ((items[i]->is_new && (same != NULL || armed != NULL)) ||
            (same != NULL && armed == NULL)) {
            code = pawl__mongo_refuse(run, i, pawl__why_timeout_exists);
        } else {
            add_set(&bulk, items[i], armed);
            expected++;
        }
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}
