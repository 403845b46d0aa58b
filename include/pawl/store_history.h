/* store_history.h - reads the history of an endpoint: for each message and saga a line with the outcome,
 * written by the commit that handles the message (option `history`).
 *
 *     the endpoint's commits -> history_find, page by page
 *
 * A line has ids and types, never a body, so it has no secrets of a message. The retention sweep deletes
 * old lines.
 *
 * Threads: as the handle's.
 * Tests: src/conformance/store/history.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_HISTORY_H
#define PAWL_STORE_HISTORY_H

#include "pawl/change_history.h"
#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_history_row {
    int64_t            id; /* rises with each row of a worker, and approximately with time */
    pawl_history_entry entry;
} pawl_history_row;

typedef struct pawl_history_rows {
    pawl_history_row *items;
    size_t            count;
} pawl_history_rows;

/* A filter; a text that is empty matches any. */
typedef struct pawl_history_query {
    pawl_text source;
    pawl_text message_id;
    int64_t   after;     /* rows with a larger id */
    size_t    count_max; /* 0: all */
} pawl_history_query;

/* Rows that the query matches, by id. A query with a source or a message id uses an index.
 * PAWL_EUNSUPPORTED: the driver has no find. */
PAWL_API pawl_code pawl_store_history_find(pawl_store *store, const pawl_history_query *query,
                                           pawl_arena *arena, pawl_history_rows *rows,
                                           pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
