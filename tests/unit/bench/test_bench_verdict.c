/* test_bench_verdict.c - what `pawl bench` makes of the figures of its rounds:
 * rates, medians, percentiles, when the limit is broken, and the figures beside
 * the rate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../../bench/figures.c"
#include "../../../bench/verdict.c"
#include "support/tests.h"

TEST(test_rate)
{
    assert_true(pawl__bench_rate(200000, 4000000) == 50000);
    assert_true(pawl__bench_rate(1, 1000000) == 1);
    /* Too fast to be measured is not a division by zero. */
    assert_true(pawl__bench_rate(3, 0) == 3e6);
    assert_true(pawl__bench_rate(3, -5) == 3e6);
}

TEST(test_median)
{
    double none[1]  = {7};
    double one[]    = {7};
    double even[]   = {4, 1, 2, 100};
    double odd[]    = {5, 1, 9, 2, 1000};
    double equals[] = {3, 3, 3};
    assert_true(pawl__bench_median(none, 0) == 0);
    assert_true(pawl__bench_median(one, 1) == 7);
    assert_true(pawl__bench_median(even, 4) == 3);
    assert_true(pawl__bench_median(odd, 5) == 5);
    assert_true(pawl__bench_median(equals, 3) == 3);
}

TEST(test_percentile)
{
    double none[1] = {7};
    double one[]   = {7};
    double four[]  = {9, 1, 5, 3};
    double hundred[100];
    double thousand[1000];
    for (size_t i = 0; i < 100; i++)
        hundred[i] = (double)(100 - i);
    for (size_t i = 0; i < 1000; i++)
        thousand[i] = (double)((i * 7919) % 1000);
    assert_true(pawl__bench_percentile(none, 0, 99) == 0);
    assert_true(pawl__bench_percentile(one, 1, 99) == 7);
    assert_true(pawl__bench_percentile(one, 1, 1) == 7);
    /* Few values: the largest, since no smaller one covers 99 of 100. */
    assert_true(pawl__bench_percentile(four, 4, 99) == 9);
    assert_true(pawl__bench_percentile(four, 4, 50) == 3);
    assert_true(pawl__bench_percentile(four, 4, 51) == 5);
    assert_true(pawl__bench_percentile(hundred, 100, 99) == 99);
    assert_true(pawl__bench_percentile(hundred, 100, 100) == 100);
    assert_true(pawl__bench_percentile(thousand, 1000, 99) == 989);
}

TEST(test_a_loop_slower_than_pawl_is_broken)
{
    assert_false(pawl__bench_is_broken(0));
    assert_false(pawl__bench_is_broken(0.6));
    assert_false(pawl__bench_is_broken(1));
    assert_false(pawl__bench_is_broken(1.05));
    assert_true(pawl__bench_is_broken(1.0500001));
    assert_true(pawl__bench_is_broken(2));
}

TEST(test_no_number_is_broken)
{
    volatile double zero = 0;
    assert_true(pawl__bench_is_broken(zero / zero));
    assert_true(pawl__bench_is_broken(1 / zero));
}

TEST(test_figures)
{
    static pawl__bench_figures figures;
    double                     value = 77;
    for (pawl__bench_figure i = 0; i < pawl__bench_figure_count; i++)
        assert_false(pawl__bench_noted(&figures, i, &value));
    assert_true(value == 77);
    pawl__bench_note(&figures, pawl__bench_conflicts_per_1000, 9);
    pawl__bench_note(&figures, pawl__bench_conflicts_per_1000, 1.23456);
    pawl__bench_note(&figures, pawl__bench_conflicts_per_1000, 0);
    assert_true(pawl__bench_noted(&figures, pawl__bench_conflicts_per_1000, &value));
    assert_true(value == (double)1.23); /* the median, with two digits */
    assert_false(pawl__bench_noted(&figures, pawl__bench_fired, &value));
    pawl__bench_note(&figures, pawl__bench_fired_twice, 0);
    assert_true(pawl__bench_noted(&figures, pawl__bench_fired_twice, &value));
    assert_true(value == 0); /* none is a figure too */
}

TEST(test_figure_names)
{
    assert_string_equal(pawl__bench_figure_name(pawl__bench_p99_lateness_ms), "p99_lateness_ms");
    assert_int_equal(pawl__bench_figure_digits(pawl__bench_p99_lateness_ms), 1);
    assert_string_equal(pawl__bench_figure_name(pawl__bench_ratio_to_saga_step),
                        "ratio_to_saga_step");
    assert_int_equal(pawl__bench_figure_digits(pawl__bench_fired), 0);
}
