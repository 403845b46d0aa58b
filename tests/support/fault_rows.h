/* fault_rows.h - changes of the fault store to the rows of a claim: it hands them out once more,
 * lets another worker take them, changes their order.
 *
 *     begin -> { keep_* at one claim -> add_* at the next | steal_* | reorder }*
 *
 * Threads: one.
 * Tests: tests/fault/test_fault_store_plans.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_FAULT_ROWS_H
#define PAWL_TESTS_FAULT_ROWS_H

#include "support/fault_store.h"

/* Forgets what was kept. */
void fault_rows_begin(uint64_t seed);
/* Rows handed out once more, stolen or moved since then. */
long fault_rows_count(void);

/* Keeps copies of what a claim of this queue or partition handed out. */
void fault_rows_keep_messages(pawl_text queue, const pawl_queue_rows *rows);
void fault_rows_keep_timeouts(pawl_text queue, const pawl_timeout_rows *rows);
void fault_rows_keep_snapshot(pawl_text partition, const pawl_leased_batch *rows);
void fault_rows_keep_outbox(const pawl_outbox_rows *rows);
/* Adds them to the next one, once, those left out that it holds anyway. */
void fault_rows_add_messages(pawl_text queue, pawl_arena *arena, pawl_queue_rows *rows);
void fault_rows_add_timeouts(pawl_text queue, pawl_arena *arena, pawl_timeout_rows *rows);
void fault_rows_add_snapshot(pawl_text partition, pawl_arena *arena, pawl_leased_batch *rows);
void fault_rows_add_outbox(pawl_arena *arena, pawl_outbox_rows *rows);

/* At the end of the lease another worker claims the same rows and releases them. */
void fault_rows_steal_timeouts(const char *url, const pawl_timeout_claim *claim,
                               const pawl_timeout_rows *rows);
void fault_rows_steal_snapshot(const char *url, const pawl_leased_batch_claim *claim,
                               const pawl_leased_batch *rows);

/* Rows due at one time that are independent change places at random. */
void fault_rows_reorder(pawl_queue_rows *rows, fault_independent_fn *is_independent);

#endif
