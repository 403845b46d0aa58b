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
 *     claim.h               rows of the queue and due timeouts; how many the next claim takes
 *     run.c                 every claimed unit to its end: the batch, then refused units one by one
 *     commit.h              one commit, and what its refusals mean for each unit
 *     retry_list.c          units that have to run again, kept while the batch is emptied
 *     engine_callbacks.h    functions that the engine calls: routes, clocks, sends that do not wait
 *     hot_sagas.h           sagas with conflicts are loaded with their row locked; saga_owners.h: who has which
 *     outlived_claims.h     handlers that ran longer than their claim lasted
 *     isolation/            after a crash: stamped batches, and suspects alone
 *     rowless_batch.h       messages of a broker that are no rows (inbound)
 *     breaker.h, queue_pause.h                  why nothing is claimed
 *     foreign_timeouts.h                        timeouts for destinations that no endpoint handles
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
#include "runtime/worker/queue_pause.h"
#include "runtime/worker/rowless_batch.h"
#include "runtime/worker/saga_owners.h"

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
    size_t             cut_count;         /* messages of a claim that their size ended, or 0 */
    pawl_time          virtual_now;       /* business time of the last unit */
    pawl_time          flush_check; /* machine time of the next check of all partitions, unless
                                           another worker makes it; PAWL_TIME_MIN: its first */
    bool               has_check;   /* this step makes that check */
    pawl_time          flush_due;   /* business time of the next known period end */
    pawl_time          foreign_due; /* of the next known foreign timeout */
    int                wake_fd;
    bool               is_checking; /* the next step only checks the partitions */
    bool               has_turn,
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
/* run.c: begin, load, run, commit; refused units again, one by one, to an end. Adds to `step`. */
pawl_code pawl__worker_run(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* commit.c: takes the counts of refused groups back from the store, when no commit that does follows. */
pawl_code pawl__worker_correct(pawl__worker *worker, pawl_error *error);
/* clock.c: sets the engine's clocks for the next batch. */
void pawl__worker_clocks(pawl__worker *worker, pawl_time business_now);

#endif
