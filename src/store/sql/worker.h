/* worker.h - the leases of dead workers, for operations that come across them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_WORKER_H
#define PAWL_STORE_SQL_WORKER_H

#include "store/sql/commit.h"

/* Frees what dead workers had leased; their rows stay. Inside a transaction. */
pawl_code pawl__sql_free_dead(pawl_store *store, pawl_error *error);
/* Ends up to `count_max` dead workers not seen since `before`, and adds how many. Inside a
 * transaction. */
pawl_code pawl__sql_worker_sweep(pawl_store *store, pawl_time before, size_t count_max,
                                 int64_t *count, bool *more, pawl_error *error);

#endif
