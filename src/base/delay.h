/* delay.h - delays before another attempt: they double, with jitter, so that attempts that failed together are not
 * repeated together. Also durations and times as texts, and checks of both.
 *
 * All jitter is PAWL__JITTER_PERCENT: of delayed retries, waits for another version, attempts of the outbox and
 * reconnects. The pause after a conflict on a stream has a spread of its own (runtime/worker/hot_sagas.c).
 *
 * Tests: tests/unit/base/test_base_delay.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_DELAY_H
#define PAWL_BASE_DELAY_H

#include "pawl/base.h"

#define PAWL__JITTER_PERCENT 10
/* The percentage as help texts show it. */
#define PAWL__JITTER_TEXT "+/- 10 % jitter"

/* delay * 2^times, `limit` at most. */
int64_t pawl__doubled(int64_t delay, int32_t times, int64_t limit);
/* Up to PAWL__JITTER_PERCENT less or more than the delay. */
int64_t pawl__jittered(int64_t delay, pawl_random *random);
/* The longest delay that pawl__jittered can return. */
int64_t pawl__jittered_max(int64_t delay);
/* Refuses a duration below a millisecond: the caller probably wrote seconds and forgot PAWL_SECONDS. The error names
 * the value by the three texts. */
pawl_code pawl__check_unit(const char *kind, const char *name, const char *where, int64_t value,
                           pawl_error *error);
/* The units d, h, m, s, ms and, last, us. */
typedef struct pawl__time_unit {
    const char *name;
    int64_t     microseconds;
} pawl__time_unit;
extern const pawl__time_unit pawl__time_units[];
/* The duration in its largest whole unit, such as "15m"; the command parses this form. */
const char *pawl__duration_text(int64_t duration, char *text, size_t size);
/* A negative delay counts as zero: a row due in the past would overtake others. */
static inline pawl_time pawl__after_delay(pawl_time now, int64_t delay)
{
    return delay > 0 ? pawl_time_add(now, delay) : now;
}
/* Refuses a time that no store takes, and a time in 1970 that would be a current date if read as seconds (as time()
 * returns) or as milliseconds. The error names the value by the two texts. */
pawl_code pawl__check_time(const char *kind, const char *name, pawl_time time, pawl_time now,
                           pawl_error *error);

#endif
