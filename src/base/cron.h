/* cron.h - parses cron lines (five fields that say when something is repeated), and finds the next time.
 *
 *     pawl__cron_parse -> pawl__cron_next, as often as wanted
 *
 *     minute 0-59   hour 0-23   day 1-31   month 1-12 or jan-dec   weekday 0-7 or sun-sat
 *
 * A field is a list of '*', values and ranges; '*' and ranges take a step ("8-18/2"). Days are matched as in Vixie
 * cron: if neither day nor weekday begins with '*', one match is enough.
 *
 * When clocks are put forward, times in the skipped hour are due once, at the first moment after it. When they are put
 * back, times in the repeated hour are due only in the first of the two. Exception: a line that names all 24 hours is
 * due in every hour that passes: in both repeated hours, and not for the skipped one.
 *
 * Threads: pure.
 * Tests: tests/unit/base/test_base_cron.c, tests/unit/base/test_base_cron_zones.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_CRON_H
#define PAWL_BASE_CRON_H

#include "base/zone.h"

#include "pawl/base.h"

/* Bit n of a field is set when the line names n. */
typedef struct pawl__cron {
    uint64_t minutes;
    uint32_t hours;
    uint32_t days;
    uint32_t months;
    uint32_t weekdays;      /* bit 0: Sunday; bit 7 is never set */
    bool     is_either_day; /* a match of day or weekday is enough */
} pawl__cron;

/* Also takes @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly. PAWL_EINVAL names the field, its
 * value and the allowed values, or says that the days never come, such as 30 February. */
pawl_code pawl__cron_parse(pawl_text text, pawl__cron *cron, pawl_error *error);

/* The first time after `after` that matches the line, by the clocks of `zone` (NULL: UTC). PAWL_TIME_MAX when there is
 * none before the end of the calendar. */
pawl_time pawl__cron_next(const pawl__cron *cron, const pawl__zone *zone, pawl_time after);

#endif
