/* schema.h - the tables' types, the function that sends, and the catalog.
 *
 * Threads: as postgres.h.
 * Tests: tests/contract/test_postgres_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_SCHEMA_H
#define PAWL_STORE_POSTGRES_SCHEMA_H

#include "store/postgres/postgres.h"

/* The quotes around the function's body in its template. */
#define PAWL__PG_BODY_QUOTE "$pawl$"

/* verify.c: pawl__sql_schema_ops. */
pawl_code pawl__pg_look(pawl_store *base, const pawl_text *tables, size_t count, pawl_arena *arena,
                        pawl__sql_catalog *catalog, pawl_error *error);
pawl_code pawl__pg_verify_own(pawl__sql_verifier *verifier);

#endif
