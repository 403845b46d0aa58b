/* fault_calls.h - the operations that the store with faults only hands on: their
 * parameters between the handle and the error, and what is passed to the store
 * behind for them. Included by fault_store.c, which says what HAND_ON makes of one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

HAND_ON(worker_list,
        (pawl_store * store, pawl_arena *arena, pawl_worker_info **items, size_t *count,
         pawl_error *error),
        (inner, arena, items, count, error))
HAND_ON(worker_crashed,
        (pawl_store * store, pawl_arena *arena, pawl_worker_info **items, size_t *count,
         pawl_error *error),
        (inner, arena, items, count, error))
HAND_ON(worker_beat,
        (pawl_store * store, const pawl_worker_id *workers, size_t count, pawl_time now,
         pawl_error *error),
        (inner, workers, count, now, error))
HAND_ON(queue_oldest,
        (pawl_store * store, pawl_text queue, pawl_time due_max, const int64_t *except,
         size_t except_count, pawl_time *placed, int64_t *seq, pawl_error *error),
        (inner, queue, due_max, except, except_count, placed, seq, error))
HAND_ON(inbox_known,
        (pawl_store * store, pawl_text endpoint, const pawl_text *ids, size_t count, bool *known,
         pawl_error *error),
        (inner, endpoint, ids, count, known, error))
HAND_ON(saga_load,
        (pawl_store * store, const pawl_saga_table *table, pawl_saga_key key,
         const pawl_value *values, size_t count, pawl_saga_lock lock, pawl_arena *arena,
         pawl_saga_row *rows, pawl_error *error),
        (inner, table, key, values, count, lock, arena, rows, error))
HAND_ON(saga_count,
        (pawl_store * store, const pawl_saga_table *table, int64_t *count, pawl_error *error),
        (inner, table, count, error))
HAND_ON(timeout_reap, (pawl_store * store, pawl_time now, int64_t *count, pawl_error *error),
        (inner, now, count, error))
HAND_ON(aggregator_get,
        (pawl_store * store, pawl_text partition, pawl_arena *arena, pawl_leased_batch *rows,
         pawl_error *error),
        (inner, partition, arena, rows, error))
HAND_ON(aggregator_count,
        (pawl_store * store, pawl_text partition, const pawl_text *types, size_t type_count,
         pawl_time now, pawl_aggregator_counts *found, pawl_error *error),
        (inner, partition, types, type_count, now, found, error))
HAND_ON(flush_list,
        (pawl_store * store, pawl_text name, pawl_time due_max, size_t count_max, pawl_arena *arena,
         pawl_flush_rows *rows, pawl_error *error),
        (inner, name, due_max, count_max, arena, rows, error))
HAND_ON(lead,
        (pawl_store * store, pawl_text name, pawl_time now, int64_t lease, bool *is_held,
         pawl_error *error),
        (inner, name, now, lease, is_held, error))
HAND_ON(unlead, (pawl_store * store, pawl_text name, pawl_error *error), (inner, name, error))
HAND_ON(lead_list,
        (pawl_store * store, pawl_time now, pawl_arena *arena, pawl_lead_row **items, size_t *count,
         pawl_error *error),
        (inner, now, arena, items, count, error))
HAND_ON(timeout_foreign,
        (pawl_store * store, pawl_text own, pawl_time now, pawl_arena *arena,
         pawl_foreign_rows *rows, pawl_error *error),
        (inner, own, now, arena, rows, error))
HAND_ON(dead_count,
        (pawl_store * store, pawl_arena *arena, pawl_dead_counts *letters, pawl_error *error),
        (inner, arena, letters, error))
HAND_ON(history_find,
        (pawl_store * store, const pawl_history_query *query, pawl_arena *arena,
         pawl_history_rows *lines, pawl_error *error),
        (inner, query, arena, lines, error))
HAND_ON(queue_find,
        (pawl_store * store, const pawl_queue_query *query, pawl_arena *arena,
         pawl_queue_messages *messages, pawl_error *error),
        (inner, query, arena, messages, error))
HAND_ON(dead_find,
        (pawl_store * store, const pawl_dead_query *query, pawl_arena *arena, pawl_dead_rows *rows,
         pawl_error *error),
        (inner, query, arena, rows, error))
HAND_ON(diagnose,
        (pawl_store * store, const pawl_diagnosis *asked, pawl_arena *arena,
         pawl_finding_rows *rows, pawl_error *error),
        (inner, asked, arena, rows, error))
HAND_ON(scan,
        (pawl_store * store, const pawl_scan *walk, pawl_arena *arena, pawl_scan_rows *rows,
         pawl_error *error),
        (inner, walk, arena, rows, error))
HAND_ON(subscriptions,
        (pawl_store * store, pawl_arena *arena, pawl_subscriptions *list, pawl_error *error),
        (inner, arena, list, error))
HAND_ON(next_due,
        (pawl_store * store, pawl_text queue, const pawl_text *aggregators, size_t aggregator_count,
         pawl_next_due *next, pawl_error *error),
        (inner, queue, aggregators, aggregator_count, next, error))
HAND_ON(stats,
        (pawl_store * store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
         pawl_error *error),
        (inner, now, arena, stats, error))
HAND_ON(sweep,
        (pawl_store * store, const pawl_sweep *sweep, int64_t *count, bool *more,
         pawl_error *error),
        (inner, sweep, count, more, error))
HAND_ON(handler_transaction_begin, (pawl_store * store, pawl_error *error), (inner, error))
HAND_ON(enlist, (pawl_store * store, void *native, const pawl_changes *changes, pawl_error *error),
        (inner, native, changes, error))
HAND_ON(queue_retried,
        (pawl_store * store, const pawl_retried_query *query, pawl_arena *arena,
         pawl_queue_rows *rows, pawl_error *error),
        (inner, query, arena, rows, error))
HAND_ON(queue_list,
        (pawl_store * store, pawl_text queue, size_t count_max, pawl_arena *arena,
         pawl_queue_rows *rows, pawl_error *error),
        (inner, queue, count_max, arena, rows, error))
HAND_ON(timeout_list,
        (pawl_store * store, pawl_saga_id saga_id, size_t count_max, pawl_arena *arena,
         pawl_timeout_rows *rows, pawl_error *error),
        (inner, saga_id, count_max, arena, rows, error))
HAND_ON(outbox_list,
        (pawl_store * store, pawl_outbox_state state, size_t count_max, pawl_arena *arena,
         pawl_outbox_rows *rows, pawl_error *error),
        (inner, state, count_max, arena, rows, error))
HAND_ON(outbox_attempts,
        (pawl_store * store, int64_t id, pawl_arena *arena, pawl_attempt_rows *rows,
         pawl_error *error),
        (inner, id, arena, rows, error))
HAND_ON(dead_list,
        (pawl_store * store, pawl_text endpoint, size_t count_max, pawl_arena *arena,
         pawl_dead_rows *rows, pawl_error *error),
        (inner, endpoint, count_max, arena, rows, error))
HAND_ON(outbox_find,
        (pawl_store * store, const pawl_outbox_query *query, pawl_arena *arena,
         pawl_outbox_rows *rows, pawl_error *error),
        (inner, query, arena, rows, error))
HAND_ON(stream_load,
        (pawl_store * store, const pawl_stream_read *reads, size_t count, pawl_arena *arena,
         pawl_stream *streams, pawl_error *error),
        (inner, reads, count, arena, streams, error))
HAND_ON(event_list,
        (pawl_store * store, const pawl_event_query *query, pawl_arena *arena,
         pawl_event_rows *rows, pawl_error *error),
        (inner, query, arena, rows, error))
HAND_ON(event_number, (pawl_store * store, size_t count_max, int64_t *count, pawl_error *error),
        (inner, count_max, count, error))
HAND_ON(checkpoint_get, (pawl_store * store, pawl_text name, int64_t *position, pawl_error *error),
        (inner, name, position, error))
