/* queue.c - messages that are ready or delayed, and whose claims they are.
 *
 *     {_id: number, queue, message_id, type, ..., due, placed, attempts, deaths, waiting_since, error,
 *      history, changes, claimed_by: UUID of a worker, claim: number}
 *
 * A claim finds free documents, and stamps those that are still what it found: `changes` rises with each
 * retry. What others took meanwhile is found out by the number of the claim.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"
#include "store/mongo/operations.h"

#define CLAIM_TRIES_MAX 10

typedef struct queue_row {
    pawl_queue_message message;
    pawl_text          queue;
    int64_t            changes;
    pawl_uuid          claimed_by;
    int64_t            claim;
} queue_row;

#define ROW(member, key, type) PAWL__MONGO_FIELD(queue_row, member, key, type)
#define IN_ROW(member, key, type) ROW(message.row.member, key, type)
static const pawl__mongo_field fields[] = {
    IN_ROW(seq, "_id", INT),
    ROW(queue, "queue", TEXT),
    IN_ROW(due, "due", INT),
    IN_ROW(placed, "placed", INT),
    IN_ROW(attempts, "attempts", INT32),
    IN_ROW(deaths, "deaths", INT32),
    IN_ROW(waiting_since, "waiting_since", INT),
    ROW(changes, "changes", INT),
    PAWL__MONGO_MESSAGE(queue_row, message.row.message),
    ROW(message.error, "error", TEXT),
    IN_ROW(history, "history", TEXT),
    PAWL__MONGO_END,
};
static const pawl__mongo_field claim_fields[] = {
    IN_ROW(seq, "_id", INT),
    ROW(queue, "queue", TEXT),
    IN_ROW(message.id, "message_id", TEXT),
    ROW(claimed_by, "claimed_by", UUID),
    ROW(claim, "claim", INT),
    PAWL__MONGO_END,
};

/* ---- Claims -------------------------------------------------------------- */

/* The documents that the claim may take. */
static void put_wanted(bson_t *filter, const pawl_store *store, const pawl_queue_claim *claim)
{
    pawl__mongo_list list;
    pawl__mongo_put_text(filter, "queue", claim->queue);
    pawl__mongo_put_op(filter, "due", "$lte", claim->due_max);
    if (claim->seq_count == 0) {
        pawl__mongo_put_exists(filter, "claimed_by", false);
        return;
    }
    pawl__mongo_list_begin(filter, "claimed_by", "$in", &list);
    (void)bson_append_null(&list.items, pawl__mongo_list_key(&list), -1);
    pawl__mongo_put_uuid(&list.items, pawl__mongo_list_key(&list), store->worker.uuid);
    pawl__mongo_list_end(filter, &list);
    pawl__mongo_list_begin(filter, "_id", "$in", &list);
    for (size_t i = 0; i < claim->seq_count; i++)
        pawl__mongo_put_int(&list.items, pawl__mongo_list_key(&list), claim->seqs[i]);
    pawl__mongo_list_end(filter, &list);
}

static pawl_code find_wanted(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                             pawl__mongo_rows *rows, pawl_error *error)
{
    bson_t           filter   = BSON_INITIALIZER;
    const bson_t    *document = NULL;
    size_t           capacity = 0, size = 0;
    bool             is_ok = true;
    pawl_code        taken = PAWL_OK;
    pawl__mongo_find find  = {.collection = "queue", .filter = &filter, .sort = "due,_id"};
    find.limit             = claim->seq_count == 0 ? (int64_t)claim->count_max : 0;
    put_wanted(&filter, store, claim);
    mongoc_cursor_t *cursor = pawl__mongo_begin(store, &find);
    *rows                   = (pawl__mongo_rows){.count = 0};
    while (is_ok && !(claim->seq_count == 0 && PAWL_SIZE_IS_REACHED(size, claim->size_max)) &&
           mongoc_cursor_next(cursor, &document)) {
        queue_row *grown =
            pawl_arena_grow(arena, rows->items, rows->count, &capacity, sizeof *grown);
        is_ok = grown != NULL;
        if (is_ok) {
            rows->items        = grown;
            grown[rows->count] = (queue_row){.changes = 0};
            is_ok = pawl__mongo_take(store, document, fields, arena, &grown[rows->count], &taken,
                                     error);
            size += PAWL_MESSAGE_SIZE(&grown[rows->count].message.row.message);
            rows->count++;
        }
    }
    pawl_code code = pawl__mongo_end(store, cursor, taken == PAWL_OK ? error : NULL);
    bson_destroy(&filter);
    if (taken != PAWL_OK)
        return taken;
    return code == PAWL_OK && !is_ok ? pawl__mongo_no_memory(error) : code;
}

