/* isolation.h - messages that a process had in flight when it crashed run in stamped batches, and a suspect alone.
 *
 * A claim that is a row lock leaves no record: after a crash nobody knows which message was to blame. So as many
 * messages at the head of the queue as the dead workers can have claimed run in small batches whose rows are stamped,
 * that is, carry an in-flight marker; this costs one more commit for each batch (stamped_batch.c). A process that
 * crashes in such a batch leaves the markers behind: these messages are suspects and run one by one, each alone in its
 * process, with a marker of its own (isolated_run.c, isolated_timeout.c). A crash then counts for that message; after
 * crashes_max of them it is a dead letter. Rows of dead workers stay until as many messages have passed, so a process
 * that starts meanwhile takes part.
 *
 *     each step of a worker:
 *     { crashes_check -> batch_begin -> (claim; judge, write, run; stamped_passed) -> batch_end
 *                     -> begin -> (flushes, each alone) -> run_one -> one_passed -> end }
 *
 *     a crash is noticed --> to_stamp > 0   --as many passed--> rows of the dead workers are ended
 *     a suspect is claimed -> to_isolate > 0 --as many passed--> batches again, stamped or not
 *
 *     crashes.c            notices dead workers, counts what is left to stamp and to isolate
 *     stamped_batch.c      a batch of several whose rows are stamped
 *     isolated_run.c       one message, and one timeout, alone
 *     isolated_timeout.c   timeouts and flushes alone; their markers are events of a stream
 *     marker.h             whose a marker is, and what follows from that
 *
 * Threads: functions with a worker as the worker; batches and isolated runs exclude one another between
 *     the threads of a process.
 * Tests: tests/unit/runtime/test_runtime_deaths.c, test_runtime_deaths_care.c, test_runtime_deaths_flush.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_ISOLATION_H
#define PAWL_RUNTIME_ISOLATION_H

#include "pawl/loop.h"
#include "pawl/store_calls.h"

#include <stdatomic.h>

#define PAWL__CRASHES_MAX 1024 /* dead workers remembered; more are met once there is room */
/* Units of a stamped batch: about the root of a normal one, so that neither the additional commits of all batches nor
 * those of its messages one by one, after another crash, are many. */
#define PAWL__STAMPED_BATCH_MAX 16
/* Messages that run in stamped batches at most, however many workers died. A message behind them that crashes its process
 * does so once more before it is met: the head of the queue has passed meanwhile, so it comes nearer each time. */
#define PAWL__STAMPED_MAX 2048
#define PAWL__DEAD_ROWS_MIN 64  /* rows of dead workers that are kept in any case */
#define PAWL__DEAD_ROWS_MAX 256 /* and of endpoints with small batches */

struct pawl__worker;

typedef struct pawl__crash {
    pawl_worker_id worker;
    pawl_time      seen;     /* when it was found dead, by pawl__watch_now */
    bool           is_ended; /* its row is gone; a stamp of it is still one of a dead worker */
} pawl__crash;

/* The stamps of workers that live which a worker met last (marker.c). */
#define PAWL__MET_MAX 8
typedef struct pawl__met_stamp {
    pawl_uuid worker;
    pawl_time at;
    int64_t   since; /* when it met this one first, by pawl__watch_now */
} pawl__met_stamp;

typedef struct pawl__met {
    pawl__met_stamp items[PAWL__MET_MAX];
    size_t          next; /* to be written over */
} pawl__met;

/* Of an endpoint. */
typedef struct pawl__isolation {
    _Atomic pawl_time check;          /* machine time of the next look */
    _Atomic int64_t   to_isolate;     /* messages to run alone yet */
    _Atomic int64_t   to_stamp;       /* messages to run in stamped batches yet */
    _Atomic int64_t   passed;         /* stamped, since a dead worker's row was ended */
    atomic_int        batches;        /* under way, of several messages */
    atomic_bool       has_turn;       /* a thread runs something alone */
    _Atomic int64_t   rest_end;       /* monotonic time: no claims before it; or 0 */
    size_t            count;          /* of `known` */
    atomic_bool       has_looked;     /* no step with batches comes before the first look */
    atomic_bool       has_partitions; /* the next step alone looks at all of them */
    pawl_time         full_since;     /* by pawl__watch_now; 0: there is room */
    pawl__crash       known[PAWL__CRASHES_MAX]; /* by id; under the endpoint's mutex */
} pawl__isolation;

