/* store_open.h - opening a store and closing it.
 *
 * Threads: a handle belongs to one thread at a time; open one for each thread.
 * Fork: a handle used in a child process is refused with PAWL_EINVAL.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_OPEN_H
#define PAWL_STORE_OPEN_H

#include "pawl/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_store      pawl_store;
typedef struct pawl_saga_table pawl_saga_table; /* saga_rows.h */

typedef enum pawl_open_mode {
    PAWL_OPEN_CREATE,   /* make what is missing (memory, sqlite, mongodb); servers check only */
    PAWL_OPEN_CHECK,    /* PAWL_ESCHEMA when something is missing, older or newer */
    PAWL_OPEN_EXISTING, /* as CHECK; a file that does not exist is PAWL_EUNREACHABLE */
    PAWL_OPEN_SCHEMA,   /* read the URL only: pawl_store_schema connects */
} pawl_open_mode;

typedef struct pawl_store_options {
    size_t         options_size; /* sizeof(pawl_store_options) */
    pawl_open_mode mode;
    const char    *system_prefix; /* NULL: "pawl_" */
    /* Of one call, microseconds; 0: 30 s. A commit that gets no answer may take about three times as long: it reconnects
     * and looks up its outcome. */
    int64_t                       deadline;
    const pawl_saga_table *const *tables; /* saga tables of CREATE and CHECK */
    size_t                        table_count;
    /* How long a transaction may be idle while a handler runs, on servers that end idle transactions;
     * microseconds; 0: the driver's own limit, a minute or more. */
    int64_t handler_time_max;
    /* Promise of the caller, by which the driver may make the next claim in the round trip of a commit: after the commit
     * that settles its last claim, the next call is a claim of the same queue, with a due_max that moved with the
     * machine's clock, or wait (of any length, even 0). Any other call on the handle releases the claimed rows. */
    bool claims_ahead;
} pawl_store_options;

#define PAWL_STORE_OPTIONS_INIT PAWL__BRACES(PAWL__SET(options_size, sizeof(pawl_store_options)))

/* Opens a store. `url` begins with a scheme. NULL options: all defaults. On failure *store is NULL, and no text
 * has the URL's passwords. PAWL_EUNREACHABLE: the store cannot be reached, or its driver is not installed (the text
 * names the package); PAWL_EDENIED, PAWL_ENOTSTORE, PAWL_ESCHEMA, PAWL_ECONFIG: see types.h. */
PAWL_API pawl_code pawl_store_open(const char *url, const pawl_store_options *options,
                                   pawl_store **store, pawl_error *error);
PAWL_API void      pawl_store_close(pawl_store *store); /* accepts NULL */

#ifdef __cplusplus
}
#endif
#endif
