/* schema.h - what the files about tables share.
 *
 * Threads: as postgres.h.
 * Tests: tests/contract/test_postgres_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_SCHEMA_H
#define PAWL_STORE_POSTGRES_SCHEMA_H

#include "store/postgres/postgres.h"
#include "store/sql/tables.h"

/* Bytes of an identifier. The server cuts a longer one, so none is sent. */
#define PAWL__PG_NAME_SIZE_MAX 63
#define PAWL__PG_PREFIX_SIZE_MAX 20

/* The type as the catalog writes it. */
const char *pawl__pg_type_name(pawl__sql_type type);
/* The template of the function that sends, and its name without the prefix. */
extern const char pawl__pg_send_function[];
extern const char pawl__pg_send_name[];
/* What its template begins and ends the body with. */
#define PAWL__PG_BODY_QUOTE "$pawl$"

/* Names that fit (D3, D5). */
pawl_code pawl__pg_prefix_check(const char *prefix, pawl_error *error);
pawl_code pawl__pg_saga_check(const pawl_saga_table *table, pawl_error *error);
/* 0 when there is no such table or row; a newer one is refused. */
pawl_code pawl__pg_version(pawl__pg *store, int64_t *version, pawl_error *error);

#endif
