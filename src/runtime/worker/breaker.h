/* breaker.h - the circuit breaker of an endpoint: if too many messages fail, it stops claiming, and later probes.
 *
 *     CLOSED --breaker_rate of the last breaker_window failed--> OPEN
 *     OPEN --its pause is over--> HALF_OPEN --a probe fails--> OPEN, for twice as long
 *                                           --breaker_probes succeed in a row--> CLOSED
 *
 *     { enter -> (the batch: is_over* -> note)* -> leave }* in each step of a worker
 *
 * While it is open, nothing is claimed: messages and timeouts stay in the store, no attempts are counted, and
 * aggregators flush nothing. If it opens during a batch, units that have not run are released. The window counts
 * results of handlers of messages and timeouts, whether or not the commit succeeds. Failures that are the message's own
 * fault, and refusals of commits, do not count (docs/decisions/breaker.md).
 *
 * Threads: all workers of the endpoint share the breaker, under the endpoint's mutex. While it is closed, a worker
 * locks the mutex once per batch and once per failure. If no breaker is declared, each function costs one branch.
 * Tests: tests/unit/runtime/test_runtime_breaker.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_BREAKER_H
#define PAWL_RUNTIME_BREAKER_H

#include "pawl/endpoint.h"
#include "runtime/common/alarm.h"

#include <stdatomic.h>

#define PAWL__BREAKER_WINDOW_MAX 1024
#define PAWL__BREAKER_WHY_SIZE 160

struct pawl__worker;

/* Values of the metric pawl_breaker_state. */
typedef enum pawl__breaker_state {
    PAWL__BREAKER_CLOSED,
    PAWL__BREAKER_HALF_OPEN,
    PAWL__BREAKER_OPEN,
} pawl__breaker_state;

/* Per endpoint; all members but the atomic ones under its mutex. Zero at first. */
typedef struct pawl__breaker {
    atomic_int  state;
    uint64_t    window[PAWL__BREAKER_WINDOW_MAX / 64]; /* a bit per result: failed */
    int32_t     next, count, failures;                 /* in the window */
    bool        is_probing;                            /* a worker runs a probe */
    int32_t     probes;                                /* successful probes in a row */
    int32_t     openings;                              /* since it was last closed */
    int64_t     since, until;                          /* by pawl__watch_now */
    char        why[PAWL__BREAKER_WHY_SIZE];           /* failure that opened it last */
    atomic_bool is_alarmed;                            /* the store has its alarm */
    pawl__alarm alarm;
    bool        is_telling; /* a worker writes the alarm */
    bool        is_said;    /* the critical action was called */
} pawl__breaker;

/* The permit of a step to claim. */
typedef enum pawl__permit {
    PAWL__PERMIT_NONE, /* no step is under way, or no breaker is declared */
    PAWL__PERMIT_ALL,
    PAWL__PERMIT_PROBE,   /* one message */
    PAWL__PERMIT_NOTHING, /* the step had nothing to do */
} pawl__permit;

/* Per worker. */
typedef struct pawl__breaker_part {
    pawl__permit permit;
    size_t       seen;       /* units of the batch already counted */
    int32_t      successes;  /* of these, not yet in the window */
    bool         is_decided; /* the probe has a result */
} pawl__breaker_part;

/* Called before a step claims. False: nothing may be claimed. */
bool pawl__breaker_enter(struct pawl__worker *worker);
/* Called after a step: if the state changed, raises or clears the alarm in the store; if it opened, calls the critical
 * action. */
void pawl__breaker_leave(struct pawl__worker *worker);
/* The same for a step that may not claim, which does not call leave. */
void pawl__breaker_report(struct pawl__worker *worker);
/* Called when a worker's handle closes: its row is deleted, and with it the alarm that it raised. The next step of any
 * worker raises the alarm again. */
void pawl__breaker_forget(pawl_endpoint *endpoint, pawl_worker_id worker);
/* Called when a batch begins to run. */
void pawl__breaker_begin(struct pawl__worker *worker);
/* Counts the units that have run; true: the breaker is open, and the others have to be released. */
bool pawl__breaker_is_over(struct pawl__worker *worker);
/* Counts the units of the batch that have ended since. */
void pawl__breaker_note(struct pawl__worker *worker);

/* Microseconds until a worker that may claim nothing tries again. */
int64_t pawl__breaker_wait(pawl_endpoint *endpoint);
/* Does the endpoint declare a breaker? */
bool pawl__breaker_is_on(const pawl_endpoint *endpoint);
/* For health: describes a breaker that is open or half open; else "". */
void pawl__breaker_describe(pawl_endpoint *endpoint, char *text, size_t size);

#endif
