/* queue.c - messages that are ready or delayed, and whose claims they are.
 *
 *     {_id: number, queue, message_id, type, ..., due, placed, attempts, deaths, waiting_since, error,
 *      history, changes, claimed_by: UUID of a worker, claim: number}
 *
 * A claim finds free documents, and stamps those that are still what it found: `changes` rises with each
 * retry. Documents that others took meanwhile are told by the number of the claim.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/kinds.h"
#include "store/mongo/operations.h"

#include <stdlib.h>

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
    ROW(claimed_by, "claimed_by", UUID),
    ROW(claim, "claim", INT),
    PAWL__MONGO_MESSAGE(queue_row, message.row.message),
    ROW(message.error, "error", TEXT),
    IN_ROW(history, "history", TEXT),
    PAWL__MONGO_END,
};
static const pawl__mongo_table queued = {
    .name = "queue", .fields = fields, .row_size = sizeof(queue_row)};

typedef struct found_rows {
    queue_row *items;
    size_t     count;
} found_rows;

/* ---- Claims -------------------------------------------------------------- */

/* Free ones; rows that are named may be this worker's already. */
static void put_claimable(bson_t *filter, const pawl_store *store, const pawl_queue_claim *claim)
{
    if (claim->seq_count == 0)
        (void)pawl__mongo_put(filter, "claimed_by: {$exists: false}");
    else
        (void)pawl__mongo_put(filter, "claimed_by: {$in: [null, %u]}", store->worker.uuid);
}

static pawl_code find_wanted(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                             found_rows *found, pawl_error *error)
{
    bson_t filter   = BSON_INITIALIZER;
    bool   is_named = claim->seq_count != 0;
    size_t size     = 0;
    (void)pawl__mongo_put(&filter, "queue: %t, due: {$lte: %i}", claim->queue, claim->due_max);
    put_claimable(&filter, store, claim);
    if (is_named)
        (void)pawl__mongo_put(&filter, "_id: {$in: %l}",
                              PAWL__MONGO_VALUES(claim->seqs, claim->seq_count, INT));
    pawl__mongo_reading r = pawl__mongo_begin(store, &queued, arena, error,
                                              "filter: %d, sort: {due: 1, _id: 1}, limit?: %i",
                                              &filter, is_named ? 0 : (int64_t)claim->count_max);
    while ((is_named || !PAWL_SIZE_IS_REACHED(size, claim->size_max)) && pawl__mongo_next(&r)) {
        queue_row *items = r.items;
        size += PAWL_MESSAGE_SIZE(&items[r.count - 1].message.row.message);
    }
    *found = (found_rows){.items = r.items, .count = r.count};
    bson_destroy(&filter);
    return pawl__mongo_end(&r);
}

/* {"$or": [{changes: 0, _id: {"$in": ...}}, {changes: 3, _id: 7}, ...]} */
static void put_as_found(bson_t *filter, const found_rows *found)
{
    bson_t   fresh = BSON_INITIALIZER, either = BSON_INITIALIZER;
    uint32_t count = 0, either_count = 0;
    for (size_t i = 0; i < found->count; i++) {
        const queue_row *row = &found->items[i];
        if (row->changes == 0)
            (void)pawl__mongo_push(&fresh, &count, "%i", row->message.row.seq);
        else
            (void)pawl__mongo_push(&either, &either_count, "{changes: %i, _id: %i}", row->changes,
                                   row->message.row.seq);
    }
    (void)pawl__mongo_push(&either, &either_count, "{changes: 0, _id: {$in: %a}}", &fresh);
    (void)pawl__mongo_put(filter, "$or: %a", &either);
    bson_destroy(&fresh);
    bson_destroy(&either);
}

static pawl_code stamp(pawl_store *store, const pawl_queue_claim *claim, const found_rows *found,
                       int64_t *stamped, pawl_error *error)
{
    pawl__mongo *self   = pawl__mongo_of(store);
    bson_t       filter = BSON_INITIALIZER;
    put_as_found(&filter, found);
    put_claimable(&filter, store, claim);
    self->has_stray = claim->seq_count == 0;
    pawl_code code  = pawl__mongo_write(store, "queue", PAWL__MONGO_UPDATE_MANY, stamped, error,
                                        "q: %d, u: {$set: {claimed_by: %u, claim: %i}}", &filter,
                                        store->worker.uuid, ++self->claim);
    self->has_stray = self->has_stray && code != PAWL_OK;
    bson_destroy(&filter);
    return code;
}

/* Frees what a claim without an answer may have stamped: nobody knows of these rows. */
static pawl_code free_stray(pawl_store *store, pawl_error *error)
{
    pawl__mongo *self = pawl__mongo_of(store);
    if (!self->has_stray)
        return PAWL_OK;
    pawl_code code =
        pawl__mongo_write(store, "queue", PAWL__MONGO_UPDATE_MANY, NULL, error,
                          "q: {claimed_by: %u, claim: %i}, u: {$unset: {claimed_by: 1, claim: 1}}",
                          store->worker.uuid, self->claim);
    self->has_stray = code != PAWL_OK;
    return code;
}

