/* cron.c - parses cron lines, and finds the next time that one matches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/cron.h"

#include "base/calendar.h"
#include "pawl/limits.h"

#include <string.h>

#define FIELD_COUNT 5
#define DAY_MINUTES 1440
#define MINUTE INT64_C(60)

/* ---- Reading ------------------------------------------------------------ */

typedef struct field_rule {
    const char *name;
    const char *words; /* three letters each, from `low` on; NULL: numbers only */
    unsigned    low;
    unsigned    high;
} field_rule;

enum { FIELD_MINUTE, FIELD_HOUR, FIELD_DAY, FIELD_MONTH, FIELD_WEEKDAY };

static const field_rule rules[] = {
    [FIELD_MINUTE]  = {"minute", NULL, 0, 59},
    [FIELD_HOUR]    = {"hour", NULL, 0, 23},
    [FIELD_DAY]     = {"day", NULL, 1, 31},
    [FIELD_MONTH]   = {"month", "janfebmaraprmayjunjulaugsepoctnovdec", 1, 12},
    [FIELD_WEEKDAY] = {"weekday", "sunmontuewedthufrisat", 0, 7},
};
_Static_assert(sizeof rules / sizeof *rules == FIELD_COUNT, "a rule for each field");

static const struct {
    const char *name;
    const char *line;
} shorthands[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

typedef struct cron_reader {
    pawl_text   line; /* the whole line, for errors */
    pawl_error *error;
} cron_reader;

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool equals_word(pawl_text text, const char *word, size_t size)
{
    if (text.size != size)
        return false;
    for (size_t i = 0; i < size; i++)
        if (lower(text.data[i]) != word[i])
            return false;
    return true;
}

/* Cuts `*rest` at the separator, which is dropped; returns the part before it, and leaves the part behind it in
 * `*rest`. */
static pawl_text cut_at(pawl_text *rest, char separator)
{
    const char *found = rest->size == 0 ? NULL : memchr(rest->data, separator, rest->size);
    size_t      size  = found != NULL ? (size_t)(found - rest->data) : rest->size;
    pawl_text   part  = {.data = rest->data, .size = size};
    size_t      gone  = found != NULL ? size + 1 : size;
    *rest             = (pawl_text){.data = rest->data + gone, .size = rest->size - gone};
    return part;
}

static pawl_code refuse_value(const cron_reader *reader, const field_rule *rule, pawl_text value)
{
    return pawl_error_set(
        reader->error, PAWL_EINVAL, "cron line '%.*s': %s '%.*s' is none of %u to %u%s",
        PAWL_TEXT_ARGS(reader->line), rule->name, PAWL_TEXT_ARGS(value), rule->low, rule->high,
        rule->words == NULL           ? ""
        : rule == rules + FIELD_MONTH ? " or jan to dec"
                                      : " or sun to sat");
}

/* Reads a number without sign; false for other text and for more than three digits. */
static bool read_number(pawl_text text, unsigned *number)
{
    *number = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *number = *number * 10 + (unsigned)(text.data[i] - '0');
    }
    return text.size > 0 && text.size <= 3;
}

static pawl_code read_value(const cron_reader *reader, const field_rule *rule, pawl_text text,
                            unsigned *value)
{
    size_t count = rule->words != NULL ? strlen(rule->words) / 3 : 0;
    for (size_t i = 0; i < count; i++)
        if (equals_word(text, rule->words + 3 * i, 3)) {
            *value = rule->low + (unsigned)i;
            return PAWL_OK;
        }
    if (!read_number(text, value) || *value < rule->low || *value > rule->high)
        return refuse_value(reader, rule, text);
    return PAWL_OK;
}

static pawl_code read_range(const cron_reader *reader, const field_rule *rule, pawl_text text,
                            unsigned *low, unsigned *high)
{
    pawl_text rest  = text;
    pawl_text first = cut_at(&rest, '-');
    pawl_code code  = read_value(reader, rule, first, low);
    *high           = *low;
    if (code != PAWL_OK || first.size == text.size)
        return code;
    code = read_value(reader, rule, rest, high);
    if (code != PAWL_OK)
        return code;
    if (*high == 0 && *low > 0 && rule == rules + FIELD_WEEKDAY)
        *high = 7; /* "sat-sun" */
    if (*low > *high)
        return pawl_error_set(reader->error, PAWL_EINVAL,
                              "cron line '%.*s': the range '%.*s' of %ss begins behind its end",
                              PAWL_TEXT_ARGS(reader->line), PAWL_TEXT_ARGS(text), rule->name);
    return PAWL_OK;
}

