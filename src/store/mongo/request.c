/* request.c - reads (finds), bulks of writes, and commands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

#include <stdio.h>
#include <string.h>

#define DOCUMENT_SIZE_MAX (16 * 1024 * 1024)
#define NAMESPACE_NOT_FOUND 26 /* the collection does not exist, so it has no documents */
/* Documents per answer: all that fit into 16 MB. The server's default for the first answer is 101. */
#define ANSWER_DOCUMENTS INT64_C(100000)

/* ---- Collections --------------------------------------------------------- */

void pawl__mongo_name(const pawl_store *store, const char *collection,
                      char name[PAWL__MONGO_NAME_SIZE])
{
    (void)snprintf(name, PAWL__MONGO_NAME_SIZE, "%s%s", store->system_prefix, collection);
}

void pawl__mongo_table_name(pawl_text table, char name[PAWL__MONGO_NAME_SIZE])
{
    (void)snprintf(name, PAWL__MONGO_NAME_SIZE, "%.*s", PAWL_TEXT_ARGS(table));
    for (char *at = name; *at != '\0'; at++)
        if (strchr("+`[], ", *at) != NULL)
            *at = '_';
}

static mongoc_collection_t *open_collection(pawl_store *store, const char *collection,
                                            pawl_text table)
{
    const pawl__mongo *self = pawl__mongo_of(store);
    char               name[PAWL__MONGO_NAME_SIZE];
    if (collection != NULL)
        pawl__mongo_name(store, collection, name);
    else
        pawl__mongo_table_name(table, name);
    return mongoc_client_get_collection(self->at_client, self->database, name);
}

static void put_session(pawl_store *store, bson_t *options)
{
    const pawl__mongo *self = pawl__mongo_of(store);
    if (self->at_session != NULL)
        (void)mongoc_client_session_append(self->at_session, options, NULL);
}

/* ---- Finds --------------------------------------------------------------- */

static mongoc_cursor_t *open_cursor(pawl_store *store, const pawl__mongo_table *table,
                                    const bson_t *asked)
{
    bson_t               filter, pipeline, options = BSON_INITIALIZER;
    bson_iter_t          at;
    const uint8_t       *data = NULL;
    uint32_t             size = 0;
    mongoc_cursor_t     *cursor;
    mongoc_collection_t *collection = open_collection(store, table->name, table->saga);
    pawl__mongo_part(asked, "filter", &filter);
    bson_copy_to_excluding_noinit(asked, &options, "filter", "pipeline", NULL);
    (void)bson_append_int64(&options, "batchSize", -1, ANSWER_DOCUMENTS);
    (void)bson_append_int64(&options, "maxTimeMS", -1, pawl__mongo_deadline_ms(store));
    put_session(store, &options);
    if (bson_iter_init_find(&at, asked, "pipeline")) {
        bson_iter_array(&at, &size, &data);
        (void)bson_init_static(&pipeline, data, size);
        cursor =
            mongoc_collection_aggregate(collection, MONGOC_QUERY_NONE, &pipeline, &options, NULL);
    } else {
        cursor = mongoc_collection_find_with_opts(collection, &filter, &options, NULL);
    }
    bson_destroy(&options);
    mongoc_collection_destroy(collection);
    return cursor;
}

static pawl__mongo_reading begin(pawl_store *store, const pawl__mongo_table *table,
                                 pawl_arena *arena, pawl_error *error, bool is_one,
                                 const char *find, va_list arguments)
{
    pawl__mongo_reading r     = {.store = store, .table = table, .arena = arena, .error = error};
    bson_t              asked = BSON_INITIALIZER;
    bool                is_ok = pawl__mongo_put_arguments(&asked, find, arguments);
    if (is_one && !bson_has_field(&asked, "pipeline"))
        is_ok &= pawl__mongo_put(&asked, "limit: 1");
    if (arena != NULL && !is_one)
        is_ok = (r.items = pawl_arena_take(arena, 1)) != NULL && is_ok;
    if (is_ok)
        r.cursor = open_cursor(store, table, &asked);
    else
        r.code = pawl__mongo_no_memory(error);
    bson_destroy(&asked);
    return r;
}

