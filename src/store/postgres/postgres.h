/* postgres.h - the handle of the PostgreSQL driver, and the functions that its files share.
 *
 *     connection.h   connections, requests, arrays
 *     set.h          the change set on its way: writes and their refusals
 *     operations.h   the operations, one file for each noun
 *
 * A claim is a row lock that a transaction has from queue_claim to the commit that settles
 * it; the handle's list of claims names its rows. While that transaction is open, a commit that
 * settles none of the claims (a send that does not wait) goes over a second connection.
 *
 * Threads: a handle belongs to one thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_H
#define PAWL_STORE_POSTGRES_H

#include "pawl/store_driver.h"
#include "store/core/url_read.h"
#include "store/core/wait.h"
#include "store/postgres/connection.h"
#include "store/postgres/horizon.h"
#include "store/postgres/outbox_front.h"
#include "store/sql/queue_lock.h"
#include "store/sql/schema.h"

/* connection.c */
extern const pawl__sql_ops pawl__pg_ops;
extern const int           pawl__pg_overrides[PAWL__SQL_STATEMENT_COUNT];

/* A claimed message's id and whether the inbox had its mark when it was claimed. */
typedef struct pawl__pg_seen {
    char    id[PAWL_MESSAGE_ID_SIZE_MAX];
    uint8_t size;
    bool    is_known;
} pawl__pg_seen;

#define PAWL__PG_QUEUES_MAX 8

/* The front of a queue, or of a destination's timeouts; see front.h. */
typedef struct pawl__pg_front {
    char      queue[PAWL_NAME_SIZE_MAX + 1];
    size_t    queue_size;
    bool      is_queue;               /* a queue of this handle, which sleeps for its messages */
    bool      is_quiet;               /* the last claim found nothing */
    pawl_time due_max;                /* of the last claim */
    pawl_time queue_due, timeout_due; /* before these times nothing is due, as far as was seen */
    pawl_time from;                   /* rows due before it are passed over, PAWL_TIME_MIN: none */
    pawl_time start;                  /* due time at which the last claim began */
    int64_t   begun_ms;               /* monotonic: when the claim under way began */
    int64_t   whole_ms;               /* monotonic: when the last claim began with the first row, */
    pawl_time whole_due_max;          /* ... and its due_max */
    int64_t   pause_ms;               /* until a claim begins with the first row again */
    bool      owes_whole;             /* a claim was empty, and began with the front */
    bool      is_full;                /* timeouts: the last claim was given all that it asked for */
    unsigned  unchecked;              /* timeouts: full claims since the last check */
} pawl__pg_front;

/* The check whether timeouts are due goes with the claim of their queue, where it is likely to find none:
 * so a batch has one trip less. */
typedef struct pawl__pg_peek {
    unsigned              count;
    const pawl__pg_front *front;        /* of the timeouts; NULL: nothing is known */
    pawl_time             due_max, now; /* of the claim */
    pawl_time             due;          /* of the first; PAWL_TIME_MAX: there is none */
} pawl__pg_peek;

/* The next claim of a queue, sent with the commit of the last one. Its rows are locked in the transaction that it
 * opened, and are claimed when queue_claim returns them. A claim of others, and all that needs the connection without
 * a transaction, ends that transaction: then they are free again. */
typedef struct pawl__pg_ahead {
    bool is_wanted; /* pawl_store_options.claims_ahead */
    const pawl__pg_front
                    *front; /* of the queue, while its last claim was full; NULL: nothing is sent */
    pawl_queue_claim claim; /* the last one; then the one that was sent. Without `queue` */
    unsigned         count;
    uint64_t         transaction; /* which has its rows; 0: none */
    int64_t          sent_ms;     /* monotonic */
    pawl__pg_request request;
} pawl__pg_ahead;

/* The horizon of the events without a position, on the main connection's server; see position.c. */
typedef struct pawl__pg_numbering {
    pawl__pg_horizon horizon;
    int64_t          whole_ms; /* monotonic: when numbering last began with the first event */
} pawl__pg_numbering;

/* A round of the commit under way, or of an enlist. */
typedef struct pawl__pg_round {
    pawl_arena            *arena;         /* its memory */
    bool                   is_saved;      /* the fence and the savepoint were sent */
    bool                   is_handlers;   /* of a handler transaction: there is no second round */
    bool                   has_unguarded; /* a write's answer has to be checked */
    bool                   knows_sagas;   /* the answers to the changes of sagas were checked */
    struct pawl__pg_write *first;         /* the writes that were sent */
    struct pawl__pg_write *last;
} pawl__pg_round;

