/* isolation.h - after a crash of a process: runs the messages that it may have had in flight in small batches with
 * in-flight markers, and then suspects one by one.
 *
 * A claim that is a row lock leaves no record, so after a crash nobody knows which message caused it. Therefore as many
 * messages at the head of the queue as the dead workers can have claimed run in small batches whose rows are marked:
 * an in-flight marker is committed to each row before the batch runs, at the cost of one more commit
 * (marked_batch.c). If a process crashes in such a batch, the markers remain: these messages are suspects and run
 * isolated, that is, one at a time in a process, each with a marker of its own (isolated_run.c, isolated_timeout.c). A
 * crash is then counted for that message; after crashes_max of them it is a dead letter. The rows of dead workers stay
 * until as many messages have passed, so a process that starts meanwhile takes part.
 *
 *     each step of a worker:
 *     { crashes_check -> batch_begin -> (claim; judge, write, run; marked_passed) -> batch_end
 *                     or begin -> (flushes, each isolated) -> run_one -> one_passed -> end }
 *
 *     a crash is noticed --> to_mark > 0   --as many passed--> rows of the dead workers are ended
 *     a suspect is claimed -> to_isolate > 0 --as many passed--> batches again, marked or not
 *
 *     crashes.c            notices dead workers, counts what is left to mark and to isolate
 *     marked_batch.c       marks a batch of several units
 *     isolated_run.c       runs one message, and one timeout, isolated
 *     isolated_timeout.c   runs timeouts and flushes isolated; their markers are events of a stream
 *     marker.h             finds out whose a marker is, and what to do with its row
 *
 * Threads: functions with a worker as the worker. While a thread of the process runs something isolated, no other
 * thread runs a batch.
 * Tests: tests/unit/runtime/test_runtime_deaths.c, test_runtime_deaths_care.c, test_runtime_deaths_flush.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_ISOLATION_H
#define PAWL_RUNTIME_ISOLATION_H

#include "pawl/loop.h"
#include "pawl/store_calls.h"

#include <stdatomic.h>

#define PAWL__CRASHES_MAX 1024 /* dead workers remembered; others are noted once there is room */
/* Units of a marked batch: about the square root of a normal batch. Smaller batches would need more commits of
 * markers; larger ones more isolated runs after another crash. */
#define PAWL__MARKED_BATCH_MAX 16
/* Maximum of messages that run in marked batches, however many workers died. A message after them that crashes its
 * process does so unseen, but each time it is nearer to the head of the queue, and finally within the limit. */
#define PAWL__MARKED_MAX 2048
#define PAWL__DEAD_ROWS_MIN 64  /* rows of dead workers that are always kept */
#define PAWL__DEAD_ROWS_MAX 256 /* the same for endpoints with small batches */

struct pawl__worker;

typedef struct pawl__crash {
    pawl_worker_id worker;
    pawl_time      seen;     /* when it was found dead, by pawl__watch_now */
    bool           is_ended; /* its row is deleted; markers of it still mean a crash */
} pawl__crash;

/* The markers of live workers that a worker has seen last (marker.c). */
#define PAWL__MET_MAX 8
typedef struct pawl__met_marker {
    pawl_uuid worker;
    pawl_time at;
    int64_t   since; /* first seen, by pawl__watch_now */
} pawl__met_marker;

typedef struct pawl__met {
    pawl__met_marker items[PAWL__MET_MAX];
    size_t           next; /* the entry to overwrite next */
} pawl__met;

/* Per endpoint. */
typedef struct pawl__isolation {
    _Atomic pawl_time check;            /* machine time of the next check for dead workers */
    _Atomic int64_t   to_isolate;       /* messages still to run isolated */
    _Atomic int64_t   to_mark;          /* messages still to run in marked batches */
    _Atomic int64_t   passed;           /* marked messages since the last row was ended */
    atomic_int        batches;          /* number of batches that run now */
    atomic_bool       is_isolated_step; /* a thread runs something isolated */
    _Atomic int64_t   rest_end;         /* monotonic time: no claims before it; or 0 */
    size_t            count;            /* of `known` */
    atomic_bool       has_looked;       /* the first check is done: batches may run */
    atomic_bool       has_partitions;   /* the next isolated step checks all partitions */
    pawl_time         full_since;       /* since when `known` is full, by pawl__watch_now; or 0 */
    pawl__crash       known[PAWL__CRASHES_MAX]; /* sorted by id; under the endpoint's mutex */
} pawl__isolation;

