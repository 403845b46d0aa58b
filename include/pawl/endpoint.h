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

/* A clock of an endpoint: of business time (due times) or of machine time (leases, back-off,
 * retention). A virtual clock stands still until it is set. Under a virtual business clock all that is
 * due up to the clock's time is handled in due order, and pawl_now() is the due time of each
 * message or timeout. loop.h has the calls. */
typedef struct pawl_clock         pawl_clock;
typedef struct pawl_transport_ops pawl_transport_ops; /* transport.h */

/* Maps a destination to a queue. Without `url` and `outbound` the queue is in this store, and the
 * commit that sends writes to it. Else messages go through the outbox: to another store or a
 * broker (`url`), or to an outbound transport of the application (`outbound`). Of a route only the name is
 * stored: timeouts with this destination are then sent by this endpoint (E13). */
typedef struct pawl_route {
    const char *name;          /* NULL ends the list */
    const char *url;           /* of a store or a transport */
    const char *queue;         /* NULL: the name */
    const char *system_prefix; /* of that store; NULL: "pawl_" */

    const pawl_transport_ops *outbound; /* borrowed until destroy; see transport.h */
    void                     *context;  /* of that transport, likewise */
    /* With neither: to a queue in this store through the outbox, which keeps the order per sender. */
    bool is_outbox;
} pawl_route;

/* Reports a problem that needs a person. `what` is "retention" (the retention sweep failed again and again),
 * "projection" (an event failed ten times, O29) or "breaker" (the endpoint's breaker opened). Both texts are borrowed
 * for the call. Called on a thread of the endpoint, which then continues. Must not call pawl, except
 * pawl_endpoint_stop. */
typedef void pawl_critical_fn(void *context, const char *what, const pawl_error *error);

/* A member that is zero gets its value from the endpoint's table (pawl_endpoint_spec.options), and if that is
 * zero, too, the default in brackets. Where a delay is left out and its X_max is shorter than the default, the delay is
 * X_max. A route is looked up here first, then in the table. Durations are
 * microseconds. docs/options.md explains those that operators may set. */
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
    int64_t           timeout_lease;  /* how long a worker's claim of a timeout lasts [5 min] */
    int32_t           immediate_retries; /* in memory [3]; PAWL_NONE */
    int32_t           delayed_retries;   /* [5]; PAWL_NONE */
    int64_t           retry_delay;       /* the first one, doubling, each +/- 10 % jitter [10 s] */
    int64_t           retry_delay_max;   /* at least retry_delay [1 h, or retry_delay] */
    int32_t           conflict_retries;  /* reloads before a conflict counts as a failure [20] */
    int64_t           not_found_wait;    /* for a message that starts the saga [30 s] */
    int64_t           inbox_retention;   /* of deduplication records [7 days] */
    int64_t           outbox_retention;  /* of dispatched rows [30 days] */
    int32_t           outbox_batch;      /* most rows in one commit [32] */
    int32_t           outbox_attempts;   /* deliveries before a row is dead [10] */
    int64_t     outbox_delay; /* back-off of the dispatcher, doubling, each +/- 10 % jitter [1 s] */
    int64_t     outbox_delay_max; /* at least outbox_delay [5 min, or outbox_delay] */
    pawl_clock *business;         /* NULL: the system's */
    pawl_clock *machine;          /* NULL: the system's */
    uint64_t    seed;             /* of ids and jitter; 0: from the system */
    void       *user;             /* pawl_user(ctx) */
    bool        no_service;       /* no service worker: another process has it (docs/glossary.md) */
    size_t      route_size;       /* sizeof(pawl_route); set by the INIT below */
    int64_t     outbox_idle;      /* longest time between checks of an empty outbox [30 s] */
    pawl_critical_fn           *critical; /* NULL: an error in the log */
    void                       *critical_context;
    const pawl_observe_options *observe; /* NULL: nothing listens, nothing is sent */
    int64_t stop_wait;             /* after stop, for handlers that are still running [30 s] */
    int64_t version_delay;         /* of a message whose record version this program does not read,
                              +/- 10 % jitter [10 s] */
    const pawl_recovery *recovery; /* PAWL_RECOVERY(...), searched before the table's; or NULL */
    size_t               recovery_size; /* sizeof(pawl_recovery); set by the INIT below */
    /* A message becomes a dead letter, and an aggregator's partition is dead, when so many processes crashed
     * while they ran it in isolation [3]; PAWL_NONE: no limit. */
    int32_t crashes_max;
    /* The breaker opens when breaker_rate percent of the last breaker_window messages failed. The endpoint then
     * claims nothing for breaker_pause, then one message at a time, until breaker_probes in a row succeed
     * (docs/failures.md). In a window that is not full yet, missing messages count as handled. */
    int32_t breaker_rate;      /* percent, 1 to 100 [PAWL_NONE: no breaker] */
    int32_t breaker_window;    /* [100], 1024 at most */
    int64_t breaker_pause;     /* before the first probe, doubling with each that fails [10 s] */
    int64_t breaker_pause_max; /* at least breaker_pause [5 min, or breaker_pause] */
    int32_t breaker_probes;    /* [3] */
    /* URL#QUEUE of a broker, or NULL: pawl_endpoint_run handles the messages of that queue, too, each once. Without
     * #QUEUE the broker's queue has the name of the endpoint's. docs/INTEROP.md */
    const char *transport;
    int64_t     history; /* how long history lines are kept: one for each message and saga
                              (store_history.h) [0: none are written]; PAWL_NONE */
    /* The ordering key: PAWL_ORDERED_BY_SAGA, "header:NAME" or "property:NAME" (of the message; "a.b" nests).
     * Messages with the same key are handled in the order in which they were sent: later ones wait while an
     * earlier one is retried. Of all processes only one worker claims then. NULL or "none": no order is kept.
     * docs/concepts.md, docs/decisions/ordered-queues.md */
    const char *ordered;
    /* URL#QUEUE of a store or a broker, or #QUEUE of this store, that gets a copy of each handled message, with headers
     * that say where and when it was handled. The commit that handles the message writes the copy to the outbox. Not
     * copied: discarded, expired, dead-lettered and duplicate messages, timeouts, flushes. NULL or "none": no copies.
     * docs/INTEROP.md */
    const char *audit;
    /* A store keeps the claim of a message for at least this time while its handler runs [5 min]. If the claim ends first,
     * since the handler ran longer or the database session ended, the attempt counts as failed. docs/failures.md */
    int64_t handler_time_max;
    /* How long the body of a dead letter is kept after an operator edited or discarded it [30 days]; PAWL_NONE: for
     * ever. Of all endpoints of a store the shortest time counts. docs/OPERATING.md */
    int64_t body_retention;
} pawl_endpoint_options;

