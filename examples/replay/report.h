/* report.h - the result of a replay, read from the stores and compared with the single pass (check.h).
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
    int64_t  events; /* in closed cases, as the archive has them */
    int64_t  cases;
    int64_t  closings; /* closings as the replay's own store has them */
    int64_t  groups;
    int64_t  batches;
    int64_t  archived; /* closings as the archive has them */
    int64_t  messages; /* handled in both stores, by all processes of the run */
    double   messages_per_s;
    int64_t  kills;
    uint64_t difference_count;
    char     differences[REPLAY_DIFFERENCES_SHOWN][300]; /* the first ones, as text */
} replay_report;

/* Compares every case and every group. `elapsed` in microseconds; `kills`: number of killed processes. Fails only if
 * the stores cannot be read. */
pawl_code replay_report_make(replay_run *run, int64_t elapsed, int64_t kills, replay_report *report,
                             pawl_error *error);

/* Prints to standard output; with --json only an object, while differences go to standard error. */
void replay_report_print(const replay_report *report, bool is_json);

#endif
