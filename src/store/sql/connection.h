/* connection.h - operations of a database: those that the generic store asks for, by which statements are
 * sent, awaited and read, and the writes of a commit run; and those of a library that sessions are made of.
 *
 *     send       any number of requests; a driver may only queue them
 *     await      waits for the answers to all of them
 *     next, get  row by row
 *     end        always, once for each request
 *
 *     begin, or a hold                (transaction.h)
 *     write, claim_check, hold_back   any number; or write_ahead, then settle
 *     commit, or rollback             then claims_end, once for each commit
 *
 * A driver of sessions (session.h) says how its library prepares, executes and fetches a statement; send to end,
 * and write, are then those of all sessions. One whose statements need not be awaited one by one sends and reads by
 * itself, and has fence, write_kind and finish instead of write and what depends on it: then a round is one trip.
 *
 * A statement is in one request until that is ended: a driver may read its rows one by one from the database.
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

/* A statement, where its parameters are taken from, and where its rows go to. */
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

/* The life of a worker, as its row says it: a lock of this number that a session of the server, or a
 * process on a file, has; without one, a heartbeat that is young. */
typedef struct pawl__sql_life {
    int64_t   process; /* 0: no lock */
    pawl_time seen;
    bool      is_alive; /* the answer */
} pawl__sql_life;

/* Takes a row's columns as texts, without data where they are null; they live until it returns. */
typedef void pawl__sql_row_fn(void *context, const pawl_text *columns);

