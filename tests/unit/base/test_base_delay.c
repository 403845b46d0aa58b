/* test_base_delay.c - pauses before a next attempt, and that one figure of jitter stands in the code,
 * the help of the options and the pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/delay.h"
#include "support/tests.h"

TEST(a_delay_doubles_up_to_its_limit)
{
    assert_int_equal(pawl__doubled(10, 0, 100), 10);
    assert_int_equal(pawl__doubled(10, 3, 100), 80);
    assert_int_equal(pawl__doubled(10, 4, 100), 100);
    assert_int_equal(pawl__doubled(10, INT32_MAX, INT64_MAX), INT64_C(10) << 30);
    assert_int_equal(pawl__doubled(200, 0, 100), 100);
}

/* Both ends are reached, nothing lies beyond, and the mean is the delay. */
TEST(jitter_is_ten_percent_either_way)
{
    pawl_random random;
    int64_t     least = INT64_MAX, most = 0, sum = 0;
    pawl_random_seed(&random, 1);
    for (int i = 0; i < 10000; i++) {
        int64_t delay = pawl__jittered(200, &random);
        least         = delay < least ? delay : least;
        most          = delay > most ? delay : most;
        sum += delay;
    }
    assert_int_equal(least, 180);
    assert_int_equal(most, 220);
    assert_in_range(sum / 10000, 199, 201);
    assert_int_equal(pawl__jittered_max(200), 220);
}

TEST(short_and_long_delays_keep_their_sign)
{
    pawl_random random;
    pawl_random_seed(&random, 1);
    assert_int_equal(pawl__jittered(0, &random), 0);
    assert_int_equal(pawl__jittered(9, &random), 9);
    for (int i = 0; i < 100; i++)
        assert_in_range(pawl__jittered(PAWL_DAYS(3650), &random), PAWL_DAYS(3285), PAWL_DAYS(4015));
    assert_int_equal(pawl__jittered_max(INT64_MAX), PAWL_TIME_MAX);
}

TEST(the_help_has_the_figure)
{
    assert_string_equal(PAWL__JITTER_TEXT, test_text("+/- %d %% jitter", PAWL__JITTER_PERCENT));
}

TEST(a_time_of_seconds_is_refused)
{
    const pawl_time now   = PAWL_DAYS(20000);
    pawl_error      error = PAWL_ERROR_INIT;
    assert_int_equal(pawl__check_time("timeout ", "late", 1700000900, now, &error), PAWL_EINVAL);
    assert_string_equal(
        error.text,
        "timeout late is at 1970-01-01T00:28:20.000900Z, in microseconds as each pawl_time; "
        "of seconds it is PAWL_SECONDS(1700000900)");
    must_fail_with(pawl__check_time("", "", INT64_C(1700000000900), now, world_error()),
                   PAWL_EINVAL, "of milliseconds it is PAWL_MILLISECONDS(1700000000900)");
}

TEST(a_time_that_no_store_takes_is_refused)
{
    const pawl_time bad[] = {PAWL_TIME_MAX + 1, INT64_MAX, PAWL_TIME_MIN - 1, INT64_MIN};
    pawl_error      error = PAWL_ERROR_INIT;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(pawl__check_time("timeout ", "t", bad[i], 0, &error), PAWL_EINVAL);
    assert_string_equal(error.text,
                        "timeout t is at -9223372036854775808, outside the years 1 to 9999");
}

/* Old logs, and clocks of tests. */
TEST(other_times_of_1970_are_times)
{
    const pawl_time now = PAWL_DAYS(20000), far = INT64_C(17279999999999);
    const pawl_time good[] = {
        0, -5, PAWL_TIME_MIN, 1, PAWL_DAYS(1), far, PAWL_DAYS(365), now, PAWL_TIME_MAX};
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(pawl__check_time("", "", good[i], now, NULL), PAWL_OK);
    assert_int_equal(pawl__check_time("", "", 1700000900, PAWL_DAYS(3), NULL), PAWL_OK);
}
