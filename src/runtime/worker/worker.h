/* worker.h - a worker: a thread, or a program's steps, that claims messages and timeouts, runs their handlers and
 * commits what they did.
 *
 *     step:  claim -> run the handlers -> commit --ok-------------> flush what the batch filled (aggregator)
 *                                           |  ^
 *                                    refused|  | alone, in order; after a conflict again, within its budget
 *                                           v  |
 *                                       retry list --the saga is another worker's--> given back
 *
 *     worker.c              a step: what is claimed when, and what a failure leaves
 *     claim.c               rows of the queue and due timeouts; how many the next claim takes
 *     run.c                 every claimed unit to its end: the batch, then refused units one by one
 *     commit.h              one commit, and what its refusals mean for each unit
 *     retry_list.c          units that have to run again, kept while the batch is emptied
 *     engine_callbacks.c    functions that the engine calls: routes, clocks, sends that do not wait
 *     hot_sagas.c           sagas with conflicts are loaded with their row locked; saga_owners.h: who has which
 *     outlived_claims.h     handlers that ran longer than their claim lasted
 *     isolation/            after a crash: stamped batches, and suspects alone
 *     rowless_batch.h       messages of a broker that are no rows (inbound)
 *     breaker.h, queue_pause.c                  why nothing is claimed
 *     foreign_timeouts.c                        timeouts for destinations that no endpoint handles
 *
 *     create -> { step }* -> leave -> destroy
 *
 * Threads: a worker belongs to one thread.
 * Tests: tests/unit/engine, tests/unit/runtime
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_WORKER_H
#define PAWL_RUNTIME_WORKER_H

#include "engine/batch.h"
#include "pawl/loop.h"
#include "runtime/common/app_call.h"
#include "runtime/worker/breaker.h"
#include "runtime/worker/isolation/isolation.h"
#include "runtime/worker/outlived_claims.h"
#include "runtime/worker/rowless_batch.h"
#include "runtime/worker/saga_owners.h"
#include "store/core/call.h"

/* ---- Whether the queue is paused: queue_pause.c --------------------------------------------- */

/* Between two looks, and the time that a worker of a paused queue sleeps. */
#define PAWL__QUEUE_PAUSE_PERIOD PAWL_SECONDS(1)

/* Of an endpoint: the last look of any of its workers. Atomic. */
typedef struct pawl__queue_pause {
    _Atomic pawl_time due; /* machine time of the next look */
    atomic_bool       is_paused;
} pawl__queue_pause;

/* ---- A worker --------------------------------------------------------------------------------- */

/* An aggregator's partition that is dead, waits for its next try, or has too few messages that can be decoded: commits
 * that add to it do not look at it until then. */
typedef struct pawl__shut_gate {
    uint64_t  partition; /* hash of its name */
    pawl_time until;     /* machine time */
} pawl__shut_gate;
#define PAWL__SHUT_GATES 8

/* Partitions to hand over, in this order: flush.c. Those that a step leaves are for the next ones. */
enum { PAWL__FLUSH_ASKED, PAWL__FLUSH_DUE, PAWL__FLUSH_FULL, PAWL__FLUSH_LISTS };
typedef struct pawl__flush_list {
    pawl_arena *arena; /* of the items; lives longer than a step, unless the list does not */
    struct pawl__flush_target *items;
    size_t                     first; /* items before it are done */
    size_t                     count, capacity;
} pawl__flush_list;

/* A partition that a commit added to. */
typedef struct pawl__grown_partition {
    const pawl__aggregator_model *aggregator;
    pawl_text                     partition;
} pawl__grown_partition;

