/* page.h - queue rows up to a size: what a claim with a size_max reads.
 *
 * libpq keeps an answer whole, so large bodies must not be in it. A body no longer than its
 * share of the size comes with its row. Of a longer body only the length comes; once the
 * lengths have shown where the page ends, the bodies still missing in it are read by the
 * numbers of their rows.
 *
 *     size_max 16 MB, count_max 256: a share is 64 KB
 *     sent         1 KB   9 MB: its length   2 KB   8 MB: its length   1 KB
 *     then read           9 MB                      8 MB
 *     the page     1 KB   9 MB               2 KB   8 MB
 *
 * Small bodies cost only the comparison. Sizes added up by the server, in a window over the
 * rows, cost a claim of small messages a tenth of its time.
 *
 *     put_share -> run -> { the row, get_size }* -> page_end
 *
 * Threads: as the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_PAGE_H
#define PAWL_STORE_POSTGRES_PAGE_H

#include "store/postgres/connection.h"

/* The share: the largest body that comes with its row. With a count_max of 0 every body does. */
void pawl__pg_put_share(pawl__pg_request *request, size_t size_max, size_t count_max);
/* Reads the body's size from the column behind the body; a body that did not come has its size
 * alone. */
void pawl__pg_get_size(pawl__pg_request *request, pawl_text *body);
/* Cuts the page at its size (0: not at all) and reads the bodies that are missing.
 *
 * PAWL_EBUSY  a row was deleted between the two reads. */
pawl_code pawl__pg_page_end(pawl_queue_rows *rows, size_t size_max, pawl__pg_connection *connection,
                            pawl_arena *arena, pawl_error *error);

#endif
