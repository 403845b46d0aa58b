/* connection.h - a connection to PostgreSQL and the requests made on it.
 *
 *     begin -> put parameters -> send          any number of these
 *     await                                    waits for all answers
 *     next row -> get columns                  of each request
 *     end
 *
 * A pipeline carries the requests: those sent before an await cost one round trip together.
 * Everything is binary: arrays are built as the server reads them.
 *
 * There is no pipeline on a caller's connection (enlist), and while a handler has the connection: then each send
 * waits for its answer, and no statement is prepared by name.
 *
 * Threads: a connection belongs to one thread; only interrupt comes from others.
 * Tests: tests/contract/test_postgres*.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_CONNECTION_H
#define PAWL_STORE_POSTGRES_CONNECTION_H

#include "pawl/change.h"
#include "pawl/store_driver.h"
#include "store/core/field.h"
#include "store/postgres/statements.h"
#include "store/sql/dialects.h"

#include <libpq-fe.h>
#include <stdatomic.h>

/* ---- Types on the wire -------------------------------------------------- */

#define PAWL__PG_EPOCH INT64_C(946684800000000) /* 2000-01-01, in microseconds from 1970 */

/* Types beyond those of every driver (store/core/field.h). */
enum {
    PAWL__PG_TID = PAWL__WIRE_COUNT, /* a ctid: six bytes */
    PAWL__PG_TID_HINT,               /* a ctid as the int64_t that pawl__pg_get_hint made */
};

/* ---- The connection ----------------------------------------------------- */

typedef struct pawl__pg_bytes {
    char  *data;
    size_t size;
    size_t capacity;
    bool   is_failed;
} pawl__pg_bytes;

/* The statements on a saga table. */
typedef enum pawl__pg_saga_statement {
    PAWL__PG_SAGA_BY_ID,
    PAWL__PG_SAGA_BY_MAIN,
    PAWL__PG_SAGA_BY_TRANSITIONAL,
    PAWL__PG_SAGA_BY_ID_LOCKED,
    PAWL__PG_SAGA_BY_MAIN_LOCKED,
    PAWL__PG_SAGA_BY_TRANSITIONAL_LOCKED,
    PAWL__PG_SAGA_BY_ID_SKIP,
    PAWL__PG_SAGA_BY_MAIN_SKIP,
    PAWL__PG_SAGA_BY_TRANSITIONAL_SKIP,
    PAWL__PG_SAGA_BY_ID_THERE, /* reads only the version, if the row exists */
    PAWL__PG_SAGA_BY_MAIN_THERE,
    PAWL__PG_SAGA_BY_TRANSITIONAL_THERE,
    PAWL__PG_SAGA_INSERT,
    PAWL__PG_SAGA_UPDATE,    /* by the row's ctid */
    PAWL__PG_SAGA_UPDATE_ID, /* by the id, when the ctid is not known */
    PAWL__PG_SAGA_TAKEN,
    PAWL__PG_SAGA_DELETE,
    PAWL__PG_SAGA_COUNT,
    PAWL__PG_SAGA_SCAN,
    pawl__pg_saga_statement_count
} pawl__pg_saga_statement;

/* A statement of this connection: its text, and whether it is prepared on the server. */
typedef struct pawl__pg_statement {
    char                      *text; /* made at first use */
    char                       name[24];
    int                        state;   /* see request.c */
    struct pawl__pg_statement *guarded; /* its guarded form, see writer.c; or NULL */
} pawl__pg_statement;

typedef struct pawl__pg_saga {
    struct pawl__pg_saga *next;
    pawl_saga_table       table; /* a copy; its texts stand in `texts` */
    char                 *texts;
    unsigned              number; /* for the names of its statements */
    pawl__pg_statement    statements[pawl__pg_saga_statement_count];
} pawl__pg_saga;

struct pawl__pg_request;

