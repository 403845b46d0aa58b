/* actions.h - the stream of what operators did with a thing, read and printed.
 *
 * Tests: tests/system/command_dead.sh, command_aggregator.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_ACTIONS_H
#define PAWL_CLI_ACTIONS_H

#include "cli/cli.h"

typedef struct pawl__action_row {
    pawl_text action; /* "retried" */
    pawl_time at;
    pawl_text by, reason;
} pawl__action_row;

typedef struct pawl__action_rows {
    pawl__action_row *items;
    size_t            count;
} pawl__action_rows;

extern const pawl__column pawl__action_columns[];

/* Reads the actions out of their events, whose types begin with the prefix: "pawl.dead_". */
pawl__action_rows pawl__actions_read(const pawl_event_rows *events, const char *prefix,
                                     pawl_arena *arena);
/* The actions as inner rows of the thing that is shown. */
pawl__inner_rows pawl__actions_inner(const pawl__action_rows *actions);
/* Prints a thing with its actions alone. `row` NULL: it is gone, and only what was done with it is told. */
pawl_code pawl__actions_show(const pawl__view *view, const void *row,
                             const pawl__action_rows *actions, pawl_error *error);

/* PAWL_ELIMIT: the reason and the user's name are too long together, before the store is opened. */
pawl_code pawl__reason_check(const char *reason, pawl_error *error);

#endif
