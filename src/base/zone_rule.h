/* zone_rule.h - the rule at the end of a zone's file, by which its changes go on for ever: the
 * form of POSIX's TZ, "CET-1CEST,M3.5.0,M10.5.0/3".
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
    PAWL__TZ_WEEK,   /* M3.5.0: in a month the week's weekday, 5 is the last */
    PAWL__TZ_JULIAN, /* J60: from 1, without 29 February */
    PAWL__TZ_DAY,    /* 59: from 0, with it */
} pawl__tz_kind;

/* The day of a year on which the clocks change. */
typedef struct pawl__tz_date {
    pawl__tz_kind kind;
    int           month, week, weekday;
    int           day;
    int32_t       seconds; /* of that day, by the clock before the change; may lie beyond it */
} pawl__tz_date;

typedef struct pawl__tz_rule {
    int32_t       standard; /* seconds east of UTC */
    int32_t       summer;
    bool          has_summer;
    pawl__tz_date summer_begin, summer_end;
} pawl__tz_rule;

/* False: it is no rule. */
bool pawl__tz_rule_parse(pawl_text text, pawl__tz_rule *rule);

/* The span that `seconds` lies in, from year to year without a beginning. */
pawl__zone_span pawl__tz_rule_span(const pawl__tz_rule *rule, int64_t seconds);

#endif
