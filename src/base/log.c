/* log.c - passes each log line to the application's hook. Text from outside in it cannot end the line or drive the
 * terminal (calm.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/calm.h"

#include <stdio.h>
#include <string.h>

#define LINE_SIZE_MAX 2000

static void log_to_stderr(pawl_log_level level, const char *text, void *context)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    (void)context;
    fprintf(stderr, "pawl: %s: %s\n", names[level], text);
}

static pawl_log_fn   *log_function = log_to_stderr;
static pawl_log_level log_level    = PAWL_LOG_WARNING;
static void          *log_context;

void pawl_log_set(pawl_log_fn *log, pawl_log_level level_max, void *context)
{
    log_function = log != NULL ? log : log_to_stderr;
    log_level    = log != NULL ? level_max : PAWL_LOG_WARNING;
    log_context  = context;
}

void pawl_log(pawl_log_level level, const char *format, ...)
{
    if (level > log_level)
        return;
    char    line[LINE_SIZE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pawl__calm_line(line, strlen(line));
    log_function(level, line, log_context);
}
