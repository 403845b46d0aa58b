/* process.h - functions for programs that start themselves again, to be killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EXAMPLE_PROCESS_H
#define EXAMPLE_PROCESS_H

#include "pawl/base.h"

/* In the child of a fork: runs this program with these arguments, or ends the process. Uses only functions that are
 * safe there. */
void example_run_self(char **words);
/* The user's seed; 0: a seed drawn by the system. */
pawl_code example_seed(int64_t given, uint64_t *seed, pawl_error *error);

#endif
