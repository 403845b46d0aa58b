/* text.h - text and bytes: a pointer and a size. types.h includes it.
 *
 * Threads: safe to call from any thread.
 * Tests: tests/unit/base/test_base_text.c, tests/must_not_compile.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TEXT_H
#define PAWL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pawl/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Type of a guard, the first member of pawl_text and pawl_bytes, which makes .order_id = "o-1" a compile error
 * instead of a text of size 0: an initialiser without braces goes to the first member, and C
 * converts no pointer to a floating-point number. The guard is never written or read. Its size is a
 * pointer's, so that {0} clears the whole union. */
#if UINTPTR_MAX > UINT32_MAX
typedef double pawl_text_wanted_not_a_c_string;
#else
typedef float pawl_text_wanted_not_a_c_string;
#endif

/* UTF-8, not owned. Text that pawl hands out is followed by a NUL that `size`
 * does not count; text handed to pawl need not be. All zero is the empty text.
 * Made by PAWL_TEXT("literal"), by pawl_text_of(string), or with both members named:
 * (pawl_text){.data = begin, .size = end - begin}, in C++20 pawl_text{.data = ...}. */
typedef struct pawl_text {
    union {
        pawl_text_wanted_not_a_c_string pawl__guard;
        const char                     *data;
    };
    size_t size; /* bytes */
} pawl_text;

typedef struct pawl_bytes {
    union {
        pawl_text_wanted_not_a_c_string pawl__guard;
        const void                     *data;
    };
    size_t size;
} pawl_bytes;

/* A literal as text: PAWL_TEXT("order-1"). */
#ifdef __cplusplus /* C++ has no compound literals, and braces alone would go to the guard */
static inline pawl_text pawl__text_literal(const char *data, size_t size)
{
    pawl_text text;
    text.data = data;
    text.size = size;
    return text;
}
#define PAWL_TEXT(literal) pawl__text_literal("" literal, sizeof(literal) - 1)
#else
#define PAWL_TEXT(literal) ((pawl_text){.data = "" literal, .size = sizeof(literal) - 1})
#endif
/* The same where C wants a constant, in static tables: .type = PAWL_TEXT_INIT("Order"). */
#define PAWL_TEXT_INIT(literal) \
    PAWL__BRACES(PAWL__SET(data, "" literal), PAWL__SET(size, sizeof(literal) - 1))
/* For printf's "%.*s". */
#define PAWL_TEXT_ARGS(text) (int)(text).size, ((text).data != NULL ? (text).data : "")

/* Borrows `string` (NULL gives the empty text). */
PAWL_API pawl_text pawl_text_of(const char *string);
PAWL_API bool      pawl_text_equal(pawl_text left, pawl_text right);

#ifdef __cplusplus
}
#endif
#endif
