/* times.c - reads and writes the JSON forms of a TIME (pawl_times).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

#include <inttypes.h>
#include <stdio.h>

/* "/Date(1769903999000)/", or with an offset, "/Date(1769903999000+0100)/", which names the zone and does not change
 * the time. */
#define MICROSOFT_HEAD "/Date("
#define MICROSOFT_TAIL ")/"
#define TEXT_SIZE 40
_Static_assert(TEXT_SIZE > PAWL_TIME_TEXT_SIZE, "room for both texts");

typedef struct form {
    int64_t     unit;     /* microseconds per unit of the number; 0: the form has no number */
    bool        is_text;  /* the number stands in a text */
    const char *expected; /* for errors */
} form;

#define RFC3339_EXPECTED "time such as 2026-01-31T23:59:59Z, years 0001 to 9999"
static const form forms[] = {
    [PAWL_TIMES_RFC3339]   = {0, true, RFC3339_EXPECTED},
    [PAWL_TIMES_UNIX_US]   = {1, false, "microseconds since 1970 or " RFC3339_EXPECTED},
    [PAWL_TIMES_UNIX_MS]   = {1000, false, "milliseconds since 1970 or " RFC3339_EXPECTED},
    [PAWL_TIMES_MICROSOFT] = {1000, true, "/Date(milliseconds)/ or " RFC3339_EXPECTED},
};
_Static_assert(sizeof forms / sizeof forms[0] == PAWL_TIMES_MICROSOFT + 1, "each of pawl_times");

/* An unknown form, of a newer header, is treated as the first here: registration refuses it. */
static const form *form_of(unsigned flags)
{
    unsigned times = flags >> 8 & 0xFF;
    return &forms[times < sizeof forms / sizeof forms[0] ? times : 0];
}

const char *pawl__times_expected(unsigned flags)
{
    return form_of(flags)->expected;
}

bool pawl__times_from_number(unsigned flags, int64_t number, pawl_time *time)
{
    int64_t unit = form_of(flags)->unit;
    if (unit == 0 || form_of(flags)->is_text || number < PAWL_TIME_MIN / unit ||
        number > PAWL_TIME_MAX / unit)
        return false;
    *time = number * unit;
    return true;
}

static bool is_offset(const char *at, const char *end)
{
    if (at == end)
        return true;
    if (end - at != 5 || (*at != '+' && *at != '-'))
        return false;
    while (++at < end)
        if (*at < '0' || *at > '9')
            return false;
    return true;
}

static bool read_microsoft(const form *of, pawl_text text, pawl_time *time)
{
    size_t head = sizeof MICROSOFT_HEAD - 1, tail = sizeof MICROSOFT_TAIL - 1;
    if (text.size <= head + tail || memcmp(text.data, MICROSOFT_HEAD, head) != 0 ||
        memcmp(text.data + text.size - tail, MICROSOFT_TAIL, tail) != 0)
        return false;
    const char *at = text.data + head, *end = text.data + text.size - tail;
    bool        is_negative = *at == '-';
    int64_t     number      = 0;
    const char *digits      = at += is_negative;
    /* Reads at most 16 digits, one more than the largest time has: a larger number is refused, and cannot overflow. */
    for (; at < end && at - digits < 16 && *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (*at - '0');
    if (is_negative)
        number = -number;
    if (at == digits || !is_offset(at, end) || number < PAWL_TIME_MIN / of->unit ||
        number > PAWL_TIME_MAX / of->unit)
        return false;
    *time = number * of->unit;
    return true;
}

bool pawl__times_from_text(unsigned flags, pawl_text text, pawl_time *time)
{
    const form *of = form_of(flags);
    if (of->unit != 0 && of->is_text && read_microsoft(of, text, time))
        return true;
    return pawl_time_parse(text, time, NULL) == PAWL_OK;
}

yyjson_mut_val *pawl__times_value(unsigned flags, yyjson_mut_doc *doc, pawl_time time)
{
    const form *of = form_of(flags);
    char        text[TEXT_SIZE];
    if (of->unit == 0) {
        pawl_time_format(time, text);
        return yyjson_mut_strncpy(doc, text, PAWL_TIME_TEXT_SIZE);
    }
    /* Rounds down, also before 1970, so that the order of times is kept. */
    int64_t number = time / of->unit - (time % of->unit < 0);
    if (!of->is_text)
        return yyjson_mut_sint(doc, number);
    int size = snprintf(text, sizeof text, MICROSOFT_HEAD "%" PRId64 MICROSOFT_TAIL, number);
    return yyjson_mut_strncpy(doc, text, (size_t)size);
}
