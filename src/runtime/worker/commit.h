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

#include "runtime/runtime.h"

/* The changes that a commit makes for the units of the batch. */
typedef enum pawl__commit_kind {
    PAWL__COMMIT_RUN,   /* the effects of their handlers */
    PAWL__COMMIT_FAIL,  /* the failure of each, with `why` */
    PAWL__COMMIT_APART, /* messages and timeouts run again alone; flushes fail with `why` */
    PAWL__COMMIT_BACK,  /* their claims are free again, nothing counted */
} pawl__commit_kind;

typedef struct pawl__commit_mode {
    pawl__commit_kind kind;
    pawl_code         why;
    const char       *text;
} pawl__commit_mode;

/* The cause of a failed commit. */
typedef enum pawl__trouble {
    PAWL__TROUBLE_WORKER,  /* the store, or a step after the commit: no unit's fault */
    PAWL__TROUBLE_MEMORY,  /* too little for so many units */
    PAWL__TROUBLE_CONTENT, /* a change of some unit cannot be written */
    PAWL__TROUBLE_LOCKED,  /* another transaction kept the row of the unit in hold */
    PAWL__TROUBLE_WAITED,  /* another transaction kept a row of some unit */
} pawl__trouble;

/* A unit that has to run again; its texts outlive the batch. */
typedef struct pawl__retry {
    pawl__unit unit;
    bool       is_back; /* to be claimed again, not run here */
} pawl__retry;

typedef struct pawl__outcome {
    pawl__trouble trouble; /* of a commit that failed */
    pawl__retry  *retries; /* of a commit that stands; in worker->kept */
    size_t        retry_count;
} pawl__outcome;

/* Brings the units of the batch to their ends as `mode` says, commits, and takes the refusals:
 * counts, notes the partitions added to, keeps units that have to run again. This is the one way to
 * a commit of messages, timeouts and flushes. RUN does not commit a batch whose sagas are all
 * elsewhere (batch->gives_way): the caller gives it BACK. */
pawl_code pawl__commit_batch(pawl__worker *worker, const pawl__commit_mode *mode,
                             pawl__outcome *outcome, pawl_step *step, pawl_error *error);

/* Gives all claims of the batch back and empties it. */
pawl_code pawl__commit_back(pawl__worker *worker, pawl_step *step, pawl_error *error);

/* retry_list.c: room for all units of the batch. False: no memory. */
bool pawl__retry_list_reserve(pawl__worker *worker, pawl__outcome *outcome);
/* Keeps a copy of the batch's unit. False: no memory. */
bool pawl__retry_list_add(pawl__worker *worker, pawl__outcome *outcome, const pawl__unit *unit,
                          bool is_back);
/* Copies the texts of a unit of the batch into worker->kept. False: no memory. */
bool pawl__retry_list_copy(pawl__worker *worker, pawl__unit *unit);
/* Empties the batch and puts the unit into it, as it was when it ran last. */
pawl_code pawl__retry_list_fill_one(pawl__worker *worker, const pawl__unit *unit);
/* Empties the batch and puts the units into it that go back, as they were claimed. */
pawl_code pawl__retry_list_fill_back(pawl__worker *worker, const pawl__outcome *outcome);

/* ---- Sagas and streams on which a worker met conflicts of late: hot_sagas.c ------------------- */
/*     { (the batch runs) -> meet -> (commit) -> note | all }*                                       */

/* Meaning of a commit's refusals for each group and unit. A group has the number of its first
 * unit. */
typedef struct pawl__fate {
    bool is_refused; /* the group of this number */
    bool is_back;    /* the group: better claimed again than run unit by unit */
    bool is_lost;    /* the unit of this number: its claim was refused */
} pawl__fate;

/* Notes the sagas whose changes were refused in the commit just made, before the batch is reset.
 * Units of a group with `is_back` are claimed again, and their sagas loaded with the lock. */
void pawl__hot_note(pawl__worker *worker, const pawl_refusals *refused, pawl__fate *fates);
/* Makes the sagas hot that a commit would have written, after it waited in vain for row locks.
 * False: they were hot, or it writes none. */
bool pawl__hot_all(pawl__worker *worker);
/* Notes the sagas of the batch just run that are elsewhere; pauses when all are. */
void pawl__hot_meet(pawl__worker *worker);
/* pawl__engine.is_hot. */
bool pawl__hot_is(void *runtime, const pawl_saga_table *table, pawl_saga_key key,
                  const pawl_value *value);

#endif
