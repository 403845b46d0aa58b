/* offers.h - messages of a broker on their way from the thread that reads them to the workers, without being rows.
 *
 *     begin -> { new_batch -> fill -> offer, or drop -> collect* -> settled }* -> end   the thread that reads
 *              { take -> the batch runs -> give }*                                      each worker
 *
 *     OFFERED --take--> IN_FLIGHT --give--> DONE --collect--> ACKNOWLEDGING --settled--> SETTLED
 *        |                            `---> BACK --collect--> STORING --its row is there, settled--> SETTLED
 *        `--nobody took it in time--> BACK
 *
 * An inbound batch is what one call of the broker's driver returned. Its texts live until each of its messages is
 * SETTLED. A message that is not DONE counts as one that is still to be handled: see oldest.
 *
 * Threads: one reads, any worker takes; a mutex, locked for moments. Nothing polls: offers wake workers, what is given
 * back wakes the reader.
 * Tests: tests/unit/runtime/test_runtime_direct.c, test_runtime_direct_thread.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_OFFERS_H
#define PAWL_RUNTIME_OFFERS_H

#include "pawl/inbound.h"
#include "pawl/loop.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum pawl__delivery_state {
    PAWL__DELIVERY_OFFERED,
    PAWL__DELIVERY_IN_FLIGHT,
    PAWL__DELIVERY_DONE, /* the commit with its mark stands */
    PAWL__DELIVERY_BACK, /* to become a row */
    PAWL__DELIVERY_ACKNOWLEDGING,
    PAWL__DELIVERY_STORING,
    PAWL__DELIVERY_SETTLED, /* or its connection is gone: it comes again */
} pawl__delivery_state;

typedef struct pawl__inbound_batch {
    struct pawl__inbound_batch *next;
    pawl_arena                 *arena; /* of all that is below */
    pawl_takings                takings;
    unsigned char              *states;  /* a pawl__delivery_state for each; under the mutex */
    bool                       *is_done; /* written by the worker that has it in flight */
    size_t                      offered; /* index of the first one that may be offered still */
    int64_t                     since;   /* watch time of the offer */
    bool                        is_gone; /* its connection: what is given back is not settled */
} pawl__inbound_batch;

#define PAWL__INBOUND_PARTS_MAX 64 /* inbound batches that wait, or parts of one worker's batch */

typedef struct pawl__inbound_part {
    pawl__inbound_batch *batch;
    size_t               first, count;
} pawl__inbound_part;

/* Messages that a worker took: parts of inbound batches. */
typedef struct pawl__deliveries {
    pawl__inbound_part parts[PAWL__INBOUND_PARTS_MAX];
    size_t             part_count;
    size_t             count; /* of all */
} pawl__deliveries;

/* Of an endpoint. */
typedef struct pawl__offers {
    pthread_mutex_t      mutex;
    pawl__inbound_batch *batches; /* offered and not settled yet, the oldest first */
    pawl__inbound_batch *spare;
    atomic_size_t        open;      /* messages that are offered and not taken */
    size_t               in_flight; /* under the mutex, as all */
    int                  reader_fd; /* an eventfd of the reader; -1: nobody reads */
    int                  worker_fds[PAWL_WORKERS_MAX];
    size_t               worker_count;
} pawl__offers;

void pawl__offers_init(pawl__offers *offers);
void pawl__offers_destroy(pawl__offers *offers);

/* ---- The thread that reads ------------------------------------------------------------ */

/* From now on takings are offered. Borrows the eventfd until end. */
void pawl__offers_begin(pawl__offers *offers, int reader_fd);
/* Nothing is offered any more; who has messages in flight gives them back all the same. Wakes the workers. */
void pawl__offers_end(pawl__offers *offers);
bool pawl__offers_is_on(pawl__offers *offers);
/* Do so many messages wait for a worker, or so many inbound batches, that no more are to be taken? */
bool pawl__offers_is_full(pawl__offers *offers, size_t count_max);
/* An empty inbound batch; NULL: no memory. It is dropped, or offered. */
pawl__inbound_batch *pawl__offers_new_batch(pawl__offers *offers);
void                 pawl__offers_drop(pawl__offers *offers, pawl__inbound_batch *batch);
/* Makes room for the states of what was taken; all are OFFERED. PAWL_ENOMEM. */
pawl_code pawl__inbound_batch_ready(pawl__inbound_batch *batch);
void      pawl__offers_offer(pawl__offers *offers, pawl__inbound_batch *batch, int64_t now);
/* Messages that were offered at `until` or before, and not taken, are BACK. */
void pawl__offers_withdraw(pawl__offers *offers, int64_t until);
/* Watch time of the oldest offer that nobody took; INT64_MAX: there is none. */
int64_t pawl__offers_since(pawl__offers *offers);
/* How many messages of all inbound batches are not settled: room for collect. */
size_t pawl__offers_count(pawl__offers *offers);
/* Copies messages that are DONE, or BACK, in the order of their taking; they are ACKNOWLEDGING, or STORING, then. Those that are
 * IN_FLIGHT stay so. */
size_t pawl__offers_collect(pawl__offers *offers, pawl__delivery_state state, pawl_taken *items);
/* All that were collected are settled; inbound batches without others are spare. */
void pawl__offers_settled(pawl__offers *offers);
/* The connection is gone: all that was taken on it comes again. */
void   pawl__offers_forget(pawl__offers *offers);
size_t pawl__offers_in_flight(pawl__offers *offers);

/* ---- Workers --------------------------------------------------------------------------- */

/* Offers write to the eventfd of each worker that was added, which is borrowed until it is removed. */
void pawl__offers_add_worker(pawl__offers *offers, int worker_fd);
void pawl__offers_remove_worker(pawl__offers *offers, int worker_fd);
/* Takes messages that are offered, at most `count_max`, the oldest first. False: there are none. */
bool pawl__offers_take(pawl__offers *offers, size_t count_max, pawl__deliveries *deliveries);
/* Messages with is_done are DONE, the others BACK. The worker has none afterwards. */
void pawl__offers_give(pawl__offers *offers, pawl__deliveries *deliveries);
/* Due time of the oldest message that is taken, not in `own`, and not handled yet; PAWL_TIME_MAX: there is none. */
pawl_time pawl__offers_oldest(pawl__offers *offers, const pawl__deliveries *own);

#endif
