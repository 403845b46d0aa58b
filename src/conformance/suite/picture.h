/* picture.h - a store with rows of every kind (a "world"), one applicable change of every kind for it, and a text that
 * shows all its rows (a "picture").
 *
 *     suite_world_make -> { suite_picture, suite_world_add_good + commit }
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CONFORMANCE_SUITE_PICTURE_H
#define PAWL_CONFORMANCE_SUITE_PICTURE_H

#include "conformance/suite/suite.h"

/* Rows to which changes of the world refer. */
typedef struct suite_world {
    int64_t claimed_seq; /* of the row in queue "orders" that the maker claimed */
    int64_t free_seq;    /* of the unclaimed row in that queue */
    int64_t outbox_id;   /* a pending row of "Order/1" */
    int64_t held_after;  /* the first of two pending rows of "Order/2" */
    int64_t snapshot_id; /* in partition "Bills", under session 70 */
    int64_t unleased_id; /* in partition "Bills/3" */
    int64_t dead_id;     /* a dead outbox row of "Order/5" */
} suite_world;

/* Makes orders 1 to 3 at version 1; inbox entry "known"; timeout 1 leased by session 70, timeout 4 free; streams
 * "Account/1" at version 2 and "Account/2" at 1; checkpoint "totals" at 5. The store handle has the claims. */
void suite_world_make(suite_world *world, suite *s, pawl_store *store);
/* Adds one change of every kind; all can be applied. */
void suite_world_add_good(const suite_world *world, suite_set *set);
/* All readable rows of the world as a text. */
pawl_text suite_picture(suite *s, pawl_store *store);
/* The same without the numbers that the store assigns; rows come in the order of these numbers. Stores assign them
 * differently: the memory store has one sequence for all queues and partitions, SQLite several, and a failed commit may
 * have used some. */
const char *suite_picture_unnumbered(suite *s, pawl_store *store);

#endif
