/* sqlite.h - what the files of the SQLite driver share.
 *
 *     sqlite.c      the table of operations
 *     open.c        URL, connection, settings, close
 *     call.c        prepared statements, binding, reading, error codes
 *     transaction.c begin, commit, stamps without a sync, reads, holds
 *     schema.c      print, apply, verify, drop
 *     process.c     this process's number, its lock and its claim table
 *     lease.c       queue leases of processes, leader leases of workers
 *     worker.c      worker rows
 *     commit.c      groups, refusals, fence, enlist
 *     queue.c inbox.c saga.c timeout.c aggregator.c outbox.c dead.c journal.c   by noun
 *     look.c        statistics, next due times, sweep
 *     wait.c        wake-up
 *
 * A statement is one pawl__sqlite_call: begin, put the parameters in order,
 * then run, or next until it says false. After a failure the rest does
 * nothing, so that call.code is looked at once, at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQLITE_H
#define PAWL_STORE_SQLITE_H

#include "pawl/store.h"
#include "store/sql/dialect.h"
#include "store/sqlite/process.h"
#include "store/sqlite/statements.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/types.h>

extern const pawl__sql_dialect pawl__sqlite_dialect;

/* ---- A connection and its statements ------------------------------------ */

typedef enum pawl__sqlite_saga_statement {
    PAWL__SQLITE_SAGA_BY_ID, /* the three loads, as pawl_saga_key counts them */
    PAWL__SQLITE_SAGA_BY_MAIN,
    PAWL__SQLITE_SAGA_BY_TRANSITIONAL,
    PAWL__SQLITE_SAGA_INSERT,
    PAWL__SQLITE_SAGA_UPDATE_ROW,
    PAWL__SQLITE_SAGA_UPDATE,
    PAWL__SQLITE_SAGA_DELETE,
    PAWL__SQLITE_SAGA_COUNT,
    pawl__sqlite_saga_statement_count
} pawl__sqlite_saga_statement;

/* The statements of one saga table. */
typedef struct pawl__sqlite_saga {
    struct pawl__sqlite_saga *next;
    pawl_saga_table           table; /* its texts are copies */
    char                     *texts;
    sqlite3_stmt             *statements[pawl__sqlite_saga_statement_count];
} pawl__sqlite_saga;

/* The driver's own, or the caller's for the time of an enlist. */
typedef struct pawl__sqlite_connection {
    sqlite3           *db;
    const char        *prefix;
    sqlite3_stmt      *statements[PAWL__SQLITE_STATEMENT_COUNT];
    pawl__sqlite_saga *sagas;
} pawl__sqlite_connection;

typedef struct pawl__sqlite_call {
    pawl__sqlite_connection *connection;
    sqlite3_stmt            *statement;
    pawl_error              *error;
    pawl_arena              *arena; /* for what is read */
    pawl_code                code;
    int                      column;     /* next parameter or column */
    int64_t                  changes;    /* rows that run() changed */
    unsigned                 uuid_count; /* of `uuids` that are bound */
    char                     uuids[4][PAWL_UUID_TEXT_SIZE + 1];
} pawl__sqlite_call;

void pawl__sqlite_call_begin(pawl__sqlite_call *call, pawl__sqlite_connection *connection,
                             int statement, pawl_error *error);
/* The same with a statement from elsewhere; NULL: begin failed with call->code. */
void pawl__sqlite_call_statement(pawl__sqlite_call *call, pawl__sqlite_connection *connection,
                                 sqlite3_stmt *statement, pawl_error *error);
void pawl__sqlite_put_text(pawl__sqlite_call *call, pawl_text text); /* borrowed until it ran */
void pawl__sqlite_put_int(pawl__sqlite_call *call, int64_t number);
void pawl__sqlite_put_uuid(pawl__sqlite_call *call, pawl_uuid uuid);
void pawl__sqlite_put_uuid_or_null(pawl__sqlite_call *call, pawl_uuid uuid); /* zero is null */
void pawl__sqlite_put_null(pawl__sqlite_call *call);
void pawl__sqlite_put_value(pawl__sqlite_call *call, const pawl_value *value);
/* id, type, correlation, causation, headers, body. */
void pawl__sqlite_put_message(pawl__sqlite_call *call, const pawl_message *message);
/* Runs a statement that gives no rows. PAWL_EDUPLICATE when a unique key
 * refused it. */
