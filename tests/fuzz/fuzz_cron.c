/* fuzz_cron.c - lines of cron, rules of time zones, times and ids as texts.
 *
 * Input: a line of cron, a rule such as CET-1CEST,M3.5.0,M10.5.0/3, a time or an id, then eight bytes: the moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "base/cron.h"
#include "base/zone.h"

#define TIMES 6

static pawl_time moment_of(int64_t bits)
{
    uint64_t years = (uint64_t)PAWL_TIME_MAX - (uint64_t)PAWL_TIME_MIN;
    return (pawl_time)((uint64_t)PAWL_TIME_MIN + (uint64_t)bits % years);
}

static void check_cron(pawl_text text, pawl_time after)
{
    pawl__cron cron;
    if (pawl__cron_parse(text, &cron, NULL) != PAWL_OK)
        return;
    for (int i = 0; i < TIMES && after < PAWL_TIME_MAX; i++) {
        pawl_time next = pawl__cron_next(&cron, NULL, after);
        FUZZ_CHECK(next > after);
        if (next == PAWL_TIME_MAX)
            return;
        int64_t minute = (next - PAWL_TIME_MIN) / PAWL_MINUTES(1);
        FUZZ_CHECK((cron.minutes >> minute % 60 & 1) != 0);
        FUZZ_CHECK((cron.hours >> minute / 60 % 24 & 1) != 0);
        after = next;
    }
}

/* The spans on both sides of a moment touch one another. */
static void check_rule(pawl_text text, int64_t seconds)
{
    pawl__tz_rule rule;
    if (!pawl__tz_rule_parse(text, &rule))
        return;
    pawl__zone_span span = pawl__tz_rule_span(&rule, seconds);
    FUZZ_CHECK(span.begin <= seconds && seconds < span.end);
    if (span.end == INT64_MAX)
        return;
    pawl__zone_span next = pawl__tz_rule_span(&rule, span.end);
    FUZZ_CHECK(next.begin <= span.end && next.end > span.end);
}

static void check_texts(pawl_text text)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_time  time = 0, again = 0;
    pawl_uuid  uuid = {{0}}, same = {{0}};
    char       written[PAWL_TIME_TEXT_SIZE + 1], id[PAWL_UUID_TEXT_SIZE + 1];
    if (pawl_time_parse(text, &time, &error) == PAWL_OK) {
        pawl_time_format(time, written);
        FUZZ_CHECK(pawl_time_parse(pawl_text_of(written), &again, NULL) == PAWL_OK);
        FUZZ_CHECK(time == again);
    }
    if (pawl_uuid_parse(text, &uuid, &error) == PAWL_OK) {
        pawl_uuid_format(uuid, id);
        FUZZ_CHECK(pawl_uuid_parse(pawl_text_of(id), &same, NULL) == PAWL_OK);
        FUZZ_CHECK(pawl_uuid_compare(uuid, same) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in   = {data, size};
    pawl_text  line = fuzz_line(&in), rule = fuzz_line(&in), text = fuzz_line(&in);
    pawl_time  moment = moment_of(fuzz_integer(&in));
    check_cron(line, moment);
    check_rule(rule, moment / PAWL_SECONDS(1));
    check_texts(text);
    return 0;
}