/* Looks for dead workers of the endpoint, every few seconds. */
pawl_code pawl__crashes_check(struct pawl__worker *worker, pawl_error *error);
/* The next step looks, however short ago the last one did. */
void pawl__crashes_check_soon(pawl_endpoint *endpoint);
/* Since when a worker is known to be dead, by pawl__watch_now; PAWL_TIME_MAX: it is not. */
pawl_code pawl__crashes_since(struct pawl__worker *worker, pawl_worker_id id, pawl_time *since,
                              pawl_error *error);

/* When this process found a worker dead whose row it ended, by pawl__watch_now; PAWL_TIME_MAX: it did
 * not. */
pawl_time pawl__crashes_remembered(pawl_endpoint *endpoint, pawl_worker_id id);

/* True: a step with batches may run, until batch_end. False: messages have to run alone. */
bool pawl__isolation_batch_begin(pawl_endpoint *endpoint);
void pawl__isolation_batch_end(pawl_endpoint *endpoint);
/* Are there messages left to stamp, or to run alone? */
bool pawl__isolation_is_pending(const pawl_endpoint *endpoint);
/* Are batches stamped? */
bool pawl__isolation_stamps_batches(const pawl_endpoint *endpoint);
/* So many messages were claimed together, one of which has crashes or a marker: so many run in stamped batches. */
void pawl__isolation_stamp_next(pawl_endpoint *endpoint, size_t count);
/* So many at the head of the queue have to run alone, as one of them is a suspect. */
void pawl__isolation_isolate_next(pawl_endpoint *endpoint, size_t count);
/* While batches are stamped a partition is flushed by an isolated step: the next one. */
void pawl__isolation_isolate_partitions(pawl_endpoint *endpoint);

/* The next isolated step checks all partitions: a dead worker may have left some full. */
void pawl__isolation_check_partitions(pawl_endpoint *endpoint);
bool pawl__isolation_take_partitions(pawl_endpoint *endpoint);

/* Of the process: one message of all its endpoints runs alone at a time. */
extern atomic_bool pawl__isolation_is_running;
/* The right to run something alone in this process, until end. False: another thread runs something. */
bool pawl__isolation_begin(pawl_endpoint *endpoint);
void pawl__isolation_end(pawl_endpoint *endpoint);
/* The message that ran alone has passed, or with `is_last` the last that was due; then the process rests. */
void pawl__isolation_one_passed(struct pawl__worker *worker, bool is_last);
/* `count` messages have passed in stamped batches. For each share of them the row of a dead worker is ended, and so are rows
 * that are too many; the other processes see that: they share the work. That frees what it had leased: its timeouts run in stamped
 * batches, too, and the next step is an isolated one, for partitions. */
void pawl__isolation_stamped_passed(struct pawl__worker *worker, int64_t count);

/* A stamped or isolated step got nothing: either nothing is due, or other processes have the message, give it back and
 * claim it again. All threads of this process pause for a moment, which differs from process to process: else none would
 * ever find the message free twice, to stamp it and to run it. */
void pawl__isolation_rest(struct pawl__worker *worker);
/* How long that lasts still; 0: not at all. */
int64_t pawl__isolation_rest_left(pawl_endpoint *endpoint);

/* isolated_run.c: claims one message and one timeout, and runs each alone. */
pawl_code pawl__isolation_run_one(struct pawl__worker *worker, pawl_time due_max, pawl_step *step,
                                  pawl_error *error);

/* stamped_batch.c: judges the units that were claimed together. Those that another worker has in flight, or of which nobody knows yet
 * whether its worker died, leave the batch; all do, given back, when one has to run alone. */
pawl_code pawl__stamped_batch_judge(struct pawl__worker *worker, pawl_step *step,
                                    pawl_error *error);
/* Writes the stamps of the batch's units, in one commit, and claims its messages again; the batch keeps those that were
 * free still. */
pawl_code pawl__stamped_batch_write(struct pawl__worker *worker, pawl_time due_max,
                                    pawl_error *error);

#endif
