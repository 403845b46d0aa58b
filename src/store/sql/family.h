/* family.h - the SQL texts of one kind of server, for every client library that reaches it: statements, the lock
 * that shows that a worker lives, how a script is run, the checks of the doctor.
 *
 * A family is data, with functions where a text depends on values. The operations below are shared by all families;
 * drivers put them into their tables. The family of a file database has only statements.
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

/* Texts that begin and end transactions; %s is the name of a savepoint. NULL: nothing is sent, since transactions begin
 * by themselves, or savepoints need no release. */
typedef struct pawl__sql_words {
    const char *begin;
    const char *commit;
    const char *rollback;
    const char *save;
    const char *release;
    const char *undo; /* to the savepoint */
} pawl__sql_words;

/* Parts of a select that returns one text, with a digit for each worker: 1, it lives. */
typedef struct pawl__sql_life_words {
    const char *begin;
    const char *between;
    const char *end;
    /* Appends an expression: 1 if the worker's lock is held, or without a lock if its heartbeat is recent; else 0. */
    void (*append)(const pawl__sql_remote *remote, pawl__sql_text *text,
                   const pawl__sql_life *life);
} pawl__sql_life_words;

/* How two scripts are kept from running at the same time. */
typedef struct pawl__sql_run_words {
    bool in_transaction; /* false: each statement that makes a table commits by itself */
    /* Takes a lock, waiting %lld ms at most; returns a negative number if another process has it.
     * NULL: no lock, since each step may be repeated. */
    const char *lock;
    const char *locked; /* sent after it; or NULL */
    const char *unlock; /* NULL: the lock ends with the transaction */
    /* On a cluster: between join and leave this node's reads see the commits of all nodes. */
    const char *join;
    const char *leave;
} pawl__sql_run_words;

/* A text that sets all settings of a session, whatever the defaults of server and login are. */
typedef struct pawl__sql_settings {
    /* First %lld: how long to wait for a lock, a second longer than a call; second %lld, if any: ms that a transaction
     * may be idle. */
    const char *text;
    int64_t     unit_ms;  /* of the first number */
    int64_t     wait_max; /* 0: none */
} pawl__sql_settings;

struct pawl__sql_family {
    const char *name; /* before the identity of its stores */
    /* The dialect until the server is known. NULL: it follows from the scheme, or from the server. */
    const pawl__sql_dialect *dialect;
    /* By number: the shared statements, those of rows, and the family's own. */
    const char *const *templates;
    const int         *overrides; /* by shared statement: the family's own in its place; or 0 */
    int                statement_count;
    int                block_behind; /* holds back pending rows of a source after an id; 0: rows are read, and held by ids */
    int                event_count; /* counts the existing ones of events listed as JSON; 0: none */
    int                event_insert_sure; /* inserts an event whose predecessor is known to exist */
    /* Two statements on the free rows of a partition, at a time and up to an id: the first rows whose types are in a
     * list (hexadecimal, with commas), and the number of rows of other types; 0: all rows are read. */
    int                       partition_known, partition_others;
    const pawl__sql_failures *failures;
    pawl__sql_settings        settings;
    const pawl__sql_words    *words; /* NULL: those of the standard */
    pawl__sql_lock_ops        lock_ops;
    /* For a new session: identifies the server, and sets the settings that pawl needs. PAWL_ENOTSTORE: the server is
     * too old. */
    pawl_code (*begin)(pawl__sql_session *session, pawl_error *error);
    /* Is the session's transaction open? For a caller's session (enlist): can a change set be written in it? After
     * COMMIT and BEGIN by a handler's own SQL the server's status looks the same. So a handler transaction begins with
     * the savepoint PAWL__SQL_MARK: if it can be released, the transaction is still the same. */
    pawl_code (*is_open)(pawl__sql_session *session, bool *is_open, pawl_error *error);
    bool undoes_all; /* a failed statement aborts its transaction, up to a savepoint */
    /* Takes the worker's lock for this session. Ends an older session of the worker that holds it, which may be inside
     * a commit. */
    pawl_code (*worker_lock)(pawl__sql_session *session, pawl_error *error);
    void (*worker_unlock)(pawl__sql_session *session);
    pawl__sql_life_words lives;
    /* A text that identifies server and database, independent of host name and library. */
    pawl_code (*database_id)(pawl__sql_session *session,
                             char database_id[PAWL__SQL_DATABASE_ID_SIZE], pawl_error *error);
    /* Is a correlation column of the dialect's type old_time? */
    pawl_code (*is_old_time)(pawl__sql_session *session, pawl_text table, pawl_text column,
                             bool *is_it, pawl_error *error);
    pawl__sql_run_words         run;
    const pawl__sql_schema_ops *schema_ops;
    const pawl__sql_check_list *checks;
    const char *
        client; /* shell command that runs SQL; %s: the dialect's name, then the database's, quoted */
};

pawl_code pawl__sql_set_session(pawl__sql_session *session, pawl_error *error);

/* The number of the session's lock for its worker: that of `side` is one less than that of `main`. */
int64_t pawl__sql_lock_number(const pawl__sql_session *session);
/* Sets PAWL_EBUSY: an older session keeps the worker's lock; `is_denied`: this login has no right to end that
 * session. */
pawl_code pawl__sql_lock_kept(const pawl__sql_remote *remote, const char *name, bool is_denied,
                              pawl_error *error);

/* Of pawl__sql_ops, as those of session.h, session_rows.h and queue_lock.h. */
pawl_code pawl__sql_family_lives(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                                 pawl_error *error);

#define PAWL__SQL_REMOTE_OPS                                                     \
    PAWL__SQL_SESSION_OPS,                                                       \
        .get = pawl__sql_request_get, .which_are_alive = pawl__sql_family_lives, \
        .own_lock = pawl__sql_own_lock, .own_unlock = pawl__sql_own_unlock,      \
        .claims_leave = pawl__sql_lock_leave, .rest = pawl__sql_lock_rest,       \
        .lock_begin = pawl__sql_session_begin, .write = pawl__sql_write_checked, \
        .begin = pawl__sql_session_begin, .commit = pawl__sql_session_commit,    \
        .claim_check = pawl__sql_lock_check, .mark_open = pawl__sql_mark_open,   \
        .is_lost = pawl__sql_main_is_lost, .claims_end = pawl__sql_lock_end,     \
        .block_behind = pawl__sql_session_block_behind

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

/* The last part of a driver's open: makes the first session, and checks names, schema version and saga tables. Not for
 * an open for schema commands. */
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