/* {"$or": [{changes: 0, _id: {"$in": ...}}, {changes: 3, _id: 7}, ...]} */
static void put_as_found(bson_t *filter, const queue_row *rows, size_t count)
{
    bson_t           either, one;
    pawl__mongo_list list;
    char             key[16];
    unsigned         number = 1;
    (void)bson_append_array_begin(filter, "$or", -1, &either);
    (void)bson_append_document_begin(&either, "0", 1, &one);
    pawl__mongo_put_int(&one, "changes", 0);
    pawl__mongo_list_begin(&one, "_id", "$in", &list);
    for (size_t i = 0; i < count; i++)
        if (rows[i].changes == 0)
            pawl__mongo_put_int(&list.items, pawl__mongo_list_key(&list), rows[i].message.row.seq);
    pawl__mongo_list_end(&one, &list);
    (void)bson_append_document_end(&either, &one);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].changes == 0)
            continue;
        (void)snprintf(key, sizeof key, "%u", number++);
        (void)bson_append_document_begin(&either, key, -1, &one);
        pawl__mongo_put_int(&one, "changes", rows[i].changes);
        pawl__mongo_put_int(&one, "_id", rows[i].message.row.seq);
        (void)bson_append_document_end(&either, &one);
    }
    (void)bson_append_array_end(filter, &either);
}

static pawl_code stamp(pawl_store *store, const pawl_queue_claim *claim,
                       const pawl__mongo_rows *found, int64_t *modified, pawl_error *error)
{
    pawl__mongo     *self   = pawl__mongo_of(store);
    bson_t           filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    pawl__mongo_list list;
    put_as_found(&filter, found->items, found->count);
    if (claim->seq_count == 0) {
        pawl__mongo_put_exists(&filter, "claimed_by", false);
    } else {
        pawl__mongo_list_begin(&filter, "claimed_by", "$in", &list);
        (void)bson_append_null(&list.items, pawl__mongo_list_key(&list), -1);
        pawl__mongo_put_uuid(&list.items, pawl__mongo_list_key(&list), store->worker.uuid);
        pawl__mongo_list_end(&filter, &list);
    }
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    pawl__mongo_put_uuid(&set, "claimed_by", store->worker.uuid);
    pawl__mongo_put_int(&set, "claim", ++self->claim);
    (void)bson_append_document_end(&update, &set);
    self->has_stray = claim->seq_count == 0;
    pawl_code code  = pawl__mongo_stamp(store, "queue", &filter, &update, modified, error);
    self->has_stray = self->has_stray && code != PAWL_OK;
    bson_destroy(&filter);
    bson_destroy(&update);
    return code;
}

/* Frees what a claim without an answer may have stamped: nobody knows of these rows. */
static pawl_code free_stray(pawl_store *store, pawl_error *error)
{
    pawl__mongo *self   = pawl__mongo_of(store);
    bson_t       filter = BSON_INITIALIZER, update = BSON_INITIALIZER, unset;
    if (!self->has_stray)
        return PAWL_OK;
    pawl__mongo_put_uuid(&filter, "claimed_by", store->worker.uuid);
    pawl__mongo_put_int(&filter, "claim", self->claim);
    (void)bson_append_document_begin(&update, "$unset", -1, &unset);
    (void)bson_append_bool(&unset, "claimed_by", -1, true);
    (void)bson_append_bool(&unset, "claim", -1, true);
    (void)bson_append_document_end(&update, &unset);
    pawl_code code  = pawl__mongo_stamp(store, "queue", &filter, &update, NULL, error);
    self->has_stray = code != PAWL_OK;
    bson_destroy(&filter);
    bson_destroy(&update);
    return code;
}

static queue_row *find_seq(const pawl__mongo_rows *rows, int64_t seq)
{
    queue_row *items = rows->items;
    for (size_t i = 0; i < rows->count; i++)
        if (items[i].message.row.seq == seq)
            return &items[i];
    return NULL;
}

