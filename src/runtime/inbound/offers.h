/* offers.h - passes broker messages from the thread that reads them to the workers, without queue rows.
 *
 *     begin -> { new_batch -> fill -> offer, or drop -> collect* -> settled }* -> end   the thread that reads
 *              { take -> the batch runs -> give }*                                      each worker
 *
 *     OFFERED --take--> IN_FLIGHT --give--> DONE --collect--> ACKNOWLEDGING --settled--> SETTLED
 *        |                            `---> BACK --collect--> STORING --row written, settled--> SETTLED
 *        `--not taken in time--> BACK
 *
 * An inbound batch is the result of one call of the broker's driver. Its texts live until all its messages are SETTLED.
 * A message that is not DONE still has to be handled: see pawl__offers_oldest.
 *
 * Threads: one reads, any worker takes; a mutex, locked briefly. No polling: an offer wakes workers, a returned message
 * wakes the reader.
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
    PAWL__DELIVERY_DONE, /* its deduplication record is committed */
    PAWL__DELIVERY_BACK, /* has to become a row */
    PAWL__DELIVERY_ACKNOWLEDGING,
    PAWL__DELIVERY_STORING,
    PAWL__DELIVERY_SETTLED, /* or its connection is lost: delivered again */
} pawl__delivery_state;

typedef struct pawl__inbound_batch {
    struct pawl__inbound_batch *next;
    pawl_arena                 *arena; /* of all members below */
    pawl_takings                takings;
    unsigned char              *states;  /* a pawl__delivery_state per message; under the mutex */
    bool                       *is_done; /* per message; set by the worker that has it in flight */
    size_t                      offered; /* index of the first one that may be OFFERED */
    int64_t                     since;   /* watch time of the offer */
    bool                        is_gone; /* its connection is lost: messages are not settled */
} pawl__inbound_batch;

#define PAWL__INBOUND_PARTS_MAX 64 /* limit of waiting inbound batches; parts of a worker's batch */

typedef struct pawl__inbound_part {
    pawl__inbound_batch *batch;
    size_t               first, count;
} pawl__inbound_part;

/* The messages that a worker took: parts of inbound batches. */
typedef struct pawl__deliveries {
    pawl__inbound_part parts[PAWL__INBOUND_PARTS_MAX];
    size_t             part_count;
    size_t             count; /* of all */
} pawl__deliveries;

/* Per endpoint. */
typedef struct pawl__offers {
    pthread_mutex_t      mutex;
    pawl__inbound_batch *batches; /* offered and not settled yet, the oldest first */
    pawl__inbound_batch *spare;
    atomic_size_t        open;      /* number of OFFERED messages */
    size_t               in_flight; /* under the mutex, as the others */
    int                  reader_fd; /* an eventfd of the reader; -1: nobody reads */
    int                  worker_fds[PAWL_WORKERS_MAX];
    size_t               worker_count;
} pawl__offers;

void pawl__offers_init(pawl__offers *offers);
void pawl__offers_destroy(pawl__offers *offers);

/* ---- The thread that reads ------------------------------------------------------------ */

/* Begins offering. Borrows the eventfd until end. */
void pawl__offers_begin(pawl__offers *offers, int reader_fd);
/* Ends offering and wakes the workers. Messages in flight are still returned by `give`. */
void pawl__offers_end(pawl__offers *offers);
bool pawl__offers_is_on(pawl__offers *offers);
/* Are there so many waiting messages or inbound batches that no more must be taken? */
bool pawl__offers_is_full(pawl__offers *offers, size_t count_max);
/* An empty inbound batch, to be offered or dropped; NULL: no memory. */
pawl__inbound_batch *pawl__offers_new_batch(pawl__offers *offers);
void                 pawl__offers_drop(pawl__offers *offers, pawl__inbound_batch *batch);
/* Allocates the states of the taken messages, all OFFERED. PAWL_ENOMEM. */
pawl_code pawl__inbound_batch_ready(pawl__inbound_batch *batch);
void      pawl__offers_offer(pawl__offers *offers, pawl__inbound_batch *batch, int64_t now);
/* Sets messages to BACK that were offered at `until` or before, and not taken. */
void pawl__offers_withdraw(pawl__offers *offers, int64_t until);
/* Watch time of the oldest offer with OFFERED messages; INT64_MAX: there is none. */
int64_t pawl__offers_since(pawl__offers *offers);
/* Number of unsettled messages of all inbound batches: the room that collect needs. */
size_t pawl__offers_count(pawl__offers *offers);
/* Copies all messages in `state`, DONE or BACK, in the order in which they were taken; then they are ACKNOWLEDGING or
 * STORING. With IN_FLIGHT the state does not change. */
size_t pawl__offers_collect(pawl__offers *offers, pawl__delivery_state state, pawl_taken *items);
/* Sets all collected messages to SETTLED, and reuses batches that have no others. */
void pawl__offers_settled(pawl__offers *offers);
/* Called when the connection is lost: all that was taken on it is delivered again. */
void   pawl__offers_forget(pawl__offers *offers);
size_t pawl__offers_in_flight(pawl__offers *offers);
/* Is another message with this id OFFERED, IN_FLIGHT or BACK? The message itself does not count: it may be IN_FLIGHT,
 * if redelivered also from a lost connection. */
bool pawl__offers_has_other(pawl__offers *offers, const pawl_taken *taken);

/* ---- Workers --------------------------------------------------------------------------- */

/* Adds a worker to be woken by offers. The eventfd is borrowed until it is removed. */
void pawl__offers_add_worker(pawl__offers *offers, int worker_fd);
void pawl__offers_remove_worker(pawl__offers *offers, int worker_fd);
/* Takes at most `count_max` OFFERED messages, the oldest first. False: there are none. */
bool pawl__offers_take(pawl__offers *offers, size_t count_max, pawl__deliveries *deliveries);
/* Returns the worker's messages: those with is_done become DONE, the others BACK. */
void pawl__offers_give(pawl__offers *offers, pawl__deliveries *deliveries);
/* Due time of the oldest message that is not handled yet and not in `own`; PAWL_TIME_MAX: there is none. */
pawl_time pawl__offers_oldest(pawl__offers *offers, const pawl__deliveries *own);

#endif
