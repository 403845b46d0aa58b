/* operations.h - the entries of pawl_store_ops that are the same on every SQL
 * database, for the drivers' tables. pawl/store_driver.h specifies each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_OPERATIONS_H
#define PAWL_STORE_SQL_OPERATIONS_H

#include "pawl/store_history.h"
#include "store/sql/transaction.h"

/* claim.c and load.c are for drivers that use store/sql/commit.h. event_number is for databases with concurrent
 * commits, where events get their global positions after the commit. */
#define ENTRY(name, ...) \
    pawl_code pawl__sql_##name(pawl_store *store, __VA_ARGS__, pawl_error *error);
#include "store/core/entries.h"
#undef ENTRY

/* server.c: for drivers that have a pawl__sql_server, as is the wait. */
void pawl__sql_interrupt(pawl_store *store);
/* queue_stamp.c */
/* For clusters, where a row lock is not visible on all nodes: writes the claims as leases of this handle's
 * worker, in the open transaction. Removes rows that another worker has claimed. */
pawl_code pawl__sql_queue_stamp(pawl_store *store, pawl_queue_rows *rows, pawl_error *error);
/* Deletes the claim of a row in the transaction that settles the row; EGONE: another worker has it. */
pawl_code pawl__sql_queue_unstamp(pawl_store *store, const pawl_queue_settle *settle,
                                  pawl_error *why);
/* find.c: for databases with one writer at a time, where an event's number is its global position. */
pawl_code pawl__sql_event_number_none(pawl_store *store, size_t count_max, int64_t *count,
                                      pawl_error *error);
/* outbox.c: sorts the rows of each source (ordering key) by (version, index) among themselves; rows of other sources
 * keep their positions: ids 1:A2 2:B1 3:A1 become A1 B1 A2. */
pawl_code pawl__sql_order_sources(pawl_outbox_rows *rows, pawl_arena *arena, pawl_error *error);
/* worker.c */
/* The number of the worker's lock, computed from its id; odd, since the second connection's lock has the number
 * below. */
int64_t pawl__sql_worker_number(pawl_uuid worker);
/* Releases the leases of dead workers; their rows stay. Inside a transaction. */
pawl_code pawl__sql_free_dead(pawl_store *store, pawl_error *error);
/* Ends up to `count_max` dead workers not seen since `before`, and adds their number to `*count`. Inside a
 * transaction. */
pawl_code pawl__sql_worker_sweep(pawl_store *store, pawl_time before, size_t count_max,
                                 int64_t *count, bool *more, pawl_error *error);
/* sweep.c: clears bodies of removed dead letters; `cleared`: their number. Inside a transaction. */
pawl_code pawl__sql_sweep_bodies(pawl_store *store, const pawl_sweep *sweep, int64_t *cleared,
                                 bool *more, pawl_error *error);
/* lives.c */
pawl_code pawl__sql_worker_crashed(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                   size_t *count, pawl_error *error);

/* Entries of pawl_store_ops for drivers that use
 * store/sql/commit.h. */
#define PAWL__SQL_OPERATIONS                                                                    \
    .worker_open = pawl__sql_worker_open, .worker_close = pawl__sql_worker_close,               \
    .resolve = pawl__sql_resolve, .queue_oldest = pawl__sql_queue_oldest,                       \
    .inbox_known = pawl__sql_inbox_known, .saga_load = pawl__sql_saga_load,                     \
    .saga_count = pawl__sql_saga_count, .timeout_claim = pawl__sql_timeout_claim,               \
    .timeout_reap = pawl__sql_timeout_reap, .leased_batch_claim = pawl__sql_leased_batch_claim, \
    .aggregator_count = pawl__sql_aggregator_count, .outbox_claim = pawl__sql_outbox_claim,     \
    .lead = pawl__sql_lead, .unlead = pawl__sql_unlead, .stats = pawl__sql_stats,               \
    .sweep = pawl__sql_sweep, .dead_count = pawl__sql_dead_count,                               \
    .stream_load = pawl__sql_stream_load, .checkpoint_get = pawl__sql_checkpoint_get,           \
    .handler_transaction_begin = pawl__sql_handler_transaction_begin,                           \
    .handler_transaction_end   = pawl__sql_handler_transaction_end,                             \
    .handler_transaction_lost = pawl__sql_handler_transaction_lost, .scan = pawl__sql_scan,     \
    .find = pawl__sql_find

#endif
