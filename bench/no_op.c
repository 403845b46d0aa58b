/* no_op.c - messages for a handler that does nothing: claimed, deduplicated, handled, acknowledged. The
 * messages are those of saga-step; no saga is loaded, nothing is sent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga_step.h"

static pawl_code check(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_check_relayed(&handle, job, error);
    pawl__bench_close(&handle);
    return code;
}

const pawl__bench_workload pawl__bench_no_op = {.name    = "no-op",
                                                .handler = PAWL__BENCH_NO_OP,
                                                .fill    = pawl__bench_saga_step_fill,
                                                .run     = pawl__bench_saga_step_run,
                                                .check   = check,
                                                .begin   = pawl__bench_peers_begin,
                                                .after   = pawl__bench_peers_measure,
                                                .rounds  = PAWL__BENCH_ROUNDS,
                                                .workers = PAWL__BENCH_WORKERS,
                                                .rate    = PAWL__BENCH_RATE_LATENCY};
