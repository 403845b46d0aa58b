/* clock.h - the clocks of an endpoint, the time in which its process was stopped, and the names of leases.
 *
 *     business_now    due times and handlers; virtual in tests
 *     machine_now     leases, retention, pauses; virtual in tests
 *     monotonic_now   durations
 *     lease_clock     the ends of leases: passes while the machine sleeps, too
 *     watch_now       durations of seconds, cheap
 *
 * A process may be stopped (SIGSTOP, a frozen machine, swapped out), which no clock shows: a call under way only seems
 * to have taken long. So a waiting thread calls pawl__stopped_time_note every second; if a call is much too late, the
 * process was stopped meanwhile.
 *
 *     stopped_time: init -> note* (one thread), read* (any) -> destroy
 *
 * Threads: safe from any thread; the mutex is locked briefly.
 * Tests: tests/unit/outbox/test_runtime_leader.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_CLOCK_H
#define PAWL_RUNTIME_CLOCK_H

#include "pawl/base.h"
#include "pawl/endpoint.h"

#include <pthread.h>
#include <stdatomic.h>

pawl_time pawl__business_now(const pawl_endpoint *endpoint);
pawl_time pawl__machine_now(const pawl_endpoint *endpoint);
/* The following return microseconds. */
int64_t  pawl__monotonic_now(void);
int64_t  pawl__lease_now(void);
int64_t  pawl__lease_clock(const pawl_endpoint *endpoint); /* pawl__lease_now, or the virtual one */
int64_t  pawl__watch_now(const pawl_endpoint *endpoint);
uint64_t pawl__system_seed(void);

static inline pawl_time pawl__sooner(pawl_time left, pawl_time right)
{
    return left < right ? left : right;
}

static inline pawl_time pawl__later(pawl_time left, pawl_time right)
{
    return left > right ? left : right;
}

/* Is it time for an action that repeats every period? Also true if `due` is more than a period away: then the clock was
 * set back. */
static inline bool pawl__is_due(int64_t due, int64_t now, int64_t period)
{
    return now >= due || due > pawl_time_add(now, period);
}
/* The same for a due time that threads share: true for one of them, and sets the next due time a period from now. */
static inline bool pawl__take_due(_Atomic pawl_time *due, pawl_time now, int64_t period)
{
    pawl_time was = atomic_load(due);
    return pawl__is_due(was, now, period) &&
           atomic_compare_exchange_strong(due, &was, pawl_time_add(now, period));
}

/* How far a clock may be behind a time that was given before. A larger difference means that the earlier clock was
 * wrong. */
#define PAWL__BEHIND_MAX PAWL_SECONDS(2)
/* A due time that is not before `last`, as queues are read by due time: `now`, or `last` if the clock is a little
 * behind. */
static inline pawl_time pawl__due_after(pawl_time last, pawl_time now)
{
    return last > now && last - now <= PAWL__BEHIND_MAX ? last : now;
}

/* lease_name.c: KIND/NAME, or KIND/ and a uuid for a name that is too long. data NULL: no memory. */
pawl_text pawl__lease_name(const char *kind, pawl_text of, pawl_arena *arena);

#define PAWL__STOPPED_TIME_BEAT PAWL_SECONDS(1)

typedef struct pawl__stopped_time {
    pthread_mutex_t mutex;
    int64_t         last;    /* time of the last note; 0: none yet */
    int64_t         stopped; /* time stopped between the notes so far */
} pawl__stopped_time;

void pawl__stopped_time_init(pawl__stopped_time *it);
void pawl__stopped_time_destroy(pawl__stopped_time *it);

/* Times are microseconds of one clock that never goes back. */
void pawl__stopped_time_note(pawl__stopped_time *it, int64_t now);
/* Microseconds in which the process was stopped since the first note. The difference of two results has to be
 * subtracted from the duration of a call between them. */
int64_t pawl__stopped_time_read(pawl__stopped_time *it, int64_t now);

#endif
