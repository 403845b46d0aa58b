/* commit.h - the only write path of a SQL database: rounds of writes until none is refused.
 *
 *     begin                   a transaction, or the open handler transaction
 *     fence                   the worker's row, where worker and epoch match
 *     kinds, in their order   every refusal of the round is collected
 *       any refused:          roll back, leave their groups out, begin again
 *       sent ahead, unexpected answer: roll back, begin again, and await each answer
 *     commit
 *
 * Each round leaves out at least one more group, so their number is bounded.
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

/* A change set that is being written. */
typedef struct pawl__sql_writer {
    pawl_store           *store;
    pawl__sql_connection *connection;  /* the store's, or in an enlist the caller's */
    bool                  is_enlisted; /* no claims, no fence, one round */
    const pawl_changes   *changes;
    int                   split; /* kinds from this one on have no refusals in this set */
    pawl_refusals        *refused;
    size_t                refused_before; /* number of refusals before this round */
    bool                 *is_dropped;     /* by group: left out of this round */
    bool                  has_held;       /* all outbox blocks of the set are written */
    bool                  is_ahead;       /* writes are sent ahead in this round */
    pawl_error           *error;
} pawl__sql_writer;

pawl_code pawl__sql_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                           pawl_error *error);
/* Applies the set in the caller's open transaction, on the caller's connection; the first refusal becomes the
 * error. The driver undoes partial changes after a failure. */
pawl_code pawl__sql_apply_enlisted(pawl_store *store, pawl__sql_connection *connection,
                                   const pawl_changes *changes, pawl_error *error);

/* ---- For a driver's own rounds -------------------------------------------- */

static inline bool pawl__sql_has_refused(const pawl__sql_writer *writer)
{
    return writer->refused->count != writer->refused_before;
}
/* Writes the kinds from `split` on. */
pawl_code       pawl__sql_apply_rest(pawl__sql_writer *writer);
pawl__sql_fence pawl__sql_fence_of(const pawl__sql_writer *writer);
/* Refuses the change: its group is left out of the next round. */
pawl_code pawl__sql_refuse(const pawl__sql_writer *writer, pawl_change_kind kind,
                           const void *change, pawl__why_fn *why);

/* ---- Without a round ------------------------------------------------------ */

/* Writes an item on the store's own connection, without following `write->then`. */
pawl_code pawl__sql_write_own(pawl_store *store, const pawl__sql_write *write, const void *item,
                              pawl__sql_result *result, pawl_error *error);
/* The same for an array of items; `results` has an element for each, or is NULL. */
pawl_code pawl__sql_write_rows(pawl_store *store, const pawl__sql_write *write, const void *rows,
                               size_t row_size, size_t count, pawl__sql_result *results,
                               pawl_error *error);

/* ---- Before the write of a change (apply.c) ------------------------------ */

pawl__sql_apply_fn pawl__sql_check_settle;
pawl__sql_apply_fn pawl__sql_apply_leased_batch_remove;
pawl__sql_apply_fn pawl__sql_apply_flush_set;
pawl__sql_apply_fn pawl__sql_apply_outbox_block;

/* The blocks and unblocks of a set, combined per source (ordering key) and sorted by it; unblocks are written first. */
typedef struct pawl__sql_blocks {
    const pawl_outbox_block **blocks; /* per source that with the earliest row */
    size_t                    block_count;
    pawl_outbox_block        *rows; /* rows to hold, by their ids */
    size_t                    row_count;
    pawl_outbox_block        *releases;
    size_t                    release_count;
} pawl__sql_blocks;
pawl_code pawl__sql_sum_blocks(const pawl__sql_writer *writer, pawl_arena *arena,
                               pawl__sql_blocks *blocks, pawl_error *error);

#endif
