/* arena.h - additions to the arena of pawl/base.h: memory that is not zeroed, signs of shortage, copies of texts.
 *
 * Tests: tests/unit/engine/test_engine_memory.c, test_engine_random.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_ARENA_H
#define PAWL_BASE_ARENA_H

#include "pawl/base.h"

/* Allocates memory of which only the first `zeroed` bytes are zero. An array behind these bytes uses no page of the
 * machine until it is written. NULL: no memory. Freed by pawl_free. */
void *pawl__allocate_zeroed(size_t size, size_t zeroed);

/* Memory that is not zeroed, for callers that write before they read. NULL: no memory. */
void *pawl__arena_take_unset(pawl_arena *arena, size_t size);

/* Has an allocation from the arena failed since the last reset? Tells a shortage of memory from a PAWL_ENOMEM that a
 * function of the application returned itself. */
bool pawl__arena_is_short(const pawl_arena *arena);

/* Replaces the texts of a row by copies in the arena. False: no memory. */
bool pawl__arena_texts(pawl_arena *arena, pawl_text *const *texts, size_t count);

/* The texts of a pawl_message, and how many there are. */
#define PAWL__MESSAGE_TEXTS(message_)                                                             \
    ((pawl_text *[]){&(message_)->id, &(message_)->type, &(message_)->body, &(message_)->headers, \
                     &(message_)->correlation_id, &(message_)->causation_id}),                    \
        6

/* The text of the id, in the arena; data NULL: no memory. */
pawl_text pawl__arena_uuid(pawl_arena *arena, pawl_uuid id);

/* For tests, called when a program starts: from then on, reset and rewind overwrite the memory that they free, in
 * every arena, so that a use of freed text is noticed. */
void pawl__arena_overwrite(bool is_on);

#endif