/* Of the rows found those that the stamp reached stay, in their order. */
static pawl_code keep_ours(pawl_store *store, pawl_arena *arena, pawl__mongo_rows *found,
                           pawl_error *error)
{
    const pawl__mongo     *self   = pawl__mongo_of(store);
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "queue", .filter = &filter, .only = "_id,claim"};
    pawl__mongo_rows       ours   = {.count = 0};
    queue_row             *items  = found->items;
    size_t                 count  = 0;
    pawl__mongo_put_uuid(&filter, "claimed_by", store->worker.uuid);
    pawl__mongo_put_int(&filter, "claim", self->claim);
    pawl_code code =
        pawl__mongo_read(store, &find, claim_fields, sizeof(queue_row), arena, &ours, error);
    for (size_t i = 0; code == PAWL_OK && i < found->count; i++)
        if (find_seq(&ours, items[i].message.row.seq) != NULL)
            items[count++] = items[i];
    found->count = count;
    bson_destroy(&filter);
    return code;
}

static pawl_code show(const pawl__mongo_rows *found, pawl_arena *arena, pawl_queue_rows *rows,
                      pawl_error *error)
{
    const queue_row *items = found->items;
    rows->items            = pawl_arena_take(arena, (found->count + 1) * sizeof *rows->items);
    if (rows->items == NULL)
        return pawl__mongo_no_memory(error);
    for (size_t i = 0; i < found->count; i++)
        rows->items[i] = items[i].message.row;
    rows->count = found->count;
    return PAWL_OK;
}

pawl_code pawl__mongo_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                  pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    pawl__mongo_rows found    = {.count = 0};
    int64_t          modified = 0;
    pawl_code        code     = free_stray(store, error);
    for (unsigned tries = 0; code == PAWL_OK && modified == 0 && tries < CLAIM_TRIES_MAX; tries++) {
        code = find_wanted(store, claim, arena, &found, error);
        if (code != PAWL_OK || found.count == 0)
            break;
        code = stamp(store, claim, &found, &modified, error);
    }
    if (code == PAWL_OK && modified != (int64_t)found.count)
        code = keep_ours(store, arena, &found, error);
    return code == PAWL_OK ? show(&found, arena, rows, error) : code;
}

/* ---- Reads --------------------------------------------------------------- */

pawl_code pawl__mongo_queue_oldest(pawl_store *store, pawl_text queue, pawl_time due_max,
                                   const int64_t *except, size_t except_count, pawl_time *placed,
                                   int64_t *seq, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {
          .collection = "queue", .filter = &filter, .sort = "placed,_id", .only = "_id,placed"};
    pawl__mongo_list list;
    queue_row        row      = {.message.row = {.placed = PAWL_TIME_MAX, .seq = INT64_MAX}};
    bool             is_there = false;
    pawl__mongo_put_text(&filter, "queue", queue);
    pawl__mongo_put_op(&filter, "due", "$lte", due_max);
    pawl__mongo_put_int(&filter, "attempts", 0);
    pawl__mongo_put_int(&filter, "waiting_since", 0);
    if (except_count != 0) {
        pawl__mongo_list_begin(&filter, "_id", "$nin", &list);
        for (size_t i = 0; i < except_count; i++)
            pawl__mongo_put_int(&list.items, pawl__mongo_list_key(&list), except[i]);
        pawl__mongo_list_end(&filter, &list);
    }
    pawl_code code = pawl__mongo_read_one(store, find, fields, NULL, &row, &is_there, error);
    *placed        = row.message.row.placed;
    *seq           = row.message.row.seq;
    bson_destroy(&filter);
    return code;
}

static pawl_code list(pawl_store *store, const pawl__mongo_find *find, pawl_arena *arena,
                      pawl_queue_rows *rows, pawl_error *error)
{
    pawl__mongo_rows found = {.count = 0};
    pawl_code code = pawl__mongo_read(store, find, fields, sizeof(queue_row), arena, &found, error);
    return code == PAWL_OK ? show(&found, arena, rows, error) : code;
}

pawl_code pawl__mongo_queue_list(pawl_store *store, pawl_text queue, size_t count_max,
                                 pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "queue",
                                     .filter     = &filter,
                                     .sort       = "placed,_id",
                                     .limit      = (int64_t)count_max};
    pawl__mongo_put_text(&filter, "queue", queue);
    pawl_code code = list(store, &find, arena, rows, error);
    bson_destroy(&filter);
    return code;
}

