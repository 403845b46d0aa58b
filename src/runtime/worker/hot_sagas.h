/* hot_sagas.h - sagas and streams on which a worker met conflicts of late.
 *
 *     { (the batch runs) -> meet -> (commit) -> note | all }*
 *
 * Threads: as the worker.
 * Tests: tests/unit/engine/test_engine_hot.c, tests/unit/runtime/test_runtime_hot.c,
 *     test_runtime_hot_stream.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_HOT_SAGAS_H
#define PAWL_RUNTIME_HOT_SAGAS_H

#include "runtime/runtime.h"

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
/* Claims nothing for so long; under a virtual clock nothing is waited for. */
void pawl__worker_pause(pawl__worker *worker, int64_t time);
/* Does the worker pause still? */
bool pawl__worker_is_pausing(pawl__worker *worker);

#endif
