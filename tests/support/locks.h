/* locks.h - a store driver that stands before another one and has row locks: what
 * a handle loads with SKIP_LOCKED is its own until its next commit. Before a store
 * that has them it only looks on, and the stranger is one more handle.
 *
 *     locks_url -> world_open and others on that URL -> locks_forget
 *
 * It writes down every load of sagas and what every commit holds, and can have a
 * row in a stranger's hands.
 *
 * Threads: any. One URL at a time stands behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_LOCKS_H
#define PAWL_TESTS_LOCKS_H

#include "pawl/store_driver.h"

/* The form with locks of an existing store's URL; static text. Forgets all. */
const char *locks_url(const char *url);

/* From now on the rows of these main values, "a" or "a c", are locked by a stranger; NULL:
 * none are. */
void locks_hold(const char *names);

/* A store with a defect: it takes SKIP_LOCKED as something else. Until the next
 * locks_url. */
void locks_take_as(pawl_saga_lock lock);

/* The first message of the next commit that settles several is claimed no longer by
 * then. */
void locks_lose(void);
/* Another worker has handled all messages of that commit by then. */
void locks_lose_all(void);

typedef struct locks_counts {
    long elsewhere; /* rows that were answered with PAWL_SAGA_LOCKED_BY_ANOTHER */
    long commits;   /* commits that write something */
    long releases;  /* commits that only free queue rows */
} locks_counts;

locks_counts locks_counted(void);
/* The loads of this handle are not written down; until the next locks_url. */
void locks_ignore(const pawl_store *store);
/* The loads so far, in order, and forgets them: "Left:main:skip(1) ". A lock is
 * "none", "wait" or "skip"; in brackets the number of values. */
const char *locks_loads(void);

#endif
