/* shape.c - shapes of the store's own collections, from a table, and of saga collections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/shape.h"

#include "store/mongo/commit.h"

#include <stdio.h>
#include <string.h>

#define NO_KIND pawl_change_kind_count

typedef struct collection_spec {
    const char       *name;
    pawl_change_kind  kind; /* gives the fields of the validator; NO_KIND: no validator */
    pawl__mongo_index indexes[PAWL__MONGO_INDEXES_MAX];
} collection_spec;

/* Marks are dropped first: otherwise a mark would remain for a dropped collection, which would then not be created
 * again. */
static const collection_spec collections[] = {
    {"schema", NO_KIND, {{0}}},
    {"queue",
     pawl_change_queue_send,
     {{"queue,message_id", true, false},
      {"queue,due,_id", false, false},
      {"queue,placed,_id", false, false},
      {"claimed_by", false, true}}},
    {"inbox", pawl_change_inbox_entry, {{"at", false, false}}},
    {"dead",
     pawl_change_dead_set,
     {{"endpoint,message_id", true, false},
      {"at,endpoint,message_id", false, false},
      {"queue,at", false, false},
      {"message_id", false, false}}},
    {"outbox",
     pawl_change_outbox_add,
     {{"dispatch_id", true, false},
      {"state,_id,next_attempt,endpoint", false, false}, /* skips rows of other endpoints */
      {"source,version,index", false, false},
      {"ended", false, true}}},
    {"events",
     pawl_change_event_append,
     {{"stream,version", true, false},
      {"position", true, true},
      {"unnumbered", false, true},
      {"message_id", false, true},
      {"correlation_id", false, true}}},
    {"bodies", NO_KIND, {{0}}},
    {"folds", pawl_change_stream_snapshot_set, {{0}}},
    {"checkpoints", NO_KIND, {{0}}},
    {"timeouts",
     pawl_change_timeout_set,
     {{"armed", true, true},
      {"saga_id", false, true},
      {"destination,due,_id", false, false},
      {"due,_id", false, false},
      {"worker", false, true}}},
    {"aggregator",
     pawl_change_aggregator_add,
     {{"partition,key", true, false}, {"partition,at,_id", false, false}, {"worker", false, true}}},
    {"aggregator_flush",
     pawl_change_flush_set,
     {{"name,is_dead,due", false, false}, {"is_dead", false, false}}},
    {"subscriptions", pawl_change_subscription_set, {{0}}},
    {"workers", NO_KIND, {{0}}},
    {"leases", NO_KIND, {{0}}},
    {"history",
     pawl_change_history_add,
     {{"source,_id", false, true}, {"message_id,_id", false, false}}},
};
_Static_assert(sizeof collections / sizeof collections[0] == PAWL__MONGO_SHAPES,
               "each has a shape");

/* The shape of one of the store's own collections. */
static void shape_own(pawl__mongo_shape *shape, const pawl_store *store, size_t number)
{
    const collection_spec *spec     = &collections[number];
    bool                   is_keyed = spec->kind == pawl_change_inbox_entry ||
                    spec->kind == pawl_change_stream_snapshot_set ||
                    spec->kind == pawl_change_flush_set;
    pawl__mongo_name(store, spec->name, shape->name);
    (void)snprintf(shape->id, sizeof shape->id, "version");
    memcpy(shape->indexes, spec->indexes, sizeof shape->indexes);
    bson_init(&shape->rule);
    if (spec->kind != NO_KIND)
        (void)pawl__mongo_put_rule(&shape->rule, &pawl__change_fields[spec->kind], is_keyed);
}

/* The shape of a saga's collection, with indexes on its correlation properties. */
void pawl__mongo_saga_shape(pawl__mongo_shape *shape, const pawl_saga_table *table)
{
    const pawl_correlation *correlations[] = {&table->main, &table->transitional};
    size_t                  count          = 0;
    pawl__mongo_table_name(table->name, shape->name);
    (void)snprintf(shape->id, sizeof shape->id, "saga:%s", shape->name);
    memset(shape->indexes, 0, sizeof shape->indexes);
    for (size_t i = 0; i < 2; i++) {
        if (correlations[i]->type == PAWL_VALUE_NONE)
            continue;
        pawl__mongo_correlation_path(correlations[i], shape->paths[i]);
        shape->indexes[count++] = (pawl__mongo_index){shape->paths[i], true, true};
    }
    bson_init(&shape->rule);
    (void)pawl__mongo_put_rule(&shape->rule, &pawl__mongo_saga_fields, true);
}

