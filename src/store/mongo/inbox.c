/* inbox.c - which messages an endpoint has handled: {_id: {endpoint, message_id}, outcome, at}; lines of
 * history; and subscriptions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"
#include "store/mongo/operations.h"

#include <stdlib.h>

static const char *const outcomes[] = {"handled", "discarded", "dead", NULL};

#define MARK(member, key, type) PAWL__MONGO_FIELD(pawl_inbox_mark, member, key, type)
static const pawl__mongo_field mark_fields[] = {
    {"outcome", offsetof(pawl_inbox_mark, outcome), PAWL__MONGO_WORD, outcomes},
    MARK(at, "at", INT),
    PAWL__MONGO_END,
};

/* ---- Marks --------------------------------------------------------------- */

static void put_key(bson_t *document, const char *key, pawl_text endpoint, pawl_text message_id)
{
    bson_t inner;
    (void)bson_append_document_begin(document, key, -1, &inner);
    pawl__mongo_put_text(&inner, "endpoint", endpoint);
    pawl__mongo_put_text(&inner, "message_id", message_id);
    (void)bson_append_document_end(document, &inner);
}

void pawl__mongo_put_mark_key(bson_t *filter, pawl_text endpoint, pawl_text message_id)
{
    put_key(filter, "_id", endpoint, message_id);
}

/* The endpoint and the id of the document's key, in its memory. */
static pawl_inbox_mark key_of(const bson_t *document)
{
    pawl_inbox_mark mark = {.outcome = PAWL_INBOX_HANDLED};
    bson_iter_t     at, inner;
    uint32_t        size = 0;
    if (!bson_iter_init_find(&at, document, "_id") || !bson_iter_recurse(&at, &inner))
        return mark;
    while (bson_iter_next(&inner)) {
        const char *text  = bson_iter_utf8(&inner, &size);
        pawl_text   value = {.data = text, .size = size};
        if (bson_iter_key(&inner)[0] == 'e')
            mark.endpoint = value;
        else
            mark.message_id = value;
    }
    return mark;
}

pawl_code pawl__mongo_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                  size_t count, bool *known, pawl_error *error)
{
    bson_t                 filter   = BSON_INITIALIZER;
    const bson_t          *document = NULL;
    const pawl__mongo_find find     = {.collection = "inbox", .filter = &filter, .only = "_id"};
    pawl__mongo_list       list;
    pawl__mongo_list_begin(&filter, "_id", "$in", &list);
    for (size_t i = 0; i < count; i++) {
        known[i] = false;
        put_key(&list.items, pawl__mongo_list_key(&list), endpoint, ids[i]);
    }
    pawl__mongo_list_end(&filter, &list);
    mongoc_cursor_t *cursor = pawl__mongo_begin(store, &find);
    while (mongoc_cursor_next(cursor, &document)) {
        const pawl_inbox_mark mark = key_of(document);
        for (size_t i = 0; i < count; i++)
            known[i] |= pawl_text_equal(ids[i], mark.message_id);
    }
    bson_destroy(&filter);
    return pawl__mongo_end(store, cursor, error);
}

void pawl__mongo_keys_inbox_mark(const void *change, uint32_t keys[3])
{
    const pawl_inbox_mark *mark = change;
    keys[0] = pawl__mongo_hash(pawl__mongo_hash(1, mark->endpoint.data, mark->endpoint.size),
                               mark->message_id.data, mark->message_id.size);
}

static pawl_code look_at_marks(const pawl__mongo_run *run)
{
    const pawl_inbox_mark *const *items    = (const pawl_inbox_mark *const *)run->items;
    bson_t                        filter   = BSON_INITIALIZER;
    const bson_t                 *document = NULL;
    const pawl__mongo_find        find = {.collection = "inbox", .filter = &filter, .only = "_id"};
    pawl__mongo_list              list;
    pawl__mongo_list_begin(&filter, "_id", "$in", &list);
    for (size_t i = 0; i < run->count; i++)
        put_key(&list.items, pawl__mongo_list_key(&list), items[i]->endpoint, items[i]->message_id);
    pawl__mongo_list_end(&filter, &list);
    mongoc_cursor_t *cursor = pawl__mongo_begin(run->writer->store, &find);
    while (mongoc_cursor_next(cursor, &document)) {
        const pawl_inbox_mark mark = key_of(document);
        for (size_t i = 0; i < run->count; i++)
            run->is_out[i] |= pawl_text_equal(mark.message_id, items[i]->message_id) &&
                              pawl_text_equal(mark.endpoint, items[i]->endpoint);
    }
    bson_destroy(&filter);
    pawl_code code = pawl__mongo_end(run->writer->store, cursor, run->writer->error);
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++)
        if (run->is_out[i])
            code = pawl__mongo_refuse(run, i, pawl__why_handled);
    return code;
}

pawl_code pawl__mongo_apply_inbox_mark(const pawl__mongo_run *run)
{
    const pawl_inbox_mark *const *items    = (const pawl_inbox_mark *const *)run->items;
    size_t                        expected = 0;
    pawl_code                     code     = look_at_marks(run);
    pawl__mongo_bulk              bulk     = pawl__mongo_bulk_begin(run->writer->store, "inbox");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        bson_t document = BSON_INITIALIZER;
        if (run->is_out[i])
            continue;
        put_key(&document, "_id", items[i]->endpoint, items[i]->message_id);
        (void)pawl__mongo_encode(&document, mark_fields, items[i]);
        pawl__mongo_insert(&bulk, &document);
        bson_destroy(&document);
        expected++;
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}

