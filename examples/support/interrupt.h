/* interrupt.h - SIGINT and SIGTERM end a program at its next step; a second signal ends the process at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EXAMPLE_INTERRUPT_H
#define EXAMPLE_INTERRUPT_H

#include "pawl/base.h"

void example_interrupt_watch(void);
bool example_interrupted(void);
/* PAWL_EINTERRUPTED with an error text, or PAWL_OK. */
pawl_code example_interrupt_check(pawl_error *error);

#endif
