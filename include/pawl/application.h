/* application.h - the tables that describe an application: what it handles and
 * how a message finds its saga.
 *
 * Tables are constant data. PAWL_APPLICATION_HEAD records their sizes, so that a newer library
 * may append members. A list of rows ends with an empty row, a list of pointers with NULL:
 * the macros PAWL_ON(...), PAWL_SAGAS(...) and so on (lists.h) append that end.
 *
 *     static pawl_code on_place_order(pawl_context *ctx, order_state *order,
 *                                     const place_order *message) { ... }
 *     PAWL_HANDLER(on_place_order, order_state, place_order);
 *
 *     static const pawl_saga order_saga = {
 *         .name = "OrderSaga", .state = PAWL_RECORD_OF(order_state), .correlation = "order_id",
 *         .on = PAWL_ON({ .handle = PAWL_HANDLE(on_place_order), .key = "order_id", .starts = true },
 *                       { .handle = PAWL_HANDLE(on_payment_late), .timeout = "payment" }) };
 *
 * PAWL_HANDLER checks the function's type at compile time, and records the types of its state and
 * message: a row handles the message type of its handler.
 *
 * Threads: handlers run on worker threads, see pawl_call_fn.
 * Tests: tests/unit/workflow/test_model.c, tests/must_not_compile.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_APPLICATION_H
#define PAWL_APPLICATION_H

#include "pawl/effect.h"
#include "pawl/message.h"
#include "pawl/record_types.h"
#include "pawl/schedule.h"
#include "pawl/state_format.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_context    pawl_context;
typedef struct pawl_process    pawl_process;
typedef struct pawl_process    pawl_entity; /* the same fields */
typedef struct pawl_projection pawl_projection;
typedef struct pawl_apply      pawl_apply; /* process.h */

/* ---- Handlers ----------------------------------------------------------- */

/* Calls a handler on a worker thread. Handlers of different sagas run in parallel. If two workers run handlers of one
 * saga at once, one commit succeeds, and the others run their handlers again. So a handler may run more than once
 * for one message (conflicts, crashes); its effects through the context take place once, in the commit, if it
 * returns PAWL_OK. Other answers: PAWL_RETRY, pawl_retry_after(...), PAWL_REJECT (a dead letter), PAWL_DISCARD,
 * or any error code, which the recoverability rules judge (docs/failures.md). A retry class, as PAWL_RETRY_NEVER,
 * is no code: it makes the message a dead letter whose error says so.
 * A handler, like every function that pawl calls, must end by return, and in C++ be noexcept: longjmp() and
 * exceptions would skip the end of pawl's transactions and locks.
 * pawl copies the state after all handlers of the message have returned. Memory that the state points to must live
 * until then: the message, literals and memory of pawl_scratch(ctx) do, local arrays of a handler do not. */
typedef pawl_code pawl_call_fn(pawl_context *ctx, void *state, const void *message, size_t count);

typedef struct pawl_handler {
    pawl_record_fn *state;   /* NULL: no saga */
    pawl_record_fn *message; /* NULL: a timeout */
    bool            is_list; /* an aggregator's: an array of messages */
    pawl_call_fn   *call;
    bool        is_stream; /* a process's or an entity's: the state is computed from its events */
    const char *name;      /* of the function, for logs; NULL in older programs */
} pawl_handler;

#define PAWL_HANDLE(function) (&function##_pawl_handler)

#define PAWL__CHECK_TYPE(function, ...)                                               \
    _Static_assert(_Generic(&(function), pawl_code(*)(__VA_ARGS__) : 1, default : 0), \
                   #function " must be: pawl_code " #function "(" #__VA_ARGS__ ")")

#define PAWL__STATE_HANDLER(function, state_type, state_record, message_record, is_stream)     \
    PAWL__CHECK_TYPE(function, pawl_context *, state_type *, const message_record *);          \
    static pawl_code function##_pawl_call(pawl_context *ctx, void *state, const void *message, \
                                          size_t count)                                        \
    {                                                                                          \
        (void)count;                                                                           \
        return function(ctx, (state_type *)state, (const message_record *)message);            \
    }                                                                                          \
    static const pawl_handler function##_pawl_handler = {PAWL_RECORD_OF(state_record),         \
                                                         PAWL_RECORD_OF(message_record),       \
                                                         false,                                \
                                                         function##_pawl_call,                 \
                                                         is_stream,                            \
                                                         #function}

