/* value.h - a field of any form (field.h) on its way: a number, a time, a text, a uuid or null, for
 * drivers that tell no more apart.
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
    PAWL__SQL_PEEKED, /* a text that lives until the next row, at least; of a uuid, too */
} pawl__sql_kind;

/* How the column of the member is to be read. */
pawl__sql_kind pawl__sql_kind_of(int wire, const void *member);

/* A column as it was read. */
typedef struct pawl__sql_got {
    bool      is_null;
    int64_t   number; /* also a time */
    pawl_text text;
} pawl__sql_got;

/* Sets the member. NULL, or what the text is not, for an error: "UUID", "state". */
const char *pawl__sql_take(int wire, void *member, const pawl__sql_got *got);

/* ---- Times ---------------------------------------------------------------- */

/* A time of the years 1 to 9999, as libraries of databases take it. */
typedef struct pawl__sql_date {
    int      year;
    unsigned month, day, hour, minute, second, microsecond;
} pawl__sql_date;

/* A time out of these years is the first or the last one of them. */
pawl__sql_date pawl__sql_date_of(pawl_time time);
pawl_time      pawl__sql_time_of(const pawl__sql_date *date);

#endif
