/* calendar.h - days since the epoch and dates of the Gregorian calendar, both ways.
 *
 * Threads: pure. Tests: tests/unit/base/test_base_values.c, tests/unit/base/test_base_cron.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_CALENDAR_H
#define PAWL_BASE_CALENDAR_H

#include <stdint.h>

/* `month` from 1, `day` from 1; 0 is 1970-01-01. */
int64_t pawl__days_from_date(int64_t year, int month, int day);
void    pawl__date_from_days(int64_t days, int64_t *year, int *month, int *day);
int     pawl__days_in_month(int64_t year, int month);
/* 0 is Sunday. */
int pawl__weekday(int64_t days);

#endif
