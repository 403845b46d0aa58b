/* progress.h - how far a program is, on standard error when that is a terminal.
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
    bool    is_shown; /* standard error is a terminal and this process draws there */
    bool    has_line;
    int64_t next; /* monotonic microseconds before which nothing is drawn */
} example_progress;

/* Microseconds of a clock that all processes of the machine share and that is
 * never set back. */
int64_t example_monotonic(void);

void example_progress_init(example_progress *progress);
/* Ten times a second: begins the line anew, and says that it is to be drawn. */
bool example_progress_begin(example_progress *progress);
void example_progress_clear(example_progress *progress);
/* A line that stays, "PROGRAM: ...", on standard error, terminal or not. */
void example_say(const char *program, const char *format, ...) PAWL_PRINTF(2, 3);

#endif
