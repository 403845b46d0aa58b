/* commit.h - the one write path of a SQL database: rounds of writes until none is refused.
 *
 *     begin                   a transaction, or the one of the open hold
 *     fence                   the worker's row, where worker and epoch match
 *     kinds, in their order   every refusal of the round is collected
 *       any refused:          roll back, leave their groups out, begin again
 *       sent ahead, not right: roll back, begin again, and look at each answer
 *     commit
 *
 * Rounds end: each leaves out at least one group more.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_COMMIT_H
#define PAWL_STORE_SQL_COMMIT_H

#include "store/core/kinds.h"
#include "store/sql/connection.h"
#include "store/sql/write.h"

/* A change set on its way. */
typedef struct pawl__sql_writer {
    pawl_store           *store;
    pawl__sql_connection *connection;  /* the store's, or in an enlist the caller's */
    bool                  is_enlisted; /* no claims, no fence, one round */
    const pawl_changes   *changes;
    pawl_refusals        *refused;
    bool                 *is_dropped; /* by group: left out of this round */
    bool                  has_held;   /* all holds of the set are done */
    bool                  is_ahead;   /* writes are sent ahead in this round */
    pawl_error           *error;
} pawl__sql_writer;

pawl_code pawl__sql_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                           pawl_error *error);
/* Applies the set in the open transaction of a connection that is the caller's; a refusal is the
 * error. The driver undoes what a failure leaves. */
pawl_code pawl__sql_apply_enlisted(pawl_store *store, pawl__sql_connection *connection,
                                   const pawl_changes *changes, pawl_error *error);

/* One item, without what follows in `write->then`. */
pawl_code pawl__sql_write_one(pawl_store *store, pawl__sql_connection *connection,
                              const pawl__sql_write *write, const void *item, pawl__sql_fate *fate,
                              pawl_error *error);

/* The same on the store's own connection. */
pawl_code pawl__sql_write_own(pawl_store *store, const pawl__sql_write *write, const void *item,
                              pawl__sql_fate *fate, pawl_error *error);
/* Items that stand in an array; `fates` has one for each, or is NULL. */
pawl_code pawl__sql_write_rows(pawl_store *store, const pawl__sql_write *write, const void *rows,
                               size_t row_size, size_t count, pawl__sql_fate *fates,
                               pawl_error *error);

/* ---- Before the write of a change (apply.c) ------------------------------ */

pawl__sql_apply_fn pawl__sql_check_settle;
pawl__sql_apply_fn pawl__sql_apply_leased_batch_remove;
pawl__sql_apply_fn pawl__sql_apply_outbox_block;

#endif
