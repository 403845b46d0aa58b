/* request.h - a connection to SQLite, as a session of the generic store, and its statements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQLITE_REQUEST_H
#define PAWL_STORE_SQLITE_REQUEST_H

#include "store/sql/dialects.h"
#include "store/sql/session.h"
#include "store/sqlite/statements.h"

#include <sqlite3.h>

/* A connection: the driver's own, or the caller's during an enlist. */
typedef struct pawl__sql_connection {
    pawl__sql_session session; /* first */
    sqlite3          *db;
    bool was_full; /* a statement found the disk full, and no rollback has followed yet */
} pawl__sqlite_connection;

typedef struct pawl__sqlite_statement {
    pawl__sql_prepared base; /* first */
    sqlite3_stmt      *stmt;
    int                result;     /* SQLite's result of the last step */
    bool               is_new;     /* the row of that step has not been fetched yet */
    unsigned           uuid_count; /* number of `uuids` that are bound */
    char               uuids[4][PAWL_UUID_TEXT_SIZE + 1];
} pawl__sqlite_statement;

/* Of pawl__sql_ops. */
pawl_code pawl__sqlite_ask(pawl__sql_session *session, const char *text, pawl__sql_row_fn *each,
                           void *context, pawl_error *error);
pawl_code pawl__sqlite_prepare(pawl__sql_session *session, pawl__sql_prepared *made,
                               const pawl__field_list *fields, const char *template_text,
                               const pawl__sql_text *text, pawl_error *error);
void      pawl__sqlite_close_statement(pawl__sql_prepared *statement);
pawl_code pawl__sqlite_run(pawl__sql_session *session, pawl__sql_prepared *base,
                           const pawl__field_list *fields, const void *item, pawl_error *error);
int64_t   pawl__sqlite_found(pawl__sql_prepared *base);
pawl_code pawl__sqlite_fetch(pawl__sql_session *session, pawl__sql_prepared *base, bool *is_row,
                             pawl_error *error);
void      pawl__sqlite_free_rows(pawl__sql_session *session, pawl__sql_prepared *statement);
void      pawl__sqlite_get(pawl__sql_request *request, const pawl__field_list *columns, void *row);

/* The code for SQLite's last failure, with its text after `what`. */
pawl_code pawl__sqlite_failed(sqlite3 *db, int result, const char *what, pawl_error *error);
pawl_code pawl__sqlite_prepare_text(sqlite3 *db, const char *text, sqlite3_stmt **prepared,
                                    pawl_error *error);

#endif
