/* diagnose.h - the checks of `pawl doctor` on a database, its server and settings, as a table of statements.
 *
 * Each check is one select. Its rows are the findings: a number, a text and a remedy. So only the file
 * of a database's checks knows what is right or wrong
 * there.
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
    PAWL__SQL_MEASURE_AGE, /* microseconds; younger rows than asked for are no finding, and a finding without a
                              remedy is a warning */
    PAWL__SQL_MEASURE_CLOCK, /* the server's clock, microseconds since 1970; text and remedy are ignored */
    PAWL__SQL_MEASURE_RECORDED, /* a recorded time; only for callers that ask for it */
} pawl__sql_measure;

typedef struct pawl__sql_check {
    const char       *name;
    const char       *select; /* template: the number, the text, the remedy or an empty text */
    pawl__sql_measure measure;
    const char       *none; /* the finding when no row is left; NULL: there always is one */
    const char
        *unable; /* remedy if the database refuses the statement: SQL, the user is appended after
                                 "to "; or NULL */
    bool is_thorough; /* reads all data of a table */
} pawl__sql_check;

/* A row of a check. */
typedef struct pawl__sql_found {
    int64_t   number;
    pawl_text text;
    pawl_text remedy; /* SQL, or a command that begins with "pawl " */
} pawl__sql_found;
extern const pawl__field_list pawl__sql_found_row;

/* Runs a text without parameters; its rows are pawl__sql_found. */
typedef pawl_code pawl__sql_ask_fn(pawl_store *store, const char *text, pawl_arena *arena,
                                   pawl_found *rows, pawl_error *error);

typedef struct pawl__sql_doctor {
    pawl_store              *store;
    const pawl__sql_dialect *dialect;
    const pawl_diagnosis    *asked;
    pawl__sql_ask_fn        *ask;
    const char              *client; /* shell command to which a remedy's SQL is appended */
    pawl_arena              *arena;
    pawl_finding_rows       *rows;
    size_t                   capacity;
    pawl_error              *error;
    char                     user[600]; /* as in a grant; empty: no check needs it */
} pawl__sql_doctor;

/* Adds a finding; the remedy, unless it is empty, is SQL, or a command of pawl. PAWL_ENOMEM. */
pawl_code pawl__sql_add_finding(pawl__sql_doctor *doctor, const char *name,
                                pawl_finding_level level, pawl_text text, pawl_text remedy);
/* The same with a text that is printed, at most PAWL_ERROR_TEXT_SIZE_MAX bytes of it. */
pawl_code pawl__sql_findf(pawl__sql_doctor *doctor, const char *name, pawl_finding_level level,
                          const char *remedy, const char *format, ...) PAWL_PRINTF(5, 6);
/* Runs the checks one after another. A check that the database refuses becomes a finding; a lost
 * connection ends the run. */
pawl_code pawl__sql_checks(pawl__sql_doctor *doctor, const pawl__sql_check *checks, size_t count);

/* The checks of a database. The rights are checked first, unless a brief diagnosis is asked for. */
typedef struct pawl__sql_check_list {
    const pawl__sql_check *items;
    size_t                 count;
    pawl_code (*check_rights)(pawl__sql_doctor *doctor); /* NULL: a check like the others */
} pawl__sql_check_list;
pawl_code pawl__sql_check_all(pawl__sql_doctor *doctor, const pawl__sql_check_list *list);

/* Does the code mean that the connection is lost, so that no further check can run? */
bool pawl__sql_is_gone(pawl_code code);

#endif
