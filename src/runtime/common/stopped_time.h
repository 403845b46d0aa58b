/* stopped_time.h - the pulse of a process, by which its threads know for how long it was stopped.
 *
 * No clock says that a process was stopped (SIGSTOP, a frozen machine, swapped out): a
 * call that was under way only seems to have taken long. A thread that waits beats every
 * second; a beat that comes much too late tells of time in which nothing ran.
 *
 *     init -> beat* (one thread), stopped_time* (any) -> destroy
 *
 * Threads: safe from any thread; the mutex is locked for moments.
 * Tests: tests/unit/outbox/test_runtime_leader.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_PULSE_H
#define PAWL_PULSE_H

#include "pawl/base.h"

#include <pthread.h>

#define PAWL__PULSE_PERIOD PAWL_SECONDS(1)

typedef struct pawl__pulse {
    pthread_mutex_t mutex;
    int64_t         last;    /* time of the last beat; 0: none, and nothing is known */
    int64_t         stopped; /* between the beats so far */
} pawl__pulse;

void pawl__pulse_init(pawl__pulse *pulse);
void pawl__pulse_destroy(pawl__pulse *pulse);

/* Times are microseconds of one clock that never goes back. */
void pawl__pulse_beat(pawl__pulse *pulse, int64_t now);
/* Microseconds in which the process was stopped, since the first beat: the difference of
 * two answers is what a call between them did not take itself. */
int64_t pawl__pulse_stopped_time(pawl__pulse *pulse, int64_t now);

#endif
