/* postgres.h - the handle of the PostgreSQL driver, and the functions that its files share.
 *
 *     connection.h   connections, requests, arrays
 *     set.h          writing a change set, and its refusals
 *     operations.h   the operations, one file for each noun
 *
 * A claim is a row lock, held by a transaction from queue_claim to the commit that settles the
 * row; the handle has a list of claimed rows. While that transaction is open, a commit that
 * settles none of them (such as pawl_send_now) uses a second connection.
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
    bool      is_queue;               /* a queue of this handle, which waits for its messages */
    bool      is_quiet;               /* the last claim found nothing */
    pawl_time due_max;                /* of the last claim */
    pawl_time queue_due, timeout_due; /* nothing was seen that is due before these times */
    pawl_time from;                   /* the front: claims skip rows due before it */
    pawl_time start;                  /* due time at which the last claim began */
    int64_t   begun_ms;               /* monotonic: when the claim under way began */
    int64_t   whole_ms;               /* monotonic: last claim that began with the first row, */
    pawl_time whole_due_max;          /* ... and its due_max */
    int64_t   pause_ms;               /* time between two such claims */
    bool      owes_whole;             /* a claim from the front on was empty */
    bool      is_full;                /* timeouts: the last claim was full */
    unsigned  unchecked;              /* timeouts: full claims since the last check */
} pawl__pg_front;

/* The check for due timeouts is sent together with the claim of their queue, if probably none is due. That saves a
 * round trip per batch. */
typedef struct pawl__pg_peek {
    unsigned              count;
    const pawl__pg_front *front;        /* of the timeouts; NULL: no result */
    pawl_time             due_max, now; /* of the claim */
    pawl_time             due;          /* of the first; PAWL_TIME_MAX: there is none */
} pawl__pg_peek;

/* The next claim of a queue, sent together with the commit of the last batch. It begins a transaction that locks its
 * rows; the next queue_claim returns them. A claim of another queue, or anything that needs the connection without a
 * transaction, ends that transaction and so unlocks the rows. */
typedef struct pawl__pg_ahead {
    bool is_wanted; /* pawl_store_options.claims_ahead */
    const pawl__pg_front
                    *front; /* of the queue, if its last claim was full; NULL: nothing is sent */
    pawl_queue_claim claim; /* the last claim, then the one that was sent; without `queue` */
    unsigned         count;
    uint64_t         transaction; /* number of the transaction with its row locks; 0: none */
    int64_t          sent_ms;     /* monotonic */
    pawl__pg_request request;
} pawl__pg_ahead;

/* The horizon of the events without a position, on the main connection's server; see position.c. */
typedef struct pawl__pg_numbering {
    pawl__pg_horizon horizon;
    int64_t          whole_ms; /* monotonic: when numbering last began with the first event */
} pawl__pg_numbering;

/* A round of the current commit, or of enlist. */
typedef struct pawl__pg_round {
    pawl_arena            *arena;         /* its memory */
    bool                   is_saved;      /* the fence and the savepoint were sent */
    bool                   is_handlers;   /* in a handler transaction: only one round is possible */
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
    bool                is_pooled;   /* through a pooler: a transaction may be in any session */
    int64_t             until_ms;    /* monotonic: deadline of a call with several tries; 0: none */
    int                 backend_pid; /* of the main connection */
    int64_t             lock_number; /* of the worker's session lock; 0 with a pooler */
    int64_t             tag_number;  /* with a pooler: lock that marks the worker's transactions */
    bool                has_leased;  /* this handle has leased timeouts */
    unsigned char       worker_tid[6]; /* the ctid of the worker's row, as last seen */
    bool                has_worker_tid;
    pawl_time           last_now;    /* the latest machine time that an operation was given */
    int64_t             last_now_ms; /* monotonic: when it was given */
    char                endpoint[PAWL_NAME_SIZE_MAX + 1]; /* of worker_open */
    size_t              endpoint_size;
    pawl__pg_seen      *seen; /* inbox results of the last claims */
    size_t              seen_count;
    size_t              seen_capacity;
    size_t              seen_next; /* where the next search in it begins */
    pawl__sql_claims    claims;    /* only the list is used */
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
    bool    sleeps;       /* holds the advisory locks by which others know to send NOTIFY */
    bool    is_woken;     /* a NOTIFY came since the last claim */
    bool    reads_events; /* an event after events_read wakes it */
    bool    has_events;   /* a NOTIFY for events came during this wait */
    int64_t events_read;
    bool    others_have; /* other workers, which may die, have due rows */
    int64_t freed_ms;    /* monotonic: when leases of dead workers were last released */
    int64_t sleep_locks[PAWL__PG_QUEUES_MAX + 2]; /* of queues, outbox and event store */
    size_t  sleep_lock_count;
    int     busy_claims;
    int64_t poll_ms;
    int64_t history_place; /* of the next sweep */
    int64_t warned_ms;     /* monotonic: when a failed NOTIFY was last logged; 0: never */
    int64_t beat_ms;       /* monotonic: last heartbeat of a pooled worker */
} pawl__pg;

