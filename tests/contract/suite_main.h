/* suite_main.h - running the contract suite, for the programs that do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_SUITE_MAIN_H
#define PAWL_TESTS_CONTRACT_SUITE_MAIN_H

#include "conformance/suite/run.h"

/* The main of a program that runs the suite: [--list | FILTER]. One line for
 * each case that failed, and a summary. The seed comes from PAWL_SEED, else from
 * the clock, and is printed. */
int suite_main(const suite_fixture *fixture, int argument_count, char **arguments);

#endif
