/* family.h - words of a kind of server, by whatever library it is reached: statements, the
 * lock that a worker lives by, how a script is run, the look of the doctor.
 *
 * A family is data, with a function where a text is made of values. The operations below are the same for all of
 * them; a driver enters them into its tables. That of a file has statements alone.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_FAMILY_H
#define PAWL_STORE_SQL_FAMILY_H

#include "store/sql/diagnose.h"
#include "store/sql/failure.h"
#include "store/sql/schema.h"
#include "store/sql/session.h"

/* Texts that begin and end transactions; %s is the name of a savepoint. NULL: nothing is sent, as where a
 * transaction begins by itself and a savepoint needs no end. */
typedef struct pawl__sql_words {
    const char *begin;
    const char *commit;
    const char *rollback;
    const char *save;
    const char *release;
    const char *undo; /* to the savepoint */
} pawl__sql_words;

/* A select of one text, which has a digit for each worker that is asked about: 1, it lives. */
typedef struct pawl__sql_life_words {
    const char *begin;
    const char *between;
    const char *end;
    /* An expression that is 1 or 0: a lock is had, or without a lock the heartbeat is young. */
    void (*append)(const pawl__sql_remote *remote, pawl__sql_text *text,
                   const pawl__sql_life *life);
} pawl__sql_life_words;

/* How a script runs alone. */
typedef struct pawl__sql_run_words {
    bool in_transaction; /* else each statement that makes a table commits by itself */
    /* Asks for a number that is below zero where another process has the lock for longer than the %lld ms.
     * NULL: there is none, each step may be repeated. */
    const char *lock;
    const char *locked; /* is sent behind it. NULL: nothing */
    const char *unlock; /* a session's lock. NULL: it is the transaction's */
    /* On a cluster: this node's reads see what the others have committed, from here to there. */
    const char *join;
    const char *leave;
} pawl__sql_run_words;

/* The session's, whatever those of the server or the login are: one text. */
typedef struct pawl__sql_settings {
    /* %lld: how long a lock is waited for, a second longer than a call; and %lld, where there is another one: ms that a
     * transaction may rest. */
    const char *text;
    int64_t     unit_ms;  /* of the first number */
    int64_t     wait_max; /* 0: none */
} pawl__sql_settings;

struct pawl__sql_family {
    const char *name; /* before the identity of its stores */
    /* Before a server was asked. NULL: the scheme names it, or the server does. */
    const pawl__sql_dialect *dialect;
    /* By number: the shared statements, those of rows, and the family's own. */
    const char *const *templates;
    const int         *overrides; /* of a shared one: that which stands for it; or 0 */
    int                statement_count;
    int hold_back; /* source, after: holds pending rows back; 0: they are walked, and held by their ids */
    int event_count;       /* of a JSON of events: how many of them are there; 0: none */
    int event_insert_sure; /* of an event that follows one that is there */
    /* Of a partition, at a time, up to an id: the first free rows whose types are in a list (hexadecimal,
     * with commas), and how many free rows have other types; 0: the whole partition is read. */
    int                       partition_known, partition_others;
    const pawl__sql_failures *failures;
    pawl__sql_settings        settings;
    const pawl__sql_words    *words; /* NULL: those of the standard */
    pawl__sql_lock_ops        lock_ops;
    /* Of a session that was just made: who the server is, and the settings that pawl needs. PAWL_ENOTSTORE: an old
     * server. */
    pawl_code (*begin)(pawl__sql_session *session, pawl_error *error);
    /* Whether its transaction is open; of a caller's, whether a change set can go into it. A hold begins with the
     * savepoint PAWL__SQL_MARK: one that can be released is still there, where the server's status does not tell the
     * transaction from the next one, as with autocommit off, and behind a BEGIN of the handler's. */
    pawl_code (*is_open)(pawl__sql_session *session, bool *is_open, pawl_error *error);
    bool undoes_all; /* a failed statement undoes its transaction to a savepoint */
    /* Takes the worker's lock for this session. An older session of the worker that has it, perhaps inside
     * a commit, is ended. */
    pawl_code (*worker_lock)(pawl__sql_session *session, pawl_error *error);
    void (*worker_unlock)(pawl__sql_session *session);
    pawl__sql_life_words lives;
    /* Server and database as a text that is the same by whatever way they were reached. */
    pawl_code (*database_id)(pawl__sql_session *session,
                             char database_id[PAWL__SQL_DATABASE_ID_SIZE], pawl_error *error);
    /* Asks whether a column that sagas are found by is of the dialect's old_time. */
    pawl_code (*is_old_time)(pawl__sql_session *session, pawl_text table, pawl_text column,
                             bool *is_it, pawl_error *error);
    pawl__sql_run_words         run;
    const pawl__sql_schema_ops *schema_ops;
    const pawl__sql_check_list *checks;
    const char *
        client; /* the command for a remedy's SQL; %s: the dialect's name, the database's, quoted */
};

