/* fault_calls.h - operations that the fault store only forwards: their parameters between handle and error, and the
 * arguments for the wrapped store. Included by fault_store.c, which defines HAND_ON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

HAND_ON(worker_crashed,
        (pawl_store * store, pawl_arena *arena, pawl_worker_info **items, size_t *count,
         pawl_error *error),
        (inner, arena, items, count, error))
HAND_ON(worker_heartbeat,
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
HAND_ON(aggregator_count,
        (pawl_store * store, pawl_text partition, const pawl_text *types, size_t type_count,
         pawl_time now, pawl_aggregator_counts *found, pawl_error *error),
        (inner, partition, types, type_count, now, found, error))
HAND_ON(lead,
        (pawl_store * store, pawl_text name, pawl_time now, int64_t lease, bool *is_held,
         pawl_error *error),
        (inner, name, now, lease, is_held, error))
HAND_ON(unlead, (pawl_store * store, pawl_text name, pawl_error *error), (inner, name, error))
HAND_ON(dead_count,
        (pawl_store * store, pawl_arena *arena, pawl_dead_counts *letters, pawl_error *error),
        (inner, arena, letters, error))
HAND_ON(diagnose,
        (pawl_store * store, const pawl_diagnosis *asked, pawl_arena *arena,
         pawl_finding_rows *rows, pawl_error *error),
        (inner, asked, arena, rows, error))
HAND_ON(scan,
        (pawl_store * store, const pawl_scan *scan, pawl_arena *arena, pawl_scan_rows *rows,
         pawl_error *error),
        (inner, scan, arena, rows, error))
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
HAND_ON(stream_load,
        (pawl_store * store, const pawl_stream_read *reads, size_t count, pawl_arena *arena,
         pawl_stream *streams, pawl_error *error),
        (inner, reads, count, arena, streams, error))
HAND_ON(event_number, (pawl_store * store, size_t count_max, int64_t *count, pawl_error *error),
        (inner, count_max, count, error))
HAND_ON(checkpoint_get, (pawl_store * store, pawl_text name, int64_t *position, pawl_error *error),
        (inner, name, position, error))
