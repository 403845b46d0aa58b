/* endpoint.h - creates, runs, steps, stops and destroys an endpoint; functions that the files of this folder share.
 *
 *     options.c, audit.c, recovery.h   check the options of the application and of the operator
 *     endpoint.c                       create; step and drain, for programs that run no threads
 *     subscribe.c                      writes the endpoint's subscriptions into the store
 *     ask.c                            queries of the application: states, counts
 *     application.c                    all endpoints of an application
 *     threads.c                        run(): starts, watches and ends threads
 *     thread_loops.c                   the loops of the threads of a worker, of the service and of an intake
 *     heartbeat.c                      writes heartbeats of workers while their handlers run
 *     service.h                        outbox, projections, retention
 *     sender.c                         sends from outside of a handler
 *
 *     create -> { step | drain }* or run -> stop -> destroy
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_ENDPOINT_H
#define PAWL_RUNTIME_ENDPOINT_H

#include "runtime/inbound/intake.h"

/* options.c: checks and copies the options and routes, and fills in defaults. */
pawl_code pawl__settings_take(pawl_endpoint *endpoint, const pawl_application *application,
                              const char *name, const pawl_endpoint_options *options,
                              pawl_error *error);
/* endpoint.c: PAWL_EINVAL unless `step` is NULL or begins with PAWL_STEP_INIT. */
pawl_code pawl__step_check(const pawl_step *step, pawl_error *error);
/* audit.c: reads the option audit and adds its route after all others. PAWL_ECONFIG: the text names the option, its
 * value and the mistake. */
pawl_code pawl__audit_take(pawl_endpoint *endpoint, pawl_error *error);
/* endpoint.c: the error of a call whose endpoint is NULL: PAWL_EINVAL. */
pawl_code pawl__no_endpoint(pawl_error *error);
/* endpoint.c: reserves the endpoint until `is_used` is cleared. PAWL_EINVAL: another call has it, for instance the one
 * whose handler makes this call. */
pawl_code pawl__endpoint_use(pawl_endpoint *endpoint, pawl_error *error);
/* Adds the counts of `step` to `sum`. */
void pawl__step_add(pawl_step *sum, const pawl_step *step);
/* pawl_endpoint_create. `is_test`: a store without SQL is accepted although handlers have own SQL. */
pawl_code pawl__endpoint_create(const pawl_application *application, const char *name,
                                const pawl_endpoint_options *options, bool is_test,
                                pawl_endpoint **endpoint, pawl_error *error);
/* subscribe.c: writes the endpoint's subscriptions if they differ from those in the store. */
pawl_code pawl__endpoint_subscribe(pawl_endpoint *endpoint, pawl_error *error);
/* sender.c: like pawl_sender_send_json, but the body is not checked. */
pawl_code pawl__sender_send_text(pawl_sender *sender, const char *queue,
                                 const pawl_send_options *given, const char *type, pawl_text body,
                                 pawl_error *error);
/* Releases one reference; the last one frees the endpoint. */
void pawl__endpoint_leave(pawl_endpoint *endpoint, bool was_given_up);

/* ---- Threads of pawl_endpoint_run: threads.c ------------------------------ */

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
