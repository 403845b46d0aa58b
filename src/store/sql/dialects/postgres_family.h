/* postgres_family.h - a server of PostgreSQL that is reached by another library than its own: the shared
 * statements with claims by skip locked, sessions, the worker's advisory lock, scripts, failures.
 *
 * postgres:// (store/postgres) has writes and reads of its own, which need libpq's arrays and pipelines; the
 * tables, row locks and the numbers of workers' locks are the same, so that both work on one database together.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract/test_contract_odbc_postgres.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_POSTGRES_FAMILY_H
#define PAWL_STORE_SQL_DIALECTS_POSTGRES_FAMILY_H

#include "store/sql/dialects.h"
#include "store/sql/family.h"
#include "store/sql/row_statements.h"

extern const pawl__sql_family   pawl__pg_family;
extern const pawl__sql_failures pawl__pg_failures;
/* Checks that any client library can ask. */
extern const pawl__sql_check_list pawl__pg_checks;

#endif
