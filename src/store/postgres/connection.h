/* connection.h - a connection to PostgreSQL and the calls made on it.
 *
 *     begin -> put parameters -> send          any number of these
 *     flush                                    waits for all answers
 *     next row -> get columns                  of each call
 *     end
 *
 * Calls are pipelined: what is sent before a flush costs one round trip
 * together. Everything is binary: arrays are built as the server reads them.
 *
 * On a connection that is not ours (enlist), or while a handler has it (a hold),
 * the pipeline is off: each send waits for its answer, and no statement is
 * prepared by name.
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
#include "store/postgres/statements.h"
#include "store/sql/dialect.h"
#include "store/sql/field.h"

#include <libpq-fe.h>
#include <stdatomic.h>

extern const pawl__sql_dialect pawl__pg_dialect;

/* ---- Types on the wire -------------------------------------------------- */

#define PAWL__PG_EPOCH INT64_C(946684800000000) /* 2000-01-01, in microseconds from 1970 */

/* Behind those of every driver. */
enum {
    PAWL__PG_TID = PAWL__WIRE_COUNT, /* six bytes */
    PAWL__PG_TID_HINT,               /* an int64_t that pawl__pg_get_hint made */
};

/* ---- The connection ----------------------------------------------------- */

typedef struct pawl__pg_bytes {
    char  *data;
    size_t size;
    size_t capacity;
    bool   is_failed;
} pawl__pg_bytes;

/* A saga table whose statements were made on this connection. */
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
    PAWL__PG_SAGA_BY_ID_THERE, /* only whether it is, and at which version */
    PAWL__PG_SAGA_BY_MAIN_THERE,
    PAWL__PG_SAGA_BY_TRANSITIONAL_THERE,
    PAWL__PG_SAGA_INSERT,
    PAWL__PG_SAGA_UPDATE,    /* by its place */
    PAWL__PG_SAGA_UPDATE_ID, /* place not known */
    PAWL__PG_SAGA_DELETE,
    PAWL__PG_SAGA_COUNT,
    pawl__pg_saga_statement_count
} pawl__pg_saga_statement;

/* A statement of this connection: its text, and whether the server has it. */
typedef struct pawl__pg_statement {
    char                      *text; /* made at first use */
    char                       name[24];
    int                        state;   /* see call.c */
    struct pawl__pg_statement *guarded; /* see writer.c; or NULL */
} pawl__pg_statement;

typedef struct pawl__pg_saga {
    struct pawl__pg_saga *next;
    pawl_saga_table       table; /* a copy; its texts stand in `texts` */
    char                 *texts;
    unsigned              number; /* for the names of its statements */
    pawl__pg_statement    statements[pawl__pg_saga_statement_count];
} pawl__pg_saga;

struct pawl__pg_request;

/* What was sent and not answered yet. */
typedef struct pawl__pg_sent {
    enum { PAWL__PG_SENT_REQUEST, PAWL__PG_SENT_PREPARE, PAWL__PG_SENT_SYNC } kind;
    struct pawl__pg_request *request;   /* of a call */
    pawl__pg_statement      *statement; /* of a prepare */
    bool                     is_answered;
} pawl__pg_sent;

#define PAWL__PG_PARAMETERS_MAX 24
#define PAWL__PG_PLAIN_MAX 8 /* between two flushes */

typedef struct pawl__pg_request {
    struct pawl__pg_connection *connection;
    pawl__pg_statement         *statement;
    pawl_error                 *error;
    pawl_code                   code;
    pawl_arena                 *arena; /* for what get_text and the like return */
    int                         count; /* parameters put so far */
    Oid                         types[PAWL__PG_PARAMETERS_MAX];
    size_t                      offsets[PAWL__PG_PARAMETERS_MAX]; /* SIZE_MAX: null */
    int                         sizes[PAWL__PG_PARAMETERS_MAX];
    /* The array that is open: begin_array .. end_array. */
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
    bool               is_ours;      /* false in an enlist */
    bool               is_named;     /* statements are prepared by name: no pooler between */
    bool               is_pipelined; /* not while a handler has the connection */
    bool               is_gathered;  /* what is sent leaves in one piece, with the flush:
                                              nobody can be stopped in the middle of it */
    bool               in_transaction;
    unsigned           generation; /* of the statements' names; see call.c */
    int64_t            deadline_ms;
    int                interrupt_fd; /* readable: end the call under way; -1: none */
    pawl__pg_statement statements[PAWL__PG_STATEMENT_COUNT];
    pawl__pg_saga     *sagas;
    unsigned           saga_count;
    pawl__pg_bytes     parameters; /* of the call that is being made */
    pawl__pg_sent     *sent;
    size_t             sent_count;
    size_t             sent_capacity;
    /* The first failure since the last flush. */
    pawl_code  failed;
    pawl_error failed_error;
    /* Calls without rows, whose answers nobody reads: begin, commit and the like. */
    pawl__pg_request plain[PAWL__PG_PLAIN_MAX];
    unsigned         plain_count;
    bool             is_lost;      /* the connection broke, or its state is not known */
    bool             is_read_only; /* it could not be written to: the name may lead elsewhere */
    bool is_unconfirmed; /* a commit stands here, and no standby has said that it has it */
} pawl__pg_connection;

/* ---- Errors (error.c) --------------------------------------------------- */

