/* fuzz_zone.c - files of time zones, and lines of cron by their clocks.
 *
 * Input: eight bytes, the moment; the rest is the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "base/cron.h"

#include <string.h>

static const char *const lines[] = {"30 2 * * *", "0 0 31 * 1", "*/7 1-3 * * *", "@hourly"};

static void check_span(const pawl__zone *zone, int64_t seconds)
{
    pawl__zone_span span = pawl__zone_span_at(zone, seconds);
    FUZZ_CHECK(span.begin <= seconds && (seconds < span.end || span.end == INT64_MAX));
}

static void check_zone(const pawl__zone *zone, pawl_time after)
{
    check_span(zone, after / PAWL_SECONDS(1));
    check_span(zone, PAWL_TIME_MIN / PAWL_SECONDS(1));
    check_span(zone, PAWL_TIME_MAX / PAWL_SECONDS(1));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        pawl__cron cron;
        FUZZ_CHECK(pawl__cron_parse(pawl_text_of(lines[i]), &cron, NULL) == PAWL_OK);
        FUZZ_CHECK(pawl__cron_next(&cron, zone, after) > after);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input  in     = {data, size};
    int64_t     moment = fuzz_integer(&in) % (PAWL_TIME_MAX - PAWL_DAYS(366));
    char        folder[60];
    const char *path = fuzz_file(fuzz_rest(&in));
    const char *name = strrchr(path, '/') + 1;
    pawl__zone *zone = NULL;
    memcpy(folder, path, (size_t)(name - path));
    folder[name - path - 1] = '\0';
    if (moment < PAWL_TIME_MIN)
        moment = PAWL_TIME_MIN;
    pawl_code code = pawl__zone_create(folder, pawl_text_of(name), &zone, NULL);
    FUZZ_CHECK(code == PAWL_OK || code == PAWL_EDECODE);
    if (code == PAWL_OK)
        check_zone(zone, moment);
    pawl__zone_destroy(zone);
    return 0;
}
