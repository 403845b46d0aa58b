/* operations.h - the reading operations of the driver, one file for each noun. The contract of
 * each stands in pawl/store_driver.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_OPERATIONS_H
#define PAWL_STORE_POSTGRES_OPERATIONS_H

#include "store/postgres/postgres.h"

/* queue.c */
pawl_code pawl__pg_queue_claim(pawl_store *base, const pawl_queue_claim *claim, pawl_arena *arena,
                               pawl_queue_rows *rows, pawl_error *error);
pawl_code pawl__pg_queue_oldest(pawl_store *base, pawl_text queue, pawl_time due_max,
                                const int64_t *except, size_t except_count, pawl_time *placed,
                                int64_t *seq, pawl_error *error);

/* inbox.c */
pawl_code pawl__pg_inbox_known(pawl_store *base, pawl_text endpoint, const pawl_text *ids,
                               size_t count, bool *known, pawl_error *error);

/* saga.c */
pawl_code pawl__pg_saga_load(pawl_store *base, const pawl_saga_table *table, pawl_saga_key key,
                             const pawl_value *values, size_t count, pawl_saga_lock lock,
                             pawl_arena *arena, pawl_saga_row *rows, pawl_error *error);
pawl_code pawl__pg_saga_count(pawl_store *base, const pawl_saga_table *table, int64_t *count,
                              pawl_error *error);

/* timeout.c */
pawl_code pawl__pg_timeout_claim(pawl_store *base, const pawl_timeout_claim *claim,
                                 pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error);
pawl_code pawl__pg_timeout_reap(pawl_store *base, pawl_time now, int64_t *count, pawl_error *error);
/* Clears the leases of dead workers; those of pooled workers, whose death is less sure, only when
 * `is_pooled_too`. */
void pawl__pg_send_timeout_free_dead(pawl__pg *store, pawl__pg_connection *connection,
                                     pawl__pg_request *request, bool is_pooled_too,
                                     pawl_error *error);

/* aggregator.c */
pawl_code pawl__pg_snapshot_claim(pawl_store *base, const pawl_snapshot_claim *claim,
                                  pawl_arena *arena, pawl_snapshot *snapshot, pawl_error *error);
pawl_code pawl__pg_aggregator_count(pawl_store *base, pawl_text partition, const pawl_text *types,
                                    size_t type_count, pawl_time now,
                                    pawl_aggregator_counts *counts, pawl_error *error);

/* outbox.c */
pawl_code pawl__pg_outbox_claim(pawl_store *base, pawl_text endpoint, pawl_time now,
                                size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                pawl_error *error);

pawl_code pawl__pg_outbox_find(pawl_store *base, const pawl_outbox_query *query, pawl_arena *arena,
                               pawl_outbox_rows *rows, pawl_error *error);

/* journal.c */
pawl_code pawl__pg_stream_load(pawl_store *base, const pawl_stream_read *reads, size_t count,
                               pawl_arena *arena, pawl_stream *streams, pawl_error *error);
pawl_code pawl__pg_event_list(pawl_store *base, const pawl_event_query *query, pawl_arena *arena,
                              pawl_event_rows *rows, pawl_error *error);

/* position.c */
/* The advisory lock that a handle has while it numbers events. */
int64_t   pawl__pg_turn_number(const pawl__pg *store);
pawl_code pawl__pg_event_number(pawl_store *base, size_t count_max, int64_t *count,
                                pawl_error *error);

/* sweep.c */
pawl_code pawl__pg_next_due(pawl_store *base, pawl_text queue, const pawl_text *aggregators,
                            size_t aggregator_count, pawl_next_due *next, pawl_error *error);
pawl_code pawl__pg_stats(pawl_store *base, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                         pawl_error *error);
/* diagnose.c */
pawl_code pawl__pg_diagnose(pawl_store *base, const pawl_diagnosis *asked, pawl_arena *arena,
                            pawl_finding_rows *rows, pawl_error *error);
pawl_code pawl__pg_sweep(pawl_store *base, const pawl_sweep *sweep, int64_t *count, bool *more,
                         pawl_error *error);

#endif
