/* picture.h - a world with rows of every noun, one good change of every
 * kind for it, and a text that shows all of it.
 *
 *     suite_world_make -> { suite_picture, suite_world_add_good + commit }
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CONFORMANCE_SUITE_PICTURE_H
#define PAWL_CONFORMANCE_SUITE_PICTURE_H

#include "conformance/suite/suite.h"

/* The rows that changes of the world must name. */
typedef struct suite_world {
    int64_t claimed_seq; /* of the row in queue "orders" that the maker claimed */
    int64_t free_seq;    /* of the one that nobody claimed */
    int64_t outbox_id;   /* a pending row of "Order/1" */
    int64_t held_after;  /* the first of two pending rows of "Order/2" */
    int64_t snapshot_id; /* in partition "Bills", under session 70 */
    int64_t unleased_id; /* in partition "Bills/3" */
    int64_t dead_id;     /* a dead outbox row of "Order/5" */
} suite_world;

/* Orders 1 to 3 at version 1; inbox mark "known"; timeout 1 leased by session
 * 70, timeout 4 free; streams "Account/1" at version 2 and "Account/2" at 1;
 * checkpoint "totals" at 5; the claims are the store handle's. */
void suite_world_make(suite_world *world, suite *s, pawl_store *store);
/* One change of every kind, each of which can be applied. */
void suite_world_add_good(const suite_world *world, suite_set *set);
/* All that can be read of the world's rows. */
pawl_text suite_picture(suite *s, pawl_store *store);
/* The same without the numbers that a store gives to rows; the order in which the rows stand shows that of the
 * numbers. A store in memory has one sequence for all queues and partitions, and SQLite several; a commit that failed
 * may have taken some. */
const char *suite_picture_unnumbered(suite *s, pawl_store *store);

#endif
