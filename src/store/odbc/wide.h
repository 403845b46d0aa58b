/* wide.h - converts texts for databases and drivers: marks texts that the database would change, and converts to UTF-16
 * if the driver's narrow texts use a code page.
 *
 * Threads: plain data. Tests: tests/contract/test_odbc_url.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_WIDE_H
#define PAWL_STORE_ODBC_WIDE_H

#include "pawl/base.h"

#define PAWL__ODBC_MARK '\1' /* pawl__sql_dialect.empty */

/* Position of the mark in texts that the database would confuse with others: some store '' as null, or compare 'a ' as
 * equal to 'a'. A text that already has the mark's character in that position gets a mark, too. */
typedef enum pawl__odbc_mark {
    PAWL__ODBC_NO_MARK,
    PAWL__ODBC_MARK_BEFORE, /* the empty text */
    PAWL__ODBC_MARK_BEHIND, /* a text that ends with a space */
} pawl__odbc_mark;

/* Adds the mark. `*copy` is to be freed by the caller; NULL: no mark needed, or no memory for it. */
pawl_text pawl__odbc_with_mark(pawl__odbc_mark mark, pawl_text text, void **copy);
pawl_text pawl__odbc_without_mark(pawl__odbc_mark mark, pawl_text text);

/* Converts to UTF-16 with a zero behind it, in memory that the caller frees; `size` is in bytes. Bytes that are not
 * UTF-8 become U+FFFD. NULL: no memory. */
uint16_t *pawl__odbc_to_wide(pawl_text text, size_t *size);
/* The largest size in UTF-8; half of a surrogate pair becomes U+FFFD. */
static inline size_t pawl__odbc_narrow_max(size_t units)
{
    return units * 3;
}
/* Returns the number of bytes written. */
size_t pawl__odbc_to_narrow(const uint16_t *wide, size_t units, char *to);

#endif
