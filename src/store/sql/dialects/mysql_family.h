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

#endif
