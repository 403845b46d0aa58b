/* runner.h - a process that runs both endpoints of the bank until it gets a signal or is killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_RUNNER_H
#define TRANSFER_RUNNER_H

#include "options.h"

#define TRANSFER_PREFIX_FORMAT "transfer_%s_" /* of the tables, with the run's name */

/* Returns after SIGTERM or SIGINT, or if an endpoint cannot continue. */
pawl_code transfer_runner_work(const transfer_options *options, pawl_error *error);

#endif