static pawl_code read_step(const cron_reader *reader, const field_rule *rule, pawl_text item,
                           pawl_text text, unsigned *step)
{
    bool is_many = item.size > 0 && (item.data[0] == '*' || memchr(item.data, '-', item.size));
    if (!is_many)
        return pawl_error_set(reader->error, PAWL_EINVAL,
                              "cron line '%.*s': %s '%.*s/%.*s': a step stands behind '*' or a "
                              "range such as %u-%u",
                              PAWL_TEXT_ARGS(reader->line), rule->name, PAWL_TEXT_ARGS(item),
                              PAWL_TEXT_ARGS(text), rule->low, rule->high);
    if (!read_number(text, step) || *step < 1 || *step > rule->high)
        return pawl_error_set(reader->error, PAWL_EINVAL,
                              "cron line '%.*s': the step '%.*s' of %ss is none of 1 to %u",
                              PAWL_TEXT_ARGS(reader->line), PAWL_TEXT_ARGS(text), rule->name,
                              rule->high);
    return PAWL_OK;
}

static pawl_code read_item(const cron_reader *reader, const field_rule *rule, pawl_text text,
                           uint64_t *bits)
{
    unsigned  low  = rule->low;
    unsigned  high = rule->high;
    unsigned  step = 1;
    pawl_text rest = text;
    pawl_text item = cut_at(&rest, '/');
    pawl_code code = PAWL_OK;
    if (item.size != text.size)
        code = read_step(reader, rule, item, rest, &step);
    if (code == PAWL_OK && !equals_word(item, "*", 1))
        code = read_range(reader, rule, item, &low, &high);
    for (unsigned value = low; code == PAWL_OK && value <= high; value += step)
        *bits |= UINT64_C(1) << value;
    return code;
}

