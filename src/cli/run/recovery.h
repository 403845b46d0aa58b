/* recovery.h - rows of recoverability (pawl/recovery.h) as words: --recovery, `recovery = ` in the file
 * of options, and --show-options.
 *
 *     code=EUNREACHABLE type=charge immediate=0 delayed=10 delay=1m delay-max=2h then=discard
 *
 * Each word may be left out; in words 0 retries are none.
 *
 * Threads: none; called from main.
 * Tests: tests/system/command_options.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_RECOVERY_H
#define PAWL_CLI_RECOVERY_H

#include "pawl/pawl.h"

/* Rows of one place: of the command line, or of a part of the file. */
typedef struct pawl__recovery_rows {
    pawl_recovery items[PAWL_RECOVERY_ROWS_MAX];
    size_t        lines[PAWL_RECOVERY_ROWS_MAX]; /* of the file; 0: none */
    size_t        count;
} pawl__recovery_rows;

/* Reads a row and adds it. PAWL_EINVAL names the word and the limit; a row that is hidden by an earlier
 * one of the place is refused, too. */
pawl_code pawl__recovery_add(pawl__recovery_rows *rows, const char *text, size_t line,
                             pawl_arena *arena, pawl_error *error);
/* Adds the row unless an earlier one takes all that it is for. False: there is no room. */
bool pawl__recovery_join(pawl__recovery_rows *rows, const pawl_recovery *row, size_t line);
/* The row as it would be given; in the arena, NULL without memory. */
const char *pawl__recovery_text(const pawl_recovery *row, pawl_arena *arena);

#endif
