/* pace.h - work in bulk that goes no faster than asked for.
 *
 * Threads: none; called from main.
 * Tests: tests/system/command_dead.sh, command_queue.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_PACE_H
#define PAWL_CLI_PACE_H

#include <stddef.h>
#include <stdint.h>

/* Microseconds of a clock that is never set back. */
int64_t pawl__pace_now(void);
/* How many go in one commit: at a rate those of a tenth of a second, at most `page`. Rate 0: as fast
 * as can be. */
size_t pawl__pace_page(int64_t rate, size_t page);
/* Waits until the next is due when `done` are done since `begun`; a signal ends it. */
void pawl__pace_wait(int64_t begun, int64_t done, int64_t rate);

#endif
