/* time.c - times as ODBC has them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/limits.h"
#include "store/odbc/request.h"

#define MICROSECONDS INT64_C(1000000)
#define DAY (INT64_C(86400) * MICROSECONDS)

/* Days since 1970 of a date of the years 1 to 9999, and back: years begin with March, so that the
 * day that some years have more is the last one. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era  = year / 400;
    int64_t rest = year - era * 400;
    int64_t days = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + rest * 365 + rest / 4 - rest / 100 + days - 719468;
}

static void date_of(int64_t days, SQL_TIMESTAMP_STRUCT *to)
{
    days += 719468;
    int64_t era   = days / 146097;
    int64_t rest  = days - era * 146097;
    int64_t year  = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    int64_t left  = rest - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * left + 2) / 153;
    to->day       = (SQLUSMALLINT)(left - (153 * month + 2) / 5 + 1);
    to->month     = (SQLUSMALLINT)(month < 10 ? month + 3 : month - 9);
    to->year      = (SQLSMALLINT)(year + era * 400 + (to->month <= 2));
}

void pawl__odbc_to_time(pawl_time time, SQL_TIMESTAMP_STRUCT *to)
{
    time = time < PAWL_TIME_MIN ? PAWL_TIME_MIN : time > PAWL_TIME_MAX ? PAWL_TIME_MAX : time;
    int64_t of_day = time % DAY;
    of_day += of_day < 0 ? DAY : 0;
    *to = (SQL_TIMESTAMP_STRUCT){0};
    date_of((time - of_day) / DAY, to);
    int64_t seconds = of_day / MICROSECONDS;
    to->fraction    = (SQLUINTEGER)(of_day % MICROSECONDS * 1000);
    to->second      = (SQLUSMALLINT)(seconds % 60);
    to->minute      = (SQLUSMALLINT)(seconds / 60 % 60);
    to->hour        = (SQLUSMALLINT)(seconds / 3600);
}

pawl_time pawl__odbc_from_time(const SQL_TIMESTAMP_STRUCT *time)
{
    int64_t seconds = ((int64_t)time->hour * 60 + time->minute) * 60 + time->second;
    return days_of(time->year, time->month, time->day) * DAY + seconds * MICROSECONDS +
           (int64_t)time->fraction / 1000;
}
