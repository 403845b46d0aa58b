/* store_options.h - how a store is opened, and what its schema is asked for.
 *
 * Threads: plain data.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_OPTIONS_H
#define PAWL_STORE_OPTIONS_H

#include "pawl/base.h"
#include "pawl/message.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pawl_open_mode {
    PAWL_OPEN_CREATE, /* make what is missing (memory, sqlite, mongodb); servers check only */
    PAWL_OPEN_CHECK,  /* PAWL_ESCHEMA when something is missing, older or newer */
    PAWL_OPEN_LOOK,   /* as CHECK; a file that does not exist is PAWL_EUNREACHABLE */
    PAWL_OPEN_SCHEMA, /* connect only: for pawl_store_schema */
} pawl_open_mode;

typedef struct pawl_store_options {
    size_t                        options_size; /* sizeof(pawl_store_options) */
    pawl_open_mode                mode;
    const char                   *system_prefix; /* NULL: "pawl_" */
    int64_t                       deadline_ms;   /* of one call; 0: 30,000 */
    const pawl_saga_table *const *tables;        /* saga tables that CREATE and CHECK look after */
    size_t                        table_count;
    /* How long a transaction may rest while a handler runs, where the server ends one that rests; 0: the
     * driver's own limit, a minute or more. */
    int64_t handler_ms_max;
} pawl_store_options;

#define PAWL_STORE_OPTIONS_INIT                    \
    {                                              \
        .options_size = sizeof(pawl_store_options) \
    }

typedef struct pawl_schema_spec {
    const char                   *system_prefix; /* NULL: "pawl_" */
    const pawl_saga_table *const *tables;
    size_t                        table_count;
    int64_t                       deadline_ms; /* of one call; 0: 30,000 */
    bool                          is_drop;     /* PRINT: the script that drops the tables */
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

#ifdef __cplusplus
}
#endif
#endif
