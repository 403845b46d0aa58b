/* walk.c - live rows of one kind behind a row, in the order of their keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/operations.h"

#define ROW(member, key, type) PAWL__MONGO_FIELD(pawl_walk_row, member, key, type)

static const pawl__mongo_field saga_fields[] = {
    ROW(id, "_id", UUID),
    ROW(type_version, "type_version", TEXT),
    ROW(persistence_version, "persistence_version", TEXT),
    PAWL__MONGO_END,
};
static const pawl__mongo_field queue_fields[] = {
    ROW(number, "_id", INT),
    ROW(belongs_to, "queue", TEXT),
    PAWL__MONGO_MESSAGE(pawl_walk_row, message),
    PAWL__MONGO_END,
};
static const pawl__mongo_field timeout_fields[] = {
    ROW(id, "_id", UUID),    ROW(belongs_to, "destination", TEXT),
    ROW(name, "name", TEXT), ROW(message.type, "saga_type", TEXT),
    PAWL__MONGO_END,
};
static const pawl__mongo_field fold_fields[] = {
    ROW(belongs_to, "_id", TEXT),
    ROW(version, "type_version", INT32),
    ROW(message.body, "state", TEXT),
    PAWL__MONGO_END,
};
static const pawl__mongo_field aggregator_fields[] = {
    ROW(number, "_id", INT),
    ROW(belongs_to, "name", TEXT),
    PAWL__MONGO_MESSAGE(pawl_walk_row, message),
    PAWL__MONGO_END,
};
static const pawl__mongo_field dead_fields[] = {
    ROW(belongs_to, "endpoint", TEXT),           ROW(name, "queue", TEXT), ROW(code, "code", TEXT),
    PAWL__MONGO_MESSAGE(pawl_walk_row, message), PAWL__MONGO_END,
};
static const pawl__mongo_field checkpoint_fields[] = {
    ROW(belongs_to, "_id", TEXT),
    ROW(number, "position", INT),
    PAWL__MONGO_END,
};
static const pawl__mongo_field partition_fields[] = {
    ROW(belongs_to, "_id", TEXT),
    ROW(name, "name", TEXT),
    ROW(due, "due", INT),
    ROW(attempts, "attempts", INT32),
    ROW(is_dead, "is_dead", BOOL),
    ROW(error, "error", TEXT),
    PAWL__MONGO_END,
};

typedef enum key_type { BY_UUID, BY_NUMBER, BY_NAME, BY_LETTER } key_type;

typedef struct kind {
    const char              *collection;
    const pawl__mongo_field *fields;
    key_type                 key;
} kind;

static const kind kinds[PAWL_WALK_KINDS] = {
    [PAWL_WALK_SAGAS]       = {NULL, saga_fields, BY_UUID},
    [PAWL_WALK_QUEUE]       = {"queue", queue_fields, BY_NUMBER},
    [PAWL_WALK_TIMEOUTS]    = {"timeouts", timeout_fields, BY_UUID},
    [PAWL_WALK_FOLDS]       = {"folds", fold_fields, BY_NAME},
    [PAWL_WALK_AGGREGATORS] = {"aggregator", aggregator_fields, BY_NUMBER},
    [PAWL_WALK_DEAD]        = {"dead", dead_fields, BY_LETTER},
    [PAWL_WALK_CHECKPOINTS] = {"checkpoints", checkpoint_fields, BY_NAME},
    [PAWL_WALK_PARTITIONS]  = {"aggregator_flush", partition_fields, BY_NAME},
};

static void put_text_behind(bson_t *filter, const char *key, pawl_text after)
{
    bson_t inner;
    (void)bson_append_document_begin(filter, key, -1, &inner);
    pawl__mongo_put_text(&inner, "$gt", after);
    (void)bson_append_document_end(filter, &inner);
}

static void put_letter_behind(bson_t *filter, const pawl_walk_row *after)
{
    bson_t either, one;
    (void)bson_append_array_begin(filter, "$or", -1, &either);
    (void)bson_append_document_begin(&either, "0", 1, &one);
    put_text_behind(&one, "endpoint", after->belongs_to);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_document_begin(&either, "1", 1, &one);
    pawl__mongo_put_text(&one, "endpoint", after->belongs_to);
    put_text_behind(&one, "message_id", after->message.id);
    (void)bson_append_document_end(&either, &one);
    (void)bson_append_array_end(filter, &either);
}

static void put_behind(bson_t *filter, key_type key, const pawl_walk_row *after)
{
    bson_t inner;
    switch (key) {
    case BY_UUID:
        (void)bson_append_document_begin(filter, "_id", -1, &inner);
        pawl__mongo_put_uuid(&inner, "$gt", after->id);
        (void)bson_append_document_end(filter, &inner);
        return;
    case BY_NUMBER: pawl__mongo_put_op(filter, "_id", "$gt", after->number); return;
    case BY_NAME: put_text_behind(filter, "_id", after->belongs_to); return;
    case BY_LETTER: put_letter_behind(filter, after); return;
    }
}

/* Filters of partitions. A condition on the id stands in "$and", behind the one that goes on. */
static void put_filters(bson_t *filter, const pawl_walk *walk)
{
    bson_t both, one;
    if (walk->kind != PAWL_WALK_PARTITIONS)
        return;
    if (walk->aggregator.size != 0)
        pawl__mongo_put_text(filter, "name", walk->aggregator);
    if (walk->is_dead)
        (void)bson_append_bool(filter, "is_dead", -1, true);
    if (walk->partition.size == 0)
        return;
    (void)bson_append_array_begin(filter, "$and", -1, &both);
    (void)bson_append_document_begin(&both, "0", 1, &one);
    pawl__mongo_put_text(&one, "_id", walk->partition);
    (void)bson_append_document_end(&both, &one);
    (void)bson_append_array_end(filter, &both);
}

