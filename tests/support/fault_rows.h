/* fault_rows.h - how the fault store changes the rows of a claim: it returns them twice, lets another worker claim
 * them, or changes their order.
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

/* Forgets kept rows. */
void fault_rows_begin(uint64_t seed);
/* Number of rows returned twice, stolen or moved since then. */
long fault_rows_count(void);

/* Copies the rows that a claim of this queue or partition returned. */
void fault_rows_keep_messages(pawl_text queue, const pawl_queue_rows *rows);
void fault_rows_keep_timeouts(pawl_text queue, const pawl_timeout_rows *rows);
void fault_rows_keep_snapshot(pawl_text partition, const pawl_leased_batch *rows);
void fault_rows_keep_outbox(const pawl_outbox_rows *rows);
/* Adds the copies to the next claim, once, except those that it contains already. */
void fault_rows_add_messages(pawl_text queue, pawl_arena *arena, pawl_queue_rows *rows);
void fault_rows_add_timeouts(pawl_text queue, pawl_arena *arena, pawl_timeout_rows *rows);
void fault_rows_add_snapshot(pawl_text partition, pawl_arena *arena, pawl_leased_batch *rows);
void fault_rows_add_outbox(pawl_arena *arena, pawl_outbox_rows *rows);

/* Simulates that the lease expires, and another worker claims and releases the rows. */
void fault_rows_steal_timeouts(const char *url, const pawl_timeout_claim *claim,
                               const pawl_timeout_rows *rows);
void fault_rows_steal_snapshot(const char *url, const pawl_leased_batch_claim *claim,
                               const pawl_leased_batch *rows);

/* Shuffles rows with equal due time that are independent. */
void fault_rows_reorder(pawl_queue_rows *rows, fault_independent_fn *is_independent);

#endif
