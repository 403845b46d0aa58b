/* observe.h - health of a store, and the interface of the module that serves metrics and sends traces.
 *
 *     pawl_observe_options in pawl_endpoint_options -> /livez /readyz /metrics on a
 *                                                      port, OTLP/HTTP to a collector
 *     pawl_health_check                             -> the same health, in your own code
 *     pawl_health_query -> pawl_health_judge         -> the same in two calls, with the figures
 *
 * Metrics are always counted, at the cost of a few additions. Ports and
 * collectors need the module libpawl-observe.so, which is loaded when the options name
 * one. Handling of messages never waits for anything here.
 *
 * Threads: pawl_health_check uses the store handle it is given; the module has
 * threads of its own and a store handle of its own.
 * Tests: tests/unit/observe/test_health.c, test_runtime_metrics.c, test_runtime_observe*.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_OBSERVE_H
#define PAWL_OBSERVE_H

#include "pawl/observe_options.h"
#include "pawl/store.h"
#include "pawl/store_alarm.h"
#include "pawl/store_projection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Health -------------------------------------------------------------- */

typedef enum pawl_health_state {
    PAWL_HEALTHY,
    PAWL_DEGRADED,  /* works, but an operator should check */
    PAWL_UNHEALTHY, /* does not do its work */
} pawl_health_state;

/* "healthy", "degraded", "unhealthy". Static text. */
PAWL_API const char *pawl_health_name(pawl_health_state state);

#define PAWL_HEALTH_CHECKS_MAX 24

typedef struct pawl_health_result {
    const char       *name; /* "outbox_lag", "store": docs/OPERATING.md has all */
    pawl_health_state state;
    int64_t           value;       /* microseconds or rows */
    char              reason[200]; /* empty when healthy */
} pawl_health_result;

typedef struct pawl_health {
    pawl_health_state  state; /* the worst of the checks */
    pawl_health_result checks[PAWL_HEALTH_CHECKS_MAX];
    size_t             check_count;
} pawl_health;

/* Checks the limits. PAWL_EINVAL: the unhealthy limit of a check is below its degraded one. NULL is valid. */
PAWL_API pawl_code pawl_health_options_check(const pawl_health_options *options, pawl_error *error);

/* Figures of a store that pawl_health_judge judges. Zero in a field never makes a check fail. */
typedef struct pawl_health_figures {
    size_t                  figures_size; /* sizeof(pawl_health_figures) */
    const pawl_stats       *stats; /* set by pawl_health_query even when it fails; NULL: all zero */
    const pawl_worker_info *workers; /* alive */
    size_t                  worker_count;
    pawl_time               timeout_first; /* due time of the earliest timeout; 0: there is none */
    pawl_projection_rows    projections;
    int64_t                 clock_offset;    /* of the server and this machine, microseconds */
    int64_t                 transaction_age; /* of the oldest visible open transaction */
    pawl_text               paused; /* the queue with messages that was paused first; or empty */
    pawl_time               paused_since;
    pawl_alarm_rows         alarms; /* raised and not ended, of workers that live */
    /* The longest wait of a message for a program that reads its version: since when, and a text with its queue and
     * both versions; or 0 and empty. */
    pawl_time          version_awaited_since;
    pawl_text          version_awaited;
    pawl_subscriptions subscriptions; /* to "reader:NAME": the endpoint NAME reads the queue */
} pawl_health_figures;

#define PAWL_HEALTH_FIGURES_INIT PAWL__BRACES(PAWL__SET(figures_size, sizeof(pawl_health_figures)))

/* Reads the figures into the arena. `now` is machine time. A list that the store's driver cannot read
 * stays empty. The handle's deadline limits each read, and the time after which no further read begins. `paused` and
 * `version_awaited` are read queue by queue, for half of that time: with very many queues not all are read.
 *
 * PAWL_ETIMEOUT  the reads together took longer than the deadline
 * PAWL_EINVAL    `figures` does not begin with PAWL_HEALTH_FIGURES_INIT
 * Others         what the store answered */
PAWL_API pawl_code pawl_health_query(pawl_store *store, pawl_time now, pawl_arena *arena,
                                     pawl_health_figures *figures, pawl_error *error);
/* Judges the figures; reads nothing. NULL options: all defaults. An unhealthy limit below the degraded one, which
 * pawl_health_check refuses, takes precedence here. */
PAWL_API void pawl_health_judge(const pawl_health_figures *figures,
                                const pawl_health_options *options, pawl_time now,
                                pawl_health *health);
/* How late the earliest timeout is, microseconds; 0 when none is due. */
PAWL_API int64_t pawl_health_timeout_late(const pawl_health_figures *figures, pawl_time now);
/* How many live workers belong to the endpoint that reads the queue: the endpoint NAME of a subscription to
 * "reader:NAME", else the endpoint with the queue's name. */
PAWL_API size_t pawl_health_readers(const pawl_health_figures *figures, pawl_text queue);

/* Queries the store and judges (O23). `now` is machine time; NULL options: all
 * defaults. `*health` is written on failure, too.
 *
 * PAWL_EINVAL  the unhealthy limit is below the degraded one.
 * Others       what the store answered; health is then unhealthy and its check
 *              "store" says why. */
PAWL_API pawl_code pawl_health_check(pawl_store *store, const pawl_health_options *options,
                                     pawl_time now, pawl_health *health, pawl_error *error);

/* ---- The module ------------------------------------------------------------ */

