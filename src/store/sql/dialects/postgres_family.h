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

extern const pawl__sql_family pawl__pg_family;
/* Checks that any client library can ask. */
extern const pawl__sql_check_list pawl__pg_checks;

/* ---- Failures ------------------------------------------------------------- */

/* By SQLSTATE: PostgreSQL has no numbers. A failed statement undoes its transaction to a savepoint. */
pawl_code pawl__pg_state_code(const char *state, pawl__sql_left *left);

/* ---- A session ------------------------------------------------------------ */

/* Asks for schema, process id and version, sets what pawl needs; PAWL_ENOTSTORE: an old server. */
pawl_code pawl__pg_session_begin(pawl__sql_session *session, pawl_error *error);
/* Whether the session is in a transaction that can go on. */
pawl_code pawl__pg_is_in_transaction(pawl__sql_session *session, bool *is_open, pawl_error *error);
#endif