/* Looks at the queue in the order of its due times, and takes the bounded number of rows. */
pawl_code pawl__mongo_queue_retried(pawl_store *store, const pawl_retried_query *query,
                                    pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "queue",
                                     .filter     = &filter,
                                     .sort       = "due,_id",
                                     .limit      = (int64_t)query->look_max};
    pawl_queue_rows        found  = {.count = 0};
    pawl__mongo_put_text(&filter, "queue", query->queue);
    pawl__mongo_put_op(&filter, "due", "$gt", query->due_after);
    pawl__mongo_put_op(&filter, "attempts", "$gt", 0);
    pawl__mongo_put_text(&filter, "type", query->type);
    pawl_code code = list(store, &find, arena, &found, error);
    bson_destroy(&filter);
    if (code != PAWL_OK)
        return code;
    /* By place. */
    for (size_t i = 1; i < found.count; i++)
        for (size_t at = i; at > 0; at--) {
            pawl_queue_row *left = &found.items[at - 1], *right = &found.items[at];
            if (left->placed < right->placed ||
                (left->placed == right->placed && left->seq <= right->seq))
                break;
            pawl_queue_row kept = *left;
            *left               = *right;
            *right              = kept;
        }
    if (query->count_max != 0 && found.count > query->count_max)
        found.count = query->count_max;
    *rows = found;
    return PAWL_OK;
}

/* Behind a row: {"$or": [{due: {"$gt": d}}, {due: d, _id: {"$gt": n}}]} */
static void put_behind(bson_t *filter, const pawl_queue_row *after)
{
    bson_t either, one;
    (void)bson_append_array_begin(filter, "$or", -1, &either);
    (void)bson_append_document_begin(&either, "0", 1, &one);
    pawl__mongo_put_op(&one, "due", "$gt", after->due);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_document_begin(&either, "1", 1, &one);
    pawl__mongo_put_int(&one, "due", after->due);
    pawl__mongo_put_op(&one, "_id", "$gt", after->seq);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_array_end(filter, &either);
}

static void put_between(bson_t *filter, const char *key, int64_t min, int64_t max)
{
    bson_t inner;
    if (min == 0 && max == 0)
        return;
    (void)bson_append_document_begin(filter, key, -1, &inner);
    if (min != 0)
        pawl__mongo_put_int(&inner, "$gte", min);
    if (max != 0)
        pawl__mongo_put_int(&inner, "$lte", max);
    (void)bson_append_document_end(filter, &inner);
}

pawl_code pawl__mongo_queue_find(pawl_store *store, const pawl_queue_query *query,
                                 pawl_arena *arena, pawl_queue_messages *messages,
                                 pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "queue",
                                     .filter     = &filter,
                                     .sort       = "due,_id",
                                     .limit      = (int64_t)query->count_max};
    pawl__mongo_rows       found  = {.count = 0};
    pawl__mongo_put_text(&filter, "queue", query->queue);
    if (query->message_id.size != 0)
        pawl__mongo_put_text(&filter, "message_id", query->message_id);
    if (query->type.size != 0)
        pawl__mongo_put_text(&filter, "type", query->type);
    put_between(&filter, "due", query->due_min, query->due_max);
    put_between(&filter, "_id", 0, query->seq_max);
    if (query->after != NULL)
        put_behind(&filter, query->after);
    pawl_code code =
        pawl__mongo_read(store, &find, fields, sizeof(queue_row), arena, &found, error);
    bson_destroy(&filter);
    if (code != PAWL_OK)
        return code;
    messages->items = pawl_arena_take(arena, (found.count + 1) * sizeof *messages->items);
    if (messages->items == NULL)
        return pawl__mongo_no_memory(error);
    for (size_t i = 0; i < found.count; i++)
        messages->items[i] = ((const queue_row *)found.items)[i].message;
    messages->count = found.count;
    return PAWL_OK;
}

/* ---- Settles ------------------------------------------------------------- */

void pawl__mongo_keys_queue_settle(const void *change, uint32_t keys[3])
{
    const pawl_queue_settle *settle = change;
    keys[0]                         = pawl__mongo_hash(1, &settle->seq, sizeof settle->seq);
}

