/* aggregator.c - messages that are collected, partition by partition, with the leases of snapshots; and what
 * is known of a partition's flushes.
 *
 *     aggregator        {_id: number, name, partition, key, ..., at, session: UUID, lease_expires, worker}
 *     aggregator_flush  {_id: partition, name, due, attempts, is_dead, error, adds}
 *
 * Each add writes the flush document, and so does who finds the partition empty and takes it away: of two
 * that do so at once, one begins again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"
#include "store/mongo/operations.h"

#include <stdio.h>
#include <stdlib.h>

#define CLAIM_TRIES_MAX 10

#define ROW(member, key_, type) PAWL__MONGO_FIELD(pawl_aggregator_row, member, key_, type)
static const pawl__mongo_field fields[] = {
    ROW(id, "_id", INT),
    ROW(name, "name", TEXT),
    ROW(partition, "partition", TEXT),
    ROW(key, "key", TEXT),
    PAWL__MONGO_MESSAGE(pawl_aggregator_row, message),
    ROW(at, "at", INT),
    ROW(session, "session", UUID),
    ROW(lease_expires, "lease_expires", INT),
    PAWL__MONGO_END,
};

#define FLUSH(member, key, type) PAWL__MONGO_FIELD(pawl_flush_row, member, key, type)
static const pawl__mongo_field flush_fields[] = {
    FLUSH(partition, "_id", TEXT),
    FLUSH(name, "name", TEXT),
    FLUSH(due, "due", INT),
    FLUSH(attempts, "attempts", INT32),
    FLUSH(is_dead, "is_dead", BOOL),
    FLUSH(error, "error", TEXT),
    PAWL__MONGO_END,
};

static pawl_code read_rows(pawl_store *store, const pawl__mongo_find *find, pawl_arena *arena,
                           pawl__mongo_rows *rows, pawl_error *error)
{
    return pawl__mongo_read(store, find, fields, sizeof(pawl_aggregator_row), arena, rows, error);
}

static void put_types(bson_t *filter, const char *op, const pawl_text *types, size_t count)
{
    pawl__mongo_list list;
    pawl__mongo_list_begin(filter, "type", op, &list);
    for (size_t i = 0; i < count; i++)
        pawl__mongo_put_text(&list.items, pawl__mongo_list_key(&list), types[i]);
    pawl__mongo_list_end(filter, &list);
}

/* ---- Snapshots ----------------------------------------------------------- */

static void put_free(bson_t *filter, const pawl_snapshot_claim *claim, const char *op)
{
    pawl__mongo_put_text(filter, "partition", claim->partition);
    pawl__mongo_put_op(filter, "lease_expires", "$lte", claim->now);
    if (claim->id_max != 0)
        pawl__mongo_put_op(filter, "_id", "$lte", claim->id_max);
    put_types(filter, op, claim->types, claim->type_count);
}

static pawl_code lease(pawl_store *store, const pawl_snapshot_claim *claim,
                       const pawl__mongo_rows *found, int64_t *modified, pawl_error *error)
{
    bson_t                     filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    const pawl_aggregator_row *rows = found->items;
    pawl__mongo_list           list;
    pawl__mongo_list_begin(&filter, "_id", "$in", &list);
    for (size_t i = 0; i < found->count; i++)
        pawl__mongo_put_int(&list.items, pawl__mongo_list_key(&list), rows[i].id);
    pawl__mongo_list_end(&filter, &list);
    pawl__mongo_put_op(&filter, "lease_expires", "$lte", claim->now);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    pawl__mongo_put_uuid(&set, "session", claim->session.uuid);
    pawl__mongo_put_uuid(&set, "worker", store->worker.uuid);
    pawl__mongo_put_int(&set, "lease_expires", pawl_time_add(claim->now, claim->lease));
    (void)bson_append_document_end(&update, &set);
    pawl_code code = pawl__mongo_stamp(store, "aggregator", &filter, &update, modified, error);
    bson_destroy(&filter);
    bson_destroy(&update);
    return code;
}

