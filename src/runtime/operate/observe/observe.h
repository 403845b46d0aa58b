/* observe.h - an observer publishes health, metrics and traces of the endpoints of one store.
 *
 *     join -> { attempts are counted; the module calls answer, next and done } -> leave
 *
 * Endpoints with equal options and the same store share an observer. The first that joins creates it, the last that
 * leaves destroys it.
 *
 *     endpoint --counts--> its own metrics <--reads-- observer <--asks-- module
 *         |                                              |                 HTTP, OTLP
 *         +--spans--> ring ----------------------------->+
 *
 * Threads: join and leave from any; what the module calls from its own.
 * Tests: tests/unit/observe/test_runtime_observe.c, test_runtime_observe_export.c,
 * test_runtime_observe_http.c, test_runtime_observe_module.c, test_span.c, test_otlp.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_OBSERVE_H
#define PAWL_RUNTIME_OBSERVE_H

#include "pawl/observe.h"
#include "runtime/runtime.h"

/* ---- Spans: span.c ---------------------------------------------------------- *
 *
 * A ring buffer of spans that wait for the export to the collector.
 *
 *     put ... put                any thread; false: a span was lost, as the ring is full
 *     lend -> release or again    the one thread that exports
 *
 * A span that is lent stays in its slot until it is released, so that it is read without a copy. In a full ring the
 * oldest span gives way to a new one. While the oldest is lent, the new span is lost. Tries are counted for each span:
 * after an outage of the collector, however long, the spans of the last few exports are still there, if they fit into
 * the ring. */

#define PAWL__SPANS_COUNT_MAX (1 << 20) /* of one ring: a gigabyte */

/* An attempt to deliver an outbox row. */
typedef struct pawl__span {
    pawl__trace          trace;
    uint8_t              parent[8];
    bool                 has_parent;
    uint8_t              tries; /* failed exports */
    pawl_time            begin, end;
    pawl_dispatch_id     dispatch_id;
    pawl_attempt_outcome outcome;
    int32_t              attempt; /* from 1 */
    char                 endpoint[PAWL_NAME_SIZE_MAX + 1];
    char                 destination[PAWL_NAME_SIZE_MAX + 1];
    char                 message_id[PAWL_MESSAGE_ID_SIZE_MAX + 1];
    char                 message_type[PAWL_NAME_SIZE_MAX + 1];
} pawl__span;

typedef struct pawl__spans pawl__spans;

pawl__spans *pawl__spans_create(size_t capacity);     /* NULL: out of memory */
void         pawl__spans_destroy(pawl__spans *spans); /* accepts NULL */
/* Copies the span. `*waiting`: number of spans in the ring. False: the oldest or this span is lost. */
bool pawl__spans_put(pawl__spans *spans, const pawl__span *span, size_t *waiting);
/* Lends the oldest spans, at most count_max, and returns their number. They are contiguous. */
size_t pawl__spans_peek(pawl__spans *spans, size_t count_max, const pawl__span **items);
/* Frees the `count` oldest lent spans; the others stay in the ring. */
void pawl__spans_release(pawl__spans *spans, size_t count);
/* Counts a failed export of each lent span, frees those with `tries_max`, and returns their number. */
size_t pawl__spans_again(pawl__spans *spans, uint8_t tries_max);
size_t pawl__spans_waiting(pawl__spans *spans);

/* Copies a text into a field of a span, cut between characters. */
void pawl__span_name(char *to, size_t size, pawl_text from);

/* ---- The observer --------------------------------------------------------- */

#define PAWL__OBSERVED_MAX 64 /* endpoints of one observer */
#define PAWL__NAMES_SHOWN 100 /* of a kind, each with its own label; all others share one */
#define PAWL__PLACES_MAX (2 * (PAWL__NAMES_SHOWN + 1)) /* queues and projections */

#define PAWL__STORE_IS_LATE "the store does not answer in time"

