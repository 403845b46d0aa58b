/* reader.h - a word about destinations that nobody reads.
 *
 * Threads: any worker's.
 * Tests: tests/system/command_run.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_READER_H
#define PAWL_RUNTIME_READER_H

#include "runtime/runtime.h"

/* Of a queue of this store that is sent to without a route: a warning, once, when nobody
 * reads it. A store that cannot be asked now is not asked again. */
void pawl__reader_look(pawl__worker *worker, pawl_text queue);

#endif
