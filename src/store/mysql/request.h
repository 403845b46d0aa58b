/* request.h - a connection to MySQL or MariaDB, its calls and its prepared statements.
 *
 *     pawl__mysql_query, pawl__mysql_ask    a SQL text, for settings and transactions
 *     pawl__mysql_prepared, execute         a statement, prepared at its first use
 *
 * A library call is started, and continued when the socket is ready (PAWL__MYSQL_CALL), so that a deadline or an
 * interrupt can end it. On a caller's own connection (enlist) calls block.
 *
 * Threads: as the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_MYSQL_REQUEST_H
#define PAWL_STORE_MYSQL_REQUEST_H

#include "store/core/url_read.h"
#include "store/sql/ahead.h"
#include "store/sql/dialects/families.h"
#include "store/sql/dialects/mysql_sets.h"
#include "store/sql/dialects/mysql_statements.h"

#include <mysql.h>

#define PAWL__MYSQL_PACKET_REST 4096 /* bytes of a packet for all but long values */
#define PAWL__MYSQL_SETS_COUNT 6     /* texts with 8, 16 ... 256 rows */

/* ---- A connection and its statements ------------------------------------ */

/* A column of the statement's current row. */
typedef struct pawl__mysql_column {
    int64_t       number;
    MYSQL_TIME    time;
    unsigned long size;
    my_bool       is_null;
} pawl__mysql_column;

typedef struct pawl__mysql_statement {
    pawl__sql_prepared            base; /* first */
    MYSQL_STMT                   *stmt; /* NULL: not prepared */
    pawl__mysql_form              form;
    bool                          streams; /* its rows are fetched from the socket one by one */
    pawl__mysql_column           *columns;
    struct pawl__mysql_statement *sets; /* the texts for sets, by number of rows; NULL: none yet */
} pawl__mysql_statement;

typedef struct pawl__sql_connection {
    pawl__sql_session     session;  /* first */
    MYSQL                *mysql;    /* NULL: there is none */
    const pawl__url_host *host;     /* the URL's host that it is connected to */
    int64_t               until_ms; /* monotonic: the end of the call under way; 0: none */
    void                 *set;      /* memory for the parameters of a set */
    size_t                set_size;
    pawl__sql_ahead       ahead;
    bool is_manual; /* autocommit may be off: then nothing but a commit makes changes durable */
    bool is_surely_manual; /* the server confirmed that it is off */
} pawl__mysql_connection;

static inline pawl__mysql_connection *pawl__mysql_connection_of(pawl__sql_session *session)
{
    return (pawl__mysql_connection *)session;
}

/* ---- Calls (wire.c) ------------------------------------------------------ */

/* Called before each library call: outside a transaction switches autocommit on again; reads unread answers, and
 * starts the call's deadline. PAWL_ELOST, PAWL_EBUSY: nothing may be sent. */
pawl_code pawl__mysql_may_send(pawl__mysql_connection *connection, pawl_error *error);
/* Of pawl__sql_ahead. */
pawl_code pawl__mysql_begin_call(pawl__sql_session *session, pawl_error *error);
pawl_code pawl__mysql_read_answer(pawl__sql_session *session, uint64_t *found, pawl_error *error);
pawl_code pawl__mysql_go_ahead(pawl__sql_session *session, pawl_error *error);
/* Outside a transaction switches autocommit on again, before any statement but the next begin: that saves two round
 * trips between transactions. If this fails, the session counts as lost. */
void pawl__mysql_come_back(pawl__mysql_connection *connection);
/* Waits for the events that a library call asks for, and returns those that came. At the deadline or an interrupt asks
 * the server to end the statement; if no answer comes then either, shuts the socket down, which ends the call. */
int pawl__mysql_poll(pawl__mysql_connection *connection, int status);
/* Clears OpenSSL's error queue, which all connections of a thread share: the library takes an error that a closed
 * connection left there for a failure of this one. */
void pawl__mysql_clear_tls_errors(void);

