/* test_record_times.c - the forms of a TIME in JSON: what is written in each, what is read back, what
 * is refused. S26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/record/test_record_sample.h"

#define MOMENT INT64_C(1769903999123456) /* 2026-01-31T23:59:59.123456Z */

static pawl_time read_as(pawl_arena *arena, pawl_times times, const char *value)
{
    pawl_error error = PAWL_ERROR_INIT;
    sample     out;
    pawl_text  json = pawl_arena_printf(arena, "{\"a_time\":%s}", value);
    if (pawl_record_decode(PAWL_RECORD_OF(sample)(), json, PAWL_RECORD_TIMES(times), arena, &out,
                           &error) != PAWL_OK)
        fail_msg("%s: %s", value, error.text);
    return out.a_time;
}

static void is_refused(pawl_arena *arena, pawl_times times, const char *value, const char *says)
{
    pawl_error error = PAWL_ERROR_INIT;
    sample     out;
    pawl_text  json = pawl_arena_printf(arena, "{\"a_time\":%s}", value);
    assert_int_equal(pawl_record_decode(PAWL_RECORD_OF(sample)(), json, PAWL_RECORD_TIMES(times),
                                        arena, &out, &error),
                     PAWL_EDECODE);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' lacks '%s'", error.text, says);
}

/* Written so, and read back as `back`. */
static void is_written(pawl_arena *arena, pawl_times times, pawl_time time, const char *expected,
                       pawl_time back)
{
    sample    in = {.a_time = time};
    pawl_text json;
    must(pawl_record_encode(PAWL_RECORD_OF(sample)(), &in, PAWL_RECORD_TIMES(times), arena, &json,
                            world_error()));
    char whole[100];
    snprintf(whole, sizeof whole, "{\"a_time\":%s}", expected);
    assert_string_equal(json.data, whole);
    assert_int_equal(read_as(arena, times, expected), back);
}

STATE_TEST(s26_each_form_is_written_and_read, void **state)
{
    is_written(*state, PAWL_TIMES_RFC3339, MOMENT, "\"2026-01-31T23:59:59.123456Z\"", MOMENT);
    is_written(*state, PAWL_TIMES_UNIX_US, MOMENT, "1769903999123456", MOMENT);
    is_written(*state, PAWL_TIMES_UNIX_MS, MOMENT, "1769903999123", MOMENT - 456);
    is_written(*state, PAWL_TIMES_MICROSOFT, MOMENT, "\"/Date(1769903999123)/\"", MOMENT - 456);
}

/* The rest below a millisecond is cut toward the past, before 1970 as well. */
STATE_TEST(s26_times_before_1970_keep_their_order, void **state)
{
    is_written(*state, PAWL_TIMES_UNIX_US, -1, "-1", -1);
    is_written(*state, PAWL_TIMES_UNIX_MS, -1, "-1", -1000);
    is_written(*state, PAWL_TIMES_UNIX_MS, -1000, "-1", -1000);
    is_written(*state, PAWL_TIMES_MICROSOFT, -1001, "\"/Date(-2)/\"", -2000);
}

STATE_TEST(s26_the_first_and_the_last_time_come_back, void **state)
{
    is_written(*state, PAWL_TIMES_UNIX_US, PAWL_TIME_MAX, "253402300799999999", PAWL_TIME_MAX);
    is_written(*state, PAWL_TIMES_UNIX_US, PAWL_TIME_MIN, "-62135596800000000", PAWL_TIME_MIN);
    is_written(*state, PAWL_TIMES_UNIX_MS, PAWL_TIME_MAX, "253402300799999", PAWL_TIME_MAX - 999);
    is_written(*state, PAWL_TIMES_MICROSOFT, PAWL_TIME_MIN, "\"/Date(-62135596800000)/\"",
               PAWL_TIME_MIN);
}

STATE_TEST(s26_rfc_3339_is_read_in_each_form, void **state)
{
    for (int times = PAWL_TIMES_RFC3339; times <= PAWL_TIMES_MICROSOFT; times++)
        assert_int_equal(read_as(*state, (pawl_times)times, "\"2026-02-01T00:59:59.123456+01:00\""),
                         MOMENT);
}

STATE_TEST(s26_an_offset_behind_a_date_is_read_over, void **state)
{
    assert_int_equal(read_as(*state, PAWL_TIMES_MICROSOFT, "\"\\/Date(1769903999123+0100)\\/\""),
                     MOMENT - 456);
    assert_int_equal(read_as(*state, PAWL_TIMES_MICROSOFT, "\"/Date(5-1230)/\""), 5000);
}

STATE_TEST(s26_what_is_no_time_in_the_form_is_refused, void **state)
{
    static const char *const texts[] = {"/Date()/",
                                        "/Date(-)/",
                                        "/Date(1)",
                                        "/Date(1+01)/",
                                        "/Date(1+01x0)/",
                                        "/Date(1*0100)/",
                                        "/Date(1 )/",
                                        "Date(1)/",
                                        "/Date(253402300800000)/",
                                        "/Date(-62135596800001)/",
                                        "/Date(12345678901234567)/",
                                        "/Date(99999999999999999999)/"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        char value[60];
        snprintf(value, sizeof value, "\"%s\"", texts[i]);
        is_refused(*state, PAWL_TIMES_MICROSOFT, value, "expected /Date(milliseconds)/ or time");
    }
    is_refused(*state, PAWL_TIMES_RFC3339, "\"/Date(1)/\"", "expected time such as 2026");
    is_refused(*state, PAWL_TIMES_UNIX_MS, "\"/Date(1)/\"", "expected milliseconds since 1970 or");
    is_refused(*state, PAWL_TIMES_UNIX_US, "\"12\"", "expected microseconds since 1970 or");
    is_refused(
        *state, PAWL_TIMES_UNIX_US, "253402300800000000",
        "expected microseconds since 1970 or time such as 2026-01-31T23:59:59Z, years 0001 to 9999, got 253402300800000000");
    is_refused(*state, PAWL_TIMES_UNIX_MS, "253402300800000", "got 253402300800000");
    is_refused(*state, PAWL_TIMES_UNIX_MS, "-62135596800001", "got -62135596800001");
    is_refused(*state, PAWL_TIMES_UNIX_MS, "1.5", "got 1.5");
    is_refused(*state, PAWL_TIMES_RFC3339, "1", "years 0001 to 9999, got 1");
    is_refused(*state, PAWL_TIMES_MICROSOFT, "1", "expected /Date(milliseconds)/ or time");
    is_refused(*state, PAWL_TIMES_UNIX_MS, "true", "expected milliseconds since 1970 or");
}

int main(void)
{
    return tests_run(arena_set_up, arena_tear_down);
}
