/* breaker.h - the breaker of an endpoint: an endpoint whose messages fail and fail stops claiming, and probes.
 *
 *     CLOSED --breaker_rate of the last breaker_window failed--> OPEN
 *     OPEN --its pause is over--> HALF_OPEN --a probe failed--> OPEN, for twice as long
 *                                           --breaker_probes succeeded in a row--> CLOSED
 *
 *     { enter -> (the batch: is_over* -> note)* -> leave }*        each step of a worker
 *
 * While it is open nothing is claimed: messages and timeouts stay where they are, with the attempts that
 * they have, and aggregators flush nothing. A batch in which it opens gives back what has not run. Counted is
 * what handlers of messages and timeouts did, whether or not the commit stands; what the message itself is to
 * blame for, and what a commit refused, counts neither way (docs/decisions/breaker.md).
 *
 * Threads: all workers of the endpoint share the breaker, under the endpoint's mutex; a worker that finds it
 * closed locks it once for a batch and once for a failure. Off, each function costs a branch.
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

/* The numbers are those of the metric pawl_breaker_state. */
typedef enum pawl__breaker_state {
    PAWL__BREAKER_CLOSED,
    PAWL__BREAKER_HALF_OPEN,
    PAWL__BREAKER_OPEN,
} pawl__breaker_state;

/* Of an endpoint; all but the state under its mutex. All zero at first. */
typedef struct pawl__breaker {
    atomic_int  state;
    uint64_t    window[PAWL__BREAKER_WINDOW_MAX / 64]; /* a bit for each: it failed */
    int32_t     next, count, failures;                 /* in the window */
    bool        is_probing;                            /* a worker has the probe */
    int32_t     probes;                                /* successes in a row */
    int32_t     openings;                              /* since it was closed */
    int64_t     since, until;                          /* by pawl__watch_now */
    char        why[PAWL__BREAKER_WHY_SIZE];           /* the last failure that opened it */
    atomic_bool is_alarmed;                            /* the store says so */
    pawl__alarm alarm;
    bool        is_telling; /* a worker is at it */
    bool        is_said;    /* to the critical action */
} pawl__breaker;

/* The permit of a step to claim. */
typedef enum pawl__permit {
    PAWL__PERMIT_NONE, /* no step is under way, or no breaker is declared */
    PAWL__PERMIT_ALL,
    PAWL__PERMIT_PROBE,   /* one */
    PAWL__PERMIT_NOTHING, /* nothing: the step had nothing to do */
} pawl__permit;

/* Of a worker. */
typedef struct pawl__breaker_part {
    pawl__permit permit;
    size_t       seen;       /* units of the batch that were looked at */
    int32_t      successes;  /* of these, that the breaker does not know of yet */
    bool         is_decided; /* the probe has come to an end */
} pawl__breaker_part;

/* Begins what a step claims. False: nothing may be claimed. */
bool pawl__breaker_enter(struct pawl__worker *worker);
/* A move since is told to the store, as an alarm, and to the critical action when it opened. */
void pawl__breaker_leave(struct pawl__worker *worker);
/* Tells of it when the step may not claim, and leave does not follow. */
void pawl__breaker_tell(struct pawl__worker *worker);
/* The worker's handle was closed, and with its row went the alarm that it raised: the next step of any worker raises it
 * anew. */
void pawl__breaker_forget(pawl_endpoint *endpoint, pawl_worker_id worker);
/* A batch begins to run. */
void pawl__breaker_begin(struct pawl__worker *worker);
/* Has the batch to give back what has not run? Notes what has. */
bool pawl__breaker_is_over(struct pawl__worker *worker);
/* Notes the units of the batch that have come to an end since. */
void pawl__breaker_note(struct pawl__worker *worker);

/* Microseconds until a worker that may claim nothing tries again. */
int64_t pawl__breaker_wait(pawl_endpoint *endpoint);
/* Is it declared? */
bool pawl__breaker_is_on(const pawl_endpoint *endpoint);
/* Describes one that is open or half open, for health; else "". */
void pawl__breaker_describe(pawl_endpoint *endpoint, char *text, size_t size);

#endif