/* Looks for dead workers of the endpoint, every few seconds. */
pawl_code pawl__crashes_check(struct pawl__worker *worker, pawl_error *error);
/* Makes the next step check. */
void pawl__crashes_check_soon(pawl_endpoint *endpoint);
/* When this process found the worker dead, by pawl__watch_now; PAWL_TIME_MAX: it is not dead. */
pawl_code pawl__crashes_since(struct pawl__worker *worker, pawl_worker_id id, pawl_time *since,
                              pawl_error *error);

/* The same from memory, for a worker whose row may be deleted; PAWL_TIME_MAX: not remembered. */
pawl_time pawl__crashes_remembered(pawl_endpoint *endpoint, pawl_worker_id id);

/* True: batches may run until batch_end. False: messages have to run isolated. */
bool pawl__isolation_batch_begin(pawl_endpoint *endpoint);
void pawl__isolation_batch_end(pawl_endpoint *endpoint);
/* Are there messages left to run in marked batches or isolated? */
bool pawl__isolation_is_pending(const pawl_endpoint *endpoint);
/* Are batches marked? */
bool pawl__isolation_marks_batches(const pawl_endpoint *endpoint);
/* Called after a claim of `count` messages, one of which has crashes or a marker: `count` more run in marked
 * batches. */
void pawl__isolation_mark_next(pawl_endpoint *endpoint, size_t count);
/* Adds `count` messages, suspects, that have to run isolated. */
void pawl__isolation_isolate_next(pawl_endpoint *endpoint, size_t count);
/* Makes the next step an isolated one that checks all partitions: while batches are marked, flushes run isolated. */
void pawl__isolation_isolate_partitions(pawl_endpoint *endpoint);

/* Makes the next isolated step check all partitions, as a dead worker may have left some full. */
void pawl__isolation_check_partitions(pawl_endpoint *endpoint);
bool pawl__isolation_take_partitions(pawl_endpoint *endpoint);

/* Per process: only one message of all its endpoints runs isolated at a time. */
extern atomic_bool pawl__isolation_is_running;
/* Takes the right to run something isolated, until end. False: another thread of the process runs a batch or something
 * isolated. */
bool pawl__isolation_begin(pawl_endpoint *endpoint);
void pawl__isolation_end(pawl_endpoint *endpoint);
/* Called after an isolated message has passed, or, with `is_last`, after all: then the isolation phase ends and the
 * threads pause. */
void pawl__isolation_one_passed(struct pawl__worker *worker, bool is_last);
/* Called after `count` messages have passed in marked batches. For each share of batch_messages, one dead worker's row
 * is ended, as are rows above the limit. The other processes see this, and so share the work. Ending a row releases its
 * leases: its timeouts then run in marked batches, and the next step is an isolated one for partitions. */
void pawl__isolation_marked_passed(struct pawl__worker *worker, int64_t count);

/* Called if a marked or isolated step got nothing: nothing is due, or other processes keep claiming and releasing the
 * message. All threads of this process pause for a random time; otherwise no process might ever find the message free
 * both times, to mark it and to run it. */
void pawl__isolation_rest(struct pawl__worker *worker);
/* The rest of that pause; or 0. */
int64_t pawl__isolation_rest_left(pawl_endpoint *endpoint);

/* isolated_run.c: claims one message and one timeout, and runs each isolated. */
pawl_code pawl__isolation_run_one(struct pawl__worker *worker, pawl_time due_max, pawl_step *step,
                                  pawl_error *error);

/* marked_batch.c: judges the claimed units. Units leave the batch that another worker has in flight, or whose worker
 * may or may not be dead. If a unit has to run isolated, the whole batch is released. */
pawl_code pawl__marked_batch_judge(struct pawl__worker *worker, pawl_step *step, pawl_error *error);
/* Writes the markers of the batch's units in one commit, which ends the claims of its messages, and claims these again.
 * Messages that another worker has claimed meanwhile leave the batch. */
pawl_code pawl__marked_batch_write(struct pawl__worker *worker, pawl_time due_max,
                                   pawl_error *error);

#endif
