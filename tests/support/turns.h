/* turns.h - which calls of a scenario go wrong in turn: each of them, or on a server,
 * where a run takes longer, a few, far apart, and in each loop others. The address sanitizer sees every third.
 *
 *     turns_of -> for (n = first; n <= last; n += stride)
 *
 * Threads: one.
 * Tests: those of tests/fault
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_TURNS_H
#define PAWL_TESTS_TURNS_H

#include "support/server.h"

#include <stdint.h>

#define SERVER_TURNS 3
#define SERVER_SEEDS 2
#ifdef PAWL_SANITIZED /* the same loops run without it, too */
#define STRIDE_HERE 3
#else
#define STRIDE_HERE 1
#endif
#define SERVER_SLACK 8 /* calls that another run there may have fewer: looks, tries */

typedef struct turns {
    long first, stride, last;
} turns;

/* Of so many calls. */
static inline turns turns_of(const char *url, long calls)
{
    static long shift;
    long        stride = calls / SERVER_TURNS + 1;
    shift += 7;
    if (!server_is(url))
        return (turns){1 + shift % STRIDE_HERE, STRIDE_HERE, calls};
    return (turns){1 + shift % stride, stride, calls - SERVER_SLACK};
}

/* How many seeds are tried. */
static inline uint64_t seeds_of(const char *url, uint64_t elsewhere)
{
    return server_is(url) ? SERVER_SEEDS : elsewhere;
}

#endif
