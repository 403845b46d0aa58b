/* failure.h - failures of a server by their numbers: the code, and what a failure left of the transaction. The
 * number decides, never the text or the SQLSTATE (D37): texts are translated, and one state stands for many failures.
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

/* Of a server that has no numbers, or of a library's own failure. */
typedef struct pawl__sql_state {
    const char    *state; /* the SQLSTATE begins so */
    pawl_code      code;
    pawl__sql_left left;
} pawl__sql_state;

/* The failure of a COMMIT: is it of a constraint or a trigger that somebody deferred to it? A COMMIT names no table of
 * pawl's, so all is but for the server's own troubles. */
bool pawl__sql_is_deferred(pawl_code code, const char *state);

/* The first that fits; or NULL. */
const pawl__sql_state *pawl__sql_find_state(const pawl__sql_state *states, size_t count,
                                            const char *state);

#define PAWL__SQL_DOUBTS_MAX 4

/* A commit whose connection was lost is in doubt. Exceptions of both kinds are numbers, ended by 0. */
typedef struct pawl__sql_failures {
    const pawl__sql_failure *rows; /* sorted by number */
    size_t                   count;
    const pawl__sql_state   *states; /* instead, where there are no numbers; else NULL */
    size_t                   state_count;
    unsigned                 null_number;  /* a column that takes no null; 0: none */
    unsigned                 large_number; /* a request over packet_max; 0: none */
    pawl__sql_left           left;         /* by a number without a row: PAWL_EPERSIST */
    bool                     is_unsure;    /* a commit that ends with such a number is in doubt */
    unsigned                 unsure[PAWL__SQL_DOUBTS_MAX];
    unsigned                 sure[PAWL__SQL_DOUBTS_MAX]; /* the server refuses before it begins */
} pawl__sql_failures;

/* `left` may be NULL. */
pawl_code pawl__sql_code_of(const pawl__sql_failures *failures, unsigned number,
                            pawl__sql_left *left);
/* The same of a commit: PAWL_EUNKNOWN where nobody knows how it ended. */
pawl_code pawl__sql_commit_code_of(const pawl__sql_failures *failures, unsigned number);

#endif
