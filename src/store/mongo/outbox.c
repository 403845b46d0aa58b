/* outbox.c - the outbox: messages to other systems, with their attempts and outcomes.
 *
 *     {_id: number, dispatch_id: UUID, source, version, index, endpoint, destination, message_id, ...,
 *      due, state, attempts, next_attempt, at, ended, attempts_before, tries: [{outcome, ...}]}
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"

#include <stdlib.h>

static const pawl__field_list ended =
    PAWL__FIELDS(PAWL__MONGO_AS(pawl_outbox_row, dispatched, "ended", TIME));
static const pawl__mongo_table outbox = {.name     = "outbox",
                                         .id       = "id",
                                         .fields   = &pawl__outbox_row_fields,
                                         .more     = &ended,
                                         .row_size = sizeof(pawl_outbox_row)};

/* ---- Claims -------------------------------------------------------------- */

static bool is_behind(const pawl_outbox_row *left, const pawl_outbox_row *right)
{
    return left->version != right->version ? left->version > right->version
                                           : left->index > right->index;
}

/* Matches rows without ordering key by id, and for each ordering key all rows up to the last one found. */
static void put_found(bson_t *either, const pawl_outbox_rows *found)
{
    const pawl_outbox_row *rows  = found->items;
    bson_t                 ids   = BSON_INITIALIZER;
    uint32_t               count = 0, id_count = 0;
    for (size_t i = 0; i < found->count; i++) {
        const pawl_outbox_row *last  = &rows[i];
        size_t                 first = 0;
        while (!pawl_text_equal(rows[first].source, rows[i].source))
            first++;
        for (size_t at = i; at < found->count; at++)
            if (pawl_text_equal(rows[at].source, rows[i].source) && is_behind(&rows[at], last))
                last = &rows[at];
        if (rows[i].source.size == 0)
            (void)pawl__mongo_push(&ids, &id_count, "%i", rows[i].id);
        else if (first == i)
            (void)pawl__mongo_push(
                either, &count,
                "{source: %t, $or: [{version: {$lt: %i}}, {version: %i, index: {$lte: %n}}]}",
                last->source, last->version, last->version, (int)last->index);
    }
    (void)pawl__mongo_push(either, &count, "{_id: {$in: %a}}", &ids);
    bson_destroy(&ids);
}

/* Replaces each row of an ordering key by the first due row of that key not yet used, in the order of versions, which
 * ids need not follow. Rows settled between the two reads are left out. */
static void fill_places(pawl_outbox_rows *places, const pawl_outbox_rows *full, bool *is_taken)
{
    size_t filled = 0;
    for (size_t i = 0; i < places->count; i++)
        for (size_t at = 0; at < full->count; at++) {
            const pawl_outbox_row *place = &places->items[i], *row = &full->items[at];
            bool                   is_it = place->source.size == 0 ? row->id == place->id
                                                                   : pawl_text_equal(row->source, place->source);
            if (!is_it || is_taken[at])
                continue;
            is_taken[at]            = true;
            places->items[filled++] = *row;
            break;
        }
    places->count = filled;
}

static int by_version(const void *left, const void *right)
{
    const pawl_outbox_row *l = left, *r = right;
    int                    order = pawl_text_compare(l->source, r->source);
    return order != 0 ? order : is_behind(l, r) - is_behind(r, l);
}

/* Reads the messages of the rows. */
static pawl_code read_messages(pawl_store *store, pawl_text endpoint, pawl_time now,
                               pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    bson_t           either = BSON_INITIALIZER;
    pawl_outbox_rows full   = {.count = 0};
    put_found(&either, rows);
    pawl_code code = pawl__mongo_read(store, &outbox, arena, &full.items, &full.count, error,
                                      "filter: {state: 'pending', next_attempt: {$lte: %i}, "
                                      "endpoint?: %t, $or: %a}",
                                      now, endpoint, &either);
    bson_destroy(&either);
    bool *is_taken = pawl_arena_take(arena, full.count + 1);
    if (code == PAWL_OK && is_taken == NULL)
        return pawl__mongo_no_memory(error);
    if (code != PAWL_OK)
        return code;
    if (full.count > 1)
        qsort(full.items, full.count, sizeof *full.items, by_version);
    fill_places(rows, &full, is_taken);
    return PAWL_OK;
}

/* Reads the first due rows by id without their messages, and one more, whose time tells when to claim next. If there
 * is no such row, all pending rows are searched for that time. */
pawl_code pawl__mongo_outbox_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                                   size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                   pawl_error *error)
{
    pawl_outbox_row next = {.next_attempt = PAWL_TIME_MAX};
    pawl_code       code = pawl__mongo_read(
              store, &outbox, arena, &rows->items, &rows->count, error,
              "filter: {state: 'pending', next_attempt: {$lte: %i}, endpoint?: %t}, sort: {_id: 1}, "
                    "projection: {source: 1, version: 1, index: 1, next_attempt: 1}, limit: %i",
              now, endpoint, (int64_t)count_max + 1);
    if (code == PAWL_OK && rows->count > count_max)
        next.next_attempt = rows->items[--rows->count].next_attempt;
    else if (code == PAWL_OK)
        code = pawl__mongo_read_one(
            store, &outbox, NULL, &next, NULL, error,
            "filter: {state: 'pending', next_attempt: {$gt: %i}, endpoint?: %t}, "
            "sort: {next_attempt: 1}, projection: {next_attempt: 1}",
            now, endpoint);
    rows->next_attempt = next.next_attempt;
    return code == PAWL_OK && rows->count != 0
               ? read_messages(store, endpoint, now, arena, rows, error)
               : code;
}

