/* observe.h - an observer shows the endpoints of one store to the outside.
 *
 *     join -> { attempts are counted; answer, next and done are called } -> leave
 *
 * Endpoints with equal options and the same store share an observer. It begins with
 * the first that joins and ends with the last that leaves.
 *
 *     endpoint --counts--> its own metrics <--reads-- observer <--asks-- module
 *         |                                              |                 HTTP, OTLP
 *         +--spans--> ring ----------------------------->+
 *
 * Threads: join and leave from any; what the module calls from its own.
 * Tests: tests/unit/observe/test_runtime_observe.c, test_runtime_observe_export.c,
 * test_runtime_observe_http.c, test_runtime_observe_module.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_OBSERVE_H
#define PAWL_RUNTIME_OBSERVE_H

#include "pawl/observe.h"
#include "runtime/operate/observe/span.h"
#include "runtime/runtime.h"

#define PAWL__OBSERVED_MAX 64 /* endpoints of one observer */
#define PAWL__NAMES_SHOWN 100 /* of a kind, with a label of their own; the others are one */
#define PAWL__PLACES_MAX (2 * (PAWL__NAMES_SHOWN + 1)) /* queues and projections */

#define PAWL__STORE_IS_LATE "the store does not answer in time"

/* How long a look at a store may take: a read that is under way is waited for, and no other one is begun.
 * Times are monotonic. */
typedef struct pawl__look {
    int64_t            queues_end; /* no further queue is read for itself */
    int64_t            end;        /* the look has failed */
    const atomic_bool *is_over;    /* set by another thread; or NULL */
} pawl__look;

/* The store's last answer, good for a moment, so that many requests cost one look. */
typedef struct pawl__store_answer {
    pthread_mutex_t mutex; /* guards the fields below */
    pthread_cond_t  is_free;
    bool        is_looking; /* a thread asks the store, without the mutex: the handle is its own */
    pawl__look  look;       /* the one under way, or the last */
    pawl_store *store;
    int64_t     due; /* monotonic time of the next look; 0: now */
    bool        has_store;
    pawl_health health;
    pawl_health judged;         /* the last health that the store gave */
    pawl__metrics_view *places; /* queues and projections of the last look, in the arena */
    size_t              place_count;
    pawl_arena         *arena;
} pawl__store_answer;

/* The log lines about one signal; belongs to the thread that exports. */
typedef struct pawl__export {
    pawl_observe_outcome said;
    int64_t              rejected; /* spans or data points, since the last line about them */
    int64_t              due;      /* of the next such line: monotonic time */
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

/* PAWL_ECONFIG: joining would refuse the options. Asked before a store is opened. */
pawl_code pawl__observe_check(const pawl_observe_options *options, pawl_error *error);
/* Joining comes last when an endpoint is made, leaving first when it ends. */
pawl_code pawl__observe_join(pawl_endpoint *endpoint, pawl_error *error);
void      pawl__observe_leave(pawl_endpoint *endpoint);
/* An attempt to deliver the row, as claimed, came to this outcome just now. */
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

/* Keeps the counts of an endpoint that leaves, for the exports to come. Under the mutex. */
void pawl__observe_keep(pawl__observer *observer, pawl_endpoint *endpoint);
/* Views: one for each endpoint's name, queue and projection, and the last one for the store and the observer. */
pawl__metrics_view *pawl__observe_views(pawl__observer *observer, pawl_arena *arena, size_t *count);
/* Machine time; is it a virtual clock's? */
pawl_time pawl__observe_now(pawl__observer *observer, bool *is_virtual);

/* Ends a look that is under way; when the last answer is there, none is begun afterwards. */
void pawl__observe_end_look(pawl__observer *observer);
/* The time until the next look after one that took so long. */
int64_t pawl__store_answer_pause(int64_t took, bool has_answered);

/* module.c: the module's table, loaded once. */
pawl_code pawl__observe_load(const pawl_observe_ops **ops, pawl_error *error);
/* For tests: this table instead of the module's; NULL takes it back. */
void pawl__observe_load_set(const pawl_observe_ops *ops);

/* figures.c: a look that begins now. */
pawl__look pawl__look_begin(int64_t time_max, const atomic_bool *is_over);
/* As pawl_health_query. PAWL_ETIMEOUT, PAWL_EINTERRUPTED: the look ended before. */
pawl_code pawl__health_read(pawl_store *store, const pawl__look *look, pawl_time now,
                            pawl_arena *arena, pawl_health_figures *figures, pawl_error *error);
/* health.c: the store could not be asked: unhealthy for this reason alone. */
void pawl__health_of_failure(const char *reason, pawl_health *health);
/* Adds a result; its reason is the caller's to write. There must be room. */
pawl_health_result *pawl__health_add(pawl_health *health, const char *name,
                                     pawl_health_state state);
/* The name, or the start of a long one and "...": a reason says more than the name. */
#define PAWL__PLACE_SIZE 90
pawl_text pawl__health_place(pawl_text name, char cut[PAWL__PLACE_SIZE]);
/* {"status":"degraded","checks":[{"name":..,"status":..,"reason":..}]} */
pawl_code pawl__health_json(const pawl_health *health, pawl_arena *arena, pawl_text *json);

/* metrics_text.c: all of it in Prometheus's text format, version 0.0.4. */
pawl_code pawl__metrics_text(const pawl__metrics_view *views, size_t count, pawl_arena *arena,
                             pawl_text *page);

#endif
