/* shape.h - the required shape of collections: names, indexes, validators; and a check for names that coincide.
 *
 * Threads: plain data. Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MONGO_SHAPE_H
#define PAWL_MONGO_SHAPE_H

#include "store/mongo/mongo.h"

#define PAWL__MONGO_SHAPES 16 /* the store's own collections, whatever the program */
#define PAWL__MONGO_INDEXES_MAX 5

/* `keys` is written as a sort: "queue,due,_id". A unique index is sparse if it has only one key. */
typedef struct pawl__mongo_index {
    const char *keys;
    bool        is_unique;
    bool        is_sparse;
} pawl__mongo_index;

typedef struct pawl__mongo_shape {
    char              name[PAWL__MONGO_NAME_SIZE];
    char              id[PAWL__MONGO_NAME_SIZE + 8]; /* of its mark */
    char              paths[2][PAWL__MONGO_PATH_SIZE];
    pawl__mongo_index indexes[PAWL__MONGO_INDEXES_MAX];
    bson_t            rule; /* validator, as members of collMod; empty: none */
} pawl__mongo_shape;

/* Makes shape `number`; the caller calls bson_destroy for its rule. Shapes of sagas begin at PAWL__MONGO_SHAPES, in
 * the order of `tables`. */
void pawl__mongo_shape_make(pawl__mongo_shape *shape, const pawl_store *store,
                            const pawl_saga_table *const *tables, size_t number);
void pawl__mongo_saga_shape(pawl__mongo_shape *shape, const pawl_saga_table *table);
/* Items of createIndexes. */
void pawl__mongo_put_indexes(bson_t *list, const pawl__mongo_shape *shape);
/* PAWL_ECONFIG for two names of these sagas, of collections or members, that MongoDB's rules make equal (M3). */
pawl_code pawl__mongo_names_check(const pawl_saga_table *const *tables, size_t count,
                                  pawl_error *error);
pawl_code pawl__mongo_refuse_alike(pawl_text own, pawl_text other, pawl_error *error);

#endif