/* Rows never change but for their lease: those that were found are those that are leased, unless others
 * were faster. */
static pawl_code keep_leased(pawl_store *store, const pawl_snapshot_claim *claim, pawl_arena *arena,
                             pawl__mongo_rows *rows, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find = {.collection = "aggregator", .filter = &filter, .sort = "at,_id"};
    pawl__mongo_put_text(&filter, "partition", claim->partition);
    pawl__mongo_put_uuid(&filter, "session", claim->session.uuid);
    pawl_code code = read_rows(store, &find, arena, rows, error);
    bson_destroy(&filter);
    return code;
}

static pawl_code claim_rows(pawl_store *store, const pawl_snapshot_claim *claim, pawl_arena *arena,
                            pawl__mongo_rows *found, pawl_error *error)
{
    bson_t                 filter   = BSON_INITIALIZER;
    int64_t                modified = 0;
    pawl_code              code     = PAWL_OK;
    const pawl__mongo_find find     = {.collection = "aggregator",
                                       .filter     = &filter,
                                       .sort       = "at,_id",
                                       .limit      = (int64_t)claim->count_max};
    put_free(&filter, claim, "$in");
    for (unsigned tries = 0; code == PAWL_OK && modified == 0 && tries < CLAIM_TRIES_MAX; tries++) {
        code = read_rows(store, &find, arena, found, error);
        if (code != PAWL_OK || found->count == 0)
            break;
        code = lease(store, claim, found, &modified, error);
    }
    if (code == PAWL_OK && modified != (int64_t)found->count)
        code = keep_leased(store, claim, arena, found, error);
    bson_destroy(&filter);
    return code;
}

pawl_code pawl__mongo_snapshot_claim(pawl_store *store, const pawl_snapshot_claim *claim,
                                     pawl_arena *arena, pawl_snapshot *snapshot, pawl_error *error)
{
    pawl__mongo_rows found  = {.count = 0};
    bson_t           filter = BSON_INITIALIZER;
    *snapshot               = (pawl_snapshot){.count = 0};
    put_free(&filter, claim, "$nin");
    pawl_code code = pawl__mongo_count(store, "aggregator", &filter, &snapshot->unresolved, error);
    if (code == PAWL_OK)
        code = claim_rows(store, claim, arena, &found, error);
    pawl_aggregator_row *rows = found.items;
    for (size_t i = 0; i < found.count; i++) {
        rows[i].session       = claim->session;
        rows[i].lease_expires = pawl_time_add(claim->now, claim->lease);
    }
    snapshot->items = rows;
    snapshot->count = found.count;
    bson_destroy(&filter);
    return code;
}

/* ---- Reads --------------------------------------------------------------- */

pawl_code pawl__mongo_aggregator_get(pawl_store *store, pawl_text partition, pawl_arena *arena,
                                     pawl_snapshot *rows, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find = {.collection = "aggregator", .filter = &filter, .sort = "at,_id"};
    pawl__mongo_rows       found = {.count = 0};
    pawl__mongo_put_text(&filter, "partition", partition);
    pawl_code code = read_rows(store, &find, arena, &found, error);
    *rows          = (pawl_snapshot){.items = found.items, .count = found.count};
    bson_destroy(&filter);
    return code;
}

static pawl_code count_rows(pawl_store *store, pawl_text partition, const pawl_text *types,
                            size_t type_count, const pawl_time *now, int64_t *count,
                            pawl_error *error)
{
    bson_t filter = BSON_INITIALIZER;
    pawl__mongo_put_text(&filter, "partition", partition);
    if (types != NULL)
        put_types(&filter, "$in", types, type_count);
    if (now != NULL)
        pawl__mongo_put_op(&filter, "lease_expires", "$lte", *now);
    pawl_code code = pawl__mongo_count(store, "aggregator", &filter, count, error);
    bson_destroy(&filter);
    return code;
}

