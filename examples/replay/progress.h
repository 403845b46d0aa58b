/* progress.h - how far it is, on standard error when that is a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_PROGRESS_H
#define REPLAY_PROGRESS_H

#include "pawl/base.h"

typedef struct replay_progress {
    bool    is_shown; /* standard error is a terminal and this process draws there */
    bool    has_line;
    int64_t next; /* monotonic microseconds before which nothing is drawn */
} replay_progress;

/* Microseconds of a clock that all processes of the machine share and that is
 * never set back. */
int64_t replay_monotonic(void);

void replay_progress_init(replay_progress *progress);
/* A replay_progress_fn; `context` is the replay_progress. */
void replay_progress_reading(uint64_t done, uint64_t total, void *context);
void replay_progress_events(replay_progress *progress, size_t position, size_t count,
                            int64_t messages, int64_t started);
void replay_progress_clear(replay_progress *progress);
/* A line that stays, on standard error, terminal or not. */
void replay_progress_say(const char *format, ...) PAWL_PRINTF(1, 2);

#endif