/* Refuses what is not claimed by this worker. */
static pawl_code check_claims(const pawl__mongo_run *run)
{
    pawl_store                     *store  = run->writer->store;
    const pawl_queue_settle *const *items  = (const pawl_queue_settle *const *)run->items;
    bson_t                          filter = BSON_INITIALIZER;
    const pawl__mongo_find          find   = {
                   .collection = "queue", .filter = &filter, .only = "_id,queue,claimed_by"};
    pawl__mongo_rows found = {.count = 0};
    pawl__mongo_list seqs;
    pawl__mongo_list_begin(&filter, "_id", "$in", &seqs);
    for (size_t i = 0; i < run->count; i++)
        pawl__mongo_put_int(&seqs.items, pawl__mongo_list_key(&seqs), items[i]->seq);
    pawl__mongo_list_end(&filter, &seqs);
    pawl_code code = pawl__mongo_read(store, &find, claim_fields, sizeof(queue_row),
                                      run->writer->arena, &found, run->writer->error);
    bson_destroy(&filter);
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        const queue_row *row = find_seq(&found, items[i]->seq);
        if (row == NULL)
            code = pawl__mongo_refuse(run, i, pawl__why_gone);
        else if (pawl_uuid_compare(row->claimed_by, store->worker.uuid) != 0 ||
                 !pawl_text_equal(row->queue, items[i]->queue))
            code = pawl__mongo_refuse(run, i, pawl__why_not_claimed);
    }
    return code;
}

static void put_retry(bson_t *update, const pawl_queue_settle *settle)
{
    bson_t          inner;
    const queue_row row = {
        .message = {.row = {.history = settle->history}, .error = settle->error}};
    (void)bson_append_document_begin(update, "$set", -1, &inner);
    pawl__mongo_put_int(&inner, "due", settle->due);
    pawl__mongo_put_int(&inner, "attempts", settle->attempts);
    pawl__mongo_put_int(&inner, "deaths", settle->deaths);
    pawl__mongo_put_int(&inner, "waiting_since", settle->waiting_since);
    pawl__mongo_put_text(&inner, "error", row.message.error);
    pawl__mongo_put_text(&inner, "history", row.message.row.history);
    (void)bson_append_document_end(update, &inner);
    (void)bson_append_document_begin(update, "$inc", -1, &inner);
    pawl__mongo_put_int(&inner, "changes", 1);
    (void)bson_append_document_end(update, &inner);
}

static void add_settle(pawl__mongo_bulk *bulk, const pawl_store *store,
                       const pawl_queue_settle *settle)
{
    bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER, unset;
    pawl__mongo_put_int(&filter, "_id", settle->seq);
    pawl__mongo_put_uuid(&filter, "claimed_by", store->worker.uuid);
    if (settle->action == PAWL_QUEUE_RETRY)
        put_retry(&update, settle);
    (void)bson_append_document_begin(&update, "$unset", -1, &unset);
    (void)bson_append_bool(&unset, "claimed_by", -1, true);
    (void)bson_append_bool(&unset, "claim", -1, true);
    (void)bson_append_document_end(&update, &unset);
    pawl__mongo_update(bulk, &filter, &update, false);
    bson_destroy(&filter);
    bson_destroy(&update);
}

/* Those that are done go as one write. */
pawl_code pawl__mongo_apply_queue_settle(const pawl__mongo_run *run)
{
    const pawl_queue_settle *const *items  = (const pawl_queue_settle *const *)run->items;
    pawl_store                     *store  = run->writer->store;
    bson_t                          filter = BSON_INITIALIZER;
    pawl__mongo_list                done;
    size_t                          expected = 0, done_count = 0;
    if (run->writer->is_enlisted) {
        (void)pawl__why_not_enlisted(items[0], run->writer->error);
        bson_destroy(&filter);
        return PAWL_EINVAL;
    }
    pawl_code        code = check_claims(run);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(store, "queue");
    pawl__mongo_list_begin(&filter, "_id", "$in", &done);
    for (size_t i = 0; i < run->count; i++) {
        if (run->is_out[i])
            continue;
        expected++;
        if (items[i]->action != PAWL_QUEUE_DONE) {
            add_settle(&bulk, store, items[i]);
        } else {
            pawl__mongo_put_int(&done.items, pawl__mongo_list_key(&done), items[i]->seq);
            done_count++;
        }
    }
    pawl__mongo_list_end(&filter, &done);
    pawl__mongo_put_uuid(&filter, "claimed_by", store->worker.uuid);
    if (done_count != 0)
        pawl__mongo_remove_many(&bulk, &filter);
    pawl_code wrote = pawl__mongo_write(run, &bulk, code == PAWL_OK ? expected : 0);
    bson_destroy(&filter);
    return code != PAWL_OK ? code : wrote;
}