typedef struct pawl__sql_ops {
    const char *name; /* as its error texts begin: "sqlite" */
    /* From here to the commit or rollback reads see one state of the data. NULL: those sent together do, or
     * need not. */
    pawl_code (*read_begin)(pawl_store *store, pawl_error *error);
    /* `*request` is NULL when it could not be made, else it is to be ended. Texts that are read live
     * in the arena. The parameters are borrowed until the call is ended. */
    pawl_code (*send)(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                      pawl__sql_request **request, pawl_error *error);
    /* The same of many items of one saga's table, whose rows have the number of their item where the
     * statement says {row}; at most PAWL__SQL_SET_MAX. NULL: one by one. */
    pawl_code (*send_set)(pawl_store *store, const pawl__sql_asked *asked, const void *const *items,
                          size_t count, pawl_arena *arena, pawl__sql_request **request,
                          pawl_error *error);
    /* The first failure of what was sent since the last one. NULL: a request has run when it was sent. */
    pawl_code (*await)(pawl_store *store, pawl_error *error);
    bool (*next)(pawl__sql_request *request);
    /* From the first column on, also where some of the row's were got before. */
    void (*get)(pawl__sql_request *request, const pawl__field_list *columns, void *row);
    /* Instead of next, of a statement that writes: how many rows it found to change. */
    int64_t (*changed)(pawl__sql_request *request);
    /* The failure of the request, if there was one. NULL is fine. */
    pawl_code (*end)(pawl__sql_request *request);
    /* Asks of all of them at once whether they live. Also between reads, and in transactions. */
    pawl_code (*who_lives)(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                           pawl_error *error);

    /* Rows that are locked from here on stay so until the hold ends, or the commit that ends this
     * batch's claims. NULL: no row of a saga can be locked, which then is read as it stands. */
    pawl_code (*lock_begin)(pawl_store *store, pawl_error *error);

    /* ---- Living; NULL in a driver that has workers and leases of its own -- */

    /* Takes the lock that this handle's worker lives by, unless it has it: its number (pawl__sql_life.process). */
    pawl_code (*own_lock)(pawl_store *store, int64_t *number, pawl_error *error);
    /* Behind the end of the worker's row. NULL: the lock ends with the handle. */
    void (*own_unlock)(pawl_store *store);
    /* The worker is this handle's from now on: the claims of another handle as this worker are
     * free. NULL: its row says that. */
    pawl_code (*take_over)(pawl_store *store, pawl_error *error);
    /* Queue rows that the handle has claimed are free; before the end of the worker's row. */
    pawl_code (*claims_leave)(pawl_store *store, pawl_error *error);
    /* Before a wait: no lock is kept that no claim needs. */
    void (*rest)(pawl_store *store);
    /* Becomes readable when the server ends the session; -1: not known. */
    int (*session_fd)(pawl_store *store);
    /* A commit that ended with PAWL_EUNKNOWN is known. NULL: claims_end did all. */
    void (*resolved)(pawl_store *store, bool is_applied);

    /* ---- Writing ---------------------------------------------------------- */

    /* Writes each of the items, as if one after another, with whatever carries them best, and
     * says what became of each. Another code than PAWL_OK: items[*failed] could not be written,
     * and the transaction is to be rolled back. */
    pawl_code (*write)(pawl__sql_connection *connection, const pawl__sql_write *write,
                       const void *const *items, size_t count, pawl__sql_fate *fates,
                       size_t *failed, pawl_error *error);
    /* The same in a round that can be done again: answers may be read later, and until then an item is
     * said to be applied. Nothing that was sent may stay unless `commit` says so. */
    pawl_code (*write_ahead)(pawl__sql_connection *connection, const pawl__sql_write *write,
                             const void *const *items, size_t count, pawl__sql_fate *fates,
                             size_t *failed, pawl_error *error);
    /* At the end of such a round: waits for all answers. `*is_right` is false where an item was not what
     * it was said to be: the round is undone, and done again with `write`. NULL, as write_ahead:
     * `write` is as fast. */
    pawl_code (*settle)(pawl_store *store, bool *is_right, pawl_error *error);
    /* Writes the worker's row, unless an earlier round of the commit did and it stands. NULL: by `write`. */
    pawl_code (*fence)(struct pawl__sql_writer *writer);
    /* Writes the changes of a kind. Refusals may be found later, by `finish`. NULL: by `write`. */
    pawl_code (*write_kind)(struct pawl__sql_writer *writer, pawl_change_kind kind);
    /* The end of a round of which `code` came so far: finds what is refused and, if that is nothing,
     * writes the other kinds and commits; an enlisted set is not committed. Otherwise what the round wrote is
     * undone. PAWL_OK without `*is_done`: the next round follows, with is_ahead as it is set here; one
     * that was sent ahead, and was not right, leaves no refusals. NULL: settle, then commit. */
    pawl_code (*finish)(struct pawl__sql_writer *writer, pawl_code code, bool *is_done);
    /* A transaction on the connection in use, with the locks that it is to have; behind a rollback too. */
    pawl_code (*begin)(pawl_store *store, pawl_error *error);
    /* Afterwards none is open, or `is_unknown` says that the outcome is not known; a rollback follows any failure. */
    pawl_code (*commit)(pawl_store *store, bool *is_unknown, pawl_error *error);
    /* Afterwards none is open, whatever happened; that of a hold may be, as it was before the handler, with the claims'
     * row locks. Nothing where there is none. */
    void (*rollback)(pawl_store *store);
    /* At a hold's begin: a mark by which is_open knows it again, and to which `rollback` goes back. NULL: none. */
    pawl_code (*mark_open)(pawl_store *store, pawl_error *error);
    /* Whether the transaction of a hold is still there. PAWL_EINVAL: the handler's own SQL left it so that
     * nothing can be committed, as the error says. */
    pawl_code (*is_open)(pawl_store *store, bool *is_open, pawl_error *error);
    bool (*is_lost)(const pawl_store *store); /* is the connection of a hold gone? NULL: no */
    /* Around a transaction for stamps, which need not survive a power cut; also behind a begin that failed.
     * NULL: nothing. */
    pawl_code (*stamps_begin)(pawl_store *store, pawl_error *error);
    void (*stamps_end)(pawl_store *store);
    /* Nobody else writes while a transaction for stamps is open, so the rows that it read are as they were. */
    bool writes_alone;
    int  inbox_page; /* the statement that looks at a page of an inbox without an index of times; 0: it has one */
    /* Whether the row is this worker's; inside the transaction. EGONE, said in `why`: no longer. */
    pawl_code (*claim_check)(pawl_store *store, const pawl_queue_settle *settle, pawl_error *why);
    /* The commit ended with `code`: after PAWL_OK the rows it settled are nobody's, after
     * PAWL_EUNKNOWN perhaps. */
    void (*claims_end)(pawl_store *store, const pawl_changes *changes, const bool *is_dropped,
                       pawl_code code);
    /* Holds the pending rows behind those of the holds, which are sorted by source. NULL, or a family without its
     * statement: one walk over the pending rows, all of which are sent. */
    pawl_code (*hold_back)(pawl__sql_connection *connection, const pawl_outbox_block *const *holds,
                           size_t count, pawl_error *error);

    /* ---- The library of a session; NULL in a driver that sends and reads by itself -- */

    size_t statement_size; /* of the driver's statement */
    /* Makes a server's session, which is closed, with the settings that pawl needs; behind a failure it is closed. */
    pawl_code (*connect)(pawl__sql_session *session, pawl_error *error);
    /* Closes it, with its statements; harmless on one that is closed. The server ends its transaction,
     * and frees its locks. */
    void (*disconnect)(pawl__sql_session *session);
    /* Before a commit is sent. NULL: nothing is to be done. */
    pawl_code (*may_send)(pawl__sql_session *session, pawl_error *error);
    /* Behind a commit or a rollback that was answered. NULL: nothing. */
    void (*ended)(pawl__sql_session *session);
    /* Runs a text, and gives its rows to `each`; NULL: it has none, or nobody asks. */
    pawl_code (*ask)(pawl__sql_session *session, const char *text, pawl__sql_row_fn *each,
                     void *context, pawl_error *error);
    /* `made` has its markers; `template_text` is what the text was made from. */
    pawl_code (*prepare)(pawl__sql_session *session, pawl__sql_prepared *made,
                         const pawl__field_list *fields, const char *template_text,
                         const pawl__sql_text *text, pawl_error *error);
    void (*close)(pawl__sql_prepared *statement);
    /* Runs it with the fields of the item; NULL: without parameters. */
    pawl_code (*execute)(pawl__sql_session *session, pawl__sql_prepared *statement,
                         const pawl__field_list *fields, const void *item, pawl_error *error);
    /* Rows that the last execution found; of a select, whether there is one. Its rows are freed. Below
     * zero: nobody can say. */
    int64_t (*found)(pawl__sql_prepared *statement);
    /* Steps to the next row of the last execution; `*is_row` is false behind the last one. */
    pawl_code (*fetch)(pawl__sql_session *session, pawl__sql_prepared *statement, bool *is_row,
                       pawl_error *error);
    /* Reads a column of the row, with room for its text of pawl__sql_room_of. PAWL_ENOMEM, or
     * PAWL_EPERSIST: it could not be read whole. NULL where the driver has a `get` of its own. */
    pawl_code (*read)(pawl__sql_session *session, pawl__sql_prepared *statement, unsigned column,
                      int wire, pawl__sql_kind kind, pawl__sql_request *request,
                      pawl__sql_got *got);
    /* Frees the rows that are left. */
    void (*free_rows)(pawl__sql_session *session, pawl__sql_prepared *statement);
    /* Writes the first `*taken` of the items at once, as if one after another. `*is_done` is false, and
     * nothing was done, where they are to be written one by one. The fates are PAWL__SQL_APPLIED before.
     * NULL: that is always so. */
    pawl_code (*write_set)(pawl__sql_session *session, const pawl__sql_write *write,
                           const void *const *items, size_t count, pawl__sql_fate *fates,
                           size_t *taken, bool *is_done, pawl_error *error);
} pawl__sql_ops;

