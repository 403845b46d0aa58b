/* dispatch.h - the ids of dispatches, for those whose subject is no source.
 *
 * Threads: pure.
 * Tests: tests/unit/base/test_base_dispatch.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_DISPATCH_H
#define PAWL_BASE_DISPATCH_H

#include "pawl/base.h"

/* Kind of the subject: part of the name, so that a source and a message that are
 * called the same give different ids. */
#define PAWL__SUBJECT_SOURCE 's'
#define PAWL__SUBJECT_MESSAGE 'm'

/* Zero when the endpoint or the subject is longer than any that a store takes. */
pawl_dispatch_id pawl__dispatch_id_of(pawl_text endpoint, char kind, pawl_text subject,
                                      int64_t version, int32_t index);

/* As pawl_dispatch_id_make; for an empty source the id of the message in hand stands in (O5). */
pawl_dispatch_id pawl__dispatch_id(pawl_text endpoint, pawl_text source, pawl_text message_id,
                                   int64_t version, int32_t index);

#endif
