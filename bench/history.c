/* history.c - saga-step at an endpoint that keeps a history: each step leaves a line of history in its
 * commit. Beside it the same steps without.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga_step.h"

static pawl_code run(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    pawl__bench_job kept = *job;
    kept.has_history     = true;
    return pawl__bench_saga_step_run(&kept, microseconds, error);
}

static pawl_code count_lines(const pawl__bench_job *job, pawl_store *store, pawl_arena *arena,
                             pawl_error *error)
{
    pawl_history_query query = {.count_max = 10000};
    pawl_history_rows  rows  = {.count = 0};
    int64_t            count = 0;
    pawl_code          code  = PAWL_OK;
    do {
        pawl_arena_reset(arena);
        code = pawl_store_history_find(store, &query, arena, &rows, error);
        count += (int64_t)rows.count;
        if (rows.count > 0)
            query.after = rows.items[rows.count - 1].id;
    } while (code == PAWL_OK && rows.count == query.count_max);
    return code == PAWL_OK ? pawl__bench_expect("lines of history", count, job->messages, error)
                           : code;
}

/* Each message has left one line. */
static pawl_code check(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = count_lines(job, handle.store, handle.arena, error);
    pawl__bench_close(&handle);
    return code == PAWL_OK ? pawl__bench_saga_step_check(job, error) : code;
}

static const pawl__bench_beside saga_step = {.who   = "saga-step",
                                             .run   = pawl__bench_saga_step_run,
                                             .check = pawl__bench_saga_step_check,
                                             .rate  = pawl__bench_saga_step_per_s,
                                             .ratio = pawl__bench_ratio_to_saga_step};

const pawl__bench_workload pawl__bench_history = {.name     = "history",
                                                  .fill     = pawl__bench_saga_step_fill,
                                                  .run      = run,
                                                  .check    = check,
                                                  .beside   = &saga_step,
                                                  .no_limit = "it is measured beside saga-step",
                                                  .rounds   = PAWL__BENCH_ROUNDS};
