/* arena.h - shortage of memory, as an arena knows it.
 *
 * Tests: tests/unit/engine/test_engine_memory.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_ARENA_H
#define PAWL_BASE_ARENA_H

#include "pawl/base.h"

/* Since the last reset, was there no memory for something that was asked of it? Tells a
 * shortage from the PAWL_ENOMEM that an application's function answers of its own. */
bool pawl__arena_is_short(const pawl_arena *arena);

#endif
