/* mysql_error.h - failures of MySQL, MariaDB and of their client library as codes of pawl, and what a
 * failure left of the transaction. The number decides, never the text or the SQLSTATE (D37): texts
 * are translated, and one state stands for many failures.
 *
 * Threads: any. Tests: tests/contract/test_mysql_error.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_MYSQL_ERROR_H
#define PAWL_STORE_SQL_DIALECTS_MYSQL_ERROR_H

#include "pawl/base.h"

/* The state in which a failed statement leaves its transaction. */
typedef enum pawl__mysql_left {
    PAWL__MYSQL_STATEMENT_UNDONE, /* the statement alone: those before it stand */
    /* All of it. Statements sent now are outside: with autocommit on they would be committed at
     * once, so nothing may follow but a rollback. */
    PAWL__MYSQL_TRANSACTION_UNDONE,
    PAWL__MYSQL_CONNECTION_LOST, /* and the transaction with it */
} pawl__mysql_left;

/* `left` may be NULL. A number that is not known is PAWL_EPERSIST. */
pawl_code pawl__mysql_code_of(unsigned number, pawl__mysql_left *left);
/* The same of a commit: where the connection was lost, or the server failed while it committed, the
 * outcome is not known. */
pawl_code pawl__mysql_commit_code_of(unsigned number);

#endif
