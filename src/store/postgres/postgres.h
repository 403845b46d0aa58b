/* postgres.h - what the files of the PostgreSQL driver share.
 *
 *     connection.h   connections, calls, arrays
 *     writer.h       the change set on its way: steps and their refusals
 *     operations.h   the operations, one file for each noun
 *
 * A claim is a row lock that a transaction holds from queue_claim to the commit
 * that settles it; the handle's list of claims says which rows it is about.
 * While it is open, a commit that settles none of them (a send that does not
 * wait) goes over a second connection.
 *
 * Threads: a handle belongs to one thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_H
#define PAWL_STORE_POSTGRES_H

#include "pawl/store_driver.h"
#include "store/postgres/connection.h"
#include "store/postgres/horizon.h"
#include "store/postgres/outbox_front.h"
#include "store/sql/connection.h"

#include <sys/types.h>

/* connection.c */
extern const pawl__sql_ops pawl__pg_ops;
extern const int           pawl__pg_overrides[PAWL__SQL_STATEMENT_COUNT];

/* A queue row that this handle holds. */
typedef struct pawl__pg_claim {
    int64_t       seq;
    pawl_time     due;
    unsigned char tid[6]; /* where it stands, while its lock is held */
} pawl__pg_claim;

/* Whether a claimed message was handled before, as its claim saw it. */
typedef struct pawl__pg_seen {
    char    id[PAWL_MESSAGE_ID_SIZE_MAX];
    uint8_t size;
    bool    is_known;
} pawl__pg_seen;

#define PAWL__PG_QUEUES_MAX 8

/* Where the next claim on a queue begins; see queue.c. */
typedef struct pawl__pg_front {
    char      queue[PAWL_NAME_SIZE_MAX + 1];
    size_t    queue_size;
    bool      is_queue;               /* it was claimed from: this handle sleeps for it */
    bool      is_quiet;               /* the last claim found nothing */
    pawl_time due_max;                /* of the last claim */
    pawl_time queue_due, timeout_due; /* before which nothing was due when last looked at */
    pawl_time from;                   /* rows due before it are passed over, PAWL_TIME_MIN: none */
    int64_t   whole_ms;               /* monotonic: when the whole queue was looked at last */
    int64_t   pause_ms;               /* until it is looked at again */
    int64_t   begun_ms;               /* of the look under way */
    bool      is_full;                /* timeouts: the last claim found as many as it asked for */
    unsigned  unchecked;              /* ... and so many claims came without a look since */
} pawl__pg_front;

/* Where numbering begins; see position.c. Of the main connection's server. */
typedef struct pawl__pg_numbering {
    pawl__pg_horizon horizon;
    int64_t          whole_ms; /* monotonic: when it began from the beginning last */
} pawl__pg_numbering;

typedef struct pawl__pg {
    pawl__sql_store     sql; /* first */
    pawl__pg_connection main;
    pawl__pg_connection side;     /* opened when needed */
    char               *given;    /* the URL, password masked, for texts */
    char               *conninfo; /* the URL without pawl's own parameters */
    char                schema[64];
    bool                is_pooled; /* a pooler that gives out transactions */
    bool                in_hold;
    pid_t               pid;           /* process that opened the handle */
    int                 backend_pid;   /* of the main connection */
    int64_t             lock_number;   /* of the worker's session lock; 0 with a pooler */
    int64_t             tag_number;    /* with a pooler: of the worker's transactions */
    bool                has_leased;    /* timeouts, since it was opened */
    unsigned char       worker_tid[6]; /* where the worker's row was last */
    bool                has_worker_tid;
    unsigned            careful_commits; /* that are not guarded, see commit.c */
    pawl_time           last_now;        /* the latest machine time that was handed in */
    int64_t             last_now_ms;     /* monotonic: when */
    char                endpoint[PAWL_NAME_SIZE_MAX + 1]; /* of worker_open */
    size_t              endpoint_size;
    pawl__pg_seen      *seen; /* what the last claims saw in the inbox */
    size_t              seen_count;
    size_t              seen_capacity;
    size_t              seen_next; /* where the next look begins */
    pawl__pg_claim     *claims;    /* by seq */
    size_t              claim_count;
    size_t              claim_capacity;
    int64_t            *claimed; /* their numbers, for statements */
    pawl_arena         *scratch; /* of the commit under way */
    pawl__pg_front      fronts[PAWL__PG_QUEUES_MAX];
    size_t              front_count;
    atomic_int          interrupt_fd;

    pawl__pg_outbox_front outbox;
    pawl__pg_numbering    numbering;

    /* Wake-up; see wait.c. */
    char    channel[48]; /* of NOTIFY */
    bool    listens;
    bool    sleeps;       /* has the sleepers' locks: commits of others notify */
    bool    is_woken;     /* and did not claim since */
    bool    reads_events; /* by position, up to events_read */
    bool    has_events;   /* woken for them, in the wait under way */
    int64_t events_read;
    bool    others_have; /* what is due is in hands that may die */
    int64_t freed_ms;    /* monotonic: when the leases of the dead were ended last */
    int64_t sleep_locks[PAWL__PG_QUEUES_MAX + 2]; /* and the outbox, and the journal */
    size_t  sleep_lock_count;
    int     busy_claims;
    int64_t poll_ms;
    int64_t beat_ms; /* monotonic: when a pooled worker wrote that it lives */
} pawl__pg;

