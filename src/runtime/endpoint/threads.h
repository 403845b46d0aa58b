/* threads.h - starts, watches and ends the threads of pawl_endpoint_run.
 *
 *     threads.c        starts, watches and ends them
 *     thread_loops.c   the loops of the threads of a worker, of the service and of an intake
 *     heartbeat.c      writes heartbeats of workers that are in the application's code
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_THREADS_H
#define PAWL_RUNTIME_THREADS_H

#include "runtime/inbound/intake.h"

typedef struct pawl__thread {
    pawl_endpoint  *endpoint;
    pawl__worker   *worker; /* one of these three is set */
    pawl__service  *service;
    pawl__intake   *inbound;
    pawl__app_call *app_call; /* of that one */
    int             wake_fd;
    int             done_fd;    /* shared by all threads: written when one has finished */
    pawl_next_due   next;       /* of a worker: next due times, read before it sleeps */
    pawl_time       check_due;  /* of a worker: machine time of its next check of the queue */
    atomic_bool    *has_worked; /* set by this worker or another of the endpoint */
    int             retries;    /* failures in a row; if not 0, it is counted in endpoint->outage */
    bool            has_rested; /* waited a minute, and no work came since */
    pthread_t       handle;
    bool            is_started;
} pawl__thread;

/* Loops until the endpoint is stopped. If the thread cannot go on, it stops the endpoint. */
void pawl__thread_work(pawl__thread *self);
void pawl__thread_serve(pawl__thread *self);
/* Loops until the endpoint is stopped, whatever fails. */
void pawl__thread_receive(pawl__thread *self);

/* thread_loops.c: does a thread of run() try again after a failed step, and after which pause? `retries`: failures in a
 * row before this one. */
bool    pawl__thread_retries(pawl_code code, bool has_worked, int retries);
int64_t pawl__thread_pause(int retries, pawl_random *random);

/* ---- Heartbeats: heartbeat.c -------------------------------------------------------- */

#define PAWL__HEARTBEAT_PERIOD PAWL_SECONDS(5)
#define PAWL__HEARTBEAT_MAX (PAWL_WORKERS_MAX + 2) /* workers, service, intake */

typedef struct pawl__heartbeat {
    pawl_endpoint  *endpoint;
    pawl__app_call *app_calls[PAWL__HEARTBEAT_MAX];
    size_t          count;
    pthread_t       thread;
    pthread_mutex_t mutex;
    pawl_store     *store; /* under the mutex; opened when first needed */
    int             stop_fd;
    bool            is_started, has_failed;
} pawl__heartbeat;

/* Starts the heartbeat thread, unless it runs, if one of the threads has a worker that needs heartbeats. */
void pawl__heartbeat_start(pawl__heartbeat *heartbeat, pawl_endpoint *endpoint,
                           pawl__thread *const *threads, size_t count);
void pawl__heartbeat_stop(pawl__heartbeat *heartbeat);

#endif
