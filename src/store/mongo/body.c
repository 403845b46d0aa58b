/* body.c - stores a body that exceeds one document of 16 MB: its second half goes to `bodies`.
 *
 *     {..., body: first half, body_rest: ObjectId}      bodies: {_id, of: collection, row: its _id, body}
 *
 * Both halves are written in one transaction. When a row is deleted, a sweep later removes its second half.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_dead.h"
#include "store/core/bodies.h"
#include "store/mongo/mongo.h"

#include <string.h>

#define DOCUMENT_SIZE_MAX (16 * 1000 * 1000) /* MongoDB's own limit is 16 * 1024 * 1024 */
#define FIRST_SIZE (8 * 1000 * 1000)

static const pawl__mongo_table bodies = {.name = "bodies"};

static void put_bytes(bson_t *document, const char *data, size_t size)
{
    (void)bson_append_binary(document, "body", -1, BSON_SUBTYPE_BINARY, (const uint8_t *)data,
                             (uint32_t)size);
}

bool pawl__mongo_split(pawl__mongo_bulk *bulk, const bson_t *document, bson_t *first)
{
    pawl_text        body = pawl__mongo_get_text(document, "body");
    bson_t           rest = BSON_INITIALIZER;
    bson_oid_t       id;
    pawl__mongo_bulk rests;
    if (document->len <= DOCUMENT_SIZE_MAX || body.size <= FIRST_SIZE || bulk->collection == NULL)
        return false;
    bson_oid_init(&id, NULL);
    bson_init(first);
    bson_copy_to_excluding_noinit(document, first, "body", NULL);
    put_bytes(first, body.data, FIRST_SIZE);
    if (!bson_has_field(document, "_id")) /* a dead letter has no _id yet; `bodies` refers to it */
        (void)bson_append_oid(first, "_id", -1, &id);
    (void)bson_append_oid(first, "body_rest", -1, &id);
    (void)bson_append_oid(&rest, "_id", -1, &id);
    (void)pawl__mongo_put(&rest, "of: %c, row: %e", bulk->collection, first, "_id");
    put_bytes(&rest, body.data + FIRST_SIZE, body.size - FIRST_SIZE);
    rests = pawl__mongo_bulk_begin(bulk->store, "bodies", PAWL_TEXT(""));
    pawl__mongo_add_document(&rests, PAWL__MONGO_INSERT, &rest, true);
    bulk->code = pawl__mongo_bulk_run(&rests, NULL);
    bulk->why  = rests.why;
    bson_destroy(&rest);
    return true;
}

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

pawl_code pawl__mongo_join(pawl_store *store, const bson_t *document,
                           const pawl__field_list *fields, pawl_arena *arena, void *row,
                           pawl_error *error)
{
    bool   is_ok = true;
    size_t i     = 0;
    while (i < fields->count && fields->items[i].wire != PAWL__WIRE_BYTES)
        i++;
    if (i == fields->count || !bson_has_field(document, "body_rest"))
        return PAWL_OK;
    void               *body     = (char *)row + fields->items[i].offset;
    pawl__mongo_reading r        = pawl__mongo_begin(store, &bodies, NULL, error,
                                                     "filter: {_id: %e}, limit: 1", document, "body_rest");
    bool                is_there = pawl__mongo_next(&r);
    if (is_there)
        is_ok = join(r.document, arena, body);
    pawl_code code = pawl__mongo_end(&r);
    if (code != PAWL_OK)
        return code;
    if (!is_there)
        return pawl_error_set(error, PAWL_EBUSY, "mongodb: the row of a body went meanwhile");
    return is_ok ? PAWL_OK : pawl__mongo_no_memory(error);
}

static pawl_code is_row_there(pawl_store *store, const bson_t *rest, bool *is_there,
                              pawl_error *error)
{
    char                    name[PAWL__MONGO_NAME_SIZE];
    const pawl__mongo_table of   = {.name = name};
    pawl_text               text = pawl__mongo_get_text(rest, "of");
    (void)snprintf(name, sizeof name, "%.*s", PAWL_TEXT_ARGS(text));
    return pawl__mongo_read_one(store, &of, NULL, NULL, is_there, error,
                                "filter: {_id: %e}, projection: {_id: 1}", rest, "row");
}

