/* history.h - operations on lines of history.
 *
 * Tests: src/conformance/store/history.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MEMORY_HISTORY_H
#define PAWL_MEMORY_HISTORY_H

#include "store/memory/memory.h"

pawl_code pawl__memory_history_find(pawl_store *store, const pawl_history_query *query,
                                    pawl_arena *arena, pawl_history_rows *rows, pawl_error *error);
/* A part of sweep: at most count_max lines; how many went. */
size_t pawl__memory_history_sweep(memory_data *data, pawl_time before, size_t count_max);

#endif
