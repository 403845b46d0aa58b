/* operations.h - the operations of store.h that are the same on every SQL
 * database. A driver's table names them; the task of each stands in pawl/store_driver.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_OPERATIONS_H
#define PAWL_STORE_SQL_OPERATIONS_H

#include "pawl/store_history.h"
#include "store/sql/transaction.h"

/* claim.c and load.c are for drivers that write by store/sql/commit.h, event_number for those whose commits overlap:
 * events get their positions behind them. */
#define ENTRY(name, ...) \
    pawl_code pawl__sql_##name(pawl_store *store, __VA_ARGS__, pawl_error *error);
#include "store/core/entries.h"
#undef ENTRY

/* server.c: for drivers that have a pawl__sql_server, as is the wait. */
void pawl__sql_interrupt(pawl_store *store);
/* queue_stamp.c */
/* For databases where a row lock is not seen by all: the claims of the rows as leases of this handle's
 * worker, in the open transaction. Rows that another worker has are left out. */
pawl_code pawl__sql_queue_stamp(pawl_store *store, pawl_queue_rows *rows, pawl_error *error);
/* Ends the claim of a row in the transaction that settles it; EGONE: another worker has the row. */
pawl_code pawl__sql_queue_unstamp(pawl_store *store, const pawl_queue_settle *settle,
                                  pawl_error *why);
/* find.c: where one connection writes at a time, and an event's number is its position. */
pawl_code pawl__sql_event_number_none(pawl_store *store, size_t count_max, int64_t *count,
                                      pawl_error *error);
/* outbox.c: rows of one source come in the order (version, index), at the indexes that rows of that source have
 * among all: ids 1:A2 2:B1 3:A1 become A1 B1 A2. */
pawl_code pawl__sql_order_sources(pawl_outbox_rows *rows, pawl_arena *arena, pawl_error *error);
/* worker.c */
/* The number of the worker's lock, made from its id, so that no other worker has it; odd: that of a second
 * connection is the one below. */
int64_t pawl__sql_worker_number(pawl_uuid worker);
/* Frees what dead workers had leased; their rows stay. Inside a transaction. */
pawl_code pawl__sql_free_dead(pawl_store *store, pawl_error *error);
/* Ends up to `count_max` dead workers not seen since `before`, and adds how many. Inside a
 * transaction. */
pawl_code pawl__sql_worker_sweep(pawl_store *store, pawl_time before, size_t count_max,
                                 int64_t *count, bool *more, pawl_error *error);
/* lives.c */
pawl_code pawl__sql_worker_crashed(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                   size_t *count, pawl_error *error);

/* The part of a driver's table that is the generic store's, where the driver writes by
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