static inline pawl__pg *pawl__pg_of(pawl_store *store)
{
    return (pawl__pg *)store;
}
/* The current connection: the main one, except while the second one is in use. */
static inline pawl__pg_connection *pawl__pg_in_use(const pawl__pg *store)
{
    return (pawl__pg_connection *)(void *)store->sql.connection;
}
static inline void pawl__pg_use(pawl__pg *store, pawl__pg_connection *connection)
{
    store->sql.connection = (pawl__sql_connection *)(void *)connection;
}

/* Reconnects a lost connection, and drops older interrupts. */
pawl_code pawl__pg_ready(pawl_store *base, pawl_error *error);
/* Notes the machine time that an operation was given, which decides whether pooled workers
 * live. */
void pawl__pg_note_now(pawl__pg *store, pawl_time now);

/* open.c */
pawl_code pawl__pg_open(pawl_store *base, const char *url, const pawl_store_options *options,
                        pawl_error *error);
void      pawl__pg_close(pawl_store *base);
/* Connects, with the session settings that pawl needs. */
pawl_code pawl__pg_connect(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error);
/* Time for a request: the deadline of a call, or the rest of it in a call with several tries. */
int64_t pawl__pg_rest_ms(const pawl__pg *store);
void    pawl__pg_disconnect(pawl__pg_connection *connection);
/* The second connection, opened when it is first needed. */
pawl_code pawl__pg_side(pawl__pg *store, pawl__pg_connection **connection, pawl_error *error);

/* url.c: takes pawl's own parameters out of the URL. */
pawl_code pawl__pg_url(pawl__pg *store, const char *url, pawl_error *error);
/* Checks that the connection's parameters (from URL, service file and environment) give the protection that
 * PAWL_REQUIRE_TLS asks for. */
pawl_code pawl__pg_require_tls(const PQconninfoOption *list, pawl_error *error);
/* Logs once per URL that no setting says whether to encrypt the connection. */
void pawl__pg_warn_tls(const pawl__pg *store, PGconn *pg);

/* inbox.c: keeps whether a claimed message has a deduplication record, so that inbox_known needs no query.
 * Without room for an id it queries. */
void pawl__pg_seen_add(pawl__pg *store, pawl_text id, bool is_known);
void pawl__pg_seen_clear(pawl__pg *store);

/* transaction.c */
/* Sends a statement without parameters; its answer is ignored. At most PAWL__PG_PLAIN_MAX of
 * them between two awaits. */
void pawl__pg_send_plain(pawl__pg_connection *connection, int statement, pawl_error *error);
/* Sends BEGIN unless a transaction is open. */
void pawl__pg_begin_on(pawl__pg_connection *connection, pawl_error *error);
/* Sends BEGIN unless a transaction is open, without a round trip of its own. Takes row locks of claims
 * again that a rollback released; a row that another worker has claimed meanwhile is no longer
 * claimed. */
pawl_code pawl__pg_begin_transaction(pawl__pg *store, pawl_error *error);
/* Sends ROLLBACK when a transaction is open. */
void pawl__pg_rollback_transaction(pawl__pg_connection *connection);
/* The same for a transaction without claims: of a claim that found nothing, or was sent ahead. */
void pawl__pg_rollback_unclaimed(pawl__pg *store);
/* A connection without a transaction: the main one, after a rollback if it has no claims; the second one while there
 * are claims or a handler transaction. */
pawl_code pawl__pg_free_connection(pawl__pg *store, pawl__pg_connection **connection,
                                   pawl_error *error);
/* Begins a transaction that writes claims into rows (stamps), which need not be durable. While there are claims it uses
 * the second connection. */
