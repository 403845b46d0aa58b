/* bodies.h - the places of sweeps that look at pages of rows: of old bodies of dead letters, and of rows whose times have
 * no index.
 *
 * Rows without an index are looked at in the order of their numbers: pawl__old_sweep.
 * The events of bodies are those of streams that begin with "pawl.dead/", in the order of stream and version:
 * pawl__bodies_begin -> the driver looks at `count_max` of them -> pawl__bodies_end. A page ends with a whole
 * stream, so that the next one begins behind a name.
 *
 * Threads: plain data. Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_BODIES_H
#define PAWL_STORE_CORE_BODIES_H

#include "pawl/store_driver.h"
#include "store/core/field.h"

/* No stream of dead letters stands behind this name: '0' follows '/'. */
#define PAWL__BODIES_END "pawl.dead0"

/* The streams of the page are those behind `after`, up to `last`. */
typedef struct pawl__bodies {
    pawl_text after, last;
    pawl_time before;
    pawl_text none; /* the empty body that is written */
    int64_t   count_max;
    int64_t   count; /* events that the page has */
} pawl__bodies;

extern const pawl__field_list pawl__bodies_range; /* after, last, count_max: of the query */
extern const pawl__field_list pawl__bodies_found; /* last, count: of its row */
extern const pawl__field_list pawl__bodies_clear; /* none, after, last, before: of the update */

/* `last` is the end of all. False: nothing is to be swept. */
bool pawl__bodies_begin(const pawl_sweep *sweep, pawl__bodies *page);
/* After `count` and `last` were read: whether the page is full. If it is not, `last` is the end of all. */
bool pawl__bodies_is_full(pawl__bodies *page);
/* Says where the next sweep goes on: behind a full page, else at the first stream again. */
void pawl__bodies_end(const pawl_sweep *sweep, const pawl__bodies *page);

/* ---- Rows in the order of their numbers ---------------------------------- */

/* A page, of the `looks` rows behind `after`: at most `limit` of them that are older than `before` go. */
typedef struct pawl__old_page {
    pawl_time before;
    int64_t   limit, after, looks;
    int64_t   count, last; /* found: rows of the page, and the number of the last one */
    int64_t   deleted;
} pawl__old_page;

typedef pawl_code pawl__old_page_fn(void *context, pawl__old_page *page, pawl_error *error);

/* The first rows, which are the oldest, near enough; and if they are not all that may go, also a page behind `*place`,
 * from sweep to sweep all of the rest: there are rows that are old behind others that are not, as a wrong clock leaves
 * them. `*more` is set if something went and rows are left that were not looked at. Rows that a failure kept are come
 * to again in the next round. */
pawl_code pawl__old_sweep(int64_t *place, pawl__old_page *page, pawl__old_page_fn *sweep,
                          void *context, int64_t *deleted, bool *more, pawl_error *error);

#endif
