/* operations.h - the operations of store.h that are the same on every SQL
 * database. A driver's table names them; the task of each stands in pawl/store_driver.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_OPERATIONS_H
#define PAWL_STORE_SQL_OPERATIONS_H

#include "store/sql/transaction.h"

/* claim.c, load.c: for drivers that write by store/sql/commit.h */
pawl_code pawl__sql_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                  pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error);
pawl_code pawl__sql_snapshot_claim(pawl_store *store, const pawl_snapshot_claim *claim,
                                   pawl_arena *arena, pawl_snapshot *snapshot, pawl_error *error);
pawl_code pawl__sql_aggregator_count(pawl_store *store, pawl_text partition, const pawl_text *types,
                                     size_t type_count, pawl_time now,
                                     pawl_aggregator_counts *counts, pawl_error *error);
pawl_code pawl__sql_outbox_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                                 size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                 pawl_error *error);
pawl_code pawl__sql_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                size_t count, bool *known, pawl_error *error);
pawl_code pawl__sql_stream_load(pawl_store *store, const pawl_stream_read *reads, size_t count,
                                pawl_arena *arena, pawl_stream *streams, pawl_error *error);
pawl_code pawl__sql_next_due(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                             size_t aggregator_count, pawl_next_due *next, pawl_error *error);

/* saga.c */
pawl_code pawl__sql_saga_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                              const pawl_value *values, size_t count, pawl_saga_lock lock,
                              pawl_arena *arena, pawl_saga_row *rows, pawl_error *error);
pawl_code pawl__sql_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                               pawl_error *error);

/* worker.c */
pawl_code pawl__sql_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                pawl_time now, pawl_error *error);
pawl_code pawl__sql_worker_close(pawl_store *store, pawl_time now, pawl_error *error);
pawl_code pawl__sql_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                            pawl_error *error);

/* server.c: for drivers that have a pawl__sql_server */
pawl_code pawl__sql_wait(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error);
void      pawl__sql_interrupt(pawl_store *store);

/* sweep.c */
pawl_code pawl__sql_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                          pawl_error *error);
pawl_code pawl__sql_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                 pawl_error *error);
/* queue_stamp.c */
/* For databases where a row lock is not seen by all: the claims of the rows as leases of this handle's
 * worker, in the open transaction. Rows that another worker has are left out. */
pawl_code pawl__sql_queue_stamp(pawl_store *store, pawl_queue_rows *rows, pawl_error *error);
/* Ends the claim of a row in the transaction that settles it; EGONE: another worker has the row. */
pawl_code pawl__sql_queue_unstamp(pawl_store *store, const pawl_queue_settle *settle,
                                  pawl_error *why);

/* find.c */
pawl_code pawl__sql_queue_oldest(pawl_store *store, pawl_text queue, pawl_time due_max,
                                 const int64_t *except, size_t except_count, pawl_time *placed,
                                 int64_t *seq, pawl_error *error);
pawl_code pawl__sql_outbox_find(pawl_store *store, const pawl_outbox_query *query,
                                pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error);
/* Where commits overlap: events get their positions behind their commits. */
pawl_code pawl__sql_event_number(pawl_store *store, size_t count_max, int64_t *count,
                                 pawl_error *error);
/* Where one connection writes at a time, and an event's number is its position. */
pawl_code pawl__sql_event_number_none(pawl_store *store, size_t count_max, int64_t *count,
                                      pawl_error *error);

/* list.c */
pawl_code pawl__sql_queue_list(pawl_store *store, pawl_text queue, size_t count_max,
                               pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error);
pawl_code pawl__sql_queue_retried(pawl_store *store, const pawl_retried_query *query,
                                  pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error);
pawl_code pawl__sql_timeout_list(pawl_store *store, pawl_saga_id saga_id, size_t count_max,
                                 pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error);
pawl_code pawl__sql_timeout_foreign(pawl_store *store, pawl_text own, pawl_time now,
                                    pawl_arena *arena, pawl_foreign_rows *rows, pawl_error *error);
pawl_code pawl__sql_aggregator_get(pawl_store *store, pawl_text partition, pawl_arena *arena,
                                   pawl_snapshot *rows, pawl_error *error);
pawl_code pawl__sql_flush_list(pawl_store *store, pawl_text name, pawl_time due_max,
                               size_t count_max, pawl_arena *arena, pawl_flush_rows *rows,
                               pawl_error *error);
pawl_code pawl__sql_outbox_list(pawl_store *store, pawl_outbox_state state, size_t count_max,
                                pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error);
