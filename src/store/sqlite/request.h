/* request.h - a connection to SQLite and the requests made on it.
 *
 * A statement is one pawl__sqlite_request: begin, put the parameters in order,
 * then run, or next until it says false. After a failure the rest does
 * nothing, so that request.code is looked at once, at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQLITE_REQUEST_H
#define PAWL_STORE_SQLITE_REQUEST_H

#include "pawl/store_driver.h"
#include "store/core/field.h"
#include "store/sql/dialects.h"
#include "store/sql/saga_text.h"
#include "store/sqlite/statements.h"

#include <sqlite3.h>

/* ---- A connection and its statements ------------------------------------ */

/* The statements of one saga table. */
typedef struct pawl__sqlite_saga {
    struct pawl__sqlite_saga *next;
    pawl_saga_table           table; /* its texts are copies */
    char                     *texts;
    sqlite3_stmt             *statements[pawl__sql_saga_statement_count];
} pawl__sqlite_saga;

/* The driver's own, or the caller's for the time of an enlist. */
typedef struct pawl__sql_connection {
    sqlite3                  *db;
    const char               *prefix;
    sqlite3_stmt             *statements[PAWL__SQLITE_STATEMENT_COUNT];
    pawl__sqlite_saga        *sagas;
    struct pawl__sql_request *spare; /* ended, for the next */
} pawl__sqlite_connection;

typedef struct pawl__sqlite_request {
    pawl__sqlite_connection *connection;
    sqlite3_stmt            *statement;
    pawl_error              *error;
    pawl_arena              *arena; /* for what is read */
    pawl_code                code;
    int                      column;     /* next parameter or column */
    int64_t                  changes;    /* rows that run() changed */
    unsigned                 uuid_count; /* of `uuids` that are bound */
    char                     uuids[4][PAWL_UUID_TEXT_SIZE + 1];
} pawl__sqlite_request;

void pawl__sqlite_request_begin(pawl__sqlite_request *request, pawl__sqlite_connection *connection,
                                int statement, pawl_error *error);
/* The same with a statement that is not of the list; NULL: begin failed with request->code. */
void pawl__sqlite_request_statement(pawl__sqlite_request    *request,
                                    pawl__sqlite_connection *connection, sqlite3_stmt *statement,
                                    pawl_error *error);
/* The same with a pawl__sql_saga_statement (saga.c). */
void pawl__sqlite_saga_begin(pawl__sqlite_request *request, pawl__sqlite_connection *connection,
                             const pawl_saga_table *table, int which, pawl_error *error);
void pawl__sqlite_put_text(pawl__sqlite_request *request,
                           pawl_text             text); /* borrowed until it ran */
void pawl__sqlite_put_int(pawl__sqlite_request *request, int64_t number);
/* One parameter for each field of the item. */
void pawl__sqlite_put_fields(pawl__sqlite_request *request, const pawl__field_list *fields,
                             const void *item);
/* Runs a statement that gives no rows. PAWL_EDUPLICATE when a unique key
 * refused it. */
pawl_code pawl__sqlite_run(pawl__sqlite_request *request);
/* Steps to the next row; false at the end and on failure, see request->code. */
bool pawl__sqlite_next(pawl__sqlite_request *request);
/* Ends a request before its last row. */
void      pawl__sqlite_stop(pawl__sqlite_request *request);
pawl_text pawl__sqlite_peek_text(pawl__sqlite_request *request); /* lives until the next step */
/* The next columns, one for each field of the row. */
void pawl__sqlite_get_fields(pawl__sqlite_request *request, const pawl__field_list *fields,
                             void *row);
/* Room for one more item in an array that grows in request->arena, or NULL with
 * request->code set. */
void *pawl__sqlite_grow(pawl__sqlite_request *request, void *items, size_t count, size_t *capacity,
                        size_t item_size);
/* One number, of a statement that gives one row; 0 when it gives none. */
pawl_code pawl__sqlite_one_int(pawl__sqlite_request *request, int64_t *number);

/* The failure of a step becomes the request's. */
void pawl__sqlite_stepped(pawl__sqlite_request *request, int result);
/* By an extended result code. */
pawl_code pawl__sqlite_code_of(int result);
/* The code of what SQLite said last, its text behind `what`. */
pawl_code pawl__sqlite_failed(sqlite3 *db, int result, const char *what, pawl_error *error);
/* Runs a statement that is needed once. */
pawl_code pawl__sqlite_execute(sqlite3 *db, const char *statement, pawl_error *error);
pawl_code pawl__sqlite_prepare(sqlite3 *db, const char *statement, sqlite3_stmt **prepared,
                               pawl_error *error);
void      pawl__sqlite_connection_clear(pawl__sqlite_connection *connection);

#endif