/* The answer to a request. */
typedef struct pawl_observe_answer {
    int         status;
    const char *content_type; /* static */
    pawl_text   body;         /* in the arena of the call */
} pawl_observe_answer;

typedef enum pawl_observe_signal {
    PAWL_OBSERVE_TRACES,  /* POST .../v1/traces */
    PAWL_OBSERVE_METRICS, /* POST .../v1/metrics */
} pawl_observe_signal;

typedef enum pawl_observe_outcome {
    PAWL_OBSERVE_ACCEPTED,
    PAWL_OBSERVE_AGAIN,   /* to be sent again later */
    PAWL_OBSERVE_REFUSED, /* not to be sent again */
} pawl_observe_outcome;

#define PAWL_OBSERVE_ANSWER_SIZE_MAX \
    16384 /* enough for a message about each span of a large export */

/* How a POST ended. */
typedef struct pawl_observe_result {
    pawl_observe_outcome outcome;
    const char          *why;    /* for the log: "it answers with status 400" */
    pawl_text            answer; /* the collector's, cut at the limit above; may be empty */
} pawl_observe_result;

/* Functions of the library that the module calls, from any thread; `next` and `done` of one signal
 * from one thread at a time. */
typedef struct pawl_observe_source {
    void *context;
    /* The page at `path`; a page of status 404 when there is none. */
    void (*answer)(void *context, pawl_text path, pawl_arena *arena, pawl_observe_answer *answer);
    /* Sets `*body` to the JSON to send next, in the arena; false: none for now. After true the module sends it and
     * calls `done`, which borrows the result for the call. */
    bool (*next)(void *context, pawl_observe_signal signal, pawl_arena *arena, pawl_text *body);
    void (*done)(void *context, pawl_observe_signal signal, const pawl_observe_result *result);
} pawl_observe_source;

typedef struct pawl_observe_plan {
    pawl_observe_source source;
    const char         *address; /* of the server */
    int                 port;    /* 0: none; or PAWL_OBSERVE_PORT_ANY */
    const char         *otlp;    /* or NULL; no '/' at its end */
    int64_t             period;  /* between two exports, microseconds */
} pawl_observe_plan;

/* ---- Pages of another kind: the console's ----------------------------------- */

/* A name and its value, both ended by a NUL: a header, an argument of a query. */
typedef struct pawl_serve_pair {
    const char *name;
    const char *value; /* never NULL */
} pawl_serve_pair;

/* A request. All of it lives for the call. */
typedef struct pawl_serve_request pawl_serve_request;
struct pawl_serve_request {
    const char            *method;
    const char            *path;      /* percent escapes are decoded; without the query */
    const pawl_serve_pair *arguments; /* of the query, decoded */
    size_t                 argument_count;
    pawl_text              body;
    /* The body is larger than the plan allows, and empty here; or there are more than 64 arguments. For a body of more
     * than 64 KB, `answer` is called first with its first 64 KB and this flag. If it answers with status 413, the module
     * reads the rest and calls `answer` again; any other status ends the request. */
    bool        is_too_large;
    const char *user, *password; /* of basic authentication, or NULL */
    /* The value of a header, or NULL. */
    const char *(*header)(const pawl_serve_request *request, const char *name);
    void *connection; /* the module's */
};

typedef struct pawl_serve_answer {
    int                    status;
    const char            *content_type; /* static */
    pawl_text              body;         /* in the arena of the call, or static */
    const pawl_serve_pair *headers;      /* likewise */
    size_t                 header_count;
    bool                   is_stream; /* `read` supplies the body, until it ends the stream */
} pawl_serve_answer;

typedef struct pawl_serve_plan {
    void *context;
    /* Answers one request. Called from several threads at once. */
    void (*answer)(void *context, const pawl_serve_request *request, pawl_arena *arena,
                   pawl_serve_answer *answer);
    /* Writes the next bytes of a stream into `buffer`, `size` at most, and returns their number; may block; -1 ends the
     * stream. `*state` is 0 at the first call, then the callee's. A last call with buffer NULL frees the state. */
    long (*read)(void *context, uint64_t *state, char *buffer, size_t size);
    const char *address; /* numeric */
    int         port;    /* PAWL_OBSERVE_PORT_ANY: a free one */
    size_t      body_size_max;
} pawl_serve_plan;

typedef struct pawl_observe_ops {
    size_t ops_size; /* sizeof(pawl_observe_ops) */
    /* Starts the server and the exports. Borrows the plan until stop. `*port` is the port that listens, 0: none.
     * After a failure nothing is left running, and stop is not called. PAWL_ECONFIG: the address
     * is invalid or the port is in use. */
    pawl_code (*start)(const pawl_observe_plan *plan, void **carrier, int *port, pawl_error *error);
    /* Has waiting traces sent before the period is over. Never blocks. */
    void (*wake)(void *carrier);
    /* Finishes requests in flight, and sends waiting exports if that takes no longer than about a
     * second. Functions of the source are not called afterwards. */
    void (*stop)(void *carrier);
    /* Starts a server of pages. Borrows the plan until serve_stop. Errors as of start. */
    pawl_code (*serve)(const pawl_serve_plan *plan, void **server, int *port, pawl_error *error);
    /* Stops a server after its calls of `answer` have returned; `read` must have ended its streams before. */
    void (*serve_stop)(void *server);
} pawl_observe_ops;

/* The module libpawl-observe.so exports a `const pawl_observe_ops` of this name. */
#define PAWL_OBSERVE_MODULE_SYMBOL "pawl_observe_module"

#ifdef __cplusplus
}
#endif
#endif
