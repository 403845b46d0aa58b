/* session.h - sessions (database connections) with their statements, requests and writes, for every client library; and
 * the handle for a server with row locks, which has two sessions and their transactions.
 *
 *     open           when the handle is opened; the driver's `connect` makes a session
 *     ready          before every operation: reconnects a lost session
 *     begin, write, commit or rollback
 *     close
 *
 * A claim is a row lock, held by a transaction of `main` from queue_claim to the commit that settles
 * the row. While that transaction is open, stamps, and commits that settle no claim, use `side`.
 *
 * A family (family.h) has the SQL texts of one kind of server. Drivers of files use only the first part:
 * one session, with its own begin and commit.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_SESSION_H
#define PAWL_STORE_SQL_SESSION_H

#include "store/sql/connection.h"
#include "store/sql/dialect.h"
#include "store/sql/queue_lock.h"
#include "store/sql/saga_text.h"
#include "store/sql/value.h"

#define PAWL__SQL_FIELDS_MAX 40       /* of an item */
#define PAWL__SQL_PLACEHOLDERS_MAX 40 /* placeholders in a statement */
#define PAWL__SQL_DATABASE_ID_SIZE 33
#define PAWL__SQL_DATABASE_SIZE 260 /* of a database's name: 64 characters */

typedef struct pawl__sql_remote pawl__sql_remote;
typedef struct pawl__sql_ahead  pawl__sql_ahead; /* ahead.h */

/* ---- Statements (prepared.c) --------------------------------------------- */

/* Each driver's statement begins with it. */
struct pawl__sql_prepared {
    unsigned order[PAWL__SQL_PLACEHOLDERS_MAX]; /* the parameter's number for each placeholder */
    unsigned placeholder_count;
    unsigned column_count; /* 0: no rows */
    bool     is_made;
    bool     ignores; /* an insert for which a duplicate key is not a failure */
    bool     merges;  /* MERGE: looks for the row, and inserts it if there is none */
};

/* The statements of one saga table. */
typedef struct pawl__sql_saga_cache {
    struct pawl__sql_saga_cache *next;
    pawl_saga_table              table; /* its texts are copies */
    char                        *texts;
    pawl__sql_prepared          *statements[pawl__sql_saga_statement_count];
} pawl__sql_saga_cache;

/* Returns the statement, prepared at its first use; `fields`: its parameters. `table` NULL: a shared statement or one
 * of the family, else a statement on this saga table. NULL: see the error. */
pawl__sql_prepared *pawl__sql_prepared_of(pawl__sql_session *session, int statement,
                                          const pawl_saga_table  *table,
                                          const pawl__field_list *fields, pawl_code *code,
                                          pawl_error *error);
/* The session's copy of the table, with the column types found, if one of its statements was prepared; else `table`. */
const pawl_saga_table *pawl__sql_saga_known(pawl__sql_session     *session,
                                            const pawl_saga_table *table);
/* The template of the statement that pawl__sql_prepared_of finds. */
const char *pawl__sql_template_of(const pawl__sql_session *session, int statement, bool is_saga);
/* Closes all statements; each is prepared again at its next use. */
void pawl__sql_close_statements(pawl__sql_session *session);
/* Last step of a driver's `disconnect`: closes the statements, resets the session's state. */
void pawl__sql_session_closed(pawl__sql_session *session);

/* ---- A session, and the handle ------------------------------------------- */

/* Each driver's struct pawl__sql_connection begins with it. */
struct pawl__sql_session {
    pawl__sql_store *store;
    bool             is_made;
    bool             is_callers;      /* of enlist: no deadlines, settings are not changed */
    bool             is_lost;         /* nothing more is sent; `ready` reconnects */
    bool             is_undone;       /* the server rolled back: only a rollback may follow */
    bool             in_transaction;  /* a transaction was begun and has not ended */
    bool             is_marked;       /* PAWL__SQL_MARK was set: a handler transaction */
    size_t           packet_max;      /* the largest packet that the server takes; 0: not known */
    int64_t          id;              /* the server's session id, to end it */
    int64_t          server;          /* identifies the server; only MySQL and MariaDB */
    pawl_code        why;             /* why the current call was aborted, or PAWL_OK */
    bool             is_null;         /* last failure: null in a column that takes none */
    bool             is_unsure;       /* last failure, of a commit: outcome not known */
    bool             is_deferred;     /* last failure, of a commit: a deferred constraint */
    bool             is_unconfirmed;  /* last commit is applied here, but no standby confirmed it */
    pawl__sql_prepared  **statements; /* by number; NULL: none yet */
    pawl__sql_saga_cache *sagas;
    pawl__sql_request    *spare; /* an ended request, kept for reuse */
    pawl__sql_ahead      *ahead; /* NULL: each answer is awaited */
};

