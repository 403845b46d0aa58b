/* body.c - bodies that do not fit into one document of 16 MB: the second half stands in `bodies`.
 *
 *     {..., body: first half, body_rest: ObjectId}      bodies: {_id, of: collection, row: its _id, body}
 *
 * Both are written in one transaction. The rest of a row that went is swept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

#include <string.h>

#define DOCUMENT_SIZE_MAX (16 * 1000 * 1000) /* MongoDB's own limit is 16 * 1024 * 1024 */
#define FIRST_SIZE (8 * 1000 * 1000)

/* ---- Writing ------------------------------------------------------------- */

static void put_rest(pawl__mongo_bulk *bulk, const bson_oid_t *id, const bson_t *document,
                     pawl_text rest)
{
    bson_t      one = BSON_INITIALIZER;
    bson_iter_t row;
    pawl_error  ignored = PAWL_ERROR_INIT;
    (void)bson_append_oid(&one, "_id", -1, id);
    (void)bson_append_utf8(&one, "of", -1, bulk->collection, -1);
    if (bson_iter_init_find(&row, document, "_id"))
        (void)bson_append_iter(&one, "row", -1, &row);
    (void)bson_append_binary(&one, "body", -1, BSON_SUBTYPE_BINARY, (const uint8_t *)rest.data,
                             (uint32_t)rest.size);
    pawl__mongo_bulk rests = pawl__mongo_bulk_begin(bulk->store, "bodies");
    pawl__mongo_insert(&rests, &one);
    bulk->rest_code = pawl__mongo_bulk_run(&rests, &ignored);
    bulk->why       = rests.why;
    bson_destroy(&one);
}

bool pawl__mongo_split(pawl__mongo_bulk *bulk, const bson_t *document, bson_t *first)
{
    pawl_text  body = pawl__mongo_get_text(document, "body");
    bson_oid_t id;
    if (document->len <= DOCUMENT_SIZE_MAX || body.size <= FIRST_SIZE || bulk->collection == NULL)
        return false;
    bson_oid_init(&id, NULL);
    bson_init(first);
    bson_copy_to_excluding_noinit(document, first, "body", NULL);
    (void)bson_append_binary(first, "body", -1, BSON_SUBTYPE_BINARY, (const uint8_t *)body.data,
                             FIRST_SIZE);
    (void)bson_append_oid(first, "body_rest", -1, &id);
    put_rest(bulk, &id, document,
             (pawl_text){.data = body.data + FIRST_SIZE, .size = body.size - FIRST_SIZE});
    return true;
}

/* ---- Reading ------------------------------------------------------------- */

static bool join(const bson_t *rest, pawl_arena *arena, pawl_text *body)
{
    pawl_text text   = pawl__mongo_get_text(rest, "body");
    char     *joined = pawl_arena_take(arena, body->size + text.size + 1);
    if (joined == NULL)
        return false;
    memcpy(joined, body->data, body->size);
    memcpy(joined + body->size, text.data, text.size);
    *body = (pawl_text){.data = joined, .size = body->size + text.size};
    return true;
}

static bool take_rest(pawl_store *store, const bson_iter_t *id, pawl_arena *arena, pawl_text *body,
                      pawl_code *code, pawl_error *error)
{
    bson_t                 filter   = BSON_INITIALIZER;
    const bson_t          *document = NULL;
    const pawl__mongo_find find     = {.collection = "bodies", .filter = &filter, .limit = 1};
    (void)bson_append_oid(&filter, "_id", -1, bson_iter_oid(id));
    mongoc_cursor_t *cursor   = pawl__mongo_begin(store, &find);
    bool             is_there = mongoc_cursor_next(cursor, &document);
    bool             is_ok    = !is_there || join(document, arena, body);
    *code                     = pawl__mongo_end(store, cursor, error);
    bson_destroy(&filter);
    if (*code == PAWL_OK && !is_there)
        *code = pawl_error_set(error, PAWL_EBUSY, "mongodb: the row of a body went meanwhile");
    return is_ok && *code == PAWL_OK;
}

bool pawl__mongo_take(pawl_store *store, const bson_t *document, const pawl__mongo_field *fields,
                      pawl_arena *arena, void *row, pawl_code *code, pawl_error *error)
{
    bson_iter_t at;
    *code = PAWL_OK;
    if (!pawl__mongo_decode(document, fields, arena, row))
        return false;
    while (fields->key != NULL && fields->type != PAWL__MONGO_BODY)
        fields++;
    if (fields->key == NULL || !bson_iter_init_find(&at, document, "body_rest"))
        return true;
    void *body = (char *)row + fields->offset;
    return take_rest(store, &at, arena, body, code, error);
}

/* ---- Sweeping ------------------------------------------------------------ */

static pawl_code is_row_there(pawl_store *store, const char *collection, const bson_iter_t *row,
                              bool *is_there, pawl_error *error)
{
    bson_t                 filter   = BSON_INITIALIZER;
    const bson_t          *document = NULL;
    const pawl__mongo_find find     = {
            .collection = collection, .filter = &filter, .only = "_id", .limit = 1};
    (void)bson_append_iter(&filter, "_id", -1, row);
    mongoc_cursor_t *cursor = pawl__mongo_begin(store, &find);
    *is_there               = mongoc_cursor_next(cursor, &document);
    bson_destroy(&filter);
    return pawl__mongo_end(store, cursor, error);
}

pawl_code pawl__mongo_bodies_sweep(pawl_store *store, size_t count_max, pawl_error *error)
{
    bson_t                 all      = BSON_INITIALIZER;
    const bson_t          *document = NULL;
    pawl_code              code     = PAWL_OK;
    pawl__mongo_bulk       gone     = pawl__mongo_bulk_begin(store, "bodies");
    const pawl__mongo_find find     = {.collection = "bodies",
                                       .filter     = &all,
                                       .sort       = "_id",
                                       .only       = "of,row",
                                       .limit      = (int64_t)count_max};
    mongoc_cursor_t       *cursor   = pawl__mongo_begin(store, &find);
    while (code == PAWL_OK && mongoc_cursor_next(cursor, &document)) {
        bson_iter_t of, row, id;
        bool        is_there = true;
        bson_t      filter   = BSON_INITIALIZER;
        if (bson_iter_init_find(&of, document, "of") && BSON_ITER_HOLDS_UTF8(&of) &&
            bson_iter_init_find(&row, document, "row") && bson_iter_init_find(&id, document, "_id"))
            code = is_row_there(store, bson_iter_utf8(&of, NULL), &row, &is_there, error);
        if (!is_there && bson_append_iter(&filter, "_id", -1, &id))
            pawl__mongo_remove(&gone, &filter);
        bson_destroy(&filter);
    }
    pawl_code ended = pawl__mongo_end(store, cursor, code == PAWL_OK ? error : NULL);
    pawl_code removed =
        pawl__mongo_bulk_run(&gone, code == PAWL_OK && ended == PAWL_OK ? error : NULL);
    bson_destroy(&all);
    return code != PAWL_OK ? code : ended != PAWL_OK ? ended : removed;
}
