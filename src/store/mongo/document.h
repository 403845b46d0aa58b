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

#include "pawl/base.h"
#include "pawl/value.h"

#include <bson/bson.h>

typedef enum pawl__mongo_type {
    PAWL__MONGO_INT,
    PAWL__MONGO_INT32,
    PAWL__MONGO_TEXT,
    PAWL__MONGO_BODY,
    PAWL__MONGO_UUID,
    PAWL__MONGO_BOOL,
    PAWL__MONGO_FLAG, /* a bool that conditions ask about; no member */
    PAWL__MONGO_WORD,
    PAWL__MONGO_JSON,  /* a text here, a sub-document there */
    PAWL__MONGO_VALUE, /* a pawl_value; not for reading */
} pawl__mongo_type;

typedef struct pawl__mongo_field {
    const char        *key; /* NULL ends a table */
    size_t             offset;
    pawl__mongo_type   type;
    const char *const *words; /* NULL ends them */
} pawl__mongo_field;

#define PAWL__MONGO_FIELD(row, member, key_, type_)              \
    {                                                            \
        (key_), offsetof(row, member), PAWL__MONGO_##type_, NULL \
    }
/* The same of an enum, by the names of its values. */
#define PAWL__MONGO_WORDS(row, member, key_, words_)              \
    {                                                             \
        (key_), offsetof(row, member), PAWL__MONGO_WORD, (words_) \
    }
#define PAWL__MONGO_END                \
    {                                  \
        NULL, 0, PAWL__MONGO_INT, NULL \
    }
/* Of a pawl_message that is the member of that name. */
#define PAWL__MONGO_MESSAGE(row, member)                                       \
    PAWL__MONGO_FIELD(row, member.id, "message_id", TEXT),                     \
        PAWL__MONGO_FIELD(row, member.type, "type", TEXT),                     \
        PAWL__MONGO_FIELD(row, member.correlation_id, "correlation_id", TEXT), \
        PAWL__MONGO_FIELD(row, member.causation_id, "causation_id", TEXT),     \
        PAWL__MONGO_FIELD(row, member.headers, "headers", TEXT),               \
        PAWL__MONGO_FIELD(row, member.body, "body", BODY)

/* Appends the members of the row. False when out of memory, too long, or of a JSON text that is no object. */
bool pawl__mongo_encode(bson_t *document, const pawl__mongo_field *fields, const void *row);
/* Sets the members that the document has; texts are the arena's. False when out of memory. */
bool pawl__mongo_decode(const bson_t *document, const pawl__mongo_field *fields, pawl_arena *arena,
                        void *row);

/* ---- One member ----------------------------------------------------------- */

/* Appends the value at `at`, which is one of the type. */
bool pawl__mongo_put_value(bson_t *document, const char *key, int key_size, pawl__mongo_type type,
                           const char *const *words, const void *at);
/* A text without a byte, 0, a zero id, no value. */
bool pawl__mongo_is_empty(pawl__mongo_type type, const void *at);
/* The field of that name, which is there. */
const pawl__mongo_field *pawl__mongo_field_of(const pawl__mongo_field *fields, pawl_text name);

bool pawl__mongo_get_int(const bson_t *document, const char *key, int64_t *integer);
/* In the document's memory; empty where it has none. */
pawl_text pawl__mongo_get_text(const bson_t *document, const char *key);

/* ---- The state of sagas (json.c) ------------------------------------------ */

/* Appends a JSON object as a sub-document: integers as int64. False: no object, too large or too deep. */
bool pawl__mongo_put_json(bson_t *document, const char *key, int key_size, pawl_text json);
/* The member as JSON, in the arena; a type that JSON does not know comes as an object that
 * put_json makes the same value of again. data NULL: out of memory. */
pawl_text pawl__mongo_get_json(const bson_iter_t *at, pawl_arena *arena);

#endif
