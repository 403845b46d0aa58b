/* request.c - finds, bulks of writes, and commands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

#include <stdio.h>
#include <string.h>

#define ALLOWED_OF_OLD 26 /* NamespaceNotFound: what is not there has no documents */

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

/* The options of a call: the open transaction, else its read or write concern. */
static void put_session(pawl_store *store, bson_t *options)
{
    const pawl__mongo *self = pawl__mongo_of(store);
    if (self->at_session != NULL)
        (void)mongoc_client_session_append(self->at_session, options, NULL);
}

/* ---- Finds --------------------------------------------------------------- */

/* "due,-_id" as {"due": 1, "_id": -1}. */
static void put_names(bson_t *options, const char *key, const char *names)
{
    bson_t inner;
    (void)bson_append_document_begin(options, key, -1, &inner);
    while (*names != '\0') {
        size_t size = strcspn(names, ",");
        int    down = names[0] == '-';
        (void)bson_append_int32(&inner, names + down, (int)size - down, down ? -1 : 1);
        names += size + (names[size] == ',');
    }
    (void)bson_append_document_end(options, &inner);
}

mongoc_cursor_t *pawl__mongo_begin(pawl_store *store, const pawl__mongo_find *find)
{
    bson_t               options    = BSON_INITIALIZER;
    mongoc_collection_t *collection = open_collection(store, find->collection, find->table);
    if (find->sort != NULL)
        put_names(&options, "sort", find->sort);
    if (find->only != NULL)
        put_names(&options, "projection", find->only);
    if (find->limit != 0)
        pawl__mongo_put_int(&options, "limit", find->limit);
    put_session(store, &options);
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(collection, find->filter, &options, NULL);
    bson_destroy(&options);
    mongoc_collection_destroy(collection);
    return cursor;
}

mongoc_cursor_t *pawl__mongo_aggregate(pawl_store *store, const char *collection,
                                       const bson_t *stages)
{
    bson_t               options = BSON_INITIALIZER;
    mongoc_collection_t *at      = open_collection(store, collection, PAWL_TEXT(""));
    put_session(store, &options);
    mongoc_cursor_t *cursor =
        mongoc_collection_aggregate(at, MONGOC_QUERY_NONE, stages, &options, NULL);
    bson_destroy(&options);
    mongoc_collection_destroy(at);
    return cursor;
}

pawl_code pawl__mongo_end(pawl_store *store, mongoc_cursor_t *cursor, pawl_error *error)
{
    bson_error_t  why;
    const bson_t *reply = NULL;
    pawl_code     code  = PAWL_OK;
    if (mongoc_cursor_error_document(cursor, &why, &reply) && why.code != ALLOWED_OF_OLD)
        code = pawl__mongo_fail(store, &why, reply, error);
    mongoc_cursor_destroy(cursor);
    return code;
}

pawl_code pawl__mongo_read(pawl_store *store, const pawl__mongo_find *find,
                           const pawl__mongo_field *fields, size_t row_size, pawl_arena *arena,
                           pawl__mongo_rows *rows, pawl_error *error)
{
    size_t           capacity = 0;
    const bson_t    *document = NULL;
    pawl_code        taken    = PAWL_OK;
    mongoc_cursor_t *cursor   = pawl__mongo_begin(store, find);
    *rows                     = (pawl__mongo_rows){.items = pawl_arena_take(arena, 1)};
    bool is_ok                = rows->items != NULL;
    while (is_ok && mongoc_cursor_next(cursor, &document)) {
        void *grown = pawl_arena_grow(arena, rows->items, rows->count, &capacity, row_size);
        is_ok       = grown != NULL;
        if (is_ok) {
            char *row   = (char *)grown + rows->count++ * row_size;
            rows->items = grown;
            memset(row, 0, row_size);
            is_ok = pawl__mongo_take(store, document, fields, arena, row, &taken, error);
        }
    }
    pawl_code code = pawl__mongo_end(store, cursor, taken == PAWL_OK ? error : NULL);
    if (taken != PAWL_OK)
        return taken;
    return code == PAWL_OK && !is_ok ? pawl__mongo_no_memory(error) : code;
}

pawl_code pawl__mongo_read_one(pawl_store *store, pawl__mongo_find find,
                               const pawl__mongo_field *fields, pawl_arena *arena, void *row,
                               bool *is_there, pawl_error *error)
{
    const bson_t *document  = NULL;
    bool          is_ok     = true;
    find.limit              = 1;
    mongoc_cursor_t *cursor = pawl__mongo_begin(store, &find);
    *is_there               = mongoc_cursor_next(cursor, &document);
    if (*is_there)
        is_ok = pawl__mongo_decode(document, fields, arena, row);
    pawl_code code = pawl__mongo_end(store, cursor, error);
    return code == PAWL_OK && !is_ok ? pawl__mongo_no_memory(error) : code;
}

