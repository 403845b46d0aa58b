/* store.h - opening a store, its schema, and committing changes to it.
 *
 *     open -> commit* -> close
 *
 * The operations of single rows are in store_*.h; what a driver must do is in
 * store_driver.h.
 *
 * Threads: a handle belongs to one thread at a time; open one for each thread.
 *     Only interrupt() may be called from another one.
 * Fork: a handle used in a child process is refused with PAWL_EINVAL.
 * Contract tests: tests/contract.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_H
#define PAWL_STORE_H

#include "pawl/base.h"
#include "pawl/change.h"
#include "pawl/limits.h"
#include "pawl/store_options.h"
#include "pawl/store_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_store     pawl_store;
typedef struct pawl_store_ops pawl_store_ops;

/* `url` begins with a scheme. NULL options: all defaults. On failure *store is
 * NULL. A driver that is not installed is PAWL_EUNREACHABLE and names its
 * package. Passwords in the URL appear in no text. */
PAWL_API pawl_code pawl_store_open(const char *url, const pawl_store_options *options,
                                   pawl_store **store, pawl_error *error);
PAWL_API void      pawl_store_close(pawl_store *store); /* accepts NULL */
PAWL_API pawl_code pawl_store_schema(const char *url, pawl_schema_verb verb,
                                     const pawl_schema_spec *spec, pawl_line_fn *line,
                                     void *context, pawl_error *error);
/* Checks the set (limits, names, group numbers), then commits it, wakes who
 * waits on the same store in this process, and resolves an unknown outcome:
 * PAWL_EUNKNOWN comes back only when the store cannot be asked. A handle
 * without a worker is given one. With NULL for `refused` (a set of one group)
 * the first refusal's reason and text are the answer. */
PAWL_API pawl_code pawl_store_commit(pawl_store *store, pawl_changes *changes,
                                     pawl_refusals *refused, pawl_error *error);
/* The check that commit begins with: every name, id and size within its limit, every
 * unit and group in range, no NUL in names, ids and headers. */
PAWL_API pawl_code pawl_changes_check(const pawl_changes *changes, pawl_error *error);
/* Loads a driver module, a shared object that exports PAWL_STORE_DRIVER_SYMBOL,
 * and registers it: it stays loaded until the program ends. A path without '/' is
 * a file of the current folder. Loading the same one again changes nothing.
 * PAWL_EUNREACHABLE: no such file or no shared object; PAWL_ECONFIG: not a driver
 * of this pawl; PAWL_EDUPLICATE: its scheme is taken. */
PAWL_API pawl_code pawl_store_load(const char *path, pawl_error *error);
/* From any thread. */
PAWL_API void pawl_store_interrupt(pawl_store *store);
/* In the arena: the URL with passwords as "***"; of a text of no known form the scheme alone. */
PAWL_API pawl_text pawl_url_masked(const char *url, pawl_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
