/* bodies.h - retention sweeps that cannot find old rows by an index, and so read page by page: where each page begins.
 *
 * Tables without an index on the time are read in the order of row numbers: pawl__old_sweep.
 * Old bodies of dead letters are in the events of streams that begin with "pawl.dead/"; these are read by stream and
 * version: pawl__bodies_begin -> the driver reads `count_max` events -> pawl__bodies_end. A page ends with a complete
 * stream, so the next page begins after a stream's name.
 *
 * Threads: plain data. Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_BODIES_H
#define PAWL_STORE_CORE_BODIES_H

#include "pawl/store_driver.h"
#include "store/core/field.h"

/* Greater than the names of all streams of dead letters: '0' follows '/'. */
#define PAWL__BODIES_END "pawl.dead0"

/* A page: streams after the name `after`, up to and with `last`. */
typedef struct pawl__bodies {
    pawl_text after, last;
    pawl_time before;
    pawl_text none; /* the empty body that is written */
    int64_t   count_max;
    int64_t   count; /* number of events in the page */
} pawl__bodies;

extern const pawl__field_list pawl__bodies_range; /* after, last, count_max: of the query */
extern const pawl__field_list pawl__bodies_found; /* last, count: of its row */
extern const pawl__field_list pawl__bodies_clear; /* none, after, last, before: of the update */

/* Begins a page, with `last` set to the end of all streams. False: nothing to sweep. */
bool pawl__bodies_begin(const pawl_sweep *sweep, pawl__bodies *page);
/* Called when `count` and `last` were read: is the page full? If not, sets `last` to the end of all streams. */
bool pawl__bodies_is_full(pawl__bodies *page);
/* Stores where the next sweep begins: after a full page, else with the first stream again. */
void pawl__bodies_end(const pawl_sweep *sweep, const pawl__bodies *page);

/* ---- Rows in the order of their numbers ---------------------------------- */

/* A page: reads `looks` rows after number `after`, and deletes at most `limit` of them, those older than `before`. */
typedef struct pawl__old_page {
    pawl_time before;
    int64_t   limit, after, looks;
    int64_t   count, last; /* result: number of rows read, and the number of the last one */
    int64_t   deleted;
} pawl__old_page;

typedef pawl_code pawl__old_page_fn(void *context, pawl__old_page *page, pawl_error *error);

/* Sweeps the first page of the table, since the lowest numbers are usually the oldest rows. If rows remain, also sweeps
 * one page after `*place`; it moves on with each sweep and so comes to every row, since a wrong clock may leave old
 * rows behind newer ones. `*more`: another sweep at once is worthwhile, since enough was deleted and rows were not read
 * yet. */
pawl_code pawl__old_sweep(int64_t *place, pawl__old_page *page, pawl__old_page_fn *sweep,
                          void *context, int64_t *deleted, bool *more, pawl_error *error);

#endif
