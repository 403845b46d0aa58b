/* test_record_times.c - the forms of a TIME in JSON: what is written in each, what is read back, what
 * is refused. S26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/record/test_record_sample.h"

#define MOMENT INT64_C(1769903999123456) /* 2026-01-31T23:59:59.123456Z */

static pawl_time read_as(pawl_times times, const char *value)
{
    pawl_error error = PAWL_ERROR_INIT;
    sample     out;
    pawl_text  json = pawl_arena_printf(shared, "{\"a_time\":%s}", value);
    if (pawl_record_decode(PAWL_RECORD_OF(sample)(), json, PAWL_RECORD_TIMES(times), shared, &out,
                           &error) != PAWL_OK)
        fail_msg("%s: %s", value, error.text);
    return out.a_time;
}

static void is_refused(pawl_times times, const char *value, const char *says)
{
    pawl_error error = PAWL_ERROR_INIT;
    sample     out;
    pawl_text  json = pawl_arena_printf(shared, "{\"a_time\":%s}", value);
    assert_int_equal(pawl_record_decode(PAWL_RECORD_OF(sample)(), json, PAWL_RECORD_TIMES(times),
                                        shared, &out, &error),
                     PAWL_EDECODE);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' lacks '%s'", error.text, says);
}

/* Written so, and read back as `back`. */
static void is_written(pawl_times times, pawl_time time, const char *expected, pawl_time back)
{
    sample    in = {.a_time = time};
    pawl_text json;
    must(pawl_record_encode(PAWL_RECORD_OF(sample)(), &in, PAWL_RECORD_TIMES(times), shared, &json,
                            world_error()));
    assert_string_equal(json.data, test_text("{\"a_time\":%s}", expected));
    assert_int_equal(read_as(times, expected), back);
}

TEST(s26_each_form_is_written_and_read)
{
    is_written(PAWL_TIMES_RFC3339, MOMENT, "\"2026-01-31T23:59:59.123456Z\"", MOMENT);
    is_written(PAWL_TIMES_UNIX_US, MOMENT, "1769903999123456", MOMENT);
    is_written(PAWL_TIMES_UNIX_MS, MOMENT, "1769903999123", MOMENT - 456);
    is_written(PAWL_TIMES_MICROSOFT, MOMENT, "\"/Date(1769903999123)/\"", MOMENT - 456);
}

/* The rest below a millisecond is cut toward the past, before 1970 as well. */
TEST(s26_times_before_1970_keep_their_order)
{
    is_written(PAWL_TIMES_UNIX_US, -1, "-1", -1);
    is_written(PAWL_TIMES_UNIX_MS, -1, "-1", -1000);
    is_written(PAWL_TIMES_UNIX_MS, -1000, "-1", -1000);
    is_written(PAWL_TIMES_MICROSOFT, -1001, "\"/Date(-2)/\"", -2000);
}

TEST(s26_the_first_and_the_last_time_come_back)
{
    is_written(PAWL_TIMES_UNIX_US, PAWL_TIME_MAX, "253402300799999999", PAWL_TIME_MAX);
    is_written(PAWL_TIMES_UNIX_US, PAWL_TIME_MIN, "-62135596800000000", PAWL_TIME_MIN);
    is_written(PAWL_TIMES_UNIX_MS, PAWL_TIME_MAX, "253402300799999", PAWL_TIME_MAX - 999);
    is_written(PAWL_TIMES_MICROSOFT, PAWL_TIME_MIN, "\"/Date(-62135596800000)/\"", PAWL_TIME_MIN);
}

TEST(s26_rfc_3339_is_read_in_each_form)
{
    for (int times = PAWL_TIMES_RFC3339; times <= PAWL_TIMES_MICROSOFT; times++)
        assert_int_equal(read_as((pawl_times)times, "\"2026-02-01T00:59:59.123456+01:00\""),
                         MOMENT);
}

TEST(s26_an_offset_behind_a_date_is_read_over)
{
    assert_int_equal(read_as(PAWL_TIMES_MICROSOFT, "\"\\/Date(1769903999123+0100)\\/\""),
                     MOMENT - 456);
    assert_int_equal(read_as(PAWL_TIMES_MICROSOFT, "\"/Date(5-1230)/\""), 5000);
}

TEST(s26_what_is_no_time_in_the_form_is_refused)
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
    for (size_t i = 0; i < COUNT(texts); i++)
        is_refused(PAWL_TIMES_MICROSOFT, test_text("\"%s\"", texts[i]),
                   "expected /Date(milliseconds)/ or time");
    is_refused(PAWL_TIMES_RFC3339, "\"/Date(1)/\"", "expected time such as 2026");
    is_refused(PAWL_TIMES_UNIX_MS, "\"/Date(1)/\"", "expected milliseconds since 1970 or");
    is_refused(PAWL_TIMES_UNIX_US, "\"12\"", "expected microseconds since 1970 or");
    is_refused(
        PAWL_TIMES_UNIX_US, "253402300800000000",
        "expected microseconds since 1970 or time such as 2026-01-31T23:59:59Z, years 0001 to 9999, got 253402300800000000");
    is_refused(PAWL_TIMES_UNIX_MS, "253402300800000", "got 253402300800000");
    is_refused(PAWL_TIMES_UNIX_MS, "-62135596800001", "got -62135596800001");
    is_refused(PAWL_TIMES_UNIX_MS, "1.5", "got 1.5");
    is_refused(PAWL_TIMES_RFC3339, "1", "years 0001 to 9999, got 1");
    is_refused(PAWL_TIMES_MICROSOFT, "1", "expected /Date(milliseconds)/ or time");
    is_refused(PAWL_TIMES_UNIX_MS, "true", "expected milliseconds since 1970 or");
}
