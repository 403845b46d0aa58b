/* inbox.c - inbox entries, one per handled message: {_id: {endpoint, message_id}, outcome, at}; history; and
 * subscriptions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"

#include <stdlib.h>

#define MARK(member) PAWL__MONGO_AS(pawl_inbox_entry, member, "_id." #member, TEXT)
static const pawl__field_list  mark_fields = PAWL__FIELDS(MARK(endpoint), MARK(message_id));
static const pawl__mongo_table marks =
    PAWL__MONGO_TABLE("inbox", NULL, mark_fields, pawl_inbox_entry);

pawl_code pawl__mongo_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                  size_t count, bool *known, pawl_error *error)
{
    static const pawl__mongo_table keys = {.name = "inbox"};
    bson_t                         list = BSON_INITIALIZER;
    uint32_t                       used = 0;
    for (size_t i = 0; i < count; i++) {
        known[i] = false;
        (void)pawl__mongo_push(&list, &used, "{endpoint: %t, message_id: %t}", endpoint, ids[i]);
    }
    pawl__mongo_reading r = pawl__mongo_begin(
        store, &keys, NULL, error, "filter: {_id: {$in: %a}}, projection: {_id: 1}", &list);
    while (pawl__mongo_next(&r)) {
        bson_t id;
        pawl__mongo_part(r.document, "_id", &id);
        for (size_t i = 0; i < count; i++)
            known[i] |= pawl_text_equal(ids[i], pawl__mongo_get_text(&id, "message_id"));
    }
    bson_destroy(&list);
    return pawl__mongo_end(&r);
}

/* ---- Subscriptions ------------------------------------------------------- */

static int by_type(const void *left, const void *right)
{
    const pawl_subscription *a = left, *b = right;
    int                      order = pawl_text_compare(a->type, b->type);
    return order != 0 ? order : pawl_text_compare(a->queue, b->queue);
}

pawl_code pawl__mongo_find_subscriptions(pawl_store *store, const pawl_find *asked,
                                         pawl_arena *arena, pawl_found *found, pawl_error *error)
{
    static const pawl__mongo_table table =
        PAWL__MONGO_TABLE("subscriptions", NULL, pawl__subscription_fields, pawl_subscription);
    pawl_code code =
        pawl__mongo_read(store, &table, arena, &found->items, &found->count, error, "filter: {}");
    (void)asked;
    if (found->count > 1)
        qsort(found->items, found->count, sizeof(pawl_subscription), by_type);
    return code;
}

/* ---- History ------------------------------------------------------------- */

pawl_code pawl__mongo_find_history(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                   pawl_found *found, pawl_error *error)
{
    static const pawl__mongo_table table =
        PAWL__MONGO_TABLE("history", "id", pawl__history_row_fields, pawl_history_row);
    return pawl__mongo_read(
        store, &table, arena, &found->items, &found->count, error,
        "filter: {_id: {$gt: %i}, source?: %t, message_id?: %t}, sort: {_id: 1}, limit: %i",
        asked->after.number, asked->history.source, asked->history.message_id, asked->limit);
}

/* ---- Changes ------------------------------------------------------------- */

const pawl__mongo_rule pawl__mongo_inbox_entry_rule = {
    .collection = "inbox",
    .keys       = "endpoint,message_id",
    .table      = &marks,
    .reads      = "filter: {_id: {$in: @@{endpoint: @endpoint, message_id: @message_id}}}, "
                  "projection: {_id: 1}",
    .match      = "endpoint=_id.endpoint,message_id=_id.message_id",
    .if_there   = pawl__why_handled,
    .writes     = {"insert _id: {endpoint: @endpoint, message_id: @message_id}, outcome: @outcome, "
                       "at: @at"}};

const pawl__mongo_rule pawl__mongo_subscription_set_rule = {
    .collection = "subscriptions",
    .keys       = "type,queue",
    .writes     = {"when is_remove: maybe remove q: {_id: {type: @type, queue: @queue}}",
                   "maybe upsert q: {_id: {type: @type, queue: @queue}}, u: {$set: {@*}}"}};

const pawl__mongo_rule pawl__mongo_history_add_rule = {.collection = "history",
                                                       .writes     = {"insert _id: @number, @*"}};
