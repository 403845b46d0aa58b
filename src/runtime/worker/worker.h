/* worker.h - a worker claims messages and timeouts, runs their handlers and commits the effects. A thread of run()
 * drives it, or a program that calls steps.
 *
 *     step:  claim -> run the handlers -> commit --ok-------------> flush what the batch filled (aggregator)
 *                                           |  ^
 *                                    refused|  | one by one, in order; after a conflict up to conflict_retries
 *                                           v  |
 *                                       retry list --another worker has the saga--> claim released
 *
 *     worker.c              one step: decides what to claim, and cleans up after a failure
 *     claim.c               claims queue rows and due timeouts; sets the size of the next claim; is the queue paused?
 *     run.c                 brings every claimed unit to an end: the batch, then refused units one by one
 *     commit.h              one commit, and what its refusals mean for each unit
 *     retry_list.c          keeps units that have to run again while the batch is emptied
 *     engine_callbacks.c    functions that the engine calls: routes, clocks, sends that do not wait
 *     hot_sagas.c           loads sagas with many conflicts under a row lock; saga_owners.h: sagas in use by workers
 *     outlived_claims.h     handlers that ran longer than their claim lasted
 *     isolation/            after a crash: batches with in-flight markers, suspects one by one
 *     rowless_batch.c       broker messages that are handled without a queue row (inbound)
 *     breaker.h                                 when failures are a reason to claim nothing
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
#include "runtime/inbound/offers.h"
#include "runtime/worker/breaker.h"
#include "runtime/worker/isolation/isolation.h"
#include "runtime/worker/outlived_claims.h"
#include "runtime/worker/saga_owners.h"
#include "store/core/call.h"

/* ---- Whether the queue is paused: claim.c --------------------------------------------------- */

/* Time between two reads of the pause, and the sleep of a worker whose queue is paused. */
#define PAWL__QUEUE_PAUSE_PERIOD PAWL_SECONDS(1)

/* Per endpoint: result of the last read by any of its workers. Atomic. */
typedef struct pawl__queue_pause {
    _Atomic pawl_time due; /* machine time of the next read */
    atomic_bool       is_paused;
} pawl__queue_pause;

/* ---- Messages of a broker without a queue row: rowless_batch.c --------------------------------- *
 *
 * For a handled message the commit writes its deduplication record and its effects. A message that ends in any other
 * way is returned to the inbound reader, which inserts it as a queue row; from then on it is an ordinary message
 * (docs/decisions/broker.md). Tests: tests/unit/runtime/test_runtime_direct.c */

struct pawl__worker;

/* Per worker. */
typedef struct pawl__rowless {
    pawl__deliveries deliveries;
    bool           **done_flags; /* where to report that a message of the batch is done */
    bool             was_last;   /* the last batch had no rows */
    int64_t          queue_due;  /* monotonic time from which the queue is served first */
} pawl__rowless;

/* Does the next batch take messages of the broker before those of the queue? They alternate. */
bool pawl__rowless_is_first(const struct pawl__worker *worker);
/* Called after a claim from the queue. */
void pawl__rowless_note_queue(struct pawl__worker *worker);
/* Takes offered messages, runs and commits them, and returns them with their results. `*did`: there were some. */
pawl_code pawl__rowless_run(struct pawl__worker *worker, bool *did, pawl_step *step,
                            pawl_error *error);

/* ---- A worker --------------------------------------------------------------------------------- */

/* A partition that need not be checked when a commit adds to it: it is dead, waits for its next try, or has too few
 * messages that can be decoded. */
typedef struct pawl__shut_gate {
    uint64_t  partition; /* hash of its name */
    pawl_time until;     /* machine time */
} pawl__shut_gate;
#define PAWL__SHUT_GATES 8

/* Lists of partitions to flush, in this order (flush.c). Later steps flush the rest. */
enum { PAWL__FLUSH_ASKED, PAWL__FLUSH_DUE, PAWL__FLUSH_FULL, PAWL__FLUSH_LISTS };
typedef struct pawl__flush_list {
    pawl_arena                *arena; /* of the items; lives at least as long as the list */
    struct pawl__flush_target *items;
    size_t                     first; /* items before it are done */
    size_t                     count, capacity;
} pawl__flush_list;

/* The live workers of the store, read at most once per step, by the first unit that needs them. The read comes after
 * the claim: so the sender's types are in the list before its message is looked at. */
typedef struct pawl__live_workers {
    pawl_arena       *arena;
    pawl_worker_info *items;
    size_t            count;
    bool              is_read;
} pawl__live_workers;