/* ---- Subscriptions ------------------------------------------------------- */

static const pawl__mongo_field subscription_fields[] = {
    PAWL__MONGO_FIELD(pawl_subscription, type, "type", TEXT),
    PAWL__MONGO_FIELD(pawl_subscription, queue, "queue", TEXT),
    PAWL__MONGO_END,
};

static int by_type(const void *left, const void *right)
{
    const pawl_subscription *a = left, *b = right;
    int                      order = pawl_text_compare(a->type, b->type);
    return order != 0 ? order : pawl_text_compare(a->queue, b->queue);
}

pawl_code pawl__mongo_subscriptions(pawl_store *store, pawl_arena *arena, pawl_subscriptions *list,
                                    pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "subscriptions", .filter = &filter};
    pawl__mongo_rows       rows   = {.count = 0};
    pawl_code code = pawl__mongo_read(store, &find, subscription_fields, sizeof(pawl_subscription),
                                      arena, &rows, error);
    if (rows.count > 1)
        qsort(rows.items, rows.count, sizeof(pawl_subscription), by_type);
    *list = (pawl_subscriptions){.items = rows.items, .count = rows.count};
    bson_destroy(&filter);
    return code;
}

void pawl__mongo_keys_subscription_set(const void *change, uint32_t keys[3])
{
    const pawl_subscription_set *set = change;
    keys[0] = pawl__mongo_hash(pawl__mongo_hash(1, set->type.data, set->type.size), set->queue.data,
                               set->queue.size);
}

pawl_code pawl__mongo_apply_subscription_set(const pawl__mongo_run *run)
{
    const pawl_subscription_set *const *items = (const pawl_subscription_set *const *)run->items;
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(run->writer->store, "subscriptions");
    for (size_t i = 0; i < run->count; i++) {
        bson_t                  filter = BSON_INITIALIZER, update = BSON_INITIALIZER, inner;
        const pawl_subscription row = {.type = items[i]->type, .queue = items[i]->queue};
        (void)bson_append_document_begin(&filter, "_id", -1, &inner);
        (void)pawl__mongo_encode(&inner, subscription_fields, &row);
        (void)bson_append_document_end(&filter, &inner);
        (void)bson_append_document_begin(&update, "$set", -1, &inner);
        (void)pawl__mongo_encode(&inner, subscription_fields, &row);
        (void)bson_append_document_end(&update, &inner);
        if (items[i]->is_remove)
            pawl__mongo_remove(&bulk, &filter);
        else
            pawl__mongo_update(&bulk, &filter, &update, true);
        bson_destroy(&filter);
        bson_destroy(&update);
    }
    return pawl__mongo_bulk_run(&bulk, run->writer->error);
}

/* ---- History ------------------------------------------------------------- */

#define LINE(member, key, type) PAWL__MONGO_FIELD(pawl_history_row, entry.member, key, type)
static const pawl__mongo_field history_fields[] = {
    PAWL__MONGO_FIELD(pawl_history_row, id, "_id", INT),
    LINE(endpoint, "endpoint", TEXT),
    LINE(source, "source", TEXT),
    LINE(message_id, "message_id", TEXT),
    LINE(type, "type", TEXT),
    LINE(kind, "kind", TEXT),
    LINE(outcome, "outcome", TEXT),
    LINE(version, "version", INT),
    LINE(attempts, "attempts", INT32),
    LINE(duration, "duration", INT),
    LINE(at, "at", INT),
    LINE(error, "error", TEXT),
    LINE(out, "out", TEXT),
    PAWL__MONGO_END,
};

pawl_code pawl__mongo_history_find(pawl_store *store, const pawl_history_query *query,
                                   pawl_arena *arena, pawl_history_rows *rows, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "history",
                                     .filter     = &filter,
                                     .sort       = "_id",
                                     .limit      = (int64_t)query->count_max};
    pawl__mongo_rows       found  = {.count = 0};
    pawl__mongo_put_op(&filter, "_id", "$gt", query->after);
    if (query->source.size != 0)
        pawl__mongo_put_text(&filter, "source", query->source);
    if (query->message_id.size != 0)
        pawl__mongo_put_text(&filter, "message_id", query->message_id);
    pawl_code code = pawl__mongo_read(store, &find, history_fields, sizeof(pawl_history_row), arena,
                                      &found, error);
    *rows          = (pawl_history_rows){.items = found.items, .count = found.count};
    bson_destroy(&filter);
    return code;
}

pawl_code pawl__mongo_apply_history_add(const pawl__mongo_run *run)
{
    const pawl_history_add *const *items = (const pawl_history_add *const *)run->items;
    pawl__mongo_bulk               bulk  = pawl__mongo_bulk_begin(run->writer->store, "history");
    for (size_t i = 0; i < run->count; i++) {
        bson_t                 document = BSON_INITIALIZER;
        const pawl_history_row row      = {.id = run->writer->number++, .entry = items[i]->entry};
        (void)pawl__mongo_encode(&document, history_fields, &row);
        pawl__mongo_insert(&bulk, &document);
        bson_destroy(&document);
    }
    return pawl__mongo_write(run, &bulk, run->count);
}