#define PAWL_ENDPOINT_OPTIONS_INIT                                       \
    PAWL__BRACES(PAWL__SET(options_size, sizeof(pawl_endpoint_options)), \
                 PAWL__SET(route_size, sizeof(pawl_route)),              \
                 PAWL__SET(recovery_size, sizeof(pawl_recovery)))

/* The ordering key of a message is the value by which its saga, process or entity is found; without one of
 * these it is the message's correlation id. */
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

/* Checks the tables and options, opens the store, checks or creates the schema, and subscribes to the types that
 * it handles. `name` NULL: the application's only endpoint. The application and all that the options point
 * to must outlive the endpoint. PAWL_ECONFIG names the saga, the option or the route, and the fault; a route's URL must
 * have a driver or a transport, but its receiver may be unavailable. PAWL_ENOTFOUND: no endpoint has the name.
 * PAWL_EINVAL: no options. Other codes: as pawl_store_open. */
PAWL_API pawl_code pawl_endpoint_create(const pawl_application *application, const char *name,
                                        const pawl_endpoint_options *options,
                                        pawl_endpoint **endpoint, pawl_error *error);
/* Accepts NULL. Does nothing in a child process of fork(), where the endpoint is the parent's. While run, step,
 * drain or receive of the endpoint is under way, it logs an error and does nothing. */
PAWL_API void pawl_endpoint_destroy(pawl_endpoint *endpoint);
/* Runs the workers and blocks until stop: then messages in flight are finished, claims are released, and the answer
 * is PAWL_OK. An unavailable store and a full disk are waited for; on a lasting failure run ends with its code, as
 * PAWL_EPERSIST.
 *
 * A handler (or filter, transport ...) that takes more than 10 s is named in the log, once. After half of
 * stop_wait, store calls that still wait for an answer are interrupted. If a handler still runs when stop_wait
 * is over, run abandons its thread: PAWL_ETIMEOUT, and the error names the message, its type and the handler
 * (E29). The thread's claims and leases are then free for other workers. When the handler returns, its effects
 * are dropped and the thread ends. If the handler has a transaction with its own SQL, a server ends that; on
 * SQLite the transaction keeps the file's write lock until the handler returns or the process ends.
 *
 * PAWL_EINVAL: the endpoint is being run or stepped, was run before (create another one), or belongs to the parent of
 * this process (fork). */