pawl__mongo_reading pawl__mongo_begin(pawl_store *store, const pawl__mongo_table *table,
                                      pawl_arena *arena, pawl_error *error, const char *find, ...)
{
    va_list arguments;
    va_start(arguments, find);
    pawl__mongo_reading r = begin(store, table, arena, error, false, find, arguments);
    va_end(arguments);
    return r;
}

static bool take_row(pawl__mongo_reading *r)
{
    const pawl__mongo_table *table = r->table;
    char *grown = pawl_arena_grow(r->arena, r->items, r->count, &r->capacity, table->row_size);
    if (grown == NULL)
        return false;
    char *row = grown + r->count++ * table->row_size;
    r->items  = grown;
    memset(row, 0, table->row_size);
    if (!pawl__mongo_decode(r->document, table, r->arena, row))
        return false;
    r->code = pawl__mongo_join(r->store, r->document, table->fields, r->arena, row, r->error);
    return true;
}

bool pawl__mongo_next(pawl__mongo_reading *r)
{
    if (r->code != PAWL_OK || !mongoc_cursor_next(r->cursor, &r->document))
        return false;
    if (r->table->fields != NULL && !take_row(r))
        r->code = pawl__mongo_no_memory(r->error);
    return r->code == PAWL_OK;
}

pawl_code pawl__mongo_end(pawl__mongo_reading *r)
{
    bson_error_t  why;
    const bson_t *reply = NULL;
    if (r->code == PAWL_OK && mongoc_cursor_error_document(r->cursor, &why, &reply) &&
        why.code != NAMESPACE_NOT_FOUND)
        r->code = pawl__mongo_fail(r->store, &why, reply, r->error);
    mongoc_cursor_destroy(r->cursor);
    return r->code;
}

pawl_code pawl__mongo_read(pawl_store *store, const pawl__mongo_table *table, pawl_arena *arena,
                           void *items, size_t *count, pawl_error *error, const char *find, ...)
{
    va_list arguments;
    va_start(arguments, find);
    pawl__mongo_reading r = begin(store, table, arena, error, false, find, arguments);
    va_end(arguments);
    if (arena == NULL)
        r.code = pawl__mongo_no_memory(error);
    while (pawl__mongo_next(&r))
        continue;
    memcpy(items, &r.items, sizeof r.items);
    *count = r.count;
    return pawl__mongo_end(&r);
}

static const pawl__field_list counted = PAWL__MONGO_NUMBER("n");
static const pawl__field_list oldest  = PAWL__FIELDS(PAWL__AS_OF(pawl__mongo_oldest, n, INT),
                                                     PAWL__AS_OF(pawl__mongo_oldest, oldest, INT));

pawl_code pawl__mongo_read_one(pawl_store *store, const pawl__mongo_table *table, pawl_arena *arena,
                               void *row, bool *is_there, pawl_error *error, const char *find, ...)
{
    va_list arguments;
    va_start(arguments, find);
    pawl__mongo_reading r = begin(store, table, arena, error, true, find, arguments);
    va_end(arguments);
    bool is_any = r.code == PAWL_OK && mongoc_cursor_next(r.cursor, &r.document);
    if (is_any && row != NULL && !pawl__mongo_decode(r.document, table, arena, row))
        r.code = pawl__mongo_no_memory(error);
    if (is_there != NULL)
        *is_there = is_any;
    return pawl__mongo_end(&r);
}

/* Reads the one document to which a pipeline reduces the matching documents. */
static pawl_code read_group(pawl_store *store, const pawl__mongo_table *table, void *row,
                            const char *pipeline, int64_t limit, pawl_error *error,
                            const char *filter, va_list arguments)
{
    bson_t    match = BSON_INITIALIZER;
    bool      is_ok = pawl__mongo_put_arguments(&match, filter, arguments);
    pawl_code code =
        pawl__mongo_read_one(store, table, NULL, row, NULL, error, pipeline, &match, limit);
    bson_destroy(&match);
    return is_ok ? code : pawl__mongo_no_memory(error);
}

