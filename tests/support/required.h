/* required.h - PAWL_REQUIRE: with "all" tests may skip only servers that PAWL_MISSING_SERVERS names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_REQUIRED_H
#define PAWL_TESTS_REQUIRED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool server_may_be_missing(const char *name)
{
    const char *required = getenv("PAWL_REQUIRE");
    const char *missing  = getenv("PAWL_MISSING_SERVERS");
    return required == NULL || strcmp(required, "all") != 0 ||
           (missing != NULL && strstr(missing, name) != NULL);
}

#endif
