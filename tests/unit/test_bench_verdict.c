/* test_bench_verdict.c - what `pawl bench` makes of the figures of its rounds:
 * rates, medians, and when the limit is broken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../bench/verdict.c"

static void test_rate(void **state)
{
    (void)state;
    assert_true(pawl__bench_rate(200000, 4000000) == 50000);
    assert_true(pawl__bench_rate(1, 1000000) == 1);
    /* Too fast to be measured is not a division by zero. */
    assert_true(pawl__bench_rate(3, 0) == 3e6);
    assert_true(pawl__bench_rate(3, -5) == 3e6);
}

static void test_median(void **state)
{
    (void)state;
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

static void test_a_loop_slower_than_pawl_is_broken(void **state)
{
    (void)state;
    assert_false(pawl__bench_is_broken(0));
    assert_false(pawl__bench_is_broken(0.6));
    assert_false(pawl__bench_is_broken(1));
    assert_false(pawl__bench_is_broken(1.05));
    assert_true(pawl__bench_is_broken(1.0500001));
    assert_true(pawl__bench_is_broken(2));
}

static void test_no_number_is_broken(void **state)
{
    (void)state;
    volatile double zero = 0;
    assert_true(pawl__bench_is_broken(zero / zero));
    assert_true(pawl__bench_is_broken(1 / zero));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_a_loop_slower_than_pawl_is_broken),
        cmocka_unit_test(test_no_number_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
