/* threads.h - the threads of pawl_endpoint_run.
 *
 *     threads.c   starts them, watches them, ends them
 *     run.c       what a worker's thread and the service's thread do
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_THREADS_H
#define PAWL_THREADS_H

#include "runtime/runtime.h"

typedef struct pawl__thread {
    pawl_endpoint *endpoint;
    pawl__worker  *worker;  /* or */
    pawl__service *service; /* this one */
    pawl__hand    *hand;    /* of the one that it is */
    int            wake_fd;
    int            done_fd;    /* of all threads: written when one has finished */
    pawl_next_due  next;       /* of a worker: what it knew when it fell asleep */
    pawl_time      check_due;  /* of a worker, machine time: when it looks anew */
    atomic_bool   *has_worked; /* this one, or another worker of the endpoint */
    int            retries;    /* in a row; not 0: it is one of those in trouble */
    pthread_t      handle;
    bool           is_started;
} pawl__thread;

/* Until the endpoint is stopped, or it cannot go on: then it stops the endpoint. */
void pawl__thread_work(pawl__thread *self);
void pawl__thread_serve(pawl__thread *self);

/* store.c: ends workers whose threads were given up, on a handle of its own: what they
 * hold is free, and what they commit from now on refused. What cannot be ended is said in
 * the log. */
void pawl__endpoint_end_workers(pawl_endpoint *endpoint, const pawl_worker_id *workers,
                                size_t count);
/* endpoint.c: the last of its users frees it. */
void pawl__endpoint_leave(pawl_endpoint *endpoint, bool was_given_up);

#endif