static pawl_code last_id(pawl_store *store, pawl_text partition, int64_t *id, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {
          .collection = "aggregator", .filter = &filter, .sort = "-_id", .only = "_id"};
    pawl_aggregator_row row      = {.id = 0};
    bool                is_there = false;
    pawl__mongo_put_text(&filter, "partition", partition);
    pawl_code code = pawl__mongo_read_one(store, find, fields, NULL, &row, &is_there, error);
    *id            = row.id;
    bson_destroy(&filter);
    return code;
}

static pawl_code read_flush(pawl_store *store, pawl_text partition, pawl_arena *arena,
                            pawl_flush_row *row, bool *is_there, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "aggregator_flush", .filter = &filter};
    pawl__mongo_put_text(&filter, "_id", partition);
    pawl_code code = pawl__mongo_read_one(store, find, flush_fields, arena, row, is_there, error);
    bson_destroy(&filter);
    return code;
}

pawl_code pawl__mongo_aggregator_count(pawl_store *store, pawl_text partition,
                                       const pawl_text *types, size_t type_count, pawl_time now,
                                       pawl_aggregator_counts *counts, pawl_error *error)
{
    static const pawl_text none     = {.size = 0};
    const pawl_text       *known    = types != NULL ? types : &none;
    pawl_arena            *arena    = pawl_arena_create(0);
    pawl_flush_row         flush    = {.due = 0};
    bool                   is_there = false;
    pawl_code              code     = arena != NULL ? PAWL_OK : pawl__mongo_no_memory(error);
    if (code == PAWL_OK)
        code = count_rows(store, partition, NULL, 0, NULL, &counts->all, error);
    if (code == PAWL_OK)
        code = count_rows(store, partition, known, type_count, NULL, &counts->resolved, error);
    if (code == PAWL_OK)
        code = count_rows(store, partition, known, type_count, &now, &counts->ready, error);
    if (code == PAWL_OK)
        code = last_id(store, partition, &counts->id_last, error);
    if (code == PAWL_OK)
        code = read_flush(store, partition, arena, &flush, &is_there, error);
    counts->flush_due      = flush.due;
    counts->flush_attempts = flush.attempts;
    counts->flush_is_dead  = flush.is_dead;
    pawl_arena_destroy(arena);
    return code;
}

pawl_code pawl__mongo_flush_list(pawl_store *store, pawl_text name, pawl_time due_max,
                                 size_t count_max, pawl_arena *arena, pawl_flush_rows *rows,
                                 pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "aggregator_flush",
                                     .filter     = &filter,
                                     .sort       = "due,_id",
                                     .limit      = (int64_t)count_max};
    pawl__mongo_rows       found  = {.count = 0};
    pawl__mongo_put_text(&filter, "name", name);
    (void)bson_append_bool(&filter, "is_dead", -1, false);
    pawl__mongo_put_op(&filter, "due", "$lte", due_max);
    pawl_code code =
        pawl__mongo_read(store, &find, flush_fields, sizeof(pawl_flush_row), arena, &found, error);
    *rows = (pawl_flush_rows){.items = found.items, .count = found.count};
    bson_destroy(&filter);
    return code;
}

/* ---- Removals ------------------------------------------------------------ */

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void put_removed(bson_t *filter, const pawl_snapshot_remove *removal)
{
    pawl__mongo_list list;
    pawl__mongo_list_begin(filter, "_id", "$in", &list);
    for (size_t i = 0; i < removal->id_count; i++)
        pawl__mongo_put_int(&list.items, pawl__mongo_list_key(&list), removal->ids[i]);
    pawl__mongo_list_end(filter, &list);
    pawl__mongo_put_text(filter, "partition", removal->partition);
    if (!pawl_uuid_is_zero(removal->session.uuid))
        pawl__mongo_put_uuid(filter, "session", removal->session.uuid);
}