pawl_code pawl__pg_stamp_begin(pawl__pg *store, pawl_error *error);
/* COMMIT when `code` is OK, else ROLLBACK. Returns `code`, or the failure of the commit. */
pawl_code pawl__pg_stamp_end(pawl__pg *store, pawl_code code, pawl_error *error);
/* The same without a round trip of its own: sends COMMIT right after the stamps, and awaits both. */
pawl_code pawl__pg_stamp_send_end(pawl__pg *store, pawl_error *error);
pawl_code pawl__pg_handler_transaction_begin(pawl_store *base, pawl_error *error);
/* Of pawl__sql_ops. */
bool      pawl__pg_is_utf8(const PGconn *pg); /* the encoding of texts on it */
pawl_code pawl__pg_is_open(pawl_store *base, bool *is_open, pawl_error *error);
bool      pawl__pg_is_lost(const pawl_store *base);
void      pawl__pg_rollback(pawl_store *base);

/* queue.c */
/* The numbers of the first claims, as an array. */
void pawl__pg_put_claims(pawl__pg_request *request, const pawl__pg *store, size_t count);
/* Locks the rows of all claims again, in the open transaction; removes rows from the list that are gone or locked
 * by others. Sends and awaits. */
pawl_code pawl__pg_claims_lock(pawl__pg *store, pawl_error *error);

/* schema.c */
pawl__sql_schema pawl__pg_schema_of(pawl__pg *store);
pawl_code pawl__pg_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                          pawl_line_fn *line, void *context, pawl_error *error);

/* wait.c */
/* The number of an advisory lock for a name of this store, the same in every process. */
int64_t pawl__pg_lock_number(const pawl__pg *store, const char *kind, pawl_text name);
/* Sends NOTIFY after a commit, to handles that wait for changes like these; false: no such changes. In enlist
 * NOTIFY is part of the caller's transaction, and is sent even if no handle waits now. */
bool pawl__pg_send_notify(pawl__pg *store, pawl__pg_connection *connection,
                          pawl__pg_request *request, const pawl_changes *changes);
/* Sends NOTIFY to readers of events. */
void pawl__pg_send_notify_events(pawl__pg *store, pawl__pg_connection *connection,
                                 pawl__pg_request *request, pawl_error *error);
/* Logs a failed NOTIFY, once a minute at most; the commit before it is durable. */
void      pawl__pg_notified(pawl__pg *store, const pawl__pg_connection *connection, pawl_code code,
                            const pawl_error *why);
pawl_code pawl__pg_stop_sleeping(pawl__pg *store, pawl_error *error);
/* Called after a claim: an empty one lets the handle sleep (take the advisory locks), many full ones end that. */
void pawl__pg_note_claim(pawl__pg *store, bool is_empty);
/* Machine time now: the latest time that an operation was given, plus the monotonic time since. */
pawl_time pawl__pg_now(const pawl__pg *store);
void      pawl__pg_interrupt(pawl_store *base);

/* worker.c */
pawl_code pawl__pg_worker_crashed(pawl_store *base, pawl_arena *arena, pawl_worker_info **items,
                                  size_t *count, pawl_error *error);
/* Ends the back end that is inside a commit of this worker; with a pooler that may be any
 * session. Returns whether there was one. Does nothing without the right to end it. */
bool pawl__pg_end_commit_of(pawl__pg_connection *connection, pawl_uuid worker);
/* Ends the back end that has locked the worker's row: outside a commit only a lost session of this worker
 * can, if neither server nor pooler has noticed the loss. */
void pawl__pg_end_holder(pawl__pg *store, pawl__pg_connection *connection);
/* Called after a lock wait that was too long: ends back ends that wait for their client inside a commit, or while
 * numbering events, since the client was stopped or cut off. The server would wait for ever for the end of their
 * pipelines. */
void pawl__pg_end_standing(pawl__pg *store, pawl__pg_connection *connection);
/* Ends up to `count_max` dead workers not seen since `before`. */
pawl_code pawl__pg_worker_sweep(pawl__pg *store, pawl_time before, size_t count_max, int64_t *count,
                                bool *more, pawl_error *error);
/* sweep.c: of pawl__sql_ops. */
pawl_code pawl__pg_bodies_begin(pawl_store *base, pawl_error *error);

#endif
