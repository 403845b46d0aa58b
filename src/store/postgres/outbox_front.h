/* outbox_front.h - the front of the outbox: where the next claim begins.
 *
 * Index entries of delivered rows stay in the index of pending rows until no snapshot can see
 * them: with a snapshot kept open somewhere for minutes, every claim from the beginning would
 * walk over all rows delivered since. Once that takes long, a claim begins at the first row
 * that is due, but not behind the horizon (horizon.h): a row that is committed late must not be
 * passed over, since a later row of its source would be delivered first. Rows that were passed
 * over because they wait are gone back to when the first of them is due, and for a hundredth of
 * the time a claim begins with the first row.
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
    bool             is_claimed; /* a claim was made */
    pawl__pg_horizon horizon;
    int64_t          waiting;  /* rows that wait have this id or a larger one, ... */
    pawl_time        later;    /* ... and those passed over are due at this time or later */
    int64_t          whole_ms; /* monotonic: when a claim last began with the first row */
    int64_t          pause_ms; /* until the next claim begins with it again */
    int64_t          begun_ms; /* monotonic: when the claim under way began */
} pawl__pg_outbox_front;

/* Where a claim begins, and its findings. */
typedef struct pawl__pg_outbox_scan {
    int64_t start; /* the id at which it begins, 0: the first row */
    int64_t
        far; /* a due row with this id or a larger one makes it draw a transaction id, sight.next */
    pawl__pg_sight sight;   /* of the due rows; its limit is the first of them */
    int64_t        waiting; /* the smallest id of the rows that wait, INT64_MAX: there are none */
    pawl_time      later;   /* when the first of the rows that wait is due, or PAWL_TIME_MAX */
} pawl__pg_outbox_scan;

/* Chooses the id at which the claim begins, and the one from which on the horizon follows. */
void pawl__pg_outbox_front_begin(pawl__pg_outbox_front *front, pawl_text endpoint, pawl_time now,
                                 pawl__pg_outbox_scan *scan);
void pawl__pg_outbox_front_end(pawl__pg_outbox_front *front, const pawl__pg_outbox_scan *scan);
/* Rows from before the front are pending again: the next claim begins with the first row. */
void pawl__pg_outbox_front_restart(pawl__pg_outbox_front *front);
/* Forgets what was seen: the connection may be another server's now. */
void pawl__pg_outbox_front_forget(pawl__pg_outbox_front *front);

#endif
