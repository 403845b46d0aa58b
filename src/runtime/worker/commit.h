/* commit.h - commits a worker's batch, and tells which units have to run again after a refusal.
 *
 *     fill the batch -> commit_batch -> { fill from the retry list -> commit_batch }* until no unit is left
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
    PAWL__COMMIT_RUN,        /* the effects of their handlers */
    PAWL__COMMIT_FAIL,       /* the failure of each unit, with `why` */
    PAWL__COMMIT_ONE_BY_ONE, /* messages and timeouts run again one by one; flushes fail with `why` */
    PAWL__COMMIT_RELEASE,    /* the release of their claims; no attempt is counted */
} pawl__commit_kind;

typedef struct pawl__commit_mode {
    pawl__commit_kind kind;
    pawl_code         why;
    const char       *text;
} pawl__commit_mode;

/* The cause of a failed commit. */
typedef enum pawl__commit_failure {
    PAWL__TROUBLE_WORKER,  /* the store failed, or the step after the commit; no unit is to blame */
    PAWL__TROUBLE_MEMORY,  /* out of memory for so many units */
    PAWL__TROUBLE_CONTENT, /* a change of some unit cannot be written */
    PAWL__TROUBLE_LOCKED,  /* lock timeout in the unit's own handler transaction */
    PAWL__TROUBLE_WAITED,  /* lock timeout in the commit: some row of some unit */
} pawl__commit_failure;

/* A unit that has to run again; its texts outlive the batch. */
typedef struct pawl__retry {
    pawl__unit unit;
    bool       is_back; /* its claim is released in place of another run here */
} pawl__retry;

typedef struct pawl__outcome {
    pawl__commit_failure trouble; /* if the commit failed */
    pawl__retry         *retries; /* if it succeeded; in worker->kept */
    size_t               retry_count;
} pawl__outcome;

/* Ends the units of the batch as `mode` says, commits, and handles refusals: corrects counts, notes grown partitions,
 * keeps units that have to run again. All commits of messages, timeouts and flushes go through it. If other workers
 * have all sagas of the batch (batch->is_all_busy), RUN commits nothing: the caller then commits RELEASE. */
pawl_code pawl__commit_batch(pawl__worker *worker, const pawl__commit_mode *mode,
                             pawl__outcome *outcome, pawl_step *step, pawl_error *error);

/* Releases all claims of the batch and empties it. */
pawl_code pawl__commit_release(pawl__worker *worker, pawl_step *step, pawl_error *error);

/* retry_list.c: reserves room for all units of the batch. False: no memory. */
bool pawl__retry_list_reserve(pawl__worker *worker, pawl__outcome *outcome);
/* Keeps a copy of the batch's unit. False: no memory. */
bool pawl__retry_list_add(pawl__worker *worker, pawl__outcome *outcome, const pawl__unit *unit,
                          bool is_back);
/* Copies the texts of a unit of the batch into worker->kept. False: no memory. */
bool pawl__retry_list_copy(pawl__worker *worker, pawl__unit *unit);
/* Empties the batch and adds the unit as it was after its last run. */
pawl_code pawl__retry_list_fill_one(pawl__worker *worker, const pawl__unit *unit);
/* Empties the batch and adds, as they were claimed, the units whose claims are to be released. */
pawl_code pawl__retry_list_fill_back(pawl__worker *worker, const pawl__outcome *outcome);

/* ---- Sagas and streams with recent conflicts: hot_sagas.c ------------------------------------- */
/*     { (the batch runs) -> meet -> (commit) -> note, or all after a lock timeout }*                */

/* Meaning of a commit's refusals for a group and for a unit. Index: number of the unit; a group has that of its first
 * unit. */
typedef struct pawl__unit_result {
    bool is_refused; /* the group: it was refused */
    bool is_back;    /* the group: release its claims, do not run it unit by unit */
    bool is_lost;    /* the unit: its claim was lost */
} pawl__unit_result;

/* Notes the sagas whose changes the last commit refused; called before the batch is reset. Units of a group with
 * `is_back` are claimed again, and their sagas then loaded under a row lock. */
void pawl__hot_note(pawl__worker *worker, const pawl_refusals *refused, pawl__unit_result *results);
/* Called after a lock timeout of the commit: makes all sagas hot that it would have written. False: they already were,
 * or it writes none. */
bool pawl__hot_all(pawl__worker *worker);
/* Called after a run: notes the sagas that other workers have; pauses the worker if they have all. */
void pawl__hot_note_busy(pawl__worker *worker);
/* pawl__engine.is_hot. */
bool pawl__hot_is(void *runtime, const pawl_saga_table *table, pawl_saga_key key,
                  const pawl_value *value);

#endif