typedef struct pawl__worker {
    pawl_endpoint     *endpoint;
    pawl__app_call     own_app_call;
    pawl__app_call    *app_call; /* own_app_call, or that of the service whose events it reads */
    pawl_store        *store;    /* NULL after a failure; opened again by the next step */
    pawl_random        random;
    pawl__engine       engine;
    pawl__batch       *batch;
    pawl_arena        *kept; /* rows of refused units while the batch is reset */
    pawl_arena        *read; /* subscriptions, flush rows and the like, for one step */
    pawl_subscriptions subscriptions;
    bool               has_subscriptions; /* loaded for this step */
    int64_t            batch_end;         /* monotonic time at which handlers have to stop */
    size_t             claim_count;       /* messages to claim next: see claim.c */
    size_t             batch_max;         /* units of a batch; fewer after memory was short */
    pawl_time          short_until;       /* machine time until which batch_max does not grow */
    size_t             cut_count;         /* messages that their size or time allows, or 0 */
    bool               has_run;           /* a batch */
    pawl_time          virtual_now;       /* business time of the last unit */
    pawl_time          flush_check;    /* machine time of the next check of all partitions, unless
                                           another worker makes it; PAWL_TIME_MIN: its first */
    bool               has_check;      /* this step makes that check */
    bool               has_full_check; /* and reads all partitions */
    pawl_time          flush_due;      /* business time of the next known period end */
    pawl_time flush_rest;  /* until then due partitions, which others flush, are not looked at */
    pawl_time foreign_due; /* of the next known foreign timeout */
    int       wake_fd;
    bool      is_checking; /* the next step only checks the partitions */
    bool      has_turn,
        has_unsure;  /* isolation.h: this step runs all alone; a partition may have killed */
    bool is_stamped; /* isolation.h: a batch of this step is stamped */
    struct pawl__isolated *
        isolated; /* stamped_batch.c: streams of the batch's timeouts; NULL: batches are not stamped */
    int64_t      *left_out; /* messages of the claim that are not in the batch */
    size_t        left_out_count;
    pawl__met     met;            /* marker.c */
    bool          has_left_out;   /* something was given back, or left out: not all has passed */
    int64_t       dispatched;     /* outbox rows committed since the last delivery */
    pawl_counters correction;     /* counts of refused groups, to be taken back */
    bool          was_alone;      /* the last batch had a unit that runs alone */
    pawl__grown_partition *grown; /* partitions added to in this step */
    size_t                 grown_count, grown_capacity;
    pawl__flush_list       flushes[PAWL__FLUSH_LISTS];
    pawl_arena            *flush_arena;
    bool                   was_flush; /* the step before handed over: this one claims first */
    pawl__shut_gate        shut[PAWL__SHUT_GATES];
    struct pawl__deferred *deferred; /* sends "now" that leave with the next commit */
    pawl_store            *aside;    /* a handle that commits them at once beside a hold; or NULL */
    size_t                 hot_count;
    pawl_time              hot_until;    /* machine time: the last of all */
    pawl__owned            owned;        /* sagas of this step */
    int32_t                stream_backs; /* commits in a row in which a stream was refused */
    int32_t                way_backs;    /* pauses are doubled so often: see pawl__hot_meet */
    bool                   gave_way;     /* in this step: all its sagas are elsewhere */
    bool                   was_in_way;   /* the same, of the step before */
    int64_t                pause_end;    /* monotonic time before which it claims nothing, or 0 */
    pawl__breaker_part     breaker;
    pawl__rowless          rowless;
    pawl__longest          longest;            /* of the batch that runs, or ran last */
    struct pawl__ordered  *ordered;            /* of an ordered endpoint: ordered.h; else NULL */
    pawl__hot_saga         hot[PAWL__HOT_MAX]; /* the last member: not zeroed */
} pawl__worker;

pawl_code pawl__worker_create(pawl_endpoint *endpoint, pawl__worker **worker, pawl_error *error);
void      pawl__worker_destroy(pawl__worker *worker); /* accepts NULL */
/* Commits deferred sends and counts, and closes the store handle. */
void pawl__worker_leave(pawl__worker *worker);
/* Closes the store handle: claims go back, the next step opens another. */
void pawl__worker_close_store(pawl__worker *worker);
/* Opens the store handle if it is not open, and registers for wake-ups. */
pawl_code pawl__worker_open(pawl__worker *worker, pawl_error *error);
/* One batch or one round of flushes. A failure closes the store handle, which gives back its
 * claims; so does, with PAWL_OK, a shortage of memory after which batches are smaller. With
 * is_checking nothing is claimed; a wake-up meanwhile takes is_checking back. */
