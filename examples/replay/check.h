/* check.h - computes the result that a replay must have, without pawl.
 *
 * One loop over the sorted events that shares nothing with the engine: no
 * sagas, no timeouts, no aggregators, only the last time each case was seen.
 *
 *     replay_expect -> compare -> replay_expected_free
 *
 * Tests: tests/unit/examples/test_replay_check.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_CHECK_H
#define REPLAY_CHECK_H

#include "log.h"

typedef struct replay_expected_case {
    uint64_t events;
    uint64_t closings;
} replay_expected_case;

typedef struct replay_expected_group {
    uint64_t events;
    uint64_t batches;
} replay_expected_group;

typedef struct replay_expected {
    replay_expected_case  *by_case;  /* parallel to log->cases */
    replay_expected_group *by_group; /* parallel to log->groups */
    /* Totals. */
    uint64_t events;
    uint64_t cases;
    uint64_t closings;
    uint64_t groups;
    uint64_t batches;
} replay_expected;

/* A case is closed when nothing happens in it for `quiet_us` (at least 1): an event that comes
 * exactly then comes after the closing. Cases open at the end are closed too. A group's events make
 * batches of `batch_size` (at least 1), the rest a smaller one. `log` must come from
 * replay_log_read. On failure there is nothing to free. */
pawl_code replay_expect(const replay_log *log, int64_t quiet_us, int64_t batch_size,
                        replay_expected *expected, pawl_error *error);

/* Accepts one that is all zero, and may be called twice. */
void replay_expected_free(replay_expected *expected);

#endif
