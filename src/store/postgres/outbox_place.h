/* outbox_place.h - where a claim on the outbox begins.
 *
 * Rows that were delivered stay in the index of pending ones until no snapshot
 * can see them: with one held open somewhere for minutes, every claim from the
 * beginning would walk over all rows delivered since. Once that takes long, a
 * claim begins where the last one found its first row, less a margin for rows
 * that were numbered before and committed later. Rows that were passed over
 * because they wait are gone back to when the first of them is due, and the whole
 * is looked at for a hundredth of the time.
 *
 *     begin -> the claim -> end
 *
 * Threads: belongs to the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_OUTBOX_PLACE_H
#define PAWL_STORE_POSTGRES_OUTBOX_PLACE_H

#include "pawl/base.h"
#include "pawl/limits.h"

/* All zero: nothing was claimed yet. */
typedef struct pawl__postgres_outbox_place {
    char      endpoint[PAWL_NAME_SIZE_MAX + 1];
    size_t    endpoint_size;
    int64_t   from;     /* the next claim begins with this id */
    int64_t   waiting;  /* before it no row waits, ... */
    pawl_time later;    /* ... and before this time none of those passed over is due */
    int64_t   whole_ms; /* monotonic: when the whole was looked at last */
    int64_t   pause_ms; /* until it is looked at again */
    int64_t   begun_ms; /* of the claim under way */
} pawl__postgres_outbox_place;

/* What a claim saw. */
typedef struct pawl__postgres_outbox_look {
    int64_t   start;   /* the id it began with */
    int64_t   first;   /* of the rows that are due, 0: there are none */
    int64_t   waiting; /* of the rows that wait, INT64_MAX: there are none */
    pawl_time later;   /* when the first of them is due, or PAWL_TIME_MAX */
} pawl__postgres_outbox_look;

/* The id from which to claim. */
int64_t pawl__postgres_outbox_place_begin(pawl__postgres_outbox_place *place, pawl_text endpoint,
                                          pawl_time now);
void    pawl__postgres_outbox_place_end(pawl__postgres_outbox_place      *place,
                                        const pawl__postgres_outbox_look *look);
/* Rows from before the place are pending again. */
void pawl__postgres_outbox_place_restart(pawl__postgres_outbox_place *place);

#endif
