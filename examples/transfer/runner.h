/* runner.h - a process that runs the bank, both endpoints of it, until it is told to
 * end or is killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_RUNNER_H
#define TRANSFER_RUNNER_H

#include "options.h"

#define TRANSFER_PREFIX_FORMAT "transfer_%s_" /* of the tables; with the run's name */

/* Returns after SIGTERM or SIGINT, or when an endpoint cannot go on. */
pawl_code transfer_runner_work(const transfer_options *options, pawl_error *error);

#endif