pawl_code pawl__mongo_count(pawl_store *store, const char *collection, int64_t limit,
                            int64_t *count, pawl_error *error, const char *filter, ...)
{
    const pawl__mongo_table table = {.name = collection, .fields = &counted};
    va_list                 arguments;
    *count = 0;
    va_start(arguments, filter);
    pawl_code code = read_group(store, &table, count,
                                limit != 0 ? "pipeline: [{$match: %d}, {$limit: %i}, {$count: 'n'}]"
                                           : "pipeline: [{$match: %d}, {$count: 'n'}]",
                                limit, error, filter, arguments);
    va_end(arguments);
    return code;
}

pawl_code pawl__mongo_count_oldest(pawl_store *store, const char *collection, const char *key,
                                   int64_t limit, pawl__mongo_oldest *found, pawl_error *error,
                                   const char *filter, ...)
{
    const pawl__mongo_table table = {.name = collection, .fields = &oldest};
    char                    pipeline[160];
    va_list                 arguments;
    *found = (pawl__mongo_oldest){.n = 0};
    (void)snprintf(pipeline, sizeof pipeline,
                   "pipeline: [{$match: %%d}, {$sort: {%s: 1}}, {$limit: %%i}, "
                   "{$group: {_id: 0, n: {$sum: 1}, oldest: {$min: '$%s'}}}]",
                   key, key);
    va_start(arguments, filter);
    pawl_code code = read_group(store, &table, found, pipeline, limit, error, filter, arguments);
    va_end(arguments);
    return code;
}

/* ---- Bulks --------------------------------------------------------------- */

pawl__mongo_bulk pawl__mongo_bulk_begin(pawl_store *store, const char *collection, pawl_text saga)
{
    return (pawl__mongo_bulk){
        .store = store, .at = open_collection(store, collection, saga), .collection = collection};
}

static mongoc_bulk_operation_t *bulk_for(pawl__mongo_bulk *bulk, pawl__mongo_op op)
{
    size_t kind    = op <= PAWL__MONGO_REMOVE_MANY ? 0 : op < PAWL__MONGO_INSERT ? 1 : 2;
    bson_t options = BSON_INITIALIZER;
    put_session(bulk->store, &options);
    if (bulk->bulks[kind] == NULL)
        bulk->bulks[kind] = mongoc_collection_create_bulk_operation_with_opts(bulk->at, &options);
    bson_destroy(&options);
    return bulk->bulks[kind];
}

/* Checks the size here, since the server reports an oversized document like any other bad value. */
static bool insert(pawl__mongo_bulk *bulk, mongoc_bulk_operation_t *to, const bson_t *document,
                   const bson_t *options)
{
    bson_t first;
    if (!pawl__mongo_split(bulk, document, &first)) {
        if (document->len <= DOCUMENT_SIZE_MAX)
            return mongoc_bulk_operation_insert_with_opts(to, document, options, &bulk->why);
        bson_set_error(&bulk->why, MONGOC_ERROR_BSON, 0, "a document of %u bytes, the limit is %d",
                       (unsigned)document->len, DOCUMENT_SIZE_MAX);
        return false;
    }
    bool is_ok = mongoc_bulk_operation_insert_with_opts(to, &first, options, &bulk->why);
    bson_destroy(&first);
    return is_ok;
}

