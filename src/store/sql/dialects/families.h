/* families.h - for each kind of server what does not depend on the client library: its forms of the shared
 * statements, sessions, workers' locks, scripts, failures, and the checks of `pawl doctor`.
 *
 * postgres:// (store/postgres) has writes and reads of its own, which need libpq's arrays and pipelines. Its
 * tables, row locks and numbers of workers' locks are the same, so both drivers can work on one database.
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

/* Appends a text that runs the statement `count` times, and answers with a letter for the result of each run:
 * applied, missed, duplicate, null. */
void pawl__mssql_append_set(pawl__sql_text *to, const char *one, int count);

extern const pawl__sql_family pawl__mysql_family;
/* Numbers below 2000 and from 3000 on are the server's, those between, and from 5000 on, the client library's. */
extern const pawl__sql_failures   pawl__mysql_failures;
extern const pawl__sql_check_list pawl__mysql_checks;

#define PAWL__MYSQL_LOCKS_SIZE 24
/* set_charset sets character set and collation of a session of pawl again. name_locks writes how names of workers'
 * locks begin, before the number in 16 digits. */
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
/* Checks that do not depend on the client library. */
extern const pawl__sql_check_list pawl__pg_checks;

/* postgres_schema.c: of pawl__sql_schema_ops, the waits of an apply. */
/* Locks the queue (ACCESS EXCLUSIVE) before any other table: that wait is for handlers that run, and may be
 * long. The waits for other tables are for commits, which may wait for the queue in turn: in its first tries
 * apply times out before the server's deadlock_timeout (1 s). Under constant load it would never get the lock,
 * so later tries wait longer: the server ends one side of a deadlock, which is repeated. */
pawl_code pawl__pg_limit_waits(const pawl__sql_schema *schema, int64_t patience_ms,
                               pawl_error *error);
pawl_code pawl__pg_rest(const pawl__sql_schema *schema, int64_t ms, pawl_error *error);

#endif