/* Each SQL driver's handle begins with it. */
typedef struct pawl__sql_store {
    pawl_store               base;         /* first: the core's */
    const pawl__sql_ops     *ops;          /* set before anything else is done */
    const pawl__sql_family  *family;       /* of sessions */
    const pawl__sql_dialect *dialect;      /* of sessions; NULL: not known before the first one */
    pawl__sql_connection    *connection;   /* the one that writes */
    bool                     in_hold;      /* a hold is open, and everything runs inside it */
    bool                     is_hold_lost; /* with its connection, before pawl used that again */
    bool                     has_worker;   /* its row is there */
    unsigned                 careful;      /* commits left that are not sent ahead */
    const void              *late;         /* the item whose failure was read behind it, or NULL */
    struct pawl__sql_claims *claims;       /* NULL: claims are not row locks (queue_lock.h) */
    int64_t                  inbox_place, history_place; /* of the next sweep */
    pawl__sql_server        *server; /* NULL: a file, or a server that is waited for otherwise */
} pawl__sql_store;

static inline const pawl__sql_ops *pawl__sql_ops_of(const pawl_store *store)
{
    return ((const pawl__sql_store *)store)->ops;
}

/* ---- Reading (read.c) --------------------------------------------------- */

/* The driver's, where it has one. */
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
/* The first row, if there is one: `row` is left as it is otherwise. */
pawl_code pawl__sql_read_first(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                               void *row, pawl_error *error);
/* The name behind `name` in an index of names takes its place (a PAWL__SQL_..._NAME); an empty one: there
 * is none. */
pawl_code pawl__sql_next_name(pawl_store *store, int statement, pawl_text *name, pawl_arena *arena,
                              pawl_error *error);
/* The rows of each name, in the order of `compare`, up to a limit. `name` is the member of the item that
 * the statement is asked with. */
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
/* The two steps of read_each: read_more puts the rows of one read behind those that are there, merge sorts all of them
 * and cuts them at the limit. */
pawl_code pawl__sql_read_more(pawl_store *store, pawl__sql_each *each, pawl_arena *arena,
                              pawl_found *rows, pawl_error *error);
void      pawl__sql_merge(const pawl__sql_each *each, pawl_found *rows);
/* Compares timeouts by due time, then id (find.c). */
int pawl__sql_by_due(const void *left, const void *right);
/* Runs a statement that writes. */
pawl_code pawl__sql_execute(pawl_store *store, const pawl__sql_asked *asked, int64_t *changed,
                            pawl_error *error);
/* PAWL_ENOMEM, for "rows". */
pawl_code pawl__sql_no_memory(const pawl_store *store, const char *what, pawl_error *error);
/* A limit as a parameter: 0 is none. */
int64_t pawl__sql_limit(size_t count_max);

/* ---- Who lives (lives.c) ------------------------------------------------ */

/* The workers that live, or those that do not. */
pawl_code pawl__sql_workers(pawl_store *store, bool is_alive, pawl_arena *arena, pawl_found *found,
                            pawl_error *error);
/* Leases that count at `now`. */
pawl_code pawl__sql_leads(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_found *found,
                          pawl_error *error);
/* Of rows that are a pawl__sql_life each. */
pawl_code pawl__sql_count_living(pawl_store *store, const pawl_found *lives, pawl_arena *arena,
                                 int64_t *count, pawl_error *error);

#endif
