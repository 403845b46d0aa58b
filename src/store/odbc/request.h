/* request.h - a connection through an ODBC driver, and the statements that run on it.
 *
 *     pawl__odbc_ask      a text, of the session and of transactions
 *     pawl__odbc_prepare, pawl__odbc_execute  a statement, prepared at its first use
 *
 * ODBC's calls block. A thread of the handle watches the current call (watch.c): at the deadline, or on an interrupt,
 * it asks the server, over a connection of its own, to end the statement.
 *
 * Threads: as the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_REQUEST_H
#define PAWL_STORE_ODBC_REQUEST_H

#include "store/odbc/url.h"
#include "store/sql/dialects/oracle_round.h"
#include "store/sql/family.h"

#include <sql.h>
#include <sqlext.h>

#include <string.h>

#define PAWL__ODBC_SET_ROWS 32 /* rows of one insert */
#define PAWL__ODBC_COLUMNS_MAX 40
#define PAWL__ODBC_SILENCE_S 5 /* an unresponsive server is given up this long after the deadline */
#define PAWL__ODBC_RESULTS "amdn" /* by pawl__sql_result: applied, missed, duplicate, null */

/* ---- Drivers (driver.c) --------------------------------------------------- */

/* Capabilities come from this driver's tables, not from the ODBC driver's own reports. */

/* The dialect for an ODBC driver that reports this name; -1: unknown. */
int pawl__odbc_dialect_of(const char *library);

/* Advice for a refused connection, from the code and the SQLSTATE; "": none. */
const char *pawl__odbc_remedy(pawl_code code, const char *state);

/* A failure as the ODBC driver reports it. */
typedef struct pawl__odbc_diagnosis {
    char     state[6];  /* SQLSTATE; "": the driver left no record */
    unsigned number;    /* native number; 0: a failure of the driver or of the driver manager */
    char     text[400]; /* for people */
} pawl__odbc_diagnosis;

/* Is it a general failure of the driver, without a number of the server? Then its state does not tell what became of
 * the statement. psqlODBC, which has no native numbers, uses a state of its own for it. */
static inline bool pawl__odbc_is_vague(const pawl__sql_failures   *failures,
                                       const pawl__odbc_diagnosis *diagnosis)
{
    return strcmp(diagnosis->state, "HY000") == 0 &&
           (diagnosis->number == 0 || failures->states != NULL);
}

/* Uses the native number, or the SQLSTATE if the servers have no numbers. Without either, the driver or the driver
 * manager failed, and only its state is known. A failure without any record counts as a lost connection. */
pawl_code pawl__odbc_code_of(const pawl__sql_failures   *failures,
                             const pawl__odbc_diagnosis *diagnosis, pawl__sql_left *left);
/* As pawl__odbc_code_of, for a commit: if the connection is, or may be, lost, the outcome is unknown. */
pawl_code pawl__odbc_commit_code_of(const pawl__sql_failures   *failures,
                                    const pawl__odbc_diagnosis *diagnosis);

/* ---- A connection and its statements ------------------------------------ */

/* All rows of a statement that has run; the arena exists only if there are columns. */
typedef struct pawl__odbc_kept {
    pawl_arena    *arena;
    pawl__sql_got *cells; /* row by row */
    size_t         count; /* of rows */
    size_t         capacity;
    size_t         next;
    unsigned       width;
} pawl__odbc_kept;

/* A prepared text, and storage for its parameters. */
typedef struct pawl__odbc_text {
    SQLHSTMT                     stmt; /* NULL: not prepared */
    struct pawl__odbc_parameter *parameters;
    size_t                       parameter_count;
} pawl__odbc_text;

typedef struct pawl__odbc_statement {
    pawl__sql_prepared base; /* first */
    pawl__odbc_text    one;
    pawl__odbc_text    set; /* for PAWL__ODBC_SET_ROWS items */
    pawl__odbc_kept    kept;
    bool               was_prepared;
    bool               is_block; /* its rows come as an implicit result */
} pawl__odbc_statement;

typedef struct pawl__odbc_handles {
    SQLHENV env;
    SQLHDBC dbc; /* NULL: there is none */
} pawl__odbc_handles;

typedef struct pawl__sql_connection {
    pawl__sql_session  session; /* first */
    pawl__odbc_handles made;
    bool               is_manual; /* the driver commits only when told */
    SQLHSTMT running;          /* the statement of the current call, guarded by the watch's mutex */
    pawl__oracle_round *round; /* owned; NULL: none yet */
} pawl__odbc_connection;

static inline pawl__odbc_connection *pawl__odbc_connection_of(pawl__sql_session *session)
{
    return (pawl__odbc_connection *)session;
}

/* ---- Calls (call.c) ------------------------------------------------------ */

/* Begins a call of the statement. After PAWL_OK the caller must end the call as soon as it has returned. PAWL_ELOST,
 * PAWL_EBUSY, PAWL_EINTERRUPTED: nothing may be sent. */
pawl_code pawl__odbc_call_begin(pawl__odbc_connection *connection, SQLHSTMT stmt,
                                pawl_error *error);
