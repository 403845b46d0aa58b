/* locks.h - a store driver that wraps another one and adds row locks: rows that a handle loads with SKIP_LOCKED are
 * locked until its next commit. If the wrapped store has row locks, it only records calls, and the "stranger" is a
 * second handle.
 *
 *     locks_url -> world_open and others on that URL -> locks_forget
 *
 * Records every load of sagas, counts commits, and can lock rows for a stranger, that is, another worker.
 *
 * Threads: any. Wraps one URL at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_LOCKS_H
#define PAWL_TESTS_LOCKS_H

#include "pawl/store_driver.h"

/* Returns a URL with locks for an existing store's URL, as static text. Resets everything. */
const char *locks_url(const char *url);

/* Locks the rows with these main values, "a" or "a c", for a stranger; NULL: none. */
void locks_hold(const char *names);

/* Simulates a defect: SKIP_LOCKED acts as this lock mode. Until the next locks_url. */
void locks_take_as(pawl_saga_lock lock);

/* The next commit that settles several messages finds that the claim of the first is lost. */
void locks_lose(void);
/* As locks_lose, but another worker has handled all messages of the commit. */
void locks_lose_all(void);

typedef struct locks_counts {
    long elsewhere; /* rows reported as PAWL_SAGA_LOCKED_BY_ANOTHER */
    long commits;   /* commits that write something */
    long releases;  /* commits that only free queue rows */
} locks_counts;

locks_counts locks_counted(void);
/* Loads of this handle are not recorded; until the next locks_url. */
void locks_ignore(const pawl_store *store);
/* Returns and clears the recorded loads, in order: "Left:main:skip(1) ". The lock is "none", "wait" or "skip"; the
 * number of values is in brackets. */
const char *locks_loads(void);

#endif
