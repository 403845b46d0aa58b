/* lookup.h - which of a message's types (its own and its base types) this program handles, and which
 * saga or process an answer is for.
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

/* Lists the types with handlers, the message's own first. PAWL_ENOMEM is the only failure. */
pawl_code pawl__lookup_types_of(pawl__batch *batch, const pawl_message *message,
                                pawl__lookup_types *types);
/* The key of the process, or the id of the saga, that the answer's header names; empty when it
 * names another than `saga`. PAWL_ENOMEM is the only failure. */
pawl_code pawl__lookup_addressee(pawl__batch *batch, const pawl_message *message,
                                 const pawl__saga_model *saga, pawl_text *key);
/* Did earlier units of the batch complete the saga that the answer is for, and begin it again? */
bool pawl__lookup_is_replaced(const pawl__lookup *lookup);
/* For a lookup that found nothing: has the process or saga completed, so that the message need not wait? A completed
 * process never begins again. An answer to a saga comes after that saga's commit, so a missing saga has completed. */
bool pawl__lookup_is_over(const pawl__lookup *lookup);

#endif
