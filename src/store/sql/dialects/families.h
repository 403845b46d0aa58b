/* families.h - servers of a database, by whatever library they are reached: the shared statements in its words,
 * sessions, workers' locks, scripts, failures, and the look at the server.
 *
 * postgres:// (store/postgres) has writes and reads of its own, which need libpq's arrays and pipelines; the
 * tables, row locks and the numbers of workers' locks are the same, so that both work on one database together.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract/test_sql_golden.c, test_contract_odbc_postgres.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_FAMILIES_H
#define PAWL_STORE_SQL_DIALECTS_FAMILIES_H

#include "store/sql/dialects.h"
#include "store/sql/failure.h"
#include "store/sql/family.h"
#include "store/sql/row_statements.h"

extern const pawl__sql_family     pawl__mssql_family;
extern const pawl__sql_failures   pawl__mssql_failures;
extern const pawl__sql_check_list pawl__mssql_checks;

/* A text that runs the statement so often, and answers with a letter for the fate of each run: applied,
 * missed, duplicate, null. */
void pawl__mssql_append_set(pawl__sql_text *to, const char *one, int count);

extern const pawl__sql_family pawl__mysql_family;
/* Numbers below 2000 and from 3000 on are the server's, those between, and from 5000 on, the client library's. */
extern const pawl__sql_failures   pawl__mysql_failures;
extern const pawl__sql_check_list pawl__mysql_checks;

#define PAWL__MYSQL_LOCKS_SIZE 24
/* The begin of the names of workers' locks, before the number in 16 digits. */
/* The character set and the collation of pawl's sessions, once more. */
pawl_code pawl__mysql_set_charset(pawl__sql_session *session, pawl_error *error);
void      pawl__mysql_name_locks(const pawl__sql_remote *remote, char name[PAWL__MYSQL_LOCKS_SIZE]);

static inline bool pawl__mysql_is_mariadb(const pawl__sql_remote *remote)
{
    return remote->sql.dialect == &pawl__mariadb_dialect;
}

extern const pawl__sql_family   pawl__oracle_family;
extern const pawl__sql_failures pawl__oracle_failures;

extern const pawl__sql_family   pawl__pg_family;
extern const pawl__sql_failures pawl__pg_failures;
/* Checks that any client library can ask. */
extern const pawl__sql_check_list pawl__pg_checks;

/* postgres_schema.c: the waits of an apply. */
/* Runs a statement in its transaction. */
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
