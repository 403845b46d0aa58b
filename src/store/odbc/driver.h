/* driver.h - ODBC drivers by name: what their failures mean. A driver's own word for what it can do is
 * not asked for: the tables are.
 *
 * Threads: plain data. Tests: tests/contract/test_odbc_url.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_DRIVER_H
#define PAWL_STORE_ODBC_DRIVER_H

#include "store/odbc/url.h"
#include "store/sql/failure.h"

/* The dialect of the servers of a driver that gives itself that name; -1: none of that name is known. */
int pawl__odbc_dialect_of(const char *library);

/* Advice to whoever could not connect, from the code and the state of the refusal; "": none. */
const char *pawl__odbc_remedy(pawl_code code, const char *state);

/* A failure as its driver tells it. */
typedef struct pawl__odbc_diagnosis {
    char     state[6];  /* SQLSTATE; "": there is no record at all */
    unsigned number;    /* native; 0: of the driver itself, or of its manager */
    char     text[400]; /* for people */
} pawl__odbc_diagnosis;

/* The native number decides, or the state where the servers have no numbers. Where there is none the driver, or the
 * driver manager, failed by itself, and the state is all that is known. A failure without any record is a lost
 * connection. */
pawl_code pawl__odbc_code_of(const pawl__sql_failures   *failures,
                             const pawl__odbc_diagnosis *diagnosis, pawl__sql_left *left);
/* The same of a commit: where the connection was lost the outcome is not known. */
pawl_code pawl__odbc_commit_code_of(const pawl__sql_failures   *failures,
                                    const pawl__odbc_diagnosis *diagnosis);

#endif