pawl_code pawl__sqlite_run(pawl__sqlite_call *call);
/* Steps to the next row; false at the end and on failure, see call->code. */
bool pawl__sqlite_next(pawl__sqlite_call *call);
/* Ends a call before its last row. */
void      pawl__sqlite_stop(pawl__sqlite_call *call);
int64_t   pawl__sqlite_get_int(pawl__sqlite_call *call); /* null is 0 */
bool      pawl__sqlite_is_null(const pawl__sqlite_call *call);
pawl_text pawl__sqlite_get_text(pawl__sqlite_call *call);  /* a copy in call->arena */
pawl_text pawl__sqlite_peek_text(pawl__sqlite_call *call); /* lives until the next step */
pawl_uuid pawl__sqlite_get_uuid(pawl__sqlite_call *call);  /* null is zero */
void      pawl__sqlite_get_message(pawl__sqlite_call *call, pawl_message *message);
void      pawl__sqlite_get_counters(pawl__sqlite_call *call, pawl_counters *counters);
/* Room for one more item in an array that grows in call->arena, or NULL with
 * call->code set. */
void *pawl__sqlite_grow(pawl__sqlite_call *call, void *items, size_t count, size_t *capacity,
                        size_t item_size);
/* One number, of a statement that gives one row; 0 when it gives none. */
pawl_code pawl__sqlite_one_int(pawl__sqlite_call *call, int64_t *number);

/* The code of what SQLite said last, its text behind `what`. */
pawl_code pawl__sqlite_failed(sqlite3 *db, int result, const char *what, pawl_error *error);
/* Runs a statement that is needed once. */
pawl_code pawl__sqlite_execute(sqlite3 *db, const char *statement, pawl_error *error);
pawl_code pawl__sqlite_prepare(sqlite3 *db, const char *statement, sqlite3_stmt **prepared,
                               pawl_error *error);
void      pawl__sqlite_connection_clear(pawl__sqlite_connection *connection);

/* ---- The handle --------------------------------------------------------- */

/* A queue that this handle claims from. */
typedef struct pawl__sqlite_use {
    struct pawl__sqlite_use *next;
    pawl__sqlite_queue      *queue;
    int64_t                  epoch; /* of the lease as this handle saw it last */
} pawl__sqlite_use;

typedef struct pawl__sqlite {
    pawl_store              base; /* first: the core's */
    pawl__sqlite_connection connection;
    char                   *path; /* as SQLite resolved it */
    char                   *given_path;
    dev_t                   device;
    ino_t                   inode;
    pid_t                   pid;
    int                     busy_ms;
    int                     cache_mb;
    int                     synchronous; /* as the pragma numbers it: 0, 1, 2 */
    int64_t                 waited_us;   /* by the busy handler, in the lock it waits for now */
    pthread_mutex_t         mutex;       /* guards connection.db against interrupt() */
    bool                    is_lost; /* the connection had to be closed; the next call makes it */
    atomic_bool             is_interrupted;
    bool                    is_held;
    int64_t                 data_version;
    pawl__sqlite_process   *process; /* joined by the first that needs it */
    pawl__sqlite_book      *book;
    pawl__sqlite_use       *uses;
    bool                    has_worker; /* its row is there */
    /* Rows that a commit of unknown outcome settled: theirs if it landed. */
    int64_t *unsure;
    size_t   unsure_count;
} pawl__sqlite;

static inline pawl__sqlite *pawl__sqlite_of(pawl_store *store)
{
    return (pawl__sqlite *)store;
}

/* Every operation begins with it: not open, in a child process, or the file is not there
 * any longer. A connection that was lost is made anew. */
pawl_code pawl__sqlite_ready(pawl__sqlite *store, pawl_error *error);
bool      pawl__sqlite_is_forked(const pawl__sqlite *store);
/* PAWL_EUNREACHABLE when the file was deleted, moved or replaced since it was opened. */
pawl_code pawl__sqlite_same_file(const pawl__sqlite *store, pawl_error *error);
/* Makes a connection that was lost. */
pawl_code pawl__sqlite_connected(pawl__sqlite *store, pawl_error *error);
/* Closes the connection, which ends its transaction and frees its locks. Needs no
 * memory; no call may be under way. */
