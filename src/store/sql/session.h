/* session.h - sessions: their statements, requests and writes, which are the same whichever library carries them;
 * and the handle of a server whose rows are locked, with its two sessions and their transactions.
 *
 *     open           as the handle is opened; `connect` of the driver makes a session
 *     ready          begins every operation: makes a lost session anew
 *     begin, write, commit or rollback
 *     close
 *
 * A claim is a row lock that a transaction of `main` has from queue_claim to the commit that settles
 * it. While that transaction is open, stamps, and commits that settle no claim, go over `side`.
 *
 * A family (family.h) has what servers of one kind say in their own words, by whatever library they are reached. A
 * file has the first part alone: one session, which has its own begin and commit.
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

#define PAWL__SQL_FIELDS_MAX 40  /* of an item */
#define PAWL__SQL_MARKERS_MAX 40 /* of a statement's text */
#define PAWL__SQL_DATABASE_ID_SIZE 33
#define PAWL__SQL_DATABASE_SIZE 260 /* of a database's name: 64 characters */

typedef struct pawl__sql_remote pawl__sql_remote;
typedef struct pawl__sql_ahead  pawl__sql_ahead; /* ahead.h */

/* ---- Statements (prepared.c) --------------------------------------------- */

/* Each driver's statement begins with it. */
struct pawl__sql_prepared {
    unsigned order[PAWL__SQL_MARKERS_MAX]; /* the number of the parameter at each marker */
    unsigned marker_count;
    unsigned column_count; /* 0: no rows */
    bool     is_made;
    bool     ignores; /* a row whose key exists is left: the server says that it is there */
    bool     merges;  /* the row is looked for, and inserted where there is none */
};

/* The statements of one saga table. */
typedef struct pawl__sql_saga_cache {
    struct pawl__sql_saga_cache *next;
    pawl_saga_table              table; /* its texts are copies */
    char                        *texts;
    pawl__sql_prepared          *statements[pawl__sql_saga_statement_count];
} pawl__sql_saga_cache;

/* Prepares the statement, which is run with such fields, at its first use: of the shared ones, the family's own, or one of a saga's
 * table where `table` is not NULL. NULL: see the error. */
pawl__sql_prepared *pawl__sql_prepared_of(pawl__sql_session *session, int statement,
                                          const pawl_saga_table  *table,
                                          const pawl__field_list *fields, pawl_code *code,
                                          pawl_error *error);
/* The table as the session has looked at it, since one of its statements was prepared; else as it is given. */
const pawl_saga_table *pawl__sql_saga_known(pawl__sql_session     *session,
                                            const pawl_saga_table *table);
/* The template of the statement that pawl__sql_prepared_of finds. */
const char *pawl__sql_template_of(const pawl__sql_session *session, int statement, bool is_saga);
/* The end of a driver's `disconnect`: the statements are closed, the state is that of a new one. */
void pawl__sql_session_closed(pawl__sql_session *session);

/* ---- A session, and the handle ------------------------------------------- */

/* Each driver's struct pawl__sql_connection begins with it. */
struct pawl__sql_session {
    pawl__sql_store *store;
    bool             is_made;
    bool             is_callers; /* of an enlist: nothing watches its calls, its settings stay */
    bool             is_lost;    /* nothing more is sent; `ready` makes it anew */
    bool             is_undone;  /* the server undid the transaction: only a rollback may follow */
    bool             in_transaction; /* a transaction was begun and has not ended */
    bool             is_marked;      /* behind PAWL__SQL_MARK: a handler's, so far as is known */
    size_t           packet_max;     /* the largest packet that the server takes; 0: not known */
    int64_t          id;             /* of the session, by which it is ended */
    int64_t          server;    /* a number of the server that it is on; MySQL and MariaDB alone */
    pawl_code        why;       /* why the call under way was broken off, or PAWL_OK */
    bool             is_null;   /* the last failure is that of a column that takes no null */
    bool             is_unsure; /* the last failure, of a commit, does not say how that ended */
    bool is_deferred;    /* the last failure, of a commit, is that of a deferred constraint */
    bool is_unconfirmed; /* the last text, a commit, was done here, on no standby */
    pawl__sql_prepared  **statements; /* by number; NULL: none yet */
    pawl__sql_saga_cache *sagas;
    pawl__sql_request    *spare; /* ended, for the next */
    pawl__sql_ahead      *ahead; /* NULL: each answer is awaited */
};

