/* verdict.h - conclusions from the figures of the rounds.
 *
 * Tests: tests/unit/bench/test_bench_verdict.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_VERDICT_H
#define PAWL_BENCH_VERDICT_H

#include "pawl/base.h"

/* The loop does less than pawl does, so it cannot be slower; what is over this
 * is more than the noise of a measurement, and the loop is to blame. */
#define PAWL__BENCH_RATIO_MAX 1.05

/* Messages a second; a round of no time counts as one microsecond. */
double pawl__bench_rate(int64_t messages, int64_t microseconds);
/* Sorts `values`; the mean of the two in the middle when the count is even, 0
 * when there are none. */
double pawl__bench_median(double *values, size_t count);
/* Sorts `values`; the smallest of them that at least so many of 100 do not
 * exceed, 0 when there are none. */
double pawl__bench_percentile(double *values, size_t count, int percent);
/* Is the loop slower than what it limits? */
bool pawl__bench_is_broken(double ratio);

#endif