/* libmongoc's check, which refuses empty member names, is bypassed; JSON and the server allow them. */
void pawl__mongo_add_document(pawl__mongo_bulk *bulk, pawl__mongo_op op, const bson_t *document,
                              bool is_ok)
{
    bson_t                   filter, update, options = BSON_INITIALIZER;
    bson_error_t            *why = &bulk->why;
    mongoc_bulk_operation_t *to  = bulk_for(bulk, op);
    pawl__mongo_part(document, "q", &filter);
    pawl__mongo_part(document, "u", &update);
    (void)pawl__mongo_put(&options, "upsert?: %b, validate: false",
                          (int)(op == PAWL__MONGO_UPSERT));
    if (!is_ok) {
        bulk->code = PAWL_EINVAL;
        bson_set_error(
            why, MONGOC_ERROR_BSON, 0,
            "a JSON text is not an object, or too large or too deep for a document, whose "
            "limits are 16 MB and %d levels",
            PAWL__MONGO_DEPTH_MAX);
    }
    if (op == PAWL__MONGO_INSERT)
        is_ok = is_ok && insert(bulk, to, document, &options);
    else if (op <= PAWL__MONGO_REMOVE_MANY)
        is_ok = is_ok && (op == PAWL__MONGO_REMOVE ? mongoc_bulk_operation_remove_one_with_opts
                                                   : mongoc_bulk_operation_remove_many_with_opts)(
                             to, &filter, NULL, why);
    else
        is_ok = is_ok && (op == PAWL__MONGO_UPDATE_MANY
                              ? mongoc_bulk_operation_update_many_with_opts
                              : mongoc_bulk_operation_update_one_with_opts)(to, &filter, &update,
                                                                            &options, why);
    if (!is_ok && bulk->code == PAWL_OK)
        bulk->code = pawl__mongo_fail(bulk->store, why, NULL, NULL);
    bson_destroy(&options);
}

static void add(pawl__mongo_bulk *bulk, pawl__mongo_op op, const char *text, va_list arguments)
{
    bson_t document = BSON_INITIALIZER;
    bool   is_ok    = pawl__mongo_put_arguments(&document, text, arguments);
    pawl__mongo_add_document(bulk, op, &document, is_ok);
    bson_destroy(&document);
}

void pawl__mongo_add(pawl__mongo_bulk *bulk, pawl__mongo_op op, const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    add(bulk, op, text, arguments);
    va_end(arguments);
}

static pawl_code execute(pawl__mongo_bulk *bulk, mongoc_bulk_operation_t *part, pawl_error *error)
{
    static const char *const counts[] = {"nInserted", "nMatched", "nRemoved", "nUpserted"};
    bson_t                   reply;
    pawl_code                code = PAWL_OK;
    if (mongoc_bulk_operation_execute(part, &reply, &bulk->why) == 0)
        code = pawl__mongo_fail(bulk->store, &bulk->why, &reply, error);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        int64_t count = 0;
        (void)pawl__mongo_get_int(&reply, counts[i], &count);
        bulk->done += count;
    }
    bson_destroy(&reply);
    return code;
}

pawl_code pawl__mongo_bulk_run(pawl__mongo_bulk *bulk, pawl_error *error)
{
    pawl_code code = bulk->code;
    if (code != PAWL_OK)
        (void)pawl_error_set(error, code, "mongodb: %s",
                             code == PAWL_ENOMEM ? "out of memory" : bulk->why.message);
    for (size_t i = 0; i < 3; i++) {
        if (code == PAWL_OK && bulk->bulks[i] != NULL)
            code = execute(bulk, bulk->bulks[i], error);
        mongoc_bulk_operation_destroy(bulk->bulks[i]);
        bulk->bulks[i] = NULL;
    }
    mongoc_collection_destroy(bulk->at);
    bulk->at = NULL;
    return code;
}

pawl_code pawl__mongo_write(pawl_store *store, const char *collection, pawl__mongo_op op,
                            int64_t *done, pawl_error *error, const char *text, ...)
{
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(store, collection, PAWL_TEXT(""));
    va_list          arguments;
    va_start(arguments, text);
    add(&bulk, op, text, arguments);
    va_end(arguments);
    pawl_code code = pawl__mongo_bulk_run(&bulk, error);
    if (done != NULL)
        *done = bulk.done;
    return code;
}

/* ---- Commands ------------------------------------------------------------ */