/* Time limits of one look, which reads a store's health. When the look ends, a read that has begun is finished, and no
 * other begins. Times are monotonic. */
typedef struct pawl__look {
    int64_t            queues_end; /* no further single queue is read */
    int64_t            end;        /* after this time the look has failed */
    const atomic_bool *is_over;    /* set by another thread; or NULL */
} pawl__look;

/* The result of the last look, kept for a moment, so that many requests cost one look. */
typedef struct pawl__store_answer {
    pthread_mutex_t     mutex; /* guards the fields below */
    pthread_cond_t      is_free;
    bool                is_looking; /* a thread looks, without the mutex; it owns the handle */
    pawl__look          look;       /* the look under way, or the last one */
    pawl_store         *store;
    int64_t             due; /* monotonic time of the next look; 0: now */
    bool                has_store;
    pawl_health         health;
    pawl_health         judged; /* health of the last look that succeeded */
    pawl__metrics_view *places; /* queues and projections of the last look, in the arena */
    size_t              place_count;
    pawl_arena         *arena;
} pawl__store_answer;

/* The log lines about one signal; belongs to the thread that exports. */
typedef struct pawl__export {
    pawl_observe_outcome said;
    int64_t              rejected; /* spans or data points since the last line about them */
    int64_t              due;      /* monotonic time of the next such line */
} pawl__export;

typedef struct pawl__observer {
    struct pawl__observer  *next; /* under the mutex of all observers */
    pawl_arena             *arena;
    pawl_observe_options    options; /* texts are in the arena, defaults are filled in */
    const char             *store;
    const char             *system_prefix; /* or NULL */
    int64_t                 deadline;      /* of a look, and of each call in it */
    atomic_bool             is_ending;
    pthread_mutex_t         mutex;
    pawl_endpoint          *endpoints[PAWL__OBSERVED_MAX]; /* under the mutex */
    size_t                  endpoint_count;
    pawl__metrics_view     *left; /* counts of endpoints that left; NULL: none. Under the mutex */
    size_t                  left_count;
    pawl__store_answer      answer;
    pawl__metrics           metrics;    /* of the store and the observer */
    pawl__spans            *spans;      /* NULL without a collector */
    size_t                  lent;       /* spans in the export in flight */
    pawl__export            exports[2]; /* by signal */
    _Atomic uint64_t        ids;
    char                    instance[PAWL_UUID_TEXT_SIZE + 1];
    pawl_time               start;
    pawl_observe_plan       plan;
    const pawl_observe_ops *ops;
    void                   *carrier;
    int                     port; /* of the server, or 0 */
} pawl__observer;

/* Checks the options before a store is opened. PAWL_ECONFIG: joining would refuse them. */
pawl_code pawl__observe_check(const pawl_observe_options *options, pawl_error *error);
/* Joining comes last when an endpoint is made, leaving first when it ends. */
pawl_code pawl__observe_join(pawl_endpoint *endpoint, pawl_error *error);
void      pawl__observe_leave(pawl_endpoint *endpoint);
/* Counts an attempt to deliver the row that has just ended. */
void pawl__observe_attempt(pawl_endpoint *endpoint, const pawl_outbox_row *row,
                           pawl_attempt_outcome outcome, int64_t duration, pawl_time now);

/* Functions that the module calls; `context` is the observer. answers.c: */
void pawl__observe_answer(void *context, pawl_text path, pawl_arena *arena,
                          pawl_observe_answer *answer);
/* export.c: */
bool pawl__observe_next(void *context, pawl_observe_signal signal, pawl_arena *arena,
                        pawl_text *body);
void pawl__observe_done(void *context, pawl_observe_signal signal,
                        const pawl_observe_result *result);