#define PAWL__STATE_TIMEOUT_HANDLER(function, state_type, state_record, is_stream)             \
    PAWL__CHECK_TYPE(function, pawl_context *, state_type *);                                  \
    static pawl_code function##_pawl_call(pawl_context *ctx, void *state, const void *message, \
                                          size_t count)                                        \
    {                                                                                          \
        (void)message;                                                                         \
        (void)count;                                                                           \
        return function(ctx, (state_type *)state);                                             \
    }                                                                                          \
    static const pawl_handler function##_pawl_handler = {                                      \
        PAWL_RECORD_OF(state_record), NULL, false, function##_pawl_call, is_stream, #function}

/* A saga's handler: pawl_code f(pawl_context *, state *, const message *). */
#define PAWL_HANDLER(function, state_record, message_record) \
    PAWL__STATE_HANDLER(function, state_record, state_record, message_record, false)

/* A saga's timeout handler: pawl_code f(pawl_context *, state *). */
#define PAWL_TIMEOUT_HANDLER(function, state_record) \
    PAWL__STATE_TIMEOUT_HANDLER(function, state_record, state_record, false)

/* A handler without a saga: pawl_code f(pawl_context *, const message *). */
#define PAWL_MESSAGE_HANDLER(function, message_record)                                         \
    PAWL__CHECK_TYPE(function, pawl_context *, const message_record *);                        \
    static pawl_code function##_pawl_call(pawl_context *ctx, void *state, const void *message, \
                                          size_t count)                                        \
    {                                                                                          \
        (void)state;                                                                           \
        (void)count;                                                                           \
        return function(ctx, (const message_record *)message);                                 \
    }                                                                                          \
    static const pawl_handler function##_pawl_handler = {                                      \
        NULL, PAWL_RECORD_OF(message_record), false, function##_pawl_call, false, #function}

/* An aggregator's handler, oldest message first:
 * pawl_code f(pawl_context *, const message *messages, size_t count). */
#define PAWL_BATCH_HANDLER(function, message_record)                                           \
    PAWL__CHECK_TYPE(function, pawl_context *, const message_record *, size_t);                \
    static pawl_code function##_pawl_call(pawl_context *ctx, void *state, const void *message, \
                                          size_t count)                                        \
    {                                                                                          \
        (void)state;                                                                           \
        return function(ctx, (const message_record *)message, count);                          \
    }                                                                                          \
    static const pawl_handler function##_pawl_handler = {                                      \
        NULL, PAWL_RECORD_OF(message_record), true, function##_pawl_call, false, #function}

/* ---- Rows --------------------------------------------------------------- */

/* The end of a message that cannot start a saga and finds none (E3). It comes only when no older message
 * is left in the queue, which might have started the saga. */
typedef enum pawl_not_found {
    PAWL_NOT_FOUND_DROP, /* with a warning and a counter */
    PAWL_NOT_FOUND_DEAD, /* dead letter */
    PAWL_NOT_FOUND_CALL, /* the row's `missing` handler */
} pawl_not_found;

/* A custom finder: sets `*id` to the saga that `message` is for, or leaves it zero for none. Any code but PAWL_OK fails
 * the message. A message with a finder runs in a batch of its own (E30). If the message cannot start a saga, "none" is
 * checked: the finder runs again, at once if the queue has no older message, else after a delay (E3). */
typedef pawl_code pawl_find_fn(pawl_context *ctx, const void *message, pawl_saga_id *id);