/* Checks up to count_max second halves by _id, after the last one that this handle checked; starts over at the end. */
pawl_code pawl__mongo_bodies_sweep(pawl_store *store, size_t count_max, pawl_error *error)
{
    bson_oid_t      *after = &pawl__mongo_of(store)->bodies_cursor;
    bson_t           from  = BSON_INITIALIZER;
    bson_iter_t      id;
    pawl__mongo_bulk gone  = pawl__mongo_bulk_begin(store, "bodies", PAWL_TEXT(""));
    size_t           count = 0;
    pawl_code        code  = PAWL_OK;
    (void)bson_append_oid(&from, "_id", -1, after);
    pawl__mongo_reading r = pawl__mongo_begin(
        store, &bodies, NULL, error,
        "filter: {_id: {$gt: %e}}, sort: {_id: 1}, projection: {of: 1, row: 1}, limit: %i", &from,
        "_id", (int64_t)count_max);
    bson_destroy(&from);
    while (code == PAWL_OK && pawl__mongo_next(&r)) {
        bool is_there = true;
        count++;
        if (bson_iter_init_find(&id, r.document, "_id") && BSON_ITER_HOLDS_OID(&id))
            bson_oid_copy(bson_iter_oid(&id), after);
        code = is_row_there(store, r.document, &is_there, error);
        if (code == PAWL_OK && !is_there)
            pawl__mongo_add(&gone, PAWL__MONGO_REMOVE, "q: {_id: %e}", r.document, "_id");
    }
    if (count < count_max)
        memset(after, 0, sizeof *after);
    pawl_code ended = pawl__mongo_end(&r);
    pawl_code removed =
        pawl__mongo_bulk_run(&gone, code == PAWL_OK && ended == PAWL_OK ? error : NULL);
    return code != PAWL_OK ? code : ended != PAWL_OK ? ended : removed;
}

/* ---- Old bodies of dead letters ------------------------------------------ */

static const pawl__field_list page_fields = PAWL__FIELDS(PAWL__AS(event_row, stream, TEXT));

static pawl_code read_page(pawl_store *store, pawl__bodies *page, pawl_arena *arena,
                           pawl_error *error)
{
    const pawl__mongo_table events =
        PAWL__MONGO_TABLE("events", "seq", page_fields, pawl_event_row);
    pawl_event_rows found = {.count = 0};
    pawl_code       code =
        pawl__mongo_read(store, &events, arena, &found.items, &found.count, error,
                         "filter: {stream: {$gt: %t, $lt: %t}}, sort: {stream: 1, version: 1}, "
                         "projection: {_id: 0, stream: 1}, limit?: %i",
                         page->after, page->last, page->count_max);
    page->count = (int64_t)found.count;
    if (found.count != 0)
        page->last = found.items[found.count - 1].stream;
    return code;
}

typedef struct clearing {
    const pawl__bodies *page;
    int64_t             cleared;
} clearing;

/* Also removes the second half of a large body. */
static pawl_code clear_page(pawl_store *store, void *context, pawl_error *error)
{
    clearing               *it     = context;
    const pawl__mongo_table events = {.name = "events"};
    bson_t                  ids    = BSON_INITIALIZER;
    uint32_t                found  = 0;
    pawl__mongo_reading     r =
        pawl__mongo_begin(store, &events, NULL, error,
                          "filter: {stream: {$gt: %t, $lte: %t}, at: {$lt: %i}, type_version: %i, "
                          "type: {$in: [%c, %c]}}, projection: {_id: 1}",
                          it->page->after, it->page->last, it->page->before,
                          (int64_t)PAWL_DEAD_WITH_BODY, PAWL_DEAD_EDITED, PAWL_DEAD_DISCARDED);
    while (pawl__mongo_next(&r))
        (void)pawl__mongo_push(&ids, &found, "%e", r.document, "_id");
    pawl_code code = pawl__mongo_end(&r);
    if (code == PAWL_OK && found != 0)
        code = pawl__mongo_write(store, "events", PAWL__MONGO_UPDATE_MANY, &it->cleared, error,
                                 "q: {_id: {$in: %a}}, u: {$set: {type_version: %i, body: %t}, "
                                 "$unset: {body_rest: 1}}",
                                 &ids, (int64_t)PAWL_DEAD_WITHOUT_BODY, it->page->none);
    if (code == PAWL_OK && found != 0)
        code = pawl__mongo_write(store, "bodies", PAWL__MONGO_REMOVE_MANY, NULL, error,
                                 "q: {of: 'events', row: {$in: %a}}", &ids);
    bson_destroy(&ids);
    return code;
}

pawl_code pawl__mongo_old_bodies_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count,
                                       bool *more, pawl_error *error)
{
    pawl__bodies page;
    clearing     it = {.page = &page};
    if (!pawl__bodies_begin(sweep, &page))
        return PAWL_OK;
    pawl_arena *arena   = pawl_arena_create(0);
    pawl_code   code    = read_page(store, &page, arena, error);
    bool        is_full = pawl__bodies_is_full(&page);
    if (code == PAWL_OK && page.count > 0)
        code = pawl__mongo_transact(store, clear_page, &it, error);
    if (code == PAWL_OK)
        pawl__bodies_end(sweep, &page);
    pawl_arena_destroy(arena);
    *count += it.cleared;
    *more |= is_full && it.cleared > 0;
    return code;
}
