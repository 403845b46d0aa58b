/* crash.h - a replay that is killed again and again.
 *
 * The parent starts this program once more as a child, waits until the child
 * has committed something, then 0 to 20 ms more, kills it with SIGKILL, and
 * starts the next one on the same stores. The child that follows the last kill
 * runs to the end and reports.
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

#include "ground.h"
#include "options.h"
#include "run.h"

/* ---- The parent ------------------------------------------------------------ */

/* Refuses stores that would be gone with the child. */
pawl_code replay_crash_check(const replay_ground *ground, pawl_error *error);

/* `words` are the program's own, its name first. `*exit_code` is that of the
 * last child, which has reported. Any other code than PAWL_OK: a child could
 * not be started, did not end by itself, or the user interrupted. */
pawl_code replay_crash(const replay_options *options, const replay_ground *ground,
                       const replay_log *log, char **words, int *exit_code, pawl_error *error);

/* ---- The child ------------------------------------------------------------- */

typedef struct replay_child {
    int     socket;
    int64_t kills;   /* delivered so far */
    int64_t started; /* the first child: monotonic microseconds */
} replay_child;

pawl_code replay_child_parse(const char *text, replay_child *child, pawl_error *error);
/* A replay_watch_fn; `context` is the replay_child. */
pawl_code replay_child_committed(const replay_run *run, void *context, pawl_error *error);
/* Returns when the report may be printed. */
pawl_code replay_child_finished(const replay_run *run, replay_child *child, pawl_error *error);

#endif
