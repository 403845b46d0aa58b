/* report.h - the result of a replay, read back from the stores and held against the single pass.
 *
 *     replay_report_make -> replay_report_print
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_REPORT_H
#define REPLAY_REPORT_H

#include "check.h"
#include "run.h"

#define REPLAY_DIFFERENCES_SHOWN 10

typedef struct replay_report {
    int64_t  events; /* in closed cases, as archived */
    int64_t  cases;
    int64_t  closings; /* as the replay's own store counts them */
    int64_t  groups;
    int64_t  batches;
    int64_t  archived; /* closings as the archive counts them */
    int64_t  messages; /* handled in both stores, by all processes of the run */
    double   messages_per_s;
    int64_t  kills;
    uint64_t difference_count;
    char     differences[REPLAY_DIFFERENCES_SHOWN][300]; /* the first ones, for people */
} replay_report;

/* Compares every case and every group. `elapsed` in microseconds, `kills` as
 * delivered. An error only when the stores cannot be read. */
pawl_code replay_report_make(replay_run *run, int64_t elapsed, int64_t kills, replay_report *report,
                             pawl_error *error);

/* On standard output; with --json one object and nothing else there, the
 * differences then on standard error. */
void replay_report_print(const replay_report *report, bool is_json);

#endif
