/* queue_lock.h - claims of queue rows that are row locks, for databases that skip the rows which other
 * transactions have locked.
 *
 *     claim    a transaction opens and stays open; other writes go aside meanwhile, over a
 *              second connection
 *     check    of each row that a commit settles
 *     end      behind the commit
 *     keep     locks the rest again, in a transaction that begins behind a rollback or a commit
 *
 * Where a row lock does not reach every session a claim is a stamp as well (queue_stamp.c).
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_QUEUE_LOCK_H
#define PAWL_STORE_SQL_QUEUE_LOCK_H

#include "pawl/store_driver.h"

/* Where a row stands: on PostgreSQL its ctid, while its lock is ours. */
typedef struct pawl__sql_place {
    unsigned char bytes[6];
} pawl__sql_place;

/* A queue row that this handle has claimed. */
typedef struct pawl__sql_claim {
    int64_t         seq;
    pawl_time       due; /* another one there: somebody else had the row since */
    pawl__sql_place place;
    bool            is_ended; /* leaves the list */
} pawl__sql_claim;

/* The driver's part of it. */
typedef struct pawl__sql_lock_ops {
    /* Its statements. The first four give the columns of pawl__queue_row_fields and lock the rows; those
     * that are locked are skipped. */
    int claim;       /* queue, due_max, limit: the rows that are due, in their order */
    int claim_more;  /* ..., numbers with commas: without these rows, whose locks are its own */
    int claim_free;  /* ..., numbers, worker: without those that another worker has stamped */
    int claim_again; /* seq, queue, due_max: that row */
    int count_due;   /* queue, due_max, limit: how many there are, without a lock */
    int lock;        /* seq, due: the number of that row, locked; or none */
    /* Bytes of the numbers of claim_more, beyond which no more rows are claimed; 0: any. */
    size_t numbers_max;
    /* A transaction that may have claims is open. */
    bool (*is_open)(const pawl_store *store);
    /* Ends it by a rollback; nothing where there is none. */
    void (*rollback)(pawl_store *store);
    /* Makes the second connection the one in use; back: the first. */
    pawl_code (*aside)(pawl_store *store, pawl_error *error);
    void (*back)(pawl_store *store);
} pawl__sql_lock_ops;

/* In the driver's handle; pawl__sql_store.claims points to it. */
typedef struct pawl__sql_claims {
    const pawl__sql_lock_ops *ops;
    bool                      are_stamps;
    bool                      is_busy; /* the last claim found all rows that it asked for */
    pawl__sql_claim          *rows;    /* by seq */
    size_t                    count;
    size_t                    capacity;
} pawl__sql_claims;

/* ---- The list ----------------------------------------------------------- */

/* A driver that claims by itself has it, too: PostgreSQL's. */

/* NULL: the handle has not claimed the row. */
pawl__sql_claim *pawl__sql_claims_find(const pawl__sql_claims *claims, int64_t seq);
/* Rows that are claimed again stand in the list once. `places` may be NULL. False: out of memory. */
bool pawl__sql_claims_add(pawl__sql_claims *claims, const pawl_queue_rows *rows,
                          const pawl__sql_place *places);
void pawl__sql_claims_remove_ended(pawl__sql_claims *claims);
/* Takes off those that the commit settled. */
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

/* Locks the rows of all claims again, in the transaction that has just begun on the first connection; rows
 * that are gone, or locked by others, leave the list. */
pawl_code pawl__sql_lock_keep(pawl_store *store, pawl_error *error);
/* The session is lost, and with it the claims that are no stamps. */
void pawl__sql_lock_lost(pawl__sql_claims *claims);

#endif
