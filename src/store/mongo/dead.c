/* dead.c - dead letters: {_id, endpoint, queue, message_id, type, ..., code, error, attempts, deaths,
 * history, at}.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"

static const pawl__mongo_table letters =
    PAWL__MONGO_TABLE("dead", NULL, pawl__dead_row_fields, pawl_dead_row);

/* The server searches the error text for the given part, byte for byte. */
pawl_code pawl__mongo_find_dead(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                pawl_found *found, pawl_error *error)
{
    const pawl_dead_query *query = &asked->dead;
    const pawl_find_after *after = &asked->after;
    bson_t                 more  = BSON_INITIALIZER;
    if (after->time != PAWL_TIME_MIN || after->message_id.size != 0)
        (void)pawl__mongo_put(&more,
                              "$or: [{at: {$gt: %i}}, {at: %i, endpoint: {$gt: %t}}, {at: %i, "
                              "endpoint: %t, message_id: {$gt: %t}}]",
                              after->time, after->time, after->endpoint, after->time,
                              after->endpoint, after->message_id);
    if (query->error_part.size != 0)
        (void)pawl__mongo_put(&more,
                              "$expr: {$gte: [{$indexOfBytes: ['$error', {$literal: %t}]}, 0]}",
                              query->error_part);
    pawl_code code = pawl__mongo_read(
        store, &letters, arena, &found->items, &found->count, error,
        "filter: {endpoint?: %t, message_id?: %t, type?: %t, code?: %t, at: {$gte: %i, $lte: %i}, "
        "%m}, sort: {at: 1, endpoint: 1, message_id: 1}, limit?: %i",
        query->endpoint, query->message_id, query->type, query->code, query->at_min, query->at_max,
        &more, asked->limit);
    bson_destroy(&more);
    return code;
}

static const pawl__field_list queue_name = PAWL__FIELDS(PAWL__AS(dead_count, queue, TEXT));

pawl_code pawl__mongo_dead_count(pawl_store *store, pawl_arena *arena, pawl_dead_counts *counts,
                                 pawl_error *error)
{
    static const pawl__mongo_table names =
        PAWL__MONGO_TABLE("dead", "queue", queue_name, pawl_dead_count);
    pawl_code code = pawl__mongo_read(store, &names, arena, &counts->items, &counts->count, error,
                                      "pipeline: [{$group: {_id: '$queue'}}, {$sort: {_id: 1}}]");
    for (size_t i = 0; code == PAWL_OK && i < counts->count; i++) {
        pawl_dead_count   *item = &counts->items[i];
        pawl__mongo_oldest found;
        code = pawl__mongo_count_oldest(store, "dead", "at", PAWL_STATS_COUNT_MAX, &found, error,
                                        "queue: %t", item->queue);
        item->count  = found.n;
        item->oldest = found.oldest;
    }
    return code;
}

/* ---- Changes ------------------------------------------------------------- */

static pawl__why_fn *judge(const pawl__mongo_run *run, const void *change, const void *row)
{
    const pawl_dead_set *set    = change;
    const pawl_dead_row *letter = row;
    (void)run;
    if (set->is_remove)
        return set->is_checked && (letter == NULL || letter->at != set->at) ? pawl__why_no_letter
                                                                            : NULL;
    return row != NULL ? pawl__mongo_known : NULL;
}

/* Removing a dead letter also removes the inbox entry of its message, unless `keeps_record`. */
static const pawl__mongo_rule unmark = {
    .collection = "inbox",
    .writes     = {
            "when is_remove !keeps_record: maybe remove q: {_id: {endpoint: @endpoint, message_id: @message_id}}"}};

#define THIS "endpoint: @endpoint, message_id: @message_id"
const pawl__mongo_rule pawl__mongo_dead_set_rule = {
    .collection = "dead",
    .keys       = "endpoint,message_id",
    .table      = &letters,
    .reads      = "filter: {$or: @@{" THIS "}}, projection: {endpoint: 1, message_id: 1, at: 1}",
    .match      = "endpoint=endpoint,message_id=message_id",
    .judge      = judge,
    .writes     = {"when !is_remove: insert @*", "when is_checked: remove q: {" THIS ", at: @at}",
                   "maybe remove q: {" THIS "}"},
    .also       = &unmark};