typedef struct pawl__pg {
    pawl__sql_store     sql; /* first */
    pawl__pg_connection main;
    pawl__pg_connection side;     /* opened when needed */
    char               *given;    /* the URL, password masked, for texts */
    char               *conninfo; /* the URL without pawl's own parameters */
    char                schema[64];
    int64_t             idle_ms;     /* pawl_store_options.handler_time_max */
    bool                is_pooled;   /* behind a pooler, which may give out transactions */
    int64_t             until_ms;    /* monotonic: end of an operation of several tries; 0: none */
    int                 backend_pid; /* of the main connection */
    int64_t             lock_number; /* of the worker's session lock; 0 with a pooler */
    int64_t             tag_number;  /* with a pooler: of the tag on the worker's transactions */
    bool                has_leased;  /* timeouts were leased since it was opened */
    unsigned char       worker_tid[6]; /* the ctid of the worker's row, as last seen */
    bool                has_worker_tid;
    pawl_time           last_now;    /* the latest machine time that an operation was given */
    int64_t             last_now_ms; /* monotonic: when it was given */
    char                endpoint[PAWL_NAME_SIZE_MAX + 1]; /* of worker_open */
    size_t              endpoint_size;
    pawl__pg_seen      *seen; /* the inbox marks that the last claims saw */
    size_t              seen_count;
    size_t              seen_capacity;
    size_t              seen_next; /* where the next search in it begins */
    pawl__sql_claims    claims;    /* the list alone */
    pawl__pg_round      round;
    pawl__pg_front      fronts[PAWL__PG_QUEUES_MAX];
    size_t              front_count;
    pawl__pg_peek       peek;
    pawl__pg_ahead      ahead;
    pawl__wait          wait; /* its interrupts */
    pawl__pg_member     member;

    pawl__pg_outbox_front outbox;
    pawl__pg_numbering    numbering;

    /* Wake-up; see wait.c. */
    char    channel[48]; /* of NOTIFY */
    bool    listens;
    bool    sleeps;       /* has the sleepers' advisory locks: commits of others send NOTIFY */
    bool    is_woken;     /* by a NOTIFY, and has not claimed since */
    bool    reads_events; /* an event beyond events_read wakes it */
    bool    has_events;   /* a NOTIFY for events came in the wait under way */
    int64_t events_read;
    bool    others_have; /* due rows are claimed or leased by workers that may die */
    int64_t freed_ms;    /* monotonic: when the leases of dead workers were last ended */
    int64_t sleep_locks[PAWL__PG_QUEUES_MAX + 2]; /* of the queues, the outbox and the journal */
    size_t  sleep_lock_count;
    int     busy_claims;
    int64_t poll_ms;
    int64_t history_place; /* of the next sweep */
    int64_t warned_ms;     /* monotonic: when a NOTIFY that failed was last logged; 0: never */
    int64_t beat_ms; /* monotonic: when a pooled worker last wrote into its row that it lives */
} pawl__pg;

static inline pawl__pg *pawl__pg_of(pawl_store *store)
{
    return (pawl__pg *)store;
}

/* Makes a lost connection anew, and forgets interrupts that came before. */
pawl_code pawl__pg_ready(pawl_store *base, pawl_error *error);
/* Keeps the machine time that an operation was given: the liveness of pooled workers depends on
 * it. */
void pawl__pg_note_now(pawl__pg *store, pawl_time now);

/* open.c */
pawl_code pawl__pg_open(pawl_store *base, const char *url, const pawl_store_options *options,
                        pawl_error *error);
void      pawl__pg_close(pawl_store *base);
/* Connects, with the session settings that pawl needs. */
pawl_code pawl__pg_connect(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error);
/* The deadline of a request, or as much of it as an operation of several tries has left. */
int64_t pawl__pg_rest_ms(const pawl__pg *store);
void    pawl__pg_disconnect(pawl__pg_connection *connection);
/* The second connection, made when it is needed first. */
pawl_code pawl__pg_side(pawl__pg *store, pawl__pg_connection **connection, pawl_error *error);

/* url.c: takes pawl's own parameters out of the URL. */
pawl_code pawl__pg_url(pawl__pg *store, const char *url, pawl_error *error);
/* Whether the parameters that a connection has, from the URL, a service file and the environment, are what
 * PAWL_REQUIRE_TLS asks for. */
pawl_code pawl__pg_require_tls(const PQconninfoOption *list, pawl_error *error);
/* Logs once for each URL that nobody chose whether this connection is encrypted. */
void pawl__pg_warn_tls(const pawl__pg *store, PGconn *pg);

/* inbox.c: keeps what a claim saw in the inbox, so that inbox_known need not ask. An id without
 * room here is asked for. */
void pawl__pg_seen_add(pawl__pg *store, pawl_text id, bool is_known);
void pawl__pg_seen_clear(pawl__pg *store);

/* transaction.c */
/* Sends a statement without parameters whose answer nobody reads; at most PAWL__PG_PLAIN_MAX of
 * them between two awaits. */
void pawl__pg_send_plain(pawl__pg_connection *connection, int statement, pawl_error *error);
/* Sends BEGIN unless a transaction is open. */
void pawl__pg_begin_on(pawl__pg_connection *connection, pawl_error *error);
/* Sends BEGIN unless a transaction is open, with no round trip of its own. Row locks of claims that
 * a rollback has lost are taken again; a row that another worker took meanwhile is no longer
 * claimed. */
