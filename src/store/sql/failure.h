/* failure.h - maps error numbers of a server to a pawl_code and to the state of the transaction. Only the number
 * decides, not the text or the SQLSTATE (D37): texts are translated, and one SQLSTATE has many causes.
 *
 * Threads: any. Tests: tests/contract/test_mysql_error.c, test_odbc_errors.c, test_odbc_oracle_errors.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_FAILURE_H
#define PAWL_STORE_SQL_FAILURE_H

#include "store/sql/server.h"

typedef struct pawl__sql_failure {
    unsigned       number;
    pawl_code      code;
    pawl__sql_left left;
} pawl__sql_failure;

/* A row by SQLSTATE, for servers without error numbers, and for failures of the client library. */
typedef struct pawl__sql_state {
    const char    *state; /* prefix of the SQLSTATE */
    pawl_code      code;
    pawl__sql_left left;
} pawl__sql_state;

/* Did a COMMIT fail because of a deferred constraint or trigger? pawl has none, but an application may have added some.
 * True for all failures except those of the server itself. */
bool pawl__sql_is_deferred(pawl_code code, const char *state);

/* The first that fits; or NULL. */
const pawl__sql_state *pawl__sql_find_state(const pawl__sql_state *states, size_t count,
                                            const char *state);

#define PAWL__SQL_DOUBTS_MAX 4

/* A commit is in doubt if its connection was lost. `unsure` and `sure` list exceptions by number, ended by 0. */
typedef struct pawl__sql_failures {
    const pawl__sql_failure *rows; /* sorted by number */
    size_t                   count;
    const pawl__sql_state   *states; /* instead, where there are no numbers; else NULL */
    size_t                   state_count;
    unsigned                 null_number;  /* a column that takes no null; 0: none */
    unsigned                 large_number; /* a request over packet_max; 0: none */
    pawl__sql_left           left;         /* for numbers without a row, which are PAWL_EPERSIST */
    bool                     is_unsure;    /* a commit that fails with such a number is in doubt */
    unsigned                 unsure[PAWL__SQL_DOUBTS_MAX];
    unsigned                 sure[PAWL__SQL_DOUBTS_MAX]; /* refused before the commit began */
} pawl__sql_failures;

/* `left` may be NULL. */
pawl_code pawl__sql_code_of(const pawl__sql_failures *failures, unsigned number,
                            pawl__sql_left *left);
/* The same for a commit: PAWL_EUNKNOWN if its outcome is not known. */
pawl_code pawl__sql_commit_code_of(const pawl__sql_failures *failures, unsigned number);

#endif
