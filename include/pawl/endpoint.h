/* endpoint.h - running an application.
 *
 *     pawl_application_run                 all endpoints, until a signal or pawl_run_stop
 *     create -> run -> destroy             one endpoint; stop from any thread
 *
 * run() starts the worker threads and blocks. Only pawl_application_run listens to signals. A program
 * with an event loop of its own calls pawl_endpoint_step instead (loop.h).
 *
 * Tests: tests/unit/runtime
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENDPOINT_H
#define PAWL_ENDPOINT_H

#include "pawl/context.h"
#include "pawl/observe_options.h"
#include "pawl/recovery.h"
#include "pawl/store_open.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Options ------------------------------------------------------------- */

/* Two clocks: business time (due times) and machine time (leases, back-off,
 * retention). A virtual clock stands still until it is set; under a virtual
 * business clock each message and timeout is handled at its own due time, in
 * due order, up to the clock's time. loop.h has the calls. */
typedef struct pawl_clock         pawl_clock;
typedef struct pawl_transport_ops pawl_transport_ops; /* transport.h */

/* Where a logical destination leads: with neither `url` nor `outbound` to a queue in this
 * store, in the commit that sends; else through the outbox, to another store or a
 * transport (`url`), or to code of the application (`outbound`: an outbound transport). Runtime
 * configuration, never stored but for the name: which endpoint has a route for a timeout (E13). */
typedef struct pawl_route {
    const char *name;          /* NULL ends the list */
    const char *url;           /* of a store or a transport */
    const char *queue;         /* NULL: the name */
    const char *system_prefix; /* of that store; NULL: "pawl_" */

    const pawl_transport_ops *outbound; /* borrowed until destroy; see transport.h */
    void                     *context;  /* of that transport, likewise */
    /* To the queue in this store, but through the outbox: later, in order, once. */
    bool is_outbox;
} pawl_route;

/* Something that only a person can fix went wrong again and again: `what` is
 * "retention", "projection" when an event failed ten times (O29), or "breaker" when the endpoint's opened. Both
 * texts are borrowed for the call. Called on a thread of the endpoint, which goes on.
 * Must not call pawl, but for pawl_endpoint_stop. */
typedef void pawl_critical_fn(void *context, const char *what, const pawl_error *error);

/* Zero means what the endpoint's own table says (pawl_endpoint_spec.options), and zero there the
 * default in brackets. A route's name is searched here first. Durations are
 * microseconds. Those that operators may set: docs/options.md. */
