/* interrupt.h - SIGINT and SIGTERM end a replay at the next step; a second one
 * ends the process at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_INTERRUPT_H
#define REPLAY_INTERRUPT_H

#include "pawl/base.h"

void replay_interrupt_watch(void);
bool replay_interrupted(void);
/* PAWL_EINTERRUPTED with its text, or PAWL_OK. */
pawl_code replay_interrupt_check(pawl_error *error);

#endif
