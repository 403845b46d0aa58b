/* fault_strides.h - which calls of a scenario a fault loop lets fail: all in memory; every third on SQLite and with the address
 * sanitizer; on servers, where runs take longer, a few, different ones in each loop.
 *
 *     stride_of -> 1 for each, 3 for every third; on SQLite each with PAWL_TEST_WHOLE
 *     fault_strides_of -> for (n = first; n <= last; n += stride)
 *     runs_case -> does this test run a case of a long list? A third every day, all with PAWL_TEST_WHOLE
 *                    (./test --long)
 *
 * Threads: one.
 * Tests: those of tests/fault
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_FAULT_STRIDES_H
#define PAWL_TESTS_FAULT_STRIDES_H

#include "support/server.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_FAULTS (is_long_run() ? 3 : 2)
#define SERVER_SEEDS 2
#ifdef PAWL_SANITIZED /* the same loops also run without the sanitizer; here fault_strides_of selects other calls */
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif
#define SERVER_SLACK 8 /* calls that another run may have fewer: reads, retries */

/* ./test --long runs all. */
static inline bool is_long_run(void)
{
    return getenv("PAWL_TEST_WHOLE") != NULL;
}

/* On servers the stride is the caller's. */
static inline long stride_of(const char *url, long on_server)
{
    if (server_is(url))
        return on_server;
    bool is_whole = strncmp(url, "sqlite", 6) != 0 || is_long_run();
    return is_whole && !IS_SANITIZED ? 1 : 3;
}

typedef struct fault_strides {
    long first, stride, last;
} fault_strides;

/* The calls to let fail in a scenario with so many calls. */
static inline fault_strides fault_strides_of(const char *url, long calls)
{
    static long shift;
    long        stride = stride_of(url, calls / SERVER_FAULTS + 1);
    shift += 7;
    return (fault_strides){1 + (shift + IS_SANITIZED) % stride, stride,
                           calls - (server_is(url) ? SERVER_SLACK : 0)};
}

#define CASE_PARTS 3

/* Does this test run case `index`? Tests that share a list have different parts, so that every case is run by one. */
static inline bool runs_case(unsigned index, unsigned part)
{
    return is_long_run() || index % CASE_PARTS == part % CASE_PARTS;
}

/* Number of seeds to try. */
static inline uint64_t seeds_of(const char *url, uint64_t elsewhere)
{
    return server_is(url) ? SERVER_SEEDS : elsewhere;
}

#endif
