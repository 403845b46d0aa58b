/* connection.h - pawl__sql_ops, the functions that a SQL driver implements for the generic store: to send statements
 * and read their rows, and to write a commit. The last part is for drivers that use sessions (session.h).
 *
 *     send       any number of requests; a driver may only queue them
 *     await      waits for the answers to all of them
 *     next, get  row by row
 *     end        always, once for each request
 *
 *     begin, or handler transaction   (transaction.h)
 *     write, claim_check, block_behind   any number; or write_ahead, then settle
 *     commit, or rollback             then claims_end, once for each commit
 *
 * A driver with sessions implements how its library prepares, executes and fetches a statement; send to end, and
 * write, are then functions of session.h. A driver that can pipeline statements (PostgreSQL) implements send to end
 * itself, and fence, write_kind and finish in place of write: then a round is one round trip.
 *
 * A statement belongs to one request until that is ended, since a driver may fetch its rows one by one.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_CONNECTION_H
#define PAWL_STORE_SQL_CONNECTION_H

#include "pawl/store_driver.h"
#include "store/core/field.h"
#include "store/sql/dialect.h"
#include "store/sql/server.h"
#include "store/sql/statements.h"
#include "store/sql/value.h"
#include "store/sql/write.h"

/* Added to a pawl__sql_saga_statement: the item begins as a pawl__saga_change. */
#define PAWL__SQL_ON_SAGA 4096
#define PAWL__SQL_SET_MAX 256

/* A statement, the source of its parameters, and the form of its rows. */
typedef struct pawl__sql_asked {
    int                     statement;  /* pawl__sql_statement, one of row_statements.h, or
                                           PAWL__SQL_ON_SAGA and a pawl__sql_saga_statement */
    const pawl__field_list *parameters; /* of the item; NULL: none */
    const void             *item;
    const pawl__field_list *columns; /* of a row */
    size_t                  row_size;
} pawl__sql_asked;

typedef struct pawl__sql_connection pawl__sql_connection; /* each driver's own */
typedef struct pawl__sql_request    pawl__sql_request;    /* the same, or that of session_rows.h */
typedef struct pawl__sql_session    pawl__sql_session;
typedef struct pawl__sql_prepared   pawl__sql_prepared;
typedef struct pawl__sql_family     pawl__sql_family;

/* How to find out whether a worker lives, from its row: the lock of this number is held (by a session of the server, or
 * by a process for a file); without a lock, its last heartbeat is recent. */
typedef struct pawl__sql_life {
    int64_t   process; /* 0: no lock */
    pawl_time seen;
    bool      is_alive; /* the answer */
} pawl__sql_life;

/* Called with a row's columns as texts, valid during the call; data is NULL for null. */
typedef void pawl__sql_row_fn(void *context, const pawl_text *columns);

