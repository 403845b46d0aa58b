/* store.h - a store's schema, and committing changes to it. store_open.h opens one.
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
#include "pawl/store_open.h"
#include "pawl/store_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_store_ops pawl_store_ops;

/* ---- Schema ---------------------------------------------------------------- */

typedef struct pawl_schema_spec {
    const char                   *system_prefix; /* NULL: "pawl_" */
    const pawl_saga_table *const *tables;
    size_t                        table_count;
    int64_t                       deadline; /* of one call, microseconds; 0: 30 s */
    bool                          is_drop;  /* PRINT: the script that drops the tables */
    bool
        is_purge; /* APPLY: drops columns of correlation properties that their saga has no more, too.
                    * Programs that have them still fail from then on: end these first */
    const char *application; /* the file whose tables they are, for hints: APP */
} pawl_schema_spec;

typedef enum pawl_schema_verb {
    PAWL_SCHEMA_PRINT,  /* the script, line by line; needs no connection */
    PAWL_SCHEMA_APPLY,  /* run it; harmless when run again or by two at once */
    PAWL_SCHEMA_VERIFY, /* one line for each difference; PAWL_ESCHEMA when there is one */
    PAWL_SCHEMA_DROP,   /* drop the tables of the spec; harmless when they are gone */
    /* Each statement that APPLY would run there now, line by line as a script that can be run; no
     * line when there is nothing to do. Runs none, and fails where APPLY would refuse. Where there
     * are no tables, and of a driver that does not know it: PAWL_EUNSUPPORTED. */
    PAWL_SCHEMA_PLAN,
} pawl_schema_verb;

/* One line without its newline. */
typedef void pawl_line_fn(pawl_text line, void *context);

PAWL_API pawl_code pawl_store_schema(const char *url, pawl_schema_verb verb,
                                     const pawl_schema_spec *spec, pawl_line_fn *line,
                                     void *context, pawl_error *error);

/* ---- Committing -------------------------------------------------------------- */

/* Checks the set (limits, names, group numbers), then commits it, wakes who
 * waits on the same store in this process, and resolves an unknown outcome:
 * PAWL_EUNKNOWN comes back only when the store cannot be queried. A handle
 * without a worker is given one. With NULL for `refused` (a set of one group)
 * the first refusal's reason and text are the answer. */
PAWL_API pawl_code pawl_store_commit(pawl_store *store, pawl_changes *changes,
                                     pawl_refusals *refused, pawl_error *error);
/* The check that commit begins with: every name, id and size within its limit, every
 * unit and group in range, no NUL in names, ids and headers. */
PAWL_API pawl_code pawl_changes_check(const pawl_changes *changes, pawl_error *error);
/* A driver module exports a `const pawl_store_ops` of this name. */
#define PAWL_STORE_DRIVER_SYMBOL "pawl_store_driver"
/* Loads a driver module, a shared object that exports PAWL_STORE_DRIVER_SYMBOL,
 * and registers it: it stays loaded until the program ends. A path without '/' is
 * a file of the current folder. Loading the same one again changes nothing.
 * PAWL_EUNREACHABLE: no such file or no shared object; PAWL_ECONFIG: not a driver
 * of this pawl; PAWL_EDUPLICATE: its scheme is taken. */
PAWL_API pawl_code pawl_store_load(const char *path, pawl_error *error);
/* The folder in which the library looks for modules behind its own: <libdir>/pawl/PAWL_ABI of its configuration. Static. */
PAWL_API const char *pawl_module_folder(void);
/* From any thread. */
PAWL_API void pawl_store_interrupt(pawl_store *store);
/* In the arena: the URL with passwords as "***", and with a user alone of http and https, which may be
 * a token; of a text of no known form the scheme alone. */
PAWL_API pawl_text pawl_url_masked(const char *url, pawl_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