pawl_code pawl__mongo_count(pawl_store *store, const char *collection, const bson_t *filter,
                            int64_t *count, pawl_error *error)
{
    bson_t        stages   = BSON_INITIALIZER, stage;
    const bson_t *document = NULL;
    (void)bson_append_document_begin(&stages, "0", 1, &stage);
    (void)bson_append_document(&stage, "$match", -1, filter);
    (void)bson_append_document_end(&stages, &stage);
    (void)bson_append_document_begin(&stages, "1", 1, &stage);
    (void)bson_append_utf8(&stage, "$count", -1, "n", 1);
    (void)bson_append_document_end(&stages, &stage);
    mongoc_cursor_t *cursor = pawl__mongo_aggregate(store, collection, &stages);
    *count                  = 0;
    if (mongoc_cursor_next(cursor, &document))
        (void)pawl__mongo_get_int(document, "n", count);
    bson_destroy(&stages);
    return pawl__mongo_end(store, cursor, error);
}

/* ---- Bulks --------------------------------------------------------------- */

static pawl__mongo_bulk begin_bulk(pawl_store *store, mongoc_collection_t *collection)
{
    pawl__mongo_bulk bulk    = {.store = store};
    bson_t           options = BSON_INITIALIZER;
    put_session(store, &options);
    bulk.bulk = mongoc_collection_create_bulk_operation_with_opts(collection, &options);
    bson_destroy(&options);
    mongoc_collection_destroy(collection);
    return bulk;
}

pawl__mongo_bulk pawl__mongo_bulk_begin(pawl_store *store, const char *collection)
{
    pawl__mongo_bulk bulk = begin_bulk(store, open_collection(store, collection, PAWL_TEXT("")));
    bulk.collection       = collection;
    return bulk;
}

pawl__mongo_bulk pawl__mongo_bulk_begin_table(pawl_store *store, pawl_text table)
{
    return begin_bulk(store, open_collection(store, NULL, table));
}

static void note(pawl__mongo_bulk *bulk, bool is_ok)
{
    bulk->is_failed |= !is_ok;
    bulk->count++;
}

void pawl__mongo_insert(pawl__mongo_bulk *bulk, const bson_t *document)
{
    bson_t first;
    if (pawl__mongo_split(bulk, document, &first)) {
        note(bulk, mongoc_bulk_operation_insert_with_opts(bulk->bulk, &first, NULL, &bulk->why));
        bson_destroy(&first);
        return;
    }
    note(bulk, mongoc_bulk_operation_insert_with_opts(bulk->bulk, document, NULL, &bulk->why));
}

void pawl__mongo_update(pawl__mongo_bulk *bulk, const bson_t *filter, const bson_t *update,
                        bool is_upsert)
{
    bson_t options = BSON_INITIALIZER;
    if (is_upsert)
        (void)bson_append_bool(&options, "upsert", -1, true);
    note(bulk, mongoc_bulk_operation_update_one_with_opts(bulk->bulk, filter, update, &options,
                                                          &bulk->why));
    bson_destroy(&options);
}

void pawl__mongo_update_many(pawl__mongo_bulk *bulk, const bson_t *filter, const bson_t *update)
{
    note(bulk,
         mongoc_bulk_operation_update_many_with_opts(bulk->bulk, filter, update, NULL, &bulk->why));
}

void pawl__mongo_replace(pawl__mongo_bulk *bulk, const bson_t *filter, const bson_t *document)
{
    note(bulk, mongoc_bulk_operation_replace_one_with_opts(bulk->bulk, filter, document, NULL,
                                                           &bulk->why));
}

void pawl__mongo_remove(pawl__mongo_bulk *bulk, const bson_t *filter)
{
    note(bulk, mongoc_bulk_operation_remove_one_with_opts(bulk->bulk, filter, NULL, &bulk->why));
}

void pawl__mongo_remove_many(pawl__mongo_bulk *bulk, const bson_t *filter)
{
    note(bulk, mongoc_bulk_operation_remove_many_with_opts(bulk->bulk, filter, NULL, &bulk->why));
}

