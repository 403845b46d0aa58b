/* isolation.h - messages in hand when a process died are run with care.
 *
 * Claims that are locks leave no record: after a death nobody knows which message was to blame. So as many
 * messages at the head of the queue as the dead can have claimed run in small batches whose rows are stamped, at
 * the cost of a commit more for each batch (stamped_batch.c). A process that dies with such a batch leaves the stamps: these
 * messages alone run one by one, each alone in its process, with a stamp of its own (isolated_run.c). A message that its process dies
 * with then counts a death; after crashes_max it is a dead letter. Rows of dead workers stay until so many messages
 * have passed: a process that starts meanwhile takes care, too.
 *
 *     { look -> begin -> (a batch; with care: look, stamp, run, pass_some) -> end
 *            -> take_turn -> (flushes, each alone) -> run_stamped -> pass -> give_turn }*
 *
 *     a death ------------> with_care > 0 ---passed---> rows of the dead are ended
 *     a suspect claimed --> alone > 0 --------passed--> batches again, with care or without
 *
 * Threads: functions with a worker as the worker; begin, end and turns exclude one another between
 *     the threads of a process.
 * Tests: tests/unit/runtime/test_runtime_deaths.c, test_runtime_deaths_care.c, test_runtime_deaths_flush.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_DEATHS_H
#define PAWL_RUNTIME_DEATHS_H

#include "pawl/loop.h"
#include "pawl/store_calls.h"

#include <stdatomic.h>

#define PAWL__DEATHS_MAX 1024 /* dead workers remembered; more are met once there is room */
/* Of a batch with care: about the root of a batch without, so that neither the commits more for all batches nor those for
 * its messages one by one, after a death, are many. */
#define PAWL__CARE_BATCH 16
/* Messages that run with care at most, however many workers died. A message that kills and is behind them makes its process die
 * once more before it is met: the head of the queue has passed meanwhile, so it comes nearer each time. */
#define PAWL__CARE_MAX 2048

struct pawl__worker;

typedef struct pawl__death {
    pawl_worker_id worker;
    pawl_time      seen;     /* when it was found dead, by pawl__watch_now */
    bool           is_ended; /* its row is gone; a stamp of it is still one of a dead worker */
} pawl__death;

/* The stamps of workers that live which a worker met last (stamp.c). */
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
typedef struct pawl__deaths {
    _Atomic pawl_time check;                   /* machine time of the next look */
    _Atomic int64_t   alone;                   /* messages to run alone still */
    _Atomic int64_t   with_care;               /* messages to run in stamped batches still */
    _Atomic int64_t   passed;                  /* with care, since a dead worker's row was ended */
    atomic_int        batches;                 /* under way, of several messages */
    atomic_bool       has_turn;                /* a thread runs something alone */
    _Atomic int64_t   rest_end;                /* monotonic time: no claims before it; or 0 */
    pawl__death       known[PAWL__DEATHS_MAX]; /* under the endpoint's mutex */
    size_t            count;
    atomic_bool       has_looked;     /* no step with batches comes before the first look */
    atomic_bool       has_partitions; /* the next step alone looks at all of them */
    pawl_time         full_since;     /* by pawl__watch_now; 0: there is room */
} pawl__deaths;

/* Looks for dead workers of the endpoint, every few seconds. */
pawl_code pawl__deaths_look(struct pawl__worker *worker, pawl_error *error);
/* The next step looks, however short ago the last one did. */
void pawl__deaths_look_soon(pawl_endpoint *endpoint);
/* Since when a worker is known to be dead, by pawl__watch_now; PAWL_TIME_MAX: it is not. */
pawl_code pawl__deaths_since(struct pawl__worker *worker, pawl_worker_id id, pawl_time *since,
                             pawl_error *error);

/* When this process found a worker dead whose row it ended, by pawl__watch_now; PAWL_TIME_MAX: it did
 * not. */
pawl_time pawl__deaths_remembered(pawl_endpoint *endpoint, pawl_worker_id id);

/* True: a step with batches may run, until end. False: messages have to run alone. */
bool pawl__deaths_begin(pawl_endpoint *endpoint);
void pawl__deaths_end(pawl_endpoint *endpoint);
/* Are there messages to run with care, or alone? */
bool pawl__deaths_has_left(const pawl_endpoint *endpoint);
/* Do batches run with care? */
bool pawl__deaths_is_careful(const pawl_endpoint *endpoint);
/* So many messages were claimed together, one of which has deaths or a stamp: these run with care. */
void pawl__deaths_meet(pawl_endpoint *endpoint, size_t count);
/* So many at the head have to run alone, as one of them is a suspect. */
void pawl__deaths_meet_alone(pawl_endpoint *endpoint, size_t count);
/* With care a partition is flushed by a step alone: the next one. */
void pawl__deaths_meet_partitions(pawl_endpoint *endpoint);

/* The next step alone looks at all partitions: some were free of a dead worker, or may be soon. */
void pawl__deaths_look_at_partitions(pawl_endpoint *endpoint);
bool pawl__deaths_take_partitions(pawl_endpoint *endpoint);

/* Of the process: one message of all its endpoints runs alone at a time. */
extern atomic_bool pawl__turn_is_taken;
/* The right to run a message alone in this process. False: another thread runs something. */
bool pawl__deaths_take_turn(pawl_endpoint *endpoint);
void pawl__deaths_give_turn(pawl_endpoint *endpoint);
/* The message in hand that ran alone, or with `is_last` the last that was due, has passed; behind that the process rests. */
void pawl__deaths_pass(struct pawl__worker *worker, bool is_last);
/* So many have passed with care. For each share of theirs the row of a dead worker is ended, which the other processes
 * see: they share the work. That frees what it had leased: timeouts have their turn with care, too, and the next
 * step is one alone, for partitions. */
void pawl__deaths_pass_some(struct pawl__worker *worker, int64_t count);

/* A step with care, or an isolated one, got nothing: either nothing is due, or other processes have the message, give it
 * back and claim it again. All threads of this one let them be for a moment, which differs from process to process: else none of
 * them would ever find the message free twice, to stamp it and to run it. */
void pawl__deaths_rest(struct pawl__worker *worker);
/* How long that lasts still; 0: not at all. */
int64_t pawl__deaths_rests(pawl_endpoint *endpoint);

/* isolated_run.c: claims one message and one timeout, and runs each alone. */
pawl_code pawl__deaths_run_stamped(struct pawl__worker *worker, pawl_time due_max, pawl_step *step,
                                   pawl_error *error);

/* stamped_batch.c: judges the units that were claimed together. Those that another worker has in hand, or of which nobody knows yet
 * whether its worker died, leave the batch; all do, given back, when one has to run alone. */
pawl_code pawl__care_look(struct pawl__worker *worker, pawl_step *step, pawl_error *error);
/* Writes the stamps of the batch's units, in one commit, and claims its messages again; the batch keeps those that were
 * free still. */
pawl_code pawl__care_stamp(struct pawl__worker *worker, pawl_time due_max, pawl_error *error);

#endif
