/* progress.c - one line that is written over itself, ten times a second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL PAWL_MILLISECONDS(100)
#define LINE_BEGIN "\r\033[K" /* back to the left, and erase what was there */

int64_t replay_monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return PAWL_SECONDS(now.tv_sec) + now.tv_nsec / 1000;
}

void replay_progress_init(replay_progress *progress)
{
    *progress = (replay_progress){.is_shown = isatty(STDERR_FILENO) == 1};
}

static bool is_time(replay_progress *progress)
{
    if (!progress->is_shown)
        return false;
    int64_t now = replay_monotonic();
    if (now < progress->next)
        return false;
    progress->next     = now + INTERVAL;
    progress->has_line = true;
    return true;
}

void replay_progress_reading(uint64_t done, uint64_t total, void *context)
{
    if (!is_time(context))
        return;
    if (total != 0)
        fprintf(stderr, LINE_BEGIN "reading: %" PRIu64 " of %" PRIu64 " KiB", done / 1024,
                total / 1024);
    else
        fprintf(stderr, LINE_BEGIN "reading: %" PRIu64 " KiB", done / 1024);
}

void replay_progress_events(replay_progress *progress, size_t position, size_t count,
                            int64_t messages, int64_t started)
{
    if (!is_time(progress))
        return;
    int64_t elapsed = replay_monotonic() - started;
    double  seconds = elapsed > 0 ? (double)elapsed / 1e6 : 1e-6;
    fprintf(stderr, LINE_BEGIN "event %zu of %zu, %" PRId64 " messages, %.0f/s", position, count,
            messages, (double)messages / seconds);
}

void replay_progress_clear(replay_progress *progress)
{
    if (progress->has_line)
        fputs(LINE_BEGIN, stderr);
    progress->has_line = false;
}

void replay_progress_say(const char *format, ...)
{
    char    line[700]; /* an error's text and some words */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            *c = ' '; /* one line, whatever a store's client library said */
    fprintf(stderr, "%spawl-replay: %s\n", isatty(STDERR_FILENO) == 1 ? LINE_BEGIN : "", line);
}
