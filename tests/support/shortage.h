/* shortage.h - an allocator that refuses large blocks when a test wants it.
 *
 *     shortage_install (first of all) -> { shortage = {...} -> steps }*
 *
 * Large blocks are larger than an arena block, so each large text is a separate allocation.
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
    long huge_left;  /* number of blocks of HUGE size or more that fail */
    int  burden_max; /* large blocks fail if `burden` is larger; 0: never */
    int  burden;     /* counted by the test, for example handlers that ran in this step */
    long countdown;  /* countdown to the large block that fails; 0: none */
    long met;        /* allocations that failed */
} shortage_plan;

extern shortage_plan shortage;

void shortage_install(void);
/* A text of so many bytes that is never freed. */
pawl_text shortage_ballast(size_t size);

#endif
