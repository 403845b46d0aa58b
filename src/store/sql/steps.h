/* steps.h - columns and tables that an earlier version lacks, one step for each.
 *
 * A fresh database gets all from the description of the tables (tables.h). A
 * database of an earlier version lacks columns, and has indexes that went. Tables and
 * indexes that are new need no step: the script makes what is missing. So that
 * this stays true, an index never changes under its name: it goes, and an index of another
 * name comes; MySQL's outbox_pending alone changes, in one statement (dialects/mysql.c). Each
 * step is harmless when it is done already.
 *
 * Programs of the version before go on working, and open the tables again after a
 * restart or a lost connection (PAWL__SQL_AHEAD): a column that is new has a default,
 * also in a fresh table, and none goes that they write or read. A step that they
 * cannot live with raises the version by two.
 *
 * Tests: tests/contract/test_sqlite_upgrade.c, test_postgres_upgrade.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_STEPS_H
#define PAWL_STORE_SQL_STEPS_H

#include "store/sql/tables.h"

/* Versions by which tables may be newer than the program that opens them. */
#define PAWL__SQL_AHEAD 1

typedef struct pawl__sql_step {
    int         version; /* the first that has it so */
    const char *table;   /* a column comes to it; NULL: an index goes */
    const char *name;    /* of the column (described in tables.c), or of the index */
    const char *initial; /* of the rows that are there, in SQL; NULL: null, or an index goes */
    const char *only;    /* as of pawl__sql_index */
} pawl__sql_step;

extern const pawl__sql_step pawl__sql_steps[];
extern const size_t         pawl__sql_step_count;

/* One statement: adds the column, or drops the index. */
void pawl__sql_run_step(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                        const pawl__sql_step *step);
/* One statement: tables of an earlier version are of this one from now on. */
void pawl__sql_raise_version(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                             const char *prefix);

#endif
