/* runtime.h - types and functions that the files of the runtime share.
 *
 *     endpoint --owns--> workers (a thread and a store handle each)
 *     worker: batches of messages and timeouts, aggregator flushes
 *     service: outbox runner, retention, reaping; run by the first worker in
 *              step mode, by a thread of its own in run()
 *
 * Threads: an endpoint's settings and model are constant after creation; a worker and a service
 * belong to one thread each; shared fields are in pawl_endpoint under its mutex.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_H
#define PAWL_RUNTIME_H

#include "engine/batch.h"
#include "pawl/loop.h"
#include "pawl/transport.h"
#include "runtime/common/alarm.h"
#include "runtime/common/app_call.h"
#include "runtime/common/metrics.h"
#include "runtime/common/stopped_time.h"
#include "runtime/endpoint/audit.h"
#include "runtime/inbound/connection_state.h"
#include "runtime/outbox/state.h"
#include "runtime/worker/breaker.h"
#include "runtime/worker/direct_batch.h"
#include "runtime/worker/isolation/isolation.h"
#include "runtime/worker/outlived_claims.h"
#include "runtime/worker/queue_pause.h"
#include "runtime/worker/saga_owners.h"
#include "workflow/model.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PAWL__ROUTES_MAX = 64, PAWL__FLUSH_REQUESTS_MAX = 64, PAWL__LOST_MAX = 16 };
enum { PAWL__OWN_MAX = PAWL_WORKERS_MAX + 2 }; /* the service's, and one that is given up */

/* A request of pawl_endpoint_flush. */
typedef struct pawl__flush_request {
    const pawl__aggregator_model *aggregator;
    char                          partition[PAWL_PARTITION_SIZE_MAX + 1]; /* empty: all */
} pawl__flush_request;

#define PAWL__SENT_TO_MAX 64 /* destinations looked up for their endpoints */

/* An outage that keeps threads of run() from their work; as a rule one cause for all. */
typedef struct pawl__outage {
    int       threads; /* number of threads that meet it */
    int64_t   since;
    pawl_code told;     /* the last code logged */
    int64_t   told_due; /* time of the next line */
} pawl__outage;

struct pawl_endpoint {
    pawl_endpoint_options settings; /* defaults filled in */
    bool                  is_test;  /* of the test kit */
    pawl__model          *model;
    pawl_route            routes[PAWL__ROUTES_MAX];
    size_t                route_count;
    pawl__recovery        recovery;
    struct pawl__worker  *worker;  /* of step mode, and of the first thread of run() */
    struct pawl__service *service; /* of step mode */
    pawl__auditing        auditing;
    pawl__reading         reading;     /* from a broker, and the intake of step mode */
    pawl__handover        handover;    /* of its messages, from the thread that reads to workers */
    int64_t               service_due; /* step mode: monotonic time of the next check */
    int                   stop_fd;     /* eventfd, readable from stop on */
    atomic_bool           is_stopping, had_store;     /* opened once: it is not made again */
    atomic_bool           has_worked, has_served;     /* in run(): a worker, the service */
    _Atomic pawl_time     flush_check, foreign_check; /* machine times of the next ones */
    pawl_time             begin;                      /* business time at which it was made */
    _Atomic pawl_time     strange_due, stuck_due;     /* machine times of log lines */
    atomic_bool           is_taken;                   /* logged: another process works the queue */
    pthread_mutex_t       mutex;
    pawl__flush_request   requests[PAWL__FLUSH_REQUESTS_MAX]; /* under the mutex */
    size_t                request_count, lost_count;
    pawl_worker_id        lost[PAWL__LOST_MAX]; /* under the mutex; see store_handle.c */
    pawl_worker_id        own[PAWL__OWN_MAX];   /* under the mutex: its open handles' workers */
    size_t                own_count;
    atomic_uint           workers_made;
    pawl__owners         *owners; /* of sagas; NULL: it has one worker */
    pawl__outlived        outlived;
    pawl__deaths          crashes;
    pawl__breaker         breaker;
    pawl__pause           pause;
    pawl__metrics         metrics;
    /* By pawl__lease_clock, or 0: end of its runner's lease, and of its worker's that leads a queue. */
    _Atomic int64_t lead_end, ordered_end;
    pawl__pulse     pulse; /* beats in the thread that watches run(); none under virtual clocks */
    struct pawl__observer *observer; /* the observer that shows the metrics, or NULL */
    pawl_code              failed;   /* under the mutex: the first thread that cannot go on */
    pawl_error             error;
    pawl__outage           outage;       /* under the mutex */
    uint64_t sent_to[PAWL__SENT_TO_MAX]; /* under the mutex; see unread_destinations.c */
    size_t   sent_to_count;
    int      users;    /* under the mutex: its owner, and threads that run() gave up */
    int      given_up; /* under the mutex: given up threads that have not come back */
};

