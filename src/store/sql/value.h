/* value.h - converts fields (field.h) to and from parameters and columns, for drivers that know only
 * numbers, times, texts, UUIDs and null.
 *
 *     put    value_of, then the driver binds it
 *     get    kind_of, then the driver reads it, then take
 *
 * Threads: plain data.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_VALUE_H
#define PAWL_STORE_SQL_VALUE_H

#include "pawl/value.h"
#include "store/core/field.h"

/* The member as a parameter; PAWL_VALUE_NONE is null. Texts are borrowed. */
pawl_value pawl__sql_value_of(int wire, const void *member);

typedef enum pawl__sql_kind {
    PAWL__SQL_SKIPPED, /* not read */
    PAWL__SQL_NUMBER,
    PAWL__SQL_MOMENT,
    PAWL__SQL_KEPT,   /* a text in the arena */
    PAWL__SQL_PEEKED, /* a text valid until the next row; also a UUID */
} pawl__sql_kind;

/* How to read the column of the member. */
pawl__sql_kind pawl__sql_kind_of(int wire, const void *member);

/* A column as it was read. */
typedef struct pawl__sql_got {
    bool      is_null;
    int64_t   number; /* also a time */
    pawl_text text;
} pawl__sql_got;

/* Sets the member. NULL, or for an error what the text should have been: "UUID", "state". */
const char *pawl__sql_take(int wire, void *member, const pawl__sql_got *got);

/* ---- Times ---------------------------------------------------------------- */

/* A time of the years 1 to 9999, in parts, as client libraries have it. */
typedef struct pawl__sql_date {
    int      year;
    unsigned month, day, hour, minute, second, microsecond;
} pawl__sql_date;

/* A time outside of these years becomes the first or last one. */
pawl__sql_date pawl__sql_date_of(pawl_time time);
pawl_time      pawl__sql_time_of(const pawl__sql_date *date);

#endif
