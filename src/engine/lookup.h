/* lookup.h - the types of a message that this program handles, its own and its base types; and the
 * saga or process that an answer is for.
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
/* The key of the process, or the id of the saga, that the answer's header names; empty when it
 * names another than `saga`. PAWL_ENOMEM is the only failure. */
pawl_code pawl__lookup_addressee(pawl__batch *batch, const pawl_message *message,
                                 const pawl__saga_model *saga, pawl_text *key);
/* Was the saga that the answer is for ended, and begun again, by earlier units of the batch? */
bool pawl__lookup_is_replaced(const pawl__lookup *lookup);
/* For a lookup that found nothing: has the process been completed? No message begins it again or
 * waits for it. An answer comes after the commit of the saga that asked: one that is not there has
 * ended. */
bool pawl__lookup_is_over(const pawl__lookup *lookup);

#endif
