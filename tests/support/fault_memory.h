/* fault_memory.h - an allocator whose n-th allocation fails.
 *
 *     install (first of all) -> { set -> { go_on, pause }* -> was_reached }*
 *
 * Allocations count only between go_on and pause: a test's own never fail.
 *
 * Threads: one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_FAULT_MEMORY_H
#define PAWL_TESTS_FAULT_MEMORY_H

#include "pawl/base.h"

void fault_memory_install(void);
/* Restarts the count; 0: none fails. */
void fault_memory_set(long n);
void fault_memory_go_on(void);
void fault_memory_pause(void);
/* fault_memory_set and go_on. */
void fault_memory_begin(long n);
/* Was the n-th allocation requested? */
bool fault_memory_was_reached(void);
/* Pauses, and returns whether the n-th allocation was requested. */
bool fault_memory_end(void);
/* Blocks not freed yet. */
long fault_memory_live(void);

#endif
