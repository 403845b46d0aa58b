/* process.h - programs that start themselves again, to be killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EXAMPLE_PROCESS_H
#define EXAMPLE_PROCESS_H

#include "pawl/base.h"

/* In the child of a fork: runs this program with those words, or ends the process.
 * Calls only what may be called there. */
void example_run_self(char **words);
/* A seed of the user's (0: none given), or one that the system draws. */
pawl_code example_seed(int64_t given, uint64_t *seed, pawl_error *error);

#endif
