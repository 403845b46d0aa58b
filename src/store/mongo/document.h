/* document.h - converts documents to structs and back, by tables of fields.
 *
 *     integers and times  int64; times are microseconds since the epoch, in UTC
 *     texts               strings; an empty text is left out
 *     bodies              strings where they are UTF-8, else binary: byte for byte
 *     ids                 binary of subtype 4 (UUID); a zero id is left out
 *     words               names of enum values
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

/* A collection, and the struct for its documents. A document's member is named as the struct's, without prefixes such
 * as "message."; the id of a message is message_id. */
typedef struct pawl__mongo_table {
    const char             *name;          /* without the prefix; NULL: a saga's */
    const char             *id;            /* the field stored as _id, if its name differs */
    const pawl__field_list *fields, *more; /* or NULL */
    size_t                  row_size;
    pawl_text               saga; /* full name of the collection of a saga */
} pawl__mongo_table;

#define PAWL__MONGO_TABLE(name_, id_, fields_, row)                                 \
    {                                                                               \
        .name = (name_), .id = (id_), .fields = &(fields_), .row_size = sizeof(row) \
    }
/* A member whose name in the document differs from that in the struct. */
#define PAWL__MONGO_AS(row, member, key, as)             \
    {                                                    \
        offsetof(row, member), (key), PAWL__WIRE_##as, 0 \
    }
/* A document of which only one number is read. */
#define PAWL__MONGO_NUMBER(key) PAWL__FIELDS({0, (key), PAWL__WIRE_INT, 0})

/* Appends the members of the row. False: no memory, too long, or a JSON text that is not an object. */
bool pawl__mongo_encode(bson_t *document, const pawl__field_list *fields, const void *row);
/* Appends the validator of documents written from such rows, as members of a command: types of the numbers, booleans
 * and names that each document has. Other members, such as bodies and states, are not checked. `is_keyed`: the names
 * are in _id. */
bool pawl__mongo_put_rule(bson_t *command, const pawl__field_list *fields, bool is_keyed);
/* Finds the document of that name in an array, without a copy; empty if there is none. */
bool pawl__mongo_find_by_name(const bson_t *listed, const char *name, bson_t *found);
/* Sets those members of `row` that the document has; texts are in the arena. False: no memory. */
bool pawl__mongo_decode(const bson_t *document, const pawl__mongo_table *table, pawl_arena *arena,
                        void *row);

/* ---- One member ----------------------------------------------------------- */

/* Appends the value at `at`, which has the wire type `wire`. */
bool pawl__mongo_put_value(bson_t *document, const char *key, int key_size, int wire,
                           const void *at);
/* Reads the value if the member has its type. False: no memory. */
bool pawl__mongo_get_value(const bson_iter_t *at, int wire, pawl_arena *arena, void *out);
/* Is the value empty: a text without bytes, 0, a zero id, or no value? */
bool pawl__mongo_is_empty(int wire, const void *at);
/* The name of the enum's value. */
pawl_text pawl__mongo_word(int wire, const void *at);
/* The field of a member, which must exist: of the table, or of the list only. */
const pawl__field *pawl__mongo_field_of(const pawl__field_list *fields, pawl_text key);
const pawl__field *pawl__mongo_field_in(const pawl__mongo_table *table, pawl_text key);

bool pawl__mongo_get_int(const bson_t *document, const char *key, int64_t *integer);
/* Points into the document; empty if the member is missing. */
pawl_text pawl__mongo_get_text(const bson_t *document, const char *key);

#define PAWL__MONGO_DEPTH_MAX 100 /* levels of a document, by MongoDB's own limit */

/* ---- The state of sagas (json.c) ------------------------------------------ */

/* Appends a JSON object as a sub-document: integers as int64. False: no object, too large or too deep. */
bool pawl__mongo_put_json(bson_t *document, const char *key, int key_size, pawl_text json);
/* The member as JSON, in the arena. A type that JSON lacks becomes an object from which put_json makes the same value
 * again. Not JSON if a member's name is not UTF-8. data NULL: out of memory. */
pawl_text pawl__mongo_get_json(const bson_iter_t *at, pawl_arena *arena);

#endif
