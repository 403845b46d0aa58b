/* test_base_cron.c - lines of cron: what is read, what is refused and how it is said, and known
 * times in UTC. Zones: test_base_cron_zones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/cron.h"

#include "pawl/limits.h"
#include "support/tests.h"

static pawl_time time_of(const char *text)
{
    pawl_time time = 0;
    assert_int_equal(pawl_time_parse(pawl_text_of(text), &time, NULL), PAWL_OK);
    return time;
}

static void check_next(const char *line, const char *after, const char *next)
{
    pawl__cron cron;
    must(pawl__cron_parse(pawl_text_of(line), &cron, world_error()));
    pawl_time time = pawl__cron_next(&cron, NULL, time_of(after));
    char      found[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(time, found);
    if (time != time_of(next))
        fail_msg("'%s' after %s is %s, not %s", line, after, found, next);
}

/* 2026-11-22 is a Sunday. */
TEST(the_next_time_is_the_first_that_the_line_names)
{
    static const char *const known[][3] = {
        {"* * * * *", "2026-11-22T10:00:00Z", "2026-11-22T10:01:00Z"},
        {"* * * * *", "2026-11-22T09:59:59.999999Z", "2026-11-22T10:00:00Z"},
        {"* * * * *", "1969-12-31T23:59:00.5Z", "1970-01-01T00:00:00Z"},
        {"30 3 * * *", "2026-11-22T03:29:59Z", "2026-11-22T03:30:00Z"},
        {"30 3 * * *", "2026-11-22T03:30:00Z", "2026-11-23T03:30:00Z"},
        {"59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z"},
        {"*/20 * * * *", "2026-11-22T10:40:00Z", "2026-11-22T11:00:00Z"},
        {"5-59/20 * * * *", "2026-11-22T10:26:00Z", "2026-11-22T10:45:00Z"},
        {"0 8-18/5 * * *", "2026-11-22T08:00:00Z", "2026-11-22T13:00:00Z"},
        {"0 8-18/5 * * *", "2026-11-22T18:00:00Z", "2026-11-23T08:00:00Z"},
        {"0,7,58 0 * * *", "2026-11-22T00:07:30Z", "2026-11-22T00:58:00Z"},
        {"0 0 31 * *", "2026-11-22T00:00:00Z", "2026-12-31T00:00:00Z"},
        {"0 0 29 2 *", "2026-11-22T00:00:00Z", "2028-02-29T00:00:00Z"},
        {"0 0 29 feb *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
        {"0 0 * * mon", "2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"},
        {"0 0 * * 7", "2026-11-22T00:00:00Z", "2026-11-29T00:00:00Z"},
        {"0 0 * * SUN", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
        {"0 9 * * 0-0", "2026-11-22T09:00:00Z", "2026-11-29T09:00:00Z"},
        {"0 9 * * sat-sun", "2026-11-22T09:00:00Z", "2026-11-28T09:00:00Z"},
        {"0 9 * * mon-fri", "2026-11-27T09:00:00Z", "2026-11-30T09:00:00Z"},
        {"0 0 1 jan,Jul *", "2026-11-22T00:00:00Z", "2027-01-01T00:00:00Z"},
        /* Day or weekday, and day and weekday where one of them begins with '*'. */
        {"0 0 13 * fri", "2026-11-22T00:00:00Z", "2026-11-27T00:00:00Z"},
        {"0 0 13 * fri", "2026-12-12T00:00:00Z", "2026-12-13T00:00:00Z"},
        {"0 0 */2 * fri", "2026-11-22T00:00:00Z", "2026-11-27T00:00:00Z"},
        {"0 0 */2 * sat", "2026-11-22T00:00:00Z", "2026-12-05T00:00:00Z"},
        {"0 0 30 2 mon", "2026-11-22T00:00:00Z", "2027-02-01T00:00:00Z"},
        {"\t0   0 1\t* * ", "2026-11-22T00:00:00Z", "2026-12-01T00:00:00Z"},
        {"@hourly", "2026-11-22T10:00:00Z", "2026-11-22T11:00:00Z"},
        {"@daily", "2026-11-22T10:00:00Z", "2026-11-23T00:00:00Z"},
        {"@midnight", "2026-11-22T10:00:00Z", "2026-11-23T00:00:00Z"},
        {"@weekly", "2026-11-22T10:00:00Z", "2026-11-29T00:00:00Z"},
        {"@monthly", "2026-11-22T10:00:00Z", "2026-12-01T00:00:00Z"},
        {"@Yearly", "2026-11-22T10:00:00Z", "2027-01-01T00:00:00Z"},
        {"@annually", "2026-11-22T10:00:00Z", "2027-01-01T00:00:00Z"},
        {"0 0 1 1 *", "9998-06-01T00:00:00Z", "9999-01-01T00:00:00Z"},
        {"0 0 1 1 *", "9999-06-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"},
    };
    for (size_t i = 0; i < COUNT(known); i++)
        check_next(known[i][0], known[i][1], known[i][2]);
}

TEST(what_is_no_line_is_refused_by_field_value_and_range)
{
    static const char *const refused[][2] = {
        {"", "cron line '' has 0 fields, not 5: minute hour day month weekday"},
        {"0 3 * *", "cron line '0 3 * *' has 4 fields, not 5: minute hour day month weekday"},
        {"0 0 3 * * *",
         "cron line '0 0 3 * * *' has 6 fields, not 5: minute hour day month weekday"},
        {"60 3 * * *", "cron line '60 3 * * *': minute '60' is none of 0 to 59"},
        {"0 24 * * *", "cron line '0 24 * * *': hour '24' is none of 0 to 23"},
        {"0 0 0 * *", "cron line '0 0 0 * *': day '0' is none of 1 to 31"},
        {"0 0 32 * *", "cron line '0 0 32 * *': day '32' is none of 1 to 31"},
        {"0 0 L * *", "cron line '0 0 L * *': day 'L' is none of 1 to 31"},
        {"0 0 ? * *", "cron line '0 0 ? * *': day '?' is none of 1 to 31"},
        {"0 0 * 13 *", "cron line '0 0 * 13 *': month '13' is none of 1 to 12 or jan to dec"},
        {"0 0 * janu *", "cron line '0 0 * janu *': month 'janu' is none of 1 to 12 or jan to dec"},
        {"0 0 * * 8", "cron line '0 0 * * 8': weekday '8' is none of 0 to 7 or sun to sat"},
        {"jan 0 * * *", "cron line 'jan 0 * * *': minute 'jan' is none of 0 to 59"},
        {"-1 0 * * *", "cron line '-1 0 * * *': minute '' is none of 0 to 59"},
        {"1, 0 * * *", "cron line '1, 0 * * *': minute '' is none of 0 to 59"},
        {",1 0 * * *", "cron line ',1 0 * * *': minute '' is none of 0 to 59"},
        {"1- 0 * * *", "cron line '1- 0 * * *': minute '' is none of 0 to 59"},
        {"0001 0 * * *", "cron line '0001 0 * * *': minute '0001' is none of 0 to 59"},
        {"4294967296 0 * * *",
         "cron line '4294967296 0 * * *': minute '4294967296' is none of 0 to 59"},
        {"50-10 0 * * *",
         "cron line '50-10 0 * * *': the range '50-10' of minutes begins behind its end"},
        {"*/0 * * * *", "cron line '*/0 * * * *': the step '0' of minutes is none of 1 to 59"},
        {"*/90 * * * *", "cron line '*/90 * * * *': the step '90' of minutes is none of 1 to 59"},
        {"*/ * * * *", "cron line '*/ * * * *': the step '' of minutes is none of 1 to 59"},
        {"*/2/3 * * * *",
         "cron line '*/2/3 * * * *': the step '2/3' of minutes is none of 1 to 59"},
        {"5/15 * * * *", "cron line '5/15 * * * *': minute '5/15': a step stands behind '*' or a "
                         "range such as 0-59"},
        {"**/2 * * * *", "cron line '**/2 * * * *': minute '**' is none of 0 to 59"},
        {"0 0 30 2 *", "cron line '0 0 30 2 *': none of its months has day '30'"},
        {"0 0 31 4,6,9,11 *", "cron line '0 0 31 4,6,9,11 *': none of its months has day '31'"},
        {"@reboot", "cron line '@reboot' is none of @yearly, @annually, @monthly, @weekly, @daily, "
                    "@midnight and @hourly"},
    };
    for (size_t i = 0; i < COUNT(refused); i++) {
        pawl_error error = PAWL_ERROR_INIT;
        pawl__cron cron  = {.minutes = 7};
        assert_int_equal(pawl__cron_parse(pawl_text_of(refused[i][0]), &cron, &error), PAWL_EINVAL);
        assert_string_equal(error.text, refused[i][1]);
        assert_int_equal(cron.minutes, 7);
        assert_int_equal(pawl__cron_parse(pawl_text_of(refused[i][0]), &cron, NULL), PAWL_EINVAL);
    }
}

TEST(a_line_has_a_limit)
{
    char line[PAWL_CRON_SIZE_MAX + 2];
    memset(line, ' ', sizeof line);
    memcpy(line, "0 0 * * *", 9);
    pawl__cron cron;
    pawl_text  text = {.data = line, .size = PAWL_CRON_SIZE_MAX};
    must(pawl__cron_parse(text, &cron, world_error()));
    text.size++;
    must_fail(pawl__cron_parse(text, &cron, world_error()), PAWL_EINVAL,
              "a cron line of 201 bytes; at most 200 are taken");
}
