/* outbox_place.h - where a claim on the outbox begins.
 *
 * Rows that were delivered stay in the index of pending ones until no snapshot
 * can see them: with one held open somewhere for minutes, every claim from the
 * beginning would walk over all rows delivered since. Once that takes long, a
 * claim begins at the first row that is due, but not behind the horizon (horizon.h):
 * a row that is committed late must not be passed over, a later one of its source
 * would come first. Rows that were passed over because they wait are gone back to
 * when the first of them is due, and the whole is looked at for a hundredth of the
 * time.
 *
 *     begin -> the claim -> end
 *
 * Threads: belongs to the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_OUTBOX_FRONT_H
#define PAWL_STORE_POSTGRES_OUTBOX_FRONT_H

#include "pawl/base.h"
#include "pawl/limits.h"
#include "store/postgres/horizon.h"

#include <stdbool.h>

/* All zero: nothing was claimed yet. */
typedef struct pawl__pg_outbox_front {
    char             endpoint[PAWL_NAME_SIZE_MAX + 1];
    size_t           endpoint_size;
    bool             is_claimed; /* something was */
    pawl__pg_horizon horizon;
    int64_t          waiting;  /* before it no row waits, ... */
    pawl_time        later;    /* ... and before this time none of those passed over is due */
    int64_t          whole_ms; /* monotonic: when the whole was looked at last */
    int64_t          pause_ms; /* until it is looked at again */
    int64_t          begun_ms; /* of the claim under way */
} pawl__pg_outbox_front;

/* What a claim saw. */
typedef struct pawl__pg_outbox_scan {
    int64_t        start;   /* the id it began with, 0: the whole */
    int64_t        far;     /* with a row that is due from here on, it asks for sight.next */
    pawl__pg_sight sight;   /* of the rows that are due; its limit is the first of them */
    int64_t        waiting; /* of the rows that wait, INT64_MAX: there are none */
    pawl_time      later;   /* when the first of them is due, or PAWL_TIME_MAX */
} pawl__pg_outbox_scan;

/* From which id to claim, and from which on the horizon is to follow. */
void pawl__pg_outbox_front_begin(pawl__pg_outbox_front *front, pawl_text endpoint, pawl_time now,
                                 pawl__pg_outbox_scan *scan);
void pawl__pg_outbox_front_end(pawl__pg_outbox_front *front, const pawl__pg_outbox_scan *scan);
/* Rows from before the place are pending again. */
void pawl__pg_outbox_front_restart(pawl__pg_outbox_front *front);
/* It may be another server's now. */
void pawl__pg_outbox_front_forget(pawl__pg_outbox_front *front);

#endif
