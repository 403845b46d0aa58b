/* rows.h - the columns of each row of store_rows.h, in the order in which every
 * statement returns them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_ROWS_H
#define PAWL_STORE_SQL_ROWS_H

#include "pawl/store_driver.h"
#include "store/sql/connection.h"

/* A worker's row, and beside it what its life is asked by. */
typedef struct pawl__sql_worker {
    pawl_worker_info info;
    pawl__sql_life   life; /* `seen` stands in both */
} pawl__sql_worker;

typedef struct pawl__sql_found_lead {
    pawl_lead_row  row;
    pawl__sql_life life; /* of its worker */
} pawl__sql_found_lead;

extern const pawl__sql_fields pawl__sql_worker_row;
extern const pawl__sql_fields pawl__sql_lead_row;
extern const pawl__sql_fields pawl__sql_life_row;
extern const pawl__sql_fields pawl__sql_queue_row;
extern const pawl__sql_fields pawl__sql_queue_message;
extern const pawl__sql_fields pawl__sql_dead_count_row;
extern const pawl__sql_fields pawl__sql_history_row;
extern const pawl__sql_fields pawl__sql_timeout_row;
extern const pawl__sql_fields pawl__sql_foreign_row;
extern const pawl__sql_fields pawl__sql_aggregator_row;
extern const pawl__sql_fields pawl__sql_flush_row;
extern const pawl__sql_fields pawl__sql_outbox_row;
extern const pawl__sql_fields pawl__sql_outbox_claimed; /* the same without what is the same in all
                                                           pending rows, the last two */
extern const pawl__sql_fields pawl__sql_attempt_row;
extern const pawl__sql_fields pawl__sql_dead_row;
extern const pawl__sql_fields pawl__sql_subscription;
extern const pawl__sql_fields pawl__sql_event_row;
extern const pawl__sql_fields pawl__sql_event; /* of a pawl_event, PAWL__SQL_EVENT */
extern const pawl__sql_fields pawl__sql_queue_stats;
extern const pawl__sql_fields pawl__sql_counters; /* PAWL__SQL_COUNTERS */

/* As a queue is claimed: by due time, rows of one time by their numbers. */
void pawl__sql_sort_rows(pawl_queue_rows *rows);

#endif
