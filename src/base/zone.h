/* zone.h - reads time zones from the system's files (TZif, RFC 8536), and finds a zone's offset at a time.
 *
 * The C library's localtime is not used, since its zone is one for the whole process.
 *
 *     pawl__zone_create -> pawl__zone_span_at, as often as wanted -> pawl__zone_destroy
 *
 * Threads: a zone is constant after its creation; any number of threads may use it.
 * Tests: tests/unit/base/test_base_zone.c, tests/unit/base/test_base_cron_zones.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_ZONE_H
#define PAWL_BASE_ZONE_H

#include "pawl/base.h"

#define PAWL__ZONE_FOLDER "/usr/share/zoneinfo"
#define PAWL__ZONE_FILE_SIZE_MAX (256 * 1024) /* the largest file of tzdata has 4 KiB */

typedef struct pawl__zone pawl__zone;

/* The time between two clock changes, in seconds since the epoch. */
typedef struct pawl__zone_span {
    int64_t begin;         /* INT64_MIN: no earlier change */
    int64_t end;           /* first second of the next span; INT64_MAX: no later change */
    int32_t offset;        /* seconds east of UTC */
    int32_t offset_before; /* offset of the span before; `offset` when there is none */
} pawl__zone_span;

/* Reads the file `name` ("Europe/Berlin") in `folder`. "UTC" and the empty name need no file: `*zone` is NULL, which
 * all functions take as UTC.
 *
 * PAWL_EINVAL: `name` cannot be a zone's name. PAWL_ENOTFOUND: there is no such file. PAWL_EDECODE: not a zone's file,
 * or one with leap seconds. PAWL_ENOMEM. */
pawl_code pawl__zone_create(const char *folder, pawl_text name, pawl__zone **zone,
                            pawl_error *error);
void      pawl__zone_destroy(pawl__zone *zone); /* accepts NULL */

/* The span that `seconds` lies in. */
pawl__zone_span pawl__zone_span_at(const pawl__zone *zone, int64_t seconds);

/* ---- The rule of a zone: zone_rule.c ------------------------------------------- *
 *
 * It stands at the end of the zone's file, and gives all later clock changes, in the form of POSIX's TZ:
 * "CET-1CEST,M3.5.0,M10.5.0/3". */

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