typedef struct pawl_on {
    const pawl_handler *handle;      /* PAWL_HANDLE(function); NULL ends the list */
    const char         *timeout;     /* a timeout handler: the timeout's name */
    const char         *key;         /* the message's property that finds the saga; "a.b" nests */
    const char    *transitional_key; /* the same for the transitional property; NULL: the key */
    bool           starts;           /* may begin a saga */
    bool           own_sql;          /* runs in a batch of its own, with pawl_sqlite(ctx) ... */
    pawl_not_found not_found;
    const pawl_handler *missing; /* PAWL_NOT_FOUND_CALL: a PAWL_MESSAGE_HANDLER */
    pawl_find_fn       *find;    /* instead of `key` */
    const pawl_effect  *does;    /* PAWL_DOES(...), of `missing` too; NULL: not declared */
} pawl_on;

typedef struct pawl_saga {
    const char     *name;
    const char     *table; /* suffix of the table's name; NULL: the name (D1) */
    pawl_record_fn *state;
    const char     *correlation;  /* property of the state that is unique; NULL: none */
    const char     *transitional; /* a second one, while the first is being replaced */
    const pawl_on  *on;
    /* The row is locked from load to commit, and each message has a batch of its own. A message waits for
     * the lock up to the option `deadline`; then it fails, with retries (S32). MongoDB and the memory store
     * lock no rows, and log a warning at start. */
    bool is_pessimistic;
    /* The stored JSON also has members with default values, for readers of the row with SQL (S25). */
    bool stores_defaults;
    /* How the state is written and read (S26; state_format.h). NULL: the endpoint's. */
    const pawl_state_format *format;
    /* Formats of rows that older versions of the state's record wrote: PAWL_FORMATS(...), by rising
     * `below`, or NULL. `format` reads all other rows. */
    const pawl_state_format *const *older_formats;
    /* Microseconds: `pawl doctor --app` reports sagas without a timeout that were not saved for so long. To tell
     * this, each save writes its time into the row's metadata. 0: no limit, and no such time. */
    int64_t idle_after;
} pawl_saga;

/* Collects messages in the store, by key, until a partition has `size` of them or its period ends; then its handler
 * gets them as one list. Without size and period the size is 10 (E17). Messages of the handler's type and
 * of types derived from it are collected (E9); a row has the handler's type, and in the header
 * pawl.type the message's own type, if that differs. */
typedef struct pawl_aggregator {
    const char         *name;         /* without '/', which stands before a partition's key */
    const pawl_handler *handle;       /* a PAWL_BATCH_HANDLER */
    const char         *key;          /* property of the message: one partition for each value */
    int64_t             size;         /* 0: no flush by size */
    int64_t             max;          /* most messages handed over at once; 0: all that are there */
    int64_t             period;       /* microseconds; 0: none */
    int64_t             lease;        /* microseconds; 0: five minutes */
    int32_t             attempts_max; /* failed flushes before the partition is dead; 0: 10 */
    /* The handler runs in a batch of its own and may write rows with pawl_sqlite(ctx) ...: one commit writes them
     * and removes the messages (E24). Refused on stores without SQL. */
    bool               own_sql;
    const pawl_effect *does; /* PAWL_DOES(...); NULL: not declared */
} pawl_aggregator;

/* A process or an entity (process.h). Its stream has the name "NAME/key", of at most PAWL_STREAM_SIZE_MAX bytes;
 * the key is the value of the message property that the row's .key names. */
struct pawl_process {
    const char     *name;
    pawl_record_fn *state;
    const pawl_on  *on; /* .starts: begins a process; an entity begins with its first event */
    const pawl_apply *const *apply;          /* one for each event that it emits; ends with NULL */
    int64_t                  snapshot_every; /* events between two snapshots; 0: none is stored */
    int32_t                  dispatches_remembered; /* 0: PAWL_DISPATCHES_REMEMBERED */
};

/* A projection reads the events of all streams in global order, each once. Its checkpoint is
 * saved in the commit of its handlers' effects. Of all processes one worker runs it at a time. A handler that
 * fails, with whatever code, is run again for the same event until it succeeds; PAWL_DISCARD skips the event.
 * `pawl projection rebuild` makes it read events again; messages that it sends again have the same ids.
 * Filters do not run. pawl_now is the endpoint's time, under a virtual clock the event's. */
