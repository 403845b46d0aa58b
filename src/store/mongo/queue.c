/* queue.c - messages of queues, ready or due later, and claims of them.
 *
 *     {_id: number, queue, message_id, type, ..., due, placed, attempts, deaths, waiting_since, error,
 *      history, changes, claimed_by: UUID of a worker, claim: number}
 *
 * A claim reads free documents, and marks those that have not changed since (`changes` rises with each retry).
 * Documents with the claim's number are its own; the others were taken by other workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/queue_fields.h"
#include "store/mongo/commit.h"

#include <stdlib.h>
#include <string.h>

#define TRIES_MAX 10 /* repeats of a claim or list if its rows were taken or removed meanwhile */

/* A message, first, and the fields that claims and settles check. */
typedef struct queue_row {
    pawl_queue_message message;
    pawl_text          queue;
    int64_t            changes;
    pawl_uuid          claimed_by;
    int64_t            claim;
} queue_row;
_Static_assert(offsetof(queue_row, message) == 0, "rows are read into a part of it");

static const pawl__field_list claim_fields =
    PAWL__FIELDS(PAWL__AS_OF(queue_row, queue, TEXT), PAWL__AS_OF(queue_row, changes, INT),
                 PAWL__AS_OF(queue_row, claimed_by, UUID), PAWL__AS_OF(queue_row, claim, INT));
static const pawl__mongo_table queued = {.name     = "queue",
                                         .id       = "seq",
                                         .fields   = &pawl__queue_message_fields,
                                         .more     = &claim_fields,
                                         .row_size = sizeof(queue_row)};
static const pawl__mongo_table as_messages =
    PAWL__MONGO_TABLE("queue", "seq", pawl__queue_message_fields, pawl_queue_message);
static const pawl__mongo_table as_rows =
    PAWL__MONGO_TABLE("queue", "seq", pawl__queue_row_fields, pawl_queue_row);

typedef struct found_rows {
    queue_row *items;
    size_t     count;
} found_rows;

/* ---- Claims -------------------------------------------------------------- */

/* Free documents. If the claim names messages, this worker may have them already. */
#define CLAIMABLE "claimed_by: {$in: [null, ?%u]}"

static pawl_uuid own_of(const pawl_store *store, const pawl_queue_claim *claim)
{
    return claim->seq_count != 0 ? store->worker.uuid : (pawl_uuid){{0}};
}

static pawl_code find_wanted(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                             found_rows *found, pawl_error *error)
{
    bool                is_named = claim->seq_count != 0;
    size_t              size     = 0;
    pawl__mongo_reading r =
        pawl__mongo_begin(store, &queued, arena, error,
                          "filter: {queue: %t, due: {$lte: %i}, " CLAIMABLE ", _id?: {$in?: %l}}, "
                          "sort: {due: 1, _id: 1}, limit?: %i",
                          claim->queue, claim->due_max, own_of(store, claim),
                          PAWL__MONGO_VALUES(claim->seqs, claim->seq_count, INT),
                          is_named ? 0 : (int64_t)claim->count_max);
    while ((is_named || !PAWL_SIZE_IS_REACHED(size, claim->size_max)) && pawl__mongo_next(&r)) {
        queue_row *items = r.items;
        size += PAWL_MESSAGE_SIZE(&items[r.count - 1].message.row.message);
    }
    *found = (found_rows){.items = r.items, .count = r.count};
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
                       int64_t *written, pawl_error *error)
{
    pawl__mongo *self   = pawl__mongo_of(store);
    bson_t       filter = BSON_INITIALIZER;
    put_as_found(&filter, found);
    self->may_have_lost_claims = claim->seq_count == 0;
    pawl_code code =
        pawl__mongo_write(store, "queue", PAWL__MONGO_UPDATE_MANY, written, error,
                          "q: {%m, " CLAIMABLE "}, u: {$set: {claimed_by: %u, claim: %i}}", &filter,
                          own_of(store, claim), store->worker.uuid, ++self->claim);
    self->may_have_lost_claims = self->may_have_lost_claims && code != PAWL_OK;
    bson_destroy(&filter);
    return code;
}

/* Frees messages that an earlier claim may have marked without returning them. */
static pawl_code free_stray(pawl_store *store, pawl_error *error)
{
    pawl__mongo *self = pawl__mongo_of(store);
    if (!self->may_have_lost_claims)
        return PAWL_OK;
    pawl_code code =
        pawl__mongo_write(store, "queue", PAWL__MONGO_UPDATE_MANY, NULL, error,
                          "q: {claimed_by: %u, claim: %i}, u: {$unset: {claimed_by: 1, claim: 1}}",
                          store->worker.uuid, self->claim);
    self->may_have_lost_claims = code != PAWL_OK;
    return code;
}