/* An entry of the list of sent messages whose answers are not read yet. */
typedef struct pawl__pg_sent {
    enum { PAWL__PG_SENT_REQUEST, PAWL__PG_SENT_PREPARE, PAWL__PG_SENT_SYNC } kind;
    struct pawl__pg_request *request;   /* of a request */
    pawl__pg_statement      *statement; /* of a prepare */
    bool                     is_answered;
} pawl__pg_sent;

#define PAWL__PG_PARAMETERS_MAX 24
#define PAWL__PG_PLAIN_MAX 8 /* between two awaits */

typedef struct pawl__pg_request {
    struct pawl__pg_connection *connection;
    pawl__pg_statement         *statement;
    pawl_error                 *error;
    pawl_code                   code;
    pawl_arena                 *arena; /* for the texts that pawl__pg_get_text and others return */
    int                         count; /* parameters put so far */
    Oid                         types[PAWL__PG_PARAMETERS_MAX];
    size_t                      offsets[PAWL__PG_PARAMETERS_MAX]; /* SIZE_MAX: null */
    int                         sizes[PAWL__PG_PARAMETERS_MAX];
    /* The array that is open: pawl__pg_array_begin .. pawl__pg_array_end. */
    size_t array_offset;
    /* The answer. */
    PGresult *result;
    int       row; /* -1 before the first */
    int       column;
} pawl__pg_request;

typedef struct pawl__pg_connection {
    PGconn            *pg;
    const char        *prefix;
    pawl__sql_dialect  dialect;      /* with this store's schema */
    int64_t            idle_ms;      /* how long a transaction may be idle while a handler runs */
    bool               is_ours;      /* false in enlist */
    bool               is_named;     /* statements are prepared by name: not with a pooler */
    bool               is_pipelined; /* false while a handler has the connection */
    bool               is_gathered;  /* pipelined bytes stay here until await */
    bool               in_transaction;
    uint64_t           transactions; /* begun so far */
    unsigned           generation;   /* of the statements' names; see request.c */
    int64_t            deadline_ms;
    int                interrupt_fd; /* readable: end the request under way; -1: none */
    pawl__pg_statement statements[PAWL__PG_STATEMENT_COUNT];
    pawl__pg_saga     *sagas;
    unsigned           saga_count;
    pawl__pg_bytes     parameters; /* of the request that is being made */
    pawl__pg_sent     *sent;
    size_t             sent_count;
    size_t             sent_capacity;
    /* The first failure since the last await. */
    pawl_code  failed;
    pawl_error failed_error;
    /* Requests whose answers are ignored: begin, commit and others. */
    pawl__pg_request plain[PAWL__PG_PLAIN_MAX];
    unsigned         plain_count;
    bool             is_lost;        /* the socket broke, or the protocol's state is unknown */
    bool             is_read_only;   /* a write was refused: perhaps a standby after a fail-over */
    bool             is_unconfirmed; /* a commit is durable here, but no standby confirmed it */
    bool             is_handlers;    /* a handler used it for own SQL */
    bool             is_callers;     /* of an enlist */
    int64_t          session_number; /* share.h: of the session's own advisory lock; 0: none */
    struct pawl__pg_connection *next_idle;
} pawl__pg_connection;

/* A handle as a member of its process' share (share.h). */
typedef struct pawl__pg_member {
    struct pawl__pg_share *share; /* NULL: the handle has its own sessions */
    struct pawl__pg       *next;
    int                    session_max; /* sessions=N of the URL; 0: no share */
    int                    fd;          /* readable: the keeper woke it */
    _Atomic int64_t        session;     /* main.session_number, or 0 */
    /* The rest is under the share's mutex. */
    bool is_waiting;
    bool is_woken; /* by a NOTIFY for it, since its last wait */
} pawl__pg_member;

/* ---- Errors (error.c) --------------------------------------------------- */

