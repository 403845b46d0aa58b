/* store.h - functions of programs with tables of their own in a user's store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EXAMPLE_STORE_H
#define EXAMPLE_STORE_H

#include "pawl/store_calls.h"

/* Puts the store's URL before the error's text unless that names it already. */
pawl_code example_store_wrap(const char *url, pawl_code code, pawl_error *error);
/* Runs a schema verb whose lines are of no interest. */
pawl_code example_store_schema(const char *url, pawl_schema_verb verb, const pawl_schema_spec *spec,
                               pawl_error *error);
/* Messages, timeouts and collected rows that have not come to their end. */
typedef struct example_left {
    const char *what;
    int64_t     count;
} example_left;

#define EXAMPLE_LEFT_MAX 7

/* The kinds of which some are left, and how many kinds those are. */
size_t example_store_left(const pawl_stats *stats, example_left left[EXAMPLE_LEFT_MAX]);
/* Refuses a store that is gone with the process that is killed. */
pawl_code example_store_stays(const char *url, pawl_error *error);

#endif