/* The handle of each such driver begins with it. */
struct pawl__sql_remote {
    pawl__sql_store    sql; /* first; its connection is the current one: main or side */
    pawl__sql_session *main;
    pawl__sql_session *side;  /* connected when first needed */
    const char        *given; /* the URL for people */
    pawl__sql_server   server;
    pawl__sql_claims   claims;
    int64_t            lock_number;  /* of the worker's session lock; 0: it has none */
    bool               is_cluster;   /* row locks are local to a node, so claims are stamps */
    bool               is_read_only; /* the server of the last session is read-only now */
    int     rest_s;  /* the server ends a transaction that is idle for longer, if it can */
    int64_t version; /* of the server; 0: not known */
    /* Name of the database, or of the schema if tables are in one. */
    char database[PAWL__SQL_DATABASE_SIZE];
    char database_id[PAWL__SQL_DATABASE_ID_SIZE];
};

static inline pawl__sql_remote *pawl__sql_remote_of(pawl_store *store)
{
    return (pawl__sql_remote *)store;
}
static inline pawl__sql_remote *pawl__sql_remote_at(const pawl__sql_session *session)
{
    return (pawl__sql_remote *)session->store;
}
static inline pawl__sql_session *pawl__sql_session_of(pawl__sql_connection *connection)
{
    return (pawl__sql_session *)(void *)connection;
}

/* ---- The handle (remote.c) ----------------------------------------------- */

/* Called before the URL is read. The family may be set later, before the first session is made. */
pawl_code pawl__sql_remote_open(pawl_store *store, const pawl__sql_ops *ops,
                                pawl__sql_session *main, pawl__sql_session *side,
                                pawl_error *error);
/* Closes both sessions properly, which releases the locks of the claims. */
void pawl__sql_remote_close(pawl_store *store);
/* Reconnects `main` if it was lost. */
pawl_code pawl__sql_remote_ready(pawl_store *store, pawl_error *error);
/* Connects by the driver's `connect`; then sets the store's identity and takes the worker's lock. */
pawl_code pawl__sql_session_connect(pawl__sql_session *session, pawl_error *error);
/* PAWL_ELOST, PAWL_EBUSY: nothing may be sent. */
pawl_code pawl__sql_session_check(const pawl__sql_session *session, pawl_error *error);
/* Sets the error of an aborted call: session->why. */
pawl_code pawl__sql_broken_off(const pawl__sql_session *session, pawl_error *error);
/* Sets the error of a failed call, and the session's state from `left`; `number` 0: no error number. */
pawl_code pawl__sql_session_failed(pawl__sql_session *session, pawl_code code, pawl__sql_left left,
                                   unsigned number, const char *text, pawl_error *error);
/* The same for a write in a caller's read-only transaction: the caller's mistake; the savepoint undoes it. */
pawl_code pawl__sql_session_read_only(pawl__sql_session *session, pawl_error *error);
/* Can the transaction go on after this failure of a statement? */
bool                    pawl__sql_may_go_on(const pawl__sql_session *session, pawl_code code);
static inline pawl_code pawl__sql_query(pawl__sql_session *session, const char *text,
                                        pawl_error *error)
{
    return session->store->ops->ask(session, text, NULL, NULL, error);
}
/* Runs a text that returns one number; 0: null, or no row. */
pawl_code pawl__sql_ask_number(pawl__sql_session *session, const char *text, int64_t *number,
                               pawl_error *error);
/* The same for one text, cut to `size` with its NUL. */
pawl_code pawl__sql_ask_text(pawl__sql_session *session, const char *text, char *to, size_t size,
                             pawl_error *error);

/* A pawl__sql_ask_fn (diagnose.h). */
pawl_code pawl__sql_session_findings(pawl_store *store, const char *text, pawl_arena *arena,
                                     pawl_found *found, pawl_error *error);

/* Operations of store_driver.h and connection.h. */
pawl_code pawl__sql_own_lock(pawl_store *store, int64_t *number, pawl_error *error);
void      pawl__sql_own_unlock(pawl_store *store);

/* ---- Transactions (session.c) -------------------------------------------- */

