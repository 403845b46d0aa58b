/* place.h - where a claim on a queue begins.
 *
 * Rows that were handled stay in the index until no snapshot can see them: with
 * one held open somewhere for minutes, every claim from the beginning would
 * walk over all rows handled since. Once that takes long, a claim begins where
 * the last one found its first row, less a margin for what was sent with an
 * earlier due time and committed later; the whole queue is then looked at for a
 * hundredth of the time.
 *
 * Threads: belongs to the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_FRONT_H
#define PAWL_STORE_POSTGRES_FRONT_H

#include "store/postgres/postgres.h"

/* Never NULL: with more queues than the handle can keep, the oldest is reused. */
pawl__pg_front *pawl__pg_front_of(pawl__pg *store, pawl_text queue);
/* The due time from which to claim now. */
pawl_time pawl__pg_front_begin(pawl__pg_front *front);
/* What the claim from `from` found. */
void pawl__pg_front_end(pawl__pg_front *front, pawl_time from, const pawl_queue_rows *rows);

#endif
