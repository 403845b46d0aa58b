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

#include "store/sql/server.h"

/* `left` may be NULL. A number that is not known is PAWL_EPERSIST. */
pawl_code pawl__mysql_code_of(unsigned number, pawl__sql_left *left);
/* The same of a commit: where the connection was lost, or the server failed while it committed, the
 * outcome is not known. */
pawl_code pawl__mysql_commit_code_of(unsigned number);

#endif
