/* progress.h - prints the progress of a replay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_PROGRESS_H
#define REPLAY_PROGRESS_H

#include "support/progress.h"

/* A replay_progress_fn; `context` is the example_progress. */
void replay_progress_reading(uint64_t done, uint64_t total, void *context);
void replay_progress_events(example_progress *progress, size_t position, size_t count,
                            int64_t messages, int64_t started);

#define replay_say(...) example_say("pawl-replay", __VA_ARGS__)

#endif
