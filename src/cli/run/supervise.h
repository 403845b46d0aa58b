/* supervise.h - `pawl run --restart`: a parent that starts the endpoints' process, notes its death
 * where the history of the message in hand gets it from, and starts it again.
 *
 * Tests: tests/system/command_restart.sh, deaths.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_SUPERVISE_H
#define PAWL_CLI_SUPERVISE_H

#include "cli/cli.h"

/* True in each child, which goes on as if there were no parent. False in the parent, at the end of
 * it all: `exit_code` is then that of the last child, or 128 and the signal that killed it. Called
 * while the process has one thread, and no store open. */
bool pawl__supervise(const pawl__store_fields *at, int *exit_code);

#endif
