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

#include "store/sql/diagnose.h"
#include "store/sql/dialects.h"
#include "store/sql/row_statements.h"
#include "store/sql/schema.h"
#include "store/sql/session.h"

extern const pawl__sql_family pawl__pg_family;

/* ---- Failures ------------------------------------------------------------- */

/* By SQLSTATE: PostgreSQL has no numbers. A failed statement undoes its transaction to a savepoint. */
pawl_code pawl__pg_state_code(const char *state, pawl__sql_left *left);

/* ---- A session ------------------------------------------------------------ */

/* Schema, process id of the session, version; PAWL_EUNSUPPORTED for an old server. */
pawl_code pawl__pg_ask_session(pawl__sql_session *session, pawl_error *error);
/* UTC, exact texts, plans by indexes; a transaction that rests for a minute is ended. */
pawl_code pawl__pg_set_session(pawl__sql_session *session, pawl_error *error);

/* ---- Operations of pawl__sql_ops and pawl_store_ops ------------------------- */

pawl_code pawl__pg_who_has_lock(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                                pawl_error *error);
/* Whether the session is in a transaction that can go on. */
pawl_code pawl__pg_is_in_transaction(pawl__sql_session *session, bool *is_open, pawl_error *error);
pawl_code pawl__pg_family_check(pawl__sql_remote *remote, const pawl_store_options *options,
                                pawl_error *error);
pawl_code pawl__pg_family_schema(pawl_store *store, pawl_schema_verb verb,
                                 const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                                 pawl_error *error);

/* ---- Doctor (postgres_diagnose.c) -------------------------------------------- */

/* Checks that any client library can ask. */
pawl_code pawl__pg_checks(pawl__sql_doctor *doctor);
pawl_code pawl__pg_family_look_at(pawl_store *store, const pawl_diagnosis *asked, pawl_arena *arena,
                                  pawl_finding_rows *rows, pawl_error *error);

#endif
