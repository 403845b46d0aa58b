/* progress.c - prints the line of progress.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>

void replay_progress_reading(uint64_t done, uint64_t total, void *context)
{
    if (!example_progress_begin(context))
        return;
    if (total != 0)
        fprintf(stderr, "reading: %" PRIu64 " of %" PRIu64 " KiB", done / 1024, total / 1024);
    else
        fprintf(stderr, "reading: %" PRIu64 " KiB", done / 1024);
}

void replay_progress_events(example_progress *progress, size_t position, size_t count,
                            int64_t messages, int64_t started)
{
    if (!example_progress_begin(progress))
        return;
    int64_t elapsed = example_monotonic() - started;
    double  seconds = elapsed > 0 ? (double)elapsed / 1e6 : 1e-6;
    fprintf(stderr, "event %zu of %zu, %" PRId64 " messages, %.0f/s", position, count, messages,
            (double)messages / seconds);
}
