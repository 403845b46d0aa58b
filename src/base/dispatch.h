/* dispatch.h - computes the ids of dispatches, also for senders that are no saga, process or entity.
 *
 * Threads: pure.
 * Tests: tests/unit/base/test_base_dispatch.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_DISPATCH_H
#define PAWL_BASE_DISPATCH_H

#include "pawl/base.h"

/* Kind of the subject. It is part of the hashed name, so that a source and a message id with the same text give
 * different ids. */
#define PAWL__SUBJECT_SOURCE 's'
#define PAWL__SUBJECT_MESSAGE 'm'

/* Zero when the endpoint or the subject is longer than a store accepts. */
pawl_dispatch_id pawl__dispatch_id_of(pawl_text endpoint, char kind, pawl_text subject,
                                      int64_t version, int32_t index);

/* As pawl_dispatch_id_make; if the source is empty, the id of the message that is handled takes its place (O5). */
pawl_dispatch_id pawl__dispatch_id(pawl_text endpoint, pawl_text source, pawl_text message_id,
                                   int64_t version, int32_t index);

#endif
