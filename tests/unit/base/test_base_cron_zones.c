/* test_base_cron_zones.c - lines of cron by the clocks of time zones: known days on which clocks
 * change, and days by chance against Python's zoneinfo.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/cron.h"
#include "support/tests.h"

#include <time.h>
#include <unistd.h>

static pawl_time time_of(const char *text)
{
    pawl_time time = 0;
    assert_int_equal(pawl_time_parse(pawl_text_of(text), &time, NULL), PAWL_OK);
    return time;
}

static pawl__zone *zone_of(const char *name)
{
    pawl__zone *zone = NULL;
    must(pawl__zone_create(PAWL__ZONE_FOLDER, pawl_text_of(name), &zone, world_error()));
    return zone;
}

static pawl__cron cron_of(const char *line)
{
    pawl__cron cron = {0};
    must(pawl__cron_parse(pawl_text_of(line), &cron, world_error()));
    return cron;
}

/* Zone, line, a time, and the two next ones. */
static const char *const known[][5] = {
    {"Europe/Berlin", "0 3 * * *", "2026-07-01T00:00:00+02:00", "2026-07-01T03:00:00+02:00",
     "2026-07-02T03:00:00+02:00"},
    {"Europe/Berlin", "0 3 * * *", "2026-12-01T00:00:00+01:00", "2026-12-01T03:00:00+01:00",
     "2026-12-02T03:00:00+01:00"},
    /* 02:00 to 03:00 of 2026-03-29 is left out. */
    {"Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00",
     "2026-03-30T02:30:00+02:00"},
    {"Europe/Berlin", "0 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00",
     "2026-03-30T02:00:00+02:00"},
    {"Europe/Berlin", "0 3 * * *", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00",
     "2026-03-30T03:00:00+02:00"},
    {"Europe/Berlin", "*/30 * * * *", "2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00",
     "2026-03-29T03:30:00+02:00"},
    {"Europe/Berlin", "10,20 2 * * *", "2026-03-29T00:30:00+01:00", "2026-03-29T03:00:00+02:00",
     "2026-03-30T02:10:00+02:00"},
    {"Europe/Berlin", "30 * * * *", "2026-03-29T01:00:00+01:00", "2026-03-29T01:30:00+01:00",
     "2026-03-29T03:30:00+02:00"},
    {"Europe/Berlin", "0 * * * *", "2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00",
     "2026-03-29T04:00:00+02:00"},
    {"Europe/Berlin", "30 0-22 * * *", "2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00",
     "2026-03-29T03:30:00+02:00"},
    /* 02:00 to 03:00 of 2026-10-25 is there twice. */
    {"Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+02:00",
     "2026-10-26T02:30:00+01:00"},
    {"Europe/Berlin", "30 2 * * *", "2026-10-25T02:10:00+01:00", "2026-10-26T02:30:00+01:00",
     "2026-10-27T02:30:00+01:00"},
    {"Europe/Berlin", "0 3 * * *", "2026-10-24T12:00:00Z", "2026-10-25T03:00:00+01:00",
     "2026-10-26T03:00:00+01:00"},
    {"Europe/Berlin", "30 * * * *", "2026-10-25T02:10:00+02:00", "2026-10-25T02:30:00+02:00",
     "2026-10-25T02:30:00+01:00"},
    {"Europe/Berlin", "30 0-22 * * *", "2026-10-25T02:10:00+02:00", "2026-10-25T02:30:00+02:00",
     "2026-10-25T03:30:00+01:00"},
    /* Far behind the changes that the file lists. */
    {"Europe/Berlin", "30 2 * * *", "2199-03-30T12:00:00Z", "2199-03-31T03:00:00+02:00",
     "2199-04-01T02:30:00+02:00"},
    {"America/New_York", "15 1 * * *", "2026-10-31T12:00:00Z", "2026-11-01T01:15:00-04:00",
     "2026-11-02T01:15:00-05:00"},
    {"America/New_York", "15 2 * * sun", "2026-03-07T12:00:00Z", "2026-03-08T03:00:00-04:00",
     "2026-03-15T02:15:00-04:00"},
    {"Asia/Kathmandu", "0 0 * * *", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00+05:45",
     "2026-01-03T00:00:00+05:45"},
    /* Half an hour. */
    {"Australia/Lord_Howe", "10 2 * * *", "2026-10-03T12:00:00Z", "2026-10-04T02:30:00+11:00",
     "2026-10-05T02:10:00+11:00"},
    {"Australia/Lord_Howe", "40 1 * * *", "2026-04-04T10:00:00Z", "2026-04-05T01:40:00+11:00",
     "2026-04-06T01:40:00+10:30"},
    /* Midnight is left out. */
    {"Africa/Cairo", "0 0 * * *", "2026-04-23T12:00:00Z", "2026-04-24T01:00:00+03:00",
     "2026-04-25T00:00:00+03:00"},
    /* The standard time is the summer's. */
    {"Europe/Dublin", "30 1 * * *", "2026-03-28T12:00:00Z", "2026-03-29T02:00:00+01:00",
     "2026-03-30T01:30:00+01:00"},
    /* A day is left out: 2011-12-30. */
    {"Pacific/Apia", "0 9 * * *", "2011-12-29T20:00:00-10:00", "2011-12-31T00:00:00+14:00",
     "2011-12-31T09:00:00+14:00"},
    {"UTC", "0 3 * * *", "2026-03-29T00:00:00Z", "2026-03-29T03:00:00Z", "2026-03-30T03:00:00Z"},
    {"", "0 3 * * *", "2026-03-29T00:00:00Z", "2026-03-29T03:00:00Z", "2026-03-30T03:00:00Z"},
};