/* The first id that is not there under the session's lease refuses. */
static pawl_code look_at_removal(const pawl__mongo_run *run, const bson_t *filter)
{
    const pawl_snapshot_remove *removal = run->items[0];
    const pawl__mongo_find find     = {.collection = "aggregator", .filter = filter, .only = "_id"};
    const bson_t          *document = NULL;
    size_t                 count    = 0;
    int64_t *ids = pawl_arena_take(run->writer->arena, (removal->id_count + 1) * sizeof *ids);
    if (ids == NULL)
        return pawl__mongo_no_memory(run->writer->error);
    mongoc_cursor_t *cursor = pawl__mongo_begin(run->writer->store, &find);
    while (count < removal->id_count && mongoc_cursor_next(cursor, &document))
        (void)pawl__mongo_get_int(document, "_id", &ids[count++]);
    pawl_code code = pawl__mongo_end(run->writer->store, cursor, run->writer->error);
    if (count > 1)
        qsort(ids, count, sizeof *ids, by_number);
    for (size_t i = 0; code == PAWL_OK && i < removal->id_count; i++) {
        pawl_error why = PAWL_ERROR_INIT;
        if (count != 0 && bsearch(&removal->ids[i], ids, count, sizeof *ids, by_number) != NULL)
            continue;
        (void)pawl__why_not_removed(removal, i, &why);
        return pawl__mongo_refuse_with(run, 0, &why);
    }
    return code;
}

pawl_code pawl__mongo_apply_snapshot_remove(const pawl__mongo_run *run)
{
    const pawl_snapshot_remove *removal = run->items[0];
    bson_t                      filter  = BSON_INITIALIZER;
    pawl_code                   code    = PAWL_OK;
    put_removed(&filter, removal);
    if (!pawl_uuid_is_zero(removal->session.uuid))
        code = look_at_removal(run, &filter);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(run->writer->store, "aggregator");
    if (code == PAWL_OK && !run->is_out[0] && removal->id_count != 0)
        pawl__mongo_remove_many(&bulk, &filter);
    pawl_code wrote = pawl__mongo_bulk_run(&bulk, run->writer->error);
    bson_destroy(&filter);
    return code != PAWL_OK ? code : wrote;
}

pawl_code pawl__mongo_apply_snapshot_release(const pawl__mongo_run *run)
{
    const pawl_snapshot_release *const *items = (const pawl_snapshot_release *const *)run->items;
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(run->writer->store, "aggregator");
    for (size_t i = 0; i < run->count; i++) {
        bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER, inner;
        pawl__mongo_put_text(&filter, "partition", items[i]->partition);
        pawl__mongo_put_uuid(&filter, "session", items[i]->session.uuid);
        (void)bson_append_document_begin(&update, "$set", -1, &inner);
        pawl__mongo_put_int(&inner, "lease_expires", 0);
        (void)bson_append_document_end(&update, &inner);
        (void)bson_append_document_begin(&update, "$unset", -1, &inner);
        (void)bson_append_bool(&inner, "session", -1, true);
        (void)bson_append_bool(&inner, "worker", -1, true);
        (void)bson_append_document_end(&update, &inner);
        pawl__mongo_update_many(&bulk, &filter, &update);
        bson_destroy(&filter);
        bson_destroy(&update);
    }
    return pawl__mongo_bulk_run(&bulk, run->writer->error);
}

/* {_id: the oldest of that correlation id}, or all of the partition. */
static pawl_code put_gone(const pawl__mongo_run *run, const pawl_aggregator_remove *gone,
                          bson_t *filter)
{
    bson_t                 oldest = BSON_INITIALIZER;
    const pawl__mongo_find find   = {
          .collection = "aggregator", .filter = &oldest, .sort = "at,_id", .only = "_id"};
    pawl_aggregator_row row      = {.id = 0};
    bool                is_there = false;
    pawl_code           code     = PAWL_OK;
    pawl__mongo_put_text(filter, "partition", gone->partition);
    if (!gone->is_all && gone->correlation_id.size != 0) {
        pawl__mongo_put_text(&oldest, "partition", gone->partition);
        pawl__mongo_put_text(&oldest, "correlation_id", gone->correlation_id);
        code = pawl__mongo_read_one(run->writer->store, find, fields, NULL, &row, &is_there,
                                    run->writer->error);
        pawl__mongo_put_int(filter, "_id", row.id);
    }
    bson_destroy(&oldest);
    return code;
}

