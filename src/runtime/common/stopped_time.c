/* stopped_time.c - beats, and the time that is missing between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/common/stopped_time.h"

/* Later than this a beat is not late for a busy machine only. */
#define LATE_MIN (3 * PAWL__PULSE_PERIOD)

void pawl__pulse_init(pawl__pulse *pulse)
{
    *pulse = (pawl__pulse){.last = 0};
    pthread_mutex_init(&pulse->mutex, NULL);
}

void pawl__pulse_destroy(pawl__pulse *pulse)
{
    pthread_mutex_destroy(&pulse->mutex);
}

static int64_t time_missed(const pawl__pulse *pulse, int64_t now)
{
    int64_t gap = now - pulse->last;
    return pulse->last != 0 && gap > LATE_MIN ? gap : 0;
}

void pawl__pulse_beat(pawl__pulse *pulse, int64_t now)
{
    pthread_mutex_lock(&pulse->mutex);
    pulse->stopped += time_missed(pulse, now);
    pulse->last = now;
    pthread_mutex_unlock(&pulse->mutex);
}

/* The thread that beats may go on later than the one that asks. */
int64_t pawl__pulse_stopped_time(pawl__pulse *pulse, int64_t now)
{
    pthread_mutex_lock(&pulse->mutex);
    int64_t time = pulse->stopped + time_missed(pulse, now);
    pthread_mutex_unlock(&pulse->mutex);
    return time;
}
