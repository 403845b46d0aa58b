/* wide.h - texts as a database, or its driver, takes them: with one more character where the database takes a text
 * for another one, and in UTF-16 where a driver's narrow texts are those of a code page.
 *
 * Threads: plain data. Tests: tests/contract/test_odbc_url.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_WIDE_H
#define PAWL_STORE_ODBC_WIDE_H

#include "pawl/base.h"

#define PAWL__ODBC_EXTRA '\1' /* pawl__sql_dialect.empty */

/* Where the text has it that the database would take for another one: '' for null, 'a ' for 'a'. One that has the
 * character there itself has it, too. */
typedef enum pawl__odbc_extra {
    PAWL__ODBC_NO_EXTRA,
    PAWL__ODBC_EXTRA_BEFORE, /* the empty text */
    PAWL__ODBC_EXTRA_BEHIND, /* a text that ends with a space */
} pawl__odbc_extra;

/* In `*copy`, which is the caller's to free; NULL: the text needs none, or there is no memory for it. */
pawl_text pawl__odbc_with_extra(pawl__odbc_extra extra, pawl_text text, void **copy);
pawl_text pawl__odbc_without_extra(pawl__odbc_extra extra, pawl_text text);

/* In memory that is the caller's to free, with a zero behind it; `size` is in bytes. Bytes that are no UTF-8
 * become U+FFFD. NULL: memory. */
uint16_t *pawl__odbc_to_wide(pawl_text text, size_t *size);
/* The bytes that it has in UTF-8, at most; half of a pair is U+FFFD. */
static inline size_t pawl__odbc_narrow_max(size_t units)
{
    return units * 3;
}
/* Returns the bytes that were written. */
size_t pawl__odbc_to_narrow(const uint16_t *wide, size_t units, char *to);

#endif
