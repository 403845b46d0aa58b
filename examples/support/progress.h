/* progress.h - prints a program's progress to standard error, if that is a terminal.
 *
 *     if (example_progress_begin(&progress))
 *         fprintf(stderr, "%d of %d", done, total);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EXAMPLE_PROGRESS_H
#define EXAMPLE_PROGRESS_H

#include "pawl/base.h"

typedef struct example_progress {
    bool    is_shown; /* standard error is a terminal, and this process prints there */
    bool    has_line;
    int64_t next; /* monotonic microseconds before which nothing is printed */
} example_progress;

/* Microseconds of a clock that is shared by all processes of the machine, and never set back. */
int64_t example_monotonic(void);

void example_progress_init(example_progress *progress);
/* True ten times a second at most: then begins the line again, which the caller prints. */
bool example_progress_begin(example_progress *progress);
void example_progress_clear(example_progress *progress);
/* Prints a line "PROGRAM: ..." that stays to standard error, terminal or not. */
void example_say(const char *program, const char *format, ...) PAWL_PRINTF(2, 3);

#endif
