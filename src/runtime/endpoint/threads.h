/* threads.h - the threads of pawl_endpoint_run.
 *
 *     threads.c        starts them, watches them, ends them
 *     thread_loops.c   what the threads of a worker, of the service and of an intake do
 *     heartbeat.c      says that workers live while they are in the application's code
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_THREADS_H
#define PAWL_RUNTIME_THREADS_H

#include "runtime/inbound/intake.h"

typedef struct pawl__thread {
    pawl_endpoint  *endpoint;
    pawl__worker   *worker; /* one of these three */
    pawl__service  *service;
    pawl__intake   *inbound;
    pawl__app_call *app_call; /* of it */
    int             wake_fd;
    int             done_fd;    /* of all threads: written when one has finished */
    pawl_next_due   next;       /* of a worker: the next due times when it fell asleep */
    pawl_time       check_due;  /* of a worker: machine time of its next check of the queue */
    atomic_bool    *has_worked; /* set by this worker or another of the endpoint */
    int             retries;    /* failures in a row; not 0: counted in endpoint->outage */
    bool            has_rested; /* a minute without work passed, and no work since */
    pthread_t       handle;
    bool            is_started;
} pawl__thread;

/* Run until the endpoint is stopped, or the thread cannot go on: then it stops the endpoint. */
void pawl__thread_work(pawl__thread *self);
void pawl__thread_serve(pawl__thread *self);
/* Goes on whatever fails, until the endpoint is stopped. */
void pawl__thread_receive(pawl__thread *self);

/* thread_loops.c: does a thread of run() try again after its step failed for the `retries`-th time in a row,
 * counted from 0, and after what pause? */
bool    pawl__thread_goes_on(pawl_code code, bool has_worked, int retries);
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
    pawl_store     *store; /* under the mutex; opened when the first worker needs it */
    int             stop_fd;
    bool            is_started, has_failed;
} pawl__heartbeat;

/* Begins the thread for these, unless it runs, when one of them has a worker that lives by heartbeats. */
void pawl__heartbeat_start(pawl__heartbeat *heartbeat, pawl_endpoint *endpoint,
                           pawl__thread *const *threads, size_t count);
void pawl__heartbeat_stop(pawl__heartbeat *heartbeat);

#endif
