/* deaths.h - messages in hand when a process died are run with care.
 *
 * Claims that are locks leave no record: after a death nobody knows which message was to blame. So
 * the messages at the head of the queue run one by one, each alone in this process, with a stamp in
 * its row. A message that its process dies with then counts a death; after deaths_max it is a dead
 * letter. Rows of dead workers stay until so many messages have passed: a process that starts
 * meanwhile takes care, too.
 *
 *     { look -> begin -> (a batch, which may meet) -> end
 *            -> take_turn -> (flushes, each alone) -> run_stamped -> pass -> give_turn }*
 *
 * Threads: functions with a worker as the worker; begin, end and turns exclude one another between
 *     the threads of a process.
 * Tests: tests/unit/runtime/test_runtime_deaths.c, test_runtime_deaths_flush.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_DEATHS_H
#define PAWL_RUNTIME_DEATHS_H

#include "pawl/endpoint.h"
#include "pawl/store_calls.h"

#include <stdatomic.h>

#define PAWL__DEATHS_MAX 1024 /* dead workers remembered; more are met once there is room */

struct pawl__worker;

typedef struct pawl__death {
    pawl_worker_id worker;
    pawl_time      seen;     /* machine time at which it was found dead */
    bool           is_ended; /* its row is gone; a stamp of it is still one of a dead worker */
} pawl__death;

/* Of an endpoint. */
typedef struct pawl__deaths {
    _Atomic pawl_time check;   /* machine time of the next look */
    _Atomic int64_t   left;    /* messages to run alone still; 0: no care is needed */
    atomic_int        batches; /* under way, of several messages */
    pawl__death       known[PAWL__DEATHS_MAX]; /* under the endpoint's mutex */
    size_t            count;
    atomic_bool       has_looked;     /* no step with batches comes before the first look */
    atomic_bool       has_partitions; /* the next step alone looks at all of them */
    pawl_time         full_since;     /* machine time; 0: there is room */
} pawl__deaths;

/* Looks for dead workers of the endpoint, every few seconds. */
pawl_code pawl__deaths_look(struct pawl__worker *worker, pawl_error *error);
/* The next step looks, however short ago the last one did. */
void pawl__deaths_look_soon(pawl_endpoint *endpoint);
/* The machine time since which a worker is known to be dead; PAWL_TIME_MAX: it is not. */
pawl_code pawl__deaths_since(struct pawl__worker *worker, pawl_worker_id id, pawl_time *since,
                             pawl_error *error);

/* The machine time at which this process found a worker dead whose row it ended; PAWL_TIME_MAX: it did
 * not. */
pawl_time pawl__deaths_remembered(pawl_endpoint *endpoint, pawl_worker_id id);

/* True: a step with batches may run, until end. False: messages have to run alone. */
bool pawl__deaths_begin(pawl_endpoint *endpoint);
void pawl__deaths_end(pawl_endpoint *endpoint);
bool pawl__deaths_has_left(const pawl_endpoint *endpoint);
/* So many messages were claimed together, one of which has deaths: these run alone. */
void pawl__deaths_meet(pawl_endpoint *endpoint, size_t count);

/* The next step alone looks at all partitions: some were free of a dead worker, or may be soon. */
void pawl__deaths_look_at_partitions(pawl_endpoint *endpoint);
bool pawl__deaths_take_partitions(pawl_endpoint *endpoint);

/* The right to run a message alone in this process. False: another thread runs something. */
bool pawl__deaths_take_turn(pawl_endpoint *endpoint);
void pawl__deaths_give_turn(void);
/* The message in hand, or with `is_last` the last that was due, has passed. Behind the last the rows of the
 * dead workers are ended, which frees what they had leased: the next step is one alone, too. */
void pawl__deaths_pass(struct pawl__worker *worker, bool is_last);

/* stamped.c: claims one message and one timeout, and runs each alone. */
pawl_code pawl__deaths_run_stamped(struct pawl__worker *worker, pawl_time due_max, pawl_step *step,
                                   pawl_error *error);

#endif