/* Copies the rows that the claim marked to `rows`, in order: all of them if it marked as many as were found. */
static pawl_code keep_ours(pawl_store *store, pawl_arena *arena, const found_rows *found,
                           int64_t written, pawl_queue_rows *rows, pawl_error *error)
{
    found_rows ours   = {.count = 0};
    bool       is_all = written == (int64_t)found->count;
    pawl_code  code   = PAWL_OK;
    if (!is_all)
        code = pawl__mongo_read(store, &queued, arena, &ours.items, &ours.count, error,
                                "filter: {claimed_by: %u, claim: %i}, projection: {_id: 1}",
                                store->worker.uuid, pawl__mongo_of(store)->claim);
    rows->items = pawl_arena_take(arena, (found->count + 1) * sizeof *rows->items);
    if (rows->items == NULL)
        return pawl__mongo_no_memory(error);
    for (size_t i = 0; code == PAWL_OK && i < found->count; i++) {
        const pawl_queue_row *row = &found->items[i].message.row;
        size_t                at  = 0;
        while (at < ours.count && ours.items[at].message.row.seq != row->seq)
            at++;
        if (is_all || at < ours.count)
            rows->items[rows->count++] = *row;
    }
    return code;
}

pawl_code pawl__mongo_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                  pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    found_rows found   = {.count = 0};
    int64_t    written = 0;
    if (pawl__mongo_of(store)->is_fenced)
        return pawl__why_fenced(store, "mongodb", error);
    pawl_code code = free_stray(store, error);
    for (unsigned tries = 0; code == PAWL_OK && written == 0 && tries < TRIES_MAX; tries++) {
        code = find_wanted(store, claim, arena, &found, error);
        if (code != PAWL_OK || found.count == 0)
            break;
        code = stamp(store, claim, &found, &written, error);
    }
    if (code == PAWL_OK)
        code = keep_ours(store, arena, &found, written, rows, error);
    /* Rows that were marked but not returned are freed by the next claim. */
    pawl__mongo_of(store)->may_have_lost_claims |=
        code != PAWL_OK && written != 0 && claim->seq_count == 0;
    return code;
}

/* ---- Reads --------------------------------------------------------------- */

typedef struct place {
    int64_t   seq;
    pawl_time placed;
} place;

static const pawl__field_list place_fields =
    PAWL__FIELDS(PAWL__AS_OF(place, seq, INT), PAWL__AS_OF(place, placed, TIME));
static const pawl__mongo_table as_places = PAWL__MONGO_TABLE("queue", "seq", place_fields, place);

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The first of `count` rows that is not in `except`; both have at most `count` items. */
static void take_oldest(const place *rows, size_t count, const int64_t *except, size_t except_count,
                        pawl_time *placed, int64_t *seq)
{
    size_t i = 0;
    while (i < count &&
           bsearch(&rows[i].seq, except, except_count, sizeof *except, by_number) != NULL)
        i++;
    if (i == count)
        return;
    *placed = rows[i].placed;
    *seq    = rows[i].seq;
}

/* Reads one row more than `except` has, and filters here: a server may compare each document with a whole $nin. */
pawl_code pawl__mongo_queue_oldest(pawl_store *store, pawl_text queue, pawl_time due_max,
                                   const int64_t *except, size_t except_count, pawl_time *placed,
                                   int64_t *seq, pawl_error *error)
{
    pawl_arena *arena = pawl_arena_create(0);
    int64_t  *out = arena != NULL ? pawl_arena_take(arena, (except_count + 1) * sizeof *out) : NULL;
    place    *rows  = NULL;
    size_t    count = 0;
    pawl_code code  = PAWL_OK;
    *placed         = PAWL_TIME_MAX;
    *seq            = INT64_MAX;
    if (out == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "mongodb: no memory for rows of a queue");
    if (code == PAWL_OK)
        code =
            pawl__mongo_read(store, &as_places, arena, &rows, &count, error,
                             "filter: {queue: %t, due: {$lte: %i}, attempts: 0, waiting_since: 0}, "
                             "sort: {placed: 1, _id: 1}, projection: {placed: 1}, limit: %i",
                             queue, due_max, (int64_t)except_count + 1);
    if (code == PAWL_OK && count > 0) {
        if (except_count > 0)
            memcpy(out, except, except_count * sizeof *out);
        qsort(out, except_count, sizeof *out, by_number);
        take_oldest(rows, count, out, except_count, placed, seq);
    }
    pawl_arena_destroy(arena);
    return code;
}

static int by_place(const void *left, const void *right)
{
    const pawl_queue_row *a = left, *b = right;
    return a->placed != b->placed ? (a->placed > b->placed) - (a->placed < b->placed)
                                  : (a->seq > b->seq) - (a->seq < b->seq);
}

static const pawl__field_list  number     = PAWL__MONGO_NUMBER("seq");
static const pawl__mongo_table as_numbers = PAWL__MONGO_TABLE("queue", "seq", number, int64_t);

/* Reads keys first, then only the messages that it returns. Fewer rows than asked for would mean the end of the list,
 * so if some disappeared between the two reads, both are repeated. */
