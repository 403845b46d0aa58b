/* crash.h - kills a replay repeatedly.
 *
 * The parent starts this program as a child, waits until the child has committed something and then 0 to 20 ms more,
 * kills it with SIGKILL, and starts the next child with the same stores. The child after the last kill runs to the end
 * and reports.
 *
 *     child                     parent
 *     committed, committed ...  draws a moment at the first, kills at it
 *     finished                  go: report and end, when no kill is due
 *
 * Tests: tests/system/replay_crash.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_CRASH_H
#define REPLAY_CRASH_H

#include "options.h"
#include "run.h"
#include "workspace.h"

/* ---- The parent ------------------------------------------------------------ */

/* Refuses stores that end with the child's process. */
pawl_code replay_crash_check(const replay_workspace *workspace, pawl_error *error);

/* `words` are the program's own arguments, its name first. `*exit_code` is that of the last child, which has reported.
 * PAWL_EINTERRUPTED or another failure: a child could not be started, or did not end by itself, or the user
 * interrupted. */
pawl_code replay_crash(const replay_options *options, const replay_workspace *workspace,
                       const replay_log *log, char **words, int *exit_code, pawl_error *error);

/* ---- The child ------------------------------------------------------------- */

typedef struct replay_child {
    int     socket;
    int64_t kills;   /* number of children killed so far */
    int64_t started; /* when the first child started, in monotonic microseconds */
} replay_child;

pawl_code replay_child_parse(const char *text, replay_child *child, pawl_error *error);
/* A replay_watch_fn; `context` is the replay_child. */
pawl_code replay_child_committed(const replay_run *run, void *context, pawl_error *error);
/* Tells the parent, and returns when the report may be printed. */
pawl_code replay_child_finished(const replay_run *run, replay_child *child, pawl_error *error);

#endif
