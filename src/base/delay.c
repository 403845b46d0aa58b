/* delay.c - delays with jitter; durations as texts; checks of durations and times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/delay.h"

#include <inttypes.h>
#include <stdio.h>

#define DOUBLINGS_MAX 30

int64_t pawl__doubled(int64_t delay, int32_t times, int64_t limit)
{
    for (int32_t i = 0; i < times && i < DOUBLINGS_MAX && delay < limit; i++)
        delay *= 2;
    return delay < limit ? delay : limit;
}

static int64_t spread_of(int64_t delay)
{
    return delay / 100 * PAWL__JITTER_PERCENT + delay % 100 * PAWL__JITTER_PERCENT / 100;
}

int64_t pawl__jittered(int64_t delay, pawl_random *random)
{
    int64_t spread = spread_of(delay);
    return delay - spread + (int64_t)pawl_random_below(random, 2 * (uint64_t)spread + 1);
}

int64_t pawl__jittered_max(int64_t delay)
{
    return pawl_time_add(delay, spread_of(delay));
}

pawl_code pawl__check_unit(const char *kind, const char *name, const char *where, int64_t value,
                           pawl_error *error)
{
    if (value <= 0 || value >= PAWL_MILLISECONDS(1))
        return PAWL_OK;
    return pawl_error_set(
        error, PAWL_ECONFIG,
        "%s%s%s is %lld microseconds, the least is 1 ms; in C a duration is written "
        "with its unit, as PAWL_SECONDS(%lld)",
        kind, name, where, (long long)value, (long long)value);
}

static bool is_near(pawl_time time, int64_t factor, pawl_time now)
{
    return time > 0 && time < PAWL_TIME_MAX / factor && time * factor > now - PAWL_DAYS(3650) &&
           time * factor < now + PAWL_DAYS(3650);
}

pawl_code pawl__check_time(const char *kind, const char *name, pawl_time time, pawl_time now,
                           pawl_error *error)
{
    char text[PAWL_TIME_TEXT_SIZE + 1];
    bool is_seconds = is_near(time, PAWL_SECONDS(1), now);
    if (time < PAWL_TIME_MIN || time > PAWL_TIME_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "%s%s is at %lld, outside the years 1 to 9999",
                              kind, name, (long long)time);
    if (now < PAWL_DAYS(3650) || (!is_seconds && !is_near(time, PAWL_MILLISECONDS(1), now)))
        return PAWL_OK;
    pawl_time_format(time, text);
    return pawl_error_set(error, PAWL_EINVAL,
                          "%s%s is at %s, in microseconds as each pawl_time; of %sseconds it is "
                          "PAWL_%sSECONDS(%lld)",
                          kind, name, text, is_seconds ? "" : "milli", is_seconds ? "" : "MILLI",
                          (long long)time);
}

const pawl__time_unit pawl__time_units[] = {
    {"d", PAWL_DAYS(1)},    {"h", PAWL_HOURS(1)},         {"m", PAWL_MINUTES(1)},
    {"s", PAWL_SECONDS(1)}, {"ms", PAWL_MILLISECONDS(1)}, {"us", 1},
};

const char *pawl__duration_text(int64_t duration, char *text, size_t size)
{
    const pawl__time_unit *unit = pawl__time_units;
    while (duration % unit->microseconds != 0)
        unit++;
    snprintf(text, size, "%" PRId64 "%s", duration / unit->microseconds, unit->name);
    return text;
}