pawl_code pawl__mongo_apply_aggregator_remove(const pawl__mongo_run *run)
{
    const pawl_aggregator_remove *gone   = run->items[0];
    bson_t                        filter = BSON_INITIALIZER;
    pawl_code                     code   = put_gone(run, gone, &filter);
    pawl__mongo_bulk              bulk   = pawl__mongo_bulk_begin(run->writer->store, "aggregator");
    if (code == PAWL_OK)
        pawl__mongo_remove_many(&bulk, &filter);
    pawl_code wrote = pawl__mongo_bulk_run(&bulk, run->writer->error);
    bson_destroy(&filter);
    if (code == PAWL_OK && wrote == PAWL_OK && gone->is_checked && bulk.removed == 0)
        return pawl__mongo_refuse(run, 0, pawl__why_no_row);
    return code != PAWL_OK ? code : wrote;
}

/* ---- Adds ---------------------------------------------------------------- */

void pawl__mongo_keys_aggregator_add(const void *change, uint32_t keys[3])
{
    const pawl_aggregator_add *add = change;
    keys[0] = pawl__mongo_hash(pawl__mongo_hash(1, add->partition.data, add->partition.size),
                               add->key.data, add->key.size);
}

/* Whether no item before this one is of its partition. */
static bool is_first_of_partition(const pawl__mongo_run *run, size_t index)
{
    const pawl_aggregator_add *const *items = (const pawl_aggregator_add *const *)run->items;
    for (size_t i = 0; i < index; i++)
        if (!run->is_out[i] && pawl_text_equal(items[i]->partition, items[index]->partition))
            return false;
    return true;
}

static pawl_code look_at_adds(const pawl__mongo_run *run)
{
    const pawl_aggregator_add *const *items  = (const pawl_aggregator_add *const *)run->items;
    bson_t                            filter = BSON_INITIALIZER;
    pawl__mongo_rows                  found  = {.count = 0};
    pawl__mongo_list                  list;
    const pawl__mongo_find            find = {
                   .collection = "aggregator", .filter = &filter, .only = "_id,partition,key"};
    pawl__mongo_list_begin(&filter, "partition", "$in", &list);
    for (size_t i = 0; i < run->count; i++)
        if (i == 0 || !pawl_text_equal(items[i]->partition, items[i - 1]->partition))
            pawl__mongo_put_text(&list.items, pawl__mongo_list_key(&list), items[i]->partition);
    pawl__mongo_list_end(&filter, &list);
    pawl__mongo_list_begin(&filter, "key", "$in", &list);
    for (size_t i = 0; i < run->count; i++)
        pawl__mongo_put_text(&list.items, pawl__mongo_list_key(&list), items[i]->key);
    pawl__mongo_list_end(&filter, &list);
    pawl_code code =
        read_rows(run->writer->store, &find, run->writer->arena, &found, run->writer->error);
    bson_destroy(&filter);
    const pawl_aggregator_row *rows = found.items;
    for (size_t at = 0; code == PAWL_OK && at < found.count; at++)
        for (size_t i = 0; i < run->count; i++)
            if (pawl_text_equal(rows[at].key, items[i]->key) &&
                pawl_text_equal(rows[at].partition, items[i]->partition))
                run->is_out[i] = true;
    return code;
}

static void ensure_flush(pawl__mongo_bulk *bulk, const pawl_aggregator_add *add)
{
    bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER, inner;
    pawl__mongo_put_text(&filter, "_id", add->partition);
    (void)bson_append_document_begin(&update, "$setOnInsert", -1, &inner);
    pawl__mongo_put_text(&inner, "name", add->name);
    pawl__mongo_put_int(&inner, "due", add->due);
    pawl__mongo_put_int(&inner, "attempts", 0);
    (void)bson_append_bool(&inner, "is_dead", -1, false);
    (void)bson_append_document_end(&update, &inner);
    (void)bson_append_document_begin(&update, "$inc", -1, &inner);
    pawl__mongo_put_int(&inner, "adds", 1);
    (void)bson_append_document_end(&update, &inner);
    pawl__mongo_update(bulk, &filter, &update, true);
    bson_destroy(&filter);
    bson_destroy(&update);
}

