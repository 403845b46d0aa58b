/* saga_step.h - the parts of saga-step that other workloads use.
 *
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_SAGA_STEP_H
#define PAWL_BENCH_SAGA_STEP_H

#include "application.h"

#define PAWL__BENCH_STEPS_OF_ORDER 6 /* the last order may have fewer */

/* Its parts as of any workload. Fill keeps tables that are there. */
pawl__bench_fn       pawl__bench_saga_step_fill;
pawl__bench_timed_fn pawl__bench_saga_step_run;
pawl__bench_fn       pawl__bench_saga_step_check;

/* Makes the tables and sends nothing. */
pawl__bench_fn pawl__bench_tables_fill;

/* A sender to the tables of the benchmarks. */
pawl_code pawl__bench_sender(const char *url, pawl_sender **sender, pawl_error *error);
/* The next step of the order of that number; one commit follows many. */
pawl_code pawl__bench_send_step(pawl_sender *sender, uint64_t seed, int64_t number, int64_t step,
                                pawl_error *error);
/* The same message as JSON, in the arena. */
pawl_code pawl__bench_step_body(pawl_arena *arena, uint64_t seed, int64_t number, int64_t step,
                                pawl_text *body, pawl_error *error);
/* The number of the order of each message, in random order; NULL: no memory. The caller's to free. */
int64_t *pawl__bench_shuffled_orders(const pawl__bench_job *job);

/* Sends the messages, each to the order of that number. */
pawl_code pawl__bench_send_orders(const pawl__bench_job *job, const int64_t *orders,
                                  pawl_error *error);

/* An endpoint whose outbox rows stay where they are, so that nothing but the
 * steps is measured. */
pawl_code pawl__bench_step_endpoint(const pawl__bench_job *job, pawl_endpoint **endpoint,
                                    pawl_error *error);

/* All messages were handled once: an empty queue, a mark and an outbox row of
 * each, and so many sagas. */
pawl_code pawl__bench_check_counts(const pawl__bench_handle *handle, int64_t messages,
                                   int64_t sagas, pawl_error *error);
/* The same, with that many outbox rows that are left, and each saga has as many steps as its order has. */
pawl_code pawl__bench_check_steps(const pawl__bench_handle *handle, const pawl__bench_job *job,
                                  int64_t pending, pawl_error *error);
/* Messages that were handled without a saga, and what they sent has left. */
pawl_code pawl__bench_check_relayed(const pawl__bench_handle *handle, const pawl__bench_job *job,
                                    pawl_error *error);
/* Notes the workers' counts, which are complete when their endpoints have stopped. */
pawl_code pawl__bench_note_conflicts(const pawl__bench_job *job, const pawl__bench_handle *handle,
                                     pawl_error *error);
int64_t   pawl__bench_queued(const pawl_stats *stats); /* messages, of all queues */

#endif
