/* front.h - the front of a queue, or of a destination's timeouts: where the next claim begins.
 *
 * Index entries of handled rows stay until no snapshot can see them: with a snapshot held open
 * somewhere for minutes, every claim from the beginning would walk over all rows handled since.
 * Once that takes long, a claim begins where the last one found its first row, less a margin
 * for messages with an earlier due time whose commit comes later; for a hundredth of the time a
 * claim begins with the first row.
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
/* Chooses the due time at which the claim begins. */
pawl_time pawl__pg_front_begin(pawl__pg_front *front);
/* Takes the findings of the claim that began at `from`. */
void pawl__pg_front_end(pawl__pg_front *front, pawl_time from, const pawl_queue_rows *rows);

#endif