void      pawl__odbc_call_end(pawl__odbc_connection *connection);
/* Ends the call, and converts the failure of the handle's last call to a code and an error; also notes the state of
 * the connection. Must come before any other use of the handle. */
pawl_code pawl__odbc_failed(pawl__odbc_connection *connection, SQLSMALLINT type, SQLHANDLE handle,
                            pawl_error *error);
void      pawl__odbc_diagnose_handle(SQLSMALLINT type, SQLHANDLE handle,
                                     pawl__odbc_diagnosis *diagnosis);
/* SQLPrepare, or SQLExecDirect. */
typedef SQLRETURN pawl__odbc_send_fn(SQLHSTMT stmt, SQLCHAR *text, SQLINTEGER size);
/* Makes a statement from the text; NULL after a failure. After PAWL_OK the caller must end the call. */
pawl_code pawl__odbc_send(pawl__odbc_connection *connection, pawl__odbc_send_fn *how,
                          const char *text, SQLHSTMT *stmt, pawl_error *error);
/* Runs a statement with bound parameters, and keeps its rows; `are_texts`: all columns as texts. Rows of a block are
 * an implicit result. */
pawl_code pawl__odbc_run(pawl__odbc_connection *connection, SQLHSTMT stmt, bool is_block,
                         bool are_texts, pawl__odbc_kept *kept, pawl_error *error);
void      pawl__odbc_free(SQLHSTMT rows);
/* Of pawl__sql_ops. */
pawl_code pawl__odbc_ask(pawl__sql_session *session, const char *sql, pawl__sql_row_fn *each,
                         void *context, pawl_error *error);

/* ---- Statements (request.c) ---------------------------------------------- */

/* Of pawl__sql_ops. */
pawl_code pawl__odbc_prepare(pawl__sql_session *session, pawl__sql_prepared *made,
                             const pawl__field_list *fields, const char *template_text,
                             const pawl__sql_text *text, pawl_error *error);
void      pawl__odbc_close_statement(pawl__sql_prepared *statement);
pawl_code pawl__odbc_execute(pawl__sql_session *session, pawl__sql_prepared *statement,
                             const pawl__field_list *fields, const void *item, pawl_error *error);
int64_t   pawl__odbc_found(pawl__sql_prepared *statement);
/* Prepares a text. If the server needs them, types of parameters are added, for any number of items. Without
 * parameters, `statement` and `fields` are NULL. */
pawl_code pawl__odbc_prepare_text(pawl__odbc_connection *connection, SQLHSTMT *stmt,
                                  const pawl__sql_prepared *statement,
                                  const pawl__field_list *fields, const pawl__sql_text *text,
                                  pawl_error *error);
/* Runs the statement, or its set, with the fields of `count` items, and keeps its rows. */
pawl_code pawl__odbc_execute_items(pawl__odbc_connection *connection,
                                   pawl__odbc_statement *statement, pawl__odbc_text *text,
                                   bool is_block, const pawl__field_list *fields,
                                   const void *const *items, size_t count, pawl_error *error);
/* Of pawl__sql_ops (set.c). */
pawl_code pawl__odbc_write_set(pawl__sql_session *session, const pawl__sql_write *write,
                               const void *const *items, size_t count, pawl__sql_result *results,
                               size_t *taken, bool *is_done, pawl_error *error);

/* ---- Rounds (round.c) ------------------------------------------------------ */

/* Of pawl__sql_ops. */
pawl_code pawl__odbc_write_ahead(pawl__sql_connection *connection, const pawl__sql_write *write,
                                 const void *const *items, size_t count, pawl__sql_result *results,
                                 size_t *failed, pawl_error *error);
pawl_code pawl__odbc_settle(pawl_store *store, bool *is_right, pawl_error *error);
/* Sends the pending block, if any; called before any other statement. */
pawl_code pawl__odbc_round_send(pawl__odbc_connection *connection, pawl_error *error);
/* Of pawl__sql_ops (ended). */
void pawl__odbc_round_forget(pawl__sql_session *session);

/* ---- Rows (row.c) ---------------------------------------------------------- */

/* Reads all rows of the current result; `are_texts`: all columns as texts. The width is 0 without columns. */
pawl_code pawl__odbc_keep(pawl__odbc_connection *connection, SQLHSTMT stmt, bool are_texts,
                          pawl__odbc_kept *kept, pawl_error *error);
void      pawl__odbc_unkeep(pawl__odbc_kept *kept);
/* Of pawl__sql_ops. */
pawl_code pawl__odbc_fetch(pawl__sql_session *session, pawl__sql_prepared *statement, bool *is_row,
                           pawl_error *error);
pawl_code pawl__odbc_read(pawl__sql_session *session, pawl__sql_prepared *statement,
                          unsigned column, int wire, pawl__sql_kind kind,
                          pawl__sql_request *request, pawl__sql_got *got);
void      pawl__odbc_free_rows(pawl__sql_session *session, pawl__sql_prepared *statement);

#endif
