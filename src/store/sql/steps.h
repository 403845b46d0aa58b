/* steps.h - upgrade steps: columns to add to tables of an earlier version, and indexes to drop.
 *
 * A new database is made from the description of the tables (tables.h). A database of an
 * earlier version lacks columns, and has old indexes. New tables and indexes need no
 * step, since the script makes what is missing. Therefore an index is never changed
 * under its name: it is dropped, and an index of another name is made. Only MySQL's
 * outbox_pending is changed, in one statement (dialects/mysql.c). Each step can be repeated.
 *
 * Programs of the previous version go on working, and can open the tables again after a
 * restart or a lost connection (PAWL__SQL_AHEAD). So a new column has a default, also in
 * new tables, and no column that they use is dropped. A step that they cannot work
 * with raises the version by two.
 *
 * Tests: tests/contract/test_sqlite_upgrade.c, test_postgres_upgrade.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_STEPS_H
#define PAWL_STORE_SQL_STEPS_H

#include "store/sql/tables.h"

/* Tables may be newer by so many versions than the program that opens them. */
#define PAWL__SQL_AHEAD 1

typedef struct pawl__sql_step {
    int         version; /* the first with this change */
    const char *table;   /* gets a new column; NULL: drop an index */
    const char *name;    /* of the column (described in tables.c), or of the index */
    const char *initial; /* SQL value for existing rows; NULL: null, or an index is dropped */
    const char *only;    /* as of pawl__sql_index */
} pawl__sql_step;

extern const pawl__sql_step pawl__sql_steps[];
extern const size_t         pawl__sql_step_count;

/* The step that adds a column to a table; NULL: the table had it from the beginning. */
const pawl__sql_step *pawl__sql_step_of(const char *table, const char *column);
/* One statement: adds the column, or drops the index. */
void pawl__sql_run_step(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                        const pawl__sql_step *step);
/* Sets the version of the tables to this one, if it is lower, in one statement. */
void pawl__sql_raise_version(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                             const char *prefix);

#endif