typedef struct pawl__sql_ops {
    const char *name; /* as its error texts begin: "sqlite" */
    /* Begins a transaction in which all reads see one snapshot of the data. NULL: reads that are sent together see one,
     * or need none. */
    pawl_code (*read_begin)(pawl_store *store, pawl_error *error);
    /* `*request` is NULL if it could not be made; otherwise call `end` for it. Texts that are read are put into the
     * arena. The parameters are borrowed until `end`. */
    pawl_code (*send)(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                      pawl__sql_request **request, pawl_error *error);
    /* The same for up to PAWL__SQL_SET_MAX items of one saga table; each row has the number of its item in place of
     * {row}. NULL: items are sent one by one. */
    pawl_code (*send_set)(pawl_store *store, const pawl__sql_asked *asked, const void *const *items,
                          size_t count, pawl_arena *arena, pawl__sql_request **request,
                          pawl_error *error);
    /* Waits for all requests; returns the first failure. NULL: `send` runs a request at once. */
    pawl_code (*await)(pawl_store *store, pawl_error *error);
    bool (*next)(pawl__sql_request *request);
    /* Reads the row's columns from the first one on, also in a second call for the same row. */
    void (*get)(pawl__sql_request *request, const pawl__field_list *columns, void *row);
    /* For a statement that writes, in place of `next`: the number of rows that it found. */
    int64_t (*changed)(pawl__sql_request *request);
    /* Ends the request; returns its failure. Accepts NULL. */
    pawl_code (*end)(pawl__sql_request *request);
    /* Finds out for all of them at once whether they live. Also called between reads, and in transactions. */
    pawl_code (*which_are_alive)(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                                 pawl_error *error);

    /* Row locks taken from here on last until the handler transaction ends, or until the commit that ends this batch's
     * claims. NULL: the database cannot lock rows of sagas; they are read without a lock. */
    pawl_code (*lock_begin)(pawl_store *store, pawl_error *error);

    /* ---- Workers; NULL in a driver with its own workers and leases -------- */

    /* Takes the lock that shows that this handle's worker lives, unless it has it; `number`: pawl__sql_life.process. */
    pawl_code (*own_lock)(pawl_store *store, int64_t *number, pawl_error *error);
    /* Releases that lock, after the worker's row was deleted. NULL: the lock ends with the handle. */
    void (*own_unlock)(pawl_store *store);
    /* This handle takes the worker over: releases claims that another handle made as this worker. NULL: nothing to do,
     * the epoch in the row is enough. */
    pawl_code (*take_over)(pawl_store *store, pawl_error *error);
    /* Releases the handle's claims of queue rows, before the worker's row is deleted. */
    pawl_code (*claims_leave)(pawl_store *store, pawl_error *error);
    /* Called before a wait: releases locks that no claim needs. */
    void (*rest)(pawl_store *store);
    /* Becomes readable when the server ends the session; -1: not known. */
    int (*session_fd)(pawl_store *store);
    /* Called when the outcome of a commit that returned PAWL_EUNKNOWN is known. NULL: claims_end did all. */
    void (*resolved)(pawl_store *store, bool is_applied);

    /* ---- Writing ---------------------------------------------------------- */

    /* Writes the items, with the effect of one statement after another, and sets the result of each. May use statements
     * over sets. A failure: items[*failed] could not be written, and the transaction has to be rolled
     * back. */
    pawl_code (*write)(pawl__sql_connection *connection, const pawl__sql_write *write,
                       const void *const *items, size_t count, pawl__sql_result *results,
                       size_t *failed, pawl_error *error);
    /* The same in a round that can be repeated: answers may be read later, and until then each item counts as applied.
     * Nothing may become durable before `commit`. */
    pawl_code (*write_ahead)(pawl__sql_connection *connection, const pawl__sql_write *write,
                             const void *const *items, size_t count, pawl__sql_result *results,
                             size_t *failed, pawl_error *error);
    /* Ends such a round: reads all answers. `*is_right` is false if an item was not applied after all: the round is
     * then undone, and repeated with `write`. write_ahead and settle are NULL if `write` is as fast. */
    pawl_code (*settle)(pawl_store *store, bool *is_right, pawl_error *error);
    /* Writes the fence, unless an earlier round of the commit did and it was not undone. NULL: `write` is used. */
    pawl_code (*fence)(struct pawl__sql_writer *writer);
    /* Writes the changes of a kind. Refusals may be found later, by `finish`. NULL: `write` is used. */
    pawl_code (*write_kind)(struct pawl__sql_writer *writer, pawl_change_kind kind);
    /* Ends a round; `code` is its result so far. Finds the refusals. Without any it writes the remaining kinds and
     * commits (an enlisted set is not committed); otherwise it undoes the round. PAWL_OK and `*is_done` false: another
     * round follows, with is_ahead as set here. A round that was sent ahead and had an unexpected answer leaves no
     * refusals. NULL: settle, then commit. */
    pawl_code (*finish)(struct pawl__sql_writer *writer, pawl_code code, bool *is_done);
    /* Begins a transaction on the current connection, and locks claimed rows again; also called after a rollback. */
    pawl_code (*begin)(pawl_store *store, pawl_error *error);
    /* Commits. `is_unknown`: the outcome is not known. After a failure the caller calls rollback. */
    pawl_code (*commit)(pawl_store *store, bool *is_unknown, pawl_error *error);
    /* Rolls back, if a transaction is open. A handler transaction may stay open, rolled back to its begin, so that the
     * row locks of the claims are kept. */
    void (*rollback)(pawl_store *store);
    /* Begins a handler transaction: sets a savepoint, which is_open checks and `rollback` goes back to. NULL: none. */
    pawl_code (*mark_open)(pawl_store *store, pawl_error *error);
    /* Is the handler transaction still open? PAWL_EINVAL: after the handler's own SQL nothing can be committed; the
     * error says why. */
    pawl_code (*is_open)(pawl_store *store, bool *is_open, pawl_error *error);
    bool (*is_lost)(const pawl_store *store); /* is the handler transaction's connection lost? */
    /* Around a transaction that writes claims into rows ("stamps"), which need not be durable; stamps_end also after a
     * failed begin. NULL: nothing. */
    pawl_code (*stamps_begin)(pawl_store *store, pawl_error *error);
    void (*stamps_end)(pawl_store *store);
    /* No other connection can write while a transaction for stamps is open, so rows that it read do not change. */
    bool writes_alone;
    /* Called before bodies of events are overwritten. NULL: nothing. */
    pawl_code (*bodies_begin)(pawl_store *store, pawl_error *error);
    int inbox_page; /* statement that reads a page of an inbox without an index on time; 0: it has the index */
    /* Checks, inside the transaction, that this worker still has the claim; if not, EGONE in `why`. */
    pawl_code (*claim_check)(pawl_store *store, const pawl_queue_settle *settle, pawl_error *why);
    /* Called when the commit has ended: after PAWL_OK the claims of settled rows are over, after PAWL_EUNKNOWN they
     * may be. */
    void (*claims_end)(pawl_store *store, const pawl_changes *changes, const bool *is_dropped,
                       pawl_code code);
    /* Blocks the pending outbox rows that follow those of `blocks`, which are sorted by source. NULL, or a family
     * without a statement for it: all pending rows are read once instead. */
    pawl_code (*block_behind)(pawl__sql_connection           *connection,
                              const pawl_outbox_block *const *blocks, size_t count,
                              pawl_error *error);

    /* ---- The client library of sessions; NULL in a driver without sessions ---------- */

    size_t statement_size; /* of the driver's statement */
    /* Connects a closed session, with the settings that pawl needs; after a failure it is closed. */
    pawl_code (*connect)(pawl__sql_session *session, pawl_error *error);
    /* Closes the session and its statements; may be called twice. The server ends its transaction and locks. */
    void (*disconnect)(pawl__sql_session *session);
    /* Called before a commit is sent. NULL: nothing to do. */
    pawl_code (*may_send)(pawl__sql_session *session, pawl_error *error);
    /* Called after the answer to a commit or rollback. NULL: nothing to do. */
    void (*ended)(pawl__sql_session *session);
    /* Runs a text, and calls `each` for its rows; NULL: rows are ignored. */
    pawl_code (*ask)(pawl__sql_session *session, const char *text, pawl__sql_row_fn *each,
                     void *context, pawl_error *error);
    /* Prepares `text`, made from `template_text`; the placeholders in `made` are set before. */
    pawl_code (*prepare)(pawl__sql_session *session, pawl__sql_prepared *made,
                         const pawl__field_list *fields, const char *template_text,
                         const pawl__sql_text *text, pawl_error *error);
    void (*close)(pawl__sql_prepared *statement);
    /* Runs it with the fields of the item; NULL: without parameters. */
    pawl_code (*execute)(pawl__sql_session *session, pawl__sql_prepared *statement,
                         const pawl__field_list *fields, const void *item, pawl_error *error);
    /* Number of rows that the last execution found; for a select 1 or 0. Frees its rows. Negative: not
     * known. */
    int64_t (*found)(pawl__sql_prepared *statement);
    /* Fetches the next row of the last execution; `*is_row` is false after the last one. */
    pawl_code (*fetch)(pawl__sql_session *session, pawl__sql_prepared *statement, bool *is_row,
                       pawl_error *error);
    /* Reads a column of the row; its text is put into memory of pawl__sql_room_of. PAWL_ENOMEM, or
     * PAWL_EPERSIST: it could not be read completely. NULL if the driver has its own `get`. */
    pawl_code (*read)(pawl__sql_session *session, pawl__sql_prepared *statement, unsigned column,
                      int wire, pawl__sql_kind kind, pawl__sql_request *request,
                      pawl__sql_got *got);
    /* Frees rows that were not fetched. */
    void (*free_rows)(pawl__sql_session *session, pawl__sql_prepared *statement);
    /* Writes the first `*taken` items with one statement. `*is_done` false: nothing was written, and the caller writes
     * the items one by one. The results are PAWL__SQL_APPLIED before the call. NULL: always one by one. */
    pawl_code (*write_set)(pawl__sql_session *session, const pawl__sql_write *write,
                           const void *const *items, size_t count, pawl__sql_result *results,
                           size_t *taken, bool *is_done, pawl_error *error);
} pawl__sql_ops;

