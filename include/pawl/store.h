/* store.h - applies a store's schema and commits changes to a store. store_open.h opens one.
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
        is_purge; /* APPLY: also drops columns of correlation properties that a saga no longer has. Programs
                    * that still use them fail afterwards: end these first */
    const char *application; /* the file whose tables they are, for hints: APP */
} pawl_schema_spec;

typedef enum pawl_schema_verb {
    PAWL_SCHEMA_PRINT,  /* the script, line by line; needs no connection */
    PAWL_SCHEMA_APPLY,  /* run the script; it may run again, or twice at once */
    PAWL_SCHEMA_VERIFY, /* one line for each difference; PAWL_ESCHEMA when there is one */
    PAWL_SCHEMA_DROP,   /* drop the tables of the spec; harmless when they are gone */
    /* The statements that APPLY would run now, line by line as a script; no line when there is nothing to do. Runs
     * none of them, and fails where APPLY would. PAWL_EUNSUPPORTED: the store has no tables, or the driver
     * lacks this verb. */
    PAWL_SCHEMA_PLAN,
} pawl_schema_verb;

/* Receives one line without its newline. */
typedef void pawl_line_fn(pawl_text line, void *context);

PAWL_API pawl_code pawl_store_schema(const char *url, pawl_schema_verb verb,
                                     const pawl_schema_spec *spec, pawl_line_fn *line,
                                     void *context, pawl_error *error);

/* ---- Committing -------------------------------------------------------------- */

/* Checks the set (limits, names, group numbers), then commits it, and wakes threads of this process that
 * wait on the same store. After a lost connection it finds out whether the commit took effect; PAWL_EUNKNOWN is
 * answered only when the store cannot be queried. Opens a worker for a handle without one. With NULL for
 * `refused` (a set of one group) the first refusal's reason and text are the answer. */
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
/* The folder that the library searches for modules after its own: <libdir>/pawl/PAWL_ABI of its configuration. Static. */
PAWL_API const char *pawl_module_folder(void);
/* Has the handle's call that is under way end soon with PAWL_EINTERRUPTED. From any thread. */
PAWL_API void pawl_store_interrupt(pawl_store *store);
/* In the arena: the URL with "***" for passwords, and for an http or https user without a password, which may be
 * a token. Of a text of unknown form only the scheme is shown. */
PAWL_API pawl_text pawl_url_masked(const char *url, pawl_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
