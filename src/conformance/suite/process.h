/* process.h - runs parts of a case in child processes. Each child opens its own handles. The case has none open while
 * it forks, as a child would share the state that a client library keeps for them.
 *
 *     fork all -> open the gate -> children run, report, _exit -> sum up -> check
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CONFORMANCE_PROCESS_H
#define PAWL_CONFORMANCE_PROCESS_H

#include "conformance/suite/run.h"

#define SUITE_PROGRAMS 4
#define SUITE_COUNTS 400

/* Runs in a child, numbered from 0 by `index`; may count in `counts`. */
typedef void suite_program(suite *s, unsigned index, unsigned *counts);

/* Runs the function in `count` processes at once. `counts` gets the sums of their counts; a failure in a child fails
 * the case. */
void suite_run_programs(suite *s, unsigned count, suite_program *function, unsigned *counts);

/* Skips the case if processes do not share the store: a child leaves data, which the parent must see. */
void suite_need_programs(suite *s);

void suite_expect_each(suite *s, const unsigned *counts, unsigned count, unsigned expected);

#endif
