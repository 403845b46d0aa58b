/* outbox.h - the order in which outbox rows are handed out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_OUTBOX_H
#define PAWL_STORE_SQL_OUTBOX_H

#include "pawl/store_rows.h"

/* Rows of one source come in the order (version, index), at the indexes that rows of that source have
 * among all: ids 1:A2 2:B1 3:A1 become A1 B1 A2. */
pawl_code pawl__sql_order_sources(pawl_outbox_rows *rows, pawl_arena *arena, pawl_error *error);

#endif
