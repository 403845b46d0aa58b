/* dead.c - dead letters: {_id, endpoint, queue, message_id, type, ..., code, error, attempts, deaths,
 * history, at}.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"
#include "store/mongo/operations.h"

#include <string.h>

#define LETTER(member, key, type) PAWL__MONGO_FIELD(pawl_dead_row, member, key, type)
static const pawl__mongo_field fields[] = {
    LETTER(endpoint, "endpoint", TEXT),
    LETTER(queue, "queue", TEXT),
    PAWL__MONGO_MESSAGE(pawl_dead_row, message),
    LETTER(code, "code", TEXT),
    LETTER(error, "error", TEXT),
    LETTER(attempts, "attempts", INT32),
    LETTER(deaths, "deaths", INT32),
    LETTER(history, "history", TEXT),
    LETTER(at, "at", INT),
    PAWL__MONGO_END,
};
#define BY_TIME "at,endpoint,message_id"

/* ---- Reads --------------------------------------------------------------- */

static pawl_code read_letters(pawl_store *store, const bson_t *filter, size_t count_max,
                              pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error)
{
    const pawl__mongo_find find = {
        .collection = "dead", .filter = filter, .sort = BY_TIME, .limit = (int64_t)count_max};
    pawl__mongo_rows found = {.count = 0};
    pawl_code        code =
        pawl__mongo_read(store, &find, fields, sizeof(pawl_dead_row), arena, &found, error);
    *rows = (pawl_dead_rows){.items = found.items, .count = found.count};
    return code;
}

pawl_code pawl__mongo_dead_list(pawl_store *store, pawl_text endpoint, size_t count_max,
                                pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error)
{
    bson_t filter = BSON_INITIALIZER;
    if (endpoint.size != 0)
        pawl__mongo_put_text(&filter, "endpoint", endpoint);
    pawl_code code = read_letters(store, &filter, count_max, arena, rows, error);
    bson_destroy(&filter);
    return code;
}

static void put_like(bson_t *filter, const char *key, pawl_text text)
{
    if (text.size != 0)
        pawl__mongo_put_text(filter, key, text);
}

/* at > t, or at = t and endpoint > e, or both and id > i */
static void put_behind(bson_t *filter, const pawl_dead_row *after)
{
    bson_t either, one, inner;
    (void)bson_append_array_begin(filter, "$or", -1, &either);
    (void)bson_append_document_begin(&either, "0", 1, &one);
    pawl__mongo_put_op(&one, "at", "$gt", after->at);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_document_begin(&either, "1", 1, &one);
    pawl__mongo_put_int(&one, "at", after->at);
    (void)bson_append_document_begin(&one, "endpoint", -1, &inner);
    pawl__mongo_put_text(&inner, "$gt", after->endpoint);
    (void)bson_append_document_end(&one, &inner);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_document_begin(&either, "2", 1, &one);
    pawl__mongo_put_int(&one, "at", after->at);
    pawl__mongo_put_text(&one, "endpoint", after->endpoint);
    (void)bson_append_document_begin(&one, "message_id", -1, &inner);
    pawl__mongo_put_text(&inner, "$gt", after->message.id);
    (void)bson_append_document_end(&one, &inner);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_array_end(filter, &either);
}

static void put_times(bson_t *filter, const pawl_dead_query *query)
{
    bson_t inner;
    if (query->at_min == 0 && query->at_max == 0)
        return;
    (void)bson_append_document_begin(filter, "at", -1, &inner);
    if (query->at_min != 0)
        pawl__mongo_put_int(&inner, "$gte", query->at_min);
    if (query->at_max != 0)
        pawl__mongo_put_int(&inner, "$lte", query->at_max);
    (void)bson_append_document_end(filter, &inner);
}

static bool has_part(pawl_text text, pawl_text part)
{
    return part.size == 0 ||
           (text.size != 0 && memmem(text.data, text.size, part.data, part.size) != NULL);
}

