/* turns.h - which calls of a scenario go wrong in turn: each of them in memory, every third on SQLite and with the
 * address sanitizer, and on a server, where a run takes longer, a few, far apart, and in each loop others.
 *
 *     stride_of -> 1 for each, 3 for every third; on SQLite each with PAWL_TEST_WHOLE
 *     turns_of -> for (n = first; n <= last; n += stride)
 *     turns_takes -> whether a case of a long list is run by this test: a third of them every day, all with
 *                    PAWL_TEST_WHOLE (./test --long)
 *
 * Threads: one.
 * Tests: those of tests/fault
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_TURNS_H
#define PAWL_TESTS_TURNS_H

#include "support/server.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_TURNS (turns_are_whole() ? 3 : 2)
#define SERVER_SEEDS 2
#ifdef PAWL_SANITIZED /* the same loops run without it, too: turns_of takes others there */
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif
#define SERVER_SLACK 8 /* calls that another run there may have fewer: looks, tries */

/* ./test --long leaves out nothing. */
static inline bool turns_are_whole(void)
{
    return getenv("PAWL_TEST_WHOLE") != NULL;
}

/* On a server as the caller says. */
static inline long stride_of(const char *url, long on_server)
{
    if (server_is(url))
        return on_server;
    bool is_whole = strncmp(url, "sqlite", 6) != 0 || turns_are_whole();
    return is_whole && !IS_SANITIZED ? 1 : 3;
}

typedef struct turns {
    long first, stride, last;
} turns;

/* Of so many calls. */
static inline turns turns_of(const char *url, long calls)
{
    static long shift;
    long        stride = stride_of(url, calls / SERVER_TURNS + 1);
    shift += 7;
    return (turns){1 + (shift + IS_SANITIZED) % stride, stride,
                   calls - (server_is(url) ? SERVER_SLACK : 0)};
}

#define TURNS_PARTS 3

/* Case `index` of a list, for the tests that share it: each has another `part`, so that every case is run by one. */
static inline bool turns_takes(unsigned index, unsigned part)
{
    return turns_are_whole() || index % TURNS_PARTS == part % TURNS_PARTS;
}

/* How many seeds are tried. */
static inline uint64_t seeds_of(const char *url, uint64_t elsewhere)
{
    return server_is(url) ? SERVER_SEEDS : elsewhere;
}

#endif
