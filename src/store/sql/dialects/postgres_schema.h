/* postgres_schema.h - the waits of an apply on a PostgreSQL server, by whichever library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_POSTGRES_SCHEMA_H
#define PAWL_STORE_SQL_DIALECTS_POSTGRES_SCHEMA_H

#include "pawl/store_driver.h"

/* Runs a statement in the transaction of the apply. */
typedef pawl_code pawl__pg_execute_fn(pawl_store *store, const char *statement, pawl_error *error);

/* ACCESS EXCLUSIVE on the queue first, with nothing else locked: that wait is for the handlers at work,
 * and may be long. Those for the other tables are for commits, which may wait for the queue in turn: at
 * first apply gives way before the server's deadlock_timeout (1 s). Where commits come without a pause
 * it would do so for ever, so that later one of the two is ended by the server, and done again. */
pawl_code pawl__pg_limit_waits(pawl_store *store, pawl__pg_execute_fn *execute, const char *prefix,
                               int64_t patience_ms, pawl_error *error);
pawl_code pawl__pg_rest(pawl_store *store, pawl__pg_execute_fn *execute, int64_t ms,
                        pawl_error *error);

#endif
