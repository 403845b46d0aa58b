/* commit.h - one commit of a worker's batch, and what its refusals leave to do.
 *
 *     fill the batch -> commit_batch -> { fill -> commit_batch }* until no unit is left
 *
 * Threads: as the worker.
 * Tests: tests/unit/engine/test_engine_group.c, test_engine_locked.c, test_engine_large.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_COMMIT_H
#define PAWL_RUNTIME_COMMIT_H

#include "runtime/hot.h"

/* What is written for the units of the batch. */
typedef enum pawl__how {
    PAWL__COMMIT_RUN,   /* what their handlers do */
    PAWL__COMMIT_FAIL,  /* that each failed with `why` */
    PAWL__COMMIT_APART, /* messages and timeouts run again alone; flushes fail with `why` */
    PAWL__COMMIT_BACK,  /* their claims are free again, nothing counted */
} pawl__how;

typedef struct pawl__way {
    pawl__how   how;
    pawl_code   why;
    const char *text;
} pawl__way;

/* What a commit that failed has failed over. */
typedef enum pawl__trouble {
    PAWL__TROUBLE_WORKER,  /* the store, or after the commit: nothing that a unit could help */
    PAWL__TROUBLE_MEMORY,  /* none for as many units */
    PAWL__TROUBLE_CONTENT, /* of what the units want written */
    PAWL__TROUBLE_LOCKED,  /* others kept the row of the unit that has its transaction open */
    PAWL__TROUBLE_WAITED,  /* others kept a row of the change set; of which unit, none knows */
} pawl__trouble;

/* A unit that has to run again; its texts outlive the batch. */
typedef struct pawl__again {
    pawl__unit unit;
    bool       is_back; /* not to run here, but to be claimed again */
} pawl__again;

typedef struct pawl__outcome {
    pawl__trouble trouble; /* of a commit that failed */
    pawl__again  *again;   /* of one that stands; in worker->kept */
    size_t        again_count;
} pawl__outcome;

/* Brings the units of the batch to their ends as `way` says, commits, and takes the
 * refusals: counts, wakes the partitions that got something, keeps what has to run again.
 * The one way to a commit of messages, timeouts and flushes. A batch all of whose sagas
 * others have (batch->gives_way) is not committed by RUN: the caller gives it BACK. */
pawl_code pawl__commit_batch(pawl__worker *worker, const pawl__way *way, pawl__outcome *outcome,
                             pawl_step *step, pawl_error *error);

/* again.c: room for all units of the batch. False: no memory. */
bool pawl__again_reserve(pawl__worker *worker, pawl__outcome *outcome);
/* Keeps a copy of the batch's unit. False: no memory. */
bool pawl__again_add(pawl__worker *worker, pawl__outcome *outcome, const pawl__unit *unit,
                     bool is_back);
/* Copies the texts of a unit of the batch into worker->kept. False: no memory. */
bool pawl__again_copy(pawl__worker *worker, pawl__unit *unit);
/* Empties the batch and puts the unit into it, as it was when it ran last. */
pawl_code pawl__again_fill_one(pawl__worker *worker, const pawl__unit *unit);
/* Empties the batch and puts those that go back into it, as they were claimed. */
pawl_code pawl__again_fill_back(pawl__worker *worker, const pawl__outcome *outcome);

#endif
