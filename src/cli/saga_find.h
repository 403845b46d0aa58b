/* saga_find.h - a saga by the words of an operator: its type, and its correlation value or its id.
 *
 * Tests: tests/system/command_saga.sh, command_why.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_SAGA_FIND_H
#define PAWL_CLI_SAGA_FIND_H

#include "cli/cli.h"

typedef struct pawl__saga_tables {
    const pawl_saga_table *const *items;
    size_t                        count;
} pawl__saga_tables;

/* "TYPE/VALUE" in its two parts. False: it has no slash, or nothing on a side of it. */
bool pawl__saga_split(pawl_text word, pawl_text *type, pawl_text *value);

/* Finds the saga of the table by either value, or by its id. A value that the column cannot have
 * finds nothing: the row is PAWL_SAGA_MISSING. */
pawl_code pawl__saga_find_in(pawl_store *store, const pawl_saga_table *table, pawl_text value,
                             pawl_arena *arena, pawl_saga_row *row, pawl_error *error);
/* The same in all tables of the type. `*table` is the one that has it, or NULL. */
pawl_code pawl__saga_find(pawl_store *store, const pawl__saga_tables *tables, pawl_text type,
                          pawl_text value, pawl_arena *arena, const pawl_saga_table **table,
                          pawl_saga_row *row, pawl_error *error);

#endif