PAWL_API pawl_code pawl_endpoint_run(pawl_endpoint *endpoint, pawl_error *error);
/* Stops run gracefully. From any thread or a signal handler. NULL does nothing. */
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
    /* Called at each change of state; `run` is for pawl_run_stop. [NULL] */
    void (*changed)(void *context, pawl_run *run, pawl_run_state state);
    void *context; /* of both */
    bool
        keeps_signals; /* leave SIGINT and SIGTERM to the program [false: the first one stops the run,
                            one that comes 500 ms later or more ends the process] */
} pawl_run_options;

#define PAWL_RUN_OPTIONS_INIT PAWL__BRACES(PAWL__SET(options_size, sizeof(pawl_run_options)))

/* Creates all endpoints of the application, runs each in a thread of its own beside its workers, and
 * blocks until a signal or pawl_run_stop stops them, or one of them fails. Then all are stopped and destroyed, and the
 * previous signal handlers are restored. PAWL_OK: each stopped gracefully. Else the first failure, which names its
 * endpoint; others are in the log. If an endpoint cannot be created, none runs. If a signal comes
 * while endpoints are created, none runs, `changed` is not called, and the answer is PAWL_OK; a store that does not
 * answer delays this by its deadline.
 *
 * PAWL_ETIMEOUT, in preference to other failures: a handler did not return (pawl_endpoint_run). Then
 * endpoints are not destroyed, and application and options must stay until the process ends.
 * PAWL_ENOTFOUND: no endpoint has the name `only`. PAWL_EINVAL also: another run of this process handles signals. */
PAWL_API pawl_code pawl_application_run(const pawl_application *application,
                                        const pawl_run_options *options, pawl_error *error);
/* Stops all endpoints gracefully. From any thread, a handler, or a signal handler, from
 * PAWL_RUN_CREATED until PAWL_RUN_STOPPED. NULL does nothing. */
PAWL_API void pawl_run_stop(pawl_run *run);
/* ---- Sending from outside a handler ----------------------------------------- */

/* A sender collects messages in memory; commit stores all of them or none. An enlisted sender (pawl_enlist) writes
 * each message at once, in the caller's transaction.
 *
 * Threads: a sender belongs to one thread at a time, as a store handle does; two senders may be used at the same
 * time. In a child process of fork() a commit and an enlisted send are refused with PAWL_EINVAL: the child opens
 * its own sender. A SQLite file that the parent had open at fork() cannot be opened by the child. */
typedef struct pawl_sender pawl_sender;

/* Opens a store handle of the sender's own. NULL options: all defaults, with mode PAWL_OPEN_EXISTING, so that a misspelt
 * URL is an error and creates no new store (except for memory:). On failure *sender is NULL; errors are those of
 * pawl_store_open. */
PAWL_API pawl_code pawl_sender_open(const char *url, const pawl_store_options *options,
                                    pawl_sender **sender, pawl_error *error);
/* Makes a sender for the caller's own transaction on `native` (sqlite3 *, PGconn *, MYSQL *, SQLHDBC,
 * mongoc_client_session_t *): each message is written at once, and commits or rolls back with the caller's rows. The
 * store handle is borrowed until close, and must be open on the same database. Another database is refused; PostgreSQL
 * compares only the database's name, and MongoDB checks nothing: messages go to the server of `native`. */
PAWL_API pawl_code pawl_enlist(pawl_store *store, void *native, pawl_sender **sender,
                               pawl_error *error);
PAWL_API pawl_code pawl_sender_send(pawl_sender *sender, const char *queue,
                                    const pawl_send_options *options, const pawl_record *record,
                                    const void *message, pawl_error *error);
/* The same with a body that is JSON already. PAWL_EINVAL: the body is no JSON. */
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
/* Stores the collected messages; the sender is then empty and can be used again. After a failure of a send or a commit,
 * the messages stay collected: the next commit stores them, clear drops them. Not for an enlisted sender: there the
 * caller's transaction commits. */
PAWL_API pawl_code pawl_sender_commit(pawl_sender *sender, pawl_error *error);
/* Drops messages that are not committed. Does nothing for NULL, and for an enlisted sender, whose messages are in the
 * caller's transaction. */
PAWL_API void pawl_sender_clear(pawl_sender *sender);
PAWL_API void pawl_sender_close(pawl_sender *sender); /* clears first; accepts NULL */

#ifdef __cplusplus
}
#endif
#endif
