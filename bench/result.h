/* result.h - prints the result of a benchmark.
 *
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_RESULT_H
#define PAWL_BENCH_RESULT_H

#include "job.h"

#include <stdio.h>

typedef struct pawl__bench_result {
    const char            *workload;
    const char            *store; /* without a password */
    const pawl__bench_job *job;
    double                 messages_per_s;
    double                 limit_per_s; /* 0: there is none */
    double                 ratio;
    const char            *no_limit; /* why there is none, or NULL */
} pawl__bench_result;

void pawl__bench_print_table(const pawl__bench_result *result, FILE *out);
/* PAWL_ENOMEM. */
pawl_code pawl__bench_print_json(const pawl__bench_result *result, FILE *out, pawl_error *error);

#endif