void pawl__sqlite_lose(pawl__sqlite *store);

/* open.c */
pawl_code pawl__sqlite_open(pawl_store *base, const char *url, const pawl_store_options *options,
                            pawl_error *error);
/* Opens the file; `is_made`: makes it when it is missing. */
pawl_code pawl__sqlite_connect(pawl__sqlite *store, bool is_made, pawl_error *error);
pawl_code pawl__sqlite_use_wal(pawl__sqlite *store, pawl_error *error);
void      pawl__sqlite_close(pawl_store *base);

/* transaction.c */
pawl_code pawl__sqlite_write_begin(pawl__sqlite *store, pawl_error *error);
/* Commits when `code` is OK, else rolls back. Returns `code`, or what the
 * commit said. */
pawl_code pawl__sqlite_write_end(pawl__sqlite *store, pawl_code code, pawl_error *error);
/* The same for stamps, which need not survive a power cut: no sync. */
pawl_code pawl__sqlite_stamp_begin(pawl__sqlite *store, pawl_error *error);
pawl_code pawl__sqlite_stamp_end(pawl__sqlite *store, pawl_code code, pawl_error *error);
/* One snapshot, and one lock, for several reads. */
pawl_code pawl__sqlite_read_begin(pawl__sqlite *store, pawl_error *error);
pawl_code pawl__sqlite_read_end(pawl__sqlite *store, pawl_code code, pawl_error *error);
/* Afterwards no transaction is open, whatever happened. */
void      pawl__sqlite_rollback(pawl__sqlite *store);
int       pawl__sqlite_busy(void *context, int count);
pawl_code pawl__sqlite_hold_begin(pawl_store *base, pawl_error *error);
void      pawl__sqlite_hold_end(pawl_store *base);

/* wait.c */
/* Whether another connection committed since it was asked last. */
pawl_code pawl__sqlite_has_changed(pawl__sqlite *store, bool *changed, pawl_error *error);

/* schema.c, verify.c */
pawl_code pawl__sqlite_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                              pawl_line_fn *line, void *context, pawl_error *error);
/* Makes what is missing, in one transaction. */
pawl_code pawl__sqlite_schema_make(pawl__sqlite *store, const pawl_saga_table *const *tables,
                                   size_t table_count, pawl_error *error);
/* The short check at open: versions, and the tables of the sagas. */
pawl_code pawl__sqlite_schema_check(pawl__sqlite *store, const pawl_saga_table *const *tables,
                                    size_t table_count, pawl_error *error);
/* Reports each difference; `*count` is how many. */
pawl_code pawl__sqlite_verify(pawl__sqlite *store, const pawl_schema_spec *spec, int64_t version,
                              pawl_line_fn *line, void *context, size_t *count, pawl_error *error);
/* Type of a column in `type`, empty when the column, or the table, is missing. */
pawl_code pawl__sqlite_column_type(sqlite3 *db, pawl_text table, const char *column, char type[32],
                                   pawl_error *error);
pawl_code pawl__sqlite_exists(sqlite3 *db, const char *kind, pawl_text name, bool *exists,
                              pawl_error *error);

/* lease.c: joining the process's object comes before the first claim. */
pawl_code pawl__sqlite_join(pawl__sqlite *store, pawl_error *error);
/* Takes or keeps this process's lease on the queue. `*use` is NULL when another
 * process has it, `elsewhere` then says which. */
pawl_code pawl__sqlite_queue_lease(pawl__sqlite *store, pawl_text queue, pawl_arena *arena,
                                   pawl__sqlite_use **use, pawl_text *elsewhere, pawl_error *error);
/* NULL when the handle never claimed from the queue. */
pawl__sqlite_use *pawl__sqlite_use_find(const pawl__sqlite *store, pawl_text queue);
/* Is the lease still ours? Asked inside each commit that settles queue rows. */
pawl_code pawl__sqlite_lease_check(pawl__sqlite *store, const pawl__sqlite_use *use, bool *is_ours,
                                   pawl_error *error);
/* What another handle of this process held as this worker is free or this handle's. */
pawl_code pawl__sqlite_take_over(pawl__sqlite *store, pawl_error *error);
/* Frees all claims of the handle, and the leases on queues that no handle of
 * this process claims from any longer. */
pawl_code pawl__sqlite_leave_queues(pawl__sqlite *store, pawl_error *error);

