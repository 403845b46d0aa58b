/* store.h - functions for programs that create their own tables in a user's store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EXAMPLE_STORE_H
#define EXAMPLE_STORE_H

#include "pawl/store_calls.h"

/* Prefixes the error's text with the store's URL, unless it contains that already. */
pawl_code example_store_wrap(const char *url, pawl_code code, pawl_error *error);
/* Runs a schema verb, and ignores its output. */
pawl_code example_store_schema(const char *url, pawl_schema_verb verb, const pawl_schema_spec *spec,
                               pawl_error *error);
/* Messages, timeouts and collected rows that are still to be handled. */
typedef struct example_left {
    const char *what;
    int64_t     count;
} example_left;

#define EXAMPLE_LEFT_MAX 7

/* Returns the number of kinds with rows left, and those kinds. */
size_t example_store_left(const pawl_stats *stats, example_left left[EXAMPLE_LEFT_MAX]);
/* Refuses a store that ends with the process that is killed. */
pawl_code example_store_stays(const char *url, pawl_error *error);

#endif