typedef struct pawl_endpoint_options {
    size_t            options_size;
    const char       *store;          /* URL */
    pawl_open_mode    mode;           /* CREATE or CHECK */
    const char       *system_prefix;  /* NULL: "pawl_" */
    const char       *saga_prefix;    /* NULL: the endpoint's name, "." as "_", and "_" */
    const pawl_route *routes;         /* or NULL */
    int               workers;        /* threads of run() [1] */
    int               batch_messages; /* most messages in one commit [256] */
    int64_t           batch_time_max; /* of handlers in one batch, of flushes in one step [50 ms] */
    int64_t           deadline;       /* of one store call [30 s] */
    int64_t           timeout_lease;  /* [5 min] */
    int32_t           immediate_retries; /* in memory [3]; PAWL_NONE */
    int32_t           delayed_retries;   /* [5]; PAWL_NONE */
    int64_t           retry_delay;       /* the first one, doubling, each +/- 10 % jitter [10 s] */
    int64_t           retry_delay_max;   /* [1 h] */
    int32_t           conflict_retries;  /* reloads before a conflict counts as a failure [20] */
    int64_t           not_found_wait;    /* [30 s] of machine time */
    int64_t           inbox_retention;   /* [7 days] */
    int64_t           outbox_retention;  /* dispatched rows [30 days] */
    int32_t           outbox_batch;      /* [32] */
    int32_t           outbox_attempts;   /* [10] */
    int64_t     outbox_delay; /* back-off of the dispatcher, doubling, each +/- 10 % jitter [1 s] */
    int64_t     outbox_delay_max; /* [5 min] */
    pawl_clock *business;         /* NULL: the system's */
    pawl_clock *machine;          /* NULL: the system's */
    uint64_t    seed;             /* of ids and jitter; 0: from the system */
    void       *user;             /* pawl_user(ctx) */
    bool        no_service;       /* another process delivers the outbox, sweeps and reaps */
    size_t      route_size;       /* sizeof(pawl_route); the INIT below says it */
    int64_t     outbox_idle;      /* most between checks of an empty outbox [30 s] */
    pawl_critical_fn           *critical; /* NULL: an error in the log */
    void                       *critical_context;
    const pawl_observe_options *observe; /* NULL: nothing listens, nothing is sent */
    int64_t stop_wait;     /* after stop, for what is in the application's code still [30 s] */
    int64_t version_delay; /* between two checks of a row whose version this program does not
                              read, +/- 10 % jitter [10 s] */
    const pawl_recovery *recovery; /* PAWL_RECOVERY(...), searched before the table's; or NULL */
    size_t               recovery_size; /* sizeof(pawl_recovery); the INIT below says it */
    /* Processes that crash while they run one message in isolation, then it is a dead letter, or one
     * partition, then it is dead [3]; PAWL_NONE: no limit. */
    int32_t crashes_max;
    /* The breaker: when so many of 100 messages failed, of the last breaker_window ones, the endpoint
     * claims nothing for a while, then one message at a time, until breaker_probes in a row succeed
     * (docs/failures.md). Of a window that is not full the rest counts as handled. */
    int32_t breaker_rate;      /* 1 to 100 [PAWL_NONE: no breaker] */
    int32_t breaker_window;    /* [100], 1024 at most */
    int64_t breaker_pause;     /* before the first probe, doubling with each that fails [10 s] */
    int64_t breaker_pause_max; /* [5 min] */
    int32_t breaker_probes;    /* [3] */
    /* URL#QUEUE of a broker, or NULL: run() takes the messages of that queue into the endpoint's own,
     * each once. No QUEUE: it has the name of the endpoint's. docs/INTEROP.md */
    const char *transport;
    int64_t     history; /* how long lines of history are kept, which each message leaves in its
                              commit (store_history.h) [0: none are written]; PAWL_NONE */
    /* Messages of one key are handled in the order in which they were sent, whatever becomes of the
     * earlier ones: PAWL_ORDERED_BY_SAGA, "header:NAME" or "property:NAME" (of the message; "a.b"
     * nests). NULL: no order is kept, and neither with "none". One worker of all processes claims
     * then. docs/concepts.md, docs/decisions/ordered-queues.md */
    const char *ordered;
    /* Each message that was handled is copied to URL#QUEUE, of a store or a transport, or to #QUEUE of this store: by
     * the outbox, from a row in the commit of its deduplication record, with headers that say who handled it when. Not what was
     * discarded, expired or dead-lettered, nor copies, timeouts and flushes. NULL or "none": nothing is. docs/INTEROP.md */
    const char *audit;
    /* For so long, at least, a store keeps the claim of a message whose handler runs [5 min]. A handler that outlives its
     * claim, as it ran longer or the store's session ended meanwhile, is a failed attempt of its message.
     * docs/failures.md */
    int64_t handler_time_max;
    /* How long the body of a dead letter is kept that an operator edited or discarded [30 days]; PAWL_NONE: for ever.
     * The shortest one of the store's endpoints counts. docs/OPERATING.md */
    int64_t body_retention;
} pawl_endpoint_options;

#define PAWL_ENDPOINT_OPTIONS_INIT                                                       \
    {                                                                                    \
        .options_size = sizeof(pawl_endpoint_options), .route_size = sizeof(pawl_route), \
        .recovery_size = sizeof(pawl_recovery)                                           \
    }

/* The key is the value that leads the message to its saga, process or entity; of a message for none of
 * them, its correlation id. */
#define PAWL_ORDERED_BY_SAGA "saga"

/* For the endpoint's table: .options = PAWL_OPTIONS(.immediate_retries = PAWL_NONE, .retry_delay =
 * PAWL_SECONDS(30), .routes = PAWL_ROUTES({.name = "audit", .is_outbox = true})). */
