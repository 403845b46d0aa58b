/* offers.h - messages of a broker on their way from the thread that reads them to the workers, without being rows.
 *
 *     begin -> { parcel -> fill -> offer, or drop -> collect* -> settled }* -> end      the thread that reads
 *              { take -> the batch -> give }*                                           each worker
 *
 *     OFFERED --take--> IN_HAND --give--> DONE --collect--> ACKNOWLEDGING --settled--> SETTLED
 *        |                          `---> BACK --collect--> STORING --its row is there, settled--> SETTLED
 *        `--nobody took it in time--> BACK
 *
 * A parcel is what one call of the intake took. Its texts live until each of its messages is SETTLED. A message
 * that is not DONE counts as one that is still to be handled: see oldest.
 *
 * Threads: one reads, any worker takes; a mutex, locked for moments. Nothing polls: offers wake workers, what is given back
 * wakes the reader.
 * Tests: tests/unit/runtime/test_runtime_direct.c, test_runtime_direct_thread.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_HANDOVER_H
#define PAWL_RUNTIME_HANDOVER_H

#include "pawl/inbound.h"
#include "pawl/loop.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum pawl__parcel_state {
    PAWL__PARCEL_OFFERED,
    PAWL__PARCEL_IN_HAND,
    PAWL__PARCEL_DONE, /* the commit with its mark stands */
    PAWL__PARCEL_BACK, /* to become a row */
    PAWL__PARCEL_ACKNOWLEDGING,
    PAWL__PARCEL_STORING,
    PAWL__PARCEL_SETTLED, /* or its connection is gone: it comes again */
} pawl__parcel_state;

typedef struct pawl__parcel {
    struct pawl__parcel *next;
    pawl_arena          *arena; /* of all that is below */
    pawl_takings         takings;
    unsigned char       *states;  /* a pawl__parcel_state for each; under the mutex */
    bool                *is_done; /* written by the worker that has it in hand */
    size_t               offered; /* index of the first one that may be offered still */
    int64_t              since;   /* watch time of the offer */
    bool                 is_gone; /* its connection: what is given back is not settled */
} pawl__parcel;

#define PAWL__SLICES_MAX 64 /* parcels that wait for a worker, or of which one batch is made */

typedef struct pawl__slice {
    pawl__parcel *parcel;
    size_t        first, count;
} pawl__slice;

/* Messages in a worker's hand. */
typedef struct pawl__handful {
    pawl__slice slices[PAWL__SLICES_MAX];
    size_t      slice_count;
    size_t      count; /* of all */
} pawl__handful;

/* Of an endpoint. */
typedef struct pawl__handover {
    pthread_mutex_t mutex;
    pawl__parcel   *parcels; /* offered and not settled yet, the oldest first */
    pawl__parcel   *spare;
    atomic_size_t   open;      /* messages that are offered and not taken */
    size_t          in_hand;   /* under the mutex, as all */
    int             reader_fd; /* an eventfd of the reader; -1: nobody reads */
    int             worker_fds[PAWL_WORKERS_MAX];
    size_t          worker_count;
} pawl__handover;

void pawl__handover_init(pawl__handover *handover);
void pawl__handover_destroy(pawl__handover *handover);

/* ---- The thread that reads ------------------------------------------------------------ */

/* From now on takings are offered. Borrows the eventfd until end. */
void pawl__handover_begin(pawl__handover *handover, int reader_fd);
/* Nothing is offered any more; who has messages in hand gives them back all the same. Wakes the workers. */
void pawl__handover_end(pawl__handover *handover);
bool pawl__handover_is_on(pawl__handover *handover);
/* Do so many messages wait for a worker, or so many parcels, that no more are to be taken? */
bool pawl__handover_is_full(pawl__handover *handover, size_t count_max);
/* An empty parcel; NULL: no memory. It is dropped, or offered. */
pawl__parcel *pawl__handover_parcel(pawl__handover *handover);
void          pawl__handover_drop(pawl__handover *handover, pawl__parcel *parcel);
/* Makes room for the states of what was taken; all are OFFERED. PAWL_ENOMEM. */
pawl_code pawl__parcel_ready(pawl__parcel *parcel);
void      pawl__handover_offer(pawl__handover *handover, pawl__parcel *parcel, int64_t now);
/* Messages that were offered at `until` or before, and not taken, are BACK. */
void pawl__handover_withdraw(pawl__handover *handover, int64_t until);
/* Watch time of the oldest offer that nobody took; INT64_MAX: there is none. */
int64_t pawl__handover_since(pawl__handover *handover);
/* How many messages of all parcels are not settled: room for collect. */
size_t pawl__handover_count(pawl__handover *handover);
/* Copies messages that are DONE, or BACK, in the order of their taking; they are ACKNOWLEDGING, or STORING, then. Those that are
 * IN_HAND stay so. */
size_t pawl__handover_collect(pawl__handover *handover, pawl__parcel_state state,
                              pawl_taken *items);
/* All that were collected are settled; parcels without others are spare. */
void pawl__handover_settled(pawl__handover *handover);
/* The connection is gone: all that was taken on it comes again. */
void   pawl__handover_forget(pawl__handover *handover);
size_t pawl__handover_in_hand(pawl__handover *handover);

/* ---- Workers --------------------------------------------------------------------------- */

/* Offers write to the eventfd of each worker that was added, which is borrowed until it is removed. */
void pawl__handover_add_worker(pawl__handover *handover, int worker_fd);
void pawl__handover_remove_worker(pawl__handover *handover, int worker_fd);
/* Takes messages that are offered, at most `count_max`, the oldest first. False: there are none. */
bool pawl__handover_take(pawl__handover *handover, size_t count_max, pawl__handful *hand);
/* Messages with is_done are DONE, the others BACK. The hand is empty afterwards. */
void pawl__handover_give(pawl__handover *handover, pawl__handful *hand);
/* Due time of the oldest message that is taken, not in `own`, and not handled yet; PAWL_TIME_MAX: there is none. */
pawl_time pawl__handover_oldest(pawl__handover *handover, const pawl__handful *own);

#endif
