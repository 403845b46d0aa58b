/* rows.h - columns of rows with a pawl__sql_life of their worker; the columns of all other rows are in
 * store/core/rows.h. Every statement returns them in this order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_ROWS_H
#define PAWL_STORE_SQL_ROWS_H

#include "pawl/store_driver.h"
#include "store/core/rows.h"
#include "store/sql/connection.h"

/* A worker's row, and how to find out whether the worker lives. */
typedef struct pawl__sql_worker {
    pawl_worker_info info;
    pawl__sql_life   life; /* `seen` is in both */
} pawl__sql_worker;

typedef struct pawl__sql_found_lead {
    pawl_lead_row  row;
    pawl__sql_life life; /* of its worker */
} pawl__sql_found_lead;

extern const pawl__field_list pawl__sql_worker_row;
extern const pawl__field_list pawl__sql_lead_row;
extern const pawl__field_list pawl__sql_life_row;

/* Sorts by due time, then by number, the order of claims. */
void pawl__sql_sort_rows(pawl_queue_rows *rows);

#endif
