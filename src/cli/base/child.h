/* child.h - runs a verb of this command in a child process, for the console.
 *
 * Threads: any. Tests: tests/system/console.sh, command_bulk.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_CHILD_H
#define PAWL_CLI_CHILD_H

#include "pawl/base.h"

typedef struct pawl__child {
    const char *const *words; /* VERB ...; without "pawl" */
    size_t             count;
    /* URL; it is passed in the environment, since it may have a password and every user can read a process's words. */
    const char *store;
    pawl_text   asker; /* the console's user; empty: nobody */
    pawl_text   input; /* its standard input */
    /* Milliseconds until the process gets SIGTERM, and SIGKILL 3 s later; 0: no limit. */
    int64_t time_max;
    /* Called once a second with the last 32 to 64 KB of standard error; false sends SIGTERM. May be NULL. */
    bool (*goes_on)(void *context, pawl_text errors);
    void *context;
} pawl__child;

#define PAWL__CHILD_OUT_MAX \
    ((size_t)24 * 1024 * 1024) /* a body at its limit, escaped; more kills the process */

typedef struct pawl__child_result {
    int       exit_code; /* -1: it was killed */
    bool      is_late;   /* longer than time_max */
    pawl_text out, err;  /* in the arena; with data, when empty, too */
} pawl__child_result;

/* Called first in every process of the command. A child of another pawl then gets SIGTERM when its parent ends, even
 * if that was killed; otherwise it would go on, and nobody could stop it. */
void pawl__child_begin(void);

/* Sets the words "--load", PATH ... that each child gets in front of its verb. Borrowed until the process ends. */
void pawl__child_loads(char *const *words, size_t count);

/* Runs the child to its end. PAWL_ENOMEM: it could not be started. */
pawl_code pawl__child_run(const pawl__child *child, pawl_arena *arena, pawl__child_result *result,
                          pawl_error *error);

/* The last line that the verb printed on standard error, without "pawl: "; a part of `result`. */
pawl_text pawl__child_said(const pawl__child_result *result);

#endif