/* The code for an SQLSTATE, five characters or NULL. */
pawl_code pawl__pg_code_of(const char *state);
/* From a result that failed, or from the connection when result is NULL. */
pawl_code pawl__pg_failed(const PGconn *pg, const PGresult *result, const char *what,
                          pawl_error *error);
pawl_code pawl__pg_no_memory(pawl_error *error);
/* The server does not know a prepared statement any longer, or refuses to run it
 * as it was planned. */
bool pawl__pg_is_forgotten(const PGresult *result);
/* It was to be written, and can only be read: a standby, or what a fail-over left behind. */
bool pawl__pg_is_read_only(const PGresult *result);

/* ---- Calls (call.c, parameter.c, wire.c) -------------------------------- */

void pawl__pg_begin(pawl__pg_request *request, pawl__pg_connection *connection, int statement,
                    pawl_error *error);
/* The same with a statement that is no shared one. */
void pawl__pg_begin_with(pawl__pg_request *request, pawl__pg_connection *connection,
                         pawl__pg_statement *statement, pawl_error *error);

void pawl__pg_put_int(pawl__pg_request *request, int64_t value);
void pawl__pg_put_bool(pawl__pg_request *request, bool value);
void pawl__pg_put_time(pawl__pg_request *request, pawl_time value);
void pawl__pg_put_text(pawl__pg_request *request, pawl_text value);
void pawl__pg_put_uuid(pawl__pg_request *request, pawl_uuid value);
/* A uuid of zeroes is null. */
void pawl__pg_put_tid(pawl__pg_request *request, const unsigned char tid[6]);
/* Arrays. `value_type` is read for PAWL__WIRE_VALUE. */
void pawl__pg_array_begin(pawl__pg_request *request, int type, pawl_value_type value_type,
                          size_t count);
void pawl__pg_array_put(pawl__pg_request *request, int type, const void *member);
void pawl__pg_array_end(pawl__pg_request *request);
void pawl__pg_put_ints(pawl__pg_request *request, const int64_t *values, size_t count);
void pawl__pg_put_texts(pawl__pg_request *request, const pawl_text *values, size_t count);
void pawl__pg_put_values(pawl__pg_request *request, pawl_value_type type, const pawl_value *values,
                         size_t count);

/* One member by its form on the way, and one parameter for each field of the item. */
void pawl__pg_put(pawl__pg_request *request, int type, const void *member);
void pawl__pg_put_fields(pawl__pg_request *request, const pawl__sql_fields *fields,
                         const void *item);

/* Puts the call behind those that were sent; the answer is there after flush.
 * Without a pipeline it waits for the answer. The call must stay where it is
 * until then. */
void pawl__pg_send(pawl__pg_request *request);
/* Waits for the answers to everything sent. The first failure's code and text;
 * each call's own code says whether it was answered. */
pawl_code pawl__pg_await(pawl__pg_connection *connection, pawl_error *error);
/* send and flush: for a call on its own. */
pawl_code pawl__pg_run(pawl__pg_request *request);
/* The same for a statement without parameters and rows. */
pawl_code pawl__pg_execute(pawl__pg_connection *connection, const char *statement,
                           pawl_error *error);
/* How many rows the statement changed or returned. */
int64_t pawl__pg_rows(const pawl__pg_request *request);
bool    pawl__pg_next(pawl__pg_request *request);
void    pawl__pg_end(pawl__pg_request *request); /* harmless when done before */

bool      pawl__pg_is_null(const pawl__pg_request *request);
int64_t   pawl__pg_get_int(pawl__pg_request *request); /* null is 0 */
bool      pawl__pg_get_bool(pawl__pg_request *request);
pawl_time pawl__pg_get_time(pawl__pg_request *request);  /* null is 0 */
pawl_text pawl__pg_get_text(pawl__pg_request *request);  /* copied to call->arena */
pawl_text pawl__pg_peek_text(pawl__pg_request *request); /* until pawl__pg_end */
pawl_text pawl__pg_get_json(pawl__pg_request *request);  /* of a jsonb column */
pawl_uuid pawl__pg_get_uuid(pawl__pg_request *request);  /* null is zero */
/* A row's place as a number, never 0: pawl_saga_row.row. */
int64_t pawl__pg_get_hint(pawl__pg_request *request);
void    pawl__pg_get_tid(pawl__pg_request *request, unsigned char tid[6]);
void    pawl__pg_get_value(pawl__pg_request *request, pawl_value_type type, pawl_value *value);
/* The next columns, one for each field of the row. */
void pawl__pg_get_fields(pawl__pg_request *request, const pawl__sql_fields *fields, void *row);
void pawl__pg_skip(pawl__pg_request *request); /* one column */
/* Zeroed room for one item for each row of the answer; NULL with call->code
 * set. Never of size zero. */
void *pawl__pg_take_rows(pawl__pg_request *request, size_t item_size);
/* Runs the call and ends it: one number, of a statement that gives one row; 0
 * when it gives none. */
pawl_code pawl__pg_one_int(pawl__pg_request *request, int64_t *number);

/* Forgets all statements: after the connection was made anew, or is let go. */
void pawl__pg_connection_clear(pawl__pg_connection *connection);
/* The pipeline on or off; nothing may be under way. */
pawl_code pawl__pg_set_pipeline(pawl__pg_connection *connection, bool is_on, pawl_error *error);

#endif