/* ---- Reads --------------------------------------------------------------- */

/* Retries are found by next_attempt, which the index contains; it is 0 for a row that was never tried. */
pawl_code pawl__mongo_find_outbox(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                  pawl_found *found, pawl_error *error)
{
    const pawl_outbox_query *query  = &asked->outbox;
    bson_t                   wanted = BSON_INITIALIZER;
    uint32_t                 count  = 0;
    bool is_tried = query->attempts_min > 0 && query->states == 1u << PAWL_OUTBOX_PENDING;
    for (unsigned i = 0; i < PAWL__STATE_COUNT; i++)
        if (query->states == 0 || (query->states & 1u << i) != 0)
            (void)pawl__mongo_push(&wanted, &count, "%t", pawl__state_words[i]);
    pawl_code code = pawl__mongo_read(
        store, &outbox, arena, &found->items, &found->count, error,
        "filter: {state: {$in: %a}, _id: {$gt: %i, $eq?: %i}, dispatch_id?: %u, endpoint?: %t, source?: %t, "
        "destination?: %t, type?: %t, causation_id?: %t, attempts?: {$gte?: %n}, next_attempt?: {$gte?: %n}}, "
        "sort: {_id: 1}, limit: %i",
        &wanted, asked->after.number, query->id, query->dispatch_id.uuid, query->endpoint,
        query->source, query->destination, query->message_type, query->causation_id,
        (int)query->attempts_min, (int)is_tried, asked->limit);
    bson_destroy(&wanted);
    return code;
}

pawl_code pawl__mongo_find_attempts(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                    pawl_found *found, pawl_error *error)
{
    static const pawl__mongo_table table =
        PAWL__MONGO_TABLE("outbox", NULL, pawl__attempt_row_fields, pawl_attempt_row);
    pawl_code code = pawl__mongo_read(
        store, &table, arena, &found->items, &found->count, error,
        "pipeline: [{$match: {_id: %i}}, {$project: {tries: 1}}, {$unwind: '$tries'}, "
        "{$replaceRoot: {newRoot: '$tries'}}]",
        asked->id);
    pawl_attempt_row *rows = found->items;
    for (size_t i = 0; i < found->count; i++)
        rows[i].attempt = (int32_t)i + 1;
    return code;
}

/* ---- Changes ------------------------------------------------------------- */

#define IN_STATE(state) "filter: {_id: {$in: @@id}, state: '" state "'}, projection: {_id: 1}"
#define TRIED                                                                                 \
    "update q: {_id: @id, state: 'pending'}, u: {$push: {tries: {outcome: @outcome, error?: " \
    "@error, at: @at, duration: @duration}}, $set: {state: @state, attempts: @attempts, "     \
    "next_attempt: @next_attempt"
const pawl__mongo_rule pawl__mongo_outbox_settle_rule = {
    .collection = "outbox",
    .keys       = "id",
    .table      = &outbox,
    .reads      = IN_STATE("pending"),
    .match      = "id=_id",
    .if_missing = pawl__why_not_pending,
    .writes     = {"when state=dispatched: " TRIED ", ended: @at}}", TRIED "}}"}};

#define RESET(state, outcome, more)                                             \
    "update q: {_id: @id, state: 'dead'}, u: [{$set: {state: '" state           \
    "', attempts: {$add: ['$attempts', 1]}, " more                              \
    ", tries: {$concatArrays: [{$ifNull: ['$tries', []]}, [{outcome: '" outcome \
    "', error: {$literal: @note}, at: @at, duration: 0}]]}}}]"
const pawl__mongo_rule pawl__mongo_outbox_reset_rule = {
    .collection = "outbox",
    .keys       = "id",
    .table      = &outbox,
    .reads      = IN_STATE("dead"),
    .match      = "id=_id",
    .if_missing = pawl__why_not_dead,
    .writes     = {
            "when action=enabled: " RESET(
                "pending", "enabled", "next_attempt: @at, attempts_before: {$add: ['$attempts', 1]}"),
            RESET("discarded", "discarded", "ended: @at")}};

const pawl__mongo_rule pawl__mongo_outbox_add_rule = {
    .collection = "outbox",
    .keys       = "dispatch_id",
    .table      = &outbox,
    .reads = "filter: {dispatch_id: {$in: @@dispatch_id}}, projection: {dispatch_id: 1, type: 1, "
             "body: 1, body_rest: 1}",
    .match = "dispatch_id=dispatch_id",
    .same  = "type=type,body=body",
    .if_there = pawl__mongo_known,
    .if_other = pawl__why_differs,
    .writes   = {"insert _id: @number, @*, state: 'pending', attempts: 0, next_attempt: 0, "
                   "attempts_before: 0"}};

const pawl__mongo_rule pawl__mongo_outbox_block_rule = {
    .collection = "outbox",
    .writes     = {
            "when id source !is_unblock: maybe update q: {_id: @id, source: @source, state: 'pending', "
                "attempts: 0}, u: {$set: {state: 'held'}}",
            "when source !is_unblock: maybe updates q: {source: @source, state: 'pending', "
                "attempts: 0, _id: {$gt: @after}}, u: {$set: {state: 'held'}}",
            "when source: maybe updates q: {source: @source, state: 'held'}, "
                "u: {$set: {state: 'pending'}}"}};
