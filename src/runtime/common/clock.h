/* clock.h - the clocks of an endpoint, the time in which its process was stopped, and the names of leases.
 *
 *     business_now    due times and handlers; virtual in tests
 *     machine_now     leases, retention, pauses; virtual in tests
 *     monotonic_now   durations
 *     lease_clock     the ends of leases: passes while the machine sleeps, too
 *     watch_now       durations of seconds, cheap
 *
 * A process may be stopped (SIGSTOP, a frozen machine, swapped out), and no clock says so: a call that was under
 * way only seems to have taken long. A thread that waits beats every second; a beat that comes much too late tells
 * of time in which nothing ran.
 *
 *     stopped_time: init -> beat* (one thread), read* (any) -> destroy
 *
 * Threads: safe from any thread; the mutex is locked for moments.
 * Tests: tests/unit/outbox/test_runtime_leader.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_CLOCK_H
#define PAWL_RUNTIME_CLOCK_H

#include "pawl/endpoint.h"

#include <pthread.h>

pawl_time pawl__business_now(const pawl_endpoint *endpoint);
pawl_time pawl__machine_now(const pawl_endpoint *endpoint);
/* The others are microseconds. */
int64_t  pawl__monotonic_now(void);
int64_t  pawl__lease_now(void);
int64_t  pawl__lease_clock(const pawl_endpoint *endpoint); /* pawl__lease_now, or the virtual one */
int64_t  pawl__watch_now(const pawl_endpoint *endpoint);
uint64_t pawl__system_seed(void);

static inline pawl_time pawl__sooner(pawl_time left, pawl_time right)
{
    return left < right ? left : right;
}

/* By how much a clock may be behind a time that was given before. A larger difference says that the earlier clock was wrong. */
#define PAWL__BEHIND_MAX PAWL_SECONDS(2)
/* A queue is read by due time: `now`, or `last` where the clock is a little behind it. */
static inline pawl_time pawl__go_on(pawl_time last, pawl_time now)
{
    return last > now && last - now <= PAWL__BEHIND_MAX ? last : now;
}

/* lease_name.c: KIND/NAME, or KIND/ and a uuid for a name that is too long. data NULL: no memory. */
pawl_text pawl__lease_name(const char *kind, pawl_text of, pawl_arena *arena);

#define PAWL__STOPPED_TIME_BEAT PAWL_SECONDS(1)

typedef struct pawl__stopped_time {
    pthread_mutex_t mutex;
    int64_t         last;    /* time of the last beat; 0: none, and nothing is known */
    int64_t         stopped; /* between the beats so far */
} pawl__stopped_time;

void pawl__stopped_time_init(pawl__stopped_time *it);
void pawl__stopped_time_destroy(pawl__stopped_time *it);

/* Times are microseconds of one clock that never goes back. */
void pawl__stopped_time_beat(pawl__stopped_time *it, int64_t now);
/* Microseconds in which the process was stopped, since the first beat: the difference of
 * two answers is what a call between them did not take itself. */
int64_t pawl__stopped_time_read(pawl__stopped_time *it, int64_t now);

#endif
