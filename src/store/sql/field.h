/* field.h - how members of a struct travel: the one list from which parameters
 * are put and rows are filled.
 *
 * A field is a member and the form it has on its way. The list of a row stands in the
 * order of the columns, the list of an item in the order of the parameters.
 *
 * Threads: plain data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_FIELD_H
#define PAWL_STORE_SQL_FIELD_H

#include <stddef.h>

typedef enum pawl__sql_wire {
    PAWL__WIRE_INT,
    PAWL__WIRE_INT32, /* an int32_t here, 64 bits there */
    PAWL__WIRE_BOOL,
    PAWL__WIRE_FLAG, /* a bool here, a number there */
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
    PAWL__WIRE_ZERO,         /* of no member: 0 */
    PAWL__WIRE_NULL,         /* of no member */
    PAWL__WIRE_SKIP,         /* a column that is not read */
    PAWL__WIRE_COUNT         /* from here on a driver's own */
} pawl__sql_wire;

typedef struct pawl__sql_field {
    size_t offset;
    int    wire; /* pawl__sql_wire, or a driver's own */
} pawl__sql_field;

typedef struct pawl__sql_fields {
    const pawl__sql_field *items;
    size_t                 count;
} pawl__sql_fields;

/* Of struct pawl_`of`. */
#define PAWL__SQL_FIELD(of, member, as)              \
    {                                                \
        offsetof(pawl_##of, member), PAWL__WIRE_##as \
    }
#define PAWL__SQL_MESSAGE_FIELDS(of)                                                \
    PAWL__SQL_FIELD(of, message.id, TEXT), PAWL__SQL_FIELD(of, message.type, TEXT), \
        PAWL__SQL_FIELD(of, message.correlation_id, TEXT),                          \
        PAWL__SQL_FIELD(of, message.causation_id, TEXT),                            \
        PAWL__SQL_FIELD(of, message.headers, TEXT), PAWL__SQL_FIELD(of, message.body, BYTES)
/* A list, outside of functions. */
#define PAWL__SQL_FIELDS(...)                                                             \
    {                                                                                     \
        .items = (const pawl__sql_field[]){__VA_ARGS__},                                  \
        .count = sizeof((const pawl__sql_field[]){__VA_ARGS__}) / sizeof(pawl__sql_field) \
    }
/* A list from an array. */
#define PAWL__SQL_LIST(array)                                         \
    {                                                                 \
        .items = (array), .count = sizeof(array) / sizeof((array)[0]) \
    }

/* Of an item, or a row, that is one value itself (rows.c). */
extern const pawl__sql_fields pawl__sql_one_int;
extern const pawl__sql_fields pawl__sql_one_time;
extern const pawl__sql_fields pawl__sql_one_text;
extern const pawl__sql_fields pawl__sql_one_uuid;

#endif