/* clock.c */
pawl_time pawl__business_now(const pawl_endpoint *endpoint);
pawl_time pawl__machine_now(const pawl_endpoint *endpoint);
int64_t   pawl__monotonic_now(void); /* microseconds; for durations only */
int64_t   pawl__lease_now(void);     /* microseconds; passes while the machine sleeps, too */
int64_t   pawl__watch_now(const pawl_endpoint *endpoint); /* cheap; for durations of seconds */
uint64_t  pawl__system_seed(void);

/* options.c: checks, fills in defaults, takes the routes. */
pawl_code         pawl__settings_take(pawl_endpoint *endpoint, const pawl_application *application,
                                      const char *name, const pawl_endpoint_options *options,
                                      pawl_error *error);
const pawl_route *pawl__route_find(const pawl_endpoint *endpoint, pawl_text name);
/* Do messages for the route go by the outbox? */
static inline bool pawl__route_is_remote(const pawl_route *route)
{
    return route->url != NULL || route->outbound != NULL || route->is_outbox;
}

/* observe/observe.c: joining comes last when an endpoint is made, leaving first when it ends. */
pawl_code pawl__observe_join(pawl_endpoint *endpoint, pawl_error *error);
void      pawl__observe_leave(pawl_endpoint *endpoint);
/* An attempt to deliver the row, as claimed, came to this outcome just now. */
void pawl__observe_attempt(pawl_endpoint *endpoint, const pawl_outbox_row *row,
                           pawl_attempt_outcome outcome, int64_t duration, pawl_time now);

/* store_handle.c: a handle as the endpoint's settings want it, with its worker row. */
pawl_code pawl__endpoint_store_open(pawl_endpoint *endpoint, pawl__hand *hand, pawl_store **store,
                                    pawl_error *error);
void      pawl__endpoint_store_close(pawl_endpoint *endpoint, pawl__hand *hand, pawl_store **store);
/* A handle without a worker, for commits beside a transaction that is open, or beside a handler that runs.
 * The deadline is the endpoint's at most. */
pawl_code pawl__endpoint_store_open_aside(pawl_endpoint *endpoint, int64_t deadline,
                                          pawl_store **store, pawl_error *error);

/* A server whose statements are worth saving: a wait lasts until a commit writes something for this
 * handle, and the wake-up is kept until the next claim. */
static inline bool pawl__store_is_server(const pawl_store *store)
{
    return (pawl_store_promises(store) & PAWL_STORE_KEEPS_WAKE) != 0;
}

/* ---- Workers ---------------------------------------------------------------- */

/* A partition that a commit added to. */
typedef struct pawl__added {
    const pawl__aggregator_model *aggregator;
    pawl_text                     partition;
} pawl__added;

