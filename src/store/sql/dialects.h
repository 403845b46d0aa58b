/* dialects.h - the dialects, each in a file of store/sql/dialects.
 *
 * Dialects do not depend on drivers, so that scripts can be printed without the database's client
 * library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_H
#define PAWL_STORE_SQL_DIALECTS_H

#include "store/sql/dialect.h"

extern const pawl__sql_dialect pawl__sqlite_dialect;
extern const pawl__sql_dialect pawl__pg_dialect;
/* For ODBC, whose placeholders have no number. */
extern const pawl__sql_dialect pawl__pg_plain_dialect;
extern const pawl__sql_dialect pawl__mysql_dialect;
extern const pawl__sql_dialect pawl__mariadb_dialect;
extern const pawl__sql_dialect pawl__mssql_dialect;
extern const pawl__sql_dialect pawl__oracle_dialect;
extern const pawl__sql_dialect pawl__oracle_short_dialect; /* names of 30 bytes at most */

/* The template of the PL/pgSQL function that sends a message, and its name without the prefix. */
extern const char pawl__pg_send_function[];
extern const char pawl__pg_send_name[];
/* Select columns and indexes from the catalog; `flag` casts a boolean; `of`: the schema and a condition for tables. */
#define PAWL__PG_CATALOG_COLUMNS(flag, of)                                                     \
    "select c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), "          \
    "coalesce(l.collname::text, ''), a.attnotnull" flag                                        \
    ", (a.atthasdef or a.attidentity <> '')" flag                                              \
    " from pg_catalog.pg_namespace as s join pg_catalog.pg_class as c "                        \
    "on c.relnamespace = s.oid and c.relkind in ('r', 'p') "                                   \
    "join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 "                \
    "and not a.attisdropped left join pg_catalog.pg_collation as l on l.oid = a.attcollation " \
    "where s.nspname = " of " order by c.relname, a.attnum"
#define PAWL__PG_CATALOG_INDEXES(flag, of)                                                    \
    "select c.relname::text, x.relname::text, "                                               \
    "(select coalesce(string_agg(pg_get_indexdef(i.indexrelid, n, false), ', ' order by n), " \
    "'') from generate_series(1, i.indnkeyatts) as n), "                                      \
    "i.indisprimary" flag ", i.indisunique" flag ", (i.indisvalid and i.indisready)" flag     \
    ", (i.indpred is not null)" flag                                                          \
    " from pg_catalog.pg_namespace as s join pg_catalog.pg_class as c "                       \
    "on c.relnamespace = s.oid join pg_catalog.pg_index as i on i.indrelid = c.oid "          \
    "join pg_catalog.pg_class as x on x.oid = i.indexrelid "                                  \
    "where s.nspname = " of " order by c.relname, x.relname"
/* The table `c` (pg_class) has no index as replica identity, and no administrator has chosen another one. */
#define PAWL__PG_IS_UNNAMED                                                              \
    "c.relreplident in ('d', 'i') and not exists (select from pg_catalog.pg_index as i " \
    "where i.indrelid = c.oid and i.indisreplident)"

#endif
