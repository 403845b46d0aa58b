/* diagnose.h - the look at a database, its server and its settings, as a table of statements.
 *
 * Each check is one select that only looks. It says by itself what it found: the rows of a check are a
 * number, a text and a remedy, so that what is right and what is wrong on a database stands in its own
 * file alone.
 *
 *     begin -> { checks, add }* -> the rows
 *
 * Threads: as the store.
 * Tests: src/conformance/store/diagnose.c, tests/contract/test_postgres_diagnose.c,
 *     test_mysql_diagnose.c, test_sqlite_diagnose.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIAGNOSE_H
#define PAWL_STORE_SQL_DIAGNOSE_H

#include "pawl/store_driver.h"
#include "store/sql/connection.h"
#include "store/sql/dialect.h"

/* The number in a row of a check. */
typedef enum pawl__sql_measure {
    PAWL__SQL_MEASURE_LEVEL, /* pawl_finding_level */
    PAWL__SQL_MEASURE_AGE, /* microseconds; rows that are younger than was asked for are no finding, and one without a
                              remedy is a warning */
    PAWL__SQL_MEASURE_CLOCK, /* of the server, since 1970 in microseconds; text and remedy are not read */
    PAWL__SQL_MEASURE_RECORDED, /* the same of a record, for those alone who ask for the time */
} pawl__sql_measure;

typedef struct pawl__sql_check {
    const char       *name;
    const char       *select; /* template: the number, the text, the remedy or an empty text */
    pawl__sql_measure measure;
    const char       *none; /* the finding when no row is left; NULL: there always is one */
    const char
        *unable; /* the remedy when the database refuses the statement: SQL; a user stands behind
                                 "to "; or NULL */
    bool is_thorough; /* all of the data is read */
} pawl__sql_check;

/* A row of a check. */
typedef struct pawl__sql_found {
    int64_t   number;
    pawl_text text;
    pawl_text remedy; /* SQL, or a command that begins with "pawl " */
} pawl__sql_found;
extern const pawl__field_list pawl__sql_found_row;

/* Runs a text that has no parameters; all of its rows are pawl__sql_found. */
typedef pawl_code pawl__sql_ask_fn(pawl_store *store, const char *text, pawl_arena *arena,
                                   pawl_found *rows, pawl_error *error);

typedef struct pawl__sql_doctor {
    pawl_store              *store;
    const pawl__sql_dialect *dialect;
    const pawl_diagnosis    *asked;
    pawl__sql_ask_fn        *ask;
    const char              *client; /* the command that runs the SQL that stands behind it */
    pawl_arena              *arena;
    pawl_finding_rows       *rows;
    size_t                   capacity;
    pawl_error              *error;
    char                     user[600]; /* as a grant names it; empty: no check says "to " */
} pawl__sql_doctor;

/* Adds a finding; the remedy, unless it is empty, is SQL, or a command of pawl. PAWL_ENOMEM. */
pawl_code pawl__sql_add_finding(pawl__sql_doctor *doctor, const char *name,
                                pawl_finding_level level, pawl_text text, pawl_text remedy);
/* The same with a text that is printed, at most PAWL_ERROR_TEXT_SIZE_MAX bytes of it. */
pawl_code pawl__sql_findf(pawl__sql_doctor *doctor, const char *name, pawl_finding_level level,
                          const char *remedy, const char *format, ...) PAWL_PRINTF(5, 6);
/* Runs the checks one after another. One that the database refuses is a finding, and the next one
 * follows; the loss of the connection ends it. */
pawl_code pawl__sql_checks(pawl__sql_doctor *doctor, const pawl__sql_check *checks, size_t count);

/* The checks of a database: the rights first, unless the look is brief. */
typedef struct pawl__sql_check_list {
    const pawl__sql_check *items;
    size_t                 count;
    pawl_code (*check_rights)(pawl__sql_doctor *doctor); /* NULL: a check like the others */
} pawl__sql_check_list;
pawl_code pawl__sql_check_all(pawl__sql_doctor *doctor, const pawl__sql_check_list *list);

/* Whether a code means that the connection answers no more, so that nothing else can be asked. */
bool pawl__sql_is_gone(pawl_code code);

#endif