/* The handle of each such driver begins with it. */
struct pawl__sql_remote {
    pawl__sql_store    sql; /* first; its connection is the one in use: main, or side */
    pawl__sql_session *main;
    pawl__sql_session *side;  /* made when it is needed first */
    const char        *given; /* the URL for people */
    pawl__sql_server   server;
    pawl__sql_claims   claims;
    int64_t            lock_number;  /* of the worker's session lock; 0: it has none */
    bool               is_cluster;   /* a row lock is one node's, so claims are stamps */
    bool               is_read_only; /* the server of the last session can only be read now */
    int     rest_s;  /* a transaction that rests longer is ended, where the server can do that */
    int64_t version; /* of the server; 0: not known */
    /* Or the schema, where tables are in one. */
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

/* Before the URL is read. The family may be set later, until the first session is made. */
pawl_code pawl__sql_remote_open(pawl_store *store, const pawl__sql_ops *ops,
                                pawl__sql_session *main, pawl__sql_session *side,
                                pawl_error *error);
/* A goodbye of each session frees the locks of the claims. */
void pawl__sql_remote_close(pawl_store *store);
/* Makes `main` anew where it was lost. */
pawl_code pawl__sql_remote_ready(pawl_store *store, pawl_error *error);
/* Makes a session by the driver's `connect`, with the identity of the store and the worker's lock. */
pawl_code pawl__sql_session_connect(pawl__sql_session *session, pawl_error *error);
/* PAWL_ELOST, PAWL_EBUSY: nothing may be sent. */
pawl_code pawl__sql_session_check(const pawl__sql_session *session, pawl_error *error);
/* The error of a call that was broken off: session->why. */
pawl_code pawl__sql_broken_off(const pawl__sql_session *session, pawl_error *error);
/* The failure of a call as an error, and what it left as the session's state; a `number` of 0 is none. */
pawl_code pawl__sql_session_failed(pawl__sql_session *session, pawl_code code, pawl__sql_left left,
                                   unsigned number, const char *text, pawl_error *error);
/* The same of a write in a caller's transaction that only reads: his mistake, and the savepoint undoes it. */
pawl_code pawl__sql_session_read_only(pawl__sql_session *session, pawl_error *error);
/* Whether the transaction can go on behind that failure of a statement. */
bool                    pawl__sql_may_go_on(const pawl__sql_session *session, pawl_code code);
static inline pawl_code pawl__sql_query(pawl__sql_session *session, const char *text,
                                        pawl_error *error)
{
    return session->store->ops->ask(session, text, NULL, NULL, error);
}
/* The one number that a text asks for; 0: null, or no row. */
pawl_code pawl__sql_ask_number(pawl__sql_session *session, const char *text, int64_t *number,
                               pawl_error *error);
/* The one text; cut to `size`, ended by a NUL. */
pawl_code pawl__sql_ask_text(pawl__sql_session *session, const char *text, char *to, size_t size,
                             pawl_error *error);

/* A pawl__sql_ask_fn (diagnose.h). */
pawl_code pawl__sql_session_findings(pawl_store *store, const char *text, pawl_arena *arena,
                                     pawl_found *found, pawl_error *error);

/* Operations of store_driver.h and connection.h. */
pawl_code pawl__sql_own_lock(pawl_store *store, int64_t *number, pawl_error *error);
void      pawl__sql_own_unlock(pawl_store *store);

/* ---- Transactions (session.c) -------------------------------------------- */

/* Begins a transaction where none is open. Row locks of claims that a rollback lost are taken again;
 * a row that another worker took meanwhile is no longer claimed. */
pawl_code pawl__sql_session_begin(pawl_store *store, pawl_error *error);
pawl_code pawl__sql_session_commit(pawl_store *store, bool *is_unknown, pawl_error *error);
/* Of a handler's, goes back to its mark where that leaves claims their row locks. */
void pawl__sql_session_rollback(pawl_store *store);
/* The family's words for that; `which` is the offset of one in pawl__sql_words (family.h). */
pawl_code pawl__sql_say(pawl__sql_session *session, size_t which, const char *name,
                        pawl_error *error);
#define PAWL__SQL_SAY(session, word, name, error) \
    pawl__sql_say((session), offsetof(pawl__sql_words, word), (name), (error))
/* Of one session. Afterwards no transaction is open, whatever happened. */
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

/* A change set inside a transaction of the application's own, within a savepoint. The caller has
 * looked at the session, which is made. */
pawl_code pawl__sql_session_enlist(pawl__sql_session *own, const pawl_changes *changes,
                                   pawl_error *error);

/* ---- Writes (session_write.c, version_check.c) ------------------------------------- */

/* Sets, as the driver makes them, and the rest one by one. */
pawl_code pawl__sql_session_write(pawl__sql_connection *connection, const pawl__sql_write *write,
                                  const void *const *items, size_t count, pawl__sql_fate *fates,
                                  size_t *failed, pawl_error *error);
/* The same, and sagas whose versions are past wait for no lock. */
pawl_code pawl__sql_write_checked(pawl__sql_connection *connection, const pawl__sql_write *write,
                                  const void *const *items, size_t count, pawl__sql_fate *fates,
                                  size_t *failed, pawl_error *error);
/* PAWL_EPERSIST: the count of a statement is not known, and so its effect is not; or that the call was ended, which
 * can take the count. */
pawl_code pawl__sql_not_counted(const pawl__sql_session *session, pawl_error *error);
/* Whether a unique key, or a column that takes no null, refused the row: an end of the item where
 * the write expects it, or where the statement leaves such rows. */
bool pawl__sql_is_refusal(const pawl__sql_session *session, const pawl__sql_prepared *statement,
                          const pawl__sql_write *write, pawl_code code, pawl__sql_fate *fate);
/* Behind a refusal by a unique key: PAWL_EPERSIST, with the error's text behind it, where no row is there that has a key of
 * the item's. */
pawl_code pawl__sql_check_taken(pawl__sql_session *session, const pawl__sql_write *write,
                                const void *item, pawl_error *error);
/* Around a write that may be refused; unless it is done it is undone. */
pawl_code pawl__sql_savepoint_begin(pawl__sql_session *session, pawl_error *error);
pawl_code pawl__sql_savepoint_end(pawl__sql_session *session, bool is_done, pawl_error *error);
pawl_code pawl__sql_session_hold_back(pawl__sql_connection           *connection,
                                      const pawl_outbox_block *const *holds, size_t count,
                                      pawl_error *error);
/* A request's statement, prepared and run. */
pawl__sql_prepared *pawl__sql_session_send(pawl__sql_session *session, const pawl__sql_asked *asked,
                                           pawl_code *code, pawl_error *error);

#endif
