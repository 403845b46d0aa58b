/* clock.c - the only file that reads the system's clocks; also measures the time in which the process was stopped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include <sys/random.h>
#include <time.h>

/* A call of note that is later than this is not explained by a busy machine. */
#define LATE_MIN (3 * PAWL__STOPPED_TIME_BEAT)

struct pawl_clock {
    _Atomic pawl_time now;
};

pawl_clock *pawl_clock_create(pawl_time start)
{
    pawl_clock *clock = pawl_allocate(sizeof *clock);
    if (clock != NULL)
        atomic_init(&clock->now, start);
    return clock;
}

void pawl_clock_destroy(pawl_clock *clock)
{
    pawl_free(clock);
}

void pawl_clock_set(pawl_clock *clock, pawl_time time)
{
    if (clock == NULL)
        return;
    pawl_time now = atomic_load(&clock->now);
    while (now < time && !atomic_compare_exchange_weak(&clock->now, &now, time)) {
    }
}

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

pawl_time pawl_clock_now(const pawl_clock *clock)
{
    return clock != NULL ? atomic_load(&clock->now) : read_clock(CLOCK_REALTIME);
}

pawl_time pawl__business_now(const pawl_endpoint *endpoint)
{
    return pawl_clock_now(endpoint->settings.business);
}

pawl_time pawl__machine_now(const pawl_endpoint *endpoint)
{
    return pawl_clock_now(endpoint->settings.machine);
}

int64_t pawl__monotonic_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* Under a virtual clock, leases follow that clock. */
int64_t pawl__lease_clock(const pawl_endpoint *endpoint)
{
    return endpoint->settings.machine != NULL ? pawl__machine_now(endpoint) : pawl__lease_now();
}

int64_t pawl__lease_now(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

int64_t pawl__watch_now(const pawl_endpoint *endpoint)
{
    return endpoint->settings.machine != NULL ? pawl__machine_now(endpoint)
                                              : read_clock(CLOCK_MONOTONIC_COARSE);
}

void pawl__worker_clocks(pawl__worker *worker, pawl_time business_now)
{
    worker->engine.store        = worker->store;
    worker->engine.machine_now  = pawl__machine_now(worker->endpoint);
    worker->engine.business_now = business_now;
    worker->engine.has_hot      = worker->hot_until > worker->engine.machine_now;
}

uint64_t pawl__system_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = (uint64_t)read_clock(CLOCK_REALTIME) * UINT64_C(0x9E3779B97F4A7C15);
    return seed;
}

/* ---- Time in which the process was stopped ------------------------------------- */

void pawl__stopped_time_init(pawl__stopped_time *it)
{
    *it = (pawl__stopped_time){.last = 0};
    pthread_mutex_init(&it->mutex, NULL);
}

void pawl__stopped_time_destroy(pawl__stopped_time *it)
{
    pthread_mutex_destroy(&it->mutex);
}

static int64_t time_missed(const pawl__stopped_time *it, int64_t now)
{
    int64_t gap = now - it->last;
    return it->last != 0 && gap > LATE_MIN ? gap : 0;
}

void pawl__stopped_time_note(pawl__stopped_time *it, int64_t now)
{
    pthread_mutex_lock(&it->mutex);
    it->stopped += time_missed(it, now);
    it->last = now;
    pthread_mutex_unlock(&it->mutex);
}

/* Also counts the time since the last call of note, as the thread that calls it may continue later than the caller. */
int64_t pawl__stopped_time_read(pawl__stopped_time *it, int64_t now)
{
    pthread_mutex_lock(&it->mutex);
    int64_t time = it->stopped + time_missed(it, now);
    pthread_mutex_unlock(&it->mutex);
    return time;
}
