/* delay.h - pauses before a next attempt: they double, and differ a little at random, so that what
 * failed together does not come back together. And durations as texts.
 *
 * PAWL__JITTER_PERCENT is the only figure of jitter: delayed retries, waits for another version,
 * attempts of the outbox and new connections have it. A pause after a conflict on a stream has
 * another purpose and a spread of its own (runtime/worker/hot_sagas.c).
 *
 * Tests: tests/unit/base/test_base_delay.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_DELAY_H
#define PAWL_BASE_DELAY_H

#include "pawl/base.h"

#define PAWL__JITTER_PERCENT 10
/* The figure as help texts show it. */
#define PAWL__JITTER_TEXT "+/- 10 % jitter"

/* delay * 2^times, `limit` at most. */
int64_t pawl__doubled(int64_t delay, int32_t times, int64_t limit);
/* Up to PAWL__JITTER_PERCENT less or more than the delay. */
int64_t pawl__jittered(int64_t delay, pawl_random *random);
/* The longest that pawl__jittered makes of a delay. */
int64_t pawl__jittered_max(int64_t delay);
/* Refuses a duration below a millisecond: in C it is a number of seconds whose PAWL_SECONDS was forgotten. The error
 * names it by the three texts. */
pawl_code pawl__check_unit(const char *kind, const char *name, const char *where, int64_t value,
                           pawl_error *error);
/* d, h, m, s, ms and, at the end, us. */
typedef struct pawl__time_unit {
    const char *name;
    int64_t     microseconds;
} pawl__time_unit;
extern const pawl__time_unit pawl__time_units[];
/* In its largest whole unit, "15m", as durations are given to the command. */
const char *pawl__duration_text(int64_t duration, char *text, size_t size);
/* A delay below zero is none: a row that is due before now would overtake others. */
static inline pawl_time pawl__after_delay(pawl_time now, int64_t delay)
{
    return delay > 0 ? pawl_time_add(now, delay) : now;
}
/* Refuses a time that no store takes, and one of 1970 that lies in these years if it is read as seconds, as time()
 * counts, or as milliseconds. The error names it by the two texts. */
pawl_code pawl__check_time(const char *kind, const char *name, pawl_time time, pawl_time now,
                           pawl_error *error);

#endif
