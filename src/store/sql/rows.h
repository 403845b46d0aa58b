/* rows.h - the columns of rows beside which the life of their worker stands; the others are those of
 * store/core/rows.h, in the order in which every statement returns them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_ROWS_H
#define PAWL_STORE_SQL_ROWS_H

#include "pawl/store_driver.h"
#include "store/core/rows.h"
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

extern const pawl__field_list pawl__sql_worker_row;
extern const pawl__field_list pawl__sql_lead_row;
extern const pawl__field_list pawl__sql_life_row;

/* As a queue is claimed: by due time, rows of one time by their numbers. */
void pawl__sql_sort_rows(pawl_queue_rows *rows);

#endif
