/* front.h - the front of a queue, or of a destination's timeouts: where the next claim begins.
 *
 * Index entries of handled rows stay until no snapshot can see them. While a snapshot is open
 * for minutes, a claim that begins with the first row reads all entries of rows handled since.
 * If that takes long, a claim begins where the last one found its first row, less a margin for
 * messages with an earlier due time that are committed later. About 1 % of the time is spent
 * on claims that begin with the first row.
 *
 * Threads: belongs to the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_FRONT_H
#define PAWL_STORE_POSTGRES_FRONT_H

#include "store/postgres/postgres.h"

/* NULL: the handle has no front of this queue. */
pawl__pg_front *pawl__pg_front_find(pawl__pg *store, pawl_text queue);
/* Never NULL: with more queues than the handle can keep, the oldest is reused. */
pawl__pg_front *pawl__pg_front_of(pawl__pg *store, pawl_text queue);
/* The due time at which a claim of rows up to `due_max` begins, PAWL_TIME_MIN: the first row. */
pawl_time pawl__pg_front_begin(pawl__pg_front *front, pawl_time due_max);
/* Must an empty claim that began at `from` be repeated at once from the first row? */
bool pawl__pg_front_is_too_far(pawl__pg_front *front, pawl_time from, const pawl_queue_rows *rows);
/* Moves the front by the result of the claim that began at `from`. */
void pawl__pg_front_end(pawl__pg_front *front, pawl_time from, pawl_time due_max,
                        const pawl_queue_rows *rows);
/* Milliseconds until an idle handle has to claim from the first row; INT64_MAX: its last claim
 * did. */
int64_t pawl__pg_front_rest_ms(const pawl__pg_front *front);

#endif
