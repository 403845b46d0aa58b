/* driver.h - ODBC drivers by name: what their numbers mean, and what they have to be told. A driver's
 * own word for what it can do is not asked for: the row is.
 *
 * Threads: plain data. Tests: tests/contract/test_odbc_url.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_DRIVER_H
#define PAWL_STORE_ODBC_DRIVER_H

#include "store/odbc/url.h"
#include "store/sql/failure.h"

typedef struct pawl__odbc_driver {
    const char        *library;     /* the name that it gives itself begins so */
    pawl__odbc_dialect dialect;     /* of its servers */
    unsigned           null_number; /* a column that takes no null; 0: the state says it */
    /* By number; NULL: by state. */
    const pawl__sql_failures *failures;
    pawl_code (*code_of_state)(const char *state, pawl__sql_left *left);
} pawl__odbc_driver;

/* By dialect: put behind every connection string; each driver passes over what is none of its own. %lld is
 * a number of seconds, longer than any call may take. */
extern const char *const pawl__odbc_attributes[pawl__odbc_dialect_count];

/* A driver of that dialect, whichever: numbers and states are those of the servers. */
const pawl__odbc_driver *pawl__odbc_driver_of(pawl__odbc_dialect dialect);
/* NULL: none of that name is known. */
const pawl__odbc_driver *pawl__odbc_driver_find(const char *library);

/* Advice to whoever could not connect, from the code and the state of the refusal; "": none. */
const char *pawl__odbc_remedy(pawl_code code, const char *state);

/* A failure as its driver tells it. */
typedef struct pawl__odbc_diagnosis {
    char     state[6];  /* SQLSTATE; "": there is no record at all */
    unsigned number;    /* native; 0: of the driver itself, or of its manager */
    char     text[400]; /* for people */
} pawl__odbc_diagnosis;

/* The native number decides, or the state where the servers have no numbers. Where there is none the driver, or the driver manager, failed by itself, and
 * the state is all that is known. A failure without any record is a lost connection. */
pawl_code pawl__odbc_code_of(const pawl__odbc_driver *driver, const pawl__odbc_diagnosis *diagnosis,
                             pawl__sql_left *left);
/* The same of a commit: where the connection was lost the outcome is not known. */
pawl_code pawl__odbc_commit_code_of(const pawl__odbc_driver    *driver,
                                    const pawl__odbc_diagnosis *diagnosis);

#endif
