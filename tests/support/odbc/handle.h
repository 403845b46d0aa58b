/* handle.h - the handles of the scripted ODBC driver, and what its files share.
 *
 *     script.c     reading a script
 *     call.c       the record of calls, and the answer to one
 *     connect.c    environments and connections
 *     statement.c  statements and parameters
 *     row.c        rows and their columns
 *
 * A connection string names the script, and a file to which each call is appended:
 *
 *     Driver=FOLDER/scripted_odbc.so;Script=FILE;Log=FILE
 *
 * A statement that matches no rule fails with its text, and is recorded as "missing".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SUPPORT_ODBC_HANDLE_H
#define PAWL_TESTS_SUPPORT_ODBC_HANDLE_H

#include "support/odbc/script.h"

#include <pthread.h>
#include <sql.h>
#include <sqlext.h>

#define SCRIPTED_PARAMETERS_MAX 1000

/* First member of each handle. */
typedef struct scripted_handle {
    const script_record *records; /* of its last call */
    script_record        own;     /* for failures that are not in the script */
} scripted_handle;

typedef struct scripted_connection {
    scripted_handle handle;
    script         *script; /* NULL: not connected */
    char            log[500];
    int             number;
    bool            is_gone;
} scripted_connection;

typedef struct scripted_parameter {
    SQLSMALLINT   c_type;
    SQLSMALLINT   sql_type;
    const void   *data; /* NULL: not bound */
    const SQLLEN *indicator;
} scripted_parameter;

typedef struct scripted_statement {
    scripted_handle      handle;
    scripted_connection *connection;
    char                *text;
    unsigned             prepared_columns;
    const script_answer *answer; /* NULL: not executed, or closed */
    const script_row    *next_row;
    const script_row    *row;
    unsigned             column; /* the column that is read, and how much of it was */
    size_t               offset;
    bool                 is_cancelled;
    long                 deaf;
    scripted_parameter   parameters[SCRIPTED_PARAMETERS_MAX];
    unsigned             parameter_count;
    unsigned             bound_count; /* SQLBindParameter calls since the last run */
} scripted_statement;

extern pthread_mutex_t scripted_lock; /* guards all handles and scripts */

/* Called with the lock, as all below. */
void scripted_record(const scripted_connection *connection, const char *call, const char *text);
SQLRETURN scripted_fail(scripted_handle *handle, const char *state, const char *why,
                        const char *text);
/* Fails, as no rule matches the statement. */
SQLRETURN scripted_missing(const scripted_connection *connection, scripted_handle *handle,
                           const char *text);
/* Executes the answer; `statement` may be NULL. Releases the lock while it blocks. */
SQLRETURN scripted_answer(scripted_connection *connection, scripted_handle *handle,
                          scripted_statement *statement, const script_answer *answer);
void      scripted_cancel(scripted_statement *statement);

#endif
