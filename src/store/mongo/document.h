/* document.h - documents and the structs that they are read into: by tables of fields.
 *
 *     integers and times  int64; times are microseconds since the epoch, in UTC
 *     texts               strings; the empty text is no member
 *     bodies              strings where they are UTF-8, else binary: byte for byte
 *     ids                 binary of subtype 4 (UUID); a zero one is no member
 *     words               the name of an enum's value
 *
 * Threads: plain data.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MONGO_DOCUMENT_H
#define PAWL_MONGO_DOCUMENT_H

#include "store/core/rows.h"

#include <bson/bson.h>

/* A collection and the struct that its documents are read into. The member of a document is named as that of the
 * struct, without "message." and its like before it; a message's id is message_id. */
typedef struct pawl__mongo_table {
    const char             *name; /* without the prefix; NULL: a saga's */
    const char             *id;   /* the field that stands in _id, if it is named otherwise */
    const pawl__field_list *fields, *more; /* or NULL */
    size_t                  row_size;
    pawl_text               saga; /* the whole name of a saga's */
} pawl__mongo_table;

#define PAWL__MONGO_TABLE(name_, id_, fields_, row)                                 \
    {                                                                               \
        .name = (name_), .id = (id_), .fields = &(fields_), .row_size = sizeof(row) \
    }
/* A member of a document that has another name than that of the struct. */
#define PAWL__MONGO_AS(row, member, key, as)             \
    {                                                    \
        offsetof(row, member), (key), PAWL__WIRE_##as, 0 \
    }
/* Of a document that is read for one number. */
#define PAWL__MONGO_NUMBER(key) PAWL__FIELDS({0, (key), PAWL__WIRE_INT, 0})

/* Appends the members of the row. False when out of memory, too long, or of a JSON text that is no object. */
bool pawl__mongo_encode(bson_t *document, const pawl__field_list *fields, const void *row);
/* Appends the validator of documents that are written from such rows, as members of a command: numbers, truths and names
 * that none of them is without, with their types. Other members, bodies and states among them, are free. `is_keyed`: the
 * names are in _id. */
bool pawl__mongo_put_rule(bson_t *command, const pawl__field_list *fields, bool is_keyed);
/* The document of that name in an array of such, without a copy; empty where there is none. */
bool pawl__mongo_named(const bson_t *listed, const char *name, bson_t *found);
/* Sets the members that the document has; texts are the arena's. False when out of memory. */
bool pawl__mongo_decode(const bson_t *document, const pawl__mongo_table *table, pawl_arena *arena,
                        void *row);

/* ---- One member ----------------------------------------------------------- */

/* Appends the value at `at`, which is one of the wire. */
bool pawl__mongo_put_value(bson_t *document, const char *key, int key_size, int wire,
                           const void *at);
/* Sets the value, where the member is of its type. False when out of memory. */
bool pawl__mongo_get_value(const bson_iter_t *at, int wire, pawl_arena *arena, void *out);
/* A text without a byte, 0, a zero id, no value. */
bool pawl__mongo_is_empty(int wire, const void *at);
/* The word of the enum. */
pawl_text pawl__mongo_word(int wire, const void *at);
/* The field of that member, which is there; the table's, or that of the list alone. */
const pawl__field *pawl__mongo_field_of(const pawl__field_list *fields, pawl_text key);
const pawl__field *pawl__mongo_field_in(const pawl__mongo_table *table, pawl_text key);

bool pawl__mongo_get_int(const bson_t *document, const char *key, int64_t *integer);
/* In the document's memory; empty where it has none. */
pawl_text pawl__mongo_get_text(const bson_t *document, const char *key);

#define PAWL__MONGO_DEPTH_MAX 100 /* levels of a document, by MongoDB's own limit */

/* ---- The state of sagas (json.c) ------------------------------------------ */

/* Appends a JSON object as a sub-document: integers as int64. False: no object, too large or too deep. */
bool pawl__mongo_put_json(bson_t *document, const char *key, int key_size, pawl_text json);
/* The member as JSON, in the arena; a type that JSON does not know comes as an object that
 * put_json makes the same value of again. data NULL: out of memory. */
pawl_text pawl__mongo_get_json(const bson_iter_t *at, pawl_arena *arena);

#endif