/* A part of an error's text is looked for here, byte for byte. */
pawl_code pawl__mongo_dead_find(pawl_store *store, const pawl_dead_query *query, pawl_arena *arena,
                                pawl_dead_rows *rows, pawl_error *error)
{
    bson_t filter = BSON_INITIALIZER;
    size_t count  = 0;
    put_like(&filter, "endpoint", query->endpoint);
    put_like(&filter, "message_id", query->message_id);
    put_like(&filter, "type", query->type);
    put_like(&filter, "code", query->code);
    put_times(&filter, query);
    if (query->after != NULL)
        put_behind(&filter, query->after);
    size_t    limit = query->error_part.size == 0 ? query->count_max : 0;
    pawl_code code  = read_letters(store, &filter, limit, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++)
        if (has_part(rows->items[i].error, query->error_part))
            rows->items[count++] = rows->items[i];
    rows->count = query->count_max != 0 && count > query->count_max ? query->count_max : count;
    bson_destroy(&filter);
    return code;
}

/* [{"$group": {_id: "$queue", n: {"$sum": 1}, at: {"$min": "$at"}}}, {"$sort": {_id: 1}}] */
static void put_counting(bson_t *stages)
{
    bson_t stage, group, inner;
    (void)bson_append_document_begin(stages, "0", 1, &stage);
    (void)bson_append_document_begin(&stage, "$group", -1, &group);
    (void)bson_append_utf8(&group, "_id", -1, "$queue", -1);
    (void)bson_append_document_begin(&group, "n", -1, &inner);
    (void)bson_append_int64(&inner, "$sum", -1, 1);
    (void)bson_append_document_end(&group, &inner);
    (void)bson_append_document_begin(&group, "at", -1, &inner);
    (void)bson_append_utf8(&inner, "$min", -1, "$at", -1);
    (void)bson_append_document_end(&group, &inner);
    (void)bson_append_document_end(&stage, &group);
    (void)bson_append_document_end(stages, &stage);
    (void)bson_append_document_begin(stages, "1", 1, &stage);
    (void)bson_append_document_begin(&stage, "$sort", -1, &inner);
    (void)bson_append_int32(&inner, "_id", -1, 1);
    (void)bson_append_document_end(&stage, &inner);
    (void)bson_append_document_end(stages, &stage);
}

pawl_code pawl__mongo_dead_count(pawl_store *store, pawl_arena *arena, pawl_dead_counts *counts,
                                 pawl_error *error)
{
    static const pawl__mongo_field count_fields[] = {
        PAWL__MONGO_FIELD(pawl_dead_count, queue, "_id", TEXT),
        PAWL__MONGO_FIELD(pawl_dead_count, count, "n", INT),
        PAWL__MONGO_FIELD(pawl_dead_count, oldest, "at", INT),
        PAWL__MONGO_END,
    };
    bson_t        stages   = BSON_INITIALIZER;
    const bson_t *document = NULL;
    size_t        capacity = 0;
    bool          is_ok    = true;
    put_counting(&stages);
    mongoc_cursor_t *cursor = pawl__mongo_aggregate(store, "dead", &stages);
    while (is_ok && mongoc_cursor_next(cursor, &document)) {
        pawl_dead_count *grown =
            pawl_arena_grow(arena, counts->items, counts->count, &capacity, sizeof *grown);
        is_ok = grown != NULL;
        if (is_ok) {
            counts->items        = grown;
            grown[counts->count] = (pawl_dead_count){.queue = PAWL_TEXT("")};
            is_ok = pawl__mongo_decode(document, count_fields, arena, &grown[counts->count++]);
        }
    }
    bson_destroy(&stages);
    pawl_code code = pawl__mongo_end(store, cursor, error);
    return code == PAWL_OK && !is_ok ? pawl__mongo_no_memory(error) : code;
}

/* ---- Changes ------------------------------------------------------------- */

void pawl__mongo_keys_dead_set(const void *change, uint32_t keys[3])
{
    const pawl_dead_set *set = change;
    keys[0] = pawl__mongo_hash(pawl__mongo_hash(1, set->endpoint.data, set->endpoint.size),
                               set->message.id.data, set->message.id.size);
}