/* A partition that a commit added to. */
typedef struct pawl__grown_partition {
    const pawl__aggregator_model *aggregator;
    pawl_text                     partition;
} pawl__grown_partition;

typedef struct pawl__worker {
    pawl_endpoint     *endpoint;
    pawl__app_call     own_app_call;
    pawl__app_call    *app_call; /* own_app_call, or that of the service that runs it */
    pawl_store        *store;    /* NULL after a failure; opened again by the next step */
    pawl_random        random;
    pawl__engine       engine;
    pawl__batch       *batch;
    pawl_arena        *kept; /* rows of refused units while the batch is reset */
    pawl_arena        *read; /* subscriptions, flush rows and the like, for one step */
    pawl__live_workers live;
    pawl_subscriptions subscriptions;
    bool               has_subscriptions; /* loaded for this step */
    int64_t            batch_end;         /* monotonic time at which handlers have to stop */
    size_t             claim_count;       /* messages of the next claim: see claim.c */
    size_t             batch_max;         /* units of a batch; fewer after memory was short */
    pawl_time          short_until;       /* machine time until which batch_max does not grow */
    size_t             cut_count;         /* limit of the next claim by size or time; or 0 */
    bool               has_run;           /* has run a batch */
    pawl_time          virtual_now;       /* business time of the last unit */
    pawl_time          flush_check; /* machine time of its next check; PAWL_TIME_MIN: its first */
    bool               has_check;   /* makes that check in this step */
    bool               has_full_check; /* and the check reads all partitions */
    pawl_time          flush_due;      /* business time of the next known period end */
    pawl_time flush_rest;  /* business time before which it ignores partitions that others flush */
    pawl_time foreign_due; /* of the next known foreign timeout */
    int       wake_fd;
    bool      is_checking;             /* the next step only checks the partitions */
    bool is_isolated_step, has_unsure; /* isolated step; a partition may have crashed a process */
    bool is_marked;                    /* isolation.h: batches of this step get in-flight markers */
    struct pawl__isolated *isolated;   /* marker streams of the batch's timeouts, or NULL */
    int64_t               *left_out;   /* claimed messages that are not in the batch */
    size_t                 left_out_count;
    pawl__met              met;          /* seen by marker.c */
    bool                   has_left_out; /* part of the claim did not run */
    int64_t                dispatched;   /* outbox rows committed since the last delivery */
    pawl_counters          correction;   /* counts to subtract for refused groups */
    bool                   was_alone;    /* the last batch had a unit with its own transaction */
    pawl__grown_partition *grown;        /* partitions that commits of this step added to */
    size_t                 grown_count, grown_capacity;
    pawl__flush_list       flushes[PAWL__FLUSH_LISTS];
    pawl_arena            *flush_arena;
    bool                   was_flush; /* the previous step flushed: this one claims first */
    pawl__shut_gate        shut[PAWL__SHUT_GATES];
    struct pawl__deferred *deferred; /* sends of pawl_send_now that join the next commit */
    pawl_store *aside; /* second handle, for such sends during a handler transaction; or NULL */
    size_t      hot_count;
    pawl_time   hot_until;             /* machine time: end of the last hot saga */
    pawl__owned owned;                 /* sagas in use by this step */
    int32_t     stream_backs;          /* consecutive commits with a refused stream */
    int32_t     busy_pauses;           /* exponent of the pause: see pawl__hot_note_busy */
    bool        found_all_busy;        /* in this step other workers had all its sagas */
    bool        found_all_busy_before; /* found_all_busy of the previous step */
    int64_t     pause_end;             /* monotonic time before which it claims nothing, or 0 */
    pawl__breaker_part    breaker;
    pawl__rowless         rowless;
    pawl__longest         longest;            /* of the current or last batch */
    struct pawl__ordered *ordered;            /* of an ordered endpoint: ordered.h; else NULL */
    pawl__hot_saga        hot[PAWL__HOT_MAX]; /* last member, as it is not zeroed */
} pawl__worker;

pawl_code pawl__worker_create(pawl_endpoint *endpoint, pawl__worker **worker, pawl_error *error);
void      pawl__worker_destroy(pawl__worker *worker); /* accepts NULL */
/* Commits deferred sends and counts, and closes the store handle. */
void pawl__worker_leave(pawl__worker *worker);
/* Closes the store handle, which releases its claims; the next step opens another. */
void pawl__worker_close_store(pawl__worker *worker);
/* Opens the store handle if it is not open, and registers for wake-ups. */
pawl_code pawl__worker_open(pawl__worker *worker, pawl_error *error);
/* Runs one batch or one round of flushes. A failure closes the store handle, which releases its claims. A shortage of
 * memory does so, too, but returns PAWL_OK, and the next batches are smaller. With is_checking the step claims nothing;
 * a wake-up clears is_checking. */
