/* unread_destinations.h - a warning about destinations that no endpoint reads.
 *
 * Threads: any worker's.
 * Tests: tests/system/command_run.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_UNREAD_DESTINATIONS_H
#define PAWL_RUNTIME_UNREAD_DESTINATIONS_H

#include "runtime/runtime.h"

/* Warns once of a queue of this store that is sent to without a route and has no endpoint. When the
 * store cannot be asked now, it is not asked again. */
void pawl__unread_destination_warn(pawl__worker *worker, pawl_text queue);

#endif