/* The code for an SQLSTATE, five characters or NULL. */
pawl_code pawl__pg_code_of(const char *state);
/* The code and text of a result that failed, or of the connection when `result` is NULL. */
pawl_code pawl__pg_failed(const PGconn *pg, const PGresult *result, const char *what,
                          pawl_error *error);
/* Of COMMIT; PAWL_ECONFLICT: a deferred constraint refused it. */
pawl_code pawl__pg_commit_failed(const PGconn *pg, const PGresult *result, pawl_error *error);
pawl_code pawl__pg_no_memory(pawl_error *error);
/* Did it fail because the server does not know the prepared statement, or its plan is invalid? */
bool pawl__pg_is_forgotten(const PGresult *result);
/* Was a write refused because the server is read-only: a standby, or an old primary after a fail-over? */
bool pawl__pg_is_read_only(const PGresult *result);

/* ---- Requests (request.c, parameter.c, wire.c) -------------------------- */

void pawl__pg_begin(pawl__pg_request *request, pawl__pg_connection *connection, int statement,
                    pawl_error *error);
/* The same with a statement outside the shared list: a saga table's, or a text that runs once. */
void pawl__pg_begin_with(pawl__pg_request *request, pawl__pg_connection *connection,
                         pawl__pg_statement *statement, pawl_error *error);

/* ---- Of a saga's table (saga_statements.c) ------------------------------ */

/* The text of a pawl__pg_saga_statement. */
void pawl__pg_saga_text(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                        const pawl_saga_table *table, int which);
/* Its text is made at first use. */
void pawl__pg_saga_begin(pawl__pg_request *request, pawl__pg_connection *connection,
                         const pawl_saga_table *table, int which, pawl_error *error);

/* ---- Parameters (parameter.c) ------------------------------------------- */

void pawl__pg_put_int(pawl__pg_request *request, int64_t value);
void pawl__pg_put_bool(pawl__pg_request *request, bool value);
void pawl__pg_put_time(pawl__pg_request *request, pawl_time value);
/* A lower bound of times: PAWL__WIRE_TIME_FROM. */
void pawl__pg_put_time_from(pawl__pg_request *request, pawl_time value);
void pawl__pg_put_text(pawl__pg_request *request, pawl_text value);
void pawl__pg_put_uuid(pawl__pg_request *request, pawl_uuid value);
/* A ctid. */
void pawl__pg_put_tid(pawl__pg_request *request, const unsigned char tid[6]);
/* Arrays. `value_type` is read for PAWL__WIRE_VALUE. */
void pawl__pg_array_begin(pawl__pg_request *request, int type, pawl_value_type value_type,
                          size_t count);
void pawl__pg_array_put(pawl__pg_request *request, int type, const void *member);
void pawl__pg_array_end(pawl__pg_request *request);
/* Puts an array of one member of `count` structs; `first` points to it in the first struct. NULL without structs. */
void pawl__pg_put_column(pawl__pg_request *request, int type, const void *first, size_t struct_size,
                         size_t count);
#define PAWL__PG_PUT_COLUMN(request, type, structs, member, count)                  \
    pawl__pg_put_column((request), (type), (count) > 0 ? &(structs)->member : NULL, \
                        sizeof *(structs), (count))
void pawl__pg_put_ints(pawl__pg_request *request, const int64_t *values, size_t count);
void pawl__pg_put_texts(pawl__pg_request *request, const pawl_text *values, size_t count);
void pawl__pg_put_values(pawl__pg_request *request, pawl_value_type type, const pawl_value *values,
                         size_t count);

/* Adds a parameter to the request for each field of the item. */
void pawl__pg_put_fields(pawl__pg_request *request, const pawl__field_list *fields,
                         const void *item);

/* Appends the request to the pipeline. Its answer can be read after await; until then the request must not
 * move in memory. Without a pipeline it waits for the answer. */