/* worker.c */
pawl_code pawl__sqlite_worker_open(pawl_store *base, pawl_text endpoint, pawl_text types,
                                   pawl_time now, pawl_error *error);
pawl_code pawl__sqlite_worker_close(pawl_store *base, pawl_time now, pawl_error *error);
pawl_code pawl__sqlite_worker_list(pawl_store *base, pawl_arena *arena, pawl_worker_info **items,
                                   size_t *count, pawl_error *error);
pawl_code pawl__sqlite_resolve(pawl_store *base, pawl_uuid commit_id, bool *is_applied,
                               pawl_error *error);
/* Adds a worker's counters to the row that is kept, and deletes its row. */
pawl_code pawl__sqlite_worker_end(pawl__sqlite *store, pawl_uuid worker, pawl_error *error);
/* Frees what dead workers had leased; their rows stay. Inside a transaction. */
pawl_code pawl__sqlite_free_dead(pawl__sqlite *store, pawl_error *error);
/* Ends up to `count_max` dead workers not seen since `before`. */
pawl_code pawl__sqlite_worker_sweep(pawl__sqlite *store, pawl_time before, size_t count_max,
                                    int64_t *count, bool *more, pawl_error *error);
pawl_code pawl__sqlite_worker_count(pawl__sqlite *store, int64_t *count, pawl_error *error);

/* commit.c */
typedef struct pawl__sqlite_writer {
    pawl__sqlite_connection *connection;
    pawl__sqlite            *store; /* NULL in an enlist: no claims, no fence */
    const pawl_changes      *changes;
    const bool              *is_dropped; /* by group: left out of this round */
    bool                     is_held;    /* all holds of the set are done */
    /* The lease that was looked at last in this transaction. */
    const pawl__sqlite_use *checked_use;
    bool                    is_ours;
} pawl__sqlite_writer;

pawl_code pawl__sqlite_commit(pawl_store *base, const pawl_changes *changes, pawl_refusals *refused,
                              pawl_error *error);
pawl_code pawl__sqlite_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                              pawl_error *error);

/* One change inside the transaction. ECONFLICT, EDUPLICATE, EGONE and EMISMATCH
 * of a refusable kind refuse its group; anything else ends the commit. */
typedef pawl_code pawl__sqlite_apply_fn(pawl__sqlite_writer *writer, const void *change,
                                        pawl_error *error);

pawl__sqlite_apply_fn pawl__sqlite_apply_queue_settle;
pawl__sqlite_apply_fn pawl__sqlite_apply_queue_send;
pawl__sqlite_apply_fn pawl__sqlite_apply_inbox_mark;
pawl__sqlite_apply_fn pawl__sqlite_apply_saga_delete;
pawl__sqlite_apply_fn pawl__sqlite_apply_saga_insert;
pawl__sqlite_apply_fn pawl__sqlite_apply_saga_update;
pawl__sqlite_apply_fn pawl__sqlite_apply_timeout_settle;
pawl__sqlite_apply_fn pawl__sqlite_apply_timeout_cancel;
pawl__sqlite_apply_fn pawl__sqlite_apply_timeout_set;
pawl__sqlite_apply_fn pawl__sqlite_apply_outbox_settle;
pawl__sqlite_apply_fn pawl__sqlite_apply_outbox_add;
pawl__sqlite_apply_fn pawl__sqlite_apply_outbox_hold;
pawl__sqlite_apply_fn pawl__sqlite_apply_snapshot_remove;
pawl__sqlite_apply_fn pawl__sqlite_apply_snapshot_release;
pawl__sqlite_apply_fn pawl__sqlite_apply_aggregator_add;
pawl__sqlite_apply_fn pawl__sqlite_apply_aggregator_remove;
pawl__sqlite_apply_fn pawl__sqlite_apply_flush_set;
pawl__sqlite_apply_fn pawl__sqlite_apply_dead_set;
pawl__sqlite_apply_fn pawl__sqlite_apply_subscription_set;
pawl__sqlite_apply_fn pawl__sqlite_apply_event_append;
pawl__sqlite_apply_fn pawl__sqlite_apply_checkpoint_set;
pawl__sqlite_apply_fn pawl__sqlite_apply_outbox_reset;
pawl__sqlite_apply_fn pawl__sqlite_apply_fold_set;

#endif