TEST(known_days_on_which_clocks_change)
{
    for (size_t i = 0; i < COUNT(known); i++) {
        pawl__zone *zone = zone_of(known[i][0]);
        pawl__cron  cron = cron_of(known[i][1]);
        pawl_time   at   = time_of(known[i][2]);
        for (size_t k = 3; k < 5; k++) {
            at = pawl__cron_next(&cron, zone, at);
            char found[PAWL_TIME_TEXT_SIZE + 1];
            pawl_time_format(at, found);
            if (at != time_of(known[i][k]))
                fail_msg("%s '%s' after %s: %s is not %s", known[i][0], known[i][1], known[i][2],
                         found, known[i][k]);
        }
        pawl__zone_destroy(zone);
    }
}

/* A case: zone, line, first and last second, times. Each is found, and nothing between. */
static void check_case(char *text, uint64_t seed)
{
    char *rest = text;
    char *parts[5];
    for (size_t i = 0; i < 5; i++) {
        parts[i] = rest;
        rest += strcspn(rest, "\t\n");
        *rest++ = '\0';
    }
    pawl__zone *zone = zone_of(parts[0]);
    pawl__cron  cron = cron_of(parts[1]);
    int64_t     end  = strtoll(parts[3], NULL, 10);
    pawl_time   at   = strtoll(parts[2], NULL, 10) * 1000000 - 1;
    char       *next = parts[4];
    for (;;) {
        int64_t wanted = *next != '\0' ? strtoll(next, &next, 10) : end;
        at             = pawl__cron_next(&cron, zone, at);
        if (wanted == end ? at < end * 1000000 : at != wanted * 1000000)
            fail_msg("seed %llu: %s '%s' from %s: %lld is found, not %lld",
                     (unsigned long long)seed, parts[0], parts[1], parts[2],
                     (long long)(at / 1000000), (long long)wanted);
        if (wanted == end)
            break;
    }
    pawl__zone_destroy(zone);
}

TEST(days_by_chance_agree_with_zoneinfo)
{
    const char *said = getenv("PAWL_TEST_SEED");
    uint64_t    seed = said != NULL ? strtoull(said, NULL, 10) : (uint64_t)time(NULL);
    printf("seed: PAWL_TEST_SEED=%llu\n", (unsigned long long)seed);
    FILE *cases = popen(test_text("python3 '%s/tests/support/cron_times.py' %llu 40",
                                  getenv("PAWL_SOURCE_DIR"), (unsigned long long)seed),
                        "r");
    assert_non_null(cases);
    char  *line  = NULL;
    size_t room  = 0;
    size_t count = 0;
    for (; getline(&line, &room, cases) > 0; count++)
        check_case(line, seed);
    free(line);
    assert_int_equal(pclose(cases), 0);
    assert_int_equal(count, 40);
}

int main(void)
{
    const char *require = getenv("PAWL_REQUIRE");
    if (access(PAWL__ZONE_FOLDER "/Europe/Berlin", R_OK) != 0 ||
        system("python3 -c 'import zoneinfo' 2>/dev/null") != 0) {
        fputs("skipped: needs tzdata and python3 with zoneinfo\n", stderr);
        return require != NULL && strcmp(require, "all") == 0 ? 1 : 77;
    }
    return tests_run(NULL, NULL);
}
