/* ordered.h - one worker of all processes claims the messages of an ordered queue.
 *
 * It has the lease of the queue, and knows which messages were put off (engine/order.h). The lease only
 * keeps the others from work in vain; that they keep their hands off is in the store:
 *
 *     in its commits     a number, a checkpoint that every commit of the leader and every take-over
 *                        raise: with an old one nothing is applied
 *     after its claims   a look for messages that should be among them and are not: an earlier
 *                        leader has them in flight, so those of their keys are given back
 *
 *     lead -> claim -> check -> { begin -> fence -> (commit) -> settled }* -> forget
 *
 * Each accepts a worker whose endpoint is not ordered.
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
    int64_t             number;  /* of the leader, in the store */
    pawl_time           ask_due; /* machine time of the next question for the lease */
    int64_t             longest; /* time of steps of late, which the lease has to outlast */
    int64_t             begin;   /* of the step, by pawl__lease_clock */
    pawl_checkpoint_set raise;   /* of the commit under way */
};

/* PAWL_OK for an endpoint that is not ordered, which gets none. */
pawl_code pawl__ordered_create(pawl__worker *worker, pawl_error *error);
void      pawl__ordered_destroy(pawl__worker *worker);
/* Does the worker lead? Asks when it is time, and takes over. */
pawl_code pawl__ordered_lead(pawl__worker *worker, bool *leads, pawl_error *error);
/* Looks for messages that are before those just claimed and are not among them. */
pawl_code pawl__ordered_check(pawl__worker *worker, const pawl_queue_rows *rows, pawl_error *error);
/* Nothing of the batch could run, because of such messages. */
bool pawl__ordered_is_stuck(const pawl__worker *worker);
/* Adds the number to the changes of the batch, in its one group. */
void pawl__ordered_fence(pawl__worker *worker, pawl_changes *changes);
/* Takes what the commit came to. PAWL_EFENCED: another worker leads. */
pawl_code pawl__ordered_settled(pawl__worker *worker, const pawl_refusals *refused,
                                pawl_error *error);
/* Gives the lease up when a message of the batch waits for another program. */
pawl_code pawl__ordered_give_way(pawl__worker *worker, pawl_error *error);
/* The store's handle was closed. */
void pawl__ordered_forget(pawl__worker *worker);
/* Microseconds until the worker has to ask again; INT64_MAX when it is not ordered. */
int64_t pawl__ordered_wait(const pawl__worker *worker);
/* Is another worker the one that claims? */
bool pawl__ordered_is_standby(const pawl__worker *worker);

#endif
