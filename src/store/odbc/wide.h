/* wide.h - texts in UTF-16, as drivers take and give them whose narrow texts are those of a code page.
 *
 * Threads: plain data. Tests: tests/contract/test_odbc_url_server.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_WIDE_H
#define PAWL_STORE_ODBC_WIDE_H

#include "pawl/base.h"

/* A text that ends with a space, or with this character, has one more of it: databases that compare texts
 * without the spaces at their end tell it from the shorter one then. */
#define PAWL__ODBC_MARK 1

/* In memory that is the caller's to free, with a zero behind it; `size` is in bytes. Bytes that are no UTF-8
 * become U+FFFD. NULL: memory. */
uint16_t *pawl__odbc_to_wide(pawl_text text, bool is_marked, size_t *size);
/* The bytes that it has in UTF-8, at most; half of a pair is U+FFFD. */
static inline size_t pawl__odbc_narrow_max(size_t units)
{
    return units * 3;
}
/* Writes it without its mark; returns the bytes that were written. */
size_t pawl__odbc_to_narrow(const uint16_t *wide, size_t units, bool is_marked, char *to);

#endif
