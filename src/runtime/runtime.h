/* runtime.h - defines the endpoint, which all folders ("rooms") of the runtime share, and opens its store handles.
 *
 *     endpoint --owns--> workers (a thread and a store handle each), one service, one inbound reader
 *
 * A room may use those above it in this list (tests/check_circles.py):
 *
 *     common       clocks, calls of the application's code, store handles, alarms, counts of metrics
 *     ordered      elects the one worker, among all processes, that claims an ordered queue
 *     schedule     keeps schedules as rows of the store
 *     outbox       delivers rows to other stores and brokers
 *     inbound      takes messages from a broker
 *     worker       claim, run, commit, retry of refused units; isolation after a crash
 *     aggregator   passes collected messages to their handlers
 *     projection   reads events for projections
 *     retention    deletes old rows
 *     operate      health, metrics and traces; checks that this program can read stored rows
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

/* A worker whose handle was closed while its row stayed in the store; see store_handle.c. */
typedef struct pawl__lost {
    pawl_worker_id worker;
    bool           is_taken; /* a thread is ending it */
} pawl__lost;

enum { PAWL__OWN_MAX = PAWL_WORKERS_MAX + 2 }; /* workers, service, one given up */

/* A request of pawl_endpoint_flush. */
typedef struct pawl__flush_request {
    const pawl__aggregator_model *aggregator;
    char                          partition[PAWL_PARTITION_SIZE_MAX + 1]; /* empty: all */
} pawl__flush_request;

/* The parsed option audit: copies of handled messages go to a route of the outbox. Constant after creation. */
typedef struct pawl__auditing {
    bool        is_on;
    pawl__audit copies;
    char        machine[HOST_NAME_MAX + 1];
    char       *address; /* owned: URL and queue, with NUL in place of the '#' between them */
} pawl__auditing;

#define PAWL__SENT_TO_MAX 64 /* destinations checked once for an endpoint that reads them */

/* An outage that stops threads of run(). Threads share this record, as they usually have one common cause. */
typedef struct pawl__outage {
    int       threads; /* number of threads it stops */
    int64_t   since;
    pawl_code logged_code; /* the code logged last */
    int64_t   log_due;     /* time of the next line */
} pawl__outage;

struct pawl_endpoint {
    pawl_endpoint_options settings; /* defaults filled in */
    bool                  is_test;  /* made by the test kit */
    pawl__model          *model;
    pawl_route            routes[PAWL__ROUTES_MAX];
    size_t                route_count;
    pawl__recovery        recovery;
    struct pawl__worker  *worker;  /* of step mode, and of the first thread of run() */
    struct pawl__service *service; /* of step mode */
    pawl__auditing        auditing;
    pawl__inbound_state   inbound_state; /* the broker's connection; the intake of step mode */
    pawl__offers          offers; /* broker messages that the reading thread offers to workers */
    int64_t               service_due;        /* step mode: monotonic time of the next check */
    int                   stop_fd;            /* eventfd, readable from stop on */
    pid_t                 process;            /* creator of the endpoint */
    atomic_bool           is_used;            /* a run, step or receive call is under way */
    bool                  has_run;            /* run() was called before; guarded by is_used */
    atomic_bool       is_stopping, had_store; /* had_store: a deleted file is not created again */
    atomic_bool       has_worked, has_served; /* in run(): a worker or the service ran a step */
    _Atomic pawl_time flush_check, flush_full, foreign_check; /* machine times of the next checks */
    pawl_time         begin;                                  /* business time of its creation */
    _Atomic pawl_time clock_log_due, stuck_due; /* machine times of the next log lines */
    atomic_bool       is_taken;                 /* logged: another process works the queue */
    pthread_mutex_t   mutex;
    size_t            request_count, lost_count; /* under the mutex */
    pawl__lost        lost[PAWL__LOST_MAX];      /* under the mutex */
    pawl_worker_id    own[PAWL__OWN_MAX];        /* under the mutex: workers of its open handles */
    size_t            own_count;
    atomic_uint       workers_made;
    pawl__owners     *owners; /* of sagas; NULL with one worker */
    pawl__outlived    outlived;
    pawl__breaker     breaker;
    pawl__queue_pause pause;
    pawl__metrics     metrics;
    /* By pawl__lease_clock, 0 without a lease: when the leases of the outbox dispatcher and of the ordered queue
     * end. */
    _Atomic int64_t        lead_end, ordered_end;
    pawl__stopped_time     stopped_time; /* measured by the thread that watches run() */
    struct pawl__observer *observer;     /* the observer that shows the metrics, or NULL */
    pawl_code       failed; /* under the mutex: code of the first thread that stopped for good */
    pawl_error      error;
    pawl__outage    outage;                     /* under the mutex */
    uint64_t        sent_to[PAWL__SENT_TO_MAX]; /* under the mutex; see engine_callbacks.c */
    size_t          sent_to_count;
    int             users; /* under the mutex: references, of its owner and of given up threads */
    int             given_up; /* under the mutex: given up threads still running */
    pthread_mutex_t asking;   /* guards `asked`; may be held during a store call */
    pawl_store     *asked;    /* handle for queries of the application; NULL: not open */
    pawl__isolation isolation;
    /* Not zeroed at creation (nor is isolation.known). Under the mutex. */
    pawl__flush_request requests[PAWL__FLUSH_REQUESTS_MAX];
};

/* store_handle.c: PAWL_EINVAL in a process that did not create the endpoint, which is a child of fork(). */
pawl_code pawl__endpoint_process_check(const pawl_endpoint *endpoint, pawl_error *error);
/* Opens a handle with the endpoint's settings and adds its worker row. */
pawl_code pawl__endpoint_store_open(pawl_endpoint *endpoint, pawl__app_call *app_call,
                                    pawl_store **store, pawl_error *error);
void      pawl__endpoint_store_close(pawl_endpoint *endpoint, pawl__app_call *app_call,
                                     pawl_store **store);
/* Opens a handle without a worker, for commits while a transaction or a handler runs on the worker's own handle.
 * The deadline is capped by the endpoint's. */
pawl_code pawl__endpoint_store_open_aside(pawl_endpoint *endpoint, int64_t deadline,
                                          pawl_store **store, pawl_error *error);

/* Ends the workers remembered as lost: their connection broke before their row could be deleted. */
void pawl__endpoint_end_lost(pawl_endpoint *endpoint);
/* Is it a worker of this process that is remembered as lost? Then its old row does not mean a crash. */
bool pawl__endpoint_is_lost(pawl_endpoint *endpoint, pawl_worker_id worker);

/* Ends workers whose threads were given up, on a separate handle: releases their claims, and later commits of them are
 * refused. A worker that cannot be ended is logged. */
void pawl__endpoint_end_workers(pawl_endpoint *endpoint, const pawl_worker_id *workers,
                                size_t count);
/* Was the checkpoint of the commit refused? Then another leader or an operator has moved it. */
static inline bool pawl__refused_checkpoint(const pawl_refusals *refused)
{
    for (size_t i = 0; i < refused->count; i++)
        if (refused->items[i].kind == pawl_change_checkpoint_set)
            return true;
    return false;
}

/* Does the store remember a wake-up until the handle claims again? Then a skipped claim saves a statement. Not every
 * server does this; pawl__store_is_in_process tells whether statements go over a network. */
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
