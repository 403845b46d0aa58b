/* runtime.h - the endpoint, which all rooms of the runtime share, and handles of its store.
 *
 *     endpoint --owns--> workers (a thread and a store handle each), one service, one inbound reader
 *
 * Rooms, each seen by those below it (tests/check_circles.py):
 *
 *     common       clocks, calls of the application's code, store handles, alarms, counts of metrics
 *     ordered      one worker of all processes claims an ordered queue
 *     schedule     schedules as rows of the store
 *     outbox       rows are delivered to other stores and brokers
 *     inbound      messages are taken from a broker
 *     worker       claim, run, commit, retry of what was refused; isolation after a crash
 *     aggregator   collected messages are handed over
 *     projection   events are read for projections
 *     retention    old rows are deleted
 *     operate      health, metrics and traces; can a program read the rows of another version
 *     endpoint     options, threads, start and stop
 *     test_kit     an application's tests
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
#include "runtime/common/clock.h"
#include "runtime/common/metrics.h"
#include "runtime/endpoint/service.h"
#include "runtime/inbound/connection_state.h"
#include "runtime/worker/worker.h"
#include "workflow/model.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

enum { PAWL__FLUSH_REQUESTS_MAX = 64, PAWL__LOST_MAX = 16 };

/* A worker of a closed handle whose row is still in the store; see store_handle.c. */
typedef struct pawl__lost {
    pawl_worker_id worker;
    bool           is_taken; /* a thread is about to end it */
} pawl__lost;

enum { PAWL__OWN_MAX = PAWL_WORKERS_MAX + 2 }; /* the service's, and one that is given up */

/* A request of pawl_endpoint_flush. */
typedef struct pawl__flush_request {
    const pawl__aggregator_model *aggregator;
    char                          partition[PAWL_PARTITION_SIZE_MAX + 1]; /* empty: all */
} pawl__flush_request;

/* The option audit, read: copies of handled messages go by a route of the outbox. Constant once the endpoint is made. */
typedef struct pawl__auditing {
    bool        is_on;
    pawl__audit copies;
    char        machine[HOST_NAME_MAX + 1];
    char       *address; /* owned: URL and queue, the '#' between them is a NUL */
} pawl__auditing;

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
    pawl__inbound_state   inbound_state; /* from a broker, and the intake of step mode */
    pawl__offers          offers;      /* of its messages, from the thread that reads to workers */
    int64_t               service_due; /* step mode: monotonic time of the next check */
    int                   stop_fd;     /* eventfd, readable from stop on */
    pid_t                 process;     /* the one that made the endpoint */
    atomic_bool           is_used;     /* a call of it runs, steps or receives */
    bool                  has_run;     /* by who has it in use: run() began once */
    atomic_bool       is_stopping, had_store; /* had_store: a file that is gone is not made again */
    atomic_bool       has_worked, has_served; /* in run(): a worker, the service */
    _Atomic pawl_time flush_check, flush_full, foreign_check; /* machine times of the next ones */
    pawl_time         begin;                  /* business time at which it was made */
    _Atomic pawl_time strange_due, stuck_due; /* machine times of log lines */
    atomic_bool       is_taken;               /* logged: another process works the queue */
    pthread_mutex_t   mutex;
    size_t            request_count, lost_count; /* under the mutex */
    pawl__lost        lost[PAWL__LOST_MAX];      /* under the mutex */
    pawl_worker_id    own[PAWL__OWN_MAX];        /* under the mutex: its open handles' workers */
    size_t            own_count;
    atomic_uint       workers_made;
    pawl__owners     *owners; /* of sagas; NULL: it has one worker */
    pawl__outlived    outlived;
    pawl__breaker     breaker;
    pawl__queue_pause pause;
    pawl__metrics     metrics;
    /* By pawl__lease_clock, or 0: end of its dispatcher's lease, and of its worker's that leads a queue. */
    _Atomic int64_t lead_end, ordered_end;
    pawl__stopped_time
        stopped_time; /* beats in the thread that watches run(); none under virtual clocks */
    struct pawl__observer *observer; /* the observer that shows the metrics, or NULL */
    pawl_code              failed;   /* under the mutex: the first thread that cannot go on */
    pawl_error             error;
    pawl__outage           outage;                     /* under the mutex */
    uint64_t               sent_to[PAWL__SENT_TO_MAX]; /* under the mutex; see engine_callbacks.c */
    size_t                 sent_to_count;
    int                    users; /* under the mutex: its owner, and threads that run() gave up */
    int                    given_up; /* under the mutex: given up threads that have not come back */
    pthread_mutex_t        asking; /* of what is asked of it; may be held while the store answers */
    pawl_store            *asked;  /* under `asking`: a handle for that; NULL: none is open */
    pawl__isolation        isolation;
    /* Not zeroed, as isolation.known. Under the mutex. */
    pawl__flush_request requests[PAWL__FLUSH_REQUESTS_MAX];
};

/* store_handle.c: PAWL_EINVAL in a process that did not create the endpoint, which is a child of fork(). */
pawl_code pawl__endpoint_process_check(const pawl_endpoint *endpoint, pawl_error *error);
/* A handle as the endpoint's settings want it, with its worker row. */
pawl_code pawl__endpoint_store_open(pawl_endpoint *endpoint, pawl__app_call *app_call,
                                    pawl_store **store, pawl_error *error);
void      pawl__endpoint_store_close(pawl_endpoint *endpoint, pawl__app_call *app_call,
                                     pawl_store **store);
/* A handle without a worker, for commits beside a transaction that is open, or beside a handler that runs.
 * The deadline is the endpoint's at most. */
pawl_code pawl__endpoint_store_open_aside(pawl_endpoint *endpoint, int64_t deadline,
                                          pawl_store **store, pawl_error *error);

/* Tries again to end the workers that could not be ended as their handles were lost. */
void pawl__endpoint_end_lost(pawl_endpoint *endpoint);
/* Whether it is a worker of this process whose row is to be ended: its process did not crash. */
bool pawl__endpoint_is_lost(pawl_endpoint *endpoint, pawl_worker_id worker);

/* Ends workers whose threads were given up, on a handle of its own: their claims are free,
 * and their commits refused from now on. A worker that cannot be ended is logged. */
void pawl__endpoint_end_workers(pawl_endpoint *endpoint, const pawl_worker_id *workers,
                                size_t count);
/* Was the checkpoint of the commit refused? Somebody else moved it: another leader, or an operator. */
static inline bool pawl__refused_checkpoint(const pawl_refusals *refused)
{
    for (size_t i = 0; i < refused->count; i++)
        if (refused->items[i].kind == pawl_change_checkpoint_set)
            return true;
    return false;
}

/* For stores that keep the reason of a wake-up until the handle claims again: a claim saved is a statement saved. Not every
 * server does: pawl__store_is_in_process tells whether a statement goes over a network. */
static inline bool pawl__store_keeps_wake(const pawl_store *store)
{
    return (pawl_store_promises(store) & PAWL_STORE_KEEPS_WAKE) != 0;
}

static inline bool pawl__store_is_in_process(const pawl_store *store)
{
    return (pawl_store_promises(store) & PAWL_STORE_IN_PROCESS) != 0;
}

static inline bool pawl__store_waits_long(const pawl_store *store)
{
    return (pawl_store_promises(store) & PAWL_STORE_WAITS_LONG) != 0;
}

#endif
