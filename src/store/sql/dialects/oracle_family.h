/* oracle_family.h - servers of Oracle, by whatever library they are reached: the shared statements in its words,
 * sessions, workers, scripts, failures, and the look at the server.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract/test_sql_golden.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_ORACLE_FAMILY_H
#define PAWL_STORE_SQL_DIALECTS_ORACLE_FAMILY_H

#include "store/sql/dialects.h"
#include "store/sql/failure.h"
#include "store/sql/family.h"
#include "store/sql/row_statements.h"

extern const pawl__sql_family   pawl__oracle_family;
extern const pawl__sql_failures pawl__oracle_failures;

#endif