pawl_code pawl__worker_step(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* claim.c: when the endpoint's next message, timeout and flush are due, as far as the store knows; PAWL_TIME_MAX: there is none. */
pawl_code pawl__worker_next_due(pawl__worker *worker, pawl_next_due *next, pawl_error *error);
/* run.c: begin, load, run, commit; refused units again, one by one, to an end. Adds to `step`. */
pawl_code pawl__worker_run(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* commit.c: takes the counts of refused groups back from the store, when no commit that does follows. */
pawl_code pawl__worker_correct(pawl__worker *worker, pawl_error *error);
/* clock.c: sets the engine's clocks for the next batch. */
void pawl__worker_clocks(pawl__worker *worker, pawl_time business_now);
/* claim.c: claims nothing for so long; under a virtual clock nothing is waited for. */
void pawl__worker_pause(pawl__worker *worker, int64_t time);
/* Does the worker pause still? */
bool pawl__worker_is_pausing(pawl__worker *worker);
/* queue_pause.c: looks when the last look is older than the period. A worker that finds another's look under way
 * looks as well, for an endpoint that was idle may have been paused for hours. */
pawl_code pawl__queue_pause_check(pawl__worker *worker, pawl_error *error);

/* ---- Claims: claim.c --------------------------------------------------------------------------- */

/* Claims due messages of the endpoint's queue; into the batch's arena. */
pawl_code pawl__claim_messages(pawl__worker *worker, pawl_time due_max, pawl_queue_rows *rows,
                               pawl_error *error);
/* Leases due timeouts of the destination; into the batch's arena. */
pawl_code pawl__claim_timeouts(pawl__worker *worker, pawl_text destination, pawl_time due_max,
                               size_t count_max, pawl_timeout_rows *rows, pawl_error *error);
/* Of each kind of unit: a commit has messages, timeouts, timeouts without an endpoint, and one group more for the
 * handlers' own SQL. */
size_t pawl__claim_limit(const pawl_endpoint *endpoint);
#define PAWL__CLAIM_FEW 8 /* messages */
/* After a batch: how many messages are claimed next. */
void pawl__claim_adapt(pawl__worker *worker);
/* After the handlers of a batch, by the machine's clock. */
void pawl__claim_note_time(pawl__worker *worker);
/* Halves batches for a minute when there was no memory for one, whose claims go back with the
 * handle. False: there is no smaller batch. */
bool pawl__claim_less(pawl__worker *worker, const pawl_error *error);

/* ---- Functions for the engine: engine_callbacks.c ------------------------------------------------ */

/* Fills worker->engine. */
void pawl__engine_callbacks_set(pawl__worker *worker);
/* Commits the change set of the batch together with the sends that pawl_send_now deferred during a
 * hold: neither is there without the other. */
pawl_code pawl__worker_commit(pawl__worker *worker, pawl_changes *changes, pawl_refusals *refused,
                              pawl_error *error);
/* Commits the deferred sends that no such commit took along. */
pawl_code pawl__worker_send_deferred(pawl__worker *worker, pawl_error *error);
void      pawl__worker_drop_deferred(pawl__worker *worker);
/* Closes the handle that commits sends beside a hold. */
void pawl__worker_close_aside(pawl__worker *worker);

/* ---- Timeouts for destinations that no endpoint handles: foreign_timeouts.c ---------------------- */

/* Is it time to check for foreign timeouts? `is_idle`: nothing else was due. */
bool pawl__foreign_is_due(pawl__worker *worker, pawl_time business_now, bool is_idle);
/* The next timeout of the endpoint's own queue, as next_due() says. */
void pawl__foreign_note(pawl__worker *worker, pawl_time next_timeout);
/* Claims foreign timeouts that are due, at most so many, and adds them to the batch. */
pawl_code pawl__foreign_claim(pawl__worker *worker, pawl_time due_max, size_t count_max,
                              pawl_error *error);
/* Subscribes to the endpoint's routes, and withdraws routes that it has no more: adds at most one
 * set for each route and each item of the list. PAWL_ENOMEM is the only failure. */
pawl_code pawl__foreign_announce(const pawl_endpoint *endpoint, const pawl_subscriptions *list,
                                 pawl_arena *arena, pawl_subscription_set *sets, size_t *count);

#endif