typedef struct pawl__worker {
    pawl_endpoint     *endpoint;
    pawl__hand         own_hand;
    pawl__hand        *hand;  /* own_hand, or that of the service whose events it reads */
    pawl_store        *store; /* NULL after a failure; opened again by the next step */
    pawl_random        random;
    pawl__engine       engine;
    pawl__batch       *batch;
    pawl_arena        *kept; /* rows of refused units while the batch is reset */
    pawl_arena        *read; /* subscriptions, flush rows and the like, for one step */
    pawl_subscriptions subscriptions;
    bool               has_subscriptions; /* loaded for this step */
    int64_t            batch_end;         /* monotonic time at which handlers have to stop */
    size_t             claim_count;       /* messages to claim next: see claim.c */
    size_t             batch_max;         /* units of a batch; fewer after memory was short */
    pawl_time          short_until;       /* machine time until which batch_max does not grow */
    size_t             cut_count;         /* messages of a claim that their size ended, or 0 */
    pawl_time          virtual_now;       /* business time of the last unit */
    pawl_time          flush_check; /* machine time of the next check of all partitions, unless
                                           another worker makes it; PAWL_TIME_MIN: its first */
    bool               has_check;   /* this step makes that check */
    pawl_time          flush_due;   /* business time of the next known period end */
    pawl_time          foreign_due; /* of the next known foreign timeout */
    int                wake_fd;
    bool               is_checking; /* the next step only checks the partitions */
    bool               has_turn,
        has_unsure;  /* isolation.h: this step runs all alone; a partition may have killed */
    bool is_careful; /* isolation.h: a batch of this step is stamped */
    struct pawl__alone
                 *care; /* stamped_batch.c: streams of the batch's timeouts; NULL: without care */
    int64_t      *left_out; /* messages of the claim that are not in the batch */
    size_t        left_out_count;
    pawl__met     met;          /* stamp.c */
    bool          has_left_out; /* something was given back, or left out: not all has passed */
    int64_t       dispatched;   /* outbox rows committed since the last delivery */
    pawl_counters correction;   /* counts of refused groups, to be taken back */
    bool          was_alone;    /* the last batch had a unit that runs alone */
    pawl__added  *added;        /* partitions added to in this step */
    size_t        added_count, added_capacity;
    struct pawl__deferred *deferred; /* sends "now" that leave with the next commit */
    pawl_store            *aside;    /* a handle that commits them at once beside a hold; or NULL */
    pawl__hot_saga         hot[PAWL__HOT_MAX];
    size_t                 hot_count;
    pawl_time              hot_until;    /* machine time: the last of all */
    pawl__owned            owned;        /* sagas of this step */
    int32_t                stream_backs; /* commits in a row in which a stream was refused */
    int32_t                way_backs;    /* batches in a row of which all sagas were elsewhere */
    bool                   gave_way;     /* in this step: all its sagas are elsewhere */
    int64_t                pause_end;    /* monotonic time before which it claims nothing, or 0 */
    pawl__breaker_part     breaker;
    pawl__direct           direct;
    pawl__longest          longest; /* of the batch that runs, or ran last */
    struct pawl__ordered  *ordered; /* of an ordered endpoint: ordered.h; else NULL */
} pawl__worker;

pawl_code pawl__worker_create(pawl_endpoint *endpoint, pawl__worker **worker, pawl_error *error);
void      pawl__worker_destroy(pawl__worker *worker); /* accepts NULL */
/* Commits deferred sends and counts, and closes the store handle. */
void pawl__worker_leave(pawl__worker *worker);
/* Opens the store handle if it is not open, and registers for wake-ups. */
pawl_code pawl__worker_open(pawl__worker *worker, pawl_error *error);
/* endpoint.c: PAWL_EINVAL unless `step` is NULL or begins with PAWL_STEP_INIT. */
pawl_code pawl__step_check(const pawl_step *step, pawl_error *error);
/* One batch or one round of flushes. A failure closes the store handle, which gives back its
 * claims; so does, with PAWL_OK, a shortage of memory after which batches are smaller. With
 * is_checking nothing is claimed; a wake-up meanwhile takes is_checking back. */
