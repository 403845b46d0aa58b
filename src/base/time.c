/* time.c - formats and parses times: microseconds since 1970, in UTC.
 *
 * Days are counted in years that begin in March, so that the leap day comes last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/calendar.h"

#include "pawl/base.h"

#include <string.h>

int64_t pawl__days_from_date(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era         = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era  = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

void pawl__date_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    int64_t era        = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_index = (5 * day_of_year + 2) / 153;
    *day                = (int)(day_of_year - (153 * month_index + 2) / 5 + 1);
    *month              = (int)(month_index < 10 ? month_index + 3 : month_index - 9);
    *year               = year_of_era + era * 400 + (*month <= 2);
}

int pawl__days_in_month(int64_t year, int month)
{
    static const int days[]  = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool             is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && is_leap);
}

int pawl__weekday(int64_t days)
{
    int64_t weekday = (days + 4) % 7; /* 1970-01-01 was a Thursday. */
    return (int)(weekday < 0 ? weekday + 7 : weekday);
}

static void put_digits(char *out, int64_t value, int count)
{
    while (count-- > 0) {
        out[count] = (char)('0' + value % 10);
        value /= 10;
    }
}

void pawl_time_format(pawl_time time, char text[PAWL_TIME_TEXT_SIZE + 1])
{
    if (time > PAWL_TIME_MAX)
        time = PAWL_TIME_MAX;
    if (time < PAWL_TIME_MIN)
        time = PAWL_TIME_MIN;
    int64_t day_size = INT64_C(86400000000);
    int64_t days     = time / day_size - (time % day_size < 0);
    int64_t rest     = time - days * day_size;
    int64_t year;
    int     month, day;
    pawl__date_from_days(days, &year, &month, &day);
    memcpy(text, "0000-00-00T00:00:00.000000Z", PAWL_TIME_TEXT_SIZE + 1);
    put_digits(text, year, 4);
    put_digits(text + 5, month, 2);
    put_digits(text + 8, day, 2);
    put_digits(text + 11, rest / INT64_C(3600000000), 2);
    put_digits(text + 14, rest / 60000000 % 60, 2);
    put_digits(text + 17, rest / 1000000 % 60, 2);
    put_digits(text + 20, rest % 1000000, 6);
}

/* Reads a text from the left, and keeps the first error. */
typedef struct time_reader {
    const char *at;
    const char *end;
    const char *wrong; /* the first error; NULL: none */
} time_reader;

static bool is_digit(const time_reader *reader)
{
    return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

static int read_number(time_reader *reader, int digits, int low, int high, const char *what)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        if (!is_digit(reader)) {
            if (reader->wrong == NULL)
                reader->wrong = what;
            return low;
        }
        value = value * 10 + (*reader->at++ - '0');
    }
    if ((value < low || value > high) && reader->wrong == NULL)
        reader->wrong = what;
    return value;
}

static bool skip_one_of(time_reader *reader, const char *characters)
{
    for (const char *c = characters; *c != '\0'; c++)
        if (reader->at < reader->end && *reader->at == *c) {
            reader->at++;
            return true;
        }
    return false;
}

static void expect(time_reader *reader, const char *characters, const char *what)
{
    if (!skip_one_of(reader, characters) && reader->wrong == NULL)
        reader->wrong = what;
}

static int64_t read_fraction(time_reader *reader)
{
    int64_t value = 0;
    int     count = 0;
    if (!is_digit(reader) && reader->wrong == NULL)
        reader->wrong = "digits of a fraction";
    for (; is_digit(reader); reader->at++, count++)
        if (count < 6)
            value = value * 10 + (*reader->at - '0');
    for (; count < 6; count++)
        value *= 10;
    return value;
}

/* Seconds east of UTC. */
static int64_t read_zone(time_reader *reader)
{
    if (reader->at == reader->end || skip_one_of(reader, "Zz"))
        return 0;
    bool is_west = reader->at < reader->end && *reader->at == '-';
    expect(reader, "+-", "a zone: Z or an offset such as +02:00");
    int64_t seconds = read_number(reader, 2, 0, 23, "hours of the zone") * INT64_C(3600);
    if (reader->at < reader->end) {
        skip_one_of(reader, ":");
        seconds += read_number(reader, 2, 0, 59, "minutes of the zone") * INT64_C(60);
    }
    return is_west ? -seconds : seconds;
}

pawl_code pawl_time_parse(pawl_text text, pawl_time *time, pawl_error *error)
{
    time_reader reader = {text.data, text.data + text.size, NULL};
    int         year   = read_number(&reader, 4, 1, 9999, "a year of four digits");
    expect(&reader, "-", "'-' after the year");
    int month = read_number(&reader, 2, 1, 12, "a month from 01 to 12");
    expect(&reader, "-", "'-' after the month");
    int day = read_number(&reader, 2, 1, 31, "a day of the month");
    if (reader.wrong == NULL && day > pawl__days_in_month(year, month))
        reader.wrong = "a day of the month";
    expect(&reader, "Tt ", "'T' or a blank after the date");
    int hour = read_number(&reader, 2, 0, 23, "hours from 00 to 23");
    expect(&reader, ":", "':' after the hours");
    int minute = read_number(&reader, 2, 0, 59, "minutes from 00 to 59");
    int second = 0;
    if (skip_one_of(&reader, ":"))
        second = read_number(&reader, 2, 0, 60, "seconds from 00 to 60");
    int64_t fraction = skip_one_of(&reader, ".,") ? read_fraction(&reader) : 0;
    int64_t zone     = reader.wrong == NULL ? read_zone(&reader) : 0;
    if (reader.wrong == NULL && reader.at != reader.end)
        reader.wrong = "nothing after the zone";
    if (reader.wrong != NULL)
        return pawl_error_set(error, PAWL_EINVAL, "'%.*s' is not a time: expected %s",
                              text.size > 60 ? 60 : (int)text.size,
                              text.data != NULL ? text.data : "", reader.wrong);
    int64_t seconds = pawl__days_from_date(year, month, day) * 86400 + hour * INT64_C(3600) +
                      minute * INT64_C(60) + second - zone;
    pawl_time result = seconds * 1000000 + fraction;
    if (result < PAWL_TIME_MIN || result > PAWL_TIME_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "'%.*s' is outside the years 0001 to 9999 in UTC",
                              (int)text.size, text.data);
    *time = result;
    return PAWL_OK;
}

pawl_time pawl_time_add(pawl_time time, int64_t duration)
{
    if (duration > 0 && time > PAWL_TIME_MAX - duration)
        return PAWL_TIME_MAX;
    if (duration < 0 && time < PAWL_TIME_MIN - duration)
        return PAWL_TIME_MIN;
    return time + duration;
}
