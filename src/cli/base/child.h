/* child.h - a verb of this command that runs as a process of its own.
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
    const char *const *variables; /* "NAME=VALUE", added to the environment; ends with NULL */
    pawl_text          input;     /* its standard input */
    int64_t
        time_max; /* milliseconds; 0: as long as it takes. Then it gets SIGTERM, and SIGKILL a little later */
    /* Called once in a second with the last 32 KB and more of standard error; false: the process gets SIGTERM. NULL: not
     * called. */
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

/* Called first in every process of the command: one that runs for another gets SIGTERM when that ends, killed for example.
 * Otherwise it would go on, and nobody could stop it. */
void pawl__child_begin(void);

/* "--load", PATH ...: each verb that is run gets them in front of its words. Borrows them for the rest of the process. */
void pawl__child_loads(char *const *words, size_t count);

/* Runs it to its end. PAWL_ENOMEM: it could not be started. */
pawl_code pawl__child_run(const pawl__child *child, pawl_arena *arena, pawl__child_result *result,
                          pawl_error *error);

/* The last line that the verb printed on standard error, without "pawl: "; a part of `result`. */
pawl_text pawl__child_said(const pawl__child_result *result);

#endif