pawl_code pawl__worker_step(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* thread_loops.c: begin, load, run, commit; refused units again, one by one, to an end. Adds to `step`. */
pawl_code pawl__worker_finish(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* commit.c: takes the counts of refused groups back from the store, when no commit that does follows. */
pawl_code pawl__worker_correct(pawl__worker *worker, pawl_error *error);
/* clock.c: sets the engine's clocks for the next batch. */
void pawl__worker_clocks(pawl__worker *worker, pawl_time business_now);

/* grown_partitions.c: notes the partitions that the commit just made added to. */
pawl_code pawl__added_note(pawl__worker *worker, pawl_error *error);
/* flush.c */
/* Flushes by size the partitions that were noted. */
pawl_code pawl__flush_after_commit(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* Flushes partitions whose periods ended, retries, partitions that a crash left full, and requests.
 * `*did`: something was handed over. */
pawl_code pawl__flush_due(pawl__worker *worker, pawl_time due_max, bool *did, pawl_step *step,
                          pawl_error *error);
/* Is a check of the partitions due? */
bool pawl__flush_is_due(pawl__worker *worker, pawl_time business_now);

/* ---- Service ------------------------------------------------------------------ */

typedef struct pawl__service {
    pawl_endpoint            *endpoint;
    pawl__hand                hand;
    pawl_store               *store; /* borrowed from the worker in step mode */
    bool                      owns_store;
    pawl__alarm               sweep_alarm, route_alarm;
    pawl_random               random;
    pawl_arena               *arena;
    pawl__sink                sinks[PAWL__ROUTES_MAX];
    pawl_arena               *names;
    pawl__sources             waiting; /* sources behind a row that is tried again */
    pawl__away                away;
    bool                      is_leader;
    pawl_text                 lease_name;
    pawl_time                 lease_renewal; /* machine time */
    int64_t                   lease_end;     /* by pawl__lease_now */
    int64_t                   delivery_time; /* of the sinks' slow calls lately */
    int64_t                   answered;      /* time of the store's last answer that it leads */
    int64_t                   number;        /* of the leader, in the store: see outbox/leader.c */
    pawl_time                 arrival;       /* business time of the last call of a sink */
    int64_t                   term;          /* number of its take-overs */
    pawl_time                 orphans_due;   /* machine time of the next check of held rows */
    pawl_time                 outbox_due;    /* machine time of the next check of the outbox */
    pawl_time                 outbox_retry;  /* of the next row that waits; PAWL_TIME_MAX */
    pawl_time                 last_now;      /* machine time of the last step */
    pawl_time                 sweep_due, reap_due;
    pawl_sweep_cursor         bodies_cursor;
    int                       sweep_failures; /* in a row */
    struct pawl__projections *projections;    /* NULL: the endpoint has none */
} pawl__service;

/* alarm.c: tells the store for others what fails, and does not any more, unless it says so already. */
void      pawl__service_alarms_tell(pawl__service *service);
pawl_code pawl__service_create(pawl_endpoint *endpoint, pawl_store *borrowed,
                               pawl__service **service, pawl_error *error);
/* Closes what is open: sinks, and its own store. */
void      pawl__service_leave(pawl__service *service);
void      pawl__service_destroy(pawl__service *service); /* accepts NULL */
pawl_code pawl__service_step(pawl__service *service, pawl_step *step, pawl_error *error);
/* Machine time of the next step that has something to do. */
pawl_time pawl__service_due(const pawl__service *service);

/* outbox/leader.c: does the runner of the endpoint lead now? From any thread. */
bool pawl__leader_is(const pawl_endpoint *endpoint);

/* outbox/round.c */
pawl_code pawl__outbox_run(pawl__service *service, pawl_step *step, pawl_error *error);
void      pawl__outbox_close(pawl__service *service);
/* Forgets that it leads: after the store handle was lost. */
void pawl__outbox_forget(pawl__service *service);

/* endpoint.c: pawl_endpoint_create. `is_test`: handlers with SQL of their own may be on a store
 * without. */
pawl_code pawl__endpoint_create(const pawl_application *application, const char *name,
                                const pawl_endpoint_options *options, bool is_test,
                                pawl_endpoint **endpoint, pawl_error *error);

#endif