static inline pawl__pg *pawl__pg_of(pawl_store *store)
{
    return (pawl__pg *)store;
}

/* Every operation begins with it: in a child process; closed; the connection
 * lost, which is made anew here. Forgets interrupts that came before. */
pawl_code pawl__pg_ready(pawl__pg *store, pawl_error *error);
/* Machine time that was handed in, for the liveness of pooled workers. */
void pawl__pg_note_now(pawl__pg *store, pawl_time now);

/* open.c */
pawl_code pawl__pg_open(pawl_store *base, const char *url, const pawl_store_options *options,
                        pawl_error *error);
void      pawl__pg_close(pawl_store *base);
/* Makes a connection with the session settings that pawl needs. */
pawl_code pawl__pg_connect(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error);
void      pawl__pg_disconnect(pawl__pg_connection *connection);
/* The second connection, made when there is none. */
pawl_code pawl__pg_side(pawl__pg *store, pawl__pg_connection **connection, pawl_error *error);

/* url.c: takes pawl's own parameters out of the URL. */
pawl_code pawl__pg_url(pawl__pg *store, const char *url, pawl_error *error);

/* inbox.c: for inbox_known, which then asks nothing. What cannot be kept is asked. */
void pawl__pg_seen_add(pawl__pg *store, pawl_text id, bool is_known);
void pawl__pg_seen_clear(pawl__pg *store);

/* transaction.c */
/* A statement without parameters whose answer nobody reads; at most
 * PAWL__PG_PLAIN_MAX of them between two flushes. */
void pawl__pg_send_plain(pawl__pg_connection *connection, int statement, pawl_error *error);
/* Sends a begin unless a transaction is open. */
void pawl__pg_begin_on(pawl__pg_connection *connection, pawl_error *error);
/* Sends a begin unless a transaction is open; no round trip of its own. When the
 * handle has claims whose locks were lost with a rollback, they are locked again;
 * rows that another worker took meanwhile are no longer claimed. */
pawl_code pawl__pg_begin_transaction(pawl__pg *store, pawl_error *error);
/* Rolls back what is open; harmless else. */
void pawl__pg_rollback_transaction(pawl__pg_connection *connection);
/* A transaction for stamps, which need not survive a power cut. Goes over the
 * second connection while claims are held. */
pawl_code pawl__pg_stamp_begin(pawl__pg *store, pawl__pg_connection **connection,
                               pawl_error *error);
/* Commits when `code` is OK, else rolls back. Returns `code`, or what the commit
 * said. */
pawl_code pawl__pg_stamp_end(pawl__pg_connection *connection, pawl_code code, pawl_error *error);
/* The same with no round trip of its own: the commit is sent behind the stamps,
 * and what the flush of them all says is what became of it. */
void      pawl__pg_stamp_send_end(pawl__pg_connection *connection, pawl_error *error);
pawl_code pawl__pg_stamp_ended(pawl__pg_connection *connection, pawl_code flushed);
pawl_code pawl__pg_hold_begin(pawl_store *base, pawl_error *error);
void      pawl__pg_hold_end(pawl_store *base);
/* Is the transaction of the hold still what hold_begin left? */
pawl_code pawl__pg_hold_check(pawl__pg *store, pawl_error *error);
/* The hold is over, its transaction ended already. */
pawl_code pawl__pg_hold_leave(pawl__pg *store, pawl_error *error);

/* claims.c */
pawl_code pawl__pg_claims_add(pawl__pg *store, const pawl__pg_claim *claims, size_t count,
                              pawl_error *error);
