/* saga_history.h - `pawl saga history`: the lines of a saga, and how they are drawn.
 *
 * Tests: tests/system/command_saga_history.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_SAGA_HISTORY_H
#define PAWL_CLI_SAGA_HISTORY_H

#include "cli/saga/saga.h"

extern const pawl__column pawl__history_columns[];

/* Prints the lines as "text", "mermaid", "dot" or "xes". */
pawl_code pawl__history_print(const char *format, pawl_text name, const pawl_history_row *lines,
                              size_t count, FILE *out, pawl_error *error);

#endif