/* Keeps the counts of an endpoint that leaves, for later exports. Under the mutex. */
void pawl__observe_keep(pawl__observer *observer, pawl_endpoint *endpoint);
/* Makes the views: one for each endpoint's name, queue and projection; the last one for the store and the observer. */
pawl__metrics_view *pawl__observe_views(pawl__observer *observer, pawl_arena *arena, size_t *count);
/* Machine time. `*is_virtual`: a virtual clock is in use. */
pawl_time pawl__observe_now(pawl__observer *observer, bool *is_virtual);

/* Interrupts a look under way. If there is a last answer, no other look is begun. */
void pawl__observe_end_look(pawl__observer *observer);
/* Pause after a look, by its duration. */
int64_t pawl__store_answer_pause(int64_t took, bool has_answered);

/* The module's table, loaded once. */
pawl_code pawl__observe_load(const pawl_observe_ops **ops, pawl_error *error);
/* For tests: uses this table in place of the module's; NULL ends that. */
void pawl__observe_load_set(const pawl_observe_ops *ops);

/* figures.c: the time limits of a look that begins now. */
pawl__look pawl__look_begin(int64_t time_max, const atomic_bool *is_over);
/* As pawl_health_query. PAWL_ETIMEOUT, PAWL_EINTERRUPTED: the look ended before. */
pawl_code pawl__health_read(pawl_store *store, const pawl__look *look, pawl_time now,
                            pawl_arena *arena, pawl_health_figures *figures, pawl_error *error);
/* health.c: the health if the store could not be read: unhealthy, for this reason only. */
void pawl__health_of_failure(const char *reason, pawl_health *health);
/* Adds a result, whose reason the caller writes. There must be room. */
pawl_health_result *pawl__health_add(pawl_health *health, const char *name,
                                     pawl_health_state state);
/* Size of a shown name; a longer one is cut and ends with "...". */
#define PAWL__PLACE_SIZE 90
pawl_text pawl__health_place(pawl_text name, char cut[PAWL__PLACE_SIZE]);
/* {"status":"degraded","checks":[{"name":..,"status":..,"reason":..}]} */
pawl_code pawl__health_json(const pawl_health *health, pawl_arena *arena, pawl_text *json);

/* metrics_text.c: the views in Prometheus's text format, version 0.0.4. */
pawl_code pawl__metrics_text(const pawl__metrics_view *views, size_t count, pawl_arena *arena,
                             pawl_text *page);

/* ---- OpenTelemetry: otlp.c --------------------------------------------------- *
 *
 * Writes spans and metrics as JSON of its protocol, and reads the answers of a collector. */

/* The service that exports. */
typedef struct pawl__otlp_source {
    const char *service_name;
    const char *instance; /* unique per process */
    pawl_time   start;    /* begin of the counts */
} pawl__otlp_source;

/* The body of a POST to /v1/traces. PAWL_ENOMEM is the only failure. */
pawl_code pawl__otlp_traces(const pawl__otlp_source *source, const pawl__span *spans, size_t count,
                            pawl_arena *arena, pawl_text *json);
/* The body of a POST to /v1/metrics. Counters are cumulative. */
pawl_code pawl__otlp_metrics(const pawl__otlp_source *source, const pawl__metrics_view *views,
                             size_t count, pawl_time now, pawl_arena *arena, pawl_text *json);

#define PAWL__REJECTED_MAX (1 << 20) /* more than an export can have; larger numbers are invalid */

/* Rejected items of an accepted export. All zero: none. */
typedef struct pawl__otlp_partial {
    int64_t   rejected; /* spans or data points */
    pawl_text message;  /* for people, in the arena of the call */
} pawl__otlp_partial;

/* Reads an answer with a status of success. */
pawl__otlp_partial pawl__otlp_accepted(pawl_observe_signal signal, pawl_text answer,
                                       pawl_arena *arena);
/* The message of a failure answer, in the arena; the whole answer if it does not follow the protocol. */
pawl_text pawl__otlp_refused(pawl_text answer, pawl_arena *arena);

#endif
