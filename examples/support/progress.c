/* progress.c - overwrites one line, ten times a second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL PAWL_MILLISECONDS(100)
#define LINE_BEGIN "\r\033[K" /* to the left, and erase the line */

int64_t example_monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return PAWL_SECONDS(now.tv_sec) + now.tv_nsec / 1000;
}

void example_progress_init(example_progress *progress)
{
    *progress = (example_progress){.is_shown = isatty(STDERR_FILENO) == 1};
}

bool example_progress_begin(example_progress *progress)
{
    if (!progress->is_shown)
        return false;
    int64_t now = example_monotonic();
    if (now < progress->next)
        return false;
    progress->next     = now + INTERVAL;
    progress->has_line = true;
    fputs(LINE_BEGIN, stderr);
    return true;
}

void example_progress_clear(example_progress *progress)
{
    if (progress->has_line)
        fputs(LINE_BEGIN, stderr);
    progress->has_line = false;
}

void example_say(const char *program, const char *format, ...)
{
    char    line[700]; /* for an error's text and some words */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            *c = ' '; /* a client library's text may have several lines */
    fprintf(stderr, "%s%s: %s\n", isatty(STDERR_FILENO) == 1 ? LINE_BEGIN : "", program, line);
}
