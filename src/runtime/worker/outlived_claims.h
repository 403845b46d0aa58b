/* outlived_claims.h - remembers units whose claim ended while their handler or commit was under way: the store's
 * session ended during a long call or the handler's own SQL, or other processes took the worker for dead. Nothing was
 * committed, and the unit would run the same way for ever. So it counts as a failed attempt when the unit is claimed
 * again.
 *
 *     { begin -> call* -> fail_sql -> lost | gone }*    a batch ran, and its commit was refused
 *     failed                                   the commit of a unit's failure was refused
 *     -> find -> settled                       the unit is claimed again, and fails
 *
 * The endpoint remembers such units in memory, since another worker may have claimed the row by then. So each process
 * lets a unit outlive its claim once before an attempt is counted.
 *
 * Threads: as the worker; the endpoint's rows are under its mutex.
 * Tests: tests/unit/runtime/test_runtime_outlived.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_OUTLIVED_CLAIMS_H
#define PAWL_RUNTIME_OUTLIVED_CLAIMS_H

#include "engine/batch.h"

#include <stdatomic.h>

#define PAWL__OUTLIVED_MAX 16 /* units remembered */

typedef struct pawl__outlived_unit {
    uint64_t   unit;       /* 0: the entry is free */
    int64_t    generation; /* of a timeout */
    int32_t    attempts;
    pawl_time  until; /* machine time */
    pawl_error why;
} pawl__outlived_unit;

/* Of an endpoint. */
typedef struct pawl__outlived {
    pawl__outlived_unit rows[PAWL__OUTLIVED_MAX];
    atomic_bool         has_any;
} pawl__outlived;

/* Of a worker: the unit of its batch whose calls of the application's code took longest. */
typedef struct pawl__longest {
    uint64_t unit;
    int64_t  time;
    char     name[100];
} pawl__longest;

struct pawl__worker;

/* Forgets the calls of the previous batch. */
void pawl__outlived_begin(struct pawl__worker *worker);
/* Notes how long a call of the application's code took. */
void pawl__outlived_call(struct pawl__worker *worker, const pawl__call *call, int64_t time);
/* Called after own SQL failed and its transaction ended. If that also ended the store's session, a row-lock claim is
 * lost: then the unit fails with this cause, under this claim or the next. */
void pawl__outlived_fail_sql(struct pawl__worker *worker);
/* Called if nothing of the batch was committed. Remembers the unit whose calls took longest, if they were long enough
 * to explain the loss of the session, and a unit whose own SQL ended the session. */
void pawl__outlived_lost(struct pawl__worker *worker, pawl_code code, const pawl_error *why);
/* Called if the commit refused the unit's claim; the unit still has the failure of its run. */
void pawl__outlived_gone(struct pawl__worker *worker, const pawl__unit *unit, pawl_text why);
/* Called if the unit failed with `why`, and the commit of that failure refused its claim. */
void pawl__outlived_failed(struct pawl__worker *worker, const pawl__unit *unit, pawl_code why,
                           pawl_text text);
/* pawl__engine.has_outlived: is the unit remembered with the same number of attempts? Then it fails with *why. */
bool pawl__outlived_find(void *runtime, const pawl__unit *unit, pawl_error *why);
/* Called when the failure of the unit is committed: forgets it. */
void pawl__outlived_settled(struct pawl__worker *worker, const pawl__unit *unit);

#endif
