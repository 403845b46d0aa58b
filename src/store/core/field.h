/* field.h - how members of a struct travel: the one list from which parameters are put, documents are
 * written and rows are filled.
 *
 * A field is a member and the form it has on its way. The list of a row stands in the order of the columns, the
 * list of an item in the order of the parameters. The lists of rows are in rows.h, those of changes below.
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
    PAWL__WIRE_TEXT,
    PAWL__WIRE_PEEK,       /* a text that lives until the next row */
    PAWL__WIRE_ERROR_TEXT, /* for people: what may not be in a column of text becomes '?' */
    PAWL__WIRE_BYTES,
    PAWL__WIRE_UUID,
    PAWL__WIRE_UUID_OR_NULL, /* a uuid of zeroes is null */
    PAWL__WIRE_JSON,         /* empty is {} */
    PAWL__WIRE_JSON_TEXT,    /* the same in a text column */
    PAWL__WIRE_VALUE,        /* a pawl_value; in a row, of the type that stands there before,
                                or PAWL_VALUE_NONE where the column is null */
    PAWL__WIRE_STATE,        /* a pawl_outbox_state here, its word there */
    PAWL__WIRE_OUTCOME,      /* the same of a pawl_attempt_outcome */
    PAWL__WIRE_INBOX,        /* the same of a pawl_inbox_outcome */
    PAWL__WIRE_RESET,        /* a pawl_outbox_action, the word of its attempt there */
    PAWL__WIRE_CHOICE,       /* a pawl_queue_action, or a pawl_timeout_action; of no column */
    PAWL__WIRE_ZERO,         /* of no member: 0 */
    PAWL__WIRE_NULL,         /* of no member */
    PAWL__WIRE_SKIP,         /* a column that is not read */
    PAWL__WIRE_COUNT         /* from here on a driver's own */
} pawl__wire;

typedef struct pawl__field {
    size_t      offset;
    const char *name; /* of the member, "message.id"; NULL: of none */
    int         wire; /* pawl__wire, or a driver's own */
    int         form; /* pawl__form, of a change */
} pawl__field;

typedef struct pawl__field_list {
    const pawl__field *items;
    size_t             count;
} pawl__field_list;

/* Of a struct; PAWL__AS: of struct pawl_`of`. */
#define PAWL__AS_OF(type, member, as)                       \
    {                                                       \
        offsetof(type, member), #member, PAWL__WIRE_##as, 0 \
    }
#define PAWL__AS(of, member, as) PAWL__AS_OF(pawl_##of, member, as)
/* Of a member that documents know by an older name. */
#define PAWL__AS_NAMED(of, member, stored, as)                  \
    {                                                           \
        offsetof(pawl_##of, member), stored, PAWL__WIRE_##as, 0 \
    }
/* Of what is one value itself. */
#define PAWL__AS_ONE(as)            \
    {                               \
        0, NULL, PAWL__WIRE_##as, 0 \
    }
/* Null; the type is that of the values which others have in its place. */
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

/* Of an item, or a row, that is one value itself (rows.c). */
extern const pawl__field_list pawl__one_int;
extern const pawl__field_list pawl__one_time;
extern const pawl__field_list pawl__one_text;
extern const pawl__field_list pawl__one_uuid;

/* ---- Changes ------------------------------------------------------------ */

/* Demands of a check on a field, beside its wire (check.c). */
typedef enum pawl__form {
    PAWL__FORM_ANY,
    PAWL__FORM_ASIDE,         /* says how a change is written, and is no part of its row */
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
