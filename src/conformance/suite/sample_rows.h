/* sample_rows.h - a store with sample rows of every kind, one applicable change of every kind for it, and a text that shows
 * all its rows (a dump).
 *
 *     suite_sample_rows_make -> { suite_dump, suite_sample_rows_add_changes + commit }
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CONFORMANCE_SUITE_SAMPLE_ROWS_H
#define PAWL_CONFORMANCE_SUITE_SAMPLE_ROWS_H

#include "conformance/suite/suite.h"

/* Rows to which the sample changes refer. */
typedef struct suite_sample_rows {
    int64_t claimed_seq; /* of the row in queue "orders" that the maker claimed */
    int64_t free_seq;    /* of the unclaimed row in that queue */
    int64_t outbox_id;   /* a pending row of "Order/1" */
    int64_t held_after;  /* the first of two pending rows of "Order/2" */
    int64_t snapshot_id; /* in partition "Bills", under session 70 */
    int64_t unleased_id; /* in partition "Bills/3" */
    int64_t dead_id;     /* a dead outbox row of "Order/5" */
} suite_sample_rows;

/* Makes orders 1 to 3 at version 1; inbox entry "known"; timeout 1 leased by session 70, timeout 4 free; streams
 * "Account/1" at version 2 and "Account/2" at 1; checkpoint "totals" at 5. The store handle has the claims. */
void suite_sample_rows_make(suite_sample_rows *rows, suite *s, pawl_store *store);
/* Adds one change of every kind; all can be applied. */
void suite_sample_rows_add_changes(const suite_sample_rows *rows, suite_set *set);
/* All readable rows of the store as a text. */
pawl_text suite_dump(suite *s, pawl_store *store);
/* The same without the numbers that the store assigns; rows come in the order of these numbers. Stores assign them
 * differently: the memory store has one sequence for all queues and partitions, SQLite several, and a failed commit may
 * have used some. */
const char *suite_dump_unnumbered(suite *s, pawl_store *store);

#endif
