/* request.h - a connection through an ODBC driver, and what runs on it.
 *
 *     pawl__odbc_query, pawl__odbc_ask         a text, of the session and of transactions
 *     pawl__odbc_prepared, pawl__odbc_execute  a statement, prepared at its first use
 *
 * ODBC's calls block. A thread of the handle watches the call that is under way (watch.c): at the
 * deadline, and at an interrupt, it asks the server over a connection of its own to end the statement.
 *
 * Threads: as the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_REQUEST_H
#define PAWL_STORE_ODBC_REQUEST_H

#include "store/odbc/driver.h"
#include "store/sql/connection.h"
#include "store/sql/dialects/mysql_statements.h"
#include "store/sql/saga_text.h"

#include <sql.h>
#include <sqlext.h>

#define PAWL__ODBC_FIELDS_MAX 24  /* of an item */
#define PAWL__ODBC_MARKERS_MAX 40 /* of a statement's text */
#define PAWL__ODBC_SET_ROWS 32    /* of an insert */

/* ---- A connection and its statements ------------------------------------ */

typedef struct pawl__odbc_statement {
    SQLHSTMT stmt; /* NULL: not prepared */
    unsigned order[PAWL__ODBC_MARKERS_MAX];
    unsigned marker_count;
    unsigned column_count;
    SQLHSTMT set; /* an insert of PAWL__ODBC_SET_ROWS rows; NULL: not prepared */
    bool     is_looked_at;
    bool     has_set;
    bool     ignores; /* a row whose key exists is left: the server says 1062 */
} pawl__odbc_statement;

/* The statements of one saga table. */
typedef struct pawl__odbc_saga {
    struct pawl__odbc_saga *next;
    pawl_saga_table         table; /* its texts are copies */
    char                   *texts;
    pawl__odbc_statement    statements[pawl__sql_saga_statement_count];
} pawl__odbc_saga;

typedef struct pawl__sql_connection {
    struct pawl__odbc        *store;
    SQLHENV                   env;
    SQLHDBC                   dbc;        /* NULL: there is none */
    const pawl__odbc_driver  *driver;     /* NULL: not connected yet */
    bool                      is_callers; /* of an enlist: nothing watches its calls */
    bool                      is_lost;    /* nothing more is sent; `ready` makes it anew */
    bool                      is_undone;  /* the server undid the transaction: a rollback follows */
    bool                      in_transaction;
    size_t                    packet_max; /* the server's max_allowed_packet; 0: not known */
    int64_t                   id;         /* of the session, for KILL QUERY */
    pawl_code                 why;        /* why the call under way was broken off, or PAWL_OK */
    pawl__odbc_diagnosis      last;       /* of the last failure */
    pawl__odbc_statement      statements[PAWL__MYSQL_STATEMENT_COUNT];
    pawl__odbc_saga          *sagas;
    struct pawl__sql_request *spare; /* ended, for the next */
} pawl__odbc_connection;

/* ---- Calls (call.c) ------------------------------------------------------ */

/* Before a call: PAWL_ELOST, PAWL_EBUSY, PAWL_EINTERRUPTED: nothing may be sent. After PAWL_OK the call
 * is to be ended, as soon as it returned. */
pawl_code pawl__odbc_call_begin(pawl__odbc_connection *connection, pawl_error *error);
void      pawl__odbc_call_end(pawl__odbc_connection *connection);
/* The failure of that handle's last call as a code and an error, and what it left as the connection's
 * state. To be asked before anything else is done with the handle. */
pawl_code pawl__odbc_failed(pawl__odbc_connection *connection, SQLSMALLINT type, SQLHANDLE handle,
                            pawl_error *error);
void      pawl__odbc_diagnose_handle(SQLSMALLINT type, SQLHANDLE handle,
                                     pawl__odbc_diagnosis *diagnosis);
/* Runs a text whose answer has no rows. */
pawl_code pawl__odbc_query(pawl__odbc_connection *connection, const char *sql, pawl_error *error);
/* The same with rows: `*rows` is NULL after a failure, and else to be freed with pawl__odbc_free. */
pawl_code pawl__odbc_ask(pawl__odbc_connection *connection, const char *sql, SQLHSTMT *rows,
                         pawl_error *error);
void      pawl__odbc_free(SQLHSTMT rows);
/* The next row; then each column once, from the first one on: its size, cut to `size` and ended by a NUL;
 * -1: null. */
bool   pawl__odbc_row(SQLHSTMT rows);
SQLLEN pawl__odbc_column(SQLHSTMT rows, unsigned column, char *text, size_t size);
/* The one number that a text asks for; 0: null. */
pawl_code pawl__odbc_ask_number(pawl__odbc_connection *connection, const char *text,
                                int64_t *number, pawl_error *error);

/* ---- Statements (request.c) ---------------------------------------------- */

/* Prepares the statement, or finds it: of the shared ones, the driver's own, or one of a saga's
 * table where `table` is not NULL. NULL: see the error. */
pawl__odbc_statement *pawl__odbc_prepared(pawl__odbc_connection *connection, int statement,
                                          const pawl_saga_table *table, pawl_code *code,
                                          pawl_error *error);
/* Runs it with the fields of the item; NULL: without parameters. */
pawl_code pawl__odbc_execute(pawl__odbc_connection *connection, pawl__odbc_statement *statement,
                             const pawl__sql_fields *fields, const void *item, pawl_error *error);
/* Prepares a text; `columns`, unless NULL, is how many its rows have. */
pawl_code pawl__odbc_prepare_text(pawl__odbc_connection *connection, SQLHSTMT *stmt,
                                  unsigned *columns, const pawl__sql_text *text, pawl_error *error);
/* The template of a shared statement, or of the driver's own that stands for it. */
const char *pawl__odbc_template(int statement);
/* Runs statement->set with the fields of PAWL__ODBC_SET_ROWS items. */
pawl_code pawl__odbc_execute_set(pawl__odbc_connection *connection, pawl__odbc_statement *statement,
                                 const pawl__sql_fields *fields, const void *const *items,
                                 pawl_error *error);
/* Writes the first PAWL__ODBC_SET_ROWS of the items at once (set.c). `*is_done` is false, and nothing was
 * written, where they are to be written one by one. */
pawl_code pawl__odbc_write_set(pawl__odbc_connection *connection, const pawl__sql_write *write,
                               const void *const *items, size_t count, bool *is_done,
                               pawl_error *error);
/* Rows that the last execution found; of a select, whether there is one. */
int64_t pawl__odbc_found(pawl__odbc_statement *statement);
void    pawl__odbc_statements_close(pawl__odbc_connection *connection);

/* ---- Rows (row.c): as store/sql/connection.h says -------------------------- */

pawl_code pawl__odbc_send(pawl_store *base, const pawl__sql_asked *asked, pawl_arena *arena,
                          pawl__sql_request **request, pawl_error *error);
bool      pawl__odbc_next(pawl__sql_request *request);
void      pawl__odbc_get(pawl__sql_request *request, const pawl__sql_fields *columns, void *row);
int64_t   pawl__odbc_changed(pawl__sql_request *request);
pawl_code pawl__odbc_end(pawl__sql_request *request);

/* ---- Times (time.c) -------------------------------------------------------- */

void      pawl__odbc_to_time(pawl_time time, SQL_TIMESTAMP_STRUCT *to);
pawl_time pawl__odbc_from_time(const SQL_TIMESTAMP_STRUCT *time);

#endif
