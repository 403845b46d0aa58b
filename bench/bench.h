/* bench.h - what `pawl bench` asks the benchmarks to do.
 *
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_H
#define PAWL_BENCH_H

#include "pawl/base.h"

#include <stdio.h>

typedef struct pawl__bench_options {
    const char *workload; /* "saga-step", "outbox-drain" or "timeouts" */
    const char *store;    /* URL */
    int64_t     messages; /* of one round */
    int64_t     batch;    /* messages of one commit */
    int64_t     rounds;   /* of pawl and of the limit each, in turn; the medians count */
    bool        is_json;  /* one object with the keys messages_per_s, limit_per_s, ratio */
} pawl__bench_options;

/* Makes its own tables, measures, writes the result to `out`, drops the tables.
 * The exit code of the command: 0; 1 when the result is not to be trusted (the
 * limit was slower than what it limits); else pawl_code_exit of what failed.
 * On any but 0 `error` says why; it names the store only where that matters. */
int pawl__bench_run(const pawl__bench_options *options, FILE *out, pawl_error *error);

#endif