static bool read_row(pawl_store *store, const bson_t *document, const pawl_walk *walk,
                     pawl_arena *arena, pawl_walk_row *row, pawl_code *taken, pawl_error *error)
{
    *row = (pawl_walk_row){.number = 0};
    if (walk->kind == PAWL_WALK_SAGAS) {
        row->message.body = pawl__mongo_get_json(document, "data", arena);
        if (row->message.body.data == NULL)
            return false;
    }
    return pawl__mongo_take(store, document, kinds[walk->kind].fields, arena, row, taken, error);
}

/* The number of the partition's rows, and the oldest of them. */
static pawl_code count_partition(pawl_store *store, pawl_walk_row *row, pawl_error *error)
{
    static const pawl__mongo_field oldest[] = {ROW(oldest, "at", INT), PAWL__MONGO_END};
    bson_t                         filter   = BSON_INITIALIZER;
    const pawl__mongo_find         find     = {
                    .collection = "aggregator", .filter = &filter, .sort = "at,_id", .only = "at"};
    bool is_there = false;
    pawl__mongo_put_text(&filter, "partition", row->belongs_to);
    pawl_code code = pawl__mongo_count(store, "aggregator", &filter, &row->count, error);
    if (code == PAWL_OK)
        code = pawl__mongo_read_one(store, find, oldest, NULL, row, &is_there, error);
    bson_destroy(&filter);
    return code;
}

static pawl_code read_page(pawl_store *store, const pawl_walk *walk, const pawl__mongo_find *find,
                           pawl_arena *arena, pawl_walk_rows *rows, pawl_error *error)
{
    const bson_t    *document = NULL;
    size_t           capacity = 0;
    bool             is_ok    = true;
    pawl_code        taken    = PAWL_OK;
    mongoc_cursor_t *cursor   = pawl__mongo_begin(store, find);
    while (is_ok && mongoc_cursor_next(cursor, &document)) {
        pawl_walk_row *grown =
            pawl_arena_grow(arena, rows->items, rows->count, &capacity, sizeof *grown);
        is_ok = grown != NULL &&
                read_row(store, document, walk, arena, &grown[rows->count], &taken, error);
        if (is_ok) {
            rows->items = grown;
            rows->count++;
        }
    }
    pawl_code code = pawl__mongo_end(store, cursor, taken == PAWL_OK ? error : NULL);
    if (taken != PAWL_OK)
        return taken;
    return code == PAWL_OK && !is_ok ? pawl__mongo_no_memory(error) : code;
}

pawl_code pawl__mongo_walk(pawl_store *store, const pawl_walk *walk, pawl_arena *arena,
                           pawl_walk_rows *rows, pawl_error *error)
{
    const kind      *of     = &kinds[walk->kind];
    bson_t           filter = BSON_INITIALIZER;
    pawl__mongo_find find   = {.collection = of->collection,
                               .filter     = &filter,
                               .sort       = of->key == BY_LETTER ? "endpoint,message_id" : "_id",
                               .limit      = (int64_t)walk->count_max};
    if (walk->kind == PAWL_WALK_SAGAS)
        find.table = walk->table->name;
    if (walk->after != NULL)
        put_behind(&filter, of->key, walk->after);
    put_filters(&filter, walk);
    pawl_code code = read_page(store, walk, &find, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && walk->kind == PAWL_WALK_PARTITIONS && i < rows->count;
         i++)
        code = count_partition(store, &rows->items[i], error);
    bson_destroy(&filter);
    return code;
}
