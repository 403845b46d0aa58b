/* figures.h - figures that a benchmark measures beside its rate: their list, and the notes of the
 * rounds.
 *
 * Threads: notes are taken by the thread that runs the round.
 * Tests: tests/unit/bench/test_bench_verdict.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_FIGURES_H
#define PAWL_BENCH_FIGURES_H

#include "pawl/base.h"

#define PAWL__BENCH_ROUNDS_MAX 99

/* The name is the key of the output; digits behind the point. README.md says
 * what each one is. */
#define PAWL__BENCH_FIGURES(X)  \
    X(sent_per_s, 1)            \
    X(conflicts_per_1000, 2)    \
    X(saga_step_per_s, 1)       \
    X(ratio_to_saga_step, 3)    \
    X(saga_step_ratio, 3)       \
    X(alone_per_s, 1)           \
    X(ratio_to_alone, 3)        \
    X(empty_per_s, 1)           \
    X(ratio_to_empty, 3)        \
    X(unswept_per_s, 1)         \
    X(ratio_to_unswept, 3)      \
    X(swept, 0)                 \
    X(handler_p50_ms, 3)        \
    X(handler_p90_ms, 3)        \
    X(handler_p99_ms, 3)        \
    X(commit_p50_ms, 3)         \
    X(commit_p90_ms, 3)         \
    X(commit_p99_ms, 3)         \
    X(limit_handler_p50_ms, 3)  \
    X(limit_handler_p90_ms, 3)  \
    X(limit_handler_p99_ms, 3)  \
    X(limit_commit_p50_ms, 3)   \
    X(limit_commit_p90_ms, 3)   \
    X(limit_commit_p99_ms, 3)   \
    X(broker_handler_p50_ms, 3) \
    X(broker_handler_p90_ms, 3) \
    X(broker_handler_p99_ms, 3) \
    X(broker_commit_p50_ms, 3)  \
    X(broker_commit_p90_ms, 3)  \
    X(broker_commit_p99_ms, 3)  \
    X(handled_first, 1)         \
    X(handled_last, 1)          \
    X(claims_ratio, 3)          \
    X(claim_p99_first_ms, 3)    \
    X(claim_p99_last_ms, 3)     \
    X(claim_p99_ratio, 3)       \
    X(due_per_s, 1)             \
    X(p99_lateness_ms, 1)       \
    X(fired, 0)                 \
    X(fired_twice, 0)           \
    X(peer_per_second, 1)       \
    X(peer_ratio, 3)

typedef enum pawl__bench_figure {
#define PAWL__FIGURE(name, digits) pawl__bench_##name,
    PAWL__BENCH_FIGURES(PAWL__FIGURE)
#undef PAWL__FIGURE
        pawl__bench_figure_count
} pawl__bench_figure;

/* All zero at first. */
typedef struct pawl__bench_figures {
    double values[pawl__bench_figure_count][PAWL__BENCH_ROUNDS_MAX];
    size_t counts[pawl__bench_figure_count];
} pawl__bench_figures;

/* One value of one round. */
void pawl__bench_note(pawl__bench_figures *figures, pawl__bench_figure figure, double value);
/* The median of the rounds, rounded to the figure's digits; false when no round
 * noted any. Sorts the values. */
bool pawl__bench_noted(pawl__bench_figures *figures, pawl__bench_figure figure, double *value);
const char *pawl__bench_figure_name(pawl__bench_figure figure);
int         pawl__bench_figure_digits(pawl__bench_figure figure);

#endif
