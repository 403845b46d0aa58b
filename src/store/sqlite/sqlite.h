/* sqlite.h - the handle, and the functions that the files of the SQLite driver share.
 *
 *     sqlite.c      the statements, the tables of operations
 *     open.c        URL, connection, settings, close
 *     request.c     statements for the generic store: binding, reading, error codes
 *     transaction.c begin, commit; writes of claims without a sync
 *     schema.c      print, apply, verify, drop
 *     lease.c       queue leases of processes
 *     enlist.c      a change set in a caller's transaction
 *     queue.c       claims
 *     wait.c        wake-up
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQLITE_H
#define PAWL_STORE_SQLITE_H

#include "pawl/store_driver.h"
#include "store/program/program.h"
#include "store/sql/dialects.h"
#include "store/sql/family.h"
#include "store/sql/schema.h"
#include "store/sql/session.h"
#include "store/sql/transaction.h"
#include "store/sqlite/statements.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/types.h>

/* ---- A connection, as a session of the generic store, and its statements: request.c ---- */

/* A connection: the driver's own, or the caller's during an enlist. */
typedef struct pawl__sql_connection {
    pawl__sql_session session; /* first */
    sqlite3          *db;
    bool was_full; /* a statement found the disk full, and no rollback has followed yet */
} pawl__sqlite_connection;

typedef struct pawl__sqlite_statement {
    pawl__sql_prepared base; /* first */
    sqlite3_stmt      *stmt;
    int                result;     /* SQLite's result of the last step */
    bool               is_new;     /* the row of that step has not been fetched yet */
    unsigned           uuid_count; /* number of `uuids` that are bound */
    char               uuids[4][PAWL_UUID_TEXT_SIZE + 1];
} pawl__sqlite_statement;

/* Of pawl__sql_ops. */
pawl_code pawl__sqlite_ask(pawl__sql_session *session, const char *text, pawl__sql_row_fn *each,
                           void *context, pawl_error *error);
pawl_code pawl__sqlite_prepare(pawl__sql_session *session, pawl__sql_prepared *made,
                               const pawl__field_list *fields, const char *template_text,
                               const pawl__sql_text *text, pawl_error *error);
void      pawl__sqlite_close_statement(pawl__sql_prepared *statement);
pawl_code pawl__sqlite_run(pawl__sql_session *session, pawl__sql_prepared *base,
                           const pawl__field_list *fields, const void *item, pawl_error *error);
int64_t   pawl__sqlite_found(pawl__sql_prepared *base);
pawl_code pawl__sqlite_fetch(pawl__sql_session *session, pawl__sql_prepared *base, bool *is_row,
                             pawl_error *error);
void      pawl__sqlite_free_rows(pawl__sql_session *session, pawl__sql_prepared *statement);
void      pawl__sqlite_get(pawl__sql_request *request, const pawl__field_list *columns, void *row);

/* The code for SQLite's last failure, with its text after `what`. */
pawl_code pawl__sqlite_failed(sqlite3 *db, int result, const char *what, pawl_error *error);
pawl_code pawl__sqlite_prepare_text(sqlite3 *db, const char *text, sqlite3_stmt **prepared,
                                    pawl_error *error);

/* sqlite.c */
extern const pawl__sql_ops    pawl__sqlite_ops;
extern const pawl__sql_family pawl__sqlite_family;

/* ---- The handle --------------------------------------------------------- */

typedef struct pawl__sqlite {
    pawl__sql_store         sql; /* first */
    pawl__sqlite_connection connection;
    char                   *path; /* resolved when the file was opened first */
    char                   *given_path;
    dev_t                   device;
    ino_t                   inode;
    pid_t                   pid;
    pawl__program_file     *file; /* registered when the file was opened first */
    int                     busy_ms;
    int                     cache_mb;
    int                     synchronous; /* the pragma's number: 0, 1, 2 */
    int                     may_make;    /* the URL allows creating the file */
    int64_t waited_us;  /* time that the busy handler has waited for the current lock */
    bool    was_busy;   /* the last write transaction did not get the lock */
    bool    is_leaving; /* the worker ends: after one timed-out wait, later ones are short */
    int     log_mb;
    int     log_pages;      /* pages of log_mb */
    int     checkpoint_due; /* size of the log, in pages, at which it is copied next */
    bool    is_checkpointing;
    bool    is_copied;     /* the last checkpoint copied the whole log */
    pthread_mutex_t mutex; /* guards connection.db against interrupt() */
    bool is_lost; /* the connection was closed after a failure; the next operation reopens it */
    atomic_bool        is_interrupted;
    int64_t            data_version;
    pawl__program     *program; /* joined at first need */
    pawl__claim_table *claim_table;
    pawl_text          checked_queue; /* the queue whose lease this transaction checked last */
    int64_t            checked_epoch;
    /* Rows settled by a commit of unknown outcome: their claims end if it was applied. */
    int64_t *unresolved_seqs;
    size_t   unresolved_count;
} pawl__sqlite;

static inline pawl__sqlite *pawl__sqlite_of(pawl_store *store)
{
    return (pawl__sqlite *)store;
}

