/* sized.h - structs whose first member is their size (pawl/api.h has the rule): a program that was
 * built with older headers has shorter ones.
 *
 * Tests: tests/unit/runtime/test_older_structs.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_SIZED_H
#define PAWL_BASE_SIZED_H

#include "pawl/base.h"

/* PAWL_EINVAL unless the size that `given` begins with is one of this library's struct, which has
 * `size` bytes, or of an older one. `begin` is the initialiser that writes the size. */
pawl_code pawl__sized_check(const void *given, size_t size, const char *what, const char *begin,
                            pawl_error *error);
/* The same; then copies what the program has into `taken`, which has `size` bytes and has the
 * defaults for the rest. The size in `taken` becomes `size`. NULL is given when there is nothing to copy. */
pawl_code pawl__sized_read(const void *given, void *taken, size_t size, const char *what,
                           const char *begin, pawl_error *error);
/* Copies as much of `from` as the program's struct has room for. Its size stays. */
void pawl__sized_write(void *to, const void *from);

#endif
