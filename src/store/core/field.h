/* field.h - lists of struct members and how each is stored: from these lists statement parameters are bound, documents
 * are written and rows are read.
 *
 * A list for a row is in the order of the columns, a list for an item in the order of the parameters. The lists of rows
 * are in rows.h, those of changes below. In the notes "here" means in C, "there" in the database.
 *
 * Threads: plain data.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_FIELD_H
#define PAWL_STORE_CORE_FIELD_H

#include "pawl/change.h"

#include <stddef.h>

typedef enum pawl__wire {
    PAWL__WIRE_INT,
    PAWL__WIRE_INT32, /* an int32_t here, 64 bits there */
    PAWL__WIRE_BOOL,
    PAWL__WIRE_FLAG, /* a bool here, a number there, where the database has no bool */
    PAWL__WIRE_TIME,
    PAWL__WIRE_TIME_OR_NEVER, /* null is PAWL_TIME_MAX */
    PAWL__WIRE_TIME_FROM, /* parameter only: a lower bound; PAWL_TIME_MIN is below every time there */
    PAWL__WIRE_TEXT,
    PAWL__WIRE_PEEK,       /* a text that lives until the next row */
    PAWL__WIRE_PART,       /* parameter only: a part of a text that is searched for */
    PAWL__WIRE_ERROR_TEXT, /* for people: bytes that no text column accepts become '?' */
    PAWL__WIRE_BYTES,
    PAWL__WIRE_UUID,
    PAWL__WIRE_UUID_OR_NULL, /* a uuid of zeroes is null */
    PAWL__WIRE_JSON,         /* empty is {} */
    PAWL__WIRE_JSON_TEXT,    /* the same in a text column */
    PAWL__WIRE_VALUE,        /* a pawl_value; when a row is read its type must be set before;
                                null is PAWL_VALUE_NONE */
    PAWL__WIRE_STATE,        /* a pawl_outbox_state here, its word there */
    PAWL__WIRE_OUTCOME,      /* the same of a pawl_attempt_outcome */
    PAWL__WIRE_INBOX,        /* the same of a pawl_inbox_outcome */
    PAWL__WIRE_RESET,        /* a pawl_outbox_action; there the word of its attempt row */
    PAWL__WIRE_CHOICE,       /* a pawl_queue_action or pawl_timeout_action; has no column */
    PAWL__WIRE_ZERO,         /* always 0, without a member */
    PAWL__WIRE_NULL,         /* always null, without a member */
    PAWL__WIRE_SKIP,         /* a column that is not read */
    PAWL__WIRE_COUNT         /* from here on a driver's own */
} pawl__wire;

typedef struct pawl__field {
    size_t      offset;
    const char *name; /* of the member, "message.id"; NULL: no member, or the item itself */
    int         wire; /* pawl__wire, or a driver's own */
    int         form; /* pawl__form, of a change */
} pawl__field;

typedef struct pawl__field_list {
    const pawl__field *items;
    size_t             count;
} pawl__field_list;

/* A field of struct `type`; PAWL__AS: of struct pawl_`of`. */
#define PAWL__AS_OF(type, member, as)                       \
    {                                                       \
        offsetof(type, member), #member, PAWL__WIRE_##as, 0 \
    }
#define PAWL__AS(of, member, as) PAWL__AS_OF(pawl_##of, member, as)
/* A field whose member has an older name in documents. */
#define PAWL__AS_NAMED(of, member, stored, as)                  \
    {                                                           \
        offsetof(pawl_##of, member), stored, PAWL__WIRE_##as, 0 \
    }
/* The whole item or row is one value. */
#define PAWL__AS_ONE(as)            \
    {                               \
        0, NULL, PAWL__WIRE_##as, 0 \
    }
/* Null; `as` is the type of this parameter in other uses of the statement. */
#define PAWL__AS_NULL(as)                         \
    {                                             \
        0, NULL, PAWL__WIRE_NULL, PAWL__WIRE_##as \
    }
#define PAWL__AS_MESSAGE(of)                                                                  \
    PAWL__AS(of, message.id, TEXT), PAWL__AS(of, message.type, TEXT),                         \
        PAWL__AS(of, message.correlation_id, TEXT), PAWL__AS(of, message.causation_id, TEXT), \
        PAWL__AS(of, message.headers, TEXT), PAWL__AS(of, message.body, BYTES)
/* A list, outside of functions. */
#define PAWL__FIELDS(...)                                                         \
    {                                                                             \
        .items = (const pawl__field[]){__VA_ARGS__},                              \
        .count = sizeof((const pawl__field[]){__VA_ARGS__}) / sizeof(pawl__field) \
    }
/* A list from an array. */
#define PAWL__FIELD_ARRAY(array)                                      \
    {                                                                 \
        .items = (array), .count = sizeof(array) / sizeof((array)[0]) \
    }

/* Lists for items and rows that are one value (rows.c). */
extern const pawl__field_list pawl__one_int;
extern const pawl__field_list pawl__one_time;
extern const pawl__field_list pawl__one_text;
extern const pawl__field_list pawl__one_uuid;

/* ---- Changes ------------------------------------------------------------ */

/* How check.c checks a field of a change, in addition to its wire. */
typedef enum pawl__form {
    PAWL__FORM_ANY,
    PAWL__FORM_ASIDE,         /* controls how a change is written; not stored */
    PAWL__FORM_SET,           /* a uuid that is not zero */
    PAWL__FORM_NAME,          /* of a queue, a type, an endpoint ... */
    PAWL__FORM_NAME_OPTIONAL, /* the same, or empty */
    PAWL__FORM_ID,            /* of a message */
    PAWL__FORM_ID_OPTIONAL,
    PAWL__FORM_PARTITION,
    PAWL__FORM_SOURCE,
    PAWL__FORM_STREAM,
    PAWL__FORM_HEADERS,
    PAWL__FORM_BODY,  /* any bytes */
    PAWL__FORM_STATE, /* JSON of a saga */
    PAWL__FORM_ERROR, /* text for people */
    pawl__form_count
} pawl__form;

/* All members of a change, but for its table and lists, by kind (change_fields.c). */
extern const pawl__field_list pawl__change_fields[pawl_change_kind_count];

#endif
