/* sized.h - reads and writes structs whose first member is their size (rule: pawl/api.h). Programs built with older
 * headers pass shorter ones.
 *
 * Tests: tests/unit/runtime/test_older_structs.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_SIZED_H
#define PAWL_BASE_SIZED_H

#include "pawl/base.h"

/* PAWL_EINVAL unless the size at the start of `given` is that of this library's struct (`size` bytes) or of an older
 * version of it. `begin` is the initialiser that writes the size, named by the error. */
pawl_code pawl__sized_check(const void *given, size_t size, const char *what, const char *begin,
                            pawl_error *error);
/* Checks `given` likewise, then copies its members into `taken`, a struct of `size` bytes that the caller has filled
 * with defaults. The size in `taken` becomes `size`. `given` NULL: nothing is copied. */
pawl_code pawl__sized_read(const void *given, void *taken, size_t size, const char *what,
                           const char *begin, pawl_error *error);
/* Copies as many bytes of `from` as the program's struct has. Its size member stays. */
void pawl__sized_write(void *to, const void *from);

#endif