/* Each SQL driver's handle begins with it. */
typedef struct pawl__sql_store {
    pawl_store               base;       /* first: the core's */
    const pawl__sql_ops     *ops;        /* set before anything else is done */
    const pawl__sql_family  *family;     /* of sessions */
    const pawl__sql_dialect *dialect;    /* of sessions; NULL: not known before the first one */
    pawl__sql_connection    *connection; /* the one that writes */
    bool        in_handler_transaction;  /* in a handler transaction: everything runs inside it */
    bool        is_handler_transaction_lost; /* the handler transaction's connection was lost */
    bool        has_worker;                  /* the worker's row exists */
    unsigned    careful;                     /* number of next commits that are not sent ahead */
    const void *late;                /* item whose failure was found by a later read, or NULL */
    struct pawl__sql_claims *claims; /* NULL: claims are not row locks (queue_lock.h) */
    int64_t                  inbox_place, history_place; /* of the next sweep */
    pawl__sql_server        *server; /* NULL: a file, or a server that is waited for otherwise */
} pawl__sql_store;

static inline const pawl__sql_ops *pawl__sql_ops_of(const pawl_store *store)
{
    return ((const pawl__sql_store *)store)->ops;
}

/* ---- Reading (read.c) --------------------------------------------------- */

/* Calls the driver's await, if it has one. */
static inline pawl_code pawl__sql_await(pawl_store *store, pawl_error *error)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(store);
    return ops->await != NULL ? ops->await(store, error) : PAWL_OK;
}