pawl_code pawl__worker_step(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* claim.c: asks the store when the next message, timeout and flush are due; PAWL_TIME_MAX: there is none. */
pawl_code pawl__worker_next_due(pawl__worker *worker, pawl_next_due *next, pawl_error *error);
/* run.c: runs and commits the batch, then refused units one by one until each has an end. Adds to `step`. */
pawl_code pawl__worker_run(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* commit.c: subtracts the counts of refused groups in the store. Called if no other commit follows that would. */
pawl_code pawl__worker_correct(pawl__worker *worker, pawl_error *error);
/* clock.c: sets the engine's clocks for the next batch. */
void pawl__worker_clocks(pawl__worker *worker, pawl_time business_now);
/* claim.c: makes the worker claim nothing for `time`; no effect under a virtual clock. */
void pawl__worker_pause(pawl__worker *worker, int64_t time);
bool pawl__worker_is_pausing(pawl__worker *worker);
/* claim.c: reads the pause if the last read is older than the period. Several workers may read at once: none
 * relies on the old value, since an endpoint that was idle may have been paused for hours. */
pawl_code pawl__queue_pause_check(pawl__worker *worker, pawl_error *error);

/* ---- Claims: claim.c --------------------------------------------------------------------------- */

/* Claims due messages of the endpoint's queue; rows are in the batch's arena. */
pawl_code pawl__claim_messages(pawl__worker *worker, pawl_time due_max, pawl_queue_rows *rows,
                               pawl_error *error);
/* After a crash: claims the messages with these numbers, or with NULL the first `count` due ones. Rows are in
 * worker->read, which outlives the batch. */
pawl_code pawl__claim_seqs(pawl__worker *worker, const int64_t *seqs, size_t count,
                           pawl_time due_max, pawl_queue_rows *rows, pawl_error *error);
/* Leases due timeouts of the destination; rows are in the batch's arena. */
pawl_code pawl__claim_timeouts(pawl__worker *worker, pawl_text destination, pawl_time due_max,
                               size_t count_max, pawl_timeout_rows *rows, pawl_error *error);
/* Maximum of one kind of unit in a batch. A third of what a commit may hold: it has messages, timeouts, foreign
 * timeouts, and one more group for the handlers' own SQL. */
size_t pawl__claim_limit(const pawl_endpoint *endpoint);
#define PAWL__CLAIM_FEW 8 /* messages */
/* Called after a batch: sets how many messages the next claim takes. */
void pawl__claim_adapt(pawl__worker *worker);
/* Called after the handlers of a batch: measures the time they took. */
void pawl__claim_note_time(pawl__worker *worker);
/* Halves the batch size for a minute after a shortage of memory. False: it is 1 already. The caller has closed the
 * handle. */
bool pawl__claim_less(pawl__worker *worker, const pawl_error *error);

/* ---- Functions for the engine: engine_callbacks.c ------------------------------------------------ */

/* Fills worker->engine. */
void pawl__engine_callbacks_set(pawl__worker *worker);
/* Commits the change set of the batch, in one commit with the sends that pawl_send_now deferred during a handler
 * transaction. */
pawl_code pawl__worker_commit(pawl__worker *worker, pawl_changes *changes, pawl_refusals *refused,
                              pawl_error *error);
/* Commits deferred sends that no commit of a batch has included. */
pawl_code pawl__worker_send_deferred(pawl__worker *worker, pawl_error *error);
void      pawl__worker_drop_deferred(pawl__worker *worker);
/* Closes the second handle (`aside`). */
void pawl__worker_close_aside(pawl__worker *worker);

/* ---- Timeouts for destinations that no endpoint handles: foreign_timeouts.c ---------------------- */

/* Is it time to check for foreign timeouts? `is_idle`: nothing else was due. */
bool pawl__foreign_is_due(pawl__worker *worker, pawl_time business_now, bool is_idle);
/* Tells of the next timeout of the endpoint's own queue, from next_due(). */
void pawl__foreign_note(pawl__worker *worker, pawl_time next_timeout);
/* Claims at most `count_max` due foreign timeouts and adds them to the batch. */
pawl_code pawl__foreign_claim(pawl__worker *worker, pawl_time due_max, size_t count_max,
                              pawl_error *error);

#endif
