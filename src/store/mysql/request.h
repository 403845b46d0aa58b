/* request.h - a connection to MySQL or MariaDB, and what runs on it.
 *
 *     pawl__mysql_query, pawl__mysql_ask    a text, of the session and of transactions
 *     pawl__mysql_prepared, execute         a statement, prepared at its first use
 *
 * The library's calls are begun and go on when the socket is ready (PAWL__MYSQL_CALL), so that a
 * deadline and an interrupt end each of them. On a caller's own connection (enlist) they block.
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

#define PAWL__MYSQL_PACKET_REST 4096 /* of a packet, for what is not the longer values */
#define PAWL__MYSQL_SETS_COUNT 6     /* rows of a set's text: 8, 16 ... 256 */

/* ---- A connection and its statements ------------------------------------ */

/* A column of the row that the statement stands on. */
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
    bool                          streams; /* its rows are read as they come */
    pawl__mysql_column           *columns;
    struct pawl__mysql_statement *sets; /* PAWL__MYSQL_SETS_COUNT, by rows; NULL: none yet */
} pawl__mysql_statement;

typedef struct pawl__sql_connection {
    pawl__sql_session     session;  /* first */
    MYSQL                *mysql;    /* NULL: there is none */
    const pawl__url_host *host;     /* of the URL: where it leads to */
    int64_t               until_ms; /* monotonic: the end of the call under way; 0: none */
    void                 *set;      /* memory for the parameters of a set */
    size_t                set_size;
    pawl__sql_ahead       ahead;
    bool is_manual; /* autocommit is off, perhaps: no statement but a commit makes anything stay */
    bool is_surely_manual; /* the server said that it is off */
} pawl__mysql_connection;

static inline pawl__mysql_connection *pawl__mysql_connection_of(pawl__sql_session *session)
{
    return (pawl__mysql_connection *)session;
}

/* ---- Calls (wire.c) ------------------------------------------------------ */

/* Before a call: autocommit is on outside a transaction, answers that are unread are read, and its deadline begins.
 * PAWL_ELOST, PAWL_EBUSY: nothing may be sent. */
pawl_code pawl__mysql_may_send(pawl__mysql_connection *connection, pawl_error *error);
/* Of pawl__sql_ahead. */
pawl_code pawl__mysql_begin_call(pawl__sql_session *session, pawl_error *error);
pawl_code pawl__mysql_read_answer(pawl__sql_session *session, uint64_t *found, pawl_error *error);
pawl_code pawl__mysql_go_ahead(pawl__sql_session *session, pawl_error *error);
/* Outside a transaction: autocommit is on again. Before any statement but the next begin, which saves two round
 * trips where transaction follows transaction. A session that cannot be made as it was is given up. */
void pawl__mysql_come_back(pawl__mysql_connection *connection);
/* Waits for what a library's call asks for; what it is to go on with. At the deadline, and at an
 * interrupt, the server is asked to end the statement; where it does not answer that either the
 * socket is shut, which ends the call. */
int pawl__mysql_poll(pawl__mysql_connection *connection, int status);
/* OpenSSL's list of errors, which all connections of a thread share, is emptied: the library takes
 * what another connection left there, one that was ended, for a failure of this one. */
void pawl__mysql_clear_tls_errors(void);

/* `name` is the library's call, begun with what stands behind, gone on with `handle`. */
#define PAWL__MYSQL_CALL(connection, result, name, handle, ...)                                  \
    do {                                                                                         \
        int status_ = (pawl__mysql_clear_tls_errors(), name##_start(&(result), __VA_ARGS__));    \
        while (status_ != 0)                                                                     \
            status_ = name##_cont(&(result), (handle), pawl__mysql_poll((connection), status_)); \
    } while (0)

/* The failure with that number as a code and an error, and what it left as the connection's state. */
pawl_code pawl__mysql_failed(pawl__mysql_connection *connection, unsigned number, const char *text,
                             pawl_error *error);
/* The same of a statement's last call. */
pawl_code pawl__mysql_stmt_failed(pawl__mysql_connection *connection, MYSQL_STMT *stmt,
                                  pawl_error *error);
/* Runs a text whose answer has no rows. */
pawl_code pawl__mysql_query(pawl__mysql_connection *connection, const char *sql, pawl_error *error);
/* Rows of a handler's own SQL that were not read stand before each later answer. */
bool pawl__mysql_has_rows_left(MYSQL *mysql);
/* Whether there were some. Afterwards, unless the session is lost, there are none. */
bool pawl__mysql_pass_over(pawl__mysql_connection *connection);
/* Of pawl__sql_ops. */
pawl_code pawl__mysql_ask(pawl__sql_session *session, const char *text, pawl__sql_row_fn *each,
                          void *context, pawl_error *error);
void      pawl__mysql_disconnect(pawl__sql_session *session);

/* ---- Statements (request.c) ---------------------------------------------- */

/* A value that does not stand in the item as the library takes it. */
typedef struct pawl__mysql_room {
    union {
        int64_t    number;
        MYSQL_TIME time;
        char       uuid[PAWL_UUID_TEXT_SIZE + 1];
    } as;
    unsigned long size;
} pawl__mysql_room;

/* A text whose bytes had to be replaced. */
typedef struct pawl__mysql_copy {
    struct pawl__mysql_copy *next;
    char                     data[];
} pawl__mysql_copy;

/* Parameters of an item as the library takes them. */
typedef struct pawl__mysql_put {
    MYSQL_BIND        binds[PAWL__SQL_FIELDS_MAX];
    pawl__mysql_room *rooms; /* one for each field */
    size_t            size;  /* about as many bytes travel */
    pawl__mysql_copy *copies;
} pawl__mysql_put;

/* The fields of an item, after those of others; NULL: none. At last the put is to be ended. */
void pawl__mysql_put_item(pawl__mysql_put *put, const pawl__field_list *fields, const void *item);
void pawl__mysql_put_end(pawl__mysql_put *put);
/* Of a put, in the order in which the statement's text has them. */
void pawl__mysql_put_markers(const pawl__mysql_statement *statement, const pawl__mysql_put *put,
                             MYSQL_BIND *markers);
/* Runs it with the parameters that are bound, or sends it ahead: then pawl__sql_expect follows. */
pawl_code pawl__mysql_run(pawl__mysql_connection *connection, pawl__mysql_statement *statement,
                          pawl_error *error);
/* Prepares a text; `statement` says how many markers it has. */
pawl_code pawl__mysql_prepare_text(pawl__mysql_connection *connection,
                                   pawl__mysql_statement *statement, const pawl__sql_text *text,
                                   pawl_error *error);
/* pawl__sql_prepared_of. */
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
                                          const void *const *items, size_t count, pawl__sql_fate *fates,
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