/* Reads a list such as "0,30". An empty item is refused. */
static pawl_code read_field(const cron_reader *reader, const field_rule *rule, pawl_text text,
                            uint64_t *bits)
{
    pawl_text rest = text;
    *bits          = 0;
    for (;;) {
        pawl_text item = cut_at(&rest, ',');
        bool      last = item.data + item.size == text.data + text.size;
        pawl_code code = read_item(reader, rule, item, bits);
        if (code != PAWL_OK || last)
            return code;
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Splits at blanks. The result counts all fields, also those beyond the five that are stored. */
static size_t split(pawl_text line, pawl_text fields[FIELD_COUNT])
{
    size_t count = 0;
    for (size_t at = 0; at < line.size;) {
        size_t begin = at;
        if (is_blank(line.data[at])) {
            at++;
            continue;
        }
        while (at < line.size && !is_blank(line.data[at]))
            at++;
        if (count < FIELD_COUNT)
            fields[count] = (pawl_text){.data = line.data + begin, .size = at - begin};
        count++;
    }
    return count;
}

/* Does at least one of the named months have one of the named days? */
static bool has_days(const pawl__cron *cron)
{
    for (int month = 1; month <= 12; month++)
        for (int day = 1; day <= pawl__days_in_month(2000, month); day++)
            if ((cron->months >> month & 1) != 0 && (cron->days >> day & 1) != 0)
                return true;
    return cron->is_either_day;
}

static pawl_code expand(pawl_text text, pawl_text *line, pawl_error *error)
{
    *line = text;
    if (text.size == 0 || text.data[0] != '@')
        return PAWL_OK;
    for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++)
        if (equals_word(text, shorthands[i].name, strlen(shorthands[i].name))) {
            *line = pawl_text_of(shorthands[i].line);
            return PAWL_OK;
        }
    return pawl_error_set(error, PAWL_EINVAL,
                          "cron line '%.*s' is none of @yearly, @annually, @monthly, @weekly, "
                          "@daily, @midnight and @hourly",
                          PAWL_TEXT_ARGS(text));
}

pawl_code pawl__cron_parse(pawl_text text, pawl__cron *cron, pawl_error *error)
{
    cron_reader reader = {text, error};
    pawl_text   line;
    pawl_text   fields[FIELD_COUNT] = {{.size = 0}};
    uint64_t    bits[FIELD_COUNT]   = {0};
    if (text.size > PAWL_CRON_SIZE_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "a cron line of %zu bytes; at most %d are taken",
                              text.size, PAWL_CRON_SIZE_MAX);
    pawl_code code = expand(text, &line, error);
    if (code != PAWL_OK)
        return code;
    size_t count = split(line, fields);
    if (count != FIELD_COUNT)
        return pawl_error_set(error, PAWL_EINVAL,
                              "cron line '%.*s' has %zu fields, not 5: minute hour day month "
                              "weekday",
                              PAWL_TEXT_ARGS(text), count);
    for (size_t i = 0; code == PAWL_OK && i < FIELD_COUNT; i++)
        code = read_field(&reader, &rules[i], fields[i], &bits[i]);
    if (code != PAWL_OK)
        return code;
    pawl__cron read = {
        .minutes       = bits[FIELD_MINUTE],
        .hours         = (uint32_t)bits[FIELD_HOUR],
        .days          = (uint32_t)bits[FIELD_DAY],
        .months        = (uint32_t)bits[FIELD_MONTH],
        .weekdays      = (uint32_t)((bits[FIELD_WEEKDAY] | bits[FIELD_WEEKDAY] >> 7) & 0x7f),
        .is_either_day = fields[FIELD_DAY].data[0] != '*' && fields[FIELD_WEEKDAY].data[0] != '*',
    };
    if (!has_days(&read))
        return pawl_error_set(error, PAWL_EINVAL,
                              "cron line '%.*s': none of its months has day '%.*s'",
                              PAWL_TEXT_ARGS(text), PAWL_TEXT_ARGS(fields[FIELD_DAY]));
    *cron = read;
    return PAWL_OK;
}

/* ---- The next time ------------------------------------------------------ */

static bool names_day(const pawl__cron *cron, int day, int weekday)
{
    bool is_day     = (cron->days >> day & 1) != 0;
    bool is_weekday = (cron->weekdays >> weekday & 1) != 0;
    return cron->is_either_day ? is_day || is_weekday : is_day && is_weekday;
}

/* The first matching day from `days` on; `until` when that comes first. */
static int64_t next_day(const pawl__cron *cron, int64_t days, int64_t until)
{
    while (days < until) {
        int64_t year;
        int     month, day;
        pawl__date_from_days(days, &year, &month, &day);
        if ((cron->months >> month & 1) == 0)
            days += pawl__days_in_month(year, month) - day + 1;
        else if (names_day(cron, day, pawl__weekday(days)))
            return days;
        else
            days++;
    }
    return until;
}

/* The first matching minute of a day from `minute` on; DAY_MINUTES when there is none. */
static int64_t next_minute(const pawl__cron *cron, int64_t minute)
{
    while (minute < DAY_MINUTES) {
        if ((cron->hours >> (minute / 60) & 1) == 0)
            minute = (minute / 60 + 1) * 60;
        else if ((cron->minutes >> (minute % 60) & 1) != 0)
            return minute;
        else
            minute++;
    }
    return DAY_MINUTES;
}

static int64_t divide_down(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

/* The first matching minute from `from` on, in seconds of local time. If `until` comes first, any time from `until`
 * on. */
static int64_t next_on_wall(const pawl__cron *cron, int64_t from, int64_t until)
{
    int64_t minutes  = divide_down(from + MINUTE - 1, MINUTE);
    int64_t days     = divide_down(minutes, DAY_MINUTES);
    int64_t minute   = minutes - days * DAY_MINUTES;
    int64_t last_day = divide_down(until, DAY_MINUTES * MINUTE) + 1;
    while (days < last_day) {
        int64_t day = next_day(cron, days, last_day);
        if (day != days)
            minute = 0;
        minute = next_minute(cron, minute);
        if (day < last_day && minute < DAY_MINUTES)
            return (day * DAY_MINUTES + minute) * MINUTE;
        days   = day + 1;
        minute = 0;
    }
    return until;
}

/* A line that names all 24 hours is due in each hour that passes, whatever local time is. */
static bool counts_hours(const pawl__cron *cron)
{
    return cron->hours == 0xffffff;
}

/* Is the line due at the span's first moment, for a local time that the clocks skipped there? */
static bool is_left_out(const pawl__cron *cron, const pawl__zone_span *span)
{
    if (span->begin == INT64_MIN || counts_hours(cron))
        return false;
    int64_t from  = span->begin + span->offset_before;
    int64_t until = span->begin + span->offset;
    return from < until && next_on_wall(cron, from, until) < until;
}

/* Local time from which to search in the span: if clocks were put back at its begin, the repeated hour is skipped. */
static int64_t unseen(const pawl__cron *cron, const pawl__zone_span *span, int64_t wall)
{
    if (span->begin == INT64_MIN || counts_hours(cron))
        return wall;
    int64_t seen = span->begin + span->offset_before;
    return wall < seen ? seen : wall;
}

pawl_time pawl__cron_next(const pawl__cron *cron, const pawl__zone *zone, pawl_time after)
{
    const int64_t last = PAWL_TIME_MAX / 1000000;
    int64_t       from = divide_down(after, 1000000) + 1;
    while (from <= last) {
        pawl__zone_span span = pawl__zone_span_at(zone, from);
        if (from == span.begin && is_left_out(cron, &span))
            return from * 1000000;
        int64_t end   = span.end <= last ? span.end : last + 1;
        int64_t wall  = unseen(cron, &span, from + span.offset);
        int64_t found = next_on_wall(cron, wall, end + span.offset) - span.offset;
        if (found < end)
            return found * 1000000;
        from = end;
    }
    return PAWL_TIME_MAX;
}
