/* check.h - computes the expected result of a replay, without pawl.
 *
 * One loop over the sorted events, with no code of the engine: no sagas, timeouts or aggregators, only the time of each
 * case's last event.
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

/* A case is closed when it has no event for `quiet_us` (at least 1); an event at exactly that time comes after the
 * closing. Cases that are open at the end are closed, too. Each group's events form batches of `batch_size` (at least
 * 1); the last may be smaller. `log` must come from replay_log_read. After a failure there is nothing to free. */
pawl_code replay_expect(const replay_log *log, int64_t quiet_us, int64_t batch_size,
                        replay_expected *expected, pawl_error *error);

/* Accepts a zeroed struct, and may be called twice. */
void replay_expected_free(replay_expected *expected);

#endif
