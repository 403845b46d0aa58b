/* mssql_family.h - servers of SQL Server, by whatever library they are reached: the shared statements in its words,
 * sessions, workers, scripts, failures, and the look at the server.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract/test_sql_golden.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_MSSQL_FAMILY_H
#define PAWL_STORE_SQL_DIALECTS_MSSQL_FAMILY_H

#include "store/sql/dialects.h"
#include "store/sql/failure.h"
#include "store/sql/family.h"
#include "store/sql/row_statements.h"

extern const pawl__sql_family     pawl__mssql_family;
extern const pawl__sql_failures   pawl__mssql_failures;
extern const pawl__sql_check_list pawl__mssql_checks;

/* ---- Sets ----------------------------------------------------------------- */

/* A text that runs the statement so often, and answers with a letter for the fate of each run: applied,
 * missed, duplicate, null. */
void pawl__mssql_append_set(pawl__sql_text *to, const char *one, int count);

#endif