void pawl__pg_send(pawl__pg_request *request);
/* Ends a part of the pipeline (a sync): a failure in it does not keep the next part from running. */
void pawl__pg_part(pawl__pg_connection *connection);
/* Waits for the answers to all requests that were sent. Returns the first failure, with its text;
 * each request's own code says whether it was answered. */
pawl_code pawl__pg_await(pawl__pg_connection *connection, pawl_error *error);
/* begin, put and send: a statement with the item's fields as parameters. */
void pawl__pg_send_with(pawl__pg_request *request, pawl__pg_connection *connection, int statement,
                        const pawl__field_list *parameters, const void *item, pawl_error *error);
/* send and await: for a request on its own. */
pawl_code pawl__pg_run(pawl__pg_request *request);
/* The same for a text without parameters that runs once. */
pawl_code pawl__pg_run_once(pawl__pg_request *request, pawl__pg_connection *connection,
                            const char *text, pawl_error *error);
/* run_once and end, of one without rows. */
pawl_code pawl__pg_execute(pawl__pg_connection *connection, const char *statement,
                           pawl_error *error);
/* How many rows the statement changed, or returned. */
int64_t pawl__pg_rows(const pawl__pg_request *request);
bool    pawl__pg_next(pawl__pg_request *request);
void    pawl__pg_end(pawl__pg_request *request); /* may be repeated */

bool    pawl__pg_is_null(const pawl__pg_request *request);
int64_t pawl__pg_get_int(pawl__pg_request *request); /* 0 for null */
bool    pawl__pg_get_bool(pawl__pg_request *request);
/* Converts a number from 1 to `count` to an index; SIZE_MAX for other numbers. */
size_t    pawl__pg_get_index(pawl__pg_request *request, size_t count);
pawl_time pawl__pg_get_time(pawl__pg_request *request);  /* 0 for null */
pawl_text pawl__pg_get_text(pawl__pg_request *request);  /* copied to request->arena */
pawl_text pawl__pg_peek_text(pawl__pg_request *request); /* until pawl__pg_end */
pawl_text pawl__pg_get_json(pawl__pg_request *request);  /* of a jsonb column */
pawl_uuid pawl__pg_get_uuid(pawl__pg_request *request);  /* zero for null */
/* The ctid as a number, never 0: pawl_saga_row.row. */
int64_t pawl__pg_get_hint(pawl__pg_request *request);
void    pawl__pg_get_tid(pawl__pg_request *request, unsigned char tid[6]);
void    pawl__pg_get_value(pawl__pg_request *request, pawl_value_type type, pawl_value *value);
/* The next columns, one for each field of the row. */
void pawl__pg_get_fields(pawl__pg_request *request, const pawl__field_list *fields, void *row);
void pawl__pg_skip(pawl__pg_request *request); /* one column */
/* Zeroed memory for one item per row of the answer, never of size zero; NULL: request->code is
 * set. */
void *pawl__pg_take_rows(pawl__pg_request *request, size_t item_size);
/* Reads all rows of the answer, and ends the request. */
pawl_code pawl__pg_take_all(pawl__pg_request *request, const pawl__field_list *columns,
                            size_t row_size, pawl_found *rows);
/* Runs one statement with the item's fields as parameters; `row` gets the columns of the first row, or stays unchanged
 * without one. `columns` may be NULL, and has no texts, since there is no arena. */
pawl_code pawl__pg_ask(pawl__pg_connection *connection, int statement,
                       const pawl__field_list *parameters, const void *item,
                       const pawl__field_list *columns, void *row, pawl_error *error);
/* run and end: the number of a statement that returns one row; 0 when it returns none. */
pawl_code pawl__pg_one_int(pawl__pg_request *request, int64_t *number);

/* Frees all statements, after a reconnect or before the connection is closed. */
void pawl__pg_connection_clear(pawl__pg_connection *connection);
/* Turns the pipeline on or off; no request may be under way. */
pawl_code pawl__pg_set_pipeline(pawl__pg_connection *connection, bool is_on, pawl_error *error);

#endif