#define PAWL_OPTIONS(...)                                                           \
    (&(const pawl_endpoint_options){.options_size  = sizeof(pawl_endpoint_options), \
                                    .route_size    = sizeof(pawl_route),            \
                                    .recovery_size = sizeof(pawl_recovery),         \
                                    __VA_ARGS__})
#define PAWL_ROUTES(...) ((const pawl_route[]){__VA_ARGS__, {.name = NULL}})

/* ---- Running -------------------------------------------------------------- */

typedef struct pawl_endpoint pawl_endpoint;

/* Checks the tables and options (PAWL_ECONFIG names the saga or the route and what is
 * wrong; a URL of a route that cannot be read, or that no driver and no transport is for, is wrong, a
 * store that is unavailable is not), opens the store, checks or creates the schema, subscribes to the types it handles.
 * `name` NULL: the application's only endpoint. The application and what the
 * options point to must outlive the endpoint. */
PAWL_API pawl_code pawl_endpoint_create(const pawl_application *application, const char *name,
                                        const pawl_endpoint_options *options,
                                        pawl_endpoint **endpoint, pawl_error *error);
/* Accepts NULL. Does nothing in a child process of fork(): the endpoint, its threads and its connections are
 * the parent's. While run, step, drain or receive of it is under way (in a handler, or before run has returned)
 * it logs an error and leaves the endpoint as it is. */
PAWL_API void pawl_endpoint_destroy(pawl_endpoint *endpoint);
/* Blocks until stop; PAWL_OK after a graceful one. Messages in flight are
 * finished, claims released. PAWL_EPERSIST ... when it cannot go on; a full disk is waited for.
 *
 * A handler (a filter, a transport ...) that takes more than 10 s is named in the log, once.
 * In the second half of stop_wait a call of the store outside of handlers is interrupted: it does not answer.
 * When something is still in flight stop_wait after the stop, run abandons it: PAWL_ETIMEOUT,
 * and the error names the message, its type and the handler (E29). Claims and
 * leases of such a thread are free for others, and it writes nothing any more, whatever the handler
 * does when it returns; the thread then ends by itself. Of a handler with its own SQL the
 * transaction is ended by a server; on SQLite it keeps the file's write lock until the
 * handler returns or the process ends.
 *
 * PAWL_EINVAL: it is being run or stepped already; it was run before: after a failure, and after a stop, a program
 * creates another endpoint; or this is a child process of fork(), which creates its own. */
PAWL_API pawl_code pawl_endpoint_run(pawl_endpoint *endpoint, pawl_error *error);
/* From any thread or a signal handler. */
PAWL_API void pawl_endpoint_stop(pawl_endpoint *endpoint);

/* ---- Running all endpoints -------------------------------------------------- */

typedef struct pawl_run pawl_run;

typedef enum pawl_run_state {
    PAWL_RUN_CREATED, /* all endpoints are created, and none runs yet */
    PAWL_RUN_STARTED, /* all endpoints run */
    PAWL_RUN_STOPPED, /* none runs; the pawl_run is not used any more */
} pawl_run_state;

/* Zero means the default in brackets. Functions are called on the thread of pawl_application_run. */
typedef struct pawl_run_options {
    size_t options_size;
    const pawl_endpoint_options
               *endpoint; /* of every endpoint: store, workers ... [NULL: defaults] */
    const char *only;     /* the name of an endpoint [NULL: all] */
    /* Changes the options of one endpoint before it is created. A failure ends the run. [NULL] */
    pawl_code (*configure)(void *context, const char *endpoint, pawl_endpoint_options *options,
                           pawl_error *error);
    /* Hears of each state; `run` is for pawl_run_stop. [NULL] */
    void (*changed)(void *context, pawl_run *run, pawl_run_state state);
    void *context; /* of both */
    bool
        keeps_signals; /* SIGINT and SIGTERM stay the program's [false: the first one stops the run,
                            one that comes 500 ms later or more ends the process] */
} pawl_run_options;

#define PAWL_RUN_OPTIONS_INIT                    \
    {                                            \
        .options_size = sizeof(pawl_run_options) \
    }

