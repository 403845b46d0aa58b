/* arena.h - memory that is zeroed in part or not at all; shortage of memory; texts of rows; ids as texts; memory that is over.
 *
 * Tests: tests/unit/engine/test_engine_memory.c, test_engine_random.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_ARENA_H
#define PAWL_BASE_ARENA_H

#include "pawl/base.h"

/* Memory of which only the first bytes are zero: an array behind them that is read up to its count takes no page of
 * the machine before it is used. NULL: no memory; freed by pawl_free. */
void *pawl__allocate_zeroed(size_t size, size_t zeroed);

/* Memory as it comes, for one that writes before it reads. NULL: no memory. */
void *pawl__arena_take_unset(pawl_arena *arena, size_t size);

/* Since the last reset, was there no memory for something that was asked of it? Tells a
 * shortage from the PAWL_ENOMEM that an application's function answers of its own. */
bool pawl__arena_is_short(const pawl_arena *arena);

/* Copies the texts of a row into the arena, in their places. False: no memory. */
bool pawl__arena_texts(pawl_arena *arena, pawl_text *const *texts, size_t count);

/* The text of the id, in the arena; data NULL: no memory. */
pawl_text pawl__arena_uuid(pawl_arena *arena, pawl_uuid id);

/* For tests: from now on reset and rewind overwrite what they give back, in every arena, so that
 * text that is read behind its end is not there by luck. At the start of a program. */
void pawl__arena_overwrite(bool is_on);

#endif