pawl_code pawl__mongo_find_retried(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                   pawl_found *found, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (int i = 0; code == PAWL_OK && i < TRIES_MAX; i++) {
        int64_t *numbers;
        size_t   count;
        found->count = 0;
        code         = pawl__mongo_read(
                    store, &as_numbers, arena, &numbers, &count, error,
                    "pipeline: [{$match: {queue: %t, due: {$gt: %i}}}, {$sort: {due: 1, _id: 1}}, {$limit: %i}, "
                            "{$project: {attempts: 1, type: 1, placed: 1}}, {$match: {attempts: {$gt: 0}, type: %t}}, "
                            "{$sort: {placed: 1, _id: 1}}, {$limit: %i}]",
                    asked->retried.queue, asked->retried.due_after, asked->scan_max, asked->retried.type,
                    asked->limit);
        if (code != PAWL_OK || count == 0)
            return code;
        code =
            pawl__mongo_read(store, &as_rows, arena, &found->items, &found->count, error,
                             "filter: {_id: {$in: %l}}", PAWL__MONGO_VALUES(numbers, count, INT));
        if (found->count == count)
            break;
    }
    if (code == PAWL_OK && found->count > 1)
        qsort(found->items, found->count, sizeof(pawl_queue_row), by_place);
    return code;
}

pawl_code pawl__mongo_find_messages(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                    pawl_found *found, pawl_error *error)
{
    const pawl_queue_query *query  = &asked->messages;
    bson_t                  behind = BSON_INITIALIZER;
    if (asked->is_by_place)
        return pawl__mongo_read(store, &as_messages, arena, &found->items, &found->count, error,
                                "filter: {queue: %t}, sort: {placed: 1, _id: 1}, limit: %i",
                                query->queue, asked->limit);
    if (asked->after.time == query->due_max)
        (void)pawl__mongo_put(&behind, "$and: [{due: %i}, {_id: {$gt: %i}}]", query->due_max,
                              asked->after.number);
    else if (asked->after.time != PAWL_TIME_MIN || asked->after.number != 0)
        (void)pawl__mongo_put(&behind, "$or: [{due: {$gt: %i}}, {due: %i, _id: {$gt: %i}}]",
                              asked->after.time, asked->after.time, asked->after.number);
    pawl_code code = pawl__mongo_read(
        store, &as_messages, arena, &found->items, &found->count, error,
        "filter: {queue: %t, message_id?: %t, type?: %t, due: {$gte: %i, $lte: %i}, _id: {$lte: %i}, "
        "%m}, sort: {due: 1, _id: 1}, limit: %i",
        query->queue, query->message_id, query->type, query->due_min, query->due_max,
        query->seq_max, &behind, asked->limit);
    bson_destroy(&behind);
    return code;
}

/* ---- Changes ------------------------------------------------------------- */

static const char *const actions[] = {"done", "release", "retry"};

static pawl__why_fn *judge_settle(const pawl__mongo_run *run, const void *change, const void *row)
{
    const pawl_queue_settle *settle = change;
    const queue_row         *found  = row;
    return pawl_uuid_compare(found->claimed_by, run->scope.worker) == 0 &&
                   pawl_text_equal(found->queue, settle->queue)
               ? NULL
               : pawl__why_not_claimed;
}

#define SETTLED(number, member, column, stored, wire, checked, form) #stored ": @" #stored
#define SETTLED_FIELDS PAWL__QUEUE_SETTLED(SETTLED, SETTLED, ", ")
#define OURS "q: {_id: {$in: @@seq}, queue: @queue, claimed_by: @worker}"
const pawl__mongo_rule pawl__mongo_queue_settle_rule = {
    .collection = "queue",
    .choices    = actions,
    .keys       = "seq",
    .table      = &queued,
    .reads      = "filter: {_id: {$in: @@seq}}, projection: {queue: 1, claimed_by: 1}",
    .match      = "seq=_id",
    .if_missing = pawl__why_gone,
    .judge      = judge_settle,
    .writes     = {"when action=done: by queue removes " OURS,
                   "when action=release: by queue updates " OURS
                   ", u: {$unset: {claimed_by: 1, claim: 1}}",
                   "update q: {_id: @seq, queue: @queue, claimed_by: @worker}, "
                       "u: {$set: {" SETTLED_FIELDS "}, $inc: {changes: 1}, "
                       "$unset: {claimed_by: 1, claim: 1}}"}};

static pawl__why_fn *judge_send(const pawl__mongo_run *run, const void *change, const void *row)
{
    bool is_new = ((const pawl_queue_send *)change)->is_new;
    (void)run;
    return row == NULL ? NULL : is_new ? pawl__why_queued : pawl__mongo_known;
}

const pawl__mongo_rule pawl__mongo_queue_send_rule = {
    .collection = "queue",
    .keys       = "queue,message_id",
    .table      = &queued,
    .reads      = "filter: {$or: @@{queue: @queue, message_id: @message_id}}, "
                  "projection: {queue: 1, message_id: 1}",
    .match      = "queue=queue,message_id=message_id",
    .judge      = judge_send,
    .writes = {"insert _id: @number, @*, placed: @due, " PAWL__QUEUE_NEW_DOCUMENT ", changes: 0"}};