/* ---- Sends --------------------------------------------------------------- */

void pawl__mongo_keys_queue_send(const void *change, uint32_t keys[3])
{
    const pawl_queue_send *send = change;
    keys[0] = pawl__mongo_hash(pawl__mongo_hash(1, send->queue.data, send->queue.size),
                               send->message.id.data, send->message.id.size);
}

/* {"$or": [{queue, message_id: {"$in": [...]}}, ...]}: one part for each queue. */
static void put_sent(bson_t *filter, const pawl__mongo_run *run)
{
    const pawl_queue_send *const *items = (const pawl_queue_send *const *)run->items;
    bson_t                        either, one;
    pawl__mongo_list              ids;
    unsigned                      number = 0;
    char                          key[16];
    (void)bson_append_array_begin(filter, "$or", -1, &either);
    for (size_t i = 0; i < run->count; i++) {
        size_t first = 0;
        while (!pawl_text_equal(items[first]->queue, items[i]->queue))
            first++;
        if (first != i)
            continue;
        (void)snprintf(key, sizeof key, "%u", number++);
        (void)bson_append_document_begin(&either, key, -1, &one);
        pawl__mongo_put_text(&one, "queue", items[i]->queue);
        pawl__mongo_list_begin(&one, "message_id", "$in", &ids);
        for (size_t at = i; at < run->count; at++)
            if (pawl_text_equal(items[at]->queue, items[i]->queue))
                pawl__mongo_put_text(&ids.items, pawl__mongo_list_key(&ids), items[at]->message.id);
        pawl__mongo_list_end(&one, &ids);
        (void)bson_append_document_end(&either, &one);
    }
    (void)bson_append_array_end(filter, &either);
}

static pawl_code look_at_sends(const pawl__mongo_run *run)
{
    const pawl_queue_send *const *items  = (const pawl_queue_send *const *)run->items;
    bson_t                        filter = BSON_INITIALIZER;
    const pawl__mongo_find        find   = {
                 .collection = "queue", .filter = &filter, .only = "_id,queue,message_id"};
    pawl__mongo_rows found = {.count = 0};
    put_sent(&filter, run);
    pawl_code code = pawl__mongo_read(run->writer->store, &find, claim_fields, sizeof(queue_row),
                                      run->writer->arena, &found, run->writer->error);
    bson_destroy(&filter);
    const queue_row *rows = found.items;
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        for (size_t at = 0; !run->is_out[i] && at < found.count; at++)
            run->is_out[i] = pawl_text_equal(rows[at].queue, items[i]->queue) &&
                             pawl_text_equal(rows[at].message.row.message.id, items[i]->message.id);
        if (run->is_out[i] && items[i]->is_new)
            code = pawl__mongo_refuse(run, i, pawl__why_queued);
    }
    return code;
}

pawl_code pawl__mongo_apply_queue_send(const pawl__mongo_run *run)
{
    const pawl_queue_send *const *items    = (const pawl_queue_send *const *)run->items;
    size_t                        expected = 0;
    pawl_code                     code     = look_at_sends(run);
    pawl__mongo_bulk              bulk     = pawl__mongo_bulk_begin(run->writer->store, "queue");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        if (run->is_out[i])
            continue;
        bson_t          document = BSON_INITIALIZER;
        const queue_row row      = {.queue   = items[i]->queue,
                                    .message = {.row = {.seq      = run->writer->number++,
                                                        .message  = items[i]->message,
                                                        .due      = items[i]->due,
                                                        .placed   = items[i]->due,
                                                        .attempts = items[i]->attempts}}};
        (void)pawl__mongo_encode(&document, fields, &row);
        pawl__mongo_insert(&bulk, &document);
        bson_destroy(&document);
        expected++;
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}