pawl_code pawl__pg_begin_transaction(pawl__pg *store, pawl_error *error);
/* Sends ROLLBACK when a transaction is open. */
void pawl__pg_rollback_transaction(pawl__pg_connection *connection);
/* The same for a transaction without claims: one that was left by a claim that found nothing, or was made ahead. */
void pawl__pg_rollback_unclaimed(pawl__pg *store);
/* A connection without a transaction: the main one, whose unclaimed transaction ends, or the second one while there are
 * claims or a hold. */
pawl_code pawl__pg_free_connection(pawl__pg *store, pawl__pg_connection **connection,
                                   pawl_error *error);
/* Begins a transaction for stamps, which need not survive a power cut. It goes over the second
 * connection while there are claims. */
pawl_code pawl__pg_stamp_begin(pawl__pg *store, pawl__pg_connection **connection,
                               pawl_error *error);
/* COMMIT when `code` is OK, else ROLLBACK. Returns `code`, or the failure of the commit. */
pawl_code pawl__pg_stamp_end(pawl__pg_connection *connection, pawl_code code, pawl_error *error);
/* The same with no round trip of its own: COMMIT is sent behind the stamps, and the code of the one
 * await for all of them is the outcome. */
void      pawl__pg_stamp_send_end(pawl__pg_connection *connection, pawl_error *error);
pawl_code pawl__pg_stamp_ended(pawl__pg_connection *connection, pawl_code awaited);
pawl_code pawl__pg_handler_transaction_begin(pawl_store *base, pawl_error *error);
/* Of pawl__sql_ops. */
bool      pawl__pg_is_utf8(const PGconn *pg); /* the encoding of texts on it */
pawl_code pawl__pg_is_open(pawl_store *base, bool *is_open, pawl_error *error);
bool      pawl__pg_is_lost(const pawl_store *base);
void      pawl__pg_rollback(pawl_store *base);

/* queue.c */
/* The numbers of the first claims, as an array. */
void pawl__pg_put_claims(pawl__pg_request *request, const pawl__pg *store, size_t count);
/* Locks the rows of all claims again, in the transaction that is open; rows that are gone or locked
 * by others leave the list. Sends and awaits. */
pawl_code pawl__pg_claims_lock(pawl__pg *store, pawl_error *error);

/* schema.c */
pawl__sql_schema pawl__pg_schema_of(pawl__pg *store);
pawl_code pawl__pg_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                          pawl_line_fn *line, void *context, pawl_error *error);

/* wait.c */
/* The number of an advisory lock for a name of this store, the same in every process. */
int64_t pawl__pg_lock_number(const pawl__pg *store, const char *kind, pawl_text name);
/* NOTIFY behind a commit, for the handles that sleep for news of this change set; false when it has
 * none. In an enlist NOTIFY is part of the caller's transaction, and sent whether anybody sleeps or
 * not. */
bool pawl__pg_send_notify(pawl__pg *store, pawl__pg_connection *connection,
                          pawl__pg_request *request, const pawl_changes *changes);
/* NOTIFY for those that read the journal. */
void pawl__pg_send_notify_events(pawl__pg *store, pawl__pg_connection *connection,
                                 pawl__pg_request *request, pawl_error *error);
/* After a NOTIFY behind a commit, which is durable whatever `code` is: logs a failure, once a minute at most. */
void      pawl__pg_notified(pawl__pg *store, const pawl__pg_connection *connection, pawl_code code,
                            const pawl_error *why);
pawl_code pawl__pg_stop_sleeping(pawl__pg *store, pawl_error *error);
/* After a claim: an empty one leads to sleep, many full ones end it. */
void pawl__pg_note_claim(pawl__pg *store, bool is_empty);
/* Machine time now: the latest that was given, and the monotonic time since. */
pawl_time pawl__pg_now(const pawl__pg *store);
void      pawl__pg_interrupt(pawl_store *base);

/* worker.c */
pawl_code pawl__pg_worker_crashed(pawl_store *base, pawl_arena *arena, pawl_worker_info **items,
                                  size_t *count, pawl_error *error);
/* Ends the back end that is inside a commit of this worker, which behind a pooler may be any
 * session; whether there was one. Without the right to end it nothing is done. */
bool pawl__pg_end_commit_of(pawl__pg_connection *connection, pawl_uuid worker);
/* Ends the back end that has the row lock on the worker's row: outside a commit that is an old
 * session of this worker, of which neither server nor pooler has noticed that it is gone. */
void pawl__pg_end_holder(pawl__pg *store, pawl__pg_connection *connection);
/* After a wait that was too long: ends the back ends that stand still inside a commit, or with the
 * advisory lock for numbering events, since their clients were stopped or cut off there. The server
 * alone would wait for ever for the end of their pipelines. */
void pawl__pg_end_standing(pawl__pg *store, pawl__pg_connection *connection);
/* Ends up to `count_max` dead workers not seen since `before`. */
pawl_code pawl__pg_worker_sweep(pawl__pg *store, pawl__pg_connection *connection, pawl_time before,
                                size_t count_max, int64_t *count, bool *more, pawl_error *error);

#endif