pawl_code pawl__mongo_bulk_run(pawl__mongo_bulk *bulk, pawl_error *error)
{
    bson_t    reply = BSON_INITIALIZER;
    pawl_code code  = PAWL_OK;
    if (bulk->rest_code != PAWL_OK) {
        code = pawl_error_set(error, bulk->rest_code, "mongodb: %s", bulk->why.message);
    } else if (bulk->is_failed) {
        code = pawl__mongo_fail(bulk->store, &bulk->why, NULL, error);
    } else if (bulk->count != 0) {
        bson_destroy(&reply);
        if (mongoc_bulk_operation_execute(bulk->bulk, &reply, &bulk->why) == 0)
            code = pawl__mongo_fail(bulk->store, &bulk->why, &reply, error);
        (void)pawl__mongo_get_int(&reply, "nInserted", &bulk->inserted);
        (void)pawl__mongo_get_int(&reply, "nMatched", &bulk->matched);
        (void)pawl__mongo_get_int(&reply, "nModified", &bulk->modified);
        (void)pawl__mongo_get_int(&reply, "nRemoved", &bulk->removed);
        (void)pawl__mongo_get_int(&reply, "nUpserted", &bulk->upserted);
    }
    mongoc_bulk_operation_destroy(bulk->bulk);
    bulk->bulk = NULL;
    bson_destroy(&reply);
    return code;
}

pawl_code pawl__mongo_stamp(pawl_store *store, const char *collection, const bson_t *filter,
                            const bson_t *update, int64_t *modified, pawl_error *error)
{
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(store, collection);
    pawl__mongo_update_many(&bulk, filter, update);
    pawl_code code = pawl__mongo_bulk_run(&bulk, error);
    if (modified != NULL)
        *modified = bulk.modified;
    return code;
}

/* ---- Commands ------------------------------------------------------------ */

pawl_code pawl__mongo_command(pawl_store *store, const bson_t *command, bson_t *reply,
                              pawl_error *error)
{
    const pawl__mongo *self = pawl__mongo_of(store);
    bson_error_t       why;
    if (mongoc_client_command_simple(self->at_client, self->database, command, NULL, reply, &why))
        return PAWL_OK;
    return pawl__mongo_fail(store, &why, reply, error);
}

pawl_code pawl__mongo_find_and_modify(pawl_store *store, const char *collection,
                                      const bson_t *filter, const bson_t *update, bool is_upsert,
                                      bson_t *reply, pawl_error *error)
{
    bson_error_t                   why;
    mongoc_collection_t           *at     = open_collection(store, collection, PAWL_TEXT(""));
    mongoc_find_and_modify_opts_t *change = mongoc_find_and_modify_opts_new();
    mongoc_find_and_modify_flags_t flags  = MONGOC_FIND_AND_MODIFY_RETURN_NEW;
    bson_t                         extra  = BSON_INITIALIZER;
    if (is_upsert)
        flags |= MONGOC_FIND_AND_MODIFY_UPSERT;
    put_session(store, &extra);
    (void)mongoc_find_and_modify_opts_set_update(change, update);
    (void)mongoc_find_and_modify_opts_set_flags(change, flags);
    (void)mongoc_find_and_modify_opts_append(change, &extra);
    bool      is_ok = mongoc_collection_find_and_modify_with_opts(at, filter, change, reply, &why);
    pawl_code code  = is_ok ? PAWL_OK : pawl__mongo_fail(store, &why, reply, error);
    mongoc_find_and_modify_opts_destroy(change);
    mongoc_collection_destroy(at);
    bson_destroy(&extra);
    return code;
}

/* Never within a transaction: commits would wait for one another at the counter's document. */
pawl_code pawl__mongo_numbers(pawl_store *store, size_t count, int64_t *first, pawl_error *error)
{
    pawl__mongo             *self    = pawl__mongo_of(store);
    mongoc_client_session_t *session = self->at_session;
    bson_t                   filter = BSON_INITIALIZER, update = BSON_INITIALIZER, inner, reply;
    bson_iter_t              at, last;
    (void)bson_append_utf8(&filter, "_id", -1, "numbers", -1);
    (void)bson_append_document_begin(&update, "$inc", -1, &inner);
    pawl__mongo_put_int(&inner, "last", (int64_t)count);
    (void)bson_append_document_end(&update, &inner);
    self->at_session = NULL;
    pawl_code code =
        pawl__mongo_find_and_modify(store, "schema", &filter, &update, true, &reply, error);
    self->at_session = session;
    if (code == PAWL_OK) {
        if (bson_iter_init(&at, &reply) && bson_iter_find_descendant(&at, "value.last", &last))
            *first = bson_iter_as_int64(&last) - (int64_t)count + 1;
        else
            code = pawl_error_set(error, PAWL_EPERSIST, "mongodb: the counter of numbers is gone");
    }
    bson_destroy(&reply);
    bson_destroy(&update);
    bson_destroy(&filter);
    return code;
}
