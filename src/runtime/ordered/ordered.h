/* ordered.h - elects, by a lease, the one worker of all processes that claims the messages of an ordered queue.
 *
 * The leader also knows which messages were deferred (engine/order.h). The lease only saves other workers useless work.
 * Correctness comes from two other things:
 *
 *     in its commits     a fencing number: a checkpoint that every commit of the leader and every
 *                        take-over raises. A commit with an old number is refused
 *     after its claims   a check for messages that should be in the claim and are not: an earlier
 *                        leader has them in flight, so messages with their keys are released
 *
 *     lead -> claim -> check -> { begin -> fence -> (commit) -> settled }* -> forget
 *
 * Each function accepts a worker whose endpoint is not ordered.
 *
 * Threads: as the worker.
 * Tests: tests/unit/engine/test_engine_order.c, tests/unit/runtime/test_runtime_ordered.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_ORDERED_H
#define PAWL_RUNTIME_ORDERED_H

#include "engine/order.h"
#include "runtime/runtime.h"

struct pawl__ordered {
    pawl__order         order;
    pawl_text           name; /* of the lease and the checkpoint */
    bool                is_leader;
    int64_t             number;  /* fencing number of the leader */
    pawl_time           ask_due; /* machine time of the next request for the lease */
    int64_t             longest; /* longest recent step, which the lease must outlast */
    int64_t             begin;   /* start of the step, by pawl__lease_clock */
    pawl_checkpoint_set raise;   /* change that raises the number, of the commit under way */
};

/* For an endpoint that is not ordered, does nothing. */
pawl_code pawl__ordered_create(pawl__worker *worker, pawl_error *error);
void      pawl__ordered_destroy(pawl__worker *worker);
/* Does the worker lead? Renews the lease, or takes over, if it is time. */
pawl_code pawl__ordered_lead(pawl__worker *worker, bool *leads, pawl_error *error);
/* Checks for due messages that come before those just claimed, but are not in the claim. */
pawl_code pawl__ordered_check(pawl__worker *worker, const pawl_queue_rows *rows, pawl_error *error);
/* Is the message with this number in the claim? */
bool pawl__ordered_has(const pawl_queue_rows *rows, int64_t seq);
/* True if nothing of the batch could run because of such messages. */
bool pawl__ordered_is_stuck(const pawl__worker *worker);
/* Adds the change that raises the number, in the batch's only group. */
void pawl__ordered_fence(pawl__worker *worker, pawl_changes *changes);
/* Called after the commit. PAWL_EFENCED: another worker leads. */
pawl_code pawl__ordered_settled(pawl__worker *worker, const pawl_refusals *refused,
                                pawl_error *error);
/* Gives up the lease if a message of the batch waits for another program version. */
pawl_code pawl__ordered_give_way(pawl__worker *worker, pawl_error *error);
/* Called when the store handle was closed: forgets the lease. */
void pawl__ordered_forget(pawl__worker *worker);
/* Microseconds until the next request for the lease; INT64_MAX if the endpoint is not ordered. */
int64_t pawl__ordered_wait(const pawl__worker *worker);
/* Does another worker lead? */
bool pawl__ordered_is_standby(const pawl__worker *worker);

#endif