/* Begins a transaction unless one is open. Takes row locks of claims again that a rollback released;
 * a row that another worker has claimed meanwhile is no longer claimed. */
pawl_code pawl__sql_session_begin(pawl_store *store, pawl_error *error);
pawl_code pawl__sql_session_commit(pawl_store *store, bool *is_unknown, pawl_error *error);
/* In a handler transaction rolls back to its savepoint, if that keeps the row locks of claims. */
void pawl__sql_session_rollback(pawl_store *store);
/* Sends a text of the family; `which` is its offset in pawl__sql_words (family.h). */
pawl_code pawl__sql_say(pawl__sql_session *session, size_t which, const char *name,
                        pawl_error *error);
#define PAWL__SQL_SAY(session, word, name, error) \
    pawl__sql_say((session), offsetof(pawl__sql_words, word), (name), (error))
/* Rolls one session back. Afterwards it has no open transaction, even after a failure. */
void pawl__sql_session_undo(pawl__sql_session *session);

/* Of pawl__sql_lock_ops, behind its statements. */
#define PAWL__SQL_SESSION_LOCKS                                             \
    .is_open = pawl__sql_main_is_open, .rollback = pawl__sql_main_rollback, \
    .aside = pawl__sql_aside, .back = pawl__sql_back
bool      pawl__sql_main_is_open(const pawl_store *store);
bool      pawl__sql_main_is_lost(const pawl_store *store);
void      pawl__sql_main_rollback(pawl_store *store);
pawl_code pawl__sql_aside(pawl_store *store, pawl_error *error);
void      pawl__sql_back(pawl_store *store);

/* Of pawl__sql_ops. */
pawl_code pawl__sql_mark_open(pawl_store *store, pawl_error *error);
pawl_code pawl__sql_is_open(pawl_store *store, bool *is_open, pawl_error *error);

/* For enlist: checks that the application's connection is on the store's database. */
pawl_code pawl__sql_check_database(pawl__sql_session *own, pawl_error *error);
/* Writes a change set in the application's own transaction, within a savepoint. The caller has checked
 * the session and its database. */
pawl_code pawl__sql_session_enlist(pawl__sql_session *own, const pawl_changes *changes,
                                   pawl_error *error);

/* ---- Writes (session_write.c, version_check.c) ------------------------------------- */

/* Writes items in sets if the driver can, the others one by one. */
pawl_code pawl__sql_session_write(pawl__sql_connection *connection, const pawl__sql_write *write,
                                  const void *const *items, size_t count, pawl__sql_result *results,
                                  size_t *failed, pawl_error *error);
/* The same; first checks the versions of sagas, so that an outdated one does not wait for a lock. */
pawl_code pawl__sql_write_checked(pawl__sql_connection *connection, const pawl__sql_write *write,
                                  const void *const *items, size_t count, pawl__sql_result *results,
                                  size_t *failed, pawl_error *error);
/* Sets PAWL_EPERSIST: the number of rows that a statement changed is not known, and so its effect is not. If the call
 * was aborted, which may cause that, sets its error instead. */
pawl_code pawl__sql_not_counted(const pawl__sql_session *session, pawl_error *error);
/* Did a unique key, or a NOT NULL column, refuse the row? Sets the result, if the write expects it or the statement
 * ignores duplicates. */
bool pawl__sql_is_refusal(const pawl__sql_session *session, const pawl__sql_prepared *statement,
                          const pawl__sql_write *write, pawl_code code, pawl__sql_result *result);
/* After a refusal by a unique key: PAWL_EPERSIST, with the server's text, if no row has a key of the item. Then another
 * row was refused, such as one that an application's trigger inserts. */
pawl_code pawl__sql_check_taken(pawl__sql_session *session, const pawl__sql_write *write,
                                const void *item, pawl_error *error);
/* A savepoint around a write that may be refused; `is_done` false undoes the write. */
pawl_code pawl__sql_savepoint_begin(pawl__sql_session *session, pawl_error *error);
pawl_code pawl__sql_savepoint_end(pawl__sql_session *session, bool is_done, pawl_error *error);
pawl_code pawl__sql_session_block_behind(pawl__sql_connection           *connection,
                                         const pawl_outbox_block *const *blocks, size_t count,
                                         pawl_error *error);
/* A request's statement, prepared and run. */
pawl__sql_prepared *pawl__sql_session_send(pawl__sql_session *session, const pawl__sql_asked *asked,
                                           pawl_code *code, pawl_error *error);

#endif
