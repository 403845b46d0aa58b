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
#include "store/sql/row_statements.h"
#include "store/sql/schema.h"
#include "store/sql/session.h"

extern const pawl__sql_family pawl__oracle_family;

/* ---- Failures ------------------------------------------------------------- */

/* By the server's number, and the state in which it leaves the transaction. */
pawl_code pawl__oracle_code_of(unsigned number, pawl__sql_left *left);
/* The same of a commit: PAWL_EUNKNOWN where nobody knows how it ended. */
pawl_code pawl__oracle_commit_code_of(unsigned number);

/* ---- A session ------------------------------------------------------------ */

/* Asks for version and session, sets what pawl needs. PAWL_EUNSUPPORTED: an old server. */
pawl_code pawl__oracle_begin(pawl__sql_session *session, pawl_error *error);

/* Names of 30 bytes at most (D6, D8); before the first session. PAWL_ECONFIG: of another database. */
pawl_code pawl__oracle_shorten(pawl__sql_remote *remote, bool is_oracle, pawl_error *error);

/* ---- Operations of pawl__sql_ops and pawl_store_ops ------------------------- */

pawl_code pawl__oracle_is_open(pawl__sql_session *session, bool *is_open, pawl_error *error);
pawl_code pawl__oracle_who_lives(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                                 pawl_error *error);
pawl_code pawl__oracle_check(pawl__sql_remote *remote, const pawl_store_options *options,
                             pawl_error *error);
pawl_code pawl__oracle_schema(pawl_store *store, pawl_schema_verb verb,
                              const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                              pawl_error *error);
pawl_code pawl__oracle_look_at(pawl_store *store, const pawl_diagnosis *asked, pawl_arena *arena,
                               pawl_finding_rows *rows, pawl_error *error);

#endif