/* Of the rows found those that the stamp reached stay, in their order. */
static pawl_code keep_ours(pawl_store *store, pawl_arena *arena, found_rows *found,
                           pawl_error *error)
{
    found_rows ours  = {.count = 0};
    size_t     count = 0;
    pawl_code  code  = pawl__mongo_read(store, &queued, arena, &ours.items, &ours.count, error,
                                        "filter: {claimed_by: %u, claim: %i}, projection: {_id: 1}",
                                        store->worker.uuid, pawl__mongo_of(store)->claim);
    for (size_t i = 0; code == PAWL_OK && i < found->count; i++) {
        size_t at = 0;
        while (at < ours.count && ours.items[at].message.row.seq != found->items[i].message.row.seq)
            at++;
        if (at < ours.count)
            found->items[count++] = found->items[i];
    }
    found->count = count;
    return code;
}

static pawl_code show(const found_rows *found, pawl_arena *arena, pawl_queue_rows *rows,
                      pawl_error *error)
{
    rows->items = pawl_arena_take(arena, (found->count + 1) * sizeof *rows->items);
    if (rows->items == NULL)
        return pawl__mongo_no_memory(error);
    for (size_t i = 0; i < found->count; i++)
        rows->items[i] = found->items[i].message.row;
    rows->count = found->count;
    return PAWL_OK;
}

pawl_code pawl__mongo_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                  pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    found_rows found   = {.count = 0};
    int64_t    stamped = 0;
    pawl_code  code    = free_stray(store, error);
    for (unsigned tries = 0; code == PAWL_OK && stamped == 0 && tries < CLAIM_TRIES_MAX; tries++) {
        code = find_wanted(store, claim, arena, &found, error);
        if (code != PAWL_OK || found.count == 0)
            break;
        code = stamp(store, claim, &found, &stamped, error);
    }
    if (code == PAWL_OK && stamped != (int64_t)found.count)
        code = keep_ours(store, arena, &found, error);
    return code == PAWL_OK ? show(&found, arena, rows, error) : code;
}

/* ---- Reads --------------------------------------------------------------- */

pawl_code pawl__mongo_queue_oldest(pawl_store *store, pawl_text queue, pawl_time due_max,
                                   const int64_t *except, size_t except_count, pawl_time *placed,
                                   int64_t *seq, pawl_error *error)
{
    queue_row row  = {.message.row = {.placed = PAWL_TIME_MAX, .seq = INT64_MAX}};
    pawl_code code = pawl__mongo_read_one(
        store, &queued, NULL, &row, NULL, error,
        "filter: {queue: %t, due: {$lte: %i}, attempts: 0, waiting_since: 0, _id: {$nin: %l}}, "
        "sort: {placed: 1, _id: 1}, projection: {placed: 1}",
        queue, due_max, PAWL__MONGO_VALUES(except, except_count, INT));
    *placed = row.message.row.placed;
    *seq    = row.message.row.seq;
    return code;
}

pawl_code pawl__mongo_queue_list(pawl_store *store, pawl_text queue, size_t count_max,
                                 pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    found_rows found = {.count = 0};
    pawl_code  code  = pawl__mongo_read(store, &queued, arena, &found.items, &found.count, error,
                                        "filter: {queue: %t}, sort: {placed: 1, _id: 1}, limit?: %i",
                                        queue, (int64_t)count_max);
    return code == PAWL_OK ? show(&found, arena, rows, error) : code;
}

static int by_place(const void *left, const void *right)
{
    const pawl_queue_row *a = left, *b = right;
    return a->placed != b->placed ? (a->placed > b->placed) - (a->placed < b->placed)
                                  : (a->seq > b->seq) - (a->seq < b->seq);
}

/* Looks at the queue in the order of its due times, and takes the bounded number of rows. */
pawl_code pawl__mongo_queue_retried(pawl_store *store, const pawl_retried_query *query,
                                    pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    found_rows found = {.count = 0};
    pawl_code  code  = pawl__mongo_read(
          store, &queued, arena, &found.items, &found.count, error,
          "filter: {queue: %t, due: {$gt: %i}, attempts: {$gt: 0}, type: %t}, sort: {due: 1, _id: 1}, "
            "limit?: %i",
          query->queue, query->due_after, query->type, (int64_t)query->look_max);
    if (code == PAWL_OK)
        code = show(&found, arena, rows, error);
    if (code != PAWL_OK)
        return code;
    if (rows->count > 1)
        qsort(rows->items, rows->count, sizeof *rows->items, by_place);
    if (query->count_max != 0 && rows->count > query->count_max)
        rows->count = query->count_max;
    return code;
}

