/* limits.h - limits of health, as `--health` gives them: CHECK=DEGRADED[/UNHEALTHY].
 *
 *     queue_age=5m         dead_letters=10/1000         queue_no_consumer=off
 *
 * A limit that is not named stays as it was; "off" is never reached.
 *
 * Threads: none; called from main.
 * Tests: tests/system/command_health.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_LIMITS_H
#define PAWL_CLI_LIMITS_H

#include "cli/base/options.h"
#include "runtime/common/health_rows.h"

/* Rows of a verb's options, for a field of type pawl__texts. */
#define PAWL__OPTION_HEALTH(fields, member)                                \
    PAWL__OPTION(fields, "health", LIST, member, "CHECK=LIMIT[/LIMIT]", 0, \
                 "from where on a check of health is degraded, and unhealthy; off: never")

typedef struct pawl__limits {
    pawl_health_options health;
    size_t              lines[PAWL__HEALTH_CHECK_COUNT]; /* by check, of the file; 0: not in it */
    bool                is_given[PAWL__HEALTH_CHECK_COUNT]; /* by the command line */
} pawl__limits;

/* Sets the limits that a line of the file names. PAWL_EINVAL: an unknown check, a limit that is none
 * of its kind, a check of an earlier line. */
pawl_code pawl__limit_read(const char *text, size_t line, pawl__limits *limits, pawl_error *error);
/* Sets those of the command line. PAWL_EINVAL also when the unhealthy limit of a check is below the
 * degraded one. */
pawl_code pawl__limits_read(const pawl__texts *texts, pawl__limits *limits, pawl_error *error);
/* CHECK=DEGRADED/UNHEALTHY as they hold, defaults too; false when there is no such check. */
bool pawl__limit_text(const pawl__limits *limits, size_t check, char *text, size_t size);

#endif
