/* entries.h - the entries of pawl_store_ops with their parameters, as an X-macro from which stores declare functions.
 *
 *     #define ENTRY(name, ...) pawl_code pawl__x_##name(pawl_store *store, __VA_ARGS__, pawl_error *error);
 *     #include "store/core/entries.h"
 *     #undef ENTRY
 *
 * No include guard, since ENTRY differs each time. The parameters are those of pawl/store_driver.h, without store and
 * error; the compiler compares them where a driver fills its table. A store need not define all functions that it
 * declares here.
 *
 * Threads: plain text. Tests: the compiler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
ENTRY(worker_open, pawl_text endpoint, pawl_text types, pawl_time now)
ENTRY(worker_close, pawl_time now)
ENTRY(worker_heartbeat, const pawl_worker_id *workers, size_t count, pawl_time now)
ENTRY(resolve, pawl_uuid commit_id, bool *is_applied)
ENTRY(queue_claim, const pawl_queue_claim *claim, pawl_arena *arena, pawl_queue_rows *rows)
ENTRY(queue_oldest, pawl_text queue, pawl_time due_max, const int64_t *except, size_t except_count,
      pawl_time *placed, int64_t *seq)
ENTRY(inbox_known, pawl_text endpoint, const pawl_text *ids, size_t count, bool *known)
ENTRY(saga_load, const pawl_saga_table *table, pawl_saga_key key, const pawl_value *values,
      size_t count, pawl_saga_lock lock, pawl_arena *arena, pawl_saga_row *rows)
ENTRY(saga_count, const pawl_saga_table *table, int64_t *count)
ENTRY(timeout_claim, const pawl_timeout_claim *claim, pawl_arena *arena, pawl_timeout_rows *rows)
ENTRY(timeout_reap, pawl_time now, int64_t *count)
ENTRY(leased_batch_claim, const pawl_leased_batch_claim *claim, pawl_arena *arena,
      pawl_leased_batch *leased)
ENTRY(aggregator_count, pawl_text partition, const pawl_text *types, size_t type_count,
      pawl_time now, pawl_aggregator_counts *counts)
ENTRY(outbox_claim, pawl_text endpoint, pawl_time now, size_t count_max, pawl_arena *arena,
      pawl_outbox_rows *rows)
ENTRY(lead, pawl_text name, pawl_time now, int64_t lease, bool *is_ours)
ENTRY(unlead, pawl_text name)
ENTRY(next_due, pawl_text queue, const pawl_text *aggregators, size_t aggregator_count,
      pawl_next_due *next)
ENTRY(stats, pawl_time now, pawl_arena *arena, pawl_stats *stats)
ENTRY(sweep, const pawl_sweep *sweep, int64_t *count, bool *more)
ENTRY(wait, int64_t microseconds, int wake_fd)
ENTRY(find, const pawl_find *asked, pawl_arena *arena, pawl_found *found)
ENTRY(dead_count, pawl_arena *arena, pawl_dead_counts *counts)
ENTRY(stream_load, const pawl_stream_read *reads, size_t count, pawl_arena *arena,
      pawl_stream *streams)
ENTRY(event_number, size_t count_max, int64_t *count)
ENTRY(checkpoint_get, pawl_text name, int64_t *position)
ENTRY(scan, const pawl_scan *scan, pawl_arena *arena, pawl_scan_rows *rows)
ENTRY(diagnose, const pawl_diagnosis *asked, pawl_arena *arena, pawl_finding_rows *rows)
