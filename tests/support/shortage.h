/* shortage.h - an allocator that has no large blocks when a test says so.
 *
 *     shortage_install (first of all) -> { shortage = {...} -> steps }*
 *
 * A large block is more than a block of an arena, so that each large text is an allocation of its
 * own.
 *
 * Threads: one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SHORTAGE_H
#define PAWL_TESTS_SHORTAGE_H

#include "pawl/base.h"

#define SHORTAGE_LARGE ((size_t)300 * 1000)
#define SHORTAGE_HUGE ((size_t)4 * 1000 * 1000)

typedef struct shortage_plan {
    long huge_left;  /* so many blocks of HUGE size or more fail */
    int  burden_max; /* large blocks fail when `burden` is more; 0: never */
    int  burden;     /* the test counts: handlers that ran in this step, say */
    long countdown;  /* the large block that fails; 0: none */
    long met;        /* allocations that failed */
} shortage_plan;

extern shortage_plan shortage;

void shortage_install(void);
/* So many bytes of a text that lives for ever. */
pawl_text shortage_ballast(size_t size);

#endif
