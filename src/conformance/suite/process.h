/* process.h - parts of a case that run in processes of their own. A child opens handles of its own; the case
 * has none open while it forks, for what a library keeps of them would be the child's too.
 *
 *     fork all -> open the gate -> children run, report, _exit -> sum -> look
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CONFORMANCE_PROCESS_H
#define PAWL_CONFORMANCE_PROCESS_H

#include "conformance/suite/run.h"

#define SUITE_PROGRAMS 4
#define SUITE_COUNTS 400

/* Runs in a child, whose number from 0 is `index`, and counts what it likes. */
typedef void suite_program(suite *s, unsigned index, unsigned *counts);

/* Runs the function in `count` processes at once. `counts` gets the sums of what
 * they counted; a failure in one is the case's. */
void suite_run_programs(suite *s, unsigned count, suite_program *function, unsigned *counts);

/* Whether processes share a store is seen by what one leaves behind: the case is not applicable otherwise. */
void suite_need_programs(suite *s);

void suite_expect_each(suite *s, const unsigned *counts, unsigned count, unsigned expected);

#endif
