/* mysql_family.h - servers of MySQL and MariaDB, by whatever library they are reached: the session's
 * settings, the worker's lock, scripts, and the look at the server.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_MYSQL_FAMILY_H
#define PAWL_STORE_SQL_DIALECTS_MYSQL_FAMILY_H

#include "store/sql/dialects.h"
#include "store/sql/dialects/mysql_statements.h"
#include "store/sql/failure.h"
#include "store/sql/family.h"

extern const pawl__sql_family pawl__mysql_family;
/* Numbers below 2000 and from 3000 on are the server's, those between, and from 5000 on, the client library's. */
extern const pawl__sql_failures   pawl__mysql_failures;
extern const pawl__sql_check_list pawl__mysql_checks;

static inline bool pawl__mysql_is_mariadb(const pawl__sql_remote *remote)
{
    return remote->dialect == &pawl__mariadb_dialect;
}

/* ---- A session ------------------------------------------------------------ */

/* Of "select version()": which of the two dialects is spoken. PAWL_EUNSUPPORTED for an old one. */
pawl_code pawl__mysql_check_version(pawl__sql_remote *remote, const char *version,
                                    pawl_error *error);
/* The settings of pawl's sessions: exact comparison, a strict mode, UTC, read committed,
 * autocommit on. A transaction that rests for `rest_s` seconds is ended, where the server can do that. */
pawl_code pawl__mysql_set_session(pawl__sql_session *session, const char *names, int rest_s,
                                  pawl_error *error);

/* The select of 1 where the server is a node of Galera: one without it has no such variable. */
#define PAWL__MYSQL_WSREP_ON                                                    \
    "select max(global_value = 'ON') from information_schema.system_variables " \
    "where variable_name = 'wsrep_on'"

#endif
