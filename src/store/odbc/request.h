/* request.h - a connection through an ODBC driver, and what runs on it.
 *
 *     pawl__odbc_ask      a text, of the session and of transactions
 *     pawl__odbc_prepare, pawl__odbc_execute  a statement, prepared at its first use
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

#include "store/odbc/url.h"
#include "store/sql/dialects/oracle_round.h"
#include "store/sql/family.h"

#include <sql.h>
#include <sqlext.h>

#include <string.h>

#define PAWL__ODBC_SET_ROWS 32 /* of an insert */
#define PAWL__ODBC_COLUMNS_MAX 40
#define PAWL__ODBC_SILENCE_S 5  /* behind the deadline a server that says nothing is given up */
#define PAWL__ODBC_FATES "amdn" /* by pawl__sql_fate: applied, missed, duplicate, null */

/* ---- Drivers (driver.c) --------------------------------------------------- */

/* A driver's own word for what it can do is not asked for: the tables are. */

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

/* A driver's general failure without a number of the server's: the state says nothing of what became of the statement.
 * psqlODBC, whose servers have no numbers, puts one of its own there. */
static inline bool pawl__odbc_is_vague(const pawl__sql_failures   *failures,
                                       const pawl__odbc_diagnosis *diagnosis)
{
    return strcmp(diagnosis->state, "HY000") == 0 &&
           (diagnosis->number == 0 || failures->states != NULL);
}

/* The native number decides, or the state where the servers have no numbers. Where there is none the driver, or the
 * driver manager, failed by itself, and the state is all that is known. A failure without any record is a lost
 * connection. */
pawl_code pawl__odbc_code_of(const pawl__sql_failures   *failures,
                             const pawl__odbc_diagnosis *diagnosis, pawl__sql_left *left);
/* The same of a commit: where the connection was lost, or perhaps was, the outcome is not known. */
pawl_code pawl__odbc_commit_code_of(const pawl__sql_failures   *failures,
                                    const pawl__odbc_diagnosis *diagnosis);

/* ---- A connection and its statements ------------------------------------ */

/* The rows of a statement that has run; without any column there is no arena. */
typedef struct pawl__odbc_kept {
    pawl_arena    *arena;
    pawl__sql_got *cells; /* row by row */
    size_t         count; /* of rows */
    size_t         capacity;
    size_t         next;
    unsigned       width;
} pawl__odbc_kept;

/* A text that is prepared, and the places of its parameters. */
typedef struct pawl__odbc_text {
    SQLHSTMT                     stmt; /* NULL: not prepared */
    struct pawl__odbc_parameter *parameters;
    size_t                       parameter_count;
} pawl__odbc_text;

typedef struct pawl__odbc_statement {
    pawl__sql_prepared base; /* first */
    pawl__odbc_text    one;
    pawl__odbc_text    set; /* the same for PAWL__ODBC_SET_ROWS items */
    pawl__odbc_kept    kept;
    bool               is_looked_at;
    bool               is_block; /* its rows are an implicit result */
} pawl__odbc_statement;

typedef struct pawl__odbc_handles {
    SQLHENV env;
    SQLHDBC dbc; /* NULL: there is none */
} pawl__odbc_handles;

typedef struct pawl__sql_connection {
    pawl__sql_session   session; /* first */
    pawl__odbc_handles  made;
    bool                is_manual; /* the driver commits nothing by itself */
    SQLHSTMT            running;   /* of the call under way, under the watch's mutex */
    pawl__oracle_round *round;     /* owned; NULL: none yet */
} pawl__odbc_connection;

static inline pawl__odbc_connection *pawl__odbc_connection_of(pawl__sql_session *session)
{
    return (pawl__odbc_connection *)session;
}

/* ---- Calls (call.c) ------------------------------------------------------ */

/* Before a call of that statement: PAWL_ELOST, PAWL_EBUSY, PAWL_EINTERRUPTED: nothing may be sent. After PAWL_OK
 * the call is to be ended, as soon as it returned. */
pawl_code pawl__odbc_call_begin(pawl__odbc_connection *connection, SQLHSTMT stmt,
                                pawl_error *error);
void      pawl__odbc_call_end(pawl__odbc_connection *connection);
/* Ends the call. The failure of that handle's last call as a code and an error, and what it left as the connection's
 * state. To be asked before anything else is done with the handle. */
pawl_code pawl__odbc_failed(pawl__odbc_connection *connection, SQLSMALLINT type, SQLHANDLE handle,
                            pawl_error *error);
void      pawl__odbc_diagnose_handle(SQLSMALLINT type, SQLHANDLE handle,
                                     pawl__odbc_diagnosis *diagnosis);
/* SQLPrepare, or SQLExecDirect. */
typedef SQLRETURN pawl__odbc_send_fn(SQLHSTMT stmt, SQLCHAR *text, SQLINTEGER size);
/* Makes a statement of the text; NULL behind a failure. After PAWL_OK the call is under way. */
pawl_code pawl__odbc_send(pawl__odbc_connection *connection, pawl__odbc_send_fn *how,
                          const char *text, SQLHSTMT *stmt, pawl_error *error);
/* Runs a statement whose parameters are bound, and keeps its rows, all of them as texts where it is `are_texts`. The rows
 * of a block are an implicit result. */
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
/* Prepares a text, with the types of its parameters where the server wants them: those of any number of the
 * statement's items. Of a text without parameters, `statement` and `fields` are NULL. */
pawl_code pawl__odbc_prepare_text(pawl__odbc_connection *connection, SQLHSTMT *stmt,
                                  const pawl__sql_prepared *statement,
                                  const pawl__field_list *fields, const pawl__sql_text *text,
                                  pawl_error *error);
/* Runs the statement, or its set, with the fields of so many items, and keeps its rows. */
pawl_code pawl__odbc_execute_items(pawl__odbc_connection *connection,
                                   pawl__odbc_statement *statement, pawl__odbc_text *text,
                                   bool is_block, const pawl__field_list *fields,
                                   const void *const *items, size_t count, pawl_error *error);
/* Of pawl__sql_ops (set.c). */
pawl_code pawl__odbc_write_set(pawl__sql_session *session, const pawl__sql_write *write,
                               const void *const *items, size_t count, pawl__sql_fate *fates,
                               size_t *taken, bool *is_done, pawl_error *error);

/* ---- Rounds (round.c) ------------------------------------------------------ */

/* Of pawl__sql_ops. */
pawl_code pawl__odbc_write_ahead(pawl__sql_connection *connection, const pawl__sql_write *write,
                                 const void *const *items, size_t count, pawl__sql_fate *fates,
                                 size_t *failed, pawl_error *error);
pawl_code pawl__odbc_settle(pawl_store *store, bool *is_right, pawl_error *error);
/* Sends the block, if there is one, before anything else. */
pawl_code pawl__odbc_round_send(pawl__odbc_connection *connection, pawl_error *error);
/* Of pawl__sql_ops (ended). */
void pawl__odbc_round_forget(pawl__sql_session *session);

/* ---- Rows (row.c) ---------------------------------------------------------- */

/* Reads all rows of the result that a statement stands on; where it is `are_texts` all columns are texts. Its width
 * is 0 where it has none. */
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