/* Creates all endpoints of the application, runs each in a thread of its own beside its workers, and
 * blocks until they are stopped: by a signal, by pawl_run_stop, or because one of them fails. Then
 * all stop, are destroyed, and the signals are as before. PAWL_OK: each stopped gracefully. Else the
 * first failure, which names its endpoint; others are in the log. An endpoint that cannot be created
 * is a failure before any runs.
 *
 * PAWL_ETIMEOUT, before every other failure: a handler did not return (pawl_endpoint_run). Then the
 * endpoints are not destroyed, and application and options must stay until the process ends.
 * PAWL_EINVAL also: another run of this process has the signals. */
PAWL_API pawl_code pawl_application_run(const pawl_application *application,
                                        const pawl_run_options *options, pawl_error *error);
/* Stops all endpoints gracefully. From any thread, a handler, or a signal handler, from
 * PAWL_RUN_CREATED until PAWL_RUN_STOPPED. */
PAWL_API void pawl_run_stop(pawl_run *run);
/* ---- Sending from outside a handler ----------------------------------------- */

/* A sender collects messages; commit() stores them all or none. An enlisted one writes each send at
 * once, into the caller's transaction.
 *
 * Threads: a sender belongs to one thread at a time, as a store handle does; each thread opens one of
 * its own. Two senders may be used at the same time. In a child process of fork() a commit and an
 * enlisted send are refused with PAWL_EINVAL: the child opens its own. On SQLite it cannot, where the parent had
 * the file open when it forked. */
typedef struct pawl_sender pawl_sender;

/* On a store handle of its own. NULL options: all defaults, but the mode PAWL_OPEN_EXISTING: a misspelt URL is an error, and
 * no new store without an endpoint (but for memory:, where the first one to open it makes it). Older tables are
 * PAWL_ESCHEMA. */
PAWL_API pawl_code pawl_sender_open(const char *url, const pawl_store_options *options,
                                    pawl_sender **sender, pawl_error *error);
/* In the caller's own transaction on `native` (sqlite3 *, PGconn *, MYSQL *, SQLHDBC, mongoc_client_session_t *): each send is written
 * at once and commits or rolls back with the caller's rows. The store handle
 * is borrowed and must be open on the same database: another one is refused, but on PostgreSQL only by its name, and on
 * MongoDB not at all, so that the message goes to the server of the caller's connection. */
PAWL_API pawl_code pawl_enlist(pawl_store *store, void *native, pawl_sender **sender,
                               pawl_error *error);
PAWL_API pawl_code pawl_sender_send(pawl_sender *sender, const char *queue,
                                    const pawl_send_options *options, const pawl_record *record,
                                    const void *message, pawl_error *error);
/* A body that is JSON already. PAWL_EINVAL: it is no JSON. */
PAWL_API pawl_code pawl_sender_send_json(pawl_sender *sender, const char *queue,
                                         const pawl_send_options *options, const char *type,
                                         pawl_text body, pawl_error *error);
/* To every queue that subscribes to the type or one of its base types: one message, with one id and one correlation id. */
PAWL_API pawl_code pawl_sender_publish(pawl_sender *sender, const pawl_send_options *options,
                                       const pawl_record *record, const void *message,
                                       pawl_error *error);
/* Sends to the queue of the endpoint in `application` whose saga or handler the
 * message starts, by its own type or else by the nearest base type. */
PAWL_API pawl_code pawl_sender_start(pawl_sender *sender, const pawl_application *application,
                                     const pawl_send_options *options, const pawl_record *record,
                                     const void *message, pawl_error *error);
/* The sender is then empty and can be used again. After a failure, of a send or of the commit, the messages collected so
 * far stay: commit once more, or clear, or they leave with what is sent next. Not for an enlisted sender: there the
 * caller's transaction commits. */
PAWL_API pawl_code pawl_sender_commit(pawl_sender *sender, pawl_error *error);
/* Drops what is not committed. Of an enlisted sender nothing: what it sent is in the caller's transaction. */
PAWL_API void pawl_sender_clear(pawl_sender *sender);
PAWL_API void pawl_sender_close(pawl_sender *sender); /* drops what is not committed */

#ifdef __cplusplus
}
#endif
#endif