/* Runs the library call `name`: name_start with the last arguments, then name_cont with `handle`. */
#define PAWL__MYSQL_CALL(connection, result, name, handle, ...)                                  \
    do {                                                                                         \
        int status_ = (pawl__mysql_clear_tls_errors(), name##_start(&(result), __VA_ARGS__));    \
        while (status_ != 0)                                                                     \
            status_ = name##_cont(&(result), (handle), pawl__mysql_poll((connection), status_)); \
    } while (0)

/* Sets the error and the connection's state from an error number; returns the code. */
pawl_code pawl__mysql_failed(pawl__mysql_connection *connection, unsigned number, const char *text,
                             pawl_error *error);
/* The same for the last call on a statement. */
pawl_code pawl__mysql_stmt_failed(pawl__mysql_connection *connection, MYSQL_STMT *stmt,
                                  pawl_error *error);
/* Runs a text whose answer has no rows. */
pawl_code pawl__mysql_query(pawl__mysql_connection *connection, const char *sql, pawl_error *error);
/* Did a handler's own SQL leave rows unread? They come before each later answer. */
bool pawl__mysql_has_rows_left(MYSQL *mysql);
/* Skips such rows; false: there were none, or the session is lost. */
bool pawl__mysql_pass_over(pawl__mysql_connection *connection);
/* Of pawl__sql_ops. */
pawl_code pawl__mysql_ask(pawl__sql_session *session, const char *text, pawl__sql_row_fn *each,
                          void *context, pawl_error *error);
void      pawl__mysql_disconnect(pawl__sql_session *session);

/* ---- Statements (request.c) ---------------------------------------------- */

/* Room for a value that the library takes in another form than the item has. */
typedef struct pawl__mysql_room {
    union {
        int64_t    number;
        MYSQL_TIME time;
        char       uuid[PAWL_UUID_TEXT_SIZE + 1];
    } as;
    unsigned long size;
} pawl__mysql_room;

/* A copy of a text, in which invalid UTF-8 was replaced. */
typedef struct pawl__mysql_copy {
    struct pawl__mysql_copy *next;
    char                     data[];
} pawl__mysql_copy;

/* Parameters of an item as the library takes them. */
typedef struct pawl__mysql_put {
    MYSQL_BIND        binds[PAWL__SQL_FIELDS_MAX];
    pawl__mysql_room *rooms; /* one for each field */
    size_t            size;  /* bytes to be sent, roughly */
    pawl__mysql_copy *copies;
} pawl__mysql_put;

/* Binds the fields of an item; NULL: none. In the end pawl__mysql_put_end frees the copies. */
void pawl__mysql_put_item(pawl__mysql_put *put, const pawl__field_list *fields, const void *item);
void pawl__mysql_put_end(pawl__mysql_put *put);
/* Copies the binds in the order of the placeholders in the statement's text. */
void pawl__mysql_put_placeholders(const pawl__mysql_statement *statement,
                                  const pawl__mysql_put *put, MYSQL_BIND *placeholders);
/* Runs the statement with the bound parameters, or sends it ahead; in that case call pawl__sql_expect next. */
pawl_code pawl__mysql_run(pawl__mysql_connection *connection, pawl__mysql_statement *statement,
                          pawl_error *error);
/* Prepares a text; the statement's placeholder_count is set already. */
pawl_code pawl__mysql_prepare_text(pawl__mysql_connection *connection,
                                   pawl__mysql_statement *statement, const pawl__sql_text *text,
                                   pawl_error *error);
/* pawl__sql_prepared_of for this driver's type. */
static inline pawl__mysql_statement *pawl__mysql_prepared(pawl__mysql_connection *connection,
                                                          int                     statement,
                                                          const pawl_saga_table  *table,
                                                          pawl_code *code, pawl_error *error)
{
    return (pawl__mysql_statement *)pawl__sql_prepared_of(&connection->session, statement, table,
                                                          NULL, code, error);
}
/* Of pawl__sql_ops. */
pawl_code pawl__mysql_prepare(pawl__sql_session *session, pawl__sql_prepared *made,
                              const pawl__field_list *fields, const char *template_text,
                              const pawl__sql_text *text, pawl_error *error);
void      pawl__mysql_close_statement(pawl__sql_prepared *statement);
pawl_code pawl__mysql_execute(pawl__sql_session *session, pawl__sql_prepared *statement,
                              const pawl__field_list *fields, const void *item, pawl_error *error);
pawl_time pawl__mysql_from_time(const MYSQL_TIME *time);

/* ---- Sets (set.c) --------------------------------------------------------- */

/* Of pawl__sql_ops. */
pawl_code           pawl__mysql_write_set(pawl__sql_session *session, const pawl__sql_write *write,
                                          const void *const *items, size_t count, pawl__sql_result *results,
                                          size_t *taken, bool *is_done, pawl_error *error);
pawl__sql_prepared *pawl__mysql_load_set(pawl__sql_session *session, int statement,
                                         const pawl__field_list *fields, const void *const *items,
                                         size_t count, pawl_code *code, pawl_error *error);

/* ---- Rows (row.c): of pawl__sql_ops -------------------------------- */

pawl_code pawl__mysql_fetch(pawl__sql_session *session, pawl__sql_prepared *statement, bool *is_row,
                            pawl_error *error);
pawl_code pawl__mysql_read(pawl__sql_session *session, pawl__sql_prepared *statement,
                           unsigned column, int wire, pawl__sql_kind kind,
                           pawl__sql_request *request, pawl__sql_got *got);
void      pawl__mysql_free_rows(pawl__sql_session *session, pawl__sql_prepared *statement);

#endif
