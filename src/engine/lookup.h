/* lookup.h - the types of a message that this program handles: its own and its base types.
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine/test_engine_mapping.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_LOOKUP_H
#define PAWL_ENGINE_LOOKUP_H

#include "engine/batch.h"

typedef struct pawl__lookup_types {
    const pawl__type_model *items[PAWL__BASES_MAX];
    size_t                  count;
} pawl__lookup_types;

/* Adds them, the message's own first. PAWL_ENOMEM is the only failure. */
pawl_code pawl__lookup_types_of(pawl__batch *batch, const pawl_message *message,
                                pawl__lookup_types *types);

#endif