/* NULL when the handle does not hold the row. */
const pawl__pg_claim *pawl__pg_claims_find(const pawl__pg *store, int64_t seq);
/* Ends those whose numbers are given. */
void pawl__pg_claims_end(pawl__pg *store, const int64_t *seqs, size_t count);
/* Locks all rows of the list again, in the transaction that is open; those that
 * are not to be had leave the list. Sends and flushes. */
pawl_code pawl__pg_claims_lock(pawl__pg *store, pawl_error *error);

/* schema.c, verify.c */
pawl_code pawl__pg_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                          pawl_line_fn *line, void *context, pawl_error *error);
/* The short check at open: versions, and the tables of the sagas. */
pawl_code pawl__pg_schema_check(pawl__pg *store, const pawl_saga_table *const *tables,
                                size_t table_count, pawl_error *error);
/* Reports each difference; `*count` is how many. An index of an earlier version
 * (`*has_relic`) is none: it does no harm but to the speed. */
pawl_code pawl__pg_verify(pawl__pg *store, const pawl_schema_spec *spec, pawl_line_fn *line,
                          void *context, size_t *count, bool *has_relic, pawl_error *error);

/* wait.c */
/* A stable number for a name of this store, for advisory locks. */
int64_t pawl__pg_lock_number(const pawl__pg *store, const char *kind, pawl_text name);
/* Sends, behind a commit, the statement that notifies those that sleep for what
 * the set has news for; false when there is none. In an enlist NOTIFY is part of
 * the caller's transaction, and sent whoever sleeps. */
bool pawl__pg_send_notify(pawl__pg *store, pawl__pg_connection *connection,
                          pawl__pg_request *request, const pawl_changes *changes);
/* The same for those that read the journal. */
void      pawl__pg_send_notify_events(pawl__pg *store, pawl__pg_connection *connection,
                                      pawl__pg_request *request, pawl_error *error);
pawl_code pawl__pg_stop_sleeping(pawl__pg *store, pawl_error *error);
/* A claim found something, or not. */
void pawl__pg_note_claim(pawl__pg *store, bool is_empty);
/* Machine time now, as far as it can be told from what was handed in. */
pawl_time pawl__pg_now(const pawl__pg *store);
pawl_code pawl__pg_wait(pawl_store *base, int64_t microseconds, int wake_fd, pawl_error *error);
void      pawl__pg_interrupt(pawl_store *base);
/* Between two tries to reach the server; an interrupt ends it. */
void pawl__pg_pause(pawl__pg *store, int64_t milliseconds);

/* worker.c */
pawl_code pawl__pg_worker_open(pawl_store *base, pawl_text endpoint, pawl_text types, pawl_time now,
                               pawl_error *error);
pawl_code pawl__pg_worker_close(pawl_store *base, pawl_time now, pawl_error *error);
pawl_code pawl__pg_resolve(pawl_store *base, pawl_uuid commit_id, bool *is_applied,
                           pawl_error *error);
/* Ends the session, whoever's it is behind a pooler, that is inside a commit of this
 * worker; whether there was one. Without the right to do so nothing is ended. */
bool pawl__pg_end_commit_of(pawl__pg_connection *connection, pawl_uuid worker);
/* Ends the session that has locked the worker's row: outside a commit that is an
 * old one of its own, which the server, or a pooler, has not noticed to be gone. */
void pawl__pg_end_holder(pawl__pg *store, pawl__pg_connection *connection);
/* After a wait that was too long: ends the sessions that stand still inside a commit, or
 * with the turn to number events, since their clients were stopped or cut off there. The
 * server does not: in a pipeline whose end never came it waits for ever. */
void pawl__pg_end_standing(pawl__pg *store, pawl__pg_connection *connection);
/* Takes the worker's session lock on the main connection again. */
pawl_code pawl__pg_worker_lock(pawl__pg *store, pawl_error *error);
/* Ends up to `count_max` dead workers not seen since `before`. */
pawl_code pawl__pg_worker_sweep(pawl__pg *store, pawl__pg_connection *connection, pawl_time before,
                                size_t count_max, int64_t *count, bool *more, pawl_error *error);

/* lease.c */
pawl_code pawl__pg_lead(pawl_store *base, pawl_text name, pawl_time now, int64_t lease,
                        bool *is_ours, pawl_error *error);
pawl_code pawl__pg_unlead(pawl_store *base, pawl_text name, pawl_error *error);

/* commit.c */
pawl_code pawl__pg_commit(pawl_store *base, const pawl_changes *changes, pawl_refusals *refused,
                          pawl_error *error);
pawl_code pawl__pg_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                          pawl_error *error);

#endif
