/* value.h - the value of one field: correlation values, by which sagas are found.
 *
 * Texts are borrowed: they live as long as what they were read from.
 *
 * Threads: plain data, no shared state.
 * Tests: tests/unit/record/test_record_value.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_VALUE_H
#define PAWL_VALUE_H

#include "pawl/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pawl_value_type {
    PAWL_VALUE_NONE, /* null, or an optional that is not set */
    PAWL_VALUE_INT,
    PAWL_VALUE_TEXT,
    PAWL_VALUE_UUID,
    PAWL_VALUE_TIME,
} pawl_value_type;

typedef struct pawl_value {
    pawl_value_type type;
    union {
        int64_t   integer;
        pawl_text text;
        pawl_uuid uuid;
        pawl_time time;
    } as;
} pawl_value;

PAWL_API pawl_value pawl_value_integer(int64_t integer);
PAWL_API pawl_value pawl_value_text(pawl_text text); /* borrows */
PAWL_API pawl_value pawl_value_uuid(pawl_uuid uuid);
PAWL_API pawl_value pawl_value_time(pawl_time time);

/* "none", "integer", "text", "uuid", "time"; "?" for a number that is no type. */
PAWL_API const char *pawl_value_type_name(pawl_value_type type);

/* Same type and same value; text byte for byte. */
PAWL_API bool pawl_value_equal(const pawl_value *left, const pawl_value *right);
/* <0, 0, >0: by type first, then by value; text and uuids bytewise. */
PAWL_API int pawl_value_compare(const pawl_value *left, const pawl_value *right);
/* Equal values hash alike. The same number in every process and on every
 * machine, so it may be stored. */
PAWL_API uint64_t pawl_value_hash(const pawl_value *value);
/* Values that may not start a saga: none, 0, the empty text, the zero uuid, the epoch. */
PAWL_API bool pawl_value_is_default(const pawl_value *value);

#define PAWL_VALUE_TEXT_SIZE 100 /* enough for pawl_value_format, NUL included */

/* For error texts: 42, 'order-1', a uuid, a time, none. Long text is cut with
 * "...". Writes a NUL and returns `buffer`. */
PAWL_API const char *pawl_value_format(const pawl_value *value, char *buffer, size_t size);

/* Whether a value of type `from` may become one of type `to` at all; for the
 * check at registration. Integer and text, text and uuid, text and time go
 * both ways; uuid, time and integer do not become one another. */
PAWL_API bool pawl_value_can_coerce(pawl_value_type from, pawl_value_type to);
/* Makes `value` one of type `to`. None stays none. A value that cannot be
 * converted is PAWL_EINVAL naming it, and is left as it was. */
PAWL_API pawl_code pawl_value_coerce(pawl_value_type to, pawl_value *value, pawl_arena *arena,
                                     pawl_error *error);
/* Checks a correlation value: a text must be UTF-8 without NUL of at most
 * PAWL_CORRELATION_CHARS_MAX characters, a time in the years 1 to 9999. PAWL_EINVAL names
 * `path`. */
PAWL_API pawl_code pawl_value_check(const pawl_value *value, const char *path, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