pawl_code pawl__mongo_queue_find(pawl_store *store, const pawl_queue_query *query,
                                 pawl_arena *arena, pawl_queue_messages *messages,
                                 pawl_error *error)
{
    bson_t     filter = BSON_INITIALIZER;
    found_rows found  = {.count = 0};
    (void)pawl__mongo_put(&filter,
                          "queue: %t, message_id?: %t, type?: %t, due?: {$gte?: %i, $lte?: %i}, "
                          "_id?: {$lte?: %i}",
                          query->queue, query->message_id, query->type, query->due_min,
                          query->due_max, query->seq_max);
    if (query->after != NULL)
        (void)pawl__mongo_put(&filter, "$or: [{due: {$gt: %i}}, {due: %i, _id: {$gt: %i}}]",
                              query->after->due, query->after->due, query->after->seq);
    pawl_code code = pawl__mongo_read(store, &queued, arena, &found.items, &found.count, error,
                                      "filter: %d, sort: {due: 1, _id: 1}, limit?: %i", &filter,
                                      (int64_t)query->count_max);
    bson_destroy(&filter);
    messages->items = pawl_arena_take(arena, (found.count + 1) * sizeof *messages->items);
    if (code == PAWL_OK && messages->items == NULL)
        code = pawl__mongo_no_memory(error);
    for (size_t i = 0; code == PAWL_OK && i < found.count; i++)
        messages->items[i] = found.items[i].message;
    messages->count = found.count;
    return code;
}

/* ---- Changes ------------------------------------------------------------- */

#define SETTLE(member, type) PAWL__MONGO_SAME(queue_settle, member, type)
static const pawl__mongo_field settle_fields[] = {
    SETTLE(seq, INT),        SETTLE(queue, TEXT),   SETTLE(due, INT),
    SETTLE(attempts, INT32), SETTLE(deaths, INT32), SETTLE(waiting_since, INT),
    SETTLE(error, TEXT),     SETTLE(history, TEXT), PAWL__MONGO_END,
};

static pawl__why_fn *judge_settle(const pawl__mongo_run *run, const void *change, const void *row)
{
    const pawl_queue_settle *settle = change;
    const queue_row         *found  = row;
    return pawl_uuid_compare(found->claimed_by, run->scope.worker) == 0 &&
                   pawl_text_equal(found->queue, settle->queue)
               ? NULL
               : pawl__why_not_claimed;
}

static int choose_settle(const pawl__mongo_run *run, const void *change)
{
    (void)run;
    return (int)((const pawl_queue_settle *)change)->action;
}

#define OURS "q: {_id: {$in: @@seq}, queue: @queue, claimed_by: @worker}"
const pawl__mongo_way pawl__mongo_queue_settle_way = {
    .collection = "queue",
    .fields     = settle_fields,
    .keys       = "seq",
    .table      = &queued,
    .look       = "filter: {_id: {$in: @@seq}}, projection: {queue: 1, claimed_by: 1}",
    .match      = "seq=_id",
    .if_missing = pawl__why_gone,
    .judge      = judge_settle,
    .choose     = choose_settle,
    .writes     = {[PAWL_QUEUE_DONE] = "by queue removes " OURS,
                   [PAWL_QUEUE_RELEASE] =
                       "by queue updates " OURS ", u: {$unset: {claimed_by: 1, claim: 1}}",
                   [PAWL_QUEUE_RETRY] =
                       "update q: {_id: @seq, queue: @queue, claimed_by: @worker}, "
                           "u: {$set: {due: @due, attempts: @attempts, deaths: @deaths, waiting_since: "
                           "@waiting_since, error: @error, history: @history}, $inc: {changes: 1}, "
                           "$unset: {claimed_by: 1, claim: 1}}"}};

static const pawl__mongo_field send_fields[] = {
    PAWL__MONGO_SAME(queue_send, queue, TEXT),
    PAWL__MONGO_SAME(queue_send, due, INT),
    PAWL__MONGO_SAME(queue_send, attempts, INT32),
    PAWL__MONGO_MESSAGE(pawl_queue_send, message),
    PAWL__MONGO_END,
};

static pawl__why_fn *judge_send(const pawl__mongo_run *run, const void *change, const void *row)
{
    bool is_new = ((const pawl_queue_send *)change)->is_new;
    (void)run;
    return row == NULL ? NULL : is_new ? pawl__why_queued : pawl__mongo_known;
}

const pawl__mongo_way pawl__mongo_queue_send_way = {
    .collection = "queue",
    .fields     = send_fields,
    .keys       = "queue,message_id",
    .table      = &queued,
    .look       = "filter: {$or: @@{queue: @queue, message_id: @message_id}}, "
                  "projection: {queue: 1, message_id: 1}",
    .match      = "queue=queue,message_id=message_id",
    .judge      = judge_send,
    .writes = {"insert _id: @number, @*, placed: @due, deaths: 0, waiting_since: 0, changes: 0"}};