/* All rows of one statement, in the arena. After a failure there are none. */
pawl_code pawl__sql_read(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                         pawl_found *rows, pawl_error *error);
/* Sends it and awaits the answer; the request is to be ended. */
pawl_code pawl__sql_run(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                        pawl__sql_request **request, pawl_error *error);
/* Reads the first row; without a row `row` does not change. */
pawl_code pawl__sql_read_first(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                               void *row, pawl_error *error);
/* Sets `name` to the next greater name, by a statement PAWL__SQL_..._NAME; empty: there is
 * none. */
pawl_code pawl__sql_next_name(pawl_store *store, int statement, pawl_text *name, pawl_arena *arena,
                              pawl_error *error);
/* Reads the rows for each name, and merges them in the order of `compare`, up to a limit. `name` points to the member
 * of the item that is the statement's parameter. */
typedef struct pawl__sql_each {
    int             names; /* the statement of next_name */
    pawl__sql_asked asked;
    pawl_text      *name;
    int (*compare)(const void *left, const void *right);
    int64_t limit;
    size_t  capacity; /* of the rows */
} pawl__sql_each;
pawl_code pawl__sql_read_each(pawl_store *store, pawl__sql_each *each, pawl_arena *arena,
                              pawl_found *rows, pawl_error *error);
/* The two steps of read_each: read_more appends the rows of one read, merge sorts all rows and cuts them at the
 * limit. */
pawl_code pawl__sql_read_more(pawl_store *store, pawl__sql_each *each, pawl_arena *arena,
                              pawl_found *rows, pawl_error *error);
void      pawl__sql_merge(const pawl__sql_each *each, pawl_found *rows);
/* Compares timeouts by due time, then id (find.c). */
int pawl__sql_by_due(const void *left, const void *right);
/* Runs a statement that writes. */
pawl_code pawl__sql_execute(pawl_store *store, const pawl__sql_asked *asked, int64_t *changed,
                            pawl_error *error);
/* Sets and returns PAWL_ENOMEM; `what`: such as "rows". */
pawl_code pawl__sql_no_memory(const pawl_store *store, const char *what, pawl_error *error);
/* The value of a limit parameter; count_max 0: no limit. */
int64_t pawl__sql_limit(size_t count_max);

/* ---- Living workers (lives.c) ------------------------------------------- */

/* Reads the living workers, or the dead ones. */
pawl_code pawl__sql_workers(pawl_store *store, bool is_alive, pawl_arena *arena, pawl_found *found,
                            pawl_error *error);
/* Reads the leases of leaders that are valid at `now`. */
pawl_code pawl__sql_leads(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_found *found,
                          pawl_error *error);
/* Counts the living ones of rows that are pawl__sql_life. */
pawl_code pawl__sql_count_living(pawl_store *store, const pawl_found *lives, pawl_arena *arena,
                                 int64_t *count, pawl_error *error);

#endif