pawl_code pawl__mongo_command(pawl_store *store, const bson_t *command, uint32_t allowed,
                              bson_t *reply, pawl_error *error)
{
    const pawl__mongo *self = pawl__mongo_of(store);
    bson_error_t       why;
    bson_t             own;
    bson_t            *to   = reply != NULL ? reply : &own;
    pawl_code          code = PAWL_OK;
    if (!mongoc_client_command_simple(self->at_client, self->database, command, NULL, to, &why) &&
        (allowed == 0 || why.code != allowed))
        code = pawl__mongo_fail(store, &why, to, error);
    if (reply == NULL)
        bson_destroy(to);
    return code;
}

pawl_code pawl__mongo_batch(pawl_store *store, bson_t *command, bson_t *reply, bson_t *listed,
                            pawl_error *error)
{
    bson_t    cursor;
    pawl_code code = pawl__mongo_command(store, command, 0, reply, error);
    pawl__mongo_part(reply, "cursor", &cursor);
    pawl__mongo_part(&cursor, "firstBatch", listed);
    bson_destroy(command);
    return code;
}

static const pawl__field_list last_field = PAWL__MONGO_NUMBER("last");

pawl_code pawl__mongo_modify(pawl_store *store, const pawl__mongo_table *table, bool is_upsert,
                             void *row, bool *is_there, pawl_error *error, const char *text, ...)
{
    bson_error_t                   why;
    bson_t                         asked = BSON_INITIALIZER, extra = BSON_INITIALIZER;
    bson_t                         filter, update, reply, value;
    mongoc_collection_t           *at     = open_collection(store, table->name, PAWL_TEXT(""));
    mongoc_find_and_modify_opts_t *change = mongoc_find_and_modify_opts_new();
    va_list                        arguments;
    va_start(arguments, text);
    (void)pawl__mongo_put_arguments(&asked, text, arguments);
    va_end(arguments);
    pawl__mongo_part(&asked, "q", &filter);
    pawl__mongo_part(&asked, "u", &update);
    put_session(store, &extra);
    (void)mongoc_find_and_modify_opts_set_update(change, &update);
    (void)mongoc_find_and_modify_opts_set_flags(
        change,
        MONGOC_FIND_AND_MODIFY_RETURN_NEW | (is_upsert ? MONGOC_FIND_AND_MODIFY_UPSERT : 0));
    (void)mongoc_find_and_modify_opts_set_max_time_ms(change,
                                                      (uint32_t)pawl__mongo_deadline_ms(store));
    (void)mongoc_find_and_modify_opts_append(change, &extra);
    bool is_ok     = mongoc_collection_find_and_modify_with_opts(at, &filter, change, &reply, &why);
    pawl_code code = is_ok ? PAWL_OK : pawl__mongo_fail(store, &why, &reply, error);
    pawl__mongo_part(&reply, "value", &value);
    *is_there = is_ok && !bson_empty(&value);
    if (*is_there)
        (void)pawl__mongo_decode(&value, table, NULL, row);
    mongoc_find_and_modify_opts_destroy(change);
    bson_destroy(&reply);
    mongoc_collection_destroy(at);
    bson_destroy(&extra);
    bson_destroy(&asked);
    return code;
}

/* Must not run inside a transaction: transactions would wait for each other at the counter's document. */
pawl_code pawl__mongo_numbers(pawl_store *store, size_t count, int64_t *first, pawl_error *error)
{
    static const pawl__mongo_table numbers  = {.name = "schema", .fields = &last_field};
    pawl__mongo                   *self     = pawl__mongo_of(store);
    mongoc_client_session_t       *session  = self->at_session;
    int64_t                        last     = 0;
    bool                           is_there = false;
    self->at_session                        = NULL;
    pawl_code code =
        pawl__mongo_modify(store, &numbers, true, &last, &is_there, error,
                           "q: {_id: 'numbers'}, u: {$inc: {last: %i}}", (int64_t)count);
    self->at_session = session;
    if (code == PAWL_OK && !is_there)
        code = pawl_error_set(error, PAWL_EPERSIST, "mongodb: the counter of numbers is gone");
    *first = last - (int64_t)count + 1;
    return code;
}
