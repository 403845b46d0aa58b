/* dialects.h - the dialects, each in a file of store/sql/dialects.
 *
 * They are apart from the drivers, so that their scripts are printed where no database's library
 * is installed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_H
#define PAWL_STORE_SQL_DIALECTS_H

#include "store/sql/dialect.h"

extern const pawl__sql_dialect pawl__sqlite_dialect;
extern const pawl__sql_dialect pawl__pg_dialect;
/* By a library whose parameters have no number. */
extern const pawl__sql_dialect pawl__pg_plain_dialect;
extern const pawl__sql_dialect pawl__mysql_dialect;
extern const pawl__sql_dialect pawl__mariadb_dialect;
extern const pawl__sql_dialect pawl__mssql_dialect;
extern const pawl__sql_dialect pawl__oracle_dialect;
extern const pawl__sql_dialect pawl__oracle_short_dialect; /* names of 30 bytes at most */

/* The template of PostgreSQL's function that sends, and its name without the prefix. */
extern const char pawl__pg_send_function[];
extern const char pawl__pg_send_name[];
/* Nothing names the rows of the table `c` (pg_class) in a publication, and no administrator chose so. */
#define PAWL__PG_IS_UNNAMED                                                              \
    "c.relreplident in ('d', 'i') and not exists (select from pg_catalog.pg_index as i " \
    "where i.indrelid = c.oid and i.indisreplident)"

#endif