pawl_code pawl__sql_outbox_attempts(pawl_store *store, int64_t id, pawl_arena *arena,
                                    pawl_attempt_rows *rows, pawl_error *error);
pawl_code pawl__sql_dead_find(pawl_store *store, const pawl_dead_query *query, pawl_arena *arena,
                              pawl_dead_rows *rows, pawl_error *error);
pawl_code pawl__sql_history_find(pawl_store *store, const pawl_history_query *query,
                                 pawl_arena *arena, pawl_history_rows *rows, pawl_error *error);
pawl_code pawl__sql_dead_count_queues(pawl_store *store, pawl_arena *arena,
                                      pawl_dead_counts *counts, pawl_error *error);
pawl_code pawl__sql_queue_find(pawl_store *store, const pawl_queue_query *query, pawl_arena *arena,
                               pawl_queue_messages *messages, pawl_error *error);
pawl_code pawl__sql_dead_list(pawl_store *store, pawl_text endpoint, size_t count_max,
                              pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error);
pawl_code pawl__sql_subscriptions(pawl_store *store, pawl_arena *arena, pawl_subscriptions *list,
                                  pawl_error *error);
pawl_code pawl__sql_event_list(pawl_store *store, const pawl_event_query *query, pawl_arena *arena,
                               pawl_event_rows *rows, pawl_error *error);
pawl_code pawl__sql_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                   pawl_error *error);

/* walk.c */
pawl_code pawl__sql_walk(pawl_store *store, const pawl_walk *walk, pawl_arena *arena,
                         pawl_walk_rows *rows, pawl_error *error);

/* lives.c */
pawl_code pawl__sql_worker_list(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                size_t *count, pawl_error *error);
pawl_code pawl__sql_worker_died(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                size_t *count, pawl_error *error);
pawl_code pawl__sql_lead_list(pawl_store *store, pawl_time now, pawl_arena *arena,
                              pawl_lead_row **items, size_t *count, pawl_error *error);

/* lead.c */
pawl_code pawl__sql_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t time,
                         bool *is_ours, pawl_error *error);
pawl_code pawl__sql_unlead(pawl_store *store, pawl_text name, pawl_error *error);

/* stats.c */
pawl_code pawl__sql_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                          pawl_error *error);

/* The part of a driver's table that is the generic store's, where the driver writes by
 * store/sql/commit.h. */
#define PAWL__SQL_OPERATIONS                                                                      \
    .worker_open = pawl__sql_worker_open, .worker_close = pawl__sql_worker_close,                 \
    .worker_list = pawl__sql_worker_list, .resolve = pawl__sql_resolve,                           \
    .queue_oldest = pawl__sql_queue_oldest, .inbox_known = pawl__sql_inbox_known,                 \
    .saga_load = pawl__sql_saga_load, .saga_count = pawl__sql_saga_count,                         \
    .timeout_claim = pawl__sql_timeout_claim, .timeout_reap = pawl__sql_timeout_reap,             \
    .snapshot_claim = pawl__sql_snapshot_claim, .aggregator_get = pawl__sql_aggregator_get,       \
    .aggregator_count = pawl__sql_aggregator_count, .flush_list = pawl__sql_flush_list,           \
    .outbox_claim = pawl__sql_outbox_claim, .lead = pawl__sql_lead, .unlead = pawl__sql_unlead,   \
    .subscriptions = pawl__sql_subscriptions, .stats = pawl__sql_stats, .sweep = pawl__sql_sweep, \
    .queue_retried = pawl__sql_queue_retried, .queue_list = pawl__sql_queue_list,                 \
    .timeout_list = pawl__sql_timeout_list, .outbox_list = pawl__sql_outbox_list,                 \
    .outbox_attempts = pawl__sql_outbox_attempts, .dead_list = pawl__sql_dead_list,               \
    .dead_find = pawl__sql_dead_find, .dead_count = pawl__sql_dead_count_queues,                  \
    .queue_find = pawl__sql_queue_find, .outbox_find = pawl__sql_outbox_find,                     \
    .stream_load = pawl__sql_stream_load, .event_list = pawl__sql_event_list,                     \
    .checkpoint_get = pawl__sql_checkpoint_get, .lead_list = pawl__sql_lead_list,                 \
    .timeout_foreign = pawl__sql_timeout_foreign, .hold_begin = pawl__sql_hold_begin,             \
    .hold_end = pawl__sql_hold_end, .walk = pawl__sql_walk, .history_find = pawl__sql_history_find

#endif