void pawl__mongo_shape_make(pawl__mongo_shape *shape, const pawl_store *store,
                            const pawl_saga_table *const *tables, size_t number)
{
    if (number < PAWL__MONGO_SHAPES)
        shape_own(shape, store, number);
    else
        pawl__mongo_saga_shape(shape, tables[number - PAWL__MONGO_SHAPES]);
}

/* "queue,due,_id" as {queue: 1, due: 1, _id: 1}, named queue_due__id. */
void pawl__mongo_put_indexes(bson_t *list, const pawl__mongo_shape *shape)
{
    const pawl__mongo_index *spec = shape->indexes;
    char                     name[PAWL__MONGO_PATH_SIZE * 2], *rest;
    for (uint32_t count = 0; count < PAWL__MONGO_INDEXES_MAX && spec->keys != NULL; spec++) {
        bson_t keys = BSON_INITIALIZER;
        (void)snprintf(name, sizeof name, "%s", spec->keys);
        for (char *at = strtok_r(name, ",", &rest); at != NULL; at = strtok_r(NULL, ",", &rest))
            (void)pawl__mongo_put(&keys, "%k: 1", at);
        (void)snprintf(name, sizeof name, "%s", spec->keys);
        for (char *at = name; *at != '\0'; at++)
            if (*at == ',')
                *at = '_';
        (void)pawl__mongo_push(list, &count, "{key: %d, name: %c, unique?: %b, sparse?: %b}", &keys,
                               name, (int)spec->is_unique, (int)spec->is_sparse);
        bson_destroy(&keys);
    }
}

/* ---- Names --------------------------------------------------------------- */

pawl_code pawl__mongo_refuse_alike(pawl_text own, pawl_text other, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ECONFIG,
                          "collection '%.*s' of a saga has the same name in MongoDB as '%.*s': "
                          "blanks and + ` [ ] , become _; give one of them another name",
                          PAWL_TEXT_ARGS(own), PAWL_TEXT_ARGS(other));
}

pawl_code pawl__mongo_names_check(const pawl_saga_table *const *tables, size_t count,
                                  pawl_error *error)
{
    char names[2][PAWL__MONGO_PATH_SIZE];
    for (size_t i = 0; i < count; i++) {
        if (memchr(tables[i]->name.data, '$', tables[i]->name.size) != NULL)
            return pawl_error_set(
                error, PAWL_ECONFIG,
                "saga %.*s: its collection '%.*s' has a $, which MongoDB has in no "
                "collection's name; give the saga or its endpoint another name",
                PAWL_TEXT_ARGS(tables[i]->type), PAWL_TEXT_ARGS(tables[i]->name));
        pawl__mongo_property(&tables[i]->main, names[0]);
        pawl__mongo_property(&tables[i]->transitional, names[1]);
        if (tables[i]->transitional.type != PAWL_VALUE_NONE && strcmp(names[0], names[1]) == 0)
            return pawl_error_set(
                error, PAWL_ECONFIG,
                "saga %.*s: its properties '%.*s' and '%.*s' have the same name in "
                "MongoDB: . $ , become _; give one of them another name",
                PAWL_TEXT_ARGS(tables[i]->type), PAWL_TEXT_ARGS(tables[i]->main.property),
                PAWL_TEXT_ARGS(tables[i]->transitional.property));
        pawl__mongo_table_name(tables[i]->name, names[0]);
        for (size_t k = 0; k < i; k++) {
            pawl__mongo_table_name(tables[k]->name, names[1]);
            if (strcmp(names[0], names[1]) == 0)
                return pawl__mongo_refuse_alike(tables[i]->name, tables[k]->name, error);
        }
    }
    return PAWL_OK;
}