/* Refuses if the file no longer exists. Reopens a lost connection. */
pawl_code pawl__sqlite_ready(pawl_store *base, pawl_error *error);
/* PAWL_EUNREACHABLE when the file was deleted, moved or replaced since it was opened. */
pawl_code pawl__sqlite_same_file(const pawl__sqlite *store, pawl_error *error);
/* Reopens a lost connection. */
pawl_code pawl__sqlite_connected(pawl__sqlite *store, pawl_error *error);
/* Closes the connection, which ends its transaction and frees its locks. Allocates nothing; no statement may be
 * running. */
void pawl__sqlite_lose(pawl__sqlite *store);

/* open.c */
pawl_code pawl__sqlite_open(pawl_store *base, const char *url, const pawl_store_options *options,
                            pawl_error *error);
/* Opens the file; `is_made`: creates a missing one. */
pawl_code pawl__sqlite_connect(pawl__sqlite *store, bool is_made, pawl_error *error);
pawl_code pawl__sqlite_use_wal(pawl__sqlite *store, pawl_error *error);
void      pawl__sqlite_close(pawl_store *base);

/* transaction.c: operations of store/sql/connection.h */
pawl_code pawl__sqlite_begin(pawl_store *base, pawl_error *error);
pawl_code pawl__sqlite_read_begin(pawl_store *base, pawl_error *error);
pawl_code pawl__sqlite_commit(pawl_store *base, bool *is_unknown, pawl_error *error);
void      pawl__sqlite_rollback(pawl_store *base);
pawl_code pawl__sqlite_mark_open(pawl_store *base, pawl_error *error);
pawl_code pawl__sqlite_is_open(pawl_store *base, bool *is_open, pawl_error *error);
pawl_code pawl__sqlite_stamps_begin(pawl_store *base, pawl_error *error);
void      pawl__sqlite_stamps_end(pawl_store *base);
int       pawl__sqlite_busy(void *context, int count);
/* Resets unfinished statements, and returns whether there were any. Also called before the connection is closed, which
 * otherwise keeps its locks. */
bool pawl__sqlite_reset_all(sqlite3 *db, bool has_text);

/* checkpoint.c: from now on, each commit of this connection copies the log if it exceeds its configured size. */
void pawl__sqlite_checkpoint_begin(pawl__sqlite *store, int page_size);
/* Called outside a transaction, after a full disk rolled one back: lets the next commit write at the log's
 * beginning. */
void pawl__sqlite_checkpoint_when_full(pawl__sqlite *store);

/* wait.c */
pawl_code pawl__sqlite_wait(pawl_store *base, int64_t microseconds, int wake_fd, pawl_error *error);
void      pawl__sqlite_interrupt(pawl_store *base);
/* Has another connection committed since the last call? */
pawl_code pawl__sqlite_has_changed(pawl__sqlite *store, bool *changed, pawl_error *error);

/* schema.c */
pawl__sql_schema pawl__sqlite_schema_of(pawl__sqlite *store);
pawl_code pawl__sqlite_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                              pawl_line_fn *line, void *context, pawl_error *error);

/* lease.c */
/* Acquires or keeps this process's lease on the queue, and sets `epoch`. 0: another process, described by `holder`,
 * has it. */
pawl_code pawl__sqlite_queue_lease(pawl__sqlite *store, pawl_text queue, pawl_arena *arena,
                                   int64_t *epoch, pawl_text *holder, pawl_error *error);
/* The lease's current epoch, read in each commit that settles queue rows: a process that takes over the lease raises
 * it. */
pawl_code pawl__sqlite_lease_epoch(pawl__sqlite *store, pawl_text queue, int64_t *epoch,
                                   pawl_error *error);
pawl_code pawl__sqlite_who_lives(pawl_store *base, pawl__sql_life *const *lives, size_t count,
                                 pawl_error *error);
pawl_code pawl__sqlite_own_lock(pawl_store *base, int64_t *number, pawl_error *error);
/* Claims made by another handle of this process for the same worker are freed, or become this handle's. */
pawl_code pawl__sqlite_take_over(pawl_store *base, pawl_error *error);
/* Frees all claims of the handle, and the leases of queues from which no handle of this process claims any longer. */
pawl_code pawl__sqlite_leave_queues(pawl_store *base, pawl_error *error);

/* queue.c */
pawl_code pawl__sqlite_queue_claim(pawl_store *base, const pawl_queue_claim *claim,
                                   pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error);
/* Of store/sql/connection.h. */
pawl_code pawl__sqlite_claim_check(pawl_store *base, const pawl_queue_settle *settle,
                                   pawl_error *why);
void      pawl__sqlite_claims_settled(pawl_store *base, const pawl_changes *changes,
                                      const bool *is_dropped, pawl_code code);
/* Ends the doubt about the last commit. */
void pawl__sqlite_resolved(pawl_store *base, bool is_applied);

/* diagnose.c */
pawl_code pawl__sqlite_diagnose(pawl_store *base, const pawl_diagnosis *asked, pawl_arena *arena,
                                pawl_finding_rows *rows, pawl_error *error);

/* enlist.c */
pawl_code pawl__sqlite_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                              pawl_error *error);

#endif
