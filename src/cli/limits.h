/* limits.h - limits of health, as `--health` gives them: CHECK=DEGRADED[/UNHEALTHY].
 *
 *     queue_age=5m         dead_letters=10/1000         queue_unread=off
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

#include "cli/options.h"
#include "pawl/observe.h"

/* Rows of a verb's options, for a field of type pawl__texts. */
#define PAWL__OPTION_HEALTH(fields, member)                                               \
    {                                                                                     \
        .name = "health", .kind = PAWL__OPTION_LIST, .offset = offsetof(fields, member),  \
        .value = "CHECK=LIMIT[/LIMIT]",                                                   \
        .help  = "from where on a check of health is degraded, and unhealthy; off: never" \
    }

/* Sets the limits that the text names, and its bit in `*seen`. PAWL_EINVAL: an unknown check, a
 * limit that is none of its kind, a check that was seen. */
pawl_code pawl__limit_read(const char *text, pawl_health_options *health, uint64_t *seen,
                           pawl_error *error);
/* All of a list; PAWL_EINVAL also when the unhealthy limit is below the degraded one. */
pawl_code pawl__limits_read(const pawl__texts *texts, pawl_health_options *health,
                            pawl_error *error);

#endif