pawl_code pawl__sql_set_session(pawl__sql_session *session, pawl_error *error);

/* The number of the worker's lock of that session: `side` has the one below that of `main`. */
int64_t pawl__sql_lock_number(const pawl__sql_session *session);
/* PAWL_EBUSY: an older session has the lock of the worker and does not end; `is_denied`: the login lacks the right to
 * end it. */
pawl_code pawl__sql_lock_kept(const pawl__sql_remote *remote, const char *name, bool is_denied,
                              pawl_error *error);

/* Of pawl__sql_ops, as those of session.h, session_rows.h and queue_lock.h. */
pawl_code pawl__sql_family_lives(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                                 pawl_error *error);

#define PAWL__SQL_REMOTE_OPS                                                                      \
    PAWL__SQL_SESSION_OPS, .get = pawl__sql_request_get, .who_lives = pawl__sql_family_lives,     \
                           .own_lock = pawl__sql_own_lock, .own_unlock = pawl__sql_own_unlock,    \
                           .claims_leave = pawl__sql_lock_leave, .rest = pawl__sql_lock_rest,     \
                           .lock_begin = pawl__sql_session_begin,                                 \
                           .write = pawl__sql_write_checked, .begin = pawl__sql_session_begin,    \
                           .commit      = pawl__sql_session_commit,                               \
                           .claim_check = pawl__sql_lock_check, .mark_open = pawl__sql_mark_open, \
                           .is_lost = pawl__sql_main_is_lost, .claims_end = pawl__sql_lock_end,   \
                           .hold_back = pawl__sql_session_hold_back

/* Of pawl_store_ops, beside PAWL__SQL_OPERATIONS. */
#define PAWL__SQL_REMOTE_OPERATIONS                                               \
    .promises = PAWL_STORE_HAS_SQL | PAWL_STORE_HAS_WAKE | PAWL_STORE_ROW_LOCKS | \
                PAWL_STORE_KNOWS_REFUSED | PAWL_STORE_HAS_OFFSETS,                \
    .commit = pawl__sql_lock_commit, .queue_claim = pawl__sql_lock_claim,         \
    .next_due = pawl__sql_lock_next_due, .event_number = pawl__sql_event_number

/* Of pawl__sql_schema_ops, beside what the family's catalog says. */
#define PAWL__SQL_FAMILY_SCHEMA                                                               \
    .connect = pawl__sql_run_connect, .begin = pawl__sql_run_begin, .end = pawl__sql_run_end, \
    .execute = pawl__sql_run_execute, .number = pawl__sql_run_number, .has_keys = true
pawl_code pawl__sql_run_connect(pawl_store *store, pawl_schema_verb verb, pawl_error *error);
pawl_code pawl__sql_run_begin(pawl_store *store, pawl_error *error);
pawl_code pawl__sql_run_end(pawl_store *store, pawl_code code, pawl_error *error);
pawl_code pawl__sql_run_execute(pawl_store *store, const char *statement, pawl_error *error);
pawl_code pawl__sql_run_number(pawl_store *store, const char *select, int64_t *number,
                               pawl_error *error);

/* The end of a driver's open, unless it is for a schema alone: the first session, and the check of the names, the
 * version and the tables of the sagas. */
pawl_code pawl__sql_family_open(pawl__sql_remote *remote, const pawl_store_options *options,
                                pawl_error *error);
/* Of pawl_store_ops. A script is printed without a session where the dialect is known. */
pawl_code pawl__sql_family_schema(pawl_store *store, pawl_schema_verb verb,
                                  const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                                  pawl_error *error);
/* The checks of a family; `client` NULL: its own. */
pawl_code pawl__sql_family_diagnose(pawl_store *store, const char *client,
                                    const pawl_diagnosis *asked, pawl_arena *arena,
                                    pawl_finding_rows *rows, pawl_error *error);

#endif
