/* mysql.h - MySQL and MariaDB: one driver, two dialects. The scheme of the URL says which
 * dialect a script is in.
 *
 * It is being built: today the module prints the scripts of the tables, and an open is refused.
 * Decisions: docs/decisions/mysql.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_MYSQL_MYSQL_H
#define PAWL_STORE_MYSQL_MYSQL_H

#include "store/mysql/statements.h"
#include "store/sql/dialect.h"

extern const pawl__sql_dialect pawl__mysql_dialect;
extern const pawl__sql_dialect pawl__mariadb_dialect;
/* For a shared statement (row statements included), the driver's own that stands for it; or 0. */
extern const int pawl__mysql_overrides[];

#endif
