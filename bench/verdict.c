/* verdict.c - rates, medians, percentiles, and whether the limit is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "verdict.h"

#include <stdlib.h>

double pawl__bench_rate(int64_t messages, int64_t microseconds)
{
    return (double)messages * 1e6 / (double)(microseconds > 0 ? microseconds : 1);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return a < b ? -1 : a > b;
}

double pawl__bench_median(double *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare);
    size_t middle = count / 2;
    return count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double pawl__bench_percentile(double *values, size_t count, int percent)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare);
    size_t rank = (count * (size_t)percent + 99) / 100; /* from 1 */
    return values[rank > 0 ? rank - 1 : 0];
}

bool pawl__bench_is_broken(double ratio)
{
    return !(ratio <= (double)PAWL__BENCH_RATIO_MAX); /* i386 computes with more digits */
}
