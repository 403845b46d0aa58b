/* queue_lock.h - claims of queue rows that are row locks, for databases that skip the rows which other
 * transactions have locked.
 *
 *     claim    begins a transaction, which stays open; meanwhile other writes use a second
 *              connection ("aside")
 *     check    before a commit settles a claimed row
 *     end      after the commit
 *     keep     after a rollback or commit: locks the remaining claimed rows again
 *
 * On a cluster, where other nodes do not see row locks, claims are also written as leases (queue_stamp.c).
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_QUEUE_LOCK_H
#define PAWL_STORE_SQL_QUEUE_LOCK_H

#include "pawl/store_driver.h"

/* The address of a locked row: on PostgreSQL its ctid. */
typedef struct pawl__sql_place {
    unsigned char bytes[6];
} pawl__sql_place;

/* A queue row that this handle has claimed. */
typedef struct pawl__sql_claim {
    int64_t         seq;
    pawl_time       due; /* if the row has another one, another worker has settled it since */
    pawl__sql_place place;
    bool            is_ended; /* leaves the list */
} pawl__sql_claim;

/* The driver's part: statements by number, and functions. */
typedef struct pawl__sql_lock_ops {
    /* Statements with their parameters. The first four return the columns of pawl__queue_row_fields and lock the rows,
     * skipping rows that are locked. */
    int claim;       /* queue, due_max, limit: due rows in queue order */
    int claim_more;  /* ..., numbers with commas: without these rows, which the handle has locked */
    int claim_free;  /* ..., numbers, worker: also without rows that another worker has stamped */
    int claim_again; /* seq, queue, due_max: this row */
    int count_due;   /* queue, due_max, limit: number of due rows, without locking */
    int lock;        /* seq, due: locks this row and returns its number; or no row */
    /* Maximal size of the list of numbers for claim_more; 0: none. */
    size_t numbers_max;
    /* Is a transaction open that may have claims? */
    bool (*is_open)(const pawl_store *store);
    /* Rolls it back, if there is one. */
    void (*rollback)(pawl_store *store);
    /* aside: makes the second connection the current one; back: the first one. */
    pawl_code (*aside)(pawl_store *store, pawl_error *error);
    void (*back)(pawl_store *store);
} pawl__sql_lock_ops;

/* In the driver's handle; pawl__sql_store.claims points to it. */
typedef struct pawl__sql_claims {
    const pawl__sql_lock_ops *ops;
    bool                      are_stamps;
    bool                      is_busy; /* the last claim was full */
    pawl__sql_claim          *rows;    /* by seq */
    size_t                    count;
    size_t                    capacity;
} pawl__sql_claims;

/* ---- The list ----------------------------------------------------------- */

/* Also used by the PostgreSQL driver, which has its own claims. */

/* NULL: the handle has not claimed the row. */
pawl__sql_claim *pawl__sql_claims_find(const pawl__sql_claims *claims, int64_t seq);
/* Rows that are claimed again stand in the list once. `places` may be NULL. False: out of memory. */
bool pawl__sql_claims_add(pawl__sql_claims *claims, const pawl_queue_rows *rows,
                          const pawl__sql_place *places);
void pawl__sql_claims_remove_ended(pawl__sql_claims *claims);
/* Removes the claims that the commit settled. */
void pawl__sql_claims_settle(pawl__sql_claims *claims, const pawl_changes *changes,
                             const bool *is_dropped);
void pawl__sql_claims_free(pawl__sql_claims *claims);

/* ---- Operations --------------------------------------------------------- */

/* Of store_driver.h. */
pawl_code pawl__sql_lock_claim(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                               pawl_queue_rows *rows, pawl_error *error);
pawl_code pawl__sql_lock_next_due(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                                  size_t aggregator_count, pawl_next_due *next, pawl_error *error);
pawl_code pawl__sql_lock_commit(pawl_store *store, const pawl_changes *changes,
                                pawl_refusals *refused, pawl_error *error);

/* Of connection.h. */
pawl_code pawl__sql_lock_check(pawl_store *store, const pawl_queue_settle *settle, pawl_error *why);
void      pawl__sql_lock_end(pawl_store *store, const pawl_changes *changes, const bool *is_dropped,
                             pawl_code code);
pawl_code pawl__sql_lock_leave(pawl_store *store, pawl_error *error);
void      pawl__sql_lock_rest(pawl_store *store);

/* Locks the rows of all claims again, in a new transaction of the first connection; rows that are gone, or
 * locked by others, are removed from the list. */
pawl_code pawl__sql_lock_keep(pawl_store *store, pawl_error *error);
/* The session is lost: removes all claims, except stamps, which are in the database. */
void pawl__sql_lock_lost(pawl__sql_claims *claims);

#endif
