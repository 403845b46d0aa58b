/* zone_rule.h - the rule at the end of a zone's file, which gives all later clock changes, in the form of POSIX's TZ:
 * "CET-1CEST,M3.5.0,M10.5.0/3".
 *
 * Threads: pure.
 * Tests: tests/unit/base/test_base_zone.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_ZONE_RULE_H
#define PAWL_BASE_ZONE_RULE_H

#include "base/zone.h"

typedef enum pawl__tz_kind {
    PAWL__TZ_WEEK,   /* M3.5.0: month, week of it (5: the last), weekday */
    PAWL__TZ_JULIAN, /* J60: day 1 to 365, 29 February is not counted */
    PAWL__TZ_DAY,    /* 59: day 0 to 365, 29 February is counted */
} pawl__tz_kind;

/* The day of a year on which the clocks change. */
typedef struct pawl__tz_date {
    pawl__tz_kind kind;
    int           month, week, weekday;
    int           day;
    int32_t       seconds; /* of that day, by the clock before the change; may exceed a day */
} pawl__tz_date;

typedef struct pawl__tz_rule {
    int32_t       standard; /* seconds east of UTC */
    int32_t       summer;
    bool          has_summer;
    pawl__tz_date summer_begin, summer_end;
} pawl__tz_rule;

/* False: the text is not such a rule. */
bool pawl__tz_rule_parse(pawl_text text, pawl__tz_rule *rule);

/* The span that contains `seconds`. The rule is applied to all years, also those before the file's first change. */
pawl__zone_span pawl__tz_rule_span(const pawl__tz_rule *rule, int64_t seconds);

#endif
