/* outlived_claims.h - units whose handler, or whose commit, outlived its claim: the store's session ended while it ran (for
 * some time, or its own SQL), or others took its worker for dead. Nothing of it was committed, and it would run again the same
 * way, without end; so it counts as a failed attempt when the unit is claimed again.
 *
 *     { begin -> call* -> fail_sql -> lost | gone }*    a batch ran, and its commit was refused
 *     failed                                   or so was that of its failure
 *     -> find -> settled                       the unit is claimed again, and fails
 *
 * The endpoint remembers such units in memory: the row itself may be another worker's by then. In
 * each of several processes a unit outlives its claim once at most before its attempts count.
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
    uint64_t   unit;       /* 0: the row is free */
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

/* Forgets the calls of the batch before. */
void pawl__outlived_begin(struct pawl__worker *worker);
/* A call of the application's code took so long. */
void pawl__outlived_call(struct pawl__worker *worker, const pawl__call *call, int64_t time);
/* The failed run of own SQL, whose transaction has been ended, lost the store's session, and so its claim where that is a
 * row lock: the unit fails with that, in this claim or the next. */
void pawl__outlived_fail_sql(struct pawl__worker *worker);
/* Nothing of the batch was committed, with this failure. The unit whose calls took longest is
 * remembered, if they took long: the store's session rested for this one. So is one whose own SQL ended the session. */
void pawl__outlived_lost(struct pawl__worker *worker, pawl_code code, const pawl_error *why);
/* The claim of the unit was gone at the commit; the unit has the failure of its run still. */
void pawl__outlived_gone(struct pawl__worker *worker, const pawl__unit *unit, pawl_text why);
/* The unit failed with that, and its claim was gone at the commit that counts it. */
void pawl__outlived_failed(struct pawl__worker *worker, const pawl__unit *unit, pawl_code why,
                           pawl_text text);
/* pawl__engine.has_outlived: is the unit remembered, with as many attempts? Then it fails with that. */
bool pawl__outlived_find(void *runtime, const pawl__unit *unit, pawl_error *why);
/* The failure of the unit is committed. */
void pawl__outlived_settled(struct pawl__worker *worker, const pawl__unit *unit);

#endif