static void add_row(pawl__mongo_bulk *bulk, const pawl_aggregator_add *add, int64_t number)
{
    bson_t                    document = BSON_INITIALIZER;
    const pawl_aggregator_row row      = {.id        = number,
                                          .name      = add->name,
                                          .partition = add->partition,
                                          .key       = add->key,
                                          .message   = add->message,
                                          .at        = add->at};
    (void)pawl__mongo_encode(&document, fields, &row);
    pawl__mongo_insert(bulk, &document);
    bson_destroy(&document);
}

pawl_code pawl__mongo_apply_aggregator_add(const pawl__mongo_run *run)
{
    const pawl_aggregator_add *const *items    = (const pawl_aggregator_add *const *)run->items;
    size_t                            expected = 0;
    pawl_code                         code     = look_at_adds(run);
    pawl__mongo_bulk rows    = pawl__mongo_bulk_begin(run->writer->store, "aggregator");
    pawl__mongo_bulk flushes = pawl__mongo_bulk_begin(run->writer->store, "aggregator_flush");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        if (run->is_out[i])
            continue;
        add_row(&rows, items[i], run->writer->number++);
        if (is_first_of_partition(run, i))
            ensure_flush(&flushes, items[i]);
        expected++;
    }
    pawl_code wrote = pawl__mongo_write(run, &rows, expected);
    pawl_code flushed =
        pawl__mongo_bulk_run(&flushes, wrote == PAWL_OK ? run->writer->error : NULL);
    return code != PAWL_OK ? code : wrote != PAWL_OK ? wrote : flushed;
}

/* ---- Flushes ------------------------------------------------------------- */

void pawl__mongo_keys_flush_set(const void *change, uint32_t keys[3])
{
    const pawl_flush_set *set = change;
    keys[0]                   = pawl__mongo_hash(1, set->partition.data, set->partition.size);
}

static pawl_code is_empty(const pawl__mongo_run *run, pawl_text partition, bool *is)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "aggregator", .filter = &filter, .only = "_id"};
    pawl_aggregator_row    row;
    bool                   is_there = false;
    pawl__mongo_put_text(&filter, "partition", partition);
    pawl_code code = pawl__mongo_read_one(run->writer->store, find, fields, NULL, &row, &is_there,
                                          run->writer->error);
    *is            = !is_there;
    bson_destroy(&filter);
    return code;
}

static void put_flush(bson_t *update, const pawl_flush_set *set)
{
    bson_t inner;
    (void)bson_append_document_begin(update, "$set", -1, &inner);
    pawl__mongo_put_int(&inner, "due", set->due);
    pawl__mongo_put_int(&inner, "attempts", set->attempts);
    (void)bson_append_bool(&inner, "is_dead", -1, set->is_dead);
    pawl__mongo_put_text(&inner, "error", set->error);
    (void)bson_append_document_end(update, &inner);
}

pawl_code pawl__mongo_apply_flush_set(const pawl__mongo_run *run)
{
    const pawl_flush_set *const *items = (const pawl_flush_set *const *)run->items;
    pawl_code                    code  = PAWL_OK;
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(run->writer->store, "aggregator_flush");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER;
        bool   is_over = false;
        if (items[i]->is_done)
            code = is_empty(run, items[i]->partition, &is_over);
        pawl__mongo_put_text(&filter, "_id", items[i]->partition);
        put_flush(&update, items[i]);
        if (is_over)
            pawl__mongo_remove(&bulk, &filter);
        else
            pawl__mongo_update(&bulk, &filter, &update, false);
        bson_destroy(&filter);
        bson_destroy(&update);
    }
    pawl_code wrote = pawl__mongo_bulk_run(&bulk, code == PAWL_OK ? run->writer->error : NULL);
    return code != PAWL_OK ? code : wrote;
}
