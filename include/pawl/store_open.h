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
    /* Of one call, microseconds; 0: 30 s. A commit whose answer does not come may take about three times as long: it connects
     * again, and looks up what became of it. */
    int64_t                       deadline;
    const pawl_saga_table *const *tables; /* saga tables of CREATE and CHECK */
    size_t                        table_count;
    /* How long a transaction may rest while a handler runs, where the server ends one that rests;
     * microseconds; 0: the driver's own limit, a minute or more. */
    int64_t handler_time_max;
    /* The caller promises: after the commit that settles its last claim, its next call is a claim of the same queue, with a
     * due_max that moved with the machine's clock, or wait (of any length, 0 too). So the driver may make that claim in the
     * commit's round trip. Any other call on the handle gives its rows back. */
    bool claims_ahead;
} pawl_store_options;

#define PAWL_STORE_OPTIONS_INIT                    \
    {                                              \
        .options_size = sizeof(pawl_store_options) \
    }

/* `url` begins with a scheme. NULL options: all defaults. On failure *store is
 * NULL. A driver that is not installed is PAWL_EUNREACHABLE and names its
 * package. Passwords in the URL appear in no text. */
PAWL_API pawl_code pawl_store_open(const char *url, const pawl_store_options *options,
                                   pawl_store **store, pawl_error *error);
PAWL_API void      pawl_store_close(pawl_store *store); /* accepts NULL */

#ifdef __cplusplus
}
#endif
#endif
