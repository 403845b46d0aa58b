/* zone_rule.c - parses a zone's rule, and computes its clock changes in the years around a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/zone.h"

#include "base/calendar.h"

#define DAY INT64_C(86400)

/* ---- Reading ------------------------------------------------------------ */

typedef struct rule_reader {
    const char *at;
    const char *end;
} rule_reader;

static bool take(rule_reader *reader, char c)
{
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

static bool read_number(rule_reader *reader, int low, int high, int *number)
{
    const char *begin = reader->at;
    *number           = 0;
    while (reader->at < reader->end && reader->at - begin < 4 && *reader->at >= '0' &&
           *reader->at <= '9')
        *number = *number * 10 + (*reader->at++ - '0');
    return reader->at > begin && *number >= low && *number <= high;
}

/* Skips a name such as "CET" or "<+0330>"; names are not needed. */
static bool skip_name(rule_reader *reader)
{
    const char *begin     = reader->at;
    bool        is_quoted = take(reader, '<');
    while (reader->at < reader->end) {
        char c         = *reader->at;
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_more   = is_quoted && ((c >= '0' && c <= '9') || c == '+' || c == '-');
        if (!is_letter && !is_more)
            break;
        reader->at++;
    }
    return (!is_quoted || take(reader, '>')) && reader->at - begin >= 3;
}

/* Reads "-1", "5:30" or "167:00:00". */
static bool read_clock(rule_reader *reader, int hours_max, int32_t *seconds)
{
    bool is_minus = take(reader, '-');
    if (!is_minus)
        take(reader, '+');
    int hours, minutes = 0, rest = 0;
    if (!read_number(reader, 0, hours_max, &hours))
        return false;
    if (take(reader, ':') && !read_number(reader, 0, 59, &minutes))
        return false;
    if (take(reader, ':') && !read_number(reader, 0, 59, &rest))
        return false;
    *seconds = (hours * 60 + minutes) * 60 + rest;
    if (is_minus)
        *seconds = -*seconds;
    return true;
}

static bool read_date(rule_reader *reader, pawl__tz_date *date)
{
    bool is_read = false;
    if (take(reader, 'M')) {
        date->kind = PAWL__TZ_WEEK;
        is_read    = read_number(reader, 1, 12, &date->month) && take(reader, '.') &&
                  read_number(reader, 1, 5, &date->week) && take(reader, '.') &&
                  read_number(reader, 0, 6, &date->weekday);
    } else if (take(reader, 'J')) {
        date->kind = PAWL__TZ_JULIAN;
        is_read    = read_number(reader, 1, 365, &date->day);
    } else {
        date->kind = PAWL__TZ_DAY;
        is_read    = read_number(reader, 0, 365, &date->day);
    }
    date->seconds = 2 * 3600;
    return is_read && (!take(reader, '/') || read_clock(reader, 167, &date->seconds));
}

bool pawl__tz_rule_parse(pawl_text text, pawl__tz_rule *rule)
{
    rule_reader reader = {text.data, text.data + text.size};
    *rule              = (pawl__tz_rule){0};
    if (!skip_name(&reader) || !read_clock(&reader, 24, &rule->standard))
        return false;
    rule->standard = -rule->standard; /* POSIX counts west of Greenwich. */
    if (reader.at == reader.end)
        return true;
    rule->has_summer = true;
    rule->summer     = rule->standard + 3600;
    if (!skip_name(&reader))
        return false;
    if (reader.at < reader.end && *reader.at != ',') {
        if (!read_clock(&reader, 24, &rule->summer))
            return false;
        rule->summer = -rule->summer;
    }
    return take(&reader, ',') && read_date(&reader, &rule->summer_begin) && take(&reader, ',') &&
           read_date(&reader, &rule->summer_end) && reader.at == reader.end;
}

/* ---- Spans -------------------------------------------------------------- */

static int64_t day_of(const pawl__tz_date *date, int64_t year)
{
    if (date->kind == PAWL__TZ_DAY)
        return pawl__days_from_date(year, 1, 1) + date->day;
    if (date->kind == PAWL__TZ_JULIAN) {
        bool is_moved = date->day >= 60 && pawl__days_in_month(year, 2) == 29;
        return pawl__days_from_date(year, 1, 1) + date->day - 1 + is_moved;
    }
    int64_t first = pawl__days_from_date(year, date->month, 1);
    int64_t day   = first + (date->weekday - pawl__weekday(first) + 7) % 7 + (date->week - 1) * 7;
    return day < first + pawl__days_in_month(year, date->month) ? day : day - 7;
}

typedef struct rule_change {
    int64_t at;
    int32_t offset; /* from then on */
} rule_change;

/* Appends a change. If the last one has the same time, the new one replaces it. */
static size_t put_change(rule_change *changes, size_t count, rule_change change)
{
    if (count > 0 && changes[count - 1].at == change.at)
        count--;
    changes[count] = change;
    return count + 1;
}

/* Appends the two changes of a year, in order. */
static size_t put_year(const pawl__tz_rule *rule, int64_t year, rule_change *changes, size_t count)
{
    rule_change begin = {day_of(&rule->summer_begin, year) * DAY + rule->summer_begin.seconds -
                             rule->standard,
                         rule->summer};
    rule_change end   = {day_of(&rule->summer_end, year) * DAY + rule->summer_end.seconds -
                             rule->summer,
                         rule->standard};
    bool        is_begin_first = begin.at <= end.at;
    count                      = put_change(changes, count, is_begin_first ? begin : end);
    return put_change(changes, count, is_begin_first ? end : begin);
}

/* Starting two years before `seconds` gives at least two changes before it; the year after gives one behind it. */
pawl__zone_span pawl__tz_rule_span(const pawl__tz_rule *rule, int64_t seconds)
{
    if (!rule->has_summer)
        return (pawl__zone_span){INT64_MIN, INT64_MAX, rule->standard, rule->standard};
    int64_t year;
    int     month, day;
    pawl__date_from_days(seconds / DAY - (seconds % DAY < 0), &year, &month, &day);
    rule_change changes[8] = {{0}};
    size_t      count      = 0;
    for (int64_t of = year - 2; of <= year + 1; of++)
        count = put_year(rule, of, changes, count);
    size_t next = 1;
    while (next < count && changes[next].at <= seconds)
        next++;
    pawl__zone_span span = {changes[next - 1].at, next < count ? changes[next].at : INT64_MAX,
                            changes[next - 1].offset, 0};
    span.offset_before   = next > 1 ? changes[next - 2].offset : span.offset;
    return span;
}