struct pawl_projection {
    const char    *name; /* of its checkpoint, unique in the store: a new name begins anew */
    const pawl_on *on;   /* PAWL_MESSAGE_HANDLERs, one for each event; a row has .handle alone */
    bool    own_sql; /* writes with pawl_sqlite(ctx) ..., in one transaction with the checkpoint */
    int32_t batch;   /* events in one commit; 0: 256 */
    const pawl_effect *does; /* of all its handlers: PAWL_DOES(...); NULL: not declared */
    /* Deletes the rows that its handlers write, or NULL. Runs before the store's first event and in its
     * transaction, at the start and after a rebuild from there. If it fails, that event fails. Needs own_sql. */
    pawl_code (*reset)(pawl_context *ctx);
};

typedef struct pawl_endpoint_spec {
    const char                   *name;
    const char                   *queue;       /* NULL: the name */
    const pawl_saga *const       *sagas;       /* NULL-terminated, or NULL */
    const pawl_on                *handlers;    /* PAWL_MESSAGE_HANDLERs without a saga, or NULL */
    const pawl_aggregator *const *aggregators; /* NULL-terminated, or NULL */
    const pawl_process *const    *processes;   /* likewise; process.h */
    const pawl_entity *const     *entities;
    const pawl_projection *const *projections;
    /* Defaults, which the program that runs the endpoint may override: PAWL_OPTIONS(...) of endpoint.h, or NULL.
     * Numbers, recovery, ordered, audit, routes, user and critical; any other option is PAWL_ECONFIG. */
    const struct pawl_endpoint_options *options;
    const pawl_state_format            *format;    /* of sagas that say none; NULL: plain JSON */
    const pawl_schedule                *schedules; /* PAWL_SCHEDULES(...), or NULL; schedule.h */
} pawl_endpoint_spec;

/* Runs for each message before or after its handlers. `before` may return PAWL_DISCARD: the message counts as
 * handled, no handler runs (E29), and effects of filters are dropped. Any other code but PAWL_OK fails the message. */
typedef pawl_code pawl_filter_fn(pawl_context *ctx, const pawl_message *message, void *context);

typedef struct pawl_filter {
    pawl_filter_fn *before; /* or NULL */
    pawl_filter_fn *after;  /* or NULL; before the effects are kept */
    void           *context;
} pawl_filter;

typedef struct pawl_application {
    uint32_t abi; /* PAWL_ABI */
    uint32_t application_size, endpoint_size, saga_size, on_size, aggregator_size, handler_size,
        filter_size;
    const char                      *name;
    const pawl_endpoint_spec *const *endpoints; /* NULL-terminated */
    const pawl_filter               *filters;   /* ends with an empty row, or NULL */
    uint32_t                         process_size, projection_size, effect_size, schedule_size;
    const char *version; /* of the program, as "2.4.1", for `pawl worker list`; or NULL */
} pawl_application;

/* First in the braces of an initialiser. */
#define PAWL_APPLICATION_HEAD                                                         \
    .abi = PAWL_ABI, .application_size = sizeof(pawl_application),                    \
    .endpoint_size = sizeof(pawl_endpoint_spec), .saga_size = sizeof(pawl_saga),      \
    .on_size = sizeof(pawl_on), .aggregator_size = sizeof(pawl_aggregator),           \
    .handler_size = sizeof(pawl_handler), .filter_size = sizeof(pawl_filter),         \
    .process_size = sizeof(pawl_process), .projection_size = sizeof(pawl_projection), \
    .effect_size = sizeof(pawl_effect), .schedule_size = sizeof(pawl_schedule)

/* Makes a shared object loadable by `pawl run`: PAWL_EXPORT_APPLICATION(orders). */
#define PAWL_EXPORT_APPLICATION(application)                        \
    PAWL_API const pawl_application *pawl_application_export(void); \
    const pawl_application          *pawl_application_export(void)  \
    {                                                               \
        return &(application);                                      \
    }                                                               \
    typedef pawl_application application##_pawl_exported
#define PAWL_APPLICATION_SYMBOL "pawl_application_export"

#ifdef __cplusplus
}
#endif

#include "pawl/lists.h"

#endif