static void put_letter(bson_t *filter, const pawl_dead_set *set)
{
    pawl__mongo_put_text(filter, "endpoint", set->endpoint);
    pawl__mongo_put_text(filter, "message_id", set->message.id);
}

static pawl_code find_letters(const pawl__mongo_run *run, pawl__mongo_rows *found)
{
    const pawl_dead_set *const *items  = (const pawl_dead_set *const *)run->items;
    bson_t                      filter = BSON_INITIALIZER;
    const pawl__mongo_find      find   = {
               .collection = "dead", .filter = &filter, .only = "endpoint,message_id"};
    pawl__mongo_list list;
    pawl__mongo_list_begin(&filter, "message_id", "$in", &list);
    for (size_t i = 0; i < run->count; i++)
        pawl__mongo_put_text(&list.items, pawl__mongo_list_key(&list), items[i]->message.id);
    pawl__mongo_list_end(&filter, &list);
    pawl__mongo_list_begin(&filter, "endpoint", "$in", &list);
    for (size_t i = 0; i < run->count; i++)
        pawl__mongo_put_text(&list.items, pawl__mongo_list_key(&list), items[i]->endpoint);
    pawl__mongo_list_end(&filter, &list);
    pawl_code code = pawl__mongo_read(run->writer->store, &find, fields, sizeof(pawl_dead_row),
                                      run->writer->arena, found, run->writer->error);
    bson_destroy(&filter);
    return code;
}

static bool is_there(const pawl__mongo_rows *found, const pawl_dead_set *set)
{
    const pawl_dead_row *rows = found->items;
    for (size_t i = 0; i < found->count; i++)
        if (pawl_text_equal(rows[i].endpoint, set->endpoint) &&
            pawl_text_equal(rows[i].message.id, set->message.id))
            return true;
    return false;
}

static void add_letter(pawl__mongo_bulk *bulk, const pawl_dead_set *set)
{
    bson_t              document = BSON_INITIALIZER;
    const pawl_dead_row row      = {.endpoint = set->endpoint,
                                    .queue    = set->queue,
                                    .message  = set->message,
                                    .code     = set->code,
                                    .error    = set->error,
                                    .attempts = set->attempts,
                                    .deaths   = set->deaths,
                                    .history  = set->history,
                                    .at       = set->at};
    bson_oid_t          id;
    bson_oid_init(&id, NULL);
    (void)bson_append_oid(&document, "_id", -1, &id);
    (void)pawl__mongo_encode(&document, fields, &row);
    pawl__mongo_insert(bulk, &document);
    bson_destroy(&document);
}

pawl_code pawl__mongo_apply_dead_set(const pawl__mongo_run *run)
{
    const pawl_dead_set *const *items    = (const pawl_dead_set *const *)run->items;
    pawl__mongo_rows            found    = {.count = 0};
    size_t                      expected = 0;
    pawl_code                   code     = find_letters(run, &found);
    pawl__mongo_bulk            bulk     = pawl__mongo_bulk_begin(run->writer->store, "dead");
    pawl__mongo_bulk            marks    = pawl__mongo_bulk_begin(run->writer->store, "inbox");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        bool   is_known = is_there(&found, items[i]);
        bson_t filter = BSON_INITIALIZER, mark = BSON_INITIALIZER;
        put_letter(&filter, items[i]);
        pawl__mongo_put_mark_key(&mark, items[i]->endpoint, items[i]->message.id);
        if (items[i]->is_remove && !is_known && items[i]->is_checked) {
            code = pawl__mongo_refuse(run, i, pawl__why_no_letter);
        } else if (items[i]->is_remove) {
            if (is_known)
                pawl__mongo_remove(&bulk, &filter);
            if (!items[i]->keeps_mark)
                pawl__mongo_remove(&marks, &mark);
            expected += is_known;
        } else if (!is_known) {
            add_letter(&bulk, items[i]);
            expected++;
        }
        bson_destroy(&filter);
        bson_destroy(&mark);
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    pawl_code gone  = pawl__mongo_bulk_run(&marks, run->writer->error);
    return code != PAWL_OK ? code : wrote != PAWL_OK ? wrote : gone;
}
